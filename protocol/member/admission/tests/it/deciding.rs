//! How votes become a decision: proposals, promises and commits, and what splits, restarts and lost
//! messages do to them. Method: real machines and transcripts on a perfect ordered bus that can be
//! cut; what one voter says is held back, said by hand, or lost.

use crate::common::{Bus, NOW, change, open, vote};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_admission::{Command, Input, OpenMessage};
use folkmoot_base::{Digest, Head, MemberId, StoreKey, UnixTime, codec, digest};
use folkmoot_identity::{CertificateError, Identity, Scheme};
use folkmoot_transcript::{
    BallotMessage, BallotRecord, Batch, Change, Effect, Item, Judgement, Proposal, Report, STATEMENT_LABEL,
    Stage, Standing, Statement, Uncounted,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

fn ballot(payload: &[u8]) -> Option<BallotMessage> {
    match codec::decode(payload) {
        Ok(OpenMessage::Ballot { message }) => Some(message),
        _ => None,
    }
}

/// A fresh proposal, as its owner tells it.
pub(crate) fn told(proposal: Proposal) -> BallotMessage {
    BallotMessage::Proposal { proposal, judgements: Vec::new() }
}

pub(crate) fn say(sender: &Identity, message: BallotMessage) -> Input {
    Input::Open { sender: sender.member(), payload: open(&OpenMessage::Ballot { message }) }
}

pub(crate) fn number(bus: &Bus, who: usize) -> u64 {
    bus.players[who].transcript.state().head().number
}

/// These propose and approve an effect.
pub(crate) fn approve(bus: &mut Bus, voters: &[usize], effect: &Effect) {
    let motion = effect.subject().digest;
    for (turn, who) in voters.iter().enumerate() {
        let said = match turn {
            0 => Command::Propose(effect.clone()),
            _ => Command::Vote { motion, approve: true },
        };
        bus.command(*who, said).unwrap();
    }
}

pub(crate) fn sign(bus: &Bus, who: &Identity, statement: &Statement) -> folkmoot_base::SignatureBytes {
    who.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&bus.players[0].transcript.group()))
}

/// The ballot in which a member's last decision was made.
fn made_in(bus: &Bus, who: usize) -> u32 {
    let (_, standing) = bus.players[who].transcript.line().decisions().last_key_value().unwrap();
    standing.proposal.ballot()
}

pub(crate) type Said = Rc<RefCell<Vec<(MemberId, BallotMessage)>>>;

/// What is said about the next decision, as it is said. Proposals go no further.
pub(crate) fn without_proposals(bus: &mut Bus) -> Said {
    let said = Said::default();
    let keep = said.clone();
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Some(message) = ballot(payload) else { return true };
        let passes = !matches!(message, BallotMessage::Proposal { .. });
        keep.borrow_mut().push((sender, message));
        passes
    }));
    said
}

pub(crate) fn proposed(said: &Said, ballot: u32) -> Proposal {
    let said = said.borrow();
    let mut all = said.iter().filter_map(|(_, message)| match message {
        BallotMessage::Proposal { proposal, .. } if proposal.ballot() == ballot => Some(proposal.clone()),
        _ => None,
    });
    all.next().expect("proposed")
}

/// To what `who` has committed, each once.
fn commits(said: &Said, who: MemberId) -> BTreeSet<Report> {
    let said = said.borrow();
    let own = said.iter().filter_map(|(_, message)| match message {
        BallotMessage::Commit { report, commit, .. } if commit.voter == who => Some(*report),
        _ => None,
    });
    own.collect()
}

