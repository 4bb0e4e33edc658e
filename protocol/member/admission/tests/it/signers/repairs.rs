//! Who has no share of the sharing in use gets one, and nobody else; a sharing is decided by those
//! who have stored it; who is away is waited for.

use super::*;
use folkmoot_admission::Config;
use folkmoot_base::{Danger, Digest, Mutant};
use std::collections::BTreeSet;

fn shares(bus: &Bus, who: usize) -> usize {
    bus.players[who].disk.keys().filter(|key| key.table == "share").count()
}

fn id(bus: &Bus, who: usize) -> MemberId {
    bus.players[who].identity.member()
}

/// Its disk is lost: it has its identity, and what the others tell it of the transcript.
fn lose_disk(bus: &mut Bus, who: usize, danger: Mutant) {
    bus.players[who].disk.clear();
    bus.restart_as(who, Config { danger, ..Config::default() });
}

/// Who says that it is ready, in which session.
fn count_ready(bus: &mut Bus) -> Rc<RefCell<BTreeSet<(Digest, MemberId)>>> {
    let ready = Rc::new(RefCell::new(BTreeSet::new()));
    let count = ready.clone();
    bus.tamper = Some(Box::new(move |sender, payload| {
        if let Ok(OpenMessage::Signer { message }) = codec::decode(payload)
            && matches!(message.body, SignerBody::Ready { .. })
        {
            count.borrow_mut().insert((message.session, sender));
        }
        true
    }));
    ready
}

fn ask(bus: &mut Bus, by: usize, of: usize, attempt: u32) -> Digest {
    let purpose = Purpose::Repair { holder: id(bus, of) };
    let (session, convene) = call(bus, by, purpose, attempt);
    let input = say(bus, by, session, convene);
    bus.everyone(&input);
    bus.pass(1);
    session
}

/// With no more others than repair takes; and it signs with it.
#[test]
fn adm_76_a_holder_that_lost_its_disk_has_its_share_within_a_minute() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        [3, 4].into_iter().for_each(|who| bus.players[who].up = false);
        lose_disk(&mut bus, 2, Mutant::NONE);
        assert_eq!(shares(&bus, 2), 0);
        bus.pass(60);
        assert_eq!(shares(&bus, 2), 1, "{scheme:?}: {:#?}", bus.traces);
        let before = bus.players[1].transcript.roster().sharing().cloned();
        assert_eq!(bus.players[2].transcript.roster().sharing().cloned(), before, "nothing was decided");
        if scheme == Scheme::Frost {
            bus.players[0].up = false;
        }
        let dora = bus.stranger("dora", 40, 1);
        [1, 2].into_iter().for_each(|voter| vote(&mut bus, voter, dora, true));
        bus.pass(12);
        assert!(bus.admitted(dora), "{scheme:?}: {:#?}", bus.traces);
        assert_eq!(bus.players[2].admission.poll_timeout(), None, "it goes on asking");
    }
}

/// One fewer than repair takes are here; then one more comes.
#[test]
fn adm_76_who_is_linked_with_too_few_asks_until_they_are_enough() {
    let mut bus = founded(Scheme::Frost);
    [1, 3, 4].into_iter().for_each(|who| bus.players[who].up = false);
    lose_disk(&mut bus, 2, Mutant::NONE);
    bus.pass(100);
    assert_eq!(shares(&bus, 2), 0);
    bus.players[1].up = true;
    bus.merge();
    bus.pass(15);
    assert_eq!(shares(&bus, 2), 1, "{:#?}", bus.traces);
}

#[test]
fn without_repair_a_lost_share_stays_lost() {
    let mut bus = founded(Scheme::Frost);
    lose_disk(&mut bus, 2, Mutant::from(Some(Danger::AdmissionNeverRepairs)));
    bus.pass(60);
    assert_eq!(shares(&bus, 2), 0);
}

