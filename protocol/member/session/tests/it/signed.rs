//! Signed messages: the signature is the sender's, over exactly this message, and only those who
//! open the message see it. A message that is not signed could be made by any member.

use crate::common::{AES, GROUP, Texts, config, key, view};
use bytes::Bytes;
use folkmoot_base::{Danger, Entropy, Party, Service, UnixTime, digest};
use folkmoot_identity::{Identity, Signature, Stamp};
use folkmoot_session::{
    Body, Content, HEADER_BYTES, Message, OpenError, Opened, PLAIN_BYTES, Session, TAG_BYTES,
};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Sealed before a text that P-256 signs: the first byte, algorithm, length, r ‖ s.
const SIGNED_BYTES: usize = 68;

struct Seed(u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

pub static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let make = |n: u64| Identity::new("p", &mut Seed(n << 32), UnixTime(0), UnixTime(1 << 32)).unwrap();
    (0..3).map(make).collect()
});

fn id(who: usize) -> Party {
    PEOPLE[who].member().into()
}

fn list() -> Vec<Party> {
    (0..3).map(id).collect()
}

/// The answer of a roster.
pub fn verify(stamp: &Stamp, text: &[u8], signature: &Signature) -> bool {
    PEOPLE.iter().any(|one| stamp.verify(one.key().verifying_key(), text, signature).is_ok())
}

fn session(who: usize, order: u64, epoch: u8, danger: Option<Danger>) -> Session {
    let mut session = Session::new(id(who), GROUP, config(danger));
    session.open_epoch(view(order), &list(), &key(epoch), AES).unwrap();
    session
}

fn sign(session: &mut Session, who: usize, text: &[u8]) -> Bytes {
    session
        .seal_signed(&[], Service::Safe, Bytes::copy_from_slice(text), |stamp, text| {
            stamp.sign(PEOPLE[who].key(), text)
        })
        .unwrap()
}

fn open(session: &mut Session, who: usize, sealed: Bytes) -> Result<Message, OpenError> {
    match session.open(id(who), Service::Safe, sealed, &verify)? {
        Opened::Message(message) => Ok(message),
        Opened::Held => panic!("held, not opened"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn ses_13_what_is_signed_opens_with_its_signature(
        texts in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..200), any::<bool>()), 1..6),
    ) {
        let (mut anna, mut ben) = (session(0, 1, 1, None), session(1, 1, 1, None));
        for (number, (text, signed)) in texts.iter().enumerate() {
            let sealed = if *signed { sign(&mut anna, 0, text) } else { anna.text(text).unwrap() };
            let front = if *signed { SIGNED_BYTES } else { PLAIN_BYTES };
            prop_assert_eq!(sealed.len(), HEADER_BYTES + front + text.len() + TAG_BYTES);
            let Message { payload, origin, .. } = open(&mut ben, 0, sealed).unwrap();
            prop_assert_eq!((&payload[..], origin.is_signed()), (&text[..], *signed));
            prop_assert_eq!(origin.number, number as u64);
            let stamp = origin.stamp(view(1), id(0), Service::Safe);
            if let Some(signature) = origin.signature {
                prop_assert!(stamp.verify(PEOPLE[0].key().verifying_key(), text, &signature).is_ok());
            }
        }
    }
}

/// If nothing is sealed, the first byte can be altered as a holder of the key could alter it.
#[test]
fn ses_12_what_is_sealed_is_a_text_or_a_signature_and_a_text() {
    let danger = Some(Danger::SessionPlain);
    let (mut anna, mut ben) = (session(0, 1, 1, danger), session(1, 1, 1, danger));
    for kind in 4..=255 {
        let mut sealed = anna.text(&[7; 80]).unwrap().to_vec();
        sealed[HEADER_BYTES] = kind;
        assert_eq!(open(&mut ben, 0, sealed.into()), Err(OpenError::PeerContent(id(0))));
    }
    for length in 0..64 {
        let mut sealed = anna.text(&vec![7; length]).unwrap().to_vec();
        sealed[HEADER_BYTES] = 1;
        assert_eq!(open(&mut ben, 0, sealed.into()), Err(OpenError::PeerContent(id(0))), "{length}");
    }
    // Several texts: lengths that run over the end, or one text alone, which has another form.
    for bad in [&[][..], &[0], &[0, 2, 7], &[0, 1, 7], &[0, 0], &[0, 1, 7, 0, 1]] {
        let mut sealed = anna.text(bad).unwrap().to_vec();
        sealed[HEADER_BYTES] = 3;
        assert_eq!(open(&mut ben, 0, sealed.into()), Err(OpenError::PeerContent(id(0))), "{bad:?}");
    }
}

