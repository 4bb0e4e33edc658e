//! The world: the members, each with what it has not read yet of the one order; what may happen
//! next; and what then follows.
//!
//! A message is in the order from the moment it is sent. That loses nothing: a member whose message
//! is ordered late is one that reads late. All who are connected have the same rest of the order
//! before them. A cut gives each side its own rest.

use crate::check::{Fact, Fault};
use crate::early::{Early, Message};
use crate::flush::FlushOk;
use crate::member::{Effect, Member, Ordered};
use crate::names::{Set, Trio, ViewNumber, Who, everybody};
use crate::rules::{Rules, Scope};

/// A member that is up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Player {
    /// Its machines.
    pub member: Member,
    /// What it has still to read.
    pub queue: Vec<Ordered>,
    /// With whom it is connected: the lowest of them.
    pub side: Who,
    /// A notice is due on its side, and these are removed by it. Until then changes make no notices
    /// of their own.
    pub owed: Option<Set>,
    /// It may send early: its view has just become secure, or a configuration has just begun.
    pub fresh: bool,
}

/// Where a member is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Presence {
    /// Not in the group; it may join.
    #[default]
    Absent,
    /// Off the roster.
    Expelled,
    /// In.
    In(Player),
}

/// What may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A member reads the next of the order.
    Read(Who),
    /// The application of a member has finished.
    Answer(Who),
    /// Flush asks before the notice is read.
    AskEarly(Who),
    /// The notice that is due on a side comes.
    Announce(Who),
    /// A member sends a message that takes no place in the order.
    Send(Who, Early),
    /// That message arrives at a member.
    Arrive(Who),
    /// What the first said to confirm is said again in the name of the second.
    Reflect(Who, Who),
    /// Somebody joins a side.
    Join(Who, Who),
    /// Somebody leaves.
    Leave(Who),
    /// Somebody is expelled; the notice comes at once or later.
    Expel(Who, bool),
    /// A node is gone; so many entries come after the signal.
    Crash(Who, u8),
    /// A member is cut off; so many entries come after the signal at the others, and at it.
    Cut(Who, u8, u8),
    /// Two sides meet.
    Merge(Who, Who),
}

impl Action {
    /// Whether it takes one of the changes that are left.
    pub fn is_change(self) -> bool {
        use Action::{Announce, Answer, Arrive, AskEarly, Read, Reflect, Send};
        let is_step = matches!(self, Read(_) | Answer(_) | AskEarly(_) | Announce(_) | Send(..));
        !is_step && !matches!(self, Arrive(_) | Reflect(..))
    }
}

/// A state of everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct World {
    pub(crate) presences: Trio<Presence>,
    pub(crate) next: ViewNumber,
    pub(crate) changes: u8,
    pub(crate) facts: Vec<Fact>,
    pub(crate) messages: u8,
    pub(crate) message: Option<Message>,
    pub(crate) reflections: u8,
}

/// What came of an action.
#[derive(Debug, Clone)]
pub struct Next {
    /// The state after it.
    pub world: World,
    /// What the member that acted did.
    pub told: Vec<Effect>,
    /// What is wrong with that.
    pub fault: Option<Fault>,
}

impl World {
    /// `present` have just joined, and have read nothing.
    pub fn new(present: Set, changes: u8) -> Self {
        let (presences, facts) = (Trio::default(), Vec::new());
        let (messages, message, reflections) = (0, None, 0);
        let mut world = Self { presences, next: 1, changes, facts, messages, message, reflections };
        for who in present.iter() {
            world.enter(who, Set::NONE, present.iter().next().unwrap_or(0), Some(Set::NONE));
        }
        world.announce(present.iter().next().unwrap_or(0));
        world
    }

    pub(crate) fn enter(&mut self, who: Who, off: Set, side: Who, owed: Option<Set>) {
        if let Some(presence) = self.presences.get_mut(who) {
            let (member, queue) = (Member::new(who, off), Vec::new());
            *presence = Presence::In(Player { member, queue, side, owed, fresh: false });
        }
    }

    /// A member that is up.
    pub fn player(&self, who: Who) -> Option<&Player> {
        match self.presences.get(who)? {
            Presence::In(player) => Some(player),
            Presence::Absent | Presence::Expelled => None,
        }
    }

