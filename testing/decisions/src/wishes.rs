//! What people want, and say.

use crate::people::{PEOPLE, signature};
use crate::rules::{SCHEME, sharing};
use crate::world::{DAY, World};
use folkmoot_base::{Blob, Digest, MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Change, Effect, Force, Head, Leave, State, Subject, admission};
use std::collections::BTreeSet;

impl World<'_> {
    /// A person says what it thinks, of something that is there or of something new.
    pub(crate) fn speak(&mut self) {
        let node = self.dice.roll(self.nodes.len());
        let Some(state) = self.nodes.get(node).map(|node| node.state().clone()) else { return };
        let life = self.life();
        let verdict = if self.dice.chance(85) { Verdict::Approve } else { Verdict::Reject };
        let subject = self.subject(node, &state);
        let seconds = self.seconds;
        let Some((subject, effect)) = subject else { return };
        let named = effect.as_ref().and_then(|effect| named(&effect.change)).unwrap_or(subject.digest);
        let admit = self.contents.get(&named).cloned();
        let Some(node) = self.nodes.get_mut(node) else { return };
        if !node.state().may_vote(&node.me) {
            return;
        }
        node.approve(subject, verdict, life, seconds);
        if let Some(admit) = admit {
            node.take_admit(&admit, seconds);
            node.take_refusal(&admit);
        }
        if let Some(effect) = effect {
            node.take_effect(&effect);
        }
    }

    /// People of one side want the same.
    pub(crate) fn campaign(&mut self) {
        let first = self.dice.roll(self.nodes.len());
        let Some((side, state)) = self.nodes.get(first).map(|node| (node.side, node.state().clone())) else {
            return;
        };
        let Some((subject, effect)) = self.subject(first, &state) else { return };
        let named = effect.as_ref().and_then(|effect| named(&effect.change)).unwrap_or(subject.digest);
        let admit = self.contents.get(&named).cloned();
        let verdict =
            if effect.is_none() && self.dice.chance(15) { Verdict::Reject } else { Verdict::Approve };
        let (seconds, life) = (self.seconds, self.life());
        for node in &mut self.nodes {
            if node.side == side && node.state().may_vote(&node.me) && self.dice.chance(75) {
                node.approve(subject, verdict, life, seconds);
                effect.iter().for_each(|effect| node.take_effect(effect));
                admit.iter().for_each(|admit| node.take_admit(admit, seconds));
                admit.iter().for_each(|admit| node.take_refusal(admit));
            }
        }
    }

    /// For how long an approval counts.
    fn life(&mut self) -> u64 {
        *self.dice.pick(&[300, 2 * DAY, 3 * DAY, 30 * DAY, 30 * DAY]).unwrap_or(&DAY)
    }

    fn subject(&mut self, node: usize, state: &State) -> Option<(Subject, Option<Effect>)> {
        let set = self.nodes.get(node)?.set();
        let mut open: Vec<(Subject, Option<Effect>)> =
            set.effects().map(|effect| (effect.subject(), Some(effect.clone()))).collect();
        open.extend(
            set.approvals()
                .map(|signed| (signed.approval.subject, set.effect(&signed.approval.subject).cloned())),
        );
        open.extend(set.admits().map(|admit| (admission(admit.request), None)));
        let requests: Vec<Digest> = set.admits().map(|admit| admit.request).collect();
        if self.dice.chance(25)
            && let Some(request) = self.dice.pick(&requests)
        {
            return Some((admission(*request), None));
        }
        if self.dice.chance(70)
            && let Some(one) = self.dice.pick(&open)
        {
            return Some(one.clone());
        }
        if self.dice.chance(40) {
            let requests = self.contents.requests();
            return self.dice.pick(&requests).map(|request| (admission(*request), None));
        }
        let effect = self.effect(state)?;
        Some((effect.subject(), Some(effect)))
    }

    /// Something that somebody on this state could want.
    pub(crate) fn effect(&mut self, state: &State) -> Option<Effect> {
        let members: Vec<MemberId> = state.roster().keys().copied().collect();
        let sides = self.sides();
        let short = short(state);
        let shared = state.charter().scheme() == SCHEME && self.dice.chance(40);
        let change = match self.dice.roll(12) {
            _ if shared => {
                let voters: Vec<MemberId> = state.voters().into_iter().collect();
                let holders = if self.dice.chance(60) { voters } else { self.some(&voters) };
                sharing(state, &holders, self.dice.roll(3))?
            }
            // Where there is a fork, people want to end it.
            0..=4 if !sides.is_empty() => Change::Rejoin { head: *self.dice.pick(&sides)? },
            0 => Change::Remove { member: *self.dice.pick(&members)? },
            1 if self.dice.chance(50) => Change::Remove { member: *self.dice.pick(&members)? },
            1 => departure(*self.dice.pick(&members)?, state),
            // All of them may be over soon.
            _ if short.len() >= state.threshold() && self.dice.chance(40) => {
                Change::Electorate { voters: short }
            }
            2 | 3 => Change::Electorate { voters: self.some(&members) },
            4 => field("threshold", &(1 + self.dice.roll(3)).to_string()),
            5 => field("request_hours", if self.dice.chance(50) { "24" } else { "48" }),
            6 => {
                let requests = self.contents.requests();
                Change::Hold { request: *self.dice.pick(&requests)? }
            }
            7 => self.rotation(state)?,
            8 | 9 => {
                let people = self.people.everybody();
                let field_name = if self.dice.chance(70) { "list" } else { "roles.board" };
                field(field_name, &keys(&self.some(&people)))
            }
            10 => Change::Retime { head: state.head() },
            _ => {
                let heads: Vec<Head> = self.records.heads().collect();
                Change::Rejoin { head: *self.dice.pick(&heads)? }
            }
        };
        let force = if self.dice.chance(10) { Force::Yes } else { Force::No };
        Some(Effect { change, force })
    }

    /// Some of these, in their order or the other way round.
    fn some(&mut self, members: &[MemberId]) -> Vec<MemberId> {
        let mut some: Vec<MemberId> = members.iter().filter(|_| self.dice.chance(70)).copied().collect();
        if self.dice.chance(30) {
            some.reverse();
        }
        some.truncate(5);
        some
    }

    /// The second key of somebody, in place of the first.
    fn rotation(&mut self, state: &State) -> Option<Change> {
        let person = self.dice.roll(PEOPLE);
        let [member, _] = self.people.keys(person);
        let known = self.contents.admits().find(|admit| admit.member == self.people.member(PEOPLE + person));
        let request = match known.map(|admit| admit.request) {
            Some(request) if self.dice.chance(70) => request,
            _ => self.admit(PEOPLE + person, state.head(), 300)?.request,
        };
        Some(Change::Rotate { member, request, signature: signature() })
    }
}

