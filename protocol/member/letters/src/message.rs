//! Bytes of the letters layer.
//!
//! Between writer and contact, over the guest's link, together with the messages of admission
//! (whose kinds are below 64):
//! ```text
//! 65 Ask        group, nonce 16                                       writer -> contact
//! 66 Key        view, epoch tag 8, key 1216, by, nonce 16, signature  contact -> writer
//! 67 Letter     group, epoch tag 8, HPKE(letter)                      writer -> contact
//! 68 Standing   id of the letter (zeros: of an Ask), u8               contact -> writer
//! 69 Poll       group, id of the letter, ids of the answers it has    writer -> contact
//! 70 Answer     id of the letter, HPKE(answer)                        contact -> writer
//! ```
//! Between parties, sealed by session: 1 Letter, 2 Answer, with the signatures that the writer and
//! the answering member made. An answer names the party that gives it: member and port.

use crate::Sealed;
use crate::base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::base::{Digest, GroupId, MemberId, Party, ViewId, digest};
use crate::{ANSWERS_MAX, LettersError};
use folkmoot_base::SignatureBytes;

/// Longest text of a letter or an answer, in bytes.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Longest message of this layer, in bytes: the longest that a guest's link takes in one piece
/// (LINK-14).
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// The first kind of this layer; admission's are below.
const FIRST_KIND: u8 = 64;

/// Whether a frame on a guest's link is for this layer: the kind after the version byte says so.
pub fn is_guest_message(frame: &[u8]) -> bool {
    frame.get(1).is_some_and(|kind| *kind >= FIRST_KIND)
}

/// Whether such a frame goes from a contact to a writer, and not the other way.
pub fn is_for_writer(frame: &[u8]) -> bool {
    matches!(frame.get(1), Some(66 | 68 | 70))
}

/// The messages between writer and contact.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum GuestMessage {
    /// Writer → contact: asks for the key to which a letter may be sealed.
    #[tls_codec(discriminant = 65)]
    Ask {
        /// The group to write to.
        group: GroupId,
        /// Repeated in the answer, so that no old answer can take its place.
        nonce: [u8; 16],
    },
    /// Contact → writer: the key.
    #[tls_codec(discriminant = 66)]
    Key {
        /// In which view.
        view: ViewId,
        /// The public tag of the view's epoch.
        epoch: [u8; 8],
        /// The key.
        key: Blob,
        /// The member that says so.
        by: MemberId,
        /// The nonce of the Ask.
        nonce: [u8; 16],
        /// Over all of that and the writer.
        signature: SignatureBytes,
    },
    /// Writer → contact: a letter.
    #[tls_codec(discriminant = 67)]
    Letter {
        /// The group to write to.
        group: GroupId,
        /// The letter is sealed to the key of this epoch.
        epoch: [u8; 8],
        /// A [`Letter`].
        sealed: Sealed,
    },
    /// Contact → writer: the state of a letter.
    #[tls_codec(discriminant = 68)]
    Standing {
        /// Which letter; zeros for an Ask.
        letter: Digest,
        /// Its state.
        standing: Standing,
    },
    /// Writer → contact: asks for further answers.
    #[tls_codec(discriminant = 69)]
    Poll {
        /// In which group.
        group: GroupId,
        /// About which letter.
        letter: Digest,
        /// The answers that the writer has.
        have: Vec<Digest>,
    },
    /// Contact → writer: an answer.
    #[tls_codec(discriminant = 70)]
    Answer {
        /// To which letter.
        letter: Digest,
        /// The sealed [`Answer`].
        sealed: Sealed,
    },
}

/// The state of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Standing {
    /// All parties of the group's view have it.
    Delivered = 1,
    /// Sealed to a key that is no longer, or not yet, in use here: ask for the key again.
    Stale = 2,
    /// The charter does not allow letters.
    Closed = 3,
    /// This contact is not in that group, or has no key now.
    NotHere = 4,
    /// Too many letters at once; try again later.
    Full = 5,
    /// This contact does not know the letter: send it again.
    Unknown = 6,
    /// The letter is not valid, or its writer is a member and can speak in the group.
    Refused = 7,
}

/// What the writer signs.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct LetterBody {
    /// The letter is for the group of this view.
    pub view: ViewId,
    /// The letter is for this epoch: the parties of another epoch do not accept it.
    pub epoch: [u8; 8],
    /// The writer's identity certificate, DER.
    pub certificate: Blob,
    /// Drawn at random for the letter: the letter's id follows from it and the writer.
    pub nonce: [u8; 16],
    /// The key to which answers are sealed.
    pub reply: Blob,
    /// The text.
    pub text: Blob,
}

/// A letter.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Letter {
    /// The body.
    pub body: LetterBody,
    /// The writer's signature, r ‖ s.
    pub signature: SignatureBytes,
}

/// What the answering member signs.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct AnswerBody {
    /// In which group.
    pub group: GroupId,
    /// To which letter.
    pub letter: Digest,
    /// The party that answers.
    pub by: Party,
    /// Drawn at random for the answer.
    pub nonce: [u8; 16],
    /// The text.
    pub text: Blob,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Answer {
    /// The body.
    pub body: AnswerBody,
    /// The signature of the party's member, r ‖ s.
    pub signature: SignatureBytes,
}

/// The messages from a party to all parties, sealed by session.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum MemberMessage {
    /// A stranger wrote.
    #[tls_codec(discriminant = 1)]
    Letter {
        /// The letter, unchanged.
        letter: Letter,
    },
    /// A member answers.
    #[tls_codec(discriminant = 2)]
    Answer {
        /// The answer.
        answer: Answer,
    },
}

/// The id of a letter: only its writer can choose it.
pub(crate) fn letter_id(group: &GroupId, writer: &MemberId, nonce: &[u8; 16]) -> Digest {
    digest(&[b"folkmoot letter id v1", &group.0, &writer.0, nonce])
}

impl Answer {
    /// The letter's id.
    pub fn id(&self) -> Digest {
        digest(&[b"folkmoot answer id v1", &codec::encode(&self.body)])
    }
}

/// Decodes either kind (LET-01).
pub(crate) fn decode<T: codec::Wire>(bytes: &[u8]) -> Result<T, LettersError> {
    Ok(codec::decode_at_most(bytes, MESSAGE_BYTES_MAX)?)
}

/// A text of legal length (LET-02).
pub(crate) fn check_text(text: &Blob) -> Result<(), LettersError> {
    match text.0.len() {
        1..=TEXT_BYTES_MAX => Ok(()),
        other => Err(LettersError::PeerText(other)),
    }
}

/// A list of answers of legal length (LET-02).
pub(crate) fn check_have(have: &[Digest]) -> Result<(), LettersError> {
    if have.len() > ANSWERS_MAX { Err(LettersError::PeerText(have.len())) } else { Ok(()) }
}
