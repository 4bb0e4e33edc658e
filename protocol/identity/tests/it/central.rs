//! The group's authority, as charter and certificate know it: which combinations of scheme and mode
//! exist, and that no certificate stands without the authority's signature. Whom the transcript
//! admits by one is tested there.

use crate::common::{END, START, Seed, person};
use folkmoot_base::{GroupName, MemberId};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Below, Central, CertificateError, Charter, CharterDraft,
    CharterError, Combined, Dealer, Founder, Gmc, GmcBody, Grounds, GroupKey, Identity, Mode, Policies,
    Policy, Scheme, SigningKey, Threshold, Verdict, Vote, VoteBody, VoteKind, VoteProof, refusal,
};
use proptest::prelude::*;
use std::sync::LazyLock;

static PEOPLE: LazyLock<Vec<Identity>> =
    LazyLock::new(|| (0..12).map(|n| person(&format!("p{n}"), 100 + n)).collect());

/// The key that certifies for a group of this name, and its certificate.
fn ca(name: &str, seed: u64) -> (SigningKey, AuthorityCertificate) {
    let key = SigningKey::generate(&mut Seed(seed << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new(name, public, START, &mut Seed(8 << 32));
    let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
    (key, AuthorityCertificate::close(&body, &signature).unwrap())
}

/// The members that speak for the authority.
fn office() -> Identity {
    person("office", 500)
}

fn central(dealer: Option<Dealer>) -> Central {
    Central { certificate: ca("moot", 7).1, nodes: [office().member()].into(), dealer }
}

fn draft(scheme: Scheme, founders: usize, threshold: u32, central: Option<Central>) -> CharterDraft {
    let named = PEOPLE[..founders].iter().map(|founder| Founder::from(founder.certificate())).collect();
    let name = GroupName::new("moot").unwrap();
    CharterDraft { scheme, central, ..CharterDraft::new(name, threshold, named, &mut Seed(7)) }
}

fn group(scheme: Scheme, dealer: Option<Dealer>) -> Charter {
    Charter::from_toml(&draft(scheme, 4, 2, Some(central(dealer))).to_toml()).unwrap()
}

fn refused(draft: &CharterDraft) -> &'static str {
    match Charter::from_toml(&draft.to_toml()) {
        Err(CharterError::WireValue { key, .. }) => key,
        other => panic!("{other:?}"),
    }
}

fn body(charter: &Charter, who: usize) -> GmcBody {
    GmcBody::propose(charter, &PEOPLE[who], 3, START, &mut Seed((who as u64) << 20))
}

fn votes(body: &GmcBody, voters: &[usize]) -> Grounds {
    let (group, base, subject) =
        (body.membership.group, body.membership.base, body.request_digest().unwrap());
    let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
    let said = VoteBody { group, base, kind, subject, turn: 0, verdict, expires: END };
    let vote = |voter: &usize| Vote::sign(&PEOPLE[*voter], said).unwrap().proof();
    let mut votes: Vec<VoteProof> = voters.iter().map(vote).collect();
    votes.sort_by_key(|vote| vote.voter);
    Grounds::Votes(votes)
}

/// The certificate as an authority with this key signs it.
fn signed(body: &GmcBody, grounds: &Grounds, key: &SigningKey) -> Gmc {
    let body = body.on_grounds(grounds);
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let signature = key.sign_raw(&body.issued_tbs(&public).unwrap()).to_paper();
    Gmc::issue_by_group(&body, &public, &signature).unwrap()
}

#[test]
fn id_65_an_authority_stands_in_the_charter() {
    let text = draft(Scheme::Plain, 4, 2, Some(central(None))).to_toml();
    let charter = Charter::from_toml(&text).unwrap();
    assert_eq!((charter.mode(), charter.central()), (Mode::Centralised, Some(&central(None))));
    let plain = Charter::from_toml(&draft(Scheme::Plain, 4, 2, None).to_toml()).unwrap();
    assert_eq!((plain.mode(), plain.central()), (Mode::Decentralised, None));
    for (from, to) in [
        ("mode = \"centralised\"\n", ""),
        ("mode = \"centralised\"", "mode = \"decentralised\""),
        ("mode = \"centralised\"", "mode = \"anarchic\""),
        ("nodes = [\"", "nodes = [\"A"),
        ("certificate = \"30", "certificate = \"31"),
        ("[authority]", "[authority]\nmore = 1"),
    ] {
        assert!(text.contains(from));
        assert!(Charter::from_toml(&text.replace(from, to)).is_err(), "{from} {to}");
    }
    let (cut, _) = text.split_once("[authority]").unwrap();
    assert!(matches!(Charter::from_toml(cut), Err(CharterError::WireValue { key: "authority", .. })));
    let with = |central: Central| refused(&draft(Scheme::Plain, 4, 2, Some(central)));
    let none = Central { nodes: [].into(), ..central(None) };
    assert_eq!(with(none), "authority.nodes");
    let many = (0..9).map(|n| person("x", 600 + n).member()).collect();
    assert_eq!(with(Central { nodes: many, ..central(None) }), "authority.nodes");
    let founder = Central { nodes: [PEOPLE[1].member()].into(), ..central(None) };
    assert_eq!(with(founder), "authority.nodes");
    let other = Central { certificate: ca("another", 7).1, ..central(None) };
    assert_eq!(with(other), "authority.certificate");
}

#[test]
fn id_66_every_combination_is_there_or_refused_with_the_reason() {
    let dealers = [None, Some(Dealer::Keeps), Some(Dealer::SetupOnly)];
    let mut there = Vec::new();
    for scheme in Scheme::ALL.iter().copied() {
        for (mode, dealer) in
            [(Mode::Decentralised, None)].into_iter().chain(dealers.map(|dealer| (Mode::Centralised, dealer)))
        {
            for follows in [false, true] {
                let mut draft = draft(scheme, 4, 2, (mode == Mode::Centralised).then(|| central(dealer)));
                draft.ratio = follows.then_some((50, 2));
                let said = refusal(scheme, mode, dealer, follows);
                match Charter::from_toml(&draft.to_toml()) {
                    Ok(charter) => {
                        assert_eq!(said, None, "{scheme:?} {mode:?} {dealer:?} {follows}");
                        assert_eq!((charter.scheme(), charter.mode()), (scheme, mode));
                        there.push((scheme, mode, dealer, follows));
                    }
                    Err(CharterError::WireValue { key, reason }) => assert_eq!(said, Some((key, reason))),
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }
    let count = |scheme| there.iter().filter(|(at, ..)| *at == scheme).count();
    assert_eq!((count(Scheme::Plain), count(Scheme::Asm)), (4, 4), "each mode, fixed and following");
    assert_eq!((count(Scheme::TsDsa), count(Scheme::Frost)), (6, 6), "and each dealer");
    assert_eq!(count(Scheme::Shoup), 3, "dealers only; one that has erased the secret for a fixed threshold");
    assert_eq!(count(Scheme::TsRsa), 0);
}

#[test]
fn id_66_shares_that_were_dealt_once_keep_their_threshold() {
    let once =
        Charter::from_toml(&draft(Scheme::Shoup, 4, 2, Some(central(Some(Dealer::SetupOnly)))).to_toml());
    assert!(matches!(once.unwrap().with_change("threshold", "3"), Err(CharterError::PeerChange { .. })));
    for (scheme, dealer) in [(Scheme::Shoup, Dealer::Keeps), (Scheme::Frost, Dealer::SetupOnly)] {
        let charter =
            Charter::from_toml(&draft(scheme, 4, 2, Some(central(Some(dealer)))).to_toml()).unwrap();
        assert!(charter.with_change("threshold", "3").is_ok());
    }
}

#[test]
fn id_67_policies_that_take_an_authority_need_one() {
    let with = |policies: Policies, central| CharterDraft { policies, ..draft(Scheme::Plain, 4, 2, central) };
    let alone = Policies { policy: Policy::Authority, ..Policies::default() };
    let below = Policies { below: Below::Authority, ..Policies::default() };
    assert_eq!(refused(&with(alone.clone(), None)), "policy");
    assert_eq!(refused(&with(below.clone(), None)), "below_threshold");
    for policies in [alone.clone(), below] {
        let draft = with(policies.clone(), Some(central(None)));
        let charter = Charter::from_toml(&draft.to_toml()).unwrap();
        assert_eq!(charter.policies(), &policies);
    }
    let draft = with(alone.clone(), Some(central(None)));
    assert_eq!(refused(&CharterDraft { minority_may_admit: false, ..draft }), "policy");
    for (scheme, dealer) in [(Scheme::Asm, None), (Scheme::Frost, Some(Dealer::Keeps))] {
        let draft = draft_of(scheme, dealer, alone.clone());
        assert_eq!(refused(&draft), "policy", "{scheme:?}");
    }
    let charter = Charter::from_toml(&draft_of(Scheme::Asm, None, Policies::default()).to_toml()).unwrap();
    assert!(charter.with_change("policy", "authority").is_err());
}

/// With asm a key that only an authority has seen would count in a multisignature, though nobody
/// has shown that it knows its secret.
#[test]
fn id_67_with_asm_an_authority_never_decides_alone() {
    let below = |below| Policies { below, ..Policies::default() };
    assert_eq!(refused(&draft_of(Scheme::Asm, None, below(Below::Authority))), "below_threshold");
    let charter = draft_of(Scheme::Asm, None, below(Below::Reset)).to_toml();
    let charter = Charter::from_toml(&charter).unwrap();
    let changed = charter.with_change("below_threshold", "authority");
    assert!(matches!(changed, Err(CharterError::PeerChange { .. })), "{changed:?}");
}

fn draft_of(scheme: Scheme, dealer: Option<Dealer>, policies: Policies) -> CharterDraft {
    CharterDraft { policies, ..draft(scheme, 4, 2, Some(central(dealer))) }
}

#[test]
fn id_68_the_authority_signs_and_nobody_else() {
    let charter = group(Scheme::Plain, None);
    let (key, _) = ca("moot", 7);
    let body = body(&charter, 5);
    let grounds = votes(&body, &[0, 1]);
    let gmc = signed(&body, &grounds, &key);
    assert!(gmc.is_issued() && gmc.issued().is_none());
    assert_eq!(Gmc::from_der(gmc.der()), Ok(gmc.clone()));
    assert_eq!(gmc.check_central(&charter), Ok(()));
    assert_eq!(gmc.body().request_digest(), body.request_digest(), "the votes are on what was asked for");
    let other = signed(&body, &grounds, &ca("moot", 70).0);
    assert_eq!(other.check_central(&charter), Err(CertificateError::PeerSignature));
    // Its holder cannot sign it in the authority's place.
    let Grounds::Votes(proofs) = &grounds else { panic!() };
    assert!(Gmc::compose(&body, proofs, &PEOPLE[5]).is_err());
    for bit in 0..gmc.der().len() * 8 {
        let mut der = gmc.der().to_vec();
        der[bit / 8] ^= 1 << (bit % 8);
        let stands = Gmc::from_der(&der).is_ok_and(|gmc| gmc.check_central(&charter).is_ok());
        assert!(!stands, "bit {bit}");
    }
}

#[test]
fn id_69_a_key_that_speaks_for_the_authority_is_nobodys_certificate() {
    let charter = group(Scheme::Plain, None);
    let (key, _) = ca("moot", 7);
    let own = GmcBody::propose(&charter, &office(), 3, START, &mut Seed(33 << 20));
    let both = CertificateError::PeerCharter("its key speaks for the authority");
    assert_eq!(own.check_charter(&charter), Err(both.clone()));
    let gmc = signed(&own, &votes(&own, &[0, 1]), &key);
    let key_of = |member: &MemberId| charter.founder(member).map(|founder| &founder.key);
    assert_eq!(gmc.check_authority(&charter, key_of), Err(both));
    assert_eq!(body(&charter, 5).check_charter(&charter), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn a_charter_with_an_authority_reads_back(nodes in proptest::collection::btree_set(any::<[u8; 32]>(), 1..8), keeps in any::<bool>()) {
        let dealer = Some(if keeps { Dealer::Keeps } else { Dealer::SetupOnly });
        let nodes = nodes.into_iter().map(MemberId).collect();
        let central = Central { nodes, ..central(dealer) };
        let draft = draft(Scheme::Frost, 4, 2, Some(central.clone()));
        let charter = Charter::from_toml(&draft.to_toml()).unwrap();
        prop_assert_eq!(charter.central(), Some(&central));
        prop_assert_eq!(charter.threshold_rule(), Threshold::Fixed(2));
    }

    #[test]
    fn a_certificate_on_the_groups_signature_reads_back(epoch in any::<[u8; 32]>(), signature in proptest::collection::vec(any::<u8>(), 0..=512)) {
        let charter = group(Scheme::Frost, Some(Dealer::Keeps));
        let grounds = Grounds::Combined(Combined { epoch, signature });
        let gmc = signed(&body(&charter, 5), &grounds, &ca("moot", 7).0);
        prop_assert_eq!(Gmc::from_der(gmc.der()).unwrap().body().grounds(), Some(grounds));
    }
}
