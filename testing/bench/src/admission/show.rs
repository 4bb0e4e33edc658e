//! The rows as data, as text, and as points of the chart.

use super::flood::Flooded;
use super::group::Group;
use super::row::Row;
use super::single::Single;
use super::strangers::Bogus;
use crate::chart::Point;
use folkmoot_cli::show::table;
use folkmoot_signing::{Mode, Scheme};
use serde_json::{Value, json};
use std::time::Duration;

/// Milliseconds to a thousandth: a verification takes a few hundredths.
pub(super) fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

fn cell(span: Duration) -> String {
    format!("{:.3}", ms(span))
}

pub(super) fn single(row: &Single) -> Value {
    json!({ "key": row.key, "sign_ms": row.sign.map(ms), "verify_ms": ms(row.verify) })
}

pub(super) fn group(row: &Group) -> Value {
    json!({
        "scheme": row.kind.scheme().name(), "key": row.kind.key(), "threshold": row.threshold, "signers": row.signers,
        "all_ms": ms(row.played.all), "busiest_ms": ms(row.played.busiest), "verify_ms": ms(row.verify),
        "rounds": row.played.rounds, "messages_to_all": row.played.to_all, "messages_to_one": row.played.to_one,
    })
}

pub(super) fn join(row: &Row) -> Value {
    json!({
        "series": row.case.series, "scheme": row.case.scheme.name(), "keys": row.case.keys.name(), "mode": row.case.mode.name(),
        "members": row.case.members, "votes": row.case.votes, "signers": row.alone.signers, "times": row.case.times,
        "join_ms": ms(row.joined.took), "least_ms": ms(row.joined.least), "most_ms": ms(row.joined.most),
        "papers_ms": ms(row.cryptography()), "busiest_signer_ms": ms(row.alone.played.busiest), "rounds": row.steps(), "round_trip_ms": ms(row.joined.round_trip),
        "run_ms": ms(row.joined.together), "disk_ms": ms(row.joined.disk), "datagram_ms": ms(row.joined.datagram),
        "expected_ms": ms(row.expected()),
        "ratio": (row.ratio() * 100.0).round() / 100.0,
        "one_way_ratio": (row.one_way_ratio() * 100.0).round() / 100.0,
    })
}

pub(super) fn flood(row: &Flooded) -> Value {
    let sent: serde_json::Map<String, Value> = Bogus::ALL
        .iter()
        .zip(row.sent.words)
        .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
        .collect();
    let contacts = row.contacts.iter().map(|contact| {
        let (words, links) = (contact.words, contact.links);
        json!({
            "heard": words.heard, "malformed": words.malformed, "forged": words.forged,
            "not_holder": words.not_holder, "unfit": words.unfit, "full": words.full,
            "too_often": words.too_often, "older": words.older, "too_soon": words.too_soon, "other": words.other,
            "link_too_much": links.too_much, "link_replayed": links.replayed, "link_busy": links.busy,
            "links": links.handshakes, "open_requests": contact.open,
        })
    });
    json!({
        "scheme": row.case.scheme.name(), "members": row.case.members, "votes": row.case.votes,
        "pairs": row.case.times, "strangers": row.strangers,
        "calm_ms": ms(row.calm.took), "flooded_ms": ms(row.flooded.took), "flooded_most_ms": ms(row.most),
        "ratio": (row.ratio() * 100.0).round() / 100.0,
        "calm_link_ms": ms(row.calm.linked), "flooded_link_ms": ms(row.flooded.linked),
        "sent_all": row.sent.words.iter().sum::<u64>(), "sent": sent,
        "seconds": (row.lasted.as_secs_f64() * 10.0).round() / 10.0,
        "contacts": contacts.collect::<Vec<_>>(),
        "resident_before_kib": row.resident.0 / 1_024, "resident_after_kib": row.resident.1 / 1_024,
    })
}

