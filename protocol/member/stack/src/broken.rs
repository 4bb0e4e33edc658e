//! Promises about views that a mutant breaks: what the application gets instead of the true event.

use crate::{Event, Member};
use base::Danger;
use folkmoot_base as base;

impl Member {
    /// Gives the application `event`, or what the mutant makes of it.
    pub(crate) fn break_event(&mut self, event: Event) {
        let danger = self.config.danger;
        match event {
            Event::View { group, id, mut members, transitional, cause, epoch, side }
                if danger.is(Danger::MemberOmitsSelf) =>
            {
                let me = self.party();
                members.retain(|party| *party != me);
                self.say(Event::View { group, id, members, transitional, cause, epoch, side });
            }
            view @ Event::View { .. } if danger.is(Danger::MemberRepeatsView) => {
                self.say(view.clone());
                self.say(view);
            }
            view @ Event::View { .. } if danger.is(Danger::MemberSpeaksEarly) => {
                if let Some(before) = self.late.replace(view) {
                    self.say(before);
                }
            }
            message @ Event::Message { .. } if danger.is(Danger::MemberSpeaksLate) => {
                if let Some(before) = self.late.replace(message) {
                    self.say(before);
                }
            }
            event @ (Event::View { .. } | Event::Message { .. }) => {
                self.say(event);
                if let Some(late) = self.late.take() {
                    self.say(late);
                }
            }
            event => self.say(event),
        }
    }
}
