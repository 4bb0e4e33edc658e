//! Threshold RSA (Shoup, "Practical Threshold Signatures", Eurocrypt 2000): t of the holders make
//! an ordinary RSA signature. Each sends its part once, and one that sends a false part is named.
//!
//! ```text
//! Dealer --deal--> ShoupSharing, public: modulus, t, v, v_1 .. v_l, who holds which seat
//!            '---> ShoupShare, one for each seat, sealed to its holder
//!
//! ShoupSign, each of exactly t holders:  x_i, c, z ==> Done(signature): PKCS#1 v1.5, SHA-256
//!                                               '--> Fault: PeerPart, by all whose proof fails
//! ```
//! N = pq with safe primes p = 2p' + 1 and q = 2q' + 1; M = p'q'; e = 65537, a prime above the
//! number of seats l; d = 1/e mod M; f of degree t − 1 over Z_M with f(0) = d; seat i holds f(i); Δ
//! = l!. All seats are dealt at the start and handed out on admission. To evaluate f takes M, which
//! nobody but the dealer may know, so members can make no share, neither for a newcomer nor for a
//! holder that has lost its own. f follows from the primes, v, t and the seats, so the dealer can
//! say the same share again. Another threshold, or more seats, needs another deal of the same key.

mod consistency;
mod dealer;
mod error;
mod integers;
mod proof;
mod share;
mod sharing;
mod sign;

pub use dealer::{Dealer, DealerTerm, Dealt};
pub use error::ShoupError;
pub use share::ShoupShare;
pub use sharing::{SEATS_MAX, Seat, ShoupSharing};
pub use sign::ShoupSign;
