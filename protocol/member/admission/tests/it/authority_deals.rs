//! An authority that deals the shares of the group's key, and signs what the group's key and its
//! voters have approved; the rules on dealing by number.
//! Method: real members, transcripts and desks on a perfect ordered bus.

use crate::common::town::{Plan, Town, agreed, denied, plan};
use crate::common::{HOST, change};
use folkmoot_admission::{
    AdmissionError, AuthorityMessage, Command, DealerState, Event, Input, Phase, Reason, SIGNER_LABEL,
    SignedReady, SignerBody, SignerMessage, WireGrounds,
};
use folkmoot_base::{Blob, Digest, MemberId, codec};
use folkmoot_identity::{Below, Dealer, GroupKey, Identity, Scheme};
use folkmoot_signing::shared;
use folkmoot_transcript::{Change, Effect, Force};

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];

/// Five founders of whom two admit, with the shares that this dealer has dealt.
fn founded(scheme: Scheme, dealer: Dealer) -> Town {
    let mut town = Town::found(&Plan { dealer: Some(dealer), ..plan(scheme) }, |_| {});
    town.pass(8);
    agreed(&town);
    town
}

fn key(town: &Town) -> GroupKey {
    town.transcript().roster().sharing().unwrap().facts.key.clone()
}

fn admit(town: &mut Town, name: &str, seed: u64) -> usize {
    let which = town.stranger(name, seed, 0);
    for voter in [1, 2] {
        assert!(!town.bus.admitted(which), "fewer votes are not enough");
        town.vote(voter, which, true);
    }
    town.pass(12);
    assert!(town.bus.admitted(which), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
    which
}

fn secret_on_disk(town: &Town) -> bool {
    town.desks[0].disk.keys().any(|at| at.table == "office" && at.key[..] == b"secret"[..])
}

#[test]
fn what_the_authority_dealt_is_used_to_admit() {
    for scheme in SCHEMES {
        for dealer in [Dealer::Keeps, Dealer::SetupOnly] {
            let mut town = founded(scheme, dealer);
            let dora = admit(&mut town, "dora", 40);
            assert_eq!(town.bus.strangers[dora].applicant.phase(), Phase::Admitted);
            let (gmc, sharing) =
                (town.certificate(dora), town.transcript().roster().sharing().unwrap().clone());
            assert_eq!(gmc.check_central(town.transcript().roster().charter()), Ok(()));
            assert_eq!(gmc.combined().map(|combined| combined.epoch), Some(sharing.facts.epoch));
            assert_eq!(gmc.check_combined(&sharing.facts.key), Ok(()));
            assert!(sharing.authority.is_empty());
            agreed(&town);
        }
    }
}

#[test]
fn adm_66_a_dealer_that_keeps_the_secret_deals_anew() {
    for scheme in SCHEMES {
        let mut town = founded(scheme, Dealer::Keeps);
        let (before, held) = (key(&town), town.transcript().roster().sharing().unwrap().facts.clone());
        let gone = town.bus.players[4].identity.member();
        for who in 0..3 {
            let _ = town.command(who, Command::Expel(gone));
        }
        town.bus.players[4].up = false;
        town.pass(12);
        agreed(&town);
        let after = town.transcript().roster().sharing().unwrap().facts.clone();
        assert_ne!(after.epoch, held.epoch);
        assert!(!after.holders.contains(&gone) && after.key == before);
        for threshold in ["1", "2"] {
            ask_for(&mut town, threshold);
            agreed(&town);
            let facts = town.transcript().roster().sharing().unwrap().facts.clone();
            assert_eq!(
                (facts.threshold.to_string().as_str(), &facts.key),
                (threshold, &before),
                "{scheme:?}"
            );
        }
        assert_eq!(town.desks[0].authority.status().dealer, DealerState::Keeps);
        // After a stop it still can.
        town.restart(0);
        ask_for(&mut town, "1");
        agreed(&town);
        assert_eq!(key(&town), before);
        assert!(secret_on_disk(&town));
        admit_by_one(&mut town);
    }
}

/// The voters set the threshold, and have new shares.
fn ask_for(town: &mut Town, threshold: &str) {
    for who in 0..5 {
        if town.transcript().roster().charter().threshold().to_string() != threshold {
            town.command(who, Command::Propose(change("threshold", threshold))).unwrap();
        }
    }
    town.pass(20);
}

fn admit_by_one(town: &mut Town) {
    let dora = town.stranger("dora", 40, 0);
    town.vote(1, dora, true);
    town.pass(12);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
}

#[test]
fn adm_66_a_dealer_for_the_set_up_only_erases_the_secret_and_the_members_go_on() {
    for scheme in SCHEMES {
        let plan = Plan { dealer: Some(Dealer::SetupOnly), links: 0, ..plan(scheme) };
        let mut town = Town::found(&plan, |_| {});
        assert_eq!(town.desks[0].authority.status().dealer, DealerState::ToBeDealt);
        let (drawn, sealed) = (town.desks[0].disk.clone(), secret_on_disk(&town));
        (0..2).for_each(|who| town.link(0, who));
        town.pass(8);
        agreed(&town);
        assert!(sealed && !secret_on_disk(&town));
        assert_eq!(town.desks[0].authority.status().dealer, DealerState::Erased);
        let (before, asker) = (key(&town), town.bus.players[0].identity.member());
        let (session, ready) = ready(&town, &[0, 1, 2, 3, 4]);
        let deal = AuthorityMessage::Deal { session, threshold: 2, ready };
        let erased = Err(AdmissionError::PeerDeal(asker, "the secret is erased"));
        assert_eq!(town.say(0, 0, &deal), (erased.clone(), Vec::new()));
        // A disk that still has it, because the process was stopped before it could: erased at the
        // start.
        let hears = town.desks[0].disk.clone();
        town.desks[0].disk = drawn;
        town.restart(0);
        assert!(!secret_on_disk(&town));
        assert_eq!(town.say(0, 0, &deal).0, erased);
        assert_eq!(town.desks[0].disk, hears);
        // The members make new shares by themselves.
        ask_for(&mut town, "1");
        town.desks[0].errors.clear();
        agreed(&town);
        assert_eq!((key(&town), town.transcript().roster().sharing().unwrap().facts.threshold), (before, 1));
        admit_by_one(&mut town);
    }
}

/// That these are ready, at a session of their own.
fn ready(town: &Town, who: &[usize]) -> (Digest, Vec<SignedReady>) {
    let session = [7; 32];
    let mut words: Vec<SignedReady> =
        who.iter().map(|who| word(town, &town.bus.players[*who].identity, session)).collect();
    words.sort_by_key(|ready| ready.member);
    (session, words)
}

fn word(town: &Town, who: &Identity, session: Digest) -> SignedReady {
    let public = folkmoot_base::sealing::OpeningKey::<folkmoot_base::sealing::Classic>::draw(
        &mut crate::common::Dice(31),
    );
    signed(town, who, session, SignerBody::Ready { key: Blob::from(public.public().to_vec()) })
}

fn signed(town: &Town, who: &Identity, session: Digest, say: SignerBody) -> SignedReady {
    let covered =
        [&town.transcript().group().0[..], &who.member().0, &session, &codec::encode(&say)].concat();
    let signature = who.key().sign_wire(SIGNER_LABEL, &covered);
    SignedReady { member: who.member(), message: SignerMessage { session, body: say, signature } }
}

/// Founders who do not know that the desk is linked with the first of them: the tests ask for every
/// deal themselves.
fn undealt(scheme: Scheme, dealer: Dealer) -> Town {
    let plan = Plan { dealer: Some(dealer), links: 0, ..plan(scheme) };
    let mut town = Town::found(&plan, |_| {});
    let first = town.bus.players[0].identity.node();
    town.desk_input(0, Input::LinkUp { node: first, host: HOST }).unwrap();
    assert!(town.transcript().roster().sharing().is_none());
    town
}

#[test]
fn adm_65_only_signers_that_say_so_themselves_are_dealt_to() {
    for scheme in SCHEMES {
        let mut town = undealt(scheme, Dealer::Keeps);
        let asker = town.bus.players[0].identity.member();
        let (session, good) = ready(&town, &[0, 1, 2, 3]);
        let mut unsigned = good.clone();
        unsigned[1].message.signature = [9; 64].into();
        let mut swapped = good.clone();
        swapped.swap(0, 1);
        let mut twice = good.clone();
        twice[1] = twice[0].clone();
        let mut elsewhere = good.clone();
        let who = town.bus.players.iter().find(|player| player.identity.member() == good[2].member).unwrap();
        elsewhere[2] = word(&town, &who.identity, [8; 32]);
        let mut otherwise = good.clone();
        let say = SignerBody::Participants { givers: Vec::new(), takers: Vec::new() };
        otherwise[2] = signed(&town, &who.identity, session, say);
        let mut short = good.clone();
        short[2] = signed(&town, &who.identity, session, SignerBody::Ready { key: Blob::from(vec![1; 31]) });
        let mut strange = good.clone();
        strange[3] = word(&town, &crate::common::person("nobody", 90), session);
        strange.sort_by_key(|ready| ready.member);
        let minority = ready(&town, &[0, 1]).1;
        let others = ready(&town, &[1, 2, 3, 4]).1;
        let cases = [unsigned, swapped, twice, elsewhere, otherwise, short, strange, minority, others];
        for (number, signers) in cases.into_iter().enumerate() {
            let deal = AuthorityMessage::Deal { session, threshold: 2, ready: signers };
            let (result, told) = town.say(0, 0, &deal);
            let refused =
                matches!(result, Err(AdmissionError::PeerDeal(..) | AdmissionError::PeerSigner(..)));
            assert!(refused && told.is_empty(), "{number}: {result:?}");
        }
        for threshold in [1, 3] {
            let deal = AuthorityMessage::Deal { session, threshold, ready: good.clone() };
            let other = Err(AdmissionError::PeerDeal(asker, "the threshold is not the charter's"));
            assert_eq!(town.say(0, 0, &deal).0, other);
        }
        let deal = AuthorityMessage::Deal { session, threshold: 2, ready: good.clone() };
        let (result, told) = town.say(0, 0, &deal);
        assert_eq!(result, Ok(()));
        let [AuthorityMessage::Dealt { session: at, dealt }] = &told[..] else { panic!("{told:?}") };
        assert_eq!(
            (at, dealt.dealer(town.transcript(), at)),
            (&session, Some(town.desks[0].identity.member()))
        );
        let facts = shared::facts(scheme, &dealt.public.0).unwrap();
        let signers: Vec<MemberId> = good.iter().map(|ready| ready.member).collect();
        assert_eq!((facts.threshold, facts.holders), (2, signers.clone()));
        assert_eq!(dealt.to_each.iter().map(|whisper| whisper.to).collect::<Vec<_>>(), signers);
    }
}

#[test]
fn adm_66_nothing_is_dealt_that_is_not_wanted_nor_again_and_again() {
    for scheme in SCHEMES {
        let mut town = undealt(scheme, Dealer::Keeps);
        let asker = town.bus.players[0].identity.member();
        let (session, good) = ready(&town, &[0, 1, 2, 3, 4]);
        let deal = AuthorityMessage::Deal { session, threshold: 2, ready: good.clone() };
        let (first, dealt) = town.say(0, 0, &deal);
        assert_eq!(first, Ok(()));
        assert_eq!(town.say(0, 0, &deal), (Ok(()), dealt), "the answer was lost: the same again");
        let again = |town: &mut Town| {
            let signers = town.bus.players.iter().map(|player| word(town, &player.identity, [9; 32]));
            let mut signers: Vec<SignedReady> = signers.collect();
            signers.sort_by_key(|ready| ready.member);
            town.say(0, 0, &AuthorityMessage::Deal { session: [9; 32], threshold: 2, ready: signers }).0
        };
        let soon = Err(AdmissionError::PeerDeal(asker, "the last deal was less than 2 s ago"));
        assert_eq!(again(&mut town), soon);
        let nobody = AuthorityMessage::Deal { session: [9; 32], threshold: 2, ready: Vec::new() };
        assert_eq!(town.say(0, 0, &nobody).0, soon, "before it looks at what is signed");
        town.bus.now = town.bus.now + core::time::Duration::from_secs(2);
        assert_eq!(again(&mut town), Ok(()));
        // A sharing that is as it should be.
        let mut town = founded(scheme, Dealer::Keeps);
        town.bus.now = town.bus.now + core::time::Duration::from_secs(2);
        let should = Err(AdmissionError::PeerDeal(asker, "the sharing is as it should be"));
        assert_eq!(again(&mut town), should);
    }
    // Where there are no shares.
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    let (session, signers) = ready(&town, &[0, 1, 2]);
    let deal = AuthorityMessage::Deal { session, threshold: 2, ready: signers };
    assert!(matches!(
        town.say(0, 0, &deal).0,
        Err(AdmissionError::PeerDeal(_, "this group's authority deals no shares"))
    ));
}

/// A deal takes long, one of Shoup's scheme longest. One that comes to nothing, because nothing can
/// be sealed to the asker's key, counts for the pause between deals too.
#[test]
fn adm_66_a_deal_that_comes_to_nothing_has_a_pause_after_it_too() {
    let mut town = undealt(Scheme::Frost, Dealer::Keeps);
    let asker = town.bus.players[0].identity.member();
    let bad = |town: &Town, session: u8| {
        let (_, mut signers) = ready(town, &[0, 1, 2, 3, 4]);
        for signer in &mut signers {
            let who =
                town.bus.players.iter().find(|player| player.identity.member() == signer.member).unwrap();
            *signer = match signer.member == asker {
                true => signed(
                    town,
                    &who.identity,
                    [session; 32],
                    SignerBody::Ready { key: Blob::from(vec![0; 32]) },
                ),
                false => word(town, &who.identity, [session; 32]),
            };
        }
        AuthorityMessage::Deal { session: [session; 32], threshold: 2, ready: signers }
    };
    let deal = bad(&town, 1);
    let none = Err(AdmissionError::PeerDeal(asker, "its one-time key is malformed"));
    assert_eq!(town.say(0, 0, &deal).0, none);
    let deal = bad(&town, 2);
    let soon = Err(AdmissionError::PeerDeal(asker, "the last deal was less than 2 s ago"));
    assert_eq!(town.say(0, 0, &deal).0, soon);
    town.bus.now = town.bus.now + core::time::Duration::from_secs(2);
    assert_eq!(town.say(0, 0, &deal).0, none);
}

#[test]
fn adm_60_signatures_of_the_groups_key_are_of_this_request_and_sharing() {
    for scheme in SCHEMES {
        let mut town = founded(scheme, Dealer::Keeps);
        let dora = town.stranger("dora", 40, 0);
        town.unlink(0, 0);
        town.unlink(0, 1);
        for voter in [1, 2] {
            town.vote(voter, dora, true);
        }
        town.pass(10);
        // The signature is made, and the certificate not.
        assert!(!town.bus.admitted(dora));
        let erik = town.request(41, |_| {});
        let epoch = town.transcript().roster().sharing().unwrap().facts.epoch;
        let forged = |epoch| WireGrounds::Combined { epoch, signature: Blob::from(vec![1; 64]) };
        town.link(0, 2);
        let (_, answers) = town.say(0, 2, &crate::common::town::grant(&erik, forged(epoch)));
        assert_eq!(denied(&answers), Reason::Votes);
        let (_, answers) = town.say(0, 2, &crate::common::town::grant(&erik, forged([9; 32])));
        assert_eq!(denied(&answers), Reason::AwaitingAuthority, "of another sharing, which may come");
        let votes = town.votes(&erik, &[1, 2]);
        let (_, answers) = town.say(0, 2, &crate::common::town::grant(&erik, votes));
        assert_eq!(denied(&answers), Reason::AwaitingAuthority);
        town.link(0, 0);
        town.pass(5);
        assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
    }
}

#[test]
fn a_multisignature_is_certified_too() {
    let mut town = Town::found(&plan(Scheme::Asm), |_| {});
    let dora = town.stranger("dora", 40, 0);
    for voter in [1, 2] {
        town.vote(voter, dora, true);
    }
    town.pass(5);
    assert!(town.bus.admitted(dora), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
    assert_eq!(town.certificate(dora).multi().unwrap().signers().len(), 2);
    assert_eq!(town.certificate(dora).check_central(town.transcript().roster().charter()), Ok(()));
}

#[test]
fn votes_are_certified_whichever_member_reaches_the_authority() {
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    town.unlink(0, 0);
    let dora = town.stranger("dora", 40, 0);
    for voter in [1, 2] {
        town.vote(voter, dora, true);
    }
    assert!(!town.bus.admitted(dora), "the contact does not reach the authority");
    town.pass(12);
    assert!(town.bus.admitted(dora), "another does: {:#?}", town.bus.traces);
    assert_eq!(town.certificate(dora).votes().len(), 2);
    // Nobody does: admissions wait, and nothing else does.
    town.unlink(0, 1);
    let erik = town.stranger("erik", 41, 0);
    for voter in [1, 2] {
        town.vote(voter, erik, true);
    }
    let gone = town.bus.players[4].identity.member();
    for who in 0..3 {
        let _ = town.command(who, Command::Expel(gone));
    }
    town.pass(20);
    assert!(!town.transcript().roster().is_member(&gone) && !town.bus.admitted(erik));
    let waits = |event: &Event| matches!(event, Event::Refused { reason: Reason::AwaitingAuthority, .. });
    assert!(town.bus.strangers[erik].events.iter().any(waits), "{:?}", town.bus.strangers[erik].events);
    town.link(0, 3);
    town.pass(12);
    assert!(town.bus.admitted(erik), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
}

#[test]
fn two_replicas_serve_one_group_and_either_may_be_away() {
    for scheme in [Scheme::Plain, Scheme::Frost] {
        let mut town = Town::found(&Plan { replicas: 2, ..plan(scheme) }, |_| {});
        town.pass(10);
        for (turn, name) in ["dora", "erik", "fred"].into_iter().enumerate() {
            if turn > 0 {
                let away = turn % 2;
                town.desks[1 - away].up = true;
                town.desks[away].up = false;
                (0..2).for_each(|who| town.unlink(away, who));
                (0..2).for_each(|who| town.link(1 - away, who));
            }
            let which = town.stranger(name, 40 + turn as u64, 0);
            for voter in [1, 2] {
                town.vote(voter, which, true);
            }
            town.pass(25);
            assert!(town.bus.admitted(which), "{scheme:?} {name}: {:#?}", town.bus.traces);
        }
        town.desks.iter_mut().for_each(|desk| desk.up = true);
        town.settle();
        assert_eq!(town.issued_on_disk(0), town.issued_on_disk(1));
        assert_eq!(town.issued_on_disk(0).len(), 3);
    }
}

#[test]
fn adm_63_below_the_threshold_of_a_group_with_a_key_the_authority_decides_alone() {
    for scheme in SCHEMES {
        let plan =
            Plan { founders: 5, threshold: if scheme == Scheme::Frost { 5 } else { 3 }, ..plan(scheme) };
        let mut town = Town::found(&plan, |draft| draft.policies.below = Below::Authority);
        town.pass(8);
        agreed(&town);
        while !town.transcript().roster().is_for_authority() {
            let last = town.bus.players.iter().rposition(|player| player.up).unwrap();
            let gone = town.bus.players[last].identity.member();
            let remove = Effect { change: Change::Remove { member: gone }, force: Force::Yes };
            for who in 0..=last {
                let _ = town.command(who, Command::Propose(remove.clone()));
            }
            assert!(!town.transcript().roster().is_member(&gone), "{scheme:?} {:#?}", town.bus.traces);
            town.bus.players[last].up = false;
        }
        let dora = town.stranger("dora", 40, 0);
        town.pass(3);
        let motion = town.desks[0].authority.status().petitions[0].request;
        assert!(!town.bus.admitted(dora));
        let _ = town.desk_order(0, Command::Vote { motion, approve: true });
        town.pass(5);
        assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
        assert!(town.certificate(dora).combined().is_none() && town.certificate(dora).votes().is_empty());
    }
}
