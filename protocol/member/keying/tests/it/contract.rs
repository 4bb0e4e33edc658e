//! Every check on what others send, by number (docs/protocol/keying.md); complaints; refresh;
//! restart.

use crate::common::table::{Table, signed, step, view, with_body};
use crate::common::{GROUP, Seeded, Stamper, member, view_id};
use core::time::Duration;
use folkmoot_agreement::AgreementError;
use folkmoot_base::limits::STEP_DEADLINE;
use folkmoot_base::{Danger, GroupId, Instant};
use folkmoot_keying::message::{CONFIRM, Envelope, REFRESH};
use folkmoot_keying::{Config, Input, Keying, KeyingError, Output, State};
use std::collections::BTreeSet;

fn secured(n: usize) -> Table {
    let mut table = Table::new(n, None);
    table.start(1);
    table.honest();
    assert!(table.errors.iter().all(Vec::is_empty), "{:?}", table.errors);
    table
}

#[test]
fn all_install_one_key_with_3n_messages() {
    for n in 1..=8 {
        let table = secured(n);
        assert!(table.keyings.iter().all(|keying| keying.state() == State::Secure));
        let keys: BTreeSet<_> = table.keys().into_iter().collect();
        assert!(keys.len() == 1 && keys.first().unwrap().is_some());
        assert_eq!(table.heard.len(), if n == 1 { 0 } else { 3 * n }, "2n of the module, n confirmations");
    }
}

#[test]
fn views_of_the_same_members_have_different_keys() {
    let mut table = secured(3);
    let first = table.keys();
    table.flush();
    table.start(2);
    table.honest();
    assert_ne!(first, table.keys());
}

#[test]
fn key_01_views_that_do_not_fit_are_refused() {
    let mut table = Table::new(1, None);
    let mut order = 0;
    let mut refused = |change: &dyn Fn(&mut folkmoot_keying::View)| {
        order += 1;
        let mut view = view(order, 3);
        change(&mut view);
        assert_eq!(table.give(0, Input::View(view)), Err(KeyingError::LocalView));
        assert_eq!(table.keyings[0].state(), State::Cascading);
        // Flush has installed it all the same. Its flush is answered once, and the machine is not
        // stuck.
        table.give(0, Input::FlushRequest).unwrap();
        assert!(matches!(table.outputs[0].last(), Some(Output::FlushOk { .. })));
        assert_eq!(table.give(0, Input::FlushRequest), Err(KeyingError::LocalOutOfTurn("flush request")));
    };
    refused(&|view| view.members.swap(0, 1));
    refused(&|view| view.members[1] = member(0));
    refused(&|view| {
        view.members.remove(0);
    });
    refused(&|view| {
        view.transitional_set.remove(0);
    });
    refused(&|view| view.transitional_set.push(member(9)));
    refused(&|view| view.id.group = GroupId([1; 32]));
}

#[test]
fn key_02_bytes_and_groups_that_are_not_ours_are_refused() {
    let mut table = secured(2);
    let bytes = table.heard[0].1.clone();
    let cut = table.say(1, 0, &bytes.slice(1..));
    assert!(matches!(cut, Err(KeyingError::PeerMalformed { peer, .. }) if peer == member(0)));
    let mut other = Envelope::decode(&bytes).unwrap();
    other.view.group = GroupId([1; 32]);
    assert_eq!(table.say(1, 0, &signed(other, 0, 2)), Err(KeyingError::PeerOtherGroup(member(0))));
}

#[test]
fn key_03_other_views_and_attempts_are_refused() {
    let mut table = secured(2);
    let old = table.heard.clone();
    for (from, bytes) in &old {
        assert_eq!(table.say(1 - from, *from, bytes), Err(KeyingError::WireStale), "replayed when secure");
    }
    table.flush();
    table.start(2);
    for (from, bytes) in &old {
        assert_eq!(
            table.say(1 - from, *from, bytes),
            Err(KeyingError::WireStale),
            "replayed in the next view"
        );
    }
    let mut later = Envelope::decode(&table.log[0].1).unwrap();
    later.attempt = 1;
    assert_eq!(table.say(1, 0, &signed(later, 0, 2)), Err(KeyingError::WireStale));
    table.honest();
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Secure));
}

