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
    /// A confirmation counts for the member that made it, whosever name it bears (KEY-23; as
    /// `Danger::KeyingOneConfirmKey` when off).
    pub own_confirmation: bool,
    /// What a member put into its stream is delivered in front of what it put there behind it, if
    /// that is agreed or safe (rule 5 of the ring's plan, ORD-08).
    pub prior: bool,
    /// An early message of a view that is not secure yet is held until it is (rule 7 of the plan).
    pub early_held: bool,
    /// FLUSH_OK names what was delivered of those whom a notice has removed, and all deliver that
    /// before they install (rule 7 of the plan).
    pub removed_named: bool,
    /// Who lacks what is named does not install before it has come; if the configuration ends
    /// without it, never.
    pub named_awaited: bool,
    /// Nothing of the old configuration is taken after the commit entry, but by recovery (rule 8 of
    /// the plan, ORD-09).
    pub freeze: bool,
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
            own_confirmation: true,
            prior: true,
            early_held: true,
            removed_named: true,
            named_awaited: true,
            freeze: true,
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
    /// How many early messages, FIFO or reliable: one is on its way at a time.
    pub messages: u8,
    /// How many confirmations a carrier says again in another's name.
    pub reflections: u8,
}

impl Scope {
    /// Everything, up to so many changes.
    pub fn all(changes: u8) -> Self {
        let (joins, leaves, expulsions, crashes, cuts) = (true, true, true, true, true);
        Self { changes, joins, leaves, expulsions, crashes, cuts, messages: 0, reflections: 0 }
    }

    /// With so many early messages.
    #[must_use]
    pub fn with_messages(self, messages: u8) -> Self {
        Self { messages, ..self }
    }

    /// With so many reflected confirmations.
    #[must_use]
    pub fn with_reflections(self, reflections: u8) -> Self {
        Self { reflections, ..self }
    }

    /// Joins alone.
    pub fn joins(changes: u8) -> Self {
        let all = Self::all(changes);
        Self { leaves: false, expulsions: false, crashes: false, cuts: false, ..all }
    }
}
