//! Certificates that rest on one multisignature of the voters: the form, what it covers, and how
//! the judge of entries treats it.

use crate::common::{END, START, Seed, person};
use bytes::Bytes;
use folkmoot_base::{GroupName, Head, MemberId, UnixTime};
use folkmoot_identity::{
    BuildError, CertificateError, CharterDraft, EntryError, Gmc, GmcBody, Identity, Motion, Multi, Policies,
    Rule, Scheme, SignedCharter, Transcript, Verdict, VerifyingKey, Vote, VoteContent, VoteProof,
};
use folkmoot_signing::shared::{AnyRun, Outcome};
use folkmoot_signing::{Incoming, Next, RunId};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Five founders; 5 asks, 6 is a stranger.
static PEOPLE: LazyLock<Vec<Identity>> =
    LazyLock::new(|| (0..7).map(|n| person(&format!("p{n}"), 300 + n)).collect());

fn found_by(scheme: Scheme, change: impl Fn(&mut CharterDraft)) -> Transcript {
    let named = PEOPLE[..5].iter().map(|founder| founder.certificate().into()).collect();
    let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, named, &mut Seed(7));
    draft.scheme = scheme;
    change(&mut draft);
    let founders: Vec<&Identity> = PEOPLE[..5].iter().collect();
    Transcript::genesis(SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der()).unwrap()
}

fn asm() -> Transcript {
    found_by(Scheme::Asm, |_| {})
}

fn body(transcript: &Transcript) -> GmcBody {
    GmcBody::propose(transcript.roster().charter(), &PEOPLE[5], 5, START, &mut Seed(5 << 20))
}

/// All signers, in one process.
fn approve(hands: &[usize], motion: &Motion, expires: UnixTime) -> Multi {
    let keys: Vec<&VerifyingKey> = hands.iter().map(|hand| PEOPLE[*hand].key().verifying_key()).collect();
    let hand = |hand: &usize| {
        let run = Multi::signer(RunId([1; 32]), &PEOPLE[*hand], &keys, motion, expires).unwrap();
        (PEOPLE[*hand].member(), run)
    };
    let mut runs: BTreeMap<MemberId, AnyRun> = hands.iter().map(hand).collect();
    let mut seed = 0;
    let mut said: Vec<(MemberId, Next<Outcome>)> = Vec::new();
    for (member, run) in &mut runs {
        seed += 1;
        said.push((*member, run.start(&mut Seed(seed << 40))));
    }
    loop {
        let mut to_all = BTreeMap::new();
        for (member, next) in said {
            match next {
                Next::Say(words) => to_all.insert(member, words.to_all),
                Next::Done(Outcome::Signature(bytes)) => {
                    return Multi::new(motion.base(), motion.turn(), expires, &bytes).unwrap();
                }
                Next::Done(other) => panic!("{other:?}"),
            };
        }
        let heard = || Incoming { to_all: to_all.clone(), to_me: BTreeMap::new() };
        said = runs.iter_mut().map(|(id, run)| (*id, run.hear(heard(), &mut Seed(0)).unwrap())).collect();
    }
}

fn signed(transcript: &Transcript, hands: &[usize], expires: UnixTime) -> Gmc {
    let body = body(transcript);
    let multi = approve(hands, &body.motion().unwrap(), expires);
    Gmc::compose_multi(&body, &multi, &PEOPLE[5]).unwrap()
}

fn admit(transcript: &Transcript, gmc: &Gmc) -> Result<Bytes, BuildError> {
    transcript.make_admit(gmc.der(), &PEOPLE[0])
}

fn rule_of(transcript: &Transcript, gmc: &Gmc) -> String {
    match admit(transcript, gmc) {
        Err(BuildError::Refused(error)) => error.rule(),
        Err(_) => panic!("another error"),
        Ok(_) => "stands".to_owned(),
    }
}

#[test]
fn trn_55_a_multisignature_of_enough_voters_admits() {
    let mut transcript = asm();
    let gmc = signed(&transcript, &[3, 1], END);
    assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
    assert_eq!(gmc.body().request_digest(), body(&transcript).request_digest());
    assert_eq!((gmc.votes().len(), gmc.issued(), gmc.is_founder()), (0, None, false));
    let mut who = [PEOPLE[1].member(), PEOPLE[3].member()].map(|signer| (signer, END));
    who.sort();
    assert_eq!(gmc.approvals(), who);
    let size = gmc.der().len();
    let more = signed(&transcript, &[0, 1, 2, 3, 4], END);
    // Each further signer adds its name, and a few bytes of lengths.
    assert!(more.der().len() <= size + 3 * 32 + 12, "{} {size}", more.der().len());
    let entry = admit(&transcript, &gmc).unwrap();
    transcript.append(&entry).unwrap();
    assert!(transcript.roster().is_member(&PEOPLE[5].member()));
}

#[test]
fn trn_55_every_changed_bit_of_a_multisignature_is_refused() {
    let transcript = asm();
    let gmc = signed(&transcript, &[0, 1], END);
    for place in 0..gmc.der().len() {
        let mut der = gmc.der().to_vec();
        der[place] ^= 1;
        assert!(transcript.make_admit(&der, &PEOPLE[0]).is_err(), "byte {place}");
    }
    // The holder signs whatever it likes.
    let good = gmc.multi().unwrap();
    let bytes = good.signature();
    assert_eq!(bytes.len(), 68 + 2 * 32);
    let mut read = 0;
    for bit in 0..bytes.len() * 8 {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let Ok(multi) = Multi::new(good.base(), good.turn(), END, &bad) else { continue };
        read += 1;
        let forged = Gmc::compose_multi(&body(&transcript), &multi, &PEOPLE[5]).unwrap();
        assert!(admit(&transcript, &forged).is_err(), "bit {bit}");
    }
    assert!(read > 500, "{read} were read at all");
}

