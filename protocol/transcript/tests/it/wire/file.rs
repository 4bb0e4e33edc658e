//! A transcript as a file, and what a tamperer does to one.

use super::catch_up::busy;
use super::{Group, person, remove};
use folkmoot_base::Head;
use folkmoot_transcript::{
    Change, Effect, FILE_LABEL, FileError, FileReader, ItemError, ROTATE_LABEL, Transcript, Unproposed,
};

pub(super) fn read(
    charter: &[u8],
    heads: Vec<Head>,
    file: &[u8],
    piece: usize,
) -> Result<Transcript, FileError> {
    let mut reader = FileReader::new(charter, heads);
    file.chunks(piece).try_for_each(|piece| reader.push(piece))?;
    reader.finish()
}

pub(super) fn charter(group: &Group) -> Vec<u8> {
    group.first().signed_charter().der().to_vec()
}

/// Kind, first byte and length of each section.
pub(super) fn sections(file: &[u8]) -> Vec<(u8, usize, usize)> {
    let (mut at, mut all) = (FILE_LABEL.len(), Vec::new());
    while at < file.len() {
        let length = u32::from_be_bytes(file[at + 1..at + 5].try_into().unwrap()) as usize;
        all.push((file[at], at, 5 + length));
        at += 5 + length;
    }
    all
}

#[test]
fn a_file_says_all_that_a_member_has() {
    let group = busy();
    let file = group.first().file();
    for piece in [1, 7, 1_000, file.len()] {
        let read = read(&charter(&group), vec![group.first().state().head()], &file, piece).unwrap();
        assert_eq!(read.mark(), group.first().mark());
        assert_eq!(read.state().digest(), group.first().state().digest());
        assert_eq!(read.file(), file);
    }
    let young = Group::new(2, 1);
    let file = young.first().file();
    assert_eq!(read(&charter(&young), Vec::new(), &file, 100).unwrap().mark(), young.first().mark());
}

/// What gave somebody another key is approved still, but nobody has the old key any more.
#[test]
fn a_file_with_another_key_for_somebody_reads_back() {
    for expelled in [false, true] {
        let mut group = Group::new(4, 2);
        let (new, old) = (person(10), group.id(3));
        let body = group.request(&new);
        group.all_take(&group.admit(&new, &body, &[]));
        let request = body.request_digest().unwrap();
        let covered = [&group.first().group().0[..], &request].concat();
        let signature = group.people[3].key().sign_wire(ROTATE_LABEL, &covered);
        let rotate: Effect = Change::Rotate { member: old, request, signature }.into();
        group.approve(&rotate, &[0, if expelled { 0 } else { 1 }]);
        if expelled {
            group.approve(&remove(old), &[0, 1]);
        }
        group.decide(&[0, 1, 2]);
        assert!(!group.first().state().roster().contains_key(&old));
        assert_eq!(group.first().set().effect(&rotate.subject()), None);
        let file = group.first().file();
        let read = read(&charter(&group), Vec::new(), &file, 9_999).unwrap();
        assert_eq!(read.mark(), group.first().mark());
    }
}

#[test]
fn line_82_a_file_cut_short_or_with_more_behind_it_is_refused() {
    let group = busy();
    let file = group.first().file();
    for length in (0..file.len()).step_by(13) {
        assert_eq!(read(&charter(&group), Vec::new(), &file[..length], 999).unwrap_err(), FileError::Short);
    }
    let more = [&file[..], &[0]].concat();
    assert_eq!(read(&charter(&group), Vec::new(), &more, 999).unwrap_err(), FileError::AfterEnd);
}

#[test]
fn every_changed_bit_is_refused_or_leaves_out_what_nothing_proves() {
    let group = busy();
    let file = group.first().file();
    let (charter, members) = (charter(&group), group.first().set().members(group.first().state()));
    for at in (0..file.len()).step_by(3) {
        let mut bad = file.clone();
        bad[at] ^= 1 << (at % 8);
        if let Ok(read) = read(&charter, Vec::new(), &bad, file.len()) {
            // A vote that does not verify says nothing: nobody comes in by it.
            assert!(read.set().members(read.state()).keys().all(|one| members.contains_key(one)), "{at}");
            assert_eq!(read.state().head(), group.first().state().head());
        }
    }
}

