//! Who is out, and why.

use super::net::{Authority, Net, read};
use folkmoot_base::{UnixTime, digest};
use folkmoot_pubsub::discovery::message::Said;
use folkmoot_pubsub::discovery::{Danger, Event, Input};

#[test]
fn pub_46_whoever_the_authority_excludes_has_no_key_any_more() {
    let mut net = Net::agreed(5, None);
    let old = net.key(0).clone();
    let statement = net.authority.exclusion(&net.nodes[3].paper.certificate.clone());
    net.input(1, Input::Exclude(&statement));
    net.run(1_000);
    net.assert_one(&[1, 2, 3, 5]);
    assert_eq!(net.nodes[3].keys.last().unwrap().key, old.key, "it has the old one only");
    assert!(net.nodes[3].events.contains(&Event::Out));
    // It does not come back, whatever it says.
    net.restart(3);
    net.run(5_000);
    net.assert_one(&[1, 2, 3, 5]);
    // Nor does it after the others restarted, one after another.
    for node in [0, 1, 2, 4] {
        net.stop(node);
        net.restart(node);
        net.run(3_000);
    }
    net.restart(3);
    net.run(5_000);
    net.assert_one(&[1, 2, 3, 5]);
}

#[test]
fn pub_75_whoever_is_without_somebody_shares_no_key_with_it_from_then_on() {
    let mut shared_then = 0;
    // At each moment of an agreement that lets it in.
    for moment in (0..700).step_by(10) {
        let mut net = Net::agreed(3, None);
        net.add(4, 0);
        net.start(3);
        net.run(moment);
        let certificate = net.nodes[3].paper.certificate.clone();
        let (holder, statement) = (digest(&[&certificate]), net.authority.exclusion(&certificate));
        net.input(0, Input::Exclude(&statement));
        assert!(net.nodes[0].machine.excludes(&holder), "it knows");
        let (known, mut without) = (net.nodes[0].keys.len(), None);
        for _ in 0..3_000 {
            let there = net.nodes[0].machine.is_without(&holder);
            without = without.or_else(|| there.then_some(net.nodes[0].keys.len()));
            net.run(1);
        }
        let keys = &net.nodes[0].keys;
        let shared = |from: usize| keys.iter().skip(from).filter(|key| key.members.contains(&4)).count();
        assert_eq!(shared(without.expect("it is carried out")), 0, "{moment}");
        shared_then += usize::from(keys[known - 1].members.contains(&4));
        net.assert_one(&[1, 2, 3]);
    }
    assert!(shared_then > 0, "to know of the exclusion is not enough");
}

#[test]
fn pub_46_nobody_else_excludes_and_a_statement_works_once() {
    let mut net = Net::agreed(4, None);
    let certificate = net.nodes[3].paper.certificate.clone();
    let forged = Authority::new(5).exclusion(&certificate);
    net.input(1, Input::Exclude(&forged));
    net.run(1_000);
    net.assert_one(&[1, 2, 3, 4]);
    let statement = net.authority.exclusion(&certificate);
    net.input(1, Input::Exclude(&statement));
    net.run(1_000);
    net.assert_one(&[1, 2, 3]);
    let (keys, wire) = (net.nodes[0].keys.len(), net.wire.len());
    net.input(0, Input::Exclude(&statement));
    net.input(1, Input::Exclude(&statement));
    net.run(1_500);
    assert_eq!(net.nodes[0].keys.len(), keys);
    assert!(net.sent(wire, |said| !matches!(said, Said::Beacon(_))).is_empty());
}

#[test]
fn pub_46_a_new_certificate_is_another_matter() {
    let mut net = Net::agreed(4, None);
    let statement = net.authority.exclusion(&net.nodes[3].paper.certificate.clone());
    net.input(0, Input::Exclude(&statement));
    net.run(1_000);
    let paper = net.authority.paper(4, 44, 0);
    net.nodes.truncate(3);
    net.add_with(paper);
    net.start(3);
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4]);
}

#[test]
fn without_pub_46_the_excluded_has_every_later_key() {
    let mut net = Net::agreed(5, Some(Danger::ExcludesNobody));
    let statement = net.authority.exclusion(&net.nodes[3].paper.certificate.clone());
    net.input(1, Input::Exclude(&statement));
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4, 5]);
}

