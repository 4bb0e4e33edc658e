//! An authority of several replicas, by rule number: one that is alone, whose disk or clock is
//! wrong, or whose log was away for long. Method: real members, transcripts and desks; a log that
//! takes one record for each request.

use crate::common::HOST;
use crate::common::town::{Plan, Town, denied, forged, grant, office, plan};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Authority, AuthorityMessage, Config, Event, Input, LogRecord, Reason,
};
use folkmoot_base::{Blob, StoreKey, UnixTime, codec};
use folkmoot_identity::Scheme;

fn replicated() -> Town {
    Town::found(&Plan { replicas: 2, ..plan(Scheme::Plain) }, |_| {})
}

#[test]
fn adm_80_one_of_several_replicas_does_not_run_without_their_log() {
    let load = |town: &Town, replicated| {
        let desk = &town.desks[0];
        let stored: Vec<(StoreKey, Bytes)> = desk.disk.clone().into_iter().collect();
        let config = Config { replicated, ..Config::default() };
        Authority::load(config, &desk.transcript, &desk.identity, &stored)
    };
    let town = replicated();
    let refused = load(&town, false);
    assert!(matches!(refused, Err(AdmissionError::LocalAlone(2))), "{refused:?}");
    assert!(refused.unwrap_err().to_string().contains("Run each with --replicas"));
    assert!(load(&town, true).unwrap().is_some());
    let town = Town::found(&plan(Scheme::Plain), |_| {});
    assert!(load(&town, false).unwrap().is_some(), "of one there is no log");
}

#[test]
fn adm_81_another_certificate_in_the_log_than_on_the_own_disk_ends_it() {
    for restart in [false, true] {
        let mut town = replicated();
        let request = town.request(40, |_| {});
        let votes = town.votes(&request, &[1, 2]);
        town.say(0, 0, &grant(&request, votes)).0.unwrap();
        town.settle();
        let issued = town.issued_on_disk(0);
        assert_eq!(issued.len(), 1);
        if restart {
            town.restart(0);
        }
        // The same again is nothing new, though its holder be a member by now.
        let record = town.log[0].clone();
        assert_eq!(town.desk_input(0, Input::Logged(record.clone())), Ok(()));
        town.admit(issued.values().next().unwrap());
        assert_eq!(town.desk_input(0, Input::Logged(record)), Ok(()));
        let other = town.votes(&request, &[3, 4]).read().unwrap();
        let other = forged(&office(Scheme::Plain), &request, &other).der().clone();
        let record = LogRecord { request: request.digest(), der: Blob(other) };
        let heard = town.desk_input(0, Input::Logged(codec::encode(&record).into()));
        assert_eq!(heard, Err(AdmissionError::LocalConflict));
        // Nothing is granted any more, nor handed in, nor due.
        let next = town.request(41, |_| {});
        let (handed_in, votes) = (town.handed_in.len(), town.votes(&next, &[1, 2]));
        assert_eq!(town.say(0, 0, &grant(&next, votes)), (Ok(()), Vec::new()));
        assert_eq!((town.handed_in.len(), town.desks[0].authority.poll_timeout()), (handed_in, None));
        assert_eq!(town.issued_on_disk(0), issued);
    }
}

/// Guests who ask while one replica's clock is so many seconds wrong.
fn with_a_wrong_clock(ahead: i64) {
    let mut town = replicated();
    town.desks[0].ahead = ahead;
    town.pass(1);
    let guests: Vec<usize> = (0..6)
        .map(|number| {
            let which = town.stranger(&format!("guest{number}"), 40 + number, 0);
            (1..3).for_each(|voter| town.vote(voter, which, true));
            which
        })
        .collect();
    town.pass(30);
    let mut asked_the_other_first = 0;
    for which in guests {
        assert!(town.bus.admitted(which), "{ahead}: {:#?}", town.bus.traces);
        let events = &town.bus.strangers[which].events;
        let anew = |event: &Event| matches!(event, Event::Refused { reason: Reason::Term, .. });
        assert!(!events.iter().any(anew), "{ahead}: {events:?}");
        asked_the_other_first += usize::from(!town.desks[0].told.iter().any(|(_, word)| match word {
            AuthorityMessage::Denied { request, .. } => {
                town.certificate(which).body().request_digest().unwrap() == *request
            }
            _ => false,
        }));
    }
    assert!((1..6).contains(&asked_the_other_first), "{ahead}: {asked_the_other_first}");
}

#[test]
fn adm_82_a_replica_whose_clock_is_wrong_turns_nobody_away() {
    with_a_wrong_clock(-900);
    with_a_wrong_clock(40 * 86_400);
}

#[test]
fn adm_82_what_has_a_guest_begin_anew_is_what_its_contact_sees_itself() {
    let mut town = Town::found(&Plan { links: 0, ..plan(Scheme::Plain) }, |_| {});
    let desk = town.desks[0].identity.node();
    town.bus.input(0, Input::LinkUp { node: desk, host: HOST }).unwrap();
    let dora = town.stranger("dora", 50, 0);
    (1..3).for_each(|voter| town.vote(voter, dora, true));
    let asked = town.bus.request_of(0, dora).unwrap();
    for reason in [Reason::Term, Reason::Votes, Reason::Stale] {
        let word = AuthorityMessage::Denied { request: asked, reason };
        assert_eq!(town.tell(0, 0, &word), Ok(()));
        town.pass(2);
        assert_eq!(town.bus.request_of(0, dora), Some(asked), "{reason:?}");
    }
    town.link(0, 0);
    town.pass(45);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
}

#[test]
fn adm_83_what_waits_for_the_log_is_judged_again_before_it_is_handed_in_again() {
    let mut town = replicated();
    town.logs = false;
    let (asked, other) = (town.request(40, |_| {}), town.request(41, |_| {}));
    let short = town.votes_on(asked.digest(), &[1, 2], UnixTime(town.bus.time.0 + 30));
    let long = town.votes(&other, &[1, 2]);
    town.say(0, 0, &grant(&asked, folkmoot_admission::WireGrounds::Votes(short))).0.unwrap();
    town.say(0, 0, &grant(&other, long)).0.unwrap();
    town.pass(20);
    assert_eq!(town.desks[0].authority.status().logging, 2);
    // The votes run out, give or take the skew; the log is away.
    town.pass(80);
    assert_eq!(town.desks[0].authority.status().logging, 1);
    let told: Vec<_> = town.desks[0].told.iter().map(|(_, word)| word.clone()).collect();
    assert_eq!(denied(&told), Reason::AwaitingAuthority, "its asker asks anew");
    let record = |request| {
        let handed_in = town.handed_in.iter().rev();
        handed_in.map(|bytes| codec::decode::<LogRecord>(bytes).unwrap()).find(|one| one.request == request)
    };
    let (first, count) = (record(asked.digest()).unwrap(), town.handed_in.len());
    town.pass(10);
    let later: Vec<_> = town.handed_in[count..].to_vec();
    assert!(!later.is_empty());
    assert!(later.iter().all(|bytes| codec::decode::<LogRecord>(bytes).unwrap().request == other.digest()));
    // With votes that stand it is another record; but should the log have the first, that one
    // counts.
    let anew = town.votes(&asked, &[3, 4]);
    town.say(0, 1, &grant(&asked, anew)).0.unwrap();
    assert_eq!(town.desks[0].authority.status().logging, 2);
    assert_eq!(town.desk_input(0, Input::Logged(codec::encode(&first).into())), Ok(()));
    assert!(town.issued_on_disk(0).into_values().any(|der| der == first.der.0));
}
