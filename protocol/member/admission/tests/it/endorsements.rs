//! ID-97: what a newcomer shows of who it is. The voters see it where it stands, and nothing where
//! it does not; with the rule switched off they see what liars show.

use crate::common::{Bus, Dice, HOST, change, person, vote};
use folkmoot_admission::{Applicant, Config, GuestMessage, Input, keep_endorsement};
use folkmoot_admission::{Command, Output};
use folkmoot_base::{Blob, Danger, GroupName, MemberId, Mutant, UnixTime, codec, hex};
use folkmoot_identity::{
    Charter, CharterDraft, Founder, Gmc, GmcBody, GroupKey, Identity, Request, Scheme, SigningKey,
};

/// The key of another group, and of one that has its name.
fn key(seed: u64) -> SigningKey {
    SigningKey::generate(&mut Dice(seed))
}

fn public(key: &SigningKey) -> GroupKey {
    GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap()
}

/// The membership certificate of `who` in the chess club with this key, from then on.
fn member(who: &Identity, key: &SigningKey, begins: UnixTime) -> Vec<u8> {
    let founders: Vec<Identity> = (60..63).map(|seed| person(&format!("p{seed}"), seed)).collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("chess club").unwrap(), 2, named, &mut Dice(9));
    let charter = Charter::from_toml(&CharterDraft { scheme: Scheme::TsDsa, ..draft }.to_toml()).unwrap();
    let body = GmcBody::propose(&charter, who, 3, begins, &mut Dice(5)).issued_under([3; 32]);
    let signature = key.sign_raw(&body.issued_tbs(&public(key)).unwrap()).to_paper();
    Gmc::issue_by_group(&body, &public(key), &signature).unwrap().der().to_vec()
}

/// Three members, who have voted to recognise the chess club; all of them break this rule.
fn founded(danger: Option<Danger>) -> Bus {
    let mut bus = Bus::new(3, 2);
    let word = hex(public(&key(1)).spki_der());
    decide(&mut bus, &word);
    assert_eq!(bus.players[2].transcript.roster().charter().recognised().iter().count(), 1);
    for who in 0..3 {
        bus.restart_as(who, Config { danger: Mutant::from(danger), ..Config::default() });
    }
    bus.settle();
    bus
}

fn decide(bus: &mut Bus, word: &str) {
    let effect = change("recognised.chess club", word);
    bus.command(0, Command::Propose(effect.clone())).unwrap();
    bus.settle();
    bus.command(1, Command::Propose(effect)).unwrap();
    bus.settle();
    bus.pass(5);
}

/// Somebody asks the first member under this name, and shows this.
fn asks(bus: &mut Bus, who: &Identity, endorsement: Vec<u8>) {
    let node = who.node();
    bus.input(0, Input::LinkUp { node, host: HOST }).unwrap();
    let transcript = &bus.players[0].transcript;
    let body = GmcBody::propose(transcript.roster().charter(), who, 3, bus.time, &mut Dice(5));
    let request = Request::sign(who, body.over(transcript.state().head())).unwrap();
    let cms = Blob::from(request.der().to_vec());
    let said = GuestMessage::Request { cms, voucher: None, endorsement: Some(Blob::from(endorsement)) };
    bus.input(0, Input::Guest { from: node, payload: codec::encode(&said).into() }).unwrap();
    bus.settle();
}

/// What the member in this place sees of what this one shows: who signed it.
fn seen(bus: &Bus, place: usize, member: &MemberId) -> Option<String> {
    let status = bus.status(place);
    let request = status.requests.iter().find(|one| one.member == *member).expect("the request is open");
    request
        .endorsement
        .as_ref()
        .map(|endorsement| format!("{} {}", endorsement.by(), endorsement.is_member()))
}

#[test]
fn id_97_every_voter_sees_what_a_newcomer_shows_until_it_ends_or_is_recognised_no_more() {
    let mut bus = founded(None);
    let dora = person("dora", 40);
    let endorsement = member(&dora, &key(1), bus.time);
    asks(&mut bus, &dora, endorsement);
    let here = Some(String::from("chess club true"));
    for who in 0..3 {
        assert_eq!(seen(&bus, who, &dora.member()), here);
    }
    // It admits nobody.
    assert_eq!((bus.status(1).requests[0].have, bus.status(1).requests[0].need), (0, 2));
    // It is on the disk.
    bus.restart(2);
    assert_eq!(seen(&bus, 2, &dora.member()), here);
    decide(&mut bus, "none");
    for who in 0..3 {
        assert_eq!(seen(&bus, who, &dora.member()), None, "it is recognised no more");
    }
}

