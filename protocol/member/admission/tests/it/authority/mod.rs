//! The authority's machine, by rule number: what it grants and what it does not, once and for all,
//! restarts and replicas included. Method: real members, transcripts and desks; grants that no
//! member would send are written by hand.

mod log;

use crate::common::town::{Plan, Town, denied, desk, grant, granted, named, office, plan};
use crate::common::{Dice, NOW, change, person, word};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Authority, AuthorityMessage, Closed, Command, Config, Event, Heartbeat, Input,
    LOGGING_MAX, Office, Output, PETITIONS_MAX, Reason, WireGrounds,
};
use folkmoot_base::{Blob, GroupId, Head, UnixTime, codec};
use folkmoot_identity::{Below, Gmc, Identity, Policy, Scheme, Verdict, VoteBody, VoteProof};
use folkmoot_transcript::{Change, Effect, Force, admission};

fn plain() -> Town {
    Town::found(&plan(Scheme::Plain), |_| {})
}

fn nothing_issued(town: &Town) {
    let told = |desk: &crate::common::town::Desk| {
        desk.told.iter().any(|(_, word)| matches!(word, AuthorityMessage::Granted { .. }))
    };
    assert!(!town.desks.iter().any(told));
    assert!(town.issued_on_disk(0).is_empty() && town.desks[0].authority.status().issued == 0);
}

#[test]
fn adm_60_votes_that_do_not_stand_grant_nothing() {
    let mut town = plain();
    let (request, other) = (town.request(40, |_| {}), town.request(41, |_| {}));
    let (later, group) = (UnixTime(NOW.0 + 1_000), town.transcript().group());
    let good = town.votes_on(request.digest(), &[1, 2], later);
    let mut forged = good.clone();
    forged[0].signature = good[1].signature.clone();
    let over = |group: GroupId, base: Head, who: &Identity| {
        let body = VoteBody { base, ..good[0].body(group, request.digest()) };
        VoteProof::of(who.member(), &body, body.sign(who.key()))
    };
    let head = town.transcript().state().head();
    let both = |group: GroupId, base: Head| {
        let mut votes: Vec<VoteProof> =
            [1, 2].iter().map(|who| over(group, base, &town.bus.players[*who].identity)).collect();
        votes.sort_by_key(|vote| vote.voter);
        votes
    };
    let mut strange = vec![good[0].clone(), over(group, head, &person("nobody", 50))];
    strange.sort_by_key(|vote| vote.voter);
    let elsewhere = both(GroupId([9; 32]), head);
    let fork = both(group, Head { number: 0, digest: [9; 32] });
    let ahead = both(group, Head { number: 1, digest: [9; 32] });
    let mut longer = good.clone();
    longer[0].expires = UnixTime(later.0 + 1);
    let swapped: Vec<VoteProof> = good.iter().rev().cloned().collect();
    let twice = vec![good[0].clone(), good[0].clone()];
    let WireGrounds::Votes(candidate) = town.votes(&other, &[1, 2]) else { panic!("votes") };
    let cases = [
        ("too few", vec![good[0].clone()], Reason::AwaitingVotes),
        ("none", Vec::new(), Reason::AwaitingVotes),
        ("forged", forged, Reason::Votes),
        ("of no voter", strange, Reason::AwaitingAuthority),
        ("for another candidate", candidate, Reason::Votes),
        ("of another group", elsewhere, Reason::Votes),
        ("on another line", fork, Reason::Votes),
        ("over a decision that may come", ahead, Reason::AwaitingAuthority),
        ("with another end", longer, Reason::Votes),
        ("in another order", swapped, Reason::Votes),
        ("twice the same", twice, Reason::Votes),
    ];
    for (what, votes, reason) in cases {
        let (result, answers) = town.say(0, 0, &grant(&request, WireGrounds::Votes(votes)));
        assert!(matches!(result, Err(AdmissionError::PeerGrant(..))), "{what}: {result:?}");
        assert_eq!(denied(&answers), reason, "{what}");
    }
    let combined = WireGrounds::Combined { epoch: [1; 32], signature: Blob::from(vec![1; 64]) };
    assert_eq!(denied(&town.ask(&request, combined)), Reason::AwaitingAuthority);
    let multi =
        WireGrounds::Multi { base: head, turn: 0, expires: later, signature: Blob::from(vec![1; 64]) };
    assert_eq!(denied(&town.ask(&request, multi)), Reason::Votes);
    nothing_issued(&town);
    let gmc = Gmc::from_der(&granted(&town.ask(&request, WireGrounds::Votes(good)))).unwrap();
    assert_eq!(gmc.check_central(town.transcript().roster().charter()), Ok(()));
    town.admit(gmc.der());
    assert!(town.transcript().roster().is_member(&request.member()));
}

