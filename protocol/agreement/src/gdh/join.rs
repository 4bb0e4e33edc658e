//! JOIN: one newcomer, two rounds.

use crate::base::{Entropy, Party};
use crate::gdh::context::{Context, Pending, distinct, elements};
use crate::gdh::token::{Kind, Token};
use crate::{AgreementError, PrimeGroup};
use zeroize::Zeroizing;

impl<G: PrimeGroup> Context<G> {
    /// The controller on JOIN (clq_proc_join): a fresh share in every partial key, and the key
    /// without the joiner. With n counting the joiner: n − 1 exponentiations.
    ///
    /// # Errors
    /// [`AgreementError::LocalNotController`]; [`AgreementError::LocalMembers`] if `joiner` is in
    /// already.
    pub fn process_join(
        &mut self,
        joiner: Party,
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        if !self.is_controller() {
            return Err(AgreementError::LocalNotController);
        }
        let mut members = self.members.clone();
        members.push(joiner);
        distinct(&members)?;
        let mine = *self.partials.get(&self.me).ok_or(AgreementError::LocalNotReady)?;
        self.renew(entropy)?;
        let share = self.share.clone().ok_or(AgreementError::LocalNotReady)?;
        let mut values = Vec::with_capacity(members.len());
        for member in &self.members {
            values.push(*self.partials.get(member).ok_or(AgreementError::LocalNotReady)?);
        }
        values.push(self.raise(&mine, &share));
        Ok(self.token(Kind::NewMember, &members, &values))
    }

    /// The joiner (clq_join): its share into every partial key. With n counting it: n − 1
    /// exponentiations.
    ///
    /// # Errors
    /// Every `Peer…` reason; the context stays as it was.
    pub fn join(
        &mut self,
        from: Party,
        token: &Token,
        members: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        self.check(token, Kind::NewMember, members)?;
        let place = self.follows(from, members).map_err(|_| AgreementError::PeerNotController)?;
        let values = elements::<G>(&token.values)?;
        let (last, before) = values.split_last().ok_or(AgreementError::PeerWrongList)?;
        if before.len() != place || place.saturating_add(1) != members.len() {
            return Err(AgreementError::PeerWrongList);
        }
        self.adopt_epoch(token);
        let share = Zeroizing::new(G::draw(entropy));
        let raised: Vec<_> = before.iter().map(|value| self.raise(value, &share)).collect();
        self.partials.insert(self.me, *last);
        self.share = Some(share);
        self.pending = Some(Pending::new(members.to_vec()));
        Ok(self.token(Kind::KeyUpdate, members, &raised))
    }

    /// Every other old party on NEW_MEMBER, which it sees because tokens are multicast: notes the
    /// joiner's partial key, so that whoever is controller after the joiner has left holds them
    /// all.
    pub(super) fn note_partial(&mut self, joiner: Party, partial: G::Element) {
        self.partials.insert(joiner, partial);
    }
}
