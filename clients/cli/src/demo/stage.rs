//! What the chapters share: how long they wait, what they ask members, how they read the answers.

use super::outside::{
    Burst, Exit, Failure, Faulty, Member, Ordering, PossibleView, Request, Sealed, Shared, burst_all, hex,
    short,
};
use serde_json::Value;
use std::time::Duration;

/// Longest wait for a view and its key.
pub(super) const VIEW: Duration = Duration::from_secs(15);
/// Longest wait for messages to arrive everywhere.
pub(super) const DELIVERY: Duration = Duration::from_secs(20);
/// How long nothing may happen before it counts as not happening.
pub(super) const QUIET: Duration = Duration::from_millis(300);
/// Messages each sends after the expulsion.
pub(super) const AFTER: u64 = 50;
/// Bytes of a message in the order step.
pub(super) const BYTES: u32 = 100;
/// What the group is called.
pub(super) const GROUP: &str = "the demo";
/// The delivery logs ask for no window of time here.
pub(super) const JOURNAL: Request = Request::Journal { from: 0, to: 0 };

/// What came of trying keys.
#[derive(serde::Deserialize)]
pub(super) struct Attempts {
    pub(super) keys: u64,
    pub(super) sealed: u64,
    pub(super) opened: u64,
    pub(super) tries: u64,
}

pub(super) async fn attempt(
    member: &Member,
    payloads: Vec<Sealed>,
    views: &[PossibleView],
) -> Result<Attempts, Failure> {
    let answer = member.ask(&Request::Attempt { payloads, views: views.to_vec() }).await?;
    serde_json::from_value(answer).map_err(Failure::bug)
}

pub(super) async fn tapped(member: &Member) -> Result<Vec<Sealed>, Failure> {
    serde_json::from_value(member.ask(&Request::Tapped).await?).map_err(Failure::bug)
}

/// So many messages of each, at once.
pub(super) async fn burst(members: &[&Member], each: u64) -> Result<(), Failure> {
    let burst = Burst { count: each, bytes: BYTES, service: Ordering::Agreed, seconds: 0.0, window: 256 };
    let sent = burst_all(members, burst).await?;
    let all = each * u64::try_from(members.len()).unwrap_or(u64::MAX);
    if sent == all { Ok(()) } else { Err(Failure::new(Exit::No, format!("{sent} of {all} were sent"))) }
}

pub(super) async fn say(member: &Member, text: &str) -> Result<(), Failure> {
    let request = Request::Send { payload: hex(text.as_bytes()), service: Ordering::Agreed, sign: false };
    match tokio::time::timeout(DELIVERY, member.ask(&request)).await {
        Ok(answer) => answer.map(|_| ()),
        Err(_) => Err(Failure::new(Exit::TimedOut, format!("{} got no key to send with", member.name))),
    }
}

pub(super) async fn cut(member: &Member, others: &[&Member]) -> Result<(), Failure> {
    let cut = others.iter().map(|other| other.locator.clone()).collect();
    member.ask(&Request::Fault(Faulty { cut, ..Faulty::default() })).await.map(|_| ())
}

pub(super) fn told(shared: &Shared) -> String {
    let view = shared.view.split('.').take(2).collect::<Vec<_>>().join(".");
    format!("view {view}, key {}", short(&shared.epoch))
}

pub(super) fn count(journal: &Value) -> u64 {
    journal.get("count").and_then(Value::as_u64).unwrap_or(0)
}

pub(super) fn from(journal: &Value, sender: &Member) -> u64 {
    journal.get("senders").and_then(|senders| senders.get(&sender.id)).and_then(Value::as_u64).unwrap_or(0)
}

pub(super) fn field(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The votes that the request of `name` has, if it is there.
pub(super) fn votes(list: &Value, name: &str) -> Option<u64> {
    let one =
        list.as_array()?.iter().find(|one| field(one, "kind") == "request" && field(one, "name") == name)?;
    one.get("have").and_then(Value::as_u64)
}

pub(super) fn proposal(list: &Value) -> Option<String> {
    let one = list.as_array()?.iter().find(|one| field(one, "kind") == "proposal")?;
    Some(field(one, "subject"))
}

pub(super) fn count_of(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// Whom the status names so.
pub(super) fn person<'a>(status: &'a Value, name: &str) -> Option<&'a Value> {
    status.get("people")?.as_array()?.iter().find(|person| field(person, "name") == name)
}
