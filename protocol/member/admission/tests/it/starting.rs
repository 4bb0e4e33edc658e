//! A voter that starts hears what it may have said before, and then decides.

use crate::common::{Bus, change};
use crate::deciding::{approve, number};
use folkmoot_admission::Config;
use folkmoot_base::{Danger, Mutant};
use folkmoot_transcript::{Item, Standing};

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
