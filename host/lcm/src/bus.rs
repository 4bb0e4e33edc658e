//! One program in one group.

use crate::clock::Clock;
use crate::hearing::{Hearing, Management, Shared};
use crate::hub::{Hub, lock};
use crate::membership::Backlog;
use crate::queue::Queue;
use crate::reader::Reader;
use crate::sockets::{Mouth, hear, receive_buffer, sizes};
use crate::voice::{SIZES, Voice};
use crate::{Capacity, Danger, Pattern, Secured, Subscription};
use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use folkmoot_base::{Instant, Mutant};
use folkmoot_pubsub::secured::{
    Attested, Cause, Domain, DomainError, DomainKey, InstallError, Opener, Refused, SealError, Sealer,
};
use folkmoot_pubsub::{
    Address, Channel, Counters, Limits, Packets, Receiver, SELF_TEST_CHANNEL, SELF_TEST_PAYLOAD, TooLong,
};
use folkmoot_system::Generation;
use folkmoot_transport::Changes;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tokio::task::JoinHandle;

/// How many messages one signature attests, where batches are signed.
const ATTESTED_TOGETHER: usize = folkmoot_pubsub::secured::BATCH_MAX / 2;
/// How long a program tries to hear itself, and how often it speaks meanwhile. As liblcm.
const SELF_TEST_PATIENCE: Duration = Duration::from_secs(10);
const SELF_TEST_PAUSE: Duration = Duration::from_millis(100);

/// So often a bus looks for changes itself, where the system does not tell of them.
const UNTOLD: Duration = Duration::from_secs(1);

