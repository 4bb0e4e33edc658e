//! The promises, judged at every step and in every state.

use crate::keying::Standing;
use crate::member::{Effect, LIST};
use crate::names::{Set, Trio, ViewNumber, Who};
use crate::rules::Rules;
use crate::world::World;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Nothing can happen any more but a change, and somebody is not secure in one view with all on
    /// its side.
    Deadlock,
    /// Of those who moved on together, some installed the view before and some did not.
    SomeInstalled,
    /// Somebody survived a view that others installed, without what decided it.
    WithoutDecision,
    /// A view was installed before all of its members had its key.
    BeforeAllHadTheKey,
    /// Two keys for one view, or one view installed twice.
    TwoKeys,
    /// A step was to be sent after the flush was answered.
    SentAfterFlush,
    /// A view was installed with somebody off the roster.
    OffRoster,
    /// Two transitional signals for one secure view, or one for none.
    Signals,
    /// Who came along is not mutual.
    NotMutual,
    /// A layer was asked for what does not fit its state.
    OutOfTurn,
    /// Of those who moved on together, some delivered an early message in the view before and some
    /// did not.
    Differ,
    /// Nothing can happen any more but a change, and somebody in the view of an early message has
    /// not delivered it.
    Undelivered,
    /// A state can come back: the machine need not end.
    Endless,
}

impl Fault {
    /// In plain words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Deadlock => {
                "deadlock: nothing can happen any more, and not everybody is secure in one view"
            }
            Self::SomeInstalled => "of those who moved on together, some installed the view and some did not",
            Self::WithoutDecision => "somebody survived an installed view without what decided it",
            Self::BeforeAllHadTheKey => "a view was installed before all of its members had its key",
            Self::TwoKeys => "two keys for one view",
            Self::SentAfterFlush => "a step was to be sent after the flush was answered",
            Self::OffRoster => "a view was installed with somebody off the roster",
            Self::Signals => "a transitional signal too many",
            Self::NotMutual => "two members differ on who came along",
            Self::OutOfTurn => "a layer was asked for what does not fit its state",
            Self::Differ => {
                "of those who moved on together, some delivered the early message and some did not"
            }
            Self::Undelivered => "somebody in the view of the early message never delivers it",
            Self::Endless => "a state can come back",
        }
    }
}

/// What is known of a view while somebody is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fact {
    view: ViewNumber,
    /// Who has had its key.
    keyed: Set,
    /// Who has installed it, and who came along with each.
    secure: Set,
    together: Trio<Set>,
    /// What decided it: whose confirmation, or the list.
    decided: Set,
    key: u16,
}

impl Fact {
    pub(crate) fn view(&self) -> ViewNumber {
        self.view
    }
}

