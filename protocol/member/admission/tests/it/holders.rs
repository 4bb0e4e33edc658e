//! Who holds shares of the group's key as electorates come and go, and how a session that gathers
//! signers keeps time. Method: as in signers; cases that the simulator of sessions found, each in
//! its smallest form.

use crate::common::{Bus, change, vote};
use bytes::Bytes;
use folkmoot_admission::{Command, OpenMessage, SignerBody};
use folkmoot_base::{MemberId, StoreKey, codec};
use folkmoot_identity::Scheme;
use folkmoot_transcript::{Change, Effect};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];

fn members(bus: &Bus, players: &[usize]) -> Vec<MemberId> {
    players.iter().map(|who| bus.players[*who].identity.member()).collect()
}

/// `by` have these vote from now on, and time passes for a new sharing.
fn elect(bus: &mut Bus, by: &[usize], voters: &[usize]) {
    let effect = Effect::from(Change::Electorate { voters: members(bus, voters) });
    for who in by {
        // Once it is decided, the last ones have nothing to propose any more.
        let _ = bus.command(*who, Command::Propose(effect.clone()));
    }
    bus.pass(30);
}

/// Messages of rounds do not arrive: no sharing comes.
fn without_rounds(bus: &mut Bus) {
    bus.tamper = Some(Box::new(|_, payload| {
        !matches!(
            codec::decode(payload),
            Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Round { .. })
        )
    }));
}

/// Exactly these hold a share: by the transcript, and on disk.
fn assert_holders(bus: &Bus, players: &[usize]) {
    let sharing = bus.players[0].transcript.roster().sharing().expect("a sharing");
    let mut want = members(bus, players);
    want.sort_unstable();
    assert_eq!(sharing.facts.holders, want, "{:#?}", bus.traces);
    for (who, player) in bus.players.iter().enumerate() {
        let shares = player.disk.keys().filter(|key| key.table == "share").count();
        assert_eq!(shares, usize::from(players.contains(&who)), "member {who}: {:#?}", bus.traces);
    }
}

/// Only one of the new voters had a share, and two make the next sharing. The others are still
/// members and give theirs. Those who had none keep what they were given.
#[test]
fn new_voters_get_and_keep_shares_from_those_who_held_them() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        bus.pass(12);
        assert_holders(&bus, &[0, 1, 2, 3, 4]);
        elect(&mut bus, &[0, 1, 2], &[0, 1, 2]);
        assert_holders(&bus, &[0, 1, 2]);
        elect(&mut bus, &[0, 1, 2], &[2, 3, 4]);
        assert_holders(&bus, &[2, 3, 4]);
        for who in 0..5 {
            bus.restart(who);
        }
        assert_holders(&bus, &[2, 3, 4]);
        let dora = bus.stranger("dora", 40, 3);
        for who in [3, 4] {
            vote(&mut bus, who, dora, true);
        }
        bus.pass(12);
        assert!(bus.admitted(dora), "{:#?}", bus.traces);
    }
}

#[test]
fn where_one_share_is_the_key_new_voters_get_it_too() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 3, 1);
        bus.pass(12);
        elect(&mut bus, &[0, 1, 2], &[0, 1]);
        assert_holders(&bus, &[0, 1]);
        elect(&mut bus, &[0, 1], &[1, 2]);
        assert_holders(&bus, &[1, 2]);
    }
}

#[test]
fn no_timer_stands_in_the_past_while_a_session_gathers_or_stands_still() {
    for scheme in [Scheme::TsDsa, Scheme::Frost, Scheme::Asm] {
        let mut bus = Bus::silent(scheme, 5, 3);
        bus.tamper = Some(Box::new(|_, payload| {
            !matches!(
                codec::decode(payload),
                Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Ready { .. })
            )
        }));
        bus.pass(0);
        let dora = bus.stranger("dora", 40, 0);
        for who in 0..3 {
            vote(&mut bus, who, dora, true);
        }
        for _ in 0..20 {
            bus.pass(1);
            bus.pass(0);
            bus.pass(0);
            for player in &bus.players {
                let due = player.admission.poll_timeout();
                assert!(due.is_none_or(|due| due > bus.now), "{scheme:?} {due:?} at {:?}", bus.now);
            }
        }
    }
}

/// Three of five lost their shares before they voted: they say no, and other shares are made.
#[test]
fn a_sharing_that_too_many_have_no_share_of_is_refused_and_made_anew() {
    for scheme in SCHEMES {
        let mut bus = Bus::silent(scheme, 5, 2);
        // What they say of the first sharing is lost.
        bus.lose_items = true;
        bus.pass(4);
        for who in [2, 3, 4] {
            bus.players[who]
                .disk
                .retain(|key, _| key.table != "share" && key.table != "vote" && key.table != "request");
            bus.restart(who);
        }
        bus.lose_items = false;
        bus.pass(60);
        assert_holders(&bus, &[0, 1, 2, 3, 4]);
        assert!(bus.traces.iter().filter(|(_, text)| text.contains("session: found")).count() > 1);
    }
}

