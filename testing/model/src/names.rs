//! The names of the three members, sets of them, and one thing for each.

/// How many members the model has.
pub const MEMBERS: u8 = 3;

/// A member: 0, 1 or 2. Their order is the order of their ids.
pub type Who = u8;

/// A view, by the number of its notice: later ones are larger.
pub type ViewNumber = u8;

/// All members.
pub fn everybody() -> impl Iterator<Item = Who> {
    0..MEMBERS
}

/// A set of members, or of ranks in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Set(u8);

impl Set {
    /// Nobody.
    pub const NONE: Self = Self(0);

    /// One member.
    pub fn of(who: Who) -> Self {
        Self(1 << who)
    }

    /// The first `count` ranks.
    pub fn first(count: u8) -> Self {
        (0..count).collect()
    }

    /// Whether `who` is in it.
    pub fn has(self, who: Who) -> bool {
        self.0 & (1 << who) != 0
    }

    /// With `who` too.
    #[must_use]
    pub fn with(self, who: Who) -> Self {
        Self(self.0 | (1 << who))
    }

    /// Without `who`.
    #[must_use]
    pub fn without(self, who: Who) -> Self {
        Self(self.0 & !(1 << who))
    }

    /// Those of either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those of this one alone.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether they have somebody in common.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is nobody in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many.
    pub fn len(self) -> u8 {
        u8::try_from(self.0.count_ones()).unwrap_or(u8::MAX)
    }

    /// In order.
    pub fn iter(self) -> impl Iterator<Item = Who> {
        (0..8).filter(move |who| self.has(*who))
    }
}

impl FromIterator<Who> for Set {
    fn from_iter<I: IntoIterator<Item = Who>>(members: I) -> Self {
        members.into_iter().fold(Self::NONE, Self::with)
    }
}

/// One thing for each member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Trio<T>([T; 3]);

impl<T> Trio<T> {
    /// One's own; `None` for a number that is nobody's.
    pub fn get(&self, who: Who) -> Option<&T> {
        self.0.get(usize::from(who))
    }

    /// One's own, to change it.
    pub fn get_mut(&mut self, who: Who) -> Option<&mut T> {
        self.0.get_mut(usize::from(who))
    }

    /// All, with whose it is.
    pub fn iter(&self) -> impl Iterator<Item = (Who, &T)> {
        everybody().zip(&self.0)
    }

    /// All, with whose it is, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Who, &mut T)> {
        everybody().zip(&mut self.0)
    }
}
