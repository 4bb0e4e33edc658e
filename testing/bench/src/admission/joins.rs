//! Joins over the real ring: wall time from a newcomer's request until it holds its certificate, on its disk. The voters'
//! applications say yes at once, as many as are needed, so that nobody's reading is measured.
//!
//! ```text
//! found n members -> a join that is not counted -> [ trips and datagrams, records, run, join ] x times
//! ```

use super::group::together;
use super::moot::Moot;
use super::yardstick::{Disks, datagram, links};
use crate::price::median;
use folkmoot_base::Entropy;
use folkmoot_cli::exit::Failure;
use folkmoot_signing::{Mode, Scheme};
use std::time::Duration;

/// Datagrams for each join: they are short, and a join is not.
const DATAGRAMS: u32 = 4;

/// One group, and how often somebody joins it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The row's series: which panel of the chart it is in.
    pub(crate) series: String,
    pub(crate) scheme: Scheme,
    /// Who signs the certificates.
    pub(crate) mode: Mode,
    pub(crate) members: u16,
    pub(crate) votes: u16,
    pub(crate) times: u16,
}

/// What came out: medians, and the fastest and the slowest.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Joined {
    pub(crate) took: Duration,
    pub(crate) least: Duration,
    pub(crate) most: Duration,
    /// Of an ordered message over the idle ring, from the contact to all, and of the answers of as many as speak in a round.
    pub(crate) round_trip: Duration,
    /// What is on disk before anything follows, one after the other.
    pub(crate) disk: Duration,
    /// The run of the hands, all at once on the processors that there are.
    pub(crate) together: Duration,
    /// Of a datagram there and back, on each link beside the ring.
    pub(crate) datagram: Duration,
}

/// Measures one case, of so many rounds: as many round trips follow one another as rounds of a join do, for the first of them finds the ring idle.
pub(crate) async fn joins(case: &Case, rounds: u32, entropy: &mut dyn Entropy) -> Result<Joined, Failure> {
    let mut moot = Moot::found(case).await?;
    let mut disks = Disks::open(moot.path(), case)?;
    let mut run = together(case.scheme, case.votes, entropy)?;
    moot.join().await?;
    let (mut took, mut trips, mut datagrams) = (Vec::new(), Vec::new(), Vec::new());
    let (mut written, mut runs) = (Vec::new(), Vec::new());
    for _ in 0..case.times {
        trips.push(moot.trip(rounds).await?);
        for _ in 0..DATAGRAMS {
            datagrams.push(datagram().await?);
        }
        written.push(disks.write()?);
        runs.push(run(entropy)?);
        took.push(moot.join().await?);
    }
    let [least, most] = [took.iter().min(), took.iter().max()].map(|one| one.copied().unwrap_or_default());
    Ok(Joined {
        took: median(took),
        least,
        most,
        round_trip: median(trips),
        disk: median(written),
        together: median(runs),
        datagram: median(datagrams) * links(case),
    })
}
