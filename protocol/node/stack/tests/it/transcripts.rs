//! Transcripts that differ: by much, by something long, by the line. And what a store keeps.

use crate::net::papers::{admission_approved, admission_of, approval, decision, end};
use crate::net::{Dice, NOW, Net, charter, person, seconds, stored};
use folkmoot_attach::ToNode;
use folkmoot_base::{Head, Persist, UnixTime};
use folkmoot_transcript::{Item, Transcript};

fn mark(net: &Net, who: usize) -> (Head, [u8; 32]) {
    net.node(who).transcript().mark()
}

pub(crate) fn head(net: &Net, who: usize) -> Head {
    mark(net, who).0
}

/// Each side of a cut has 1,500 approvals that the other lacks: more names than one part has, and
/// more than a mark lists.
#[test]
fn sets_that_differ_in_3000_approvals_converge() {
    let mut net = Net::of(2, 11);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("the founders meet");
    net.part(0, 1);
    net.until(seconds(8), |net| net.together(&[0]) && net.together(&[1])).expect("two rings");
    for number in 0..3_000 {
        let who = usize::from(number >= 1_500);
        let item = approval(net.node(who).transcript(), who, number);
        net.item(who, item);
    }
    let has = |net: &Net, who: usize| net.node(who).transcript().set().approvals().count();
    let own = net.until(seconds(20), |net| has(net, 0) == 1_500 && has(net, 1) == 1_500);
    assert!(own.is_some(), "{} {}", has(&net, 0), has(&net, 1));
    net.cut.clear();
    let even = net.until(seconds(20), |net| mark(net, 0) == mark(net, 1) && net.together(&[0, 1]));
    assert!(even.is_some(), "{} {}\n{}", has(&net, 0), has(&net, 1), net.told());
    assert_eq!(has(&net, 0), 3_000);
}

/// A certificate comes with so many approvals that no frame holds it. On the way the link is lost.
#[test]
fn an_item_of_300_kib_travels() {
    for lost in [None, Some(8)] {
        let mut net = Net::of(1, 12);
        net.ms(1_000);
        let stranger = person(3);
        let item = admission_approved(net.node(0).transcript(), person(1), &[0], &vec![stranger; 1_700]);
        assert!(item.len() > 300 * 1024, "{}", item.len());
        net.item(0, item);
        net.ms(1_000);
        net.start(1, 1, &[0]);
        if let Some(after) = lost {
            net.ms(after);
            assert!(!net.is_member(1, 1), "still on its way");
            net.part(0, 1);
            net.ms(seconds(4));
            net.cut.clear();
        }
        let together = net.until(seconds(10), |net| net.together(&[0, 1]));
        assert!(together.is_some(), "{}", net.told());
        assert_eq!(mark(&net, 0), mark(&net, 1));
    }
}

/// Four founders, of whom the last is away. On each side of a cut all voters sign a decision that
/// expels it: two decisions with one number.
pub(crate) fn forked(seed: u64) -> Net {
    let mut net = Net::new(4, seed);
    (0..3).for_each(|who| net.start(4, who, &(0..who).collect::<Vec<_>>()));
    net.until(seconds(5), |net| net.together(&[0, 1, 2])).expect("all meet");
    net.part(2, 0);
    net.part(2, 1);
    net.until(seconds(8), |net| net.together(&[0, 1]) && net.together(&[2])).expect("two rings");
    for (who, time) in [(0, NOW), (2, UnixTime(NOW.0 + 1))] {
        let item = decision(net.node(who).transcript(), Some(3), time);
        net.item(who, item);
    }
    net.until(seconds(3), |net| (0..3).all(|who| head(net, who).number == 1)).expect("both are taken");
    assert!(head(&net, 0) == head(&net, 1) && head(&net, 0) != head(&net, 2));
    net
}

fn is_told(net: &Net, who: usize, of: usize) -> bool {
    let told = &net.players[&who].other_lines;
    told.iter()
        .any(|(node, theirs, ours)| *node == person(of).node() && *theirs != *ours && *ours == head(net, who))
}

