//! A dealer that lies, and members that lie to the authority: shares that were not dealt as they
//! claim, and grounds that held once. Method: real members, transcripts and desks; messages are
//! caught on their way, changed, or written by the test.

use crate::common::HOST;
use crate::common::town::{Plan, Town, denied, grant, granted, office, plan};
use crate::common::{Dice, open, person};
use folkmoot_admission::{
    AdmissionError, AuthorityMessage, Command, Dealt, Event, Input, OpenMessage, Reason, SIGNER_LABEL,
    SignerBody, SignerMessage, WireGrounds,
};
use folkmoot_base::{Blob, Digest, MemberId, codec};
use folkmoot_identity::{Csr, Dealer, Gmc, GmcBody, Request, Scheme};
use folkmoot_signing::shared;
use folkmoot_transcript::{ItemError, Uncounted};
use std::cell::Cell;
use std::rc::Rc;

/// Five founders of whom two admit. The first is linked with the desk, whose answers are caught.
fn caught(scheme: Scheme) -> Town {
    let plan = Plan { dealer: Some(Dealer::Keeps), links: 0, ..plan(scheme) };
    let mut town = Town::found(&plan, |_| {});
    let (desk, first) = (town.desks[0].identity.node(), town.bus.players[0].identity.node());
    town.desk_input(0, Input::LinkUp { node: first, host: HOST }).unwrap();
    town.bus.input(0, Input::LinkUp { node: desk, host: HOST }).unwrap();
    town
}

/// What the desk dealt, once it is asked; it goes to those who ask now.
fn next_deal(town: &mut Town) -> (Digest, Dealt) {
    let before = town.desks[0].told.len();
    for _ in 0..12 {
        town.pass(1);
        let dealt = town.desks[0].told[before..].iter().find_map(|(_, word)| match word {
            AuthorityMessage::Dealt { session, dealt } => Some((*session, dealt.clone())),
            _ => None,
        });
        if let Some(dealt) = dealt {
            return dealt;
        }
    }
    panic!("nothing is asked for: {:#?} {:?}", town.bus.traces, town.desks[0].errors);
}

fn shares(town: &Town) -> Vec<usize> {
    let count = |player: &crate::common::Player| player.disk.keys().filter(|at| at.table == "share").count();
    town.bus.players.iter().map(count).collect()
}

/// How often shares are passed on from now on.
fn passed_on(town: &mut Town) -> Rc<Cell<usize>> {
    let count = Rc::new(Cell::new(0));
    let counts = count.clone();
    town.bus.tamper = Some(Box::new(move |_, payload| {
        if let Ok(OpenMessage::Signer { message: SignerMessage { body: SignerBody::Dealt { .. }, .. } }) =
            codec::decode(payload)
        {
            counts.set(counts.get() + 1);
        }
        true
    }));
    count
}

fn deal(town: &mut Town, session: Digest, dealt: Dealt) -> Result<(), AdmissionError> {
    town.tell(0, 0, &AuthorityMessage::Dealt { session, dealt })
}

/// Shares of this secret, said by the desk to be for this session.
fn lie(
    town: &Town,
    session: &Digest,
    true_one: &Dealt,
    how: (Scheme, u64, usize),
    holders: &[MemberId],
) -> Dealt {
    let (scheme, seed, threshold) = how;
    let secret = match seed {
        0 => office(scheme).secret.unwrap(),
        seed => shared::draw_secret(scheme, &mut Dice(seed)).unwrap(),
    };
    let public = shared::deal(scheme, &secret, threshold, holders, &mut Dice(78)).unwrap().public;
    sign(town, session, public.into(), true_one)
}

fn sign(town: &Town, session: &Digest, public: Blob, like: &Dealt) -> Dealt {
    Dealt::sign(town.transcript(), &town.desks[0].identity, session, public, like.to_each.clone())
}

