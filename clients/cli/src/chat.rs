//! `folkmoot chat`: sends the lines that are typed to the group, and prints what the group says.

use crate::args::newcomer::Join;
use crate::args::run::{ReplicaArgs, Run};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::files::reachable;
use crate::keys::Keys;
use crate::member::concerns::lines;
use crate::member::render::event_text;
use crate::member::{self, Printing};
use crate::show::{Paint, harmless, line, paint};
use crate::ticket;
use crate::values::{Multicast, Ordering};
use folkmoot::StateFolder;
use folkmoot_base::hex;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Before a line that is to be signed.
const SIGN: &str = "/sign ";
/// Lines and events that wait to be handled.
const WAITING_MAX: usize = 256;
/// Longest wait for the others to know that we leave, and how often that is looked at.
const PARTING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// How often one who waits for votes is told that it goes on.
const TELL: Duration = Duration::from_secs(15);

/// `folkmoot join`: becomes a stranger at a contact, and chats once it is let in.
pub(crate) async fn join(folder: &Path, join: Join, keys: Keys, json: bool) -> Result<(), Failure> {
    let Join { by, at, heads, listen, policy_hook } = join;
    let ticket = ticket::read(&by)?;
    let charter = ticket.is_none().then_some(by);
    let voucher = ticket.as_ref().map(|ticket| ticket.voucher().clone());
    let mut notes = Vec::new();
    let (at, heads) = match ticket {
        Some(ticket) => {
            notes = ticket::accept(folder, &ticket)?;
            let says = ticket.invitation();
            ([at, says.contacts.clone()].concat(), [heads, vec![says.head.into()]].concat())
        }
        None => (at, heads),
    };
    reachable(&at, charter.as_ref().unwrap_or(&StateFolder::at(folder).charter_path()))?;
    let run = Run {
        listen,
        at,
        heads,
        voucher,
        keys,
        charter,
        policy_hook,
        carries: Vec::new(),
        notes,
        apply: true,
        multicast: Multicast::Off,
        quiet: false,
        while_stdin: false,
        clock_ahead: 0,
        authority: false,
        replica: ReplicaArgs::default(),
        robot: None,
        robot_rate: 0,
        danger_keep_keys: false,
    };
    chat(folder, run, json).await
}

/// `folkmoot chat`: through the member that runs on the folder, or one started for it.
pub(crate) async fn chat(folder: &Path, run: Run, json: bool) -> Result<(), Failure> {
    let apply = run.apply;
    if let Ok(mut control) = Control::connect(folder).await {
        if !run.heads.is_empty() || !run.carries.is_empty() {
            let hint = "a member runs on this folder already. Stop it, and give the same command again";
            return Err(Failure::new(Exit::Usage, hint));
        }
        if apply {
            control.ask(&Request::Apply).await?;
        }
        return talk(folder, control, apply, json).await;
    }
    let (trusting, notes) = (apply && run.heads.is_empty(), run.notes.clone());
    let (ready, started) = oneshot::channel();
    let home = folder.to_owned();
    let mut member = tokio::spawn(async move {
        let run = Run { quiet: true, ..run };
        member::run(&home, &run, Printing::Nothing, Some(ready)).await
    });
    tokio::select! {
        ended = &mut member => return ended.map_err(Failure::bug)?,
        Ok(()) = started => {}
    }
    // Not before: an error is one JSON value, if so asked.
    notes.iter().for_each(|note| eprintln!("{note}"));
    if trusting {
        eprintln!(
            "this member believes its first contact about who is in. With --head it follows only the line whose \
             head somebody in the group has read out to you (folkmoot status)"
        );
    }
    let control = Control::connect(folder).await?;
    let result = tokio::select! {
        ended = &mut member => return ended.map_err(Failure::bug)?,
        result = talk(folder, control, apply, json) => result,
    };
    // Whoever cannot be reached any more is gone already.
    let _ = part(folder).await;
    member.await.map_err(Failure::bug)??;
    result
}

/// Leaves in good order, so that the others need not wait until they miss us, and ends the member.
async fn part(folder: &Path) -> Result<(), Failure> {
    let mut control = Control::connect(folder).await?;
    control.ask(&Request::Leave).await?;
    let end = Instant::now() + PARTING;
    while is_inside(&mut control).await? && Instant::now() < end {
        tokio::time::sleep(LOOK).await;
    }
    control.ask(&Request::Stop).await.map(|_| ())
}

