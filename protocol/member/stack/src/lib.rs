//! The upper stack: flush, keying, session, admission and letters joined, above any node that
//! attach joins it to.
//!
//! ```text
//!      Command |                                ^ Event
//!  outbound.rs v                                | inbound.rs
//!     [ session ]  seals, opens            [ admission ]  requests, votes, decisions      join.rs
//!     [ keying  ]  one key for each view    [ letters ]  strangers' letters, answers         post.rs
//!     [ flush   ]  views, the same for all                                                change.rs
//!       ToNode v                                ^ ToMember     (attach)
//! ```
//! A member holds the secrets and knows no address. It believes its node about order, and nobody
//! about who is a member: its transcript is its own, verified item by item. Each file is one
//! journey.

mod api;
mod broken;
mod change;
mod credentials;
mod error;
mod group_stack;
mod inbound;
mod join;
mod message;
mod order;
mod outbound;
mod outcome;
mod petition;
mod post;
mod returns;
mod said;

mod spoils;
mod status;
mod times;

pub use api::{Command, Config, Event};
pub use error::{MemberError, SendError};
pub use folkmoot_admission::{
    AuthorityStatus, Closed, DealerState, Office, ShareStatus, ShareWay, keep_endorsement, keep_voucher,
};
pub use folkmoot_letters::{LetterEvent, LettersError, Standing};
pub use folkmoot_session::Origin;
pub use order::Accepted;
pub use outcome::{Awaits, Counting, Outcome, Stands};
pub use petition::{Petition, Proposal};
pub use spoils::Spoils;
pub use status::Told;
pub use times::{Ahead, Times};

use attach::credit::Purse;
use attach::{ToNode, Upper, UpperOutput};
use base::{
    ConfigurationId, Entropy, GroupId, Instant, MemberId, NodeId, Party, Persist, Said, Says, Signatures,
    StoreKey, UnixTime, Word,
};
use bytes::Bytes;
use core::ops::Bound;
use core::time::Duration;
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_identity::{MessageError, Prover, Signature, SignedMessage, Stamp};
use folkmoot_letters::{Desk, Writer};
use folkmoot_transcript::{PAST_TAKEN_SECONDS, Transcript};
use group_stack::GroupStack;
use join::Joining;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// How many words a party may say in a second before its numbers run ahead of the clock.
const WORDS_PER_SECOND: u64 = 1 << 20;

/// One party: one of a member's programs in its groups. Port 0 also takes the member's part in
/// admission (MEM-11).
pub struct Member {
    config: Config,
    me: MemberId,
    /// The group that the charter founds: where admission messages go.
    home: GroupId,
    transcript: Transcript,
    /// What others have shown for the decisions between, and our person may take: each with its
    /// date and committers, the last one at the end.
    offered: Vec<Ahead>,
    /// A Past that our node has taken and our clock has not come to.
    early: UnixTime,
    joining: Joining,
    /// Whether it was told to ask for admission: it asks again once its certificate has run out.
    wants_in: bool,
    desk: Desk,
    writer: Writer,
    stored: Vec<(StoreKey, Bytes)>,
    stacks: BTreeMap<GroupId, GroupStack>,
    wanted: BTreeSet<GroupId>,
    /// The instance counters of keying, as they were persisted.
    instances: BTreeMap<GroupId, Bytes>,
    /// The node's present configuration: from then on groups can be joined.
    configuration: Option<ConfigurationId>,
    /// Signs what this party says to the nodes and parties of its groups.
    signatures: Arc<dyn Signatures>,
    /// The number of the last [`Word`].
    number: u64,
    /// What the nodes of the present configuration say of their distance.
    patience: Duration,
    /// Whether its nodes are far from each other.
    far: bool,
    /// What it may send to each group in which it is.
    purses: BTreeMap<GroupId, Purse>,
    pool: base::Pool,
    sight: status::Sight,
    refused: u64,
    ended: outcome::Ended,
    spoils: Spoils,
    /// Held back by [`base::Danger::MemberSpeaksLate`] or [`base::Danger::MemberSpeaksEarly`].
    late: Option<Event>,
    out: VecDeque<UpperOutput<Event>>,
}

