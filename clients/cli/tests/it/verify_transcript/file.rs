//! The file as a whole: dropped, moved, doubled, rolled back, cut, lengthened; another charter.

use super::judge::{refused, refused_at, stands, verify_by};
use super::world::{STORY, charter, charter_by, file_entries};
use folkmoot_base::EntryId;
use folkmoot_identity::Transcript;
use folkmoot_identity::transcript::{Entry, FILE_LABEL};
use serde_json::json;

fn heads(of: &Transcript) -> Vec<EntryId> {
    of.heads().iter().copied().collect()
}

#[test]
fn an_entry_dropped_in_the_middle() {
    let mut entries = STORY.entries.clone();
    entries.remove(100);
    refused_at("dropped", &STORY.file(&entries), "TRN-04", Some(101));
}

#[test]
fn the_last_entries_dropped() {
    let short = STORY.file(&STORY.entries[..STORY.entries.len() - 3]);
    stands("last", &short, &[]);
    let told = refused("last-head", &short, &heads(&STORY.honest), "TRN-44");
    assert_eq!(told["entry"], json!(null));
}

#[test]
fn an_older_file_instead_of_the_newest() {
    let old: Vec<u8> = STORY.early.file().flatten().collect();
    let told = stands("old", &old, &heads(&STORY.early));
    refused("old-head", &old, &heads(&STORY.honest), "TRN-44");
    assert_eq!(told["entries"], STORY.early.len());
    stands("old-known", &STORY.honest_file(), &heads(&STORY.early));
}

#[test]
fn one_side_of_a_split_left_off() {
    let [one, other] = &STORY.sides;
    let side: Vec<u8> = one.file().flatten().collect();
    stands("side", &side, &heads(one));
    let both = [heads(one), heads(other)].concat();
    refused("side-head", &side, &both, "TRN-44");
    stands("sides", &STORY.honest_file(), &both);
}

#[test]
fn two_sides_swapped() {
    // Two entries of equal depth: neither is the other's parent.
    let places = 1..STORY.entries.len() - 1;
    let free =
        |place: &usize| !STORY.entry(place + 1).parents.contains(&Entry::id_of(&STORY.entries[*place]));
    let place = places.clone().find(free).unwrap();
    let mut entries = STORY.entries.clone();
    entries.swap(place, place + 1);
    refused_at("swapped", &STORY.file(&entries), "TRN-43", Some(place + 2));
}

#[test]
fn a_child_before_its_parent() {
    let mut entries = STORY.entries.clone();
    entries.swap(50, 51);
    refused_at("child", &STORY.file(&entries), "TRN-43", Some(51));
    // Moved to the end: the first entry that misses it is told, and where it is.
    let mut entries = STORY.entries.clone();
    let moved = entries.remove(50);
    entries.push(moved);
    refused_at("child-end", &STORY.file(&entries), "TRN-43", Some(51));
}

#[test]
fn an_entry_doubled() {
    for place in [0, 60] {
        let mut entries = STORY.entries.clone();
        entries.insert(place + 1, entries[place].clone());
        refused_at(&format!("double-{place}"), &STORY.file(&entries), "TRN-42", Some(place + 2));
    }
    let mut entries = STORY.entries.clone();
    entries.push(entries[60].clone());
    refused_at("double-end", &STORY.file(&entries), "TRN-42", Some(entries.len()));
}

#[test]
fn bytes_after_the_end() {
    for more in [&b"\0"[..], b"and so on"] {
        refused_at(&format!("after-{}", more.len()), &[&STORY.honest_file(), more].concat(), "TRN-41", None);
    }
}

#[test]
fn a_file_cut_short() {
    let file = STORY.honest_file();
    for end in [file.len() - 1, file.len() / 2, FILE_LABEL.len() + 40] {
        refused_at(&format!("cut-{end}"), &file[..end], "TRN-41", None);
    }
}

#[test]
fn another_number_of_entries_in_the_head() {
    let at = FILE_LABEL.len() + 33;
    let with = |count: usize| {
        let mut file = STORY.honest_file();
        file[at..at + 4].copy_from_slice(&u32::try_from(count).unwrap().to_be_bytes());
        file
    };
    let count = STORY.entries.len();
    for count in [0, count - 1, count + 1, 100_001] {
        refused_at(&format!("count-{count}"), &with(count), "TRN-41", None);
    }
}

#[test]
fn another_version_of_the_file() {
    let mut file = STORY.honest_file();
    file[FILE_LABEL.len()] ^= 2;
    refused_at("version", &file, "TRN-40", None);
}

#[test]
fn a_file_that_is_no_transcript() {
    refused_at("empty", &[], "TRN-40", None);
    refused_at("charter", &STORY.charter, "TRN-40", None);
    refused_at(
        "label",
        &[b"folkmoot transcript v3\0", &STORY.honest_file()[FILE_LABEL.len()..]].concat(),
        "TRN-40",
        None,
    );
}

#[test]
fn another_version_of_an_entry() {
    let mut entry = STORY.entries[70].to_vec();
    entry[0] ^= 2;
    refused_at("entry-version", &STORY.instead(70, entry.into()), "TRN-01", Some(71));
}

#[test]
fn an_entry_that_is_too_long() {
    let long = [&STORY.entries[70][..], &vec![0; 49_152]].concat();
    refused_at("long", &STORY.instead(70, long.into()), "TRN-01", Some(71));
}

#[test]
fn bytes_after_the_end_of_an_entry() {
    let longer = [&STORY.entries[70][..], &[0]].concat();
    refused_at("entry-after", &STORY.instead(70, longer.into()), "TRN-01", Some(71));
}

#[test]
fn another_charter() {
    let other = Transcript::genesis(&charter(8)).unwrap();
    let file: Vec<u8> = other.file().flatten().collect();
    refused_at("other-group", &file, "TRN-03", None);
    // The head says our group; the first entry does not.
    refused_at("other-first", &STORY.file(&file_entries(&other)), "TRN-03", Some(1));
    let honest = verify_by("other-charter", &charter(8), &STORY.honest_file(), &[]);
    assert_eq!(honest.status.code(), Some(1), "and the other way round");
}

#[test]
fn changed_bytes_in_the_charter() {
    // A founder's signature, and a rule: one vote shall admit.
    let mut entry = STORY.entries[0].to_vec();
    let last = entry.len() - 70;
    entry[last] ^= 1;
    refused_at("charter-signature", &STORY.instead(0, entry.into()), "TRN-05", Some(1));
    let lax = Entry::genesis(STORY.group(), &charter_by(7, 1)).encode();
    refused_at("charter-rule", &STORY.instead(0, lax), "TRN-05", Some(1));
}

#[test]
fn the_beginning_dropped() {
    refused_at("beginning", &STORY.file(&STORY.entries[1..]), "TRN-05", Some(1));
}

#[test]
fn a_second_beginning() {
    let second = Entry::genesis(STORY.group(), &charter_by(7, 1)).encode();
    refused_at("second", &STORY.and_entry(second), "TRN-05", Some(STORY.entries.len() + 1));
}
