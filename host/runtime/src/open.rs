//! From a state folder to a running member.

use crate::stacks::{Member, Node};
use crate::{Clock, Handle, Lock, Running, RuntimeError, Seated, StateFolder, Store, start};
use folkmoot_attach::Embedded;
use folkmoot_base::{GroupId, Locator, MemberId};
use folkmoot_transport::{Faults, Transport};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Orders and questions for a member that runs the shipped stacks.
pub type MemberHandle = Handle<Node, Seated>;
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
}

/// What [`open`] gives.
#[derive(Debug)]
pub struct Opened {
    /// The member at work.
    pub running: RunningMember,
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
#[expect(clippy::unused_async, reason = "must run inside a tokio runtime")]
pub async fn open(options: Options) -> Result<Opened, RuntimeError> {
    let folder = StateFolder::open(&options.state)?;
    let lock = folder.lock()?;
    let _key = folder.read_key()?;
    let charter = folder.read_charter()?;
    let store = Store::open(&folder.store_path())?;
    let _stored = store.load()?;
    let transport = Transport::udp(options.listen)
        .map_err(|error| RuntimeError::LocalTransport(format!("{}: {error}", options.listen)))?;
    let (locator, faults) = (transport.local(), transport.faults());
    let clock = Clock::start();
    let machine = Embedded::new(Node, Seated::new(Member));
    let running = start(machine, transport, store, clock)?;
    let (me, name, group) = (MemberId([0; 32]), String::new(), GroupId::of_charter(&charter));
    Ok(Opened { running, me, name, group, locator, faults, lock })
}
