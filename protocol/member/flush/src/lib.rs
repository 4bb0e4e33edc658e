//! Views in which all parties have the same picture: no message crosses a view, and parties that
//! move on together have seen the same messages. Two parties of one member are two of the view.
//!
//! ```text
//!          notice                flush_ok             last FLUSH_OK in order         last FLUSH_RECV
//!  STEADY --------> AUTHORIZE ------------> AGREE ---------------------------> VERIFY ---------------> STEADY
//!                       ^  asks the layer     |  another notice: collapse, new     | notice
//!                       |  above, once        '--FLUSH_OK at once, no question      |
//!                       '-----------------------------------------------------------'
//! ```
//! There is one [`Flush`] for each (party, group). Notices and its own words come from one total
//! order for each configuration, and it decides by that order alone. So all parties that move
//! together decide alike. Messages weaker than agreed have no place in that order: a party sends
//! them in a view that all are known to have, and early.rs says what becomes of those of removed
//! parties. Rules `FLU-NN`: docs/protocol/flush.md.
//!
//! How to drive it: call, then take [`Flush::poll_output`] until `None`, then
//! [`Flush::poll_timeout`].

mod agree;
mod early;
mod error;
mod installed;
pub mod message;
mod output;
mod receipts;
mod words;

pub use error::FlushError;
pub use output::{Output, View};

use agree::{Pending, Unnoticed};
use bytes::Bytes;
use core::time::Duration;
use early::Late;
use folkmoot_base::{
    Blob, Buffer, Cause, Danger, Digest, GroupId, Instant, Mutant, Party, Secret, Service, Signatures, ViewId,
};
use installed::{Installed, install};
use message::{BRINGS_BYTES_MAX, DataHeader, For, Frame, RECEIPT_BYTES, Signed, ViewTag};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Bytes in front of the payload of an agreed, safe or unreliable message.
pub const DATA_HEADER_BYTES: usize = 5;
/// The same, if it is reliable, FIFO or causal.
pub const EARLY_HEADER_BYTES: usize = DATA_HEADER_BYTES + 4;

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// This party.
    pub me: Party,
    /// This group.
    pub group: GroupId,
    /// Our member's signatures, and the judgement of all others.
    pub signatures: Arc<dyn Signatures>,
    /// FLU-23: what this party's receipts follow from. Drawn anew for each [`Flush`].
    pub secret: Secret<[u8; RECEIPT_BYTES]>,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

/// The state of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No view yet, no notice yet.
    Joining,
    /// A view is installed, and all parties are known to have it.
    Steady,
    /// The layer above is asked to flush.
    Authorize,
    /// Our FLUSH_OK is sent; those of the others are awaited.
    Agree,
    /// A view is installed; not all parties have said that they have it.
    Verify,
}

/// The flush layer of one party in one group.
#[derive(Debug)]
pub struct Flush {
    config: Config,
    /// How long a FLUSH_OK may be missing before we complain.
    patience: Duration,
    out: VecDeque<Output>,
    /// Digest of the heads of our transcript.
    heads: Digest,
    installed: Option<Installed>,
    /// A notice has come, and neither its view nor a later one is installed yet.
    changing: bool,
    /// The newest notice. `None` if one of its parties was lost since: then another notice is
    /// certain to come.
    pending: Option<Pending>,
    /// Why the view changes: the causes of all notices since the installed view, taken together.
    cause: Option<Cause>,
    newest: Option<ViewId>,
    unnoticed: Unnoticed,
    /// The layer above was asked, and has not answered.
    asked: bool,
    /// The layer above has answered, or there is no view yet: from now on we send FLUSH_OK by
    /// ourselves.
    authorised: bool,
    /// What the layer above brings into the next view, from its answer to the flush on.
    brings: Blob,
    /// The FLUSH_OK that we last sent, and whether it is still on its way.
    said: Option<Signed>,
    said_number: u32,
    saying: bool,
    leaving: bool,
}

