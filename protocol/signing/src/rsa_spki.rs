//! The one SPKI form of an RSA key with exponent 65537 (RFC 3279, section 2.3.1; RFC 8017, A.1.1):
//! rsaEncryption with NULL, shortest lengths, an odd modulus with its highest bit set. Keys of one
//! holder and keys held in shares are read alike.

/// The form for moduli of one length.
#[derive(Clone, Copy)]
pub(crate) struct SpkiForm {
    /// Bytes of the modulus.
    bytes: usize,
    /// Everything before the modulus, the zero in front of it included.
    head: &'static [u8],
}

pub(crate) const SPKI_1024: SpkiForm = SpkiForm {
    bytes: 128,
    head: &[
        0x30, 0x81, 0x9f, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
        0x00, 0x03, 0x81, 0x8d, 0x00, 0x30, 0x81, 0x89, 0x02, 0x81, 0x81, 0x00,
    ],
};
pub(crate) const SPKI_2048: SpkiForm = SpkiForm {
    bytes: 256,
    head: &[
        0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01,
        0x05, 0x00, 0x03, 0x82, 0x01, 0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00,
    ],
};
pub(crate) const SPKI_3072: SpkiForm = SpkiForm {
    bytes: 384,
    head: &[
        0x30, 0x82, 0x01, 0xa2, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01,
        0x05, 0x00, 0x03, 0x82, 0x01, 0x8f, 0x00, 0x30, 0x82, 0x01, 0x8a, 0x02, 0x82, 0x01, 0x81, 0x00,
    ],
};
/// Everything after the modulus: the exponent 65537.
const TAIL: [u8; 5] = [0x02, 0x03, 0x01, 0x00, 0x01];
/// Bytes before the RSAPublicKey, for 2048 bits and more.
const WRAPPING_BYTES: usize = 24;

impl SpkiForm {
    /// Bytes of a modulus of this form.
    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }

    /// The SPKI of this modulus, which has the form's length.
    pub(crate) fn write(self, modulus: &[u8]) -> Vec<u8> {
        [self.head, modulus, &TAIL].concat()
    }

    /// The modulus in an SPKI of exactly this form.
    pub(crate) fn modulus(self, spki: &[u8]) -> Option<&[u8]> {
        let modulus = spki.strip_prefix(self.head)?.strip_suffix(&TAIL)?;
        let high = modulus.first().is_some_and(|high| high & 0x80 != 0);
        let odd = modulus.last().is_some_and(|low| low & 1 == 1);
        (modulus.len() == self.bytes && high && odd).then_some(modulus)
    }

    /// What the SPKI of this RSAPublicKey would be. [`Self::modulus`] says whether it has this
    /// form. Not for 1024 bits.
    pub(crate) fn wrap(self, public_key: &[u8]) -> Vec<u8> {
        [self.head.get(..WRAPPING_BYTES).unwrap_or_default(), public_key].concat()
    }
}
