//! FLUSH_RECVs that were not said, and what nobody verifies. A carrier that forges packets shows
//! whatever it likes in the name of others; each liar is played with the rule on, and with it off.

use super::words::{RECEIPT, control, said, sign, waiting};
use super::*;
use folkmoot_base::{Digest, Secret, Signatures, digest};
use folkmoot_flush::Config;
use folkmoot_flush::message::commitment;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ANY: Option<Danger> = Some(Danger::FlushBelievesAnyReceipt);
const ONE: Option<Danger> = Some(Danger::FlushOneReceipt);

fn received(view: ViewId, receipt: [u8; 32]) -> Bytes {
    message::encode(&Control::FlushReceived { view, receipt })
}

/// Somebody shows this in the name of party `of`.
fn shows(flush: &mut Flush, of: usize, view: ViewId, receipt: [u8; 32]) -> Result<(), FlushError> {
    flush.frame(T0, bus::member(of), Service::Agreed, received(view, receipt))
}

/// The FLUSH_OK of a party that would show `receipt`.
fn commits(of: usize, view: ViewId, receipt: &[u8; 32]) -> Bytes {
    let party = bus::member(of);
    let commitment = commitment(&party, &view, receipt);
    sign(&party, &party, FlushOk { commitment, ..flush_ok(view) })
}

/// Party 0 has installed view 1 with parties 1 and 2. All but party 1 have shown that they have it.
/// Party 1 would show `[1; 32]`.
fn all_but_one(danger: Option<Danger>) -> Flush {
    let mut flush = waiting(danger);
    hear(&mut flush, 1, &commits(1, id(1), &[1; 32])).unwrap();
    assert_eq!(flush.view(), Some(id(1)));
    outputs(&mut flush);
    for from in [0, 2] {
        shows(&mut flush, from, id(1), RECEIPT).unwrap();
    }
    assert_eq!(flush.phase(), Phase::Verify);
    flush
}

/// Party 1 has not installed the view. If we took it that it has, our early messages would come to
/// it before its view. The liar shows what it made up, what another party showed, and what party 1
/// committed to.
#[test]
fn flu_22_a_flush_recv_that_does_not_show_what_its_party_committed_to_is_refused() {
    let one = bus::member(1);
    for (danger, phase) in [(None, Phase::Verify), (ANY, Phase::Steady)] {
        for lie in [[9; 32], RECEIPT, [0; 32], commitment(&one, &id(1), &[1; 32])] {
            let mut flush = all_but_one(danger);
            let refused = Err(FlushError::PeerReceipt(one));
            assert_eq!(shows(&mut flush, 1, id(1), lie), if danger.is_none() { refused } else { Ok(()) });
            assert_eq!(flush.phase(), phase);
            assert_eq!(shows(&mut flush, 1, id(1), [1; 32]), Ok(()), "the real one counts all the same");
            assert_eq!(flush.phase(), Phase::Steady);
        }
    }
}

