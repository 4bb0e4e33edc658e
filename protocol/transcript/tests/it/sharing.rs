//! The group's key: which sharings are taken into use, and what its signature admits.

use crate::group::{Group, START, Seed, draft, elect, field, member, remove};
use folkmoot_base::{Blob, Digest, UnixTime};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Central, CharterDraft, Dealer, GroupKey, Scheme, SigningKey,
};
use folkmoot_signing::shared;
use folkmoot_transcript::{Admit, Change, Effect, Refuted, Uncounted, Unfit, Wrong};

/// Four founders, whose group has a key that an authority deals.
pub fn group() -> Group {
    group_of(Scheme::Frost)
}

fn group_of(scheme: Scheme) -> Group {
    let key = SigningKey::generate(&mut Seed(90 << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new("line", public, UnixTime(START), &mut Seed(91 << 32));
    let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
    let certificate = AuthorityCertificate::close(&body, &signature).unwrap();
    let central = Central { certificate, nodes: [member(15)].into(), dealer: Some(Dealer::Keeps) };
    Group::of(&CharterDraft { scheme, central: Some(central), ..draft(4, 2) })
}

/// Shares of one key, dealt to these people.
pub fn dealt(people: &[usize], threshold: usize, seed: u64) -> Change {
    dealt_by(Scheme::Frost, people, threshold, seed)
}

fn dealt_by(scheme: Scheme, people: &[usize], threshold: usize, seed: u64) -> Change {
    let secret = shared::draw_secret(scheme, &mut Seed(50 << 32)).unwrap();
    let mut holders: Vec<_> = people.iter().map(|person| member(*person)).collect();
    holders.sort_unstable();
    let dealt = shared::deal(scheme, &secret, threshold, &holders, &mut Seed(seed << 32)).unwrap();
    Change::Sharing { public: Blob::from(dealt.public), authority: Blob::default() }
}

/// The first sharing.
pub fn share(group: &mut Group) {
    group.pass(dealt(&[0, 1, 2, 3], 2, 60), &[0, 1, 2]);
}

fn stands(group: &Group, change: &Change) -> Result<(), Unfit> {
    group.state().would_stand(change, false, None)
}

fn epoch(group: &Group) -> Option<Digest> {
    group.state().sharing().map(|sharing| sharing.facts.epoch)
}

fn judged(group: &Group, admit: &Admit) -> Result<(), Uncounted> {
    group.set().judge(group.state(), admit)
}

#[test]
fn line_47_a_sharing_is_the_charters_among_voters() {
    let mut group = group();
    share(&mut group);
    let noise = Change::Sharing { public: Blob::from(vec![1, 2, 3]), authority: Blob::default() };
    for change in [noise, dealt(&[0, 1, 2, 3], 3, 61), dealt(&[0, 1, 2, 5], 2, 61)] {
        assert!(matches!(stands(&group, &change), Err(Unfit::Sharing(_))));
    }
    let Change::Sharing { public, .. } = dealt(&[0, 1, 2, 3], 2, 61) else { panic!() };
    let signed = Change::Sharing { public, authority: Blob::from(vec![1]) };
    assert!(matches!(stands(&group, &signed), Err(Unfit::Sharing(_))), "an authority signs here");
    let now = dealt(&[0, 1, 2, 3], 2, 61);
    group.pass(now.clone(), &[0, 1, 2]);
    assert!(matches!(stands(&group, &now), Err(Unfit::Sharing(_))), "it is the present one");
    assert_eq!(stands(&group, &dealt(&[0, 1, 2], 2, 62)), Ok(()));
}

#[test]
fn line_27_the_groups_key_has_signed_under_its_present_shares() {
    let mut group = group();
    let mut admit = group.ask(5);
    group.welcome(&admit, &[0, 1]);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Epoch), "there is no key yet");
    share(&mut group);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Epoch));
    admit.epochs = epoch(&group).into_iter().collect();
    assert_eq!(judged(&group, &admit), Ok(()));
    group.pass(dealt(&[0, 1, 2], 2, 62), &[0, 1, 2]);
    assert_eq!(judged(&group, &admit), Err(Uncounted::Epoch), "the shares are new");
}

#[test]
fn line_28_nobody_comes_in_while_leavers_could_sign() {
    let mut group = group();
    share(&mut group);
    group.pass(remove(3), &[0, 1, 2]);
    let admit = Admit { epochs: epoch(&group).into_iter().collect(), ..group.ask(5) };
    group.welcome(&admit, &[0, 1]);
    assert_eq!(judged(&group, &admit), Ok(()), "one leaver alone signs nothing");
    group.pass(elect(&[0, 1]), &[0, 1, 2]);
    let stale = Uncounted::SharesStale { leavers: 2, threshold: 2 };
    assert_eq!(judged(&group, &admit), Err(stale));
    group.pass(dealt(&[0, 1], 2, 63), &[0, 1]);
    let admit = Admit { epochs: epoch(&group).into_iter().collect(), ..admit };
    assert_eq!(judged(&group, &admit), Ok(()));
}

/// Approvals of one sharing, kept until the next, bring the first one back to nobody.
#[test]
fn line_13_a_sharing_is_judged_like_any_effect() {
    for danger in [None, Some(folkmoot_base::Danger::LineNoStamps)] {
        let mut group = group().without(danger);
        share(&mut group);
        let old = Effect::from(dealt(&[0, 1, 2, 3], 2, 64));
        let kept = group.approved(&old, &[0, 1, 2]);
        group.pass(dealt(&[0, 1, 2], 2, 65), &[0, 1, 2]);
        let batch = folkmoot_transcript::Batch { effects: vec![kept], ..group.batch() };
        let decision = group.decide(batch);
        if danger.is_some() {
            assert!(decision.is_ok());
        } else {
            assert!(matches!(
                decision,
                Err(Wrong::Effect { why: Refuted::Uncounted(Uncounted::BeforeStamp(_)), .. })
            ));
        }
        assert!(group.decision(old, &[0, 1, 2]).is_ok(), "approved anew it stands");
        assert!(group.decision(field("request_hours", "24"), &[0, 1, 2]).is_ok());
    }
}

