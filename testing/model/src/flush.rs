//! The flush layer of one member, as `protocol/member/flush/src` has it: FLUSH_OKs, collapse, and
//! the signal. FLUSH_RECV guards nothing there, so it is left out.

use crate::keying::View;
use crate::names::{Set, Trio, ViewNumber, Who};
use crate::rules::Rules;
use crate::run::Origin;

/// What a member says with its FLUSH_OK: which entries took somebody off its roster (its heads),
/// and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlushOk {
    /// The heads.
    pub heads: Set,
    /// What it brings.
    pub brings: Origin,
    /// It has delivered the early message of somebody whom a notice has removed since.
    pub named: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Installed {
    view: ViewNumber,
    members: Set,
    /// Came with us all the way since.
    with_me: Set,
    /// Not removed by a notice.
    heard: Set,
    signalled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Pending {
    view: ViewNumber,
    members: Set,
    flush_oks: Trio<Option<FlushOk>>,
}

/// What it says.
#[derive(Debug, Clone)]
pub enum Below {
    /// To all: our FLUSH_OK for this view.
    FlushOk(ViewNumber, FlushOk),
    /// The layer above is asked.
    Request,
    /// The layer above hears the signal.
    Signal,
    /// The view is installed.
    View(View),
}

/// The flush layer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flush {
    me: Who,
    installed: Option<Installed>,
    changing: bool,
    pending: Option<Pending>,
    asked: bool,
    authorised: bool,
    brings: Origin,
    said: Option<(ViewNumber, Set)>,
    saying: bool,
    /// Of the mode in which it asks early: this change's request is out.
    early: bool,
}

impl Flush {
    /// A member that is joining.
    pub fn new(me: Who) -> Self {
        Self {
            me,
            installed: None,
            changing: false,
            pending: None,
            asked: false,
            authorised: false,
            brings: None,
            said: None,
            saying: false,
            early: false,
        }
    }

    /// A notice: the newest one alone counts.
    pub fn notice(
        &mut self,
        view: ViewNumber,
        members: Set,
        removed: Set,
        heads: Set,
        rules: &Rules,
        out: &mut Vec<Below>,
    ) {
        let known = self.installed.as_ref().map_or(Set::NONE, |installed| installed.members);
        let removed = removed.or(known.minus(members));
        if rules.k1 && self.concerns(removed) {
            self.signal(out);
        }
        if let Some(installed) = &mut self.installed {
            installed.with_me = installed.with_me.and(members).minus(removed);
            installed.heard = installed.heard.and(members).minus(removed);
        }
        self.pending = Some(Pending { view, members, flush_oks: Trio::default() });
        self.said = None;
        if !self.changing {
            self.changing = true;
            if !core::mem::take(&mut self.early) {
                self.request(out);
            }
        }
        self.speak(heads, out);
    }

    fn request(&mut self, out: &mut Vec<Below>) {
        self.asked = self.installed.is_some();
        self.authorised = !self.asked;
        if self.asked {
            out.push(Below::Request);
        }
    }

    /// Whether it could ask before the notice is read ([`Rules::early_requests`]).
    pub fn may_ask_early(&self) -> bool {
        self.installed.is_some() && !self.changing && !self.early
    }

    /// Asks before the notice is read.
    pub fn ask_early(&mut self, out: &mut Vec<Below>) {
        self.early = true;
        self.request(out);
    }

    /// The ring's signal: these did not come along.
    pub fn transitional(&mut self, lost: Set, out: &mut Vec<Below>) {
        if self.concerns(lost) {
            self.signal(out);
        }
        if let Some(installed) = &mut self.installed {
            installed.with_me = installed.with_me.minus(lost);
        }
        if self.pending.as_ref().is_some_and(|pending| pending.members.meets(lost)) {
            self.pending = None;
        }
    }