/// Every byte of every message of a run: if it is altered, the message is refused with a specific
/// error, and nothing changes.
#[test]
fn key_04_every_altered_byte_is_refused() {
    let mut table = Table::new(3, None);
    table.start(1);
    while let Some((from, bytes)) = table.log.pop_front() {
        for to in (0..3).filter(|to| *to != from) {
            let state = (table.keyings[to].state(), table.keyings[to].awaited());
            for at in 0..bytes.len() {
                let mut altered = bytes.to_vec();
                altered[at] ^= 1;
                let refused = table.say(to, from, &altered.into()).unwrap_err();
                let specific = matches!(
                    refused,
                    KeyingError::PeerMalformed { .. }
                        | KeyingError::PeerOtherGroup(_)
                        | KeyingError::WireStale
                        | KeyingError::PeerForged(_)
                        | KeyingError::WireConfirm(_)
                );
                assert!(specific, "byte {at}: {refused}");
            }
            assert_eq!(state, (table.keyings[to].state(), table.keyings[to].awaited()));
        }
        for to in 0..3 {
            table.say(to, from, &bytes).unwrap();
        }
    }
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Secure));
}

#[test]
fn key_04_another_sender_is_refused() {
    let mut table = Table::new(3, None);
    table.start(1);
    let (_, bytes) = table.log[0].clone();
    assert_eq!(table.say(1, 2, &bytes), Err(KeyingError::PeerForged(member(2))));
    assert_eq!(table.say(1, 7, &bytes), Err(KeyingError::PeerNotInView(member(7))));
}

#[test]
fn key_05_instances_are_not_used_twice() {
    let mut table = secured(2);
    let first = Envelope::decode(&table.heard[0].1).unwrap().instance;
    table.flush();
    table.start(2);
    let mut again = Envelope::decode(&table.log[0].1).unwrap();
    again.instance = first;
    let again = signed(again, 0, 2);
    assert_eq!(table.say(1, 0, &again), Err(KeyingError::PeerInstance(member(0))), "of another run");
    let mut mixed = table;
    mixed.run(|from, bytes| {
        let mut envelope = Envelope::decode(bytes).unwrap();
        if from == 0 && envelope.step == 3 {
            envelope.instance.counter += 9;
            return Some(signed(envelope, 0, 2));
        }
        Some(bytes.clone())
    });
    assert!(mixed.errors[1].contains(&KeyingError::PeerInstance(member(0))), "two in one run");
}

#[test]
fn key_06_nobody_speaks_in_my_name() {
    let mut table = Table::new(2, None);
    table.start(1);
    let (_, bytes) = table.log[0].clone();
    let forged = with_body(&bytes, 0, 2, |body| body[0] ^= 1);
    assert_eq!(table.say(0, 0, &forged), Err(KeyingError::WireImpostor));
    table.honest();
    assert_eq!(table.keyings[0].state(), State::Secure);
    assert_eq!(table.say(1, 1, &bytes), Err(KeyingError::WireStale));
}

#[test]
fn key_07_signed_nonsense_is_complained_of_at_once() {
    for (at, bad) in [(1, vec![0; 32]), (2, vec![7; 31]), (3, vec![0xff; 32]), (4, vec![0; 64])] {
        let mut table = Table::new(3, None);
        table.start(1);
        let mut liar = None;
        table.run(|from, bytes| {
            if liar.is_none() && step(bytes) == at {
                liar = Some(from);
                return Some(with_body(bytes, from, 3, |body| *body = bad.clone()));
            }
            Some(bytes.clone())
        });
        let liar = liar.unwrap();
        for to in (0..3).filter(|to| *to != liar) {
            let refused = &table.errors[to][0];
            assert!(
                matches!(refused, KeyingError::PeerStep { peer, .. } if *peer == member(liar)),
                "{refused}"
            );
            assert_eq!(table.complaints(to)[0], [member(liar)], "step {at}");
        }
    }
    let mut table = Table::new(3, None);
    table.start(1);
    let (_, bytes) = table.log[0].clone();
    let mut early = Envelope::decode(&bytes).unwrap();
    early.step = 3;
    let source = AgreementError::PeerOutOfTurn { from: 0, step: 3 };
    let refused = table.say(1, 0, &signed(early, 0, 3));
    assert_eq!(refused, Err(KeyingError::PeerStep { peer: member(0), source }));
    assert!(table.complaints(1).is_empty(), "a step out of turn changes nothing");
}

