//! `folkmoot bench admission`: what signing by schemes costs, and what a join costs with each that a charter can name.
//!
//! ```text
//! single   one hand signs, one verifies                      no network; processor time
//! group    several hands make one signature   play.rs        no network; processor time, rounds and words
//! joins    newcomers and voters               joins.rs       processes, UDP on loopback; wall time
//! ```
//! A join is compared with what its scheme's cryptography, timed in the same run, and its rounds take at the ring's pace.

mod group;
mod joins;
mod play;
mod show;
mod single;

use crate::bench::args::{AdmissionPart, BenchAdmission};
use crate::bench::chart;
use crate::bench::meter::thread_worked;
use crate::exit::{Exit, Failure};
use crate::show::data;
use folkmoot::tools::OsEntropy;
use folkmoot_signing::Scheme;
use group::{Group, Kind};
use joins::{Case, Joined, joins};
use serde_json::json;
use std::time::Duration;

const LABEL: &[u8] = b"folkmoot bench v1";
const MESSAGE: &[u8] = b"let dora in";
/// The threshold of the tables, as in 2003.
const TABLE_THRESHOLD: u16 = 3;
/// The case that is measured most often: members and votes.
const USUAL: (u16, u16) = (5, 2);
/// Shares of the size, in hundredths, that the votes are in the series by size.
const SHARES: [u16; 2] = [20, 30];

/// How long this thread worked on it.
fn worked<T>(act: impl FnOnce() -> T) -> (Duration, T) {
    let before = thread_worked();
    let done = act();
    (thread_worked().saturating_sub(before), done)
}

/// A join's row: what was measured, and what it is compared with.
struct Row {
    case: Case,
    joined: Joined,
    /// The scheme's run for so many votes, measured alone.
    alone: Group,
}

impl Row {
    /// The ordered messages that follow one another in a join, fixed by docs/protocol/admission.md: request, votes, entry; and
    /// where a table is set, its call, the answers, the seats and the run's own rounds (docs/protocol/signing.md). The
    /// newcomer's own words with its contact go over one link, unordered, and are not counted.
    fn rounds(&self) -> u32 {
        let table = if self.case.scheme.shared() { self.alone.played.rounds.saturating_add(3) } else { 0 };
        table.saturating_add(3)
    }

    /// The busiest hand's part, and one verification of the result.
    fn cryptography(&self) -> Duration {
        self.alone.played.busiest + self.alone.verify
    }

    fn expected(&self) -> Duration {
        self.cryptography() + self.joined.round_trip.saturating_mul(self.rounds())
    }

    fn ratio(&self) -> f64 {
        self.joined.took.as_secs_f64() / self.expected().as_secs_f64().max(1e-9)
    }
}

/// All parts, or the one that is asked for. What was measured before a failure is shown all the same.
pub(crate) async fn admission(options: &BenchAdmission, json: bool) -> Result<(), Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let wanted = |part: AdmissionPart| options.part.is_none_or(|only| only == part);
    let (mut singles, mut groups, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    if wanted(AdmissionPart::Tables) {
        singles = single::singles(options.runs, &mut entropy)?;
        for kind in Kind::ALL {
            eprintln!("{} by {}, {TABLE_THRESHOLD} to sign", kind.scheme().name(), kind.key());
            groups.push(group::measure(kind, TABLE_THRESHOLD, options.runs, &mut entropy)?);
        }
    }
    let mut done = Ok(());
    if wanted(AdmissionPart::Joins) {
        done = measure_joins(options, &mut rows, &mut entropy).await;
    }
    if let Some(file) = options.chart.as_ref().filter(|_| !rows.is_empty()) {
        chart::save(file, "time of a join", &show::points(&rows))?;
    }
    if done.is_ok() || !rows.is_empty() {
        let value = json!({
            "bench": "admission", "runs": options.runs,
            "single": singles.iter().map(show::single).collect::<Vec<_>>(),
            "group": groups.iter().map(show::group).collect::<Vec<_>>(),
            "joins": rows.iter().map(show::join).collect::<Vec<_>>(),
        });
        data(json, &value, || show::for_people(&singles, &groups, &rows));
    }
    done
}

