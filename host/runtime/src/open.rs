//! From a state folder to a running member.

use crate::carry::{self, der};
use crate::stacks::{Member, Node};
use crate::thread::Thread;
use crate::{
    CarryError, Clock, Generation, Handle, Lock, MemberStack, OsEntropy, Running, RuntimeError, StateError,
    StateFolder, Store, UpperStack, start,
};
use bytes::Bytes;
use core::fmt::Debug;
use folkmoot_attach::{Attached, Embedded, Ground, stored_for};
use folkmoot_base::{GroupId, Locator, MemberId, Party, StoreKey};
use folkmoot_identity::{Identity, SignedCharter};
use folkmoot_member::{keep_endorsement, keep_voucher};
use folkmoot_node::Timing;
use folkmoot_transcript::{KnownHead, Voucher, await_head};
use folkmoot_transport::{Faults, Transport};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Orders and questions for a member that runs the shipped stacks.
pub type MemberHandle = Handle<Node, MemberStack>;
/// Both floors of one member.
pub type Machine = Embedded<Node, MemberStack>;
/// A running member with the shipped stacks.
pub type RunningMember = Running<Node, MemberStack>;

/// What to run, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The state folder: identity, charter, store.
    pub state: PathBuf,
    /// The identity of the folder, if it was opened before. Without it, the folder's key must be
    /// open, not under a passphrase.
    pub identity: Option<Identity>,
    /// Where to listen for the others.
    pub listen: SocketAddr,
    /// Where others of the group may be found, besides the places remembered from before.
    pub seeds: Vec<Locator>,
    /// Heads that are known from elsewhere: the member follows only a line that has them.
    pub heads: Vec<KnownHead>,
    /// What a member gave with its ticket: a newcomer shows it with its requests.
    pub voucher: Option<Voucher>,
    /// A certificate (X.509, DER) by somebody whom the charter recognises, which says who a
    /// newcomer is: it shows it with its requests.
    pub endorsement: Option<Vec<u8>>,
    /// Files with the signed charters of groups that the node carries beside its ring's own. They
    /// are named anew at each start.
    pub carries: Vec<PathBuf>,
    /// Of an authority's process: whether it has replicas, so that what it issues waits for the log
    /// that they share.
    pub replicated: bool,
    /// Whether packets of the ring go to all by IP multicast, where all members hear that.
    pub multicast: bool,
    /// How far the wall clock is set forward: for tests.
    #[doc(hidden)]
    pub clock_ahead: Duration,
    /// Whether the member keeps every key it ever had, to show what they are good for once it is
    /// expelled.
    #[doc(hidden)]
    pub danger_keep_keys: bool,
}

/// What [`open`] gives.
#[derive(Debug)]
pub struct Opened<U: UpperStack<Event: Debug> = MemberStack, G: Ground = Node> {
    /// The member at work.
    pub running: Running<G, U>,
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
    open_with(options, |member| member).await
}

/// As [`open`], with a thread for this member alone: it answers the others whatever the program
/// does meanwhile. Each message between the two then wakes a thread.
///
/// # Errors
/// As [`open`]; [`RuntimeError::LocalStart`] if the system gives no thread.
pub fn open_on_thread(options: Options) -> Result<Opened, RuntimeError> {
    let thread = Thread::new()?;
    let mut opened = {
        let _inside = thread.enter();
        prepare(options, &[], Timing::default())?.start(|node, all| (node, all.host))?
    };
    opened.running.run_on(thread)?;
    Ok(opened)
}

/// As [`open`], with what `wrap` makes of the member in its place: tests wrap it in one that leaves
/// out a step.
///
/// # Errors
/// As [`open`].
#[doc(hidden)]
pub async fn open_with<U>(
    options: Options,
    wrap: impl FnOnce(MemberStack) -> U,
) -> Result<Opened<U>, RuntimeError>
where
    U: UpperStack<Command: Send, Event: Send + Debug> + Send + 'static,
{
    prepare(options, &[], Timing::default())?.start(|node, all| (node, wrap(all.host)))
}

