//! TS-RSA as published, **insecure**: Kong, Zerfos, Luo, Lu, Zhang, "Providing Robust and
//! Ubiquitous Security Support for Mobile Ad-Hoc Networks" (ICNP 2001, "URSA"), as Saxena, Tsudik
//! and Yi (2003) took it up. Kept to be studied and measured beside [`folkmoot_signing::shoup`],
//! which is what to use.
//!
//! What is wrong with it, each shown by a test (`tests/it/ts_rsa_broken.rs`,
//! docs/protocol/signing.md):
//!
//! - **Every signature gives away the key**, a bit at a time: the number of offsets says whether d
//!   lies above or below a sum that a signer knows. With resharing, one bad holder of two reads the
//!   whole of d (Jarecki, Saxena, Yi, SASN 2004).
//! - **Shares cannot be verified**: a sponsor hands a newcomer a false one, and nobody can tell.
//! - **A false part cannot be attributed**: one bad signer stops every signature and is not named.
//! - A dealer must know the whole key at the beginning.
//!
//! ```text
//! deal      f over Z_N of degree t - 1, f(0) = d;  ss_i = f(id_i)
//! sign      willing or not ==> the first t: m^(ss_j·λ_j(0) mod N) ==> product, times m^-N until it is a signature (at most t - 1 times)
//! enrol     δ_jk --each pair--> ss_j·λ_j(new) shuffled --to the newcomer--> their sum is f(new)
//! reshare   g_j of degree t' - 1, g_j(0) = ss_j·λ_j(0) --to every holder--> sum is the new share; nothing proves it
//! ```
//! Nothing here is made without the word [`folkmoot_signing::danger::ForStudy`].

mod dealer;
mod enrol;
mod key;
mod offset;
mod reshare;
mod sign;

pub use dealer::TsRsaDealer;
pub use enrol::TsRsaEnrol;
pub use key::{PlaceOf, TsRsaShare, TsRsaSharing, hashed_place};
pub use offset::Offset;
pub use reshare::TsRsaReshare;
pub use sign::{Subject, TsRsaSign};

use folkmoot_base::MemberId;
use folkmoot_signing::{Fault, FaultKind, Incoming};

fn of(kind: FaultKind, culprit: MemberId) -> Fault {
    Fault { kind, culprits: vec![culprit] }
}

fn of_nobody(kind: FaultKind) -> Fault {
    Fault { kind, culprits: Vec::new() }
}

/// Checks that a round has messages of exactly those awaited, and private ones of nobody else.
fn whole_round(heard: &Incoming, awaited: &[MemberId]) -> Result<(), Fault> {
    let whole = heard.to_all.len() == awaited.len()
        && awaited.iter().all(|hand| heard.to_all.contains_key(hand))
        && heard.to_me.keys().all(|hand| awaited.contains(hand));
    if whole { Ok(()) } else { Err(of_nobody(FaultKind::LocalRound)) }
}
