//! A program's membership in a secured group: a bus whose keys the members agree upon, by
//! themselves and again and again.
//!
//! ```text
//!   publish, subscribe --> Bus <--install-- Driver (one task) --> a machine for each domain
//!                           |                  |                  (protocol/pubsub, discovery)
//!    group: sealed datagrams, and plain ones   '--> STATE/*.counters, durable before it is relied on
//!           on folkmoot:// channels
//! ```
//! The promise: what is published is sealed under a key that those have whose certificates allow
//! it, and nobody else; somebody who left or was excluded has no later key. Relies on: one process
//! for each certificate (the state folder is locked), and a disk that keeps what it has said it
//! has. docs/pubsub.md has the rules.

mod backlog;
mod channels;
mod driver;
mod excluded;
mod seat;
mod state;

pub(crate) use backlog::Backlog;
pub use channels::{CONFIRMATION_CHANNEL, EXCLUSION_CHANNEL};
pub use excluded::{EXCLUSION_FILE_END, EXCLUSION_FILES_MAX, exclusions_in};

use crate::{Bus, BusError, Secured};
use bytes::Bytes;
use core::num::NonZeroU64;
use driver::{Ask, Disk, Driver, Told};
use excluded::Excluded;
use folkmoot_pubsub::discovery;
use folkmoot_pubsub::secured::{Credentials, Domain, Mode, SenderId, Signing, Suite, Times};
use folkmoot_pubsub::{Address, Channel};
use seat::Seat;
use state::State;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// How a program takes part.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of this certificate's counters. It is made if it is not there. A folder that is
    /// lost means a new certificate: the others refuse counters that begin anew (PUB-42).
    pub state: PathBuf,
    /// The folder of exclusions, if there is one. What is put there is carried out within seconds,
    /// and what is heard is put there ([`exclusions_in`]).
    pub exclusions: Option<PathBuf>,
    /// The ciphers. All members have the same.
    pub suite: Suite,
    /// The channels whose messages are signed by sender, and the patterns by their texts. All
    /// members have the same. A pattern has no batches.
    pub signing: BTreeMap<Channel, Signing>,
    /// When keys give way. All members have the same.
    pub times: Times,
    /// How long members wait for one another.
    pub waits: discovery::Times,
}

impl Options {
    /// With AES, without signatures, and with the usual times.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        let (suite, signing) = (Suite::default(), BTreeMap::new());
        Self {
            state: state.into(),
            exclusions: None,
            suite,
            signing,
            times: Times::default(),
            waits: discovery::Times::default(),
        }
    }
}

/// What stands with the key of one domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    /// The multicast group, or a channel of it.
    pub domain: Domain,
    /// The key's number; `None` before the first.
    pub number: Option<NonZeroU64>,
    /// Who has the key, this program included, by number.
    pub members: Vec<SenderId>,
    /// This program was excluded, or its certificate has ended.
    pub out: bool,
    /// Agreements that came to nothing.
    pub failed: u64,
    /// Messages about keys that a rule refused.
    pub refused: u64,
    /// A number that two certificates name: whoever issues them made a mistake.
    pub duplicate: Option<SenderId>,
    /// Others have heard more of this program's certificate than its state knows: the state was
    /// lost or is an older one, or another program has used the certificate (PUB-79).
    pub behind: bool,
    /// Another program speaks under this program's certificate, and has said more.
    pub twin: bool,
    /// An exclusion was not taken, because there are as many as there may be.
    pub full: bool,
}

