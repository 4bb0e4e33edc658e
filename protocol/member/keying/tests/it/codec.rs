//! Messages survive the round trip; bytes that are cut, lengthened, altered or random give a typed
//! error, never a panic.

use crate::common::table::Table;
use crate::common::view_id;
use bytes::Bytes;
use folkmoot_base::{Blob, codec};
use folkmoot_keying::message::{Envelope, Instance, MESSAGE_BYTES_MAX};
use proptest::prelude::*;

fn sample(body: Vec<u8>) -> Envelope {
    let instance = Instance { counter: 3, nonce: [4; 16] };
    Envelope {
        view: view_id(1),
        attempt: 0,
        instance,
        step: 1,
        body: Blob::from(body),
        signature: [5; 64].into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn round_trip(body in prop::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let envelope = sample(body);
        let bytes = codec::encode(&envelope);
        prop_assert_eq!(Envelope::decode(&bytes).unwrap(), envelope.clone());
        let at = at.index(bytes.len());
        prop_assert!(Envelope::decode(&bytes[..at]).is_err());
        let mut longer = bytes.clone();
        longer.push(0);
        prop_assert!(Envelope::decode(&longer).is_err());
        let mut flipped = bytes;
        flipped[at] ^= 1 << bit;
        if let Ok(other) = Envelope::decode(&flipped) {
            prop_assert_ne!(other, envelope);
        }
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut table = Table::new(2, None);
        table.start(1);
        prop_assert!(table.say(1, 0, &Bytes::from(bytes)).is_err());
        table.honest();
        prop_assert!(table.keys().iter().all(Option::is_some));
    }
}

#[test]
fn too_long_is_refused_before_it_is_read() {
    assert!(Envelope::decode(&vec![1; MESSAGE_BYTES_MAX + 1]).is_err());
}
