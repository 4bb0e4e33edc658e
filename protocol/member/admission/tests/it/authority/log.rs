//! What an authority grants is in its log once, and on disk.

use super::*;

#[test]
fn adm_62_one_request_one_certificate_whoever_asks_whenever() {
    let mut town = plain();
    let request = town.request(40, |_| {});
    let first = granted(&town.ask(&request, town.votes(&request, &[1, 2])));
    assert_eq!(town.issued_on_disk(0).len(), 1);
    // Other votes, another member, after a stop: the same bytes.
    let others = town.votes(&request, &[2, 3]);
    assert_eq!(granted(&town.ask(&request, others.clone())), first);
    town.restart(0);
    assert_eq!(granted(&town.say(0, 1, &grant(&request, others)).1), first);
    assert_eq!(town.issued_on_disk(0).into_values().collect::<Vec<_>>(), [first]);
    assert_eq!(town.desks[0].authority.status().issued, 1);
}

/// Two replicas.
fn replicated() -> Town {
    Town::found(&Plan { replicas: 2, ..plan(Scheme::Plain) }, |_| {})
}

#[test]
fn adm_62_nothing_is_told_before_the_log_and_the_disk_have_it() {
    let mut town = replicated();
    town.logs = false;
    let request = town.request(40, |_| {});
    let message = grant(&request, town.votes(&request, &[1, 2]));
    assert_eq!(town.say(0, 0, &message), (Ok(()), Vec::new()));
    nothing_issued(&town);
    assert_eq!((town.handed_in.len(), town.desks[0].authority.status().logging), (1, 1));
    // Asked again, by another too: one record. It is handed in again while it does not come back.
    assert_eq!(town.say(0, 1, &message), (Ok(()), Vec::new()));
    assert_eq!(town.handed_in.len(), 1);
    town.pass(7);
    assert_eq!(town.handed_in.len(), 2);
    assert_eq!(town.handed_in[0], town.handed_in[1]);
    // Stopped between the two: nothing is lost but who asked. The same votes make the same record.
    town.restart(0);
    assert_eq!(town.desks[0].authority.status().logging, 0);
    town.say(0, 0, &message).0.unwrap();
    assert_eq!(town.handed_in[2], town.handed_in[0]);
    // On disk before it is told: whoever asked, and the other replica has it too, unasked.
    let record = town.handed_in[0].clone();
    let payload = codec::encode(&message);
    let player = town.bus.players[1].identity.node();
    let _ = town.desk_input(0, Input::Guest { from: player, payload: payload.into() });
    let (now, told) = (town.bus.now, town.desks[0].told.len());
    let desk = &mut town.desks[0];
    desk.authority
        .handle(now, Input::Logged(record.clone()), &desk.transcript, &desk.identity, &mut Dice(1))
        .unwrap();
    let mut order = Vec::new();
    while let Some(output) = desk.authority.poll_output() {
        match output {
            Output::Persist(_) => order.push("disk"),
            Output::Guest { .. } => order.push("told"),
            _ => {}
        }
    }
    assert_eq!((order, told), (vec!["disk", "told", "told"], town.desks[0].told.len()));
    assert_eq!(town.desk_input(1, Input::Logged(record)), Ok(()));
    assert_eq!(town.issued_on_disk(1).len(), 1);
}

/// One input at the first desk, of whose outputs the first `left` take effect; how many are left to
/// the next.
fn partly(town: &mut Town, input: Input, left: usize, told: &mut Vec<Bytes>) -> usize {
    let desk = &mut town.desks[0];
    desk.authority.handle(town.bus.now, input, &desk.transcript, &desk.identity, &mut Dice(1)).unwrap();
    let mut outputs = Vec::new();
    while let Some(output) = desk.authority.poll_output() {
        outputs.push(output);
    }
    let count = outputs.len().min(left);
    for output in outputs.into_iter().take(left) {
        match output {
            Output::Persist(persist) => crate::common::store(&mut desk.disk, persist),
            Output::Log(record) => town.log.push(record),
            Output::Guest { payload, .. } => {
                if let AuthorityMessage::Granted { der, .. } = codec::decode(&payload).unwrap() {
                    told.push(der.0);
                }
            }
            _ => {}
        }
    }
    left - count
}