#[test]
fn adm_58_shares_that_were_not_dealt_so_are_not_kept() {
    for scheme in [Scheme::Frost, Scheme::TsDsa] {
        let mut town = caught(scheme);
        let (session, dealt) = next_deal(&mut town);
        let count = passed_on(&mut town);
        let signers: Vec<MemberId> = dealt.to_each.iter().map(|whisper| whisper.to).collect();
        let stranger = person("x", 70);
        let by_nobody =
            Dealt::sign(town.transcript(), &stranger, &session, dealt.public.clone(), dealt.to_each.clone());
        let mut changed = dealt.clone();
        changed.to_each.swap(0, 1);
        let unsigned = "the charter's authority did not sign them";
        let other = "they have another key, another threshold or other holders";
        let cases = [
            (by_nobody, unsigned),
            (changed, unsigned),
            (sign(&town, &[9; 32], dealt.public.clone(), &dealt), unsigned),
            (lie(&town, &session, &dealt, (scheme, 0, 3), &signers), other),
            (lie(&town, &session, &dealt, (scheme, 0, 2), &signers[..4]), other),
            (sign(&town, &session, Blob::from(vec![1; 90]), &dealt), other),
        ];
        for (number, (bad, why)) in cases.iter().enumerate() {
            let refused = Err(AdmissionError::PeerDealt(why));
            assert_eq!(deal(&mut town, session, bad.clone()), refused, "{number}");
            // Nor where the coordinator passes it on all the same; nor by another than the
            // coordinator.
            for (who, refused) in [
                (0, refused),
                (
                    1,
                    Err(AdmissionError::PeerDealt(
                        "they do not come from the coordinator of the signing session",
                    )),
                ),
            ] {
                let word = passed(&town, who, session, bad);
                let sender = town.bus.players[who].identity.member();
                assert_eq!(town.bus.input(3, Input::Open { sender, payload: word }), refused, "{number}");
            }
        }
        // At no session, or one that is over: nobody asked.
        assert_eq!(deal(&mut town, [9; 32], dealt.clone()), Ok(()));
        town.settle();
        assert_eq!((shares(&town), count.get()), (vec![0; 5], 0));
        // The true one, and another of the same secret besides: the first is taken.
        let second = lie(&town, &session, &dealt, (scheme, 0, 2), &signers);
        assert_eq!(deal(&mut town, session, dealt.clone()), Ok(()));
        assert_eq!(deal(&mut town, session, second), Ok(()));
        town.bus.settle();
        assert_eq!(count.get(), 1);
        town.pass(3);
        let sharing = town.transcript().roster().sharing().expect("a sharing").clone();
        assert_eq!(sharing.public, dealt.public.0);
        assert_eq!(shares(&town), vec![1; 5]);
        // Of another key than the group's, once it has one.
        let gone = town.bus.players[4].identity.member();
        for who in 0..3 {
            let _ = town.command(who, Command::Expel(gone));
        }
        town.bus.players[4].up = false;
        let (session, dealt) = next_deal(&mut town);
        let signers: Vec<MemberId> = dealt.to_each.iter().map(|whisper| whisper.to).collect();
        let strange = lie(&town, &session, &dealt, (scheme, 5, 2), &signers);
        assert_eq!(deal(&mut town, session, strange), Err(AdmissionError::PeerDealt(other)));
        assert_eq!(deal(&mut town, session, dealt), Ok(()));
        town.pass(3);
        let after = town.transcript().roster().sharing().unwrap().clone();
        assert!(after.facts.epoch != sharing.facts.epoch && after.facts.key == sharing.facts.key);
    }
}

/// What was dealt, passed on by a member in its own name.
fn passed(town: &Town, who: usize, session: Digest, dealt: &Dealt) -> bytes::Bytes {
    let (identity, say) = (&town.bus.players[who].identity, SignerBody::Dealt { dealt: dealt.clone() });
    let covered =
        [&town.transcript().group().0[..], &identity.member().0, &session, &codec::encode(&say)].concat();
    let signature = identity.key().sign_wire(SIGNER_LABEL, &covered);
    open(&OpenMessage::Signer { message: SignerMessage { session, body: say, signature } })
}

#[test]
fn who_is_dealt_a_false_share_says_so_and_the_others_go_on() {
    let mut town = caught(Scheme::Frost);
    let (session, dealt) = next_deal(&mut town);
    let (to, false_one) = (dealt.to_each[4].to, dealt.to_each[3].sealed.clone());
    let mut like = dealt.clone();
    like.to_each[4].sealed = false_one;
    let lies = sign(&town, &session, dealt.public.clone(), &like);
    assert_eq!(deal(&mut town, session, lies), Ok(()));
    town.pass(3);
    let dealer = town.desks[0].identity.member();
    for player in &town.bus.players {
        let cheated = player.identity.member() == to;
        let says = player.events.iter().any(|event| *event == Event::SignerLied { member: dealer });
        let holds = player.admission.signing(town.bus.now, &player.transcript).holds;
        // The others, who have true ones, give it the share that it should have had.
        assert_eq!((says, holds), (cheated, true));
    }
}