/// What there is to handle.
enum Turn {
    Typed(Option<String>),
    Heard(Option<Value>),
    /// Whoever waits is told that it goes on.
    Tell,
    /// All that was typed is sent.
    Said,
}

/// Talks until the end of the input, or of the member; with `asks` also until the voters say no.
async fn talk(folder: &Path, mut control: Control, asks: bool, json: bool) -> Result<(), Failure> {
    control.ask(&Request::Subscribe).await?;
    let mut orders = Control::connect(folder).await?;
    if asks && let Some(reason) = orders.ask(&Request::View).await?.get("denied").and_then(Value::as_str) {
        return Err(denied(reason));
    }
    let (tell, mut heard) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        while let Ok(Some(event)) = control.event().await {
            if tell.send(event).await.is_err() {
                return;
            }
        }
    });
    // Whoever asks and has nothing more to say still wants to know what comes of it.
    let mut asking = asks && !is_shared(orders.ask(&Request::View).await?.get("members"));
    if asking {
        eprintln!("asked for admission; waiting for the members' votes (Ctrl-C gives up)");
    }
    let mut typed = typing();
    let (says, mut saying) = speaking(Control::connect(folder).await?);
    let (mut says, mut said) = (Some(says), false);
    if !json {
        eprintln!(
            "{}",
            paint(
                Paint::Dim,
                "type to talk; commands: /sign TEXT, /who, /votes, /yes NAME, /no NAME, /answer NAME TEXT, /quit"
            )
        );
    }
    // A bar would stand where the person types.
    let (mut asked, mut tell) = (Instant::now(), Instant::now() + TELL);
    while asking || !said {
        let turn = tokio::select! {
            () = tokio::time::sleep_until(tell), if asking => Turn::Tell,
            line = typed.recv(), if says.is_some() => Turn::Typed(line),
            event = heard.recv() => Turn::Heard(event),
            _ = &mut saying, if says.is_none() && !said => Turn::Said,
        };
        match turn {
            Turn::Tell => {
                eprintln!("still waiting for the members' votes, {} s", asked.elapsed().as_secs());
                tell += TELL;
            }
            Turn::Heard(None) => return Ok(()),
            Turn::Heard(Some(event)) => {
                hear(&event, asks, json)?;
                if asks && event.get("event").and_then(Value::as_str) == Some("removed") {
                    (asking, asked, tell) = (true, Instant::now(), Instant::now() + TELL);
                }
                asking = asking && !is_shared(event.get("members"));
            }
            Turn::Typed(None) => says = None,
            Turn::Typed(Some(text)) if text.trim() == "/quit" => return Ok(()),
            Turn::Typed(Some(text)) => obey(&mut orders, says.as_ref(), text).await,
            Turn::Said => said = true,
        }
    }
    Ok(())
}

/// Does what was typed. A mistyped word must not end the talk.
async fn obey(orders: &mut Control, says: Option<&mpsc::Sender<String>>, text: String) {
    let result = match text.trim() {
        "" => Ok(()),
        order if order.starts_with('/') && !order.starts_with(SIGN) => obey_order(orders, order).await,
        _ => says.map_or(Ok(()), |says| says.try_send(text).map_err(|_| too_much())),
    };
    if let Err(failure) = result {
        complain(&failure);
    }
}

fn too_much() -> Failure {
    Failure::new(Exit::TimedOut, format!("not sent: {WAITING_MAX} lines already wait for a key"))
}

fn complain(failure: &Failure) {
    eprintln!("{}", paint(Paint::Red, &harmless(&failure.text)));
}

/// Sends line after line. Each waits for a key, and what the others say is heard meanwhile.
fn speaking(mut control: Control) -> (mpsc::Sender<String>, JoinHandle<()>) {
    let (says, mut said) = mpsc::channel::<String>(WAITING_MAX);
    let task = tokio::spawn(async move {
        while let Some(text) = said.recv().await {
            let (text, sign) =
                text.trim_start().strip_prefix(SIGN).map_or((&*text, false), |text| (text, true));
            let payload = hex(text.as_bytes());
            let request = Request::Send { payload, service: Ordering::Agreed, sign };
            if let Err(failure) = control.ask(&request).await {
                complain(&failure);
            }
        }
    });
    (says, task)
}

