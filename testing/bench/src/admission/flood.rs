//! Joins while strangers flood: two groups of the usual case, one of which is left alone and the
//! other is flooded whenever somebody joins it, in turn.
//!
//! ```text
//! members    0 the contact     1     2     3     4
//! strangers  ask it            ask it     
//! newcomer   knows it                            and this one
//! ```
//! The strangers' requests stay open in the flooded group, so the group that is left alone is
//! another one.

use super::case::Case;
use super::fixture::{AtContact, Came, Fixture};
use super::strangers::{AT_EACH, Flood, Sent};
use crate::price::median;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::progress::Progress;
use std::time::{Duration, Instant};

/// Whose contacts are flooded.
const FLOODED: [usize; 2] = [0, 1];
/// Bogus requests at the least.
const BOGUS: u64 = 10_000;
/// The strangers have come, and are at it, after this.
const LEAD: Duration = Duration::from_millis(400);
/// What they said is worked through after this.
const REST: Duration = Duration::from_millis(200);
/// Longest time for what is still missing of [`BOGUS`].
const REST_OF_IT: Duration = Duration::from_secs(30);

/// What came out: medians.
#[derive(Debug)]
pub(super) struct Flooded {
    pub(super) case: Case,
    pub(super) calm: Came,
    pub(super) flooded: Came,
    /// The slowest join in the flood.
    pub(super) most: Duration,
    pub(super) strangers: usize,
    pub(super) sent: Sent,
    /// How long the strangers were at it.
    pub(super) lasted: Duration,
    /// The flooded contacts, in the end.
    pub(super) contacts: Vec<AtContact>,
    /// Bytes of this process in memory, before the flood and after it.
    pub(super) resident: (u64, u64),
}

impl Flooded {
    pub(super) fn ratio(&self) -> f64 {
        self.flooded.took.as_secs_f64() / self.calm.took.as_secs_f64().max(1e-9)
    }
}

/// Measures one case: as many pairs of joins as it has times.
pub(super) async fn flood(case: Case, progress: &Progress) -> Result<Flooded, Failure> {
    let knows = [0, usize::from(case.members).saturating_sub(1)];
    let (mut let_alone, mut beset) = (Fixture::found(&case).await?, Fixture::found(&case).await?);
    let flood = Flood::prepare(&beset.contacts(&FLOODED), beset.charter())?;
    let_alone.join_by(&knows).await?;
    beset.join_by(&knows).await?;
    let before = resident()?;
    let (mut calm, mut flooded, mut lasted) = (Vec::new(), Vec::new(), Duration::ZERO);
    // The first in the flood is not counted: it finds the desk empty.
    for number in 0..=case.times {
        let undisturbed = let_alone.join_by(&knows).await?;
        let began = Instant::now();
        flood.let_go(true);
        tokio::time::sleep(LEAD).await;
        let disturbed = beset.join_by(&knows).await;
        flood.let_go(false);
        lasted += began.elapsed();
        tokio::time::sleep(REST).await;
        let disturbed = disturbed?;
        if number > 0 {
            calm.push(undisturbed);
            flooded.push(disturbed);
            progress.step();
        }
    }
    lasted += go_on(&flood).await;
    let mut contacts = Vec::new();
    for which in FLOODED {
        contacts.push(beset.look_at_contact(which).await?);
    }
    let resident = (before, resident()?);
    let most = flooded.iter().map(|came: &Came| came.took).max().unwrap_or_default();
    let strangers = AT_EACH.saturating_mul(FLOODED.len());
    let (calm, flooded, sent) = (middle(&calm), middle(&flooded), flood.end()?);
    Ok(Flooded { case, calm, flooded, most, strangers, sent, lasted, contacts, resident })
}

/// Until so many were sent as there are to be.
async fn go_on(flood: &Flood) -> Duration {
    let began = Instant::now();
    flood.let_go(true);
    while flood.sent() < BOGUS && began.elapsed() < REST_OF_IT {
        tokio::time::sleep(LEAD).await;
    }
    flood.let_go(false);
    tokio::time::sleep(REST).await;
    began.elapsed()
}

fn middle(all: &[Came]) -> Came {
    let of = |what: fn(&Came) -> Duration| median(all.iter().map(what).collect());
    Came { linked: of(|came| came.linked), took: of(|came| came.took) }
}

/// Bytes of this process in memory, as the system counts them.
fn resident() -> Result<u64, Failure> {
    let pages = std::fs::read_to_string("/proc/self/statm").map_err(Failure::bug)?;
    let pages = pages.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok());
    let pages =
        pages.ok_or_else(|| Failure::bug("the system does not say how much memory this process has"))?;
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}