#[test]
fn key_08_a_wrong_confirmation_blocks_the_view_at_all() {
    let mut table = Table::new(4, None);
    table.start(1);
    table.run(|from, bytes| {
        let lie = from == 2 && step(bytes) == CONFIRM;
        Some(if lie { with_body(bytes, 2, 4, |body| body[9] ^= 1) } else { bytes.clone() })
    });
    for to in [0, 1, 3] {
        assert_eq!(table.errors[to], [KeyingError::WireConfirm(member(2))]);
        assert!(table.complaints(to).is_empty(), "anybody may have made it");
    }
    table.late();
    assert!([0, 1, 3].iter().all(|to| table.complaints(*to) == [[member(2)]]), "as if it were silent");
    assert!(table.keys().iter().all(Option::is_none));
    let (_, confirmed) =
        table.heard.iter().find(|(from, bytes)| *from == 1 && step(bytes) == CONFIRM).unwrap();
    let again = confirmed.clone();
    assert_eq!(table.say(0, 1, &again), Err(KeyingError::PeerOutOfTurn(member(1))));
}

/// A controller gives one member another value: without confirmation that member would hold another
/// key; with it, no member installs.
#[test]
fn key_08_a_lying_key_list_is_caught_by_confirmation_only() {
    let lie = |from: usize, bytes: &bytes::Bytes| {
        let list = step(bytes) == 4;
        Some(if list { with_body(bytes, from, 3, |body| body.copy_within(32..64, 0)) } else { bytes.clone() })
    };
    let mut table = Table::new(3, Some(Danger::KeyingNoConfirm));
    table.start(1);
    table.run(lie);
    let keys: BTreeSet<_> = table.keys().into_iter().flatten().collect();
    assert!(keys.len() > 1, "the mutant installs different keys");
    let mut table = Table::new(3, None);
    table.start(1);
    table.run(lie);
    assert!(table.keys().iter().all(Option::is_none));
    table.late();
    assert!((0..2).all(|to| !table.complaints(to).is_empty()));
}

#[test]
fn key_09_refresh_gives_a_new_key_in_the_same_view() {
    let mut table = secured(3);
    let first = table.keys();
    table.give(1, Input::Refresh).unwrap();
    table.give(1, Input::Refresh).unwrap();
    table.give(2, Input::Refresh).unwrap();
    let asked: Vec<_> = table.log.iter().map(|(_, bytes)| step(bytes)).collect();
    assert_eq!(asked, [REFRESH, REFRESH], "asked once each");
    let mut forged = Envelope::decode(&table.log[0].1).unwrap();
    forged.signature = [9; 64].into();
    let altered = folkmoot_base::codec::encode(&forged).into();
    assert_eq!(table.say(0, 1, &altered), Err(KeyingError::PeerForged(member(1))));
    // Not for the next attempt: stale, whoever signed it.
    forged.attempt = 2;
    let early = folkmoot_base::codec::encode(&forged).into();
    assert_eq!(table.say(0, 1, &early), Err(KeyingError::WireStale));
    assert!(table.keyings[0].awaited().is_empty(), "nothing has begun");
    table.honest();
    let second: BTreeSet<_> = table.keys().into_iter().collect();
    assert!(second.len() == 1 && !second.contains(&first[0]));
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Secure));
    // Two members asked. The first REFRESH in the order counted, the other was ignored: one
    // refresh.
    let times =
        |outputs: &Vec<Output>| outputs.iter().filter(|o| matches!(o, Output::Refreshed { .. })).count();
    assert!(table.outputs.iter().all(|outputs| times(outputs) == 1));
    // Once more, by the member whose request was ignored too.
    table.give(2, Input::Refresh).unwrap();
    table.honest();
    assert!(table.outputs.iter().all(|outputs| times(outputs) == 2));
}

#[test]
fn key_09_a_refresh_does_not_hold_the_flush() {
    let mut table = secured(3);
    table.give(0, Input::Refresh).unwrap();
    let (_, refresh) = table.log.pop_front().unwrap();
    for to in 0..3 {
        table.say(to, 0, &refresh).unwrap();
    }
    table.flush();
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Cascading));
    let before = table.services.len();
    table.honest();
    assert_eq!(table.services.len(), before, "who has answered the flush says no more");
    table.start(2);
    table.honest();
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Secure));
}

