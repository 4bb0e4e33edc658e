//! The rules of docs/protocol/letters.md, by number.

use crate::common::{Moot, epoch, person};
use bytes::Bytes;
use folkmoot_base::{Blob, NodeId, codec};
use folkmoot_letters::{
    ContactKey, DeskInput, GuestMessage, LettersError, MemberMessage, Sealed, Standing, WriterEvent,
};

/// Runs until a message of this kind is on the wire; returns its sender, its receiver and its
/// bytes.
fn until(moot: &mut Moot, kind: u8) -> (NodeId, NodeId, Bytes) {
    loop {
        let (_, _, next) = moot.wire.front().expect("such a message comes");
        if next[1] == kind {
            return moot.wire.pop_front().unwrap();
        }
        moot.step();
    }
}

fn bring(moot: &mut Moot, (from, to, _): (NodeId, NodeId, Bytes), message: &GuestMessage) {
    moot.bring(from, to, codec::encode(message).into());
}

fn decoded(message: &(NodeId, NodeId, Bytes)) -> GuestMessage {
    codec::decode(&message.2).unwrap()
}

fn member_error(moot: &mut Moot) -> Option<LettersError> {
    moot.members[0].errors.pop()
}

#[test]
fn let_01_malformed_messages_are_refused() {
    let mut moot = Moot::new(true);
    let (guest, desk) = (NodeId([9; 32]), moot.members[0].identity.node());
    for bytes in [&b""[..], b"\x01", b"\x01\x41", b"\x02\x41", b"\x01\x63aaaa"] {
        moot.bring(guest, desk, Bytes::copy_from_slice(bytes));
        assert!(matches!(member_error(&mut moot), Some(LettersError::Wire(_))), "{bytes:?}");
    }
    let long = moot.desk(0, DeskInput::Guest { from: guest, payload: vec![1; 16 * 1024 + 1].into() });
    assert!(matches!(long, Err(LettersError::Wire(_))));
    let (group, sender) = (moot.group, moot.members[1].party());
    let bad = moot.desk(0, DeskInput::Member { group, sender, payload: Bytes::from_static(b"\x01\x03") });
    assert!(matches!(bad, Err(LettersError::Wire(_))));
}

#[test]
fn let_02_texts_and_lists_keep_their_bounds() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    moot.write(dora, b"hello");
    until(&mut moot, 67);
    let (from, to) = (moot.strangers[dora].identity.node(), moot.members[0].identity.node());
    let have = vec![[0; 32]; 9];
    let poll = GuestMessage::Poll { group: moot.group, letter: [0; 32], have };
    moot.bring(from, to, codec::encode(&poll).into());
    assert_eq!(member_error(&mut moot), Some(LettersError::PeerText(9)));
    let letter = forged(&moot, &person("dora", 9), |body| body.text = Blob::default());
    let payload = codec::encode(&MemberMessage::Letter { letter }).into();
    let (group, sender) = (moot.group, moot.members[1].party());
    assert_eq!(moot.desk(0, DeskInput::Member { group, sender, payload }), Err(LettersError::PeerText(0)));
}

#[test]
fn let_03_each_side_sends_its_own_messages() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    let (guest, desk) = (moot.strangers[dora].identity.node(), moot.members[0].identity.node());
    let standing = GuestMessage::Standing { letter: [0; 32], standing: Standing::Full };
    moot.bring(guest, desk, codec::encode(&standing).into());
    assert_eq!(member_error(&mut moot), Some(LettersError::PeerOutOfTurn(guest)));
    let ask = GuestMessage::Ask { group: moot.group, nonce: [0; 16] };
    let one = &mut moot.strangers[dora];
    let roster = moot.transcript.roster();
    let message = codec::encode(&ask);
    let done = one.writer.hear(moot.now, (desk, &message), roster, &one.identity, &mut moot.dice);
    assert_eq!(done, Err(LettersError::PeerOutOfTurn(desk)));
}

