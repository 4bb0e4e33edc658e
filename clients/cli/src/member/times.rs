//! The time of the line beside this machine's clock, and what waits for the clock, ends soon or
//! needs everybody: as data, and as lines for people.

use super::names::{Names, name};
use super::{render, skips};
use crate::show::{harmless, many_of};
use crate::words::of_head;
use folkmoot::{Ahead, MemberId, Times, UnixTime};
use serde_json::{Map, Value, json};

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

/// The line's time and this clock, as data.
pub(super) fn data(times: &Times, names: &Names) -> Map<String, Value> {
    let mut fields = Map::new();
    let decided = times.line > UnixTime(0);
    let told = |members: &[MemberId]| {
        members.iter().map(|id| json!({ "member": id.hex(), "name": name(names, id) })).collect::<Value>()
    };
    let until = |(id, until): &(MemberId, UnixTime)| json!({ "member": id.hex(), "name": name(names, id), "until": until.to_string() });
    fields.insert(
        "line".into(),
        json!({
            "time": decided.then(|| times.line.to_string()), "seconds": times.line.0,
            "committed_by": told(&times.by), "head": times.head.whole(),
            "clock": times.clock.map(|clock| clock.to_string()), "clock_seconds": times.clock.map(|clock| clock.0),
            "clock_is_none": times.is_none || times.made.is_some(), "behind_line": times.is_none,
            "identity_made": times.made.map(|made| made.to_string()), "asks_date": times.date,
        }),
    );
    fields.insert("waiting_decisions".into(), times.ahead.iter().map(|one| ahead(one, names)).collect());
    fields.insert("out_by_waiting".into(), told(&times.out));
    fields.insert("waiting".into(), times.waiting.into());
    fields.insert("overdue_voters".into(), told(&times.overdue));
    fields.insert("counting_until".into(), times.counting.iter().map(until).collect());
    fields.insert("all_needed".into(), needed(times.needed));
    fields.extend(skips::data(times, names));
    fields
}

pub(super) fn ahead(one: &Ahead, names: &Names) -> Value {
    json!({
        "head": one.head.whole(), "head_words": of_head(&one.head), "time": one.time.to_string(),
        "seconds": one.time.0, "committed_by": render::all(names, &one.by),
    })
}

/// From when on no voter can be spared, as data.
pub(crate) fn needed(from: Option<UnixTime>) -> Value {
    let at = |from: UnixTime| (from > UnixTime(0)).then(|| from.to_string());
    from.map_or(Value::Null, |from| json!({ "now": from == UnixTime(0), "from": at(from) }))
}

/// The same in a sentence.
pub(crate) fn needed_text(needed: Option<&Value>) -> Option<String> {
    let needed = needed.filter(|needed| needed.is_object())?;
    Some(match needed.get("from").and_then(Value::as_str) {
        None => {
            "every voter is needed: one absent voter stops all decisions. If one key or disk is lost, nobody can be \
             admitted or expelled ever again, and there is no way back"
                .to_owned()
        }
        Some(from) => format!(
            "from {} on no voter can be spared: so many voters' terms are over then that all who are left are \
             needed. Renew their certificates before (folkmoot renew)",
            harmless(from)
        ),
    })
}

/// What of the times a person should know, a line each.
pub(crate) fn lines(status: &Value) -> Vec<String> {
    let mut lines: Vec<String> = clock(status).into_iter().collect();
    lines.extend(date(status));
    lines.extend(list(status, "waiting_decisions").map(waiting_text));
    lines.extend(skips::lines(status));
    let waiting = status.get("waiting").and_then(Value::as_u64).unwrap_or_default();
    if waiting > 0 {
        lines.push(format!(
            "by this clock some admissions and approvals are of the future, and do not count yet: {waiting}"
        ));
    }
    let overdue: Vec<String> = list(status, "overdue_voters").map(|one| text(one, "name")).collect();
    if !overdue.is_empty() {
        let (names, over) = (overdue.join(", "), if overdue.len() == 1 { "term is" } else { "terms are" });
        lines.push(format!(
            "{names}: the {over} over, and they vote on, because too few voters would be left. Renew their \
             certificates (folkmoot renew), or let others vote (folkmoot voters)"
        ));
    }
    lines.extend(list(status, "counting_until").map(|one| {
        format!(
            "the admission of {} counts until {}, unless a decision holds it before",
            text(one, "name"),
            text(one, "until")
        )
    }));
    lines.extend(needed_text(status.get("all_needed")));
    lines
}

