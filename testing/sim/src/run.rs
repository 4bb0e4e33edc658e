//! A run, judged.

use crate::check::{self, Violation};
use crate::machine::Cast;
use crate::play::play;
use crate::record::{Counts, Process, Record};
use crate::schedule::Schedule;
use crate::transcript;
use crate::world::Options;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// What it broke.
    pub violations: Vec<Violation>,
    /// Counters.
    pub counts: Counts,
    /// Lines around each violation.
    pub excerpts: Vec<Vec<String>>,
    /// Digest of the transcript, if asked for.
    pub digest: Option<String>,
}

/// Makes the machines of a schedule.
pub type Casting = fn(&Schedule) -> Box<dyn Cast>;

/// Plays and judges `schedule`. A panic of a stack is a violation too.
pub fn run(schedule: &Schedule, casting: Casting, options: Options) -> (Outcome, Record) {
    let played = catch_unwind(AssertUnwindSafe(|| play(schedule, casting(schedule), options)));
    match played {
        Ok(record) => (judge(schedule.seed, &record, options.digest), record),
        Err(panic) => (panicked(schedule.seed, &*panic), Record::default()),
    }
}

fn judge(seed: u64, record: &Record, digest: bool) -> Outcome {
    let violations = check::check(record);
    let excerpts = violations
        .iter()
        .map(|violation| {
            violation.entry.map_or_else(Vec::new, |entry| transcript::excerpt(record, entry, 12, 2))
        })
        .collect();
    let digest = digest.then(|| transcript::digest_of(record));
    Outcome { seed, violations, counts: record.counts, excerpts, digest }
}

fn panicked(seed: u64, panic: &(dyn std::any::Any + Send)) -> Outcome {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
    let violation = Violation {
        property: "no-panic",
        process: Process { player: 0, life: 0 },
        entry: None,
        what: format!("a stack panicked: {text}"),
    };
    Outcome {
        seed,
        violations: vec![violation],
        counts: Counts::default(),
        excerpts: vec![Vec::new()],
        digest: Some(String::new()),
    }
}