/// Another proposal of the same ballot, by the same owner: it says another time.
fn contradicting(bus: &Bus, owner: usize, proposal: &Proposal) -> Proposal {
    let player = &bus.players[owner];
    let (state, set) = (player.transcript.state(), player.transcript.set());
    let time = UnixTime(proposal.decision.time.0 + 1);
    let batch = Batch { time, effects: set.approved(state, time), ..Batch::default() };
    let (decision, _) = state.decide(batch, |request| set.admit(request)).unwrap();
    let Stage { ballot, promises, .. } = proposal.stages.last().unwrap().clone();
    let encoded: Vec<Vec<u8>> = promises.iter().map(codec::encode).collect();
    let mut parts: Vec<&[u8]> = vec![b"folkmoot promises v1\0"];
    parts.extend(encoded.iter().map(Vec::as_slice));
    let statement = Statement::Propose {
        parent: state.head(),
        ballot,
        decision: decision.digest(),
        promises: digest(&parts),
    };
    let signature = sign(bus, &player.identity, &statement);
    Proposal { decision, stages: vec![Stage { ballot, promises, signature }] }
}

/// Somebody's judgement of a fresh proposal.
pub(crate) fn judged(bus: &Bus, who: &Identity, proposal: &Proposal) -> BallotMessage {
    let (parent, report) = (proposal.parent(), proposal.judged());
    let statement = Statement::Judge { parent, ballot: report.ballot, decision: report.decision };
    let judgement = Judgement { voter: who.member(), signature: sign(bus, who, &statement) };
    BallotMessage::Judgement { parent, report, judgement }
}

/// The third voter hears a fresh proposal, and that its owner has judged it: with its own judgement
/// these are a quorum.
fn judged_by(bus: &mut Bus, owner: &Identity, proposal: &Proposal) {
    let judged = judged(bus, owner, proposal);
    bus.input(2, say(owner, told(proposal.clone()))).unwrap();
    bus.input(2, say(owner, judged)).unwrap();
}

/// Stopped after it has promised ballot 1, a voter commits to nothing of ballot 0; stopped after it
/// has committed, to nothing else of ballot 1. What it has said is on its disk: without that record
/// it would.
#[test]
fn a_voter_that_was_stopped_commits_neither_below_its_promise_nor_twice() {
    for forgets in [false, true] {
        let mut bus = Bus::new(3, 2);
        let said = without_proposals(&mut bus);
        approve(&mut bus, &[0, 1], &change("certificate_days", "40"));
        let zero = proposed(&said, 0);
        bus.players[0].up = false;
        bus.pass(5);
        let one = proposed(&said, 1);
        let carl = bus.players[2].identity.member();
        assert!(commits(&said, carl).is_empty(), "it has heard no proposal");
        let stop = |bus: &mut Bus| {
            let kept = |key: &folkmoot_base::StoreKey| key.table == "vote" && key.key.starts_with(b"b");
            assert!(bus.players[2].disk.keys().any(kept));
            bus.players[2].disk.retain(|key, _| !(forgets && kept(key)));
            bus.restart(2);
        };
        let [anna, ben] = [0, 1].map(|who| crate::common::person(&format!("founder{}", who + 1), who + 1));
        stop(&mut bus);
        judged_by(&mut bus, &anna, &zero);
        bus.settle();
        assert_eq!(commits(&said, carl).contains(&zero.report()), forgets);
        judged_by(&mut bus, &ben, &one);
        // Its commit is on its way, and the others do not hear it.
        bus.players[1].up = false;
        bus.settle();
        stop(&mut bus);
        let other = contradicting(&bus, 1, &one);
        assert_ne!(other.report(), one.report());
        judged_by(&mut bus, &ben, &other);
        judged_by(&mut bus, &ben, &one);
        bus.settle();
        let all = commits(&said, carl);
        assert_eq!(all.contains(&other.report()), forgets);
        assert!(forgets || all == BTreeSet::from([one.report()]), "{all:?}");
        if !forgets {
            bus.tamper = None;
            (bus.players[0].up, bus.players[1].up) = (true, true);
            bus.everyone(&Input::Regrouped);
            bus.pass(20);
            assert!((0..3).all(|who| number(&bus, who) == 1), "and the group goes on: {:#?}", bus.traces);
            assert!(bus.players.iter().all(|player| player.transcript.line().forks().is_empty()));
        }
    }
}

