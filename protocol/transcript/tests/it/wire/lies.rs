//! What forged, altered and foreign items do: nothing.

use super::{Group, LATER, NOW, person, remove};
use folkmoot_base::UnixTime;
use folkmoot_identity::{CertificateError, Request, Verdict};
use folkmoot_transcript::{
    BallotMessage, Change, Effect, Item, ItemError, Judgement, Promise, ROTATE_LABEL, Report,
    STATEMENT_LABEL, SignedApproval, Statement, Taken, Unproposed, admission,
};

#[test]
fn line_09_every_changed_bit_of_an_approval_is_refused_or_says_the_same() {
    let group = Group::new(3, 2);
    let signed = group.approval(0, remove(group.id(2)).subject(), 0, Verdict::Approve);
    let item = Item::Approval(signed).encode();
    for bit in 0..item.len() * 8 {
        let mut bad = item.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let mut transcript = group.first().clone();
        assert!(transcript.take(&bad, Some(NOW)).is_err(), "bit {bit}");
        assert_eq!(transcript.mark(), group.first().mark());
    }
}

#[test]
fn line_09_nobody_approves_in_anothers_name_or_in_another_group() {
    let group = Group::new(3, 2);
    let mut transcript = group.first().clone();
    let subject = remove(group.id(2)).subject();
    let signed = group.approval(0, subject, 0, Verdict::Approve);
    let mut renamed = signed.clone();
    renamed.approval.voter = group.id(1);
    let refused = transcript.take(&Item::Approval(renamed).encode(), Some(NOW)).unwrap_err();
    assert_eq!(refused, ItemError::Signature(group.id(1)));
    let other = folkmoot_base::GroupId([7; 32]);
    let foreign = SignedApproval::sign(group.people[0].key(), other, signed.approval);
    let refused = transcript.take(&Item::Approval(foreign).encode(), Some(NOW)).unwrap_err();
    assert_eq!(refused, ItemError::Signature(group.id(0)));
}

#[test]
fn line_09_a_new_key_has_the_old_ones_word() {
    let group = Group::new(3, 2);
    let request = [7; 32];
    let covered = [&group.first().group().0[..], &request].concat();
    let rotate = |who: usize| {
        let signature = group.people[who].key().sign_wire(ROTATE_LABEL, &covered);
        let effect: Effect = Change::Rotate { member: group.id(2), request, signature }.into();
        let approval = group.approval(0, effect.subject(), 0, Verdict::Approve);
        let mut transcript = group.first().clone();
        transcript.take(&Item::Approval(approval).encode(), Some(NOW)).unwrap();
        transcript.take(&Item::Effect(effect).encode(), Some(NOW)).map(|taken| taken.new)
    };
    assert_eq!(rotate(2), Ok(true));
    assert_eq!(rotate(1), Err(ItemError::Signature(group.id(2))));
}

/// The approvals do not cover the old key's word, so the owner of a ballot could leave it out.
#[test]
fn line_09_a_decision_carries_the_old_keys_word_on_a_new_one() {
    let mut group = Group::new(3, 2);
    let new = person(10);
    let body = group.request(&new);
    let item = group.admit(&new, &body, &[]);
    group.all_take(&item);
    let before = group.first().clone();
    let request = body.request_digest().unwrap();
    let covered = [&before.group().0[..], &request].concat();
    let signature = group.people[2].key().sign_wire(ROTATE_LABEL, &covered);
    let effect: Effect = Change::Rotate { member: group.id(2), request, signature }.into();
    group.approve(&effect, &[0, 1]);
    let stood = group.decide(&[0, 1]);
    let Item::Decision(good) = &stood[0] else { panic!() };
    let mut bad = good.clone();
    let Change::Rotate { signature, .. } = &mut bad.proposal.decision.effects[0].effect.change else {
        panic!()
    };
    *signature = group.people[0].key().sign_wire(ROTATE_LABEL, &covered);
    let refused = before
        .check_message(&BallotMessage::Proposal { proposal: bad.proposal, judgements: Vec::new() })
        .unwrap_err();
    assert_eq!(refused, ItemError::Signature(group.id(2)));
    assert!(before.clone().take(&stood[0].encode(), Some(NOW)).unwrap().advanced);
}

