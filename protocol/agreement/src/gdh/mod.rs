//! Cliques GDH: `K = g^(N1·N2·…·Nn)`, one share of each party.
//!
//! ```text
//! IKA.1   M1 ─UPFLOW─> M2 ─UPFLOW─> … Mn ═KEY_UPDATE═> all
//! JOIN    controller ─NEW_MEMBER─> joiner ═KEY_UPDATE═> all
//! MERGE   controller ─MASS_JOIN─> new ─MASS_JOIN─> … last ═MERGE_BROADCAST═> all ─FACTOR_OUT─> last ═KEY_UPDATE═> all
//! IKA.2   the same, M1 in the controller's place
//! LEAVE   last of the remaining ═KEY_UPDATE═> all        REFRESH: the same, nobody left
//! ```
//! `X_i = K^(1/N_i)` is public; party i computes `K = X_i^N_i`. The controller is the newest
//! party, the last in the list. [`Context`] has the published operations; [`Run`] is the one
//! pattern (IKA.2) that keying runs for every view. Relies on: whoever carries the tokens
//! authenticates their senders. Does not rely on: secrecy of any token. Source: Steiner, Tsudik,
//! Waidner, "Key agreement in dynamic peer groups", IEEE TPDS 11(8), 2000; Amir et al., "Secure
//! group communication in asynchronous networks with failures", ICDCS 2000. Departure: no long-term
//! keys in the exponents (implicit authentication is broken, Pereira and Quisquater 2001); keying
//! signs the tokens instead.

mod context;
mod initial;
mod join;
mod leave;
mod merge;
mod run;
mod token;

pub use context::Context;
pub use run::Run;
pub use token::{Kind, Token};
