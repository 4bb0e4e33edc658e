//! One party's context: its share, the public list and the key; and the step that ends every
//! operation.

use crate::base::{Blob, Entropy, Party, Secret};
use crate::gdh::token::{Kind, Token};
use crate::prime::{element, invert};
use crate::{AgreementError, Count, PrimeGroup};
use std::collections::{BTreeMap, BTreeSet};
use zeroize::{Zeroize, Zeroizing};

/// One party's state in one group. The share and the key erase themselves.
#[derive(Clone)]
pub struct Context<G: PrimeGroup> {
    pub(super) me: Party,
    pub(super) members: Vec<Party>,
    pub(super) share: Option<Zeroizing<G::Scalar>>,
    pub(super) partials: BTreeMap<Party, G::Element>,
    pub(super) key: Option<Zeroizing<G::Element>>,
    pub(super) epoch: u64,
    pub(super) pending: Option<Pending<G>>,
    pub(super) count: Count,
}

/// A merge or initial agreement under way.
#[derive(Clone)]
pub(super) struct Pending<G: PrimeGroup> {
    /// All parties once it is done.
    pub(super) members: Vec<Party>,
    /// What this party raised and the result: saves the last but one its factor-out.
    pub(super) passed: Option<(G::Element, G::Element)>,
    /// At the last: what came back, raised.
    pub(super) collected: BTreeMap<Party, G::Element>,
}

impl<G: PrimeGroup> Pending<G> {
    pub(super) fn new(members: Vec<Party>) -> Self {
        Self { members, passed: None, collected: BTreeMap::new() }
    }
}

impl<G: PrimeGroup> Context<G> {
    /// The context of a party that is in no group yet (clq_new_member).
    pub fn new_member(me: Party) -> Self {
        Self {
            me,
            members: Vec::new(),
            share: None,
            partials: BTreeMap::new(),
            key: None,
            epoch: 0,
            pending: None,
            count: Count::default(),
        }
    }

    /// The context of a group of one (clq_first_member). One exponentiation.
    pub fn first_member(me: Party, entropy: &mut dyn Entropy) -> Self {
        let mut context = Self::new_member(me);
        let share = Zeroizing::new(G::draw(entropy));
        context.key = Some(Zeroizing::new(context.raise(&G::generator(), &share)));
        context.share = Some(share);
        context.members = vec![me];
        context.partials.insert(me, G::generator());
        context
    }

    /// The group secret, encoded, once an operation is done.
    ///
    /// # Errors
    /// [`AgreementError::LocalNotReady`] before.
    pub fn key(&self) -> Result<Secret<Vec<u8>>, AgreementError> {
        let key = self.key.as_ref().ok_or(AgreementError::LocalNotReady)?;
        Ok(Secret::new(G::encode(key)))
    }

    /// The state that the next operation starts from: all but the key, which it does not need.
    pub(super) fn without_key(&self) -> Self {
        let mut context = self.clone();
        (context.key, context.pending) = (None, None);
        context
    }

    /// What the calls so far have cost.
    pub fn count(&self) -> Count {
        self.count
    }

    /// Counts from nothing again.
    pub fn reset_count(&mut self) {
        self.count = Count::default();
    }

    /// The parties, in order; the last is the controller.
    pub fn members(&self) -> &[Party] {
        &self.members
    }

    /// Whose context this is.
    pub fn name(&self) -> Party {
        self.me
    }

    /// The number of the last key.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The last step of every operation at every party (clq_update_ctx): takes the controller's
    /// list, computes the key. One exponentiation. `members` is the list that the membership change
    /// demands.
    ///
    /// # Errors
    /// Every `Peer…` reason; the context stays as it was.
    pub fn update(&mut self, from: Party, token: &Token, members: &[Party]) -> Result<(), AgreementError> {
        self.check(token, Kind::KeyUpdate, members)?;
        let (controller, others) = members.split_last().ok_or(AgreementError::LocalMembers)?;
        if from != *controller {
            return Err(AgreementError::PeerNotController);
        }
        let values = elements::<G>(&token.values)?;
        if values.len() != others.len() {
            return Err(AgreementError::PeerWrongList);
        }
        let mut partials: BTreeMap<_, _> = others.iter().copied().zip(values).collect();
        let mine = if from == self.me { self.partials.get(&self.me) } else { partials.get(&self.me) };
        let mine = *mine.ok_or(AgreementError::PeerWrongList)?;
        let share = self.share.clone().ok_or(AgreementError::LocalNotReady)?;
        self.key = Some(Zeroizing::new(self.raise(&mine, &share)));
        partials.insert(self.me, mine);
        if let Some(kept) = self.partials.remove(controller) {
            partials.entry(*controller).or_insert(kept);
        }
        self.partials = partials;
        self.members = members.to_vec();
        self.epoch = token.epoch;
        self.pending = None;
        Ok(())
    }

