//! Who is here: the newest heartbeat of each member. People see group size and presence by them;
//! nothing is judged by them.

use super::machine::{Authority, Beat, Call};
use super::message::Heartbeat;
use crate::AdmissionError;

/// A member that was not heard for so many periods is not counted as present.
pub(super) const MISSED_MAX: u32 = 3;

impl Authority {
    /// `ADM-64`: a heartbeat of a member, signed by it, of about now, newer than the one before.
    pub(super) fn hear_beat(&mut self, call: &Call<'_>, beat: &Heartbeat) -> Result<(), AdmissionError> {
        let refuse = |what| Err(AdmissionError::PeerBeat(beat.member, what));
        let Some(member) = call.transcript.roster().member(&beat.member) else {
            return Err(AdmissionError::PeerNotMember(beat.member));
        };
        if self.beats.get(&beat.member).is_some_and(|newest| newest.time >= beat.time) {
            return refuse("it is not newer than the one before");
        }
        let clock = self.clock.ok_or(AdmissionError::LocalNoClock)?;
        if beat.time.0.abs_diff(clock.0) > self.config.skew_seconds {
            return refuse("its time is too far from now");
        }
        if !beat.verify(&call.transcript.group(), &member.key) {
            return refuse("it is not signed by its sender");
        }
        let kept = Beat { time: beat.time, present: beat.present, heard: call.now };
        self.beats.insert(beat.member, kept);
        Ok(())
    }
}