#[test]
fn adm_76_two_that_lost_their_shares_both_get_theirs() {
    let mut bus = founded(Scheme::Frost);
    lose_disk(&mut bus, 2, Mutant::NONE);
    lose_disk(&mut bus, 3, Mutant::NONE);
    bus.pass(30);
    assert_eq!([2, 3].map(|who| shares(&bus, who)), [1, 1], "{:#?}", bus.traces);
}

/// A holder that has lost its vote; a member that asks for another's share; a replayed call.
#[test]
fn adm_77_holders_help_a_holder_that_votes_and_asks_for_itself() {
    for danger in [Mutant::NONE, Mutant::from(Some(Danger::AdmissionRepairsAnyone))] {
        let mut bus = founded(Scheme::Frost);
        for who in 0..5 {
            bus.restart_as(who, Config { danger, ..Config::default() });
        }
        bus.pass(3);
        let without_last: Vec<MemberId> = (0..4).map(|who| id(&bus, who)).collect();
        without_rounds(&mut bus);
        for who in 0..3 {
            let electorate = Change::Electorate { voters: without_last.clone() };
            bus.command(who, Command::Propose(electorate.clone().into())).unwrap();
        }
        bus.pass(5);
        let roster = bus.players[0].transcript.roster();
        assert!(roster.is_member(&id(&bus, 4)) && !roster.may_vote(&id(&bus, 4)));
        assert!(roster.sharing().unwrap().facts.holders.contains(&id(&bus, 4)));
        bus.players[4].up = false;
        let ready = count_ready(&mut bus);
        let helpers = |session: Digest| ready.borrow().iter().filter(|(of, _)| *of == session).count();
        let session = ask(&mut bus, 4, 4, 1);
        assert_eq!(helpers(session) >= 2, danger != Mutant::NONE, "a former voter");
        let session = ask(&mut bus, 3, 2, 2);
        assert_eq!(helpers(session), 0, "for another");
    }
}

#[test]
fn adm_77_a_call_that_is_said_again_by_another_and_a_second_call_bring_no_helper() {
    let mut bus = founded(Scheme::Frost);
    let ready = count_ready(&mut bus);
    bus.players[2].up = false;
    let purpose = Purpose::Repair { holder: id(&bus, 2) };
    let (session, convene) = call(&bus, 2, purpose, 1);
    let Input::Open { payload, .. } = say(&bus, 2, session, convene) else { panic!() };
    bus.everyone(&Input::Open { sender: id(&bus, 3), payload: payload.clone() });
    bus.pass(1);
    assert!(ready.borrow().is_empty(), "it is not signed by who brings it");
    bus.everyone(&Input::Open { sender: id(&bus, 2), payload });
    bus.pass(1);
    assert!(ready.take().len() >= 2);
    ask(&mut bus, 2, 2, 2);
    assert!(ready.take().is_empty(), "while they help it already");
}

/// The machine of the one that lost its share does not take part; its coordinator names others.
#[test]
fn adm_78_a_share_goes_to_its_holder_alone_from_as_many_others_as_it_takes() {
    let mut bus = founded(Scheme::Frost);
    let mut keys: Vec<MemberId> = (0..5).map(|who| id(&bus, who)).collect();
    keys.sort();
    let others: Vec<MemberId> = keys.iter().copied().filter(|key| *key != id(&bus, 2)).collect();
    let holder = id(&bus, 2);
    bus.players[2].up = false;
    let mut with_holder = vec![others[0], holder];
    with_holder.sort();
    let wrong = [
        (others[..2].to_vec(), vec![others[2]]),
        (others[..2].to_vec(), Vec::new()),
        (others[..1].to_vec(), vec![holder]),
        (others[..3].to_vec(), vec![holder]),
        (with_holder, vec![holder]),
    ];
    for (attempt, (givers, takers)) in wrong.into_iter().enumerate() {
        let session = ask(&mut bus, 2, 2, attempt as u32);
        for who in 0..5 {
            let ready = say(&bus, who, session, SignerBody::Ready { key: Blob::from(vec![9; 32]) });
            bus.everyone(&ready);
        }
        let input = say(&bus, 2, session, SignerBody::Participants { givers, takers });
        for who in [0, 1, 3, 4] {
            assert!(
                matches!(bus.input(who, input.clone()), Err(AdmissionError::PeerSigner(..))),
                "{attempt}"
            );
        }
        bus.pass(8);
    }
}

