//! One signer signs one message, and one verifier verifies it: the shape of Tables 4 and 6 of
//! Saxena, Tsudik and Yi (2003), which had DSA and Schnorr beside RSA.

use crate::meter::worked;
use crate::price::median;
use folkmoot_base::Entropy;
use folkmoot_cli::exit::Failure;
use folkmoot_signing::{SigningKey, plain_ed25519 as ed, plain_rsa as rsa};
use std::time::Duration;

/// What is signed, and under which label.
pub(super) const MESSAGE: &[u8] = b"let dora in";
pub(super) const LABEL: &[u8] = b"folkmoot bench v1";

/// Keys that are public, with the repository's vectors: they protect nothing.
const RSA_2048: &[u8] = include_bytes!("../../../vectors/signing/rsa-2048.key.der");
const RSA_3072: &[u8] = include_bytes!("../../../vectors/signing/rsa-3072.key.der");
/// 1024 bits sign nothing here: a key and a signature that OpenSSL made.
const RSA_1024: &[u8] = include_bytes!("../../../vectors/signing/rsa-1024.spki.der");
const SIGNED_1024: &[u8] = include_bytes!("../../../vectors/signing/rsa-1024.signature");
const MESSAGE_1024: &[u8] = include_bytes!("../../../vectors/signing/message");

/// One row: medians.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single {
    pub(crate) key: &'static str,
    /// None where nothing is signed with such keys.
    pub(crate) sign: Option<Duration>,
    pub(crate) verify: Duration,
}

/// A key of one signer: signs and verifies, and says how long it worked.
pub(crate) enum OneSigner {
    /// 2048 or 3072 bits.
    Rsa(Box<rsa::SigningKey>),
    /// ECDSA on P-256.
    Ecdsa(Box<SigningKey>),
    /// Ed25519.
    Ed25519(Box<ed::SigningKey>),
}

impl OneSigner {
    pub(crate) fn rsa_2048() -> Result<Self, Failure> {
        Ok(Self::Rsa(rsa::SigningKey::from_pkcs8_der(RSA_2048).map_err(Failure::bug)?.into()))
    }

    pub(crate) fn rsa_3072() -> Result<Self, Failure> {
        Ok(Self::Rsa(rsa::SigningKey::from_pkcs8_der(RSA_3072).map_err(Failure::bug)?.into()))
    }

    pub(crate) fn ecdsa(entropy: &mut dyn Entropy) -> Self {
        Self::Ecdsa(SigningKey::generate(entropy).into())
    }

    /// How long signing took, and how long verifying.
    pub(crate) fn once(&self) -> Result<(Duration, Duration), Failure> {
        match self {
            Self::Rsa(key) => {
                let (sign, signature) = worked(|| key.sign(LABEL, MESSAGE));
                let signature = signature.map_err(Failure::bug)?;
                let (verify, good) = worked(|| key.verifying_key().verify(LABEL, MESSAGE, &signature));
                good.map_err(Failure::bug).map(|()| (sign, verify))
            }
            Self::Ecdsa(key) => {
                let (sign, signature) = worked(|| key.sign(LABEL, MESSAGE));
                let (verify, good) = worked(|| key.verifying_key().verify(LABEL, MESSAGE, &signature));
                good.map_err(Failure::bug).map(|()| (sign, verify))
            }
            Self::Ed25519(key) => {
                let (sign, signature) = worked(|| key.sign(LABEL, MESSAGE));
                let (verify, good) = worked(|| key.verifying_key().verify(LABEL, MESSAGE, &signature));
                good.map_err(Failure::bug).map(|()| (sign, verify))
            }
        }
    }
}

/// All rows.
pub(crate) fn singles(runs: u16, entropy: &mut dyn Entropy) -> Result<Vec<Single>, Failure> {
    let signers = [
        ("RSA 2048", OneSigner::rsa_2048()?),
        ("RSA 3072", OneSigner::rsa_3072()?),
        ("ECDSA P-256", OneSigner::ecdsa(entropy)),
        ("Ed25519", OneSigner::Ed25519(ed::SigningKey::generate(entropy).into())),
    ];
    let mut rows = vec![historical(runs)?];
    for (key, signer) in signers {
        signer.once()?;
        let all = (0..runs).map(|_| signer.once()).collect::<Result<Vec<_>, Failure>>()?;
        let (sign, verify) = all.into_iter().unzip();
        rows.push(Single { key, sign: Some(median(sign)), verify: median(verify) });
    }
    Ok(rows)
}

fn historical(runs: u16) -> Result<Single, Failure> {
    let key = rsa::VerifyingKey::historical_from_spki_der(RSA_1024).map_err(Failure::bug)?;
    let signature = rsa::Signature::from_bytes(SIGNED_1024).map_err(Failure::bug)?;
    let mut all = Vec::new();
    for _ in 0..=runs {
        let (verify, good) = worked(|| key.verify_raw(MESSAGE_1024, &signature));
        good.map_err(Failure::bug)?;
        all.push(verify);
    }
    Ok(Single { key: "RSA 1024", sign: None, verify: median(all) })
}