#[test]
fn node_13_forked_lines_never_share_a_ring_and_both_say_so() {
    let mut net = forked(13);
    net.cut.clear();
    (0..3).for_each(|who| net.join(who));
    let told = net.until(seconds(10), |net| (0..2).all(|who| is_told(net, who, 2) && is_told(net, 2, who)));
    assert!(told.is_some(), "{}", net.told());
    for _ in 0..90 {
        net.ms(seconds(1));
        assert!(net.together(&[0, 1]) && net.together(&[2]), "{}", net.told());
    }
    for who in 0..3 {
        assert!(net.players[&who].trace.iter().any(|line| line.contains("NODE-13")), "{}", net.told());
        let forks = net.node(who).transcript().line().forks();
        let liars = &forks.values().next().unwrap().liars;
        assert!((0..4).all(|who| liars.contains(&person(who).member())), "each has the evidence: {liars:?}");
    }
    assert_eq!(net.players[&0].notice, [0, 1].into());
    assert_eq!(net.players[&2].notice, [2].into());
    assert!(net.players[&0].other_lines.len() < 8, "once for each head");
}

/// One line is longer: whoever is on the shorter one finds that what comes next there does not
/// follow its own head.
#[test]
fn node_13_lines_of_unequal_length_are_told_apart() {
    let mut net = forked(14);
    for later in 1..3 {
        // A newcomer gives the decision something to do.
        let item = admission_of(net.node(2).transcript(), person(4), &[2]);
        net.item(2, item);
        net.ms(500);
        let item = decision(net.node(2).transcript(), None, UnixTime(NOW.0 + later * 100));
        net.item(2, item);
        net.ms(500);
    }
    assert_eq!(head(&net, 2).number, 3, "{}", net.told());
    net.cut.clear();
    let told = net.until(seconds(10), |net| (0..2).all(|who| is_told(net, who, 2) && is_told(net, 2, who)));
    assert!(told.is_some(), "{}", net.told());
    net.ms(seconds(30));
    assert!(net.together(&[0, 1]) && net.together(&[2]), "{}", net.told());
    assert!(net.node(0).transcript().line().forks().keys().any(|head| head.number == 1), "{}", net.told());
}

/// A guest that knows a decision by which people hold a late admission brings both, and neither is
/// lost because the admission alone would not be passed on.
#[test]
fn node_11_with_the_decision_that_holds_it_a_late_admission_is_passed_on() {
    let mut net = Net::of(2, 15);
    net.until(seconds(3), |net| net.together(&[0, 1])).expect("the founders meet");
    let late = admission_of(net.node(0).transcript(), person(3), &[]);
    let mut ahead = net.node(0).transcript().clone();
    assert!(ahead.take(&late, None).unwrap().new);
    let held = crate::net::papers::holding(&ahead, &late, NOW);
    // A stranger, which is nobody's member, knows both.
    net.start(2, 2, &[]);
    net.ms(500);
    for item in [&late, &held] {
        net.item(2, item.clone());
        net.ms(500);
    }
    assert_eq!(head(&net, 2).number, 1, "{}", net.told());
    net.tell(2, ToNode::Dial(crate::net::locator(0)));
    let took = net.until(seconds(10), |net| mark(net, 0) == mark(net, 2) && net.together(&[0, 1]));
    assert!(took.is_some(), "{}", net.told());
    assert!(net.is_member(0, 3) && net.is_member(1, 3));
}

/// The power goes after any write. What was told to a member, or to another node, is there again.
#[test]
fn what_was_acknowledged_is_in_the_store_whenever_the_power_goes() {
    let mut net = Net::of(3, 16);
    net.until(seconds(3), |net| net.together(&[0, 1, 2])).expect("the founders meet");
    busy(&mut net);
    let player = &net.players[&0];
    let (persists, acknowledged) = (&player.persists, &player.acknowledged);
    assert!(persists.len() >= 20 && acknowledged.len() >= 12, "{} {}", persists.len(), acknowledged.len());
    for count in 0..=persists.len() {
        let restored = restored(&persists[..count]);
        for (_, item) in acknowledged.iter().filter(|(at, _)| *at <= count) {
            let again = restored.clone().take(item, Some(UnixTime(u64::MAX)));
            assert!(!again.is_ok_and(|taken| taken.new), "{count}: {:?}", Item::decode(item));
        }
    }
    let (last, now) = (restored(persists), net.node(0).transcript());
    assert_eq!((last.mark(), last.state().digest()), (now.mark(), now.state().digest()));
    assert_eq!(last.roster().members(), now.roster().members());
    assert_eq!(last.line().forks().len(), now.line().forks().len());
}