/// A judgement in another's name, of another ballot or of another decision is none, wherever it
/// stands.
#[test]
fn line_64_every_judgement_is_signed() {
    let mut group = Group::new(3, 2);
    group.approve(&remove(group.id(2)), &[0, 1]);
    let before = group.first().clone();
    let Item::Decision(standing) = group.decide(&[0, 1]).remove(0) else { panic!() };
    let (proposal, parent) = (standing.proposal, before.state().head());
    let signed = |who: usize, report: Report| {
        let statement = Statement::Judge { parent, ballot: report.ballot, decision: report.decision };
        let bytes = statement.bytes(&before.group());
        group.people[who].key().sign_wire(STATEMENT_LABEL, &bytes)
    };
    let report = proposal.judged();
    let good = Judgement { voter: group.id(1), signature: signed(1, report) };
    let check = |one: &Judgement| {
        let alone = BallotMessage::Judgement { parent, report, judgement: one.clone() };
        let (voter, ballot) = (group.id(0), 1);
        let promised = Some(proposal.report());
        let statement = Statement::Promise { parent, ballot, report: promised };
        let signature = group.people[0].key().sign_wire(STATEMENT_LABEL, &statement.bytes(&before.group()));
        let promise = Promise { voter, report: promised, signature };
        let (report, judgements) = (Some(proposal.clone()), vec![one.clone()]);
        let reported = BallotMessage::Promise { parent, ballot, promise, report, judgements };
        let all = [before.check_message(&alone), before.check_message(&reported)];
        assert_eq!(all[0], all[1]);
        all[0].clone()
    };
    assert_eq!(check(&good), Ok(()));
    let refused = |voter| Err(Unproposed::Signature(voter).into());
    assert_eq!(check(&Judgement { voter: group.id(0), ..good.clone() }), refused(group.id(0)));
    for other in [Report { ballot: 1, ..report }, Report { decision: [7; 32], ..report }] {
        let signature = signed(1, other);
        assert_eq!(check(&Judgement { signature, ..good.clone() }), refused(group.id(1)));
    }
    let commit = Statement::Commit { parent, ballot: report.ballot, decision: report.decision };
    let signature = group.people[1].key().sign_wire(STATEMENT_LABEL, &commit.bytes(&before.group()));
    assert_eq!(check(&Judgement { signature, ..good.clone() }), refused(group.id(1)));
    // More than there are voters are not even looked at.
    let many = BallotMessage::Proposal { proposal, judgements: vec![good; 4] };
    assert_eq!(before.check_message(&many), Err(Unproposed::Judgements.into()));
}

#[test]
fn line_08_a_refusal_shows_a_request_by_csr() {
    let group = Group::new(3, 2);
    let (stranger, mut transcript) = (person(10), group.first().clone());
    let in_cms = Request::sign(&stranger, group.request(&stranger)).unwrap();
    let item = Item::Refusal { request: in_cms.der().to_vec().into() };
    assert_eq!(transcript.take(&item.encode(), Some(NOW)), Err(ItemError::NoCsr));
    let item = Item::Refusal { request: vec![1, 2, 3].into() };
    assert!(matches!(transcript.take(&item.encode(), Some(NOW)), Err(ItemError::Request(_))));
}

#[test]
fn line_11_a_stranger_approves_nothing() {
    let group = Group::new(3, 2);
    let (stranger, mut transcript) = (person(10), group.first().clone());
    let mut approval = group.approval(0, remove(group.id(2)).subject(), 0, Verdict::Approve).approval;
    approval.voter = stranger.member();
    let signed = SignedApproval::sign(stranger.key(), transcript.group(), approval);
    let refused = transcript.take(&Item::Approval(signed).encode(), Some(NOW)).unwrap_err();
    assert_eq!(refused, ItemError::NotVoter(stranger.member()));
}

#[test]
fn line_07_a_forged_vote_in_a_certificate_does_not_count() {
    let group = Group::new(3, 2);
    let (stranger, mut transcript) = (person(10), group.first().clone());
    let body = group.request(&stranger);
    let subject = admission(body.request_digest().unwrap());
    let honest = group.vote(0, subject);
    let forged = folkmoot_identity::VoteProof { voter: group.id(1), ..honest.clone() };
    let longer = folkmoot_identity::VoteProof { expires: UnixTime(LATER.0 + 1), ..group.vote(2, subject) };
    let gmc = folkmoot_identity::Gmc::compose(&body, &[honest, forged, longer], &stranger).unwrap();
    let certificate = folkmoot_base::Blob(gmc.der().clone());
    let item = Item::Admit { certificate, approvals: Vec::new() };
    let taken = transcript.take(&item.encode(), Some(NOW)).unwrap();
    assert!(taken.came.is_empty());
    assert_eq!(transcript.set().approvals_of(subject).count(), 1);
    let own = folkmoot_identity::Gmc::found(
        transcript.signed_charter().charter(),
        &group.people[0],
        super::START,
        &mut super::Seed(1),
    );
    let certificate = folkmoot_base::Blob(own.unwrap().der().clone());
    let item = Item::Admit { certificate, approvals: Vec::new() };
    let refused = transcript.take(&item.encode(), Some(NOW)).unwrap_err();
    assert_eq!(refused, ItemError::Founder(group.id(0)));
}

