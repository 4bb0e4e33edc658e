//! Letters: messages of guests and members at a member's desk, and messages of contacts at a
//! writer.

use crate::frames::view_id;
use crate::script::{Dice, number, owned, script, steps};
use crate::values::canonical;
use crate::world::world;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Digest, GroupId, GroupName, Instant, Party, Secret, codec};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use folkmoot_letters::{
    Counter, Desk, DeskInput, DeskOutput, Front, GuestMessage, MemberMessage, Writer, WriterOutput,
    is_for_writer,
};
use folkmoot_transcript::Transcript;
use std::sync::OnceLock;

const OUTPUTS_MAX: usize = 4_096;
const TAG: [u8; 8] = [4; 8];
/// Port of the program whose desk it is.
const PORT: u16 = 3;

/// The world's founders in a group that takes letters.
fn transcript() -> &'static Transcript {
    static TRANSCRIPT: OnceLock<Transcript> = OnceLock::new();
    TRANSCRIPT.get_or_init(|| {
        let founders = &world().founders;
        let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
        let draft = CharterDraft::new(
            GroupName::new("letters").expect("a legal name"),
            2,
            named,
            &mut Dice(98 << 32),
        );
        let all: Vec<&Identity> = founders.iter().collect();
        let text = CharterDraft { letters: true, ..draft }.to_toml();
        let signed = SignedCharter::sign(&text, &all).expect("a legal charter");
        Transcript::founded(signed.der()).expect("a complete charter")
    })
}

fn seed() -> Secret<[u8; 32]> {
    Secret::new([9; 32])
}

/// Both kinds of words.
pub fn letters_word(data: &[u8]) {
    canonical::<GuestMessage>(data);
    canonical::<MemberMessage>(data);
}

/// The desk of a program of the first founder. What it sends to the group comes back to it; what it
/// says to guests is kept.
struct Keeping {
    now: Instant,
    desk: Desk,
    dice: Dice,
    said: Vec<Bytes>,
    ordered: Vec<Bytes>,
    open: bool,
}

impl Keeping {
    fn new() -> Self {
        let (said, ordered) = (Vec::new(), Vec::new());
        Self { now: Instant(1), desk: Desk::default(), dice: Dice(7), said, ordered, open: true }
    }

    fn take(&mut self, input: DeskInput) {
        let (me, group, seed) = (&world().founders[0], transcript().group(), seed());
        let open = self.open;
        let front = |asked: &GroupId| {
            let here = open && *asked == group;
            here.then_some(Front { view: view_id(group, 3), epoch: TAG, seed: &seed })
        };
        let (mut inputs, mut count) = (vec![input], 0);
        while let Some(input) = inputs.pop() {
            let counter = Counter {
                now: self.now,
                identity: me,
                port: PORT,
                roster: transcript().roster(),
                front: &front,
            };
            let _ = self.desk.handle(&counter, input, &mut self.dice);
            while let Some(output) = self.desk.poll_output() {
                count += 1;
                assert!(count <= OUTPUTS_MAX, "no end of outputs");
                match output {
                    DeskOutput::Guest { payload, .. } => self.said.push(payload),
                    DeskOutput::Multicast { group, payload } => {
                        self.ordered.push(payload.clone());
                        let sender = Party::new(me.member(), PORT);
                        inputs.push(DeskInput::Member { group, sender, payload });
                    }
                    DeskOutput::Event(_) => {}
                }
            }
        }
    }
}

/// A member's desk: words of a guest, of programs of a founder and of its own member, of one who is
/// no member; time; own answers.
pub fn letters_desk(data: &[u8]) {
    keeping_after(data);
}

fn keeping_after(data: &[u8]) -> Keeping {
    let mut keeping = Keeping::new();
    let [alice, bob] = [&world().founders[0], &world().founders[1]];
    let (dave, group) = (&world().stranger, transcript().group());
    for (op, body) in steps(data) {
        let (payload, port) = (owned(body), u16::from(op >> 4));
        match op % 8 {
            0 | 1 => keeping.take(DeskInput::Guest { from: dave.node(), payload }),
            2 => {
                let member = if op & 8 == 0 { bob.member() } else { alice.member() };
                keeping.take(DeskInput::Member { group, sender: Party::new(member, port), payload });
            }
            3 => keeping.take(DeskInput::Member { group, sender: Party::new(dave.member(), port), payload }),
            4 => keeping.take(DeskInput::Guest { from: bob.node(), payload }),
            5 => keeping.now = keeping.now + Duration::from_millis(number(body)),
            6 => {
                let (letter, text) = body.split_at(body.len().min(32));
                let letter: Digest = letter.try_into().unwrap_or([0; 32]);
                keeping.take(DeskInput::Answer { letter, text: owned(text) });
            }
            _ if op & 8 == 0 => keeping.take(DeskInput::LinkDown(dave.node())),
            _ => keeping.open = !keeping.open,
        }
    }
    keeping
}