/// Party 2 says the commitment of party 1 again as its own. What party 1 shows does not count for
/// party 2.
#[test]
fn flu_22_a_copied_commitment_is_of_no_use() {
    for (danger, phase) in [(None, Phase::Verify), (ANY, Phase::Steady)] {
        let mut flush = Flush::new(config(bus::member(0), danger), [0; 32]);
        flush.notice(T0, id(1), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
        let (one, two) = (bus::member(1), bus::member(2));
        hear(&mut flush, 0, &commits(0, id(1), &RECEIPT)).unwrap();
        hear(&mut flush, 1, &commits(1, id(1), &[1; 32])).unwrap();
        let copied = commitment(&one, &id(1), &[1; 32]);
        let copy = sign(&two, &two, FlushOk { commitment: copied, ..flush_ok(id(1)) });
        hear(&mut flush, 2, &copy).unwrap();
        shows(&mut flush, 0, id(1), RECEIPT).unwrap();
        shows(&mut flush, 1, id(1), [1; 32]).unwrap();
        let shown = shows(&mut flush, 2, id(1), [1; 32]);
        assert_eq!((shown.is_err(), flush.phase()), (danger.is_none(), phase));
    }
}

/// The same between two parties of one member, which sign with one key.
#[test]
fn flu_22_a_commitment_is_of_one_party_and_view() {
    let (party, view) = (bus::member(1), id(1));
    let all: BTreeSet<Digest> = [
        commitment(&party, &view, &[1; 32]),
        commitment(&Party::new(party.member, 1), &view, &[1; 32]),
        commitment(&bus::member(2), &view, &[1; 32]),
        commitment(&party, &id(2), &[1; 32]),
        commitment(&party, &view, &[2; 32]),
    ]
    .into();
    assert_eq!(all.len(), 5);
    let other = Party::new(party.member, 1);
    for (danger, phase) in [(None, Phase::Verify), (ANY, Phase::Steady)] {
        let mut flush = Flush::new(config(party, danger), [0; 32]);
        flush.notice(T0, view, vec![party, other], &[], Cause::Join).unwrap();
        let copied = commitment(&party, &view, &RECEIPT);
        for from in [party, other] {
            let ok = sign(&party, &from, FlushOk { commitment: copied, ..flush_ok(view) });
            flush.frame(T0, from, Service::Agreed, ok).unwrap();
        }
        let shown = [party, other]
            .map(|from| flush.frame(T0, from, Service::Agreed, received(view, RECEIPT)).is_ok());
        assert_eq!((shown, flush.phase()), ([true, danger.is_some()], phase));
    }
}

/// Of several FLUSH_OKs of one party the last one counts, with what it commits to.
#[test]
fn flu_22_the_commitment_of_the_last_flush_ok_counts() {
    for early in [false, true] {
        let mut flush = Flush::new(config(bus::member(0), None), [0; 32]);
        let notice = |flush: &mut Flush| flush.notice(T0, id(1), ids(&[0, 1]), &[], Cause::Join).unwrap();
        if !early {
            notice(&mut flush);
        }
        let first = commits(1, id(1), &[1; 32]);
        hear(&mut flush, 1, &first).unwrap();
        hear(&mut flush, 1, &commits(1, id(1), &[2; 32])).unwrap();
        assert_eq!(hear(&mut flush, 1, &first), Err(FlushError::PeerStale(bus::member(1))));
        if early {
            notice(&mut flush);
        }
        hear(&mut flush, 0, &commits(0, id(1), &RECEIPT)).unwrap();
        shows(&mut flush, 0, id(1), RECEIPT).unwrap();
        assert!(shows(&mut flush, 1, id(1), [1; 32]).is_err());
        assert_eq!(flush.phase(), Phase::Verify);
        assert_eq!(shows(&mut flush, 1, id(1), [2; 32]), Ok(()));
        assert_eq!(flush.phase(), Phase::Steady);
        // It comes again, and says what it said.
        assert_eq!(shows(&mut flush, 1, id(1), [2; 32]), Ok(()));
        assert_eq!(flush.phase(), Phase::Steady);
    }
}

/// A FLUSH_RECV of a view that is not the installed one changes nothing, and nothing is kept of it.
#[test]
fn flu_22_a_flush_recv_of_another_view_says_nothing() {
    let mut flush = waiting(None);
    shows(&mut flush, 1, id(1), [1; 32]).unwrap();
    hear(&mut flush, 1, &commits(1, id(1), &[1; 32])).unwrap();
    for from in [0, 2] {
        shows(&mut flush, from, id(1), RECEIPT).unwrap();
    }
    shows(&mut flush, 1, id(0), [1; 32]).unwrap();
    shows(&mut flush, 1, id(2), [1; 32]).unwrap();
    assert_eq!(flush.phase(), Phase::Verify);
    // Nor does that of a party that is not in the view.
    let refused = Err(FlushError::PeerReceipt(bus::member(3)));
    assert_eq!(shows(&mut flush, 3, id(1), RECEIPT), refused);
    assert_eq!(flush.phase(), Phase::Verify);
}

// --- real parties ---

/// Signatures that are counted: those made, and those verified.
#[derive(Debug)]
struct Counted(ToySignatures, Arc<[AtomicUsize; 2]>);

impl Signatures for Counted {
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Proof {
        self.1[0].fetch_add(1, Ordering::Relaxed);
        self.0.sign(label, message)
    }

    fn verify(&self, signer: &Digest, label: &'static [u8], message: &[u8], proof: &Proof) -> bool {
        self.1[1].fetch_add(1, Ordering::Relaxed);
        self.0.verify(signer, label, message, proof)
    }
}

/// Parties that hear all that is said, in one order.
struct Crowd {
    flushes: Vec<Flush>,
    signatures: Arc<[AtomicUsize; 2]>,
    /// Whose FLUSH_RECVs are held back, and these.
    held: (Option<usize>, Vec<Bytes>),
}

impl Crowd {
    fn new(count: usize, danger: Option<Danger>) -> Self {
        let signatures = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let one = |index| {
            let me = bus::member(index);
            let counted = Counted(ToySignatures(me.member.0), Arc::clone(&signatures));
            Flush::new(Config { signatures: Arc::new(counted), ..config(me, danger) }, [0; 32])
        };
        Self { flushes: (0..count).map(one).collect(), signatures, held: (None, Vec::new()) }
    }

    /// How many signatures were made and verified since the last call.
    fn counted(&self) -> (usize, usize) {
        let [made, verified] = &*self.signatures;
        (made.swap(0, Ordering::Relaxed), verified.swap(0, Ordering::Relaxed))
    }

    /// The notice of this view comes to all, and then what they say to it.
    fn change(&mut self, order: u64) {
        let all: Vec<usize> = (0..self.flushes.len()).collect();
        for flush in &mut self.flushes {
            flush.notice(T0, id(order), ids(&all), &[], Cause::Refresh).unwrap();
            let _ = flush.flush_ok(T0, Bytes::new());
        }
        loop {
            let frames = self.frames();
            if frames.is_empty() {
                return;
            }
            for (from, bytes) in frames {
                self.flushes.iter_mut().for_each(|flush| {
                    flush.frame(T0, bus::member(from), Service::Agreed, bytes.clone()).unwrap();
                });
            }
        }
    }

    fn frames(&mut self) -> Vec<(usize, Bytes)> {
        let mut frames = Vec::new();
        for (from, flush) in self.flushes.iter_mut().enumerate() {
            for output in outputs(flush) {
                let Output::Multicast { bytes, .. } = output else { continue };
                if self.held.0 == Some(from) && said(&bytes).is_none() {
                    self.held.1.push(bytes);
                } else {
                    frames.push((from, bytes));
                }
            }
        }
        frames
    }
}

fn receipt_in(bytes: &Bytes) -> [u8; 32] {
    let Some(Control::FlushReceived { receipt, .. }) = control(bytes) else { panic!("no FLUSH_RECV") };
    receipt
}

/// The carrier has what party 1 showed for view 1, and shows it for view 2, which party 1 has not
/// installed.
#[test]
fn flu_23_what_was_shown_for_one_view_is_of_no_use_in_the_next() {
    for (danger, phase) in [(None, Phase::Verify), (ONE, Phase::Steady)] {
        let mut crowd = Crowd::new(2, danger);
        crowd.held.0 = Some(1);
        crowd.change(1);
        let first = crowd.held.1.pop().unwrap();
        hear(&mut crowd.flushes[0], 1, &first).unwrap();
        assert_eq!(crowd.flushes[0].phase(), Phase::Steady);
        crowd.change(2);
        assert_eq!((crowd.flushes[0].view(), crowd.flushes[0].phase()), (Some(id(2)), Phase::Verify));
        let again = shows(&mut crowd.flushes[0], 1, id(2), receipt_in(&first));
        assert_eq!((again.is_err(), crowd.flushes[0].phase()), (danger.is_none(), phase));
        let second = crowd.held.1.pop().unwrap();
        hear(&mut crowd.flushes[0], 1, &second).unwrap();
        assert_eq!(crowd.flushes[0].phase(), Phase::Steady);
    }
}

/// Each party, each view and each run of a program has a receipt of its own. However often a party
/// says that it is ready for a view, it commits to one.
#[test]
fn flu_23_a_receipt_is_of_one_party_view_and_run() {
    let me = bus::member(0);
    let mut receipts = BTreeSet::new();
    for secret in [b"one", b"two"].map(|name| digest(&[name])) {
        let config = Config { secret: Secret::new(secret), ..config(me, None) };
        let mut flush = Flush::new(config, [0; 32]);
        for view in 1..4 {
            flush.notice(T0, id(view), vec![me], &[], Cause::Refresh).unwrap();
            let _ = flush.flush_ok(T0, Bytes::new());
            let first = one_word(&mut flush);
            // It does not come back, so the party says it again.
            let due = flush.poll_timeout().unwrap();
            flush.timeout(due);
            let second = one_word(&mut flush);
            let (first, second) = (said(&first).unwrap(), (said(&second).unwrap(), second));
            assert_eq!(first.commitment, second.0.commitment);
            assert!(first.number < second.0.number);
            let state = format!("{flush:?}");
            hear(&mut flush, 0, &second.1).unwrap();
            let receipt = receipt_in(&one_word(&mut flush));
            assert_eq!(commitment(&me, &id(view), &receipt), first.commitment);
            assert!(receipts.insert(receipt));
            let secrets = [receipt, secret];
            assert!(secrets.iter().all(|secret| !state.contains(&format!("{secret:?}"))), "in a log");
        }
    }
    let mut crowd = Crowd::new(3, None);
    crowd.change(1);
    let shown = [(0, 2), (1, 3), (2, 4)].map(|(index, view)| {
        crowd.held.0 = Some(index);
        crowd.change(view);
        receipt_in(&crowd.held.1.pop().unwrap())
    });
    assert_eq!(BTreeSet::from(shown).len(), 3);
}

/// The only frame that it multicasts now.
fn one_word(flush: &mut Flush) -> Bytes {
    let mut frames = outputs(flush).into_iter().filter_map(|output| match output {
        Output::Multicast { bytes, .. } => Some(bytes),
        _ => None,
    });
    let word = frames.next().unwrap();
    assert_eq!(frames.next(), None);
    word
}

/// A change of view of n parties has n signatures made, and each verified by the n - 1 others.
#[test]
fn flu_24_each_flush_ok_is_verified_once_by_each_other_party() {
    for count in [1, 4, 16, 64] {
        let mut crowd = Crowd::new(count, None);
        for view in 1..3 {
            crowd.change(view);
            assert!(crowd.flushes.iter().all(|flush| flush.phase() == Phase::Steady));
            assert_eq!(crowd.counted(), (count, count * (count - 1)), "{count} parties");
        }
    }
}

/// Nobody verifies what would change nothing: a FLUSH_OK for a view that is installed or overtaken,
/// for another group, one with an old number, or of a party that is not in the view.
#[test]
fn flu_24_what_would_change_nothing_is_not_verified() {
    let mut crowd = Crowd::new(1, None);
    let elsewhere = ViewId { group: folkmoot_base::GroupId([77; 32]), ..id(9) };
    crowd.change(1);
    let flush = &mut crowd.flushes[0];
    flush.notice(T0, id(2), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    hear(flush, 1, &commits(1, id(2), &[1; 32])).unwrap();
    crowd.counted();
    let flush = &mut crowd.flushes[0];
    let forged = |view| sign(&bus::member(2), &bus::member(1), flush_ok(view));
    assert_eq!(hear(flush, 1, &forged(id(1))), Ok(()), "an old view");
    assert!(hear(flush, 1, &forged(elsewhere)).is_err());
    assert!(hear(flush, 3, &forged(id(2))).is_err());
    let old = sign(&bus::member(2), &bus::member(1), FlushOk { number: 0, ..flush_ok(id(2)) });
    assert_eq!(hear(flush, 1, &old), Err(FlushError::PeerStale(bus::member(1))));
    assert_eq!(crowd.counted(), (0, 0));
    let flush = &mut crowd.flushes[0];
    assert_eq!(hear(flush, 1, &forged(id(2))), Err(FlushError::PeerForged(bus::member(1))));
    assert_eq!(crowd.counted(), (0, 1));
}

/// Our own FLUSH_OK comes back with another signature, which the others refuse. So do we:
/// otherwise we might install the view at another place of the order.
#[test]
fn flu_24_our_own_flush_ok_counts_as_we_signed_it() {
    let mut flush = Flush::new(config(bus::member(0), None), [0; 32]);
    flush.notice(T0, id(1), ids(&[0]), &[], Cause::Join).unwrap();
    let own = one_word(&mut flush);
    let Some(Control::FlushOk(mut signed)) = control(&own) else { panic!("no FLUSH_OK") };
    signed.proof.signature = [1; 64].into();
    let altered = message::encode(&Control::FlushOk(signed));
    assert_eq!(hear(&mut flush, 0, &altered), Err(FlushError::PeerForged(bus::member(0))));
    assert_eq!(flush.view(), None);
    hear(&mut flush, 0, &own).unwrap();
    assert_eq!(flush.view(), Some(id(1)));
}
