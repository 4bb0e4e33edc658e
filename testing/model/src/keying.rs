//! The keying machine of one member, as `protocol/member/keying/src` has it, state for state.

use crate::names::{Set, Trio, ViewNumber, Who};
use crate::rules::Rules;
use crate::run::{Kind, LastRun, Origin, Run, Stage, Took};

/// A view as flush installs it.
#[derive(Debug, Clone)]
pub struct View {
    /// Its number.
    pub number: ViewNumber,
    /// Its members.
    pub members: Set,
    /// Who came along.
    pub together: Set,
    /// What each brings.
    pub brought: Trio<Origin>,
}

/// The states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Machine {
    /// CM. `owes`: in a view without a key, whose flush is still to be answered.
    Cascading { owes: bool },
    /// PT to KC.
    Running { run: Run, held: bool },
    /// PT to KC after the signal: nothing counts any more. Where it stood is told for comparison
    /// with the real machine.
    Spent { confirming: bool },
    /// S.
    Secure { asked: bool },
}

/// What a machine's state is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// CM, before the next view.
    Cascading,
    /// CM, in a view without a key.
    Keyless,
    /// PT, FT, FO, KL, KC; and whether a flush is held.
    Running(Stage, bool),
    /// After the signal; whether the key was there.
    Spent(bool),
    /// S; and whether the application is asked.
    Secure(bool),
}

/// What it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Flush is answered, with what this member holds.
    FlushOk(Origin),
    /// A step for all of the view.
    Send(Kind),
    /// The application is asked to finish.
    AskApplication,
    /// The transitional signal of the secure view.
    Transitional,
    /// The view is secure; who came along; what stands for its key.
    Secure(Set, u16),
}

/// The keying machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Keying {
    me: Who,
    machine: Machine,
    signal_due: bool,
    together: Option<Set>,
    last_run: Option<LastRun>,
}

impl Keying {
    /// Before its first view.
    pub fn new(me: Who) -> Self {
        Self {
            me,
            machine: Machine::Cascading { owes: false },
            signal_due: false,
            together: None,
            last_run: None,
        }
    }

    /// Flush asks. `false`: that does not fit the state.
    pub fn flush_request(&mut self, rules: &Rules, out: &mut Vec<Said>) -> bool {
        match &mut self.machine {
            Machine::Cascading { owes: false } => return false,
            Machine::Cascading { .. } | Machine::Spent { .. } => self.answer(out),
            Machine::Secure { asked: true } => {}
            Machine::Secure { asked } => {
                *asked = true;
                out.push(Said::AskApplication);
            }
            Machine::Running { run, held } => {
                let holds = if run.is_deciding(self.me) { rules.key_list_holds } else { rules.rule_h };
                *held = true;
                if !holds {
                    self.answer(out);
                }
            }
        }
        true
    }

    /// The transitional signal.
    pub fn signal(&mut self, out: &mut Vec<Said>) {
        if core::mem::take(&mut self.signal_due) {
            out.push(Said::Transitional);
        }
        match self.machine {
            Machine::Running { held: true, .. } => self.answer(out),
            Machine::Running { run, held: false } => {
                self.machine = Machine::Spent { confirming: run.has_key() };
            }
            _ => {}
        }
    }

    /// The application has finished. `false`: it was not asked.
    pub fn secure_flush_ok(&mut self, out: &mut Vec<Said>) -> bool {
        let asked = matches!(self.machine, Machine::Secure { asked: true });
        if asked {
            self.answer(out);
        }
        asked
    }

    /// A new view. `off`: whom the roster does not have.
    pub fn view(&mut self, view: &View, off: Set, out: &mut Vec<Said>) {
        self.together = Some(self.together.map_or(view.together, |before| before.and(view.together)));
        if view.members.meets(off) {
            self.machine = Machine::Cascading { owes: true };
            return;
        }
        let (run, first) = Run::begin(self.me, view.members, &view.brought);
        self.machine = Machine::Running { run, held: false };
        out.extend(first.map(Said::Send));
        if run.has_key() {
            self.install(run, view.number, false, out);
        }
    }

    /// A step of the current view. What comes from somebody off the roster is not verified.
    pub fn step(
        &mut self,
        (view, members): (ViewNumber, Set),
        (from, kind): (Who, Kind),
        off: Set,
        rules: &Rules,
        out: &mut Vec<Said>,
    ) {
        let Machine::Running { run, held } = &mut self.machine else { return };
        if off.has(from) && from != self.me {
            return;
        }
        let took = run.receive(self.me, from, kind);
        let (run, held) = (*run, *held);
        match took {
            Took::Refused | Took::Step(None) => {}
            Took::Step(Some(kind)) => out.push(Said::Send(kind)),
            Took::Key => {
                out.push(Said::Send(Kind::Confirm));
                if !rules.confirmation {
                    self.install(run, view, held, out);
                }
            }
            Took::Complete if !members.meets(off) => self.install(run, view, held, out),
            Took::Complete if held => self.answer(out),
            Took::Complete => self.machine = Machine::Cascading { owes: true },
        }
    }

    fn install(&mut self, run: Run, view: ViewNumber, held: bool, out: &mut Vec<Said>) {
        self.signal_due = true;
        out.push(Said::Secure(self.together.take().unwrap_or_default(), run.key()));
        self.last_run = Some(LastRun { run: view, order: run.order() });
        self.machine = Machine::Secure { asked: held };
        if held {
            out.push(Said::AskApplication);
        }
    }

    fn answer(&mut self, out: &mut Vec<Said>) {
        let origin = self.last_run.and_then(|held| Some((held.run, held.order.rank(self.me)?)));
        self.machine = Machine::Cascading { owes: false };
        out.push(Said::FlushOk(origin));
    }

    /// Where it stands.
    pub fn standing(&self) -> Standing {
        match &self.machine {
            Machine::Cascading { owes: false } => Standing::Cascading,
            Machine::Cascading { owes: true } => Standing::Keyless,
            Machine::Running { run, held } => Standing::Running(run.stage(self.me), *held),
            Machine::Spent { confirming } => Standing::Spent(*confirming),
            Machine::Secure { asked } => Standing::Secure(*asked),
        }
    }

    /// Whether it has the key of the view it is in.
    pub fn has_key(&self) -> bool {
        match &self.machine {
            Machine::Running { run, .. } => run.has_key(),
            Machine::Spent { confirming } => *confirming,
            Machine::Secure { .. } => true,
            Machine::Cascading { .. } => false,
        }
    }

    /// Whether the application is asked and has not answered.
    pub fn asks(&self) -> bool {
        matches!(self.machine, Machine::Secure { asked: true })
    }
}
