//! Dials out: Hello after Hello, until somebody proves an identity or nobody answers.

mod dial;

pub(crate) use dial::Target;

use crate::call::Around;
use crate::handshake::Proved;
use crate::limits::DIALS_MAX;
use crate::message::{Cookie, Part};
use crate::routes::Route;
use crate::{Exchange, LinkError, Output};
use bytes::BytesMut;
use dial::{Dial, Progress};
use folkmoot_base::{Entropy, Instant, Locator, draw};
use std::collections::BTreeMap;

/// The dials on their way, by our index.
#[derive(Debug, Default)]
pub(crate) struct Dials(BTreeMap<u32, Dial>);

impl Dials {
    /// Whether such a dial is on its way (LINK-20).
    pub(crate) fn runs(&self, target: &Target) -> bool {
        let same = |dial: &Dial| {
            let known = dial.target();
            known.at == target.at
                && (known.node == target.node || target.node.is_none())
                && known.rekey == target.rekey
        };
        self.0.values().any(same)
    }

    pub(crate) fn start(
        &mut self,
        now: Instant,
        target: Target,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        if self.0.len() >= DIALS_MAX {
            return Err(LinkError::LocalDials);
        }
        let index = around.routes.unused(entropy);
        let dial = Dial::new(now, around.own, target, index, draw(entropy))?;
        around.routes.set(index, Route::Dial);
        self.0.insert(index, dial);
        self.send(now, index, around);
        Ok(())
    }

    fn send(&mut self, now: Instant, index: u32, around: &mut Around<'_>) {
        let Some(dial) = self.0.get_mut(&index) else { return };
        let datagrams = dial.send(now);
        around.out.transmit(&dial.target().at, datagrams);
        around.out.note(dial.resend());
    }

    /// Sends again what was not answered; gives up what was not answered for too long.
    pub(crate) fn redial(&mut self, now: Instant, around: &mut Around<'_>) {
        let due = self.0.iter().filter(|(_, dial)| dial.resend() <= now);
        let due: Vec<(u32, bool)> = due.map(|(index, dial)| (*index, dial.is_over(now))).collect();
        for (index, over) in due {
            if over { self.end(index, around) } else { self.send(now, index, around) }
        }
    }

    /// When to call [`Self::redial`].
    pub(crate) fn due(&self) -> Option<Instant> {
        self.0.values().map(Dial::resend).min()
    }

    /// A dial has ended without a link.
    fn end(&mut self, index: u32, around: &mut Around<'_>) {
        let Some(dial) = self.0.remove(&index) else { return };
        around.routes.remove(index);
        let target = dial.target();
        if !target.rekey {
            let why = dial.refused().map_or("", |asks| in_words(asks));
            around.out.say(Output::Unreached { at: target.at.clone(), node: target.node });
            around.out.trace(format!("nobody reached at {}{why}", target.at));
        }
    }

    /// LINK-03: only for a dial of ours, and answered at once only a few times.
    pub(crate) fn retry(
        &mut self,
        now: Instant,
        from: &Locator,
        to: u32,
        cookie: Cookie,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let dial = self.0.get_mut(&to).filter(|dial| dial.target().at == *from);
        if dial.ok_or_else(|| LinkError::WireUnknown(from.clone()))?.retry(now, cookie) {
            self.send(now, to, around);
        }
        Ok(())
    }

    /// LINK-22: heard only from the locator that was dialled, and only for a dial of ours that
    /// nobody has answered yet. It is noted and reported once for each dial, and the dial goes on.
    /// Otherwise anyone who can write datagrams could end the dial, or talk it into a weaker form.
    pub(crate) fn refusal(
        &mut self,
        from: &Locator,
        to: u32,
        asks: Exchange,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let unknown = || LinkError::WireUnknown(from.clone());
        let known = |dial: &&mut Dial| dial.target().at == *from && asks != around.own.config.exchange;
        let dial = self.0.get_mut(&to).filter(known).ok_or_else(unknown)?;
        if dial.refuse(asks).ok_or_else(unknown)? {
            let (at, node) = (dial.target().at.clone(), dial.target().node);
            around.out.trace(format!("the node at {at} refuses the handshake{}", in_words(asks)));
            around.out.say(Output::Refused { at, node, asks });
        }
        Ok(())
    }

    pub(crate) fn reply(
        &mut self,
        now: Instant,
        from: &Locator,
        part: &Part,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let dial = self.0.get_mut(&part.to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        match dial.reply(now, from, around.own, part)? {
            Progress::Wait => {}
            Progress::Again if !dial.may_repeat(now) => {}
            Progress::Again | Progress::Done => self.send(now, part.to, around),
            Progress::Failed(error, last) => {
                around.out.transmit(from, last);
                self.end(part.to, around);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Data for a dial: if it opens, the peer has our Finish, and the dial has reached whom it
    /// should. Returns also what was in the datagram.
    pub(crate) fn confirm(
        &mut self,
        now: Instant,
        from: &Locator,
        to: u32,
        datagram: BytesMut,
        around: &mut Around<'_>,
    ) -> Result<(Proved, bytes::Bytes), LinkError> {
        let unknown = || LinkError::WireUnknown(from.clone());
        let plaintext = self.0.get_mut(&to).ok_or_else(unknown)?.confirm(now, from, datagram, around)?;
        let proved = self.0.remove(&to).and_then(Dial::into_proved).ok_or_else(unknown)?;
        Ok((proved, plaintext))
    }
}

/// The form that a peer asks for, as the end of a sentence.
fn in_words(asks: Exchange) -> &'static str {
    match asks {
        Exchange::Classical => ": it says that it links without ML-KEM-768, which our charter asks for",
        Exchange::Hybrid => {
            ": it says that it links with ML-KEM-768 only, which our charter does not ask for"
        }
    }
}