#[test]
fn let_04_guests_speak_seldom_and_letters_come_slowly() {
    let mut moot = Moot::new(true);
    let (guest, desk) = (NodeId([9; 32]), moot.members[0].identity.node());
    let ask = codec::encode(&GuestMessage::Ask { group: moot.group, nonce: [0; 16] });
    for _ in 0..100 {
        moot.bring(guest, desk, ask.clone().into());
    }
    assert_eq!(moot.wire.len(), 8, "eight answers");
    assert_eq!(member_error(&mut moot), Some(LettersError::PeerTooOften(guest)));
    // Several strangers in a row: each new letter goes to the group, until all together have
    // brought eight.
    moot.wire.clear();
    for seed in 0..12 {
        let who = moot.stranger("one of many", 100 + seed, &[0]);
        moot.write(who, b"hello");
    }
    while moot.step() {}
    assert_eq!(moot.letters(1).len(), 8);
    moot.run(60_000);
    assert_eq!(moot.letters(1).len(), 12, "the others come later");
}

#[test]
fn let_06_a_door_is_a_members() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    moot.write(dora, b"hello");
    let came = until(&mut moot, 66);
    let mallory = person("mallory", 66);
    let GuestMessage::Key { view, epoch, key, by, nonce, signature } = decoded(&came) else { panic!() };
    let from = moot.strangers[dora].identity.node();
    let stray = ContactKey::draw(&mut moot.dice).public().to_vec();
    let other_view = folkmoot_base::ViewId { order: 2, ..view };
    let keys = [
        (
            GuestMessage::Key {
                view: other_view,
                epoch,
                key: key.clone(),
                by,
                nonce,
                signature: signature.clone(),
            },
            by,
        ),
        (
            GuestMessage::Key {
                view,
                epoch: [0; 8],
                key: key.clone(),
                by,
                nonce,
                signature: signature.clone(),
            },
            by,
        ),
        (GuestMessage::Key { view, epoch, key: stray.into(), by, nonce, signature: signature.clone() }, by),
        (
            GuestMessage::Key {
                view,
                epoch,
                key: key.clone(),
                by: mallory.member(),
                nonce,
                signature: signature.clone(),
            },
            mallory.member(),
        ),
    ];
    for (answer, named) in keys {
        bring(&mut moot, came.clone(), &answer);
        assert_eq!(moot.strangers[dora].errors.pop(), Some(LettersError::PeerNotMember(named)));
    }
    // A key that mallory, who is not a member, signed in a founder's name.
    let content = [&view.group.0[..], &codec::encode(&view), &epoch, &from.0, &nonce, &key.0].concat();
    let forged = mallory.key().sign_wire(b"folkmoot door v1", &content);
    bring(&mut moot, came.clone(), &GuestMessage::Key { view, epoch, key, by, nonce, signature: forged });
    assert_eq!(moot.strangers[dora].errors.pop(), Some(LettersError::PeerNotMember(by)));
    assert!(moot.wire.is_empty(), "nothing was written to any of these");
    let (from, to, message) = came;
    moot.bring(from, to, message);
    moot.run(1_000);
    assert_eq!(moot.letters(0).len(), 1);
}

#[test]
fn let_05_a_key_answers_our_question() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    moot.write(dora, b"hello");
    let came = until(&mut moot, 66);
    let GuestMessage::Key { view, epoch, key, by, signature, .. } = decoded(&came) else { panic!() };
    let contact = came.0;
    bring(&mut moot, came.clone(), &GuestMessage::Key { view, epoch, key, by, nonce: [0; 16], signature });
    assert_eq!(moot.strangers[dora].errors.pop(), Some(LettersError::PeerOtherKey(contact)));
    // Another writer's Key, unchanged.
    let eve = moot.stranger("eve", 10, &[0]);
    let one = &mut moot.strangers[eve];
    let roster = moot.transcript.roster();
    let done = one.writer.hear(moot.now, (contact, &came.2), roster, &one.identity, &mut moot.dice);
    assert_eq!(done, Err(LettersError::PeerOtherKey(contact)));
    assert!(moot.wire.is_empty(), "nothing was written to any of these");
    let (from, to, message) = came;
    moot.bring(from, to, message);
    moot.run(1_000);
    assert_eq!(moot.letters(0).len(), 1);
}