    /// Checks the conditions on every token.
    pub(super) fn check(&self, token: &Token, kind: Kind, members: &[Party]) -> Result<(), AgreementError> {
        distinct(members)?;
        if token.kind != kind {
            return Err(AgreementError::PeerWrongToken);
        }
        if token.members != members {
            return Err(AgreementError::PeerWrongList);
        }
        let newcomer = self.members.is_empty() && kind != Kind::KeyUpdate && self.pending.is_none();
        if !newcomer && Some(token.epoch) != self.epoch.checked_add(1) {
            return Err(AgreementError::PeerWrongEpoch);
        }
        Ok(())
    }

    /// Adopts the numbering of a group that this party is coming into.
    pub(super) fn adopt_epoch(&mut self, token: &Token) {
        self.epoch = token.epoch.saturating_sub(1);
    }

    pub(super) fn token(&self, kind: Kind, members: &[Party], values: &[G::Element]) -> Token {
        let values = values.iter().map(|value| Blob::from(G::encode(value))).collect();
        Token { kind, epoch: self.epoch.saturating_add(1), members: members.to_vec(), values }
    }

    /// The list that ends an operation: the partial keys of all of `members` but the last, which is
    /// this party.
    pub(super) fn key_update(&self, members: &[Party]) -> Result<Token, AgreementError> {
        let (_, others) = members.split_last().ok_or(AgreementError::LocalMembers)?;
        let mut values = Vec::with_capacity(others.len());
        for member in others {
            values.push(*self.partials.get(member).ok_or(AgreementError::LocalNotReady)?);
        }
        Ok(self.token(Kind::KeyUpdate, members, &values))
    }

    pub(super) fn is_controller(&self) -> bool {
        self.members.last() == Some(&self.me)
    }

    /// Draws a fresh share in place of the old one and puts it into every partial key but this
    /// party's own.
    pub(super) fn renew(&mut self, entropy: &mut dyn Entropy) -> Result<(), AgreementError> {
        let old = self.share.as_ref().ok_or(AgreementError::LocalNotReady)?;
        let fresh = Zeroizing::new(G::draw(entropy));
        let exchange = Zeroizing::new(G::times(*fresh, invert::<G>(old)));
        self.count.inversions = self.count.inversions.saturating_add(1);
        let mut partials = core::mem::take(&mut self.partials);
        for (member, partial) in &mut partials {
            if *member != self.me {
                *partial = self.raise(partial, &exchange);
            }
        }
        self.partials = partials;
        self.share = Some(fresh);
        Ok(())
    }

    pub(super) fn raise(&mut self, element: &G::Element, scalar: &G::Scalar) -> G::Element {
        self.count.exponentiations = self.count.exponentiations.saturating_add(1);
        G::raise(element, scalar)
    }
}

impl<G: PrimeGroup> Drop for Context<G> {
    fn drop(&mut self) {
        for partial in self.partials.values_mut() {
            partial.zeroize();
        }
    }
}

/// Refuses an empty list, and one that names somebody twice.
pub(super) fn distinct(members: &[Party]) -> Result<(), AgreementError> {
    let set: BTreeSet<_> = members.iter().collect();
    if members.is_empty() || set.len() != members.len() {
        return Err(AgreementError::LocalMembers);
    }
    Ok(())
}

/// Decodes all values.
pub(super) fn elements<G: PrimeGroup>(values: &[Blob]) -> Result<Vec<G::Element>, AgreementError> {
    values.iter().map(|value| element::<G>(value.as_ref())).collect()
}
