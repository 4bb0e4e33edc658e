//! Flush, agreement, keying and session: messages of members of the view that may say anything.

use crate::frames::{self, view_id};
use crate::script::{Dice, number, owned, script, steps};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{
    Cause, Cipher, Digest, GroupId, Instant, MemberId, Mutant, Party, Pool, Secret, Service, SignatureBytes,
};
use folkmoot_flush::message::{self as flush_message, Control as FlushControl, FlushOk, For, Signed};
use folkmoot_flush::{Config as FlushConfig, Flush, Output as FlushOutput, Phase};
use folkmoot_keying::{Config as KeyingConfig, Credentials, Input, Keying, Output, Terms, View};
use folkmoot_session::{Body, Bundle, Config as SessionConfig, Opened, Session};
use std::collections::VecDeque;
use std::sync::Arc;

const GROUP: GroupId = GroupId([9; 32]);
const OUTPUTS_MAX: usize = 4_096;
const HEADS: Digest = [3; 32];

/// Parties by number: 1 and 2 are in the views; 3 is another program of the second's member, 4 of
/// the first's; any other is of a member by itself.
fn party(number: u8) -> Party {
    match number {
        1 => frames::party(1, 0),
        2 => frames::party(2, 258),
        3 => frames::party(2, 0),
        4 => frames::party(1, 3),
        other => frames::party(other, 0),
    }
}

fn flush_config() -> FlushConfig {
    let signatures = Arc::new(frames::AnySignature);
    let secret = Secret::new([4; 32]);
    FlushConfig { me: party(1), group: GROUP, signatures, secret, danger: Mutant::NONE }
}

/// What party 2 shows when it has a view.
const RECEIPT: [u8; 32] = [6; 32];

/// The FLUSH_OK of party 2 for a view of this number.
fn flush_ok(order: u64) -> Bytes {
    let view = view_id(GROUP, order);
    let number = u32::try_from(order).unwrap_or_default();
    let commitment = flush_message::commitment(&party(2), &view, &RECEIPT);
    let ok = FlushOk { view, number, heads: HEADS, brings: Vec::new().into(), reached: None, commitment };
    let signed = Signed::sign(ok, &party(2), &frames::AnySignature);
    flush_message::encode(&FlushControl::FlushOk(Box::new(signed)))
}

/// Its FLUSH_RECV.
fn received(order: u64) -> Bytes {
    let view = view_id(GROUP, order);
    flush_message::encode(&FlushControl::FlushReceived { view, receipt: RECEIPT })
}

/// The flush layer of member 1; its own words come back to it.
struct Flushing {
    flush: Flush,
    order: u64,
}

impl Flushing {
    /// In a view with member 2, installed and known to be.
    fn steady() -> Self {
        let mut flushing = Self { flush: Flush::new(flush_config(), HEADS), order: 0 };
        flushing.notice();
        for word in [flush_ok(1), received(1)] {
            flushing.frame(party(2), word);
        }
        assert_eq!(flushing.flush.phase(), Phase::Steady);
        flushing
    }

    fn notice(&mut self) {
        self.order += 1;
        let members = vec![party(1), party(2)];
        let view = view_id(GROUP, self.order);
        self.flush
            .notice(Instant(self.order), view, members, &[], Cause::Join)
            .expect("a notice that follows");
        self.settle();
    }

    fn frame(&mut self, from: Party, bytes: Bytes) {
        let _ = self.flush.frame(Instant(1), from, Service::Safe, &bytes);
        self.settle();
    }

    fn settle(&mut self) {
        let mut count = 0;
        while let Some(output) = self.flush.poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            match output {
                FlushOutput::Multicast { service, bytes } => {
                    let _ = self.flush.frame(Instant(1), party(1), service, &bytes);
                }
                FlushOutput::View(view) => {
                    assert!(view.members.contains(&party(1)) && view.transitional_set.contains(&party(1)));
                }
                _ => {}
            }
        }
    }
}

/// Flush: frames of the other party, of another program of its member that is outside the view, of
/// oneself; notices, losses, answers.
pub fn flush_machine(data: &[u8]) {
    let mut flushing = Flushing::steady();
    for (op, body) in steps(data) {
        match op % 8 {
            0 | 1 => flushing.frame(party(2), owned(body)),
            2 => flushing.frame(party(3), owned(body)),
            3 => flushing.frame(party(1), owned(body)),
            4 => flushing.notice(),
            5 => flushing.flush.transitional(&[party(2)]),
            6 => drop(flushing.flush.flush_ok(Instant(1), bytes::Bytes::new())),
            _ => drop(flushing.flush.send(Service::Agreed, For::Session, body)),
        }
        flushing.settle();
    }
}

