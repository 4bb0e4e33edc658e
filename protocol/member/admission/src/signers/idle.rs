//! Sessions that stand still.

use super::session::SigningSession;
use crate::call::Call;
use crate::desk::Desk;
use crate::pause::PATIENCE;
use crate::roster::turn;
use folkmoot_base::{Danger, Digest};

impl Desk {
    /// Sessions that stand still are over; their coordinator remembers who kept it waiting. A start
    /// that does not come back is over too.
    pub(super) fn drop_idle_sessions(&mut self, call: &Call<'_>) {
        if call.config.danger.is(Danger::AdmissionTablesStay) {
            let late = |session: &&mut SigningSession| call.now.since(session.moved) >= PATIENCE;
            self.signers.sessions.values_mut().filter(late).for_each(|session| session.moved = call.now);
            return;
        }
        self.signers.starting.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        self.signers.offered.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        let late: Vec<Digest> = self
            .signers
            .sessions
            .iter()
            .filter(|(_, session)| call.now.since(session.moved) >= PATIENCE)
            .map(|(name, _)| *name)
            .collect();
        for name in late {
            let Some(session) = self.signers.sessions.remove(&name) else { continue };
            if session.purpose.gives_shares() {
                self.set_aside_of(call, &session);
            }
            if session.coordinator == call.me() {
                if session.purpose.makes_sharing() {
                    // The coordinator of a session that came to nothing comes last.
                    let me = call.me();
                    self.signers.wanted = Some(call.now + PATIENCE + turn(call.transcript.roster(), &me));
                }
                self.count_failure(call, &session);
            }
            self.out.trace(format!("a signing session stood still: {session:?}"));
        }
    }
}
