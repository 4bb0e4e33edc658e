//! What hands say.
//!
//! ```text
//! HandWord   table(32) say signature(64)    signature by the sender over "folkmoot hands v1": group ‖ sender ‖ table ‖ say
//! Round      likewise                       over "folkmoot hands round v1": group ‖ sender ‖ heard ‖ say
//! heard      at first the RunId; after each round SHA-256("folkmoot heard v1" ‖ heard ‖ of each hand, sorted: id ‖ SHA-256 of its word to all)
//! table      SHA-256("folkmoot table v1" ‖ group ‖ leader ‖ electorate serial ‖ share-epoch or zeros ‖ Convene's bytes)
//! ```
//! A table can have the name of an earlier one, for its leader chooses the number in it; a run has its own, since every hand draws its
//! one-time key anew. So a word of a round counts in its run alone, and at hands alone that heard in it what its speaker heard: what
//! is said again from elsewhere, or answers what one hand told two others differently, is no word of this run, and nobody is named for it.

use crate::{AdmissionError, Dealt};
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, MemberId, Sealed, UnixTime, digest};
use folkmoot_identity::{Identity, Transcript, VerifyingKey};
use folkmoot_signing::plain::SIGNATURE_BYTES;

/// The domain label of a hand's word.
pub const HAND_LABEL: &[u8] = b"folkmoot hands v1";
/// The domain label of a hand's word in a round.
pub const ROUND_LABEL: &[u8] = b"folkmoot hands round v1";

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

    /// Signs what `identity` says in a round of a run in which it has `heard` so much.
    pub(crate) fn sign_round(
        transcript: &Transcript,
        identity: &Identity,
        (table, heard): (Digest, &Digest),
        say: Say,
    ) -> Self {
        let covered = covered(transcript, &identity.member(), heard, &say);
        let signature = identity.key().sign_fixed(ROUND_LABEL, &covered);
        Self { table, say, signature }
    }

    /// `ADM-73`: whether `sender` has signed it in this run, having heard what we have.
    pub(crate) fn is_of_run(&self, transcript: &Transcript, sender: &MemberId, heard: &Digest) -> bool {
        let covered = covered(transcript, sender, heard, &self.say);
        let signed = |key: &VerifyingKey| key.verify_fixed(ROUND_LABEL, &covered, &self.signature).is_ok();
        transcript.roster().member(sender).is_some_and(|member| signed(&member.key))
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

/// `at`: the table, or in a round what was heard.
fn covered(transcript: &Transcript, sender: &MemberId, at: &Digest, say: &Say) -> Vec<u8> {
    [&transcript.group().0[..], &sender.0, at, &codec::encode(say)].concat()
}

/// What was heard after a round in which these hands, sorted, said these words to all.
pub(crate) fn heard_after<'a>(
    heard: &Digest,
    said: impl Iterator<Item = (&'a MemberId, &'a Vec<u8>)>,
) -> Digest {
    let words: Vec<u8> = said.flat_map(|(hand, word)| [hand.0, digest(&[word])].concat()).collect();
    digest(&[b"folkmoot heard v1", heard, &words])
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
