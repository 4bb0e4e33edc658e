//! What a program's person does that was put out of its group and is a member again: it joins the
//! group again. The stacks do not do so by themselves, since a program is told that it is out, and
//! may have ended for that.

use folkmoot_base::{Cause, Party};
use folkmoot_member::{Command, Event, Member};
use std::collections::BTreeSet;

/// The programs of one life that were put out, and have neither joined nor left since.
#[derive(Debug, Default)]
pub(super) struct PutOut(BTreeSet<Party>);

impl PutOut {
    /// A program is told something.
    pub(super) fn hears(&mut self, party: Party, event: &Event) {
        if let Event::Removed { cause: Cause::Expelled | Cause::Expired | Cause::Late, .. } = event {
            self.0.insert(party);
        }
    }

    /// A person asks something of a program.
    pub(super) fn asks(&mut self, party: Party, command: &Command) {
        if matches!(command, Command::Join { .. } | Command::Leave { .. }) {
            self.0.remove(&party);
        }
    }

    /// Those who join again, now that their member is in the group.
    pub(super) fn back(&mut self, member: &Member) -> BTreeSet<Party> {
        if self.0.is_empty() || !member.transcript().roster().is_member(&member.id()) {
            return BTreeSet::new();
        }
        core::mem::take(&mut self.0)
    }
}