/// Somebody who is not the holder gives a request another certificate, said to be issued by a key
/// that the group has not. Whoever took that first would hold another state than the others.
#[test]
fn line_07_a_certificate_names_no_key_that_the_group_has_not() {
    let group = Group::new(3, 2);
    let (stranger, mut transcript) = (person(10), group.first().clone());
    let body = group.request(&stranger);
    let liar = person(11);
    let key = folkmoot_signing::GroupKey::from_spki_der(liar.key().verifying_key().spki_der()).unwrap();
    let issued = body.issued_under([7; 32]);
    let signature = liar.key().sign_raw(&issued.issued_tbs(&key).unwrap()).to_paper();
    let gmc = folkmoot_identity::Gmc::issue_by_group(&issued, &key, &signature).unwrap();
    assert_eq!(gmc.body().request_digest(), body.request_digest());
    let certificate = folkmoot_base::Blob(gmc.der().clone());
    let item = Item::Admit { certificate, approvals: Vec::new() };
    let refused = transcript.take(&item.encode(), Some(NOW)).unwrap_err();
    assert_eq!(refused, ItemError::Certificate(folkmoot_identity::CertificateError::PeerAuthority));
}

#[test]
fn line_64_a_decision_stands_by_the_signatures_in_it() {
    let mut group = Group::new(3, 2);
    let before = group.first().clone();
    let effect = remove(group.id(2));
    group.approve(&effect, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    let Item::Decision(good) = &stood[0] else { panic!() };
    let mut commits = good.clone();
    commits.commits[0].signature = commits.commits[1].signature.clone();
    let voter = commits.commits[0].voter;
    let mut owner = good.clone();
    owner.proposal.stages[0].signature = owner.commits[0].signature.clone();
    let mut proofs = good.clone();
    let other = proofs.proposal.decision.effects[0].proofs[1].signature.clone();
    proofs.proposal.decision.effects[0].proofs[0].signature = other;
    for (bad, liar) in [(commits, voter), (owner, group.id(0))] {
        let refused = before.clone().take(&Item::Decision(bad).encode(), Some(NOW)).unwrap_err();
        assert_eq!(refused, ItemError::Decision(Unproposed::Signature(liar)));
    }
    // Another approval makes another decision, which nobody has signed.
    let refused = before.clone().take(&Item::Decision(proofs).encode(), Some(NOW)).unwrap_err();
    assert!(matches!(refused, ItemError::Decision(Unproposed::Signature(_))), "{refused:?}");
    let mut few = good.clone();
    few.commits.truncate(1);
    let refused = before.clone().take(&Item::Decision(few).encode(), Some(NOW)).unwrap_err();
    assert_eq!(refused, ItemError::Decision(Unproposed::Commits));
    let mut after = before.clone();
    assert!(after.take(&stood[0].encode(), Some(NOW)).unwrap().advanced);
    // Whoever hands it over again, with whatever signatures, says nothing new.
    let mut forged = good.clone();
    forged.commits[0].signature = forged.commits[1].signature.clone();
    assert_eq!(after.take(&Item::Decision(forged).encode(), Some(NOW)).unwrap(), Taken::default());
    assert_eq!(after.line().decisions().get(&1), Some(good));
}

#[test]
fn line_01_items_have_one_encoding_and_a_bound() {
    let group = Group::new(3, 2);
    let stranger = person(10);
    let item = group.admit(&stranger, &group.request(&stranger), &[0, 1]);
    let bytes = item.encode();
    assert_eq!(Item::decode(&bytes), Ok(item));
    assert!(matches!(Item::decode(&[&bytes[..], &[0]].concat()), Err(ItemError::Wire(_))));
    for length in 0..bytes.len() {
        assert!(matches!(Item::decode(&bytes[..length]), Err(ItemError::Wire(_))), "{length}");
    }
    let long = vec![1; folkmoot_transcript::ITEM_BYTES_MAX + 1];
    assert!(matches!(Item::decode(&long), Err(ItemError::Wire(_))));
}

/// Voters approve it with all their keys, and yet a key that the charter does not name comes in
/// nowhere: not as a stranger's, and not in place of a member's. Where the charter names it, it
/// does.
#[test]
fn line_07_a_key_that_the_charter_does_not_name_comes_in_nowhere() {
    use folkmoot_identity::{Algorithms, CharterDraft, Identity, KeyAlgorithm};
    let end = folkmoot_base::UnixTime(2_398_377_600);
    for algorithm in [KeyAlgorithm::Ed25519, KeyAlgorithm::Rsa2048, KeyAlgorithm::Rsa3072] {
        let stranger =
            Identity::draw(algorithm, "other", &mut super::Seed(70 << 32), super::START, end).unwrap();
        let group = Group::new(3, 2);
        let item = group.admit(&stranger, &group.request(&stranger), &[0, 1, 2]);
        let mut transcript = group.first().clone();
        let Err(ItemError::Certificate(CertificateError::PeerCharter(why))) =
            transcript.take(&item.encode(), Some(NOW))
        else {
            panic!("{algorithm:?}");
        };
        assert!(why.contains("do not name"), "{why}");
        let algorithms = Algorithms::new([KeyAlgorithm::P256, algorithm]);
        let wide = Group::of(&CharterDraft { algorithms, ..super::draft(3, 2) });
        let item = wide.admit(&stranger, &wide.request(&stranger), &[0, 1, 2]);
        let mut transcript = wide.first().clone();
        assert!(!transcript.take(&item.encode(), Some(NOW)).unwrap().came.is_empty(), "{algorithm:?}");
    }
}
