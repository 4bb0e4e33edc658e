//! `folkmoot lcm`: publish and subscribe, for programs that speak LCM.
//!
//! ```text
//! spy     group --> table, or a line of JSON, every second
//! log     group --> queue --> file
//! play    file --> group
//! echo    channel --> channel
//! gen     .lcm files --> Rust
//! bridge  plain group on this host <--> secured group
//! root, certify, certificate, exclude    who may be in a secured group, by papers in folders
//! ```
//! The first four are plain, and nothing is secret then, unless they are given a folder of papers.
//! No charter and no member of a Folkmoot group is needed. The rules are those of docs/pubsub.md.

mod bridge;
mod certify;
mod echo;
mod exclude;
mod generate;
mod log;
mod meeting;
mod papers;
mod play;
mod reading;
mod sealed;
mod spy;
mod tell;

use crate::args::lcm::{Lcm, LcmCommand, Secured};
use crate::exit::{Exit, Failure};
use crate::member::stop_signal;
use crate::show::{many_of, visible};
use folkmoot::tools::in_words;
use folkmoot_lcm::{Bus, BusError, Subscription};
use folkmoot_pubsub::secured::Refused;
use folkmoot_pubsub::{Address, Channel};
use meeting::Meeting;
use sealed::Sealed;
use serde_json::{Value, json};
use std::time::Duration;

/// The TTL of a secured group, if nobody says: the networks that this host is on.
const HOME_TTL: u8 = 1;

/// `folkmoot lcm`
pub(crate) async fn lcm(lcm: Lcm, json: bool) -> Result<(), Failure> {
    let Lcm { lcm_url: url, interface, command } = lcm;
    let at = Meeting { url, interface };
    match command {
        LcmCommand::Spy(spy) => spy::run(at, spy, json).await,
        LcmCommand::Log(log) => log::run(at, log, json).await,
        LcmCommand::Play(play) => play::run(at, play, json).await,
        LcmCommand::Echo(echo) => echo::run(at, &echo, json).await,
        LcmCommand::Gen(files) => generate::run(&files, json),
        LcmCommand::Bridge(bridge) => bridge::run(at, bridge, json).await,
        LcmCommand::Root(root) => certify::root(&root, json),
        LcmCommand::Certify(certify) => certify::certify(&url.unwrap_or_default(), &certify, json),
        LcmCommand::Certificate(certificate) => certify::certificate(&certificate, json),
        LcmCommand::Exclude(exclude) => exclude::run(at, &exclude, json).await,
        LcmCommand::Passphrase(passphrase) => papers::passphrase(&passphrase, json),
    }
}

/// A command's place in a group.
enum Place {
    Plain(Address, Box<Bus>),
    Sealed(Box<Sealed>),
}

impl Place {
    /// Joins, and waits for the keys if there have to be any.
    async fn join(at: Meeting, secured: &Secured, json: bool) -> Result<Self, Failure> {
        let Some(folder) = &secured.secured else {
            let address = at.plain()?;
            Meeting { url: Some(address), ..at }.is_there()?;
            return Bus::join(address).map(|bus| Self::Plain(address, Box::new(bus))).map_err(failed);
        };
        at.is_there()?;
        let sealed = Sealed::join(folder, at, &secured.signed).await?;
        sealed.keys(json).await?;
        Ok(Self::Sealed(Box::new(sealed)))
    }

    /// The same, and makes sure that this program hears itself.
    async fn listen(at: Meeting, secured: &Secured, json: bool) -> Result<Self, Failure> {
        let place = Self::join(at, secured, json).await?;
        hears_itself(place.address(), place.bus()).await?;
        Ok(place)
    }

    fn address(&self) -> &Address {
        match self {
            Self::Plain(address, _) => address,
            Self::Sealed(sealed) => &sealed.address,
        }
    }

    fn bus(&self) -> &Bus {
        match self {
            Self::Plain(_, bus) => bus,
            Self::Sealed(sealed) => sealed.membership.bus(),
        }
    }

