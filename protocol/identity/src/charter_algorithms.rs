//! Which keys members may have, and the hash. The words are those of a signature's algorithm byte;
//! this release has the first of them.

use crate::CharterError;
use crate::charter_value::value;
use std::collections::BTreeSet;

const ALGORITHMS: [&str; 3] = ["p256", "ed25519", "rsa"];
const RSA_BITS: [u32; 2] = [2048, 3072];
/// Why no vote changes any of these.
pub(crate) const FIXED: &str = "it is fixed when the group is founded: its members have such keys already";

/// `ID-71`: what the text says of algorithms, sizes of RSA keys, and hash, is what this release can
/// do.
pub(crate) fn check(
    algorithms: Option<&[String]>,
    rsa_bits: Option<&[u32]>,
    hash: Option<&str>,
) -> Result<(), CharterError> {
    let usual = [ALGORITHMS[0].to_owned()];
    let algorithms = algorithms.unwrap_or(&usual);
    if !chosen(algorithms, |word| ALGORITHMS.contains(&word.as_str())) {
        return Err(value("algorithms", "it must list p256, ed25519 or rsa, at least one and none twice"));
    }
    if rsa_bits.is_some_and(|bits| !chosen(bits, |bits| RSA_BITS.contains(bits))) {
        return Err(value("rsa_bits", "it must list 2048 or 3072, at least one and none twice"));
    }
    if rsa_bits.is_some() && !algorithms.iter().any(|word| word == "rsa") {
        return Err(value("rsa_bits", "it goes with the algorithm rsa alone"));
    }
    if algorithms != usual {
        return Err(value("algorithms", "in this release members have keys of p256 alone"));
    }
    match hash {
        None | Some("sha256") => Ok(()),
        Some(_) => Err(value("hash", "it must be sha256")),
    }
}

/// Whether a list has at least one, none twice, and each is one to choose.
fn chosen<T: Ord>(list: &[T], is_one: impl Fn(&T) -> bool) -> bool {
    let distinct: BTreeSet<&T> = list.iter().collect();
    !list.is_empty() && distinct.len() == list.len() && list.iter().all(is_one)
}