/// A founder goes; votes and signatures from before are no grounds any more.
#[test]
fn votes_of_leavers_and_signatures_of_an_older_sharing_grant_nothing() {
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    let request = town.request(40, |_| {});
    let votes = town.votes(&request, &[3, 4]);
    expel(&mut town, 4);
    let (result, answers) = town.say(0, 0, &grant(&request, votes));
    assert!(
        matches!(result, Err(AdmissionError::PeerGrant(_, ItemError::Late(Uncounted::NotVoter(_))))),
        "{result:?}"
    );
    assert_eq!(denied(&answers), Reason::AwaitingAuthority);
    granted(&town.ask(&request, town.votes(&request, &[2, 3])));

    let mut town = Town::found(&plan(Scheme::Frost), |_| {});
    town.pass(8);
    let request = town.request(40, |_| {});
    // The authority does not hear; the members sign.
    town.desks[0].up = false;
    town.ask_at(0, &request);
    town.bus.said.clear();
    for who in [1, 2] {
        town.bus.command(who, Command::Vote { motion: request.digest(), approve: true }).unwrap();
    }
    let old = town.bus.said.iter().find_map(|(_, _, payload)| match codec::decode(payload) {
        Ok(AuthorityMessage::Grant { grounds: WireGrounds::Combined { epoch, signature }, .. }) => {
            Some(WireGrounds::Combined { epoch, signature })
        }
        _ => None,
    });
    let old = old.expect("the group's signature");
    town.restart(0);
    let before = town.transcript().roster().sharing().unwrap().facts.epoch;
    expel(&mut town, 4);
    town.pass(12);
    assert_ne!(town.transcript().roster().sharing().unwrap().facts.epoch, before);
    let issued = town.issued_on_disk(0).len();
    let other = town.request(41, |_| {});
    assert_eq!(denied(&town.ask(&other, old.clone())), Reason::AwaitingAuthority);
    assert_eq!(town.issued_on_disk(0).len(), issued);
}

fn expel(town: &mut Town, who: usize) {
    let gone = town.bus.players[who].identity.member();
    for voter in 0..3 {
        let _ = town.command(voter, Command::Expel(gone));
    }
    town.bus.players[who].up = false;
    town.settle();
    assert!(!town.transcript().roster().is_member(&gone));
}

/// A CSR has one serial number for good: whatever is proposed for it, one certificate comes of it.
#[test]
fn by_csr_the_authority_grants_once() {
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    let erik = Csr::sign(person("erik", 50).key(), "erik").unwrap();
    town.command(3, Command::Submit(erik.der().to_vec().into())).unwrap();
    let motion = town.bus.status(3).requests[0].request;
    for who in [1, 2] {
        town.command(who, Command::Vote { motion, approve: true }).unwrap();
    }
    town.pass(12);
    assert!(town.transcript().roster().is_member(&erik.member()), "{:#?}", town.bus.traces);
    let gmc = Gmc::from_der(&town.transcript().certificate_of(&erik.member()).unwrap()).unwrap();
    assert_eq!(
        (gmc.body().serial, gmc.check_central(town.transcript().roster().charter())),
        (erik.serial(), Ok(()))
    );
    let charter = town.transcript().roster().charter();
    let body = GmcBody::propose_csr(charter, &erik, 9, town.bus.time).over(town.transcript().state().head());
    let again = Request::by_csr(erik.clone(), body).unwrap();
    assert_eq!(denied(&town.ask(&again, town.votes(&again, &[1, 2]))), Reason::Stale);
    assert_eq!(town.issued_on_disk(0).len(), 1);
    // A request for another's key cannot be made, and one for the authority's own is for nobody.
    let (thief, node) = (person("thief", 51), town.desks[0].identity.clone());
    let charter = town.transcript().roster().charter();
    let stolen = GmcBody::propose(charter, &node, 5, town.bus.time, &mut Dice(90))
        .over(town.transcript().state().head());
    assert!(Request::sign(&thief, stolen.clone()).is_err());
    let own = Request::sign(&node, stolen).unwrap();
    assert_eq!(denied(&town.ask(&own, town.votes(&own, &[1, 2]))), Reason::Stale);
    let sender = town.bus.players[1].identity.member();
    let word = open(&OpenMessage::Request {
        cms: Blob::from(own.der().to_vec()),
        voucher: None,
        endorsement: None,
        instead: None,
    });
    let heard = town.bus.input(0, Input::Open { sender, payload: word });
    assert!(matches!(heard, Err(AdmissionError::PeerCharter(_))), "{heard:?}");
}
