//! Anyone who lies in a run is named; to say what belongs elsewhere is a lie too.

use super::*;

type Liar = fn(&mut Vec<u8>);

/// The ends of the honest signers, when the first signer says what `lie` makes of its message.
fn lied(hands: &[MemberId], lie: Liar) -> Vec<Result<Vec<u8>, Fault>> {
    let runs = signers(&dealt().sharing, &dealt().shares, hands, run_id(1), MESSAGE);
    let liar = hands[0];
    let mut ends = play_with(runs, 1, |_, speaker, said| {
        if speaker == liar {
            lie(&mut said.to_all);
        }
    });
    ends.remove(&liar);
    assert_eq!(ends.len(), hands.len() - 1);
    ends.into_values().collect()
}

#[test]
fn sho_07_malformed_words_name_their_speaker() {
    let hands = members(3);
    let lies: [Liar; 9] = [
        |words| words.clear(),
        |words| words.push(0),
        |words| words.truncate(words.len() - 1),
        |words| words[0] = 2,
        |words| words[1..=PART].fill(0),
        |words| words[1..=PART].fill(0xff),
        |words| words[RESPONSE] = 2,
        |words| words[RESPONSE] = 0xff,
        |words| words.extend_from_slice(&[0; 4096]),
    ];
    for lie in lies {
        for end in lied(&hands, lie) {
            assert_eq!(end, Err(Fault { kind: FaultKind::PeerMalformed, culprits: vec![hands[0]] }));
        }
    }
}

#[test]
fn sho_08_liars_are_named_by_all_honest_hands() {
    for places in [[0, 1, 2], [4, 2, 0], [3, 4, 1]] {
        let hands = pick(&members(5), &places);
        let lies: [Liar; 4] = [
            |words| words[PART] ^= 1,
            |words| words[20] ^= 0x40,
            |words| words[2..=PART].copy_from_slice(&[7; PART - 1]),
            // One, which is a square, and in the group of all parts.
            |words| {
                words[1..PART].fill(0);
                words[PART] = 1;
            },
        ];
        for lie in lies {
            for end in lied(&hands, lie) {
                assert_eq!(end, Err(Fault { kind: FaultKind::PeerPart, culprits: vec![hands[0]] }));
            }
        }
    }
}

#[test]
fn sho_08_two_liars_are_both_named() {
    let hands = members(3);
    let runs = signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE);
    let mut ends = play_with(runs, 1, |_, speaker, said| {
        if speaker != hands[1] {
            said.to_all[40] ^= 4;
        }
    });
    let fault = ends.remove(&hands[1]).unwrap().unwrap_err();
    assert_eq!(fault, Fault { kind: FaultKind::PeerPart, culprits: vec![hands[0], hands[2]] });
}

#[test]
fn sho_08_a_false_proof_of_a_true_part_harms_nobody() {
    for end in lied(&members(3), |words| words[CHALLENGE] ^= 1) {
        assert_eq!(
            dealt().sharing.key().verify(MESSAGE, &end.unwrap()),
            Ok(()),
            "the cheap case looks at no proof"
        );
    }
}

#[test]
fn sho_08_a_false_proof_beside_a_false_part_is_named_too() {
    let hands = members(3);
    let runs = signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE);
    let ends = play_with(runs, 1, |_, speaker, said| match speaker {
        liar if liar == hands[0] => said.to_all[PART] ^= 1,
        other if other == hands[1] => said.to_all[RESPONSE + 9] ^= 1,
        _ => {}
    });
    assert_eq!(ends[&hands[2]].as_ref().unwrap_err().culprits, hands[..2]);
}

/// Whether the honest last of three names the first two, who say what `other` made them.
fn borrowed(run: RunId, message: &[u8], seats: [usize; 2]) -> Fault {
    let hands = members(3);
    let strangers = signers(&dealt().sharing, &dealt().shares, &hands, run, message);
    let mut words = Vec::new();
    play_with(strangers, 3, |_, _, said| words.push(said.to_all.clone()));
    let runs = signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE);
    let mut ends = play_with(runs, 1, |_, speaker, said| {
        if let Some(place) = hands[..2].iter().position(|hand| *hand == speaker) {
            said.to_all = words[seats[place]].clone();
        }
    });
    ends.remove(&hands[2]).unwrap().unwrap_err()
}

#[test]
fn sho_08_words_of_another_seat_or_message_are_false() {
    let hands = members(3);
    let both = Fault { kind: FaultKind::PeerPart, culprits: hands[..2].to_vec() };
    assert_eq!(borrowed(run_id(1), MESSAGE, [1, 0]), both, "the seats changed over");
    assert_eq!(borrowed(run_id(1), b"another", [0, 1]), both, "another message");
    assert_eq!(borrowed(run_id(1), MESSAGE, [2, 1]).culprits, hands[..1], "one says what the last says");
    assert_eq!(borrowed(run_id(2), b"another", [0, 1]), both, "another message, another run");
}

#[test]
fn sho_09_a_proof_counts_in_its_run_only() {
    let hands = members(3);
    let strangers = signers(&dealt().sharing, &dealt().shares, &hands, run_id(2), MESSAGE);
    let mut words = Vec::new();
    play_with(strangers, 3, |_, _, said| words.push(said.to_all.clone()));
    let runs = signers(&dealt().sharing, &dealt().shares, &hands, run_id(1), MESSAGE);
    let ends = play_with(runs, 1, |_, speaker, said| match speaker {
        old if old == hands[0] => said.to_all = words[0].clone(),
        liar if liar == hands[1] => said.to_all[PART] ^= 1,
        _ => {}
    });
    assert_eq!(
        ends[&hands[2]].as_ref().unwrap_err().culprits,
        hands[..2],
        "the repeated part was true, its proof old"
    );
}

#[test]
fn sho_10_fewer_than_t_who_lie_about_t_come_to_nothing() {
    let dealt = dealt();
    let mut bytes = dealt.sharing.encode();
    bytes[7..9].copy_from_slice(&2_u16.to_be_bytes());
    let lowered = small(&bytes).unwrap();
    let shares: Vec<ShoupShare> =
        dealt.shares.iter().map(|share| rebind(share, &dealt.sharing, &lowered)).collect();
    for hands in [&members(5)[..2], &members(5)[3..]] {
        let ends = play(signers(&lowered, &shares, hands, run_id(1), MESSAGE), 1);
        for end in ends.into_values() {
            assert_eq!(end, Err(Fault { kind: FaultKind::Unattributable, culprits: vec![] }));
        }
    }
}
