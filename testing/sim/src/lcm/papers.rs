//! Certificates and signatures of the simulator: digests under keys that the world knows.

use folkmoot_base::{Digest, UnixTime, digest, hmac_sha256};
use folkmoot_pubsub::discovery::{Exclusion, Papers, Standing};

/// One node's.
#[derive(Debug, Clone)]
pub struct Toy {
    world: [u8; 32],
    certificate: Vec<u8>,
}

/// What a certificate says, then the authority's mark.
const SAID: usize = 12;

impl Toy {
    /// The certificate with id `uid`, the `issue`-th for it, until `until` (0: for ever).
    pub fn new(world: [u8; 32], uid: u16, issue: u16, until: u64) -> Self {
        let said = [&uid.to_be_bytes()[..], &issue.to_be_bytes(), &until.to_be_bytes()].concat();
        let mark = hmac_sha256(&world, &[b"certificate", &said]);
        Self { world, certificate: [said, mark.to_vec()].concat() }
    }

    /// The authority's word that the holder of `certificate` is out.
    pub fn exclusion(world: &[u8; 32], certificate: &[u8]) -> Vec<u8> {
        let holder = digest(&[certificate]);
        [holder, hmac_sha256(world, &[b"exclusion", &holder])].concat()
    }

    fn signature(&self, certificate: &[u8], message: &[u8]) -> Digest {
        hmac_sha256(&self.world, &[b"signature", certificate, message])
    }
}

impl Papers for Toy {
    fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.signature(&self.certificate, message).to_vec()
    }

    fn judge(&self, _: &[u8], certificate: &[u8], _: Option<UnixTime>) -> Option<Standing> {
        let (said, mark) = certificate.split_at_checked(SAID)?;
        if hmac_sha256(&self.world, &[b"certificate", said]) != mark {
            return None;
        }
        let (uid, rest) = said.split_first_chunk::<2>()?;
        let until = u64::from_be_bytes(*rest.last_chunk::<8>()?);
        let until = (until > 0).then_some(UnixTime(until));
        Some(Standing { uid: u16::from_be_bytes(*uid), until })
    }

    fn verify(&self, certificate: &[u8], message: &[u8], signature: &[u8]) -> bool {
        self.signature(certificate, message) == signature
    }

    fn judge_exclusion(&self, _: &[u8], statement: &[u8]) -> Option<Exclusion> {
        let (holder, mark) = statement.split_first_chunk::<32>()?;
        let out = Exclusion { holder: *holder, until: None };
        (hmac_sha256(&self.world, &[b"exclusion", holder]) == mark).then_some(out)
    }
}
