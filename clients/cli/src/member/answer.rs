//! What the process answers to each request.

use super::find::find;
use super::journal::{Journal, timed};
use super::names::{Names, stranger};
use super::part::{Departure, departure, say_for_good};
use super::process::{Process, Tally};
use super::{carried, former, names, reached, render, times, trouble};
use crate::control::{Answer, Faulty, Line, PossibleView, Request, Sealed, answer};
use crate::exit::{Exit, Failure};
use crate::shares;
use crate::values::{self, Ordering};
use crate::verify::named;
use crate::words;
use folkmoot::tools::{Attempts, Machine, OsEntropy, Tapped};
use folkmoot::{Accepted, Event, Locator, MemberId, MemberStatus, Party, Session, ShareStatus, ViewId};
use folkmoot_base::{codec, hex, unhex};
use folkmoot_identity::Below;
use folkmoot_transcript::{Roster, Transcript};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

/// Longest wait for room in the window of a burst: then the group has stalled, and the burst says
/// so.
const STALL: Duration = Duration::from_secs(30);

impl Process {
    /// Answers at once, or lets a task answer what takes its time.
    pub(super) async fn answer(&mut self, request: Request, done: oneshot::Sender<Answer>) {
        match request {
            Request::Send { payload, service, sign } => {
                let say = self.say();
                let line = Line { payload, sign };
                tokio::spawn(async move { drop(done.send(answer(say.one(line, service).await))) });
            }
            Request::Lines { lines, service } => {
                let say = self.say();
                tokio::spawn(async move { drop(done.send(answer(say.all(lines, service).await))) });
            }
            Request::Burst { count, bytes, service, seconds, window } => {
                let room = Arc::new(Semaphore::new(usize::try_from(window).unwrap_or(0)));
                // Nobody can wait for the return of what may be lost.
                let waits = window > 0 && service != Ordering::Unreliable;
                self.window = waits.then(|| Arc::clone(&room));
                let room = self.window.clone();
                let (session, tally) = (self.session.clone(), self.tally.clone());
                let burst = Burst { session, tally, count, bytes, service, seconds, room };
                tokio::spawn(async move { drop(done.send(answer(burst.run().await))) });
            }
            request => drop(done.send(answer(self.decide(request).await))),
        }
    }

    async fn decide(&mut self, request: Request) -> Result<Value, Failure> {
        match request {
            Request::Status => self.status().await,
            Request::Authority => self.authority().await,
            Request::Petitions => self.petitions().await,
            Request::View => Ok(self.view()),
            Request::Vote { subject, approve, wait } => self.vote(&subject, approve, wait).await,
            Request::Renew => self.renew().await,
            Request::Rotate { certificate } => self.rotate(&certificate).await,
            Request::Withdraw { subject } => self.withdraw(subject.as_deref()).await,
            Request::Rules => self.rules_now().await,
            Request::Csr { csr } => self.submit(&csr).await,
            Request::Certificate { member, serial } => self.certificate(&member, &serial).await,
            Request::Expel { member, force } => self.expel(&member, force).await,
            Request::LeaveForGood { force } => self.leave_for_good(force).await,
            Request::Voters { members, force } => self.voters(&members, force).await,
            Request::Change { field, value, force } => self.change(&field, &value, force).await,
            Request::Retime { weigh } => self.retime(weigh).await,
            Request::Resolve { head, everybody, wait } => self.resolve(&head, everybody, wait).await,
            Request::Apply => Ok(self.moot.apply().await.map(subject)?),
            Request::Dial { at } => null(self.moot.dial(locator(&at)?).await),
            Request::Leave => null(self.session.leave().await),
            Request::Proof { number, unsigned } => self.proof(number, unsigned).await,
            Request::Letters => Ok(self.letters()),
            Request::Answer { letter, text } => self.answer_letter(&letter, text).await,
            Request::Invite { at, holder, days } => self.invite(&at, holder.as_deref(), days).await,
            Request::Mark => {
                self.journal = Journal::default();
                Ok(Value::Null)
            }
            Request::Journal { from, to } => Ok(self.journal.report(from, to)),
            Request::Fault(faulty) => self.fault(&faulty),
            Request::Tap { withhold } => {
                self.seat(move |seat| seat.tap(withhold)).await.map(|()| Value::Null)
            }
            Request::Tapped => self.seat(|seat| seat.tapped()).await.map(|tapped| sealed(&tapped)),
            Request::IgnoreChanges => {
                self.seat(|seat| seat.danger_ignore_changes()).await.map(|()| Value::Null)
            }
            Request::Feed { payloads } => self.feed(&payloads).await,
            Request::Attempt { payloads, views } => self.attempt(&payloads, &views).await,
            Request::Send { .. }
            | Request::Lines { .. }
            | Request::Burst { .. }
            | Request::Subscribe
            | Request::Stop => Err(Failure::bug("a request reached the wrong place")),
        }
    }

