//! A talk: what is typed goes out, what is heard is shown, until one side ends.

use super::orders::{COMMANDS, Order, obey, order};
use super::piped::Typed;
use super::saying::{Report, Said, Saying};
use super::screen::Screen;
use super::{LOOK, denied, is_shared, judge};
use crate::commands::has_others;
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::member;
use crate::member::reached::without_address;
use crate::member::render::event_text;
use crate::show::{Paint, harmless, many_of, paint};
use folkmoot_base::hex;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Events that wait to be shown.
const WAITING_MAX: usize = 256;
/// Complaints about the lines of one batch.
const COMPLAINTS_MAX: usize = 3;
/// At the end: so long nothing more comes, or so long it is waited at most.
const QUIET: Duration = Duration::from_millis(200);
const LAST: Duration = Duration::from_secs(2);
/// After so long a stranger is told whether anybody has answered.
const CONTACT: Duration = Duration::from_millis(2_500);
/// So long after `/quit` it is told what it waits for.
const QUIT: Duration = Duration::from_secs(1);
/// How often one who waits for votes is told that it goes on.
const TELL: Duration = Duration::from_secs(15);

/// What there is to handle.
enum Turn {
    Typed(Option<Typed>),
    Heard(Option<Value>),
    Sent(Report),
    /// Whoever waits is told that it goes on.
    Tell,
    /// Ctrl-C, or the end of the terminal or the machine.
    Stop,
}

/// What a talk has lost. It says so at its end, by its exit code too.
#[derive(Debug, Default)]
pub(super) struct Losses {
    unsent: u64,
    disobeyed: u64,
    missed: u64,
    /// Lines that came back while nobody else was there.
    unheard: u64,
    input: Option<Failure>,
}

impl Losses {
    /// So many lines were not sent.
    pub(super) fn unsent(unsent: u64) -> Self {
        Self { unsent, ..Self::default() }
    }

