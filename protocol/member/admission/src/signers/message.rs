//! The messages of a signing session.
//!
//! ```text
//! message    session(32) body signature(64)    signature by the sender over "folkmoot hands v1": group ‖ sender ‖ session ‖ body
//! Round      likewise                          over "folkmoot hands round v1": group ‖ sender ‖ heard ‖ body
//! heard      at first the RunId; after each round SHA-256("folkmoot heard v1" ‖ heard ‖ of each signer, sorted: id ‖ SHA-256 of its message to all)
//! session    SHA-256("folkmoot table v2" ‖ group ‖ coordinator ‖ head's digest ‖ share-epoch or zeros ‖ Start's bytes)
//! ```
//! A session can have the name of an earlier one, because its coordinator chooses the number in it.
//! A run has a name of its own, because every signer draws its one-time key anew. So a message of a
//! round counts in its run alone, and only at signers that heard in that run what its sender heard.
//! A message that was replayed from elsewhere, or that answers what one signer told two others
//! differently, is no message of this run, and nobody is named for it.

use crate::{AdmissionError, Dealt};
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, Head, MemberId, Sealed, SignatureBytes, UnixTime, digest};
use folkmoot_identity::{Identity, Verdict, VerifyingKey, VoteBody, VoteKind};
use folkmoot_transcript::Transcript;

/// The domain label of a signer's message.
pub const SIGNER_LABEL: &[u8] = b"folkmoot hands v1";
/// The domain label of a signer's message in a round.
pub const ROUND_LABEL: &[u8] = b"folkmoot hands round v1";

/// What the signers of a multisignature say, besides the request: the same for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Wording {
    /// The last decision that they know.
    pub base: Head,
    /// A turn that none of them has gone beyond.
    pub turn: u32,
    /// Until when it may be counted: no longer than any of their votes.
    pub expires: UnixTime,
}

impl Wording {
    /// What is signed.
    pub(crate) fn body(&self, group: GroupId, request: Digest) -> VoteBody {
        let Self { base, turn, expires } = *self;
        let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
        VoteBody { group, base, kind, subject: request, turn, verdict, expires }
    }
}

/// What a signing session is for.
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
    /// One signature of those who said yes to a request, each with its own key (scheme `asm`).
    #[tls_codec(discriminant = 6)]
    Multi {
        /// Which request.
        request: Digest,
        /// What each of them says.
        wording: Wording,
    },
    /// A holder's share of the sharing in use again, for its coordinator, which has lost it.
    #[tls_codec(discriminant = 8)]
    Repair {
        /// Who has lost it.
        holder: MemberId,
    },
    /// Shares dealt by the charter's authority: the first, or new ones of the same key.
    #[tls_codec(discriminant = 7)]
    Deal {
        /// Shares that determine the key from then on.
        threshold: u32,
    },
}

impl Purpose {
    /// Whether it is a step towards a sharing in use.
    pub(super) fn makes_sharing(&self) -> bool {
        matches!(self, Self::Found { .. } | Self::Authority { .. } | Self::Reshare { .. } | Self::Deal { .. })
    }

    /// Whether it gives its participants shares.
    pub(super) fn gives_shares(&self) -> bool {
        matches!(self, Self::Found { .. } | Self::Reshare { .. } | Self::Deal { .. })
    }

    /// Its name in the log.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Found { .. } => "found",
            Self::Authority { .. } => "authority",
            Self::Certify { .. } => "certify",
            Self::Reshare { .. } => "reshare",
            Self::Revoke { .. } => "revoke",
            Self::Multi { .. } => "multi",
            Self::Deal { .. } => "deal",
            Self::Repair { .. } => "repair",
        }
    }
}

impl Purpose {
    /// The request whose certificate is to be signed, if one is.
    pub(crate) fn request(&self) -> Option<&Digest> {
        match self {
            Self::Certify { request } | Self::Multi { request, .. } => Some(request),
            Self::Found { .. } | Self::Authority { .. } | Self::Reshare { .. } => None,
            Self::Revoke { .. } | Self::Deal { .. } | Self::Repair { .. } => None,
        }
    }
}

/// For one signer alone.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct PrivateMessage {
    /// For whom.
    pub to: MemberId,
    /// Sealed to its one-time key.
    pub sealed: Sealed,
}