#[test]
fn line_80_another_groups_file_or_noise_is_refused() {
    let group = busy();
    let other = Group::new(2, 2);
    let file = group.first().file();
    assert_eq!(read(&charter(&other), Vec::new(), &file, 99).unwrap_err(), FileError::Charter);
    for noise in [vec![0; 100_000], vec![0xff; 100_000]] {
        assert_eq!(read(&charter(&group), Vec::new(), &noise, 99).unwrap_err(), FileError::Label);
    }
    // Nothing is kept for a length that no section has.
    let long = [FILE_LABEL, &[1, 0xff, 0xff, 0xff, 0xff]].concat();
    let refused = read(&charter(&group), Vec::new(), &long, 99).unwrap_err();
    assert_eq!(refused, FileError::TooLong { section: 0, length: 0xffff_ffff });
    let odd = [FILE_LABEL, &[9, 0, 0, 0, 0]].concat();
    let refused = read(&charter(&group), Vec::new(), &odd, 99).unwrap_err();
    assert_eq!(refused, FileError::Kind { section: 0, kind: 9 });
}

#[test]
fn line_81_sections_stand_in_their_order() {
    let group = busy();
    let file = group.first().file();
    let parts = sections(&file);
    assert_eq!(parts.first().unwrap().0, 1);
    for swap in 0..parts.len() - 1 {
        let [(kind, at, length), (next, from, size)] = [parts[swap], parts[swap + 1]];
        if kind == next {
            continue;
        }
        let mut swapped = file[..at].to_vec();
        swapped.extend(&file[from..from + size]);
        swapped.extend(&file[at..at + length]);
        swapped.extend(&file[from + size..]);
        assert!(read(&charter(&group), Vec::new(), &swapped, 9_999).is_err(), "section {swap}");
    }
    // The state without the decision that it follows, and the decision without its state.
    for leave_out in [3, 4] {
        let (_, at, length) = *parts.iter().find(|part| part.0 == leave_out).unwrap();
        let cut = [&file[..at], &file[at + length..]].concat();
        assert!(read(&charter(&group), Vec::new(), &cut, 9_999).is_err(), "kind {leave_out}");
    }
}

#[test]
fn line_81_a_decision_is_no_item_of_the_set() {
    let mut group = busy();
    let older = group.first().file();
    let effect = remove(person(12).member());
    group.approve(&effect, &[0, 1]);
    let stood = group.decide(&[0, 1]).remove(0).encode();
    let parts = sections(&older);
    let (_, at, _) = *parts.iter().find(|part| part.0 == 6).unwrap();
    let section = [&[5][..], &u32::try_from(stood.len()).unwrap().to_be_bytes(), &stood].concat();
    let more = [&older[..at], &section, &older[at..]].concat();
    let refused = read(&charter(&group), Vec::new(), &more, 9_999).unwrap_err();
    assert!(matches!(refused, FileError::Item { why: ItemError::NotOfSet, .. }), "{refused:?}");
}

#[test]
fn line_71_the_state_is_the_one_that_the_last_decision_names() {
    let group = busy();
    let file = group.first().file();
    let (_, at, _) = *sections(&file).iter().find(|part| part.0 == 4).unwrap();
    let mut bad = file.clone();
    // The last byte of the time.
    bad[at + 5 + 1 + 32 + 8 + 7] ^= 1;
    let refused = read(&charter(&group), Vec::new(), &bad, 9_999).unwrap_err();
    let FileError::Item { why: ItemError::Decision(Unproposed::State), .. } = refused else {
        panic!("{refused:?}")
    };
}

