//! The messages. Every one is signed as a whole:
//!
//! ```text
//! version | body | signature        body = domain (16 bytes) | sender u16 | instance u64 | kind u8 | ...
//! JOIN      certificate, nonce, number                        I want to be in
//! RESPONSE  number, salt, base, P, J, proofs, held, pace      these sets; each member as its own JOIN. J empty: a claim
//! ROUND     candidate, share, link, confirm, flags, lacks     all that I have said in this agreement
//! BEACON    own JOIN, run, number, size                       this group is here
//! NOTICE    own JOIN, proofs                                  these are out
//! ```

use crate::base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::base::{Blob, DecodeError, Digest, digest};

/// The longest message: everybody in the largest group with a long certificate.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Most members of a group, joiners included.
pub const MEMBERS_MAX: usize = 256;
/// Most proofs of exclusion that are kept, or in one message.
pub const PROOFS_MAX: usize = 256;
/// Bytes of proofs in one message, but for the first.
pub(crate) const PROOFS_BYTES_MAX: usize = 1 << 16;
/// The longest certificate, and the longest statement of exclusion.
pub const CERTIFICATE_BYTES_MAX: usize = 4_096;
/// What every signature covers first.
pub const LABEL: &[u8] = b"folkmoot lcm keys v1\0";

/// [`Round::flags`]: this member has the key and knows that all others have it.
pub(crate) const DONE: u8 = 1;
/// [`Round::flags`]: the sender does not know the candidate.
pub(crate) const WANTS: u8 = 2;

/// How many kinds of messages there are.
pub(crate) const KINDS: usize = 5;

/// A message as it travels.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Signed {
    /// An encoded [`Body`].
    pub body: Blob,
    /// The sender's signature over label and body.
    pub signature: Blob,
}

/// What is signed.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Body {
    /// What the key is for: [`tag`].
    pub domain: [u8; 16],
    /// The sender's id.
    pub sender: u16,
    /// Grows with each message of this sender, also over restarts.
    pub instance: u64,
    /// The message.
    pub said: Said,
}

/// The kinds.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Said {
    /// Wants to be in.
    #[tls_codec(discriminant = 1)]
    Join(Join),
    /// Sets, or a claim.
    #[tls_codec(discriminant = 2)]
    Response(Response),
    /// A part of an agreement.
    #[tls_codec(discriminant = 3)]
    Round(Round),
    /// A group is here.
    #[tls_codec(discriminant = 4)]
    Beacon(Beacon),
    /// Somebody is out.
    #[tls_codec(discriminant = 5)]
    Notice(Notice),
}

/// JOIN.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Join {
    /// The sender's.
    pub certificate: Blob,
    /// Drawn for this JOIN: what lists it is fresh.
    pub nonce: [u8; 16],
    /// The highest number of a key that the sender ever confirmed.
    pub number: u64,
}

/// JOIN_Response.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Response {
    /// The number that the key will have; of a claim, that it has.
    pub number: u64,
    /// Drawn by the author: no two candidates are alike.
    pub salt: [u8; 16],
    /// The agreement whose members `old` are.
    pub base: Option<Digest>,
    /// P, in the order of its ring: the JOINs with which they came.
    pub old: Vec<Blob>,
    /// J, by id: their JOINs.
    pub new: Vec<Blob>,
    /// Why somebody is not in it.
    pub proofs: Vec<Proof>,
    /// How long ago each JOIN was heard, so that the joiner can measure the round trip.
    pub held: Vec<Held>,
    /// The longest round trip that the author knows, in microseconds; 0 if none.
    pub pace: u32,
}

/// How long ago a JOIN was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Held {
    /// Whose.
    pub uid: u16,
    /// Microseconds.
    pub micros: u32,
}

/// One member's part in one agreement, so far.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Round {
    /// Digest of the candidate: sets, ring order, every member's instance and nonce.
    pub candidate: Digest,
    /// X.
    pub share: Option<[u8; 32]>,
    /// Y.
    pub link: Option<[u8; 32]>,
    /// Proof that the sender has the key.
    pub confirm: Option<[u8; 32]>,
    /// [`DONE`], [`WANTS`].
    pub flags: u8,
    /// Whose words the sender lacks.
    pub lacks: Vec<u16>,
}

/// A group is here.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Beacon {
    /// The sender's JOIN.
    pub join: Blob,
    /// The group's last agreement.
    pub run: Digest,
    /// The number of its key.
    pub number: u64,
    /// How many members it has.
    pub size: u16,
}

