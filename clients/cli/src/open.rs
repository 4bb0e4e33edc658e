//! What is open to votes, taken back; and the rules in force.

use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::show::{data, harmless, short, table};
use serde_json::Value;
use std::path::Path;

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn names(value: &Value, field: &str) -> String {
    let names = value.get(field).and_then(Value::as_array).into_iter().flatten();
    harmless(&names.filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
}

/// `folkmoot withdraw`
pub(crate) async fn withdraw(folder: &Path, subject: &[String], json: bool) -> Result<(), Failure> {
    let subject = (!subject.is_empty()).then(|| subject.join(" "));
    let answer = Control::connect(folder).await?.ask(&Request::Withdraw { subject }).await?;
    data(json, &answer, || withdrawn(&answer));
    match (text(&answer, "state"), answer.get("known").and_then(Value::as_bool)) {
        ("open", _) => Err(Failure::new(Exit::No, "")),
        ("waiting", _) | (_, Some(false)) => Err(Failure::new(Exit::TimedOut, "")),
        _ => Ok(()),
    }
}

/// What was taken back, and what became of it.
pub(crate) fn withdrawn(answer: &Value) -> String {
    let (kind, about) = (text(answer, "kind"), harmless(text(answer, "about")));
    let what = format!("{kind} {about:?} ({})", short(text(answer, "subject")));
    match (text(answer, "state"), answer.get("known").and_then(Value::as_bool)) {
        (_, Some(true)) => "withdrawn: the members no longer have your request".to_owned(),
        (_, Some(false)) => {
            "this member asks no more. No member answered, so those who have the request may still vote on it \
             until it runs out"
                .to_owned()
        }
        ("withdrawn", _) => format!("withdrawn: {what}"),
        ("open", _) => format!(
            "your yes is taken back: {what}; it stays open, with a yes from {}",
            names(answer, "approved")
        ),
        _ => format!("waiting: the group has not ordered it yet; it is sent until it has: {what}"),
    }
}

/// `folkmoot rules`
pub(crate) async fn rules(folder: &Path, json: bool) -> Result<(), Failure> {
    let answer = Control::connect(folder).await?.ask(&Request::Rules).await?;
    data(json, &answer, || in_force(&answer));
    Ok(())
}

/// The rules in force, as a table.
pub(crate) fn in_force(answer: &Value) -> String {
    let rules = answer.get("rules").and_then(Value::as_array).into_iter().flatten();
    let row = |one: &Value| {
        let since = one.get("since").and_then(Value::as_u64).unwrap_or_default();
        vec![harmless(text(one, "rule")), harmless(text(one, "value")), made(one, since)]
    };
    table(&["RULE", "VALUE", "SINCE"], &rules.map(row).collect::<Vec<_>>())
}

fn made(rule: &Value, since: u64) -> String {
    if since == 0 {
        return "the founding".to_owned();
    }
    let at = match text(rule, "at") {
        "" => String::new(),
        at => format!(" ({at})"),
    };
    let yes = match names(rule, "approved") {
        yes if yes.is_empty() => yes,
        yes => format!(", yes from {yes}"),
    };
    format!("decision {since}{at}{yes}")
}
