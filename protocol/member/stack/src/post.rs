//! Letters: from a stranger to the group, and the group's answers. A member receives and answers;
//! anyone outside the group writes.

use crate::Member;
use crate::SendError;
use crate::api::Event;
use crate::group_stack::{GroupStack, Manner};
use crate::order::Accepted;
use base::{Digest, Entropy, GroupId, Instant, NodeId, Party, Refused, Service};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_identity::Minority;
use folkmoot_letters::{Counter, DeskInput, DeskOutput, Front, WriterEvent, WriterOutput, is_for_writer};
use folkmoot_session::{Content, LettersSeed};

/// How messages of this layer are sent to the group.
const MANNER: Manner = Manner { service: Service::Agreed, signed: false, content: Content::Letters };

/// The epoch under which the group of this stack may be written to.
fn front(stack: &GroupStack) -> Option<Front<'_>> {
    let LettersSeed { view, epoch, seed } = stack.session.letters()?;
    (stack.minority == Minority::Continue).then_some(Front { view, epoch, seed })
}

impl Member {
    /// The application writes to a group that it is not in.
    pub(crate) fn write_letter(
        &mut self,
        now: Instant,
        group: GroupId,
        text: Bytes,
        entropy: &mut dyn Entropy,
    ) -> Result<Accepted, Refused> {
        let written = self.writer.write(now, (group, text), &self.config.identity, entropy);
        if let Ok(letter) = written {
            self.event(Event::LetterStands { letter, standing: None });
        }
        self.drain_writer();
        let letter = written.map_err(|error| SendError::Letter(error).refused())?;
        Ok(Accepted { subject: Some(letter), stands: None })
    }

    /// The application answers a letter to one of its groups.
    pub(crate) fn answer_letter(
        &mut self,
        now: Instant,
        letter: Digest,
        text: Bytes,
        entropy: &mut dyn Entropy,
    ) -> Result<Accepted, Refused> {
        let answered = self.at_desk(now, DeskInput::Answer { letter, text }, entropy);
        // The messages sent may have used the key up.
        self.settle_all(now, entropy);
        answered.map_err(|error| error.refused())?;
        Ok(Accepted { subject: Some(letter), stands: None })
    }

    /// A message over a guest's link, ours or another's.
    pub(crate) fn guest_word(
        &mut self,
        now: Instant,
        from: NodeId,
        payload: Bytes,
        entropy: &mut dyn Entropy,
    ) {
        let done = if is_for_writer(&payload) {
            let (roster, identity) = (self.transcript.roster(), &self.config.identity);
            let done = self.writer.hear(now, (from, &payload), roster, identity, entropy);
            self.drain_writer();
            done.map_err(SendError::Letter)
        } else {
            self.at_desk(now, DeskInput::Guest { from, payload }, entropy)
        };
        if let Err(error) = done {
            self.refuse("letters", &error);
        }
        self.settle_all(now, entropy);
    }

    /// A message that a member sealed for the group.
    pub(crate) fn member_word(
        &mut self,
        now: Instant,
        (group, sender): (GroupId, Party),
        payload: Bytes,
        entropy: &mut dyn Entropy,
    ) {
        if let Err(error) = self.at_desk(now, DeskInput::Member { group, sender, payload }, entropy) {
            self.refuse("letters", &error);
        }
    }

    pub(crate) fn post_link(&mut self, now: Instant, node: NodeId, up: bool, entropy: &mut dyn Entropy) {
        if up {
            self.writer.link_up(now, node);
        } else {
            self.writer.link_down(now, &node);
            // Forgetting cannot fail.
            let _ = self.at_desk(now, DeskInput::LinkDown(node), entropy);
        }
        self.drain_writer();
    }

    pub(crate) fn wake_writer(&mut self, now: Instant) {
        if self.writer.poll_timeout().is_some_and(|at| at <= now) {
            self.writer.timeout(now);
            self.drain_writer();
        }
    }

    fn at_desk(
        &mut self,
        now: Instant,
        input: DeskInput,
        entropy: &mut dyn Entropy,
    ) -> Result<(), SendError> {
        let (stacks, roster) = (&self.stacks, self.transcript.roster());
        let front = |group: &GroupId| stacks.get(group).and_then(front);
        let counter =
            Counter { now, identity: &self.config.identity, port: self.config.port, roster, front: &front };
        let done = self.desk.handle(&counter, input, entropy);
        let sent = self.drain_desk();
        done.map_err(SendError::Letter).and(sent)
    }

    /// Passes on what the desk puts out. The error is that of the first message to the group that
    /// could not be sent.
    fn drain_desk(&mut self) -> Result<(), SendError> {
        let mut sent = Ok(());
        while let Some(output) = self.desk.poll_output() {
            match output {
                DeskOutput::Guest { to, payload } => self.tell_guest(to, payload),
                DeskOutput::Multicast { group, payload } => {
                    sent = sent.and(self.try_send(group, MANNER, payload));
                }
                DeskOutput::Event(event) => self.event(Event::Letter(event)),
            }
        }
        sent
    }

    fn drain_writer(&mut self) {
        while let Some(output) = self.writer.poll_output() {
            match output {
                WriterOutput::Guest { to, payload } => self.tell_guest(to, payload),
                WriterOutput::Event(WriterEvent::Standing { letter, standing }) => {
                    self.event(Event::LetterStands { letter, standing: Some(standing) });
                }
                WriterOutput::Event(WriterEvent::Answer { letter, by, text }) => {
                    self.event(Event::Answer { letter, by, text });
                }
            }
        }
    }
}