#[test]
fn let_07_every_altered_bit_of_a_letter_is_refused() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    moot.write(dora, b"hello");
    let came = until(&mut moot, 67);
    let GuestMessage::Letter { group, epoch, sealed } = decoded(&came) else { panic!() };
    let altered = |part: &Blob, bit: usize| {
        let mut bytes = part.0.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        Blob::from(bytes)
    };
    let mut tries = Vec::new();
    tries.extend(
        (0..sealed.body.0.len() * 8)
            .step_by(61)
            .map(|bit| Sealed { body: altered(&sealed.body, bit), ..sealed.clone() }),
    );
    tries.extend(
        (0..sealed.encapsulated.0.len() * 8)
            .step_by(97)
            .map(|bit| Sealed { encapsulated: altered(&sealed.encapsulated, bit), ..sealed.clone() }),
    );
    tries.push(Sealed { encapsulated: Blob::default(), body: Blob::default() });
    for sealed in tries {
        moot.now = moot.now + core::time::Duration::from_millis(250);
        bring(&mut moot, came.clone(), &GuestMessage::Letter { group, epoch, sealed });
        assert_eq!(member_error(&mut moot), Some(LettersError::PeerSealed(came.0)));
    }
    assert_eq!(moot.letters(0), []);
    let (from, to, message) = came;
    moot.bring(from, to, message);
    assert_eq!(moot.letters(0).len(), 1, "the refusals cost the true one nothing");
}

/// A letter by `by` for the present epoch; its body is changed before it is signed.
fn forged(
    moot: &Moot,
    by: &folkmoot_identity::Identity,
    change: impl Fn(&mut folkmoot_letters::LetterBody),
) -> folkmoot_letters::Letter {
    let mut body = folkmoot_letters::LetterBody {
        view: moot.epoch.view,
        epoch: moot.epoch.tag,
        certificate: Blob(by.certificate().der().clone()),
        nonce: [3; 16],
        reply: vec![4; 1_216].into(),
        text: b"hello".to_vec().into(),
    };
    change(&mut body);
    let signature = by.key().sign_wire(b"folkmoot letter v1", &codec::encode(&body));
    folkmoot_letters::Letter { body, signature }
}

#[test]
fn let_08_a_letter_is_its_bringers_and_for_this_group_and_epoch() {
    let mut moot = Moot::new(true);
    let (dora, eve) = (person("dora", 9), person("eve", 10));
    let from = dora.node();
    let other = epoch(moot.group, 7);
    let stray = epoch(folkmoot_base::GroupId([7; 32]), 1);
    let unsigned = |mut letter: folkmoot_letters::Letter| {
        letter.body.text = b"other words".to_vec().into();
        letter
    };
    let refused = [
        (forged(&moot, &eve, |_| {}), LettersError::PeerLetter(from)),
        (
            forged(&moot, &dora, |body| body.certificate = Blob(eve.certificate().der().clone())),
            LettersError::PeerLetter(from),
        ),
        (forged(&moot, &dora, |body| body.certificate = Blob::default()), LettersError::PeerLetter(from)),
        (unsigned(forged(&moot, &dora, |_| {})), LettersError::PeerLetter(from)),
        (forged(&moot, &dora, |body| body.view = stray.view), LettersError::PeerOtherEpoch),
        (forged(&moot, &dora, |body| body.view = other.view), LettersError::PeerOtherEpoch),
        (forged(&moot, &dora, |body| body.epoch = other.tag), LettersError::PeerOtherEpoch),
    ];
    for (letter, error) in refused {
        moot.now = moot.now + core::time::Duration::from_secs(1);
        let message = sealed_letter(&mut moot, &letter);
        moot.bring(from, moot.members[0].identity.node(), message);
        assert_eq!(member_error(&mut moot), Some(error));
        let told = moot.wire.pop_front().map(|message| decoded(&message));
        assert!(matches!(told, Some(GuestMessage::Standing { standing: Standing::Refused, .. })), "{told:?}");
    }
    assert_eq!(moot.ordered, Vec::<Bytes>::new());
    // A member that claims that a stranger wrote something else is not believed either.
    let letter = unsigned(forged(&moot, &dora, |_| {}));
    let (group, sender) = (moot.group, moot.members[1].party());
    let payload: Bytes = codec::encode(&MemberMessage::Letter { letter }).into();
    assert!(matches!(
        moot.desk(0, DeskInput::Member { group, sender, payload }),
        Err(LettersError::PeerLetter(_))
    ));
    let true_one = forged(&moot, &dora, |_| {});
    let message = sealed_letter(&mut moot, &true_one);
    moot.bring(from, moot.members[0].identity.node(), message);
    assert_eq!(moot.letters(2).len(), 1, "as it is, it is taken");
}

