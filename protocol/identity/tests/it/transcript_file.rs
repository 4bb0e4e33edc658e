//! A transcript as a file: one set of entries makes one file, and what is judged whole is whole.
//! clients/cli/tests/it/verify_transcript tries `folkmoot verify` with every kind of tampering.

use crate::common::{END, START, Seed, World, person};
use bytes::Bytes;
use folkmoot_base::{DecodeError, EntryId, GroupId};
use folkmoot_identity::transcript::{Audit, Blame, Entry, FILE_LABEL, FileReader, Flaw, Wrong};
use folkmoot_identity::{
    Decision, EntryError, FileError, Gmc, GmcBody, Identity, Slot, Transcript, Verdict, Vote, VoteContent,
};
use proptest::prelude::*;
use std::sync::LazyLock;

static WORLD: LazyLock<World> = LazyLock::new(World::new);

fn begin() -> Transcript {
    Transcript::genesis(WORLD.signed.der()).unwrap()
}

/// Admits somebody by the votes of two founders.
fn admit(t: &mut Transcript, who: &Identity, salt: u64) {
    let body = GmcBody::propose(t.roster().charter(), who, 3, START, &mut Seed(salt << 20));
    let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires: END };
    let votes = [0, 1].map(|voter| Vote::sign(&WORLD.founders[voter], content).unwrap().proof());
    let gmc = Gmc::compose(&body, &votes, who).unwrap();
    let entry = t.make_admit(gmc.der(), &WORLD.founders[0]).unwrap();
    t.append(&entry).unwrap();
}

fn decide(t: &Transcript, decision: &Decision, ballot: u32, voters: [usize; 2]) -> Bytes {
    let slot = Slot { serial: t.roster().electorate().serial, ballot };
    let motion = decision.motion(t.group(), t.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: END };
    let votes = voters.map(|voter| Vote::sign(&WORLD.founders[voter], content).unwrap().proof());
    t.make_decision(decision, slot, &votes, &WORLD.founders[voters[0]]).unwrap()
}

/// Six entries: two sides of two each, and one that joins them.
fn story() -> Transcript {
    let (mut one, mut other) = (begin(), begin());
    for (side, seed) in [(&mut one, 40), (&mut other, 50)] {
        admit(side, &person("x", seed), seed);
        admit(side, &person("y", seed + 1), seed + 1);
    }
    for entry in other.entries() {
        one.append(entry).unwrap();
    }
    admit(&mut one, &person("z", 60), 60);
    one
}

static STORY: LazyLock<Transcript> = LazyLock::new(story);

fn file(t: &Transcript) -> Vec<u8> {
    t.file().flatten().collect()
}

fn entries() -> Vec<Bytes> {
    Transcript::entries_of(&file(&STORY)).unwrap().1
}

fn judge_in(file: &[u8], piece: usize, heads: &[EntryId]) -> Result<Transcript, Box<Flaw>> {
    let mut audit = Audit::of(WORLD.signed.der()).unwrap();
    for piece in file.chunks(piece) {
        audit.push(piece)?;
    }
    audit.finish(heads).cloned()
}

fn judge(file: &[u8]) -> Result<Transcript, Box<Flaw>> {
    judge_in(file, 64 * 1024, &[])
}

/// Why a file of these entries does not stand, and at which of them.
fn refused(entries: &[Bytes]) -> (Wrong, Option<usize>) {
    let flaw = judge(&Transcript::file_of(STORY.group(), entries)).err().unwrap();
    assert_eq!(flaw.blame, Blame::Anyone);
    (flaw.wrong, flaw.number)
}

#[test]
fn one_set_of_entries_makes_one_file() {
    let whole = file(&STORY);
    let judged = judge(&whole).unwrap();
    assert_eq!((judged.heads(), judged.roster()), (STORY.heads(), STORY.roster()));
    // Whoever heard the sides in another order writes the same file.
    let mut backwards: Vec<Bytes> = STORY.entries().cloned().collect();
    backwards.reverse();
    assert_eq!(file(&Transcript::load(backwards).unwrap()), whole);
    assert_eq!(Transcript::file_of(STORY.group(), &entries()), whole);
}

