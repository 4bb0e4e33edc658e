//! What members and the group's authority say to each other. It travels over the link that the
//! authority has to a member as a guest.
//!
//! ```text
//! member    -> authority   Heartbeat    "I am here": signed, each period
//! member    -> authority   Grant        a request, and what the voters made of it: GMC_REQ
//! authority -> member      Granted      the certificate, signed: GMC_REP
//! authority -> member      Denied       not, or not yet, and why
//! voter     -> authority   Deal         "these are ready to take shares": their signed one-time keys
//! authority -> voter       Dealt        the sharing, and each share sealed to its holder; the voter passes it on to all
//! member    -> authority   Again        a holder that has lost its share: its signed one-time key
//! authority -> member      Dealt        the same share, sealed to that key; the member passes it on to all
//! authority -> member      Revocations  the newest list of certificates that hold no more (X.509 CRL)
//! ```
//! The sender decides how the bytes are read: an authority is not a guest that asks. No letter
//! begins with these bytes.

use crate::signers::SignerMessage;
use crate::{AdmissionError, PrivateMessage, Reason, SignerKey};
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, Head, MemberId, SignatureBytes, UnixTime};
use folkmoot_identity::{Combined, Grounds, Identity, Multi, VerifyingKey, VoteProof};
use folkmoot_transcript::Transcript;

/// The domain label of a heartbeat.
pub const HEARTBEAT_LABEL: &[u8] = b"folkmoot heartbeat v1";
/// The domain label of what an authority deals.
pub const DEALT_LABEL: &[u8] = b"folkmoot dealt v1";

/// What members and the authority say to each other.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum AuthorityMessage {
    /// Member → authority.
    #[tls_codec(discriminant = 40)]
    Heartbeat {
        /// Signed.
        beat: Heartbeat,
    },
    /// Member → authority.
    #[tls_codec(discriminant = 41)]
    Grant {
        /// The request, as its guest signed it.
        request: Blob,
        /// What the certificate is to rest on.
        grounds: WireGrounds,
    },
    /// Authority → member.
    #[tls_codec(discriminant = 42)]
    Granted {
        /// Which request.
        request: Digest,
        /// The certificate (X.509), signed by the authority's key.
        der: Blob,
    },
    /// Authority → member.
    #[tls_codec(discriminant = 43)]
    Denied {
        /// Which request.
        request: Digest,
        /// Why not.
        reason: Reason,
    },
    /// Voter → authority.
    #[tls_codec(discriminant = 44)]
    Deal {
        /// The signing session of those who are to have shares.
        session: Digest,
        /// How many shares determine the key.
        threshold: u32,
        /// Their messages in that session: each [`crate::SignerBody::Ready`] with a one-time key.
        /// Sorted by member.
        ready: Vec<SignedReady>,
    },
    /// Authority → voter.
    #[tls_codec(discriminant = 45)]
    Dealt {
        /// In which signing session.
        session: Digest,
        /// What was dealt.
        dealt: Dealt,
    },
    /// Authority → member.
    #[tls_codec(discriminant = 46)]
    Revocations {
        /// X.509 CRL.
        der: Blob,
    },
    /// Member → authority. The answer is [`Self::Dealt`], with one share in it.
    #[tls_codec(discriminant = 47)]
    Again {
        /// The number of the session, which is named in the message.
        attempt: u32,
        /// The holder that has lost its share, by its own message in its session for that
        /// ([`crate::Purpose::Repair`]).
        ready: SignedReady,
    },
}

/// "I am here": `signature` by the member over `"folkmoot heartbeat v1"`: group ‖ member ‖ time ‖
/// present.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Heartbeat {
    /// Who is here.
    pub member: MemberId,
    /// When, by its clock.
    pub time: UnixTime,
    /// Members in its view of the group; 0 outside one.
    pub present: u32,
    /// By the member's identity key.
    pub signature: SignatureBytes,
}

/// A signer that is ready, by its own signed message.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignedReady {
    /// Who.
    pub member: MemberId,
    /// [`crate::SignerBody::Ready`], signed by it.
    pub message: SignerMessage,
}

/// [`Grounds`] as they travel.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum WireGrounds {
    /// Sorted by voter; none where the authority decides alone.
    #[tls_codec(discriminant = 1)]
    Votes(Vec<VoteProof>),
    /// A multisignature.
    #[tls_codec(discriminant = 2)]
    Multi {
        /// The last decision that its signers knew.
        base: Head,
        /// How often they had changed their minds.
        turn: u32,
        /// Until when the signature counts.
        expires: UnixTime,
        /// It names its signers.
        signature: Blob,
    },
    /// The group's key on the request.
    #[tls_codec(discriminant = 3)]
    Combined {
        /// Under which sharing.
        epoch: Digest,
        /// By the key.
        signature: Blob,
    },
}

