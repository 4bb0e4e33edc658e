//! What a multisignature depends on: proven keys, forms, signers, message.

use super::*;

#[test]
fn asm_01_no_key_counts_without_its_proof() {
    let secret = SecretKey::<R>::generate(&mut Seed(1));
    let announced = secret.announce(member(1), CONTEXT, &mut Seed(2));
    let proven = announced.check(member(1), CONTEXT).unwrap();
    assert_eq!(proven.member(), member(1));
    assert!(secret.is_of(&proven));
    assert_eq!(announced.check(member(2), CONTEXT).unwrap_err(), AsmError::PeerProof, "another member");
    assert_eq!(announced.check(member(1), b"other club").unwrap_err(), AsmError::PeerProof, "another group");
    let other = SecretKey::<R>::generate(&mut Seed(9)).announce(member(1), CONTEXT, &mut Seed(2)).encode();
    let mut swapped = announced.encode();
    swapped[1..33].copy_from_slice(&other[1..33]);
    let swapped = KeyAnnouncement::<R>::decode(&swapped).unwrap();
    assert_eq!(swapped.check(member(1), CONTEXT).unwrap_err(), AsmError::PeerProof, "another's key");
}

#[test]
fn asm_02_an_announcement_has_one_form() {
    let announced = SecretKey::<R>::generate(&mut Seed(1)).announce(member(1), CONTEXT, &mut Seed(2));
    let bytes = announced.encode();
    assert_eq!(bytes.len(), KeyAnnouncement::<R>::BYTES);
    assert_eq!(KeyAnnouncement::decode(&bytes), Ok(announced));
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let verdict = KeyAnnouncement::<R>::decode(&changed).and_then(|read| read.check(member(1), CONTEXT));
        assert!(verdict.is_err(), "bit {bit}");
    }
    for end in 0..bytes.len() {
        assert_eq!(KeyAnnouncement::<R>::decode(&bytes[..end]), Err(AsmError::WireKey));
    }
    assert_eq!(KeyAnnouncement::<R>::decode(&[&bytes[..], &[0]].concat()), Err(AsmError::WireKey));
    for at in [1, 33] {
        let mut identity = bytes.clone();
        identity[at..at + 32].fill(0);
        assert_eq!(KeyAnnouncement::<R>::decode(&identity), Err(AsmError::WireKey), "the identity");
    }
}

#[test]
fn asm_03_signers_are_members_of_one_group_with_a_key_each() {
    let club = Club::new(3);
    let keys: Vec<_> = club.members().iter().map(|hand| club.proven(hand)).collect();
    let refused = |keys: Vec<_>| Signers::<R>::new(keys).unwrap_err();
    assert_eq!(refused(vec![]), AsmError::PeerSigners, "nobody");
    assert_eq!(refused(vec![keys[0], keys[1], keys[0]]), AsmError::PeerSigners, "one twice");
    let secret = SecretKey::<R>::generate(&mut Seed(77));
    let proven = |number, context| {
        secret.announce(member(number), context, &mut Seed(1)).check(member(number), context).unwrap()
    };
    assert_eq!(
        refused(vec![proven(8, CONTEXT), proven(9, CONTEXT)]),
        AsmError::PeerSigners,
        "one key, two names"
    );
    assert_eq!(refused(vec![keys[0], proven(8, b"other club")]), AsmError::PeerSigners, "two groups");
    let number = <[u8; 32]>::try_from(&secret.encode().expose()[1..]).unwrap();
    let minus = R::encode_scalar(&R::minus(R::decode_scalar(&number).unwrap()));
    let minus = SecretKey::<R>::decode(&[&[1], &minus[..]].concat()).unwrap();
    let minus = minus.announce(member(9), CONTEXT, &mut Seed(2)).check(member(9), CONTEXT).unwrap();
    assert_eq!(refused(vec![proven(8, CONTEXT), minus]), AsmError::PeerSigners, "keys that cancel out");
    assert!(Signers::new(vec![keys[0], proven(8, CONTEXT), minus]).is_ok());
}