#[test]
fn ses_13_a_wrong_signature_is_its_senders_fault_and_delivers_nothing() {
    let (mut anna, mut ben) = (session(0, 1, 1, None), session(1, 1, 1, None));
    let forged = Err(OpenError::PeerSignature(id(0)));
    type Forger = fn(&Stamp, &[u8]) -> Signature;
    let forgers: [Forger; 6] = [
        |stamp, text| stamp.sign(PEOPLE[1].key(), text),
        |stamp, _| stamp.sign(PEOPLE[0].key(), b"another text"),
        |stamp, text| Stamp { service: Service::Agreed, ..*stamp }.sign(PEOPLE[0].key(), text),
        |stamp, text| Stamp { number: stamp.number + 1, ..*stamp }.sign(PEOPLE[0].key(), text),
        |stamp, text| Stamp { sender: id(1), ..*stamp }.sign(PEOPLE[0].key(), text),
        |stamp, text| Stamp { epoch: [0; 8], ..*stamp }.sign(PEOPLE[0].key(), text),
    ];
    for forge in forgers {
        let sealed = anna.seal_signed(&[], Service::Safe, Bytes::from_static(b"text"), forge).unwrap();
        assert_eq!(open(&mut ben, 0, sealed), forged);
    }
    let sealed = sign(&mut anna, 0, b"text");
    let otherwise = ben.open(id(0), Service::Agreed, sealed.clone(), &verify);
    assert_eq!(otherwise, Err(OpenError::PeerSignature(id(0))), "delivered with another service");
    assert_eq!(
        &open(&mut ben, 0, sealed).unwrap().payload[..],
        b"text",
        "the refusal cost the true one nothing"
    );
}

#[test]
fn ses_13_every_altered_byte_of_a_signed_message_is_refused() {
    let (mut anna, mut ben) = (session(0, 1, 1, None), session(1, 1, 1, None));
    let sealed = sign(&mut anna, 0, b"to be altered");
    for bit in 0..sealed.len() * 8 {
        let mut altered = sealed.to_vec();
        altered[bit / 8] ^= 1 << (bit % 8);
        match ben.open(id(0), Service::Safe, Bytes::from(altered), &verify) {
            Ok(Opened::Message(_)) => panic!("bit {bit} was taken"),
            Ok(Opened::Held) => assert!((0..64).contains(&bit), "only another epoch's tag is held"),
            Err(_) => {}
        }
    }
    assert!(open(&mut ben, 0, sealed).is_ok());
}

#[test]
fn ses_13_what_waits_for_its_epoch_is_verified_with_its_own_service() {
    let mut anna = session(0, 2, 2, None);
    let mut ben = session(1, 1, 1, None);
    let sealed = sign(&mut anna, 0, b"early");
    assert_eq!(ben.open(id(0), Service::Safe, sealed, &verify), Ok(Opened::Held));
    ben.open_epoch(view(2), &list(), &key(2), AES).unwrap();
    let ((sender, service), opened) = ben.poll_received(&verify).unwrap();
    assert_eq!((sender, service, &opened.unwrap().payload[..]), (id(0), Service::Safe, &b"early"[..]));
}

#[test]
fn ses_14_a_signature_fits_one_message_only() {
    let mut anna = session(0, 1, 1, None);
    let first = open(&mut session(1, 1, 1, None), 0, sign(&mut anna, 0, b"yes")).unwrap();
    let old = first.origin.signature.unwrap();
    // The same text again: as a later message, under a later key of the same view, in a later view,
    // by another sender.
    for (who, order, epoch) in [(0, 1, 1), (0, 1, 2), (0, 2, 1), (1, 1, 1)] {
        let (mut from, mut to) = (session(who, order, epoch, None), session(2, order, epoch, None));
        if (who, order, epoch) == (0, 1, 1) {
            from.text(b"").unwrap();
        }
        let sealed =
            from.seal_signed(&[], Service::Safe, Bytes::from_static(b"yes"), |_, _| old.clone()).unwrap();
        assert_eq!(open(&mut to, who, sealed), Err(OpenError::PeerSignature(id(who))));
    }
    let sealed = session(0, 1, 1, None)
        .seal_signed(&[], Service::Safe, Bytes::from_static(b"yes"), |_, _| old.clone())
        .unwrap();
    assert!(open(&mut session(2, 1, 1, None), 0, sealed).is_ok(), "the very same message");
}

