//! A carrier that forges packets: FLUSH_OK and FLUSH_RECV in the name of others, and FLUSH_OKs that
//! come again. Each test plays the liar with the rule on, and with the rule off.

use super::*;
use folkmoot_flush::message::{Reach, Reached};
use std::sync::atomic::{AtomicU32, Ordering};

/// A word that [`said_by`] signs.
pub(super) fn unsigned(control: Control) -> Bytes {
    let proof = Proof { key: Blob::default(), signature: SignatureBytes::NONE };
    message::encode(&Signed { control, proof })
}

/// Numbers of FLUSH_OKs, each higher than all before it.
pub(super) fn next() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The same frame; if it is an unsigned word, `sender` signs it.
pub(super) fn said_by(sender: Party, bytes: &Bytes) -> Bytes {
    match message::decode(bytes) {
        Ok(Frame::Control(signed)) if signed.proof.key.0.is_empty() => {
            message::encode(&Signed::sign(signed.control, &sender, &ToySignatures(sender.member.0)))
        }
        _ => bytes.clone(),
    }
}

/// What a FLUSH_OK brings, and for which view.
pub(super) fn brought(bytes: &Bytes) -> Option<(ViewId, Bytes)> {
    match control(bytes)? {
        Control::FlushOk { view, brings, .. } => Some((view, brings.0)),
        Control::FlushReceived { .. } => None,
    }
}

/// The word in a frame, if it is one.
pub(super) fn control(bytes: &Bytes) -> Option<Control> {
    match message::decode(bytes) {
        Ok(Frame::Control(signed)) => Some(signed.control),
        _ => None,
    }
}

const ANYONE: Option<Danger> = Some(Danger::FlushBelievesAnyone);
const AGAIN: Option<Danger> = Some(Danger::FlushHearsAgain);

fn flush_ok(view: ViewId, number: u32, heads: u8) -> Control {
    let (heads, brings) = ([heads; 32], Bytes::new().into());
    Control::FlushOk { view, number, heads, brings, reached: None }
}

/// What `signer` signs as the word of `sender`.
fn signed(signer: usize, sender: usize, control: Control) -> Bytes {
    let toy = ToySignatures(bus::member(signer).member.0);
    message::encode(&Signed::sign(control, &bus::member(sender), &toy))
}

