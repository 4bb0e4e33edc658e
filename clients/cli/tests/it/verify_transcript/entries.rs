//! What an entry names and who signed it: parents, group, author; ends of terms.

use super::judge::{refused_at, refused_author, refused_last};
use super::world::{
    EXPELLED, MEMBER, Moot, STORY, STRANGER, admit_body, author, charter, forge, gmc, id, signed,
};
use folkmoot_base::{EntryId, UnixTime};
use folkmoot_identity::Transcript;
use folkmoot_identity::transcript::{Body, Entry};

fn end() -> Option<usize> {
    Some(STORY.entries.len() + 1)
}

/// An entry over these parents, rightly signed, that would stand over the head.
fn over(parents: Vec<EntryId>) -> Vec<u8> {
    let good = Entry::decode(&forge(&STORY.honest, admit_body(&gmc(&STORY.honest, STRANGER, &[0, 1], 1)), 0));
    STORY.and_entry(signed(Entry { parents, ..good.unwrap() }, 0))
}

fn last() -> EntryId {
    Entry::id_of(STORY.entries.last().unwrap())
}

#[test]
fn a_parent_that_never_was() {
    refused_at("unknown", &over(vec![EntryId([7; 32])]), "TRN-04", end());
    let mut both = vec![last(), EntryId([7; 32])];
    both.sort();
    refused_at("unknown-too", &over(both), "TRN-04", end());
}

#[test]
fn no_parents_or_unsorted_or_doubled() {
    refused_at("none", &over(vec![]), "TRN-02", end());
    refused_at("twice", &over(vec![last(), last()]), "TRN-02", end());
    let mut unsorted = vec![last(), Entry::id_of(&STORY.entries[0])];
    unsorted.sort_by(|a, b| b.cmp(a));
    refused_at("unsorted", &over(unsorted), "TRN-02", end());
}

#[test]
fn a_parent_that_comes_later() {
    // A cycle: an entry of the middle names the last one, which follows from it.
    let entry = STORY.entry(90);
    let by = author(&entry);
    let mut parents = entry.parents.clone();
    parents.push(last());
    parents.sort();
    let cyclic = signed(Entry { parents, ..entry }, by);
    refused_at("cycle", &STORY.instead(90, cyclic), "TRN-43", Some(91));
}

#[test]
fn an_entry_of_another_group() {
    let mut other = Moot { t: Transcript::genesis(&charter(8)).unwrap(), salt: 9 };
    other.admit(STRANGER, [0, 1]);
    let foreign = other.t.entries().last().unwrap().clone();
    refused_at("foreign", &STORY.and_entry(foreign.clone()), "TRN-03", end());
    // Its author puts it under our group and head: the certificate in it is still the other
    // group's.
    let entry = Entry::decode(&foreign).unwrap();
    let ours = Entry { group: STORY.group(), parents: vec![last()], ..entry };
    refused_last("foreign-signed", &STORY.and_entry(signed(ours, 0)), "TRN-10", 0);
}

#[test]
fn a_forged_authors_signature() {
    let mut entry = STORY.entry(80);
    entry.signature = [9; 64].into();
    refused_at("signature", &STORY.instead(80, entry.encode()), "TRN-07", Some(81));
    // Under another member's name.
    let mut entry =
        Entry::decode(&forge(&STORY.honest, Body::Admit { certificate: vec![1].into() }, 0)).unwrap();
    entry.author = id(1);
    refused_at("name", &STORY.and_entry(entry.encode()), "TRN-07", end());
}

#[test]
fn a_changed_byte_in_an_entry() {
    let place = STORY.place(60, |body| matches!(body, Body::Expire { .. }));
    let mut entry = STORY.entries[place].to_vec();
    let time = entry.len() - 69;
    entry[time] ^= 1;
    refused_at("byte", &STORY.instead(place, entry.into()), "TRN-07", Some(place + 1));
}

#[test]
fn an_entry_by_a_removed_member() {
    let body = admit_body(&gmc(&STORY.honest, STRANGER, &[0, 1], 1));
    refused_at("removed", &STORY.and(body, EXPELLED), "TRN-06", end());
}

#[test]
fn an_entry_by_a_stranger() {
    let body = admit_body(&gmc(&STORY.honest, STRANGER, &[0, 1], 1));
    refused_at("stranger", &STORY.and(body, STRANGER), "TRN-06", end());
}

#[test]
fn an_expiry_too_early() {
    let held = STORY.honest.roster().member(&id(MEMBER)).unwrap();
    let early = |time| Body::Expire { member: held.member, admission: held.entry, time };
    refused_last("early", &STORY.and(early(held.not_after), 1), "TRN-31", 1);
    // In the middle, by the one who wrote it then.
    let place = STORY.place(60, |body| matches!(body, Body::Expire { .. }));
    let mut entry = STORY.entry(place);
    let by = author(&entry);
    let Body::Expire { time, .. } = &mut entry.body else { panic!() };
    *time = UnixTime(time.0 - 1);
    refused_author("early-then", &STORY.instead(place, signed(entry, by)), "TRN-31", place + 1, by);
    let founder =
        Body::Expire { member: id(1), admission: STORY.honest.genesis_id(), time: UnixTime(u64::MAX) };
    refused_last("founder", &STORY.and(founder, 0), "TRN-31", 0);
}

#[test]
fn an_expiry_of_what_has_ended() {
    let place = STORY.place(60, |body| matches!(body, Body::Expire { .. }));
    refused_last("again", &STORY.and(STORY.entry(place).body, 2), "TRN-25", 2);
}
