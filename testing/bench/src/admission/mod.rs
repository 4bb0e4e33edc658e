//! `folkmoot bench admission`: what signing by schemes costs, and what a join costs with each that a charter can name.
//!
//! ```text
//! single   one hand signs, one verifies                      no network; processor time
//! group    several hands make one signature   play.rs        no network; processor time, rounds and words
//! joins    newcomers, voters, an authority    joins.rs       nodes of one process, UDP on loopback; wall time
//! flood    the same, and bogus requests       flood.rs       strangers' keys, sockets and links: strangers.rs
//! ```
//! A join is held against what its cryptography, its ordered messages and its records take, timed in the same run: yardstick.rs.

mod flood;
mod group;
mod joins;
mod moot;
mod outside;
mod play;
mod show;
mod single;
mod strangers;
mod yardstick;

use crate::args::{AdmissionPart, BenchAdmission};
use crate::chart;
use crate::meter::thread_worked;
use crate::people;
use flood::{Flooded, flood};
use folkmoot::tools::OsEntropy;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::show::data;
use folkmoot_signing::{Mode, Scheme};
use group::{Group, Kind};
use joins::{Case, Joined, joins};
use serde_json::json;
use std::time::Duration;
use yardstick::Papers;

const LABEL: &[u8] = b"folkmoot bench v1";
/// What its chart shows.
const CHARTED: &str = "from request to certificate";
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
    papers: Papers,
}

impl Row {
    /// Ordered messages that follow one another.
    fn steps(&self) -> u32 {
        yardstick::steps(&self.case, &self.alone)
    }

    fn cryptography(&self) -> Duration {
        self.papers.of(&self.case, &self.alone, processors())
    }

    fn expected(&self) -> Duration {
        yardstick::expected(self.cryptography(), self.steps(), &self.joined)
    }

    fn ratio(&self) -> f64 {
        self.joined.took.as_secs_f64() / self.expected().as_secs_f64().max(1e-9)
    }

    /// Against the harder yardstick.
    fn one_way_ratio(&self) -> f64 {
        let least = yardstick::one_way(self.cryptography(), self.steps(), &self.joined);
        self.joined.took.as_secs_f64() / least.as_secs_f64().max(1e-9)
    }
}

/// Those of this machine that this process may use.
fn processors() -> u32 {
    let here = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(here).unwrap_or(u32::MAX)
}