/// What a voter said after a head that is on no line here stays: its person may go back. What it
/// said after a head of our line goes with the next decision.
#[test]
fn what_was_said_on_a_line_that_was_left_stays() {
    let mut bus = Bus::new(3, 2);
    let founding = bus.players[2].transcript.state().head();
    let left = Head { number: 7, digest: [9; 32] };
    let row = |parent: Head| StoreKey { table: "vote", key: [b"b", &parent.digest[..]].concat().into() };
    for parent in [founding, left] {
        let record = BallotRecord { promised: 3, ..BallotRecord::new(parent) };
        bus.players[2].disk.insert(row(parent), codec::encode(&record).into());
    }
    bus.restart(2);
    bus.merge();
    approve(&mut bus, &[0, 1], &change("certificate_days", "40"));
    bus.pass(20);
    assert_eq!(number(&bus, 2), 1, "{:#?}", bus.traces);
    let has = |parent: Head| bus.players[2].disk.contains_key(&row(parent));
    assert!(has(left) && !has(founding));
}

#[test]
fn where_the_first_owner_is_silent_the_next_decides() {
    let mut bus = Bus::new(3, 2);
    bus.players[0].up = false;
    approve(&mut bus, &[1, 2], &change("certificate_days", "40"));
    bus.pass(2);
    assert_eq!(number(&bus, 1), 0, "the owner is waited for");
    bus.pass(2);
    assert_eq!((number(&bus, 1), number(&bus, 2)), (1, 1), "{:#?}", bus.traces);
    assert_eq!(made_in(&bus, 1), 1);
    // It comes again, and owns the last of the next three ballots.
    bus.restart(0);
    bus.merge();
    assert_eq!(number(&bus, 0), 1);
    approve(&mut bus, &[0, 2], &change("certificate_days", "50"));
    assert_eq!((number(&bus, 0), made_in(&bus, 0)), (2, 0));
}

#[test]
fn a_decision_that_stands_is_handed_over_though_its_first_voter_dies() {
    let mut bus = Bus::new(3, 2);
    let handed = Rc::new(RefCell::new(Vec::new()));
    let keep = handed.clone();
    bus.passes = Some(Box::new(move |from, item| {
        let decision = matches!(item, Item::Decision(_));
        if decision {
            keep.borrow_mut().push(from);
        }
        !(decision && from == 0)
    }));
    approve(&mut bus, &[0, 1], &change("certificate_days", "40"));
    assert_eq!((&handed.borrow()[..], number(&bus, 1)), (&[0][..], 0));
    bus.players[0].up = false;
    bus.now = bus.now + Duration::from_millis(500);
    bus.settle();
    assert_eq!((&handed.borrow()[..], number(&bus, 1), number(&bus, 2)), (&[0, 1][..], 1, 1));
    bus.pass(20);
    assert_eq!(handed.borrow().len(), 2, "once it is in order, nobody hands it over again");
}

/// All voters are stopped when a quorum has committed and nobody has handed the decision over. What
/// they have committed to is on their disks, and is decided.
#[test]
fn a_decision_that_stands_outlives_a_stop_of_all_voters() {
    let mut bus = Bus::new(3, 2);
    let stands = Rc::new(RefCell::new(None));
    let keep = stands.clone();
    bus.passes = Some(Box::new(move |_, item| {
        let Item::Decision(standing) = item else { return true };
        *keep.borrow_mut() = Some(standing.head());
        false
    }));
    approve(&mut bus, &[0, 1], &change("certificate_days", "40"));
    let stood = stands.borrow().expect("it stands");
    // Something else is approved meanwhile: a fresh proposal would be another decision.
    approve(&mut bus, &[1, 2], &change("request_hours", "50"));
    (0..3).for_each(|who| bus.restart(who));
    bus.passes = None;
    bus.pass(20);
    for player in &bus.players {
        let first = player.transcript.line().decisions().get(&1);
        assert_eq!(first.map(Standing::head), Some(stood), "{:#?}", bus.traces);
        let charter = player.transcript.roster().charter();
        assert_eq!((charter.certificate_days(), charter.request_hours()), (40, 50), "{:#?}", bus.traces);
    }
}