impl Member {
    /// A member, started from its store (the node below keeps the transcript there).
    ///
    /// # Errors
    /// [`MemberError`]: charter, transcript or votes in the store are not valid.
    pub fn new(config: Config, stored: &[(StoreKey, Bytes)]) -> Result<Self, MemberError> {
        let mut transcript = Transcript::founded(&config.charter)?.restore(stored)?;
        transcript.endanger(config.danger);
        Self::with_transcript(config, transcript, stored)
    }

    /// The same with a transcript that was verified in this process: members of one node need not
    /// each verify the store. Each verifies for itself what comes later.
    ///
    /// # Errors
    /// [`MemberError`]: votes in the store are not valid.
    pub fn with_transcript(
        config: Config,
        mut transcript: Transcript,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, MemberError> {
        transcript.leave_to_node();
        let me = config.identity.member();
        let instances = stored.iter().filter(|(key, _)| key.table == "keying").filter_map(|(key, value)| {
            let group: [u8; 32] = (*key.key).try_into().ok()?;
            Some((GroupId(group), value.clone()))
        });
        let mut member = Self {
            me,
            home: transcript.group(),
            offered: Vec::new(),
            early: UnixTime(0),
            joining: if config.port == 0 { Joining::Closed } else { Joining::Elsewhere },
            wants_in: false,
            desk: Desk::default(),
            writer: Writer::default(),
            stored: stored.iter().filter(|(key, _)| join::is_ours(key)).cloned().collect(),
            stacks: BTreeMap::new(),
            wanted: BTreeSet::new(),
            instances: instances.collect(),
            configuration: None,
            signatures: Arc::new(Prover::new(config.identity.key().clone())),
            number: 0,
            patience: Duration::ZERO,
            far: false,
            purses: BTreeMap::new(),
            pool: base::Pool::default(),
            sight: status::Sight::new(config.identity.certificate().not_before()),
            refused: 0,
            ended: outcome::Ended::load(stored),
            spoils: Spoils::default(),
            late: None,
            out: VecDeque::new(),
            transcript,
            config,
        };
        member.open_door()?;
        member.tell_node(ToNode::Attach { party: member.party(), charter: member.home });
        Ok(member)
    }

    /// This member.
    pub fn id(&self) -> MemberId {
        self.me
    }

    /// Which of the member's programs this is.
    pub fn party(&self) -> Party {
        Party::new(self.me, self.config.port)
    }

    /// The group that the charter founds.
    pub fn home(&self) -> GroupId {
        self.home
    }

    /// Every epoch key that it has held; none unless [`Config::danger_keeps_keys`].
    pub fn spoils(&self) -> &Spoils {
        &self.spoils
    }

    /// The transcript as this member verified it.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The public name of the key in use in `group`; equal at every member that holds it.
    pub fn epoch(&self, group: GroupId) -> Option<&str> {
        self.stacks.get(&group)?.installed.as_ref().map(|installed| installed.epoch.as_str())
    }

    /// This member's place in the order of the run that made that key, if the module keeps one.
    pub fn rank(&self, group: GroupId) -> Option<u32> {
        self.stacks.get(&group)?.keying.rank()
    }

    /// The group after this one, of those that this member is in: to go through all without a list
    /// of them.
    fn group_after(&self, group: Option<GroupId>) -> Option<GroupId> {
        let from = group.map_or(Bound::Unbounded, Bound::Excluded);
        self.stacks.range((from, Bound::Unbounded)).next().map(|(group, _)| *group)
    }

    /// Whether a message to `group` would be sealed and sent now.
    pub fn can_send(&self, group: GroupId) -> bool {
        self.has_credit(group) && self.stacks.get(&group).is_some_and(GroupStack::can_send)
    }

    /// A file that proves to others who sent a message, made from the message and what came with
    /// it: docs/protocol/identity.md, "Signed message".
    ///
    /// # Errors
    /// [`MessageError`]: the parts do not belong together, or the group never had such a member.
    pub fn prove(
        &self,
        stamp: Stamp,
        text: Bytes,
        signature: &Signature,
    ) -> Result<SignedMessage, MessageError> {
        let shown = self.transcript.shown_by(&stamp.sender.member);
        SignedMessage::assemble(
            stamp,
            text,
            signature,
            shown.ok_or(MessageError::PeerNotMember(stamp.sender.member))?,
        )
    }

    fn tell_node(&mut self, word: ToNode) {
        self.out.push_back(UpperOutput::Node(word));
    }

    /// To a guest; if we are one: to our contact.
    fn tell_guest(&mut self, to: NodeId, payload: Bytes) {
        self.tell_node(ToNode::Guest { from: self.party(), to, payload });
    }

    /// Says something about a group, signed. Numbers grow with each word, and with the clock, so
    /// that they go on after a restart.
    fn speak(&mut self, says: Says) {
        let clock = self.sight.clock.0.saturating_mul(WORDS_PER_SECOND);
        self.number = self.number.saturating_add(1).max(clock);
        let word = Word { party: self.party(), number: self.number, says };
        self.tell_node(ToNode::Word(Box::new(Said::sign(word, &*self.signatures))));
    }

    fn event(&mut self, event: Event) {
        if base::danger::ENABLED { self.break_event(event) } else { self.say(event) }
    }

    fn say(&mut self, event: Event) {
        self.out.push_back(UpperOutput::Event(event));
    }

    fn persist(&mut self, persist: Persist) {
        self.out.push_back(UpperOutput::Persist(persist));
    }

    fn trace(&mut self, layer: &'static str, text: String) {
        self.out.push_back(UpperOutput::Trace(api::trace(layer, text)));
    }

    /// An input was refused. It is logged once for each power of two, so that a flood of garbage
    /// does not become a flood of lines.
    fn refuse(&mut self, layer: &'static str, error: &dyn core::fmt::Display) {
        self.refused = self.refused.saturating_add(1);
        if self.refused.is_power_of_two() {
            let text = format!("refused ({} so far): {error}", self.refused);
            self.trace(layer, text);
        }
    }
}

impl Upper for Member {
    type Command = Command;
    type Answer = Result<Accepted, base::Refused>;
    type Event = Event;

