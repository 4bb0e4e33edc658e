//! MERGE of several newcomers. IKA.2 is the same with the first party in the controller's place.

use crate::base::{Entropy, Party};
use crate::gdh::context::{Context, Pending, distinct};
use crate::gdh::token::{Kind, Token};
use crate::prime::{element, invert};
use crate::{AgreementError, PrimeGroup};
use zeroize::Zeroizing;

impl<G: PrimeGroup> Context<G> {
    /// The controller on MERGE (clq_update_key): the key under a fresh share, for the first
    /// newcomer. One exponentiation. Names already in the group are passed over.
    ///
    /// # Errors
    /// [`AgreementError::LocalNotController`]; [`AgreementError::LocalMembers`] if nobody is new.
    pub fn merge_start(
        &mut self,
        newcomers: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        if !self.is_controller() {
            return Err(AgreementError::LocalNotController);
        }
        let members = self.merged(newcomers)?;
        let mine = *self.partials.get(&self.me).ok_or(AgreementError::LocalNotReady)?;
        let share = Zeroizing::new(G::draw(entropy));
        let value = self.raise(&mine, &share);
        self.share = Some(share);
        let mut pending = Pending::new(members.clone());
        pending.passed = Some((mine, value));
        self.pending = Some(pending);
        Ok(self.token(Kind::MassJoin, &members, &[value]))
    }

    /// Every other old party on MERGE: notes who is coming.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] if nobody is new.
    pub fn merge_expect(&mut self, newcomers: &[Party]) -> Result<(), AgreementError> {
        self.pending = Some(Pending::new(self.merged(newcomers)?));
        Ok(())
    }

    fn merged(&self, newcomers: &[Party]) -> Result<Vec<Party>, AgreementError> {
        let mut members = self.members.clone();
        members.extend(newcomers.iter().filter(|member| !self.members.contains(member)));
        distinct(&members)?;
        if members.len() == self.members.len() {
            return Err(AgreementError::LocalMembers);
        }
        Ok(members)
    }

    /// A newcomer on MASS_JOIN (clq_update_key): adds its share and passes on, one exponentiation;
    /// the last does not add it and broadcasts what it got.
    ///
    /// # Errors
    /// Every `Peer…` reason; the context stays as it was.
    pub fn mass_join(
        &mut self,
        from: Party,
        token: &Token,
        members: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        self.check(token, Kind::MassJoin, members)?;
        let place = self.follows(from, members)?;
        let value = one::<G>(token)?;
        self.adopt_epoch(token);
        let share = Zeroizing::new(G::draw(entropy));
        let mut pending = Pending::new(members.to_vec());
        let answer = if place.saturating_add(1) == members.len() {
            self.partials.insert(self.me, value);
            self.token(Kind::MergeBroadcast, members, &[value])
        } else {
            let raised = self.raise(&value, &share);
            pending.passed = Some((value, raised));
            self.token(Kind::MassJoin, members, &[raised])
        };
        self.share = Some(share);
        self.pending = Some(pending);
        Ok(answer)
    }

    /// Every party but the last on MERGE_BROADCAST (clq_factor_out): takes its share out again.
    /// One exponentiation and one inversion; nothing for the party before the last, which
    /// remembers what it got.
    ///
    /// # Errors
    /// Every `Peer…` reason; the context stays as it was.
    pub fn factor_out(&mut self, from: Party, token: &Token) -> Result<Token, AgreementError> {
        let pending = self.pending.as_ref().ok_or(AgreementError::LocalNotReady)?;
        let members = pending.members.clone();
        self.check(token, Kind::MergeBroadcast, &members)?;
        if members.last() != Some(&from) || from == self.me {
            return Err(AgreementError::PeerNotController);
        }
        let value = one::<G>(token)?;
        let known = pending.passed.as_ref().filter(|(_, sent)| *sent == value).map(|(got, _)| *got);
        let share = self.share.clone().ok_or(AgreementError::LocalNotReady)?;
        let without = known.unwrap_or_else(|| {
            let inverse = Zeroizing::new(invert::<G>(&share));
            self.count.inversions = self.count.inversions.saturating_add(1);
            self.raise(&value, &inverse)
        });
        self.partials.insert(from, value);
        Ok(self.token(Kind::FactorOut, &members, &[without]))
    }

    /// The last party on each FACTOR_OUT (clq_merge): raises it; when all are in, the list. One
    /// exponentiation each.
    ///
    /// # Errors
    /// Every `Peer…` reason; the context stays as it was.
    pub fn collect(&mut self, from: Party, token: &Token) -> Result<Option<Token>, AgreementError> {
        let pending = self.pending.as_ref().ok_or(AgreementError::LocalNotReady)?;
        let members = pending.members.clone();
        self.check(token, Kind::FactorOut, &members)?;
        if members.last() != Some(&self.me) {
            return Err(AgreementError::LocalNotController);
        }
        let place = members.iter().position(|member| *member == from).ok_or(AgreementError::PeerWrongList)?;
        if from == self.me || pending.collected.contains_key(&from) {
            return Err(AgreementError::PeerRepeated { from: place, step: Kind::FactorOut as u8 });
        }
        let value = one::<G>(token)?;
        let share = self.share.clone().ok_or(AgreementError::LocalNotReady)?;
        let raised = self.raise(&value, &share);
        let pending = self.pending.as_mut().ok_or(AgreementError::LocalNotReady)?;
        pending.collected.insert(from, raised);
        if pending.collected.len().saturating_add(1) < members.len() {
            return Ok(None);
        }
        let collected = core::mem::take(&mut pending.collected);
        self.partials.extend(collected);
        self.key_update(&members).map(Some)
    }
}

fn one<G: PrimeGroup>(token: &Token) -> Result<G::Element, AgreementError> {
    match token.values.as_slice() {
        [value] => element::<G>(value.as_ref()),
        _ => Err(AgreementError::PeerWrongList),
    }
}