    async fn status(&mut self) -> Result<Value, Failure> {
        self.learn_names().await?;
        let names = self.names.clone();
        let look = move |machine: &mut Machine, now, _: &mut OsEntropy| {
            let transcript = machine.upper.member.transcript();
            let known = known(transcript, &names);
            let formers = transcript.roster().formers().keys();
            let for_good: Vec<(MemberId, Departure)> =
                formers.map(|member| (*member, departure(transcript, member))).collect();
            let formers = former::all(transcript);
            (
                machine.upper.member.status(now),
                machine.ground.refusals(now),
                machine.ground.twice(now),
                (machine.ground.paths(), machine.ground.reaches_all(), machine.ground.carrying()),
                machine.ground.counters().ring.given_up,
                (known, for_good, formers),
                now,
            )
        };
        let (status, refusals, twice, (paths, multicast, carries), given_up, (known, for_good, formers), now) =
            self.moot.handle().look(look).await?;
        let counters = self.moot.handle().counters().await?;
        let hosts = self.moot.host_names().await?;
        let petitions = self.moot.petitions().await?;
        let told = self.moot.times().await?;
        let mut value = render::status_json(&status, &render::Moment::new(now), &petitions, &self.names);
        if let Some(people) = value.get_mut("people").and_then(Value::as_array_mut) {
            self.complete(people, &status);
            let gone = |person: &&mut Value| person.get("state").is_some_and(|state| state == "expelled");
            for person in people.iter_mut().filter(gone) {
                let is = |one: &MemberId| person.get("member").is_some_and(|id| *id == one.hex());
                let how = for_good.iter().find(|(one, _)| is(one)).map(|(_, how)| *how);
                say_for_good(person, how.unwrap_or(Departure::Expelled));
            }
            people.iter_mut().for_each(|person| former::say_former(person, &formers));
            people.iter_mut().for_each(|person| times::say(person, &told));
            for twice in &twice {
                people.iter_mut().for_each(|person| trouble::runs_twice(person, twice));
            }
            for (node, path) in &paths {
                people.iter_mut().for_each(|person| trouble::path_to(person, node, path));
            }
            for refusal in &refusals {
                people.iter_mut().for_each(|person| render::refused(person, &status.me, refusal));
            }
        }
        if let Some(fields) = value.as_object_mut() {
            fields.insert("group".into(), self.moot.group().hex().into());
            fields.insert("name".into(), names::name(&self.names, &self.moot.me()).into());
            fields.insert("locator".into(), self.moot.locator().to_string().into());
            fields.insert("addresses".into(), reached::json(&self.moot.addresses()));
            fields.insert("names".into(), hosts.iter().map(reached::named_json).collect());
            fields.insert("multicast".into(), json!(multicast));
            fields.insert("given_up".into(), given_up.into());
            fields.extend(dropped(counters.untold, counters.unsent));
            fields.insert("share".into(), self.share().await?.into());
            fields.insert("carries".into(), carries.iter().map(carried::data).collect());
            fields.extend(known);
            fields.extend(times::data(&told, &self.names));
            fields.insert("clocks".into(), self.picture.clocks.json(&self.names));
            fields.insert("refusals".into(), refusals.iter().map(render::refusal_json).collect());
            fields.insert("removed".into(), json!(self.picture.removed));
            fields.insert("refused".into(), json!(self.picture.refused));
            fields.insert("denied".into(), json!(self.picture.denied));
            fields.extend(self.thresholds().await?);
            fields.insert("office".into(), self.office().await?.unwrap_or_default());
        }
        Ok(value)
    }

