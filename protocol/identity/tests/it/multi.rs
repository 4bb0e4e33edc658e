//! Certificates that rest on one multisignature of the voters: the form, and what it covers. Whom
//! the transcript admits by one is tested there.

use crate::common::{END, START, Seed, person};
use folkmoot_base::{GroupId, GroupName, Head, MemberId, UnixTime};
use folkmoot_identity::{
    CertificateError, Charter, CharterDraft, Gmc, GmcBody, Identity, Multi, Scheme, Verdict, VerifyingKey,
    Vote, VoteBody, VoteKind, VoteProof,
};
use folkmoot_signing::shared::{AnyRun, Outcome};
use folkmoot_signing::{Incoming, Next, RunId};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const HEAD: Head = Head { number: 3, digest: [4; 32] };

/// Five founders; 5 asks, 6 is a stranger.
static PEOPLE: LazyLock<Vec<Identity>> =
    LazyLock::new(|| (0..7).map(|n| person(&format!("p{n}"), 300 + n)).collect());

fn found_by(scheme: Scheme) -> Charter {
    let named = PEOPLE[..5].iter().map(|founder| founder.certificate().into()).collect();
    let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, named, &mut Seed(7));
    draft.scheme = scheme;
    Charter::from_toml(&draft.to_toml()).unwrap()
}

fn body(charter: &Charter) -> GmcBody {
    GmcBody::propose(charter, &PEOPLE[5], 5, START, &mut Seed(5 << 20)).over(HEAD)
}

/// What voters say who approve this body.
fn yes(body: &GmcBody, expires: UnixTime) -> VoteBody {
    let (group, subject) = (body.membership.group, body.request_digest().unwrap());
    let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
    VoteBody { group, base: HEAD, kind, subject, turn: 0, verdict, expires }
}

/// All signers, in one process.
fn approve(signers: &[usize], said: &VoteBody) -> Multi {
    let key = |signer: &usize| PEOPLE[*signer].key().verifying_key();
    let keys: Vec<&VerifyingKey> = signers.iter().map(key).collect();
    let signer = |signer: &usize| {
        let run = Multi::signer(RunId([1; 32]), &PEOPLE[*signer], &keys, said).unwrap();
        (PEOPLE[*signer].member(), run)
    };
    let mut runs: BTreeMap<MemberId, AnyRun> = signers.iter().map(signer).collect();
    let mut seed = 0;
    let mut sent: Vec<(MemberId, Next<Outcome>)> = Vec::new();
    for (member, run) in &mut runs {
        seed += 1;
        sent.push((*member, run.start(&mut Seed(seed << 40))));
    }
    loop {
        let mut to_all = BTreeMap::new();
        for (member, next) in sent {
            match next {
                Next::Say(message) => to_all.insert(member, message.to_all),
                Next::Done(Outcome::Signature(bytes)) => {
                    return Multi::new(said.base, said.turn, said.expires, &bytes).unwrap();
                }
                Next::Done(other) => panic!("{other:?}"),
            };
        }
        let heard = || Incoming { to_all: to_all.clone(), to_me: BTreeMap::new() };
        sent = runs.iter_mut().map(|(id, run)| (*id, run.hear(heard(), &mut Seed(0)).unwrap())).collect();
    }
}

fn signed(charter: &Charter, signers: &[usize], expires: UnixTime) -> Gmc {
    let body = body(charter);
    let multi = approve(signers, &yes(&body, expires));
    Gmc::compose_multi(&body, &multi, &PEOPLE[5]).unwrap()
}

fn check(charter: &Charter, gmc: &Gmc) -> Result<(), CertificateError> {
    gmc.check_authority(charter, |member| charter.founder(member).map(|founder| &founder.key))
}

#[test]
fn id_54_a_multisignature_of_enough_voters_stands() {
    let charter = found_by(Scheme::Asm);
    let gmc = signed(&charter, &[3, 1], END);
    assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
    assert_eq!(gmc.body().request_digest(), body(&charter).request_digest());
    assert_eq!((gmc.votes().len(), gmc.issued(), gmc.is_founder()), (0, None, false));
    let mut who = [PEOPLE[1].member(), PEOPLE[3].member()].map(|signer| (signer, END));
    who.sort();
    assert_eq!(gmc.approvals(), who);
    let size = gmc.der().len();
    let more = signed(&charter, &[0, 1, 2, 3, 4], END);
    // Each further signer adds its name, and a few bytes of lengths.
    assert!(more.der().len() <= size + 3 * 32 + 12, "{} {size}", more.der().len());
    assert_eq!((check(&charter, &gmc), check(&charter, &more)), (Ok(()), Ok(())));
}

