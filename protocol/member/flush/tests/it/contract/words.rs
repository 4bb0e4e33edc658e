//! A carrier that forges packets: FLUSH_OKs in the name of others, and FLUSH_OKs that come again.
//! Each test plays the liar with the rule on, and with the rule off. FLUSH_RECVs: receipts.rs.

use super::*;
use folkmoot_flush::message::{Reach, Reached, commitment};
use std::sync::atomic::{AtomicU32, Ordering};

/// What parties show that the tests play.
pub(super) const RECEIPT: [u8; 32] = [5; 32];

/// A FLUSH_OK that [`said_by`] completes and signs.
pub(super) fn unsigned(ok: FlushOk) -> Bytes {
    let proof = Proof { key: Blob::default(), signature: SignatureBytes::NONE };
    message::encode(&Control::FlushOk(Box::new(Signed { ok, proof })))
}

/// The FLUSH_RECV of a party that the test plays.
pub(super) fn shown(view: ViewId) -> Bytes {
    message::encode(&Control::FlushReceived { view, receipt: RECEIPT })
}

/// Numbers of FLUSH_OKs, each higher than all before it.
pub(super) fn next() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The same frame; if it is an unsigned FLUSH_OK, `sender` commits to [`RECEIPT`] and signs it.
pub(super) fn said_by(sender: Party, bytes: &Bytes) -> Bytes {
    match control(bytes) {
        Some(Control::FlushOk(signed)) if signed.proof.key.0.is_empty() => {
            let commitment = commitment(&sender, &signed.ok.view, &RECEIPT);
            sign(&sender, &sender, FlushOk { commitment, ..signed.ok })
        }
        _ => bytes.clone(),
    }
}

/// What `signer` signs as the word of `sender`.
pub(super) fn sign(signer: &Party, sender: &Party, ok: FlushOk) -> Bytes {
    let signed = Signed::sign(ok, sender, &ToySignatures(signer.member.0));
    message::encode(&Control::FlushOk(Box::new(signed)))
}

/// What a FLUSH_OK brings, and for which view.
pub(super) fn brought(bytes: &Bytes) -> Option<(ViewId, Bytes)> {
    said(bytes).map(|ok| (ok.view, ok.brings.0))
}

/// What a frame says, if it is a FLUSH_OK.
pub(super) fn said(bytes: &Bytes) -> Option<FlushOk> {
    match control(bytes)? {
        Control::FlushOk(signed) => Some(signed.ok),
        Control::FlushReceived { .. } => None,
    }
}

/// The word in a frame, if it is one.
pub(super) fn control(bytes: &Bytes) -> Option<Control> {
    match message::decode(bytes) {
        Ok(Frame::Control(control)) => Some(control),
        _ => None,
    }
}

const ANYONE: Option<Danger> = Some(Danger::FlushBelievesAnyone);
const AGAIN: Option<Danger> = Some(Danger::FlushHearsAgain);

fn numbered(view: ViewId, number: u32, heads: u8) -> FlushOk {
    FlushOk { number, heads: [heads; 32], ..flush_ok(view) }
}

/// What `signer` signs as the word of `sender`, which would show [`RECEIPT`].
fn signed(signer: usize, sender: usize, ok: FlushOk) -> Bytes {
    let (signer, sender) = (bus::member(signer), bus::member(sender));
    let commitment = commitment(&sender, &ok.view, &RECEIPT);
    sign(&signer, &sender, FlushOk { commitment, ..ok })
}

/// Party 0, told of a view with parties 1 and 2; all but party 1 have said that they are ready.
pub(super) fn waiting(danger: Option<Danger>) -> Flush {
    let mut flush = Flush::new(config(bus::member(0), danger), [0; 32]);
    flush.notice(T0, id(1), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    for from in [0, 2] {
        hear(&mut flush, from, &signed(from, from, numbered(id(1), 1, 0))).unwrap();
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
        let forged = hear(&mut flush, 1, &signed(2, 1, numbered(id(1), 1, 0)));
        assert_eq!(forged.is_ok(), installs);
        assert_eq!(flush.view().is_some(), installs);
        if !installs {
            assert_eq!(forged, Err(FlushError::PeerForged(bus::member(1))));
            hear(&mut flush, 1, &signed(1, 1, numbered(id(1), 1, 0))).unwrap();
            assert_eq!(flush.view(), Some(id(1)), "the real one counts all the same");
        }
    }
}

/// Nothing in it can be changed: not the view, the heads, what it brings, how far its sender
/// delivered, or what it commits to. Nor is the word of one port that of another.
#[test]
fn flu_20_a_flush_ok_is_of_one_party_and_view_and_covers_all_that_it_says() {
    let reached = |fifo| {
        let parties = vec![Reach { place: 2, reliable: 0, fifo }];
        Some(Reached { tag: ViewTag::of(&id(0)), parties })
    };
    let honest = FlushOk { number: 1, reached: reached(1), ..flush_ok(id(1)) };
    let others = [
        FlushOk { view: id(2), ..honest.clone() },
        FlushOk { number: 2, ..honest.clone() },
        FlushOk { heads: [1; 32], ..honest.clone() },
        FlushOk { brings: vec![1].into(), ..honest.clone() },
        FlushOk { reached: reached(2), ..honest.clone() },
        FlushOk { commitment: [1; 32], ..honest.clone() },
    ];
    let sender = bus::member(1);
    let toy = ToySignatures(sender.member.0);
    let proofs = others.into_iter().map(|other| Signed::sign(other, &sender, &toy).proof);
    let port = Signed::sign(honest.clone(), &Party::new(sender.member, 1), &toy).proof;
    for proof in proofs.chain([port]) {
        let mut flush = waiting(None);
        let moved = message::encode(&Control::FlushOk(Box::new(Signed { ok: honest.clone(), proof })));
        assert_eq!(hear(&mut flush, 1, &moved), Err(FlushError::PeerForged(sender)));
        assert_eq!(flush.view(), None);
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
            let first = signed(1, 1, numbered(id(1), 1, 0));
            hear(&mut flush, 1, &first).unwrap();
            hear(&mut flush, 1, &signed(1, 1, numbered(id(1), 2, 1))).unwrap();
            let again = hear(&mut flush, 1, &first);
            assert_eq!(again.is_err(), danger.is_none());
            if early {
                notice(&mut flush);
            }
            for from in [0, 2] {
                hear(&mut flush, from, &signed(from, from, numbered(id(1), 1, 1))).unwrap();
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
            for output in outputs(&mut flush) {
                let Output::Multicast { bytes, .. } = output else { continue };
                let Some(FlushOk { number, .. }) = said(&bytes) else { continue };
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
    hear(&mut flush, 0, &signed(0, 0, numbered(id(2), 9, 0))).unwrap();
    // What party 1 said for the view before comes again; then that of somebody who was removed.
    hear(&mut flush, 1, &signed(1, 1, numbered(id(1), 1, 0))).unwrap();
    let gone = hear(&mut flush, 2, &signed(2, 2, numbered(id(2), 1, 0)));
    assert_eq!(gone, Err(FlushError::PeerNotPresent(bus::member(2))));
    assert_eq!((flush.view(), flush.awaited()), (Some(id(1)), ids(&[1])));
}
