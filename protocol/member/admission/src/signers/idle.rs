//! Sessions that stand still.

use super::session::SigningSession;
use super::state::Signers;
use crate::call::{Call, Out};
use crate::pause::PATIENCE;
use crate::roster::turn;
use folkmoot_base::{Danger, Digest};

impl Signers {
    /// Sessions that stand still are over; their coordinator remembers who kept it waiting. A start
    /// that does not come back is over too.
    pub(super) fn drop_idle(&mut self, call: &Call<'_>, out: &mut Out) {
        if call.config.danger.is(Danger::AdmissionTablesStay) {
            let late = |session: &&mut SigningSession| call.now.since(session.moved) >= PATIENCE;
            self.sessions.values_mut().filter(late).for_each(|session| session.moved = call.now);
            return;
        }
        self.starting.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        self.offered.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        let late: Vec<Digest> = self
            .sessions
            .iter()
            .filter(|(_, session)| call.now.since(session.moved) >= PATIENCE)
            .map(|(name, _)| *name)
            .collect();
        for name in late {
            let Some(session) = self.sessions.remove(&name) else { continue };
            if session.purpose.gives_shares() {
                self.others.stood_still(call, &session);
            }
            if session.coordinator == call.me() {
                if session.purpose.makes_sharing() {
                    // The coordinator of a session that came to nothing comes last.
                    let me = call.me();
                    self.wanted = Some(call.now + PATIENCE + turn(call.transcript.roster(), &me));
                }
                self.others.failed(call, &session);
            }
            out.trace(format!("a signing session stood still: {session:?}"));
        }
    }
}