/// A member takes every step but one. All the others complain about it, and about nobody else,
/// again and again at growing intervals.
#[test]
fn key_10_the_silent_are_complained_of_by_all_at_every_step() {
    for (mute, silent) in [(0, 1), (1, 1), (3, 2), (0, 3), (2, 3), (3, 4), (0, CONFIRM), (3, CONFIRM)] {
        let mut table = Table::new(4, None);
        table.start(1);
        table.run(|from, bytes| (from != mute || step(bytes) != silent).then(|| bytes.clone()));
        let mut gaps = Vec::new();
        for _ in 0..5 {
            let at = table.keyings[(mute + 1) % 4].poll_timeout().unwrap();
            gaps.push(at.since(table.now).as_millis());
            table.now = at;
            table.all(|_| Input::Timeout);
        }
        assert_eq!(gaps, [3_000, 6_000, 12_000, 24_000, 24_000]);
        for to in (0..4).filter(|to| *to != mute) {
            let complaints = table.complaints(to);
            assert_eq!(complaints.len(), 5, "member {to}, {mute} silent in {silent}");
            assert!(complaints.iter().all(|suspects| *suspects == [member(mute)]));
        }
        assert!(table.complaints(mute).iter().all(|suspects| !suspects.contains(&member(mute))));
    }
}

#[test]
fn key_10_nobody_is_blamed_after_the_signal_or_while_flushing() {
    let mut table = Table::new(3, None);
    table.start(1);
    table.all(|_| Input::TransitionalSignal);
    assert!(table.keyings.iter().all(|keying| keying.poll_timeout().is_none()));
    table.now = Instant(1 << 40);
    table.all(|_| Input::Timeout);
    assert!((0..3).all(|of| table.complaints(of).is_empty()));
    table.all(|_| Input::FlushRequest);
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Cascading));
}

#[test]
fn key_15_a_step_is_waited_for_as_long_as_the_configuration_asks() {
    let mut table = Table::new(3, None);
    let far = Duration::from_secs(8);
    table.keyings.iter_mut().for_each(|keying| keying.wait(far));
    table.start(1);
    let (now, waits) = (table.now, |table: &Table| table.keyings[0].poll_timeout());
    assert_eq!(waits(&table), Some(now + far));
    table.now = now + far / 2;
    table.all(|_| Input::Timeout);
    assert!((0..3).all(|of| table.complaints(of).is_empty()), "they are far, not silent");
    // What began before goes on as it began.
    table.keyings.iter_mut().for_each(|keying| keying.wait(STEP_DEADLINE));
    assert_eq!(waits(&table), Some(now + far));
    table.now = now + far;
    table.all(|_| Input::Timeout);
    assert!((0..3).any(|of| !table.complaints(of).is_empty()));
    let again = table.now + STEP_DEADLINE * 2;
    assert_eq!(waits(&table), Some(again));
    table.keyings[0].wait_anew(table.now);
    assert_eq!(waits(&table), Some(again), "no shorter than before");
    table.keyings[0].wait_anew(again);
    assert_eq!(waits(&table), Some(again + STEP_DEADLINE));
}

#[test]
fn rule_h_holds_the_flush_until_the_signal_in_every_state() {
    for messages in 0..12 {
        let mut table = Table::new(4, None);
        table.start(1);
        for _ in 0..messages {
            let (from, bytes) = table.log.pop_front().unwrap();
            (0..4).for_each(|to| table.say(to, from, &bytes).unwrap());
        }
        table.all(|_| Input::FlushRequest);
        let answered = |table: &Table| {
            table
                .outputs
                .iter()
                .filter(|outputs| outputs.iter().any(|o| matches!(o, Output::FlushOk { .. })))
                .count()
        };
        assert_eq!(answered(&table), 0, "after {messages} messages");
        table.all(|_| Input::TransitionalSignal);
        assert_eq!(answered(&table), 4);
        assert!(table.keyings.iter().all(|keying| keying.state() == State::Cascading));
    }
    // Without a signal the run ends, the view is secure, and the application is asked.
    let mut table = Table::new(3, None);
    table.start(1);
    table.all(|_| Input::FlushRequest);
    table.honest();
    for (to, outputs) in table.outputs.iter().enumerate() {
        let tail: Vec<_> = outputs.iter().rev().take(2).collect();
        assert!(matches!(tail[..], [Output::SecureFlushRequest, Output::SecureView(_)]), "member {to}");
    }
}