impl Flush {
    /// A party that is joining. Make a new one for each join. `heads`: as for [`Self::heads`].
    pub fn new(config: Config, heads: Digest) -> Self {
        Self {
            config,
            patience: agree::FLUSH_DEADLINE,
            out: VecDeque::new(),
            heads,
            installed: None,
            changing: false,
            pending: None,
            cause: None,
            newest: None,
            unnoticed: Unnoticed::default(),
            asked: false,
            authorised: false,
            brings: Blob::from(Bytes::new()),
            said: None,
            said_number: 0,
            saying: false,
            leaving: false,
        }
    }

    /// FLU-14: from now on steps have this length. Each FLUSH_OK is awaited for twice that, but
    /// never for less than usual. What is awaited already is awaited as long as was said before.
    pub fn wait(&mut self, step: Duration) {
        self.patience = step.saturating_mul(2).max(agree::FLUSH_DEADLINE);
    }

    /// FLU-14: a ring that took long to form stands again: what is awaited has its time anew.
    pub fn wait_anew(&mut self, now: Instant) {
        if let Some(deadline) = self.pending.as_mut().and_then(|pending| pending.deadline.as_mut()) {
            *deadline = (*deadline).max(now + self.patience);
        }
    }

    /// The group's notice. Only the newest one is agreed on, and it replaces any earlier one.
    ///
    /// # Errors
    /// [`FlushError::LocalNotice`].
    pub fn notice(
        &mut self,
        now: Instant,
        view: ViewId,
        members: Vec<Party>,
        removed: &[Party],
        cause: Cause,
    ) -> Result<(), FlushError> {
        let members: BTreeSet<Party> = members.into_iter().collect();
        let follows = self.newest.is_none_or(|newest| newest < view);
        if !follows || view.group != self.config.group || !members.contains(&self.config.me) {
            return Err(FlushError::LocalNotice(view));
        }
        self.shrink(removed.iter().copied().collect(), &members);
        self.newest = Some(view);
        let cause = if self.cause.is_none_or(|before| before == cause) { cause } else { Cause::Network };
        self.cause = Some(cause);
        let flush_oks = self.unnoticed.take(&view);
        self.pending = Some(Pending::new(view, members, cause, flush_oks));
        if self.config.danger.is(Danger::FlushNoWait) {
            self.install(self.heads, self.config.me);
            return Ok(());
        }
        if !self.changing {
            self.changing = true;
            self.asked = self.installed.is_some();
            self.authorised = !self.asked;
            if self.asked && !self.leaving {
                self.out.push_back(Output::FlushRequest);
            }
        }
        self.speak(now);
        Ok(())
    }

    /// The group's transitional signal: the nodes of the parties in `lost` did not come along.
    pub fn transitional(&mut self, lost: &[Party]) {
        let lost: BTreeSet<Party> = lost.iter().copied().collect();
        if self.concerns(&lost) {
            self.signal();
        }
        if let Some(installed) = &mut self.installed {
            installed.lose(&lost);
        }
        // FLU-08: a view with a lost party is not agreed on any more; a notice without that party
        // is certain to come.
        if self.pending.as_ref().is_some_and(|pending| !pending.members.is_disjoint(&lost)) {
            self.pending = None;
        }
    }

    /// A frame of this layer, delivered in order.
    ///
    /// # Errors
    /// Any `Peer…`: the frame is ignored.
    pub fn frame(
        &mut self,
        now: Instant,
        sender: Party,
        service: Service,
        bytes: impl Into<Buffer>,
    ) -> Result<(), FlushError> {
        let frame =
            message::decode(bytes).map_err(|source| FlushError::PeerMalformed { peer: sender, source })?;
        match frame {
            Frame::Data { tag, number, service: wanted, to, payload } => {
                let message = Late { sender, number, service: wanted, to, payload, removed: false };
                self.data(tag, service, message)
            }
            // FLU-10: these words decide by their places.
            Frame::Control(_) if service < Service::Agreed => Err(FlushError::PeerService(sender)),
            Frame::Control(control) => self.control(now, sender, control),
        }
    }

    /// The transcript's heads have this digest now. Call whenever it changes.
    pub fn heads(&mut self, now: Instant, heads: Digest) {
        self.heads = heads;
        self.speak(now);
    }