    /// `person`: somebody types, and has seen each complaint.
    pub(super) fn report(self, person: bool) -> Result<(), Failure> {
        if let Some(failure) = self.input {
            return Err(failure);
        }
        let [disobeyed, unheard] = if person { [0; 2] } else { [self.disobeyed, self.unheard] };
        let parts = [
            (self.unsent, many_of(self.unsent, "line") + " not sent"),
            (disobeyed, many_of(disobeyed, "line") + " of the input not obeyed"),
            (self.missed, many_of(self.missed, "event") + " missed, because nobody read them in time"),
            (unheard, many_of(unheard, "line") + " sent while nobody else was there: nobody has heard that"),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
        if parts.is_empty() { Ok(()) } else { Err(Failure::new(Exit::No, parts.join("; "))) }
    }
}

/// A talk that goes on.
struct Talk {
    orders: Control,
    saying: Saying,
    screen: Screen,
    /// Lines that stand on the screen as they were typed, until they come back.
    typed: VecDeque<Vec<u8>>,
    /// This member, as a sender of messages.
    me: String,
    number: u64,
    /// How many lines were to be sent.
    said: u64,
    asks: bool,
    /// Whether the member runs for this talk.
    started: bool,
    json: bool,
    /// As long as its request is open.
    asking: bool,
    quits: bool,
    losses: Losses,
    unsent: Unsent,
    /// Since when it waits for votes or for a key, and when it is told so.
    since: Instant,
    tell: Instant,
    /// Whether it was told who has answered, or has nobody to look for.
    met: bool,
    company: Company,
}

/// Who hears what is said here.
#[derive(Default)]
struct Company {
    /// Whether somebody else is in the view.
    here: bool,
    /// Own lines that came back while nobody was, and have not been weighed.
    lone: u64,
    /// Whether the group has others, if that was asked in this view.
    others: Option<bool>,
}

/// How many lines wait for a key, for whoever learns first that the talk is over.
pub(super) type Unsent = Arc<AtomicU64>;

/// Talks until the end of the input, or of the member; with `asks` also until the voters say no;
/// `started`: the member runs for this talk.
pub(super) async fn talk(
    folder: &Path,
    mut control: Control,
    asks: bool,
    json: bool,
    (started, unsent): (bool, Unsent),
) -> Result<(), Failure> {
    let mut stop = std::pin::pin!(member::stop_signal(false));
    control.ask(&Request::Subscribe).await?;
    let mut orders = Control::connect(folder).await?;
    let view = orders.ask(&Request::View).await?;
    if asks && let Some(reason) = view.get("denied").and_then(Value::as_str) {
        return Err(denied(reason));
    }
    let mut heard = hearing(control);
    // Whoever asks and has nothing more to say still wants to know what comes of it.
    let asking = asks && !is_shared(view.get("members"));
    greet(asking, json);
    let saying = Saying::start(Control::connect(folder).await?);
    let me = view.get("me").and_then(Value::as_str).unwrap_or_default().to_owned();
    // From here on, a terminal is the editor's.
    let (screen, typed, mode) = Screen::open(json)?;
    let mut typed = Some(typed);
    let mut talk = Talk {
        orders,
        saying,
        screen,
        typed: VecDeque::new(),
        me,
        number: 0,
        said: 0,
        asks,
        started,
        json,
        asking,
        quits: false,
        losses: Losses::default(),
        unsent,
        since: Instant::now(),
        tell: Instant::now() + if asking { CONTACT } else { TELL },
        met: !asking,
        company: Company { here: is_shared(view.get("members")), ..Company::default() },
    };
    while typed.is_some() || talk.goes_on() {
        let turn = tokio::select! {
            () = tokio::time::sleep_until(talk.tell) => Turn::Tell,
            line = next_typed(&mut typed), if typed.is_some() && talk.saying.has_room() => Turn::Typed(line),
            event = heard.recv() => Turn::Heard(event),
            report = talk.saying.report() => Turn::Sent(report),
            () = &mut stop => Turn::Stop,
        };
        match turn {
            Turn::Tell => talk.tell().await?,
            Turn::Heard(None) => return talk.stopped(),
            Turn::Heard(Some(event)) => talk.take(&event).await?,
            Turn::Sent(report) => talk.note(&report),
            Turn::Typed(Some(Typed::Lines(lines))) => talk.obey_all(lines).await?,
            Turn::Typed(None) => typed = None,
            Turn::Typed(Some(Typed::Failed(failure))) => (typed, talk.losses.input) = (None, Some(failure)),
            Turn::Typed(Some(Typed::Interrupted)) if talk.asking => return talk.give_up().await,
            Turn::Typed(Some(Typed::Interrupted)) | Turn::Stop => return talk.over(),
        }
        if talk.quits {
            (typed, talk.asking) = (None, false);
        }
    }
    talk.settle(&mut heard, stop).await?;
    drop(mode);
    talk.losses.report(talk.screen.has_editor())
}

/// What a person is told first.
fn greet(asking: bool, json: bool) {
    if asking {
        eprintln!("asked for admission; waiting for the members' votes (Ctrl-C gives up)");
    }
    if !json {
        eprintln!("{}", paint(Paint::Dim, &format!("type to talk; commands: {COMMANDS}")));
    }
}

/// What the member says from now on.
fn hearing(mut control: Control) -> mpsc::Receiver<Value> {
    let (tell, heard) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        while let Ok(Some(event)) = control.event().await {
            if tell.send(event).await.is_err() {
                return;
            }
        }
    });
    heard
}

async fn next_typed(typed: &mut Option<mpsc::Receiver<Typed>>) -> Option<Typed> {
    match typed {
        Some(typed) => typed.recv().await,
        None => std::future::pending().await,
    }
}

impl Talk {
    fn goes_on(&self) -> bool {
        self.asking || self.saying.waiting() > 0
    }

    /// Ctrl-C or /withdraw by whoever waits to be admitted: it asks no more.
    async fn give_up(&mut self) -> Result<(), Failure> {
        let answer = self.orders.ask(&Request::Withdraw { subject: None }).await?;
        Err(member::gave_up(answer.get("known").and_then(Value::as_bool).unwrap_or_default()))
    }

    /// The member has gone.
    fn stopped(self) -> Result<(), Failure> {
        self.screen.note("the member has stopped");
        self.over()
    }

