//! Keying alone: the machines of all members in one thread, each message to all at once, no flush,
//! no ring, no disk. Their work beyond the module and the signatures is keying's own.
//!
//! Groups are founded without signatures, because only the change is measured. In the change, every
//! message but a confirmation is signed with P-256, and every member except its sender verifies it,
//! as in the real stack. The time for that is taken at each call, and the calls are counted. The
//! MACs of confirmations are keying's own.

use crate::counts::{Event, controller};
use crate::meter::thread_worked;
use folkmoot::tools::{Entropy, OsEntropy};
use folkmoot::{Bytes, Cause, GroupId, MemberId, NodeId, Party, ViewId};
use folkmoot_agreement::ModuleName;
use folkmoot_base::{Cipher, ConfigurationId, Digest, Instant, Keying as Rule, SignatureBytes, digest};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::{SigningKey, VerifyingKey};
use folkmoot_keying::{Config, Credentials, Input, Keying, Output, State, Terms, View};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

const GROUP: GroupId = GroupId([7; 32]);
/// As long as the one that the member stack signs under.
const LABEL: &[u8] = b"folkmoot bench v01";

/// What one change took all members, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Alone {
    /// Signing and verifying.
    pub(crate) signatures: Duration,
    /// How many were made, and how often one was verified.
    pub(crate) signed: Signed,
    /// The module and keying.
    pub(crate) rest: Duration,
}

/// How many signatures all members make, and how many they verify.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) made: u64,
    pub(crate) verified: u64,
}

/// What signing and verifying took, and how often.
#[derive(Default)]
struct Tally {
    spent: Cell<Duration>,
    signed: Cell<Signed>,
}

/// Members with keys, and their machines.
pub(crate) struct Table {
    module: ModuleName,
    keys: BTreeMap<MemberId, SigningKey>,
    known: BTreeMap<MemberId, VerifyingKey>,
    machines: BTreeMap<Party, Keying>,
    brings: BTreeMap<Party, Bytes>,
    log: VecDeque<(Party, Bytes)>,
    views: u64,
    /// Whether messages are signed and verified.
    signed: bool,
    entropy: OsEntropy,
}

/// Signs and verifies, and counts how long that takes.
struct Pen<'a> {
    key: &'a SigningKey,
    known: &'a BTreeMap<MemberId, VerifyingKey>,
    terms: Terms,
    signed: bool,
    tally: &'a Tally,
}

impl Pen<'_> {
    fn time<T>(&self, (made, verified): (u64, u64), act: impl FnOnce() -> T) -> T {
        let before = thread_worked();
        let done = act();
        let Tally { spent, signed } = self.tally;
        spent.set(spent.get() + thread_worked().saturating_sub(before));
        let so_far = signed.get();
        signed.set(Signed { made: so_far.made + made, verified: so_far.verified + verified });
        done
    }
}

impl Credentials for Pen<'_> {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        if self.signed {
            self.time((1, 0), || self.key.sign_wire(LABEL, message))
        } else {
            SignatureBytes::NONE
        }
    }

    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool {
        let stands = |key: &VerifyingKey| key.verify_wire(LABEL, message, signature).is_ok();
        !self.signed || self.known.get(member).is_some_and(|key| self.time((0, 1), || stands(key)))
    }

    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        self.known.contains_key(member).then(|| digest(&[b"certificate", &member.0]))
    }

    fn terms(&self) -> Terms {
        self.terms
    }
}

