//! What counts as a message.

use super::net::{Authority, Net, read, signed};
use folkmoot_base::codec::{decode, encode};
use folkmoot_base::{Blob, UnixTime};
use folkmoot_pubsub::discovery::message::{
    Beacon, Body, HeardUpTo, Held, Join, MESSAGE_BYTES_MAX, Named, Notice, Proof, Response, Round, Said,
    Signed,
};
use folkmoot_pubsub::discovery::{Danger, Event, Input, Output};
use proptest::prelude::*;

/// Whether `bytes` change anything at a member: what it sends, has, or writes.
fn moves(net: &mut Net, node: usize, bytes: &[u8]) -> bool {
    let before = net.nodes[node].outputs.len();
    let timeout = net.nodes[node].machine.poll_timeout();
    net.tell(node, bytes);
    net.nodes[node].outputs.len() != before || net.nodes[node].machine.poll_timeout() != timeout
}

fn join(net: &Net, uid: u16, key: u64, instance: u64) -> Vec<u8> {
    let paper = net.authority.paper(uid, key, 0);
    let certificate = Blob::from(paper.certificate.clone());
    signed(&paper, uid, instance, Said::Join(Join { certificate, nonce: [9; 16], number: 0 })).to_vec()
}

#[test]
fn pub_40_a_message_is_whole_and_of_this_domain() {
    let mut net = Net::agreed(3, None);
    let good = join(&net, 9, 9, 5);
    for length in 0..good.len() {
        assert!(!moves(&mut net, 0, &good[..length]), "{length} bytes");
    }
    assert!(!moves(&mut net, 0, &[&good[..], &[0]].concat()));
    assert!(!moves(&mut net, 0, &vec![1; MESSAGE_BYTES_MAX + 1]));
    let mut body = read(&good);
    body.domain = [0; 16];
    let paper = net.authority.paper(9, 9, 0);
    let body = encode(&body);
    let signature =
        folkmoot_pubsub::discovery::Papers::sign(&paper, &[b"folkmoot lcm keys v1\0", &body[..]].concat());
    let foreign = encode(&Signed { body: body.into(), signature: signature.into() });
    assert!(!moves(&mut net, 0, &foreign));
    assert!(moves(&mut net, 0, &good), "the good one does");
}

#[test]
fn pub_41_a_message_is_signed_by_its_sender_whose_certificate_the_authority_signed() {
    let mut net = Net::agreed(3, None);
    let good = join(&net, 9, 9, 5);
    for place in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[place] ^= 1;
        assert!(!moves(&mut net, 0, &bad), "byte {place}");
    }
    let foreign = Authority::new(2).paper(9, 9, 0);
    let certificate = Blob::from(foreign.certificate.clone());
    let said = Said::Join(Join { certificate, nonce: [9; 16], number: 0 });
    assert!(!moves(&mut net, 0, &signed(&foreign, 9, 5, said)));
    let mine = net.authority.paper(9, 9, 0);
    let certificate = Blob::from(mine.certificate.clone());
    let said = Said::Join(Join { certificate, nonce: [9; 16], number: 0 });
    assert!(!moves(&mut net, 0, &signed(&mine, 8, 5, said)), "in another's name");
    // A member's word in another member's name.
    let (_, beacon) = net.sent(0, |said| matches!(said, Said::Round(_))).pop().unwrap();
    let said = read(&beacon).said;
    let liar = net.nodes[1].paper.clone();
    assert!(!moves(&mut net, 0, &signed(&liar, 3, 1_000, said)));
    assert!(moves(&mut net, 0, &good));
}

#[test]
fn pub_42_what_was_heard_does_not_count_again_after_a_restart_either() {
    let mut net = Net::agreed(4, None);
    let recorded = net.wire.clone();
    let keys: Vec<_> = net.nodes.iter().map(|node| node.keys.len()).collect();
    for (from, bytes) in &recorded {
        for to in (0..4).filter(|to| to != from) {
            net.tell(to, bytes);
        }
    }
    net.run(3_000);
    assert_eq!(net.nodes.iter().map(|node| node.keys.len()).collect::<Vec<_>>(), keys);
    net.stop(2);
    net.restart(2);
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4]);
    let (wire, epoch) = (net.wire.len(), net.key(2).clone());
    recorded.iter().filter(|(from, _)| *from != 2).for_each(|(_, bytes)| net.tell(2, bytes));
    net.run(3_000);
    assert_eq!(net.key(2), &epoch);
    assert!(net.sent(wire, |said| !matches!(said, Said::Beacon(_) | Said::Notice(_))).is_empty());
}

#[test]
fn without_pub_42_and_43_an_old_join_makes_the_group_begin_anew() {
    for (danger, anew) in [(None, false), (Some(Danger::ForgetsInstances), true)] {
        let mut net = Net::agreed(4, danger);
        let old = net.join_of(3);
        net.stop(3);
        net.restart(3);
        net.run(4_000);
        net.assert_one(&[1, 2, 3, 4]);
        let wire = net.wire.len();
        (0..3).for_each(|to| net.tell(to, &old));
        net.run(1_000);
        let rounds = net.sent(wire, |said| matches!(said, Said::Round(_)));
        assert_eq!(!rounds.is_empty(), anew);
    }
}