    /// How many approvals it takes, and who admits below that.
    async fn thresholds(&self) -> Result<[(String, Value); 2], Failure> {
        let told = self.with_transcript(|transcript| threshold(transcript.roster()));
        let (threshold, below) = told.await?;
        Ok([("threshold".into(), threshold.into()), ("below_threshold".into(), json!(below))])
    }

    /// The share of the group's key that this member holds, if the key has shares.
    async fn share(&self) -> Result<Option<Value>, Failure> {
        let asking = |share: &ShareStatus| {
            share.asking.iter().map(|one| names::name(&self.names, one)).collect::<Vec<_>>()
        };
        Ok(self.moot.share().await?.map(|share| shares::data(&share, &asking(&share))))
    }

    /// What the layers do not know of people: where this one listens, and that strangers share no
    /// ring with anybody.
    fn complete(&self, people: &mut Vec<Value>, status: &MemberStatus) {
        let inside = status.people.iter().any(|person| person.member == status.me);
        let me = status.me.hex();
        for person in people.iter_mut().filter_map(Value::as_object_mut) {
            let is = |field: &str, text: &str| person.get(field).and_then(Value::as_str) == Some(text);
            let (own, answers) = (is("member", &me), !inside && is("state", "other-side"));
            if own {
                person.insert("locator".into(), self.own_place().into());
            }
            if answers {
                let why = "its node answers, and passes requests for admission on to the members";
                person.extend([("state".into(), "answers".into()), ("why".into(), why.into())]);
            }
        }
        if !inside {
            people.push(self.outsider());
        }
    }

    /// This member itself, as long as the roster does not have it.
    fn outsider(&self) -> Value {
        let (state, why) = match (&self.picture.denied, &self.picture.refused) {
            (Some(denied), _) => ("denied", denied.clone()),
            (None, Some(refused)) => ("asking", refused.clone()),
            (None, None) => ("not-admitted", "not a member of the group, as far as is known here".into()),
        };
        json!({
            "member": self.moot.me().hex(), "name": names::name(&self.names, &self.moot.me()), "state": state, "why": why,
            "locator": self.own_place(),
        })
    }

    /// Where others best reach this member.
    fn own_place(&self) -> String {
        self.moot.addresses().into_iter().next().unwrap_or_else(|| self.moot.locator()).to_string()
    }

    /// A message that was heard, as a file.
    async fn proof(&self, number: Option<u64>, unsigned: bool) -> Result<Value, Failure> {
        let missing = || match number {
            Some(number) => {
                format!("message {number} is not kept: it was not received, is too long, or is too old")
            }
            None => "no signed message has been received, or it is too old".into(),
        };
        let (number, message) = self.kept.find(number).ok_or_else(|| Failure::new(Exit::No, missing()))?;
        let Event::Message { sender, view, service, payload, origin, .. } = message else {
            return Err(Failure::bug("the stored message is malformed"));
        };
        let file = if unsigned && !origin.is_signed() {
            origin.stamp(*view, *sender, *service).record(payload)
        } else {
            self.moot.proof(message).await?
        };
        Ok(json!({
            "number": number, "signed": origin.is_signed(), "file": hex(&file), "sender": sender.hex(),
            "name": names::party_name(&self.names, sender),
        }))
    }

