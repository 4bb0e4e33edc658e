//! What waits for the clock: terms that have not begun, and approvals that end too far ahead.

use super::file::{charter, read};
use super::program::without;
use super::{Group, NOW, draft, field, person};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::{CharterDraft, Gmc, GmcBody, Identity, Policies, Policy, Verdict, VoteProof};
use folkmoot_signing::Signature;
use folkmoot_transcript::{
    Approval, Change, Effect, Item, LIFE_SECONDS, SKEW_SECONDS, SignedApproval, Taken, Transcript, admission,
};

const DAY: u64 = 86_400;
const FIFTY_YEARS: u64 = 50 * 365 * DAY;
/// An approval that ends later than this waits.
const FAR: UnixTime = UnixTime(NOW.0 + LIFE_SECONDS + DAY);

fn group(decided: bool) -> Group {
    let mut group = Group::new(3, 2);
    if decided {
        group.pass(&field("letters", "true"), &[0, 1]);
    }
    group
}

/// A request whose term begins then.
fn begins(group: &Group, stranger: &Identity, time: UnixTime) -> GmcBody {
    GmcBody { not_before: time, not_after: later(time, 300 * DAY), ..group.request(stranger) }
}

/// An approval of this founder with this end.
fn ends(group: &Group, who: usize, body: &GmcBody, expires: UnixTime) -> SignedApproval {
    let subject = admission(body.request_digest().unwrap());
    let approval = group.approval(who, subject, 0, Verdict::Approve).approval;
    let key = group.people[who].key();
    SignedApproval::sign(key, group.first().group(), Approval { expires, ..approval })
}

/// The certificate with votes of two founders that end then.
fn certificate(group: &Group, stranger: &Identity, body: &GmcBody, expires: UnixTime) -> Item {
    let votes = [0, 1].map(|who| {
        let SignedApproval { approval, signature } = ends(group, who, body, expires);
        let Approval { voter, base, turn, expires, .. } = approval;
        VoteProof { voter, base, turn, expires, signature: Signature::from_wire(&signature).unwrap() }
    });
    let gmc = Gmc::compose(body, &votes, stranger).unwrap();
    Item::Admit { certificate: gmc.der().to_vec().into(), approvals: Vec::new() }
}

/// A transcript of the group that has taken this by this clock.
fn taken(group: &Group, item: &Item, clock: Option<UnixTime>, danger: Option<Danger>) -> (Transcript, Taken) {
    let mut transcript = without(group.first(), danger);
    let taken = transcript.take(&item.encode(), clock).unwrap();
    (transcript, taken)
}

fn is_in(transcript: &Transcript, stranger: &Identity) -> bool {
    transcript.roster().is_member(&stranger.member())
}

fn later(time: UnixTime, seconds: u64) -> UnixTime {
    UnixTime(time.0 + seconds)
}

/// Behind, right, ahead, and none at all; one that is behind the last decision by more than a day
/// is none.
#[test]
fn line_36_a_term_that_has_not_begun_waits_outside_the_set() {
    for decided in [false, true] {
        let group = group(decided);
        let stranger = person(10);
        let body = begins(&group, &stranger, later(NOW, 3_600));
        let item = certificate(&group, &stranger, &body, later(NOW, 30 * DAY));
        let begun = later(NOW, 3_600 - SKEW_SECONDS);
        for (clock, counts) in [
            (Some(UnixTime(begun.0 - 1)), false),
            (Some(begun), true),
            (Some(later(NOW, 20 * DAY)), true),
            (Some(UnixTime(NOW.0 - DAY)), false),
            (Some(UnixTime(NOW.0 - DAY - 1)), decided),
            (None, true),
        ] {
            let (mut transcript, taken) = taken(&group, &item, clock, None);
            assert_eq!((taken.new, is_in(&transcript, &stranger)), (counts, counts), "{clock:?} {decided}");
            assert_eq!(transcript.waiting(), usize::from(!counts));
            let asked = clock.is_some();
            assert_eq!(transcript.mark() == group.first().mark(), !counts, "no part of the set");
            if counts || !asked {
                continue;
            }
            assert!(transcript.due(UnixTime(begun.0 - 1)).is_empty());
            let came = transcript.hear_clock(begun);
            assert_eq!((came.new, came.came, transcript.waiting()), (true, [stranger.member()].into(), 0));
        }
    }
}

/// A list admits without a vote: so a stranger on it chooses its own term.
#[test]
fn line_36_nobody_comes_in_by_a_term_that_begins_in_fifty_years() {
    let stranger = person(10);
    let policies = Policies { policy: Policy::List, list: [stranger.member()].into(), ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(3, 2) });
    let body = begins(&group, &stranger, later(NOW, FIFTY_YEARS));
    let item = group.admit(&stranger, &body, &[]);
    for danger in [None, Some(Danger::LineBeginsLater)] {
        let (transcript, _) = taken(&group, &item, Some(NOW), danger);
        assert_eq!(is_in(&transcript, &stranger), danger.is_some());
    }
    // Nor does a decision hold it, where no clock has held it back.
    for transcript in &mut group.transcripts {
        transcript.take(&item.encode(), None).unwrap();
    }
    group.approve(&field("letters", "true"), &[0, 1]);
    group.decide(&[0, 1, 2]);
    let (state, request) = (group.first().state(), body.request_digest().unwrap());
    assert!(state.head().number == 1 && !state.is_used(&request));
}