#[test]
fn asm_09_every_changed_bit_of_a_signature_is_refused() {
    let club = Club::new(3);
    let signature = agreed(&play(club.hands(1, MESSAGE), 5));
    let bytes = signature.encode();
    let read = |bytes: &[u8]| MultiSignature::<R>::decode(bytes).and_then(|read| club.verify(MESSAGE, &read));
    assert_eq!(read(&bytes), Ok(()));
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&changed).is_err(), "bit {bit}");
    }
    for end in 0..bytes.len() {
        assert_eq!(read(&bytes[..end]), Err(AsmError::WireSignature));
    }
    assert_eq!(read(&[&bytes[..], &[0]].concat()), Err(AsmError::WireSignature));
    let mut swapped = bytes.clone();
    let (first, rest) = swapped[67..].split_at_mut(32);
    first.swap_with_slice(&mut rest[..32]);
    assert_eq!(read(&swapped), Err(AsmError::WireSignature), "signers out of order");
}

/// Over P-256 an element's tag says its sign, and SEC1 has a third tag that does not: one signature
/// would have two encodings.
#[test]
fn asm_09_every_changed_bit_of_a_signature_over_p256_is_refused() {
    let hands = members(3);
    let secrets: Vec<_> = (1..4).map(|seed| SecretKey::<P256>::generate(&mut Seed(seed << 48))).collect();
    let proven = |(hand, secret): (&MemberId, &SecretKey<P256>)| {
        secret.announce(*hand, CONTEXT, &mut Seed(1)).check(*hand, CONTEXT).unwrap()
    };
    let keys: Vec<_> = hands.iter().zip(&secrets).map(proven).collect();
    let signers = Signers::new(keys.clone()).unwrap();
    let sit = |(hand, secret): (&MemberId, &SecretKey<P256>)| {
        let run = Signing::new(run_id(1), *hand, secret, signers.clone(), LABEL, MESSAGE).unwrap();
        (*hand, Box::new(run) as Box<dyn Run<Done = MultiSignature<P256>>>)
    };
    let ends = play(hands.iter().zip(&secrets).map(sit).collect(), 5);
    let bytes = ends[&hands[0]].as_ref().unwrap().encode();
    let key_of = |hand: &MemberId| hands.iter().position(|other| other == hand).map(|at| keys[at]);
    let read = |bytes: &[u8]| {
        MultiSignature::<P256>::decode(bytes).and_then(|read| read.verify(LABEL, MESSAGE, key_of))
    };
    assert_eq!(read(&bytes), Ok(()));
    // By the third tag half of all elements are what they were, the others another.
    let tagged = [&bytes[..1], &[5], &bytes[2..]].concat();
    assert_eq!(read(&tagged), Err(AsmError::WireSignature));
    for at in 0..bytes.len() {
        for value in
            (0..8).map(|bit| bytes[at] ^ (1 << bit)).chain([4, 5]).filter(|value| *value != bytes[at])
        {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert!(read(&changed).is_err(), "byte {at} as {value}");
        }
    }
}

#[test]
fn asm_10_a_signature_is_of_its_signers_message_label_and_group() {
    let club = Club::new(4);
    let all = club.members();
    let signature = agreed(&play(club.hands_of(&all[..3], 1, MESSAGE), 5));
    assert_eq!(club.verify(MESSAGE, &signature), Ok(()));
    assert_eq!(club.verify(b"", &signature), Err(AsmError::PeerSignature));
    let key_of = |hand: &MemberId| Some(club.proven(hand));
    assert_eq!(signature.verify(b"folkmoot other v1", MESSAGE, key_of), Err(AsmError::PeerSignature));
    let named = |ids: &[MemberId]| {
        let mut bytes = signature.encode()[..65].to_vec();
        bytes.extend((ids.len() as u16).to_be_bytes());
        ids.iter().for_each(|id| bytes.extend(id.0));
        club.verify(MESSAGE, &MultiSignature::decode(&bytes).unwrap())
    };
    assert_eq!(named(&all[..3]), Ok(()));
    assert_eq!(named(&all[..2]), Err(AsmError::PeerSignature), "fewer");
    assert_eq!(named(&all[1..]), Err(AsmError::PeerSignature), "others");
    assert_eq!(named(&all), Err(AsmError::PeerSignature), "more");
    assert_eq!(named(&[member(99)]), Err(AsmError::PeerSigners), "a stranger");
    let elsewhere = |hand: &MemberId| Some(club.proven_in(hand, b"other club"));
    assert_eq!(signature.verify(LABEL, MESSAGE, elsewhere), Err(AsmError::PeerSignature), "another group");
    let confused = |_: &MemberId| Some(club.proven(&all[0]));
    assert_eq!(signature.verify(LABEL, MESSAGE, confused), Err(AsmError::PeerSigners), "one key for all");
}
