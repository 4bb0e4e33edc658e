//! What was granted before an expulsion admits nobody after it: by whichever certificate, whoever
//! hands it over, and in whatever order items come.

use super::program::Program;
use super::{Group, NOW, person, remove};
use folkmoot_identity::{GmcBody, Identity};
use folkmoot_transcript::{Item, ItemError, Transcript, Uncounted};
use std::collections::BTreeSet;

/// Three founders; somebody is admitted, renewed, and expelled.
struct Expelled {
    group: Group,
    gone: Identity,
    /// As it was when it was a member.
    before: Transcript,
    /// The certificates that it was a member by, and one that it had kept for later.
    certificates: [Item; 3],
}

fn asks(group: &Group, who: &Identity, nonce: u8) -> GmcBody {
    let mut body = group.request(who);
    body.membership.nonce = [nonce; 16];
    body
}

fn expelled() -> Expelled {
    let mut group = Group::new(3, 2);
    let gone = person(10);
    let certificates = [1, 2, 3].map(|nonce| group.admit(&gone, &asks(&group, &gone, nonce), &[0, 1]));
    group.all_take(&certificates[0]);
    group.all_take(&certificates[1]);
    let before = group.first().clone();
    group.pass(&remove(gone.member()), &[0, 1]);
    assert!(!group.first().roster().is_member(&gone.member()));
    Expelled { group, gone, before, certificates }
}

/// A disk that lost the end of what was written, wherever: whoever it takes for no member any more
/// it knows as a former one.
#[test]
fn who_was_expelled_is_remembered_wherever_the_write_breaks_off() {
    let Expelled { group, gone, before, .. } = expelled();
    let mut program = Program::new(&before);
    let items = before.lacking(program.transcript.state().head(), &BTreeSet::new(), usize::MAX);
    let last = group.first().lacking(before.state().head(), &before.have(), usize::MAX);
    let mut seen = BTreeSet::new();
    for item in items.into_iter().chain(last) {
        let taken = program.transcript.take(&item, Some(NOW)).unwrap();
        for write in program.kept.after(&program.transcript, &item, &taken) {
            program.write(write);
            let restored = program.restarted();
            let (roster, came) = (restored.roster(), restored.state().removed_at(&gone.member()) > 0);
            seen.insert((roster.is_member(&gone.member()), roster.former(&gone.member()).is_some()));
            assert!(!came || roster.former(&gone.member()).is_some());
        }
    }
    assert_eq!(seen, [(false, true), (true, false)].into());
}

#[test]
fn line_22_no_certificate_from_before_brings_anybody_back() {
    let Expelled { group, gone, certificates, .. } = expelled();
    let mut transcript = group.first().clone();
    let why = |item: &Item| match transcript.check_admit(&item.encode()).unwrap_err() {
        ItemError::Late(why) => why,
        other => panic!("{other:?}"),
    };
    for item in &certificates[..2] {
        assert_eq!(why(item), Uncounted::Used, "a decision held it");
    }
    assert_eq!(why(&certificates[2]), Uncounted::Removed(gone.member()));
    for item in &certificates {
        assert!(transcript.take(&item.encode(), Some(NOW)).unwrap().came.is_empty());
    }
    assert!(!transcript.roster().is_member(&gone.member()));
}

/// Whoever knows nothing of the expulsion is told by anyone, and agrees.
#[test]
fn line_22_whoever_was_away_agrees_once_it_hears() {
    let Expelled { group, gone, mut before, certificates } = expelled();
    let kept = before.take(&certificates[2].encode(), Some(NOW)).unwrap();
    assert!(kept.new && before.roster().is_member(&gone.member()));
    for item in group.first().lacking(before.state().head(), &before.have(), 1_000_000) {
        before.take(&item, Some(NOW)).unwrap();
    }
    assert!(!before.roster().is_member(&gone.member()));
    let mut other = group.first().clone();
    other.take(&certificates[2].encode(), Some(NOW)).unwrap();
    assert_eq!(other.mark(), before.mark(), "one has it from before, the other from after");
    assert!(!other.roster().is_member(&gone.member()));
}

#[test]
fn line_22_approved_anew_it_comes_back_until_it_is_expelled_again() {
    let Expelled { mut group, gone, .. } = expelled();
    let again = group.admit(&gone, &asks(&group, &gone, 4), &[0, 1]);
    let kept = group.admit(&gone, &asks(&group, &gone, 5), &[0, 1]);
    assert_eq!(group.all_take(&again).came, [gone.member()].into());
    group.pass(&remove(gone.member()), &[0, 1]);
    let removed = Uncounted::Removed(gone.member());
    assert_eq!(group.first().check_admit(&kept.encode()), Err(ItemError::Late(removed)));
    let third = group.admit(&gone, &asks(&group, &gone, 6), &[0, 1]);
    assert_eq!(group.first().check_admit(&third.encode()), Ok(()));
}

/// Its own vote, and that of whoever was expelled with it, admits nobody.
#[test]
fn line_11_an_expelled_voters_vote_admits_nobody() {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let item = group.admit(&stranger, &group.request(&stranger), &[0, 2]);
    group.pass(&remove(group.id(2)), &[0, 1]);
    assert!(group.all_take(&item).came.is_empty());
    assert!(group.tried(&stranger, &[0, 2]).is_err(), "nor by a vote that it signs now");
    let one_more = group.admit(&stranger, &group.request(&stranger), &[1]);
    let both = group.admit(&stranger, &group.request(&stranger), &[0]);
    group.all_take(&one_more);
    assert_eq!(group.all_take(&both).came, [stranger.member()].into());
}