/// The stranger with one letter under way.
struct Writing {
    now: Instant,
    writer: Writer,
    dice: Dice,
    said: Vec<Bytes>,
    answers: usize,
    letter: Digest,
}

impl Writing {
    fn new() -> Self {
        let (mut writer, mut dice, now) = (Writer::default(), Dice(8), Instant(1));
        writer.link_up(now, world().founders[0].node());
        let text = (transcript().group(), Bytes::from_static(b"hello"));
        let letter = writer.write(now, text, &world().stranger, &mut dice).expect("a legal text");
        let mut writing = Self { now, writer, dice, said: Vec::new(), answers: 0, letter };
        writing.drain();
        writing
    }

    fn hear(&mut self, from: &Identity, word: &[u8]) {
        let (me, roster) = (&world().stranger, transcript().roster());
        let _ = self.writer.hear(self.now, (from.node(), word), roster, me, &mut self.dice);
        self.drain();
    }

    fn drain(&mut self) {
        let mut count = 0;
        while let Some(output) = self.writer.poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            match output {
                WriterOutput::Guest { payload, .. } => self.said.push(payload),
                WriterOutput::Event(folkmoot_letters::WriterEvent::Answer { .. }) => self.answers += 1,
                WriterOutput::Event(_) => {}
            }
        }
    }
}

/// A writer: words of its contact and of another; time; links.
pub fn letters_writer(data: &[u8]) {
    writing_after(data);
}

fn writing_after(data: &[u8]) -> Writing {
    let mut writing = Writing::new();
    let (alice, bob) = (&world().founders[0], &world().founders[1]);
    for (op, body) in steps(data) {
        match op % 8 {
            0..=2 => writing.hear(alice, body),
            3 => writing.hear(bob, body),
            4 => writing.writer.link_up(writing.now, bob.node()),
            5 => writing.writer.link_down(writing.now, &alice.node()),
            _ => {
                writing.now = writing.now + Duration::from_millis(number(body));
                writing.writer.timeout(writing.now);
            }
        }
        writing.drain();
    }
    writing
}

/// Seeds: each word; a letter taken in and answered; what a writer hears until it is answered.
pub(crate) fn letters_seeds() -> [Vec<Vec<u8>>; 3] {
    let (mut keeping, mut writing, alice) = (Keeping::new(), Writing::new(), &world().founders[0]);
    let (mut to_desk, mut to_writer): (Vec<Bytes>, Vec<Bytes>) = (Vec::new(), Vec::new());
    let from = world().stranger.node();
    let mut talk = |keeping: &mut Keeping, writing: &mut Writing| {
        for payload in std::mem::take(&mut writing.said) {
            to_desk.push(payload.clone());
            keeping.take(DeskInput::Guest { from, payload });
        }
        for payload in std::mem::take(&mut keeping.said) {
            assert!(is_for_writer(&payload));
            to_writer.push(payload.clone());
            writing.hear(alice, &payload);
        }
    };
    talk(&mut keeping, &mut writing);
    talk(&mut keeping, &mut writing);
    keeping.take(DeskInput::Answer { letter: writing.letter, text: Bytes::from_static(b"good day") });
    talk(&mut keeping, &mut writing);
    let answer = [&writing.letter[..], b"good day"].concat();
    let words = to_desk.iter().chain(&to_writer).chain(&keeping.ordered).map(|word| word.to_vec());
    let words: Vec<Vec<u8>> = words.collect();
    let poll = GuestMessage::Poll { group: transcript().group(), letter: writing.letter, have: Vec::new() };
    let mut at_desk: Vec<(u8, Vec<u8>)> = to_desk.iter().map(|word| (0, word.to_vec())).collect();
    at_desk.extend([(6, answer), (0, codec::encode(&poll)), (15, vec![]), (0, codec::encode(&poll))]);
    let heard: Vec<(u8, Vec<u8>)> = to_writer.iter().map(|word| (0, word.to_vec())).collect();
    let late = script([(6, vec![0xff, 0xff]), (6, vec![0xff, 0xff]), (4, vec![]), (5, vec![])]);
    [words, vec![script(at_desk)], vec![script(heard), late]]
}

#[cfg(test)]
mod tests {
    use super::{keeping_after, letters_seeds, writing_after};

    #[test]
    fn seeds_lead_to_a_letter_and_its_answer() {
        let [words, desk, writer] = letters_seeds();
        assert_eq!(words.len(), 7, "ask, letter; key, standing, answer; both in the group");
        assert_eq!(keeping_after(&desk[0]).ordered.len(), 2);
        assert_eq!(writing_after(&writer[0]).answers, 1);
    }
}
