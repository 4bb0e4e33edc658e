//! One entry of the transcript: its bytes, its name, and what its author signs.
//!
//! ```text
//! author -> everyone   Entry   version(1) group(32) parents(32 each, sorted) author(32) kind(1) body signature(64)
//!
//! EntryId   = SHA-256 of these bytes, all of them
//! signature = ECDSA over "folkmoot entry v1" ‖ group ‖ these bytes without the signature
//! ```
//! Kinds: 1 Genesis, 2 Admit, 3 Expire, 4 Decide (1 Remove, 2 ChangeCharter, 3 Electorate; 4
//! Forced, one of them), 5 Refuse, 6 RefuseCsr. Genesis has no parents, no author and no signature
//! of its own: its charter carries the founders' signatures.

use super::{Decision, EntryError};
use crate::{Slot, VoteProof};
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, EntryId, GroupId, MemberId, SignatureBytes, UnixTime, digest, limits};

/// Most heads that one entry names. More are joined by several entries, one after another.
pub const PARENTS_MAX: usize = 256;
/// The domain label of an entry's signature (DECISIONS N4).
pub const ENTRY_LABEL: &[u8] = b"folkmoot entry v1";

/// The votes under a decision: of which electorate, in which ballot, and whose.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct DecisionVotes {
    /// The electorate's serial that this decision uses up, and which attempt at it.
    pub slot: Slot,
    /// The approving votes, sorted by voter, each voter once.
    pub votes: Vec<VoteProof>,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Body {
    /// The group begins: the charter, signed by its founders (CMS, DER). Admits the founders.
    #[tls_codec(discriminant = 1)]
    Genesis {
        /// CMS SignedData.
        charter: Blob,
    },
    /// A certificate with its votes makes its holder a member.
    #[tls_codec(discriminant = 2)]
    Admit {
        /// X.509, DER.
        certificate: Blob,
    },
    /// A member's certificate has run out.
    #[tls_codec(discriminant = 3)]
    Expire {
        /// The member.
        member: MemberId,
        /// Which of its admissions.
        admission: EntryId,
        /// The time that the author gives; at or past the certificate's end.
        time: UnixTime,
    },
    /// The voters decide.
    #[tls_codec(discriminant = 4)]
    Decide {
        /// The decision.
        decision: Decision,
        /// The votes for it.
        votes: DecisionVotes,
    },
    /// So many voters object to a request that it is refused for good.
    #[tls_codec(discriminant = 5)]
    Refuse {
        /// The request's digest.
        request: Digest,
        /// The rejecting votes, sorted by voter, each voter once.
        votes: Vec<VoteProof>,
    },
    /// The same for a request by CSR: no certificate that is proposed for that CSR later admits
    /// anybody.
    #[tls_codec(discriminant = 6)]
    RefuseCsr {
        /// The whole request: it determines what is refused.
        request: Blob,
        /// The rejecting votes, sorted by voter, each voter once.
        votes: Vec<VoteProof>,
    },
}

/// One entry, decoded; only [`super::Transcript::append`] says whether it stands.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Entry {
    /// Which group's transcript.
    pub group: GroupId,
    /// All heads its author knew, sorted, each once.
    pub parents: Vec<EntryId>,
    /// Who wrote it.
    pub author: MemberId,
    /// What it says.
    pub body: Body,
    /// The author's signature.
    pub signature: SignatureBytes,
}

impl Entry {
    /// The first entry of a group. It follows from the signed charter alone, so it is equal at
    /// every founder.
    pub fn genesis(group: GroupId, charter: &[u8]) -> Self {
        Self {
            group,
            parents: Vec::new(),
            author: MemberId([0; 32]),
            body: Body::Genesis { charter: Blob(Bytes::copy_from_slice(charter)) },
            signature: SignatureBytes::NONE,
        }
    }

    /// Its bytes.
    pub fn encode(&self) -> Bytes {
        codec::encode(self).into()
    }

    /// Reads an entry: its form, not its truth.
    ///
    /// # Errors
    /// `TRN-01` too long or malformed; `TRN-02` parents unsorted, repeated or too many.
    pub fn decode(bytes: &[u8]) -> Result<Self, EntryError> {
        if bytes.len() > limits::ENTRY_BYTES_MAX {
            return Err(EntryError::WireTooLong(bytes.len()));
        }
        let entry: Self = codec::decode(bytes)?;
        let sorted = entry.parents.is_sorted_by(|a, b| a < b);
        if !sorted || entry.parents.len() > PARENTS_MAX {
            return Err(EntryError::WireParents);
        }
        Ok(entry)
    }

    /// The name of the entry with these bytes.
    pub fn id_of(bytes: &[u8]) -> EntryId {
        EntryId(digest(&[bytes]))
    }

    /// What the author signs, without label and group: the encoding up to the signature.
    pub fn signed_part(&self) -> Vec<u8> {
        let mut bytes = codec::encode(self);
        let signature = tls_codec::Size::tls_serialized_len(&self.signature);
        bytes.truncate(bytes.len().saturating_sub(signature));
        bytes
    }
}
