//! The group's part of a certificate: an extension of X.509.
//!
//! ```text
//! Membership ::= SEQUENCE {                          -- extension 1.3.6.1.4.1.59999.1.1, not critical for OpenSSL's sake,
//!   version INTEGER (2),                             -- required by us
//!   groupName UTF8String, groupId OCTET STRING (32), scheme ENUMERATED, mode ENUMERATED,
//!   thresholdAtIssue INTEGER, groupSizeAtIssue INTEGER, base Base, nonce OCTET STRING (16),
//!   votes [0] EXPLICIT SEQUENCE OF SEQUENCE { voter OCTET STRING (32), base Base, turn INTEGER, expires INTEGER,
//!                                  algorithm ENUMERATED, signature OCTET STRING }
//!         OPTIONAL,
//!   issued [1] EXPLICIT OCTET STRING (32) OPTIONAL,  -- the share-epoch of the group's key, which has signed
//!   multi [2] EXPLICIT Multi OPTIONAL,               -- a multisignature of the voters (multi.rs)
//!   combined [3] EXPLICIT Combined OPTIONAL,         -- the group's key on the request, where an authority signs the certificate }
//! Base ::= SEQUENCE { number INTEGER, digest OCTET STRING (32) }
//! Combined ::= SEQUENCE { epoch OCTET STRING (32), signature OCTET STRING }
//! ```
//! None of votes, issued, multi and combined: a founder, who rests on the charter (N1). Never two
//! of them.

use crate::{Multi, VoteProof};
use bytes::Bytes;
use der::asn1::OctetString;
use der::{Decode, Encode, Enumerated, Sequence};
use folkmoot_base::{Algorithm, Digest, GroupId, GroupName, Head, MemberId, SignatureBytes, UnixTime};
use folkmoot_signing::{Mode, Scheme, Signature};

/// Most votes in one certificate.
pub const VOTES_MAX: usize = 256;

/// The group's part of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The group's name.
    pub group_name: GroupName,
    /// The group.
    pub group: GroupId,
    /// How the group signs.
    pub scheme: Scheme,
    /// Who issues.
    pub mode: Mode,
    /// Votes needed when this was proposed.
    pub threshold: u32,
    /// Members when this was proposed, as far as the proposer knew.
    pub group_size: u32,
    /// The last decision that whoever proposed this knew.
    pub base: Head,
    /// Drawn by the holder.
    pub nonce: [u8; 16],
    /// The votes, sorted by voter, each once; `None` for a founder, and if the group's key or a
    /// multisignature stands in their place.
    pub votes: Option<Vec<VoteProof>>,
    /// If the group's key signs: under which sharing of it (its share-epoch, DECISIONS N3).
    pub issued: Option<Digest>,
    /// If voters make one signature: that multisignature.
    pub multi: Option<Multi>,
    /// If the group's key signs what an authority then certifies: that signature.
    pub combined: Option<Combined>,
}

/// Longest signature of a group's key, in bytes: RSA of 4,096 bits.
pub const COMBINED_BYTES_MAX: usize = 512;

/// A signature of the group's key on a request: what [`crate::GmcBody::combined_message`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combined {
    /// The sharing of the key that made it (its share-epoch).
    pub epoch: Digest,
    /// In the form of the key's kind, at most [`COMBINED_BYTES_MAX`] bytes.
    pub signature: Vec<u8>,
}

/// [`Scheme`] as it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumerated)]
#[repr(u8)]
enum SchemeDer {
    Plain = 1,
    TsRsa = 2,
    Shoup = 3,
    TsDsa = 4,
    Asm = 5,
    Frost = 6,
}

/// [`Mode`] as it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumerated)]
#[repr(u8)]
enum ModeDer {
    Decentralised = 1,
    Centralised = 2,
}

/// [`Algorithm`] as it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enumerated)]
#[repr(u8)]
enum AlgorithmDer {
    P256 = 1,
    Ed25519 = 2,
    Rsa = 3,
}

