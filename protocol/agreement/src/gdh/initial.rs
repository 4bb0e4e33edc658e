//! Initial key agreement: IKA.1 (GDH.2) here; IKA.2 (GDH.3) begins here and goes on as a merge.

use crate::base::{Entropy, Party};
use crate::gdh::context::{Context, Pending, distinct, elements};
use crate::gdh::token::{Kind, Token};
use crate::{AgreementError, PrimeGroup};
use zeroize::Zeroizing;

impl<G: PrimeGroup> Context<G> {
    /// IKA.1, first party: `(g, g^N1)`. One exponentiation.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] unless this party is the first of at least two.
    pub fn upflow_first(
        &mut self,
        members: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        let value = self.begin(members, entropy)?;
        Ok(self.token(Kind::Upflow, members, &[G::generator(), value]))
    }

    /// IKA.1, every other party: raises what its predecessor sent, passes it on; the last
    /// broadcasts the list instead. Party i: i exponentiations; the last: n − 1.
    ///
    /// # Errors
    /// Every `Peer…` reason; the context stays as it was.
    pub fn upflow(
        &mut self,
        from: Party,
        token: &Token,
        members: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        self.check(token, Kind::Upflow, members)?;
        let place = self.follows(from, members)?;
        let values = elements::<G>(&token.values)?;
        let (cardinal, before) = values.split_last().ok_or(AgreementError::PeerWrongList)?;
        if before.len() != place {
            return Err(AgreementError::PeerWrongList);
        }
        self.adopt_epoch(token);
        let share = Zeroizing::new(G::draw(entropy));
        let mut raised: Vec<_> = before.iter().map(|value| self.raise(value, &share)).collect();
        let last = place.saturating_add(1) == members.len();
        let answer = if last {
            self.token(Kind::KeyUpdate, members, &raised)
        } else {
            raised.push(*cardinal);
            raised.push(self.raise(cardinal, &share));
            self.token(Kind::Upflow, members, &raised)
        };
        self.partials.insert(self.me, *cardinal);
        self.pending = Some(Pending::new(members.to_vec()));
        self.share = Some(share);
        Ok(answer)
    }

    /// IKA.2, first party: `g^N1`. One exponentiation. Goes on as a merge.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] unless this party is the first of at least two.
    pub fn mass_join_first(
        &mut self,
        members: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Token, AgreementError> {
        let value = self.begin(members, entropy)?;
        Ok(self.token(Kind::MassJoin, members, &[value]))
    }

    fn begin(&mut self, members: &[Party], entropy: &mut dyn Entropy) -> Result<G::Element, AgreementError> {
        distinct(members)?;
        if members.len() < 2 || members.first() != Some(&self.me) {
            return Err(AgreementError::LocalMembers);
        }
        let share = Zeroizing::new(G::draw(entropy));
        let value = self.raise(&G::generator(), &share);
        self.share = Some(share);
        let mut pending = Pending::new(members.to_vec());
        pending.passed = Some((G::generator(), value));
        self.pending = Some(pending);
        Ok(value)
    }

    /// This party's place, if `from` is the one before it.
    pub(super) fn follows(&self, from: Party, members: &[Party]) -> Result<usize, AgreementError> {
        let place =
            members.iter().position(|member| *member == self.me).ok_or(AgreementError::LocalMembers)?;
        let before = place.checked_sub(1).and_then(|before| members.get(before));
        if before == Some(&from) {
            return Ok(place);
        }
        let from = members.iter().position(|member| *member == from).unwrap_or(usize::MAX);
        Err(AgreementError::PeerOutOfTurn { from, step: Kind::MassJoin as u8 })
    }
}