/// What a signer or the coordinator says.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum SignerBody {
    /// The coordinator starts the session.
    #[tls_codec(discriminant = 1)]
    Start {
        /// What for.
        purpose: Purpose,
        /// Makes two sessions with one purpose differ.
        attempt: u32,
    },
    /// A signer will take part.
    #[tls_codec(discriminant = 2)]
    Ready {
        /// Its one-time key (DHKEM X25519).
        key: Blob,
    },
    /// The coordinator names the participants.
    #[tls_codec(discriminant = 3)]
    Participants {
        /// Those who use shares, sorted.
        givers: Vec<MemberId>,
        /// Those who get shares, sorted.
        takers: Vec<MemberId>,
    },
    /// What a participant says in one round of the run.
    #[tls_codec(discriminant = 4)]
    Round {
        /// From 0.
        round: u8,
        /// To all.
        to_all: Blob,
        /// To one each.
        to_each: Vec<PrivateMessage>,
    },
    /// The result of a Certify, told by one of its participants. It proves itself.
    #[tls_codec(discriminant = 5)]
    Signed {
        /// Which request.
        request: Digest,
        /// The signature of the group's key over the certificate of it.
        signature: Blob,
    },
    /// What the charter's authority dealt for the participants of this session, passed on by its
    /// coordinator.
    #[tls_codec(discriminant = 6)]
    Dealt {
        /// Signed by the authority.
        dealt: Dealt,
    },
}

/// A signed message of a signing session.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignerMessage {
    /// In which signing session.
    pub session: Digest,
    /// What.
    pub body: SignerBody,
    /// By whom: the sender of the message.
    pub signature: SignatureBytes,
}

impl SignerMessage {
    /// Signs what `identity` says: in a session or, in a round of a run, after it has `heard` so
    /// much.
    pub(crate) fn sign(
        transcript: &Transcript,
        identity: &Identity,
        (session, heard): (Digest, Option<&Digest>),
        body: SignerBody,
    ) -> Self {
        let (label, at) = heard.map_or((SIGNER_LABEL, &session), |heard| (ROUND_LABEL, heard));
        let signature = identity.key().sign_wire(label, &covered(transcript, &identity.member(), at, &body));
        Self { session, body, signature }
    }

    /// `ADM-73`: whether `sender` has signed it in this run, having heard what we have.
    pub(super) fn is_of_run(&self, transcript: &Transcript, sender: &MemberId, heard: &Digest) -> bool {
        let covered = covered(transcript, sender, heard, &self.body);
        let signed = |key: &VerifyingKey| key.verify_wire(ROUND_LABEL, &covered, &self.signature).is_ok();
        transcript.roster().member(sender).is_some_and(|member| signed(&member.key))
    }

    /// `ADM-41`: whether `sender`, a member, has signed it.
    ///
    /// # Errors
    /// [`AdmissionError::PeerNotMember`], [`AdmissionError::PeerSigner`].
    pub fn verify(&self, transcript: &Transcript, sender: &MemberId) -> Result<(), AdmissionError> {
        let member = transcript.roster().member(sender).ok_or(AdmissionError::PeerNotMember(*sender))?;
        let covered = covered(transcript, sender, &self.session, &self.body);
        let signed = member.key.verify_wire(SIGNER_LABEL, &covered, &self.signature);
        signed.map_err(|_| AdmissionError::PeerSigner(*sender, "it is not signed by its sender"))
    }
}

/// `at` is the session or, in a round, what was heard.
fn covered(transcript: &Transcript, sender: &MemberId, at: &Digest, body: &SignerBody) -> Vec<u8> {
    [&transcript.group().0[..], &sender.0, at, &codec::encode(body)].concat()
}

/// What was heard after a round in which these participants, sorted, said this to all.
pub(super) fn heard_after<'a>(
    heard: &Digest,
    said: impl Iterator<Item = (&'a MemberId, &'a Vec<u8>)>,
) -> Digest {
    let parts: Vec<u8> = said.flat_map(|(signer, message)| [signer.0, digest(&[message])].concat()).collect();
    digest(&[b"folkmoot heard v1", heard, &parts])
}

/// The name of the session that `coordinator` starts now.
pub(crate) fn session_name(
    transcript: &Transcript,
    coordinator: &MemberId,
    purpose: &Purpose,
    attempt: u32,
) -> Digest {
    let roster = transcript.roster();
    let epoch = roster.sharing().map(|sharing| sharing.facts.epoch).unwrap_or_default();
    let call = codec::encode(&SignerBody::Start { purpose: purpose.clone(), attempt });
    let head = roster.head().digest;
    digest(&[b"folkmoot table v2", &transcript.group().0, &coordinator.0, &head, &epoch, &call])
}
