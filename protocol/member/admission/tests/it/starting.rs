//! A voter that starts hears what it may have said before, and then decides.

use crate::common::{Bus, change, vote};
use crate::deciding::{approve, number};
use folkmoot_admission::{Command, Config};
use folkmoot_base::{Danger, Mutant};
use folkmoot_identity::Scheme;
use folkmoot_transcript::{Item, Standing};
use std::cell::RefCell;
use std::rc::Rc;

/// The only voter's disk is a backup's, and another member is there that has the decision made
/// since. The voter is told before it decides. With the rule off it decides the same once more, at
/// another time, and that is another decision.
#[test]
fn adm_39_a_voter_that_has_started_hears_before_it_decides() {
    for first in [false, true] {
        let mut bus = Bus::new(1, 1);
        bus.passes = Some(Box::new(|_, item| !matches!(item, Item::Decision(_))));
        approve(&mut bus, &[0], &change("certificate_days", "40"));
        let (mut disk, transcript) = (bus.players[0].disk.clone(), bus.players[0].transcript.clone());
        disk.retain(|key, _| key.table != "vote");
        bus.passes = None;
        bus.pass(20);
        assert_eq!(number(&bus, 0), 1);
        let (_, standing) = bus.players[0].transcript.line().decisions().last_key_value().unwrap();
        let decided = standing.clone();
        (bus.players[0].disk, bus.players[0].transcript) = (disk, transcript);
        let danger = if first { Mutant::from(Some(Danger::AdmissionDecidesFirst)) } else { Mutant::NONE };
        bus.restart_as(0, Config { danger, ..Config::default() });
        bus.settle();
        bus.take(0, &Item::Decision(decided.clone()).encode().into());
        bus.pass(5);
        let line = bus.players[0].transcript.line();
        assert_eq!((line.forks().len(), number(&bus, 0)), (usize::from(first), 1));
        let same = line.decisions().get(&1).map(Standing::head) == Some(decided.head());
        assert_eq!(same, !first);
        // It decides what comes next.
        approve(&mut bus, &[0], &change("certificate_days", "50"));
        assert_eq!(number(&bus, 0), 2);
    }
}

/// Nobody else is there: it waits no longer than that.
#[test]
fn adm_39_a_voter_alone_decides_two_seconds_after_its_node_has_a_configuration() {
    let mut bus = Bus::new(1, 1);
    bus.restart(0);
    approve(&mut bus, &[0], &change("certificate_days", "40"));
    bus.pass(1);
    assert_eq!(number(&bus, 0), 0);
    bus.pass(2);
    assert_eq!(number(&bus, 0), 1);
}

/// A vote is kept meanwhile, and a restart asks again.
#[test]
fn line_95_a_voter_alone_decides_when_its_person_has_seen_the_date() {
    let mut bus = Bus::new(1, 1);
    approve(&mut bus, &[0], &change("certificate_days", "40"));
    bus.pass(1);
    bus.time.0 += 45 * 86_400;
    bus.pass(1);
    let asked = |bus: &Bus| bus.players[0].admission.asks_date(&bus.players[0].transcript);
    assert!(asked(&bus).is_some() && number(&bus, 0) == 1);
    approve(&mut bus, &[0], &change("certificate_days", "50"));
    bus.pass(60);
    assert_eq!((asked(&bus), number(&bus, 0)), (Some(true), 1));
    bus.restart(0);
    bus.pass(5);
    assert_eq!((asked(&bus), number(&bus, 0)), (Some(true), 1));
    bus.command(0, Command::Date).unwrap();
    bus.pass(1);
    assert_eq!((asked(&bus), number(&bus, 0)), (None, 2));
}

fn config(danger: Option<Danger>) -> Config {
    Config { danger: Mutant::from(danger), ..Config::default() }
}

/// A process stops when its node has kept an admission, and before it follows that itself. After
/// its start the request is open no more, and nobody is to sign for it. With the rule off its
/// sessions for the request would come to nothing, one after the other.
#[test]
fn adm_06_what_was_granted_before_a_stop_is_closed_after_it() {
    for scheme in [Scheme::Plain, Scheme::Asm, Scheme::Frost] {
        for danger in [None, Some(Danger::AdmissionLeavesSettled)] {
            let mut bus = Bus::of_scheme(scheme, 3, 2);
            bus.pass(20);
            let dora = bus.stranger("dora", 40, 0);
            vote(&mut bus, 0, dora, true);
            let open = bus.players[1].disk.clone();
            vote(&mut bus, 2, dora, true);
            bus.pass(2);
            assert!(bus.admitted(dora), "{:#?}", bus.traces);
            assert!(bus.status(1).requests.is_empty());
            bus.players[1].disk.extend(open);
            bus.restart_as(1, config(danger));
            assert_eq!(bus.status(1).requests.len(), usize::from(danger.is_some()), "{scheme:?}");
            let kept = bus.players[1].disk.keys().filter(|key| key.key.first() == Some(&b'r')).count();
            assert_eq!(kept, usize::from(danger.is_some()), "{scheme:?}");
        }
    }
}

/// A guest asks anew while the item that admits it by its earlier request is on its way. Once that
/// is there the later request is over: nobody would enter what is signed for it.
#[test]
fn adm_54_a_guest_that_is_in_by_an_earlier_request_waits_for_no_other() {
    for danger in [None, Some(Danger::AdmissionKeepsOvertaken)] {
        let mut bus = Bus::new(3, 2);
        (0..3).for_each(|who| bus.restart_as(who, config(danger)));
        let held = Rc::new(RefCell::new(None));
        let keep = held.clone();
        bus.passes = Some(Box::new(move |_, item| match item {
            Item::Admit { .. } => {
                keep.replace(Some(item.encode()));
                false
            }
            _ => true,
        }));
        let first = bus.stranger("dora", 40, 0);
        vote(&mut bus, 0, first, true);
        vote(&mut bus, 2, first, true);
        bus.pass(12);
        let earlier = bus.request_of(1, first);
        let second = bus.stranger("dora", 40, 1);
        bus.pass(1);
        assert!(bus.request_of(1, second).is_some() && bus.request_of(1, second) != earlier);
        let item = held.take().expect("the item that admits").into();
        (0..3).for_each(|who| assert!(bus.take(who, &item)));
        assert!(bus.admitted(first));
        for who in 0..3 {
            assert_eq!(bus.status(who).requests.len(), usize::from(danger.is_some()), "{who}");
        }
    }
}
