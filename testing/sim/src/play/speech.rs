//! Medleys and second programs ([`crate::speech`]), and what they say held up on the way.

use super::{Director, pick};
use crate::schedule::{Second, Step};

impl Director<'_> {
    pub(super) fn speech(&mut self, step: &Step) {
        match *step {
            Step::Medley { who, count, mix } => {
                for service in crate::speech::services(mix, count) {
                    self.send(who, service, 64, 1);
                }
            }
            Step::Second { who, what } => self.second(who, what),
            Step::Withhold { from, micros } => {
                if let Some(from) = self.living(from) {
                    self.world.withhold(from, micros);
                }
            }
            Step::Release => self.world.release(),
            _ => {}
        }
    }

    fn second(&mut self, who: u8, what: Second) {
        let Some(place) = pick(&self.world.with_second(), who) else { return };
        match what {
            Second::Sends(service) => drop(self.world.second_sends(place, service)),
            Second::Leaves => self.world.second_goes(place, true),
            Second::Joins => self.world.second_goes(place, false),
        }
    }
}
