//! Letters: `folkmoot write` for strangers; `folkmoot letters` and `folkmoot answer` for members.

use crate::args::{Answer, Write};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::keys::Keys;
use crate::member::names::party_name;
use crate::member::reached::names_without_address;
use crate::member::render::{Names, event_json};
use crate::member::stop_signal;
use crate::messages::standard_input;
use crate::show::{Paint, data, harmless, line, paint, said, short, table};
use folkmoot::{Event, Folkmoot, GroupId, GroupName, Options, Standing, StateFolder};
use folkmoot_base::unhex;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A folder for as long as a letter is under way: a stranger needs a charter and a store beside its
/// identity.
struct Desk(PathBuf);

impl Drop for Desk {
    fn drop(&mut self) {
        // What cannot be removed lies in the person's own folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `folkmoot write`: to a group that we are not in, until it answers.
pub(crate) async fn write(folder: &Path, write: Write, keys: &Keys, json: bool) -> Result<(), Failure> {
    let text = match write.text {
        Some(text) => text.into_bytes(),
        None => standard_input()?,
    };
    crate::files::reachable(&write.at, &write.charter)?;
    let identity = keys.identity(folder)?;
    let desk = Desk(folder.join(format!("letter-{}", std::process::id())));
    prepare(folder, &desk.0, &write.charter)?;
    let mut options = Options::new(&desk.0).listen(write.listen);
    options.identity = Some(identity);
    options.seeds.clone_from(&write.at);
    let mut moot = Folkmoot::open_with(options).await?;
    let group = match &write.group {
        None => moot.group(),
        Some(name) => GroupId::of_name(&moot.group(), &named(name)?),
    };
    moot.write(group, text).await.map_err(|error| Failure { exit: Exit::Usage, ..error.into() })?;
    let mut stands = None;
    let waited = Duration::from_secs(write.timeout);
    let result = tokio::select! {
        result = follow(&mut moot, &mut stands, json) => result,
        () = tokio::time::sleep(waited) => Err(late(stands, write.timeout)),
        () = stop_signal(false) => Err(Failure::new(Exit::TimedOut, "stopped before an answer came")),
    };
    let result = match result {
        Err(failure) if failure.exit == Exit::Unreachable => {
            let names: String = names_without_address(&moot.host_names().await?)
                .iter()
                .map(|one| format!("; {one}"))
                .collect();
            Err(Failure::new(failure.exit, format!("{}{names}", failure.text)))
        }
        result => result,
    };
    moot.close().await?;
    result
}

fn late(stands: Option<Standing>, seconds: u64) -> Failure {
    let (exit, what) = match stands {
        None => (Exit::Unreachable, "no member answered at these locators"),
        Some(Standing::Delivered) => (Exit::TimedOut, "the members have the letter, but nobody answered it"),
        Some(_) => (Exit::TimedOut, "the letter was not delivered"),
    };
    Failure::new(exit, format!("{what} within {seconds} s. To wait longer: --timeout SECONDS"))
}

fn given_up(standing: Standing) -> Failure {
    let text = match standing {
        Standing::Closed => "the group's charter does not allow letters (letters = false)",
        _ => "the letter was refused: members do not write letters. If you are a member, run: folkmoot send",
    };
    Failure::new(Exit::Refused, text)
}

fn named(name: &str) -> Result<GroupName, Failure> {
    GroupName::new(name).map_err(|error| Failure::new(Exit::Usage, format!("{name:?}: {error}")))
}

/// The identity and the charter, side by side: the identity by its name alone, so that there is no
/// second copy of a key.
fn prepare(folder: &Path, desk: &Path, charter: &Path) -> Result<(), Failure> {
    let (identity, beside) = (StateFolder::at(folder), StateFolder::open(desk)?);
    for (file, link) in
        [(identity.key_path(), beside.key_path()), (identity.certificate_path(), beside.certificate_path())]
    {
        let link_to = |file| std::os::unix::fs::symlink(file, &link);
        std::fs::canonicalize(&file).and_then(link_to).map_err(|error| Failure::file(&file, &error))?;
    }
    crate::files::adopt(desk, charter)
}

/// Tells how the letter stands, until it is answered or given up.
async fn follow(moot: &mut Folkmoot, stands: &mut Option<Standing>, json: bool) -> Result<(), Failure> {
    while let Some(event) = moot.next().await? {
        let names = names(moot, &event).await?;
        if json && matches!(event, Event::LetterStands { .. } | Event::Answer { .. }) {
            line(&event_json(&event, &names).to_string());
        }
        match event {
            Event::LetterStands { standing, .. } => {
                *stands = standing;
                if let Some(standing) = standing.filter(|_| !json) {
                    eprintln!("{}", paint(Paint::Dim, &format!("* {}", standing_text(standing))));
                }
                if let Some(end @ (Standing::Closed | Standing::Refused)) = standing {
                    return Err(given_up(end));
                }
            }
            Event::Answer { by, text, .. } => {
                if !json {
                    let who = paint(Paint::Cyan, &format!("{}:", party_name(&names, &by)));
                    line(&format!("{who} {}", said(&text)));
                }
                return Ok(());
            }
            _ => {}
        }
    }
    Err(Failure::bug("the writer stopped by itself"))
}

/// Of whoever answers.
async fn names(moot: &Folkmoot, event: &Event) -> Result<Names, Failure> {
    if !matches!(event, Event::Answer { .. }) {
        return Ok(Names::new());
    }
    Ok(moot.names().await?.0)
}

fn standing_text(standing: Standing) -> &'static str {
    match standing {
        Standing::Delivered => "all members have your letter; waiting for an answer (Ctrl-C gives up)",
        Standing::Stale | Standing::Unknown => "the group's key has changed; writing again",
        Standing::Closed => "the group's charter does not allow letters",
        Standing::NotHere => "that member is not in the group now; trying again",
        Standing::Full => "too many letters at once; trying again",
        Standing::Refused => "the letter was refused",
    }
}

/// `folkmoot letters`
pub(crate) async fn list(folder: &Path, json: bool) -> Result<(), Failure> {
    let letters = Control::connect(folder).await?.ask(&Request::Letters).await?;
    let text =
        |one: &Value, field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let row = |one: &Value| {
        let answers = one.get("answers").and_then(Value::as_array).into_iter().flatten();
        let answers: Vec<String> = answers.map(|answer| harmless(&text(answer, "by"))).collect();
        vec![
            harmless(&text(one, "name")),
            short(&text(one, "letter")).to_owned(),
            said(&unhex(&text(one, "payload")).unwrap_or_default()),
            answers.join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = letters.as_array().into_iter().flatten().map(row).collect();
    data(json, &letters, || {
        if rows.is_empty() {
            "no letters since the member was started".into()
        } else {
            table(&["FROM", "LETTER", "TEXT", "ANSWERED BY"], &rows)
        }
    });
    Ok(())
}

/// `folkmoot answer`
pub(crate) async fn answer(folder: &Path, answer: Answer, json: bool) -> Result<(), Failure> {
    let Answer { letter, text } = answer;
    let done = Control::connect(folder).await?.ask(&Request::Answer { letter, text }).await?;
    data(json, &done, || {
        let text = |field: &str| done.get(field).and_then(Value::as_str).unwrap_or_default();
        format!("answered {} ({})", harmless(text("name")), short(text("letter")))
    });
    Ok(())
}
