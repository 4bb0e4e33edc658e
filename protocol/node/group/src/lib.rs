//! Many named groups over one ring: which parties are in which group, the same at every node at the
//! same place in the order.
//!
//! ```text
//!   attach, say, send, item                                Notice, Transitional, Deliver, Removed (for each local party)
//!                 |                                                          ^
//!                 v                                                          |
//!   [ Group ]   tables of all groups; State exchange at each configuration; complaints
//!                 |                                                          ^
//!                 v Submit                                                   | deliver, transitional, regular
//!                                           the ring
//! ```
//! Promise: every node of a configuration that delivers the same prefix of the ring's order has the
//! same tables. A change of a group gives each of its parties one notice, at one place in the
//! order, with one id.
//!
//! How to drive it: call, then take [`Group::poll_output`] until `None`, in order. On
//! [`Output::Item`] the caller has the transcript take the item, and then calls
//! [`Group::roster_changed`] before the next delivery, and [`Group::mark`] before the next
//! configuration at the latest. **The transcript of a node that is on a ring changes in no other
//! way**: items learned elsewhere (over a link) are handed to [`Group::item`], and taken when they
//! come back in order. Rules `GRP-NN`: docs/protocol/group.md.

mod audience;
mod circle;
mod config;
mod error;
mod mark;
pub mod message;
mod ordered;
mod output;
mod state_exchange;
mod words;

pub use config::{Config, Roster};
pub use error::GroupError;
pub use mark::{MARK_NAMES_MAX, Mark, ShortName};
pub use output::Output;

use audience::Audience;
use bytes::Bytes;
use circle::{Circle, with_handle};
use folkmoot_base::codec::BLOB_BYTES_MAX;
use folkmoot_base::{
    Cause, ConfigurationId, Framed, GroupId, Indication, Lead, MemberId, NodeId, Party, Service,
};
use mark::MarkId;
use message::{Control, Message, NODE_NUMBER, Stamp, number_of};
use ordered::{Change, What};
use state_exchange::{CHANGES_MAX, Deferred, StateExchange};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most residents (party, group) that one node may host: with the longest keys, its State still
/// fits a message of the ring.
pub const MEMBERSHIPS_MAX: usize = 15_000;
/// Longest item of a transcript, in bytes.
pub const ITEM_BYTES_MAX: usize = 1024 * 1024;
/// Longest package that leads on a node that was left behind, in bytes.
pub const PACKAGE_BYTES_MAX: usize = 6 * 1024 * 1024;

/// The group layer of one node.
#[derive(Debug)]
pub struct Group {
    config: Config,
    out: VecDeque<Output>,
    audience: Audience,
    circles: BTreeMap<GroupId, Circle>,
    /// Number of residents in the tables, by node.
    residents: BTreeMap<NodeId, usize>,
    configuration: Option<Configuration>,
    phase: Phase,
    /// Changes ordered while the tables are not merged; at most [`CHANGES_MAX`].
    changes: Vec<Change>,
    /// GRP-21: the number of the last word of each party in this configuration.
    spoken: BTreeMap<Party, u64>,
    /// The place of the message being delivered.
    place: u64,
    mark: Mark,
    /// The mark that we last sent, its number, and whether that message is still on its way.
    stated: MarkId,
    stated_number: u32,
    stating: bool,
}

#[derive(Debug)]
struct Configuration {
    id: ConfigurationId,
    nodes: BTreeSet<NodeId>,
}

/// Whether the tables are merged.
#[derive(Debug)]
enum Phase {
    /// No configuration yet.
    Idle,
    /// States of a new configuration are collected.
    Exchange(StateExchange),
    /// All nodes have the same tables.
    Open,
    /// Between the transitional signal and the next configuration.
    Split,
}

