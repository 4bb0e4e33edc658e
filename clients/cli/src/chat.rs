//! `folkmoot chat`: sends the lines that are typed to the group, and prints what the group says.

mod orders;
mod piped;
mod saying;
mod screen;
mod talk;

use crate::args::run::{ReplicaArgs, Run};
use crate::args::{self, newcomer::Join};
use crate::commands::{on_roster, text};
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::files::{self, reachable};
use crate::keys::Keys;
use crate::member::{self, Printing};
use crate::show::harmless;
use crate::values::Multicast;
use crate::{endorsement, ticket};
use folkmoot::StateFolder;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic;
use std::time::Duration;
use talk::{Losses, Unsent, talk};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Longest wait for the others to know that we leave, and how often that is looked at.
const PARTING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// `folkmoot join`: becomes a stranger at a contact, and chats once it is let in.
pub(crate) async fn join(folder: &Path, join: Join, keys: Keys, json: bool) -> Result<(), Failure> {
    let Join { by, at, heads, listen, endorsement, policy_hook } = join;
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
    let endorsement = match endorsement {
        Some(file) => {
            charter.iter().try_for_each(|charter| files::adopt(folder, charter))?;
            let (der, note) = endorsement::read(folder, &file)?;
            notes.push(note);
            Some(der)
        }
        None => None,
    };
    let run = Run {
        listen,
        at,
        heads,
        voucher,
        endorsement,
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
        have_effect(folder, &run)?;
        for at in &run.at {
            control.ask(&Request::Dial { at: at.to_string() }).await?;
        }
        if apply {
            control.ask(&Request::Apply).await?;
        } else {
            tell_outsider(&mut control, folder).await?;
        }
        return talk(folder, control, apply, json, (false, Unsent::default())).await;
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
    let unsent = Unsent::default();
    let result = tokio::select! {
        ended = &mut member => {
            ended.map_err(Failure::bug)??;
            let unsent = unsent.load(atomic::Ordering::Relaxed);
            return Losses::unsent(unsent).report(false);
        }
        result = talk(folder, control, apply, json, (true, Arc::clone(&unsent))) => result,
    };
    // Whoever cannot be reached any more is gone already.
    let _ = part(folder).await;
    member.await.map_err(Failure::bug)??;
    result
}

/// Refuses options that the member which runs already cannot follow.
fn have_effect(folder: &Path, run: &Run) -> Result<(), Failure> {
    let other_charter = |file: &PathBuf| {
        let kept = StateFolder::at(folder).read_charter().ok();
        files::open(file).map(|signed| kept.is_none_or(|kept| kept != signed.der()))
    };
    let given = [
        ("--listen", run.listen != args::run::usual_listen()),
        ("--charter", run.charter.as_ref().map_or(Ok(false), other_charter)?),
        ("--head", !run.heads.is_empty()),
        ("--carry", !run.carries.is_empty()),
        ("--policy-hook", run.policy_hook.is_some()),
        ("--multicast", run.multicast != Multicast::Off),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    if given.is_empty() {
        return Ok(());
    }
    let folder = folder.display();
    let text = format!(
        "a member runs on {folder} already, and {} would have no effect on it. Leave that out; or stop the member \
         (folkmoot --state {folder} leave), and give the same command again",
        given.join(", ")
    );
    Err(Failure::new(Exit::Usage, text))
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

async fn is_inside(orders: &mut Control) -> Result<bool, Failure> {
    Ok(orders.ask(&Request::View).await?.get("view").is_some_and(Value::is_string))
}

/// Who is no member, as after leaving for good, would wait for a key for ever without a word.
async fn tell_outsider(control: &mut Control, folder: &Path) -> Result<(), Failure> {
    let status = control.ask(&Request::Status).await?;
    let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
    let states = people.filter(|one| one.get("member") == status.get("me"));
    let inside = |one: &Value| matches!(text(one, "state"), "asking") || on_roster(text(one, "state"));
    if !states.into_iter().any(inside) {
        let (name, folder) = (harmless(text(&status, "name")), folder.display());
        let how = format!("folkmoot --state {folder} join CHARTER --at LOCATOR");
        eprintln!("{name} is not a member of the group. To ask for admission: {how}");
    }
    Ok(())
}

/// Whether these are the members of a view with others: who was admitted may have one of its own
/// before.
fn is_shared(members: Option<&Value>) -> bool {
    members.and_then(Value::as_array).is_some_and(|members| members.len() > 1)
}

/// Whether the talk is over by this event.
fn judge(event: &Value, asks: bool) -> Result<(), Failure> {
    let text = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
    match text("event") {
        // "refused" only means that something is still to come, votes for one: the member goes on
        // asking.
        "denied" if asks => Err(denied(text("reason"))),
        // MEM-09: a member that was told to ask does so again.
        "removed"
            if matches!(text("cause"), "expelled" | "replaced" | "left-for-good")
                || (!asks && matches!(text("cause"), "expired" | "late")) =>
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

#[cfg(test)]
mod tests {
    use super::judge;
    use serde_json::json;

    #[test]
    fn whoever_asks_goes_on_asking_unless_it_was_expelled() {
        let ends = |cause: &str, asks| judge(&json!({ "event": "removed", "cause": cause }), asks).is_err();
        for (cause, asks, over) in [
            ("expelled", true, true),
            ("expelled", false, true),
            ("left-for-good", true, true),
            ("left-for-good", false, true),
            ("replaced", true, true),
            ("replaced", false, true),
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
