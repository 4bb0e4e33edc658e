//! One message that is delivered early, on its way: FIFO or reliable, without a place in the order.
//!
//! It arrives at each member at a time of its own, as far as the ring lets it:
//!
//! * before whatever its sender put into its stream behind it (rule `prior`);
//! * in the configuration in which it was sent, or from recovery, before the next one begins.
//!   Recovery brings it to all who go on together if its sender is one of them, or if one of them
//!   has it (ORD-15).
//!
//! A sender sends as soon as its view is secure, or as soon as a new configuration has begun. Who
//! sends later does what one does whose message takes longer: it arrives after more than it must.

use crate::keying::Standing;
use crate::member::{Member, Ordered};
use crate::names::{Set, Trio, ViewNumber, Who, everybody};
use crate::rules::Rules;
use crate::world::{Action, World};

/// The services that do not wait for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Early {
    /// After what its sender sent before it.
    Fifo,
    /// When it arrives.
    Reliable,
}

/// Where it is for one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) enum Place {
    /// Delivered, dropped or lost; or never meant for this one.
    #[default]
    Over,
    /// On its way, in the configuration in which it was sent. So many entries of its sender are
    /// before it in its stream that this member has not read.
    Way(u8),
    /// Recovery brings it, before the next configuration.
    Coming(u8),
    /// On its way although the configuration is over ([`Rules::freeze`] off).
    Late,
    /// Here, and not delivered: its view has no key here yet, or a notice has removed its sender.
    Held,
}

/// The message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Message {
    from: Who,
    view: ViewNumber,
    service: Early,
    /// Its sender has left: all that it sent is before that in its stream.
    left: bool,
    places: Trio<Place>,
    /// Those whom it is meant for and who are up.
    of: Set,
    delivered: Set,
}

impl Message {
    fn place(&self, who: Who) -> Place {
        self.places.get(who).copied().unwrap_or_default()
    }

    fn put(&mut self, who: Who, place: Place) {
        if let Some(own) = self.places.get_mut(who) {
            *own = place;
        }
    }

    fn deliver(&mut self, who: Who) {
        self.put(who, Place::Over);
        self.delivered = self.delivered.with(who);
    }

    /// Whether its sender put `entry` into its stream behind it, as `who` reads it now.
    fn is_before(&self, who: Who, entry: &Ordered) -> bool {
        let due = matches!(self.place(who), Place::Way(0) | Place::Coming(0));
        match *entry {
            Ordered::FlushOk { from, .. } | Ordered::Step { from, .. } => due && from == self.from,
            // The leave had its place before the notice, and may have been the last before it.
            Ordered::Notice { members, .. } => {
                self.left
                    && !members.has(self.from)
                    && matches!(self.place(who), Place::Way(_) | Place::Coming(_))
            }
            _ => false,
        }
    }

    /// `who` has read one more entry of its sender.
    fn passes(&mut self, who: Who, entry: &Ordered) {
        let from = match *entry {
            Ordered::FlushOk { from, .. } | Ordered::Step { from, .. } => from,
            _ => return,
        };
        match self.place(who) {
            Place::Way(behind) if from == self.from => self.put(who, Place::Way(behind.saturating_sub(1))),
            Place::Coming(behind) if from == self.from => {
                self.put(who, Place::Coming(behind.saturating_sub(1)));
            }
            _ => {}
        }
    }

    /// It arrives at `member`.
    fn arrive(&mut self, who: Who, (member, secure): (&Member, bool), rules: &Rules) {
        let due = self.is_due(member, secure);
        let removed = self.is_in_view(member) && !member.flush.hears(self.view, self.from);
        let held = if removed { rules.removed_named } else { rules.early_held };
        match self.place(who) {
            Place::Over => {}
            _ if due => self.deliver(who),
            _ if held && !self.is_past(member) => self.put(who, Place::Held),
            _ => self.put(who, Place::Over),
        }
    }

    /// `member` stands elsewhere: what is held may be due, or over.
    fn settle(&mut self, who: Who, (member, secure): (&Member, bool)) {
        if self.is_past(member) {
            self.put(who, Place::Over);
        } else if self.place(who) == Place::Held && self.is_due(member, secure) {
            self.deliver(who);
        }
    }

    fn is_in_view(&self, member: &Member) -> bool {
        member.flush.view().is_some_and(|(view, _)| view == self.view)
    }

    fn is_past(&self, member: &Member) -> bool {
        member.flush.view().is_some_and(|(view, _)| view > self.view)
    }

    /// Whether it may be delivered: in its view, once that is `secure`, while its sender is heard.
    fn is_due(&self, member: &Member, secure: bool) -> bool {
        self.is_in_view(member) && secure && member.flush.hears(self.view, self.from)
    }

    /// Whether a member has it, or will still read what is behind it: that could have no place in
    /// its order otherwise.
    fn is_had(&self, who: Who, queue: &[Ordered]) -> bool {
        let Place::Way(behind) = self.place(who) else {
            return self.delivered.has(who) || self.place(who) == Place::Held;
        };
        self.entries(queue) > behind
    }