/// A file of handovers that nobody signed is refused at the first, however long it is.
#[test]
fn line_70_a_handover_is_verified_before_it_is_kept() {
    let mut group = busy();
    let effect = remove(person(12).member());
    group.approve(&effect, &[0, 1]);
    group.decide(&[0, 1]);
    let (handovers, _) = group.first().line().handovers_since(0).unwrap();
    let mut forged = handovers.first().unwrap().clone();
    let (other, voter) = (forged.commits[1].signature.clone(), forged.commits[0].voter);
    forged.commits[0].signature = other;
    let mut reader = FileReader::new(&charter(&group), Vec::new());
    let file = group.first().file();
    let (_, at, length) = sections(&file)[0];
    reader.push(&file[..at + length]).unwrap();
    let bytes = folkmoot_base::codec::encode(&forged);
    let head = [&[2][..], &u32::try_from(bytes.len()).unwrap().to_be_bytes()].concat();
    reader.push(&head).unwrap();
    let why = ItemError::Decision(Unproposed::Signature(voter));
    assert_eq!(reader.push(&bytes), Err(FileError::Item { section: 1, why }));
}

/// Every decision is by all three, so each could follow any other.
#[test]
fn line_76_a_file_shows_every_electorate() {
    let mut group = busy();
    let id = |who: usize| group.id(who);
    let orders = [[id(1), id(0)], [id(0), id(1)]].map(|voters| Change::Electorate { voters: voters.into() });
    for order in orders {
        group.approve(&order.into(), &[0, 1]);
        group.decide(&[0, 1]);
    }
    let file = group.first().file();
    let handovers: Vec<_> = sections(&file).into_iter().filter(|part| part.0 == 2).collect();
    assert_eq!(handovers.len(), 2, "the last one is the last decision");
    for (_, at, length) in handovers {
        let cut = [&file[..at], &file[at + length..]].concat();
        let refused = read(&charter(&group), Vec::new(), &cut, 9_999).unwrap_err();
        let FileError::Item { why: ItemError::Decision(why), .. } = refused else { panic!("{refused:?}") };
        assert!(
            matches!(why, Unproposed::Handover | Unproposed::Commits | Unproposed::Signature(_)),
            "{why:?}"
        );
    }
}

#[test]
fn line_83_certificates_are_of_those_whom_the_state_holds() {
    let group = busy();
    let file = group.first().file();
    let parts = sections(&file);
    let end = parts.last().unwrap().1;
    let held = *parts.iter().find(|part| part.0 == 6).unwrap();
    let twice = [&file[..end], &file[held.1..held.1 + held.2], &file[end..]].concat();
    let refused = read(&charter(&group), Vec::new(), &twice, 9_999).unwrap_err();
    assert!(matches!(refused, FileError::Twice { .. }), "{refused:?}");
    // An admission of the set, as if a decision held it.
    let open = *parts.iter().find(|part| part.0 == 5).unwrap();
    let mut section = file[open.1..open.1 + open.2].to_vec();
    section[0] = 6;
    let stray = [&file[..end], &section, &file[end..]].concat();
    let refused = read(&charter(&group), Vec::new(), &stray, 9_999).unwrap_err();
    assert!(matches!(refused, FileError::Item { why: ItemError::NotHeld, .. }), "{refused:?}");
}

#[test]
fn line_84_a_head_that_is_known_from_elsewhere_is_on_the_line() {
    let mut group = busy();
    let older = group.first().clone();
    let known = group.first().state().head();
    let effect = remove(person(12).member());
    group.approve(&effect, &[0, 1]);
    group.decide(&[0, 1]);
    let newer = group.first().state().head();
    assert_eq!(newer.number, known.number + 1);
    let charter = charter(&group);
    assert!(read(&charter, vec![known], &group.first().file(), 9_999).is_ok());
    let refused = read(&charter, vec![newer], &older.file(), 9_999).unwrap_err();
    assert_eq!(refused, FileError::NoHead(newer.into()), "an older file instead of the newest");
}