    pub(crate) fn player_mut(&mut self, who: Who) -> Option<&mut Player> {
        match self.presences.get_mut(who)? {
            Presence::In(player) => Some(player),
            Presence::Absent | Presence::Expelled => None,
        }
    }

    /// Those who are up.
    pub fn players(&self) -> impl Iterator<Item = (Who, &Player)> {
        everybody().filter_map(|who| Some((who, self.player(who)?)))
    }

    /// Who is on a side.
    pub fn on_side(&self, side: Who) -> Set {
        self.players().filter(|(_, player)| player.side == side).map(|(who, _)| who).collect()
    }

    /// The sides.
    pub fn sides(&self) -> Set {
        self.players().map(|(_, player)| player.side).collect()
    }

    /// What may happen without a change of membership.
    pub fn steps(&self, rules: &Rules) -> Vec<Action> {
        let mut actions = Vec::new();
        for (who, player) in self.players() {
            if !player.queue.is_empty() {
                actions.push(Action::Read(who));
            }
            if player.member.keying.asks() {
                actions.push(Action::Answer(who));
            }
            let noticed = player.queue.iter().any(|entry| matches!(entry, Ordered::Notice { .. }));
            if rules.early_requests && noticed && player.member.flush.may_ask_early() {
                actions.push(Action::AskEarly(who));
            }
            if player.owed.is_some() && player.side == who {
                actions.push(Action::Announce(who));
            }
        }
        self.early_steps(&mut actions);
        self.reflections(&mut actions);
        actions
    }

    /// What may happen.
    pub fn actions(&self, rules: &Rules, scope: &Scope) -> Vec<Action> {
        let mut actions = self.steps(rules);
        if self.changes > 0 {
            self.possible_changes(scope, &mut actions);
        }
        actions
    }

    /// Lets `action` happen, and what follows by itself. One that is not possible changes nothing.
    pub fn act(&self, action: Action, rules: &Rules) -> Next {
        let mut next = self.act_alone(action, rules);
        if rules.every_read {
            return next;
        }
        while next.fault.is_none() {
            let world = &mut next.world;
            world.read_silently(rules);
            world.forget();
            let Some(own) = world.step_of_the_lone(rules) else { break };
            let after = world.act_alone(own, rules);
            (next.world, next.fault) = (after.world, after.fault);
        }
        next
    }

    pub(crate) fn act_alone(&self, action: Action, rules: &Rules) -> Next {
        let mut world = self.clone();
        world.changes = world.changes.saturating_sub(u8::from(action.is_change()));
        let mut told = Vec::new();
        match action {
            Action::Read(who) => world.read(who, rules, &mut told),
            Action::Answer(who) => world.with(who, |member| member.answer(rules, &mut told)),
            Action::AskEarly(who) => world.with(who, |member| member.ask_early(rules, &mut told)),
            Action::Announce(side) => world.announce(side),
            Action::Send(who, service) => world.send_early(who, service),
            Action::Arrive(who) => world.arrive(who, rules),
            Action::Reflect(by, of) => world.reflect(by, of),
            change => world.change(change, rules),
        }
        let actor = match action {
            Action::Read(who) | Action::Answer(who) | Action::AskEarly(who) => who,
            _ => u8::MAX,
        };
        if told.iter().any(|effect| matches!(effect, Effect::Secure { .. }))
            && let Some(player) = world.player_mut(actor)
        {
            player.fresh = true;
        }
        world.send(actor, &told, rules);
        let fault = world.judge(actor, self, &told);
        world.settle_early();
        world.forget();
        Next { world, told, fault }
    }

    /// Everybody reads what makes no difference to others: no FLUSH_OK, no step, nothing told
    /// above.
    fn read_silently(&mut self, rules: &Rules) {
        let mut told = Vec::new();
        for who in everybody() {
            while let Some(player) = self.player(who)
                && let Some(entry) = player.queue.first().copied()
                && player.member.may_read_at_once(&entry)
                && !self.brings(who, &entry, rules)
            {
                let mut member = player.member.clone();
                member.read(entry, rules, &mut told);
                if !told.is_empty() {
                    told.clear();
                    break;
                }
                if let Some(player) = self.player_mut(who) {
                    player.queue.remove(0);
                    player.member = member;
                }
                self.has_read(who, &entry, rules);
            }
        }
    }

