//! Parties on a circle, each with a share of its own and a link between its neighbours: the common
//! part of BD and Dutta–Barua.
//!
//! ```text
//!   every position ═SHARE X_i = g^x_i═> all      all in ─> every position ═LINK Y_i = (X_(i+1) / X_(i−1))^x_i═> all
//!   K_i = X_(i+1)^x_i,  K_(j+1) = Y_(j+1) · K_j,  once round: key = K_1 · K_2 · … · K_n = g^(x_1·x_2 + … + x_n·x_1)
//!   the links do not multiply to 1 ─> every position ═OPEN x_i═> all: who does not fit what it sent is named
//! ```
//! A position may be *lent*: its share is made from a key that several parties have. One of them
//! speaks there. The others listen, and compute the key as if they spoke. Departure: the circle
//! check of both papers (once round from `K_i` must end at `X_(i−1)^x_i`) is the same as "all links
//! multiply to 1", which everybody can compute, with the same verdict. It says that somebody lied,
//! not who. So the shares, from which no key will be made, are opened. A lent share is not opened:
//! if all others fit, it is the one that does not.

mod module;
mod steps;

use crate::base::Party;
use crate::{AgreementError, Count, ModuleName, PrimeGroup};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

/// `X_i`.
pub(crate) const SHARE: u8 = 1;
/// `Y_i`: the last one decides.
pub(crate) const LINK: u8 = 2;
/// `x_i`, after a run that failed.
pub(crate) const OPEN: u8 = 3;

/// The position that is lent, if any is.
pub(crate) const LENT: usize = 1;

/// Which party stands at which position.
pub(crate) struct Seating<G: PrimeGroup> {
    /// By position: the place of the party that speaks there.
    pub(crate) speakers: Vec<usize>,
    /// This party's place.
    pub(crate) me: usize,
    /// Whether [`LENT`] is lent. Known to all.
    pub(crate) lends: bool,
    /// The lent share, at those who have the key that it is made from.
    pub(crate) lent: Option<Zeroizing<G::Scalar>>,
    /// All parties in the run's own order, and this party, if what the run leaves is to be kept.
    pub(crate) order: Option<(Vec<Party>, Party)>,
}

/// One run at one party.
pub struct Run<G: PrimeGroup> {
    name: ModuleName,
    seating: Seating<G>,
    /// Where this party stands, or listens.
    at: usize,
    share: Option<Zeroizing<G::Scalar>>,
    shares: Vec<Option<G::Element>>,
    links: Vec<Option<G::Element>>,
    opened: BTreeSet<usize>,
    /// `K` of this party's position.
    right: Option<Zeroizing<G::Element>>,
    key: Option<Zeroizing<G::Element>>,
    count: Count,
}

/// Which step of the speakers is awaited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Shares,
    Links,
    Opening,
    Done,
}

impl<G: PrimeGroup> Run<G> {
    pub(crate) fn new(name: ModuleName, seating: Seating<G>) -> Result<Self, AgreementError> {
        let spoken = seating.speakers.iter().position(|place| *place == seating.me);
        let at = match (spoken, seating.lent.is_some()) {
            (Some(at), _) => at,
            (None, true) => LENT,
            (None, false) => return Err(AgreementError::LocalKept),
        };
        let size = seating.speakers.len();
        Ok(Self {
            name,
            seating,
            at,
            share: None,
            shares: vec![None; size],
            links: vec![None; size],
            opened: BTreeSet::new(),
            right: None,
            key: None,
            count: Count::default(),
        })
    }

    fn size(&self) -> usize {
        self.seating.speakers.len()
    }

    fn speaks(&self) -> bool {
        self.seating.speakers.get(self.at) == Some(&self.seating.me)
    }

    fn phase(&self) -> Phase {
        match () {
            () if self.key.is_some() => Phase::Done,
            () if self.shares.iter().any(Option::is_none) => Phase::Shares,
            () if self.links.iter().any(Option::is_none) => Phase::Links,
            () => Phase::Opening,
        }
    }

    /// Whose step is awaited, by position.
    fn missing(&self) -> Vec<usize> {
        let all = 0..self.size();
        match self.phase() {
            Phase::Shares => all.filter(|at| self.share_at(*at).is_none()).collect(),
            Phase::Links => all.filter(|at| self.link_at(*at).is_none()).collect(),
            Phase::Opening => self.not_opened(),
            Phase::Done => Vec::new(),
        }
    }

    /// Those who have not opened. A speaker with a lent share cannot open: it is the one who lied
    /// once all others have opened.
    fn not_opened(&self) -> Vec<usize> {
        let closed: Vec<_> = (0..self.size()).filter(|at| !self.opened.contains(at)).collect();
        let opening: Vec<_> = closed.iter().copied().filter(|at| !self.is_lent(*at)).collect();
        if opening.is_empty() { closed } else { opening }
    }

    fn is_lent(&self, at: usize) -> bool {
        self.seating.lends && at == LENT
    }

    fn share_at(&self, at: usize) -> Option<&G::Element> {
        self.shares.get(at)?.as_ref()
    }

    fn link_at(&self, at: usize) -> Option<&G::Element> {
        self.links.get(at)?.as_ref()
    }

    /// The share of the next on the circle.
    fn after(&self, at: usize) -> Option<&G::Element> {
        self.share_at(at.saturating_add(1).checked_rem(self.size())?)
    }

    /// The share of the one before.
    fn before(&self, at: usize) -> Option<&G::Element> {
        self.share_at(at.checked_sub(1).unwrap_or(self.size().saturating_sub(1)))
    }

    /// What a link at this position is a power of.
    fn between(&self, at: usize) -> Result<G::Element, AgreementError> {
        let (after, before) = self.after(at).zip(self.before(at)).ok_or(AgreementError::LocalNotReady)?;
        Ok(G::add(after, &G::negate(before)))
    }

    fn raise(&mut self, element: &G::Element, scalar: &G::Scalar) -> G::Element {
        self.count.exponentiations = self.count.exponentiations.saturating_add(1);
        G::raise(element, scalar)
    }
}