#[test]
fn adm_60_a_request_that_was_used_refused_or_is_not_listed_grants_nothing() {
    let mut town = Town::found(&plan(Scheme::Plain), |draft| draft.policies.objections = Some(2));
    let request = town.request(40, |_| {});
    let votes = town.votes(&request, &[1, 2]);
    let der = granted(&town.ask(&request, votes.clone()));
    town.admit(&der);
    assert_eq!(denied(&town.ask(&request, votes.clone())), Reason::Stale, "used");
    town.restart(0);
    assert_eq!(denied(&town.ask(&request, votes)), Reason::Stale, "used, after a stop");
    // The serial number of one who is in, and of one who may be.
    let serial = request.body().serial;
    let second = town.request(41, |body| body.serial = serial);
    assert_eq!(denied(&town.ask(&second, town.votes(&second, &[1, 2]))), Reason::Stale);
    let third = town.request(42, |_| {});
    let votes = town.votes(&third, &[1, 2]);
    assert_ne!(granted(&town.ask(&third, votes)), der);
    let fourth = town.request(43, |body| body.serial = third.body().serial);
    assert_eq!(denied(&town.ask(&fourth, town.votes(&fourth, &[1, 2]))), Reason::Stale);
    // Refused for good.
    let refused = town.request(44, |_| {});
    for who in [3, 4] {
        let no = word(&town.bus, who, admission(named(&refused)), Verdict::Reject);
        assert!(town.bus.take(0, &no));
    }
    town.settle();
    assert_eq!(denied(&town.ask(&refused, town.votes(&refused, &[1, 2]))), Reason::Objected);
    // By list: nobody else, and nobody need vote.
    let listed = person("guest", 40).member();
    let mut town = Town::found(&plan(Scheme::Plain), |draft| {
        draft.policies.policy = Policy::List;
        draft.policies.list = [listed].into();
    });
    let stranger = town.request(41, |_| {});
    assert_eq!(denied(&town.ask(&stranger, town.votes(&stranger, &[1, 2]))), Reason::NotListed);
    let request = town.request(40, |_| {});
    let der = granted(&town.ask(&request, WireGrounds::Votes(Vec::new())));
    town.admit(&der);
}