#[test]
fn line_37_a_term_that_a_wrong_clock_has_let_in_waits_again() {
    for decided in [false, true] {
        let group = group(decided);
        let stranger = person(10);
        let body = begins(&group, &stranger, later(NOW, 20 * DAY));
        let item = certificate(&group, &stranger, &body, later(NOW, 30 * DAY));
        for danger in [None, Some(Danger::LineNeverAsksAgain)] {
            let (mut transcript, _) = taken(&group, &item, Some(later(NOW, 20 * DAY)), danger);
            assert!(is_in(&transcript, &stranger));
            let asked = transcript.ask_again(NOW);
            assert_eq!(asked.went.contains(&stranger.member()), danger.is_none());
            assert_eq!(is_in(&transcript, &stranger), danger.is_some());
            if danger.is_none() {
                assert_eq!(transcript.waiting(), 1);
                assert!(transcript.hear_clock(later(NOW, 20 * DAY)).came.contains(&stranger.member()));
            }
            // What the clock is past stays.
            let mark = transcript.mark();
            assert_eq!(transcript.ask_again(later(NOW, 20 * DAY)), Taken::default());
            assert_eq!(transcript.mark(), mark);
        }
    }
}

/// Programs sign for ninety days at most. Whoever lies signs for fifty years, and is heard then.
#[test]
fn line_36_an_approval_that_ends_too_far_ahead_waits_outside_the_set() {
    for decided in [false, true] {
        let group = group(decided);
        let stranger = person(10);
        let body = begins(&group, &stranger, NOW);
        for (end, clock, counts) in [
            (FAR, Some(NOW), true),
            (later(FAR, 1), Some(NOW), false),
            (later(FAR, 1), Some(later(NOW, 1)), true),
            (later(NOW, FIFTY_YEARS), Some(NOW), false),
            (later(NOW, FIFTY_YEARS), None, true),
        ] {
            let item = certificate(&group, &stranger, &body, end);
            let (mut transcript, _) = taken(&group, &item, clock, None);
            assert_eq!(is_in(&transcript, &stranger), counts, "{end} {clock:?}");
            let subject = admission(body.request_digest().unwrap());
            assert!(transcript.set().admit(&subject.digest).is_some(), "the admission is there");
            assert_eq!(transcript.set().approvals_of(subject).count(), 2 * usize::from(counts));
            let Some(clock) = clock.filter(|_| !counts) else { continue };
            assert_eq!(transcript.waiting(), 2);
            let near = later(clock, end.0 - FAR.0);
            assert!(transcript.due(UnixTime(near.0 - 1)).is_empty());
            let came = transcript.hear_clock(near);
            // After fifty years the term is over.
            assert_eq!(came.came.contains(&stranger.member()), end == later(FAR, 1));
            assert_eq!(transcript.waiting(), 0);
        }
    }
}

/// Ninety-one days after the last decision are as good, for a clock that is behind it.
#[test]
fn line_36_an_approval_is_near_by_the_clock_or_by_the_last_decision() {
    let group = group(true);
    let effect: Effect = Change::Remove { member: group.id(2) }.into();
    let time = group.first().state().time();
    for (end, behind, waits) in [(0, DAY, false), (1, DAY, true), (0, DAY + 1, false), (1, DAY + 1, false)] {
        let approval = group.approval(0, effect.subject(), 0, Verdict::Approve).approval;
        let expires = UnixTime(time.0 + LIFE_SECONDS + DAY + end);
        let signed = SignedApproval::sign(
            group.people[0].key(),
            group.first().group(),
            Approval { expires, ..approval },
        );
        let clock = Some(UnixTime(time.0 - behind));
        let (transcript, _) = taken(&group, &Item::Approval(signed), clock, None);
        assert_eq!(transcript.waiting(), usize::from(waits), "{end} {behind}");
    }
}

#[test]
fn line_37_an_approval_that_a_wrong_clock_has_let_in_waits_again() {
    for decided in [false, true] {
        let group = group(decided);
        let stranger = person(10);
        let body = begins(&group, &stranger, NOW);
        let ahead = later(NOW, 20 * DAY);
        let item = certificate(&group, &stranger, &body, later(FAR, 20 * DAY));
        for danger in [None, Some(Danger::LineNeverAsksAgain)] {
            let (mut transcript, _) = taken(&group, &item, Some(ahead), danger);
            assert!(is_in(&transcript, &stranger));
            transcript.ask_again(NOW);
            assert_eq!(is_in(&transcript, &stranger), danger.is_some());
            transcript.hear_clock(ahead);
            assert!(is_in(&transcript, &stranger));
        }
    }
}