/// Sealed to the present epoch by somebody who knows the epoch's key.
fn sealed_letter(moot: &mut Moot, letter: &folkmoot_letters::Letter) -> Bytes {
    let key = ContactKey::derive(&moot.epoch.seed);
    let sealed = folkmoot_letters::danger_seal_letter(
        key.public(),
        (&moot.epoch.view, &moot.epoch.tag),
        letter,
        &mut moot.dice,
    );
    let message = GuestMessage::Letter { group: moot.group, epoch: moot.epoch.tag, sealed: sealed.unwrap() };
    codec::encode(&message).into()
}

#[test]
fn let_09_members_and_groups_without_letters_are_not_written_to() {
    for letters in [true, false] {
        let mut moot = Moot::new(letters);
        let who = if letters { 2 } else { 99 };
        let one = moot.stranger("the third founder, or a stranger", if letters { 3 } else { who }, &[0]);
        moot.write(one, b"hello");
        moot.run(1_000);
        let expected = if letters {
            (LettersError::PeerMember(moot.strangers[one].identity.member()), Standing::Refused)
        } else {
            (LettersError::LocalClosed, Standing::Closed)
        };
        assert_eq!(member_error(&mut moot), Some(expected.0));
        let told: Vec<_> = moot.strangers[one].events.iter().collect();
        assert!(
            matches!(told[..], [WriterEvent::Standing { standing, .. }] if *standing == expected.1),
            "{told:?}"
        );
        assert_eq!(moot.strangers[one].writer.poll_timeout(), None, "it is given up");
    }
}

#[test]
fn let_10_an_answer_is_a_members_for_this_letter_and_opens_for_its_writer_alone() {
    let mut moot = Moot::new(true);
    let (dora, eve) = (moot.stranger("dora", 9, &[0]), moot.stranger("eve", 10, &[0]));
    let (letter, other) = (moot.write(dora, b"hello"), moot.write(eve, b"hello too"));
    moot.run(3_000);
    moot.answer(1, letter, b"yes").unwrap();
    let came = until(&mut moot, 70);
    let GuestMessage::Answer { sealed, .. } = decoded(&came) else { panic!() };
    let contact = came.0;
    for (who, named) in [(eve, other), (dora, other)] {
        let one = &mut moot.strangers[who];
        let message = codec::encode(&GuestMessage::Answer { letter: named, sealed: sealed.clone() });
        let roster = moot.transcript.roster();
        let done = one.writer.hear(moot.now, (contact, &message), roster, &one.identity, &mut moot.dice);
        let error = if who == eve { LettersError::PeerSealed(contact) } else { LettersError::UnknownLetter };
        assert_eq!(done, Err(error));
    }
    // In the group: sent by another member than the one that signed, or altered.
    let ordered = moot.ordered.last().unwrap().clone();
    let MemberMessage::Answer { answer } = codec::decode(&ordered).unwrap() else { panic!() };
    let (group, sender, by) = (moot.group, moot.members[2].party(), moot.members[1].party());
    let mut altered = answer.clone();
    altered.body.text = b"no".to_vec().into();
    let mut elsewhere = answer.clone();
    elsewhere.body.group = folkmoot_base::GroupId([7; 32]);
    for (answer, sender) in [(answer, sender), (altered, by), (elsewhere, by)] {
        let payload = codec::encode(&MemberMessage::Answer { answer }).into();
        let done = moot.desk(0, DeskInput::Member { group, sender, payload });
        assert_eq!(done, Err(LettersError::PeerNotMember(sender.member)));
    }
    let (from, to, message) = came;
    moot.bring(from, to, message);
    assert_eq!(moot.answers(dora).len(), 1);
    assert_eq!(moot.answers(eve).len(), 0);
}