    /// The layer above sends no more in the installed view. `brings` goes to all parties with our
    /// FLUSH_OK, and they find it in [`View::brought`]. It is repeated for each newer notice until
    /// a view is installed.
    ///
    /// # Errors
    /// [`FlushError::LocalNotAsked`] if there is no open request, or at a second call;
    /// [`FlushError::LocalTooLong`].
    pub fn flush_ok(&mut self, now: Instant, brings: Bytes) -> Result<(), FlushError> {
        if !self.asked {
            return Err(FlushError::LocalNotAsked);
        }
        if brings.len() > BRINGS_BYTES_MAX {
            return Err(FlushError::LocalTooLong(brings.len()));
        }
        self.brings = brings.into();
        self.asked = false;
        self.authorised = true;
        self.speak(now);
        Ok(())
    }

    /// Multicasts `payload`, for that layer above, in the installed view. Services below agreed
    /// travel as agreed until all are known to have the view.
    ///
    /// # Errors
    /// [`FlushError::LocalNotAllowed`].
    pub fn send(&mut self, service: Service, to: For, payload: &[u8]) -> Result<(), FlushError> {
        let (service, header) = self.data_header(service, to)?;
        let bytes = [header.as_slice(), payload].concat().into();
        self.out.push_back(Output::Multicast { service, bytes });
        Ok(())
    }

    /// The header of a message that is sent now, for a caller that builds the frame in place
    /// (header, then payload). The caller multicasts the frame itself, with the service returned,
    /// before any other call to this layer. The receivers are told `service`.
    ///
    /// # Errors
    /// [`FlushError::LocalNotAllowed`].
    pub fn data_header(&mut self, service: Service, to: For) -> Result<(Service, DataHeader), FlushError> {
        let may_send = self.may_send();
        let at_once = self.config.danger.is(Danger::FlushEarlyAtOnce);
        let installed = self.installed.as_mut().filter(|_| may_send).ok_or(FlushError::LocalNotAllowed)?;
        // FLU-10: who has not installed the view yet would have to refuse an early message of it.
        let early = to == For::Session && (installed.is_stable() || at_once);
        let travels = if early { service } else { service.max(Service::Agreed) };
        let number = if message::is_numbered(service) { installed.sent.next(service) } else { 0 };
        Ok((travels, message::data_header(&installed.tag, service, to, number)))
    }

    /// We asked to leave the group: nothing more is sent.
    pub fn leave(&mut self) {
        self.leaving = true;
    }