/// Why a program cannot take part in a group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusError {
    /// The system does not let it.
    #[error("the system does not let this program speak on {address}: {error}")]
    LocalSockets {
        /// Where the group meets.
        address: Address,
        /// What the system says.
        error: io::Error,
    },
    /// A message is too long.
    #[error(transparent)]
    LocalTooLong(#[from] TooLong),
    /// A value is no message of its type.
    #[error(transparent)]
    LocalEncode(#[from] folkmoot_pubsub::typed::EncodeError),
    /// The group cannot be secured.
    #[error("the group {0} cannot be secured: {1}")]
    LocalDomain(Address, DomainError),
    /// A message is not sealed.
    #[error(transparent)]
    LocalSeal(#[from] SealError),
    /// A key is not taken.
    #[error(transparent)]
    LocalKey(#[from] InstallError),
    /// A key is for a program that seals.
    #[error("this program speaks plainly on {0}, and needs no key")]
    LocalPlain(Address),
    /// The machine goes on from a snapshot, so this program's keys may be in use a second time.
    #[error(
        "this machine was resumed from a snapshot (or moved to another host while it ran): what this program says next may have been sealed \
         before, as something else, under the same numbers. Join the group anew"
    )]
    LocalResumed,
    /// What it says does not come back to it.
    #[error("this program does not hear itself on {0}: a firewall or the routes of this host stop multicast")]
    LocalDeaf(Address),
}

/// One program's place in a group. As in liblcm it hears nothing before it subscribes to something;
/// from then on it hears until this is dropped.
#[derive(Debug)]
pub struct Bus {
    address: Address,
    mouth: Arc<Mouth>,
    /// Follows the interfaces of this host.
    watch: JoinHandle<()>,
    hub: Arc<Mutex<Hub>>,
    /// Held while the datagrams of a message leave, so that they stay together.
    voice: Arc<tokio::sync::Mutex<Voice>>,
    /// What opens, if it is secured.
    opener: Option<Shared>,
    /// Until it hears.
    management: Mutex<Option<Box<Management>>>,
    /// The number of the next plain message of a secured program.
    plain: AtomicU32,
    clock: Clock,
    ear: Mutex<Option<Ear>>,
    /// Its own port, if it shall not hear itself.
    ignored: Arc<OnceLock<u16>>,
}

#[derive(Debug)]
struct Ear {
    reader: JoinHandle<()>,
    /// Of the socket's receive buffer.
    bytes: usize,
}

impl Bus {
    /// Joins the group. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`BusError::LocalSockets`].
    pub fn join(address: Address) -> Result<Self, BusError> {
        Self::join_with(address, Mutant::NONE)
    }

    /// The same, with a check at the edge of this host left out, if this build can do that.
    ///
    /// # Errors
    /// As [`Self::join`].
    pub fn join_with(address: Address, danger: Mutant<Danger>) -> Result<Self, BusError> {
        Self::with(address, danger, Voice::Plain { next: 0, sizes: sizes(&address) }, None, None)
    }

    /// Joins the group, sealed. It speaks on a channel and hears it when it has the keys of both,
    /// the group and the channel ([`Self::install`]). Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`BusError::LocalSockets`], [`BusError::LocalDomain`].
    pub fn join_secured(address: Address, secured: Secured) -> Result<Self, BusError> {
        Self::secured(address, secured, &[], None)
    }

    /// The same, and it hears from now on what members say about keys. There will be keys for these
    /// domains.
    pub(crate) fn join_with_management(
        address: Address,
        secured: Secured,
        domains: &[Domain],
    ) -> Result<(Self, Arc<Backlog>), BusError> {
        let (management, backlog) = Management::new();
        let bus = Self::secured(address, secured, domains, Some(Box::new(management)))?;
        bus.listen()?;
        Ok((bus, backlog))
    }

    fn secured(
        address: Address,
        secured: Secured,
        domains: &[Domain],
        management: Option<Box<Management>>,
    ) -> Result<Self, BusError> {
        let Secured { mode, sender, key, times } = secured;
        let domain = Domain::group(address.group.into());
        let domain = domain.map_err(|error| BusError::LocalDomain(address, error))?;
        let sealer = Sealer::new(mode, domain, sender, sizes(&address), times);
        let mut sealer = match key {
            Some(key) => sealer.with_signatures(key),
            None => sealer,
        };
        let opener = Shared::new(Opener::new(mode, domain, Limits::default(), times));
        for one in domains {
            sealer.expect(one)?;
            opener.lock().expect(one)?;
        }
        Self::with(
            address,
            Mutant::NONE,
            Voice::Secured(Box::new(sealer), Generation::of_this_machine()),
            Some(opener),
            management,
        )
    }

    fn with(
        address: Address,
        danger: Mutant<Danger>,
        voice: Voice,
        opener: Option<Shared>,
        management: Option<Box<Management>>,
    ) -> Result<Self, BusError> {
        // Before it takes its place: no change is missed.
        let changes = Changes::watch();
        let mouth = Mouth::open(&address, danger);
        let mouth = Arc::new(mouth.map_err(|error| BusError::LocalSockets { address, error })?);
        let watch = tokio::spawn(watch(Arc::downgrade(&mouth), changes));
        let (hub, voice) = (Arc::new(Mutex::new(Hub::default())), Arc::new(tokio::sync::Mutex::new(voice)));
        let clock = Clock::start();
        let (management, plain, ear) = (Mutex::new(management), AtomicU32::new(0), Mutex::new(None));
        let ignored = Arc::default();
        Ok(Self { address, mouth, watch, hub, voice, opener, management, plain, clock, ear, ignored })
    }

    /// There will be a key for this domain, or there will be none any more.
    pub(crate) async fn expect(&self, domain: &Domain, there: bool) -> Result<(), BusError> {
        let Some(opener) = &self.opener else { return Err(BusError::LocalPlain(self.address)) };
        let mut voice = self.voice.lock().await;
        let Voice::Secured(sealer, _) = &mut *voice else { return Ok(()) };
        if there {
            sealer.expect(domain)?;
            opener.lock().expect(domain)?;
        } else {
            sealer.forget(domain);
            opener.lock().forget(domain);
        }
        Ok(())
    }

    /// Time since it joined.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn at(&self, time: Instant) -> tokio::time::Instant {
        self.clock.at(time)
    }

    /// Whether there is a network by which the group is reached now. If it is not, what is said is
    /// refused. A group of TTL 0 is reached on every host.
    pub fn has_way(&self) -> bool {
        self.mouth.presence().has_way()
    }

    /// Whether this is an address of this host now.
    pub fn is_own(&self, ip: Ipv4Addr) -> bool {
        self.mouth.presence().is_own_now(ip)
    }

    /// The port that others hear this program from.
    ///
    /// # Errors
    /// [`BusError::LocalSockets`].
    pub fn port(&self) -> Result<u16, BusError> {
        self.mouth.port().map_err(|error| self.failed(error))
    }

    /// From now on it does not hear what it says itself. [`Self::self_test`] fails then.
    ///
    /// # Errors
    /// [`BusError::LocalSockets`].
    pub fn ignore_itself(&self) -> Result<(), BusError> {
        let port = self.port()?;
        // It has one port, whoever sets it.
        let _ = self.ignored.set(port);
        Ok(())
    }

    /// Takes a new key, for the group or for a channel of it: an agreement made it. From now on it
    /// opens, and soon it seals. The one before is erased when its time is over, at once if
    /// somebody was excluded. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`BusError::LocalKey`], [`BusError::LocalPlain`].
    pub async fn install(&self, key: DomainKey, cause: Cause) -> Result<(), BusError> {
        let Some(opener) = &self.opener else { return Err(BusError::LocalPlain(self.address)) };
        let mut voice = self.voice.lock().await;
        let now = self.clock.now();
        if let Voice::Secured(sealer, _) = &mut *voice {
            sealer.install(now, key.clone(), cause)?;
        }
        opener.lock().install(now, key, cause)?;
        drop(voice);
        let (voice, opener, clock) = (Arc::downgrade(&self.voice), opener.clone(), self.clock);
        let Some(ends) = opener.lock().deadline() else { return Ok(()) };
        // Also if nothing is said and nothing comes.
        tokio::spawn(async move {
            tokio::time::sleep_until(clock.at(ends)).await;
            opener.lock().expire(clock.now());
            let Some(voice) = voice.upgrade() else { return };
            if let Voice::Secured(sealer, _) = &mut *voice.lock().await {
                sealer.expire(clock.now());
            }
        });
        Ok(())
    }

    /// The domains whose keys have sealed three quarters of what they may: it is time to agree
    /// anew.
    pub async fn worn(&self) -> Vec<Domain> {
        match &*self.voice.lock().await {
            Voice::Plain { .. } => Vec::new(),
            Voice::Secured(sealer, _) => sealer.worn(),
        }
    }

    /// Says something on a channel. Done when the system has taken it. If the future is dropped
    /// before that, the rest of a long message is not sent, and nobody hears it.
    ///
    /// # Errors
    /// The message is too long, the system refuses it, or there is no key to seal it with.
    pub async fn publish(&self, channel: Channel, payload: &[u8]) -> Result<(), BusError> {
        let mut voice = self.voice.lock().await;
        let packets = voice.say(self.clock.now(), channel, payload)?;
        self.send(packets).await?;
        match voice.attest(self.clock.now(), channel, ATTESTED_TOGETHER) {
            Ok(Some(packets)) => self.send(packets).await,
            Ok(None) => Ok(()),
            // The message is said all the same, and those that wait for this go on waiting.
            Err(error) => {
                tracing::debug!(%error, "not attested");
                Ok(())
            }
        }
    }

    /// Attests what it has said on a channel, where batches are signed. [`Self::publish`] does that
    /// with every 32nd message; call this when nothing more is to be said for a while.
    ///
    /// # Errors
    /// As [`Self::publish`].
    pub async fn attest(&self, channel: Channel) -> Result<(), BusError> {
        let mut voice = self.voice.lock().await;
        match voice.attest(self.clock.now(), channel, 1)? {
            Some(packets) => self.send(packets).await,
            None => Ok(()),
        }
    }

    /// The next messages that came before, of which it is known now who said them.
    pub fn attested(&self) -> Option<Attested> {
        self.opener.as_ref().and_then(|opener| opener.lock().attested())
    }

    async fn send(&self, packets: Packets<'_>) -> Result<(), BusError> {
        self.mouth.send(packets).await.map_err(|error| self.failed(error))
    }

    /// Says several things, in as few calls to the system as they need: for a program that says
    /// much at a time. They are heard as if [`Self::publish`] had said one after the other. If one
    /// of them cannot be said, those before it are, and those after it are not. What is said faster
    /// than a receiver reads is lost there, beyond its buffer, and counted as missing.
    ///
    /// # Errors
    /// As [`Self::publish`].
    pub async fn publish_many<'a>(
        &self,
        messages: impl IntoIterator<Item = (Channel, &'a [u8])>,
    ) -> Result<(), BusError> {
        let mut voice = self.voice.lock().await;
        let mut burst = self.mouth.burst().await;
        let mut refused = Ok(());
        for (channel, payload) in messages {
            match voice.say(self.clock.now(), channel, payload) {
                Ok(packets) => burst.add(packets).await.map_err(|error| self.failed(error))?,
                Err(error) => {
                    refused = Err(error);
                    break;
                }
            }
            match voice.attest(self.clock.now(), channel, ATTESTED_TOGETHER) {
                Ok(Some(packets)) => burst.add(packets).await.map_err(|error| self.failed(error))?,
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "not attested"),
            }
        }
        burst.end().await.map_err(|error| self.failed(error))?;
        refused
    }

    /// Hears the channels of this pattern from now on. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// The system does not let this program hear the group.
    pub fn subscribe(&self, pattern: Pattern, capacity: Capacity) -> Result<Subscription, BusError> {
        self.listen()?;
        let queue = Arc::new(Queue::new(capacity));
        let number = lock(&self.hub).subscribe(pattern, Arc::clone(&queue));
        Ok(Subscription::new(Arc::clone(&self.hub), number, queue))
    }

    /// Hears the group, if it does not yet.
    fn listen(&self) -> Result<(), BusError> {
        let mut ear = self.ear.lock().unwrap_or_else(PoisonError::into_inner);
        if ear.is_none() {
            let hears = hear(&self.address).map_err(|error| self.failed(error))?;
            self.mouth.hear().map_err(|error| self.failed(error))?;
            let bytes = receive_buffer(&hears).unwrap_or_default();
            let hearing = match &self.opener {
                Some(opener) => Hearing::Secured(opener.clone(), self.take_management()),
                None => Hearing::Plain(Box::new(Receiver::new(Limits::default()))),
            };
            let (hub, ignored, clock) = (Arc::clone(&self.hub), Arc::clone(&self.ignored), self.clock);
            let presence = Arc::clone(self.mouth.presence());
            let reader = tokio::spawn(Reader { hears, hearing, hub, ignored, presence, clock }.read());
            *ear = Some(Ear { reader, bytes });
        }
        Ok(())
    }

    fn take_management(&self) -> Option<Box<Management>> {
        self.management.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn failed(&self, error: io::Error) -> BusError {
        BusError::LocalSockets { address: self.address, error }
    }

    /// The self test is never sealed, and what members say about keys is not, either.
    pub(crate) async fn say_plainly(&self, channel: Channel, payload: &[u8]) -> Result<(), BusError> {
        let mut voice = self.voice.lock().await;
        match &mut *voice {
            Voice::Plain { .. } => {
                let packets = voice.say(self.clock.now(), channel, payload)?;
                self.send(packets).await
            }
            Voice::Secured(..) => {
                let number = self.plain.fetch_add(1, Ordering::Relaxed);
                self.send(Packets::new(channel, payload, number, SIZES)?).await
            }
        }
    }

    /// Tries whether this program hears itself, as liblcm does: it speaks on [`SELF_TEST_CHANNEL`]
    /// ten times a second, for ten seconds at most. Others hear that, too, and ignore it.
    ///
    /// # Errors
    /// It does not, or cannot speak.
    pub async fn self_test(&self) -> Result<(), BusError> {
        let port = self.port()?;
        let (Ok(channel), Ok(pattern)) = (Channel::new(SELF_TEST_CHANNEL), Pattern::new(SELF_TEST_CHANNEL))
        else {
            return Err(BusError::LocalDeaf(self.address));
        };
        let mut heard = self.subscribe(pattern, Capacity::default())?;
        let end = tokio::time::Instant::now() + SELF_TEST_PATIENCE;
        while tokio::time::Instant::now() < end {
            self.say_plainly(channel, SELF_TEST_PAYLOAD).await?;
            let own = async {
                while let Some(heard) = heard.next().await {
                    if heard.from.port() == port && heard.payload == SELF_TEST_PAYLOAD {
                        return true;
                    }
                }
                false
            };
            match tokio::time::timeout(SELF_TEST_PAUSE, own).await {
                Ok(true) => return Ok(()),
                Ok(false) => break,
                Err(_) => {}
            }
        }
        Err(BusError::LocalDeaf(self.address))
    }

    /// What was heard, refused and lost so far.
    pub fn counters(&self) -> Counters {
        lock(&self.hub).counters()
    }

    /// What a secured bus refused so far, and why.
    pub fn refused(&self) -> Refused {
        lock(&self.hub).refused()
    }

    /// How large the system's buffer of what was received is, in bytes as it counts them; 0 before
    /// the first subscription.
    pub fn receive_buffer(&self) -> usize {
        self.ear.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |ear| ear.bytes)
    }
}

/// Takes a bus's place in the group anew whenever interfaces, addresses or routes change.
async fn watch(mouth: Weak<Mouth>, mut changes: io::Result<Changes>) {
    loop {
        let heard = match &mut changes {
            Ok(changes) => changes.next().await,
            Err(_) => {
                tokio::time::sleep(UNTOLD).await;
                Ok(())
            }
        };
        if let Err(error) = heard {
            changes = Err(error);
        }
        match mouth.upgrade() {
            Some(mouth) => mouth.renew(),
            None => return,
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.watch.abort();
        if let Some(ear) = self.ear.lock().unwrap_or_else(PoisonError::into_inner).take() {
            ear.reader.abort();
        }
        lock(&self.hub).close();
    }
}
