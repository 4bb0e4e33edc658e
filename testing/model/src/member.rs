//! One member: flush below and keying above, joined as the member stack joins them, and what it has
//! read of its roster.

use crate::flush::{Below, Flush, FlushOk};
use crate::keying::{Keying, Said, Standing};
use crate::names::{Set, ViewNumber, Who};
use crate::rules::Rules;
use crate::run::{Kind, Origin};

/// What is in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordered {
    /// The group layer's notice of a change. `removed`: who did not stay all the way, for this
    /// reader.
    Notice {
        /// The view to come.
        view: ViewNumber,
        /// Its members.
        members: Set,
        /// Who is removed.
        removed: Set,
    },
    /// The ring's signal: these did not come along.
    Signal {
        /// Who.
        lost: Set,
    },
    /// FLUSH_OK: a member has flushed.
    FlushOk {
        /// Whose.
        from: Who,
        /// For which view.
        view: ViewNumber,
        /// What it says.
        flush_ok: FlushOk,
    },
    /// A step of a run, or a confirmation.
    Step {
        /// Whose.
        from: Who,
        /// Of which view's run.
        view: ViewNumber,
        /// Which.
        kind: Kind,
        /// Whether it is sent safe.
        safe: bool,
        /// Somebody has delivered it as safe: whoever lives on will deliver it.
        kept: bool,
    },
    /// A confirmation that a carrier says again in another's name, as agreed.
    Reflected {
        /// Whose it is.
        by: Who,
        /// In whose name.
        of: Who,
        /// Of which view's run.
        view: ViewNumber,
    },
    /// An entry of the transcript that takes somebody off the roster.
    Strike {
        /// Whom.
        who: Who,
    },
    /// A new configuration of the ring begins here. Nothing happens.
    Fence,
    /// Recovery brings the early message.
    Early,
}

/// What a member does that can be seen, for the order and for comparison with the real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Flush asks keying.
    Asked,
    /// Flush signals keying.
    Signalled,
    /// Flush installs a view.
    Installed {
        /// Which.
        view: ViewNumber,
        /// Whose.
        members: Set,
        /// Who came along.
        together: Set,
    },
    /// FLUSH_OK goes out.
    FlushOk {
        /// For which view.
        view: ViewNumber,
        /// With which heads.
        heads: Set,
        /// With what it holds: the run and the rank.
        brings: Origin,
    },
    /// A step goes out.
    Step {
        /// Of which view.
        view: ViewNumber,
        /// Which.
        kind: Kind,
        /// Whether safe.
        safe: bool,
    },
    /// The application is asked to finish.
    AskApplication,
    /// The application hears the signal.
    SecureSignal,
    /// A view is secure.
    Secure {
        /// Which.
        view: ViewNumber,
        /// Who came along.
        together: Set,
        /// Stands for its key.
        key: u16,
    },
    /// A layer was asked for what does not fit its state.
    OutOfTurn,
    /// A step was to go out after the flush was answered.
    Late,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    me: Who,
    /// Its flush layer.
    pub flush: Flush,
    /// Its keying machine.
    pub keying: Keying,
    /// Whom its roster has lost.
    off: Set,
    /// Of the installed view: whose confirmation was delivered, and (rank 7) whether the key list
    /// was.
    heard: Set,
}

/// Stands for the key list among deliveries.
pub(crate) const LIST: Who = 7;

impl Member {
    /// One that is about to join, with what its roster has lost so far.
    pub fn new(me: Who, off: Set) -> Self {
        Self { me, flush: Flush::new(me), keying: Keying::new(me), off, heard: Set::NONE }
    }

    /// Reads the next of the order.
    pub fn read(&mut self, entry: Ordered, rules: &Rules, told: &mut Vec<Effect>) {
        let mut below = Vec::new();
        match entry {
            Ordered::Fence | Ordered::Early => {}
            Ordered::Notice { view, members, removed } => {
                self.flush.notice(view, members, removed, self.off, rules, &mut below);
            }
            Ordered::Signal { lost } => self.flush.transitional(lost, &mut below),
            Ordered::FlushOk { from, view, flush_ok } => {
                self.flush.hear_flush_ok(from, view, flush_ok, self.off, &mut below)
            }
            Ordered::Strike { who } => {
                self.off = self.off.with(who);
                self.flush.heads(self.off, &mut below);
            }
            Ordered::Step { from, view, kind, .. } => self.step(from, view, kind, rules, told),
            // Nobody takes for its own what it did not send.
            Ordered::Reflected { of, .. } if rules.own_confirmation || of == self.me => {}
            Ordered::Reflected { of, view, .. } => self.step(of, view, Kind::Confirm, rules, told),
        }
        self.settle(below, rules, told);
    }