/// Those whose terms end.
fn short(state: &State) -> Vec<MemberId> {
    let short = state.roster().iter().filter(|(_, held)| held.ends.0 < u64::MAX);
    short.map(|(member, _)| *member).collect()
}

/// Somebody wants to leave for good, some days long. Signatures are not modelled.
fn departure(member: MemberId, state: &State) -> Change {
    let (since, until) = (state.head().number, UnixTime(state.time().0.saturating_add(30 * 86_400)));
    let proof = folkmoot_base::Proof { key: Blob::default(), signature: signature() };
    Change::Leave(Leave { member, since, until, proof })
}

fn field(name: &str, value: &str) -> Change {
    Change::Charter {
        field: Blob::from(name.as_bytes().to_vec()),
        value: Blob::from(value.as_bytes().to_vec()),
    }
}

/// Keys as the charter writes them.
fn keys(keys: &[MemberId]) -> String {
    let sorted: BTreeSet<MemberId> = keys.iter().copied().collect();
    let words: Vec<String> =
        sorted.iter().map(|key| key.0.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(",") }
}

/// The request that a change names.
pub(crate) fn named(change: &Change) -> Option<Digest> {
    match change {
        Change::Hold { request } | Change::Rotate { request, .. } => Some(*request),
        _ => None,
    }
}
