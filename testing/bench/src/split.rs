//! Where the processor time of a change goes.
//!
//! ```text
//!   all of the process's threads                                    read at the change's start and end
//!   |-- upper stacks (meter.rs)
//!   |     |-- keying alone (alone.rs): the same change without the rest of the stack
//!   |     |     |-- signatures: made and verified, at each call
//!   |     |     |-- group operations: the modules alone (counts.rs), run in turn with it
//!   |     |     '-- keying's own: what is left
//!   |     '-- flush and session: what is left
//!   |-- lower stacks (meter.rs): link, ring, group
//!   '-- I/O: what is left: sockets, store, scheduler, and the bench itself
//! ```

use crate::meter::Work;
use std::time::Duration;

/// What keying takes without the rest of the stack, measured apart.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Apart {
    pub(crate) group: Duration,
    pub(crate) signatures: Duration,
    pub(crate) keying: Duration,
}

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
    /// Of what was measured in the stack and what was measured apart: where noise makes parts
    /// larger than the whole that they are of, they are that whole, the larger parts first.
    pub(crate) fn new(work: Work, apart: Apart) -> Self {
        let upper = work.upper.min(work.cpu);
        let ring = work.ground.min(work.cpu - upper);
        let signatures = apart.signatures.min(upper);
        let group = apart.group.min(upper - signatures);
        let keying = apart.keying.min(upper - signatures - group);
        let flush = upper - signatures - group - keying;
        Self { group, signatures, keying, flush, ring, io: work.cpu - upper - ring }
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
    use super::{Apart, Duration, Split, Work};

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn parts_add_up_to_the_whole_whatever_was_measured() {
        let mut seen = 0;
        for (cpu, ground, upper) in [(100, 20, 50), (100, 0, 0), (50, 40, 70), (0, 3, 3)] {
            for (group, signatures, keying) in [(10, 25, 5), (90, 80, 70), (10, 20, 30), (0, 0, 5)] {
                let work = Work { cpu: ms(cpu), ground: ms(ground), upper: ms(upper) };
                let apart = Apart { group: ms(group), signatures: ms(signatures), keying: ms(keying) };
                let split = Split::new(work, apart);
                assert_eq!(split.parts().iter().map(|(_, part)| *part).sum::<Duration>(), ms(cpu));
                seen += 1;
            }
        }
        assert_eq!(seen, 16);
    }

    #[test]
    fn each_part_is_what_is_left_of_its_own_whole() {
        let work = Work { cpu: ms(100), ground: ms(20), upper: ms(50) };
        let split = Split::new(work, Apart { group: ms(10), signatures: ms(25), keying: ms(5) });
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
