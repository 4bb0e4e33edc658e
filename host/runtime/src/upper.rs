//! The shipped member stack as the engine's upper floor, with a tap for demonstrations between it
//! and the node.

use crate::engine::{Note, Sending, UpperStack};
use crate::stacks::{Accepted, Command, Event, Member};
use bytes::Bytes;
use folkmoot_attach::{Attached, ToMember, Upper, UpperOutput};
use folkmoot_base::{Entropy, GroupId, Indication, Instant, Party, Refused, Service, UnixTime, ViewId};
use std::collections::VecDeque;

/// Payloads a tap keeps; older ones go first.
pub const TAPPED_MAX: usize = 4_096;

/// One ordered payload as it reached the member: still sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tapped {
    /// In which group.
    pub group: GroupId,
    /// From whom, by the word of its node.
    pub sender: Party,
    /// Ordered how.
    pub service: Service,
    /// The sealed bytes.
    pub payload: Bytes,
}

/// What came of trying keys on sealed payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attempts {
    /// Keys that were kept.
    pub keys: usize,
    /// Payloads that held a sealed message.
    pub sealed: u64,
    /// How many of them opened.
    pub opened: u64,
    /// Openings tried.
    pub tries: u64,
}

/// The member, and what a demonstration does with it: keep sealed payloads, or turn away the
/// news of its removal.
pub struct MemberStack {
    /// The member stack.
    pub member: Member,
    tap: Option<VecDeque<Tapped>>,
    withhold: bool,
    deaf: bool,
}

impl core::fmt::Debug for MemberStack {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("MemberStack").field("tap", &self.tap.is_some()).finish_non_exhaustive()
    }
}

impl MemberStack {
    /// The member alone; nothing is tapped.
    pub fn new(member: Member) -> Self {
        Self { member, tap: None, withhold: false, deaf: false }
    }

    /// Keeps the sealed payloads that reach the member from now on, at most [`TAPPED_MAX`]; with
    /// `withhold`, instead of handing them to it.
    pub fn tap(&mut self, withhold: bool) {
        self.tap = Some(VecDeque::new());
        self.withhold = withhold;
    }

    /// What the tap has kept, oldest first; the tap is closed.
    pub fn tapped(&mut self) -> Vec<Tapped> {
        self.withhold = false;
        self.tap.take().map(Vec::from).unwrap_or_default()
    }

    /// From now on the member hears payloads only, no word of any change: it keeps every key that
    /// it has. Demonstrations use it to show that a member that clings to its keys opens nothing
    /// that was sealed after its removal.
    pub fn danger_ignore_changes(&mut self) {
        self.deaf = true;
    }
}

impl MemberStack {
    /// Tries every key that the member ever held on `payloads`, wherever a sealed message is in
    /// them; `candidates` are views and members that they may have been sealed for.
    pub fn danger_attempt(&self, payloads: &[Tapped], candidates: &[(ViewId, Vec<Party>)]) -> Attempts {
        let mut all = Attempts { keys: self.member.spoils().len(), ..Attempts::default() };
        for one in payloads.iter().filter_map(|one| self.member.danger_attempt(&one.payload, candidates)) {
            all.sealed += 1;
            all.opened += u64::from(one.opened);
            all.tries = all.tries.saturating_add(one.tries);
        }
        all
    }

    /// Hands the member payloads as if its node had delivered them now.
    pub fn feed(&mut self, now: Instant, payloads: Vec<Tapped>, entropy: &mut dyn Entropy) {
        for Tapped { group, sender, service, payload } in payloads {
            self.member.node(
                now,
                ToMember::Group(Indication::Deliver { group, sender, service, payload: payload.into() }),
                entropy,
            );
        }
    }
}

impl Upper for MemberStack {
    type Command = Command;
    type Answer = Result<Accepted, Refused>;
    type Event = Event;

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        let deliver = matches!(message, ToMember::Group(Indication::Deliver { .. }));
        if let (Some(tap), ToMember::Group(Indication::Deliver { group, sender, service, payload })) =
            (&mut self.tap, &message)
        {
            if tap.len() >= TAPPED_MAX {
                tap.pop_front();
            }
            let (group, sender, service, payload) = (*group, *sender, *service, payload.clone().freeze());
            tap.push_back(Tapped { group, sender, service, payload });
        }
        let kept_out = if deliver { self.withhold } else { self.deaf };
        if !kept_out {
            self.member.node(now, message, entropy);
        }
    }

    fn command(&mut self, now: Instant, command: Command, entropy: &mut dyn Entropy) -> Self::Answer {
        self.member.command(now, command, entropy)
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.member.clock(now, time, entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.member.timeout(now, entropy);
    }

    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        self.member.poll_output()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.member.poll_timeout()
    }
}

/// Several parties in one engine: what waits for a key ([`crate::Handle::send`]) is the host's; the
/// others send by command.
impl<U: UpperStack> UpperStack for Attached<U> {
    fn can_send(&self, group: &GroupId) -> bool {
        self.host().can_send(group)
    }

    fn sending(&self, first: Sending, more: Vec<Bytes>) -> Self::Command {
        (self.host_id(), self.host().sending(first, more))
    }

    /// A refusal, or a view, of another party's is nothing to those who wait for the host.
    fn note(&self, (party, event): &Self::Event) -> Note {
        match self.host().note(event) {
            note @ (Note::Size(_) | Note::Unreliable(_)) => note,
            note if *party == self.host_id() => note,
            _ => Note::Size(0),
        }
    }
}

impl UpperStack for MemberStack {
    fn can_send(&self, group: &GroupId) -> bool {
        self.member.can_send(*group)
    }

    fn sending(&self, first: Sending, mut more: Vec<Bytes>) -> Command {
        let Sending { group, service, payload, signed } = first;
        if more.is_empty() {
            return Command::Send { group, service, payload, signed };
        }
        more.insert(0, payload);
        Command::SendMany { group, service, payloads: more }
    }

    fn note(&self, event: &Event) -> Note {
        match event {
            Event::Message { service: Service::Unreliable, payload, .. } => Note::Unreliable(payload.len()),
            Event::Message { payload, .. } => Note::Size(payload.len()),
            Event::View { group, .. } => Note::In(*group),
            Event::Removed { group, .. } => Note::Out(*group),
            Event::SendFailed { error } => Note::SendFailed(error.refused()),
            _ => Note::Size(0),
        }
    }
}