#[test]
fn pub_43_sets_list_nobody_twice_and_joins_that_were_signed() {
    let mut net = Net::agreed(3, None);
    let paper = net.authority.paper(9, 9, 0);
    let entry = |uid: u16| Blob::from(join(&net, uid, u64::from(uid), 5));
    let joins = [entry(8), entry(9), entry(7)];
    let say = |old: Vec<Blob>, new: Vec<Blob>, instance| {
        let base = (!old.is_empty()).then_some([1; 32]);
        let response = Response {
            number: 9,
            salt: [0; 16],
            base,
            old,
            new,
            proofs: Vec::new(),
            held: Vec::new(),
            pace: 0,
        };
        signed(&paper, 9, instance, Said::Response(response))
    };
    let [eight, nine, seven] = joins;
    let mut forged = eight.0.to_vec();
    *forged.last_mut().unwrap() ^= 1;
    let bad = [
        say(vec![], vec![nine.clone(), eight.clone()], 10),
        say(vec![], vec![nine.clone(), nine.clone()], 11),
        say(vec![nine.clone()], vec![nine.clone()], 12),
        say(vec![], vec![Blob::from(forged), nine.clone()], 13),
        say(vec![], vec![seven, eight.clone()], 14),
        say(vec![], vec![nine.clone()], 4),
    ];
    for (place, bad) in bad.iter().enumerate() {
        let refused = net.nodes[0].machine.refused();
        assert!(!moves(&mut net, 0, bad), "{place}");
        assert!(net.nodes[0].machine.refused() > refused, "{place}");
    }
    let remembered = net.nodes[0].machine.remembered();
    net.tell(0, &say(vec![], vec![eight, nine], 15));
    assert_eq!(net.nodes[0].machine.remembered(), remembered + 2);
}

#[test]
fn pub_51_an_instance_is_on_disk_before_it_is_used() {
    let mut net = Net::agreed(3, None);
    let mut highest = 0;
    for _ in 0..3 {
        net.stop(0);
        net.restart(0);
        net.run(3_000);
    }
    for output in &net.nodes[0].outputs {
        match output {
            Output::Persist(bytes) => {
                // The first field: what is reserved.
                highest = u64::from_be_bytes(bytes[1..9].try_into().unwrap());
            }
            Output::Send(bytes) if read(bytes).sender == 1 => {
                assert!(read(bytes).instance < highest, "{} of {highest}", read(bytes).instance);
            }
            _ => {}
        }
    }
    let mine = net.wire.iter().filter(|(from, _)| *from == 0).map(|(_, bytes)| bytes);
    let mut instances: Vec<u64> = mine.map(|bytes| read(bytes).instance).collect();
    let all = instances.len();
    instances.dedup();
    assert!(instances.is_sorted() && instances.len() == all, "none twice, over four processes");
}

#[test]
fn pub_53_what_others_say_does_not_grow_without_bound() {
    let mut net = Net::agreed(3, None);
    for uid in 10..1_300_u16 {
        // One key for all: the certificates differ, and keys are slow to make.
        let bytes = join(&net, uid, 9, 5);
        net.nodes[0].machine.handle(
            folkmoot_base::Instant(net.now),
            Input::Message(&bytes),
            &mut super::net::Seeded(1),
        );
    }
    assert_eq!(net.nodes[0].machine.remembered(), 1_024);
}

#[test]
fn pub_54_two_certificates_with_one_id_are_told_and_the_second_does_not_count() {
    let mut net = Net::agreed(3, None);
    let second = join(&net, 2, 77, 500);
    net.tell(0, &second);
    assert!(net.nodes[0].events.contains(&Event::Duplicate(2)));
    net.run(3_000);
    net.assert_one(&[1, 2, 3]);
    assert_eq!(net.nodes[0].keys.len(), 1);
}

#[test]
fn pub_80_without_the_rule_another_key_takes_a_members_place() {
    let refused = |danger| {
        let mut net = Net::agreed(3, danger);
        let second = join(&net, 2, 77, 500);
        net.tell(0, &second);
        net.nodes[0].events.contains(&Event::Duplicate(2))
    };
    assert_eq!((refused(None), refused(Some(Danger::AnythingRenews))), (true, false));
}

fn blob() -> impl Strategy<Value = Blob> {
    proptest::collection::vec(any::<u8>(), 0..40).prop_map(Blob::from)
}

