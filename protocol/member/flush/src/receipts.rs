//! What a party shows with FLUSH_RECV in place of a signature.
//!
//! ```text
//! FLUSH_OK(view)    signed, with C = SHA-256(.. party, view, R)    before the view
//! FLUSH_RECV(view)  R                                              once it is installed
//! ```
//! Nobody but the party can know R before the party shows it, and C is under its signature. So R
//! proves what a signature did: this party has this view. All receipts of one [`crate::Flush`]
//! follow from one secret. So a party commits to one value for a view, however often it says that
//! it is ready, and nothing is kept for each view.

use crate::message::{RECEIPT_BYTES, commitment};
use folkmoot_base::{Danger, Digest, Mutant, Party, Secret, ViewId, codec, hmac_sha256};

/// FLU-23: what `me` shows when it has installed `view`. Whoever has seen those of other views
/// knows nothing of this one.
pub(crate) fn receipt(
    secret: &Secret<[u8; RECEIPT_BYTES]>,
    view: &ViewId,
    danger: Mutant,
) -> Secret<[u8; RECEIPT_BYTES]> {
    let view = if danger.is(Danger::FlushOneReceipt) { Vec::new() } else { codec::encode(view) };
    Secret::new(hmac_sha256(secret.expose(), &[b"folkmoot flush receipt of a view v1", &view]))
}

/// FLU-22: whether `shown` is what `sender` committed to for `view`.
pub(crate) fn fits(committed: &Digest, sender: &Party, view: &ViewId, shown: &[u8; RECEIPT_BYTES]) -> bool {
    // In constant time.
    Secret::new(commitment(sender, view, shown)) == Secret::new(*committed)
}
