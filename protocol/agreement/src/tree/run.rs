//! One run of a tree module. Sides tell their trees. Then whoever can compute missing blinded keys
//! tells them, round by round, until everybody can compute the root's key.
//!
//! ```text
//!  several sides: TREE of every side ──> put together ─┐
//!  one side: all know its tree ────────────────────────┴─> KEYS of every sponsor ─> KEYS ... ─> each computes the root
//! ```

use crate::base::Entropy;
use crate::tree::form::Form;
use crate::tree::node::Node;
use crate::tree::own::{Own, State};
use crate::tree::read::{Reader, write};
use crate::tree::turns::{Round, Turn};
use crate::{AgreementError, Count, Kept, Module, ModuleName, Plan, PrimeGroup, Stage, Step};
use core::marker::PhantomData;
use std::collections::{BTreeMap, BTreeSet};

/// A side's tree. The rounds of KEYS have the numbers above it.
pub(crate) const TREE: u8 = 1;

/// What all have seen so far in the one order.
enum Seen<E> {
    /// Sides have told what becomes part of the new tree.
    Trees(BTreeMap<usize, Vec<Node<E>>>),
    /// The tree stands; these turns of the round are not taken yet.
    Keys { step: u8, tree: Node<E>, missing: BTreeMap<usize, Turn>, ends: bool },
    /// Everything is told.
    Done(Node<E>),
}

/// One run at one party.
pub struct Run<G: PrimeGroup, F> {
    plan: Plan,
    /// Who tells the tree of each side.
    speakers: Vec<usize>,
    own: Own<G>,
    seen: Seen<G::Element>,
    taken: BTreeSet<(usize, u8)>,
    form: PhantomData<F>,
}

impl<G: PrimeGroup, F: Form> Run<G, F> {
    /// A run for `plan`, from what this party kept of the run that the plan says it comes from.
    ///
    /// # Errors
    /// [`AgreementError::LocalKept`] if `kept` is not what the plan says;
    /// [`AgreementError::PeerOrigin`] if another party says that it comes from there, with a rank
    /// that was not its own.
    pub fn new(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let own = Own::new::<F>(plan, kept)?;
        let sides = plan.sides().len();
        let seen = match own.forest.first() {
            Some(tree) if sides == 1 => round(TREE, tree.clone()),
            _ => Seen::Trees(BTreeMap::new()),
        };
        let speakers = (0..sides).map(|side| F::speaker(plan, side)).collect();
        Ok(Self { plan: plan.clone(), speakers, own, seen, taken: BTreeSet::new(), form: PhantomData })
    }

    /// AGR-31 and AGR-32, or AGR-41 and AGR-42: one tree for each side, sent by its speaker, of its
    /// parties. The side's own parties check it.
    fn tree(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let Seen::Trees(told) = &mut self.seen else { return Err(self.out_of_turn(from, TREE)) };
        let side = self.speakers.iter().position(|speaker| *speaker == from);
        let Some(side) = side.filter(|side| !told.contains_key(side)) else {
            return Err(self.out_of_turn(from, TREE));
        };
        let places = self.plan.sides().get(side).ok_or(AgreementError::LocalMembers)?;
        let parts = F::read::<G>(side, places, body)?;
        if side == self.own.side {
            self.own.check(&parts)?;
        }
        told.insert(side, parts);
        if told.len() < self.speakers.len() {
            return Ok(Vec::new());
        }
        let parts = core::mem::take(told).into_values().flatten().collect();
        let tree = F::hang(parts).ok_or(AgreementError::LocalMembers)?;
        self.own.path.fit(&tree);
        self.seen = round(TREE, tree);
        Ok(self.proceed())
    }

    /// AGR-33, AGR-43: as many keys as the sender's turn has. AGR-32, AGR-42: a share that must be
    /// renewed is renewed.
    fn keys(&mut self, from: usize, step: u8, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let refused = self.out_of_turn(from, step);
        let (tree, missing) = match &mut self.seen {
            Seen::Keys { step: now, tree, missing, .. } if *now == step => (tree, missing),
            _ => return Err(refused),
        };
        let turn = missing.get(&from).ok_or(refused)?;
        let values = Reader::new(body).elements::<G>(turn.count)?;
        if from == self.own.renewer && !self.own.is_renewed(tree, &values) {
            return Err(AgreementError::PeerNotRenewed);
        }
        tree.fill(from, values);
        missing.remove(&from);
        if !missing.is_empty() {
            return Ok(Vec::new());
        }
        self.seen = round(step, tree.clone());
        Ok(self.proceed())
    }

