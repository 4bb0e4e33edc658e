//! `folkmoot lcm`: plain publish and subscribe, for programs that speak LCM.
//!
//! ```text
//! spy   group --> table, or a line of JSON, every second
//! log   group --> queue --> file
//! play  file --> group
//! echo  channel --> channel
//! gen   .lcm files --> Rust
//! ```
//! No member, folder or key is needed, and nothing is secret. The rules are those of
//! docs/pubsub.md.

mod echo;
mod generate;
mod log;
mod play;
mod reading;
mod spy;

use crate::args::lcm::{Lcm, LcmCommand};
use crate::exit::{Exit, Failure};
use crate::member::stop_signal;
use crate::show::many_of;
use folkmoot::tools::in_words;
use folkmoot_lcm::{Bus, BusError, Subscription};
use folkmoot_pubsub::{Address, Counters};
use std::time::Duration;

/// `folkmoot lcm`
pub(crate) async fn lcm(lcm: Lcm, json: bool) -> Result<(), Failure> {
    let Lcm { lcm_url, command } = lcm;
    match command {
        LcmCommand::Spy(spy) => spy::run(&lcm_url, spy, json).await,
        LcmCommand::Log(log) => log::run(&lcm_url, log, json).await,
        LcmCommand::Play(play) => play::run(&lcm_url, play, json).await,
        LcmCommand::Echo(echo) => echo::run(&lcm_url, &echo, json).await,
        LcmCommand::Gen(files) => generate::run(&files, json),
    }
}

/// Joins the group, and makes sure that this program hears itself.
async fn listen(address: &Address) -> Result<Bus, Failure> {
    let bus = Bus::join(*address).map_err(failed)?;
    bus.self_test().await.map_err(failed)?;
    let bytes = bus.receive_buffer();
    let small = |wanted: &u32| usize::try_from(*wanted).is_ok_and(|wanted| bytes < wanted);
    if let Some(wanted) = address.receive_buffer.filter(small) {
        eprintln!(
            "the system gives a receive buffer of {bytes} bytes instead of {wanted}, so long messages may be lost. To allow more: sysctl net.core.rmem_max={wanted}"
        );
    }
    Ok(bus)
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
fn losses(counters: &Counters, dropped: u64) -> String {
    let words = [
        (counters.missing, "message", " missing"),
        (counters.bad, "datagram", " refused"),
        (counters.secured, "datagram", " secured, and not read"),
        (dropped, "message", " dropped here, because the queue was full"),
    ];
    let told = words.into_iter().filter(|(count, ..)| *count > 0);
    told.map(|(count, what, how)| format!("; {}{how}", many_of(count, what))).collect()
}

/// The same as fields of a JSON object.
fn lost(counters: &Counters, subscription: &Subscription) -> serde_json::Value {
    serde_json::json!({
        "missing": counters.missing,
        "late": counters.late,
        "repeated": counters.repeated,
        "refused": counters.bad,
        "secured": counters.secured,
        "incomplete": counters.contradicted.saturating_add(counters.crowded).saturating_add(counters.stale),
        "dropped": subscription.dropped(),
    })
}
