//! A party's side: tells guests the key, receives letters, sends answers.

use crate::base::sealing::{Hybrid, seal};
use crate::base::{
    Blob, Digest, Entropy, GroupId, Instant, MemberId, NodeId, Party, Secret, ViewId, codec, draw,
};
use crate::identity::{Identity, IdentityCertificate};
use crate::ledger::{HeldLetter, Ledger};
use crate::message::{self, Answer, AnswerBody, GuestMessage, Letter, MemberMessage, Standing};
use crate::pace::Pace;
use crate::{ANSWERS_MAX, LettersError, TEXT_BYTES_MAX};
use crate::{ContactKey, Sealed};
use bytes::Bytes;
use folkmoot_base::SignatureBytes;
use folkmoot_transcript::Roster;
use std::collections::VecDeque;

const KEY_LABEL: &[u8] = b"folkmoot door v1";
const LETTER_LABEL: &[u8] = b"folkmoot letter v1";
const ANSWER_LABEL: &[u8] = b"folkmoot answer v1";
/// In place of a letter's id, in a Standing that answers an Ask.
const NO_LETTER: Digest = [0; 32];

/// The epoch under which a group may be written to now.
#[derive(Debug, Clone, Copy)]
pub struct Front<'a> {
    /// In which view.
    pub view: ViewId,
    /// The epoch's public tag.
    pub epoch: [u8; 8],
    /// The seed of the contact's key: from session, for this epoch and this use.
    pub seed: &'a Secret<[u8; 32]>,
}

/// The surroundings of a call.
#[derive(Clone, Copy)]
pub struct Counter<'a> {
    /// The time.
    pub now: Instant,
    /// Our member's key and certificate.
    pub identity: &'a Identity,
    /// Which of the member's programs we are.
    pub port: u16,
    /// The roster, which says who is a member, and the charter.
    pub roster: &'a Roster,
    /// The present epoch of a group that this party is in, as long as messages may be sealed under
    /// it.
    pub front: &'a dyn Fn(&GroupId) -> Option<Front<'a>>,
}

impl Counter<'_> {
    fn me(&self) -> Party {
        Party::new(self.identity.member(), self.port)
    }
}

/// An input of the desk.
#[derive(Debug, Clone)]
pub enum DeskInput {
    /// A guest's message ([`message::is_guest_message`]).
    Guest {
        /// The guest.
        from: NodeId,
        /// The message.
        payload: Bytes,
    },
    /// A party's message, opened by session, in the group's order.
    Member {
        /// In which group.
        group: GroupId,
        /// The party that sent it.
        sender: Party,
        /// The message.
        payload: Bytes,
    },
    /// The application answers a letter.
    Answer {
        /// Which letter.
        letter: Digest,
        /// The text: 1 to [`TEXT_BYTES_MAX`] bytes.
        text: Bytes,
    },
    /// A link went down.
    LinkDown(NodeId),
}

/// An output of the desk.
#[derive(Debug, Clone)]
pub enum DeskOutput {
    /// To a guest, over its link.
    Guest {
        /// The guest.
        to: NodeId,
        /// The message.
        payload: Bytes,
    },
    /// To all parties of the group: to be sealed by session as a message of this layer, agreed.
    Multicast {
        /// To which group.
        group: GroupId,
        /// The message.
        payload: Bytes,
    },
    /// For the application.
    Event(LetterEvent),
}

/// What a member hears of the letters to its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LetterEvent {
    /// A stranger wrote to the group. All parties of the view hear it, in one order with everything
    /// else.
    Came {
        /// To which group.
        group: GroupId,
        /// The letter's id, for answers.
        letter: Digest,
        /// The identity that signed it.
        writer: MemberId,
        /// The name that the writer gives itself; nobody vouches for it.
        name: String,
        /// The text.
        text: Bytes,
    },
    /// A party answered a letter; the answer goes to its writer.
    Answered {
        /// In which group.
        group: GroupId,
        /// Which letter.
        letter: Digest,
        /// The party that answered.
        by: Party,
        /// The text.
        text: Bytes,
    },
}

/// A party's desk, for all its groups.
#[derive(Debug, Default)]
pub struct Desk {
    ledger: Ledger,
    pace: Pace,
    out: VecDeque<DeskOutput>,
}

/// A letter with a valid signature.
struct Read {
    id: Digest,
    certificate: IdentityCertificate,
}

