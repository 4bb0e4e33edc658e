//! Tickets: `folkmoot invite` makes one, and `folkmoot join` takes it.
//!
//! ```text
//! member:   asks the running member, which signs: folkmoot-ticket:...
//! newcomer: ticket --> charter.cms in its folder, contacts, the head that it follows (LINE-88),
//!           the voucher that it shows
//! ```

use crate::args::newcomer::Invite;
use crate::commands::on_roster;
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::qr;
use crate::rules::key;
use crate::show::{Paint, many_of, paint, visible};
use crate::words::{of_digest, of_head};
use folkmoot::tools::wall_clock;
use folkmoot::{Locator, StateFolder};
use folkmoot_base::whole;
use folkmoot_transcript::{CONTACTS_MAX, Invitation, TICKET_TEXT_MAX, Ticket, TicketError};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

/// From how many days on a newcomer is warned.
const OLD_DAYS: u64 = 7;
/// Most addresses of the member that makes a ticket, so that others have a place in it.
const OWN_MAX: usize = 4;

/// `folkmoot invite`
pub(crate) async fn invite(folder: &Path, invite: Invite, json: bool) -> Result<(), Failure> {
    let holder = invite.holder.as_deref().map(key).transpose()?;
    let mut control = Control::connect(folder).await?;
    let status = control.ask(&Request::Status).await?;
    inside(&status)?;
    let at = contacts(invite.at, &status)?.iter().map(Locator::to_string).collect();
    let holder = holder.map(|holder| holder.hex());
    let made = control.ask(&Request::Invite { at, holder, days: invite.days }).await?;
    let ticket = made.get("ticket").and_then(Value::as_str).unwrap_or_default();
    let ticket = Ticket::from_text(ticket).map_err(Failure::bug)?;
    let text = ticket.text();
    if let Some(file) = &invite.out {
        std::fs::write(file, format!("{text}\n")).map_err(|error| Failure::file(file, &error))?;
    }
    if status.get("forks").and_then(Value::as_array).is_some_and(|forks| !forks.is_empty()) {
        let warning = "warning: two lines of decisions are known here, and the ticket leads to ours";
        eprintln!("{}", paint(Paint::Red, warning));
    }
    if !json {
        eprintln!("{}", about(&ticket));
    }
    let codes = if invite.qr { codes(&text) } else { Vec::new() };
    let mut value = ticket_json(&ticket, invite.out.as_deref());
    if let Some(fields) = value.as_object_mut().filter(|_| invite.qr) {
        fields.insert("qr".to_owned(), codes.clone().into());
    }
    crate::show::data(json, &value, || {
        let codes: String = codes.iter().map(|code| format!("\n{code}")).collect();
        match &invite.out {
            Some(file) => file.display().to_string() + &codes,
            None => text + &codes,
        }
    });
    Ok(())
}

/// The ticket as QR codes: more than one, since no code holds it.
fn codes(text: &str) -> Vec<String> {
    qr::parts(text).iter().filter_map(|part| qr::of(part)).collect()
}

fn ticket_json(ticket: &Ticket, out: Option<&Path>) -> Value {
    let Invitation { charter, head, made, ends, contacts, holder, .. } = ticket.invitation();
    json!({
        "ticket": ticket.text(), "out": out.map(crate::show::path), "group": charter.charter().group().hex(),
        "head": head.whole(), "head_words": of_head(head), "made": made.0, "ends": ends.0,
        "contacts": contacts.iter().map(Locator::to_string).collect::<Vec<_>>(),
        "for": holder.map(|holder| holder.hex()),
    })
}

/// Refuses whoever is no member.
fn inside(status: &Value) -> Result<(), Failure> {
    let text =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let me = text(status, "me");
    let mut people = status.get("people").and_then(Value::as_array).into_iter().flatten();
    if people.any(|one| text(one, "member") == me && on_roster(&text(one, "state"))) {
        return Ok(());
    }
    let why = "only a member can invite, and this one is not in the group";
    Err(Failure::new(Exit::NotInGroup, why))
}

