//! Talking: lines typed go to the group, what the group says is printed.

use crate::args::{Join, Ordering, Run};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::member::render::event_text;
use crate::member::{self, Printing};
use crate::show::{Paint, harmless, hex, line, paint};
use serde_json::Value;
use std::path::Path;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{mpsc, oneshot};

/// Lines and events that wait to be handled.
const WAITING_MAX: usize = 256;

/// `folkmoot join`: becomes a stranger at the group's door, and chats once it is let in.
pub(crate) async fn join(folder: &Path, join: Join, json: bool) -> Result<(), Failure> {
    let Join { charter, at, listen } = join;
    let run = Run {
        listen,
        at,
        charter: Some(charter),
        apply: true,
        quiet: false,
        while_stdin: false,
        clock_ahead: 0,
        danger_keep_keys: false,
    };
    chat(folder, run, json).await
}

/// `folkmoot chat`: through the member that runs on the folder, or one started for it.
pub(crate) async fn chat(folder: &Path, run: Run, json: bool) -> Result<(), Failure> {
    if let Ok(control) = Control::connect(folder).await {
        return talk(folder, control, run.apply, json).await;
    }
    let apply = run.apply;
    let (ready, started) = oneshot::channel();
    let home = folder.to_owned();
    let mut member = tokio::spawn(async move {
        let run = Run { quiet: true, ..run };
        member::run(&home, &run, Printing::Nothing, Some(ready)).await
    });
    tokio::select! {
        ended = &mut member => return ended.map_err(Failure::bug)?,
        _ = started => {}
    }
    let control = Control::connect(folder).await?;
    if apply {
        eprintln!("asked for admission; waiting for the members' votes (Ctrl-C gives up)");
    }
    let result = tokio::select! {
        ended = &mut member => return ended.map_err(Failure::bug)?,
        result = talk(folder, control, apply, json) => result,
    };
    // Part in good order: the others need not wait until they miss us.
    if let Ok(mut control) = Control::connect(folder).await {
        let _ = control.ask(&Request::Leave).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let _ = control.ask(&Request::Stop).await;
    }
    member.await.map_err(Failure::bug)??;
    result
}

/// What there is to handle.
enum Turn {
    Typed(Option<String>),
    Heard(Option<Value>),
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
    let mut typed = typing();
    if !json {
        eprintln!("{}", paint(Paint::Dim, "type to talk; /who, /votes, /yes NAME, /no NAME, /quit"));
    }
    loop {
        let turn = tokio::select! {
            line = typed.recv() => Turn::Typed(line),
            event = heard.recv() => Turn::Heard(event),
        };
        match turn {
            Turn::Heard(None) => return Ok(()),
            Turn::Heard(Some(event)) => hear(&event, asks, json)?,
            Turn::Typed(None) => return Ok(()),
            Turn::Typed(Some(text)) if text.trim() == "/quit" => return Ok(()),
            Turn::Typed(Some(text)) if text.trim().is_empty() => {}
            Turn::Typed(Some(text)) => {
                // A mistyped word must not end the talk.
                if let Err(failure) = order(&mut orders, &text).await {
                    eprintln!("{}", paint(Paint::Red, &harmless(&failure.text)));
                }
            }
        }
    }
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
        // "refused" only means that something is still to come, votes for one: the member goes on asking.
        "denied" if asks => Err(denied(text("reason"))),
        "removed" if matches!(text("cause"), "expelled" | "expired") => {
            Err(Failure::new(Exit::NotInGroup, format!("out of the group: {}", text("cause"))))
        }
        _ => Ok(()),
    }
}

fn denied(reason: &str) -> Failure {
    let text =
        format!("not admitted: {}. If a voter thinks again, run the same command again", harmless(reason));
    Failure::new(Exit::Refused, text)
}

async fn order(orders: &mut Control, typed: &str) -> Result<(), Failure> {
    let (word, rest) = typed.trim().split_once(' ').unwrap_or((typed.trim(), ""));
    let subject = rest.trim().to_owned();
    match word {
        "/who" | "/votes" => {
            let request = if word == "/who" { Request::Status } else { Request::Petitions };
            let answer = orders.ask(&request).await?;
            let list = answer.get("people").unwrap_or(&answer).as_array().cloned().unwrap_or_default();
            for one in &list {
                let text = |field: &str| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
                line(&format!("  {}  {}{}", text("name"), text("state"), text("kind")));
            }
            if list.is_empty() {
                line("  nobody and nothing");
            }
            Ok(())
        }
        "/yes" => orders.ask(&Request::Vote { subject, approve: true }).await.map(|_| ()),
        "/no" => orders.ask(&Request::Vote { subject, approve: false }).await.map(|_| ()),
        _ if word.starts_with('/') => Err(Failure::new(Exit::Usage, format!("{word} is no command"))),
        _ => {
            let request = Request::Send { payload: hex(typed.as_bytes()), service: Ordering::Agreed };
            orders.ask(&request).await.map(|_| ())
        }
    }
}