#[test]
fn adm_61_term_votes_and_request_are_of_now_by_the_authoritys_own_clock() {
    let mut town = Town::found(&plan(Scheme::Plain), |draft| {
        draft.policies.policy = Policy::List;
        draft.policies.list = (40..44).map(|seed| person("guest", seed).member()).collect();
        draft.policies.request_days = Some(1);
    });
    let none = || WireGrounds::Votes(Vec::new());
    let skew = Config::default().skew_seconds;
    let early = town.request(40, |body| body.not_before = UnixTime(body.not_before.0 + skew + 60));
    assert_eq!(denied(&town.ask(&early, none())), Reason::AwaitingAuthority, "it will come to be");
    let over = town.request(41, |body| {
        body.not_before = UnixTime(body.not_before.0 - 1_000);
        body.not_after = UnixTime(body.not_before.0 + 500);
    });
    let (result, answers) = town.say(0, 0, &grant(&over, none()));
    assert!(matches!(result, Err(AdmissionError::PeerGrantTime(..))));
    assert_eq!(denied(&answers), Reason::Term);
    // As long a term as the charter allows, of which much is left; but the request has ended.
    let old = town.request(42, |body| {
        let back = |time: UnixTime| UnixTime(time.0 - 86_400 - 120);
        (body.not_before, body.not_after) = (back(body.not_before), back(body.not_after));
    });
    assert!(old.body().not_after.0 > town.bus.time.0 + 86_400);
    let (result, answers) = town.say(0, 0, &grant(&old, none()));
    let what = "the request has run out";
    assert!(matches!(result, Err(AdmissionError::PeerGrantTime(_, why)) if why == what), "{result:?}");
    assert_eq!(denied(&answers), Reason::Term);
    // A vote that ran out, give or take the skew.
    let mut town = plain();
    let request = town.request(40, |_| {});
    let ends = |town: &Town, ago: u64| {
        WireGrounds::Votes(town.votes_on(request.digest(), &[1, 2], UnixTime(town.bus.time.0 - ago)))
    };
    town.pass(120);
    let late = ends(&town, skew + 5);
    assert_eq!(denied(&town.ask(&request, late)), Reason::Term);
    nothing_issued(&town);
    let within = ends(&town, 5);
    granted(&town.ask(&request, within));
    // Who has not been told the time grants nothing, and does not say no.
    let mut town = plain();
    let request = town.request(40, |_| {});
    let (charter, node) = (town.bus.charter(), person("desk0", 3_000));
    town.desks[0] = desk(node, &charter, &office(Scheme::Plain), &Config::default());
    let votes = town.votes(&request, &[1, 2]);
    assert_eq!(town.say(0, 0, &grant(&request, votes)).0, Err(AdmissionError::LocalNoClock));
}

/// Where the authority decides alone.
fn alone() -> Town {
    Town::found(&plan(Scheme::Plain), |draft| draft.policies.policy = Policy::Authority)
}

fn none() -> WireGrounds {
    WireGrounds::Votes(Vec::new())
}

#[test]
fn adm_63_a_person_decides_alone() {
    let mut town = alone();
    let dora = town.stranger("dora", 40, 0);
    town.pass(2);
    let petition = town.desks[0].authority.status().petitions[0].clone();
    assert_eq!((petition.name.as_str(), petition.verdict), ("dora", None));
    assert!(!town.bus.admitted(dora));
    // A stop forgets nothing.
    town.restart(0);
    let no = Command::Vote { motion: petition.request, approve: false };
    assert_eq!(town.desk_order(0, no.clone()), Ok(()));
    town.pass(12);
    assert!(!town.bus.admitted(dora));
    town.restart(0);
    town.pass(40);
    assert_eq!(town.desks[0].authority.status().petitions[0].verdict, Some(false));
    let refused = |event: &Event| matches!(event, Event::Refused { reason: Reason::Rejected, .. });
    assert!(town.bus.strangers[dora].events.iter().any(refused), "{:?}", town.bus.strangers[dora].events);
    let yes = Command::Vote { motion: petition.request, approve: true };
    assert_eq!(town.desk_order(0, yes.clone()), Ok(()));
    assert_eq!(town.desk_order(0, yes), Err(AdmissionError::LocalUnknown), "it is closed");
    town.pass(45);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
    assert!(town.certificate(dora).votes().is_empty());
    assert!(town.desks[0].authority.status().petitions.is_empty());
    assert_eq!(town.desk_order(0, no), Err(AdmissionError::LocalUnknown));
    let expel = Command::Expel(town.bus.players[2].identity.member());
    assert_eq!(town.desk_order(0, expel), Err(AdmissionError::LocalNotVoter));
}

