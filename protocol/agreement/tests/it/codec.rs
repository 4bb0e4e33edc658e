//! Tokens round-trip; cut, lengthened and bit-flipped bytes give an error or another token, never a
//! panic.

use crate::common::{Seeded, member};
use folkmoot_agreement::gdh::{Context, Run, Token};
use folkmoot_agreement::{Module, Plan, Ristretto};
use folkmoot_base::codec;
use proptest::prelude::*;

fn sample() -> Token {
    let members = [member(1), member(2), member(3)];
    Context::<Ristretto>::new_member(members[0]).upflow_first(&members, &mut Seeded(1)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn altered_bytes_never_decode_to_the_same(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let bytes = codec::encode(&sample());
        let mut altered = bytes.clone();
        let at = at.index(altered.len());
        altered[at] ^= 1 << bit;
        if let Ok(token) = codec::decode::<Token>(&altered) {
            prop_assert_ne!(token, sample());
        }
        prop_assert!(codec::decode::<Token>(&bytes[..at]).is_err());
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), step in any::<u8>(), from in 0..5_usize) {
        let _ = codec::decode::<Token>(&bytes);
        let members = [member(1), member(2), member(3)];
        let mut run = Run::<Ristretto>::new(&Plan::new(&members, 1).unwrap(), None).unwrap();
        run.start(&mut Seeded(1));
        if bytes.len() != 32 {
            prop_assert!(run.receive(from, step, &bytes, &mut Seeded(2)).is_err());
            prop_assert_eq!(run.awaited(), vec![0]);
        }
    }
}

#[test]
fn round_trip() {
    let bytes = codec::encode(&sample());
    assert_eq!(codec::decode::<Token>(&bytes).unwrap(), sample());
    let mut longer = bytes;
    longer.push(0);
    assert!(codec::decode::<Token>(&longer).is_err());
}