/// A helper that lies is named, and the others give the share.
#[test]
fn adm_76_a_helper_that_lies_is_named_and_the_others_give_the_share() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        // The first that would help: the next by id.
        let mut keys: Vec<(MemberId, usize)> = (0..5).map(|who| (id(&bus, who), who)).collect();
        keys.sort();
        let at = keys.iter().position(|(_, who)| *who == 2).unwrap();
        let (liar, number) = keys[(at + 1) % 5];
        let group = bus.players[0].transcript.group();
        let mut lies = Liar::new(person(&format!("founder{}", number + 1), number as u64 + 1), group, 0);
        bus.tamper = Some(Box::new(move |sender, payload| {
            lies.lie(sender, payload);
            true
        }));
        lose_disk(&mut bus, 2, Mutant::NONE);
        bus.pass(60);
        assert!(bus.players[2].events.contains(&Event::SignerLied { member: liar }), "{:#?}", bus.traces);
        assert_eq!(shares(&bus, 2), 1, "{scheme:?}: {:#?}", bus.traces);
    }
}

/// New shares that three of five have made and two have not heard of, so that nothing is decided.
fn undecided(bus: &mut Bus) -> Effect {
    let effect = Rc::new(RefCell::new(None));
    let keep = effect.clone();
    bus.passes = Some(Box::new(move |_, item| match item {
        Item::Effect(effect) if matches!(effect.change, Change::Sharing { .. }) => {
            keep.borrow_mut().get_or_insert(effect.clone());
            false
        }
        _ => true,
    }));
    for who in 0..3 {
        bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
    }
    bus.pass(8);
    effect.take().expect("a sharing is proposed")
}

#[test]
fn adm_74_a_yes_to_a_sharing_is_of_a_program_that_has_stored_it() {
    let mut bus = founded(Scheme::Frost);
    let effect = undecided(&mut bus);
    assert_eq!(shares(&bus, 4), 2);
    let named = |bus: &Bus| bus.status(4).proposals.first().map(|one| one.proposal);
    let proposal = named(&bus).expect("it is shown");
    let old: Vec<_> =
        bus.players[4].transcript.roster().sharing().iter().map(|now| now.public.clone()).collect();
    let name = folkmoot_base::digest(&[&old[0]]);
    bus.players[4].disk.retain(|key, _| key.table != "share" || key.key[..] == name);
    bus.restart(4);
    assert_eq!((shares(&bus, 4), named(&bus)), (1, Some(proposal)));
    let yes = Command::Vote { motion: proposal, approve: true };
    assert_eq!(bus.command(4, yes.clone()), Err(AdmissionError::LocalNoShare));
    assert_eq!(bus.command(4, Command::Propose(effect)), Err(AdmissionError::LocalNoShare));
    assert_eq!(bus.command(3, yes), Ok(()), "one that has it");
}

/// All five must have stored it, and one has gone for good before it said so.
#[test]
fn adm_75_a_sharing_that_is_not_decided_in_time_is_made_anew_without_who_is_gone() {
    let mut bus = founded(Scheme::Frost);
    let before = bus.players[0].transcript.roster().sharing().cloned().unwrap();
    bus.passes = Some(Box::new(|who, item| {
        let word = matches!(item, Item::Approval(word) if word.approval.subject.kind == folkmoot_identity::VoteKind::Sharing);
        !(who == 4 && word)
    }));
    for who in 0..3 {
        bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
    }
    bus.pass(8);
    bus.players[4].up = false;
    bus.pass(60);
    assert_eq!(bus.players[0].transcript.roster().sharing(), Some(&before), "four of five have stored it");
    assert!((0..4).all(|who| shares(&bus, who) == 2), "the one in use is kept");
    bus.pass(100);
    let after = bus.players[0].transcript.roster().sharing().cloned().unwrap();
    assert_eq!((after.facts.threshold, after.facts.holders.len()), (3, 4), "{:#?}", bus.traces);
    assert!((0..4).all(|who| shares(&bus, who) == 1));
}

