//! RING-29, RING-30, LINK-36, NODE-24: rings of nearby and of distant members, with loss, and with
//! members that are stopped for a while.

use crate::net::{Net, seconds};
use folkmoot_base::{Danger, Mutant};

/// Round trips, in microseconds.
const TRIPS: [u64; 5] = [100, 50_000, 200_000, 600_000, 1_000_000];

/// So many members in one group, over such paths; and how long that took, in milliseconds.
fn founded(members: usize, trip: u64) -> (Net, u64) {
    let (mut net, all) = started(members, trip, Mutant::NONE);
    let took = net.until(seconds(60), |net| shared(net, &all));
    let took = took.unwrap_or_else(|| panic!("{trip}\n{}", net.told()));
    (net, took)
}

/// So many nodes that have just started.
fn started(members: usize, trip: u64, danger: Mutant) -> (Net, Vec<usize>) {
    let mut net = Net::new(members, 9_000 + trip);
    (net.trip, net.danger) = (Some(trip), danger);
    (0..members).for_each(|who| net.start(members, who, &(0..who).collect::<Vec<_>>()));
    let all: Vec<usize> = (0..members).collect();
    all.iter().for_each(|who| net.join(*who));
    (net, all)
}

/// All are in one ring, and have told their members that exactly these are in the group.
fn shared(net: &Net, all: &[usize]) -> bool {
    net.together(all) && all.iter().all(|who| net.players[who].notice.iter().eq(all))
}

/// One second, and so many round trips, in milliseconds.
fn limit(trip: u64, trips: u64) -> u64 {
    1_000 + trip * trips / 1_000
}

/// Three members, far from one another or near: they form, stay together, lose one and form again,
/// once.
#[test]
fn ring_29_three_form_and_form_again_as_fast_as_their_paths_let_them() {
    for trip in TRIPS {
        let (mut net, formed) = founded(3, trip);
        eprintln!("{trip} us: formed in {formed} ms");
        assert!(formed <= limit(trip, 8), "{trip}: {formed} ms\n{}", net.told());
        let before = net.installed();
        net.ms(seconds(30));
        assert_eq!(net.installed(), before, "{trip}\n{}", net.told());
        net.stop(2, false);
        let before = net.installed();
        let took = net.until(seconds(60), |net| shared(net, &[0, 1])).expect("a ring without it");
        eprintln!("{trip} us: formed again in {took} ms");
        assert!(took <= limit(trip, 8), "{trip}: {took} ms\n{}", net.told());
        net.ms(seconds(30));
        assert_eq!(net.installed(), before + 2, "{trip}\n{}", net.told());
    }
}

#[test]
fn node_24_five_distant_members_form_stay_and_form_again() {
    for trip in [600_000, 1_000_000] {
        let (mut net, _) = founded(5, trip);
        let before = net.installed();
        net.ms(seconds(60));
        assert_eq!(net.installed(), before, "{trip}\n{}", net.told());
        net.stop(0, false);
        net.until(seconds(30), |net| shared(net, &[1, 2, 3, 4])).expect("a ring without it");
    }
}

/// Whether so many nodes so far from each other are ever left out because their tables take long.
fn left_out(nodes: usize, trip: u64, danger: Mutant) -> bool {
    let (mut net, _) = started(nodes, trip, danger);
    net.ms(seconds(90));
    net.told().contains("left out for a while")
}

#[test]
fn node_24_without_it_distant_members_leave_one_another_out() {
    for (nodes, trip) in [(5, 1_000_000), (9, 1_500_000)] {
        assert!(!left_out(nodes, trip, Mutant::NONE), "{nodes}, {trip}");
    }
    assert!(left_out(9, 1_500_000, Some(Danger::RingNearPatience).into()));
}

/// SIGKILL, where a round trip takes next to no time, at any moment of a token's round.
#[test]
fn ring_30_who_is_killed_is_missed_within_half_a_second() {
    for members in [3, 5] {
        let mut all = Vec::new();
        for moment in 0..20 {
            let (mut net, _) = founded(members, 100);
            net.ms(3_000 + moment * 17);
            let lost = usize::try_from(moment).unwrap() % members;
            net.stop(lost, false);
            let rest: Vec<usize> = (0..members).filter(|who| *who != lost).collect();
            let before = net.installed();
            let took = net.until(seconds(5), |net| shared(net, &rest)).expect("a ring without it");
            all.push(took);
            net.ms(seconds(10));
            assert_eq!(net.installed(), before + rest.len(), "{}", net.told());
        }
        all.sort_unstable();
        eprintln!("{members}: {all:?}");
        assert!(all[10] <= 520 && all[19] <= 700, "{members}: {all:?}");
    }
}

#[test]
fn ring_30_who_is_stopped_for_three_hundred_milliseconds_costs_nothing() {
    for members in [3, 5] {
        for moment in 0..20 {
            let (mut net, _) = founded(members, 100);
            net.ms(3_000 + moment * 17);
            let before = net.installed();
            let who = usize::try_from(moment).unwrap() % members;
            net.stopped = Some((who, net.now + 300_000));
            net.ms(seconds(5));
            assert_eq!(net.installed(), before, "{who}\n{}", net.told());
        }
    }
}

/// Every twentieth datagram is lost, and every fifth.
#[test]
fn ring_29_a_ring_stands_though_many_datagrams_are_lost() {
    for loss in [13, 51] {
        for trip in TRIPS {
            let (mut net, _) = founded(3, trip);
            net.loss = loss;
            let before = net.installed();
            net.ms(seconds(60));
            assert_eq!(net.installed(), before, "{loss} of 256, {trip} us\n{}", net.told());
        }
    }
}

#[test]
fn ring_29_a_ring_of_near_members_whose_paths_become_long_stands_again() {
    for trip in [50_000, 200_000, 600_000, 1_000_000] {
        let (mut net, _) = founded(3, 100);
        net.ms(seconds(5));
        net.trip = Some(trip);
        net.ms(seconds(30));
        let before = net.installed();
        assert!(shared(&net, &[0, 1, 2]), "{trip}\n{}", net.told());
        net.ms(seconds(60));
        assert_eq!(net.installed(), before, "{trip}\n{}", net.told());
    }
}

/// However long the cut was: links that went down, or that did not.
#[test]
fn ring_30_who_was_cut_off_is_back_within_a_second() {
    for cut in (0..30).map(|step| step * 100) {
        let (mut net, _) = founded(3, 100);
        net.ms(3_000);
        net.part(0, 2);
        net.part(1, 2);
        net.until(seconds(5), |net| shared(net, &[0, 1]) && shared(net, &[2])).expect("two rings");
        net.ms(cut);
        net.cut.clear();
        let took = net.until(seconds(20), |net| shared(net, &[0, 1, 2]));
        println!("cut {cut} took {took:?}");
        assert!(took.is_some_and(|took| took <= 1_000), "{cut}: {took:?}\n{}", net.told());
    }
}