    fn step(&mut self, from: Who, view: ViewNumber, kind: Kind, rules: &Rules, told: &mut Vec<Effect>) {
        let Some((_, members)) = self.flush.view().filter(|_| self.flush.hears(view, from)) else { return };
        match kind {
            Kind::Confirm => self.heard = self.heard.with(from),
            Kind::KeyList => self.heard = self.heard.with(LIST),
            _ => {}
        }
        let mut said = Vec::new();
        self.keying.step((view, members), (from, kind), self.off, rules, &mut said);
        self.hear(said, rules, told);
    }

    /// Whether reading `entry` may be silent, if nothing comes of it. Not a notice or a signal; not
    /// a safe step that counts for nothing here, since that others will have it may count for them.
    pub fn may_read_at_once(&self, entry: &Ordered) -> bool {
        match entry {
            Ordered::Notice { .. } | Ordered::Signal { .. } => false,
            Ordered::Step { safe: true, .. } => {
                self.flush.is_signalled() || matches!(self.keying.standing(), Standing::Running(..))
            }
            Ordered::Step { .. }
            | Ordered::Reflected { .. }
            | Ordered::FlushOk { .. }
            | Ordered::Strike { .. }
            | Ordered::Fence
            | Ordered::Early => true,
        }
    }

    /// The application has finished.
    pub fn answer(&mut self, rules: &Rules, told: &mut Vec<Effect>) {
        let mut said = Vec::new();
        if !self.keying.secure_flush_ok(&mut said) {
            told.push(Effect::OutOfTurn);
        }
        self.hear(said, rules, told);
    }

    /// Flush asks before the notice is read.
    pub fn ask_early(&mut self, rules: &Rules, told: &mut Vec<Effect>) {
        let mut below = Vec::new();
        self.flush.ask_early(&mut below);
        self.settle(below, rules, told);
    }

    /// What flush said goes to keying; what keying says goes out, or back to flush.
    fn settle(&mut self, below: Vec<Below>, rules: &Rules, told: &mut Vec<Effect>) {
        let mut said = Vec::new();
        for output in below {
            match output {
                Below::FlushOk(view, FlushOk { heads, brings, .. }) => {
                    told.push(Effect::FlushOk { view, heads, brings })
                }
                Below::Request => {
                    told.push(Effect::Asked);
                    if !self.keying.flush_request(rules, &mut said) {
                        told.push(Effect::OutOfTurn);
                    }
                }
                Below::Signal => {
                    told.push(Effect::Signalled);
                    self.keying.signal(&mut said);
                }
                Below::View(view) => {
                    let (members, together) = (view.members, view.together);
                    told.push(Effect::Installed { view: view.number, members, together });
                    self.heard = Set::NONE;
                    self.keying.view(&view, self.off, &mut said);
                }
            }
        }
        self.hear(said, rules, told);
    }

    fn hear(&mut self, said: Vec<Said>, rules: &Rules, told: &mut Vec<Effect>) {
        let view = self.flush.view().map_or(0, |(view, _)| view);
        let mut below = Vec::new();
        for output in said {
            match output {
                Said::FlushOk(brings) => {
                    if !self.flush.flush_ok(brings, self.off, &mut below) {
                        told.push(Effect::OutOfTurn);
                    }
                }
                Said::Send(_) if !self.flush.may_send() => told.push(Effect::Late),
                Said::Send(kind) => {
                    told.push(Effect::Step { view, kind, safe: kind.decides() && rules.safe_list });
                }
                Said::AskApplication => told.push(Effect::AskApplication),
                Said::Transitional => told.push(Effect::SecureSignal),
                Said::Secure(together, key) => told.push(Effect::Secure { view, together, key }),
            }
        }
        if !below.is_empty() {
            self.settle(below, rules, told);
        }
    }

    /// Whom its roster has lost.
    pub fn off(&self) -> Set {
        self.off
    }

    /// What decided was delivered, whatever keying made of it.
    pub fn has_delivered(&self, what: Who) -> bool {
        self.heard.has(what)
    }
}