#[test]
fn adm_62_a_stop_at_any_point_makes_no_second_certificate() {
    for replicas in [1, 2] {
        let mut first_told = 0;
        for cut in 0..6 {
            let mut town = Town::found(&Plan { replicas, ..plan(Scheme::Plain) }, |_| {});
            town.logs = false;
            let request = town.request(40, |_| {});
            let (before, after) = (town.votes(&request, &[1, 2]), town.votes(&request, &[3, 4]));
            let from = town.bus.players[0].identity.node();
            let payload = codec::encode(&grant(&request, before)).into();
            let mut told = Vec::new();
            let left = partly(&mut town, Input::Guest { from, payload }, cut, &mut told);
            if let Some(record) = town.log.first().cloned() {
                partly(&mut town, Input::Logged(record), left, &mut told);
            }
            first_told += told.len();
            town.restart(0);
            town.logs = true;
            town.say(0, 0, &grant(&request, after)).0.unwrap();
            town.settle();
            let later = town.desks[0].told.iter().filter_map(|(_, word)| match word {
                AuthorityMessage::Granted { der, .. } => Some(der.0.clone()),
                _ => None,
            });
            told.extend(later);
            assert!(!told.is_empty() && told.iter().all(|der| *der == told[0]), "{replicas} {cut}");
            assert_eq!(town.issued_on_disk(0).len(), 1);
            if replicas == 2 {
                assert_eq!(town.issued_on_disk(0), town.issued_on_disk(1));
            }
        }
        assert!(first_told > 1, "some were told before the stop, some not");
    }
}

#[test]
fn adm_62_of_two_replicas_the_first_record_counts_in_whichever_order() {
    for swap in [false, true] {
        let mut town = replicated();
        town.logs = false;
        let request = town.request(40, |_| {});
        let (ours, theirs) = (town.votes(&request, &[1, 2]), town.votes(&request, &[3, 4]));
        town.say(0, 0, &grant(&request, ours)).0.unwrap();
        town.say(1, 1, &grant(&request, theirs)).0.unwrap();
        assert_ne!(town.handed_in[0], town.handed_in[1]);
        if swap {
            town.handed_in.swap(0, 1);
        }
        town.logs = true;
        town.settle();
        assert_eq!(town.log.len(), 1);
        let (first, second) = (town.issued_on_disk(0), town.issued_on_disk(1));
        assert_eq!((first.len(), &first), (1, &second));
        for desk in &town.desks {
            let told = desk.told.iter().filter_map(|(_, word)| match word {
                AuthorityMessage::Granted { der, .. } => Some(der.0.clone()),
                _ => None,
            });
            assert_eq!(told.collect::<Vec<_>>(), first.values().cloned().collect::<Vec<_>>());
        }
        // The log is read again from its beginning, as after a stop: nothing changes.
        for which in [0, 1] {
            town.restart(which);
            town.desks[which].read = 0;
        }
        town.settle();
        assert_eq!((town.issued_on_disk(0), town.issued_on_disk(1)), (first.clone(), first));
    }
}

#[test]
fn adm_62_of_two_requests_with_one_serial_number_one_is_granted() {
    let mut town = replicated();
    town.logs = false;
    let first = town.request(40, |_| {});
    let second = town.request(41, |body| body.serial = first.body().serial);
    let (ours, theirs) = (town.votes(&first, &[1, 2]), town.votes(&second, &[1, 2]));
    town.say(0, 0, &grant(&first, ours)).0.unwrap();
    town.say(1, 1, &grant(&second, theirs.clone())).0.unwrap();
    assert_eq!(
        denied(&town.say(0, 1, &grant(&second, theirs)).1),
        Reason::Stale,
        "on its way through the log"
    );
    town.logs = true;
    town.settle();
    assert_eq!(town.issued_on_disk(0), town.issued_on_disk(1));
    assert_eq!(town.issued_on_disk(0).len(), 1);
    let last = town.desks[1].told.last().cloned();
    assert!(matches!(last, Some((_, AuthorityMessage::Denied { reason: Reason::Stale, .. }))), "{last:?}");
}