async fn measure_joins(
    options: &BenchAdmission,
    rows: &mut Vec<Row>,
    entropy: &mut OsEntropy,
) -> Result<(), Failure> {
    for case in cases(options) {
        let (scheme, kind) = (case.scheme, Kind::of_charter(case.scheme));
        let kind = kind.ok_or_else(|| Failure::bug("a scheme that no charter names"))?;
        let alone = group::measure(kind, case.votes, options.runs, entropy)?;
        let joined = joins(&case).await?;
        let row = Row { case, joined, alone };
        eprintln!(
            "{}, {} members, {} votes: {} ms, {:.2} of what was expected",
            scheme.name(),
            row.case.members,
            row.case.votes,
            show::ms(row.joined.took),
            row.ratio(),
        );
        rows.push(row);
    }
    Ok(())
}

/// The usual case first; then against the votes, and against the size with the votes a share of it. A scheme is passed over
/// where it takes more hands than there are members.
fn cases(options: &BenchAdmission) -> Vec<Case> {
    let mut out = Vec::new();
    let mut push = |series: String, (members, votes): (u16, u16), times| {
        let schemes = [Scheme::Plain, Scheme::TsDsa, Scheme::Frost];
        let wanted = |scheme: &Scheme| options.scheme.is_empty() || options.scheme.contains(scheme);
        let fits = |scheme: &Scheme| scheme.signers(votes.into()) <= usize::from(members);
        for scheme in schemes.into_iter().filter(wanted).filter(fits) {
            out.push(Case { series: series.clone(), scheme, members, votes, times });
        }
    };
    push("usual".to_owned(), USUAL, options.times);
    for votes in 1..=options.votes {
        push(format!("votes, {} members", options.members), (options.members, votes), options.series);
    }
    for share in SHARES {
        for members in &options.sizes {
            let votes = members.saturating_mul(share).div_ceil(100).max(1);
            push(format!("members, {share} % of them vote"), (*members, votes), options.series);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_identity::Scheme as Named;

    fn options() -> BenchAdmission {
        BenchAdmission {
            part: None,
            runs: 1,
            times: 30,
            series: 5,
            votes: 4,
            members: 6,
            sizes: vec![5, 12],
            scheme: Vec::new(),
            chart: None,
        }
    }

    #[test]
    fn cases_are_the_usual_one_then_by_votes_then_by_size_and_none_takes_more_hands_than_there_are() {
        let all = cases(&options());
        assert!(all.iter().all(|case| case.scheme.signers(case.votes.into()) <= case.members.into()));
        let of = |scheme: Named, series: &str| -> Vec<(u16, u16)> {
            let these = all.iter().filter(|case| case.scheme == scheme && case.series == series);
            these.map(|case| (case.members, case.votes)).collect()
        };
        assert_eq!(of(Scheme::Frost, "usual"), [(5, 2)]);
        assert_eq!(of(Scheme::Plain, "votes, 6 members"), [(6, 1), (6, 2), (6, 3), (6, 4)]);
        assert_eq!(of(Scheme::TsDsa, "votes, 6 members"), [(6, 1), (6, 2), (6, 3)], "2t - 1 hands");
        assert_eq!(of(Scheme::Plain, "members, 20 % of them vote"), [(5, 1), (12, 3)]);
        assert_eq!(of(Scheme::Plain, "members, 30 % of them vote"), [(5, 2), (12, 4)]);
        assert_eq!(all.first().map(|case| case.times), Some(30));
        let one = BenchAdmission { scheme: vec![Scheme::Plain], ..options() };
        assert!(cases(&one).iter().all(|case| case.scheme == Scheme::Plain));
    }

    #[test]
    fn a_join_is_compared_with_its_scheme_and_its_rounds() {
        let millis = Duration::from_millis;
        let row = |scheme, kind, rounds| {
            let case = Case { series: "usual".into(), scheme, members: 5, votes: 2, times: 1 };
            let joined =
                Joined { took: millis(60), least: millis(50), most: millis(70), round_trip: millis(4) };
            let played = play::Played { busiest: millis(5), rounds, ..play::Played::default() };
            Row { case, joined, alone: Group { kind, threshold: 2, hands: 3, played, verify: millis(1) } }
        };
        let plain = row(Scheme::Plain, Kind::PlainEcdsa, 1);
        assert_eq!((plain.rounds(), plain.expected()), (3, millis(18)));
        let shared = row(Scheme::TsDsa, Kind::TsDsa, 5);
        assert_eq!((shared.rounds(), shared.expected()), (11, millis(50)));
        assert!((shared.ratio() - 1.2).abs() < 1e-9);
    }
}
