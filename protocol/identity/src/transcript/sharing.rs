//! The group's own key: whether a sharing of it stands, and whether a certificate that it has
//! signed does. `TRN-50` to `TRN-53`.

use super::EntryError;
use crate::authority::{AuthorityCertificate, common};
use crate::roster::{Roster, SharedKey};
use crate::{CertificateError, Gmc};
use bytes::Bytes;
use folkmoot_base::Digest;
use folkmoot_signing::Mode;
use folkmoot_signing::shared::{self, SharingFacts};

/// `TRN-50`, `TRN-51`: a sharing by the charter's scheme and threshold, among members, of the
/// existing key if there is one, with that key's certificate.
pub(super) fn sharing(public: &Bytes, authority: &Bytes, past: &Roster) -> Result<SharedKey, EntryError> {
    let refuse = |what| Err(EntryError::PeerSharing(what));
    let scheme = past.charter().scheme();
    let Ok(facts) = shared::facts(scheme, public) else {
        return refuse("its scheme is not the charter's");
    };
    if facts.threshold != past.threshold() {
        return refuse("its threshold is not the charter's");
    }
    if !facts.holders.iter().all(|holder| past.may_vote(holder)) {
        return refuse("it gives a share to somebody who has no vote");
    }
    if facts.holders.len() < scheme.signers(facts.threshold) {
        return refuse("it has fewer holders than it takes signers");
    }
    check_key(&facts, public, authority, past)?;
    Ok(SharedKey { facts, public: public.clone(), authority: authority.clone() })
}

fn check_key(
    facts: &SharingFacts,
    public: &Bytes,
    authority: &Bytes,
    past: &Roster,
) -> Result<(), EntryError> {
    let refuse = |what| Err(EntryError::PeerSharing(what));
    match past.sharing() {
        Some(now) if now.facts.key != facts.key => return refuse("its key is not the group's"),
        Some(now) if now.authority != *authority => {
            return refuse("its certificate of the group's key is not the present one");
        }
        // Not compared by the share-epoch: if one share is the key, the commitments are only the
        // key, whoever holds it.
        Some(now) if now.public == *public => return refuse("it is the present one"),
        Some(_) | None => {}
    }
    if past.charter().mode() == Mode::Centralised {
        let none = authority.is_empty();
        return if none {
            Ok(())
        } else {
            refuse("with an authority, the group's key signs no certificates")
        };
    }
    let certificate = AuthorityCertificate::from_der(authority).map_err(EntryError::PeerCertificate)?;
    if *certificate.key() != facts.key || certificate.name() != common(past.charter().name().as_str()) {
        return refuse("its certificate is of another key or group");
    }
    Ok(())
}

/// `TRN-52`, `TRN-53`: the group's key has signed, under the present sharing, and those who left
/// cannot have signed.
pub(super) fn issued(certificate: &Gmc, past: &Roster, lax: bool) -> Result<(), EntryError> {
    certificate.body().check_charter(past.charter()).map_err(EntryError::PeerCertificate)?;
    let sharing = present(certificate.issued(), certificate, past, lax)?;
    certificate.check_issued(&sharing.facts.key).map_err(EntryError::PeerCertificate)
}

/// `TRN-57`: if an authority signs certificates of a group that has a key, that key has signed the
/// request, as in `TRN-52` and `TRN-53`.
pub(super) fn combined(certificate: &Gmc, past: &Roster, lax: bool) -> Result<(), EntryError> {
    let epoch = certificate.combined().map(|combined| combined.epoch);
    let sharing = present(epoch, certificate, past, lax)?;
    certificate.check_combined(&sharing.facts.key).map_err(EntryError::PeerCertificate)
}

/// The present sharing, if the certificate is under its epoch and those who left cannot have
/// signed.
fn present<'a>(
    epoch: Option<Digest>,
    certificate: &Gmc,
    past: &'a Roster,
    lax: bool,
) -> Result<&'a SharedKey, EntryError> {
    let Some(sharing) = past.sharing() else {
        return Err(EntryError::PeerCertificate(CertificateError::PeerGroupKey));
    };
    if epoch != Some(sharing.facts.epoch) && !lax {
        return Err(EntryError::PeerShareEpoch(certificate.member()));
    }
    let leavers = past.leavers_with_shares().len();
    if leavers >= sharing.facts.threshold {
        return Err(EntryError::PeerSharesStale { leavers, threshold: sharing.facts.threshold });
    }
    Ok(sharing)
}