#[test]
fn id_54_every_changed_bit_of_a_multisignature_is_refused() {
    let charter = found_by(Scheme::Asm);
    let gmc = signed(&charter, &[0, 1], END);
    for place in 0..gmc.der().len() {
        let mut der = gmc.der().to_vec();
        der[place] ^= 1;
        let stands = Gmc::from_der(&der).is_ok_and(|gmc| check(&charter, &gmc).is_ok());
        assert!(!stands, "byte {place}");
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
        let forged = Gmc::compose_multi(&body(&charter), &multi, &PEOPLE[5]).unwrap();
        assert!(check(&charter, &forged).is_err(), "bit {bit}");
    }
    assert!(read > 500, "{read} were read at all");
}

#[test]
fn id_54_it_is_of_its_signers_for_this_request_over_this_base_until_then() {
    let charter = found_by(Scheme::Asm);
    let body = body(&charter);
    let said = yes(&body, END);
    let good = approve(&[0, 1], &said);
    let with = |multi: &Multi| check(&charter, &Gmc::compose_multi(&body, multi, &PEOPLE[5]).unwrap());
    assert_eq!(with(&good), Ok(()));
    let wrong = Err(CertificateError::PeerMulti);
    // Another expiry, base or turn than was signed; another request; another group.
    let bytes = good.signature();
    for (base, turn, expires) in
        [(HEAD, 0, UnixTime(END.0 - 1)), (Head { number: 4, ..HEAD }, 0, END), (HEAD, 1, END)]
    {
        assert_eq!(with(&Multi::new(base, turn, expires, &bytes).unwrap()), wrong);
    }
    assert_eq!(with(&approve(&[0, 1], &VoteBody { subject: [9; 32], ..said })), wrong);
    assert_eq!(with(&approve(&[0, 1], &VoteBody { group: GroupId([9; 32]), ..said })), wrong);
    assert_eq!(with(&approve(&[0, 1], &VoteBody { verdict: Verdict::Reject, ..said })), wrong);
    // Another voter named than the one who signed.
    let theirs = approve(&[0, 2], &said).signature();
    let mut swapped = theirs[..68].to_vec();
    swapped.extend_from_slice(&bytes[68..]);
    assert_eq!(with(&Multi::new(HEAD, 0, END, &swapped).unwrap()), wrong);
    // Too few; one who has no vote, the holder itself among such.
    let few = Err(CertificateError::PeerTooFewVotes { got: 1, need: 2 });
    assert_eq!(with(&approve(&[0], &said)), few);
    for stranger in [6, 5] {
        let refused = Err(CertificateError::PeerNotVoter(PEOPLE[stranger].member()));
        assert_eq!(with(&approve(&[0, 1, stranger], &said)), refused);
    }
}

#[test]
fn id_54_each_scheme_has_its_own_authority() {
    let votes = |charter: &Charter| {
        let body = body(charter);
        let vote = |who: usize| Vote::sign(&PEOPLE[who], yes(&body, END)).unwrap().proof();
        let votes: Vec<VoteProof> = vec![vote(0), vote(1)];
        Gmc::compose(&body, &votes, &PEOPLE[5]).unwrap()
    };
    let [plain, asm, frost] = [Scheme::Plain, Scheme::Asm, Scheme::Frost].map(found_by);
    let other = Err(CertificateError::PeerAuthority);
    assert_eq!((check(&plain, &votes(&plain)), check(&asm, &signed(&asm, &[0, 1], END))), (Ok(()), Ok(())));
    assert_eq!(
        (check(&asm, &votes(&asm)), check(&plain, &signed(&plain, &[0, 1], END))),
        (other.clone(), other.clone())
    );
    assert_eq!(check(&frost, &signed(&frost, &[0, 1], END)), other);
}

#[test]
fn id_11_a_certificate_has_one_authority() {
    let charter = found_by(Scheme::Asm);
    let mut both = signed(&charter, &[0, 1], END).body().clone();
    both.membership.votes = None;
    assert!(Gmc::compose(&both, &[], &PEOPLE[5]).is_err(), "votes and a multisignature");
    for bytes in [&[][..], &[1; 100]] {
        assert_eq!(
            Multi::new(Head { number: 0, digest: [0; 32] }, 0, END, bytes),
            Err(CertificateError::WireProfile("its multisignature is malformed"))
        );
    }
}
