//! A run as text: one aligned line for each event, time first, then who, then what.

use crate::record::{Entry, Leak, Player, Record, RingEvent, Ruling, Shown, What};
use crate::word::{Notice, Ready, Word};
use folkmoot_base::digest;
use std::fmt::Write as _;

/// All lines of `record`.
pub fn lines(record: &Record) -> impl Iterator<Item = String> {
    record.entries.iter().map(line)
}

/// Lines around `entry`, for the report of a violation.
pub fn excerpt(record: &Record, entry: usize, before: usize, after: usize) -> Vec<String> {
    let from = entry.saturating_sub(before);
    let to = entry.saturating_add(after).saturating_add(1).min(record.entries.len());
    record.entries.get(from..to).unwrap_or_default().iter().map(line).collect()
}

/// A digest of the whole run: every line, and every datagram if those were digested.
pub fn digest_of(record: &Record) -> String {
    let mut text = String::new();
    for line in lines(record) {
        text.push_str(&line);
        text.push('\n');
    }
    let _ = write!(text, "{:?}", record.standings);
    digest(&[&record.digest, text.as_bytes()]).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn line(entry: &Entry) -> String {
    let (kind, text) = describe(&entry.what);
    let (seconds, micros) = (entry.at / 1_000_000, entry.at % 1_000_000);
    format!("{seconds:>4}.{micros:06}  {:<5} {kind:<9} {text}", entry.process.to_string())
        .trim_end()
        .to_owned()
}

fn describe(what: &What) -> (&'static str, String) {
    match what {
        What::Boot(disk) => ("boot", format!("disk {disk:?}").to_lowercase()),
        What::Crash(lost) => ("CRASH", format!("{lost} outputs lost")),
        What::Asked(message, service) => ("ask", format!("{message} {service:?}").to_lowercase()),
        What::Refused(message, reason) => ("refused", format!("{message}: {reason}")),
        What::Sent(message, _, Some(view)) => ("send", format!("{message} in view {view}")),
        What::Sent(message, _, None) => ("send", format!("{message} in no view")),
        What::Delivered(message, service) => ("deliver", format!("{message} {service:?}").to_lowercase()),
        What::Garbled(bytes) => ("GARBLED", format!("{bytes} bytes")),
        What::View(view) => ("VIEW", shown(view)),
        What::Rekeyed(view, key) => ("rekey", format!("view {view} key {key}")),
        What::Signal => ("signal", String::new()),
        What::Left(reason) => ("left", reason.clone()),
        What::Ring(event) => ("ring", ring(event)),
        What::Acknowledged(step) => ("ack", step.clone()),
        What::Forgot(step) => ("FORGOT", step.clone()),
        What::Used(kind, value) => {
            ("used", format!("{kind} {}", value.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
        }
        What::Confirmed(view) => ("confirms", view.to_string()),
        What::Heard(view, player) => ("hears", format!("player{player} confirm {view}")),
        What::Word(word) => ("word", said(word)),
        What::Disturbed(effect) => ("DISTURBED", effect.clone()),
        What::Leaked(leak) => ("LEAK", leaked(leak)),
        What::Minute(minute) => ("minute", format!("{minute:?}")),
        What::Shares { in_use, on_disk } => ("shares", format!("in use {in_use:?} on disk {on_disk:?}")),
        What::Backed { sharing, on_disk, .. } => ("backs", format!("{sharing} on disk {on_disk}")),
        What::Approved(request) => ("approves", request.clone()),
        What::Roster(roster) => ("roster", format!("{roster:?}")),
        What::Note(layer, text) => (layer, text.clone()),
        What::Stolen => ("STOLEN", String::new()),
        What::Ruled(ruling) => ("rules", ruled(ruling)),
        What::Judged(decision, clock) => ("judges", format!("{decision} right at {clock}")),
        What::Liar => ("LIAR", String::new()),
        What::Clock(ahead) => ("clock", ahead.map_or("none".to_owned(), |ahead| format!("{ahead} s ahead"))),
        What::Hidden(players) => ("hides", format!("{players:?}")),
        What::Strangers(count) => ("strangers", count.to_string()),
        What::Fork(number, liars) => ("fork", format!("at {number}, by {liars:?}")),
        What::OtherLine(other) => ("other", format!("line at player{other}")),
        What::Spinning => ("SPINNING", String::new()),
        What::Started(number) => ("started", number.to_string()),
        What::Superseded(by) => ("STOPS", format!("the process with number {by} started later")),
        What::Meets(player) => ("meets", format!("both processes of player{player}")),
        What::Parts(player) => ("parts", format!("from a process of player{player}")),
        What::Deaf(room) => ("deaf", format!("room for {room} events")),
        What::Reads => ("reads", String::new()),
        What::SlowReader(waiting) => ("STOPS", format!("{waiting} events wait for its application")),
    }
}

fn said(word: &Word) -> String {
    let ready = |Ready { view, number, heads: [one, two, ..] }: &Ready| {
        format!("ready for {view}, {number}, heads {one:02x}{two:02x}")
    };
    match word {
        Word::Joins => "joins".to_owned(),
        Word::Leaves => "leaves".to_owned(),
        Word::Refreshes(view) => format!("refreshes {view}"),
        Word::Complains(_, view, suspect) => format!("complains of player{suspect} in {view}"),
        Word::Ready(said) => ready(said),
        Word::Has(view) => format!("has {view}"),
        Word::Hears(player, said) => format!("hears player{player}: {}", ready(said)),
        Word::Noticed(Notice { view, cause, members, removed }) => {
            format!("hears of {view}, {cause:?}: {members:?} without {removed:?}")
        }
    }
}

fn ruled(ruling: &Ruling) -> String {
    let names = |members: &[Option<Player>]| {
        let name = |one: &Option<Player>| one.map_or("?".to_owned(), |one| one.to_string());
        members.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let deeds: Vec<&str> = ruling.deeds.iter().map(|deed| deed.about.as_str()).collect();
    let (signers, electors) = (names(&ruling.signers), names(&ruling.electors));
    let Ruling { number, name, parent, .. } = ruling;
    format!("{number} {name} after {parent} by {signers} of {electors}: {}", deeds.join(", "))
}

fn shown(view: &Shown) -> String {
    format!("{} members {:?} with {:?} key {}", view.id, view.members, view.transitional, view.key)
}

fn ring(event: &RingEvent) -> String {
    match event {
        RingEvent::Regular(id, nodes) => format!("configuration {} nodes {nodes:?}", id.ring_seq),
        RingEvent::Transitional { from, nodes } => format!("signal of {} with {nodes:?}", from.ring_seq),
        RingEvent::Keys(kept, attempt) => {
            format!("keys of {kept} {}", if *attempt { "in an attempt" } else { "after one" })
        }
        RingEvent::Sent(message, _) => format!("takes {}", name(message.digest)),
        RingEvent::Delivered { message, configuration, number, service } => {
            let service = format!("{service:?}").to_lowercase();
            format!(
                "gives {} of {} as {}.{number} {service}",
                name(message.digest),
                message.sender,
                configuration.ring_seq
            )
        }
    }
}

fn name(digest: [u8; 16]) -> String {
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn leaked(leak: &Leak) -> String {
    match leak {
        Leak::Wire => "plaintext in a datagram".into(),
        Leak::Node => "plaintext in a node or on a disk".into(),
        Leak::Trace(layer) => format!("a secret in a line of {layer}"),
        Leak::Outsider(player) => {
            format!("player {player}, out of the group, opens what was sealed without it")
        }
    }
}