#[test]
fn pub_46_whoever_leaves_is_out_until_it_joins_again() {
    let mut net = Net::agreed(5, None);
    let before = net.wire.len();
    net.input(2, Input::Leave);
    net.run(1_000);
    net.assert_one(&[1, 2, 4, 5]);
    let notice = net.sent(before, |said| matches!(said, Said::Notice(_))).remove(0).1;
    net.restart(2);
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4, 5]);
    let keys = net.nodes[0].keys.len();
    // What it said then does not count against what it said since.
    for to in [0, 1, 3, 4] {
        net.tell(to, &notice);
    }
    net.run(2_000);
    assert_eq!(net.nodes[0].keys.len(), keys);
    net.assert_one(&[1, 2, 3, 4, 5]);
}

#[test]
fn pub_46_nobody_leaves_in_anothers_name() {
    let mut net = Net::agreed(4, None);
    net.input(2, Input::Leave);
    let (_, notice) = net.sent(0, |said| matches!(said, Said::Notice(_))).remove(0);
    let mut body = read(&notice);
    let Said::Notice(said) = &mut body.said else { panic!("a notice") };
    let folkmoot_pubsub::discovery::message::Proof::Left(signed) = &mut said.proofs[0] else {
        panic!("a leave")
    };
    let mut left = signed.body.0.to_vec();
    // Version, domain, then the id: member 4 instead of 3.
    left[18] = 4;
    signed.body = left.into();
    let liar = net.nodes[1].paper.clone();
    let join = folkmoot_base::Blob(net.join_of(1));
    let said =
        Said::Notice(folkmoot_pubsub::discovery::message::Notice { join, proofs: said.proofs.clone() });
    let forged = super::net::signed(&liar, 2, 10_000, said);
    net.tell(0, &forged);
    net.run(1_000);
    assert!(net.key(0).members.contains(&4));
}

#[test]
fn pub_46_a_certificate_ends_though_clocks_are_a_second_apart() {
    let mut net = Net::new(3, None);
    net.add(4, 1_000);
    for node in 0..4 {
        net.input(node, Input::Wall(UnixTime(900)));
        net.start(node);
    }
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4]);
    // The first sees the end; the others' clocks are behind.
    net.input(1, Input::Wall(UnixTime(998)));
    net.input(2, Input::Wall(UnixTime(999)));
    net.input(0, Input::Wall(UnixTime(1_000)));
    net.run(1_000);
    net.assert_one(&[1, 2, 3]);
    let key = net.key(0).clone();
    // And nobody is out before the end.
    let mut early = Net::new(3, None);
    early.add(4, 1_000);
    for node in 0..4 {
        early.input(node, Input::Wall(UnixTime(990)));
        early.start(node);
    }
    early.run(3_000);
    early.assert_one(&[1, 2, 3, 4]);
    assert_ne!(early.key(0).key, key.key);
}

/// Four, of whom the last has a certificate that ends at 1,000.
fn with_an_end(danger: Option<Danger>) -> Net {
    let mut net = Net::new(3, danger);
    net.add(4, 1_000);
    for node in 0..4 {
        net.input(node, Input::Wall(UnixTime(900)));
        net.start(node);
    }
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4]);
    net
}

fn pass(net: &mut Net, wall: u64) {
    for node in [0, 1, 2] {
        net.input(node, Input::Wall(UnixTime(wall)));
    }
    net.run(2_000);
}

/// Member 4 comes with another certificate.
fn renewed(net: &mut Net) {
    let paper = net.authority.paper(4, 44, 0);
    net.nodes.truncate(3);
    net.add_with(paper);
    net.input(3, Input::Wall(UnixTime(1_010)));
    net.start(3);
    net.run(6_000);
}

#[test]
fn pub_46_an_ended_certificate_stays_ended_over_a_restart_and_another_takes_its_place() {
    let mut net = with_an_end(None);
    // One is away when the certificate ends, and one restarts afterwards.
    net.stop(1);
    pass(&mut net, 1_006);
    net.stop(2);
    net.restart(2);
    net.input(2, Input::Wall(UnixTime(1_008)));
    net.run(4_000);
    renewed(&mut net);
    net.restart(1);
    net.input(1, Input::Wall(UnixTime(1_020)));
    net.run(8_000);
    net.assert_one(&[1, 2, 3, 4]);
}

