//! Groups with a key of their own: the founders share it, as many as the charter says sign with it, who leaves has nothing.
//! Method: real machines and transcripts on a perfect ordered bus; members stop, restart from disk, and change in between.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod common;

use common::{Bus, vote};
use folkmoot_admission::{Command, Phase};
use folkmoot_identity::{Decision, Gmc, Scheme};

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];

/// Five founders of whom two admit; their key is shared.
fn founded(scheme: Scheme) -> Bus {
    let mut bus = Bus::of_scheme(scheme, 5, 2);
    bus.pass(12);
    assert_agreed(&bus);
    bus
}

fn assert_agreed(bus: &Bus) {
    let first = bus.seats[0].transcript.roster().sharing().cloned();
    let errors: Vec<_> = bus.seats.iter().map(|seat| &seat.errors).collect();
    assert!(first.is_some(), "no sharing: {:#?} {errors:?}", bus.traces);
    for seat in bus.seats.iter().filter(|seat| seat.up) {
        assert_eq!(seat.transcript.roster().sharing().cloned(), first);
        assert!(seat.errors.is_empty(), "{:?}", seat.errors);
    }
}

fn admit(bus: &mut Bus, name: &str, seed: u64) -> usize {
    let which = bus.stranger(name, seed, 0);
    vote(bus, 1, which, true);
    bus.pass(2);
    assert!(!bus.admitted(which), "one vote is not enough");
    vote(bus, 2, which, true);
    bus.pass(12);
    assert!(bus.admitted(which), "{:#?}", bus.traces);
    which
}

#[test]
fn founders_share_a_key_and_sign_with_it() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let dora = admit(&mut bus, "dora", 40);
        assert_eq!(bus.strangers[dora].applicant.phase(), Phase::Admitted);
        let roster = bus.seats[3].transcript.roster();
        let member = roster.member(&bus.strangers[dora].identity.member()).unwrap();
        let gmc = Gmc::from_der(member.certificate.as_ref().unwrap()).unwrap();
        let sharing = roster.sharing().unwrap();
        assert_eq!(gmc.check_issued(&sharing.facts.key), Ok(()));
        assert_eq!((gmc.issued(), gmc.votes().len()), (Some(sharing.facts.epoch), 0));
        for seat in &bus.seats {
            assert_eq!(seat.disk.keys().filter(|key| key.table == "share").count(), 1);
            assert_eq!(seat.admission.poll_timeout(), None, "something is still at work");
        }
    }
}

#[test]
fn who_is_expelled_takes_no_share_along() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let before = bus.seats[0].transcript.roster().sharing().cloned().unwrap();
        let gone = bus.seats[4].identity.member();
        for who in 0..3 {
            let _ = bus.command(who, Command::Expel(gone));
        }
        bus.seats[4].up = false;
        bus.pass(20);
        assert_agreed(&bus);
        let after = bus.seats[0].transcript.roster().sharing().cloned().unwrap();
        assert_ne!(after.facts.epoch, before.facts.epoch);
        assert_eq!((&after.facts.key, &after.authority), (&before.facts.key, &before.authority));
        assert!(!after.facts.holders.contains(&gone));
        admit(&mut bus, "dora", 40);
    }
}

#[test]
fn the_threshold_moves_and_the_key_stays() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let key = bus.seats[0].transcript.roster().sharing().unwrap().facts.key.clone();
        for threshold in ["3", "1", "2"] {
            let change = Decision::change("threshold", threshold);
            for who in 0..3 {
                bus.command(who, Command::Propose(change.clone())).unwrap();
            }
            bus.pass(25);
            assert_agreed(&bus);
            let facts = bus.seats[0].transcript.roster().sharing().unwrap().facts.clone();
            assert_eq!((facts.threshold.to_string().as_str(), &facts.key), (threshold, &key));
        }
        admit(&mut bus, "dora", 40);
    }
}