#[test]
fn adm_63_a_yes_stands_over_a_stop_before_the_log_has_it() {
    let plan = Plan { replicas: 2, ..plan(Scheme::Plain) };
    let mut town = Town::found(&plan, |draft| draft.policies.policy = Policy::Authority);
    town.logs = false;
    let request = town.request(40, |_| {});
    let message = grant(&request, none());
    assert_eq!(denied(&town.say(0, 0, &message).1), Reason::AwaitingAuthority);
    let yes = Command::Vote { motion: named(&request), approve: true };
    town.desk_order(0, yes.clone()).unwrap();
    let no = Command::Vote { motion: named(&request), approve: false };
    assert_eq!(town.desk_order(0, no), Err(AdmissionError::LocalVotedAlready));
    assert_eq!(town.desk_order(0, yes), Ok(()), "said already");
    assert_eq!(town.handed_in.len(), 1);
    town.handed_in.clear();
    town.restart(0);
    assert_eq!(town.desks[0].authority.status().petitions[0].verdict, Some(true));
    assert_eq!(town.say(0, 0, &message).1, Vec::new());
    town.logs = true;
    town.settle();
    assert_eq!((town.issued_on_disk(0).len(), town.issued_on_disk(1).len()), (1, 1));
    assert!(town.desks.iter().all(|desk| desk.authority.status().petitions.is_empty()));
}

#[test]
fn adm_63_as_many_wait_as_may_and_each_ends() {
    let mut town = Town::found(&plan(Scheme::Plain), |draft| {
        draft.policies.policy = Policy::Authority;
        draft.request_hours = 1;
    });
    (2..5).for_each(|who| town.link(0, who));
    for who in 0..5_u64 {
        for turn in 0..33 {
            let request = town.request(1_000 + who * 100 + turn, |_| {});
            let (result, answers) = town.say(0, who as usize, &grant(&request, none()));
            let fits = who < 4 && turn < 32;
            assert_eq!(denied(&answers), if fits { Reason::AwaitingAuthority } else { Reason::Full });
            assert!(fits && result == Ok(()) || matches!(result, Err(AdmissionError::PeerPetitions(_))));
        }
    }
    assert_eq!(town.desks[0].authority.status().petitions.len(), PETITIONS_MAX);
    // A newer one of the same key takes the place of the older, and not the other way round.
    let newer = town.request(1_000, |body| body.not_before = UnixTime(body.not_before.0 + 5));
    assert_eq!(denied(&town.say(0, 0, &grant(&newer, none())).1), Reason::AwaitingAuthority);
    let older = town.request(1_000, |_| {});
    assert_eq!(denied(&town.say(0, 1, &grant(&older, none())).1), Reason::Stale);
    assert_eq!(town.desks[0].authority.status().petitions.len(), PETITIONS_MAX);
    let closed = |town: &Town, as_: Closed| {
        let events = town.desks[0].events.iter();
        events.filter(|event| matches!(event, Event::RequestClosed { why, .. } if *why == as_)).count()
    };
    assert_eq!((closed(&town, Closed::Overtaken), closed(&town, Closed::Expired)), (1, 0));
    town.bus.time = UnixTime(town.bus.time.0 + 3_700);
    town.pass(1);
    assert_eq!((closed(&town, Closed::Overtaken), closed(&town, Closed::Expired)), (1, PETITIONS_MAX));
    assert!(town.desks[0].disk.keys().all(|at| at.key[0] != b'p'));
}

#[test]
fn adm_63_fewer_voters_than_the_threshold_are_no_voters_where_the_charter_says_so() {
    let mut town = Town::found(&Plan { founders: 3, threshold: 3, ..plan(Scheme::Plain) }, |draft| {
        draft.policies.below = Below::Authority;
    });
    let dora = town.stranger("dora", 40, 0);
    town.pass(8);
    assert!(town.desks[0].authority.status().petitions.is_empty(), "three voters decide");
    // One of them goes: the charter lets a founder's certificate end only by expulsion, and forces
    // it.
    let gone = town.bus.players[2].identity.member();
    let remove = Effect { change: Change::Remove { member: gone }, force: Force::Yes };
    for who in 0..3 {
        let _ = town.command(who, Command::Propose(remove.clone()));
    }
    town.bus.players[2].up = false;
    town.pass(5);
    assert!(town.transcript().roster().is_for_authority(), "{:#?}", town.bus.traces);
    town.pass(45);
    let motion = town.desks[0].authority.status().petitions[0].request;
    assert!(!town.bus.admitted(dora));
    town.desk_order(0, Command::Vote { motion, approve: true }).unwrap();
    town.pass(5);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
}