/// Seeds: each frame, and a change of view.
pub(crate) fn flush_seeds() -> [Vec<Vec<u8>>; 2] {
    let tag = flush_message::ViewTag::of(&view_id(GROUP, 1));
    let header = flush_message::data_header(&tag, Service::Agreed, For::Session, 0);
    let word = [header.as_slice(), b"a word"].concat();
    let ok = |order| flush_ok(order).to_vec();
    let received = |order| received(order).to_vec();
    let change =
        script([(0, word.clone()), (4, vec![]), (6, vec![]), (0, ok(2)), (0, received(2)), (7, vec![1])]);
    let lost = script([(4, vec![]), (0, ok(3)), (5, vec![]), (4, vec![]), (6, vec![]), (0, ok(3))]);
    [vec![word, ok(2), received(2)], vec![change, lost]]
}

/// Every signature is good: what is in the envelopes is to be judged, not who wrote them.
struct Trusting;

impl Credentials for Trusting {
    fn sign(&self, _: &[u8]) -> SignatureBytes {
        [1; 64].into()
    }

    fn verify(&self, _: &MemberId, _: &[u8], _: &SignatureBytes) -> bool {
        true
    }

    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        Some(member.0)
    }

    fn terms(&self) -> Terms {
        Terms { charter_version: 1, ..Terms::default() }
    }
}

/// The keying of one member; its own words come back to it.
struct Keyed {
    keying: Keying,
    me: Party,
    now: Instant,
    order: u64,
    dice: Dice,
    said: Vec<Bytes>,
    /// What it said that it holds when it answered its last flush.
    word: Bytes,
    secure: usize,
}

impl Keyed {
    fn new(number: u8) -> Self {
        let me = party(number);
        let keying = Keying::new(me, GROUP, KeyingConfig::default(), None).expect("an empty store");
        let dice = Dice(u64::from(number) << 40);
        Self { keying, me, now: Instant(1), order: 0, dice, said: Vec::new(), word: Bytes::new(), secure: 0 }
    }

    /// The next view; `theirs` is what the other says that it holds.
    fn view(&mut self, theirs: Bytes) {
        self.order += 1;
        let mut brought = vec![self.word.clone(), theirs];
        if self.me == party(2) {
            brought.reverse();
        }
        let view = View {
            id: view_id(GROUP, self.order),
            members: vec![party(1), party(2)],
            brought,
            transitional_set: vec![self.me],
            last: party(1),
            cause: Cause::Join,
        };
        self.take(Input::View(view));
    }

