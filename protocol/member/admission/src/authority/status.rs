//! The state of an authority, for people: `folkmoot authority status`.

use super::beat::MISSED_MAX;
use super::machine::Authority;
use crate::at_authority::HEARTBEAT;
use core::time::Duration;
use folkmoot_base::{Digest, MemberId, NodeId, UnixTime};
use folkmoot_identity::{AuthorityCertificate, RevocationList};

/// What a dealer still has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DealerState {
    /// The scheme has no shares.
    NoShares,
    /// It has the secret, and nobody has a share yet.
    ToBeDealt,
    /// It keeps the secret, to deal again.
    Keeps,
    /// Nothing: the shares are the members'.
    Erased,
}

/// A member that was heard lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// Who.
    pub member: MemberId,
    /// How long ago it was heard.
    pub age: Duration,
    /// Members in its view of the group; 0 outside one.
    pub sees: u32,
}

/// A request that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetitionStatus {
    /// Its name for votes.
    pub request: Digest,
    /// Who asks.
    pub member: MemberId,
    /// The name that the stranger asks for.
    pub name: String,
    /// When it closes by itself.
    pub expires: UnixTime,
    /// What the person said: yes, and the record is on its way through the log; no; or nothing yet.
    pub verdict: Option<bool>,
    /// The term asked for.
    pub term: (UnixTime, UnixTime),
}

/// The whole state of an authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityStatus {
    /// The certificate of the key that signs.
    pub certificate: AuthorityCertificate,
    /// Members by the transcript.
    pub members: usize,
    /// Those whose heartbeat is no older than three periods, sorted.
    pub present: Vec<Presence>,
    /// Requests that wait for a person, sorted by name for votes.
    pub petitions: Vec<PetitionStatus>,
    /// Certificates issued, ever.
    pub issued: usize,
    /// Records on their way through the log.
    pub logging: usize,
    /// What the dealer has.
    pub dealer: DealerState,
    /// How many lost shares it has said again since it started.
    pub again: u32,
    /// Members that it is linked with, sorted.
    pub linked: Vec<NodeId>,
}

impl Authority {
    /// The state, as of the input before.
    pub fn status(&self) -> AuthorityStatus {
        let fresh = HEARTBEAT.saturating_mul(MISSED_MAX);
        let present = self.beats.iter().map(|(member, beat)| Presence {
            member: *member,
            age: self.now.since(beat.heard),
            sees: beat.present,
        });
        let petitions = self.petitions.iter().map(|(digest, petition)| {
            let body = petition.request.body();
            PetitionStatus {
                request: *digest,
                member: petition.request.member(),
                name: body.name.clone(),
                expires: petition.expires,
                verdict: petition.verdict,
                term: (body.not_before, body.not_after),
            }
        });
        AuthorityStatus {
            certificate: self.office.certificate.clone(),
            members: self.members,
            present: present.filter(|presence| presence.age <= fresh).collect(),
            petitions: petitions.collect(),
            issued: self.issued.len(),
            logging: self.logging.len(),
            dealer: self.dealer_state(),
            again: self.again,
            linked: self.links.nodes().copied().collect(),
        }
    }

    /// The newest revocation list that it made; `None` if nobody was expelled to whom it had issued
    /// a certificate.
    pub fn revocations(&self) -> Option<&RevocationList> {
        self.lists.newest.as_ref()
    }

    fn dealer_state(&self) -> DealerState {
        match (self.deals, self.office.secret.is_some(), self.shared) {
            (false, ..) => DealerState::NoShares,
            (true, true, false) => DealerState::ToBeDealt,
            (true, true, true) => DealerState::Keeps,
            (true, false, _) => DealerState::Erased,
        }
    }
}
