//! The certificate that this node shows on its links: the group's certificate if it has one,
//! otherwise its identity certificate.

use folkmoot_identity::transcript::Transcript;
use folkmoot_identity::{Gmc, Identity};
use folkmoot_link::IdentityCredentials;

/// Key and certificate according to this transcript.
pub(crate) fn own(identity: &Identity, transcript: &Transcript) -> IdentityCredentials {
    let admission = transcript.roster().member(&identity.member());
    let certificate = admission.and_then(|admission| admission.certificate.as_ref());
    let gmc = certificate.and_then(|der| Gmc::from_der(der).ok());
    gmc.and_then(|gmc| IdentityCredentials::with_gmc(identity.clone(), &gmc))
        .unwrap_or_else(|| IdentityCredentials::new(identity.clone()))
}