    fn view(&self) -> Value {
        let (view, members, epoch) = match &self.picture.view {
            Some((view, members, epoch)) => {
                (Some(view), members.iter().map(Party::hex).collect(), Some(epoch))
            }
            None => (None, Vec::new(), None),
        };
        json!({
            "view": view.map(render::view_text), "id": view.map(|view| hex(&codec::encode(view))), "members": members, "epoch": epoch, "steady": self.picture.steady, "me": Party::from(self.moot.me()).hex(), "listeners": self.events.count(), "gone": self.tally.gone(), "settled": self.tally.settled(),
            "removed": self.picture.removed, "refused": self.picture.refused, "denied": self.picture.denied,
        })
    }

    fn fault(&self, wanted: &Faulty) -> Result<Value, Failure> {
        let faults = self.moot.faults();
        if wanted.heal {
            faults.heal();
        }
        if !wanted.cut.is_empty() {
            faults.cut(wanted.cut.iter().map(|at| locator(at)).collect::<Result<Vec<_>, _>>()?);
        }
        if let Some(share) = wanted.drop {
            faults.drop_probability(share);
        }
        if let Some(delay) = wanted.delay_ms {
            faults.delay(Duration::from_millis(delay));
        }
        if let Some(longest) = wanted.longest {
            faults.longest(longest);
        }
        Ok(Value::Null)
    }

    async fn seat<R: Send + 'static>(
        &self,
        act: impl FnOnce(&mut folkmoot::tools::MemberStack) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        self.moot.handle().look(move |machine, _, _| act(&mut machine.upper)).await.map_err(Failure::from)
    }

    /// Hands the member sealed payloads as if its node had delivered them.
    async fn feed(&self, payloads: &[Sealed]) -> Result<Value, Failure> {
        let parsed = self.tapped(payloads);
        let fed = parsed.len();
        let feed = move |machine: &mut Machine, now, entropy: &mut OsEntropy| {
            machine.upper.feed(now, parsed, entropy)
        };
        self.moot.handle().look(feed).await?;
        Ok(json!({ "fed": fed }))
    }

    /// Tries every key that the member ever held.
    async fn attempt(&self, payloads: &[Sealed], views: &[PossibleView]) -> Result<Value, Failure> {
        let (payloads, views) =
            (self.tapped(payloads), views.iter().map(possible_view).collect::<Option<Vec<_>>>());
        let views =
            views.ok_or_else(|| Failure::new(Exit::Usage, "the id of a view or of a member is malformed"))?;
        let Attempts { keys, sealed, opened, tries } =
            self.seat(move |seat| seat.danger_attempt(&payloads, &views)).await?;
        Ok(json!({ "keys": keys, "sealed": sealed, "opened": opened, "tries": tries }))
    }

    fn tapped(&self, payloads: &[Sealed]) -> Vec<Tapped> {
        let group = self.moot.group();
        let parse = |sealed: &Sealed| {
            let (sender, payload) = (Party::from_hex(&sealed.sender)?, unhex(&sealed.payload)?.into());
            Some(Tapped { group, sender, service: folkmoot::Service::Agreed, payload })
        };
        payloads.iter().filter_map(parse).collect()
    }

    pub(super) fn letters(&self) -> Value {
        self.letters.json()
    }

    /// Answers a letter.
    pub(super) async fn answer_letter(&mut self, letter: &str, text: String) -> Result<Value, Failure> {
        let found = find(letter, self.letters.choices(), "no letter is called")?;
        self.moot.answer(found.value, text).await?;
        Ok(json!({ "letter": found.id, "name": found.name }))
    }
}

/// A run of messages of one sender.
struct Burst {
    session: Session,
    tally: Tally,
    count: u64,
    bytes: u32,
    service: Ordering,
    seconds: f64,
    room: Option<Arc<Semaphore>>,
}