impl Group {
    /// A layer without parties or configuration.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            out: VecDeque::new(),
            audience: Audience::default(),
            circles: BTreeMap::new(),
            residents: BTreeMap::new(),
            configuration: None,
            phase: Phase::Idle,
            changes: Vec::new(),
            spoken: BTreeMap::new(),
            place: 0,
            mark: Mark::default(),
            stated: Mark::default().id(),
            stated_number: 0,
            stating: false,
        }
    }

    /// `party` lives here from now on. Sends nothing.
    ///
    /// # Errors
    /// [`GroupError::LocalAttached`].
    pub fn attach(&mut self, party: Party) -> Result<(), GroupError> {
        if !self.audience.attached.insert(party) {
            return Err(GroupError::LocalAttached(party));
        }
        Ok(())
    }

    /// `party` is gone: it hears nothing more, and an ordered message removes it from all its
    /// groups.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`].
    pub fn detach(&mut self, party: Party) -> Result<(), GroupError> {
        if !self.audience.attached.remove(&party) {
            return Err(GroupError::LocalNotAttached(party));
        }
        self.order_detach(party);
        Ok(())
    }

    /// Orders `payload` to the parties of `group`. Services below agreed are passed to the ring as
    /// asked for.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`], [`GroupError::LocalNotJoined`],
    /// [`GroupError::LocalTooLong`].
    pub fn send(
        &mut self,
        party: Party,
        group: GroupId,
        service: Service,
        payload: Bytes,
        account: u32,
    ) -> Result<(), GroupError> {
        self.check_joined(party, group)?;
        if payload.len() > BLOB_BYTES_MAX {
            return Err(GroupError::LocalTooLong(payload.len()));
        }
        let lead = message::data_lead(self.config.me, &group, &party);
        let party = number_of(&party);
        self.out.push_back(Output::Submit { party, service, lead, payload, account });
        Ok(())
    }

    /// Orders an item of the transcript that the caller has verified. It comes back as
    /// [`Output::Item`], here and everywhere.
    ///
    /// # Errors
    /// [`GroupError::LocalTooLong`].
    pub fn item(&mut self, item: &[u8]) -> Result<(), GroupError> {
        self.item_of(item, ITEM_BYTES_MAX)
    }

    /// Orders what leads on a node that was left behind: the same, and may be longer.
    ///
    /// # Errors
    /// [`GroupError::LocalTooLong`].
    pub fn package(&mut self, package: &[u8]) -> Result<(), GroupError> {
        self.item_of(package, PACKAGE_BYTES_MAX)
    }

    fn item_of(&mut self, item: &[u8], most: usize) -> Result<(), GroupError> {
        if item.len() > most {
            return Err(GroupError::LocalTooLong(item.len()));
        }
        self.order(&Control::Item { item: item.to_vec().into() });
        Ok(())
    }

    /// This is the transcript's mark now. Its names matter only while tables are not merged
    /// ([`Self::is_settled`]): others tell by them what this node lacks. Call at the start, and
    /// after items.
    pub fn mark(&mut self, mark: Mark) {
        self.mark = mark;
        self.restate();
    }

    /// The item just delivered removed these members from the roster: they leave all groups at
    /// that place, with that cause. If there can be no notice now, the others hear that they are
    /// lost: they may never be in a configuration where the notice comes (GRP-17).
    pub fn roster_changed(&mut self, removed: &[(MemberId, Cause)]) {
        let struck = self.strike(removed);
        if !matches!(self.phase, Phase::Open) {
            self.tell_struck(&struck);
        }
        match self.phase {
            Phase::Open => {
                let mut seen = BTreeSet::new();
                for (group, _, cause) in struck {
                    if seen.insert(group) {
                        self.notify(&[group], cause);
                    }
                }
            }
            // Our State may list them: an ordered message removes them again, at one place for all.
            Phase::Exchange(_) => {
                for (member, _) in removed {
                    for party in self.audience.of(*member) {
                        self.order_detach(party);
                    }
                }
            }
            Phase::Idle | Phase::Split => {}
        }
    }

    /// The ring installed a regular configuration.
    pub fn regular(&mut self, id: ConfigurationId, members: &[NodeId], roster: &dyn Roster) {
        self.begin(id, members, roster);
    }

    /// GRP-32: this node does not carry the charter of these tables. Nothing of it is waited for,
    /// and it says nothing here, in this configuration.
    pub fn without(&mut self, node: NodeId, place: u64, roster: &dyn Roster) {
        let (Phase::Exchange(exchange), Some(current)) = (&mut self.phase, &mut self.configuration) else {
            return;
        };
        if current.nodes.remove(&node) {
            exchange.leave_out(&node);
            self.place = place;
            self.go_on(roster);
        }
    }

    /// The ring signals that from here on only `survivors` go together into the next configuration.
    pub fn transitional(&mut self, survivors: &[NodeId]) {
        if self.configuration.is_none() {
            return;
        }
        self.phase = Phase::Split;
        self.lose(&survivors.iter().copied().collect(), true);
    }

    /// The ring delivers a message of `configuration`. `order` is its place, if it has one: what
    /// changes tables must (GRP-15).
    ///
    /// # Errors
    /// Any `Peer…`: the message is ignored, here and at every other node.
    pub fn deliver(
        &mut self,
        configuration: ConfigurationId,
        order: Option<u64>,
        sender: NodeId,
        service: Service,
        message: impl Into<Framed>,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        let current = self.configuration.as_ref().filter(|current| current.id == configuration);
        let Some(current) = current else { return Err(GroupError::LocalWrongConfiguration(configuration)) };
        if !current.nodes.contains(&sender) {
            return Err(GroupError::PeerNotInConfiguration(sender));
        }
        let has_place = order.is_some();
        self.place = order.unwrap_or(self.place);
        match message::decode(sender, message) {
            Err(source) => Err(GroupError::PeerMalformed { peer: sender, source }),
            Ok(Message::Data { group, sender: speaker, payload }) => {
                self.data(Deferred { node: sender, group, sender: speaker, service, payload })
            }
            Ok(Message::Control(_)) if !has_place => Err(GroupError::PeerService(sender)),
            Ok(Message::Control(control)) => self.control(sender, *control, roster),
        }
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Parties of `group` in the current table, sorted.
    pub fn members(&self, group: GroupId) -> Vec<Party> {
        self.circles.get(&group).map_or_else(Vec::new, Circle::members)
    }

    /// Whether the tables of this configuration are merged: joins take effect, notices come.
    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Nodes whose State or mark the merge of the tables waits for; empty if it waits for none.
    pub fn awaited(&self) -> Vec<NodeId> {
        self.awaited_nodes()
    }

    /// The other nodes of the configuration whose State has not come.
    pub fn silent(&self) -> Vec<NodeId> {
        self.silent_nodes()
    }

    fn control(&mut self, peer: NodeId, control: Control, roster: &dyn Roster) -> Result<(), GroupError> {
        match control {
            Control::Party(said) => self.hear_party(peer, said, roster),
            Control::Node(declared) => self.hear_node(peer, declared, roster),
            Control::Item { item } => {
                self.out.push_back(Output::Item(item.0));
                Ok(())
            }
        }
    }

    /// The place of the message being delivered.
    fn stamp(&self) -> Option<Stamp> {
        let ring_seq = self.configuration.as_ref()?.id.ring_seq;
        Some(Stamp { ring_seq, order: self.place })
    }

    fn take_change(&mut self, change: Change, roster: &dyn Roster) -> Result<(), GroupError> {
        if matches!(self.phase, Phase::Open) {
            let (groups, cause) = self.apply(&change, roster)?;
            self.notify(&groups, cause);
        } else if self.changes.len() < CHANGES_MAX {
            // Nobody says this word again if its node is lost before the merge.
            if let What::Leave(group, _) = &change.what
                && self.check_host(change.node, change.party, *group).is_ok()
            {
                self.note_left(change.party, *group, change.number);
            }
            self.changes.push(change);
        } else {
            self.trace(format!("a change of {} is dropped: too many at once", change.party));
        }
        Ok(())
    }

    /// GRP-04, GRP-11, GRP-16: delivered to the local parties, if the sender's node hosts the
    /// sender.
    fn data(&mut self, data: Deferred) -> Result<(), GroupError> {
        let Some(data) = self.hand_out(data) else { return Ok(()) };
        if data.service < Service::Agreed {
            return Ok(()); // GRP-16: its sender's join may be on its way.
        }
        let circles = with_handle(&self.circles, &data.group);
        let Some(has_local) = circles.map(|(_, circle)| !circle.local().is_empty()).reduce(|a, b| a || b)
        else {
            return Ok(()); // Nobody here has heard of the group.
        };
        let Phase::Exchange(exchange) = &mut self.phase else {
            return Err(GroupError::PeerSpokeForNobody(data.node));
        };
        if has_local && !exchange.defer(data) {
            self.trace("a message from the other side is dropped: too many before the merge".to_owned());
        }
        Ok(())
    }

    /// Hands a message out if the node hosts the sender; otherwise returns it. Of two groups with
    /// one handle the message is for the one in which it does.
    fn hand_out(&mut self, data: Deferred) -> Option<Deferred> {
        let Deferred { node, ref group, sender, service, .. } = data;
        let speaks =
            |(id, circle): (&GroupId, &'_ Circle)| circle.speaker(node, sender).map(|sender| (*id, sender));
        let former = |(id, circle): (&GroupId, &'_ Circle)| {
            circle.former_speaker(node, sender).map(|sender| (*id, sender))
        };
        let early = service < Service::Agreed;
        let speaker = with_handle(&self.circles, group).find_map(speaks);
        let speaker =
            speaker.or_else(|| with_handle(&self.circles, group).filter(|_| early).find_map(former));
        let Some((group, sender)) = speaker else { return Some(data) };
        let local = self.circles.get(&group).map(Circle::local).into_iter().flatten();
        let mut hears = local.filter(|party| self.audience.hears(party)).peekable();
        let mut payload = data.payload;
        while let Some(to) = hears.next() {
            let last = hears.peek().is_none();
            let payload = if last {
                core::mem::take(&mut payload)
            } else {
                payload = payload.share();
                payload.clone()
            };
            let indication = Indication::Deliver { group, sender, service, payload };
            self.out.push_back(Output::Member { to: *to, indication });
        }
        None
    }

    fn check_attached(&self, party: Party) -> Result<(), GroupError> {
        self.audience.attached.contains(&party).then_some(()).ok_or(GroupError::LocalNotAttached(party))
    }

    fn check_joined(&self, party: Party, group: GroupId) -> Result<(), GroupError> {
        self.check_attached(party)?;
        let joined = self.circles.get(&group).is_some_and(|circle| circle.local().contains(&party));
        joined.then_some(()).ok_or(GroupError::LocalNotJoined(party, group))
    }

    fn order(&mut self, control: &Control) {
        // A party's own words keep their order, and come after what it sent before.
        let party = control.party().map_or(NODE_NUMBER, number_of);
        let (service, payload) = (Service::Agreed, message::encode(control));
        let lead = self.config.of.as_ref().map_or(Lead::NONE, message::carried_lead);
        self.out.push_back(Output::Submit { party, service, lead, payload, account: 0 });
    }

    fn indicate(&mut self, to: Party, indication: Indication) {
        if self.audience.hears(&to) {
            self.out.push_back(Output::Member { to, indication });
        }
    }

    fn trace(&mut self, text: String) {
        self.out.push_back(Output::Trace(text));
    }
}
