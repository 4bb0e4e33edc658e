//! The group's authority, as charter, certificate and transcript know it: which combinations of
//! scheme and mode exist, and that no certificate stands without the authority's signature, nor by
//! it alone. Method: real keys and shares; certificates are made by force if no authority would
//! make them.

use crate::common::{END, START, Seed, person};
use bytes::Bytes;
use folkmoot_base::{GroupName, MemberId, UnixTime};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Below, BuildError, Central, CertificateError, Charter, CharterDraft,
    CharterError, Combined, Dealer, Decision, EntryError, Founder, Gmc, GmcBody, Grounds, GroupKey, Identity,
    Mode, Policies, Policy, RevocationBody, Scheme, SignedCharter, SigningKey, Slot, Threshold, Transcript,
    Verdict, Vote, VoteContent, VoteProof, refusal,
};
use folkmoot_signing::shared;
use proptest::prelude::*;
use std::sync::LazyLock;

static PEOPLE: LazyLock<Vec<Identity>> =
    LazyLock::new(|| (0..12).map(|n| person(&format!("p{n}"), 100 + n)).collect());

/// The key that certifies for a group of this name, and its certificate.
fn ca(name: &str, seed: u64) -> (SigningKey, AuthorityCertificate) {
    let key = SigningKey::generate(&mut Seed(seed << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new(name, public, START, &mut Seed(8 << 32));
    let signature = key.sign_raw(&body.tbs().unwrap()).to_der();
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

fn found(draft: &CharterDraft) -> Transcript {
    let founders: Vec<&Identity> = PEOPLE[..draft.founders.len()].iter().collect();
    Transcript::genesis(SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der()).unwrap()
}

fn group(scheme: Scheme, dealer: Option<Dealer>) -> Transcript {
    found(&draft(scheme, 4, 2, Some(central(dealer))))
}

fn refused(draft: &CharterDraft) -> &'static str {
    match Charter::from_toml(&draft.to_toml()) {
        Err(CharterError::WireValue { key, .. }) => key,
        other => panic!("{other:?}"),
    }
}

fn body(transcript: &Transcript, who: usize) -> GmcBody {
    GmcBody::propose(transcript.roster().charter(), &PEOPLE[who], 3, START, &mut Seed((who as u64) << 20))
}

fn vote(voter: usize, content: VoteContent) -> VoteProof {
    Vote::sign(&PEOPLE[voter], content).unwrap().proof()
}

fn votes(body: &GmcBody, voters: &[usize]) -> Grounds {
    let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires: END };
    let mut votes: Vec<VoteProof> = voters.iter().map(|voter| vote(*voter, content)).collect();
    votes.sort_by_key(|vote| vote.voter);
    Grounds::Votes(votes)
}

/// The certificate as an authority with this key signs it.
fn signed(body: &GmcBody, grounds: &Grounds, key: &SigningKey) -> Gmc {
    let body = body.on_grounds(grounds);
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let signature = key.sign_raw(&body.issued_tbs(&public).unwrap()).to_der();
    Gmc::issue_by_group(&body, &public, &signature).unwrap()
}

fn admit(transcript: &Transcript, gmc: &Gmc) -> Result<Bytes, EntryError> {
    transcript.make_admit(gmc.der(), &PEOPLE[0]).map_err(|error| match error {
        BuildError::Refused(error) => error,
        other => panic!("{other:?}"),
    })
}

fn decided(transcript: &mut Transcript, decision: &Decision, voters: &[usize]) {
    let entry = decide(transcript, decision, voters).unwrap();
    transcript.append(&entry).unwrap();
}

fn decide(transcript: &Transcript, decision: &Decision, voters: &[usize]) -> Result<Bytes, BuildError> {
    let slot = Slot { serial: transcript.roster().electorate().serial, ballot: 0 };
    let motion = decision.motion(transcript.group(), transcript.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: END };
    let votes: Vec<VoteProof> = voters.iter().map(|voter| vote(*voter, content)).collect();
    transcript.make_decision(decision, slot, &votes, &PEOPLE[voters[0]])
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
    let t = group(Scheme::Plain, None);
    let (key, _) = ca("moot", 7);
    let body = body(&t, 5);
    let grounds = votes(&body, &[0, 1]);
    let gmc = signed(&body, &grounds, &key);
    assert!(gmc.is_issued() && gmc.issued().is_none());
    assert_eq!(Gmc::from_der(gmc.der()), Ok(gmc.clone()));
    assert_eq!(gmc.check_central(t.roster().charter()), Ok(()));
    assert_eq!(gmc.body().request_digest(), body.request_digest(), "the votes are on what was asked for");
    let other = signed(&body, &grounds, &ca("moot", 70).0);
    assert_eq!(other.check_central(t.roster().charter()), Err(CertificateError::PeerSignature));
    // Its holder cannot sign it in the authority's place.
    let Grounds::Votes(proofs) = &grounds else { panic!() };
    assert!(Gmc::compose(&body, proofs, &PEOPLE[5]).is_err());
    for bit in 0..gmc.der().len() * 8 {
        let mut der = gmc.der().to_vec();
        der[bit / 8] ^= 1 << (bit % 8);
        let stands = Gmc::from_der(&der).is_ok_and(|gmc| gmc.check_central(t.roster().charter()).is_ok());
        assert!(!stands, "bit {bit}");
    }
}

#[test]
fn id_69_a_key_that_speaks_for_the_authority_is_nobodys_certificate() {
    let t = group(Scheme::Plain, None);
    let (key, _) = ca("moot", 7);
    let own = GmcBody::propose(t.roster().charter(), &office(), 3, START, &mut Seed(33 << 20));
    let both = CertificateError::PeerCharter("its key speaks for the authority");
    assert_eq!(own.check_charter(t.roster().charter()), Err(both.clone()));
    let gmc = signed(&own, &votes(&own, &[0, 1]), &key);
    assert_eq!(admit(&t, &gmc), Err(EntryError::PeerCertificate(both)));
    assert_eq!(body(&t, 5).check_charter(t.roster().charter()), Ok(()));
}

#[test]
fn trn_57_an_authority_admits_whom_the_voters_let_in_and_nobody_alone() {
    let mut t = group(Scheme::Plain, None);
    let (key, _) = ca("moot", 7);
    let body = body(&t, 5);
    let few = |voters: &[usize]| admit(&t, &signed(&body, &votes(&body, voters), &key)).unwrap_err();
    assert!(matches!(few(&[]), EntryError::PeerCertificate(CertificateError::PeerTooFewVotes { .. })));
    assert!(matches!(few(&[1]), EntryError::PeerCertificate(CertificateError::PeerTooFewVotes { .. })));
    assert!(matches!(few(&[1, 9]), EntryError::PeerCertificate(CertificateError::PeerNotVoter(_))));
    let elsewhere = votes(&self::body(&t, 6), &[0, 1]);
    let forged = admit(&t, &signed(&body, &elsewhere, &key)).unwrap_err();
    assert!(matches!(forged, EntryError::PeerCertificate(CertificateError::PeerVote(_))));
    let wrong = admit(&t, &signed(&body, &votes(&body, &[0, 1]), &ca("moot", 70).0)).unwrap_err();
    assert_eq!(wrong, EntryError::PeerCertificate(CertificateError::PeerSignature));
    let entry = admit(&t, &signed(&body, &votes(&body, &[0, 1]), &key)).unwrap();
    t.append(&entry).unwrap();
    assert!(t.roster().is_member(&PEOPLE[5].member()));
    // Once: another choice of votes on the same request is the same request.
    let again = admit(&t, &signed(&body, &votes(&body, &[1, 2]), &key)).unwrap_err();
    assert!(matches!(again, EntryError::PeerUsed(_)));
}

/// The group's key, dealt; its shares are brought together again, as the signers would do.
fn dealt(t: &mut Transcript, scheme: Scheme, secret: &folkmoot_base::Secret<Vec<u8>>) -> Bytes {
    let mut holders: Vec<MemberId> = t.roster().voters().into_iter().collect();
    holders.sort_unstable();
    let threshold = t.roster().threshold();
    let dealt = shared::deal(scheme, secret, threshold, &holders, &mut Seed(60 << 32)).unwrap();
    let public = Bytes::from(dealt.public);
    let decision = Decision::Sharing { public: public.clone().into(), authority: Bytes::new().into() };
    decided(t, &decision, &[0, 1, 2]);
    public
}

#[test]
fn trn_57_where_the_group_has_a_key_that_key_signs_the_request() {
    // A threshold of one: one signer's run is a signature.
    let mut t = found(&draft(Scheme::Frost, 4, 1, Some(central(Some(Dealer::Keeps)))));
    let secret = shared::draw_secret(Scheme::Frost, &mut Seed(50 << 32)).unwrap();
    let body = body(&t, 5);
    let (key, _) = ca("moot", 7);
    let early = signed(&body, &Grounds::Combined(Combined { epoch: [1; 32], signature: vec![1; 64] }), &key);
    assert!(matches!(admit(&t, &early), Err(EntryError::PeerCertificate(CertificateError::PeerGroupKey))));
    dealt(&mut t, Scheme::Frost, &secret);
    let epoch = t.roster().sharing().unwrap().facts.epoch;
    let signature = one_hand(&t, &secret, &body.combined_message(&epoch).unwrap());
    let stands = Combined { epoch, signature: signature.clone() };
    let with = |combined: Combined| admit(&t, &signed(&body, &Grounds::Combined(combined), &key));
    assert!(with(stands.clone()).is_ok());
    assert!(matches!(
        with(Combined { epoch: [2; 32], ..stands.clone() }),
        Err(EntryError::PeerShareEpoch(_))
    ));
    let mut forged = stands.clone();
    forged.signature[9] ^= 1;
    assert_eq!(with(forged), Err(EntryError::PeerCertificate(CertificateError::PeerSignature)));
    // Votes are no grounds here, nor is the group's key an issuer.
    assert!(matches!(
        admit(&t, &signed(&body, &votes(&body, &[0, 1]), &key)),
        Err(EntryError::PeerShareEpoch(_))
    ));
    // For another request it says nothing.
    let other = signed(&self::body(&t, 6), &Grounds::Combined(stands.clone()), &key);
    assert_eq!(admit(&t, &other), Err(EntryError::PeerCertificate(CertificateError::PeerSignature)));
    let entry = with(stands).unwrap();
    t.append(&entry).unwrap();
    assert!(t.roster().is_member(&PEOPLE[5].member()));
}

/// A signature of the dealt key by one signer, with a threshold of one.
fn one_hand(t: &Transcript, secret: &folkmoot_base::Secret<Vec<u8>>, message: &[u8]) -> Vec<u8> {
    use folkmoot_signing::{Incoming, Next, RunId};
    let mut holders: Vec<MemberId> = t.roster().voters().into_iter().collect();
    holders.sort_unstable();
    let scheme = t.roster().charter().scheme();
    let dealt = shared::deal(scheme, secret, 1, &holders, &mut Seed(60 << 32)).unwrap();
    let public = &t.roster().sharing().unwrap().public;
    assert_eq!(public, &dealt.public, "the same seed deals the same");
    let (me, share) = &dealt.shares[0];
    let mut run = shared::sign(scheme, RunId([3; 32]), *me, &[*me], (public, share), message).unwrap();
    let mut seed = Seed(61 << 32);
    let mut next = run.start(&mut seed);
    loop {
        match next {
            Next::Done(shared::Outcome::Signature(signature)) => return signature,
            Next::Done(_) => panic!("no signature"),
            Next::Say(said) => {
                let mut heard = Incoming::default();
                heard.to_all.insert(*me, said.to_all);
                for (to, words) in said.to_each {
                    heard.to_me.insert(to, words);
                }
                next = run.hear(heard, &mut seed).unwrap();
            }
        }
    }
}

#[test]
fn trn_57_a_sharing_comes_without_a_certificate_of_the_key() {
    let mut t = group(Scheme::TsDsa, Some(Dealer::Keeps));
    let secret = shared::draw_secret(Scheme::TsDsa, &mut Seed(50 << 32)).unwrap();
    let mut holders: Vec<MemberId> = t.roster().voters().into_iter().collect();
    holders.sort_unstable();
    let public = shared::deal(Scheme::TsDsa, &secret, 2, &holders, &mut Seed(60 << 32)).unwrap().public;
    let decision = |authority: &[u8]| Decision::Sharing {
        public: public.clone().into(),
        authority: authority.to_vec().into(),
    };
    let signed = decide(&t, &decision(&ca("moot", 7).1.der()[..]), &[0, 1, 2]).unwrap_err();
    assert!(matches!(signed, BuildError::Refused(EntryError::PeerSharing(_))));
    decided(&mut t, &decision(&[]), &[0, 1, 2]);
    // The issuer is the authority, also for revocation lists.
    assert_eq!(t.roster().issuer().unwrap().unwrap(), ca("moot", 7).1);
}

/// Two of four are the threshold, and a quorum with the first listed; threshold ECDSA needs three
/// signers. If two could decide, the old shares would be erased for new ones that sign nothing if
/// the others never got theirs.
#[test]
fn trn_24_a_sharing_is_decided_by_as_many_as_sign() {
    for (scheme, signers) in [(Scheme::TsDsa, 3), (Scheme::Frost, 2)] {
        let t = group(scheme, Some(Dealer::Keeps));
        let secret = shared::draw_secret(scheme, &mut Seed(50 << 32)).unwrap();
        let mut holders: Vec<MemberId> = t.roster().voters().into_iter().collect();
        holders.sort_unstable();
        let public = shared::deal(scheme, &secret, 2, &holders, &mut Seed(60 << 32)).unwrap().public;
        let decision = Decision::Sharing { public: public.into(), authority: Bytes::new().into() };
        let two = decide(&t, &decision, &[0, 1]);
        if signers > 2 {
            let why = EntryError::PeerTooFewVotes { got: 2, need: signers };
            assert_eq!(two, Err(BuildError::Refused(why)));
        } else {
            assert!(two.is_ok());
        }
        assert!(decide(&t, &decision, &[0, 1, 2]).is_ok());
    }
}

#[test]
fn trn_58_an_authority_decides_alone_where_the_charter_says_so() {
    let (key, _) = ca("moot", 7);
    let alone = Policies { policy: Policy::Authority, ..Policies::default() };
    let mut t = found(&draft_of(Scheme::Plain, None, alone));
    let bare = |t: &Transcript, who| signed(&body(t, who), &Grounds::Votes(Vec::new()), &key);
    assert!(t.roster().is_for_authority() && t.roster().admission_need(&[].into()) == 0);
    let entry = admit(&t, &bare(&t, 5)).unwrap();
    t.append(&entry).unwrap();
    let forged = signed(&body(&t, 6), &Grounds::Votes(Vec::new()), &ca("moot", 70).0);
    assert!(admit(&t, &forged).is_err());
    // Votes are not asked for, and none are carried.
    let voted = body(&t, 6);
    let voted = signed(&voted, &votes(&voted, &[0, 1]), &key);
    assert_eq!(admit(&t, &voted), Err(EntryError::PeerCertificate(CertificateError::PeerAuthority)));
}

#[test]
fn trn_58_below_the_threshold_the_authority_decides() {
    let (key, _) = ca("moot", 7);
    let below = Policies { below: Below::Authority, ..Policies::default() };
    let mut t = found(&CharterDraft { threshold: 4, ..draft_of(Scheme::Plain, None, below) });
    let bare = |t: &Transcript| admit(t, &signed(&body(t, 5), &Grounds::Votes(Vec::new()), &key));
    assert!(!t.roster().is_for_authority());
    assert!(bare(&t).is_err(), "four voters for four votes");
    let gone = PEOPLE[3].member();
    let admission = t.roster().member(&gone).unwrap().entry;
    decided(&mut t, &Decision::Remove { member: gone, admission }.forced(), &[0, 1, 2, 3]);
    assert!(t.roster().is_for_authority());
    let entry = bare(&t).unwrap();
    t.append(&entry).unwrap();
    assert!(t.roster().is_member(&PEOPLE[5].member()));
}

#[test]
fn the_authority_revokes_what_it_signed() {
    let mut t = group(Scheme::Plain, None);
    let (key, _) = ca("moot", 7);
    let body = body(&t, 5);
    let gmc = signed(&body, &votes(&body, &[0, 1]), &key);
    let entry = admit(&t, &gmc).unwrap();
    t.append(&entry).unwrap();
    assert!(t.roster().has_issued(&gmc.body().serial));
    let member = PEOPLE[5].member();
    let admission = t.roster().member(&member).unwrap().entry;
    decided(&mut t, &Decision::Remove { member, admission }, &[0, 1, 2]);
    let list = RevocationBody::of(t.roster(), UnixTime(START.0 + 9)).unwrap().unwrap();
    assert!(list.serials().contains(&gmc.body().serial));
    assert_eq!(list.authority(), &ca("moot", 7).1);
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
        let t = group(Scheme::Frost, Some(Dealer::Keeps));
        let grounds = Grounds::Combined(Combined { epoch, signature });
        let gmc = signed(&body(&t, 5), &grounds, &ca("moot", 7).0);
        prop_assert_eq!(Gmc::from_der(gmc.der()).unwrap().body().grounds(), Some(grounds));
    }
}