#[test]
fn adm_64_heartbeats_are_of_members_signed_of_now_and_newer() {
    let mut town = plain();
    town.pass(12);
    let status = town.desks[0].authority.status();
    assert_eq!((status.members, status.present.len(), status.linked.len()), (5, 2, 2));
    let group = town.transcript().group();
    let beat = |who: &Identity, time: u64| Heartbeat::sign(&group, who, UnixTime(time), 3);
    let time = town.bus.time.0;
    let third = town.bus.players[2].identity.clone();
    let mut forged = beat(&third, time);
    forged.present += 1;
    let elsewhere = Heartbeat::sign(&GroupId([9; 32]), &third, UnixTime(time), 3);
    for bad in [forged, elsewhere, beat(&third, time - 100), beat(&third, time + 100)] {
        let (result, _) = town.say(0, 0, &AuthorityMessage::Heartbeat { beat: bad });
        assert!(
            matches!(result, Err(AdmissionError::PeerBeat(who, _)) if who == third.member()),
            "{result:?}"
        );
    }
    let stranger = AuthorityMessage::Heartbeat { beat: beat(&person("x", 70), time) };
    assert!(matches!(town.say(0, 0, &stranger).0, Err(AdmissionError::PeerNotMember(_))));
    assert_eq!(town.desks[0].authority.status().present.len(), 2);
    let good = AuthorityMessage::Heartbeat { beat: beat(&third, time) };
    assert_eq!(town.say(0, 0, &good).0, Ok(()));
    let again = town.say(0, 0, &good).0;
    assert!(matches!(again, Err(AdmissionError::PeerBeat(_, "it is not newer than the one before"))));
    let status = town.desks[0].authority.status();
    assert_eq!(status.present.len(), 3);
    assert!(status.present.iter().any(|here| here.member == third.member() && here.sees == 3));
    // Three periods later it is not counted; the others go on saying that they are here.
    town.pass(35);
    let present = town.desks[0].authority.status().present;
    assert_eq!(present.len(), 2);
    assert!(present.iter().all(|here| here.age <= core::time::Duration::from_secs(30)));
}

#[test]
fn adm_67_a_list_is_signed_and_told_once_for_each_number() {
    let mut town = plain();
    let dora = town.stranger("dora", 40, 0);
    for who in [1, 2] {
        town.vote(who, dora, true);
    }
    town.pass(10);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
    let lists = |town: &Town| {
        let told = town.desks[0]
            .told
            .iter()
            .filter(|(_, word)| matches!(word, AuthorityMessage::Revocations { .. }));
        told.map(|(to, _)| *to).collect::<Vec<_>>()
    };
    assert!(lists(&town).is_empty());
    let member = town.bus.strangers[dora].identity.member();
    let serial = town.certificate(dora).body().serial;
    for who in 0..3 {
        let _ = town.command(who, Command::Expel(member));
    }
    town.pass(15);
    assert_eq!(lists(&town).len(), 2, "each linked member once");
    for player in &town.bus.players {
        let list = player.admission.revocations().expect("all have it");
        assert!(list.body().serials().contains(&serial));
    }
    town.restart(0);
    assert_eq!(town.desks[0].authority.revocations(), town.bus.players[0].admission.revocations());
    town.link(0, 3);
    town.pass(3);
    assert_eq!(lists(&town).len(), 5, "who links later hears it, and who links again");
    assert!(lists(&town).contains(&town.bus.players[3].identity.node()));
}

