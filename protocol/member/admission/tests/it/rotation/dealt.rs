//! A member gets another key where an authority signs certificates and deals shares: by Shoup's RSA
//! and by threshold ECDSA, with a dealer that keeps the secret. It deals anew, to the new key.
//!
//! ```text
//! five founders; the fifth is away     ben rotates: the second and the third approve, the authority signs, and deals
//! old ben    has his key and his share       speaks to members and to the dealer, is not heard, and gets no share again
//! ```

use super::signed::{holds, request, takes_the_new_key, yes};
use super::{BEN, NAME, is_member, refuses_vote};
use crate::authority_again::{key, ready, session};
use crate::common::person;
use crate::common::signing::{call, say_as};
use crate::common::town::{Town, agreed, plan};
use folkmoot_admission::{AdmissionError, AuthorityMessage, Command, Heartbeat, Input, Purpose, SignerBody};
use folkmoot_base::codec;
use folkmoot_identity::{Gmc, Identity, Scheme, Verdict, VoteKind};
use folkmoot_transcript::{Change, Item, Subject};

const AWAY: usize = 4;

#[test]
fn id_86_a_dealer_deals_shoups_shares_anew_and_the_old_key_is_nobodys() {
    rotates(Scheme::Shoup);
}

#[test]
fn id_86_a_dealer_deals_ts_dsas_shares_anew_and_the_old_key_is_nobodys() {
    rotates(Scheme::TsDsa);
}

fn rotates(scheme: Scheme) {
    let mut town = Town::found(&plan(scheme), |_| {});
    town.pass(20);
    agreed(&town);
    let before = town.transcript().roster().sharing().unwrap().facts.clone();
    // Ben's old key has voted, and that stays: erik's admission rests on it.
    let erik = town.stranger("erik", 40, 0);
    [1, BEN].into_iter().for_each(|voter| town.vote(voter, erik, true));
    town.pass(10);
    assert!(town.bus.admitted(erik), "{:#?}", town.bus.traces);
    let proof = town.certificate(erik);
    let (old, new) = (town.bus.players[BEN].identity.clone(), person(NAME, 90));
    town.bus.players[AWAY].up = false;
    let asks = request(town.transcript(), town.bus.time, &new);
    town.command(BEN, Command::Rotate(asks.der().to_vec().into())).unwrap();
    town.pass(3);
    assert!(town.transcript().set().admit(&asks.digest()).is_none(), "no votes, no certificate");
    yes(&mut town.bus, &[1, 2]);
    // The authority has signed, a decision has come, and nothing is dealt anew yet: the shares of
    // before are in use, and the old key is a holder of one.
    let decided = |town: &Town| is_member(&town.bus, 0, &new);
    for _ in 0..20 {
        if decided(&town) {
            break;
        }
        town.pass(1);
    }
    assert!(decided(&town) && !is_member(&town.bus, 0, &old), "{:#?}", town.bus.traces);
    says_nothing_any_more(&mut town, &old, &[0, 1, 2]);
    takes_the_new_key(&mut town.bus, BEN, &new);
    town.link(0, BEN);
    town.pass(60);
    let after = town.transcript().roster().sharing().unwrap().facts.clone();
    assert!(after.epoch != before.epoch && after.key == before.key, "{:#?}", town.bus.traces);
    assert!(after.holders.contains(&new.member()) && !after.holders.contains(&old.member()));
    assert!(holds(&town.bus, BEN));
    says_nothing_any_more(&mut town, &old, &[0, 1, 2]);
    comes_back(&mut town, &old, &new);
    // What was signed before holds still.
    let charter = town.transcript().roster().charter().clone();
    assert_eq!((proof.check_central(&charter), proof.check_combined(&after.key)), (Ok(()), Ok(())));
    assert!(town.bus.admitted(erik));
    signs(&mut town, scheme);
}

/// Whoever was away learns it from the others; until then it knows no better.
fn comes_back(town: &mut Town, old: &Identity, new: &Identity) {
    let bus = &mut town.bus;
    bus.players[AWAY].up = true;
    assert!(is_member(bus, AWAY, old) && !is_member(bus, AWAY, new));
    bus.catch_up(1, AWAY);
    bus.everyone(&Input::Regrouped);
    assert!(!is_member(bus, AWAY, old) && is_member(bus, AWAY, new));
    let state = bus.players[AWAY].transcript.state();
    assert_eq!(state.successor(&old.member()), Some(new.member()));
    // It has no share of the new sharing either, and asks the dealer for one.
    town.link(0, AWAY);
    town.pass(60);
    assert!(holds(&town.bus, AWAY), "{:#?}", town.bus.traces);
    says_nothing_any_more(town, old, &[0, 1, 2, AWAY]);
}

/// The new key signs an admission with only as many others as that takes.
fn signs(town: &mut Town, scheme: Scheme) {
    let away = if scheme == Scheme::TsDsa { 1..3 } else { 1..4 };
    let left: Vec<usize> = (0..5).filter(|who| *who == BEN || !away.contains(who)).collect();
    (0..5).for_each(|who| town.bus.players[who].up = left.contains(&who));
    let dora = town.stranger("dora", 41, 0);
    [0, BEN].into_iter().for_each(|voter| town.vote(voter, dora, true));
    town.pass(30);
    assert!(town.bus.admitted(dora), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
    let gmc: Gmc = town.certificate(dora);
    assert_eq!(gmc.check_central(town.transcript().roster().charter()), Ok(()));
}

/// To members: votes, ballots' proposals, and all that signers say. To the dealer: a heartbeat, a
/// wish for its lost share, by itself and through a member.
fn says_nothing_any_more(town: &mut Town, old: &Identity, members: &[usize]) {
    let unheard = AdmissionError::PeerNotMember(old.member());
    let purposes = [Purpose::Deal { threshold: 2 }, Purpose::Repair { holder: old.member() }];
    for purpose in purposes {
        let (at, start) = call(&town.bus, 0, purpose, 1);
        for body in [start, SignerBody::Ready { key: vec![7; 32].into() }] {
            let input = say_as(&town.bus, old, at, body);
            for who in members {
                assert_eq!(town.bus.input(*who, input.clone()), Err(unheard.clone()));
            }
        }
    }
    let expel = Change::Remove { member: town.bus.players[0].identity.member() };
    let subject =
        Subject { kind: VoteKind::Remove, digest: folkmoot_transcript::Effect::from(expel).subject().digest };
    for who in members {
        let transcript = &town.bus.players[*who].transcript;
        let expires = folkmoot_base::UnixTime(town.bus.time.0 + 1_000);
        let vote = transcript.approve(old, subject, Verdict::Approve, expires);
        refuses_vote(&town.bus, *who, old, &Item::Approval(vote).encode().into());
    }
    let time = town.bus.time;
    let beat = Heartbeat::sign(&town.transcript().group(), old, time, 5);
    let at = session(town, old.member(), old.member(), 1);
    let again = ready(town, old, old.member(), at, &key(900));
    let words =
        [AuthorityMessage::Heartbeat { beat }, AuthorityMessage::Again { attempt: 1, ready: again.clone() }];
    for word in words {
        let payload = codec::encode(&word).into();
        let heard = town.desk_input(0, Input::Guest { from: old.node(), payload });
        assert_eq!(heard, Err(unheard.clone()));
    }
    let (heard, answers) = town.say(0, 1, &AuthorityMessage::Again { attempt: 1, ready: again });
    assert!(matches!(heard, Err(AdmissionError::PeerDeal(..))) && answers.is_empty(), "{heard:?}");
}