/// Somebody is out.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Notice {
    /// The sender's JOIN.
    pub join: Blob,
    /// Who is out, and why.
    pub proofs: Vec<Proof>,
}

/// Why a certificate, or what joined with it, does not count any more.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Proof {
    /// Whoever may exclude said so: [`super::Papers::judge_exclusion`]. For good.
    #[tls_codec(discriminant = 1)]
    Excluded(Blob),
    /// Its holder left: a [`Left`], signed. JOINs of a later instance count.
    #[tls_codec(discriminant = 2)]
    Left(Signed),
    /// The certificate has ended, as everybody can read in it.
    #[tls_codec(discriminant = 3)]
    Expired(Blob),
    /// Excluded, with the certificate: so that whoever never saw it knows when it ends.
    #[tls_codec(discriminant = 4)]
    Named(Named),
    /// What was said under a certificate up to here counts no more: the word of whoever heard it,
    /// for a holder that has forgotten it (PUB-79).
    #[tls_codec(discriminant = 5)]
    Heard(HeardUpTo),
}

/// An exclusion and whom it is about.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Named {
    /// As in [`Proof::Excluded`].
    pub statement: Blob,
    /// What it excludes.
    pub certificate: Blob,
}

/// How far somebody was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct HeardUpTo {
    /// [`super::Papers::holder`] of its certificate.
    pub holder: Digest,
    /// The highest instance of its messages.
    pub instance: u64,
}

impl Proof {
    /// About how long it is.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Excluded(blob) | Self::Expired(blob) => blob.0.len(),
            Self::Named(named) => named.statement.0.len().saturating_add(named.certificate.0.len()),
            Self::Left(signed) => signed.body.0.len().saturating_add(signed.signature.0.len()),
            Self::Heard(_) => size_of::<HeardUpTo>(),
        }
    }
}

/// As many of `proofs` as one message may have.
pub(crate) fn few(proofs: impl Iterator<Item = Proof>) -> Vec<Proof> {
    let mut room = PROOFS_BYTES_MAX;
    let fits = |proof: &Proof| {
        let had = room > 0;
        room = room.saturating_sub(proof.size());
        had
    };
    proofs.take(PROOFS_MAX).take_while(fits).collect()
}

/// A leaver's word.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Left {
    /// Where from.
    pub domain: [u8; 16],
    /// Who.
    pub uid: u16,
    /// All JOINs up to this instance are over.
    pub instance: u64,
    /// The leaver's certificate.
    pub certificate: Blob,
}

/// What a leaver's signature covers first.
pub(crate) const LEFT_LABEL: &[u8] = b"folkmoot lcm leave v1\0";

impl Said {
    /// The place of the kind in lists of all kinds.
    pub(crate) fn kind(&self) -> usize {
        match self {
            Self::Join(_) => 0,
            Self::Response(_) => 1,
            Self::Round(_) => 2,
            Self::Beacon(_) => 3,
            Self::Notice(_) => 4,
        }
    }
}

impl Signed {
    /// Reads a message and its body (PUB-40).
    ///
    /// # Errors
    /// Every [`DecodeError`].
    pub fn read(bytes: &[u8]) -> Result<(Self, Body), DecodeError> {
        let signed: Self = codec::decode_at_most(bytes, MESSAGE_BYTES_MAX)?;
        let body: Body = codec::decode(&signed.body.0)?;
        let fits = match &body.said {
            Said::Join(join) => join.certificate.0.len() <= CERTIFICATE_BYTES_MAX,
            Said::Response(response) => response.fits(),
            Said::Round(round) => round.lacks.len() <= MEMBERS_MAX && round.flags <= DONE | WANTS,
            Said::Beacon(_) => true,
            Said::Notice(notice) => notice.proofs.len() <= PROOFS_MAX,
        };
        if fits { Ok((signed, body)) } else { Err(DecodeError::Malformed) }
    }
}

impl Response {
    fn fits(&self) -> bool {
        let size = self.old.len().saturating_add(self.new.len());
        size > 0
            && size <= MEMBERS_MAX
            && self.held.len() <= MEMBERS_MAX
            && self.proofs.len() <= PROOFS_MAX
            && self.base.is_some() != self.old.is_empty()
    }
}

/// What a signature covers: the label, then the body.
pub(crate) fn covered(label: &[u8], body: &[u8]) -> Vec<u8> {
    [label, body].concat()
}

/// What messages name a domain by. Whoever guesses the domain can check the guess.
pub fn tag(domain: &[u8]) -> [u8; 16] {
    let digest = digest(&[b"folkmoot lcm domain v1\0", domain]);
    digest.first_chunk().copied().unwrap_or_default()
}