    fn node(&mut self, now: Instant, message: attach::ToMember, entropy: &mut dyn Entropy) {
        self.hear_node(now, message, entropy);
    }

    fn command(&mut self, now: Instant, command: Command, entropy: &mut dyn Entropy) -> Self::Answer {
        self.obey(now, command, entropy)
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        let before = self.sight.time();
        self.sight.clock = time;
        let back = |before: UnixTime| time.0.saturating_add(PAST_TAKEN_SECONDS) < before.0;
        if before.is_none_or(back) {
            self.judge_again(now, entropy, Transcript::ask_at_start);
        }
        self.take_early(now, entropy);
        self.tell_present(now, entropy);
        let time = self.sight.time().unwrap_or_default();
        self.ask_door(now, folkmoot_admission::Input::Clock(time), entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.wake(now, entropy);
    }

    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let (able, me) = (self.configuration.is_some() && self.is_in(), self.party());
        let charter = self.transcript.roster().charter();
        let stacks = self.stacks.values().filter_map(|stack| stack.poll_timeout(able, &me, charter)).min();
        [stacks, self.joining.poll_timeout(), self.writer.poll_timeout()].into_iter().flatten().min()
    }
}

/// The status of a peer.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(crate) node: NodeId,
    pub(crate) at: base::Locator,
}
