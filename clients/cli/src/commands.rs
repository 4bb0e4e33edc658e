//! Commands that ask the running member.

use crate::args::{Fault, Vote};
use crate::control::{Control, Faulty, Request};
use crate::exit::{Exit, Failure};
use crate::member::carried;
use crate::member::concerns::lines;
use crate::member::find::{Choice, find};
use crate::member::reached::without_address;
use crate::member::side;
use crate::member::times;
use crate::show::{Paint, data, harmless, many, many_of, paint, short, table};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) async fn ask(folder: &Path, request: Request) -> Result<Value, Failure> {
    Control::connect(folder).await?.ask(&request).await
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// `folkmoot vote`
pub(crate) async fn vote(folder: &Path, vote: Vote, json: bool) -> Result<(), Failure> {
    let (subject, approve, timeout) = match vote {
        Vote::List => return list(folder, json).await,
        Vote::Approve { subject, timeout } => (subject.join(" "), true, timeout),
        Vote::Reject { subject, timeout } => (subject.join(" "), false, timeout),
    };
    let answer = ask(folder, Request::Vote { subject, approve, wait: Some(timeout) }).await;
    crate::times::warn(folder).await;
    let answer = answer?;
    data(json, &answer, || voted(&answer));
    Ok(())
}

/// On what a vote was given, and what became of it.
pub(crate) fn voted(answer: &Value) -> String {
    let approve = answer.get("approve").and_then(Value::as_bool).unwrap_or_default();
    let word = if approve { "yes" } else { "no" };
    let (kind, about, subject) = (text(answer, "kind"), text(answer, "about"), text(answer, "subject"));
    format!("voted {word}: {kind} {:?} ({}); {}", harmless(about), short(subject), outcome(answer))
}

/// What became of a vote.
pub(crate) fn outcome(answer: &Value) -> String {
    let count = |field: &str| answer.get(field).and_then(Value::as_u64).unwrap_or_default();
    let names = |field: &str, word: &str| {
        let names = answer.get(field).and_then(Value::as_array).into_iter().flatten();
        let names: Vec<String> = names.filter_map(Value::as_str).map(harmless).collect();
        if names.is_empty() { String::new() } else { format!("{word} from {}", names.join(", ")) }
    };
    let votes = format!("{} of {} votes", count("have"), count("need"));
    let votes = format!("{votes}{}{}", names("approved", ", yes"), names("rejected", ", no"));
    let rule =
        answer.get("rule").and_then(Value::as_str).map(|rule| format!("; by the charter's rule: {rule}"));
    let votes = votes + &harmless(&rule.unwrap_or_default());
    match (text(answer, "state"), text(answer, "over"), text(answer, "waits")) {
        ("waiting", ..) => {
            format!("waiting: the group has not ordered the vote yet; it is sent until it has ({votes})")
        }
        ("overtaken", ..) => {
            let end = match text(answer, "over") {
                "withdrawn" => "it was withdrawn",
                "expired" => "its time was over",
                "rejected" => "it was rejected",
                _ => "the matter had ended",
            };
            format!("no longer needed: {end} before the vote was ordered")
        }
        (_, "admitted", _) => "counted, and with it the member is admitted".to_owned(),
        (_, "decided", _) => format!("counted{}; it is decided", names("approved", ": yes")),
        (_, "withdrawn", _) => "counted; it is withdrawn".to_owned(),
        (_, "expired", _) => "counted; its time is over".to_owned(),
        (_, "overtaken" | "crowded", _) => {
            "counted; what was decided since leaves nothing to decide".to_owned()
        }
        (_, "rejected", _) => format!("counted{}; it is rejected", names("rejected", ": no")),
        (_, _, "decision") => format!("counted: {votes}; waiting for the decision"),
        (_, _, "admission") => format!("counted: {votes}; the admission follows"),
        (_, _, "authority") => format!("counted: {votes}; waiting for the authority"),
        (_, _, "new-shares") => format!("counted: {votes}; waiting until the voters have new shares"),
        _ => format!("counted: {votes}"),
    }
}

async fn list(folder: &Path, json: bool) -> Result<(), Failure> {
    let answer = ask(folder, Request::Petitions).await?;
    crate::times::warn(folder).await;
    let row = |one: &Value| {
        let number = |field: &str| one.get(field).unwrap_or(&Value::Null).to_string();
        let votes = format!("{} of {}", number("have"), number("need"));
        let names = |field: &str| {
            let names = one.get(field).and_then(Value::as_array).into_iter().flatten();
            harmless(&names.filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        };
        let sponsor = one.get("sponsor").and_then(Value::as_str);
        let about = sponsor.map_or(String::new(), |sponsor| format!(" (CSR, by {})", harmless(sponsor)));
        vec![
            text(one, "kind").to_owned(),
            format!("{}{about}", harmless(text(one, "name"))),
            short(text(one, "subject")).to_owned(),
            votes,
            harmless(text(one, "needs")),
            names("approved"),
            names("rejected"),
        ]
    };
    let rows: Vec<Vec<String>> = answer.as_array().into_iter().flatten().map(row).collect();
    data(json, &answer, || {
        if rows.is_empty() {
            "nothing to vote on".into()
        } else {
            let table = table(&["KIND", "ABOUT", "SUBJECT", "VOTES", "NEEDS", "YES", "NO"], &rows);
            answer
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(lines)
                .fold(table, |all, line| all + "\n" + &line)
        }
    });
    Ok(())
}

/// `folkmoot renew`
pub(crate) async fn renew(folder: &Path, json: bool) -> Result<(), Failure> {
    let answer = Control::connect(folder).await?.ask(&Request::Renew).await?;
    let request = text(&answer, "request");
    let short = request.get(..8).unwrap_or_default();
    data(json, &answer, || {
        format!(
            "request {request}\nthis member asks for a new certificate; vote: folkmoot vote approve {short}"
        )
    });
    Ok(())
}

/// `folkmoot expel`
pub(crate) async fn expel(folder: &Path, member: String, force: bool, json: bool) -> Result<(), Failure> {
    let answer = propose(folder, Request::Expel { member, force }).await?;
    let (name, id) = (harmless(text(&answer, "name")), short(text(&answer, "member")));
    let warning = all_needed(&answer);
    data(json, &answer, || proposed(&format!("expel {name} ({id})")) + &warning);
    Ok(())
}

/// `folkmoot voters`
pub(crate) async fn voters(
    folder: &Path,
    members: Vec<String>,
    force: bool,
    json: bool,
) -> Result<(), Failure> {
    let answer = propose(folder, Request::Voters { members, force }).await?;
    let names = answer.get("names").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = names.filter_map(Value::as_str).map(harmless).collect();
    let warning = all_needed(&answer);
    data(json, &answer, || proposed(&format!("let these vote from now on: {}", names.join(", "))) + &warning);
    Ok(())
}

/// `folkmoot charter change`
pub(crate) async fn change(
    folder: &Path,
    field: String,
    value: String,
    force: bool,
    json: bool,
) -> Result<(), Failure> {
    let request = Request::Change { field: field.clone(), value, force };
    let answer = propose(folder, request).await?;
    let value = harmless(text(&answer, "value"));
    let warning = all_needed(&answer);
    data(json, &answer, || proposed(&format!("set {field} = {value} in the charter")) + &warning);
    Ok(())
}

/// That no voter can be spared, once it is decided: a line, if it is so.
pub(crate) fn all_needed(answer: &Value) -> String {
    let text = times::needed_text(answer.get("all_needed"));
    text.map_or_else(String::new, |text| {
        format!("\n{}", paint(Paint::Red, &format!("once that is decided, {text}")))
    })
}

/// Proposes it, and says what speaks against it if it was forced.
pub(crate) async fn propose(folder: &Path, request: Request) -> Result<Value, Failure> {
    let answer = ask(folder, request).await?;
    if let Some(warning) = answer.get("warning").and_then(Value::as_str) {
        eprintln!("{}", paint(Paint::Red, &format!("warning: {}", harmless(warning))));
    }
    crate::times::warn(folder).await;
    Ok(answer)
}

/// That something was proposed.
pub(crate) fn proposed(what: &str) -> String {
    format!("proposed to {what}, with your vote if you have one; the others see it in: folkmoot vote list")
}

/// `folkmoot status`
pub(crate) async fn status(folder: &Path, json: bool) -> Result<(), Failure> {
    let status = ask(folder, Request::Status).await?;
    data(json, &status, || {
        let head = format!(
            "{} ({}) at {}",
            harmless(text(&status, "name")),
            short(text(&status, "me")),
            addresses(&status)
        );
        let key = status.get("epoch").and_then(Value::as_str).unwrap_or("none yet");
        let part = |key: &str| status.get(key).and_then(Value::as_str);
        let suite = part("module").zip(part("cipher"));
        let suite = suite.map_or_else(String::new, |(module, cipher)| format!(" ({module}, {cipher})"));
        let view = status.get("view").and_then(Value::as_str).unwrap_or("none yet");
        let about = format!("view {view}  key {key}{suite}  {}", text(&status, "activity"));
        let refusals = status.get("refusals").and_then(Value::as_array).into_iter().flatten();
        let below = status.get("below_threshold").and_then(Value::as_str);
        let below = below.map_or_else(String::new, |below| format!("\n{}", paint(Paint::Red, below)));
        let authority = authority_line(&status);
        let side = side::text(status.get("side"));
        let side = side.map_or_else(String::new, |side| {
            format!("\n{}", paint(Paint::Red, &format!("this side is {side}")))
        });
        let names: String = without_address(&status).iter().map(|one| format!("\n{one}")).collect();
        let refusals: String = refusals.map(|one| format!("\n{}", harmless(text(one, "why")))).collect();
        let about = format!("{about}\n{}", line_about(&status));
        let lines = times::lines(&status);
        let times: String = lines.iter().map(|one| format!("\n{}", paint(Paint::Red, one))).collect();
        format!(
            "{}\n{about}{side}{times}{}{authority}{below}{names}\n{}{refusals}{}{}",
            paint(Paint::Bold, &head),
            crate::shares::text(&status),
            people(&status, |_| true),
            carried::text(&status),
            given_up(&status)
        )
    });
    Ok(())
}

/// Where others reach the member.
fn addresses(status: &Value) -> String {
    let all = status.get("addresses").and_then(Value::as_array).into_iter().flatten();
    let all: Vec<&str> = all.filter_map(Value::as_str).collect();
    match all.as_slice() {
        [] => format!("{} (this machine has no address that others can use now)", text(status, "locator")),
        all => all.join(", "),
    }
}

/// How many unreliable messages never left this node, how many came and were not told, and how many
/// datagrams a slow disk cost, if there are any.
fn given_up(status: &Value) -> String {
    let told = |field: &str, what: &str| match status.get(field).and_then(Value::as_u64).unwrap_or_default() {
        0 => String::new(),
        count => format!("\n{} {what}", many_of(count, "unreliable message")),
    };
    let left = told("given_up", "given up here since the start: too many at once, or no ring stood");
    let came = told("untold", "not shown since the start: more came than were read");
    let unsent = status.get("unsent").and_then(Value::as_u64).unwrap_or_default();
    let slow = match unsent {
        0 => String::new(),
        count => format!(
            "\n{} not sent since the start: the disk is slow, and too many waited for it",
            many_of(count, "datagram")
        ),
    };
    left + &came + &slow
}

/// How many decisions there are, what stands beside them, and what contradicts them.
fn line_about(status: &Value) -> String {
    let count = |field: &str| status.get(field).and_then(Value::as_u64).unwrap_or_default();
    let list = |field: &str| status.get(field).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let held = usize::try_from(count("held")).unwrap_or(usize::MAX);
    let decided = usize::try_from(count("decided")).unwrap_or(usize::MAX);
    let (decided, held) = (many(decided, "decision"), many(held, "member"));
    let mut text = format!("{decided}, head {}; the line holds {held}", text(status, "head"));
    let words = format!("\nhead in words: {}", self::text(status, "head_words"));
    if count("counted") > 0 {
        text.push_str(&format!(", and approvals alone admit {}", count("counted")));
    }
    text.push_str(&words);
    for one in list("late") {
        let [name, why] = ["name", "why"].map(|field| harmless(self::text(one, field)));
        text.push_str(&format!("\n{name} is late: {why}"));
    }
    for fork in list("forks") {
        let names = fork.get("names").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<String> = names.filter_map(Value::as_str).map(harmless).collect();
        let both = if names.is_empty() {
            "nobody signed both in a way that contradicts itself".to_owned()
        } else {
            format!("{} signed both", names.join(", "))
        };
        let line = format!(
            "decision {} was made twice: ours is {} (in words: {}), the other is {} (in words: {}); {both}",
            fork.get("number").and_then(Value::as_u64).unwrap_or_default(),
            self::text(fork, "ours"),
            self::text(fork, "ours_words"),
            self::text(fork, "theirs"),
            self::text(fork, "theirs_words"),
        );
        text.push_str(&format!("\n{}", paint(Paint::Red, &line)));
    }
    text
}

/// Whether the authority is reached, where the group has one.
fn authority_line(status: &Value) -> String {
    let Some(reach) = status.get("authority").filter(|reach| reach.is_object()) else { return String::new() };
    let heard = reach.get("heard_seconds_ago").and_then(Value::as_u64);
    let heard = heard.map_or_else(|| "silent so far".into(), |seconds| format!("last heard {seconds} s ago"));
    match reach.get("reached").and_then(Value::as_bool) {
        Some(true) => format!("\nauthority reached, {heard}"),
        _ => format!(
            "\nauthority not reachable from here, {heard}: members go on; nobody is admitted meanwhile"
        ),
    }
}

/// Whether the group has other members than the one whose status this is.
pub(crate) fn has_others(status: &Value) -> bool {
    let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
    people.filter(|person| on_roster(text(person, "state"))).count() > 1
}

/// Whether somebody in this state is a member.
pub(crate) fn on_roster(state: &str) -> bool {
    let outside = [
        "asking",
        "denied",
        "not-admitted",
        "unknown",
        "expelled",
        "left-for-good",
        "replaced",
        "expired",
        "late",
    ];
    !outside.contains(&state)
}

/// `folkmoot roster`
pub(crate) async fn roster(folder: &Path, json: bool) -> Result<(), Failure> {
    let status = ask(folder, Request::Status).await?;
    let list = status.get("people").and_then(Value::as_array).into_iter().flatten();
    let list: Vec<&Value> = list.filter(|person| on_roster(text(person, "state"))).collect();
    let below = status.get("below_threshold").and_then(Value::as_str);
    let below = below.map_or_else(String::new, |below| format!("{}\n", paint(Paint::Red, below)));
    data(json, &json!(list), || format!("{below}{}", people(&status, on_roster)));
    Ok(())
}

fn people(status: &Value, keep: impl Fn(&str) -> bool) -> String {
    let list = status.get("people").and_then(Value::as_array).into_iter().flatten();
    let rows: Vec<Vec<String>> = list
        .filter(|person| keep(text(person, "state")))
        .map(|person| {
            let cells = [harmless(text(person, "name")), short(text(person, "member")).to_owned()];
            cells.into_iter().chain(["state", "why"].map(|field| harmless(text(person, field)))).collect()
        })
        .collect();
    table(&["NAME", "ID", "STATE", "WHY"], &rows)
}

/// `folkmoot why`: exit code 0 if the member is in the view, 1 if not.
pub(crate) async fn why(folder: &Path, who: &str, json: bool) -> Result<(), Failure> {
    let status = ask(folder, Request::Status).await?;
    let list = status.get("people").and_then(Value::as_array).into_iter().flatten();
    let people = list.map(|person| Choice {
        kind: text(person, "state").to_owned(),
        name: text(person, "name").to_owned(),
        id: text(person, "member").to_owned(),
        value: person,
    });
    let found = find(who, people.collect(), "nobody is called").map(|found| found.value);
    let unknown = json!({
        "member": null, "name": who, "state": "unknown", "why": "nobody here knows that name or key",
    });
    let person = match found {
        Err(failure) if failure.exit == Exit::No => &unknown,
        found => found?,
    };
    let (name, state) = (harmless(text(person, "name")), text(person, "state"));
    let reason = harmless(text(person, "why"));
    data(json, person, || match short(text(person, "member")) {
        "" => format!("{name} is {state}: {reason}"),
        id => format!("{name} ({id}) is {state}: {reason}"),
    });
    if state == "present" {
        return Ok(());
    }
    // The data say it all.
    Err(Failure::new(Exit::No, ""))
}

/// `folkmoot fault`
pub(crate) async fn fault(folder: &Path, fault: Fault) -> Result<(), Failure> {
    let Fault { cut, drop, delay, longest, heal } = fault;
    let cut = cut.iter().map(ToString::to_string).collect();
    let faulty = Faulty { cut, drop, delay_ms: delay, longest, heal };
    ask(folder, Request::Fault(faulty)).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_is_told_if_there_is_any() {
        let told = |count: u64| given_up(&json!({ "given_up": count }));
        assert_eq!(told(0), "");
        assert!(told(1).starts_with("\n1 unreliable message given up here"), "{}", told(1));
        assert!(told(2).starts_with("\n2 unreliable messages given up here"), "{}", told(2));
        assert!(given_up(&json!({ "unsent": 3 })).starts_with("\n3 datagrams not sent"));
        let both = given_up(&json!({ "given_up": 2, "untold": 1 }));
        assert!(both.contains("\n1 unreliable message not shown since the start"), "{both}");
    }

    #[test]
    fn what_others_are_called_and_say_of_themselves_steers_no_terminal() {
        let raw = "\u{1b}]0;x\u{7}";
        let one = json!({ "name": raw, "state": "silent", "why": raw, "member": "ab" });
        let status = json!({ "people": [one], "late": [one], "forks": [{ "names": [raw] }] });
        for told in [people(&status, |_| true), line_about(&status)] {
            assert!(told.contains("]0;x") && !told.contains('\u{7}'), "{told:?}");
        }
    }

    #[test]
    fn an_answer_says_what_became_of_the_vote() {
        let told = |state: &str, over: Option<&str>, waits: Option<&str>| {
            outcome(&json!({
                "state": state, "have": 1, "need": 2, "approved": ["anna"], "rejected": ["ben"], "over": over,
                "waits": waits,
            }))
        };
        let votes = "1 of 2 votes, yes from anna, no from ben";
        assert_eq!(told("counted", None, Some("votes")), format!("counted: {votes}"));
        assert_eq!(told("counted", Some("decided"), None), "counted: yes from anna; it is decided");
        assert_eq!(told("counted", Some("rejected"), None), "counted: no from ben; it is rejected");
        assert!(told("waiting", None, Some("order")).starts_with("waiting: "));
        assert!(told("overtaken", Some("admitted"), None).starts_with("no longer needed"));
        for (waits, end) in
            [("decision", "the decision"), ("admission", "follows"), ("authority", "the authority")]
        {
            let said = told("counted", None, Some(waits));
            assert!(said.starts_with(&format!("counted: {votes}; ")) && said.ends_with(end), "{said}");
        }
    }
}
