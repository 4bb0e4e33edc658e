//! LEAVE of one or many, and REFRESH: one broadcast.

use crate::base::{Entropy, Party};
use crate::gdh::context::Context;
use crate::gdh::token::Token;
use crate::{AgreementError, PrimeGroup};
use zeroize::Zeroize as _;

impl<G: PrimeGroup> Context<G> {
    /// Every remaining party on LEAVE (clq_leave): forgets the leavers' partial keys. The last of
    /// the remaining is the controller: it renews its share and gets the token. With n counting one
    /// leaver: n − 2 exponentiations there.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] if this party or nobody of the group is to leave, or
    /// somebody unknown.
    pub fn leave(
        &mut self,
        leavers: &[Party],
        entropy: &mut dyn Entropy,
    ) -> Result<Option<Token>, AgreementError> {
        if leavers.is_empty() || leavers.iter().any(|gone| *gone == self.me || !self.members.contains(gone)) {
            return Err(AgreementError::LocalMembers);
        }
        let remaining: Vec<_> =
            self.members.iter().copied().filter(|member| !leavers.contains(member)).collect();
        self.remain(&remaining);
        if self.is_controller() { self.refresh(entropy).map(Some) } else { Ok(None) }
    }

    /// Forgets everybody who is not in `remaining`, and computes nothing (clq_leave, told only to
    /// remove).
    pub(super) fn remain(&mut self, remaining: &[Party]) {
        self.members.retain(|member| remaining.contains(member));
        for (member, partial) in &mut self.partials {
            if !remaining.contains(member) {
                partial.zeroize();
            }
        }
        self.partials.retain(|member, _| remaining.contains(member));
        self.key = None;
    }

    /// The controller alone (clq_refresh_key): LEAVE of nobody.
    ///
    /// # Errors
    /// [`AgreementError::LocalNotController`].
    pub fn refresh(&mut self, entropy: &mut dyn Entropy) -> Result<Token, AgreementError> {
        if !self.is_controller() {
            return Err(AgreementError::LocalNotController);
        }
        self.renew(entropy)?;
        self.key_update(&self.members)
    }
}