/// After an expulsion two people want one more each, and the others have judged neither. The new
/// shares come all the same, and what people want stays open.
#[test]
fn adm_38_new_shares_do_not_wait_for_people_who_have_not_judged() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        bus.pass(12);
        let before = bus.players[0].transcript.roster().sharing().cloned().expect("a sharing");
        without_rounds(&mut bus);
        let members = members(&bus, &[0, 1, 2, 3, 4]);
        for who in 0..3 {
            let _ = bus.command(who, Command::Expel(members[4]));
        }
        bus.players[4].up = false;
        bus.command(0, Command::Expel(members[3])).unwrap();
        bus.command(1, Command::Expel(members[2])).unwrap();
        bus.tamper = None;
        bus.pass(30);
        let roster = bus.players[0].transcript.roster();
        let sharing = roster.sharing().expect("a sharing");
        assert_ne!(sharing.facts.epoch, before.facts.epoch, "{:#?}", bus.traces);
        assert!(roster.leavers_with_shares().is_empty() && roster.is_member(&members[3]));
        for player in &bus.players[..4] {
            assert_eq!(player.admission.status(&player.transcript, &player.identity).proposals.len(), 2);
        }
    }
}

/// The shares on `who`'s disk.
fn shares(bus: &Bus, who: usize) -> BTreeMap<StoreKey, Bytes> {
    let disk = bus.players[who].disk.iter().filter(|(key, _)| key.table == "share");
    disk.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Once a sharing is decided, its share is put into use. The one before is erased, and so is one
/// that waited beside it. If the member is stopped before any of the three writes, or after the
/// first or the second, in whatever order, the rest is done at the next start.
#[test]
fn of_a_stop_between_a_decision_and_the_erasures_nothing_is_left() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        bus.pass(12);
        bus.tamper =
            Some(Box::new(|_, payload| !matches!(codec::decode(payload), Ok(OpenMessage::Signer { .. }))));
        for who in 0..3 {
            bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
        }
        assert_eq!(bus.players[1].transcript.roster().threshold(), 3);
        // From now on shares are made, and what is said of them is lost.
        (bus.tamper, bus.lose_items) = (None, true);
        bus.pass(15);
        // One lost what waits there: it has other shares made, and all the others have two that
        // wait.
        let used: Vec<StoreKey> =
            bus.players[4].disk.keys().filter(|key| key.table == "share").cloned().collect();
        let in_use =
            bus.players[4].transcript.roster().sharing().map(|now| folkmoot_base::digest(&[&now.public]));
        for key in used.iter().filter(|key| Some(&*key.key) != in_use.as_ref().map(|name| &name[..])) {
            bus.players[4].disk.remove(key);
        }
        bus.restart(4);
        bus.pass(20);
        let before = shares(&bus, 1);
        assert_eq!(before.len(), 3, "{scheme:?}: {:#?}", bus.traces);
        bus.lose_items = false;
        bus.pass(70);
        let after = shares(&bus, 1);
        assert_eq!(after.len(), 1, "{scheme:?}: {:#?}", bus.traces);
        let writes: Vec<&StoreKey> = before.keys().collect();
        for done in 0..8_u8 {
            let disk = writes.iter().enumerate().filter_map(|(number, key)| {
                let value = if done >> number & 1 == 1 { after.get(*key) } else { before.get(*key) };
                Some(((*key).clone(), value?.clone()))
            });
            let disk: Vec<_> = disk.collect();
            bus.players[1].disk.retain(|key, _| key.table != "share");
            bus.players[1].disk.extend(disk);
            bus.restart(1);
            bus.pass(1);
            let left: Vec<_> = shares(&bus, 1).into_keys().collect();
            assert_eq!(left, after.keys().cloned().collect::<Vec<_>>(), "{scheme:?} {done:03b}");
        }
    }
}

/// The first coordinator is heard and never names participants: nobody waits for it twice.
#[test]
fn adm_46_after_a_session_that_came_to_nothing_another_leads() {
    for scheme in SCHEMES {
        let mut bus = Bus::silent(scheme, 5, 2);
        let mute = bus.players[0].identity.member();
        let coordinators = Rc::new(RefCell::new(Vec::new()));
        let calls = coordinators.clone();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            if matches!(word.body, SignerBody::Start { .. }) {
                calls.borrow_mut().push(sender);
            }
            sender != mute || !matches!(word.body, SignerBody::Participants { .. })
        }));
        bus.pass(25);
        let coordinators = coordinators.borrow();
        assert_eq!(coordinators.first(), Some(&mute));
        assert!(coordinators.iter().any(|coordinator| *coordinator != mute), "{:#?}", bus.traces);
        assert!(bus.players[1].transcript.roster().sharing().is_some(), "{:#?}", bus.traces);
    }
}