/// Where the newcomer will look: as told, or else here and at whoever is present.
fn contacts(told: Vec<Locator>, status: &Value) -> Result<Vec<Locator>, Failure> {
    let usage = |why: String| Failure::new(Exit::Usage, why);
    if told.len() > CONTACTS_MAX {
        return Err(usage(format!("a ticket names at most {CONTACTS_MAX} addresses")));
    }
    let mut contacts = if told.is_empty() { present(status) } else { told };
    let alone = |at: &Locator| at.as_udp().is_some_and(|at| at.ip().is_loopback());
    if contacts.iter().all(alone) && !contacts.is_empty() {
        let warning = "warning: the ticket leads to members for whoever is on this machine, and to nobody from \
                       elsewhere. For others, give an address or a host name with --at udp/NAME:PORT";
        eprintln!("{}", paint(Paint::Red, warning));
    }
    let mut known = Vec::new();
    contacts.retain(|at| {
        !known.contains(at) && {
            known.push(at.clone());
            true
        }
    });
    contacts.truncate(CONTACTS_MAX);
    if contacts.is_empty() {
        let why = "this machine has no address that others can use now. When it has one, run the same command; or \
                   give one, or a host name, with --at udp/NAME:PORT";
        return Err(usage(why.to_owned()));
    }
    Ok(contacts)
}

/// This member first.
fn present(status: &Value) -> Vec<Locator> {
    let at = |one: &Value| one.get("locator")?.as_str()?.parse::<Locator>().ok();
    let own = status.get("addresses").and_then(Value::as_array).into_iter().flatten();
    let own = own.filter_map(|at| at.as_str()?.parse().ok()).take(OWN_MAX);
    let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
    let others = people.filter(|one| one.get("state").is_some_and(|state| state == "present"));
    let me = status.get("me");
    let others = others.filter(|one| one.get("member") != me);
    own.chain(others.filter_map(at)).filter(Locator::leads_somewhere).collect()
}

/// The ticket that was given as a text, as a file, or on the standard input (`-`); none if a file
/// holds something else.
pub(crate) fn read(given: &Path) -> Result<Option<Ticket>, Failure> {
    let most = u64::try_from(TICKET_TEXT_MAX).unwrap_or(u64::MAX);
    let text = match given.to_str() {
        Some(text) if Ticket::begins(text) => text.to_owned(),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().take(most).read_to_string(&mut text);
            read.map_err(|error| Failure::file(given, &error))?;
            text
        }
        // A pipe can be read once only, and a charter may come by one.
        _ if !given.is_file() => return Ok(None),
        _ => String::from_utf8_lossy(&files::read_start(given, TICKET_TEXT_MAX)?).into_owned(),
    };
    if !Ticket::is_in(&text) && !qr::has_parts(&text) && given != Path::new("-") {
        return Ok(None);
    }
    let text = qr::whole(&text).map_err(|why| {
        Failure::new(Exit::Usage, format!("{why}. Give the texts of all the ticket's QR codes, one a line"))
    })?;
    Ticket::from_text(&text).map(Some).map_err(|error| refusal(&error))
}

/// Keeps the ticket's charter in the newcomer's folder. Gives what the newcomer is to be told.
pub(crate) fn accept(folder: &Path, ticket: &Ticket) -> Result<Vec<String>, Failure> {
    let now = wall_clock();
    ticket.check(&files::me(folder)?, now).map_err(|error| refusal(&error))?;
    StateFolder::at(folder).write_charter(ticket.invitation().charter.der())?;
    let days = ticket.age_days(now);
    let warning = (days >= OLD_DAYS).then(|| {
        let warning = format!(
            "warning: the ticket is {} old. Whoever had a vote then and was expelled since can still lead you \
             to a line of its own. Better ask for a new ticket",
            many_of(days, "day")
        );
        paint(Paint::Red, &warning)
    });
    Ok([about(ticket)].into_iter().chain(warning).collect())
}

/// What a ticket is, for people.
fn about(ticket: &Ticket) -> String {
    let Invitation { charter, head, made, ends, holder, .. } = ticket.invitation();
    let (charter, maker) = (charter.charter(), ticket.maker());
    let holder = holder.map_or_else(String::new, |holder| format!(", for the key {holder} only"));
    format!(
        "ticket for {} ({}), signed by {} ({}) at {made}, until {ends}{holder}\n\
         its maker's key in words: {}\nits head is {}; in words: {}",
        visible(charter.name().as_str()),
        charter.group(),
        visible(maker.name()),
        maker.member(),
        of_digest(&maker.member().0),
        head.whole(),
        of_head(head)
    )
}

fn refusal(error: &TicketError) -> Failure {
    let (exit, next) = match error {
        TicketError::Ended(_) => (Exit::Refused, "Ask for a new one"),
        TicketError::Holder(_) => {
            (Exit::Refused, "Ask for one that is for yours (folkmoot identity show), or for anybody")
        }
        TicketError::Early(_) => (Exit::Configuration, "Set the clock, or ask its maker to"),
        _ => (Exit::Refused, "Ask whoever sent it for a new one"),
    };
    Failure::new(exit, format!("{}. {next}", whole(error)))
}