/// Without the protection of the seal: anyone who has the reply key, as the members do, still
/// cannot answer in a member's name.
#[test]
fn let_10_an_answer_that_no_member_signed_is_refused() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    let letter = moot.write(dora, b"hello");
    moot.run(3_000);
    let MemberMessage::Letter { letter: written } = codec::decode(&moot.ordered[0].clone()).unwrap() else {
        panic!()
    };
    let (mallory, founder) = (person("mallory", 66), moot.members[1].identity.member());
    for by in [mallory.member(), founder] {
        let body = folkmoot_letters::AnswerBody {
            group: moot.group,
            letter,
            by: by.into(),
            nonce: [1; 16],
            text: b"forged".to_vec().into(),
        };
        let signature = mallory.key().sign_wire(b"folkmoot answer v1", &codec::encode(&body));
        let answer = folkmoot_letters::Answer { body, signature };
        let sealed =
            folkmoot_letters::danger_seal_answer(&written.body.reply.0, &answer, &mut moot.dice).unwrap();
        let message = codec::encode(&GuestMessage::Answer { letter, sealed });
        let (one, roster) = (&mut moot.strangers[dora], moot.transcript.roster());
        let contact = moot.members[0].identity.node();
        let done = one.writer.hear(moot.now, (contact, &message), roster, &one.identity, &mut moot.dice);
        assert_eq!(done, Err(LettersError::PeerNotMember(by)));
    }
    assert_eq!(moot.answers(dora), []);
}

/// Two programs of one member answer with one key. What the one said is not shown as the other's,
/// in the group or to the writer, and each repeats only its own.
#[test]
fn let_10_an_answer_of_one_party_is_not_its_members_others() {
    let mut moot = Moot::new(true);
    let two = moot.program(1, 2);
    let dora = moot.stranger("dora", 9, &[0]);
    let letter = moot.write(dora, b"hello");
    moot.run(3_000);
    moot.answer(two, letter, b"of two").unwrap();
    let MemberMessage::Answer { answer } = codec::decode(moot.ordered.last().unwrap()).unwrap() else {
        panic!()
    };
    moot.answer(1, letter, b"of zero").unwrap();
    moot.run(3_000);
    let said = |name: &str, text: &[u8]| (name.to_owned(), text.to_vec());
    assert_eq!(moot.answers(dora), [said("founder2:2", b"of two"), said("founder2", b"of zero")]);
    let (group, zero) = (moot.group, moot.members[1].party());
    let refused = Err(LettersError::PeerNotMember(zero.member));
    let mut renamed = answer.clone();
    renamed.body.by = zero;
    for answer in [&answer, &renamed] {
        let payload = codec::encode(&MemberMessage::Answer { answer: answer.clone() }).into();
        assert_eq!(moot.desk(0, DeskInput::Member { group, sender: zero, payload }), refused);
    }
    let MemberMessage::Letter { letter: written } = codec::decode(&moot.ordered[0]).unwrap() else {
        panic!()
    };
    let sealed = folkmoot_letters::danger_seal_answer(&written.body.reply.0, &renamed, &mut moot.dice);
    let message = codec::encode(&GuestMessage::Answer { letter, sealed: sealed.unwrap() });
    let (one, contact) = (&mut moot.strangers[dora], moot.members[0].identity.node());
    let roster = moot.transcript.roster();
    let done = one.writer.hear(moot.now, (contact, &message), roster, &one.identity, &mut moot.dice);
    assert_eq!(done, refused);
    // A contact that was started again asks for the letter, and each party repeats its answer.
    moot.members[0].desk = folkmoot_letters::Desk::default();
    let before = moot.ordered.len();
    moot.run(30_000);
    assert_eq!(moot.ordered.len() - before, 3, "the letter and two answers");
}

#[test]
fn let_11_what_is_not_known_is_asked_for_and_not_answered() {
    let mut moot = Moot::new(true);
    let dora = moot.stranger("dora", 9, &[0]);
    let letter = moot.write(dora, b"hello");
    moot.run(3_000);
    // Somebody else asks about dora's letter.
    let (eve, desk) = (NodeId([8; 32]), moot.members[0].identity.node());
    let poll = GuestMessage::Poll { group: moot.group, letter, have: Vec::new() };
    moot.answer(1, letter, b"for dora alone").unwrap();
    moot.wire.clear();
    moot.bring(eve, desk, codec::encode(&poll).into());
    let told = moot.wire.pop_front().map(|message| decoded(&message));
    assert!(matches!(told, Some(GuestMessage::Standing { standing: Standing::Unknown, .. })), "{told:?}");
    assert!(moot.wire.is_empty());
    // A contact that was started again does not know it: it is sent again, and members that know it
    // are not told twice.
    moot.members[0].desk = folkmoot_letters::Desk::default();
    moot.run(30_000);
    assert_eq!((moot.letters(0).len(), moot.letters(1).len()), (2, 1));
}