#[derive(Sequence)]
struct MembershipDer {
    version: u8,
    group_name: String,
    group: OctetString,
    scheme: SchemeDer,
    mode: ModeDer,
    threshold: u32,
    group_size: u32,
    base: BaseDer,
    nonce: OctetString,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    votes: Option<Vec<VoteDer>>,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    issued: Option<OctetString>,
    #[asn1(context_specific = "2", tag_mode = "EXPLICIT", optional = "true")]
    multi: Option<MultiDer>,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT", optional = "true")]
    combined: Option<CombinedDer>,
}

#[derive(Sequence)]
struct CombinedDer {
    epoch: OctetString,
    signature: OctetString,
}

#[derive(Sequence)]
struct BaseDer {
    number: u64,
    digest: OctetString,
}

impl BaseDer {
    fn of(base: Head) -> Result<Self, ()> {
        Ok(Self { number: base.number, digest: OctetString::new(base.digest.as_slice()).map_err(|_| ())? })
    }

    fn decode(&self) -> Option<Head> {
        Some(Head { number: self.number, digest: self.digest.as_bytes().try_into().ok()? })
    }
}

#[derive(Sequence)]
struct MultiDer {
    base: BaseDer,
    turn: u32,
    expires: u64,
    signature: OctetString,
}

#[derive(Sequence)]
struct VoteDer {
    voter: OctetString,
    base: BaseDer,
    turn: u32,
    expires: u64,
    algorithm: AlgorithmDer,
    signature: OctetString,
}

impl Membership {
    /// Whether it rests on the charter alone: no votes, no key and no multisignature.
    pub(crate) fn is_founders(&self) -> bool {
        self.authorities() == 0
    }

    /// Whether the charter's authority must have signed the certificate.
    pub(crate) fn is_by_authority(&self) -> bool {
        self.mode == Mode::Centralised && !self.is_founders()
    }

    /// The same without grounds: no votes, as in a request.
    pub(crate) fn proposed(&self) -> Self {
        Self { votes: Some(Vec::new()), issued: None, multi: None, combined: None, ..self.clone() }
    }

    /// How many kinds of grounds it rests on.
    fn authorities(&self) -> usize {
        let there =
            [self.votes.is_some(), self.issued.is_some(), self.multi.is_some(), self.combined.is_some()];
        there.into_iter().filter(|there| *there).count()
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, ()> {
        let octets = |bytes: &[u8]| OctetString::new(bytes).map_err(|_| ());
        let votes = self.votes.as_ref().map(|votes| {
            let one = |vote: &VoteProof| {
                let signature = vote.signature.to_wire();
                Ok(VoteDer {
                    voter: octets(&vote.voter.0)?,
                    base: BaseDer::of(vote.base)?,
                    turn: vote.turn,
                    expires: vote.expires.0,
                    algorithm: signature.algorithm.into(),
                    signature: octets(&signature.bytes)?,
                })
            };
            votes.iter().map(one).collect::<Result<Vec<_>, ()>>()
        });
        let der = MembershipDer {
            version: 2,
            group_name: self.group_name.as_str().to_owned(),
            group: octets(&self.group.0)?,
            scheme: self.scheme.into(),
            mode: self.mode.into(),
            threshold: self.threshold,
            group_size: self.group_size,
            base: BaseDer::of(self.base)?,
            nonce: octets(&self.nonce)?,
            votes: votes.transpose()?,
            issued: self.issued.map(|epoch| octets(&epoch)).transpose()?,
            multi: self.multi.as_ref().map(MultiDer::of).transpose()?,
            combined: self.combined.as_ref().map(CombinedDer::of).transpose()?,
        };
        if !self.votes.as_deref().is_none_or(sorted) {
            return Err(());
        }
        der.to_der().map_err(|_| ())
    }

    pub(crate) fn decode(der: &[u8]) -> Option<Self> {
        let der = MembershipDer::from_der(der).ok()?;
        let votes = match der.votes {
            Some(votes) => Some(votes.iter().map(VoteDer::decode).collect::<Option<Vec<_>>>()?),
            None => None,
        };
        let issued = match der.issued {
            Some(epoch) => Some(epoch.as_bytes().try_into().ok()?),
            None => None,
        };
        let multi = match der.multi {
            Some(multi) => Some(multi.decode()?),
            None => None,
        };
        let combined = match der.combined {
            Some(combined) => Some(combined.decode()?),
            None => None,
        };
        let membership = Self {
            group_name: GroupName::new(&der.group_name).ok()?,
            group: GroupId(der.group.as_bytes().try_into().ok()?),
            scheme: der.scheme.into(),
            mode: der.mode.into(),
            threshold: der.threshold,
            group_size: der.group_size,
            base: der.base.decode()?,
            nonce: der.nonce.as_bytes().try_into().ok()?,
            votes,
            issued,
            multi,
            combined,
        };
        // An authority signs by the charter alone; it has no share-epoch.
        let one =
            membership.authorities() <= 1 && !(membership.is_by_authority() && membership.issued.is_some());
        (der.version == 2 && one).then_some(membership)
    }
}

impl CombinedDer {
    fn of(combined: &Combined) -> Result<Self, ()> {
        let octets = |bytes: &[u8]| OctetString::new(bytes).map_err(|_| ());
        if combined.signature.len() > COMBINED_BYTES_MAX {
            return Err(());
        }
        Ok(Self { epoch: octets(&combined.epoch)?, signature: octets(&combined.signature)? })
    }

