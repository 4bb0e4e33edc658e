//! `folkmoot resolve` and `folkmoot retime`: what a person decides about lines and their times. It
//! is shown what it decides about, and asked.

use crate::args::Resolve;
use crate::commands::{ask, proposed, text};
use crate::control::Request;
use crate::exit::{Exit, Failure};
use crate::member::times::{date_text, date_to_see, list, names_of, span};
use crate::member::{clocks, skips};
use crate::show::{Paint, data, harmless, paint};
use crate::terminal;
use crate::values::head as head_of;
use folkmoot_base::Head;
use folkmoot_transcript::KnownHead;
use serde_json::Value;
use std::path::Path;

/// `folkmoot resolve`
pub(crate) async fn resolve(folder: &Path, resolve: &Resolve, json: bool) -> Result<(), Failure> {
    let Resolve { head, everybody, timeout, yes } = resolve;
    let head = head_of(&head.join(" ")).map_err(|why| Failure::new(Exit::Usage, why))?;
    let status = ask(folder, Request::Status).await?;
    let waits = waiting(&status, &head);
    let date = asks_date(&status, &head).filter(|_| !everybody);
    let skips = skips::of(&status).filter(|one| names(&head, one));
    let question = waits
        .map(|waits| taken_text(&status, waits))
        .or_else(|| skips.map(|one| skips::question(&status, one)))
        .or_else(|| date.clone());
    if let Some(question) = question.filter(|_| !everybody) {
        confirm(&question, *yes)?;
    }
    let request = Request::Resolve { head: head.whole(), everybody: *everybody, wait: *timeout };
    let answer = ask(folder, request).await?;
    let (at, words) = (text(&answer, "head"), text(&answer, "head_words"));
    data(json, &answer, || {
        match (everybody, waits) {
        (true, _) => proposed(&format!(
            "go over to the other line of decisions, at {} (in words: {})",
            text(&answer, "theirs"),
            text(&answer, "theirs_words")
        )),
        (false, None) if date.is_some() => {
            "this member decides by its clock now: for a day, until the next decision, or until it is started anew"
                .to_owned()
        }
        (false, None) if skips.is_some() => {
            format!("this member has skipped the decisions between: its head is {at} (in words: {words})")
        }
        (false, None) => {
            format!("this member follows the other line now: its head is {at} (in words: {words})")
        }
        (false, Some(_)) => {
            format!("this member has applied the decision: its head is {at} (in words: {words})")
        }
    }
    });
    Ok(())
}

/// The decision of this name among those that wait for the member's clock.
fn waiting<'a>(status: &'a Value, head: &KnownHead) -> Option<&'a Value> {
    list(status, "waiting_decisions").find(|one| names(head, one))
}

/// Whether a person's words or digits name this decision.
fn names(head: &KnownHead, one: &Value) -> bool {
    Head::from_whole(text(one, "head")).is_some_and(|known| head.names(&known))
}

/// What is decided by going on from our own head, if the next decision waits for the date.
fn asks_date(status: &Value, head: &KnownHead) -> Option<String> {
    let line = status.get("line").filter(|line| line.get("asks_date").is_some_and(Value::is_boolean))?;
    names(head, line).then(|| {
        format!(
            "{} If you go on, it decides by that, and the terms that end before are over. Compare the date with \
             another clock.",
            date_text(line)
        )
    })
}

/// What is decided by taking a decision that waits.
fn taken_text(status: &Value, one: &Value) -> String {
    let clock = status.get("line").map(|line| harmless(text(line, "clock"))).unwrap_or_default();
    format!(
        "The decision {} (in words: {}) has the time {}, and this machine's clock shows {clock}. {} committed \
         to it. If you apply it, the terms that end before its time are over here. Ask one of them whether its \
         clock was right.",
        harmless(text(one, "head")),
        harmless(text(one, "head_words")),
        harmless(text(one, "time")),
        names_of(one, "committed_by"),
    )
}

/// Says beside votes what keeps them from having an effect here: that this clock is behind others'
/// (what has not begun by it is not shown), or that what is decided waits for the person.
pub(crate) async fn warn(folder: &Path) {
    let Ok(status) = ask(folder, Request::Status).await else { return };
    for line in clocks::lines(&status) {
        let why = format!("warning: {line}; what has not begun by this clock is not shown here");
        eprintln!("{}", paint(Paint::Red, &why));
    }
    let asked = |line: &&Value| line.get("asks_date").is_some_and(Value::is_boolean);
    if let Some(line) = status.get("line").filter(asked) {
        eprintln!("{}", paint(Paint::Red, &format!("warning: {}", date_to_see(line))));
    }
}

/// `folkmoot retime`
pub(crate) async fn retime(folder: &Path, yes: bool, json: bool) -> Result<(), Failure> {
    let weighed = ask(folder, Request::Retime { weigh: true }).await?;
    confirm(&retime_text(&weighed), yes)?;
    let answer = ask(folder, Request::Retime { weigh: false }).await?;
    data(json, &answer, || proposed("take the time of the decisions back to the voters' clocks"));
    Ok(())
}

fn retime_text(weighed: &Value) -> String {
    let ahead = span(weighed.get("seconds").and_then(Value::as_u64).unwrap_or_default());
    format!(
        "The last decision was made at {}, {ahead} ahead of this machine's clock, which shows {}. {} committed \
         to it. If the voters agree, the time goes back to their clocks, and everything that was approved \
         before has to be approved anew. First compare this clock with another.",
        harmless(text(weighed, "time")),
        harmless(text(weighed, "clock")),
        names_of(weighed, "committed_by"),
    )
}

/// Shows what is to be decided, and asks, unless the person has said yes already.
fn confirm(what: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !terminal::is_here() {
        let why = format!("{what} There is no terminal here to ask you at. If you are sure, add --yes");
        return Err(Failure::new(Exit::Usage, why));
    }
    eprintln!("{what}");
    if terminal::agrees("Go on? Type yes or no:") {
        return Ok(());
    }
    Err(Failure::new(Exit::No, "nothing was done: the answer was not yes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_person_sees_dates_and_committers_before_it_is_asked() {
        let weighed = json!({
            "time": "2200-01-01 00:00:00Z", "clock": "2026-11-28 10:00:00Z", "seconds": 90_000,
            "committed_by": ["anna", "ben"],
        });
        let said = retime_text(&weighed);
        for part in ["2200-01-01", "2026-11-28", "anna, ben committed", "1 day ahead"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let why = confirm(&said, false).unwrap_err();
        assert!(why.text.contains("add --yes"), "{}", why.text);
        assert!(confirm(&said, true).is_ok());
    }
}