/// Why this machine's clock is none, if so.
pub(crate) fn clock(status: &Value) -> Option<String> {
    let line = status.get("line")?;
    let shows = text(line, "clock");
    if let Some(made) = line.get("identity_made").and_then(Value::as_str) {
        return Some(format!(
            "this machine's clock shows {shows}, and this identity is valid from {made} on: the clock is wrong. Set it"
        ));
    }
    (line.get("behind_line").and_then(Value::as_bool) == Some(true)).then(|| {
        format!(
            "this machine's clock shows {shows}, more than a day before the last decision ({}): it is not \
             asked. Nothing ends by it, and this member's votes help no decision but one that takes the time \
             back. If this clock is wrong, set it. If that of the voters was wrong: folkmoot retime",
            text(line, "time")
        )
    })
}

/// That a decision waits until this member's person has seen the date.
fn date(status: &Value) -> Option<String> {
    let line = status.get("line")?;
    (line.get("asks_date").and_then(Value::as_bool) == Some(true)).then(|| date_to_see(line))
}

/// What the person of whoever alone is a quorum does before the next decision.
pub(crate) fn date_to_see(line: &Value) -> String {
    format!(
        "the next decision waits for you: {} If that is the date: folkmoot resolve {}. If not, set the clock, \
         and start this member anew",
        date_text(line),
        text(line, "head")
    )
}

/// The date by this clock beside the last decision's, for the only person who can compare it.
pub(crate) fn date_text(line: &Value) -> String {
    let number = |field: &str| line.get(field).and_then(Value::as_u64).unwrap_or_default();
    format!(
        "this machine's clock shows {}, {} after the last decision ({}). No other voter's clock is asked, \
         because this member alone is a quorum.",
        text(line, "clock"),
        span(number("clock_seconds").saturating_sub(number("seconds"))),
        text(line, "time")
    )
}

/// A decision that waits, for people.
fn waiting_text(one: &Value) -> String {
    format!(
        "a decision of {} waits: its time is more than a day ahead of this clock. It is {} (in words: {}), \
         committed to by {}. Ask them. To apply it now: folkmoot resolve {}",
        text(one, "time"),
        text(one, "head"),
        text(one, "head_words"),
        names_of(one, "committed_by"),
        text(one, "head")
    )
}

/// What doctor says of the times.
pub(crate) fn judged(status: &Value) -> Option<Result<String, String>> {
    let line = status.get("line")?;
    let wrong: Vec<String> = clock(status)
        .into_iter()
        .chain(date(status))
        .chain(list(status, "waiting_decisions").map(waiting_text))
        .chain(skips::waiting(status))
        .chain(super::clocks::lines(status))
        .collect();
    if !wrong.is_empty() {
        return Some(Err(wrong.join("; ")));
    }
    Some(Ok(match line.get("time").and_then(Value::as_str) {
        Some(time) => format!("the last decision was made at {time}, and this clock goes with it"),
        None => "no decision has been made yet".to_owned(),
    }))
}

/// Adds to somebody's state what waits for the clock or for our person, or stays although its term
/// is over.
pub(super) fn say(person: &mut Value, times: &Times) {
    skips::say(person, times);
    let id = person.get("member").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is = |member: &MemberId| member.hex() == id;
    let why = person.get("why").and_then(Value::as_str).unwrap_or_default().to_owned();
    let until = times.counting.iter().find(|(member, _)| is(member));
    let more = if times.out.iter().any(is) {
        let first = times.ahead.first().map(|one| one.time.to_string()).unwrap_or_default();
        let why = format!(
            "removed by a decision that waits for this machine's clock (its time is {first}), and out here already"
        );
        let fields = [("why", why), ("state", "expelled".into())];
        return set(person, fields.into_iter().map(|(field, text)| (field, text.into())));
    } else if times.overdue.iter().any(is) {
        ("overdue", "its term is over, and it votes on, because too few voters would be left".to_owned())
    } else if let Some((_, until)) = until {
        ("until", format!("no decision holds its admission yet, which counts until {until}"))
    } else {
        return;
    };
    let value = until.map_or(Value::Bool(true), |(_, until)| until.to_string().into());
    set(person, [("why", format!("{why}; {}", more.1).into()), (more.0, value)].into_iter());
}

fn set<'a>(person: &mut Value, fields: impl Iterator<Item = (&'a str, Value)>) {
    if let Some(known) = person.as_object_mut() {
        known.extend(fields.map(|(field, value)| (field.to_owned(), value)));
    }
}

/// How long, in the unit that says it best.
pub(crate) fn span(seconds: u64) -> String {
    match seconds {
        ..HOUR => many_of(seconds.div_ceil(60), "minute"),
        HOUR..=DAY => many_of(seconds / HOUR, "hour"),
        _ => many_of(seconds / DAY, "day"),
    }
}

pub(crate) fn list<'a>(of: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of.get(field).and_then(Value::as_array).into_iter().flatten()
}