    /// The FLUSH_OK of a member.
    pub fn hear_flush_ok(
        &mut self,
        from: Who,
        view: ViewNumber,
        flush_ok: FlushOk,
        heads: Set,
        out: &mut Vec<Below>,
    ) {
        if from == self.me {
            self.saying = false;
        }
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.view == view) {
            if !pending.members.has(from) {
                return;
            }
            if let Some(place) = pending.flush_oks.get_mut(from) {
                *place = Some(flush_ok);
            }
            if agreed(pending) {
                return self.install(out);
            }
        }
        self.speak(heads, out);
    }

    /// Whether the FLUSH_OK of `from` is the last that is missing for the view, and somebody who
    /// came along has named the early message.
    pub fn completes_named(&self, from: Who, view: ViewNumber, flush_ok: FlushOk) -> bool {
        let Some(mut pending) = self.pending.clone().filter(|pending| pending.view == view) else {
            return false;
        };
        if let Some(place) = pending.flush_oks.get_mut(from).filter(|_| pending.members.has(from)) {
            *place = Some(flush_ok);
        }
        let came = |(who, flush_ok): (Who, &Option<FlushOk>)| {
            self.with_me().has(who) && flush_ok.is_some_and(|flush_ok| flush_ok.named)
        };
        agreed(&pending) && pending.flush_oks.iter().any(came)
    }

    /// What the last FLUSH_OK of the view, that of `from`, names cannot be had: the view is given
    /// up.
    pub fn give_up(&mut self, from: Who) {
        self.saying &= from != self.me;
        self.pending = None;
    }

    /// The transcript's heads have changed.
    pub fn heads(&mut self, heads: Set, out: &mut Vec<Below>) {
        self.speak(heads, out);
    }

    /// The layer above has flushed. `false`: it was not asked.
    pub fn flush_ok(&mut self, brings: Origin, heads: Set, out: &mut Vec<Below>) -> bool {
        if !core::mem::take(&mut self.asked) {
            return false;
        }
        self.brings = brings;
        self.authorised = true;
        self.speak(heads, out);
        true
    }

    /// Whether the layer above may send.
    pub fn may_send(&self) -> bool {
        self.installed.is_some() && !self.authorised
    }

    /// Whether a step of `view` by `from` is handed up.
    pub fn hears(&self, view: ViewNumber, from: Who) -> bool {
        self.installed.as_ref().is_some_and(|installed| installed.view == view && installed.heard.has(from))
    }

    /// The installed view and its members.
    pub fn view(&self) -> Option<(ViewNumber, Set)> {
        self.installed.as_ref().map(|installed| (installed.view, installed.members))
    }

    /// Who of the installed view is still with us.
    pub fn with_me(&self) -> Set {
        self.installed.as_ref().map_or(Set::NONE, |installed| installed.with_me)
    }

    /// Whether the signal of the installed view has been given.
    pub fn is_signalled(&self) -> bool {
        self.installed.as_ref().is_some_and(|installed| installed.signalled)
    }

    /// Whether a change is under way.
    pub fn is_changing(&self) -> bool {
        self.changing
    }

    /// Whether nothing was ever heard.
    pub fn is_untouched(&self) -> bool {
        self.installed.is_none() && !self.changing
    }

    /// The oldest view that this member may still be in.
    pub fn oldest(&self) -> Option<ViewNumber> {
        self.view().map(|(view, _)| view).or(self.pending.as_ref().map(|pending| pending.view))
    }

    fn concerns(&self, gone: Set) -> bool {
        let pending = self.pending.as_ref().is_some_and(|pending| pending.members.meets(gone));
        pending || self.installed.as_ref().is_some_and(|installed| installed.members.meets(gone))
    }

    fn signal(&mut self, out: &mut Vec<Below>) {
        if let Some(installed) = self.installed.as_mut().filter(|installed| !installed.signalled) {
            installed.signalled = true;
            out.push(Below::Signal);
        }
    }

    fn speak(&mut self, heads: Set, out: &mut Vec<Below>) {
        let Some(pending) = &self.pending else { return };
        let said = Some((pending.view, heads));
        if !self.authorised || self.saying || self.said == said {
            return;
        }
        self.said = said;
        self.saying = true;
        out.push(Below::FlushOk(pending.view, FlushOk { heads, brings: self.brings, named: false }));
    }

    fn install(&mut self, out: &mut Vec<Below>) {
        let Some(Pending { view, members, flush_oks }) = self.pending.take() else { return };
        let together = self.with_me().and(members).with(self.me);
        let mut brought = Trio::default();
        for (who, flush_ok) in flush_oks.iter() {
            if let (Some(place), Some(flush_ok)) = (brought.get_mut(who), flush_ok) {
                *place = flush_ok.brings;
            }
        }
        self.installed =
            Some(Installed { view, members, with_me: members, heard: members, signalled: false });
        (self.changing, self.asked, self.authorised) = (false, false, false);
        (self.brings, self.said) = (None, None);
        out.push(Below::View(View { number: view, members, together, brought }));
    }
}

fn agreed(pending: &Pending) -> bool {
    let mut flush_oks = pending.members.iter().map(|who| pending.flush_oks.get(who).copied().flatten());
    let first = flush_oks.next().flatten().map(|flush_ok| flush_ok.heads);
    first.is_some() && flush_oks.all(|flush_ok| flush_ok.map(|flush_ok| flush_ok.heads) == first)
}
