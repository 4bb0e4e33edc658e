//! Where the processor time of a change goes.
//!
//! ```text
//!   all of the process' threads                                     read at the change's start and end
//!   |-- upper floors (meter.rs)
//!   |     |-- keying alone (alone.rs): the same change without the rest
//!   |     |     |-- group operations: the modules alone (counts.rs)
//!   |     |     |-- signatures: made and verified, at each call
//!   |     |     '-- keying's own: what is left
//!   |     '-- flush and session: what is left
//!   |-- ground floors (meter.rs): link, ring, group
//!   '-- I/O: what is left: sockets, store, scheduler, and the bench itself
//! ```

use crate::bench::alone::Alone;
use crate::bench::meter::Work;
use std::time::Duration;

/// Parts of one change's processor time. They add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Split {
    pub(crate) group: Duration,
    pub(crate) signatures: Duration,
    pub(crate) keying: Duration,
    pub(crate) flush: Duration,
    pub(crate) ring: Duration,
    pub(crate) io: Duration,
}

impl Split {
    /// Of what was measured in the stack, by what keying alone and the modules alone take. These were measured apart: where
    /// noise makes a part larger than the whole that it is of, it is that whole.
    pub(crate) fn new(work: Work, alone: Alone, module: Duration) -> Self {
        let upper = work.upper.min(work.cpu);
        let ground = work.ground.min(work.cpu - upper);
        let whole = alone.whole.min(upper);
        let signatures = alone.signatures.min(whole);
        let group = module.min(whole - signatures);
        Self {
            group,
            signatures,
            keying: whole - signatures - group,
            flush: upper - whole,
            ring: ground,
            io: work.cpu - upper - ground,
        }
    }

    /// Names and parts, in the order in which they are shown.
    pub(crate) fn parts(&self) -> [(&'static str, Duration); 6] {
        [
            ("group", self.group),
            ("signatures", self.signatures),
            ("keying", self.keying),
            ("flush", self.flush),
            ("ring", self.ring),
            ("io", self.io),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{Alone, Duration, Split, Work};

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn parts_add_up_to_the_whole_whatever_was_measured() {
        let mut seen = 0;
        for (cpu, ground, upper) in [(100, 20, 50), (100, 0, 0), (50, 40, 70), (0, 3, 3)] {
            for (whole, signatures, module) in [(40, 25, 10), (90, 80, 70), (10, 20, 30), (0, 0, 5)] {
                let work = Work { cpu: ms(cpu), ground: ms(ground), upper: ms(upper) };
                let alone = Alone { whole: ms(whole), signatures: ms(signatures) };
                let split = Split::new(work, alone, ms(module));
                assert_eq!(split.parts().iter().map(|(_, part)| *part).sum::<Duration>(), ms(cpu));
                seen += 1;
            }
        }
        assert_eq!(seen, 16);
    }

    #[test]
    fn each_part_is_what_is_left_of_its_own_whole() {
        let work = Work { cpu: ms(100), ground: ms(20), upper: ms(50) };
        let alone = Alone { whole: ms(40), signatures: ms(25) };
        let split = Split::new(work, alone, ms(10));
        let wanted = Split {
            group: ms(10),
            signatures: ms(25),
            keying: ms(5),
            flush: ms(10),
            ring: ms(20),
            io: ms(30),
        };
        assert_eq!(split, wanted);
    }
}
