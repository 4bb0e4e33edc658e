//! How long to wait: from the longest round trip that is known, between a floor and a ceiling.

use super::api::{Danger, Times};
use crate::base::Mutant;
use core::time::Duration;

/// No round trip is believed to be longer.
const TRIP_MAX: Duration = Duration::from_secs(1);

/// Times in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    times: Times,
    trip: Option<Duration>,
    fixed: bool,
}

impl Pace {
    pub(crate) fn new(times: Times, danger: Mutant<Danger>) -> Self {
        Self { times, trip: None, fixed: danger.is(Danger::FixedTimes) }
    }

    /// A round trip, measured here or told by a member.
    pub(crate) fn learn(&mut self, trip: Duration) {
        if !self.fixed && !trip.is_zero() {
            self.trip = Some(self.trip.unwrap_or_default().max(trip).min(TRIP_MAX));
        }
    }

    pub(crate) fn micros(&self) -> u32 {
        self.trip.map_or(0, |trip| u32::try_from(trip.as_micros()).unwrap_or(u32::MAX))
    }

    fn scaled(&self, percent: u32, least: u64, most: u64, unknown: Duration) -> Duration {
        let Some(trip) = self.trip else { return unknown };
        let scaled = trip.saturating_mul(percent).checked_div(100).unwrap_or_default();
        scaled.clamp(Duration::from_millis(least), Duration::from_millis(most))
    }

    /// How far apart those who may answer are.
    pub(crate) fn slot(&self) -> Duration {
        self.scaled(100, 10, 350, self.times.spread)
    }

    /// How long a candidate must stand before shares are sent.
    pub(crate) fn settle(&self) -> Duration {
        self.scaled(75, 20, 600, self.times.spread)
    }

    /// When to say a thing again that should have had an effect.
    pub(crate) fn repeat(&self) -> Duration {
        let unknown = if self.fixed { Duration::from_millis(250) } else { Duration::from_millis(700) };
        self.scaled(150, 100, 900, unknown.max(self.times.first.saturating_mul(4)))
    }

    /// How long a step of an agreement may take.
    pub(crate) fn patience(&self) -> Duration {
        if self.fixed {
            return Duration::from_millis(300);
        }
        self.repeat().saturating_mul(7).max(Duration::from_millis(800))
    }
}
