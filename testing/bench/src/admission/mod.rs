//! `folkmoot bench admission`: what signing costs by each scheme, and what a join costs with each
//! scheme that a charter can name.
//!
//! ```text
//! single   one signer, one verifier                         no network; processor time
//! group    several signers, one signature     play.rs        no network; processor time, rounds and messages
//! joins    newcomers, voters, an authority    joins.rs       nodes of one process, UDP on loopback; wall time
//! flood    the same, and bogus requests       flood.rs       strangers' keys, sockets and links: strangers.rs
//! ```
//! A join is compared with the time that its cryptography, its ordered messages and its records
//! take, measured in the same run: baseline.rs.

mod baseline;
mod case;
mod fixture;
mod flood;
mod group;
mod joins;
mod outside;
mod play;
mod row;
mod show;
mod single;
mod strangers;

use crate::args::{AdmissionPart, BenchAdmission};
use crate::chart::{self, Title, Unit};
use baseline::Papers;
use case::{Case, USUAL, cases};
use flood::{Flooded, flood};
use folkmoot::tools::OsEntropy;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, many};
use folkmoot_signing::{KeyAlgorithm, Mode, Scheme};
use group::Kind;
use joins::joins;
use row::Row;
use serde_json::json;
pub(crate) use show::{charted, read as point_of};

/// What its chart shows.
pub(crate) const CHARTED: Title = Title { what: "from request to certificate", unit: Unit::Millis };
/// The threshold of the tables, as in 2003.
const TABLE_THRESHOLD: u16 = 3;

/// All parts, or the one that is asked for. What was measured before a failure is shown all the
/// same.
pub(crate) async fn admission(options: &BenchAdmission, json: bool) -> Result<(), Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let wanted = |part: AdmissionPart| options.part.is_none_or(|only| only == part);
    let (mut singles, mut groups, mut rows, mut floods) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    if wanted(AdmissionPart::Tables) {
        // One signer's keys are one step.
        let progress = Progress::steps("schemes and keys", Kind::ALL.len() + 1);
        singles = single::singles(options.runs, &mut entropy)?;
        progress.step();
        for kind in Kind::ALL {
            progress.say(&format!("{} by {}, {TABLE_THRESHOLD} to sign", kind.scheme().name(), kind.key()));
            groups.push(group::measure(kind, TABLE_THRESHOLD, options.runs, &mut entropy)?);
            progress.step();
        }
    }
    let mut done = Ok(());
    if wanted(AdmissionPart::Joins) {
        done = measure_joins(options, &mut rows, &mut entropy).await;
    }
    if wanted(AdmissionPart::Flood) {
        // What one part could not do, the other may.
        let flooded = measure_floods(options, &mut floods).await;
        done = done.and(flooded);
    }
    if let Some(file) = options.chart.as_ref().filter(|_| !rows.is_empty()) {
        chart::save(file, &CHARTED, &charted(rows.iter().map(show::point).collect()))?;
    }
    let any = !(singles.is_empty() && groups.is_empty() && rows.is_empty() && floods.is_empty());
    if done.is_ok() || any {
        let value = json!({
            "bench": "admission", "runs": options.runs,
            "single": singles.iter().map(show::single).collect::<Vec<_>>(),
            "group": groups.iter().map(show::group).collect::<Vec<_>>(),
            "joins": rows.iter().map(show::join).collect::<Vec<_>>(),
            "flood": floods.iter().map(show::flood).collect::<Vec<_>>(),
        });
        data(json, &value, || show::for_people(&singles, &groups, &rows, &floods));
    }
    done
}

async fn measure_joins(
    options: &BenchAdmission,
    rows: &mut Vec<Row>,
    entropy: &mut OsEntropy,
) -> Result<(), Failure> {
    let all = cases(options);
    let progress = Progress::steps("joins", all.iter().map(|case| usize::from(case.times)).sum());
    for case in all {
        let (scheme, kind) = (case.scheme, Kind::of_charter(case.scheme, case.keys));
        let kind = kind.ok_or_else(|| Failure::bug("no charter names this scheme"))?;
        let alone = group::measure(kind, case.votes, options.runs, entropy)?;
        let papers = Papers::measure(case.votes, case.keys, entropy)?;
        let joined = joins(&case, baseline::steps(&case, &alone), entropy, &progress).await?;
        let row = Row { case, joined, alone, papers };
        progress.say(&format!(
            "{}, keys of {}, {}, {}, {}: {} ms, {:.2} times what was expected",
            scheme.name(),
            row.case.keys.name(),
            row.case.mode.name(),
            many(row.case.members.into(), "member"),
            many(row.case.votes.into(), "vote"),
            show::ms(row.joined.took),
            row.ratio(),
        ));
        rows.push(row);
    }
    Ok(())
}

async fn measure_floods(options: &BenchAdmission, rows: &mut Vec<Flooded>) -> Result<(), Failure> {
    let named = |scheme: &Scheme| options.scheme.is_empty() || options.scheme.contains(scheme);
    let schemes: Vec<Scheme> = [Scheme::Plain, Scheme::Frost].into_iter().filter(named).collect();
    let progress = Progress::steps("pairs of joins", schemes.len() * usize::from(options.pairs));
    for scheme in schemes {
        let (members, votes) = USUAL;
        let (series, mode) = ("flood".to_owned(), Mode::Decentralised);
        let keys = KeyAlgorithm::P256;
        let case = Case { series, scheme, keys, mode, members, votes, times: options.pairs };
        let row = progress.during(flood(case, &progress)).await?;
        progress.say(&show::flood_line(&row));
        rows.push(row);
    }
    Ok(())
}