#[test]
fn trn_55_it_is_of_its_signers_for_this_request_until_then() {
    let transcript = asm();
    let body = body(&transcript);
    let motion = body.motion().unwrap();
    let good = approve(&[0, 1], &motion, END);
    let with = |multi: &Multi| rule_of(&transcript, &Gmc::compose_multi(&body, multi, &PEOPLE[5]).unwrap());
    assert_eq!(with(&good), "stands");
    // Another expiry than was signed; another request; another group.
    assert_eq!(
        with(&Multi::new(good.base(), good.turn(), UnixTime(END.0 - 1), &good.signature()).unwrap()),
        "TRN-55"
    );
    let other = Motion { subject: [9; 32], ..motion };
    assert_eq!(with(&approve(&[0, 1], &other, END)), "TRN-55");
    let elsewhere = Motion { group: folkmoot_base::GroupId([9; 32]), ..motion };
    assert_eq!(with(&approve(&[0, 1], &elsewhere, END)), "TRN-55");
    // Another voter named than the one who signed.
    let theirs = approve(&[0, 2], &motion, END).signature();
    let mut swapped = theirs[..68].to_vec();
    swapped.extend_from_slice(&good.signature()[68..]);
    assert_eq!(with(&Multi::new(good.base(), good.turn(), END, &swapped).unwrap()), "TRN-55");
    // Too few; one who has no vote, the holder itself among such.
    assert_eq!(with(&approve(&[0], &motion, END)), "TRN-11");
    assert_eq!(with(&approve(&[0, 6], &motion, END)), "TRN-12");
    assert_eq!(with(&approve(&[0, 1, 5], &motion, END)), "TRN-12");
    // Run out before the certificate begins.
    assert_eq!(with(&approve(&[0, 1], &motion, UnixTime(START.0 - 1))), "TRN-15");
}

#[test]
fn trn_55_each_scheme_has_its_own_authority() {
    let votes = |transcript: &Transcript| {
        let body = body(transcript);
        let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires: END };
        let vote = |who: usize| Vote::sign(&PEOPLE[who], content).unwrap().proof();
        let votes: Vec<VoteProof> = vec![vote(0), vote(1)];
        Gmc::compose(&body, &votes, &PEOPLE[5]).unwrap()
    };
    let (plain, asm, frost) = (found_by(Scheme::Plain, |_| {}), asm(), found_by(Scheme::Frost, |_| {}));
    assert_eq!(rule_of(&plain, &votes(&plain)), "stands");
    assert_eq!(rule_of(&asm, &signed(&asm, &[0, 1], END)), "stands");
    assert_eq!(rule_of(&asm, &votes(&asm)), "TRN-55");
    assert_eq!(rule_of(&plain, &signed(&plain, &[0, 1], END)), "TRN-55");
    assert!(rule_of(&frost, &signed(&frost, &[0, 1], END)).starts_with("TRN-52"));
    // Offline too.
    let founders = |member: &MemberId| asm.roster().voter_key(member);
    let charter = asm.roster().charter();
    assert_eq!(votes(&asm).check_authority(charter, founders), Err(CertificateError::PeerAuthority));
    assert_eq!(signed(&asm, &[0, 1], END).check_authority(charter, founders), Ok(()));
}

#[test]
fn id_11_a_certificate_has_one_authority() {
    let transcript = asm();
    let mut both = signed(&transcript, &[0, 1], END).body().clone();
    both.membership.votes = None;
    assert!(Gmc::compose(&both, &[], &PEOPLE[5]).is_err(), "votes and a multisignature");
    for bytes in [&[][..], &[1; 100]] {
        assert_eq!(
            Multi::new(Head { number: 0, digest: [0; 32] }, 0, END, bytes),
            Err(CertificateError::WireProfile("its multisignature is malformed"))
        );
    }
}

#[test]
fn trn_17_trn_18_the_rules_on_voters_hold_for_signers() {
    let quorum = found_by(Scheme::Asm, |draft| draft.minority_may_admit = false);
    assert_eq!(rule_of(&quorum, &signed(&quorum, &[0, 1], END)), "TRN-17");
    assert_eq!(rule_of(&quorum, &signed(&quorum, &[0, 1, 2], END)), "stands");
    let days = found_by(Scheme::Asm, |draft| {
        draft.policies = Policies { request_days: Some(2), ..Policies::default() };
    });
    assert_eq!(rule_of(&days, &signed(&days, &[0, 1], UnixTime(START.0 + 3 * 86_400))), "TRN-18");
    assert_eq!(rule_of(&days, &signed(&days, &[0, 1], UnixTime(START.0 + 2 * 86_400))), "stands");
    let security = |draft: &mut CharterDraft| {
        let roles = BTreeMap::from([("security".to_owned(), [PEOPLE[4].member()].into())]);
        let admit = Some(Rule::parse("1 of security").unwrap());
        draft.policies = Policies { roles, admit, ..Policies::default() };
    };
    let ruled = found_by(Scheme::Asm, security);
    let refused = admit(&ruled, &signed(&ruled, &[0, 1], END));
    let by_rule = |error: &BuildError| {
        matches!(error, BuildError::Refused(EntryError::PeerCertificate(CertificateError::PeerRule(_))))
    };
    assert!(refused.is_err_and(|error| by_rule(&error)));
    assert_eq!(rule_of(&ruled, &signed(&ruled, &[0, 4], END)), "stands");
}
