//! What a stack that is broken on purpose tells the application: mutants of the promises about views.

use crate::{Event, Member};
use base::Danger;
use folkmoot_attach::UpperOutput;
use folkmoot_base as base;

impl Member {
    /// Tells `event`, or what `danger` makes of it.
    pub(crate) fn danger_event(&mut self, danger: Danger, event: Event) {
        match (danger, event) {
            (Danger::MemberOmitsSelf, Event::View { group, id, mut members, transitional, cause, epoch }) => {
                members.retain(|member| *member != self.me);
                self.say(Event::View { group, id, members, transitional, cause, epoch });
            }
            (Danger::MemberRepeatsView, view @ Event::View { .. }) => {
                self.say(view.clone());
                self.say(view);
            }
            (Danger::MemberSpeaksEarly, view @ Event::View { .. }) => {
                if let Some(before) = self.late.replace(view) {
                    self.say(before);
                }
            }
            (Danger::MemberSpeaksEarly, message @ Event::Message { .. }) => {
                self.say(message);
                if let Some(view) = self.late.take() {
                    self.say(view);
                }
            }
            (Danger::MemberSpeaksLate, message @ Event::Message { .. }) => {
                if let Some(before) = self.late.replace(message) {
                    self.say(before);
                }
            }
            (Danger::MemberSpeaksLate, view @ Event::View { .. }) => {
                self.say(view);
                if let Some(late) = self.late.take() {
                    self.say(late);
                }
            }
            (_, event) => self.say(event),
        }
    }

    pub(crate) fn say(&mut self, event: Event) {
        self.out.push_back(UpperOutput::Event(event));
    }
}
