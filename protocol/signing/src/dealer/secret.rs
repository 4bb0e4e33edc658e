//! What a dealer knows of a key in a group of prime order, and its one encoding.
//!
//! ```text
//! 01 12 | len u16 | group name | number        in the form of `crate::sharing`; 1 to q − 1
//! ```

use crate::PrimeGroup;
use crate::base::{Entropy, Secret};
use crate::sharing::{Kind, Reader, Writer};
use zeroize::Zeroize as _;

/// A private key, whole. Erased when dropped.
pub(super) struct GroupSecret<G: PrimeGroup>(Secret<G::Scalar>);

impl<G: PrimeGroup> GroupSecret<G> {
    pub(super) fn draw(entropy: &mut dyn Entropy) -> Self {
        Self(Secret::new(G::draw(entropy)))
    }

    pub(super) fn number(&self) -> &G::Scalar {
        self.0.expose()
    }

    /// The public key.
    pub(super) fn public(&self) -> G::Element {
        G::raise_generator(self.number())
    }

    pub(super) fn encode(&self) -> Secret<Vec<u8>> {
        let room = G::NAME.len().saturating_add(G::SCALAR_BYTES).saturating_add(2);
        Secret::new(Writer::new(Kind::Secret, room).group::<G>().scalar::<G>(self.number()).end())
    }

    /// Reads what [`Self::encode`] writes; none for everything else.
    pub(super) fn decode(bytes: &Secret<Vec<u8>>) -> Option<Self> {
        let mut reader = Reader::new(bytes.expose(), Kind::Secret)?;
        reader.group::<G>()?;
        let mut number = reader.scalar::<G>()?;
        let secret = Self(Secret::new(number));
        number.zeroize();
        reader.end()?;
        (*secret.number() != G::zero()).then_some(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stuck::Stuck;
    use crate::{Edwards, P256};
    use proptest::prelude::*;

    fn survives<G: PrimeGroup>(drawn: u8) {
        let secret = GroupSecret::<G>::draw(&mut Stuck(drawn));
        let bytes = secret.encode();
        let again = GroupSecret::<G>::decode(&bytes).unwrap();
        assert!(again.number() == secret.number());
        assert_eq!(again.encode().expose(), bytes.expose());
        let zero = Writer::new(Kind::Secret, 0).group::<G>().scalar::<G>(&G::zero()).end();
        assert!(GroupSecret::<G>::decode(&Secret::new(zero)).is_none());
    }

    proptest! {
        #[test]
        fn secrets_survive_their_encoding(drawn in 1_u8..) {
            survives::<P256>(drawn);
            survives::<Edwards>(drawn);
        }

        #[test]
        fn arbitrary_bytes_have_one_encoding_or_are_refused(number: [u8; 32], more in 0_usize..3) {
            for name in [P256::NAME, Edwards::NAME] {
                let mut bytes = Writer::new(Kind::Secret, 0).length(name.len()).bytes(name).bytes(&number).end();
                bytes.resize(bytes.len() + more, 0);
                let bytes = Secret::new(bytes);
                if let Some(read) = GroupSecret::<P256>::decode(&bytes) {
                    prop_assert!(read.encode() == bytes);
                }
                if let Some(read) = GroupSecret::<Edwards>::decode(&bytes) {
                    prop_assert!(read.encode() == bytes);
                }
            }
        }
    }
}
