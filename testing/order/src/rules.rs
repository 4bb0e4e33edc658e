//! Rules that can be left out, to see that the checkers then find what goes wrong.

use std::str::FromStr;

/// A rule of docs/protocol/order.md that a run may be without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A record names its holder's own stream only.
    OwnStream,
    /// Every member gets the token at least once in 2n passes.
    Turns,
    /// A record stops before a packet that names something not yet ordered.
    Names,
    /// Safe is the minimum of what each member says that it holds.
    HeldByAll,
    /// The token parks only when all hold all, and its holder says how far everything goes.
    Park,
    /// A parked token goes round, and anybody with a packet long unordered gathers.
    Rounds,
    /// Agreed and safe come after everything that their source put in its stream before.
    Prior,
    /// Reliable, FIFO and causal do not wait for the order.
    AtOnce,
    /// A commit entry freezes the old configuration.
    Freeze,
    /// Known order first.
    KnownOrder,
    /// Past a hole, only trusted and owed.
    Hole,
    /// Past a hole, what a message needs goes before it, though no known record names it.
    Needs,
    /// A packet that is held and not delivered is a hole of its stream, as a missing one is.
    Undelivered,
    /// A reliable message that one survivor delivered is delivered by all, also past a hole.
    ReliablePastHole,
    /// What one survivor delivered early is owed by all.
    Owed,
    /// What an attempt with all ENDs promised is kept if it fails.
    Obligations,
    /// Lists are taken over only when all ENDs came.
    AllEnds,
    /// Behind the known order, agreed and safe stand by (sender, number), whatever else is known.
    BySender,
    /// Places behind the known order have a space of their own.
    Places,
}

impl Rule {
    /// Each with its name, as `--without` takes it.
    pub const ALL: [(Self, &str); 19] = [
        (Self::OwnStream, "own-stream"),
        (Self::Turns, "turns"),
        (Self::Names, "names"),
        (Self::HeldByAll, "held-by-all"),
        (Self::Park, "park"),
        (Self::Rounds, "rounds"),
        (Self::Prior, "prior"),
        (Self::AtOnce, "at-once"),
        (Self::Freeze, "freeze"),
        (Self::KnownOrder, "known-order"),
        (Self::Hole, "hole"),
        (Self::Needs, "needs"),
        (Self::Undelivered, "undelivered"),
        (Self::ReliablePastHole, "reliable-past-hole"),
        (Self::Owed, "owed"),
        (Self::Obligations, "obligations"),
        (Self::AllEnds, "all-ends"),
        (Self::BySender, "by-sender"),
        (Self::Places, "places"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(rule, _)| *rule == self).map_or("", |(_, name)| name)
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = Self::ALL.iter().map(|(_, name)| *name).collect();
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(rule, _)| *rule).ok_or_else(|| format!("no such rule; there are: {}", names.join(", ")))
    }
}

/// The rules in force: all, or all but one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// The one that is left out.
    pub without: Option<Rule>,
}

impl Rules {
    /// Whether this one is in force.
    pub fn keep(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}