/// In one line, as it comes.
pub(super) fn flood_line(row: &Flooded) -> String {
    format!(
        "{}: a join takes {} ms, and {} ms in a flood, {:.2} times as long; {} bogus requests",
        row.case.scheme.name(),
        ms(row.calm.took),
        ms(row.flooded.took),
        row.ratio(),
        row.sent.words.iter().sum::<u64>(),
    )
}

fn flood_cells(row: &Flooded) -> Vec<String> {
    let short = |span: Duration| format!("{:.1}", ms(span));
    let of_all =
        |of: fn(&super::fixture::AtContact) -> u64| row.contacts.iter().map(of).sum::<u64>().to_string();
    let open: usize = row.contacts.iter().map(|contact| contact.open).max().unwrap_or_default();
    vec![
        row.case.scheme.name().to_owned(),
        short(row.calm.took),
        short(row.flooded.took),
        short(row.most),
        format!("{:.2}", row.ratio()),
        short(row.calm.linked),
        short(row.flooded.linked),
        row.sent.words.iter().sum::<u64>().to_string(),
        of_all(|contact| contact.words.heard),
        of_all(|contact| contact.links.too_much),
        open.to_string(),
        (row.resident.0 / 1_024).to_string(),
        (row.resident.1 / 1_024).to_string(),
    ]
}

pub(super) fn point(row: &Row) -> Point {
    let (case, time) = (&row.case, row.joined.took);
    of_series(&case.series, line(case.scheme, case.mode), (case.members, case.votes), time)
}

/// Of a row as `--json` prints it.
pub(crate) fn read(row: &Value) -> Option<Point> {
    let scheme = row.get("scheme")?.as_str()?;
    let scheme = Scheme::ALL.iter().copied().find(|known| known.name() == scheme)?;
    // Rows of before there were others do not say it.
    let mode = row.get("mode").map_or(Some(Mode::Decentralised.name()), Value::as_str);
    let mode =
        [Mode::Centralised, Mode::Decentralised].into_iter().find(|known| Some(known.name()) == mode)?;
    let line = line(scheme, mode);
    let number = |field: &str| u16::try_from(row.get(field)?.as_u64()?).ok();
    let time = Duration::try_from_secs_f64(row.get("join_ms")?.as_f64()? / 1_000.0).ok()?;
    Some(of_series(row.get("series")?.as_str()?, line, (number("members")?, number("votes")?), time))
}

/// The chart's line; who signs is said where it could be another.
fn line(scheme: Scheme, mode: Mode) -> &'static str {
    match (scheme, mode) {
        (Scheme::Plain, Mode::Centralised) => "plain, authority",
        (Scheme::Asm, Mode::Centralised) => "asm, authority",
        (Scheme::TsDsa, Mode::Centralised) => "ts-dsa, authority",
        (Scheme::Frost, Mode::Centralised) => "frost, authority",
        (scheme, _) => scheme.name(),
    }
}

fn of_series(series: &str, line: &'static str, (members, votes): (u16, u16), time: Duration) -> Point {
    let size = if series.starts_with("votes") { votes } else { members };
    Point::timed(line, series, size, time)
}

/// The points that lie on lines.
pub(crate) fn charted(points: Vec<Point>) -> Vec<Point> {
    points.into_iter().filter(|point| point.event != "usual").collect()
}

const GROUP_HEADING: [&str; 10] =
    ["SCHEME", "KEY", "T", "SIGNERS", "ALL MS", "BUSIEST MS", "VERIFY MS", "ROUNDS", "TO ALL", "TO ONE"];
const JOIN_HEADING: [&str; 19] = [
    "SERIES",
    "SCHEME",
    "KEYS",
    "MODE",
    "N",
    "T",
    "SIGNERS",
    "TIMES",
    "JOIN MS",
    "LEAST",
    "MOST",
    "PAPERS",
    "RUN",
    "DISK",
    "ROUNDS",
    "ROUND TRIP",
    "EXPECTED",
    "RATIO",
    "ONE WAY",
];
const FLOOD_HEADING: [&str; 13] = [
    "FLOOD",
    "CALM MS",
    "FLOOD MS",
    "MOST",
    "RATIO",
    "LINK MS",
    "IN FLOOD",
    "SENT",
    "HEARD",
    "TOO MUCH",
    "OPEN",
    "KIB BEFORE",
    "AFTER",
];