impl Burst {
    async fn run(self) -> Result<Value, Failure> {
        let end = Instant::now() + Duration::from_secs_f64(self.seconds.clamp(0.0, 3_600.0));
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let mut sent = 0_u64;
        while if self.count > 0 { sent < self.count } else { Instant::now() < end } {
            if let Some(room) = &self.room {
                match tokio::time::timeout(STALL, room.acquire()).await {
                    Ok(Ok(permit)) => permit.forget(),
                    Ok(Err(_)) => break,
                    Err(_) => {
                        return Err(Failure::new(
                            Exit::TimedOut,
                            format!("own messages did not come back after {sent}"),
                        ));
                    }
                }
            }
            self.tally.goes(self.service.into());
            self.session.queue(self.service.into(), timed(bytes, sent)).await?;
            sent += 1;
        }
        Ok(json!({ "sent": sent }))
    }
}

/// What the transcript says of itself: the head, what is held, what counts beside it, what is late
/// and why, and forks with those who signed both sides.
fn known(transcript: &Transcript, names: &Names) -> Map<String, Value> {
    let (state, set) = (transcript.state(), transcript.set());
    let late = set.late().map(
        |(admit, why)| json!({ "member": admit.member.hex(), "name": stranger(names, &admit.member, &admit.name), "why": why.to_string() }),
    );
    let forks = transcript.line().forks().values().map(|fork| {
        let liars: Vec<String> = fork.liars.iter().map(MemberId::hex).collect();
        json!({
            "number": fork.ours.head().number, "ours": fork.ours.head().whole(), "theirs": fork.theirs.head().whole(),
            "ours_words": words::of_head(&fork.ours.head()), "theirs_words": words::of_head(&fork.theirs.head()),
            "signed_both": liars, "names": named(transcript, &fork.liars),
        })
    });
    let mut fields = Map::new();
    fields.insert("head".into(), state.head().whole().into());
    fields.insert("head_words".into(), words::of_head(&state.head()).into());
    fields.insert("decided".into(), state.head().number.into());
    fields.insert("held".into(), state.roster().len().into());
    fields.insert("counted".into(), set.counted().count().into());
    fields.insert("late".into(), late.collect());
    fields.insert("forks".into(), forks.collect());
    fields
}

/// How many votes it takes now, and why that is fewer than the charter asks for.
fn threshold(roster: &Roster) -> (usize, Option<String>) {
    let (votes, asked) = (roster.threshold(), roster.charter().threshold());
    let below = roster.below_threshold().map(|voters| {
        let few = format!("too few voters: {voters}, where the charter asks for {asked}");
        match roster.charter().policies().below {
            Below::Reset => format!("{few}; now it takes only {votes} (below_threshold = reset)"),
            Below::Authority => format!("{few}; the authority decides (below_threshold = authority)"),
            Below::Nobody => format!("{few}; nobody is admitted until there are enough"),
        }
    });
    (votes, below)
}

fn possible_view(view: &PossibleView) -> Option<(ViewId, Vec<Party>)> {
    let id = codec::decode(&unhex(&view.id)?).ok()?;
    Some((id, view.members.iter().map(|party| Party::from_hex(party)).collect::<Option<_>>()?))
}

fn sealed(tapped: &[Tapped]) -> Value {
    let sealed = tapped.iter().map(|one| json!({ "sender": one.sender.hex(), "payload": hex(&one.payload) }));
    sealed.collect::<Vec<_>>().into()
}

fn locator(text: &str) -> Result<Locator, Failure> {
    values::locator(text).map_err(|why| Failure::new(Exit::Usage, why))
}

fn null(result: Result<(), folkmoot::Error>) -> Result<Value, Failure> {
    result.map(|()| Value::Null).map_err(Failure::from)
}

/// What was accepted, by the digest under which its outcome is asked for.
pub(super) fn subject(accepted: Accepted) -> Value {
    json!({ "subject": accepted.subject.map(|subject| hex(&subject)) })
}

/// What was lost for want of room, since the start.
fn dropped(untold: u64, unsent: u64) -> [(String, Value); 2] {
    [("untold".into(), untold.into()), ("unsent".into(), unsent.into())]
}