pub(crate) fn text(of: &Value, field: &str) -> String {
    harmless(of.get(field).and_then(Value::as_str).unwrap_or_default())
}

/// The names in a list, of texts or of people.
pub(crate) fn names_of(of: &Value, field: &str) -> String {
    let one = |one: &Value| one.as_str().map_or_else(|| text(one, "name"), harmless);
    let names: Vec<String> = list(of, field).map(one).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::Head;

    const ANNA: MemberId = MemberId([1; 32]);
    const BEN: MemberId = MemberId([2; 32]);

    fn quiet() -> Times {
        Times {
            line: UnixTime(1_800_000_000),
            head: Head { number: 3, digest: [7; 32] },
            by: vec![ANNA],
            clock: Some(UnixTime(1_800_000_100)),
            is_none: false,
            made: None,
            ahead: Vec::new(),
            out: Vec::new(),
            offered: Vec::new(),
            skipped: None,
            waiting: 0,
            overdue: Vec::new(),
            counting: Vec::new(),
            needed: None,
            date: None,
        }
    }

    fn told(times: &Times) -> Value {
        let names = Names::from([(ANNA, "anna".to_owned()), (BEN, "ben".to_owned())]);
        Value::Object(data(times, &names))
    }

    #[test]
    fn nothing_is_told_while_there_is_nothing_to_tell() {
        assert!(lines(&told(&quiet())).is_empty());
        assert!(judged(&told(&quiet())).unwrap().unwrap().contains("this clock goes with it"));
        let first = Times { line: UnixTime(0), by: Vec::new(), ..quiet() };
        assert_eq!(judged(&told(&first)).unwrap().unwrap(), "no decision has been made yet");
    }

    #[test]
    fn a_decision_that_waits_is_told_with_its_time_and_committers_and_whom_it_removes() {
        let one = Ahead {
            head: Head { number: 4, digest: [9; 32] },
            time: UnixTime(7_258_118_400),
            by: vec![ANNA],
        };
        let times = Times { ahead: vec![one], out: vec![BEN], ..quiet() };
        let said = lines(&told(&times)).concat();
        assert!(said.contains("2200-01-01") && said.contains("committed to by anna"), "{said}");
        assert!(judged(&told(&times)).unwrap().is_err());
        let mut ben = json!({ "member": BEN.hex(), "state": "late", "why": "x" });
        say(&mut ben, &times);
        assert_eq!(ben["state"], "expelled");
        assert!(ben["why"].as_str().unwrap().contains("out here already"), "{ben}");
    }

    #[test]
    fn a_clock_that_is_none_is_told_with_what_to_do() {
        let behind = lines(&told(&Times { is_none: true, ..quiet() })).concat();
        assert!(behind.contains("folkmoot retime") && behind.contains("not asked"), "{behind}");
        let young = lines(&told(&Times { made: Some(UnixTime(1_900_000_000)), ..quiet() })).concat();
        assert!(young.contains("this identity is valid from"), "{young}");
    }

    #[test]
    fn what_waits_for_a_date_is_told_with_both_dates_and_the_command() {
        let clock = Some(UnixTime(1_800_000_000 + 45 * DAY));
        let told = |date| told(&Times { clock, date, ..quiet() });
        let said = lines(&told(Some(true))).concat();
        for part in ["waits for you", "2027-03-01", "45 days after", "2027-01-15", "folkmoot resolve 3.0707"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(judged(&told(Some(true))).unwrap().is_err());
        // Nothing is due yet.
        for rests in [Some(false), None] {
            assert!(lines(&told(rests)).is_empty());
            assert!(judged(&told(rests)).unwrap().is_ok());
        }
    }

    #[test]
    fn whose_term_is_over_who_counts_for_how_long_and_who_is_needed_is_told() {
        let times = Times {
            overdue: vec![ANNA],
            counting: vec![(BEN, UnixTime(1_800_100_000))],
            waiting: 2,
            needed: Some(UnixTime(1_800_200_000)),
            ..quiet()
        };
        let said = lines(&told(&times)).join("\n");
        for part in [
            "anna: the term is over",
            "the admission of ben counts until",
            "do not count yet: 2",
            "no voter can be spared",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let all = lines(&told(&Times { needed: Some(UnixTime(0)), ..quiet() })).concat();
        assert!(all.contains("there is no way back"), "{all}");
        let mut anna = json!({ "member": ANNA.hex(), "state": "present", "why": "in the view" });
        say(&mut anna, &times);
        assert_eq!((&anna["state"], &anna["overdue"]), (&json!("present"), &json!(true)));
        let mut ben = json!({ "member": BEN.hex(), "state": "present", "why": "in the view" });
        say(&mut ben, &times);
        assert!(ben["until"].is_string(), "{ben}");
    }
}