    fn decode(&self) -> Option<Combined> {
        let signature = self.signature.as_bytes();
        (signature.len() <= COMBINED_BYTES_MAX).then_some(())?;
        Some(Combined { epoch: self.epoch.as_bytes().try_into().ok()?, signature: signature.to_vec() })
    }
}

impl MultiDer {
    fn of(multi: &Multi) -> Result<Self, ()> {
        let signature = OctetString::new(multi.signature()).map_err(|_| ())?;
        let (base, turn) = (BaseDer::of(multi.base())?, multi.turn());
        Ok(Self { base, turn, expires: multi.expires().0, signature })
    }

    fn decode(&self) -> Option<Multi> {
        Multi::new(self.base.decode()?, self.turn, UnixTime(self.expires), self.signature.as_bytes()).ok()
    }
}

impl VoteDer {
    fn decode(&self) -> Option<VoteProof> {
        let bytes = Bytes::copy_from_slice(self.signature.as_bytes());
        Some(VoteProof {
            voter: MemberId(self.voter.as_bytes().try_into().ok()?),
            base: self.base.decode()?,
            turn: self.turn,
            expires: UnixTime(self.expires),
            signature: Signature::from_wire(&SignatureBytes { algorithm: self.algorithm.into(), bytes })
                .ok()?,
        })
    }
}

macro_rules! same_words {
    ($ours:ident, $theirs:ident, $($word:ident),*) => {
        impl From<$ours> for $theirs {
            fn from(word: $ours) -> Self {
                match word { $($ours::$word => Self::$word),* }
            }
        }
        impl From<$theirs> for $ours {
            fn from(word: $theirs) -> Self {
                match word { $($theirs::$word => Self::$word),* }
            }
        }
    };
}
same_words!(SchemeDer, Scheme, Plain, TsRsa, Shoup, TsDsa, Asm, Frost);
same_words!(ModeDer, Mode, Decentralised, Centralised);
same_words!(AlgorithmDer, Algorithm, P256, Ed25519, Rsa);

/// Whether votes stand in their one order, each voter once, not too many.
fn sorted(votes: &[VoteProof]) -> bool {
    votes.len() <= VOTES_MAX
        && votes.windows(2).all(|pair| pair.first().map(|v| v.voter) < pair.last().map(|v| v.voter))
}