#[test]
fn what_comes_after_the_signal_installs_nothing() {
    for before in 0..12 {
        let mut table = Table::new(4, None);
        table.start(1);
        for _ in 0..before {
            let (from, bytes) = table.log.pop_front().unwrap();
            (0..4).for_each(|to| table.say(to, from, &bytes).unwrap());
        }
        table.all(|_| Input::TransitionalSignal);
        table.honest();
        assert!(table.keys().iter().all(Option::is_none));
        assert!(table.errors.iter().all(Vec::is_empty));
    }
}

/// The highest number that is reserved on disk.
fn reserved(stored: &Option<Vec<u8>>) -> u64 {
    stored.as_ref().map_or(0, |stored| u64::from_be_bytes(stored[..8].try_into().unwrap()))
}

/// Many runs of one machine: no number is used twice, none without being reserved, and there are
/// few writes to the disk.
fn runs_wait_for_the_disk_seldom(stored: Option<&[u8]>) {
    let mut keying = Keying::new(member(0), GROUP, Config::default(), stored).unwrap();
    let (mut on_disk, mut seen, mut commits) = (stored.map(<[u8]>::to_vec), BTreeSet::new(), 0);
    for round in 1..=300 {
        keying.handle(Instant(0), Input::View(view(100 + round, 2)), &Stamper(0), &mut Seeded(1)).unwrap();
        keying.handle(Instant(0), Input::FlushRequest, &Stamper(0), &mut Seeded(1)).unwrap();
        keying.handle(Instant(0), Input::TransitionalSignal, &Stamper(0), &mut Seeded(1)).unwrap();
        while let Some(output) = keying.poll_output() {
            match output {
                Output::Persist(persist) => {
                    on_disk = persist.value.map(|value| value.to_vec());
                    commits += 1;
                }
                Output::Send { bytes, .. } => {
                    let used = Envelope::decode(&bytes).unwrap().instance.counter;
                    assert!(seen.insert(used) && used <= reserved(&on_disk), "{used}");
                }
                _ => {}
            }
        }
    }
    assert!(seen.len() == 300 && (5..=20).contains(&commits), "{} runs, {commits} commits", seen.len());
}

#[test]
fn key_11_instance_numbers_are_on_disk_before_they_are_used_and_survive() {
    let mut stored: Option<Vec<u8>> = None;
    let mut seen = BTreeSet::new();
    for round in 1..=5 {
        let mut keying = Keying::new(member(0), GROUP, Config::default(), stored.as_deref()).unwrap();
        keying.handle(Instant(0), Input::View(view(round, 2)), &Stamper(0), &mut Seeded(1)).unwrap();
        let mut persisted = false;
        while let Some(output) = keying.poll_output() {
            match output {
                Output::Persist(persist) => {
                    assert_eq!(persist.key.table, "keying");
                    assert_eq!(persist.key.key, GROUP.0.to_vec());
                    stored = persist.value.map(|value| value.to_vec());
                    persisted = true;
                }
                Output::Send { bytes, .. } => {
                    assert!(persisted, "persisted first");
                    let used = Envelope::decode(&bytes).unwrap().instance.counter;
                    assert!(seen.insert(used) && used <= reserved(&stored), "{used}");
                }
                _ => {}
            }
        }
    }
    assert_eq!(seen.len(), 5);
    runs_wait_for_the_disk_seldom(stored.as_deref());
    let stored = stored.unwrap();
    for at in 0..stored.len() {
        let mut damaged = stored.clone();
        damaged[at] ^= 1;
        let refused = Keying::new(member(0), GROUP, Config::default(), Some(&damaged)).err();
        assert_eq!(refused, Some(KeyingError::LocalStore));
        let cut = Keying::new(member(0), GROUP, Config::default(), Some(&stored[..at])).err();
        assert_eq!(cut, Some(KeyingError::LocalStore));
    }
}

#[test]
fn inputs_out_of_turn_change_nothing() {
    let mut table = secured(2);
    let turn = |what| Err(KeyingError::LocalOutOfTurn(what));
    assert_eq!(table.give(0, Input::View(view(2, 2))), turn("view"));
    assert_eq!(table.give(0, Input::SecureFlushOk), turn("secure flush ok"));
    table.flush();
    assert_eq!(table.give(0, Input::FlushRequest), turn("flush request"));
    assert_eq!(table.give(0, Input::View(view(1, 2))), turn("view"), "the same view again");
    assert_eq!(view(1, 2).id, view_id(1));
    table.give(0, Input::Refresh).unwrap();
    assert_eq!(table.keyings[0].state(), State::Cascading);
}