impl WireGrounds {
    /// Makes the wire form.
    pub fn of(grounds: &Grounds) -> Self {
        match grounds {
            Grounds::Votes(votes) => Self::Votes(votes.clone()),
            Grounds::Multi(multi) => {
                let (base, turn, expires) = (multi.base(), multi.turn(), multi.expires());
                Self::Multi { base, turn, expires, signature: Blob::from(multi.signature().to_vec()) }
            }
            Grounds::Combined(combined) => {
                Self::Combined { epoch: combined.epoch, signature: Blob::from(combined.signature.clone()) }
            }
        }
    }

    /// Reads the wire form.
    ///
    /// # Errors
    /// [`AdmissionError::PeerCertificate`] if these grounds cannot stand in a certificate.
    pub fn read(&self) -> Result<Grounds, AdmissionError> {
        match self {
            Self::Votes(votes) => Ok(Grounds::Votes(votes.clone())),
            Self::Multi { base, turn, expires, signature } => {
                let multi = Multi::new(*base, *turn, *expires, &signature.0)
                    .map_err(AdmissionError::PeerCertificate)?;
                Ok(Grounds::Multi(multi))
            }
            Self::Combined { epoch, signature } => {
                Ok(Grounds::Combined(Combined { epoch: *epoch, signature: signature.0.to_vec() }))
            }
        }
    }
}

impl Heartbeat {
    /// Signs a member's heartbeat.
    pub fn sign(group: &GroupId, identity: &Identity, time: UnixTime, present: u32) -> Self {
        let mut beat = Self { member: identity.member(), time, present, signature: SignatureBytes::NONE };
        beat.signature = identity.key().sign_wire(HEARTBEAT_LABEL, &beat.covered(group));
        beat
    }

    /// Whether the member with this key said it, in this group.
    pub fn verify(&self, group: &GroupId, key: &VerifyingKey) -> bool {
        key.verify_wire(HEARTBEAT_LABEL, &self.covered(group), &self.signature).is_ok()
    }

    fn covered(&self, group: &GroupId) -> Vec<u8> {
        [&group.0[..], &self.member.0, &codec::encode(&self.time), &self.present.to_be_bytes()].concat()
    }
}

/// Shares that an authority has dealt: `signature` by its identity key over `"folkmoot dealt v1"`:
/// group ‖ session ‖ by ‖ public ‖ to_each.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Dealt {
    /// The key (SPKI) of one of the authority's nodes.
    pub by: SignerKey,
    /// The sharing's public part; of a share that is said again ([`AuthorityMessage::Again`]), the
    /// SHA-256 of it, since everybody has it.
    pub public: Blob,
    /// To each holder its share, sealed to its one-time key.
    pub to_each: Vec<PrivateMessage>,
    /// By the node's identity key.
    pub signature: SignatureBytes,
}

impl Dealt {
    /// Signs as one of the authority's nodes.
    pub fn sign(
        transcript: &Transcript,
        identity: &Identity,
        session: &Digest,
        public: Blob,
        to_each: Vec<PrivateMessage>,
    ) -> Self {
        let by = SignerKey { spki: Blob::from(identity.key().verifying_key().spki_der().to_vec()) };
        let mut dealt = Self { by, public, to_each, signature: SignatureBytes::NONE };
        dealt.signature = identity.key().sign_wire(DEALT_LABEL, &dealt.covered(transcript, session));
        dealt
    }

    /// Which node of the charter's authority has dealt this, in this signing session; `None` if
    /// none has.
    pub fn dealer(&self, transcript: &Transcript, session: &Digest) -> Option<MemberId> {
        let key = VerifyingKey::from_spki_der(&self.by.spki.0).ok()?;
        key.verify_wire(DEALT_LABEL, &self.covered(transcript, session), &self.signature).ok()?;
        let central = transcript.roster().charter().central()?;
        Some(key.member_id()).filter(|by| central.speaks(by))
    }

    fn covered(&self, transcript: &Transcript, session: &Digest) -> Vec<u8> {
        let to_each = codec::encode(&self.to_each);
        let (by, public) = (codec::encode(&self.by), codec::encode(&self.public));
        [&transcript.group().0[..], session, &by, &public, &to_each].concat()
    }
}

/// The context that a dealt share is sealed with: from the dealer to a holder, in this signing
/// session.
pub fn dealt_info(session: &Digest, from: &MemberId, to: &MemberId) -> Vec<u8> {
    [b"folkmoot dealt share v1".as_slice(), session, &from.0, &to.0].concat()
}
