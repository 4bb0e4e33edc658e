//! From a state folder to a running member.

use crate::stacks::{Member, Node};
use crate::{
    Clock, Handle, Lock, OsEntropy, Running, RuntimeError, Seat, Seated, StateError, StateFolder, Store,
    start,
};
use bytes::Bytes;
use core::fmt::Debug;
use folkmoot_attach::Embedded;
use folkmoot_base::{GroupId, Instant, Locator, MemberId, StoreKey};
use folkmoot_identity::{Identity, SignedCharter};
use folkmoot_transport::{Faults, Transport};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Orders and questions for a member that runs the shipped stacks.
pub type MemberHandle = Handle<Node, Seated>;
/// Both floors of one member.
pub type Machine = Embedded<Node, Seated>;
/// A running member with the shipped stacks.
pub type RunningMember = Running<Node, Seated>;

/// What to run, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The state folder: identity, charter, store.
    pub state: PathBuf,
    /// Where to listen for the others.
    pub listen: SocketAddr,
    /// Where others of the group may be found, besides the places remembered from before.
    pub seeds: Vec<Locator>,
    /// How far the wall clock is set forward: for tests.
    #[doc(hidden)]
    pub clock_ahead: Duration,
    /// Whether the member keeps every key it ever had, to show what they are good for once it is expelled.
    #[doc(hidden)]
    pub danger_keep_keys: bool,
}

/// What [`open`] gives.
#[derive(Debug)]
pub struct Opened<U: Seat<Event: Debug> = Seated> {
    /// The member at work.
    pub running: Running<Node, U>,
    /// Its id.
    pub me: MemberId,
    /// Its name, from the identity certificate.
    pub name: String,
    /// The group that its charter founds.
    pub group: GroupId,
    /// Where it listens.
    pub locator: Locator,
    /// The fault switch of its transport, for demonstrations and tests.
    pub faults: Faults,
    /// The right to the folder; keep it as long as the member runs.
    pub lock: Lock,
}

/// Opens the folder, the store and the socket, and starts the member.
///
/// # Errors
/// [`RuntimeError`]: the folder, the store, the socket, or what they hold.
pub async fn open(options: Options) -> Result<Opened, RuntimeError> {
    open_seated(options, |member| member).await
}

/// As [`open`], with what `seat` makes of the member in its place: tests put one there that leaves out a step.
///
/// # Errors
/// As [`open`].
#[doc(hidden)]
pub async fn open_seated<U>(
    options: Options,
    seat: impl FnOnce(Seated) -> U,
) -> Result<Opened<U>, RuntimeError>
where
    U: Seat<Command: Send, Event: Send + Debug> + Send + 'static,
{
    // A folder that holds no identity is a mistyped one: nothing is written there, not even a lock.
    let folder = StateFolder::at(&options.state);
    let (identity, charter) = credentials(&folder)?;
    let lock = folder.lock()?;
    let store = Store::open(&folder.store_path())?;
    let stored = store.load()?;
    let transport = Transport::udp(options.listen).map_err(|error| {
        let why = format!("nothing can listen at {}: {}", options.listen, crate::in_words(&error));
        RuntimeError::LocalTransport(format!("{why}. Choose another address with --listen"))
    })?;
    let (locator, faults) = (transport.local(), transport.faults());
    let clock = Clock::start().ahead(options.clock_ahead);
    let (node, member) = floors(&identity, &charter, locator, &options, &stored, clock.now())?;
    let machine = Embedded::new(node, seat(Seated::new(member)));
    let running = start(machine, transport, store, clock)?;
    let (me, name, group) = (identity.member(), identity.name().to_owned(), charter.charter().group());
    Ok(Opened { running, me, name, group, locator, faults, lock })
}

/// Both floors, as the store left them and the charter wants them.
fn floors(
    identity: &Identity,
    charter: &SignedCharter,
    locator: Locator,
    options: &Options,
    stored: &[(StoreKey, Bytes)],
    now: Instant,
) -> Result<(Node, Member), RuntimeError> {
    let mut entropy = OsEntropy::new().map_err(RuntimeError::LocalStart)?;
    let der = Bytes::copy_from_slice(charter.der());
    let timeouts = charter.charter().timeouts();
    let milliseconds =
        |set: Option<u32>, usual: Duration| set.map_or(usual, |ms| Duration::from_millis(ms.into()));
    let mut node = folkmoot_node::Config::new(identity.clone(), der.clone(), locator);
    node.seeds.clone_from(&options.seeds);
    node.silence = milliseconds(timeouts.silence_ms, node.silence);
    node.lookup = milliseconds(timeouts.lookup_ms, node.lookup);
    let mut member = folkmoot_member::Config::new(identity.clone(), der);
    member.step_deadline = milliseconds(timeouts.step_ms, member.step_deadline);
    member.danger_keeps_keys = options.danger_keep_keys;
    let refuse = |error: &dyn std::fmt::Display| RuntimeError::LocalStart(error.to_string());
    let node = Node::new(node, stored, now, &mut entropy).map_err(|error| refuse(&error))?;
    let member = Member::new(member, stored).map_err(|error| refuse(&error))?;
    Ok((node, member))
}

/// The identity and the complete charter of a folder, both verified.
fn credentials(folder: &StateFolder) -> Result<(Identity, SignedCharter), RuntimeError> {
    let malformed = |path, detail: String| StateError::LocalMalformed { path, detail };
    let (key, certificate) = (folder.read_key()?, folder.read_certificate()?);
    let identity = Identity::from_pem(&key, &String::from_utf8_lossy(&certificate))
        .map_err(|error| malformed(folder.key_path(), error.to_string()))?;
    let charter = SignedCharter::complete_from_der(&folder.read_charter()?)
        .map_err(|error| malformed(folder.charter_path(), error.to_string()))?;
    Ok((identity, charter))
}