/// Two of four are the threshold, and a quorum with the first place. If two could decide, the old
/// shares would be erased for new ones that sign nothing if the others never got theirs, or if one
/// of the two lied about its own. So as many as sign must have stored theirs, and a margin, but no
/// more than there are holders; and those who hold none do not count.
#[test]
fn line_40_a_sharing_is_decided_by_as_many_as_sign_and_a_margin() {
    let refuses = |group: &Group, change: &Change, yes: &[usize], need| {
        let why = Refuted::Uncounted(Uncounted::TooFew { got: yes.len(), need });
        matches!(group.decision(change.clone(), yes), Err(Wrong::Effect { why: said, .. }) if said == why)
    };
    for (scheme, need) in [(Scheme::TsDsa, 4), (Scheme::Frost, 3)] {
        let group = group_of(scheme);
        let change = dealt_by(scheme, &[0, 1, 2, 3], 2, 60);
        assert!(refuses(&group, &change, &[0, 1, 2][..need - 1], need));
        assert!(group.decision(change, &[0, 1, 2, 3][..need]).is_ok());
        let three = dealt_by(scheme, &[0, 1, 2], 2, 61);
        assert!(group.decision(three.clone(), &[0, 1, 2]).is_ok(), "all that there are");
        let few = group.decision(three.clone(), &[0, 1, 3]);
        let why = Refuted::Uncounted(Uncounted::TooFew { got: 2, need: 3 });
        assert!(matches!(few, Err(Wrong::Effect { why: said, .. }) if said == why), "one of them holds none");
        // Without the rule it stands, and one who lied ends the group.
        let group = group.without(Some(folkmoot_base::Danger::LineFewKeepers));
        assert!(group.decision(three, &[0, 1, 3]).is_ok());
    }
}

fn rotate(new: &Admit) -> Change {
    Change::Rotate { member: member(3), request: new.request, signature: crate::group::signature() }
}

/// Where an authority, or the group's key, signs certificates, a vote alone gives nobody a key.
#[test]
fn line_92_whoever_signs_certificates_has_signed_that_of_a_new_key() {
    for danger in [None, Some(folkmoot_base::Danger::LineUnsignedKey)] {
        let mut group = group().without(danger);
        share(&mut group);
        let bare = group.ask(5);
        let stands = |group: &Group, new: &Admit| group.state().would_stand(&rotate(new), false, Some(new));
        assert_eq!(stands(&group, &bare), if danger.is_some() { Ok(()) } else { Err(Unfit::Unsigned) });
        if danger.is_some() {
            group.take_admit(&bare);
            group.pass(rotate(&bare), &[0, 1, 2]);
            assert!(group.is_member(5), "the rule is off, and votes alone do it");
            continue;
        }
        let signed = Admit { issued: Some([5; 16]), ..bare.clone() };
        assert_eq!(stands(&group, &signed), Err(Unfit::Unsigned), "not by the group's key");
        let old = Admit { epochs: [[9; 32]].into(), ..signed.clone() };
        assert_eq!(stands(&group, &old), Err(Unfit::Unsigned), "under other shares");
        let good = Admit { epochs: epoch(&group).into_iter().collect(), ..signed };
        assert_eq!(stands(&group, &good), Ok(()));
        group.take_admit(&good);
        assert!(!group.is_member(5), "the certificate admits nobody by itself");
        group.pass(rotate(&good), &[0, 1, 2]);
        assert!(group.is_member(5) && !group.is_member(3));
        // Its share is for the next sharing to leave out.
        assert_eq!(group.state().leavers_with_shares(), [member(3)]);
    }
}

/// Two hold shares and both sign. If one of them had another key, one share would be left, and
/// nobody could make new ones of it.
#[test]
fn line_91_nobody_has_another_key_if_the_groups_key_went_with_it() {
    let key = SigningKey::generate(&mut Seed(90 << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new("line", public, UnixTime(START), &mut Seed(91 << 32));
    let certificate =
        AuthorityCertificate::close(&body, &key.sign_raw(&body.tbs().unwrap()).to_paper()).unwrap();
    let of = |dealer| {
        let central =
            Central { certificate: certificate.clone(), nodes: [member(15)].into(), dealer: Some(dealer) };
        let mut group =
            Group::of(&CharterDraft { scheme: Scheme::Frost, central: Some(central), ..draft(4, 2) });
        group.pass(dealt(&[0, 1, 3], 2, 60), &[0, 1, 2, 3]);
        group
    };
    let may = |group: &Group| group.state().may_rotate(&member(3));
    let mut group = of(Dealer::SetupOnly);
    assert_eq!(may(&group), Ok(()), "two are left");
    group.pass(elect(&[0, 2, 3]), &[0, 1, 2]);
    assert!(matches!(may(&group), Err(Unfit::Rotation(_))), "one is left");
    assert_eq!(group.state().may_rotate(&member(2)), Ok(()), "whoever has no share takes none away");
    let careless = group.another().without(Some(folkmoot_base::Danger::LineLosesShares));
    assert_eq!(may(&careless), Ok(()));
    let mut dealers = of(Dealer::Keeps);
    dealers.pass(elect(&[0, 2, 3]), &[0, 1, 2]);
    assert_eq!(may(&dealers), Ok(()), "the dealer deals anew");
}
