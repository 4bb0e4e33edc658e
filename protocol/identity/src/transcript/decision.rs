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
        /// The member.
        member: MemberId,
        /// Which of its admissions, so that it may be admitted again (DECISIONS T5).
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
    /// The members hold shares of the group's key in this way from now on: its first sharing, or a
    /// new one of the same key.
    #[tls_codec(discriminant = 5)]
    Sharing {
        /// The public part, as the charter's scheme encodes it.
        public: Blob,
        /// The certificate of the group's key, signed by that key itself (X.509, DER).
        authority: Blob,
    },
    /// One of the others, to be carried out although it leaves voters who can no longer reach the
    /// threshold or satisfy a rule (`TRN-26`). The votes cover this.
    #[tls_codec(discriminant = 4)]
    Forced(Plain),
}

/// A decision that is not forced, so that a forced decision cannot be forced again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plain(Box<Decision>);

/// First byte of a forced decision.
const FORCED: u8 = 4;

impl tls_codec::Size for Plain {
    fn tls_serialized_len(&self) -> usize {
        self.0.tls_serialized_len()
    }
}

impl tls_codec::Serialize for Plain {
    fn tls_serialize<W: std::io::Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        self.0.tls_serialize(writer)
    }
}

impl tls_codec::DeserializeBytes for Plain {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        // Checked before anything is read: there is only one level of nesting.
        if bytes.first() == Some(&FORCED) {
            return Err(tls_codec::Error::DecodingError("forced twice".into()));
        }
        let (decision, rest) = Decision::tls_deserialize_bytes(bytes)?;
        Ok((Self(Box::new(decision)), rest))
    }
}

impl Decision {
    /// The same, to be carried out even if it leaves voters who can no longer do something.
    #[must_use]
    pub fn forced(self) -> Self {
        match self {
            Self::Forced(_) => self,
            plain => Self::Forced(Plain(Box::new(plain))),
        }
    }

    /// What it does, forced or not.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Forced(plain) => &plain.0,
            plain => plain,
        }
    }

    /// Whether it is forced.
    pub(crate) fn is_forced(&self) -> bool {
        matches!(self, Self::Forced(_))
    }

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
            Self::Forced(plain) => plain.0.kind(),
        }
    }

    /// The digest that votes sign. A removal covers member and admission: founders share one
    /// admitting entry.
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
            Self::Forced(plain) => digest(&[b"folkmoot forced v1", &plain.0.subject()]),
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
