//! The words of flush itself: FLUSH_OK and FLUSH_RECV, each signed by its party's member.

use crate::agree::{FlushOk, is_stale};
use crate::installed::Installed;
use crate::message::{self, Control, Signed};
use crate::{Flush, FlushError, Output};
use folkmoot_base::{Danger, Instant, Party, Service, ViewId};

impl Flush {
    /// FLU-20: any node can make packets in another's name, so each of these words is signed. Words
    /// that would change nothing are not verified.
    pub(crate) fn control(&mut self, now: Instant, sender: Party, signed: Signed) -> Result<(), FlushError> {
        let believes = self.config.danger.is(Danger::FlushBelievesAnyone);
        let is_signed = |signed: &Signed| believes || signed.is_of(&sender, &*self.config.signatures);
        match &signed.control {
            Control::FlushOk { view, .. } if self.newest.is_some_and(|newest| *view < newest) => {}
            Control::FlushReceived { view } if self.view() != Some(*view) => {}
            _ if !is_signed(&signed) => return Err(FlushError::PeerForged(sender)),
            _ => {}
        }
        match signed.control {
            Control::FlushOk { view, number, heads, brings, reached } => {
                self.flush_ok_came(now, sender, view, FlushOk { number, heads, brings, reached })
            }
            Control::FlushReceived { view } => {
                if let Some(installed) = self.installed.as_mut().filter(|installed| installed.id == view) {
                    installed.received(sender);
                }
                Ok(())
            }
        }
    }

    fn flush_ok_came(
        &mut self,
        now: Instant,
        sender: Party,
        view: ViewId,
        flush_ok: FlushOk,
    ) -> Result<(), FlushError> {
        if view.group != self.config.group {
            return Err(FlushError::PeerUnknownView(sender));
        }
        let pending = self.pending.as_ref().filter(|pending| pending.view == view);
        let said = pending.map(|pending| &pending.flush_oks).or_else(|| self.unnoticed.of(&view));
        let stale = said.is_some_and(|said| is_stale(said, &sender, flush_ok.number));
        if stale && !self.config.danger.is(Danger::FlushHearsAgain) {
            return Err(FlushError::PeerStale(sender));
        }
        if sender == self.config.me {
            self.saying = false;
        }
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.view == view) {
            if !pending.members.contains(&sender) {
                return Err(FlushError::PeerNotPresent(sender));
            }
            pending.flush_oks.insert(sender, flush_ok);
            if let Some(heads) = pending.agreed() {
                self.install(heads, sender);
                return Ok(());
            }
        } else if self.newest.is_none_or(|newest| newest < view)
            && !self.unnoticed.keep(view, sender, flush_ok)
        {
            return Err(FlushError::PeerUnknownView(sender));
        }
        self.speak(now);
        Ok(())
    }

    /// Sends our FLUSH_OK for the newest notice, if we may, and no earlier one is still on its way.
    pub(crate) fn speak(&mut self, now: Instant) {
        let Some(pending) = &mut self.pending else { return };
        if !self.authorised || self.leaving {
            return;
        }
        pending.wait(now, self.patience);
        let (view, heads, brings) = (pending.view, self.heads, self.brings.clone());
        let reached = self.installed.as_ref().and_then(Installed::reached);
        let mut flush_ok = FlushOk { number: self.said_number, heads, brings, reached };
        if self.saying || self.said.as_ref().is_some_and(|said| *said == (view, flush_ok.clone())) {
            return;
        }
        flush_ok.number = flush_ok.number.saturating_add(1);
        self.said_number = flush_ok.number;
        self.said = Some((view, flush_ok.clone()));
        self.saying = true;
        let FlushOk { number, heads, brings, reached } = flush_ok;
        self.multicast(Control::FlushOk { view, number, heads, brings, reached });
    }

    pub(crate) fn multicast(&mut self, control: Control) {
        let signed = Signed::sign(control, &self.config.me, &*self.config.signatures);
        let bytes = message::encode(&signed);
        self.out.push_back(Output::Multicast { service: Service::Agreed, bytes });
    }
}
