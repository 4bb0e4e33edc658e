//! Joins in real processes over UDP on loopback: from the request's sending until the newcomer has its admission in its own
//! transcript. The voters' machines answer the request at once, all that are needed, so that nobody's reading is measured.
//!
//! ```text
//! found n members -> a join that is not counted -> [ echo, newcomer asks, voters vote, newcomer is admitted, newcomer goes ] x times
//! ```

use crate::bench::price::median;
use crate::children::{Member, Workshop, call, shared, until};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::member::journal::micros;
use folkmoot_signing::Scheme;
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest wait for a view, a link, or the newcomer's leaving.
const SETTLE: Duration = Duration::from_secs(60);
/// Longest wait for a join: the first of a group waits until its key is shared.
const JOIN: Duration = Duration::from_secs(60);
/// Messages for one measurement of the ring's pace.
const ECHOES: u64 = 15;

/// One group, and how often somebody joins it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The row's series: which panel of the chart it is in.
    pub(crate) series: String,
    pub(crate) scheme: Scheme,
    pub(crate) members: u16,
    pub(crate) votes: u16,
    pub(crate) times: u16,
}

/// What came out: medians, and the fastest and the slowest.
#[derive(Debug, Clone)]
pub(crate) struct Joined {
    pub(crate) took: Duration,
    pub(crate) least: Duration,
    pub(crate) most: Duration,
    /// From sending an ordered message to hearing it oneself.
    pub(crate) round_trip: Duration,
}

/// The members of one case.
struct Group {
    workshop: Workshop,
    charter: PathBuf,
    members: Vec<Member>,
}

/// Measures one case.
pub(crate) async fn joins(case: &Case) -> Result<Joined, Failure> {
    let mut group = Group::write(case).await?;
    let done = group.measure(case).await;
    for member in &mut group.members {
        member.stop().await;
    }
    done
}

impl Group {
    /// Identities and the signed charter; nobody runs yet.
    async fn write(case: &Case) -> Result<Self, Failure> {
        let workshop = Workshop::open("bench-admission", false)?;
        let mut members = Vec::new();
        for number in 1..=case.members {
            members.push(Member::new(&workshop, &format!("n{number}")).await?);
        }
        let charter = workshop.path().join("charter.toml");
        let (text, votes) = (charter.display().to_string(), case.votes.to_string());
        let certificates: Vec<String> = members.iter().map(Member::certificate).collect();
        let mut line = vec!["charter", "new", "bench", "--votes", &votes, "--out", &text];
        line.extend(["--scheme", case.scheme.name()]);
        line.extend(certificates.iter().flat_map(|file| ["--founder", file.as_str()]));
        call(workshop.path(), &line).await?;
        for member in &members {
            call(&member.state, &["charter", "sign", &text]).await?;
        }
        Ok(Self { workshop, charter: charter.with_extension("cms"), members })
    }

    async fn measure(&mut self, case: &Case) -> Result<Joined, Failure> {
        let mut known: Vec<String> = Vec::new();
        for member in &mut self.members {
            member.start(&self.charter, &known, false).await?;
            known.push(member.locator.clone());
        }
        let all: Vec<&Member> = self.members.iter().collect();
        shared(&all, None, SETTLE).await?;
        self.join(case, 0).await?;
        let (mut took, mut echoes) = (Vec::new(), Vec::new());
        for number in 1..=case.times {
            echoes.push(self.echo().await?);
            took.push(self.join(case, number).await?);
        }
        let [least, most] =
            [took.iter().min(), took.iter().max()].map(|one| one.copied().unwrap_or_default());
        Ok(Joined { took: median(took), least, most, round_trip: median(echoes) })
    }

    fn contact(&self) -> Result<&Member, Failure> {
        self.members.first().ok_or_else(|| Failure::bug("a group of nobody"))
    }

    /// The contact's ordered messages, one after the other, each from its sending to its delivery there: the median.
    async fn echo(&self) -> Result<Duration, Failure> {
        let contact = self.contact()?;
        contact.ask(&Request::Mark).await?;
        let from = micros();
        let service = crate::args::Ordering::Agreed;
        contact.ask(&Request::Burst { count: ECHOES, bytes: 64, service, seconds: 0.0, window: 1 }).await?;
        let count = |journal: &Value| journal.get("timed").and_then(Value::as_u64) >= Some(ECHOES);
        let request = Request::Journal { from, to: u64::MAX };
        let journal = until(contact, &request, SETTLE, "the delivery of its own messages", count).await?;
        let middle = journal.get("p50_us").and_then(Value::as_u64);
        Ok(Duration::from_micros(middle.ok_or_else(|| Failure::bug("a journal without times"))?))
    }