    /// How many entries of its sender are still to be read.
    fn entries(&self, queue: &[Ordered]) -> u8 {
        let own = |entry: &&Ordered| match entry {
            Ordered::FlushOk { from, .. } | Ordered::Step { from, .. } => *from == self.from,
            _ => false,
        };
        u8::try_from(queue.iter().filter(own).count()).unwrap_or(u8::MAX)
    }

    /// These go on together into a new configuration. `owed`: all get it who do not have it.
    fn recover(&mut self, members: Set, owed: bool, rules: &Rules) -> Set {
        let late = !rules.freeze && members.len() > 1;
        let mut coming = Set::NONE;
        for who in members.iter() {
            let Place::Way(behind) = self.place(who) else { continue };
            if owed {
                coming = coming.with(who);
            }
            let lost = if late { Place::Late } else { Place::Over };
            self.put(who, if owed { Place::Coming(behind) } else { lost });
        }
        coming
    }
}

impl World {
    /// With so many messages to be sent early.
    #[must_use]
    pub fn with_messages(mut self, messages: u8) -> Self {
        self.messages = messages;
        self
    }

    /// What may be sent early, and arrive.
    pub(crate) fn early_steps(&self, actions: &mut Vec<Action>) {
        if self.messages > 0 && self.message.is_none() {
            let fresh = self.players().filter(|(_, player)| player.fresh);
            actions.extend(fresh.flat_map(|(who, _)| {
                [Early::Fifo, Early::Reliable].map(|service| Action::Send(who, service))
            }));
        }
        let Some(message) = &self.message else { return };
        for (who, player) in self.players() {
            let fences = player.queue.iter().filter(|entry| **entry == Ordered::Fence).count();
            let arrives = match message.place(who) {
                Place::Way(behind) => fences == 0 && (behind == 0 || message.service == Early::Reliable),
                Place::Late => fences == 1,
                _ => false,
            };
            if arrives {
                actions.push(Action::Arrive(who));
            }
        }
    }

    pub(crate) fn send_early(&mut self, from: Who, service: Early) {
        let Some((view, members)) = self.player(from).and_then(|player| player.member.flush.view()) else {
            return;
        };
        // Nobody is secure before all have the view: whoever has not got it is in another life.
        let here = |who: &Who| {
            let (one, other) = (self.player(*who), self.player(from));
            let in_view =
                one.and_then(|player| player.member.flush.view()).is_some_and(|(own, _)| own == view);
            in_view && one.map(|player| player.side) == other.map(|player| player.side)
        };
        let of: Set = members.iter().filter(here).collect();
        let mut message = Message {
            from,
            view,
            service,
            left: false,
            places: Trio::default(),
            of,
            delivered: Set::of(from),
        };
        for who in of.without(from).iter() {
            let queue = self.player(who).map(|player| player.queue.as_slice()).unwrap_or_default();
            message.put(who, Place::Way(message.entries(queue)));
        }
        self.messages = self.messages.saturating_sub(1);
        self.message = Some(message);
    }

    pub(crate) fn arrive(&mut self, who: Who, rules: &Rules) {
        let Some(mut message) = self.message.take() else { return };
        let secure = self.has_secured(who, message.view);
        if let Some(player) = self.player_mut(who) {
            player.queue.retain(|entry| *entry != Ordered::Early);
            message.arrive(who, (&player.member, secure), rules);
        }
        self.message = Some(message);
    }

    /// Whether reading `entry` would bring the message too.
    pub(crate) fn brings(&self, who: Who, entry: &Ordered, rules: &Rules) -> bool {
        rules.prior && self.message.as_ref().is_some_and(|message| message.is_before(who, entry))
    }

    /// What is so before `who` reads `entry`. `false`: nobody here can have what another has named,
    /// so the view that `entry` completes is given up. Somebody of it is lost at the signal that is
    /// coming.
    pub(crate) fn before_read(&mut self, who: Who, entry: &Ordered, rules: &Rules) -> bool {
        if self.brings(who, entry, rules) {
            self.arrive(who, rules);
        }
        self.has_read(who, entry, rules);
        let Ordered::FlushOk { from, view, flush_ok } = *entry else { return true };
        let completes = self.player(who).is_some_and(|player| {
            let flush = &player.member.flush;
            flush.completes_named(from, view, flush_ok)
        });
        let missing = self.message.as_ref().filter(|message| !message.delivered.has(who));
        let Some(message) = missing.filter(|_| completes) else { return true };
        if rules.named_awaited && matches!(message.place(who), Place::Way(_) | Place::Coming(_)) {
            self.arrive(who, rules);
        }
        let Some(message) = self.message.as_mut() else { return true };
        let held = message.place(who) == Place::Held;
        if held {
            message.deliver(who);
        }
        held || !rules.named_awaited
    }

    /// Somebody has acted.
    pub(crate) fn settle_early(&mut self) {
        let Some(mut message) = self.message.take() else { return };
        for (who, player) in self.players() {
            message.settle(who, (&player.member, self.has_secured(who, message.view)));
            if message.place(who) == Place::Late && !player.queue.contains(&Ordered::Fence) {
                message.put(who, Place::Over);
            }
        }
        self.message = Some(message);
    }

