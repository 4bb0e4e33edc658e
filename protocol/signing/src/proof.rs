//! Signatures that bring their key along, for whoever knows the signer by the digest of that key.

use crate::base::{Blob, Digest, Proof, Signatures, digest};
use crate::{SigningKey, VerifyingKey};

/// Signs with one key, and verifies what others signed.
#[derive(Debug, Clone)]
pub struct Prover(SigningKey);

impl Prover {
    /// Signs with this key.
    pub fn new(key: SigningKey) -> Self {
        Self(key)
    }
}

impl Signatures for Prover {
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Proof {
        let key = Blob::from(self.0.verifying_key().spki_der().to_vec());
        Proof { key, signature: self.0.sign_wire(label, message) }
    }

    fn verify(&self, signer: &Digest, label: &'static [u8], message: &[u8], proof: &Proof) -> bool {
        digest(&[proof.key.as_ref()]) == *signer
            && VerifyingKey::from_spki_der(proof.key.as_ref())
                .is_ok_and(|key| key.verify_wire(label, message, &proof.signature).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::{Prover, SigningKey};
    use crate::base::{Entropy, Signatures};

    struct Count(u8);

    impl Entropy for Count {
        fn fill(&mut self, out: &mut [u8]) {
            self.0 = self.0.wrapping_add(1);
            out.fill(self.0);
        }
    }

    #[test]
    fn nobody_proves_anything_for_another() {
        let mut entropy = Count(0);
        let keys = [SigningKey::generate(&mut entropy), SigningKey::generate(&mut entropy)];
        let ids = keys.clone().map(|key| key.verifying_key().member_id().0);
        let [one, two] = keys.map(Prover::new);
        let proof = one.sign(b"folkmoot test", b"word");
        assert!(two.verify(&ids[0], b"folkmoot test", b"word", &proof));
        assert!(!two.verify(&ids[1], b"folkmoot test", b"word", &proof), "another's id");
        assert!(!two.verify(&ids[0], b"folkmoot toast", b"word", &proof), "another label");
        assert!(!two.verify(&ids[0], b"folkmoot test", b"ward", &proof), "another word");
        let theirs = two.sign(b"folkmoot test", b"word");
        let mixed = crate::base::Proof { signature: theirs.signature, ..proof.clone() };
        assert!(!two.verify(&ids[0], b"folkmoot test", b"word", &mixed), "another's signature");
        let mixed = crate::base::Proof { key: theirs.key, ..proof };
        assert!(!two.verify(&ids[0], b"folkmoot test", b"word", &mixed), "another's key");
    }
}