    /// A newcomer with an identity of its own comes, is admitted, takes part, and goes. How long its admission took.
    async fn join(&self, case: &Case, number: u16) -> Result<Duration, Failure> {
        let contact = self.contact()?;
        let mut guest = Member::new(&self.workshop, &format!("guest{number}")).await?;
        guest.start(&self.charter, std::slice::from_ref(&contact.locator), false).await?;
        let took = self.admit(case, &guest).await;
        let gone = match &took {
            Ok(_) => self.say_goodbye(&guest).await,
            Err(_) => Ok(()),
        };
        guest.stop().await;
        gone?;
        if took.is_ok() {
            self.alone().await?;
        }
        took
    }

    async fn admit(&self, case: &Case, guest: &Member) -> Result<Duration, Failure> {
        until(guest, &Request::Status, SETTLE, "the contact's answer", answers).await?;
        let (mut heard, mut orders) =
            (Control::connect(&guest.state).await?, Control::connect(&guest.state).await?);
        heard.ask(&Request::Subscribe).await?;
        let mut votes = Vec::new();
        for voter in self.members.iter().take(usize::from(case.votes)) {
            votes.push(Ballot::open(voter).await?.cast(guest.id.clone()));
        }
        let votes: Vec<_> = votes.into_iter().map(tokio::spawn).collect();
        let began = Instant::now();
        orders.ask(&Request::Apply).await?;
        let admitted = tokio::time::timeout(JOIN, wait_for(&mut heard, "admitted", &guest.id)).await;
        let took = began.elapsed();
        for vote in votes {
            // One that is still out when the newcomer is in is not needed.
            vote.abort();
            if let Ok(Err(failure)) = vote.await {
                return Err(failure);
            }
        }
        let late = |_| Failure::new(Exit::TimedOut, format!("no admission within {} s", JOIN.as_secs()));
        admitted.map_err(late)??;
        Ok(took)
    }

    /// The newcomer takes part before it goes, so that the next join finds the group at rest.
    async fn say_goodbye(&self, guest: &Member) -> Result<(), Failure> {
        let all: Vec<&Member> = self.members.iter().chain([guest]).collect();
        shared(&all, None, SETTLE).await?;
        guest.ask(&Request::Leave).await?;
        let all: Vec<&Member> = self.members.iter().collect();
        shared(&all, None, SETTLE).await.map(|_| ())
    }

    /// Until the nodes of the members are a ring by themselves again.
    async fn alone(&self) -> Result<(), Failure> {
        let contact = self.contact()?;
        let mut events = Control::connect(&contact.state).await?;
        events.ask(&Request::Subscribe).await?;
        let mine = self.members.len();
        let ring = async {
            while let Some(event) = events.event().await? {
                let nodes = event.get("nodes").and_then(Value::as_array);
                if nodes.is_some_and(|nodes| nodes.len() == mine) {
                    return Ok(());
                }
            }
            Err(Failure::new(Exit::Unreachable, "a member has stopped"))
        };
        // It may have happened before we listened: then nothing more comes, and all is well after a moment.
        tokio::time::timeout(Duration::from_millis(2_500), ring).await.unwrap_or(Ok(()))?;
        let all: Vec<&Member> = self.members.iter().collect();
        shared(&all, None, SETTLE).await.map(|_| ())
    }
}

/// One voter's ears and mouth.
struct Ballot {
    events: Control,
    orders: Control,
}

impl Ballot {
    async fn open(voter: &Member) -> Result<Self, Failure> {
        let (mut events, orders) =
            (Control::connect(&voter.state).await?, Control::connect(&voter.state).await?);
        events.ask(&Request::Subscribe).await?;
        Ok(Self { events, orders })
    }

    /// Votes for `guest` as soon as its request is here.
    async fn cast(mut self, guest: String) -> Result<(), Failure> {
        let request = wait_for(&mut self.events, "request", &guest).await?;
        let subject = request.get("subject").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.orders.ask(&Request::Vote { subject, approve: true }).await.map(|_| ())
    }
}

/// The next event of this name about this member.
async fn wait_for(events: &mut Control, name: &str, member: &str) -> Result<Value, Failure> {
    let is = |event: &Value, field: &str, text: &str| event.get(field).and_then(Value::as_str) == Some(text);
    while let Some(event) = events.event().await? {
        if is(&event, "event", name) && is(&event, "member", member) {
            return Ok(event);
        }
    }
    Err(Failure::new(Exit::Unreachable, "a member has stopped"))
}

/// Whether a newcomer's status says that a member's node takes its request.
fn answers(status: &Value) -> bool {
    let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
    people.into_iter().any(|person| person.get("state").and_then(Value::as_str) == Some("answers"))
}
