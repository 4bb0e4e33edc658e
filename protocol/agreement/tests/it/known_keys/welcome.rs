//! The Welcome of MLS, for anyone who has a key of its schedule: everything in it but the sealed
//! path secrets.

use super::derived::{Bytes32, with_label};
use crate::world::Record;
use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use folkmoot_agreement::mls::Commit;
use folkmoot_base::codec;
use std::collections::BTreeSet;

/// One of a Welcome's sealed GroupSecrets: what was encapsulated, and the ciphertext.
pub type Secrets = (Vec<u8>, Vec<u8>);

/// The sealed GroupSecrets of a run's Welcome, and its sealed GroupInfo (RFC 9420, 12.4.3.1).
pub fn of(record: &Record) -> Option<(Vec<Secrets>, Vec<u8>)> {
    let (_, _, body) = record.steps.iter().find(|(_, step, _)| *step == 2)?;
    let commit: Commit = codec::decode(body).ok()?;
    let mut rest = commit.welcome.as_ref().get(6..)?;
    let mut all = bytes(&mut rest)?;
    let mut secrets = Vec::new();
    while !all.is_empty() {
        let _key_package = bytes(&mut all)?;
        secrets.push((bytes(&mut all)?.to_vec(), bytes(&mut all)?.to_vec()));
    }
    Some((secrets, bytes(&mut rest)?.to_vec()))
}

/// A byte string with its length before it (RFC 9420, 2.1.2).
pub fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (first, _) = rest.split_first()?;
    let width = 1_usize << (first >> 6);
    let (length, after) = rest.split_at_checked(width)?;
    let length =
        length.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)) & ((1 << (8 * width - 2)) - 1);
    let (bytes, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

/// Whether the GroupInfo opens with any of these for the Welcome's secret.
pub fn opens(record: &Record, keys: &BTreeSet<Bytes32>) -> bool {
    let Some((_, sealed)) = of(record) else { return false };
    keys.iter().any(|key| {
        let cipher =
            UnboundKey::new(&AES_128_GCM, &with_label(key, "key", 16)).map(LessSafeKey::new).unwrap();
        let nonce = Nonce::try_assume_unique_for_key(&with_label(key, "nonce", 12)).unwrap();
        cipher.open_in_place(nonce, Aad::empty(), &mut sealed.clone()).is_ok()
    })
}
