//! Several members on one node: each has an upper stack of its own, and all share one lower stack.
//!
//! ```text
//!    (member, Command) |    ^ (member, Event)
//!                   [ Attached ]
//!            [ Upper ] [ Upper ] [ Upper ]     one for each member
//!               ToNode |    ^ ToMember, to one or to all
//!                   [ Ground ]
//! ```
//! The host is the member whose key the node shows on its links. Strangers who ask at the node
//! speak to that key, so only the host hears them. Everything else is for the member that the node
//! names, or for all. Members of one node trust its process, and share its disk: [`stored_for`].

use crate::{ToMember, Upper, UpperOutput};
use bytes::Bytes;
use folkmoot_base::{Entropy, Instant, MemberId, Persist, StoreKey, UnixTime, store};
use std::collections::{BTreeMap, VecDeque};

/// Where members other than the host keep what they persist. Key: member ‖ length of the table's
/// name ‖ name ‖ key.
pub const TABLE: &str = "attached";

/// Members of one node.
#[derive(Debug)]
pub struct Attached<U: Upper> {
    me: MemberId,
    host: U,
    others: BTreeMap<MemberId, U>,
    out: VecDeque<UpperOutput<(MemberId, U::Event)>>,
}

impl<U: Upper> Attached<U> {
    /// The host and the members that live with it. If two have the same id, the later one stays.
    pub fn new((me, host): (MemberId, U), others: impl IntoIterator<Item = (MemberId, U)>) -> Self {
        let others = others.into_iter().filter(|(member, _)| *member != me).collect();
        let mut all = Self { me, host, others, out: VecDeque::new() };
        // Each has its first message to the node ready.
        all.with_each(|_| {});
        all
    }

    /// The member whose key the node shows.
    pub fn host_id(&self) -> MemberId {
        self.me
    }

    /// The member whose key the node shows.
    pub fn host(&self) -> &U {
        &self.host
    }

    /// One of the members.
    pub fn member(&self, member: &MemberId) -> Option<&U> {
        if *member == self.me { Some(&self.host) } else { self.others.get(member) }
    }

    /// All members: the host first, then the others in order of their ids.
    pub fn members(&self) -> impl Iterator<Item = (&MemberId, &U)> {
        core::iter::once((&self.me, &self.host)).chain(&self.others)
    }

    /// Lets one member do something, and takes its outputs.
    fn with(&mut self, member: MemberId, act: impl FnOnce(&mut U)) {
        if member == self.me {
            act(&mut self.host);
            while let Some(output) = self.host.poll_output() {
                self.out.push_back(of_member(member, output, |persist| persist));
            }
        } else if let Some(one) = self.others.get_mut(&member) {
            act(one);
            while let Some(output) = one.poll_output() {
                self.out.push_back(of_member(member, output, |persist| kept_apart(&member, persist)));
            }
        }
    }

    fn with_each(&mut self, mut act: impl FnMut(&mut U)) {
        let ids: Vec<MemberId> = self.members().map(|(member, _)| *member).collect();
        for member in ids {
            self.with(member, &mut act);
        }
    }
}

/// Turns an output of one member into an output of all of them together.
fn of_member<E>(
    member: MemberId,
    output: UpperOutput<E>,
    keep: impl FnOnce(Persist) -> Persist,
) -> UpperOutput<(MemberId, E)> {
    match output {
        UpperOutput::Persist(persist) => UpperOutput::Persist(keep(persist)),
        UpperOutput::Node(word) => UpperOutput::Node(word),
        UpperOutput::Event(event) => UpperOutput::Event((member, event)),
        UpperOutput::Trace(trace) => UpperOutput::Trace(trace),
    }
}

/// Whether the message is for the host only: strangers have their links to the host's key.
fn for_the_host(message: &ToMember) -> bool {
    matches!(message, ToMember::Guest { .. } | ToMember::LinkUp { rostered: false, .. })
}

impl<U: Upper> Upper for Attached<U> {
    type Command = (MemberId, U::Command);
    type Event = (MemberId, U::Event);

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        if for_the_host(&message) {
            return self.with(self.me, |one| one.node(now, message, entropy));
        }
        self.with_each(|one| one.node(now, message.clone(), entropy));
    }

    fn node_to(&mut self, now: Instant, to: MemberId, message: ToMember, entropy: &mut dyn Entropy) {
        self.with(to, |one| one.node_to(now, to, message, entropy));
    }

    fn command(&mut self, now: Instant, (member, command): Self::Command, entropy: &mut dyn Entropy) {
        self.with(member, |one| one.command(now, command, entropy));
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.with_each(|one| one.clock(now, time, entropy));
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.with_each(|one| {
            if one.poll_timeout().is_some_and(|at| at <= now) {
                one.timeout(now, entropy);
            }
        });
    }

    fn poll_output(&mut self) -> Option<UpperOutput<Self::Event>> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.members().filter_map(|(_, one)| one.poll_timeout()).min()
    }
}

/// The same write, under a key that no other member's write can have.
fn kept_apart(member: &MemberId, persist: Persist) -> Persist {
    let Persist { key: StoreKey { table, key }, value } = persist;
    // Names of tables are short words of ours.
    let length = u8::try_from(table.len()).unwrap_or(u8::MAX);
    let key = [&member.0, [length].as_slice(), table.as_bytes(), &key].concat().into();
    Persist { key: StoreKey { table: TABLE, key }, value }
}

/// Picks what belongs to `member` from a store that several members share. Not for the host, which
/// uses the tables themselves. The transcript is the node's. If this release does not know the
/// table of an entry, the entry is left out.
pub fn stored_for(member: &MemberId, stored: &[(StoreKey, Bytes)]) -> Vec<(StoreKey, Bytes)> {
    let own = |(place, value): &(StoreKey, Bytes)| {
        let rest = place.key.strip_prefix(member.0.as_slice()).filter(|_| place.table == TABLE)?;
        let (length, rest) = rest.split_first()?;
        let (name, key) = rest.split_at_checked(usize::from(*length))?;
        let table = store::TABLES.iter().find(|table| table.as_bytes() == name)?;
        Some((StoreKey { table, key: Bytes::copy_from_slice(key) }, value.clone()))
    };
    stored.iter().filter_map(own).collect()
}
