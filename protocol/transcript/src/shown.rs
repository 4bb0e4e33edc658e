//! What a member shows of itself when it signs a message, and whether somebody who signed one is,
//! or was, a member.

use crate::Transcript;
use folkmoot_base::{GroupName, MemberId};
use folkmoot_identity::{Gmc, MessageError, SignedMessage, SignerCertificate};

impl Transcript {
    /// The certificate by which `member` is, or was, a member, and which it shows when it signs.
    /// None if the group has none of this member.
    pub fn shown_by(&self, member: &MemberId) -> Option<SignerCertificate> {
        if let Some(der) = self.certificate_of(member) {
            return Gmc::from_der(&der).ok().map(|gmc| SignerCertificate::Admitted(Box::new(gmc)));
        }
        let mut founders = self.signed_charter().certificates();
        let founder = founders.find(|one| one.member() == *member)?;
        Some(SignerCertificate::Founder(Box::new(founder.clone())))
    }

    /// Whether the sender of a message is, or was, a member, as far as that is remembered: nobody
    /// but a member can be expelled or have another key, so the line shows that too. `named` is the
    /// group under the charter's in which it was said; none for the charter's own.
    ///
    /// # Errors
    /// [`MessageError::PeerOtherGroup`], [`MessageError::PeerNotMember`].
    pub fn check_sender(
        &self,
        message: &SignedMessage,
        named: Option<&GroupName>,
    ) -> Result<(), MessageError> {
        message.check_group(self.group(), named)?;
        let sender = message.stamp().sender;
        let state = self.state();
        let known = self.roster().key_of(&sender.member).is_some()
            || state.removed_at(&sender.member) > 0
            || state.replaced().contains_key(&sender.member);
        if known { Ok(()) } else { Err(MessageError::PeerNotMember(sender.member)) }
    }
}
