//! The key from an agreement's secret: for tests that play somebody who has the secret.

use super::attempt::master;
use super::message::{Body, Said, Signed};
use crate::base::{Digest, digest, hmac_sha256};

/// The application's key.
pub type EpochKey = [u8; 32];

/// The key of the agreement on `candidate` with `secret`, in which the speakers said these shares
/// and links, in the order of the ring.
pub fn epoch_key(candidate: &Digest, secret: &[u8], said: &[([u8; 32], [u8; 32])]) -> EpochKey {
    let said: Vec<u8> = said.iter().flat_map(|(share, link)| [*share, *link].concat()).collect();
    let transcript = digest(&[b"folkmoot lcm transcript v1\0", candidate, &said]);
    hmac_sha256(master(secret, &transcript).expose(), &[b"key"])
}

/// Which candidate a round message belongs to, and the sender's words in it.
pub fn candidate_of(message: &[u8]) -> Option<(u16, super::message::Round)> {
    match Signed::read(message).ok()?.1 {
        Body { sender, said: Said::Round(round), .. } => Some((sender, round)),
        _ => None,
    }
}