    /// It ends before all was said.
    fn over(self) -> Result<(), Failure> {
        let Self { mut losses, saying, screen, .. } = self;
        losses.unsent += saying.waiting();
        self.unsent.store(0, atomic::Ordering::Relaxed);
        losses.report(screen.has_editor())
    }

    /// Says what it waits for. A member that does not run any more is found out by it.
    async fn tell(&mut self) -> Result<(), Failure> {
        self.tell += TELL;
        if !core::mem::replace(&mut self.met, true) {
            return self.tell_contact().await;
        }
        let (seconds, waiting) = (self.since.elapsed().as_secs(), self.saying.waiting());
        if self.asking {
            self.screen.note(&format!("still waiting for the members' votes, {seconds} s"));
        }
        if waiting > 0 {
            self.orders.ask(&Request::View).await?;
            let lines = many_of(waiting, "line");
            let end = if self.quits { ". Ctrl-C ends this without sending" } else { "" };
            self.screen.note(&format!("still waiting for a key to send {lines}, {seconds} s{end}"));
        }
        Ok(())
    }

    /// Says who has answered a stranger so far.
    async fn tell_contact(&mut self) -> Result<(), Failure> {
        let status = self.orders.ask(&Request::Status).await?;
        let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
        let text =
            |one: &Value, field: &str| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
        let answers: Vec<String> = people
            .filter(|one| one.get("member") != status.get("me"))
            .filter(|one| ["answers", "present", "not-joined"].contains(&text(one, "state").as_str()))
            .map(|one| format!("{} at {}", text(one, "name"), text(one, "locator")))
            .collect();
        self.screen.note(&match answers.as_slice() {
            [] => {
                let names = match without_address(&status) {
                    names if names.is_empty() => String::new(),
                    names => format!(" ({})", names.join("; ")),
                };
                format!(
                    "nobody has answered yet{names}. Perhaps no member runs at the contacts, or its UDP port \
                     cannot be reached from here: ask a member where it listens, and give that with --at. They \
                     are tried again and again"
                )
            }
            answers => format!("these answer: {}", answers.join(", ")),
        });
        Ok(())
    }

    fn begin_to_wait(&mut self) {
        self.since = Instant::now();
        if self.met {
            self.tell = self.since + TELL;
        }
    }

    fn note(&mut self, report: &Report) {
        self.losses.unsent += u64::try_from(report.refused.len()).unwrap_or(u64::MAX);
        for (number, why) in report.refused.iter().take(COMPLAINTS_MAX) {
            let text = format!("line {number} was not sent: {why}");
            self.screen.complain(&Failure::new(Exit::No, text));
        }
        self.begin_to_wait();
        self.unsent.store(self.saying.waiting(), atomic::Ordering::Relaxed);
    }

    fn hear(&mut self, event: &Value) -> Result<(), Failure> {
        let text = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
        if text("event") == "missed" {
            self.losses.missed += event.get("count").and_then(Value::as_u64).unwrap_or_default();
        }
        if !self.stands_there(event) {
            show(&self.screen, event, self.json);
        }
        judge(event, self.asks)?;
        match text("event") {
            "view" => {
                self.company = Company { here: is_shared(event.get("members")), ..Company::default() };
            }
            "message" if text("sender") == self.me && !self.company.here => self.company.lone += 1,
            _ => {}
        }
        if self.asks && text("event") == "removed" {
            self.asking = true;
            self.begin_to_wait();
        }
        self.asking = self.asking && !is_shared(event.get("members"));
        Ok(())
    }

    /// Takes an event. What came back while nobody else was there is lost, if the group has others.
    async fn take(&mut self, event: &Value) -> Result<(), Failure> {
        self.hear(event)?;
        let lone = core::mem::take(&mut self.company.lone);
        if lone > 0 && self.company.others.is_none() {
            let others = has_others(&self.orders.ask(&Request::Status).await?);
            self.company.others = Some(others);
            if others && self.screen.has_editor() {
                self.screen.note("nobody else is here: nobody has heard that");
            }
        }
        if self.company.others == Some(true) {
            // Other terminals may speak through the same member.
            self.losses.unheard = (self.losses.unheard + lone).min(self.said);
        }
        Ok(())
    }

