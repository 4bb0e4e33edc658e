//! A group that has a key, which its founders hold in shares: the key signs every certificate.

use super::world::{ANNA, BEN, CORA, DAN, EVA, FINN, Moot, PEOPLE, START, Seed, draft, founded, id};
use folkmoot_base::{Blob, Digest, MemberId, Secret, UnixTime};
use folkmoot_identity::{AuthorityBody, AuthorityCertificate, Gmc, GmcBody, GroupKey, Scheme};
use folkmoot_signing::shared::{self, AnyRun, Dealt, Outcome};
use folkmoot_signing::{Incoming, Next, Outgoing, RunId};
use folkmoot_transcript::{Change, Item, admission};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const SCHEME: Scheme = Scheme::Frost;

pub(crate) static KEYED: LazyLock<Keyed> = LazyLock::new(Keyed::new);

/// The group's key: the secret and the shares of it that its dealer made.
pub(crate) struct Key {
    secret: Secret<Vec<u8>>,
    dealt: Dealt,
}

impl Key {
    pub(crate) fn dealt(seed: u64) -> Self {
        let mut holders: Vec<MemberId> = [ANNA, BEN, CORA, DAN].map(id).to_vec();
        holders.sort_unstable();
        let secret = shared::draw_secret(SCHEME, &mut Seed(seed << 41)).unwrap();
        let dealt = shared::deal(SCHEME, &secret, 2, &holders, &mut Seed(seed << 42)).unwrap();
        Self { secret, dealt }
    }

    fn public(&self) -> GroupKey {
        shared::public_key(SCHEME, &self.secret).unwrap()
    }

    fn epoch(&self) -> Digest {
        shared::facts(SCHEME, &self.dealt.public).unwrap().epoch
    }

    /// What two holders sign together.
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let shares = &self.dealt.shares[..SCHEME.signers(2)];
        let signers: Vec<MemberId> = shares.iter().map(|(holder, _)| *holder).collect();
        let run = |(me, share): &(MemberId, Secret<Vec<u8>>)| {
            let material = (self.dealt.public.as_slice(), share);
            (*me, shared::sign(SCHEME, RunId([1; 32]), *me, &signers, material, message).unwrap())
        };
        let mut runs: BTreeMap<MemberId, AnyRun> = shares.iter().map(run).collect();
        let mut spoken = BTreeMap::new();
        for (number, (me, run)) in (1_u64..).zip(&mut runs) {
            spoken.insert(*me, said(run.start(&mut Seed(number << 40))).expect("a run has rounds"));
        }
        for round in 1_u64.. {
            let now = std::mem::take(&mut spoken);
            for (number, (me, run)) in (1_u64..).zip(&mut runs) {
                let mut heard = Incoming::default();
                for other in run.awaited() {
                    heard.to_all.insert(other, now[&other].to_all.clone());
                    heard.to_me.extend(now[&other].to_each.get(me).map(|words| (other, words.clone())));
                }
                match said(run.hear(heard, &mut Seed((number << 40) + (round << 20))).unwrap()) {
                    Ok(words) => drop(spoken.insert(*me, words)),
                    Err(signature) => return signature,
                }
            }
        }
        unreachable!("a run ends")
    }

    fn certificate(&self) -> AuthorityCertificate {
        let body = AuthorityBody::new("line", self.public(), UnixTime(START), &mut Seed(8 << 45));
        AuthorityCertificate::close(&body, &self.sign(&body.tbs().unwrap())).unwrap()
    }

    /// The item of a certificate that this key signs, with these voters' approvals.
    pub(crate) fn certified(&self, moot: &Moot, body: &GmcBody, voters: &[usize]) -> Item {
        let body = body.clone().issued_under(self.epoch());
        let key = self.public();
        let signature = self.sign(&body.issued_tbs(&key).unwrap());
        let gmc = Gmc::issue_by_group(&body, &key, &signature).unwrap();
        let subject = admission(body.request_digest().unwrap());
        let approvals = voters.iter().map(|who| moot.yes(*who, subject)).collect();
        Item::Admit { certificate: Blob(gmc.der().clone()), approvals }
    }
}

fn said(next: Next<Outcome>) -> Result<Outgoing, Vec<u8>> {
    match next {
        Next::Say(said) => Ok(said),
        Next::Done(Outcome::Signature(signature)) => Err(signature),
        Next::Done(_) => panic!("another outcome"),
    }
}

/// Its line: the sharing, then Eva, whom a decision holds; Finn is open.
pub(crate) struct Keyed {
    pub(crate) moot: Moot,
    /// Before anybody was admitted.
    pub(crate) before: Moot,
}

impl Keyed {
    fn new() -> Self {
        let key = Key::dealt(1);
        let mut keyed = draft(13);
        keyed.scheme = SCHEME;
        let mut moot = Moot::of(founded(&keyed, &PEOPLE[..4]), 13);
        let public = key.dealt.public.clone();
        let authority = key.certificate().der().to_vec();
        moot.pass(Change::Sharing { public: public.into(), authority: authority.into() }, &[ANNA, BEN, CORA]);
        let before = moot.clone();
        for who in [EVA, FINN] {
            let body = moot.request(who, 100);
            let item = key.certified(&moot, &body, &[ANNA, CORA]);
            moot.take(&item);
            if who == EVA {
                moot.decide(&[], &[ANNA, BEN, CORA]);
            }
        }
        Self { moot, before }
    }
}
