//! Centralised key distribution: the oldest party makes the key and seals it to each of the
//! others. Not contributory.
//!
//! ```text
//! whoever has no pair key with the controller:   controller ═OFFER g^r═> all,  each of them ═ANSWER g^r_i═> all
//! always:                                        controller ═KEYS salt ‖ sealed key for each═> all
//! ```
//! The run's own order is by age: the base in the order of its run, then the newcomers by place;
//! the *first* is the controller (in GDH it is the last). Pair keys are kept while both stay: an
//! ordinary leave and a refresh are one message. If the controller leaves, the next oldest pairs
//! with everybody.
//! [`Run`] is what the stack runs, with [`Curve`] or, hybrid, with [`XWing`]. The published form is
//! in testing/study, for its counts. Source: Amir et al., "Secure group communication in
//! asynchronous networks with failures: integration and experiments", ICDCS 2000. Departures:
//! AES-256-GCM under HKDF of the pair key in place of `K_s^(g^(r_1·r_i))`; no long-term keys in the
//! exponents, because keying signs; both exponents of a pair are fresh and forgotten at once; a
//! pair key steps on with every key that it sealed, so what is kept does not open what was sent
//! before.

mod pairing;
mod run;
mod seal;
mod steps;

pub use pairing::{Curve, Pairing, XWing};
pub use run::Run;
