//! Bytes that are cut, lengthened or random give a typed error, never a panic, and leave the
//! session working.

use crate::common::{Hears, Texts, member, opened};
use bytes::Bytes;
use folkmoot_session::{HEADER_BYTES, OpenError, PLAIN_BYTES, TAG_BYTES};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn ses_01_garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), at in any::<prop::sample::Index>()) {
        let mut sessions = opened(2, None);
        let _ = sessions[1].hear(member(1), Bytes::from(bytes));
        let sealed = sessions[0].text(b"some text").unwrap();
        let cut = sealed.slice(..at.index(sealed.len()));
        prop_assert!(sessions[1].hear(member(1), cut).is_err());
        let mut longer = sealed.to_vec();
        longer.push(0);
        prop_assert_eq!(sessions[1].hear(member(1), longer.into()), Err(OpenError::WireForged));
        prop_assert!(sessions[1].hear(member(1), sealed).is_ok());
    }
}

#[test]
fn ses_01_lengths() {
    let mut sessions = opened(1, None);
    let sealed = sessions[0].text(b"").unwrap();
    assert_eq!(sealed.len(), HEADER_BYTES + PLAIN_BYTES + TAG_BYTES);
    assert_eq!(sessions[0].hear(member(1), sealed.slice(1..)), Err(OpenError::PeerMalformed));
    assert!(sessions[0].hear(member(1), sealed).is_ok());
}