#[test]
fn id_97_what_does_not_stand_is_not_seen() {
    for danger in [Some(Danger::AdmissionAnyEndorsement), None] {
        let mut bus = founded(danger);
        let (cleo, over) = (person("cleo", 41), UnixTime(bus.time.0 - 400 * 86_400));
        let early = UnixTime(bus.time.0 + 3_600);
        let named = |name: &str, seed| person(name, seed);
        let liars = [
            ("another's", named("mallory", 50), member(&cleo, &key(1), bus.time)),
            ("another's of the same name", named("cleo", 51), member(&cleo, &key(1), bus.time)),
            ("one that has ended", named("dora", 52), member(&named("dora", 52), &key(1), over)),
            ("one that has not begun", named("emil", 53), member(&named("emil", 53), &key(1), early)),
            ("another name's", named("fred", 54), member(&named("frida", 54), &key(1), bus.time)),
        ];
        for (what, who, endorsement) in liars {
            asks(&mut bus, &who, endorsement);
            for place in 0..3 {
                let seen = seen(&bus, place, &who.member());
                assert_eq!(seen.is_some(), danger.is_some(), "{what}, {danger:?}");
            }
            if danger.is_none() {
                let said = format!("the certificate that {} shows does not count", who.member());
                assert!(bus.traces.iter().any(|(_, trace)| trace.starts_with(&said)), "{what}");
            }
        }
        // Whoever the charter does not recognise is told by the signature: no such rule is off here.
        let gina = named("gina", 55);
        let forged = member(&gina, &key(2), bus.time);
        asks(&mut bus, &gina, forged);
        assert_eq!(seen(&bus, 1, &gina.member()), None);
    }
}

/// A request with an endorsement that does not stand is heard as one without.
#[test]
fn id_97_an_endorsement_that_does_not_stand_keeps_nobody_out() {
    let mut bus = founded(None);
    let dora = bus.stranger("dora", 40, 0);
    let kept = keep_endorsement(b"no certificate");
    let it = &mut bus.strangers[dora];
    it.disk.insert(kept.key, kept.value.unwrap());
    bus.settle();
    vote(&mut bus, 0, dora, true);
    vote(&mut bus, 1, dora, true);
    bus.pass(3);
    assert!(bus.admitted(dora));
}

#[test]
fn id_97_a_newcomer_shows_its_endorsement_with_each_request_also_after_a_restart() {
    let mut bus = founded(None);
    let dora = bus.stranger("dora", 40, 0);
    let endorsement = member(&bus.strangers[dora].identity, &key(1), bus.time);
    let kept = keep_endorsement(&endorsement);
    let it = &mut bus.strangers[dora];
    assert!(Applicant::is_own(&kept.key));
    it.disk.insert(kept.key, kept.value.unwrap());
    let stored: Vec<_> = it.disk.clone().into_iter().collect();
    it.applicant = Applicant::load(&stored).unwrap();
    let (now, time) = (bus.now, bus.time);
    let it = &mut bus.strangers[dora];
    let node = it.contact.unwrap();
    let mut shown = 0;
    for input in [Input::Clock(time), Input::LinkUp { node, host: HOST }, Input::Timeout] {
        it.applicant.handle(now, input, &it.transcript, &it.identity, &mut Dice(3)).unwrap();
    }
    let due = it.applicant.poll_timeout().unwrap();
    it.applicant.handle(due, Input::Timeout, &it.transcript, &it.identity, &mut Dice(3)).unwrap();
    while let Some(output) = it.applicant.poll_output() {
        let Output::Guest { payload, .. } = output else { continue };
        let word = codec::decode::<GuestMessage>(&payload).unwrap();
        let GuestMessage::Request { endorsement: Some(sent), .. } = word else { panic!("{word:?}") };
        assert_eq!(sent.0, endorsement);
        shown += 1;
    }
    assert!(shown > 0);
}
