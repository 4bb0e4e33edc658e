//! Lost shares of Shoup's key: members cannot repair one another's, so the authority's dealer says
//! them again, to their holders alone. Method: real members, transcripts and desks; the liars'
//! words are signed by the test.

use crate::common::town::{Plan, Town, agreed, plan};
use crate::common::{Dice, person};
use folkmoot_admission::{
    AdmissionError, AuthorityMessage, Command, Config, Dealt, Event, OpenMessage, Purpose, SIGNER_LABEL,
    ShareStatus, ShareWay, SignedReady, SignerBody, SignerMessage, dealt_info,
};
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Blob, Danger, Digest, MemberId, Mutant, Secret, codec, digest};
use folkmoot_identity::{Dealer, Identity, Scheme};
use folkmoot_signing::shared;
use std::cell::RefCell;
use std::rc::Rc;

/// Five founders of whom three sign; the desk is linked with the first two.
fn founded(dealer: Dealer) -> Town {
    let plan = Plan { dealer: Some(dealer), founders: 5, threshold: 3, ..plan(Scheme::Shoup) };
    let mut town = Town::found(&plan, |_| {});
    town.pass(8);
    agreed(&town);
    town
}

pub(crate) fn id(town: &Town, who: usize) -> MemberId {
    town.bus.players[who].identity.member()
}

fn shares(town: &Town, who: usize) -> usize {
    town.bus.players[who].disk.keys().filter(|key| key.table == "share").count()
}

fn lose(town: &mut Town, who: usize, config: Config) {
    town.bus.players[who].disk.clear();
    town.bus.restart_as(who, config);
    assert_eq!(shares(town, who), 0);
}

fn never() -> Config {
    Config { danger: Mutant::from(Some(Danger::AdmissionNeverRepairs)), ..Config::default() }
}

fn status(town: &Town, who: usize) -> ShareStatus {
    let player = &town.bus.players[who];
    player.admission.share(town.bus.now, &player.identity.member(), &player.transcript).unwrap()
}

/// The session in which `who` would ask for the share of `holder`.
pub(crate) fn session(town: &Town, who: MemberId, holder: MemberId, attempt: u32) -> Digest {
    let roster = town.transcript().roster();
    let start = SignerBody::Start { purpose: Purpose::Repair { holder }, attempt };
    let epoch = roster.sharing().unwrap().facts.epoch;
    let (group, head) = (town.transcript().group().0, roster.head().digest);
    digest(&[b"folkmoot table v2", &group, &who.0, &head, &epoch, &codec::encode(&start)])
}

pub(crate) fn key(seed: u64) -> OpeningKey<Classic> {
    OpeningKey::draw(&mut Dice(seed))
}

/// `by` signs that `member` is ready, by this key.
pub(crate) fn ready(
    town: &Town,
    by: &Identity,
    member: MemberId,
    session: Digest,
    key: &OpeningKey<Classic>,
) -> SignedReady {
    let body = SignerBody::Ready { key: Blob::from(key.public().to_vec()) };
    let covered = [&town.transcript().group().0[..], &member.0, &session, &codec::encode(&body)].concat();
    let signature = by.key().sign_wire(SIGNER_LABEL, &covered);
    SignedReady { member, message: SignerMessage { session, body, signature } }
}

fn dealt(answers: &[AuthorityMessage]) -> Option<Dealt> {
    answers.iter().find_map(|answer| match answer {
        AuthorityMessage::Dealt { dealt, .. } => Some(dealt.clone()),
        _ => None,
    })
}

/// Whether it is the share of `holder`, for whoever has this key.
fn opens(town: &Town, dealt: &Dealt, session: &Digest, holder: MemberId, key: &OpeningKey<Classic>) -> bool {
    let info = dealt_info(session, &town.desks[0].identity.member(), &holder);
    let Some(share) = key.open(&info, &dealt.to_each[0].sealed) else { return false };
    let public = town.transcript().roster().sharing().unwrap().public.clone();
    shared::check_share(Scheme::Shoup, &public, &holder, &Secret::new(share)).is_ok()
}