/// Of five with a threshold of two, three have stored it at once; the others say nothing for a
/// while.
#[test]
fn line_69_a_sharing_waits_for_holders_that_have_said_nothing() {
    let mut bus = founded(Scheme::Frost);
    let before = bus.players[0].transcript.roster().sharing().cloned().unwrap();
    let expelled = id(&bus, 4);
    bus.passes = Some(Box::new(|who, item| {
        let word = matches!(item, Item::Approval(word) if word.approval.subject.kind == folkmoot_identity::VoteKind::Sharing);
        !(who == 3 && word)
    }));
    for who in 0..3 {
        bus.command(who, Command::Expel(expelled)).unwrap();
    }
    bus.players[4].up = false;
    bus.pass(7);
    assert_eq!(bus.players[0].transcript.roster().sharing(), Some(&before));
    bus.pass(20);
    assert_ne!(bus.players[0].transcript.roster().sharing(), Some(&before), "ten seconds");
}

#[test]
fn adm_79_voters_who_are_away_are_waited_for_before_new_shares_leave_them_out() {
    for returns in [true, false] {
        let mut bus = founded(Scheme::Frost);
        let before = bus.players[0].transcript.roster().sharing().cloned().unwrap();
        let all: BTreeSet<MemberId> = (0..5).map(|who| id(&bus, who)).collect();
        let here: BTreeSet<MemberId> = (0..4).map(|who| id(&bus, who)).collect();
        bus.players[4].up = false;
        bus.everyone(&Input::Present(here));
        for who in 0..3 {
            bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
        }
        bus.pass(20);
        assert_eq!(bus.players[0].transcript.roster().sharing(), Some(&before), "{returns}");
        if returns {
            bus.players[4].up = true;
            bus.merge();
            bus.everyone(&Input::Present(all));
        }
        bus.pass(25);
        let holders = bus.players[0].transcript.roster().sharing().unwrap().facts.holders.len();
        assert_eq!(holders, if returns { 5 } else { 4 }, "{:#?}", bus.traces);
    }
}

/// The first by turns is a liar and does not wait. Whoever was away gets its share when it is back,
/// by one resharing more, and the group signs all along.
#[test]
fn adm_79_a_coordinator_that_does_not_wait_leaves_nobody_out_for_good() {
    let mut bus = founded(Scheme::Frost);
    let hurries = Mutant::from(Some(Danger::AdmissionAwaitsNobody));
    let all: BTreeSet<MemberId> = (0..5).map(|who| id(&bus, who)).collect();
    let here: BTreeSet<MemberId> = (0..4).map(|who| id(&bus, who)).collect();
    for who in 0..4 {
        bus.restart_as(who, Config { danger: hurries, ..Config::default() });
    }
    bus.players[4].up = false;
    bus.everyone(&Input::Present(here));
    for who in 0..3 {
        bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
    }
    bus.pass(20);
    let early = bus.players[0].transcript.roster().sharing().cloned().unwrap();
    assert_eq!((early.facts.threshold, early.facts.holders.len()), (3, 4), "{:#?}", bus.traces);
    let dora = bus.stranger("dora", 40, 1);
    [0, 1, 2].into_iter().for_each(|voter| vote(&mut bus, voter, dora, true));
    bus.pass(12);
    bus.players[4].up = true;
    bus.merge();
    bus.everyone(&Input::Present(all));
    bus.pass(25);
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
    let late = bus.players[4].transcript.roster().sharing().cloned().unwrap();
    assert!(late != early && late.facts.holders.len() == 5, "{:#?}", bus.traces);
    assert!((0..5).all(|who| shares(&bus, who) == 1));
}
