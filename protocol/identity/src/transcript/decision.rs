//! What the voters decide, and how it is named in a vote.

use crate::{Motion, Slot, VoteKind, change_digest};
use folkmoot_base::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, EntryId, GroupId, MemberId, digest};

/// A question that takes a quorum of the electorate (DECISIONS T4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Decision {
    /// Expel a member.
    #[tls_codec(discriminant = 1)]
    Remove {
        /// Whom.
        member: MemberId,
        /// Which admission of it, so that it may be admitted again (DECISIONS T5).
        admission: EntryId,
    },
    /// Change one field of the charter.
    #[tls_codec(discriminant = 2)]
    ChangeCharter {
        /// The field's name, UTF-8.
        field: Blob,
        /// Its new value as the charter writes it, UTF-8.
        value: Blob,
    },
    /// Say who votes from now on.
    #[tls_codec(discriminant = 3)]
    Electorate {
        /// The voters in order; the first decides when exactly half agree.
        voters: Vec<MemberId>,
    },
    /// The members hold shares of the group's key in this way from now on: its first sharing, or a new one of the same key.
    #[tls_codec(discriminant = 5)]
    Sharing {
        /// The public part, as the charter's scheme encodes it.
        public: Blob,
        /// The certificate of the group's key, signed by that key itself (X.509, DER).
        authority: Blob,
    },
}

impl Decision {
    /// A change of one charter field.
    pub fn change(field: &str, value: &str) -> Self {
        let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
        Self::ChangeCharter { field: blob(field), value: blob(value) }
    }

    /// Which kind of vote it takes.
    pub fn kind(&self) -> VoteKind {
        match self {
            Self::Remove { .. } => VoteKind::Remove,
            Self::ChangeCharter { .. } => VoteKind::ChangeCharter,
            Self::Electorate { .. } => VoteKind::Electorate,
            Self::Sharing { .. } => VoteKind::Sharing,
        }
    }

    /// The digest that votes sign. A removal covers member and admission: founders share one admitting entry.
    pub fn subject(&self) -> Digest {
        match self {
            Self::Remove { member, admission } => digest(&[b"folkmoot removal v1", &member.0, &admission.0]),
            Self::ChangeCharter { field, value } => {
                change_digest(&String::from_utf8_lossy(&field.0), &String::from_utf8_lossy(&value.0))
            }
            Self::Electorate { voters } => {
                let mut parts: Vec<&[u8]> = vec![b"folkmoot electorate v1"];
                parts.extend(voters.iter().map(|voter| voter.0.as_slice()));
                digest(&parts)
            }
            Self::Sharing { public, authority } => {
                digest(&[b"folkmoot sharing v1", &digest(&[&public.0]), &digest(&[&authority.0])])
            }
        }
    }

    /// What voters sign for it in one slot, under the charter with this digest.
    pub fn motion(&self, group: GroupId, charter: Digest, slot: Slot) -> Motion {
        Motion { group, charter, kind: self.kind(), subject: self.subject(), slot: Some(slot) }
    }

    /// Its name apart from any slot: kind and subject.
    pub fn digest(&self) -> Digest {
        digest(&[b"folkmoot decision v1", &[self.kind() as u8], &self.subject()])
    }
}
