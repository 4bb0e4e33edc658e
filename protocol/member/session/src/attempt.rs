//! What a former member could try: every key that it ever held, on a message for which it has no
//! key. This is for demonstrations and for checkers.
//!
//! ```text
//!  kept group keys × contexts (view, parties) they are derived under ──> sender keys ──> the cipher opens, or not
//! ```
//! The header is taken from the message, and the true view and parties are among the candidates, so
//! that only the key is missing. Epoch tag, window and the name of the sender are not used: they
//! are no secrets, and would only save tries.

use crate::epoch::{self, Context};
use crate::message::Header;
use bytes::Bytes;
use folkmoot_base::{Cipher, Party, Secret, ViewId};

/// A group key that was kept, with the view and parties for which it was agreed.
#[derive(Debug, Clone)]
pub struct KeptKey {
    /// In which view.
    pub view: ViewId,
    /// The parties, in the view's order.
    pub members: Vec<Party>,
    /// The key.
    pub key: Secret<[u8; 32]>,
    /// The cipher.
    pub cipher: Cipher,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attempt {
    /// Whether some key opened the message.
    pub opened: bool,
    /// How many openings were tried.
    pub tries: u64,
}

/// Tries every key of `kept`, derived under its own view and every candidate view, for each
/// sender's place, with the header as it is. Stops at the first key that opens the message.
pub fn danger_attempt(kept: &[KeptKey], sealed: &Bytes, candidates: &[(ViewId, Vec<Party>)]) -> Attempt {
    let mut attempt = Attempt::default();
    let Ok(header) = Header::decode(sealed) else { return attempt };
    for held in kept {
        let own = Context::new(&held.view, &held.members, held.cipher);
        let others = candidates.iter().map(|(view, members)| Context::new(view, members, held.cipher));
        let contexts: Vec<Context> = core::iter::once(own).chain(others).collect();
        for context in &contexts {
            for key in epoch::sender_keys(&held.key, context) {
                attempt.tries = attempt.tries.saturating_add(1);
                if epoch::opens(&key, header, sealed) {
                    return Attempt { opened: true, ..attempt };
                }
            }
        }
    }
    attempt
}