/// Admissions, approvals, decisions, an expulsion, the end of a term and a fork.
fn busy(net: &mut Net) {
    net.admit(3, 0);
    net.admit(4, 1);
    for number in 0..5 {
        let item = approval(net.node(1).transcript(), 1, number);
        net.item(1, item);
    }
    net.ms(1_000);
    let other = decision(net.node(0).transcript(), None, UnixTime(NOW.0 + 7));
    for (expelled, time) in [(None, NOW), (Some(4), UnixTime(NOW.0 + 60))] {
        let item = decision(net.node(0).transcript(), expelled, time);
        net.item(0, item);
        net.ms(1_000);
    }
    assert!(net.is_member(0, 3) && !net.is_member(0, 4));
    net.restart(3, 0, &[1, 2]);
    net.until(seconds(20), |net| net.together(&[0, 1, 2])).expect("it is back");
    net.item(2, other);
    let over = net.node(0).transcript().roster().member(&person(3).member()).unwrap().ends;
    (0..3).for_each(|who| net.clock(who, UnixTime(over.0 + 200)));
    let item = end(net.node(0).transcript(), person(3).member());
    net.item(0, item);
    net.ms(1_000);
    assert!(!net.is_member(0, 3) && net.node(0).transcript().line().forks().len() == 1, "{}", net.told());
    let item = approval(net.node(1).transcript(), 1, 9);
    net.item(1, item);
    net.ms(1_000);
}

fn restored(persists: &[Persist]) -> Transcript {
    Transcript::founded(&charter(3)).unwrap().restore(&stored(persists)).unwrap()
}

/// Cuts and heals, restarts, lost datagrams, items on every side, and decisions by one node. In the
/// end all have the same, in one ring.
#[test]
fn whatever_happens_all_have_the_same_in_the_end() {
    let mut most = 0;
    for seed in 0..10 {
        let mut net = Net::of(3, 100 + seed);
        net.loss = if seed % 2 == 0 { 0 } else { 8 };
        net.ms(1_000);
        let (mut dice, mut decided) = (Dice(seed << 40), 0);
        for step in 0..40 {
            random_step(&mut net, &mut dice, step, &mut decided);
        }
        net.cut.clear();
        let even = |net: &Net| (1..3).all(|who| mark(net, who) == mark(net, 0)) && net.together(&[0, 1, 2]);
        let took = net.until(seconds(90), even);
        assert!(took.is_some(), "seed {seed}\n{}", net.told());
        assert_eq!((head(&net, 0).number, net.node(0).transcript().line().forks().len()), (decided, 0));
        most = most.max(decided);
    }
    assert!(most > 1, "decisions were made");
}

fn random_step(net: &mut Net, dice: &mut Dice, number: u64, decided: &mut u64) {
    let [what, who, other, wait] = folkmoot_base::draw::<4>(dice);
    let (who, other) = (usize::from(who) % 3, usize::from(other) % 3);
    // Two decisions for one number would be a fork.
    let idle = head(net, 0).number == *decided;
    match what % 8 {
        0 | 1 => net.part(who, other),
        2 => net.cut.clear(),
        3 => net.admit(3 + usize::from(what / 8) % 2, who),
        4 if idle => {
            let transcript = net.node(0).transcript();
            let time = UnixTime(NOW.0 + number);
            if !transcript.set().holdable(transcript.state(), time).is_empty() {
                let item = decision(transcript, None, time);
                net.item(0, item);
                *decided += 1;
            }
        }
        5 if who != 0 || idle => net.restart(3, who, &[0, 1, 2]),
        _ => {
            let item = approval(net.node(who).transcript(), who, number);
            net.item(who, item);
        }
    }
    net.ms(u64::from(wait) * 10);
}

const MONTH: u64 = 31 * 86_400;

