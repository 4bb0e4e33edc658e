//! The words of flush itself: FLUSH_OK, signed by its party's member, and FLUSH_RECV, with the
//! party's receipt.

use crate::agree::is_stale;
use crate::installed::Installed;
use crate::message::{self, Control, FlushOk, RECEIPT_BYTES, Signed, commitment};
use crate::receipts::receipt;
use crate::{Flush, FlushError, Output};
use folkmoot_base::{Danger, Instant, Party, Service, ViewId};

impl Flush {
    pub(crate) fn control(
        &mut self,
        now: Instant,
        sender: Party,
        control: Control,
    ) -> Result<(), FlushError> {
        match control {
            Control::FlushOk(signed) => self.flush_ok_came(now, sender, *signed),
            Control::FlushReceived { view, receipt } => self.receipt_came(sender, &view, &receipt),
        }
    }

    /// FLU-20: any node can make packets in another's name, so each FLUSH_OK is signed. FLU-24: one
    /// that would change nothing is not verified.
    fn flush_ok_came(&mut self, now: Instant, sender: Party, signed: Signed) -> Result<(), FlushError> {
        let view = signed.ok.view;
        if view.group != self.config.group {
            return Err(FlushError::PeerUnknownView(sender));
        }
        let pending = self.pending.as_ref().filter(|pending| pending.view == view);
        let said = pending.map(|pending| &pending.flush_oks).or_else(|| self.unnoticed.of(&view));
        let stale = said.is_some_and(|said| is_stale(said, &sender, signed.ok.number));
        if stale && !self.config.danger.is(Danger::FlushHearsAgain) {
            return Err(FlushError::PeerStale(sender));
        }
        if pending.is_some_and(|pending| !pending.members.contains(&sender)) {
            return Err(FlushError::PeerNotPresent(sender));
        }
        let early = self.newest.is_none_or(|newest| newest < view);
        if (early || pending.is_some()) && !self.believes(&sender, &signed) {
            return Err(FlushError::PeerForged(sender));
        }
        if sender == self.config.me {
            self.saying = false;
        }
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.view == view) {
            pending.flush_oks.insert(sender, signed.ok);
            if let Some(heads) = pending.agreed() {
                self.install(heads, sender);
                return Ok(());
            }
        } else if early && !self.unnoticed.keep(sender, signed.ok) {
            return Err(FlushError::PeerUnknownView(sender));
        }
        self.speak(now);
        Ok(())
    }

    /// Whether the sender's member signed it. FLU-24: our own, when it comes back as we sent it, is
    /// not verified. It is compared with its signature, so that we do not take what others refuse.
    fn believes(&self, sender: &Party, signed: &Signed) -> bool {
        let own = *sender == self.config.me && self.said.as_ref() == Some(signed);
        own || self.config.danger.is(Danger::FlushBelievesAnyone)
            || signed.is_of(sender, &*self.config.signatures)
    }

    /// FLU-22: FLUSH_RECV is not signed. It shows what the sender's FLUSH_OK committed to.
    fn receipt_came(
        &mut self,
        sender: Party,
        view: &ViewId,
        receipt: &[u8; RECEIPT_BYTES],
    ) -> Result<(), FlushError> {
        let any = self.config.danger.is(Danger::FlushBelievesAnyReceipt);
        // FLUSH_RECV comes behind its view in the order. One of another view is out of date.
        let Some(installed) = self.installed.as_mut().filter(|installed| installed.id == *view) else {
            return Ok(());
        };
        if !any && !installed.is_shown(&sender, receipt) {
            return Err(FlushError::PeerReceipt(sender));
        }
        installed.received(sender);
        Ok(())
    }

    /// Sends our FLUSH_OK for the newest notice, if we may, and no earlier one is still on its way.
    pub(crate) fn speak(&mut self, now: Instant) {
        let Some(pending) = &mut self.pending else { return };
        if !self.authorised || self.leaving {
            return;
        }
        pending.wait(now, self.patience);
        if self.saying {
            return;
        }
        let (view, heads) = (pending.view, self.heads);
        let reached = self.installed.as_ref().map(Installed::reached);
        let same = |FlushOk { view: of, heads: had, brings, reached: to, .. }: &FlushOk| {
            *of == view && *had == heads && *brings == self.brings && *to == reached
        };
        if self.said.as_ref().is_some_and(|said| same(&said.ok)) {
            return;
        }
        self.said_number = self.said_number.saturating_add(1);
        let (number, brings, me) = (self.said_number, self.brings.clone(), &self.config.me);
        let receipt = receipt(&self.config.secret, &view, self.config.danger);
        let commitment = commitment(me, &view, receipt.expose());
        let ok = FlushOk { view, number, heads, brings, reached, commitment };
        let signed = Signed::sign(ok, me, &*self.config.signatures);
        self.said = Some(signed.clone());
        self.saying = true;
        self.multicast(&Control::FlushOk(Box::new(signed)));
    }

    /// Says that we have installed `view`.
    pub(crate) fn show(&mut self, view: ViewId) {
        let receipt = receipt(&self.config.secret, &view, self.config.danger);
        self.multicast(&Control::FlushReceived { view, receipt: *receipt.expose() });
    }

    fn multicast(&mut self, control: &Control) {
        let bytes = message::encode(control);
        self.out.push_back(Output::Multicast { service: Service::Agreed, bytes });
    }
}
