//! What must hold over the whole run, whoever was killed when.

use super::actor::{Actor, Life};
use super::heard::{View, view};
use std::collections::{BTreeMap, BTreeSet};

/// A message: sender and payload, which holds a time and a number.
type Message = (String, String);

/// One view in one life.
struct Stay {
    view: View,
    /// Who came along into it.
    along: Vec<String>,
    /// What was delivered in it, and whether that was before the transitional signal.
    heard: Vec<(Message, bool)>,
}

/// One life, read.
struct Record<'a> {
    life: &'a Life,
    id: &'a str,
    stays: Vec<Stay>,
    /// Whether the last stay was cut short: by the kill, or by removal.
    cut: bool,
}

/// (ring number, order in the ring, representative, nonce) of a view's name.
fn parts(id: &str) -> (u64, u64, &str, &str) {
    let parts: Vec<&str> = id.split('.').collect();
    (parts[0].parse().unwrap(), parts[1].parse().unwrap(), parts[2], parts[3])
}

fn read<'a>(life: &'a Life, id: &'a str) -> Record<'a> {
    let lines = life.heard.lock();
    let (mut stays, mut signal, mut out): (Vec<Stay>, bool, bool) = (Vec::new(), false, false);
    for event in &lines.events {
        match event["event"].as_str().unwrap() {
            "view" => {
                let along = event["transitional"].as_array().unwrap();
                let along = along.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
                stays.push(Stay { view: view(event), along, heard: Vec::new() });
                (signal, out) = (false, false);
            }
            "transitional" => signal = true,
            "removed" => out = true,
            "message" => {
                let stay = stays.last_mut().expect("no message comes before a view");
                assert_eq!(event["view"], stay.view.id.as_str(), "{}: a message of another view", life.who);
                assert!(!out, "{}: a message after the removal", life.who);
                let text = |field: &str| event[field].as_str().unwrap().to_owned();
                stay.heard.push(((text("sender"), text("payload")), !signal));
            }
            _ => {}
        }
    }
    Record { life, id, stays, cut: life.killed || out }
}

