//! A transcript in numbers.

/// How many entries of each kind a transcript holds. What two members, or both sides of a split,
/// wrote down at once counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Entries, the first included.
    pub entries: usize,
    /// Requests that admitted or renewed somebody after the founding.
    pub admissions: usize,
    /// Decisions that removed a member.
    pub removals: usize,
    /// Entries by which a term ended.
    pub expiries: usize,
    /// Decisions in all.
    pub decisions: usize,
    /// Decisions that changed the charter.
    pub charter_changes: usize,
    /// Decisions on who votes.
    pub electorates: usize,
    /// Entries after which the group went on in more than one way.
    pub splits: usize,
    /// Entries that join several ways.
    pub merges: usize,
}