#[test]
fn numbers_are_counted() {
    let mut audit = Audit::of(WORLD.signed.der()).unwrap();
    audit.push(&file(&STORY)).unwrap();
    let numbers = audit.numbers();
    assert_eq!((numbers.entries, numbers.admissions, numbers.splits, numbers.merges), (6, 5, 1, 1));
    assert_eq!(audit.progress(), (6, 6));
    // One decision that two members wrote down at once is one decision, and the group does not
    // contradict itself.
    let change = Decision::change("certificate_days", "20");
    let mut both = STORY.clone();
    for voters in [[0, 1], [1, 0]] {
        both.append(&decide(&STORY, &change, 0, voters)).unwrap();
    }
    let mut twice = Audit::of(WORLD.signed.der()).unwrap();
    twice.push(&file(&both)).unwrap();
    let numbers = twice.numbers();
    assert_eq!((numbers.entries, numbers.decisions, numbers.charter_changes, numbers.removals), (8, 1, 1, 0));
    assert!(twice.finish(&[]).is_ok());
    assert_eq!((audit.heads(), audit.group()), (STORY.heads(), STORY.group()));
}

#[test]
fn trn_40_a_file_begins_with_label_and_version() {
    let flaw = |bytes: &[u8]| judge(bytes).err().unwrap().wrong;
    assert_eq!(flaw(b"folkmoot transcript v2"), Wrong::File(FileError::WireLabel));
    assert_eq!(flaw(&[]), Wrong::File(FileError::WireLabel));
    let mut version = file(&STORY);
    version[FILE_LABEL.len()] = 9;
    assert_eq!(flaw(&version), Wrong::File(FileError::WireHead(DecodeError::Version(9))));
}

#[test]
fn trn_41_as_many_entries_as_the_head_says_and_nothing_more() {
    let whole = file(&STORY);
    let flaw = |bytes: &[u8]| judge(bytes).err().unwrap().wrong;
    assert_eq!(flaw(&whole[..whole.len() - 1]), Wrong::File(FileError::WireShort { here: 5, count: 6 }));
    assert_eq!(flaw(&[&whole[..], &[0]].concat()), Wrong::File(FileError::WireLeftover(1)));
    for count in [0, 100_001_u32] {
        let mut other = whole.clone();
        other[FILE_LABEL.len() + 33..][..4].copy_from_slice(&count.to_be_bytes());
        assert_eq!(flaw(&other), Wrong::File(FileError::WireCount(count)));
    }
    let mut long = whole.clone();
    long[FILE_LABEL.len() + 37..][..4].copy_from_slice(&[0, 1, 0, 0]);
    assert_eq!(flaw(&long), Wrong::File(FileError::WireTooLong(65_536)));
}

#[test]
fn trn_42_no_entry_comes_twice() {
    let mut doubled = entries();
    doubled.insert(3, doubled[2].clone());
    assert_eq!(refused(&doubled), (Wrong::WireTwice, Some(4)));
}

#[test]
fn trn_43_entries_stand_by_depth_then_id() {
    let mut swapped = entries();
    swapped.swap(1, 2);
    assert_eq!(refused(&swapped), (Wrong::WireOrder { parent: None }, Some(3)));
    let mut late = entries();
    let first = late.remove(1);
    late.push(first);
    assert_eq!(refused(&late).0, Wrong::WireOrder { parent: Some(6) });
    let mut dropped = entries();
    let gone = Entry::id_of(&dropped.remove(5 - 1));
    assert_eq!(refused(&dropped), (EntryError::MissingParents(vec![gone]).into(), Some(5)));
}

#[test]
fn trn_44_heads_known_from_elsewhere_are_in_it() {
    let (short, heads): (Vec<Bytes>, Vec<EntryId>) =
        (entries()[..5].to_vec(), STORY.heads().iter().copied().collect());
    let short = Transcript::file_of(STORY.group(), &short);
    assert!(judge(&short).is_ok());
    let flaw = judge_in(&short, 100, &heads).err().unwrap();
    assert_eq!(flaw.wrong, Wrong::LocalHeads(heads.clone()));
    let older: Vec<EntryId> = judge(&short).unwrap().heads().iter().copied().collect();
    assert!(judge_in(&file(&STORY), 100, &older).is_ok() && judge_in(&file(&STORY), 100, &heads).is_ok());
}