impl Desk {
    /// Takes one input.
    ///
    /// # Errors
    /// [`LettersError`]: nothing changed, but a guest may have been told why.
    ///
    /// # Source
    /// docs/protocol/letters.md, rules LET-01 to LET-11.
    pub fn handle(
        &mut self,
        counter: &Counter<'_>,
        input: DeskInput,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LettersError> {
        match input {
            DeskInput::Guest { from, payload } => self.guest(counter, from, &payload, entropy),
            DeskInput::Member { group, sender, payload } => match message::decode(&payload)? {
                MemberMessage::Letter { letter } => self.delivered(counter, group, &letter),
                MemberMessage::Answer { answer } => self.answered(counter, group, sender, &answer, entropy),
            },
            DeskInput::Answer { letter, text } => self.answer(counter, letter, text, entropy),
            DeskInput::LinkDown(node) => {
                self.pace.down(&node);
                Ok(())
            }
        }
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<DeskOutput> {
        self.out.pop_front()
    }

    fn guest(
        &mut self,
        counter: &Counter<'_>,
        from: NodeId,
        payload: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(), LettersError> {
        if !self.pace.may_speak(from, counter.now) {
            return Err(LettersError::PeerTooOften(from));
        }
        let message = message::decode(payload)?;
        let writes = matches!(message, GuestMessage::Ask { .. } | GuestMessage::Letter { .. });
        if let Some((standing, error)) = closed(counter, from).filter(|_| writes) {
            self.stand(from, NO_LETTER, standing);
            return Err(error);
        }
        match message {
            GuestMessage::Ask { group, nonce } => self.ask(counter, from, &group, nonce),
            GuestMessage::Letter { group, epoch, sealed } => {
                self.letter(counter, from, (group, epoch), &sealed, entropy)
            }
            GuestMessage::Poll { group, letter, have } => {
                message::check_have(&have)?;
                self.poll(from, &group, letter, &have, entropy);
                Ok(())
            }
            GuestMessage::Key { .. } | GuestMessage::Standing { .. } | GuestMessage::Answer { .. } => {
                Err(LettersError::PeerOutOfTurn(from))
            }
        }
    }

    fn ask(
        &mut self,
        counter: &Counter<'_>,
        from: NodeId,
        group: &GroupId,
        nonce: [u8; 16],
    ) -> Result<(), LettersError> {
        let Some(front) = (counter.front)(group) else {
            self.stand(from, NO_LETTER, Standing::NotHere);
            return Ok(());
        };
        let key: Blob = ContactKey::derive(front.seed).public().to_vec().into();
        let content = door_content(&front.view, &front.epoch, &key, from, &nonce);
        let signature = counter.identity.key().sign_wire(KEY_LABEL, &content);
        let (view, epoch, by) = (front.view, front.epoch, counter.identity.member());
        self.say(from, &GuestMessage::Key { view, epoch, key, by, nonce, signature });
        Ok(())
    }

    fn letter(
        &mut self,
        counter: &Counter<'_>,
        from: NodeId,
        (group, epoch): (GroupId, [u8; 8]),
        sealed: &Sealed,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LettersError> {
        let front = match (counter.front)(&group) {
            None => return self.stands(from, NO_LETTER, Standing::NotHere),
            Some(front) if front.epoch != epoch => return self.stands(from, NO_LETTER, Standing::Stale),
            Some(front) => front,
        };
        let read = open(&front, from, sealed).and_then(|letter| {
            let read = verify(&letter, &group, Some(from))?;
            let here = letter.body.view == front.view && letter.body.epoch == front.epoch;
            if here { Ok((letter, read)) } else { Err(LettersError::PeerOtherEpoch) }
        });
        let (letter, read) = match read {
            Ok(read) => read,
            Err(error) => {
                self.stand(from, NO_LETTER, Standing::Refused);
                return Err(error);
            }
        };
        if self.ledger.get(&read.id).is_some() {
            self.poll(from, &group, read.id, &[], entropy);
            return Ok(());
        }
        if !self.pace.may_write(counter.now) {
            return self.stands(from, read.id, Standing::Full);
        }
        let payload = codec::encode(&MemberMessage::Letter { letter }).into();
        self.out.push_back(DeskOutput::Multicast { group, payload });
        Ok(())
    }

    /// Sends what the writer does not have yet.
    fn poll(
        &mut self,
        from: NodeId,
        group: &GroupId,
        letter: Digest,
        have: &[Digest],
        entropy: &mut dyn Entropy,
    ) {
        let known = self.ledger.get(&letter).filter(|held| held.writer == from && held.group == *group);
        let Some(held) = known else { return self.stand(from, letter, Standing::Unknown) };
        let lacking = held.answers.iter().filter(|(id, _)| !have.contains(id)).map(|(_, answer)| answer);
        let messages: Vec<GuestMessage> =
            lacking.filter_map(|answer| sealed_answer(held, answer, entropy)).collect();
        self.stand(from, letter, Standing::Delivered);
        messages.iter().for_each(|message| self.say(from, message));
    }

    /// A letter in the group's order.
    fn delivered(
        &mut self,
        counter: &Counter<'_>,
        group: GroupId,
        letter: &Letter,
    ) -> Result<(), LettersError> {
        let Read { id, certificate } = verify(letter, &group, None)?;
        let writer = certificate.member();
        if let Some((_, error)) = closed(counter, writer.node()) {
            return Err(error);
        }
        let reply = letter.body.reply.0.clone();
        if self.ledger.enter(id, HeldLetter { group, writer: writer.node(), reply, answers: Vec::new() }) {
            let (name, text) = (certificate.name().to_owned(), letter.body.text.0.clone());
            let event = LetterEvent::Came { group, letter: id, writer, name, text };
            self.out.push_back(DeskOutput::Event(event));
        } else {
            self.answer_again(group, &id, counter.me());
        }
        if self.pace.is_here(&writer.node()) {
            self.stand(writer.node(), id, Standing::Delivered);
        }
        Ok(())
    }

    /// A letter came again: some contact did not know it, nor our answers. Those of our member's
    /// other parties are for these to repeat.
    fn answer_again(&mut self, group: GroupId, letter: &Digest, me: Party) {
        let Some(held) = self.ledger.get(letter) else { return };
        for (_, answer) in held.answers.iter().filter(|(_, answer)| answer.body.by == me) {
            let payload = codec::encode(&MemberMessage::Answer { answer: answer.clone() }).into();
            self.out.push_back(DeskOutput::Multicast { group, payload });
        }
    }

    fn answer(
        &mut self,
        counter: &Counter<'_>,
        letter: Digest,
        text: Bytes,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LettersError> {
        let held = self.ledger.get(&letter).ok_or(LettersError::UnknownLetter)?;
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            return Err(LettersError::LocalText(text.len()));
        }
        if held.answers.len() >= ANSWERS_MAX {
            return Err(LettersError::LocalFull(ANSWERS_MAX));
        }
        let (group, by) = (held.group, counter.me());
        let body = AnswerBody { group, letter, by, nonce: draw(entropy), text: text.into() };
        let signature = counter.identity.key().sign_wire(ANSWER_LABEL, &codec::encode(&body));
        let payload = codec::encode(&MemberMessage::Answer { answer: Answer { body, signature } }).into();
        self.out.push_back(DeskOutput::Multicast { group, payload });
        Ok(())
    }

    /// LET-10: an answer in the group's order.
    fn answered(
        &mut self,
        counter: &Counter<'_>,
        group: GroupId,
        sender: Party,
        answer: &Answer,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LettersError> {
        message::check_text(&answer.body.text)?;
        if answer.body.group != group || answer.body.by != sender || !is_signed(answer, counter.roster) {
            return Err(LettersError::PeerNotMember(sender.member));
        }
        let new = self.ledger.answered(answer.id(), answer);
        let AnswerBody { letter, by, text, .. } = &answer.body;
        let known = self.ledger.get(letter);
        if known.is_some() && !new {
            return Ok(());
        }
        let here = known.filter(|held| self.pace.is_here(&held.writer));
        let message = here.and_then(|held| Some((held.writer, sealed_answer(held, answer, entropy)?)));
        if let Some((writer, message)) = message {
            self.say(writer, &message);
        }
        let event = LetterEvent::Answered { group, letter: *letter, by: *by, text: text.0.clone() };
        self.out.push_back(DeskOutput::Event(event));
        Ok(())
    }

    fn stands(&mut self, to: NodeId, letter: Digest, standing: Standing) -> Result<(), LettersError> {
        self.stand(to, letter, standing);
        Ok(())
    }

    fn stand(&mut self, to: NodeId, letter: Digest, standing: Standing) {
        self.say(to, &GuestMessage::Standing { letter, standing });
    }

    fn say(&mut self, to: NodeId, message: &GuestMessage) {
        self.out.push_back(DeskOutput::Guest { to, payload: codec::encode(message).into() });
    }
}

/// LET-09: whether this writer may not write, or nobody may.
fn closed(counter: &Counter<'_>, writer: NodeId) -> Option<(Standing, LettersError)> {
    if counter.roster.is_member(&writer.member()) {
        return Some((Standing::Refused, LettersError::PeerMember(writer.member())));
    }
    (!counter.roster.charter().letters()).then_some((Standing::Closed, LettersError::LocalClosed))
}

/// What a contact signs when it tells a writer the key.
pub(crate) fn door_content(
    view: &ViewId,
    epoch: &[u8; 8],
    key: &Blob,
    writer: NodeId,
    nonce: &[u8; 16],
) -> Vec<u8> {
    [&view.group.0[..], &codec::encode(view), epoch, &writer.0, nonce, &key.0].concat()
}

/// Whether `by` is a member now, and signed this.
pub(crate) fn is_door(roster: &Roster, by: &MemberId, content: &[u8], signature: &SignatureBytes) -> bool {
    let key = roster.member(by).map(|admission| &admission.key);
    key.is_some_and(|key| key.verify_wire(KEY_LABEL, content, signature).is_ok())
}

/// Whether the member of the party that the answer names is a member now, and signed the answer.
pub(crate) fn is_signed(answer: &Answer, roster: &Roster) -> bool {
    let key = roster.member(&answer.body.by.member).map(|admission| &admission.key);
    key.is_some_and(|key| {
        key.verify_wire(ANSWER_LABEL, &codec::encode(&answer.body), &answer.signature).is_ok()
    })
}

/// What a letter is bound to when it is sealed, besides the key.
pub(crate) fn letter_info(view: &ViewId, epoch: &[u8; 8]) -> Vec<u8> {
    [LETTER_LABEL, &view.group.0, &codec::encode(view), epoch].concat()
}

/// What an answer is bound to when it is sealed, besides the key.
pub(crate) fn answer_info(group: &GroupId, letter: &Digest) -> Vec<u8> {
    [ANSWER_LABEL, &group.0, letter].concat()
}

/// The writer's signature on a letter.
pub(crate) fn sign(body: message::LetterBody, identity: &Identity) -> Letter {
    let signature = identity.key().sign_wire(LETTER_LABEL, &codec::encode(&body));
    Letter { body, signature }
}

/// LET-07.
fn open(front: &Front<'_>, from: NodeId, sealed: &Sealed) -> Result<Letter, LettersError> {
    let key = ContactKey::derive(front.seed);
    let opened = key.open(&letter_info(&front.view, &front.epoch), sealed);
    message::decode(&opened.ok_or(LettersError::PeerSealed(from))?)
}

/// LET-08: the certificate is its holder's own, and the signature is the holder's over this letter
/// to this group. If it is known who brought the letter, that is the holder.
fn verify(letter: &Letter, group: &GroupId, from: Option<NodeId>) -> Result<Read, LettersError> {
    message::check_text(&letter.body.text)?;
    if letter.body.view.group != *group {
        return Err(LettersError::PeerOtherEpoch);
    }
    let nobody = LettersError::PeerLetter(from.unwrap_or(NodeId([0; 32])));
    let certificate =
        IdentityCertificate::from_der(&letter.body.certificate.0).map_err(|_| nobody.clone())?;
    let content = codec::encode(&letter.body);
    let stands = certificate.key().verify_wire(LETTER_LABEL, &content, &letter.signature).is_ok();
    if !stands || from.is_some_and(|from| certificate.node() != from) {
        return Err(nobody);
    }
    let id = message::letter_id(group, &certificate.member(), &letter.body.nonce);
    Ok(Read { id, certificate })
}

fn sealed_answer(held: &HeldLetter, answer: &Answer, entropy: &mut dyn Entropy) -> Option<GuestMessage> {
    let letter = answer.body.letter;
    let info = answer_info(&held.group, &letter);
    let sealed = seal::<Hybrid>(&held.reply, &info, &codec::encode(answer), entropy)?;
    Some(GuestMessage::Answer { letter, sealed })
}

/// Seals any letter to an epoch's key: for tests of what members refuse.
#[doc(hidden)]
pub fn danger_seal_letter(
    key: &[u8],
    (view, epoch): (&ViewId, &[u8; 8]),
    letter: &Letter,
    entropy: &mut dyn Entropy,
) -> Option<Sealed> {
    seal::<Hybrid>(key, &letter_info(view, epoch), &codec::encode(letter), entropy)
}

/// Seals any answer to a writer's key: for tests of what writers refuse.
#[doc(hidden)]
pub fn danger_seal_answer(reply: &[u8], answer: &Answer, entropy: &mut dyn Entropy) -> Option<Sealed> {
    let info = answer_info(&answer.body.group, &answer.body.letter);
    seal::<Hybrid>(reply, &info, &codec::encode(answer), entropy)
}