    /// Whether a person has this before the eyes, as it was typed.
    fn stands_there(&mut self, event: &Value) -> bool {
        let is = |field: &str, value: &str| event.get(field).and_then(Value::as_str) == Some(value);
        let oldest = self.typed.front().map(hex);
        let own = is("event", "message") && is("sender", &self.me);
        let stands = own && oldest.is_some_and(|text| is("payload", &text));
        if stands {
            self.typed.pop_front();
        }
        // A signed one has a number, which nobody has typed.
        stands && event.get("signed").and_then(Value::as_bool) != Some(true)
    }

    /// Does what was typed. A mistyped word must not end the talk.
    async fn obey_all(&mut self, lines: Vec<Vec<u8>>) -> Result<(), Failure> {
        let person = self.screen.has_editor();
        let mut batch = Vec::new();
        for text in lines {
            self.number += 1;
            match order(text, person) {
                Order::Nothing => {}
                Order::Quit => {
                    self.quits = true;
                    break;
                }
                Order::Do(order) if self.asking && order == "/withdraw" => {
                    return self.give_up().await;
                }
                Order::Do(order) => {
                    if let Err(failure) = obey(&mut self.orders, &self.screen, &order).await {
                        self.losses.disobeyed += 1;
                        self.screen.complain(&failure);
                    }
                }
                Order::Say(text, sign) => {
                    self.said += 1;
                    if person {
                        self.typed.push_back(text.clone());
                    }
                    batch.push(Said { number: self.number, text, sign });
                }
            }
        }
        if !batch.is_empty() {
            if self.saying.waiting() == 0 && !self.asking {
                self.begin_to_wait();
            }
            self.saying.say(batch);
            self.unsent.store(self.saying.waiting(), atomic::Ordering::Relaxed);
        }
        if self.quits && self.saying.waiting() > 0 {
            self.tell = Instant::now() + QUIT;
        }
        Ok(())
    }

    /// Waits until what was sent has its place in the group's order, and shows what came with it.
    async fn settle(
        &mut self,
        heard: &mut mpsc::Receiver<Value>,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), Failure> {
        let count = |view: &Value, field: &str| view.get(field).and_then(Value::as_u64).unwrap_or_default();
        let mut view = self.orders.ask(&Request::View).await?;
        // One is this talk itself.
        let others = count(&view, "listeners").saturating_sub(1);
        if self.started && others > 0 {
            let others = many_of(others, "other terminal or program");
            self.screen.note(&format!(
                "the member ends with this terminal, which started it, and so does the talk of {others}. A member of \
                 its own outlasts every terminal: folkmoot member"
            ));
        }
        let gone = count(&view, "gone");
        while count(&view, "settled") < gone {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => view = self.orders.ask(&Request::View).await?,
                event = heard.recv() => match event {
                    Some(event) => self.take(&event).await?,
                    None => return Err(unsettled(gone - count(&view, "settled"))),
                },
                () = &mut stop => return Err(unsettled(gone - count(&view, "settled"))),
            }
        }
        // What the member has said by now is on its way here.
        let end = Instant::now() + LAST;
        while let Ok(Some(event)) = tokio::time::timeout(QUIET, heard.recv()).await {
            self.take(&event).await?;
            if Instant::now() > end {
                break;
            }
        }
        Ok(())
    }
}

fn unsettled(count: u64) -> Failure {
    let lines = many_of(count, "message");
    Failure::new(Exit::No, format!("{lines} sent, but not known to have a place in the group's order"))
}

/// Shows an event: to people with its time.
fn show(screen: &Screen, event: &Value, json: bool) {
    if json {
        screen.say(&event.to_string());
    } else if let Some(text) = event_text(event) {
        screen.say(&format!("{}{text}", clock_time(event)));
    }
}

/// When it came, by this machine's clock and time zone: hour and minute.
fn clock_time(event: &Value) -> String {
    let time = event.get("time").and_then(Value::as_str);
    let time = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
    let time =
        time.map(|time| time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%H:%M ").to_string());
    time.map(|time| paint(Paint::Dim, &time)).unwrap_or_default()
}