/// Everything that runs, opened but not started.
#[doc(hidden)]
#[derive(Debug)]
pub struct Prepared {
    node: Node,
    /// Who is to live on the node.
    members: Household,
    name: String,
    group: GroupId,
    transport: Transport,
    store: Store,
    clock: Clock,
    lock: Lock,
}

/// Somebody who lives on a node beside its host.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Lodger {
    /// Whose program.
    pub identity: Identity,
    /// Which of its programs.
    pub port: u16,
    /// The group whose charter, which the node carries, has it as a member or is asked by it;
    /// nothing: the ring's own.
    pub charter: Option<GroupId>,
}

/// The parties of one node.
#[doc(hidden)]
#[derive(Debug)]
pub struct Household {
    me: Party,
    /// Port 0 of the member whose key the node shows.
    pub host: MemberStack,
    /// Those who live with it.
    pub others: Vec<(Party, MemberStack)>,
}

impl Household {
    /// Whose key the node shows.
    pub fn host_id(&self) -> Party {
        self.me
    }

    /// All as one upper floor.
    pub fn attached(self) -> Attached<MemberStack> {
        Attached::new((self.me, self.host), self.others)
    }
}

impl Prepared {
    /// Starts what `wrap` makes of the two floors.
    ///
    /// # Errors
    /// [`RuntimeError`]: no randomness, or no thread for the store.
    pub fn start<G, U>(
        self,
        wrap: impl FnOnce(Node, Household) -> (G, U),
    ) -> Result<Opened<U, G>, RuntimeError>
    where
        G: Ground + Send + 'static,
        U: UpperStack<Command: Send, Event: Send + Debug> + Send + 'static,
    {
        let Self { node, members, name, group, transport, store, clock, lock } = self;
        let (locator, faults, me) = (transport.local(), transport.faults(), members.me.member);
        let (ground, upper) = wrap(node, members);
        let running =
            start(Embedded::new(ground, upper), transport, store, clock, Generation::of_this_machine())?;
        Ok(Opened { running, me, name, group, locator, faults, lock })
    }
}

/// Opens a folder, up to where it starts: for benches and tests, which put stacks of their own
/// around the shipped ones. Its member is the host of `others` on the same node: they share its
/// socket, its links and its store, and must be on the roster; admission is the host's
/// alone. Each of them is an identity and a port, the host's own identity with another port than 0
/// among them. The ring waits as `timing` says.
///
/// # Errors
/// As [`open`].
#[doc(hidden)]
pub fn prepare(
    options: Options,
    others: &[(Identity, u16)],
    timing: Timing,
) -> Result<Prepared, RuntimeError> {
    let lodger = |(identity, port): &(Identity, u16)| Lodger {
        identity: identity.clone(),
        port: *port,
        charter: None,
    };
    prepare_with(options, &others.iter().map(lodger).collect::<Vec<_>>(), timing)
}

/// As [`prepare`]; some of those who live on the node are members by charters that it carries.
///
/// # Errors
/// As [`open`], and [`CarryError::LocalNotCarried`].
#[doc(hidden)]
pub fn prepare_with(options: Options, lodgers: &[Lodger], timing: Timing) -> Result<Prepared, RuntimeError> {
    // A folder that holds no identity is a mistyped one: nothing is written there, not even a lock.
    let folder = StateFolder::at(&options.state);
    let (identity, charter) = credentials(&folder, options.identity.clone())?;
    let carried = carry::charters(&options.carries, &charter.charter().group())?;
    let lock = folder.lock()?;
    let mut store = Store::open(&folder.store_path())?;
    let shown = options.voucher.iter().map(keep_voucher);
    let shown = shown.chain(options.endorsement.iter().map(|der| keep_endorsement(der)));
    let told = options.heads.iter().map(await_head).chain(shown);
    store.commit(&told.collect::<Vec<_>>())?;
    let stored = store.load()?;
    let transport = Transport::udp(options.listen).map_err(|error| {
        let why = format!("cannot listen at {}: {}", options.listen, crate::in_words(&error));
        let detail = format!("{why}. If it stays so, choose another address with --listen");
        RuntimeError::LocalTransport { detail, passing: folkmoot_system::is_passing(&error) }
    })?;
    let transport = match options.multicast {
        true => transport.multicast(&charter.charter().group()),
        false => transport,
    };
    let clock = Clock::start().ahead(options.clock_ahead);
    let floors = Floors {
        identity: &identity,
        charter: &charter,
        carried: &carried,
        options: &options,
        stored: &stored,
    };
    let node = floors.node(transport.local(), timing, &clock)?;
    let seat = |lodger: &Lodger| {
        floors.member(lodger, &node).map(|member| (member.party(), MemberStack::new(member)))
    };
    let others: Vec<_> = lodgers.iter().map(seat).collect::<Result<_, RuntimeError>>()?;
    let (me, host) = seat(&Lodger { identity: identity.clone(), port: 0, charter: None })?;
    let distinct: BTreeSet<&Party> = others.iter().map(|(party, _)| party).chain([&me]).collect();
    if distinct.len() <= others.len() {
        return Err(refuse("two programs of one member have the same port: give each another"));
    }
    let members = Household { me, host, others };
    let (name, group) = (identity.name().to_owned(), charter.charter().group());
    Ok(Prepared { node, members, name, group, transport, store, clock, lock })
}