    /// The time that [`Self::poll_timeout`] named has come.
    pub fn timeout(&mut self, now: Instant) {
        let me = self.config.me;
        let Some(pending) = &mut self.pending else { return };
        let Some(suspects) = pending.overdue(now, &me, self.patience) else { return };
        let (view, unheard) = (pending.view, !pending.flush_oks.contains_key(&me));
        if !suspects.is_empty() {
            self.out.push_back(Output::Complain { view, suspects });
        }
        if unheard {
            // Our own FLUSH_OK did not come back: send it again.
            self.said = None;
            self.saying = false;
            self.speak(now);
        }
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to call [`Self::timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.pending.as_ref().and_then(|pending| pending.deadline).filter(|_| !self.leaving)
    }

    /// The state.
    pub fn phase(&self) -> Phase {
        match &self.installed {
            _ if self.changing && self.authorised => Phase::Agree,
            _ if self.changing => Phase::Authorize,
            None => Phase::Joining,
            Some(installed) if installed.is_stable() => Phase::Steady,
            Some(_) => Phase::Verify,
        }
    }

    /// The installed view's id.
    pub fn view(&self) -> Option<ViewId> {
        self.installed.as_ref().map(|installed| installed.id)
    }

    /// Whether [`Self::send`] is allowed now.
    pub fn may_send(&self) -> bool {
        self.installed.is_some() && !self.authorised && !self.leaving
    }

    /// Parties of the pending view whose FLUSH_OK is missing, sorted.
    pub fn awaited(&self) -> Vec<Party> {
        self.pending.as_ref().map_or_else(Vec::new, Pending::missing)
    }

    /// K1: the removed parties are no longer with us, and that is signalled at this place.
    fn shrink(&mut self, mut removed: BTreeSet<Party>, members: &BTreeSet<Party>) {
        let known = self.installed.iter().flat_map(|installed| installed.members.iter());
        removed.extend(known.filter(|party| !members.contains(party)));
        if !self.config.danger.is(Danger::FlushNoSignal) && self.concerns(&removed) {
            self.signal();
        }
        if let Some(installed) = &mut self.installed {
            installed.remove(&removed, members);
        }
    }

    /// Whether any of `gone` is in the installed view, or of the one being agreed.
    fn concerns(&self, gone: &BTreeSet<Party>) -> bool {
        let installed = self.installed.iter().any(|installed| !installed.members.is_disjoint(gone));
        installed || self.pending.iter().any(|pending| !pending.members.is_disjoint(gone))
    }

    fn signal(&mut self) {
        let Some(installed) = &mut self.installed else { return };
        if !installed.signalled {
            installed.signalled = true;
            self.out.push_back(Output::TransitionalSignal);
        }
    }

    fn data(&mut self, tag: ViewTag, came_as: Service, mut message: Late) -> Result<(), FlushError> {
        let Late { sender, number, service, to, .. } = message;
        let danger = self.config.danger;
        let any_view = danger.is(Danger::FlushAnyView);
        let installed = self.installed.as_mut().filter(|installed| any_view || installed.tag == tag);
        let loose = came_as == Service::Unreliable;
        let Some(installed) = installed else {
            // It may come in any order, so late: nobody is to blame.
            return if loose { Ok(()) } else { Err(FlushError::PeerOtherView(sender)) };
        };
        let early = came_as < Service::Agreed;
        // FLU-11: perhaps somebody delivered it before the notice.
        let hears = installed.hears(&sender);
        let kept = early && !hears && installed.is_removed(&sender) && message::is_numbered(service);
        if !any_view && !kept && !hears {
            return if loose { Ok(()) } else { Err(FlushError::PeerNotPresent(sender)) };
        }
        let safe = (service == Service::Safe) == (came_as == Service::Safe);
        let keying = early && to == For::Keying;
        if came_as < service || !safe || keying {
            return Err(FlushError::PeerService(sender));
        }
        message.removed = kept && !danger.is(Danger::FlushLateAsEver);
        if early && message::is_numbered(service) && !message.removed {
            installed.early.delivered(sender, service, number);
        }
        // FLU-13: it may answer something that is kept.
        let behind = installed.early.keeps() && to == For::Session && !loose;
        if !message.removed && (!behind || danger.is(Danger::FlushOvertakesLate)) {
            self.deliver(message);
            return Ok(());
        }
        match installed.early.keep(message) {
            Ok(()) => return Ok(()),
            Err(message) if message.removed => return Err(FlushError::PeerNotPresent(sender)),
            Err(message) => {
                let before = installed.early.let_go();
                before.into_iter().chain([message]).for_each(|message| self.deliver(message));
            }
        }
        Ok(())
    }

    fn deliver(&mut self, message: Late) {
        let Late { sender, service, to, payload, .. } = message;
        self.out.push_back(Output::Deliver { sender, service, to, payload });
    }

    fn install(&mut self, heads: Digest, last: Party) {
        let Some(pending) = self.pending.take() else { return };
        let danger = self.config.danger;
        if let Some(installed) = &mut self.installed {
            let late = installed.release(&pending.flush_oks);
            late.into_iter().for_each(|message| self.deliver(message));
        }
        let (installed, view) =
            install(self.installed.as_ref(), pending, (heads, last), self.config.me, danger);
        self.installed = Some(installed);
        self.changing = false;
        self.asked = false;
        self.authorised = false;
        self.brings = Blob::from(Bytes::new());
        self.cause = None;
        if danger.is(Danger::FlushRepeatsView) {
            self.out.push_back(Output::View(Box::new(view.clone())));
        }
        let id = view.id;
        self.out.push_back(Output::View(Box::new(view)));
        if !self.leaving {
            self.show(id);
        }
    }
}
