//! The certificate that this node shows on its links: the group's certificate if it has one,
//! otherwise its identity certificate.

use folkmoot_identity::{Gmc, Identity};
use folkmoot_link::IdentityCredentials;
use folkmoot_link::limits::CERTIFICATE_BYTES_MAX;
use folkmoot_transcript::Transcript;

/// Key and certificate according to this transcript. A certificate with so many votes that no link
/// carries it is not shown: the roster decides who is a member, whatever a link shows.
pub(crate) fn own(identity: &Identity, transcript: &Transcript) -> IdentityCredentials {
    let member = identity.member();
    let certificate = transcript.certificate_of(&member).filter(|_| transcript.roster().is_member(&member));
    let certificate = certificate.filter(|der| der.len() <= CERTIFICATE_BYTES_MAX);
    let gmc = certificate.and_then(|der| Gmc::from_der(&der).ok());
    gmc.and_then(|gmc| IdentityCredentials::with_gmc(identity.clone(), &gmc))
        .unwrap_or_else(|| IdentityCredentials::new(identity.clone()))
}
