//! From the agreed secret to keys.
//!
//! ```text
//!  secret ─ HKDF-SHA-256(salt = transcript) ─┬─ "group key" ‖ binding ─> group key ─ HKDF ─ "epoch name" ─> name (public)
//!                                            └─ "confirm" ‖ binding   ─> confirmation secret
//!  confirmation key of party p = HKDF-Expand(confirmation secret, "folkmoot confirm key v2" ‖ p)
//!  MAC of p = HMAC-SHA-256(that, "folkmoot confirm v2" ‖ form ‖ GroupId ‖ binding ‖ p ‖ transcript ‖ instance of p)
//! ```
//! Every party of the view can make the confirmation key of every other. Nobody else can make one,
//! and nobody gets from one to another, or to the group key.

use crate::api::{Epoch, EpochName};
use crate::base::{Cipher, Danger, Digest, GroupId, ModuleName, Mutant, Party, Secret, hmac_sha256};
use crate::message::{Instance, MAC_FORM};
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
    danger: Mutant,
}

impl Keys {
    /// `suite` is part of the binding already.
    pub(crate) fn derive(
        secret: &[u8],
        group: GroupId,
        (binding, transcript): (Digest, Digest),
        (module, cipher): (ModuleName, Cipher),
        danger: Mutant,
    ) -> Self {
        let hkdf = Hkdf::<Sha256>::new(Some(&transcript), secret);
        let key = expand(&hkdf, &[b"group key", &binding]);
        let name = name(&key);
        let epoch = Epoch { name, module, cipher, key: Secret::new(*key) };
        if danger.is(Danger::KeyingConfirmsSecret) {
            let confirm = Secret::new(*expand(&Hkdf::<Sha256>::new(None, secret), &[b"confirm"]));
            return Self { epoch, confirm, group, binding: [0; 32], transcript: [0; 32], danger };
        }
        let confirm = Secret::new(*expand(&hkdf, &[b"confirm", &binding]));
        Self { epoch, confirm, group, binding, transcript, danger }
    }

    /// The proof that `party` sends, in its own `instance`.
    pub(crate) fn confirmation(&self, party: &Party, instance: &Instance) -> Digest {
        let party = if self.danger.is(Danger::KeyingOneConfirmKey) { [0; 34] } else { party.to_bytes() };
        let about: [&[u8]; 8] = [
            b"folkmoot confirm v2",
            &[MAC_FORM],
            &self.group.0,
            &self.binding,
            &party,
            &self.transcript,
            &instance.counter.to_be_bytes(),
            &instance.nonce,
        ];
        hmac_sha256(self.confirmation_key(&party).as_slice(), &about)
    }

    /// For the mutant only: confirmations prove another key.
    pub(crate) fn confirm_by(&mut self, epoch: &Epoch) {
        self.confirm = epoch.key.clone();
    }

    fn confirmation_key(&self, party: &[u8]) -> Zeroizing<[u8; 32]> {
        // One block of HKDF-Expand (RFC 5869): HMAC over the info and the block's number.
        Zeroizing::new(hmac_sha256(self.confirm.expose(), &[b"folkmoot confirm key v2", party, &[1]]))
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