    /// Takes an input; own words come back unless they are carried elsewhere.
    fn take(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        let mut count = 0;
        while let Some(input) = inputs.pop_front() {
            let _ = self.keying.handle(self.now, input, &Trusting, &mut self.dice);
            while let Some(output) = self.keying.poll_output() {
                count += 1;
                assert!(count <= OUTPUTS_MAX, "no end of outputs");
                match output {
                    Output::Send { bytes, .. } => {
                        self.said.push(bytes.clone());
                        inputs.push_back(Input::Message { sender: self.me, bytes });
                    }
                    Output::FlushOk { brings } => self.word = brings,
                    Output::SecureFlushRequest => inputs.push_back(Input::SecureFlushOk),
                    Output::SecureView(view) => {
                        assert_eq!(view.members, [party(1), party(2)]);
                        self.secure += 1;
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Keying: messages of the other party and of others outside the view, well signed; time, flushes,
/// views, refreshes.
pub fn keying_machine(data: &[u8]) {
    for number in [1, 2] {
        let mut keyed = Keyed::new(number);
        keyed.view(Bytes::new());
        for (op, body) in steps(data) {
            match op % 8 {
                0..=2 => keyed.take(Input::Message { sender: party(3 - number), bytes: owned(body) }),
                3 => {
                    let sender = party([9, 3, 4][usize::from(op >> 3) % 3]);
                    keyed.take(Input::Message { sender, bytes: owned(body) });
                }
                4 => {
                    keyed.now = keyed.now + Duration::from_millis(self::number(body));
                    keyed.take(Input::Timeout);
                }
                5 => keyed.take(Input::FlushRequest),
                6 => keyed.view(owned(body)),
                _ => keyed.take(Input::Refresh),
            }
        }
    }
    let _ = Keying::new(party(1), GROUP, KeyingConfig::default(), Some(data));
}

/// Seeds: envelopes of two honest members over two views, the second from what they hold of the
/// first, with a refresh; and what each was given.
pub(crate) fn keying_seeds() -> [Vec<Vec<u8>>; 2] {
    let mut both = [Keyed::new(1), Keyed::new(2)];
    let mut given: [Vec<(u8, Vec<u8>)>; 2] = Default::default();
    both.iter_mut().for_each(|keyed| keyed.view(Bytes::new()));
    carry(&mut both, &mut given);
    for (keyed, given) in both.iter_mut().zip(&mut given) {
        keyed.take(Input::FlushRequest);
        given.push((5, vec![]));
    }
    let words = [both[1].word.clone(), both[0].word.clone()];
    for ((keyed, given), word) in both.iter_mut().zip(&mut given).zip(words) {
        assert!(!word.is_empty(), "who shares a key holds something");
        given.push((6, word.to_vec()));
        keyed.view(word);
    }
    carry(&mut both, &mut given);
    assert_eq!([both[0].secure, both[1].secure], [2, 2], "two honest members share a key in each view");
    both[0].take(Input::Refresh);
    given[0].push((7, vec![]));
    carry(&mut both, &mut given);
    given.iter_mut().for_each(|given| given.extend([(4, vec![40, 0]), (5, vec![]), (6, vec![])]));
    let said = both.iter().flat_map(|keyed| keyed.said.iter().map(|bytes| bytes.to_vec())).collect();
    [said, given.into_iter().map(script).collect()]
}

/// Each hears what the other says, until both are silent.
fn carry(both: &mut [Keyed; 2], given: &mut [Vec<(u8, Vec<u8>)>; 2]) {
    let done = |given: &[(u8, Vec<u8>)]| given.iter().filter(|(op, _)| *op == 0).count();
    loop {
        let mut silent = true;
        for from in [0, 1] {
            let to = 1 - from;
            if let Some(bytes) = both[from].said.get(done(&given[to])).cloned() {
                silent = false;
                given[to].push((0, bytes.to_vec()));
                both[to].take(Input::Message { sender: both[from].me, bytes });
            }
        }
        if silent {
            return;
        }
    }
}

const WORDS: [&[u8]; 3] = [b"", b"a word", &[7; 100]];

fn session(number: u8) -> Session {
    let mut session = Session::new(party(number), GROUP, SessionConfig::default());
    let key = Secret::new([8; 32]);
    session.open_epoch(view_id(GROUP, 1), &talking(), &key, Cipher::Aes256Gcm).expect("the first epoch");
    session
}

/// Those in the session's view: two of the three are programs of one member.
fn talking() -> [Party; 3] {
    [party(1), party(4), party(2)]
}

/// What the others sealed.
fn genuine() -> Vec<(Party, Bytes)> {
    let sealed = |number| {
        let mut other = session(number);
        let mut bundle = Bundle::with_room(64, &mut Pool::default());
        WORDS.iter().take(2).for_each(|word| bundle.push(word));
        let texts = WORDS.iter().map(|word| Body::text(Bytes::from_static(word)));
        let sealed = texts.chain([bundle.body()]).map(|body| other.seal(&[], body).expect("an open epoch"));
        sealed.map(|bytes| (party(number), bytes)).collect::<Vec<_>>()
    };
    [sealed(2), sealed(4)].concat()
}

/// Session: sealed messages of another member's party, of the own member's other, its own, those of
/// one outside; a second epoch. Only what was sealed opens, once, as its sender's.
pub fn session_machine(data: &[u8]) {
    opened_of(data);
}

/// How many messages opened.
fn opened_of(data: &[u8]) -> usize {
    let mut session = session(1);
    let (mut waiting, all) = (genuine(), genuine().len());
    for (op, body) in steps(data) {
        let sealed = owned(body);
        match op % 8 {
            0..=4 => {
                let from = party([2, 4, 3, 1, 9][usize::from(op % 8)]);
                if let Ok(Opened::Message(_)) =
                    session.open(from, Service::Agreed, sealed.clone(), &|_, _, _| true)
                {
                    let place = waiting.iter().position(|genuine| *genuine == (from, sealed.clone()));
                    waiting.swap_remove(place.expect("never sealed, or opened before"));
                }
            }
            5 => {
                let key = Secret::new([op; 32]);
                let _ = session.open_epoch(view_id(GROUP, 2), &talking(), &key, Cipher::Aes256Gcm);
                while let Some((_, opened)) = session.poll_received(&|_, _, _| true) {
                    assert!(opened.is_err(), "nobody has sealed under this key");
                }
            }
            6 => session.close_previous(),
            _ => drop(session.seal(&[], Body::text(owned(body)))),
        }
    }
    all - waiting.len()
}

/// Seeds: what the others sealed, each as its sender's; as each other's.
pub(crate) fn session_seeds() -> Vec<Vec<u8>> {
    let sealed = genuine();
    let by = |from: &Party| u8::from(*from == party(4));
    let all = script(sealed.iter().map(|(from, bytes)| (by(from), bytes)));
    let epochs = script([
        (0, sealed[1].1.to_vec()),
        (5, vec![]),
        (0, sealed[0].1.to_vec()),
        (6, vec![]),
        (0, sealed[2].1.to_vec()),
    ]);
    let mixed = script(sealed.iter().map(|(from, bytes)| (1 - by(from), bytes)));
    vec![all, epochs, mixed]
}

#[cfg(test)]
mod tests {
    use super::{opened_of, session_seeds};

    #[test]
    fn seeds_open_as_their_senders_and_as_nobody_elses() {
        let opened: Vec<usize> = session_seeds().iter().map(|seed| opened_of(seed)).collect();
        assert_eq!(opened, [8, 2, 0]);
    }
}
