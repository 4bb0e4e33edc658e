//! What hands say.
//!
//! ```text
//! HandWord   table(32) say signature(64)    signature by the sender over "folkmoot hands v1": group ‖ sender ‖ table ‖ say
//! table      SHA-256("folkmoot table v1" ‖ group ‖ leader ‖ electorate serial ‖ share-epoch or zeros ‖ Convene's bytes)
//! ```

use crate::{AdmissionError, Dealt};
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, MemberId, Sealed, UnixTime, digest};
use folkmoot_identity::{Identity, Transcript};
use folkmoot_signing::plain::SIGNATURE_BYTES;

/// The domain label of a hand's word.
pub const HAND_LABEL: &[u8] = b"folkmoot hands v1";

/// What a table is for.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Purpose {
    /// The first sharing of a key that nobody knows.
    #[tls_codec(discriminant = 1)]
    Found {
        /// Shares that determine it.
        threshold: u32,
    },
    /// A signature of the key, not yet in use, on its own certificate.
    #[tls_codec(discriminant = 2)]
    Authority {
        /// The sharing's share-epoch.
        epoch: Digest,
        /// The TBSCertificate.
        tbs: Blob,
    },
    /// A signature on the certificate of one who asks, and was voted for.
    #[tls_codec(discriminant = 3)]
    Certify {
        /// Which request.
        request: Digest,
    },
    /// New shares of the same key: after somebody left, came to vote, or the threshold moved.
    #[tls_codec(discriminant = 4)]
    Reshare {
        /// Shares that determine it from then on.
        threshold: u32,
    },
    /// A signature on the list of certificates that hold no more.
    #[tls_codec(discriminant = 5)]
    Revoke {
        /// The TBSCertList.
        tbs: Blob,
    },
    /// One signature of those who said yes to a request, each by its own key (scheme `asm`).
    #[tls_codec(discriminant = 6)]
    Multi {
        /// Which request.
        request: Digest,
        /// Until when it may be counted: no longer than any of their votes.
        expires: UnixTime,
    },
    /// Shares dealt by the charter's authority: the first, or new ones of the same key.
    #[tls_codec(discriminant = 7)]
    Deal {
        /// Shares that determine the key from then on.
        threshold: u32,
    },
}

impl Purpose {
    /// Whether it is a step to a sharing in use.
    pub(crate) fn makes_sharing(&self) -> bool {
        matches!(self, Self::Found { .. } | Self::Authority { .. } | Self::Reshare { .. } | Self::Deal { .. })
    }

    /// Whether those who have a seat get shares by it.
    pub(crate) fn gives_shares(&self) -> bool {
        matches!(self, Self::Found { .. } | Self::Reshare { .. } | Self::Deal { .. })
    }

    /// In one word, for the log.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Found { .. } => "found",
            Self::Authority { .. } => "authority",
            Self::Certify { .. } => "certify",
            Self::Reshare { .. } => "reshare",
            Self::Revoke { .. } => "revoke",
            Self::Multi { .. } => "multi",
            Self::Deal { .. } => "deal",
        }
    }
}

impl Purpose {
    /// The request whose certificate is to be signed, if one is.
    pub(crate) fn request(&self) -> Option<&Digest> {
        match self {
            Self::Certify { request } | Self::Multi { request, .. } => Some(request),
            Self::Found { .. } | Self::Authority { .. } | Self::Reshare { .. } => None,
            Self::Revoke { .. } | Self::Deal { .. } => None,
        }
    }
}

/// For one hand alone.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Whisper {
    /// For whom.
    pub to: MemberId,
    /// Sealed to its one-time key.
    pub sealed: Sealed,
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Say {
    /// The leader calls.
    #[tls_codec(discriminant = 1)]
    Convene {
        /// What for.
        purpose: Purpose,
        /// Makes two tables of one purpose differ.
        attempt: u32,
    },
    /// A hand will take part.
    #[tls_codec(discriminant = 2)]
    Ready {
        /// Its one-time key (DHKEM X25519).
        key: Blob,
    },
    /// The leader says who does.
    #[tls_codec(discriminant = 3)]
    Seats {
        /// Those who use shares, sorted.
        givers: Vec<MemberId>,
        /// Those who get shares, sorted.
        takers: Vec<MemberId>,
    },
    /// A hand's words in one round of the run.
    #[tls_codec(discriminant = 4)]
    Round {
        /// From 0.
        round: u8,
        /// To all.
        to_all: Blob,
        /// To one each.
        to_each: Vec<Whisper>,
    },
    /// What a Certify came to, told by one of its hands. It proves itself.
    #[tls_codec(discriminant = 5)]
    Signed {
        /// Which request.
        request: Digest,
        /// The signature of the group's key over the certificate of it.
        signature: Blob,
    },
    /// What the charter's authority dealt for the hands at this table, passed on by its leader.
    #[tls_codec(discriminant = 6)]
    Dealt {
        /// Signed by the authority.
        dealt: Dealt,
    },
}

/// A hand's signed word.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct HandWord {
    /// At which table.
    pub table: Digest,
    /// What.
    pub say: Say,
    /// By whom: the sender of the message.
    pub signature: [u8; SIGNATURE_BYTES],
}

impl HandWord {
    /// Signs what `identity` says.
    pub(crate) fn sign(transcript: &Transcript, identity: &Identity, table: Digest, say: Say) -> Self {
        let covered = covered(transcript, &identity.member(), &table, &say);
        let signature = identity.key().sign_fixed(HAND_LABEL, &covered);
        Self { table, say, signature }
    }

    /// `ADM-41`: whether `sender`, a member, has signed it.
    ///
    /// # Errors
    /// [`AdmissionError::PeerNotMember`], [`AdmissionError::PeerHand`].
    pub fn verify(&self, transcript: &Transcript, sender: &MemberId) -> Result<(), AdmissionError> {
        let member = transcript.roster().member(sender).ok_or(AdmissionError::PeerNotMember(*sender))?;
        let covered = covered(transcript, sender, &self.table, &self.say);
        let signed = member.key.verify_fixed(HAND_LABEL, &covered, &self.signature);
        signed.map_err(|_| AdmissionError::PeerHand(*sender, "not signed by it"))
    }
}

fn covered(transcript: &Transcript, sender: &MemberId, table: &Digest, say: &Say) -> Vec<u8> {
    [&transcript.group().0[..], &sender.0, table, &codec::encode(say)].concat()
}

/// The name of the table to which `leader` calls now.
pub(crate) fn table_name(
    transcript: &Transcript,
    leader: &MemberId,
    purpose: &Purpose,
    attempt: u32,
) -> Digest {
    let roster = transcript.roster();
    let epoch = roster.sharing().map(|sharing| sharing.facts.epoch).unwrap_or_default();
    let call = codec::encode(&Say::Convene { purpose: purpose.clone(), attempt });
    let serial = roster.electorate().serial.to_be_bytes();
    digest(&[b"folkmoot table v1", &transcript.group().0, &leader.0, &serial, &epoch, &call])
}