/// What both floors are made of: as the store left them and the charter wants them.
struct Floors<'a> {
    identity: &'a Identity,
    charter: &'a SignedCharter,
    carried: &'a BTreeMap<GroupId, SignedCharter>,
    options: &'a Options,
    stored: &'a [(StoreKey, Bytes)],
}

impl Floors<'_> {
    fn node(&self, locator: Locator, timing: Timing, clock: &Clock) -> Result<Node, RuntimeError> {
        let mut entropy = OsEntropy::new().map_err(RuntimeError::LocalStart)?;
        let timeouts = self.charter.charter().timeouts();
        let mut config = folkmoot_node::Config::new(self.identity.clone(), der(self.charter), locator);
        config.carries = self.carried.values().map(der).collect();
        config.seeds.clone_from(&self.options.seeds);
        config.silence = milliseconds(timeouts.silence_ms, config.silence);
        config.lookup = milliseconds(timeouts.lookup_ms, config.lookup);
        // Nodes are given up on after members, never before.
        for charter in self.carried.values().chain([self.charter]) {
            let step = milliseconds(charter.charter().timeouts().step_ms, Duration::ZERO);
            config.settle = config.settle.max(step.saturating_mul(2));
        }
        config.timing = timing;
        config.started = clock.started();
        Node::new(config, self.stored, clock.now(), &mut entropy).map_err(refuse)
    }

    fn member(&self, lodger: &Lodger, node: &Node) -> Result<Member, RuntimeError> {
        let Lodger { identity: of, port, charter: by } = lodger;
        let charter = match by {
            Some(group) => self.carried.get(group).ok_or(CarryError::LocalNotCarried { group: *group })?,
            None => self.charter,
        };
        let mut config = folkmoot_member::Config::new(of.clone(), der(charter));
        config.node = node.id();
        config.port = *port;
        config.step_deadline = milliseconds(charter.charter().timeouts().step_ms, config.step_deadline);
        config.replicated = self.options.replicated;
        config.danger_keeps_keys = self.options.danger_keep_keys;
        if of.node() == node.id() && *port == 0 {
            return Member::new(config, self.stored).map_err(refuse);
        }
        let own = stored_for(&Party::new(of.member(), *port), self.stored);
        let known = by.as_ref().and_then(|group| node.carried(group));
        let transcript = known.unwrap_or_else(|| node.transcript()).clone();
        Member::with_transcript(config, transcript, &own).map_err(refuse)
    }
}

fn milliseconds(set: Option<u32>, usual: Duration) -> Duration {
    set.map_or(usual, |ms| Duration::from_millis(ms.into()))
}

fn refuse(error: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::LocalStart(error.to_string())
}

/// The identity and the complete charter of a folder, both verified.
fn credentials(
    folder: &StateFolder,
    opened: Option<Identity>,
) -> Result<(Identity, SignedCharter), RuntimeError> {
    let identity = opened.map_or_else(|| folder.identity(None), Ok)?;
    let charter = SignedCharter::complete_from_der(&folder.read_charter()?).map_err(|error| {
        StateError::LocalMalformed { path: folder.charter_path(), detail: error.to_string() }
    })?;
    Ok((identity, charter))
}
