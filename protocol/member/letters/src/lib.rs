//! A stranger's letter to the group, and the group's answer: private, and signed both ways.
//!
//! ```text
//!  writer (a stranger)          contact (a member)                      all members
//!    |-- Ask --------------------->|
//!    |<- Key: that of the epoch ----|   signed by the contact for this writer
//!    |-- Letter, sealed to it ---->|-- the letter, opened, sealed for the group ->|  shown in one order
//!    |<- Standing: delivered ------|                                              |
//!    |                             |<----------- an answer, signed by a member ---|  in the same order
//!    |<- Answer, sealed to the writer's key
//!    |-- Poll: what I have ------->|   every few seconds, by any contact: what was lost is sent again
//! ```
//! Promise: only members that hold the epoch's key read a letter; all of them see the same letter,
//! and know by its signature which identity wrote it. Only the writer (and the members) read an
//! answer, and a member has signed it. The node between them sees that a guest writes, when, and
//! how much.
//! Relies on: session for the seed of an epoch's key for letters and for the way from the contact
//! to all members; the transcript for who is a member. Does not rely on the links for privacy or
//! delivery.
//!
//! Both sides are here: [`Writer`] and [`Desk`].

mod desk;
mod error;
mod ledger;
mod message;
mod pace;
mod writer;

pub use desk::{Counter, Desk, DeskInput, DeskOutput, Front, LetterEvent};
#[doc(hidden)]
pub use desk::{danger_seal_answer, danger_seal_letter};
pub use error::LettersError;
pub use message::{
    Answer, AnswerBody, GuestMessage, Letter, LetterBody, MESSAGE_BYTES_MAX, MemberMessage, Standing,
    TEXT_BYTES_MAX, is_for_writer, is_guest_message,
};

pub use writer::{Writer, WriterEvent, WriterOutput};

pub use folkmoot_base::Sealed;

/// The pair of keys to which letters or answers are sealed.
pub type ContactKey = OpeningKey<Hybrid>;

use folkmoot_base as base;
use folkmoot_base::OpeningKey;
use folkmoot_base::sealing::Hybrid;
use folkmoot_identity as identity;

/// Most answers to one letter.
pub const ANSWERS_MAX: usize = 8;
/// Most letters that a member remembers, to answer them and to recognise them.
pub const LETTERS_MAX: usize = 128;
/// Most letters that a writer has under way.
pub const DRAFTS_MAX: usize = 8;