impl World {
    fn fact(&self, view: ViewNumber) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.view == view)
    }

    /// Whether `who` has installed the view.
    pub(crate) fn has_secured(&self, who: Who, view: ViewNumber) -> bool {
        self.fact(view).is_some_and(|fact| fact.secure.has(who))
    }

    fn fact_mut(&mut self, view: ViewNumber) -> Option<&mut Fact> {
        if self.fact(view).is_none() {
            let (keyed, secure, together, decided, key) = Default::default();
            self.facts.push(Fact { view, keyed, secure, together, decided, key });
            self.facts.sort();
        }
        self.facts.iter_mut().find(|fact| fact.view == view)
    }

    /// Judges what `who` did on the way from `before`.
    pub(crate) fn judge(&mut self, who: Who, before: &Self, told: &[Effect]) -> Option<Fault> {
        let mut fault = None;
        for effect in told {
            let found = match *effect {
                Effect::Secure { view, together, key } => self.secured(who, before, view, together, key),
                Effect::Installed { view, .. } => self.moved(who, before, view),
                Effect::SecureSignal => self.signalled(who, before),
                Effect::OutOfTurn => Some(Fault::OutOfTurn),
                Effect::Late => Some(Fault::SentAfterFlush),
                _ => None,
            };
            fault = fault.or(found);
        }
        if let Some(view) = self.keyed_in(who)
            && self.fact(view).is_none_or(|fact| !fact.keyed.has(who))
            && let Some(fact) = self.fact_mut(view)
        {
            fact.keyed = fact.keyed.with(who);
        }
        fault
    }

    fn keyed_in(&self, who: Who) -> Option<ViewNumber> {
        let member = &self.player(who)?.member;
        member.flush.view().filter(|_| member.keying.has_key()).map(|(view, _)| view)
    }

    fn secured(
        &mut self,
        who: Who,
        before: &Self,
        view: ViewNumber,
        together: Set,
        key: u16,
    ) -> Option<Fault> {
        let player = self.player(who)?;
        let (_, members) = player.member.flush.view()?;
        let off = player.member.off();
        // What it has just delivered decided.
        let read = before.player(who)?.queue.first().copied();
        let decided = read.and_then(|entry| match entry {
            crate::member::Ordered::Step { kind: crate::run::Kind::KeyList, .. } => Some(LIST),
            crate::member::Ordered::Step { from, .. } => Some(from),
            _ => None,
        });
        let fact = self.fact_mut(view)?;
        let others = fact.secure.without(who);
        let twice = fact.secure.has(who);
        let other_key = !fact.secure.is_empty() && fact.key != key;
        fact.keyed = fact.keyed.with(who);
        fact.secure = fact.secure.with(who);
        fact.key = key;
        fact.decided = decided.map_or(fact.decided, |decided| fact.decided.with(decided));
        if let Some(mine) = fact.together.get_mut(who) {
            *mine = together;
        }
        let differs =
            |other: &Who| fact.together.get(*other).is_some_and(|t| t.has(who) != together.has(*other));
        let faults = [
            (members.meets(off), Fault::OffRoster),
            (!members.minus(fact.keyed).is_empty(), Fault::BeforeAllHadTheKey),
            (twice || other_key, Fault::TwoKeys),
            (others.iter().any(|other| differs(&other)), Fault::NotMutual),
        ];
        faults.into_iter().find_map(|(wrong, fault)| wrong.then_some(fault))
    }

    /// `who` goes from the view it was in to the next.
    fn moved(&self, who: Who, before: &Self, to: ViewNumber) -> Option<Fault> {
        let was = &before.player(who)?.member;
        let (view, members) = was.flush.view()?;
        let fact = self.fact(view)?;
        let installed = fact.secure.has(who);
        let came = || was.flush.with_me().and(members).without(who).iter();
        let gone = |other: Who| {
            let flush = &self.player(other).map(|player| &player.member.flush);
            flush.is_some_and(|flush| flush.view().is_some_and(|(other, _)| other == to))
        };
        if came().any(|other| gone(other) && fact.secure.has(other) != installed) {
            return Some(Fault::SomeInstalled);
        }
        if came().any(|other| gone(other) && self.differ(view, who, other)) {
            return Some(Fault::Differ);
        }
        let missing = fact.decided.iter().any(|what| !was.has_delivered(what));
        missing.then_some(Fault::WithoutDecision)
    }

    fn signalled(&self, who: Who, before: &Self) -> Option<Fault> {
        let was = &before.player(who)?.member;
        was.flush.is_signalled().then_some(Fault::Signals)
    }

    /// Whether everybody is secure in one view with all on its side, and nothing is due.
    pub fn is_settled(&self) -> bool {
        self.players().all(|(_, player)| {
            let side = self.on_side(player.side);
            let alike = side.iter().all(|other| {
                let view = |player: &crate::world::Player| player.member.flush.view();
                self.player(other).is_some_and(|other| view(other) == view(player))
            });
            let secure = player.member.keying.standing() == Standing::Secure(false);
            let quiet = player.owed.is_none() && !player.member.flush.is_changing();
            secure && quiet && alike && player.member.flush.view().is_some_and(|(_, members)| members == side)
        })
    }

    /// A state in which nothing but a change can happen is one in which all is well.
    pub fn judge_rest(&self, rules: &Rules) -> Option<Fault> {
        if !self.steps(rules).is_empty() {
            return None;
        }
        if !self.is_settled() {
            return Some(Fault::Deadlock);
        }
        self.waits().then_some(Fault::Undelivered)
    }
}