/// All checks on what was printed; how many messages, how many views.
pub(crate) fn logs(everybody: &[&Actor]) -> (usize, usize) {
    let lives = everybody.iter().flat_map(|one| one.lives.iter().map(|life| read(life, &one.id)));
    let records: Vec<Record<'_>> = lives.collect();
    names(&records);
    growth(&records);
    let mut views: BTreeMap<&str, Vec<(&Record<'_>, usize)>> = BTreeMap::new();
    for record in &records {
        for (at, stay) in record.stays.iter().enumerate() {
            views.entry(&stay.view.id).or_default().push((record, at));
        }
    }
    views.values().for_each(|stays| one_view(stays));
    (records.iter().flat_map(|record| &record.stays).map(|stay| stay.heard.len()).sum(), views.len())
}

/// A view has one set of members and one key; a key has one view; a ring number of a representative
/// has one nonce.
fn names(records: &[Record<'_>]) {
    let mut views: BTreeMap<&str, &View> = BTreeMap::new();
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    let mut rings: BTreeMap<(u64, &str), &str> = BTreeMap::new();
    for stay in records.iter().flat_map(|record| &record.stays) {
        let view = &stay.view;
        assert_eq!(*views.entry(&view.id).or_insert(view), view, "two views of one name");
        assert_eq!(*keys.entry(&view.epoch).or_insert(&view.id), view.id, "one key in two views");
        let (ring, _, representative, nonce) = parts(&view.id);
        assert_eq!(*rings.entry((ring, representative)).or_insert(nonce), nonce, "a ring number used twice");
    }
}

/// A member never goes back: its views' ring numbers and orders grow, over restarts the ring number
/// itself.
fn growth(records: &[Record<'_>]) {
    let mut last: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for record in records {
        for (at, stay) in record.stays.iter().enumerate() {
            let (ring, order, ..) = parts(&stay.view.id);
            let place = (ring, order);
            if let Some(before) = last.insert(record.id, place) {
                let grows = if at == 0 { ring > before.0 } else { place > before };
                assert!(grows, "{} life {}: {place:?} after {before:?}", record.life.who, record.life.number);
            }
        }
    }
}

/// Who shared a view and went on heard all that anybody was told as safe in it, in the same order;
/// who went on together heard exactly the same.
fn one_view(stays: &[(&Record<'_>, usize)]) {
    let stay = |(record, at): &(&Record<'_>, usize)| -> usize { record.stays[*at].heard.len() };
    let went_on: Vec<_> =
        stays.iter().filter(|(record, at)| at + 1 < record.stays.len() || !record.cut).collect();
    for (record, at) in stays {
        let told = &record.stays[*at];
        let distinct: BTreeSet<&Message> = told.heard.iter().map(|(message, _)| message).collect();
        assert_eq!(distinct.len(), told.heard.len(), "{}: a message twice", record.life.who);
        let regular: Vec<&Message> =
            told.heard.iter().filter(|(_, regular)| *regular).map(|(message, _)| message).collect();
        for other in &went_on {
            let (survivor, place) = other;
            let heard = &survivor.stays[*place].heard;
            let common: Vec<&Message> =
                heard.iter().map(|(message, _)| message).take(regular.len()).collect();
            assert!(
                common == regular,
                "{} life {} was told {} safe messages in view {}; {} life {} went on with {} of it, or in another order",
                record.life.who,
                record.life.number,
                regular.len(),
                told.view.id,
                survivor.life.who,
                survivor.life.number,
                stay(other),
            );
        }
    }
    for (one, at) in &went_on {
        for (other, place) in &went_on {
            let (next, others_next) = (one.stays.get(at + 1), other.stays.get(place + 1));
            let together = next.zip(others_next).is_some_and(|(next, others)| {
                next.view.id == others.view.id && next.along.iter().any(|id| id == other.id)
            });
            if together {
                let messages = |stay: &Stay| -> Vec<Message> {
                    stay.heard.iter().map(|(message, _)| message.clone()).collect()
                };
                let same = messages(&one.stays[*at]) == messages(&other.stays[*place]);
                assert!(same, "{} and {} went on together with different logs", one.life.who, other.life.who);
            }
        }
    }
}

/// What the disks show, from kill to kill: numbers grow and are never behind what others saw; a
/// slot of a vote is signed once; what is in the transcript stays there.
pub(crate) fn disks(actor: &Actor) {
    let mut slots: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for (at, disk) in actor.disks.iter().enumerate() {
        let who = format!("{} life {at}", actor.name);
        for (slot, signed) in disk.decisions() {
            let first = slots.entry(slot.to_vec()).or_insert_with(|| signed.clone());
            assert_eq!(first, signed, "{who}: two signatures for one (serial, ballot)");
        }
        let record = read(&actor.lives[at], &actor.id);
        let shown = record.stays.iter().map(|stay| parts(&stay.view.id).0).max().unwrap_or(0);
        assert!(disk.ring_seq() >= shown, "{who}: ring {shown} was used and is not on disk");
        let Some(before) = at.checked_sub(1).map(|at| &actor.disks[at]) else { continue };
        let ring = (before.ring_seq(), disk.ring_seq());
        let configured = actor.lives[at].heard.lock().find("configuration", 0).is_some();
        assert!(ring.1 > ring.0 || (ring.1 == ring.0 && !configured), "{who}: ring number {ring:?}");
        let (old, new) = (before.instance(), disk.instance());
        assert!(new >= old, "{who}: instance counter {new} after {old}");
        let kept = disk.entries();
        let lost = before.entries().iter().filter(|(key, value)| kept.get(*key) != Some(value)).count();
        assert_eq!(lost, 0, "{who}: entries of the transcript are gone");
    }
}

/// Members that end together know the same entries; whoever was admitted and not voted out is among
/// the people.
pub(crate) fn transcripts(members: &[Actor]) {
    let first = members[0].disk().entries();
    for member in members {
        let entries = member.disk().entries();
        assert_eq!(entries.len(), first.len(), "{}: another transcript", member.name);
        assert!(entries == first, "{}: another transcript", member.name);
    }
}
