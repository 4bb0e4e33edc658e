//! The writer's side: asks for the key, seals the letter to it, and keeps asking until it has the
//! answers.

use crate::base::sealing::{Hybrid, seal};
use crate::base::{Blob, Digest, Entropy, GroupId, Instant, NodeId, Party, codec, draw};
use crate::desk::{answer_info, door_content, is_door, is_signed, letter_info, sign};
use crate::identity::Identity;
use crate::message::{self, Answer, AnswerBody, GuestMessage, LetterBody, Standing};
use crate::{ContactKey, Sealed};
use crate::{DRAFTS_MAX, LettersError, TEXT_BYTES_MAX};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_transcript::Roster;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// First pause before a message is sent again; doubled each time, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(500);
/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(8);
/// Most contacts that a writer knows.
const CONTACTS_MAX: usize = 8;
/// Unanswered messages after which another contact comes first.
const PATIENCE: u32 = 3;

/// An output of the writer.
#[derive(Debug, Clone)]
pub enum WriterOutput {
    /// To a contact, over our link.
    Guest {
        /// The contact.
        to: NodeId,
        /// The message.
        payload: Bytes,
    },
    /// For the application.
    Event(WriterEvent),
}

/// An event for the application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriterEvent {
    /// The state of a letter has changed. After [`Standing::Closed`] and [`Standing::Refused`] the
    /// letter is given up.
    Standing {
        /// Which letter.
        letter: Digest,
        /// The new state.
        standing: Standing,
    },
    /// A member of the group answers.
    Answer {
        /// Which letter.
        letter: Digest,
        /// The party that answers, whose member signed the answer.
        by: Party,
        /// The text.
        text: Bytes,
    },
}

/// The next step of a letter.
#[derive(Debug)]
enum Stage {
    Asking,
    Writing { epoch: [u8; 8], sealed: Sealed },
    Waiting,
}

#[derive(Debug)]
struct Draft {
    group: GroupId,
    nonce: [u8; 16],
    text: Bytes,
    reply: ContactKey,
    /// The nonce that the next Key must repeat.
    ask: [u8; 16],
    stage: Stage,
    told: Option<Standing>,
    have: BTreeSet<Digest>,
    pause: Duration,
    at: Instant,
}

/// A stranger that writes letters.
#[derive(Debug, Default)]
pub struct Writer {
    contacts: Vec<NodeId>,
    unanswered: u32,
    drafts: BTreeMap<Digest, Draft>,
    out: VecDeque<WriterOutput>,
}

impl Writer {
    /// Begins a letter of 1 to [`TEXT_BYTES_MAX`] bytes. Returns the letter's id. Draws randomness.
    ///
    /// # Errors
    /// [`LettersError::LocalText`], [`LettersError::LocalFull`].
    pub fn write(
        &mut self,
        now: Instant,
        (group, text): (GroupId, Bytes),
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<Digest, LettersError> {
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            return Err(LettersError::LocalText(text.len()));
        }
        if self.drafts.len() >= DRAFTS_MAX {
            let answered = self.drafts.iter().find(|(_, draft)| !draft.have.is_empty()).map(|(id, _)| *id);
            self.drafts.remove(&answered.ok_or(LettersError::LocalFull(DRAFTS_MAX))?);
        }
        let nonce = draw(entropy);
        let id = message::letter_id(&group, &identity.member(), &nonce);
        let (reply, ask) = (ContactKey::draw(entropy), draw(entropy));
        let stage = Stage::Asking;
        let have = BTreeSet::new();
        let draft = Draft { group, nonce, text, reply, ask, stage, told: None, have, pause: PAUSE, at: now };
        self.drafts.insert(id, draft);
        self.timeout(now);
        Ok(id)
    }

    /// A node can be reached.
    pub fn link_up(&mut self, now: Instant, node: NodeId) {
        if !self.contacts.contains(&node) && self.contacts.len() < CONTACTS_MAX {
            self.contacts.push(node);
            self.hurry(now);
        }
    }

    /// A node can no longer be reached.
    pub fn link_down(&mut self, now: Instant, node: &NodeId) {
        self.contacts.retain(|contact| contact != node);
        self.hurry(now);
    }

    /// When to call [`Self::timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let next = self.drafts.values().map(|draft| draft.at).min();
        next.filter(|_| !self.contacts.is_empty())
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<WriterOutput> {
        self.out.pop_front()
    }

    /// Sends again what was not answered.
    pub fn timeout(&mut self, now: Instant) {
        if self.unanswered >= PATIENCE && self.contacts.len() > 1 {
            self.unanswered = 0;
            self.contacts.rotate_left(1);
        }
        let Some(to) = self.contacts.first().copied() else { return };
        for (id, draft) in &mut self.drafts {
            if draft.at > now {
                continue;
            }
            draft.at = now + draft.pause;
            draft.pause = draft.pause.saturating_mul(2).min(PAUSE_MAX);
            let payload = codec::encode(&draft.message(id)).into();
            self.unanswered = self.unanswered.saturating_add(1);
            self.out.push_back(WriterOutput::Guest { to, payload });
        }
    }

    fn hurry(&mut self, now: Instant) {
        for draft in self.drafts.values_mut() {
            (draft.at, draft.pause) = (now, PAUSE);
        }
        self.timeout(now);
    }

