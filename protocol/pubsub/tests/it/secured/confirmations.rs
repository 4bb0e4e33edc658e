//! Who says that an exclusion was carried out, and whether that is so.

use super::helper::{Count, domain, group, id};
use folkmoot_base::{Mutant, UnixTime};
use folkmoot_pubsub::secured::{Certificates, Confirming, Danger, Domain, Issuer, Question, Right, Root};
use folkmoot_signing::plain::SigningKey;
use std::collections::BTreeSet;

const NOW: UnixTime = UnixTime(1_800_000_000);
const END: UnixTime = UnixTime(1_900_000_000);

fn issuer(number: u8) -> Issuer {
    Issuer::new("robots", SigningKey::generate(&mut Count(number)), &(NOW..=END), &mut Count(9)).unwrap()
}

fn member(by: &Issuer, number: u8, key: SigningKey) -> Certificates {
    let sender = id(u16::from(number));
    let rights = BTreeSet::from([Right { domain: group(), sender }]);
    let made = by.issue("arm", key.verifying_key(), &rights, &(NOW..=END), &mut Count(number)).unwrap();
    Certificates::new(by.certificate(), &made, key).unwrap()
}

fn key(number: u8) -> SigningKey {
    SigningKey::generate(&mut Count(number))
}

/// Whether this answer counts for that question.
fn counts(answer: &Confirming, question: &Question, at: &Domain, root: &Root) -> bool {
    let Confirming::Confirmation(answer) = Confirming::read(&answer.encode()).unwrap() else { panic!() };
    answer.judge(question, at, root, UnixTime(NOW.0 + 9), 0).is_some()
}

#[test]
fn pub_75_whoever_confirms_an_exclusion_has_signed_that_for_this_question() {
    let (robots, others) = (issuer(1), issuer(2));
    let (arm, thief) = (member(&robots, 2, key(3)), member(&robots, 3, key(4)));
    let statement = robots.exclude(folkmoot_pubsub::discovery::Papers::certificate(&thief)).unwrap();
    let asked = Question::new(statement.clone(), &mut Count(1));
    let later = Question::new(statement, &mut Count(2));
    assert_ne!(asked, later);
    let answer = Confirming::Confirmation(asked.confirm(&group(), &arm));
    let root = robots.root();
    assert!(counts(&answer, &asked, &group(), root));
    // Recorded, it answers no later question, unless nobody looks.
    assert!(!counts(&answer, &later, &group(), root));
    let careless = |danger| root.clone().with_danger(Mutant::from(Some(danger)));
    assert!(counts(&answer, &later, &group(), &careless(Danger::AnyQuestion)));
    // Nor for another group, nor for another root's members.
    assert!(!counts(&answer, &asked, &domain("POSE"), root));
    assert!(!counts(&answer, &asked, &group(), others.root()));
    let stranger = Confirming::Confirmation(asked.confirm(&group(), &member(&others, 2, key(3))));
    assert!(!counts(&stranger, &asked, &group(), root));
    // The thief has the arm's certificate, which is public, and not its key.
    let forged = forge(&asked, &arm, &thief);
    assert!(!counts(&forged, &asked, &group(), root));
    assert!(counts(&forged, &asked, &group(), &careless(Danger::AnyConfirmation)));
}

/// What `by` signs in the name of `of`: the signature of one behind the certificate of the other.
fn forge(question: &Question, of: &Certificates, by: &Certificates) -> Confirming {
    let [honest, signed] =
        [of, by].map(|papers| Confirming::Confirmation(question.confirm(&group(), papers)).encode());
    let signature = signed.len() - 64..;
    let forged = [&honest[..honest.len() - 64], &signed[signature]].concat();
    Confirming::read(&forged).unwrap()
}

#[test]
fn pub_75_what_is_no_question_and_no_confirmation_is_refused() {
    let asked = Confirming::Question(Question::new(vec![7; 96].into(), &mut Count(1)));
    let bytes = asked.encode();
    assert_eq!(Confirming::read(&bytes).unwrap(), asked);
    for length in 0..bytes.len() {
        assert!(Confirming::read(&bytes[..length]).is_err(), "{length}");
    }
    assert!(Confirming::read(&[&bytes[..], &[0]].concat()).is_err());
    let long = Confirming::Question(Question::new(vec![7; 4_097].into(), &mut Count(1)));
    assert!(Confirming::read(&long.encode()).is_err());
}
