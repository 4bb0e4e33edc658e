//! `folkmoot send` and `folkmoot receive`.

use crate::args::messages::{Receive, Send};
use crate::commands::{ask, has_others, text};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::files::read_start;
use crate::member::render::event_text;
use crate::show::{line, many_of};
use folkmoot::tools::in_words;
use folkmoot_base::hex;
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Longest message that `send` takes: it travels as hexadecimal in one line of the control socket.
pub(crate) const SEND_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How often one who waits for a member looks for it.
const AGAIN: Duration = Duration::from_millis(500);

/// `folkmoot send`
pub(crate) async fn send(folder: &Path, send: Send) -> Result<(), Failure> {
    let payload = match (send.text, send.file) {
        (Some(text), _) => text.into_bytes(),
        (None, Some(file)) if file.as_os_str() != "-" => of_file(&file)?,
        (None, Some(_)) => standard_input()?,
        (None, None) => without_end(standard_input()?),
    };
    if payload.len() > SEND_BYTES_MAX {
        let hint = format!(
            "the message has more than {SEND_BYTES_MAX} bytes, the most that send takes (a program can send 16 MiB)"
        );
        return Err(Failure::new(Exit::Usage, hint));
    }
    let alone = alone_in(folder).await;
    let request = Request::Send { payload: hex(&payload), service: send.service, sign: send.sign };
    match tokio::time::timeout(Duration::from_secs(send.timeout), ask(folder, request)).await {
        Ok(answer) => {
            answer?;
            if alone.is_some() && alone == alone_in(folder).await {
                eprintln!("nobody else is here: nobody has heard that");
            }
            Ok(())
        }
        Err(_) => {
            // A member that does not run any more says so by its silence.
            ask(folder, Request::View).await?;
            let hint = format!(
                "no key within {} s. The message may still be sent later. To see what is going on: folkmoot status",
                send.timeout
            );
            Err(Failure::new(Exit::TimedOut, hint))
        }
    }
}

/// The view in which the member is alone, although the group has others.
async fn alone_in(folder: &Path) -> Option<Value> {
    // If the member says nothing, what is asked of it next says why.
    let view = ask(folder, Request::View).await.ok()?;
    let alone = view.get("members").and_then(Value::as_array).is_some_and(|members| members.len() == 1);
    let others = alone && has_others(&ask(folder, Request::Status).await.ok()?);
    others.then(|| view.get("id").cloned()).flatten()
}

/// What a file holds. One that is too long is not read.
fn of_file(file: &Path) -> Result<Vec<u8>, Failure> {
    let about = std::fs::metadata(file).map_err(|error| Failure::file(file, &error))?;
    if usize::try_from(about.len()).map_or(true, |bytes| bytes > SEND_BYTES_MAX) {
        let (file, bytes) = (file.display(), about.len());
        let hint = format!(
            "{file} has {bytes} bytes, and send takes at most {SEND_BYTES_MAX} (4 MiB) as one message. Send it in \
             parts (split -b 4M {file}), or by a program, which can send 16 MiB"
        );
        return Err(Failure::new(Exit::Usage, hint));
    }
    read_start(file, SEND_BYTES_MAX.saturating_add(1))
}

/// As a person means it who pipes one line: its end is none of the message.
fn without_end(mut text: Vec<u8>) -> Vec<u8> {
    for end in [b'\n', b'\r'] {
        text.pop_if(|last| *last == end);
    }
    text
}

pub(crate) fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut payload = Vec::new();
    let most = u64::try_from(SEND_BYTES_MAX + 1).unwrap_or(u64::MAX);
    let read = std::io::stdin().take(most).read_to_end(&mut payload);
    read.map_err(|error| {
        Failure::new(Exit::Usage, format!("cannot read the standard input: {}", in_words(&error)))
    })?;
    Ok(payload)
}

/// `folkmoot receive`
pub(crate) async fn receive(folder: &Path, receive: &Receive, json: bool) -> Result<(), Failure> {
    let mut heard = Heard { left: receive.count.unwrap_or(u64::MAX), missed: 0 };
    let hear = async {
        while heard.left > 0 {
            if !hear(folder, &mut heard, json).await? {
                continue;
            }
            if !receive.follow {
                return Err(Failure::new(Exit::Unreachable, "the member has stopped"));
            }
            eprintln!("the member has stopped; waiting until one runs on the folder again");
            while Control::connect(folder).await.is_err() {
                tokio::time::sleep(AGAIN).await;
            }
        }
        Ok(())
    };
    let timed_out = match receive.timeout {
        None => {
            hear.await?;
            false
        }
        Some(seconds) => match tokio::time::timeout(Duration::from_secs(seconds), hear).await {
            Ok(result) => {
                result?;
                false
            }
            Err(_) => true,
        },
    };
    match (timed_out, receive.timeout, receive.count) {
        _ if heard.missed > 0 => {
            let missed = many_of(heard.missed, "event");
            Err(Failure::new(Exit::No, format!("{missed} missed, because this reader was too slow")))
        }
        (true, Some(seconds), Some(_)) => {
            Err(Failure::new(Exit::TimedOut, format!("not all messages came within {seconds} s")))
        }
        _ => Ok(()),
    }
}

/// How many messages are still wanted, and how many events did not come through.
struct Heard {
    left: u64,
    missed: u64,
}

/// Shows what the member says; whether it has stopped.
async fn hear(folder: &Path, heard: &mut Heard, json: bool) -> Result<bool, Failure> {
    let mut control = Control::connect(folder).await?;
    control.ask(&Request::Subscribe).await?;
    while heard.left > 0 {
        let Some(event) = control.event().await? else { return Ok(true) };
        match text(&event, "event") {
            "message" => heard.left -= 1,
            "missed" => {
                heard.missed += event.get("count").and_then(Value::as_u64).unwrap_or_default();
            }
            _ => {}
        }
        if json {
            line(&event.to_string());
        } else if let Some(text) = event_text(&event) {
            line(&text);
        }
    }
    Ok(false)
}