    /// A message from a contact.
    ///
    /// # Errors
    /// [`LettersError`]; nothing changed.
    pub fn hear(
        &mut self,
        now: Instant,
        (from, payload): (NodeId, &[u8]),
        roster: &Roster,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LettersError> {
        match message::decode(payload)? {
            GuestMessage::Key { view, epoch, key, by, nonce, signature } => {
                let asked = self.drafts.iter_mut().find(|(_, draft)| draft.ask == nonce);
                let (_, draft) = asked.ok_or(LettersError::PeerOtherKey(from))?;
                let content = door_content(&view, &epoch, &key, identity.node(), &nonce);
                if view.group != draft.group || !matches!(draft.stage, Stage::Asking) {
                    return Err(LettersError::PeerOtherKey(from));
                }
                if !is_door(roster, &by, &content, &signature) {
                    return Err(LettersError::PeerNotMember(by));
                }
                let letter = codec::encode(&sign(draft.body(view, epoch, identity), identity));
                let sealed = seal::<Hybrid>(&key.0, &letter_info(&view, &epoch), &letter, entropy);
                let sealed = sealed.ok_or(LettersError::PeerOtherKey(from))?;
                draft.stage = Stage::Writing { epoch, sealed };
                (draft.at, draft.pause) = (now, PAUSE);
                self.unanswered = 0;
                self.timeout(now);
                Ok(())
            }
            GuestMessage::Standing { letter, standing } => {
                self.stand(now, from, letter, standing, entropy);
                Ok(())
            }
            GuestMessage::Answer { letter, sealed } => self.answer(from, letter, &sealed, roster),
            GuestMessage::Ask { .. } | GuestMessage::Letter { .. } | GuestMessage::Poll { .. } => {
                Err(LettersError::PeerOutOfTurn(from))
            }
        }
    }

    /// The state of a letter. Zeros stand for what we last asked or sent without an id of its own.
    fn stand(
        &mut self,
        now: Instant,
        from: NodeId,
        letter: Digest,
        standing: Standing,
        entropy: &mut dyn Entropy,
    ) {
        if self.contacts.first() != Some(&from) {
            return;
        }
        self.unanswered = 0;
        let named = |id: &Digest, draft: &Draft| {
            *id == letter || (letter == [0; 32] && !matches!(draft.stage, Stage::Waiting))
        };
        let ids: Vec<Digest> =
            self.drafts.iter().filter(|(id, draft)| named(id, draft)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(draft) = self.drafts.get_mut(&id) else { continue };
            match standing {
                Standing::Delivered => draft.stage = Stage::Waiting,
                Standing::Stale | Standing::Unknown => {
                    draft.stage = Stage::Asking;
                    draft.ask = draw(entropy);
                    draft.at = draft.at.min(now + PAUSE);
                }
                // Another contact may have room, or a key.
                Standing::NotHere | Standing::Full => self.unanswered = PATIENCE,
                Standing::Closed | Standing::Refused => {}
            }
            if draft.told.replace(standing) != Some(standing) {
                self.out.push_back(WriterOutput::Event(WriterEvent::Standing { letter: id, standing }));
            }
            if matches!(standing, Standing::Closed | Standing::Refused) {
                self.drafts.remove(&id);
            }
        }
    }

    /// LET-10: an answer that opens with our key, and that a member signed.
    fn answer(
        &mut self,
        from: NodeId,
        letter: Digest,
        sealed: &Sealed,
        roster: &Roster,
    ) -> Result<(), LettersError> {
        let draft = self.drafts.get_mut(&letter).ok_or(LettersError::UnknownLetter)?;
        let opened = draft.reply.open(&answer_info(&draft.group, &letter), sealed);
        let answer: Answer = message::decode(&opened.ok_or(LettersError::PeerSealed(from))?)?;
        message::check_text(&answer.body.text)?;
        if answer.body.group != draft.group || answer.body.letter != letter || !is_signed(&answer, roster) {
            return Err(LettersError::PeerNotMember(answer.body.by.member));
        }
        self.unanswered = 0;
        draft.stage = Stage::Waiting;
        if draft.have.len() < crate::ANSWERS_MAX && draft.have.insert(answer.id()) {
            let AnswerBody { by, text: Blob(text), .. } = answer.body;
            self.out.push_back(WriterOutput::Event(WriterEvent::Answer { letter, by, text }));
        }
        Ok(())
    }
}

impl Draft {
    fn body(&self, view: crate::base::ViewId, epoch: [u8; 8], identity: &Identity) -> LetterBody {
        let certificate = Blob(identity.certificate().der().clone());
        let (reply, text) = (self.reply.public().to_vec().into(), Blob(self.text.clone()));
        LetterBody { view, epoch, certificate, nonce: self.nonce, reply, text }
    }

    fn message(&self, id: &Digest) -> GuestMessage {
        let group = self.group;
        match &self.stage {
            Stage::Asking => GuestMessage::Ask { group, nonce: self.ask },
            Stage::Writing { epoch, sealed } => {
                GuestMessage::Letter { group, epoch: *epoch, sealed: sealed.clone() }
            }
            Stage::Waiting => {
                GuestMessage::Poll { group, letter: *id, have: self.have.iter().copied().collect() }
            }
        }
    }
}