/// A yes that a decision has overtaken before it had its place is not sent for ever.
#[test]
fn a_yes_that_can_count_no_more_is_not_said_again() {
    let mut bus = Bus::new(5, 2);
    let overtaken = change("certificate_days", "40");
    let (subject, said) = (overtaken.subject(), Rc::new(RefCell::new(0)));
    let count = said.clone();
    bus.passes = Some(Box::new(move |from, item| {
        let yes = matches!(item, Item::Approval(word) if word.approval.subject == subject);
        let effect = matches!(item, Item::Effect(effect) if effect.subject() == subject);
        *count.borrow_mut() += u32::from(yes || effect);
        !(yes && from == 0)
    }));
    approve(&mut bus, &[1, 0], &overtaken);
    let first = *said.borrow();
    bus.pass(20);
    assert!(*said.borrow() > first, "it is said again while it may count");
    approve(&mut bus, &[2, 3, 4], &change("certificate_days", "50"));
    assert_eq!(number(&bus, 0), 1);
    let before = *said.borrow();
    bus.pass(200);
    assert_eq!(*said.borrow(), before, "{:#?}", bus.traces);
}

fn is_member(bus: &Bus, who: usize, which: usize) -> bool {
    bus.players[who].transcript.roster().is_member(&bus.strangers[which].identity.member())
}

fn assert_agreed(bus: &Bus, who: core::ops::Range<usize>) {
    let first = bus.players[who.start].transcript.mark();
    for place in who {
        assert_eq!(bus.players[place].transcript.mark(), first, "member {place}");
    }
}

/// A stranger comes to a contact on one side, and these vote for it there.
pub(crate) fn comes(bus: &mut Bus, name: &str, seed: u64, voters: &[usize]) -> usize {
    let which = bus.stranger(name, seed, voters[0]);
    voters.iter().for_each(|who| vote(bus, *who, which, true));
    which
}

fn request_of(bus: &Bus, which: usize) -> Digest {
    let member = bus.strangers[which].identity.member();
    let set = bus.players[0].transcript.set();
    set.admits().find(|admit| admit.member == member).map(|admit| admit.request).unwrap()
}

/// Four of seven expel one of the other three, while both sides admit.
#[test]
fn after_a_split_voters_who_are_still_voters_have_admitted_and_the_expelled_have_not() {
    let mut bus = Bus::of_scheme(Scheme::Plain, 7, 2);
    bus.cut = Some(4);
    let dora = comes(&mut bus, "dora", 40, &[0, 1]);
    let emil = comes(&mut bus, "emil", 41, &[4, 5]);
    let fred = comes(&mut bus, "fred", 42, &[5, 6]);
    let gone = bus.players[6].identity.member();
    approve(&mut bus, &[0, 1, 2, 3], &Change::Remove { member: gone }.into());
    // The other side would expel too, and is no quorum.
    let anna = bus.players[0].identity.member();
    approve(&mut bus, &[4, 5, 6], &Change::Remove { member: anna }.into());
    bus.pass(30);
    assert_eq!((number(&bus, 0), number(&bus, 4)), (1, 0));
    assert!(is_member(&bus, 0, dora) && !is_member(&bus, 0, emil) && !is_member(&bus, 0, fred));
    assert!(!is_member(&bus, 4, dora) && is_member(&bus, 4, emil) && is_member(&bus, 4, fred));
    let before = bus.items;
    bus.merge();
    assert_agreed(&bus, 0..7);
    for who in 0..7 {
        assert_eq!(number(&bus, who), 1);
        assert!(!bus.players[who].transcript.roster().is_member(&gone));
        assert!(bus.players[who].transcript.roster().is_member(&anna));
        assert!(is_member(&bus, who, dora) && is_member(&bus, who, emil) && !is_member(&bus, who, fred));
    }
    assert_eq!(bus.items, before, "nobody had to do anything");
    let late = |bus: &Bus| -> Vec<_> {
        let late = bus.players[4].transcript.set().late();
        late.map(|(admit, why)| (admit.member, why.clone())).collect()
    };
    let why = Uncounted::Policy(CertificateError::PeerTooFewVotes { got: 1, need: 2 });
    assert_eq!(late(&bus), [(bus.strangers[fred].identity.member(), why)]);
    // People may hold him all the same.
    bus.players[6].up = false;
    let request = request_of(&bus, fred);
    approve(&mut bus, &[0, 1, 4], &Change::Hold { request }.into());
    bus.pass(5);
    assert!((0..6).all(|who| is_member(&bus, who, fred)), "{:#?}", bus.traces);
    assert_agreed(&bus, 0..6);
}