#[test]
fn pub_46_whoever_was_away_is_shown_why_a_former_certificate_does_not_count() {
    for (danger, one) in [(None, true), (Some(Danger::HidesFormer), false)] {
        let mut net = Net::agreed(4, danger);
        net.stop(1);
        let statement = net.authority.exclusion(&net.nodes[3].paper.certificate.clone());
        net.input(0, Input::Exclude(&statement));
        net.run(8_000);
        renewed(&mut net);
        net.restart(1);
        net.run(8_000);
        let members = net.nodes[1].keys.last().map(|epoch| epoch.members.len());
        assert_eq!(members == Some(4), one, "{danger:?}");
        if one {
            net.assert_one(&[1, 2, 3, 4]);
        }
    }
}

#[test]
fn pub_46_whoever_has_the_new_certificate_may_be_the_only_one_to_show_why_the_former_does_not_count() {
    let mut net = Net::agreed(4, None);
    net.stop(1);
    let statement = net.authority.exclusion(&net.nodes[3].paper.certificate.clone());
    net.input(0, Input::Exclude(&statement));
    net.run(8_000);
    renewed(&mut net);
    net.assert_one(&[1, 3, 4]);
    for node in [0, 2] {
        net.input(node, Input::Leave);
        net.run(2_000);
        net.stop(node);
    }
    net.restart(1);
    net.run(8_000);
    net.assert_one(&[2, 4]);
}

#[test]
fn pub_71_what_ended_an_hour_ago_is_forgotten() {
    for (danger, kept) in [(None, 0), (Some(Danger::NeverForgets), 1)] {
        let mut net = with_an_end(danger);
        pass(&mut net, 1_006);
        net.assert_one(&[1, 2, 3]);
        let sizes = |net: &Net| (net.nodes[0].machine.remembered(), net.nodes[0].machine.words_kept());
        assert_eq!(sizes(&net), (4, 1));
        pass(&mut net, 4_500);
        assert_eq!(sizes(&net), (4, 1), "not yet");
        pass(&mut net, 4_601);
        assert_eq!(sizes(&net), (3 + kept, kept));
        // Nobody takes it any more all the same.
        let join = net.join_of(3);
        net.tell(0, &join);
        assert_eq!(net.nodes[0].machine.remembered(), 3 + kept);
    }
}

#[test]
fn pub_71_an_exclusion_that_says_when_the_certificate_ends_takes_no_place_after_that() {
    for (danger, kept) in [(None, 0), (Some(Danger::NeverForgets), 2)] {
        let mut net = Net::agreed(4, danger);
        net.input(0, Input::Wall(UnixTime(1_000)));
        // Nobody here knows whose these are.
        let [late, open] = [6_u8, 7].map(|one| net.authority.exclusion_until(&[one; 9], 5_000));
        net.input(0, Input::Exclude(&late));
        assert_eq!(net.nodes[0].machine.words_kept(), 1);
        net.input(0, Input::Wall(UnixTime(8_599)));
        assert_eq!(net.nodes[0].machine.words_kept(), 1, "not yet");
        net.input(0, Input::Wall(UnixTime(8_600)));
        net.input(0, Input::Exclude(&open));
        assert_eq!(net.nodes[0].machine.words_kept(), kept, "{danger:?}");
    }
}

#[test]
fn pub_53_an_exclusion_that_finds_no_room_is_reported() {
    let mut net = Net::agreed(4, None);
    for key in 0..256_u64 {
        let statement = net.authority.exclusion(&key.to_be_bytes());
        net.input(0, Input::Exclude(&statement));
    }
    assert!(!net.nodes[0].events.contains(&Event::Full), "as many as it keeps");
    let last = net.authority.exclusion(&net.nodes[3].paper.certificate.clone());
    net.input(0, Input::Exclude(&last));
    assert!(net.nodes[0].events.contains(&Event::Full));
    assert_eq!(net.nodes[0].machine.words_kept(), 256);
    net.run(2_000);
    net.assert_one(&[1, 2, 3, 4]);
}

#[test]
fn pub_46_whoever_wakes_long_after_its_own_end_is_out() {
    let mut net = Net::new(1, None);
    net.add(2, 1_000);
    for node in 0..2 {
        net.input(node, Input::Wall(UnixTime(500)));
        net.start(node);
    }
    net.run(3_000);
    net.assert_one(&[1, 2]);
    // Its clock jumps, or it was asleep: PUB-71 forgets what ended an hour ago.
    net.input(1, Input::Wall(UnixTime(9_000)));
    assert_eq!(net.nodes[1].events.last(), Some(&Event::Out));
    net.input(0, Input::Wall(UnixTime(9_000)));
    net.run(3_000);
    net.assert_one(&[1]);
}