/// Why a program is not a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MembershipError {
    /// The system does not let it.
    #[error(transparent)]
    LocalBus(#[from] BusError),
    /// The certificate says nothing about this group.
    #[error("the certificate gives no right in the group {0}")]
    LocalNoRight(Address),
    /// Another process uses the state folder.
    #[error("another process uses {0}; a certificate is for one process at a time")]
    LocalInUse(PathBuf),
    /// A file of the state folder cannot be read or written.
    #[error("{path} cannot be used: {error}")]
    LocalFile {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of the state folder is damaged.
    #[error("{0} is damaged; move it away and use a new certificate")]
    LocalDamaged(PathBuf),
    /// There is no randomness.
    #[error("the system gives no random numbers: {0}")]
    LocalRandomness(String),
}

/// When each other sender was last heard. Only who has a certificate is, so there is one entry for
/// each number at most.
type LastHeard = Arc<Mutex<BTreeMap<SenderId, Instant>>>;

/// A secured bus, and the agreement on its keys. When this is dropped the program is silent, and
/// the others notice with the next agreement; [`Self::leave`] tells them.
#[derive(Debug)]
pub struct Membership {
    bus: Arc<Bus>,
    keyed: watch::Receiver<Vec<Keyed>>,
    heard: LastHeard,
    asks: mpsc::Sender<Ask>,
    driver: JoinHandle<()>,
}

impl Membership {
    /// Joins the group: with all domains there that the certificate names. Done when the agreement
    /// has begun; [`Self::ready`] waits for its end. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`MembershipError`].
    pub async fn join<C: Credentials + Clone + Send + 'static>(
        address: Address,
        credentials: C,
        options: Options,
    ) -> Result<Self, MembershipError> {
        let group = Domain::group(address.group.into());
        let group = group.map_err(|error| BusError::LocalDomain(address, error))?;
        let mut rights = credentials.rights();
        rights.retain(|right| right.domain.of_group() == group);
        let Some(first) = rights.first() else { return Err(MembershipError::LocalNoRight(address)) };
        let state = State::open(&options.state)?;
        let (sender, key) = (first.sender, Some(credentials.key().clone()));
        let secured = Secured { mode: Mode::Own, sender, key, times: options.times };
        let domains: Vec<Domain> = rights.iter().map(|right| right.domain).collect();
        let (bus, backlog) = Bus::join_with_management(address, secured, &domains)?;
        let bus = Arc::new(bus);
        let mut seats = Vec::with_capacity(rights.len());
        for right in &rights {
            let stored = state.read(&right.domain)?;
            seats.push(
                Seat::new(*right, credentials.clone(), &options, stored)
                    .map_err(|_| MembershipError::LocalDamaged(state.path(&right.domain)))?,
            );
        }
        let (tell, keyed) = watch::channel(seats.iter().map(Seat::keyed).collect());
        let (asks, asked) = mpsc::channel(driver::ASKS_MAX);
        let disk = Disk { state, excluded: options.exclusions.clone().map(Excluded::new) };
        let heard = LastHeard::default();
        let told = Told { keyed: tell, heard: Arc::clone(&heard) };
        let driver = Driver::new(Arc::clone(&bus), backlog, seats, options, disk, told)?;
        Ok(Self { bus, keyed, heard, asks, driver: tokio::spawn(driver.run(asked)) })
    }

    /// Publishes, and subscribes. On a channel whose key is not there yet it does neither.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// What stands with each key.
    pub fn keyed(&self) -> Vec<Keyed> {
        self.keyed.borrow().clone()
    }

    /// When each other sender last said something new about keys. All who are there do so now and
    /// then: each of those who share a key in its turn, by chance, one every two to three seconds.
    pub fn heard(&self) -> BTreeMap<SenderId, Instant> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until all keys are there, or this program is out. A program that hears nobody has keys
    /// of its own after [`discovery::Times::alone`].
    pub async fn ready(&self) {
        let done = |keyed: &Vec<Keyed>| keyed.iter().all(|one| one.number.is_some() || one.out);
        // It only fails if the driver has ended, and then there is nothing to wait for.
        let _ = self.keyed.clone().wait_for(done).await;
    }

    /// Waits until something has changed in [`Self::keyed`] since the last call; `false` if nothing
    /// will any more.
    pub async fn changed(&mut self) -> bool {
        self.keyed.changed().await.is_ok()
    }

    /// Excludes whomever the statement names ([`folkmoot_pubsub::secured::exclude`]), and shows it
    /// to the others. A statement that the root has not made changes nothing.
    pub async fn exclude(&self, statement: Bytes) {
        let _ = self.asks.send(Ask::Exclude(statement)).await;
    }

    /// Takes another certificate of the same key and sender in place of the own one: of a later
    /// term, or for other channels. `None` if it is none: another key's, or of an earlier term.
    /// The keys in use stay until the others have agreed on new ones with it. Otherwise the domains
    /// that have no keys here because what lies in the state folder for them cannot be used.
    pub async fn renew(&self, certificate: Bytes) -> Option<Vec<Domain>> {
        let (done, told) = oneshot::channel();
        self.asks.send(Ask::Renew(certificate, done)).await.ok()?;
        told.await.ok().flatten()
    }

    /// Looks at everybody's papers again, because what they are judged by has changed: whoever has
    /// lost a right is excluded.
    pub async fn look_again(&self) {
        let _ = self.asks.send(Ask::LookAgain).await;
    }

    /// Leaves: the others agree on keys without this program. Where there are others this takes a
    /// third of a second or more, because it is said four times.
    pub async fn leave(mut self) {
        let (done, told) = oneshot::channel();
        if self.asks.send(Ask::Leave(done)).await.is_ok() {
            let _ = told.await;
        }
        // Then nobody has the state folder any more.
        let _ = (&mut self.driver).await;
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