#[test]
fn adm_69_who_speaks_too_often_or_is_no_member_is_not_heard() {
    let mut town = plain();
    let stranger = person("x", 70).node();
    let request = town.request(40, |_| {});
    let word = grant(&request, town.votes(&request, &[1]));
    let payload = Bytes::from(codec::encode(&word));
    let heard = town.desk_input(0, Input::Guest { from: stranger, payload: payload.clone() });
    assert!(matches!(heard, Err(AdmissionError::PeerNotMember(_))));
    let from = town.bus.players[0].identity.node();
    let mut heard = 0;
    for _ in 0..300 {
        match town.desk_input(0, Input::Guest { from, payload: payload.clone() }) {
            Err(AdmissionError::PeerTooMuch(who)) => assert_eq!(who, from),
            _ => heard += 1,
        }
    }
    assert!((250..=256).contains(&heard), "{heard}");
    assert_eq!(denied(&town.say(0, 1, &word).1), Reason::AwaitingVotes, "others are heard");
    town.pass(1);
    assert_eq!(denied(&town.say(0, 0, &word).1), Reason::AwaitingVotes, "and it, a little later");
    // What only the authority says, and what is nothing.
    let backwards = AuthorityMessage::Denied { request: [1; 32], reason: Reason::Full };
    assert!(matches!(town.say(0, 0, &backwards).0, Err(AdmissionError::PeerOutOfTurn(_))));
    let nothing = town.desk_input(0, Input::Guest { from, payload: vec![1, 2, 3].into() });
    assert!(matches!(nothing, Err(AdmissionError::WireMalformed(_))));
}

#[test]
fn an_office_is_read_only_from_its_one_encoding_and_by_its_own_identity() {
    for scheme in [Scheme::Plain, Scheme::Frost, Scheme::TsDsa] {
        let drawn = office(scheme);
        let bytes = drawn.encode();
        let again = Office::decode(bytes.expose()).unwrap();
        assert_eq!((again.encode(), again.certificate), (bytes.clone(), drawn.certificate.clone()));
        for place in 0..bytes.expose().len() {
            let mut bad = bytes.expose().clone();
            bad[place] ^= 1;
            let read = Office::decode(&bad);
            // Of a secret any number may be one.
            assert!(read.map_or(true, |read| read.encode().expose() == &bad), "byte {place}");
            assert!(Office::decode(&bytes.expose()[..place]).is_err());
        }
        let (own, other) = (person("desk", 60), person("other", 61));
        let stored: Vec<_> = drawn
            .persists(&own, &mut Dice(1))
            .into_iter()
            .map(|persist| (persist.key, persist.value.unwrap()))
            .collect();
        assert_eq!(Office::load(&own, &stored).unwrap().unwrap().encode(), bytes);
        assert_eq!(Office::load(&other, &stored).err(), Some(AdmissionError::LocalCorrupt("office")));
        let key = drawn.key.to_pkcs8_der().unwrap();
        let has = |secret: &[u8]| {
            stored.iter().any(|(_, value)| value.windows(secret.len()).any(|at| at == secret))
        };
        assert!(
            !has(&key.expose()[40..60]) && !has(&drawn.secret.map_or(vec![7; 40], |s| s.expose().clone()))
        );
    }
}

#[test]
fn who_is_not_named_in_the_charter_is_no_authority() {
    let town = plain();
    let load = |identity: &Identity, office: &Office| {
        let stored = office.persists(identity, &mut Dice(1)).into_iter();
        let stored: Vec<_> = stored.map(|persist| (persist.key, persist.value.unwrap())).collect();
        Authority::load(Config::default(), town.transcript(), identity, &stored)
    };
    let named = &town.desks[0].identity;
    assert!(load(named, &office(Scheme::Plain)).unwrap().is_some());
    assert!(load(&person("x", 70), &office(Scheme::Plain)).unwrap().is_none());
    assert!(Authority::load(Config::default(), town.transcript(), named, &[]).unwrap().is_none());
    let another = Office::draw("moot", Scheme::Plain, NOW, &mut Dice(9)).unwrap();
    assert!(matches!(load(named, &another), Err(AdmissionError::LocalOffice(_))));
    assert!(matches!(load(named, &office(Scheme::Frost)), Err(AdmissionError::LocalOffice(_))));
    let single = crate::common::Bus::new(3, 2);
    let without = Authority::load(Config::default(), &single.players[0].transcript, named, &[]);
    assert!(without.unwrap().is_none(), "a group without an authority");
}
