//! What must hold over the whole run, whoever was killed when.

use super::actor::{Actor, Life};
use super::disk::Disk;
use super::heard::{View, view};
use folkmoot_base::{Digest, Head};
use folkmoot_transcript::BallotRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
/// ballot is committed to once; a decision stays, and with it what stands beside it.
pub(crate) fn disks(actor: &Actor, charter: &Path) {
    let mut said = Said::default();
    for (at, disk) in actor.disks.iter().enumerate() {
        let who = format!("{} life {at}", actor.name);
        said.check(disk, &who);
        let record = read(&actor.lives[at], &actor.id);
        let shown = record.stays.iter().map(|stay| parts(&stay.view.id).0).max().unwrap_or(0);
        assert!(disk.ring_seq() >= shown, "{who}: ring {shown} was used and is not on disk");
        let Some(before) = at.checked_sub(1).map(|at| &actor.disks[at]) else { continue };
        let ring = (before.ring_seq(), disk.ring_seq());
        let configured = actor.lives[at].heard.lock().find("configuration", 0).is_some();
        assert!(ring.1 > ring.0 || (ring.1 == ring.0 && !configured), "{who}: ring number {ring:?}");
        let (old, new) = (before.instance(), disk.instance());
        assert!(new >= old, "{who}: instance counter {new} after {old}");
        line([before, disk], charter, &who);
    }
}

/// What a voter said about decisions: by the head that they follow and the ballot.
#[derive(Default)]
struct Said {
    promised: BTreeMap<Head, u32>,
    signed: BTreeMap<(&'static str, Head, u32), Digest>,
}

impl Said {
    fn check(&mut self, disk: &Disk, who: &str) {
        disk.ballots().for_each(|record| self.check_record(record, who));
    }

    fn check_record(&mut self, record: BallotRecord, who: &str) {
        let before = self.promised.insert(record.parent, record.promised).unwrap_or(0);
        assert!(record.promised >= before, "{who}: promised {} after {before}", record.promised);
        let signed = [("commits", record.committed), ("proposals", record.proposed)];
        for (what, proposal) in signed.into_iter().filter_map(|(what, one)| Some((what, one?))) {
            let (ballot, decision) = (proposal.ballot(), proposal.decision.digest());
            let first = *self.signed.entry((what, record.parent, ballot)).or_insert(decision);
            assert_eq!(first, decision, "{who}: two {what} in one ballot");
        }
    }
}

/// No decision is exchanged for another; as long as none is added, nothing is lost beside them.
fn line([before, disk]: [&Disk; 2], charter: &Path, who: &str) {
    let (old, new) = (before.decisions(), disk.decisions());
    for (number, decision) in &old {
        assert!(new.get(number).is_none_or(|one| one == decision), "{who}: another decision {number:?}");
    }
    let (old, new) = (before.transcript(charter), disk.transcript(charter));
    let (old_head, new_head) = (old.state().head(), new.state().head());
    assert!(new_head.number >= old_head.number, "{who}: {new_head} after {old_head}");
    if old_head == new_head {
        let lost = old.have().difference(&new.have()).count();
        assert_eq!(lost, 0, "{who}: items of the transcript are gone");
    }
}

/// Members that end together have the same line and the same set.
pub(crate) fn transcripts(members: &[Actor], charter: &Path) {
    let first = members[0].disk().transcript(charter);
    for member in members {
        let transcript = member.disk().transcript(charter);
        assert_eq!(transcript.mark(), first.mark(), "{}: another transcript", member.name);
        assert_eq!(transcript.roster().members(), first.roster().members(), "{}: other members", member.name);
    }
}