pub(super) fn for_people(singles: &[Single], groups: &[Group], rows: &[Row], floods: &[Flooded]) -> String {
    let mut parts = Vec::new();
    if !singles.is_empty() {
        let row = |row: &Single| {
            let sign = row.sign.map_or_else(|| "-".to_owned(), cell);
            vec![row.key.to_owned(), sign, cell(row.verify)]
        };
        parts.push(table(
            &["ONE SIGNER", "SIGN MS", "VERIFY MS"],
            &singles.iter().map(row).collect::<Vec<_>>(),
        ));
    }
    if !groups.is_empty() {
        parts.push(table(&GROUP_HEADING, &groups.iter().map(group_cells).collect::<Vec<_>>()));
    }
    if !rows.is_empty() {
        parts.push(table(&JOIN_HEADING, &rows.iter().map(join_cells).collect::<Vec<_>>()));
    }
    if !floods.is_empty() {
        parts.push(table(&FLOOD_HEADING, &floods.iter().map(flood_cells).collect::<Vec<_>>()));
    }
    parts.join("\n\n")
}

fn group_cells(row: &Group) -> Vec<String> {
    let played = &row.played;
    let names = [row.kind.scheme().name().to_owned(), row.kind.key(), row.threshold.to_string()];
    let times = [played.all, played.busiest, row.verify].map(cell);
    let counts = [u64::from(played.rounds), played.to_all, played.to_one].map(|count| count.to_string());
    names.into_iter().chain([row.signers.to_string()]).chain(times).chain(counts).collect()
}

fn join_cells(row: &Row) -> Vec<String> {
    let case = &row.case;
    let names =
        [case.series.as_str(), case.scheme.name(), case.keys.name(), case.mode.name()].map(str::to_owned);
    let counts = [row.case.members.into(), row.case.votes.into(), row.alone.signers, row.case.times.into()]
        .map(|count: usize| count.to_string());
    let short = |span: Duration| format!("{:.1}", ms(span));
    let times = [row.joined.took, row.joined.least, row.joined.most].map(short);
    let split = [row.cryptography(), row.joined.together, row.joined.disk].map(cell);
    let split = split.into_iter().chain([row.steps().to_string(), cell(row.joined.round_trip)]);
    let ratios = [row.ratio(), row.one_way_ratio()].map(|ratio| format!("{ratio:.2}"));
    let compared = [short(row.expected())].into_iter().chain(ratios);
    names.into_iter().chain(counts).chain(times).chain(split).chain(compared).collect()
}

#[cfg(test)]
mod tests {
    use super::{charted, read};
    use serde_json::json;

    #[test]
    fn rows_are_read_as_they_are_printed() {
        let row = |series: &str| json!({ "series": series, "scheme": "frost", "mode": "decentralised", "members": 20, "votes": 4, "join_ms": 31.5, "more": 1 });
        let (votes, size) = (read(&row("votes, 20 members")).unwrap(), read(&row("members, 20 %")).unwrap());
        assert_eq!((votes.line, votes.size, votes.value), ("frost", 4, 31.5));
        let older = json!({ "series": "usual", "scheme": "asm", "members": 5, "votes": 2, "join_ms": 14.0 });
        assert_eq!(read(&older).unwrap().line, "asm");
        assert_eq!((size.event.as_str(), size.size), ("members, 20 %", 20));
        let usual = read(&row("usual")).unwrap();
        assert_eq!(charted(vec![usual, votes.clone(), size.clone()]), [votes, size]);
        assert_eq!(read(&json!({ "series": "usual", "scheme": "x" })), None);
    }
}