impl Table {
    pub(crate) fn new(module: ModuleName, size: usize) -> Result<Self, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let mut keys = BTreeMap::new();
        while keys.len() < size {
            let key = SigningKey::generate(&mut entropy);
            keys.insert(key.verifying_key().member_id(), key);
        }
        let known = keys.iter().map(|(member, key)| (*member, key.verifying_key().clone())).collect();
        Ok(Self {
            module,
            keys,
            known,
            machines: BTreeMap::new(),
            brings: BTreeMap::new(),
            log: VecDeque::new(),
            views: 0,
            signed: false,
            entropy,
        })
    }

    /// One change in a group of its own; `halves`: how many meet how many in a merge.
    pub(crate) fn change(&mut self, event: Event, halves: (usize, usize)) -> Result<Alone, Failure> {
        let all: Vec<Party> = self.keys.keys().map(|member| (*member).into()).collect();
        let size = all.len();
        self.machines.clear();
        self.brings.clear();
        for member in &all {
            let machine = Keying::new(*member, GROUP, Config::default(), None).map_err(Failure::bug)?;
            self.machines.insert(*member, machine);
        }
        self.signed = false;
        let members = match event {
            Event::Nothing => all,
            Event::Join => {
                let (_, before) = all.split_first().ok_or_else(|| Failure::bug("nobody"))?;
                self.settle(before)?;
                all
            }
            Event::Merge => {
                let (left, right) = all.split_at(halves.0.min(size));
                self.settle(left)?;
                self.settle(right)?;
                all
            }
            Event::Refresh => {
                self.settle(&all)?;
                return self.measured(|table| table.refresh(&all));
            }
            Event::Leave | Event::ControllerLeave => {
                self.settle(&all)?;
                let gone =
                    if matches!(event, Event::Leave) { size / 2 } else { controller(self.module, size) };
                let gone = self.by_rank().get(gone).copied();
                all.into_iter().filter(|member| Some(*member) != gone).collect()
            }
        };
        self.measured(|table| table.settle(&members))
    }

    fn measured(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<Tally, Failure>,
    ) -> Result<Alone, Failure> {
        self.signed = true;
        let before = thread_worked();
        let tally = change(self)?;
        let (signatures, signed) = (tally.spent.get(), tally.signed.get());
        Ok(Alone { signatures, signed, rest: thread_worked().saturating_sub(before + signatures) })
    }

    fn by_rank(&self) -> Vec<Party> {
        let mut all: Vec<Party> = self.machines.keys().copied().collect();
        all.sort_by_key(|member| (self.machines.get(member).and_then(Keying::rank), *member));
        all
    }

    /// These end the view that they are in, and agree on a key for the next. What signatures took.
    fn settle(&mut self, members: &[Party]) -> Result<Tally, Failure> {
        let tally = Tally::default();
        let old: Vec<Party> = members.iter().copied().filter(|one| self.is_secure(one)).collect();
        for member in &old {
            // Whoever is lost is lost at the signal; where nobody is, it does no harm.
            self.give(*member, Input::TransitionalSignal, &tally)?;
            self.give(*member, Input::FlushRequest, &tally)?;
        }
        self.views += 1;
        let configuration =
            ConfigurationId { ring_seq: self.views, representative: NodeId([1; 32]), nonce: [2; 16] };
        let id = ViewId { configuration, order: self.views, group: GROUP };
        let brought: Vec<Bytes> =
            members.iter().map(|member| self.brings.get(member).cloned().unwrap_or_default()).collect();
        let mut sides = self.sides(&old);
        for member in members {
            let came = sides.remove(member).unwrap_or_else(|| vec![*member]);
            let view = View {
                id,
                members: members.to_vec(),
                transitional_set: came,
                brought: brought.clone(),
                last: *member,
                cause: Cause::Network,
            };
            self.give(*member, Input::View(view), &tally)?;
        }
        self.deliver(members, &tally)?;
        Ok(tally)
    }

    /// Who came from one view together: all who bring the same run. Who brings none comes alone.
    fn sides(&self, old: &[Party]) -> BTreeMap<Party, Vec<Party>> {
        // A word about a run is its version, its name of 32 bytes, and what differs.
        let run = |one: &Party| self.brings.get(one).and_then(|word| word.get(..33));
        let mut runs: BTreeMap<&[u8], Vec<Party>> = BTreeMap::new();
        for (member, run) in old.iter().filter_map(|one| Some((*one, run(one)?))) {
            runs.entry(run).or_default().push(member);
        }
        let each = |side: &Vec<Party>| side.iter().map(|one| (*one, side.clone())).collect::<Vec<_>>();
        runs.values().flat_map(each).collect()
    }

    fn is_secure(&self, member: &Party) -> bool {
        self.machines.get(member).is_some_and(|machine| machine.state() == State::Secure)
    }

    fn refresh(&mut self, members: &[Party]) -> Result<Tally, Failure> {
        let tally = Tally::default();
        let first = members.first().ok_or_else(|| Failure::bug("nobody"))?;
        self.give(*first, Input::Refresh, &tally)?;
        self.deliver(members, &tally)?;
        Ok(tally)
    }

    fn deliver(&mut self, members: &[Party], tally: &Tally) -> Result<(), Failure> {
        while let Some((sender, bytes)) = self.log.pop_front() {
            for member in members {
                self.give(*member, Input::Message { sender, bytes: bytes.clone() }, tally)?;
            }
        }
        let stuck: BTreeSet<&Party> = members.iter().filter(|member| !self.is_secure(member)).collect();
        let text = || format!("{} of {} members did not agree on a key", stuck.len(), members.len());
        if stuck.is_empty() { Ok(()) } else { Err(Failure::bug(text())) }
    }

    /// One machine takes one input and says what it has to say.
    fn give(&mut self, to: Party, input: Input, tally: &Tally) -> Result<(), Failure> {
        let (Some(key), Some(machine)) = (self.keys.get(&to.member), self.machines.get_mut(&to)) else {
            return Err(Failure::bug("no such member"));
        };
        let terms = Terms {
            charter_version: 1,
            keying: Rule::Module(self.module),
            far: false,
            cipher: Cipher::default(),
        };
        let pen = Pen { key, known: &self.known, terms, signed: self.signed, tally };
        let entropy: &mut dyn Entropy = &mut self.entropy;
        machine.handle(Instant(0), input, &pen, entropy).map_err(Failure::bug)?;
        while let Some(output) = machine.poll_output() {
            match output {
                Output::Send { bytes, .. } => self.log.push_back((to, bytes)),
                Output::FlushOk { brings } => {
                    self.brings.insert(to, brings);
                }
                Output::SecureFlushRequest => {
                    machine.handle(Instant(0), Input::SecureFlushOk, &pen, entropy).map_err(Failure::bug)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