/// All parts, or the one that is asked for. What was measured before a failure is shown all the same.
pub(crate) async fn admission(options: &BenchAdmission, json: bool) -> Result<(), Failure> {
    if let (Some(file), false) = (&options.chart, options.from.is_empty()) {
        let points = options.from.iter().map(|from| chart::read(from, "joins", show::read));
        let points = points.collect::<Result<Vec<_>, Failure>>()?.concat();
        return chart::save(file, CHARTED, &show::charted(points));
    }
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let wanted = |part: AdmissionPart| options.part.is_none_or(|only| only == part);
    let (mut singles, mut groups, mut rows, mut floods) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
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
    if wanted(AdmissionPart::Flood) {
        // What one part could not do, the other may.
        let flooded = measure_floods(options, &mut floods).await;
        done = done.and(flooded);
    }
    if let Some(file) = options.chart.as_ref().filter(|_| !rows.is_empty()) {
        chart::save(file, CHARTED, &show::charted(rows.iter().map(show::point).collect()))?;
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
    for case in cases(options) {
        let (scheme, kind) = (case.scheme, Kind::of_charter(case.scheme));
        let kind = kind.ok_or_else(|| Failure::bug("a scheme that no charter names"))?;
        let alone = group::measure(kind, case.votes, options.runs, entropy)?;
        let papers = Papers::measure(case.votes, entropy)?;
        let joined = joins(&case, yardstick::steps(&case, &alone), entropy).await?;
        let row = Row { case, joined, alone, papers };
        eprintln!(
            "{}, {}, {} members, {} votes: {} ms, {:.2} of what was expected",
            scheme.name(),
            row.case.mode.name(),
            row.case.members,
            row.case.votes,
            show::ms(row.joined.took),
            row.ratio(),
        );
        rows.push(row);
    }
    Ok(())
}

async fn measure_floods(options: &BenchAdmission, rows: &mut Vec<Flooded>) -> Result<(), Failure> {
    for scheme in [Scheme::Plain, Scheme::Frost] {
        if !options.scheme.is_empty() && !options.scheme.contains(&scheme) {
            continue;
        }
        let (members, votes) = USUAL;
        let (series, mode) = ("flood".to_owned(), Mode::Decentralised);
        let case = Case { series, scheme, mode, members, votes, times: options.pairs };
        let row = flood(case).await?;
        eprintln!("{}", show::flood_line(&row));
        rows.push(row);
    }
    Ok(())
}

/// Who signs where nothing is said: the members by themselves, if they can.
fn usual_mode(scheme: Scheme) -> Mode {
    if scheme.needs_dealer() { Mode::Centralised } else { Mode::Decentralised }
}

/// The usual case first; then against the votes, and against the size with the votes a share of it. A scheme is passed over
/// where it takes more hands than there are members, or a mode in which it cannot be.
fn cases(options: &BenchAdmission) -> Vec<Case> {
    let mut out = Vec::new();
    let mut push = |series: String, (members, votes): (u16, u16), times| {
        let schemes = [Scheme::Plain, Scheme::Asm, Scheme::Frost, Scheme::TsDsa, Scheme::Shoup];
        let named = |scheme: &Scheme| options.scheme.is_empty() || options.scheme.contains(scheme);
        let can = |scheme: &Scheme| options.mode != Some(Mode::Decentralised) || !scheme.needs_dealer();
        let voters = usize::from(members).min(people::FOUNDERS_MAX);
        let fits = |scheme: &Scheme| scheme.signers(votes.into()) <= voters;
        for scheme in schemes.into_iter().filter(named).filter(can).filter(fits) {
            let mode = options.mode.unwrap_or(usual_mode(scheme));
            out.push(Case { series: series.clone(), scheme, mode, members, votes, times });
        }
    };
    if options.times > 0 {
        push("usual".to_owned(), USUAL, options.times);
    }
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
            pairs: 15,
            votes: 4,
            members: 6,
            sizes: vec![5, 12],
            scheme: Vec::new(),
            mode: None,
            chart: None,
            from: Vec::new(),
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
        let fifty = BenchAdmission { sizes: vec![50], ..options() };
        let fifty =
            cases(&fifty).into_iter().filter(|case| case.scheme == Scheme::TsDsa && case.members == 50);
        assert_eq!(fifty.map(|case| case.votes).collect::<Vec<_>>(), [10, 15], "29 of 32 founders");
        let one = BenchAdmission { scheme: vec![Scheme::Plain], ..options() };
        assert!(cases(&one).iter().all(|case| case.scheme == Scheme::Plain));
    }

    #[test]
    fn a_join_is_compared_with_its_papers_its_messages_and_its_records() {
        let (millis, micros) = (Duration::from_millis, Duration::from_micros);
        let row = |scheme, kind, rounds, mode| {
            let case = Case { series: "usual".into(), scheme, mode, members: 5, votes: 2, times: 1 };
            let joined = Joined {
                took: millis(60),
                round_trip: millis(4),
                disk: millis(10),
                together: millis(7),
                datagram: millis(1),
                ..Joined::default()
            };
            let played = play::Played { busiest: millis(5), rounds, to_one: 6, ..play::Played::default() };
            let one = micros(100);
            let papers = Papers {
                ask: one,
                read: one,
                vote: one,
                count: one,
                close: one,
                say: one,
                hear: one,
                whisper: one,
            };
            let alone = Group { kind, threshold: 2, hands: 3, played, verify: millis(1) };
            Row { case, joined, alone, papers }
        };
        let one = micros(100);
        let cryptography = |row: &Row| row.papers.of(&row.case, &row.alone, 2);
        let expected = |row: &Row| yardstick::expected(cryptography(row), row.steps(), &row.joined);
        // By two processors: made, read at the contact, by the four others two at once; two votes, read by four each; closed.
        let plain = row(Scheme::Plain, Kind::PlainEcdsa, 1, Mode::Decentralised);
        assert_eq!((plain.steps(), cryptography(&plain)), (2, one * (1 + 1 + 2 + 1 + 4 + 1)));
        assert_eq!(expected(&plain), micros(1_000) + millis(8 + 10 + 7 + 1));
        // Without closing; called: said, heard by four, three are ready, two verified; seated: said, heard by four, by each
        // of two two others; each of five rounds three words, six times heard; six sealed words; one verification of 1 ms.
        let shared = row(Scheme::TsDsa, Kind::TsDsa, 5, Mode::Decentralised);
        let papers = one * (9 + (1 + 2 + 2 + 2) + (1 + 2 + 2) + 5 * (2 + 3) + 3) + millis(1);
        assert_eq!((shared.steps(), cryptography(&shared)), (10, papers));
        assert_eq!(expected(&shared), papers + millis(40 + 10 + 7 + 1));
        // The authority: reads the request, two votes; signs, verifies that; so do contact and newcomer.
        let plain = row(Scheme::Plain, Kind::PlainEcdsa, 1, Mode::Centralised);
        assert_eq!((plain.steps(), cryptography(&plain)), (2, one * (1 + 1 + 2 + 1 + 4 + (1 + 2 + 1 + 3))));
        // In place of two votes the group's signature, of 1 ms.
        let granted = row(Scheme::TsDsa, Kind::TsDsa, 5, Mode::Centralised);
        assert_eq!((granted.steps(), cryptography(&granted)), (10, papers + one * 5 + millis(1)));
        let least = yardstick::one_way(papers, 10, &shared.joined);
        assert_eq!(least, papers + millis(20 + 10 + 7 + 1));
        let ratio = millis(60).as_secs_f64() / shared.expected().as_secs_f64();
        assert!((shared.ratio() - ratio).abs() < 1e-9);
    }
}
