//! Several parties on one node: each has an upper stack of its own, and all share one lower stack.
//!
//! ```text
//!    (party, Command) |    ^ (party, Event)
//!                   [ Attached ]
//!            [ Upper ] [ Upper ] [ Upper ]     one for each party
//!               ToNode |    ^ ToMember, to one or to all
//!                   [ Ground ]
//! ```
//! The host is the party whose key the node shows on its links. Strangers who ask at the node
//! speak to that key, so only the host hears them. Everything else is for the party that the node
//! names, or for all. Parties of one node trust its process, and share its disk: [`stored_for`].

use crate::{ToMember, Upper, UpperOutput};
use bytes::Bytes;
use folkmoot_base::{Entropy, Instant, Party, Persist, StoreKey, UnixTime, store};
use std::collections::{BTreeMap, VecDeque};

/// Where parties other than the host keep what they persist. Key: member ‖ port ‖ length of the
/// table's name ‖ name ‖ key.
pub const TABLE: &str = "attached";

/// Parties of one node.
#[derive(Debug)]
pub struct Attached<U: Upper> {
    me: Party,
    host: U,
    others: BTreeMap<Party, U>,
    out: VecDeque<UpperOutput<(Party, U::Event)>>,
}

impl<U: Upper> Attached<U> {
    /// The host and the parties that live with it. If two have the same id, the later one stays.
    pub fn new((me, host): (Party, U), others: impl IntoIterator<Item = (Party, U)>) -> Self {
        let others = others.into_iter().filter(|(party, _)| *party != me).collect();
        let mut all = Self { me, host, others, out: VecDeque::new() };
        // Each has its first message to the node ready.
        all.with_each(|_| {});
        all
    }

    /// The party whose key the node shows.
    pub fn host_id(&self) -> Party {
        self.me
    }

    /// The party whose key the node shows.
    pub fn host(&self) -> &U {
        &self.host
    }

    /// One of the parties.
    pub fn member(&self, party: &Party) -> Option<&U> {
        if *party == self.me { Some(&self.host) } else { self.others.get(party) }
    }

    /// All parties: the host first, then the others in order of their ids.
    pub fn members(&self) -> impl Iterator<Item = (&Party, &U)> {
        core::iter::once((&self.me, &self.host)).chain(&self.others)
    }

    /// Lets one party do something, and takes its outputs.
    fn with<R>(&mut self, party: Party, act: impl FnOnce(&mut U) -> R) -> Option<R> {
        if party == self.me {
            let result = act(&mut self.host);
            while let Some(output) = self.host.poll_output() {
                self.out.push_back(of_member(party, output, |persist| persist));
            }
            return Some(result);
        }
        let one = self.others.get_mut(&party)?;
        let result = act(one);
        while let Some(output) = one.poll_output() {
            self.out.push_back(of_member(party, output, |persist| kept_apart(&party, persist)));
        }
        Some(result)
    }

    fn with_each(&mut self, mut act: impl FnMut(&mut U)) {
        let ids: Vec<Party> = self.members().map(|(party, _)| *party).collect();
        for party in ids {
            self.with(party, &mut act);
        }
    }
}

/// Turns an output of one party into an output of all of them together.
fn of_member<E>(
    party: Party,
    output: UpperOutput<E>,
    keep: impl FnOnce(Persist) -> Persist,
) -> UpperOutput<(Party, E)> {
    match output {
        UpperOutput::Persist(persist) => UpperOutput::Persist(keep(persist)),
        UpperOutput::Node(word) => UpperOutput::Node(word),
        UpperOutput::Event(event) => UpperOutput::Event((party, event)),
        UpperOutput::Trace(trace) => UpperOutput::Trace(trace),
    }
}

/// Whether the message is for the host only: strangers have their links to the host's key.
fn for_the_host(message: &ToMember) -> bool {
    matches!(message, ToMember::Guest { .. } | ToMember::LinkUp { rostered: false, .. })
}

impl<U: Upper> Upper for Attached<U> {
    type Command = (Party, U::Command);
    /// None if the party is not here.
    type Answer = Option<U::Answer>;
    type Event = (Party, U::Event);

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        if for_the_host(&message) {
            self.with(self.me, |one| one.node(now, message, entropy));
            return;
        }
        self.with_each(|one| one.node(now, message.clone(), entropy));
    }

    fn node_to(&mut self, now: Instant, to: Party, message: ToMember, entropy: &mut dyn Entropy) {
        self.with(to, |one| one.node_to(now, to, message, entropy));
    }

    fn command(
        &mut self,
        now: Instant,
        (party, command): Self::Command,
        entropy: &mut dyn Entropy,
    ) -> Self::Answer {
        self.with(party, |one| one.command(now, command, entropy))
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

/// The same write, under a key that no other party's write can have.
fn kept_apart(party: &Party, persist: Persist) -> Persist {
    let Persist { key: StoreKey { table, key }, value } = persist;
    // Names of tables are short words of ours.
    let length = u8::try_from(table.len()).unwrap_or(u8::MAX);
    let key = [&party.to_bytes(), [length].as_slice(), table.as_bytes(), &key].concat().into();
    Persist { key: StoreKey { table: TABLE, key }, value }
}

/// Picks what belongs to `party` from a store that several parties share. Not for the host, which
/// uses the tables themselves. The transcript is the node's. If this release does not know the
/// table of an entry, the entry is left out.
pub fn stored_for(party: &Party, stored: &[(StoreKey, Bytes)]) -> Vec<(StoreKey, Bytes)> {
    let own = |(place, value): &(StoreKey, Bytes)| {
        let rest = place.key.strip_prefix(party.to_bytes().as_slice()).filter(|_| place.table == TABLE)?;
        let (length, rest) = rest.split_first()?;
        let (name, key) = rest.split_at_checked(usize::from(*length))?;
        let table = store::TABLES.iter().find(|table| table.as_bytes() == name)?;
        Some((StoreKey { table, key: Bytes::copy_from_slice(key) }, value.clone()))
    };
    stored.iter().filter_map(own).collect()
}