    /// The side that changes happen on: the largest, of equals the one with the lowest member.
    pub(crate) fn main_side(&self) -> Option<Who> {
        self.sides().iter().max_by_key(|side| (self.on_side(*side).len(), u8::MAX - side))
    }

    fn step_of_the_lone(&self, rules: &Rules) -> Option<Action> {
        let main = self.main_side()?;
        let lone = |who: Who| self.player(who).is_some_and(|player| player.side == who && who != main);
        self.steps(rules).into_iter().find(|action| match action {
            Action::Read(who) | Action::Answer(who) | Action::Announce(who) => lone(*who),
            _ => false,
        })
    }

    fn with(&mut self, who: Who, act: impl FnOnce(&mut Member)) {
        if let Some(player) = self.player_mut(who) {
            act(&mut player.member);
        }
    }

    fn read(&mut self, who: Who, rules: &Rules, told: &mut Vec<Effect>) {
        let Some(player) = self.player_mut(who).filter(|player| !player.queue.is_empty()) else { return };
        let entry = player.queue.remove(0);
        player.fresh = false;
        let is_had = self.before_read(who, &entry, rules);
        let Some(player) = self.player_mut(who) else { return };
        match entry {
            Ordered::FlushOk { from, .. } if !is_had => player.member.flush.give_up(from),
            entry => player.member.read(entry, rules, told),
        }
        let (side, signalled) = (player.side, player.member.flush.is_signalled());
        if matches!(entry, Ordered::Step { safe: true, kept: false, .. }) && !signalled {
            self.keep(self.on_side(side), entry);
        }
    }

    /// `entry` was delivered as safe: all of `members` will deliver it.
    pub(crate) fn keep(&mut self, members: Set, entry: Ordered) {
        for who in members.iter() {
            let queue = self.player_mut(who).map(|player| &mut player.queue);
            for other in queue.into_iter().flatten().filter(|other| **other == entry) {
                if let Ordered::Step { kept, .. } = other {
                    *kept = true;
                }
            }
        }
    }

    /// Puts what a member sends into the order of its side.
    fn send(&mut self, from: Who, told: &[Effect], rules: &Rules) {
        for effect in told {
            let entry = match *effect {
                Effect::FlushOk { view, heads, brings } => {
                    let named = self.names(from, rules);
                    Ordered::FlushOk { from, view, flush_ok: FlushOk { heads, brings, named } }
                }
                Effect::Step { view, kind, safe } => Ordered::Step { from, view, kind, safe, kept: false },
                _ => continue,
            };
            if let Some(side) = self.player(from).map(|player| player.side) {
                self.append(self.on_side(side), |_| entry);
            }
        }
    }

    /// Puts an entry, each one's own, into the order before these.
    pub(crate) fn append(&mut self, readers: Set, entry: impl Fn(&Player) -> Ordered) {
        for who in readers.iter() {
            if let Some(player) = self.player_mut(who) {
                let entry = entry(player);
                player.queue.push(entry);
            }
        }
    }

    /// The notice that is due on a side.
    pub(crate) fn announce(&mut self, side: Who) {
        let (members, view) = (self.on_side(side), self.next);
        self.next = self.next.saturating_add(1);
        self.append(members, |player| {
            let removed = player.owed.unwrap_or_default();
            Ordered::Notice { view, members, removed }
        });
        for who in members.iter() {
            if let Some(player) = self.player_mut(who) {
                player.owed = None;
            }
        }
    }

    /// Forgets what nobody can come back to, so that states that differ in nothing that matters are
    /// one.
    fn forget(&mut self) {
        let next = self.next;
        let mut oldest = next;
        for who in everybody() {
            let Some(player) = self.player_mut(who) else { continue };
            while player.queue.first() == Some(&Ordered::Fence) {
                player.queue.remove(0);
                player.fresh = true;
            }
            oldest = oldest.min(player.member.flush.oldest().unwrap_or(next));
        }
        self.facts.retain(|fact| fact.view() >= oldest);
        self.forget_early(oldest);
    }
}