#[test]
fn adm_62_a_record_that_is_none_changes_nothing() {
    let mut town = replicated();
    town.logs = false;
    let request = town.request(40, |_| {});
    let votes = town.votes(&request, &[1, 2]);
    town.say(0, 0, &grant(&request, votes)).0.unwrap();
    let record = town.handed_in[0].to_vec();
    for place in (0..record.len()).step_by(7) {
        let mut bad = record.clone();
        bad[place] ^= 1;
        let heard = town.desk_input(1, Input::Logged(bad.into()));
        assert!(matches!(heard, Err(AdmissionError::LocalRecord(_))), "byte {place}: {heard:?}");
    }
    assert!(town.issued_on_disk(1).is_empty());
    // Nor can an office be read from a disk that was changed.
    town.desk_input(1, Input::Logged(record.into())).unwrap();
    for (at, value) in town.desks[1].disk.clone() {
        let mut bad = value.to_vec();
        *bad.last_mut().unwrap() ^= 1;
        let mut disk = town.desks[1].disk.clone();
        disk.insert(at.clone(), bad.into());
        let stored: Vec<_> = disk.into_iter().collect();
        let desk = &town.desks[1];
        let loaded = Authority::load(Config::default(), &desk.transcript, &desk.identity, &stored);
        assert!(loaded.is_err(), "{at:?}");
    }
}

#[test]
fn adm_62_as_many_records_wait_for_the_log_as_may() {
    let mut town = replicated();
    town.logs = false;
    for number in 0..=LOGGING_MAX {
        let request = town.request(1_000 + number as u64, |_| {});
        let votes = town.votes(&request, &[1, 2]);
        let (result, answers) = town.say(0, number % 2, &grant(&request, votes));
        if number < LOGGING_MAX {
            assert_eq!((result, answers), (Ok(()), Vec::new()));
        } else {
            assert_eq!((result, denied(&answers)), (Err(AdmissionError::LocalFull), Reason::Full));
        }
    }
    town.logs = true;
    town.settle();
    assert_eq!(town.desks[1].authority.status().issued, LOGGING_MAX);
}

#[test]
fn adm_68_what_may_stand_once_items_come_is_not_refused_for_good() {
    let mut town = plain();
    let (before, base) = (town.request(39, |_| {}), Head { number: 0, digest: [9; 32] });
    town.desks[0].hears = false;
    for who in 0..3 {
        let _ = town.command(who, Command::Propose(change("request_hours", "48")));
    }
    town.pass(3);
    let request = town.request(40, |_| {});
    assert_ne!(request.body().membership.base.digest, before.body().membership.base.digest);
    let votes = town.votes(&request, &[1, 2]);
    assert_eq!(denied(&town.ask(&request, votes.clone())), Reason::AwaitingAuthority);
    let (old, later) = (town.request(42, |body| body.membership.base = base), town.votes(&before, &[1, 2]));
    assert_eq!(denied(&town.ask(&before, later.clone())), Reason::AwaitingAuthority, "voted on since");
    town.desks[0].hears = true;
    town.settle();
    granted(&town.ask(&request, votes));
    // A change of the charter overtakes no request.
    granted(&town.ask(&before, later));
    // One that was made on another line never stands.
    assert_eq!(denied(&town.ask(&old, town.votes(&old, &[1, 2]))), Reason::Stale);
    // Another group's request never stands.
    let other = Town::found(&plan(Scheme::Plain), |draft| draft.request_hours = 9);
    let theirs = other.request(41, |_| {});
    assert_eq!(denied(&town.ask(&theirs, other.votes(&theirs, &[1, 2]))), Reason::Stale);
}