fn proof() -> impl Strategy<Value = Proof> {
    prop_oneof![
        blob().prop_map(Proof::Excluded),
        blob().prop_map(Proof::Expired),
        (blob(), blob()).prop_map(|(statement, certificate)| Proof::Named(Named { statement, certificate })),
        (blob(), blob()).prop_map(|(body, signature)| Proof::Left(Signed { body, signature })),
        (any::<[u8; 32]>(), any::<u64>())
            .prop_map(|(holder, instance)| Proof::Heard(HeardUpTo { holder, instance })),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let join = (blob(), any::<[u8; 16]>(), any::<u64>());
    let blobs = || proptest::collection::vec(blob(), 1..4);
    let proofs = || proptest::collection::vec(proof(), 0..3);
    let held = proptest::collection::vec((any::<u16>(), any::<u32>()), 0..3);
    let response =
        (any::<u64>(), any::<[u8; 16]>(), any::<bool>(), blobs(), blobs(), proofs(), held, any::<u32>());
    let word = || proptest::option::of(any::<[u8; 32]>());
    let lacks = proptest::collection::vec(any::<u16>(), 0..4);
    let round = (any::<[u8; 32]>(), word(), word(), word(), 0_u8..4, lacks);
    prop_oneof![
        join.prop_map(|(certificate, nonce, number)| Said::Join(Join { certificate, nonce, number })),
        response.prop_map(|(number, salt, based, old, new, proofs, held, pace)| {
            let held = held.into_iter().map(|(uid, micros)| Held { uid, micros }).collect();
            let (base, old) = if based { (Some([3; 32]), old) } else { (None, Vec::new()) };
            Said::Response(Response { number, salt, base, old, new, proofs, held, pace })
        }),
        round.prop_map(|(candidate, share, link, confirm, flags, lacks)| {
            Said::Round(Round { candidate, share, link, confirm, flags, lacks })
        }),
        (blob(), any::<[u8; 32]>(), any::<u64>(), any::<u16>())
            .prop_map(|(join, run, number, size)| Said::Beacon(Beacon { join, run, number, size })),
        (blob(), proofs()).prop_map(|(join, proofs)| Said::Notice(Notice { join, proofs })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn what_is_written_is_read(said in said(), domain in any::<[u8; 16]>(), sender in any::<u16>(), instance in any::<u64>()) {
        let body = Body { domain, sender, instance, said };
        prop_assert_eq!(decode::<Body>(&encode(&body)), Ok(body.clone()));
        let signed = Signed { body: encode(&body).into(), signature: vec![7; 64].into() };
        prop_assert_eq!(Signed::read(&encode(&signed)), Ok((signed, body)));
    }

    #[test]
    fn no_bytes_are_read_as_two_messages(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok((signed, _)) = Signed::read(&bytes) {
            prop_assert_eq!(encode(&signed), bytes);
        }
    }
}

#[test]
fn the_time_of_day_decides_nothing_but_what_has_ended() {
    let mut net = Net::new(4, None);
    for node in 0..4 {
        net.input(node, Input::Wall(UnixTime(1_000_000_000 * node as u64)));
        net.start(node);
    }
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4]);
}

#[test]
fn pub_79_whoever_has_forgotten_what_it_said_is_told_so_and_a_twin_is_noticed() {
    let behind = |net: &Net, node: usize| net.nodes[node].events.contains(&Event::Behind);
    let mut net = Net::agreed(4, None);
    let old = net.nodes[3].disk.clone();
    // A restart forgets nothing.
    net.stop(3);
    net.restart(3);
    net.run(5_000);
    net.assert_one(&[1, 2, 3, 4]);
    assert!((0..4).all(|node| net.nodes[node].events.is_empty()));
    for disk in [None, old] {
        net.stop(3);
        net.nodes[3].disk = disk.clone();
        // Those who are told of it may have started anew, too.
        net.stop(0);
        net.restart(0);
        net.restart(3);
        net.run(6_000);
        assert!(behind(&net, 3), "{}", disk.is_some());
        assert!((0..3).all(|node| !behind(&net, node)));
        net.nodes[3].events.clear();
    }
    // Another process with its certificate, which has said more.
    let paper = net.nodes[3].paper.clone();
    net.tell(
        3,
        &signed(&paper, 4, 1 << 40, Said::Notice(Notice { join: Blob(net.join_of(3)), proofs: vec![] })),
    );
    assert_eq!(net.nodes[3].events, [Event::Twin]);
    // In its name, and by nobody who has its key.
    let liar = net.authority.paper(4, 44, 0);
    net.tell(
        3,
        &signed(&liar, 4, 1 << 41, Said::Notice(Notice { join: Blob(net.join_of(3)), proofs: vec![] })),
    );
    assert_eq!(net.nodes[3].events, [Event::Twin]);
}

#[test]
fn pub_79_whoever_left_later_than_it_knows_is_not_said_to_be_excluded() {
    let mut net = Net::agreed(3, None);
    net.input(2, Input::Leave);
    net.run(3_000);
    // Its instances begin anew, below the one with which it left.
    net.nodes[2].disk = None;
    net.restart(2);
    net.run(6_000);
    assert_eq!(net.nodes[2].events.first(), Some(&Event::Behind));
    assert!(net.nodes[2].events.contains(&Event::Out));
}