/// Dora's term ends while the members are apart.
#[test]
fn adm_36_both_sides_of_a_split_say_that_a_term_is_over_and_mean_the_same() {
    let mut bus = Bus::new(4, 2);
    let dora = comes(&mut bus, "dora", 40, &[0, 1]);
    assert!(bus.admitted(dora));
    bus.cut = Some(2);
    bus.time = UnixTime(NOW.0 + 366 * 86_400);
    let before = bus.items;
    bus.pass(30);
    // And a quorum decides, so that members without a clock come along.
    assert_eq!(bus.items, before + 3, "a Past on each side, and a decision on one");
    assert!((0..4).all(|who| !is_member(&bus, who, dora)));
    bus.merge();
    assert_agreed(&bus, 0..4);
    for who in 0..4 {
        assert_eq!((number(&bus, who), bus.players[who].transcript.set().past()), (1, UnixTime(0)));
    }
    bus.pass(60);
    assert_eq!(bus.items, before + 3);
}

#[test]
fn adm_36_nobody_ends_a_term_before_its_time() {
    let mut bus = Bus::new(3, 2);
    let dora = comes(&mut bus, "dora", 40, &[0, 1]);
    // A decision holds her: until then the votes' end is hers.
    bus.pass(700);
    let member = bus.strangers[dora].identity.member();
    let held = bus.players[0].transcript.roster().member(&member).unwrap().clone();
    let early = Bytes::from(Item::Past { time: UnixTime(held.ends.0 + 1) }.encode());
    for time in [bus.time, held.ends, UnixTime(held.ends.0 + 60)] {
        let mut taken = bus.players[1].transcript.clone();
        let _ = taken.take(&early, Some(time));
        assert!(taken.roster().is_member(&member), "{time:?}");
    }
    bus.time = UnixTime(held.ends.0 + 346);
    bus.pass(30);
    assert!(!bus.admitted(dora), "by then it is said, or decided");
}

/// The line's time is that of its last decision, and may be long past.
#[test]
fn a_yes_to_a_proposal_that_ran_out_is_shown_no_more() {
    let mut bus = Bus::new(3, 2);
    let effect = change("keying", "tgdh");
    approve(&mut bus, &[1], &effect);
    let have = |bus: &Bus| bus.status(0).proposals.first().map(|one| one.have);
    assert_eq!(have(&bus), Some(1));
    let hours = bus.players[0].transcript.roster().charter().request_hours();
    bus.pass(u64::from(hours) * 3_600 + 1);
    assert_eq!(have(&bus), None, "its time is over");
    approve(&mut bus, &[0], &effect);
    assert_eq!(have(&bus), Some(1));
    approve(&mut bus, &[1], &effect);
    assert_eq!((have(&bus), number(&bus, 2)), (None, 1));
}