/// One that is linked with the desk, and one that is not, for which another hands it in.
#[test]
fn adm_88_a_holder_that_lost_its_disk_has_its_share_again_from_the_dealer() {
    for who in [0, 3] {
        let mut town = founded(Dealer::Keeps);
        let before = town.transcript().roster().sharing().cloned();
        lose(&mut town, who, Config::default());
        assert_eq!(status(&town, who).way, ShareWay::Authority);
        town.pass(10);
        assert_eq!(shares(&town, who), 1, "{who}: {:#?}", town.bus.traces);
        assert_eq!(
            (status(&town, who).way, town.transcript().roster().sharing().cloned()),
            (ShareWay::Held, before)
        );
        assert_eq!(town.desks[0].authority.status().again, 1);
        // It signs: without it, there are too few.
        let others: Vec<usize> = (0..5).filter(|one| *one != who).collect();
        others[..2].iter().for_each(|one| town.bus.players[*one].up = false);
        let left = &others[2..];
        town.link(0, left[0]);
        let dora = town.stranger("dora", 40, left[0]);
        for voter in [left[0], left[1], who] {
            town.vote(voter, dora, true);
        }
        town.pass(20);
        assert!(town.bus.admitted(dora), "{who}: {:#?} {:?}", town.bus.traces, town.desks[0].errors);
    }
}

/// While the authority is away it goes on asking, and says so; the others see who asks.
#[test]
fn adm_89_who_has_no_share_is_told_and_what_gives_it_one() {
    let mut town = founded(Dealer::Keeps);
    assert_eq!(
        (status(&town, 3).way, status(&town, 3).holders, status(&town, 3).signers),
        (ShareWay::Held, 5, 3)
    );
    [0, 1].into_iter().for_each(|who| town.unlink(0, who));
    lose(&mut town, 3, Config::default());
    town.pass(25);
    assert_eq!((shares(&town, 3), status(&town, 3).way), (0, ShareWay::Authority));
    assert_eq!(status(&town, 1).asking, [id(&town, 3)]);
    town.link(0, 2);
    town.pass(12);
    assert_eq!(
        (status(&town, 3).way, status(&town, 1).asking.len()),
        (ShareWay::Held, 0),
        "{:#?}",
        town.bus.traces
    );
    // If the dealer has erased its secret, it says that this is the end of it, and asks nobody.
    let mut town = founded(Dealer::SetupOnly);
    lose(&mut town, 3, Config::default());
    town.pass(25);
    assert_eq!((shares(&town, 3), status(&town, 3).way), (0, ShareWay::Lost));
    assert!(status(&town, 1).asking.is_empty() && town.bus.players[3].admission.poll_timeout().is_none());
}

/// After a restart the authority says the same share; its replica could, too.
#[test]
fn adm_87_what_is_said_again_follows_from_the_secret_alone() {
    let mut town = founded(Dealer::Keeps);
    town.restart(0);
    let holder = id(&town, 3);
    let (at, key) = (session(&town, holder, holder, 1), key(900));
    let identity = person("founder4", 4);
    assert_eq!(identity.member(), holder);
    let message = AuthorityMessage::Again { attempt: 1, ready: ready(&town, &identity, holder, at, &key) };
    let (result, answers) = town.say(0, 1, &message);
    assert_eq!(result, Ok(()));
    assert!(opens(&town, &dealt(&answers).unwrap(), &at, holder, &key));
    // Said again it is the same answer, and no other within two seconds.
    let (_, again) = town.say(0, 0, &message);
    assert_eq!(dealt(&again), dealt(&answers));
    let next = session(&town, holder, holder, 2);
    let ready = ready(&town, &identity, holder, next, &key);
    let (result, answers) = town.say(0, 0, &AuthorityMessage::Again { attempt: 2, ready });
    assert!(matches!(result, Err(AdmissionError::PeerDeal(..))) && answers.is_empty());
}

/// Another member in the holder's name, a word of the holder's from another session, an expelled
/// holder, one that holds nothing.
#[test]
fn adm_87_a_share_is_said_again_to_its_holder_alone() {
    for danger in [None, Some(Danger::AdmissionDealsToAnyone)] {
        let mut town = founded(Dealer::Keeps);
        town.desks[0].config = Config { danger: Mutant::from(danger), ..Config::default() };
        town.restart(0);
        let (ben, mallory) = (id(&town, 3), person("founder2", 2));
        let (at, own) = (session(&town, ben, ben, 1), key(901));
        let forged = ready(&town, &mallory, ben, at, &own);
        let (_, answers) = town.say(0, 1, &AuthorityMessage::Again { attempt: 1, ready: forged });
        let stolen = dealt(&answers).is_some_and(|dealt| opens(&town, &dealt, &at, ben, &own));
        assert_eq!(stolen, danger.is_some(), "in another's name");
    }
    let mut town = founded(Dealer::Keeps);
    let (ben, mallory) = (person("founder4", 4), person("founder2", 2));
    let own = key(902);
    // Ben's word in a session for something else, or that another coordinates; a session from
    // another head; one that holds no share.
    let stranger = person("stranger", 70);
    let wrong = [
        ready(&town, &ben, ben.member(), [7; 32], &own),
        ready(&town, &ben, ben.member(), session(&town, mallory.member(), ben.member(), 1), &own),
        ready(&town, &ben, ben.member(), session(&town, ben.member(), mallory.member(), 1), &own),
        ready(&town, &ben, ben.member(), session(&town, ben.member(), ben.member(), 2), &own),
        ready(
            &town,
            &stranger,
            stranger.member(),
            session(&town, stranger.member(), stranger.member(), 1),
            &own,
        ),
    ];
    for (which, ready) in wrong.into_iter().enumerate() {
        let (result, answers) = town.say(0, 1, &AuthorityMessage::Again { attempt: 1, ready });
        assert!(matches!(result, Err(AdmissionError::PeerDeal(..))) && answers.is_empty(), "{which}");
    }
    // Who was voted out has its word from before, and its key.
    let before = session(&town, ben.member(), ben.member(), 1);
    for voter in 0..3 {
        let _ = town.command(voter, Command::Expel(ben.member()));
    }
    assert!(!town.transcript().roster().is_member(&ben.member()));
    for at in [before, session(&town, ben.member(), ben.member(), 1)] {
        let ready = ready(&town, &ben, ben.member(), at, &own);
        let (result, answers) = town.say(0, 1, &AuthorityMessage::Again { attempt: 1, ready });
        assert!(matches!(result, Err(AdmissionError::PeerDeal(..))) && answers.is_empty());
    }
}