/// Party 0, told of a view with parties 1 and 2; all but party 1 have said that they are ready.
fn waiting(danger: Option<Danger>) -> Flush {
    let mut flush = Flush::new(config(bus::member(0), danger), [0; 32]);
    flush.notice(T0, id(1), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    for from in [0, 2] {
        hear(&mut flush, from, &signed(from, from, flush_ok(id(1), 1, 0))).unwrap();
    }
    outputs(&mut flush);
    flush
}

/// Party 2 signs what its node shows in the name of party 1: the view would be installed although
/// party 1 may still send in the one before.
#[test]
fn flu_20_a_flush_ok_that_its_party_did_not_sign_is_refused() {
    for (danger, installs) in [(None, false), (ANYONE, true)] {
        let mut flush = waiting(danger);
        let forged = hear(&mut flush, 1, &signed(2, 1, flush_ok(id(1), 1, 0)));
        assert_eq!(forged.is_ok(), installs);
        assert_eq!(flush.view().is_some(), installs);
        if !installs {
            assert_eq!(forged, Err(FlushError::PeerForged(bus::member(1))));
            hear(&mut flush, 1, &signed(1, 1, flush_ok(id(1), 1, 0))).unwrap();
            assert_eq!(flush.view(), Some(id(1)), "the real one counts all the same");
        }
    }
}

/// Nothing in it can be changed: not the view, the heads, what it brings, or how far its sender
/// delivered. Nor is the word of one port that of another.
#[test]
fn flu_20_a_flush_ok_is_of_one_party_and_view_and_covers_all_that_it_says() {
    let reached = |fifo| {
        let parties = vec![Reach { place: 2, reliable: 0, fifo }];
        Some(Reached { tag: ViewTag::of(&id(0)), parties })
    };
    let (heads, brings) = ([0; 32], Blob::default());
    let shown =
        Control::FlushOk { view: id(1), number: 1, heads, brings: brings.clone(), reached: reached(1) };
    let others = [
        Control::FlushOk { view: id(2), number: 1, heads, brings: brings.clone(), reached: reached(1) },
        Control::FlushOk { view: id(1), number: 2, heads, brings: brings.clone(), reached: reached(1) },
        Control::FlushOk { view: id(1), number: 1, heads: [1; 32], brings, reached: reached(1) },
        Control::FlushOk { view: id(1), number: 1, heads, brings: vec![1].into(), reached: reached(1) },
        Control::FlushOk { view: id(1), number: 1, heads, brings: Blob::default(), reached: reached(2) },
        Control::FlushReceived { view: id(1) },
    ];
    let sender = bus::member(1);
    let toy = ToySignatures(sender.member.0);
    let proofs = others.into_iter().map(|other| Signed::sign(other, &sender, &toy).proof);
    let port = Signed::sign(shown.clone(), &Party::new(sender.member, 1), &toy).proof;
    for proof in proofs.chain([port]) {
        let mut flush = waiting(None);
        let moved = message::encode(&Signed { control: shown.clone(), proof });
        assert_eq!(hear(&mut flush, 1, &moved), Err(FlushError::PeerForged(sender)));
        assert_eq!(flush.view(), None);
    }
}

/// Party 1 has not installed the view. If we took it that it has, our early messages would come to
/// it before its view.
#[test]
fn flu_20_a_flush_recv_that_its_party_did_not_sign_is_refused() {
    for (danger, phase) in [(None, Phase::Verify), (ANYONE, Phase::Steady)] {
        let mut flush = waiting(danger);
        hear(&mut flush, 1, &signed(1, 1, flush_ok(id(1), 1, 0))).unwrap();
        let received = || Control::FlushReceived { view: id(1) };
        for from in [0, 2] {
            hear(&mut flush, from, &signed(from, from, received())).unwrap();
        }
        let forged = hear(&mut flush, 1, &signed(2, 1, received()));
        assert_eq!((forged.is_err(), flush.phase()), (danger.is_none(), phase));
    }
}

/// Party 1's heads have changed, and it has said so. The liar shows what it said before: the heads
/// would differ for ever, and party 1 would be complained about.
#[test]
fn flu_21_an_earlier_flush_ok_does_not_replace_a_later_one() {
    for (danger, installs) in [(None, true), (AGAIN, false)] {
        for early in [false, true] {
            let mut flush = Flush::new(config(bus::member(0), danger), [1; 32]);
            let notice = |flush: &mut Flush| {
                flush.notice(T0, id(1), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
            };
            if !early {
                notice(&mut flush);
            }
            let first = signed(1, 1, flush_ok(id(1), 1, 0));
            hear(&mut flush, 1, &first).unwrap();
            hear(&mut flush, 1, &signed(1, 1, flush_ok(id(1), 2, 1))).unwrap();
            let again = hear(&mut flush, 1, &first);
            assert_eq!(again.is_err(), danger.is_none());
            if early {
                notice(&mut flush);
            }
            for from in [0, 2] {
                hear(&mut flush, from, &signed(from, from, flush_ok(id(1), 1, 1))).unwrap();
            }
            assert_eq!(flush.view().is_some(), installs, "before the notice: {early}");
        }
    }
}

/// A party numbers what it says, through all its views.
#[test]
fn flu_21_each_flush_ok_has_a_higher_number() {
    let mut flush = pair();
    let mut last = 0;
    for view in 2..6 {
        flush.notice(T0, id(view), ids(&[0, 1]), &[], Cause::Refresh).unwrap();
        let _ = flush.flush_ok(T0, Bytes::new());
        for heads in [1, 2] {
            let said = outputs(&mut flush);
            for output in said {
                let Output::Multicast { bytes, .. } = output else { continue };
                let Some(Control::FlushOk { number, .. }) = control(&bytes) else { continue };
                assert!(number > last);
                last = number;
                hear(&mut flush, 0, &bytes).unwrap();
            }
            flush.heads(T0, [heads; 32]);
        }
    }
    assert!(last >= 4);
}

/// A FLUSH_OK for another view, or for one of which its sender is not, is no word for this one.
#[test]
fn flu_20_a_flush_ok_for_another_view_says_nothing_of_this_one() {
    let mut flush = pair();
    flush.notice(T0, id(2), ids(&[0, 1]), &[], Cause::Refresh).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    hear(&mut flush, 0, &signed(0, 0, flush_ok(id(2), 9, 0))).unwrap();
    // What party 1 said for the view before comes again; then that of somebody who was removed.
    hear(&mut flush, 1, &signed(1, 1, flush_ok(id(1), 1, 0))).unwrap();
    let gone = hear(&mut flush, 2, &signed(2, 2, flush_ok(id(2), 1, 0)));
    assert_eq!(gone, Err(FlushError::PeerNotPresent(bus::member(2))));
    assert_eq!((flush.view(), flush.awaited()), (Some(id(1)), ids(&[1])));
}
