//! One run for one plan.

use super::pairing::Pairing;
use super::seal::Key;
use crate::base::{Digest, Entropy, Party, Secret, digest};
use crate::plan::ByAge;
use crate::{AgreementError, Count, Kept, Module, ModuleName, Plan, Stage, Step};
use std::collections::{BTreeMap, BTreeSet};

/// From the controller to those it has no pair key with.
pub(super) const OFFER: u8 = 1;
/// From each of them.
pub(super) const ANSWER: u8 = 2;
/// From the controller: decides.
pub(super) const KEYS: u8 = 3;

/// What all have seen so far in the one order. Parties are named by rank.
pub(super) enum Seen {
    /// The controller is to offer.
    Start,
    /// The offer is out; these have not answered.
    Answering { missing: BTreeSet<usize> },
    /// All have a pair key.
    Paired,
    /// The key is out.
    Done,
}

/// What a run leaves: who was in it, by age, and the pair keys by party. An ordinary party has
/// only one, under its own name.
struct State {
    order: Vec<Party>,
    pairs: BTreeMap<Party, Key>,
}

/// One run at one party.
pub struct Run<P: Pairing> {
    pub(super) order: ByAge,
    /// From this rank on, parties have no pair key with the controller.
    pub(super) first_unpaired: usize,
    pub(super) seen: Seen,
    /// The controller's secret, while it is needed.
    pub(super) own: Option<P::Own>,
    /// OFFER as it was sent.
    pub(super) offer: Option<Vec<u8>>,
    pub(super) pairs: BTreeMap<Party, Key>,
    /// The pair keys after the run.
    pub(super) next: BTreeMap<Party, Key>,
    pub(super) key: Option<Key>,
    pub(super) count: Count,
}

impl<P: Pairing> Run<P> {
    /// A run for `plan`.
    ///
    /// # Errors
    /// [`AgreementError::LocalKept`] and [`AgreementError::PeerOrigin`], as [`crate::begin`].
    pub fn new(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let base = plan.base();
        let order = ByAge::new(plan)?;
        // Rank 0 of the run before was its controller; if it is still there, the base has its pair
        // keys.
        let stays = base.first().and_then(|place| plan.origin(*place)).is_some_and(|origin| origin.rank == 0);
        let mut pairs = BTreeMap::new();
        if plan.origin(plan.me()).is_some() {
            let before = kept.and_then(Kept::state::<State>).ok_or(AgreementError::LocalKept)?;
            plan.check_ranks(|rank| before.order.get(usize::try_from(rank).ok()?).copied())?;
            if stays && plan.in_base() {
                pairs.clone_from(&before.pairs);
                pairs
                    .retain(|member, _| order.members.get(..base.len()).unwrap_or_default().contains(member));
            }
        }
        let first_unpaired = if stays { base.len() } else { 1 };
        Ok(Self {
            first_unpaired,
            seen: if first_unpaired < order.members.len() { Seen::Start } else { Seen::Paired },
            order,
            own: None,
            offer: None,
            pairs,
            next: BTreeMap::new(),
            key: None,
            count: Count::default(),
        })
    }

    /// All parties by age, in one digest.
    pub(super) fn roll(&self) -> Digest {
        let ids: Vec<_> = self.order.members.iter().flat_map(Party::to_bytes).collect();
        digest(&[b"folkmoot ckd members v1", &ids])
    }

    fn awaited_ranks(&self) -> Vec<usize> {
        match &self.seen {
            Seen::Start | Seen::Paired => vec![0],
            Seen::Answering { missing } => missing.iter().copied().collect(),
            Seen::Done => Vec::new(),
        }
    }
}

impl<P: Pairing> Module for Run<P> {
    fn name(&self) -> ModuleName {
        P::MODULE
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        if self.order.me != 0 {
            return Vec::new();
        }
        if matches!(self.seen, Seen::Paired) {
            // What this needs was checked when the run was made.
            return self.distribute(entropy).unwrap_or_default();
        }
        let (own, offer) = P::offer(entropy, &mut self.count);
        self.own = Some(own);
        vec![send(OFFER, offer)]
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let rank = self.order.rank(from, step)?;
        self.turn(rank, from, step)?;
        match step {
            OFFER => self.take_offer(body, entropy),
            ANSWER => self.take_answer(rank, body, entropy),
            _ => self.take_keys(body),
        }
    }

    fn awaited(&self) -> Vec<usize> {
        self.order.places(&self.awaited_ranks())
    }

    fn stage(&self) -> Stage {
        match self.seen {
            Seen::Start => Stage { name: "offer", deciding: false },
            Seen::Answering { .. } => Stage { name: "answers", deciding: false },
            Seen::Paired => Stage { name: "keys", deciding: true },
            Seen::Done => Stage { name: "done", deciding: true },
        }
    }

    fn count(&self) -> Count {
        self.count
    }

    fn keep(&self) -> Option<Kept> {
        let state = State { order: self.order.members.clone(), pairs: self.next.clone() };
        let me = self.order.members.get(self.order.me).filter(|_| matches!(self.seen, Seen::Done))?;
        Kept::of_order(P::MODULE, *me, &self.order.members, state)
    }
}

impl<P: Pairing> Run<P> {
    /// AGR-20: whether this party may take this step now.
    fn turn(&self, rank: usize, from: usize, step: u8) -> Result<(), AgreementError> {
        let (due, taken) = match (step, &self.seen) {
            (OFFER, Seen::Start) | (KEYS, Seen::Paired) => (rank == 0, false),
            (OFFER, _) => (false, rank == 0 && self.offer.is_some()),
            (ANSWER, Seen::Answering { missing }) => {
                (missing.contains(&rank), self.pairing(rank) && !missing.contains(&rank))
            }
            (ANSWER, Seen::Paired | Seen::Done) => (false, self.offer.is_some() && self.pairing(rank)),
            (ANSWER, Seen::Start) => (false, false),
            (KEYS, seen) => (false, rank == 0 && matches!(seen, Seen::Done)),
            (other, _) => return Err(AgreementError::PeerUnknownStep(other)),
        };
        match () {
            () if due => Ok(()),
            () if taken => Err(AgreementError::PeerRepeated { from, step }),
            () => Err(AgreementError::PeerOutOfTurn { from, step }),
        }
    }

    /// Whether the party at `rank` pairs in this run.
    fn pairing(&self, rank: usize) -> bool {
        rank >= self.first_unpaired && rank < self.order.members.len()
    }
}

pub(super) fn send(step: u8, body: Vec<u8>) -> Step {
    Step::Send { step, decides: step == KEYS, body }
}

pub(super) fn done(key: &Key) -> Step {
    Step::Done(Secret::new(key.to_vec()))
}
