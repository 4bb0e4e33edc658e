//! What is noted of a ring or an attempt as it is left: how far it came, and who is to blame.

use crate::message;
use crate::output::Cause;
use crate::{Ring, State};
use folkmoot_base::Instant;

impl Ring {
    /// For the JOINs of the next gather: how far this ring or attempt came here.
    pub(crate) fn remember_how_far(&mut self, now: Instant, cause: Cause) {
        let late = match cause {
            Cause::TokenLost | Cause::CommitLost | Cause::RecoveryLost => message::LATE,
            Cause::Stalled => message::STALLED,
            _ => 0,
        };
        let me = self.ctx.config.me;
        let last = match self.state.as_ref() {
            Some(State::Operational(state)) => {
                if now.since(state.since) > self.ctx.config.timing.token_loss.saturating_mul(5) {
                    self.ctx.suspects.forget();
                }
                state.circuit.last_pass(late)
            }
            Some(State::Commit(state)) => state.last(&me, late),
            Some(State::Recover(state)) => state.last(&me, late),
            Some(State::Gather(_)) | None => return,
        };
        self.ctx.last = last.or(self.ctx.last);
    }

    /// RING-20: the nodes that stopped the recovery that is left now, although the token went
    /// round. RING-30: the members that were asked whether they are there, and said nothing.
    pub(crate) fn blame(&mut self, now: Instant) {
        let timing = &self.ctx.config.timing;
        let me = self.ctx.config.me;
        let (blamed, silent) = match self.state.as_ref() {
            Some(State::Recover(state)) => {
                (state.stoppers(now, timing.stall / 2, &self.ctx), state.circuit.silent(now, timing))
            }
            Some(State::Operational(state)) => (Vec::new(), state.circuit.silent(now, timing)),
            _ => return self.ctx.blamed.clear(),
        };
        // What it said before does not count any more.
        silent.iter().for_each(|node| self.ctx.candidates.unheard(node));
        let blamed = blamed.into_iter().chain(silent);
        self.ctx.blamed = blamed.filter(|node| *node != me).collect();
    }
}
