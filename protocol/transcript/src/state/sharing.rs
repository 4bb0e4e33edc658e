//! Whether a sharing of the group's key may be taken into use.

use super::{State, StateError};
use crate::Unfit;
use bytes::Bytes;
use folkmoot_identity::{AuthorityCertificate, SharedKey, common_name};
use folkmoot_signing::Mode;
use folkmoot_signing::shared::{self, SharingFacts};

impl State {
    /// `LINE-47`: by the charter's scheme and threshold, among voters, of the existing key if there
    /// is one, with that key's certificate.
    pub(super) fn judged_sharing(&self, public: &Bytes, authority: &Bytes) -> Result<SharedKey, Unfit> {
        let refuse = |what| Err(Unfit::Sharing(what));
        let scheme = self.charter.scheme();
        let Ok(facts) = shared::facts(scheme, public) else {
            return refuse("its scheme is not the charter's");
        };
        if facts.threshold != self.threshold() {
            return refuse("its threshold is not the charter's");
        }
        if !facts.holders.iter().all(|holder| self.may_vote(holder)) {
            return refuse("it gives a share to somebody who has no vote");
        }
        if facts.holders.len() < scheme.signers(facts.threshold) {
            return refuse("it has fewer holders than it takes signers");
        }
        self.check_key(&facts, public, authority)?;
        Ok(SharedKey { facts, public: public.clone(), authority: authority.clone() })
    }

    /// The sharing that a state holds: it was judged when it was taken into use.
    pub(super) fn decoded_sharing(&self, public: &Bytes, authority: &Bytes) -> Result<SharedKey, StateError> {
        let facts = shared::facts(self.charter.scheme(), public).map_err(|_| StateError::Value("sharing"))?;
        Ok(SharedKey { facts, public: public.clone(), authority: authority.clone() })
    }

    fn check_key(&self, facts: &SharingFacts, public: &Bytes, authority: &Bytes) -> Result<(), Unfit> {
        let refuse = |what| Err(Unfit::Sharing(what));
        match &self.sharing {
            Some(now) if now.facts.key != facts.key => return refuse("its key is not the group's"),
            Some(now) if now.authority != *authority => {
                return refuse("its certificate of the group's key is not the present one");
            }
            // Not compared by the share-epoch: if one share is the key, the commitments are only
            // the key, whoever holds it.
            Some(now) if now.public == *public => return refuse("it is the present one"),
            Some(_) | None => {}
        }
        if self.charter.mode() == Mode::Centralised {
            let none = authority.is_empty();
            return if none {
                Ok(())
            } else {
                refuse("with an authority, the group's key signs no certificates")
            };
        }
        let certificate = AuthorityCertificate::from_der(authority).map_err(Unfit::Certificate)?;
        let name = common_name(self.charter.name().as_str());
        if *certificate.key() != facts.key || certificate.name() != name {
            return refuse("its certificate is of another key or group");
        }
        Ok(())
    }
}
