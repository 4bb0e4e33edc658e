//! What an insider knows: for the simulator's liars, who have secrets and the wire.

use super::attempt::{Stream, master};
use crate::base::{Digest, digest, hmac_sha256};
use folkmoot_agreement::{PrimeGroup, Ristretto};

/// The key of the agreement on `candidate` with `secret`, in which the speakers said these shares
/// and links, in the order of the ring.
pub fn epoch_key(candidate: &Digest, secret: &[u8], said: &[([u8; 32], [u8; 32])]) -> [u8; 32] {
    let said: Vec<u8> = said.iter().flat_map(|(share, link)| [*share, *link].concat()).collect();
    let transcript = digest(&[b"folkmoot lcm transcript v1\0", candidate, &said]);
    hmac_sha256(master(secret, &transcript).expose(), &[b"key"])
}

/// The secret share that a node with this seed has.
pub fn share_of(seed: &[u8; 32]) -> <Ristretto as PrimeGroup>::Scalar {
    Ristretto::draw(&mut Stream(seed, 0))
}
