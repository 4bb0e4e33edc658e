//! Joins over the real ring: the wall time from a newcomer's request until it holds its
//! certificate, on its disk. As many voters as are needed say yes at once, by their applications,
//! so nobody's reading is measured.
//!
//! ```text
//! found n members -> a join that is not counted -> [ trips and datagrams, records, run, join ] x times
//! ```

use super::baseline::{Disks, datagram, links};
use super::case::{Case, Joined};
use super::fixture::Fixture;
use super::group::together;
use crate::price::median;
use folkmoot_base::Entropy;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::progress::Progress;

/// Datagrams for each join: they are short, and a join is not.
const DATAGRAMS: u32 = 4;

/// Measures one case, of so many rounds: as many round trips follow one another as rounds of a join
/// do, for the first of them finds the ring idle.
pub(crate) async fn joins(
    case: &Case,
    rounds: u32,
    entropy: &mut dyn Entropy,
    progress: &Progress,
) -> Result<Joined, Failure> {
    let mut fixture = progress.during(Fixture::found(case)).await?;
    let mut disks = Disks::open(fixture.path(), case)?;
    let mut run = together(case.scheme, case.votes, entropy)?;
    fixture.join().await?;
    let (mut took, mut trips, mut datagrams) = (Vec::new(), Vec::new(), Vec::new());
    let (mut written, mut runs) = (Vec::new(), Vec::new());
    for _ in 0..case.times {
        trips.push(fixture.trip(rounds).await?);
        for _ in 0..DATAGRAMS {
            datagrams.push(datagram().await?);
        }
        written.push(disks.write()?);
        runs.push(run(entropy)?);
        took.push(progress.during(fixture.join()).await?);
        progress.step();
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