    /// In the round that has begun: sends what this party has to send, or else computes what it
    /// can while others send.
    fn proceed(&mut self) -> Vec<Step> {
        let Seen::Keys { step, tree, missing, ends } = &self.seen else { return Vec::new() };
        if let Some(turn) = missing.get(&self.plan.me()) {
            let values = self.own.path.blind(tree, turn.count);
            let send = |values: Vec<_>| Step::Send { step: *step, decides: *ends, body: write::<G>(&values) };
            return values.map(send).into_iter().collect();
        }
        self.own.path.finish(tree);
        if !missing.is_empty() {
            return Vec::new();
        }
        self.seen = Seen::Done(tree.clone());
        self.own.path.secret().map(Step::Done).into_iter().collect()
    }

    /// What the speaker of a side tells of it.
    fn tell(&mut self) -> Option<Step> {
        let me = self.plan.me();
        let mut parts = self.own.forest.clone();
        let tree = parts.iter_mut().find(|tree| tree.line(me).is_some())?;
        let values = self.own.path.blind(tree, self.own.count)?;
        tree.fill(me, values);
        let body = F::write::<G>(self.own.side, &parts);
        Some(Step::Send { step: TREE, decides: F::may_end(&self.plan), body })
    }

    /// A step that is not awaited from there: taken before, not yet its turn, or never.
    fn out_of_turn(&self, from: usize, step: u8) -> AgreementError {
        // A pair waits for another round only if both its halves did: each round doubles the number
        // of parties below.
        let last = u32::from(TREE).saturating_add(self.plan.size().max(1).ilog2());
        if self.taken.contains(&(from, step)) {
            AgreementError::PeerRepeated { from, step }
        } else if step < TREE || u32::from(step) > last {
            AgreementError::PeerUnknownStep(step)
        } else {
            AgreementError::PeerOutOfTurn { from, step }
        }
    }

    fn missing(&self) -> Vec<usize> {
        match &self.seen {
            Seen::Trees(told) => {
                let silent = |(side, place)| (!told.contains_key(&side)).then_some(place);
                let mut places: Vec<_> =
                    self.speakers.iter().copied().enumerate().filter_map(silent).collect();
                places.sort_unstable();
                places
            }
            Seen::Keys { missing, .. } => missing.keys().copied().collect(),
            Seen::Done(_) => Vec::new(),
        }
    }
}

/// The round after `step` in a tree that stands.
fn round<E: Clone + PartialEq>(step: u8, tree: Node<E>) -> Seen<E> {
    let Round { turns, ends } = tree.round();
    let missing = turns.into_iter().map(|turn| (turn.place, turn)).collect();
    Seen::Keys { step: step.saturating_add(1), tree, missing, ends }
}

impl<G: PrimeGroup, F: Form> Module for Run<G, F> {
    fn name(&self) -> ModuleName {
        F::NAME
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        let me = self.plan.me();
        if self.own.renewer == me {
            self.own.path.renew(entropy);
        }
        match &self.seen {
            Seen::Trees(_) if self.own.renewer == me => self.tell().into_iter().collect(),
            _ => self.proceed(),
        }
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        _entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let steps = if step == TREE { self.tree(from, body) } else { self.keys(from, step, body) }?;
        self.taken.insert((from, step));
        Ok(steps)
    }

    fn awaited(&self) -> Vec<usize> {
        self.missing()
    }

    fn stage(&self) -> Stage {
        let last = self.missing().len() == 1;
        match &self.seen {
            Seen::Trees(_) => Stage { name: "trees", deciding: last && F::may_end(&self.plan) },
            Seen::Keys { ends, .. } => Stage { name: "blinded keys", deciding: last && *ends },
            Seen::Done(_) => Stage { name: "done", deciding: true },
        }
    }

    fn count(&self) -> Count {
        self.own.path.count()
    }

    fn keep(&self) -> Option<Kept> {
        let Seen::Done(tree) = &self.seen else { return None };
        let leaves = tree.leaves();
        let of = |(place, _): &(usize, usize)| self.plan.members().get(*place).copied();
        let members: Vec<_> = leaves.iter().filter_map(of).collect();
        let ranks: BTreeMap<_, _> = leaves.iter().map(|(place, _)| *place).zip(0..).collect();
        let tree = tree.prune(&|place| ranks.get(&place).copied(), &mut Vec::new())?;
        let me = *self.plan.members().get(self.plan.me())?;
        let state = State::<G> { members: members.clone(), tree, keys: self.own.path.keys().to_vec() };
        Kept::of_order(F::NAME, me, &members, state)
    }
}