/// The first byte is sealed like the rest: nobody outside can turn one kind into the other, and a
/// member needs a signature for it.
#[test]
fn ses_14_what_is_not_signed_does_not_become_signed() {
    let danger = Some(Danger::SessionPlain);
    let (mut anna, mut ben) = (session(0, 1, 1, danger), session(1, 1, 1, danger));
    // Read as a signed message, the text begins with a signature of P-256.
    let text = [&[1, 0, 64][..], &[7; 80]].concat();
    let mut sealed = anna.text(&text).unwrap().to_vec();
    sealed[HEADER_BYTES] = 1;
    assert_eq!(open(&mut ben, 0, sealed.into()), Err(OpenError::PeerSignature(id(0))));
    let (mut anna, mut ben) = (session(0, 1, 1, None), session(1, 1, 1, None));
    for sealed in [anna.text(&[7; 80]).unwrap(), sign(&mut anna, 0, &[7; 80])] {
        for mask in 1..=255 {
            let mut altered = sealed.to_vec();
            altered[HEADER_BYTES] ^= mask;
            assert_eq!(open(&mut ben, 0, altered.into()), Err(OpenError::WireForged));
        }
    }
}

/// All members of a view hold the key from which every sender's key follows: Cleo makes Anna's
/// message, byte for byte. With a signature she cannot.
#[test]
fn ses_15_what_is_not_signed_any_member_could_have_made() {
    let mut anna = session(0, 1, 1, None);
    // Cleo knows the group key, as member 2 of the view; she only claims to be Anna.
    let mut cleo_as_anna = session(0, 1, 1, None);
    let true_one = anna.text(b"I owe Ben ten crowns").unwrap();
    let made_up = cleo_as_anna.text(b"I owe Ben ten crowns").unwrap();
    assert_eq!(true_one, made_up, "nobody can tell which of them made it");
    let heard = |sealed| open(&mut session(1, 1, 1, None), 0, sealed);
    let message = heard(made_up).unwrap();
    let stamp = message.origin.stamp(view(1), id(0), Service::Safe);
    let genuine = heard(true_one).unwrap();
    let record = genuine.origin.stamp(view(1), id(0), Service::Safe).record(&genuine.payload);
    assert_eq!(stamp.record(&message.payload), record, "nor from what a receiver could show");
    let mut cleo_as_anna = session(0, 1, 1, None);
    let forged = sign(&mut cleo_as_anna, 2, b"I owe Ben ten crowns");
    let mut ben = session(1, 1, 1, None);
    assert_eq!(open(&mut ben, 0, forged), Err(OpenError::PeerSignature(id(0))));
}

/// SES-16: the seal tells a message of the letters layer from one of the application. The key for
/// letters belongs to the epoch, is the same for all members in it, and is no longer available once
/// a member is to be removed.
#[test]
fn ses_16_words_of_the_letters_layer_are_told_apart_and_their_key_is_the_epochs() {
    let (mut anna, mut ben) = (session(0, 1, 1, None), session(1, 1, 1, None));
    let sealed = anna.seal(&[], Body::letters(Bytes::from_static(b"word"))).unwrap();
    let Message { payload, origin, content } = open(&mut ben, 0, sealed).unwrap();
    assert_eq!((&payload[..], content, origin.is_signed()), (&b"word"[..], Content::Letters, false));
    let sealed = anna.text(b"text").unwrap();
    assert_eq!(open(&mut ben, 0, sealed).unwrap().content, Content::Text);
    let seed = |session: &Session| session.letters().map(|it| (it.view, it.epoch, it.seed.clone()));
    let first = seed(&anna).unwrap();
    assert_eq!(seed(&ben), Some(first.clone()));
    let (other_view, other_key) = (session(0, 2, 1, None), session(0, 1, 2, None));
    for other in [&other_view, &other_key] {
        assert_ne!(seed(other).unwrap().2, first.2);
    }
    anna.stop();
    assert_eq!(seed(&anna), None);
}
