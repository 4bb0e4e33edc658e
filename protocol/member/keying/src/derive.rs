//! From the agreed secret to keys.
//!
//! ```text
//!  secret ─ HKDF-SHA-256(salt = transcript) ─┬─ "group key" ‖ binding ─> group key ─ HKDF ─ "epoch name" ─> name (public)
//!                                            └─ "confirm" ‖ binding   ─> confirmation key
//!  CONFIRM of party p = HMAC-SHA-256(confirmation key, "folkmoot confirm v1" ‖ GroupId ‖ binding ‖ p ‖ transcript)
//! ```

use crate::api::{Epoch, EpochName};
use crate::base::{Cipher, Digest, GroupId, ModuleName, Party, Secret, hmac_sha256};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// What one run produces.
pub(crate) struct Keys {
    pub(crate) epoch: Epoch,
    confirm: Secret<[u8; 32]>,
    group: GroupId,
    binding: Digest,
    transcript: Digest,
}

impl Keys {
    /// `suite` is part of the binding already.
    pub(crate) fn derive(
        secret: &[u8],
        group: GroupId,
        binding: Digest,
        transcript: Digest,
        (module, cipher): (ModuleName, Cipher),
    ) -> Self {
        let hkdf = Hkdf::<Sha256>::new(Some(&transcript), secret);
        let key = expand(&hkdf, &[b"group key", &binding]);
        let confirm = expand(&hkdf, &[b"confirm", &binding]);
        let name = name(&key);
        let epoch = Epoch { name, module, cipher, key: Secret::new(*key) };
        Self { epoch, confirm: Secret::new(*confirm), group, binding, transcript }
    }

    /// The proof that `party` sends.
    pub(crate) fn confirmation(&self, party: &Party) -> Digest {
        let parts: [&[u8]; 5] =
            [b"folkmoot confirm v1", &self.group.0, &self.binding, &party.to_bytes(), &self.transcript];
        hmac_sha256(self.confirm.expose(), &parts)
    }
}

fn name(key: &[u8; 32]) -> EpochName {
    let hkdf = Hkdf::<Sha256>::new(Some(b"folkmoot epoch name v1"), key);
    EpochName(*expand(&hkdf, &[b"epoch name"]))
}

fn expand(hkdf: &Hkdf<Sha256>, info: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    let mut out = Zeroizing::new([0; 32]);
    let done = hkdf.expand_multi_info(info, out.as_mut_slice());
    assert!(done.is_ok(), "HKDF gives up to 8,160 bytes");
    out
}
