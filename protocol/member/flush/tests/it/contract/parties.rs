//! Two parties of one member in a view: what one says, sends or suffers is not the other's. One
//! flush layer; the test plays the rest.

use super::*;
use folkmoot_base::MemberId;

fn party(number: u8, port: u16) -> Party {
    Party::new(MemberId([number; 32]), port)
}

/// Members 1 and 2, with programs 0 and 2 of member 2.
fn three() -> Vec<Party> {
    vec![party(1, 0), party(2, 0), party(2, 2)]
}

fn flush_of(me: Party) -> Flush {
    Flush::new(config(me, None), [0; 32])
}

fn says(flush: &mut Flush, from: Party, bytes: &Bytes) -> Result<(), FlushError> {
    flush.frame(T0, from, Service::Agreed, said_by(from, bytes))
}

/// The three in view 1.
fn installed() -> Flush {
    let mut flush = flush_of(party(1, 0));
    flush.notice(T0, id(1), three(), &[], Cause::Join).unwrap();
    three().into_iter().for_each(|from| says(&mut flush, from, &word(id(1), 0)).unwrap());
    assert_eq!(flush.view(), Some(id(1)));
    outputs(&mut flush);
    flush
}

fn view_in(outputs: Vec<Output>) -> View {
    let view = |output| match output {
        Output::View(view) => Some(*view),
        _ => None,
    };
    outputs.into_iter().find_map(view).unwrap()
}

#[test]
fn the_flush_ok_of_one_party_does_not_count_for_its_members_other() {
    let mut flush = flush_of(party(1, 0));
    // One comes before the notice does, and one after it.
    says(&mut flush, party(2, 0), &bringing(id(1), b"early")).unwrap();
    flush.notice(T0, id(1), three(), &[], Cause::Join).unwrap();
    assert_eq!(flush.awaited(), [party(1, 0), party(2, 2)]);
    says(&mut flush, party(1, 0), &bringing(id(1), b"mine")).unwrap();
    says(&mut flush, party(2, 0), &bringing(id(1), b"zero")).unwrap();
    let absent = party(2, 1);
    let refused = Err(FlushError::PeerNotPresent(absent));
    assert_eq!(says(&mut flush, absent, &bringing(id(1), b"one")), refused);
    assert_eq!((flush.view(), flush.awaited()), (None, vec![party(2, 2)]));
    outputs(&mut flush);
    let due = flush.poll_timeout().unwrap();
    flush.timeout(due);
    assert_eq!(outputs(&mut flush), [Output::Complain { view: id(1), suspects: vec![party(2, 2)] }]);
    says(&mut flush, party(2, 2), &bringing(id(1), b"two")).unwrap();
    let view = view_in(outputs(&mut flush));
    assert_eq!((view.members, view.transitional_set), (three(), vec![party(1, 0)]));
    assert_eq!(view.brought, [&b"mine"[..], b"zero", b"two"]);
    // Neither does its FLUSH_RECV.
    let received = shown(id(1));
    for (from, phase) in [(1, Phase::Verify), (0, Phase::Verify), (2, Phase::Steady)] {
        says(&mut flush, three()[from], &received).unwrap();
        assert_eq!(flush.phase(), phase);
    }
}

#[test]
fn the_removal_of_one_party_leaves_its_members_other_in() {
    for stays in [0, 2] {
        let (gone, stays) = (party(2, 2 - stays), party(2, stays));
        let mut flush = installed();
        flush.notice(T0, id(2), vec![party(1, 0), stays], &[gone], Cause::Leave).unwrap();
        assert_eq!(outputs(&mut flush), [Output::TransitionalSignal, Output::FlushRequest]);
        let ours = data(1, Service::Agreed);
        assert_eq!(says(&mut flush, gone, &ours), Err(FlushError::PeerNotPresent(gone)));
        assert_eq!(says(&mut flush, stays, &ours), Ok(()));
        let [Output::Deliver { sender, .. }] = outputs(&mut flush)[..] else { panic!("one message") };
        assert_eq!(sender, stays);
        flush.flush_ok(T0, Bytes::new()).unwrap();
        assert_eq!(says(&mut flush, gone, &word(id(2), 0)), Err(FlushError::PeerNotPresent(gone)));
        for from in [party(1, 0), stays] {
            says(&mut flush, from, &leaving(id(1), id(2))).unwrap();
        }
        let view = view_in(outputs(&mut flush));
        assert_eq!((view.transitional_set, view.departed), (vec![party(1, 0), stays], vec![gone]));
    }
}

#[test]
fn the_loss_of_one_party_does_not_lose_its_members_other() {
    let mut flush = installed();
    flush.transitional(&[party(2, 0)]);
    assert_eq!(outputs(&mut flush), [Output::TransitionalSignal]);
    // It came back at once: it is in the next view too, but it did not come along.
    flush.notice(T0, id(2), three(), &[party(2, 0)], Cause::Network).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    three().into_iter().for_each(|from| says(&mut flush, from, &leaving(id(1), id(2))).unwrap());
    let view = view_in(outputs(&mut flush));
    assert_eq!(view.members, three());
    assert_eq!((view.transitional_set, view.arrived), (vec![party(1, 0), party(2, 2)], vec![party(2, 0)]));
}

#[test]
fn the_words_of_our_members_other_party_are_not_ours() {
    let mut flush = flush_of(party(2, 0));
    let refused = Err(FlushError::LocalNotice(id(1)));
    let without_us = vec![party(1, 0), party(2, 2)];
    assert_eq!(flush.notice(T0, id(1), without_us, &[], Cause::Join), refused);
    flush.notice(T0, id(1), three(), &[], Cause::Join).unwrap();
    let [Output::Multicast { ref bytes, .. }] = outputs(&mut flush)[..] else { panic!("one word") };
    // Ours is still on its way, whatever comes of the other one: new heads have to wait.
    let forged = says(&mut flush, party(2, 2), bytes);
    assert_eq!(forged, Err(FlushError::PeerForged(party(2, 2))), "one key, and another port");
    says(&mut flush, party(2, 2), &word(id(1), 0)).unwrap();
    flush.heads(T0, [9; 32]);
    assert_eq!(outputs(&mut flush), []);
    says(&mut flush, party(2, 0), bytes).unwrap();
    let [Output::Multicast { ref bytes, .. }] = outputs(&mut flush)[..] else { panic!("one word") };
    let Ok(Frame::Control(Control::FlushOk(signed))) = message::decode(bytes) else { panic!("no FLUSH_OK") };
    assert_eq!(signed.ok.heads, [9; 32]);
}

/// One member cannot outvote the others through many ports.
#[test]
fn flu_06_members_are_counted_and_not_their_parties() {
    let liars: Vec<Party> = (0..5).map(|port| party(1, port)).collect();
    let me = party(2, 0);
    let list = [&liars[..], &[me, party(3, 0)]].concat();
    let mut flush = flush_of(me);
    flush.notice(T0, id(1), list.clone(), &[], Cause::Join).unwrap();
    for from in &list {
        says(&mut flush, *from, &word(id(1), if liars.contains(from) { 5 } else { 0 })).unwrap();
    }
    assert_eq!((flush.view(), flush.awaited()), (None, vec![]));
    outputs(&mut flush);
    let due = flush.poll_timeout().unwrap();
    flush.timeout(due);
    assert_eq!(outputs(&mut flush), [Output::Complain { view: id(1), suspects: liars }]);
}
