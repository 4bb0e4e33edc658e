//! Rules that can be switched off, to see that the search then finds what goes wrong.

/// The rules in force. [`Rules::default`] is the machine as built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Rule H: before the key list decides, a flush is held (as `Danger::KeyingNoRuleH` when off).
    pub rule_h: bool,
    /// The flush is held in KL and KC too (as `Danger::KeyingFlushInKeyList` when off).
    pub key_list_holds: bool,
    /// K1: the transitional signal at the place of a notice that removes somebody (as
    /// `Danger::FlushNoSignal` when off).
    pub k1: bool,
    /// What decides is sent safe (as `Danger::KeyingKeyListAgreed` when off).
    pub safe_list: bool,
    /// A view waits for every confirmation (as `Danger::KeyingNoConfirm` when off).
    pub confirmation: bool,
    /// A substrate weaker than ours: flush may ask before the member has come to the notice's place
    /// in the order, each member at a time of its own. The machine must stand that too.
    pub early_requests: bool,
    /// Every read is a step of its own. Off: a read that nobody else can tell is done at once, and
    /// a member cut off alone comes to rest at once (docs/protocol/keying.md, "The model", says why
    /// that loses nothing).
    pub every_read: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            rule_h: true,
            key_list_holds: true,
            k1: true,
            safe_list: true,
            confirmation: true,
            early_requests: false,
            every_read: false,
        }
    }
}

impl Rules {
    /// The machine as built, on a substrate that asks for the flush at any time.
    pub fn early() -> Self {
        Self { early_requests: true, ..Self::default() }
    }
}

/// What may happen to the membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// How many changes at most.
    pub changes: u8,
    /// Which of them.
    pub joins: bool,
    /// Ordered leaves.
    pub leaves: bool,
    /// Expulsions: an entry takes somebody off the roster; the notice comes with it or later.
    pub expulsions: bool,
    /// A node is gone, and its member with it.
    pub crashes: bool,
    /// Cuts of the network, each side going on, and merges.
    pub cuts: bool,
}

impl Scope {
    /// Everything, up to so many changes.
    pub fn all(changes: u8) -> Self {
        Self { changes, joins: true, leaves: true, expulsions: true, crashes: true, cuts: true }
    }

    /// Joins alone.
    pub fn joins(changes: u8) -> Self {
        let nothing =
            Self { changes, joins: false, leaves: false, expulsions: false, crashes: false, cuts: false };
        Self { joins: true, ..nothing }
    }
}