    /// `who` has read this, and nothing came of it.
    pub(crate) fn has_read(&mut self, who: Who, entry: &Ordered, rules: &Rules) {
        if *entry == Ordered::Early {
            self.arrive(who, rules);
        } else if let Some(message) = &mut self.message {
            message.passes(who, entry);
        }
    }

    /// Whether a FLUSH_OK of `from` names the message: its sender was removed, and it was delivered
    /// before that.
    pub(crate) fn names(&self, from: Who, rules: &Rules) -> bool {
        let player = self.player(from);
        let (Some(message), Some(player), true) = (&self.message, player, rules.removed_named) else {
            return false;
        };
        let in_view = player.member.flush.view().is_some_and(|(view, _)| view == message.view);
        in_view && message.delivered.has(from) && !player.member.flush.hears(message.view, message.from)
    }

    /// A new configuration for `members`; before it begins, recovery brings what it must.
    pub(crate) fn recover(&mut self, members: Set, rules: &Rules) {
        let Some(mut message) = self.message.take() else { return };
        let whole = message.left || (members.has(message.from) && message.of.has(message.from));
        let had = |who: Who| self.player(who).is_some_and(|player| message.is_had(who, &player.queue));
        let owed = whole || members.iter().any(had);
        let coming = message.recover(members, owed, rules);
        self.append(coming, |_| Ordered::Early);
        self.message = Some(message);
    }

    /// This life of `who` is over.
    pub(crate) fn no_more(&mut self, who: Who, left: bool) {
        if let Some(message) = &mut self.message {
            message.left |= left && message.from == who;
            message.put(who, Place::Over);
            (message.of, message.delivered) = (message.of.without(who), message.delivered.without(who));
        }
    }

    /// Whether one of two who went on together has delivered what the other has not.
    pub(crate) fn differ(&self, view: ViewNumber, one: Who, two: Who) -> bool {
        let message = self.message.as_ref().filter(|message| message.view == view);
        message.is_some_and(|message| message.delivered.has(one) != message.delivered.has(two))
    }

    /// Whether nobody can be told what the message came to any more.
    pub(crate) fn forget_early(&mut self, oldest: ViewNumber) {
        let over =
            |message: &Message| message.view < oldest || message.of.minus(message.delivered).is_empty();
        if self.message.as_ref().is_some_and(over) {
            self.message = None;
        }
        let sends = self.messages > 0;
        for who in everybody() {
            let Some(player) = self.player(who).filter(|player| player.fresh) else { continue };
            let secure = matches!(player.member.keying.standing(), Standing::Secure(_));
            let pair = player.member.flush.view().is_some_and(|(_, members)| members.len() > 1);
            let settled = !player.queue.contains(&Ordered::Fence) && self.on_side(player.side).len() > 1;
            if let Some(player) = self.player_mut(who) {
                player.fresh = sends && secure && pair && settled;
            }
        }
    }

    /// What a member has made of the message.
    pub(crate) fn early_words(&self, who: Who) -> Option<&'static str> {
        let message = self.message.as_ref()?;
        match message.place(who) {
            Place::Held => Some("holds it"),
            _ if message.delivered.has(who) => Some("delivers it"),
            _ => None,
        }
    }

    /// What its place shows ([`crate::NAMES`]).
    pub(crate) fn early_marks(&self) -> impl Iterator<Item = &'static str> {
        let places = self.players().filter_map(|(who, player)| {
            let message = self.message.as_ref()?;
            match message.place(who) {
                Place::Coming(_) => Some("early from recovery"),
                Place::Held if player.member.flush.hears(message.view, message.from) => {
                    Some("early held for its key")
                }
                Place::Held => Some("early held, its sender removed"),
                _ => None,
            }
        });
        let service = self.message.as_ref().map(|message| match message.service {
            Early::Fifo => "early FIFO",
            Early::Reliable => "early reliable",
        });
        places.chain(service)
    }

    /// What the next read of a member will show.
    pub(crate) fn early_read(&self, who: Who) -> Option<&'static str> {
        let message = self.message.as_ref()?;
        let player = self.player(who)?;
        let entry = player.queue.first()?;
        let place = message.place(who);
        match *entry {
            _ if message.is_before(who, entry) => Some("early brought by what is behind it"),
            Ordered::FlushOk { from, view, flush_ok }
                if !message.delivered.has(who)
                    && player.member.flush.completes_named(from, view, flush_ok) =>
            {
                Some(if place == Place::Over {
                    "early named and not to be had"
                } else {
                    "early named and had"
                })
            }
            _ => None,
        }
    }

    /// Whether somebody in the view waits for the message for good.
    pub(crate) fn waits(&self) -> bool {
        self.message.as_ref().is_some_and(|message| {
            let mut of = message.of.minus(message.delivered).iter();
            of.any(|who| {
                let view = self.player(who).and_then(|player| player.member.flush.view());
                view.is_some_and(|(view, _)| view == message.view)
            })
        })
    }
}