#[test]
fn trn_45_no_serial_is_decided_twice() {
    let [one, other] = [("certificate_days", "20"), ("request_hours", "5")]
        .map(|(field, value)| Decision::change(field, value));
    let with = |ballot| {
        let mut both = STORY.clone();
        for entry in [decide(&STORY, &one, 0, [0, 1]), decide(&STORY, &other, ballot, [1, 2])] {
            both.append(&entry).unwrap();
        }
        let flaw = judge(&file(&both)).err().unwrap();
        let Wrong::PeerContradictions(found) = flaw.wrong else { panic!("{:?}", flaw.wrong) };
        assert_eq!(flaw.blame, Blame::Voters(vec![WORLD.founders[1].member()]));
        assert_eq!((found.len(), found[0].serial, found[0].entries.len()), (1, 0, 2));
        found[0].one_ballot
    };
    assert_eq!((with(0), with(1)), (true, false));
}

#[test]
fn the_first_entry_is_the_charter_at_hand() {
    let other = World {
        signed: folkmoot_identity::SignedCharter::sign(
            &String::from_utf8_lossy(WORLD.charter().bytes()).replace("threshold = 2", "threshold = 1"),
            &WORLD.founders.iter().collect::<Vec<_>>(),
        )
        .unwrap(),
        ..World::new()
    };
    let foreign = Transcript::genesis(other.signed.der()).unwrap();
    let flaw = judge(&file(&foreign)).err().unwrap();
    assert_eq!((flaw.wrong, flaw.number), (EntryError::WireOtherGroup(foreign.group()).into(), None));
    let flaw = judge(&Transcript::file_of(
        STORY.group(),
        &[Entry::genesis(STORY.group(), other.signed.der()).encode()],
    ));
    assert_eq!(flaw.err().unwrap().wrong, EntryError::WireOtherGenesis.into());
    let flaw = judge(&Transcript::file_of(STORY.group(), &entries()[1..]));
    assert_eq!(flaw.err().unwrap().wrong, EntryError::WireOtherGenesis.into());
}

#[test]
fn every_flipped_byte_of_a_file_is_refused() {
    let whole = file(&STORY);
    for place in (0..whole.len()).step_by(3) {
        let mut bad = whole.clone();
        bad[place] ^= 1 << (place % 8);
        assert!(judge(&bad).is_err(), "byte {place}");
    }
}

#[test]
fn rules_have_the_number_that_the_text_has() {
    let mut bad = entries();
    bad[2] = Bytes::from_static(&[9]);
    let (wrong, _) = refused(&bad);
    assert!(wrong.to_string().contains(&format!("({})", wrong.rule())), "{wrong}");
    let few =
        EntryError::PeerCertificate(folkmoot_identity::CertificateError::PeerTooFewVotes { got: 1, need: 2 });
    assert_eq!((few.rule(), few.is_authors()), ("TRN-11".to_owned(), true));
    assert!(few.to_string().contains("(TRN-11)"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_entries_come_out_of_a_file_as_they_went_in(
        group in any::<[u8; 32]>(),
        entries in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..20),
        piece in 1..300_usize,
    ) {
        let entries: Vec<Bytes> = entries.into_iter().map(Bytes::from).collect();
        let file = Transcript::file_of(GroupId(group), &entries);
        prop_assert_eq!(Transcript::entries_of(&file), Ok((GroupId(group), entries.clone())));
        let mut reader = FileReader::default();
        let mut read = Vec::new();
        for piece in file.chunks(piece) {
            reader.push(piece);
            while let Some(entry) = reader.next_entry().unwrap() {
                read.push(entry);
            }
        }
        prop_assert_eq!(reader.finish(), Ok(()));
        prop_assert_eq!(read, entries);
    }

    #[test]
    fn whatever_the_pieces_the_verdict_is_one(piece in 1..5_000_usize, place in any::<proptest::sample::Index>()) {
        let mut whole = file(&STORY);
        prop_assert!(judge_in(&whole, piece, &[]).is_ok());
        let place = place.index(whole.len());
        whole[place] ^= 0x10;
        let (one, other) = (judge_in(&whole, piece, &[]).err(), judge(&whole).err());
        prop_assert!(one.is_some());
        prop_assert_eq!(one.map(|flaw| flaw.wrong.rule()), other.map(|flaw| flaw.wrong.rule()));
    }

    #[test]
    fn any_bytes_are_a_file_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let framed = [FILE_LABEL, &bytes[..]].concat();
        for bytes in [&bytes, &framed] {
            match Transcript::entries_of(bytes) {
                Ok((group, entries)) => prop_assert_eq!(&Transcript::file_of(group, &entries), bytes),
                Err(why) => prop_assert!(why.to_string().contains("(TRN-")),
            }
            prop_assert!(judge(bytes).is_err());
        }
    }
}
