//! Accountable subgroup multisignatures: any set of members signs, and the signature says who
//! (Micali, Ohta, Reyzin, CCS 2001).
//!
//! ```text
//! SecretKey --announce--> KeyAnnouncement --check--> ProvenKey --+
//!                                                               +--> Signers --> Signing (a Run) --> MultiSignature --> verify
//!                                            of every signer ---+
//! a member's identity key, of which every group checks the possession:  ProvenKey::of_possession_proven_elsewhere, signer, watch
//! ```
//! As published, two things break it. First, a key made from another's (y' = g^x / y) signs in the
//! other's name. So no key counts before its holder has proven to know its secret: only the check
//! of that proof, here or elsewhere, makes a [`ProvenKey`]. Second, if a signer tells its R_i at
//! once, whoever answers last picks the challenges of many open runs together, and adds the answers
//! up to a signature that nobody gave (Drijvers et al., S&P 2019; Benhamouda et al., EUROCRYPT
//! 2021). So there are three rounds, and in the first every signer commits to its R_i (Bellare,
//! Neven, CCS 2006). In this form, with commitments and Schnorr proofs of possession, it is
//! SimpleMuSig, proven in the random oracle model (Crites, Komlo, Maller, ePrint 2021/1375).
//!
//! **Many runs at once are safe.** R is the sum of what all signers committed to before any of them
//! showed its own. So for anyone who is not all of the signers, the challenge of a run is settled
//! before it can know or choose it. No run offers a second candidate, and with one candidate each,
//! the sums that the attack needs are as hard to meet as a hash to a given value.
//! `tests/it/asm_attacks.rs` carries the attack out against two rounds, and tries it in vain
//! against these three.

mod error;
mod identity;
mod keys;
#[cfg(test)]
mod rogue;
mod schnorr;
mod signature;
mod signers;
mod signing;
#[cfg(test)]
mod tests;

pub use error::AsmError;
pub use identity::{signer, watch};
pub use keys::{KeyAnnouncement, ProvenKey, SecretKey};
pub use signature::MultiSignature;
pub use signers::Signers;
pub use signing::Signing;

/// First byte of everything here that is stored or sent.
const VERSION: u8 = 1;

/// Takes `count` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(head)
}