    /// Publishes, where the certificate allows it.
    async fn publish(&self, channel: Channel, payload: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Sealed(sealed) if !sealed.may(&channel) => {
                let text = format!("the certificate is not for the channel {}", visible(&channel.text()));
                Err(Failure::new(Exit::Configuration, text))
            }
            _ => self.bus().publish(channel, payload).await.map_err(failed),
        }
    }

    /// Ends when the process is told to stop, after so many seconds, or when this program is out.
    fn end(&self, seconds: Option<u64>) -> impl Future<Output = ()> {
        let told = end(seconds);
        async move {
            tokio::select! {
                () = told => {}
                () = self.out() => {}
            }
        }
    }

    async fn out(&self) {
        match self {
            Self::Plain(..) => std::future::pending().await,
            Self::Sealed(sealed) => sealed.out().await,
        }
    }

    /// Leaves: of a secured group, so that the others agree on new keys at once. Fails if this
    /// program was out before.
    async fn leave(self) -> Result<(), Failure> {
        let Self::Sealed(sealed) = self else { return Ok(()) };
        let out = sealed.is_out();
        sealed.membership.leave().await;
        out.map_or(Ok(()), Err)
    }
}

async fn hears_itself(address: &Address, bus: &Bus) -> Result<(), Failure> {
    bus.self_test().await.map_err(failed)?;
    let bytes = bus.receive_buffer();
    let small = |wanted: &u32| usize::try_from(*wanted).is_ok_and(|wanted| bytes < wanted);
    if let Some(wanted) = address.receive_buffer.filter(small) {
        eprintln!(
            "the system gives a receive buffer of {bytes} bytes instead of {wanted}, so long messages may be lost. To allow more: sysctl net.core.rmem_max={wanted}"
        );
    }
    Ok(())
}

/// What a person can do about it.
fn failed(error: BusError) -> Failure {
    match error {
        BusError::LocalSockets { address, error } => {
            let text = format!(
                "this program cannot speak on {address}: {}. If the host has no network, give multicast a way. As root: ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo",
                in_words(&error)
            );
            Failure::new(Exit::Configuration, text)
        }
        BusError::LocalDeaf(_) => Failure::new(Exit::Unreachable, error.to_string()),
        BusError::LocalResumed => Failure::new(Exit::No, error.to_string()),
        _ => Failure::new(Exit::Usage, error.to_string()),
    }
}

/// Ends when the process is told to stop, or after so many seconds.
fn end(seconds: Option<u64>) -> impl Future<Output = ()> {
    let stop = stop_signal(false);
    async move {
        let Some(seconds) = seconds else { return stop.await };
        tokio::select! {
            () = stop => {}
            () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
        }
    }
}

/// What was lost, in words; empty if nothing was.
fn losses(bus: &Bus, dropped: u64) -> String {
    let (counters, refused) = (bus.counters(), bus.refused());
    let words = [
        (counters.missing, "message", " missing"),
        (counters.bad, "datagram", " refused"),
        (counters.secured, "datagram", " secured, and not read"),
        (refused.plain, "datagram", " plain, and not read"),
        (unopened(&refused), "datagram", " not opened"),
        (refused.replayed, "datagram", " refused, because its number came before"),
        (dropped, "message", " dropped here, because the queue was full"),
    ];
    let told = words.into_iter().filter(|(count, ..)| *count > 0);
    told.map(|(count, what, how)| format!("; {}{how}", many_of(count, what))).collect()
}

/// What a secured program has no key for, or does not believe.
fn unopened(refused: &Refused) -> u64 {
    let all = [refused.forged, refused.names, refused.unreadable, refused.epochs];
    all.into_iter().chain([refused.strangers, refused.unsigned]).fold(0, u64::saturating_add)
}

/// The same as fields of a JSON object.
fn lost(bus: &Bus, subscription: &Subscription) -> Value {
    let mut value = counted(bus);
    if let Value::Object(fields) = &mut value {
        fields.insert("dropped".to_owned(), json!(subscription.dropped()));
    }
    value
}

/// What a bus counted.
fn counted(bus: &Bus) -> Value {
    let (counters, refused) = (bus.counters(), bus.refused());
    json!({
        "missing": counters.missing,
        "late": counters.late,
        "repeated": counters.repeated,
        "refused": counters.bad,
        "secured": counters.secured,
        "incomplete": counters.contradicted.saturating_add(counters.crowded).saturating_add(counters.stale),
        "unopened": {
            "plain": refused.plain,
            "forged": refused.forged,
            "names": refused.names,
            "unreadable": refused.unreadable,
            "epochs": refused.epochs,
            "replayed": refused.replayed,
            "strangers": refused.strangers,
            "unsigned": refused.unsigned,
        },
    })
}