async fn is_inside(orders: &mut Control) -> Result<bool, Failure> {
    Ok(orders.ask(&Request::View).await?.get("view").is_some_and(Value::is_string))
}

/// Whether these are the members of a view with others: who was admitted may have one of its own
/// before.
fn is_shared(members: Option<&Value>) -> bool {
    members.and_then(Value::as_array).is_some_and(|members| members.len() > 1)
}

fn typing() -> mpsc::Receiver<String> {
    let (tell, typed) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if tell.send(line).await.is_err() {
                return;
            }
        }
    });
    typed
}

fn hear(event: &Value, asks: bool, json: bool) -> Result<(), Failure> {
    if json {
        line(&event.to_string());
    } else if let Some(text) = event_text(event) {
        line(&text);
    }
    let text = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
    match text("event") {
        // "refused" only means that something is still to come, votes for one: the member goes on
        // asking.
        "denied" if asks => Err(denied(text("reason"))),
        // MEM-09: a member that was told to ask does so again.
        "removed"
            if text("cause") == "expelled" || (!asks && matches!(text("cause"), "expired" | "late")) =>
        {
            Err(Failure::new(Exit::NotInGroup, format!("no longer in the group: {}", text("cause"))))
        }
        _ => Ok(()),
    }
}

fn denied(reason: &str) -> Failure {
    let text = format!("not admitted: {}. To ask again, run the same command", harmless(reason));
    Failure::new(Exit::Refused, text)
}

async fn obey_order(orders: &mut Control, typed: &str) -> Result<(), Failure> {
    let (word, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    let subject = rest.trim().to_owned();
    match word {
        "/who" => list(&orders.ask(&Request::Status).await?, "nobody"),
        "/votes" => list(&orders.ask(&Request::Petitions).await?, "nothing to vote on"),
        "/yes" | "/no" if subject.is_empty() => {
            let does = if word == "/yes" { "approve" } else { "reject" };
            let question =
                format!("Whose request do you {does}? Type {word} NAME. /votes lists the open ones.");
            return Err(Failure::new(Exit::Usage, question));
        }
        "/yes" => drop(orders.ask(&Request::Vote { subject, approve: true, wait: None }).await?),
        "/no" => drop(orders.ask(&Request::Vote { subject, approve: false, wait: None }).await?),
        "/answer" => {
            let (letter, text) = subject.split_once(' ').unwrap_or((&subject, ""));
            let (letter, text) = (letter.to_owned(), text.trim().to_owned());
            drop(orders.ask(&Request::Answer { letter, text }).await?);
        }
        _ => {
            let hint = format!(
                "{word} is not a command. Commands: /sign TEXT, /who, /votes, /yes NAME, /no NAME, /answer NAME TEXT, /quit"
            );
            return Err(Failure::new(Exit::Usage, hint));
        }
    }
    Ok(())
}

fn list(answer: &Value, none: &str) {
    let list = answer.get("people").unwrap_or(answer).as_array().cloned().unwrap_or_default();
    for one in &list {
        let text = |field: &str| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
        line(&format!("  {}  {}{}", text("name"), text("state"), text("kind")));
        lines(one).iter().for_each(|words| line(&format!("    {words}")));
    }
    if list.is_empty() {
        line(&format!("  {none}"));
    }
}

#[cfg(test)]
mod tests {
    use super::hear;
    use serde_json::json;

    #[test]
    fn whoever_asks_goes_on_asking_unless_it_was_expelled() {
        let ends =
            |cause: &str, asks| hear(&json!({ "event": "removed", "cause": cause }), asks, true).is_err();
        for (cause, asks, over) in [
            ("expelled", true, true),
            ("expelled", false, true),
            ("late", true, false),
            ("late", false, true),
            ("expired", true, false),
            ("expired", false, true),
            ("complaint", false, false),
        ] {
            assert_eq!(ends(cause, asks), over, "{cause} {asks}");
        }
    }
}