/// Two founders share a ring, by clocks that show now. One decided alone for five months, a
/// decision a month: what follows the founding is not kept any more.
fn left_behind(seed: u64) -> Net {
    let mut net = Net::new(3, seed);
    net.start(3, 1, &[]);
    net.start(3, 2, &[1]);
    [1, 2].into_iter().for_each(|who| net.clock(who, NOW));
    net.until(seconds(4), |net| net.together(&[1, 2])).expect("two who were away, together");
    net.start(3, 0, &[]);
    net.part(0, 1);
    net.part(0, 2);
    for month in 0..5 {
        let item = decision(net.node(0).transcript(), None, UnixTime(NOW.0 + month * MONTH + 1));
        net.item(0, item);
        net.until(seconds(2), |net| head(net, 0).number == month + 1).expect("decided");
    }
    assert!(net.node(0).transcript().has_left_behind(&head(&net, 1)));
    net
}

fn all_even(net: &Net) -> bool {
    mark(net, 0) == mark(net, 1) && mark(net, 1) == mark(net, 2) && net.together(&[0, 1, 2])
}

/// Another founder comes back with nothing, and two come together who were away together.
#[test]
fn node_14_whoever_was_away_for_long_is_led_on_by_the_electorates() {
    let mut net = left_behind(31);
    net.cut.clear();
    net.restart(3, 1, &[0, 2]);
    [1, 2].into_iter().for_each(|who| net.clock(who, UnixTime(NOW.0 + 4 * MONTH)));
    let even = net.until(seconds(30), all_even);
    assert!(even.is_some(), "{} {} {}\n{}", head(&net, 0), head(&net, 1), head(&net, 2), net.told());
    assert_eq!(head(&net, 2).number, 5);
    net.restart(3, 2, &[0]);
    assert_eq!(head(&net, 2).number, 5, "it is on the disk");
}

/// Two who shared a ring all the time are led on by their persons only, and say so.
#[test]
fn node_14_whoever_shared_a_ring_not_long_ago_waits_for_its_person() {
    let mut net = left_behind(32);
    for day in 1..=124 {
        [1, 2].into_iter().for_each(|who| net.clock(who, UnixTime(NOW.0 + day * 86_400)));
    }
    net.restart(3, 1, &[0, 2]);
    net.clock(1, UnixTime(NOW.0 + 4 * MONTH));
    net.cut.clear();
    net.ms(seconds(30));
    assert_eq!((head(&net, 1).number, head(&net, 2).number), (0, 0), "{}", net.told());
    for who in [1, 2] {
        let waits = |line: &&String| line.contains("waits for our person");
        assert_eq!(net.players[&who].trace.iter().filter(waits).count(), 1, "{}", net.told());
        let (group, last) = (net.node(0).transcript().group(), head(&net, 0));
        net.tell(who, ToNode::Resolve(group, last));
    }
    let even = net.until(seconds(30), all_even);
    assert!(even.is_some(), "{} {} {}\n{}", head(&net, 0), head(&net, 1), head(&net, 2), net.told());
    net.restart(3, 2, &[0]);
    let skipped = net.node(2).transcript().skipped().expect("it keeps that it has skipped");
    assert_eq!((skipped.from.number, skipped.to), (0, head(&net, 0)));
}

/// A package is taken only if electorate after electorate has signed it.
#[test]
fn node_14_a_package_that_nobody_signed_leads_nowhere() {
    let mut far = Transcript::founded(&charter(2)).unwrap();
    for month in 0..5 {
        let item = decision(&far, None, UnixTime(NOW.0 + month * MONTH + 1));
        far.take(&item, None).unwrap();
    }
    let behind = Transcript::founded(&charter(2)).unwrap();
    let package = far.package(&behind.state().head()).unwrap().to_vec();
    for at in (0..package.len()).step_by(97) {
        let mut other = package.clone();
        other[at] ^= 1;
        assert!(behind.clone().take_package(&other, None, None).is_err(), "byte {at}");
    }
    let mut led = behind.clone();
    assert!(led.take_package(&package, None, None).unwrap().advanced);
    assert_eq!(led.mark(), far.mark());
    assert!(led.take_package(&package, None, None).is_err(), "an old package leads nobody back");
}