/// What the members heard of shares said again.
fn heard(town: &mut Town) -> Rc<RefCell<Vec<(Digest, Dealt)>>> {
    let all = Rc::new(RefCell::new(Vec::new()));
    let keep = all.clone();
    town.bus.tamper = Some(Box::new(move |_, payload| {
        if let Ok(OpenMessage::Signer { message }) = codec::decode(payload)
            && let SignerBody::Dealt { dealt } = message.body
        {
            keep.borrow_mut().push((message.session, dealt));
        }
        true
    }));
    all
}

/// Another signer's word, another holder's share, a word of before: none is kept, and what comes
/// from the dealer then is.
#[test]
fn adm_88_what_the_dealer_has_not_said_to_this_holder_now_is_not_kept() {
    let mut town = founded(Dealer::Keeps);
    let all = heard(&mut town);
    lose(&mut town, 3, Config::default());
    town.pass(10);
    assert_eq!((shares(&town, 3), all.borrow().len()), (1, 1));
    let (_, old) = all.borrow()[0].clone();
    // It loses it once more, and somebody is quicker than the dealer.
    [0, 1].into_iter().for_each(|who| town.unlink(0, who));
    let sessions = Rc::new(RefCell::new(Vec::new()));
    let keep = sessions.clone();
    let holder = id(&town, 3);
    town.bus.tamper = Some(Box::new(move |sender, payload| {
        if let Ok(OpenMessage::Signer { message }) = codec::decode(payload)
            && matches!(message.body, SignerBody::Ready { .. })
            && sender == holder
        {
            keep.borrow_mut().push(message.session);
        }
        true
    }));
    lose(&mut town, 3, Config::default());
    town.pass(1);
    let at = *sessions.borrow().last().unwrap();
    let mallory = person("founder2", 2);
    let (group, desk) = (town.transcript().group(), person("desk0", 3_000));
    let lies = [
        old.clone(),
        Dealt::sign(town.transcript(), &mallory, &at, old.public.clone(), old.to_each.clone()),
        Dealt::sign(town.transcript(), &desk, &at, old.public.clone(), Vec::new()),
    ];
    for (which, dealt) in lies.into_iter().enumerate() {
        let body = SignerBody::Dealt { dealt };
        let covered = [&group.0[..], &mallory.member().0, &at, &codec::encode(&body)].concat();
        let signature = mallory.key().sign_wire(SIGNER_LABEL, &covered);
        let message = SignerMessage { session: at, body, signature };
        let payload = crate::common::open(&OpenMessage::Signer { message });
        let input = folkmoot_admission::Input::Open { sender: mallory.member(), payload };
        let result = town.bus.input(3, input);
        assert!(matches!(result, Err(AdmissionError::PeerDealt(_))), "{which}: {result:?}");
        assert_eq!(shares(&town, 3), 0);
    }
    assert!(!town.bus.players[3].events.iter().any(|event| matches!(event, Event::SignerLied { .. })));
    town.link(0, 2);
    town.pass(15);
    assert_eq!(shares(&town, 3), 1, "{:#?}", town.bus.traces);
}

#[test]
fn without_the_dealers_word_a_lost_share_of_shoups_stays_lost() {
    let mut town = founded(Dealer::Keeps);
    lose(&mut town, 3, never());
    town.pass(30);
    assert_eq!(shares(&town, 3), 0);
}