/// What waits is shown to nobody: whoever takes it asks its own clock.
#[test]
fn line_36_what_waits_is_neither_shown_nor_filed() {
    let group = group(false);
    let stranger = person(10);
    let early =
        certificate(&group, &stranger, &begins(&group, &stranger, later(NOW, DAY)), later(NOW, 30 * DAY));
    let far = certificate(&group, &stranger, &begins(&group, &stranger, NOW), later(FAR, 1));
    for (item, shown) in [(early, 0), (far, 1)] {
        let (transcript, _) = taken(&group, &item, Some(NOW), None);
        let head = transcript.state().head();
        assert_eq!(transcript.lacking(head, &Default::default(), usize::MAX).len(), shown);
        assert_eq!(transcript.have().len(), shown);
        let read = read(&charter(&group), Vec::new(), &transcript.file(), 999).unwrap();
        // The certificate proves its votes to a reader, whose clock nobody has asked yet.
        assert_eq!(is_in(&read, &stranger), shown == 1);
        let mut asked = read;
        asked.ask_again(NOW);
        assert!(!is_in(&asked, &stranger));
    }
}

#[test]
fn line_36_so_much_waits_and_no_more() {
    let group = group(false);
    let stranger = person(10);
    let mut transcript = group.first().clone();
    let mut body = begins(&group, &stranger, later(NOW, DAY));
    for number in 0..300_u128 {
        body.membership.nonce = number.to_be_bytes();
        transcript.take(&group.admit(&stranger, &body, &[]).encode(), Some(NOW)).unwrap();
    }
    assert_eq!(transcript.waiting(), 256);
    for number in 0..1_100_u64 {
        let effect = field("request_hours", &number.to_string());
        let approval = group.approval(0, effect.subject(), 0, Verdict::Approve).approval;
        let approval = Approval { expires: later(FAR, 1), ..approval };
        let signed = SignedApproval::sign(group.people[0].key(), group.first().group(), approval);
        transcript.take(&Item::Approval(signed).encode(), Some(NOW)).unwrap();
    }
    assert_eq!(transcript.waiting(), 256 + 1_024);
    assert_eq!(transcript.mark(), group.first().mark());
}

/// Its clock is an hour behind: it goes along with the others, and does not ask them for an hour.
#[test]
fn line_06_a_decision_brings_in_what_waits_for_the_clock() {
    for far in [false, true] {
        let mut group = group(false);
        let stranger = person(10);
        let body = begins(&group, &stranger, NOW);
        let item = certificate(&group, &stranger, &body, if far { FAR } else { later(NOW, 30 * DAY) });
        let slow = Some(UnixTime(NOW.0 - 3_600));
        let (mut behind, _) = taken(&group, &item, slow, None);
        assert!(behind.waiting() > 0 && !is_in(&behind, &stranger));
        group.all_take(&item);
        group.approve(&field("letters", "true"), &[0, 1]);
        let decision = group.decide(&[0, 1, 2]).remove(0);
        let taken = behind.take(&decision.encode(), slow).unwrap();
        assert!(taken.advanced && is_in(&behind, &stranger));
        assert_eq!(behind.state().digest(), group.first().state().digest());
    }
}

/// It is taken again once its base is decided, and its votes go on waiting.
#[test]
fn line_36_what_comes_before_its_base_waits_as_well() {
    let mut group = group(true);
    group.approve(&field("letters", "false"), &[0, 1]);
    let mut behind = group.first().clone();
    let decision = group.decide(&[0, 1, 2]).remove(0);
    let stranger = person(10);
    let body = begins(&group, &stranger, NOW);
    for (end, counts) in [(FAR, true), (later(FAR, 1), false)] {
        let mut behind = behind.clone();
        let item = certificate(&group, &stranger, &body, end);
        assert!(behind.take(&item.encode(), Some(NOW)).unwrap().came.is_empty());
        behind.take(&decision.encode(), Some(NOW)).unwrap();
        assert_eq!(is_in(&behind, &stranger), counts, "{end}");
    }
    behind.take(&decision.encode(), Some(NOW)).unwrap();
    assert_eq!(behind.mark(), group.first().mark());
}

/// Somebody has decided by approvals that wait here: they are as good as any for that.
#[test]
fn line_36_an_approval_that_waits_vouches_for_what_is_decided() {
    let mut group = group(true);
    let stranger = person(10);
    let body = begins(&group, &stranger, NOW);
    let item = group.admit(&stranger, &body, &[]);
    let beside = [0, 1].map(|who| Item::Approval(ends(&group, who, &body, later(FAR, 1))));
    group.all_take(&item);
    let mut behind = group.first().clone();
    for approval in &beside {
        behind.take(&approval.encode(), Some(NOW)).unwrap();
        group.transcripts.iter_mut().for_each(|one| drop(one.take(&approval.encode(), None).unwrap()));
    }
    assert!(behind.waiting() == 2 && !is_in(&behind, &stranger));
    group.approve(&field("letters", "false"), &[0, 1]);
    let decision = group.decide(&[0, 1, 2]).remove(0);
    assert!(behind.take(&decision.encode(), Some(NOW)).unwrap().advanced);
    assert_eq!(behind.state().digest(), group.first().state().digest());
    assert!(is_in(&behind, &stranger));
}
