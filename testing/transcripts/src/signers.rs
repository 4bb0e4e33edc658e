//! Keys and signatures besides each person's own: an authority's, a group's, and those that several
//! voters make together.

use crate::group::{Drawn, START};
use crate::{Dice, Group};
use folkmoot_base::{Head, MemberId, Secret, UnixTime};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, GmcBody, GroupKey, Mode, Multi, Scheme, Verdict, VoteBody, VoteKind,
};
use folkmoot_signing::asm::{self, ProvenKey, Signers};
use folkmoot_signing::shared::{self, AnyRun, Dealt, Outcome};
use folkmoot_signing::{Incoming, Next, Outgoing, RunId, SigningKey};
use std::collections::BTreeMap;

/// What signs besides people.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The key of the charter's authority.
    pub(crate) authority: Option<SigningKey>,
    /// The secret of the group's key, as a dealer has it.
    pub(crate) secret: Option<Secret<Vec<u8>>>,
    /// The shares that are in use.
    pub(crate) dealt: Option<Dealt>,
    /// The certificate of the group's key.
    pub(crate) certificate: Vec<u8>,
}

/// The certificate of this authority's key for the group of this name.
pub(crate) fn authority(name: &str, key: &SigningKey, dice: &mut Dice) -> Drawn<AuthorityCertificate> {
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der())?;
    let body = AuthorityBody::new(name, public, UnixTime(START), dice);
    Ok(AuthorityCertificate::close(&body, &key.sign_raw(&body.tbs()?).to_paper())?)
}

/// Lets these runs go on until they end in a signature.
fn run(mut runs: BTreeMap<MemberId, AnyRun>, dice: &mut Dice) -> Drawn<Vec<u8>> {
    let mut spoken: BTreeMap<MemberId, Outgoing> = BTreeMap::new();
    for (me, run) in &mut runs {
        match run.start(dice) {
            Next::Say(said) => drop(spoken.insert(*me, said)),
            Next::Done(_) => return Err("a run without rounds".into()),
        }
    }
    loop {
        let now = std::mem::take(&mut spoken);
        for (me, run) in &mut runs {
            let mut heard = Incoming::default();
            for hand in run.awaited() {
                let said = now.get(&hand).ok_or("a signer is silent")?;
                heard.to_all.insert(hand, said.to_all.clone());
                heard.to_me.extend(said.to_each.get(me).map(|words| (hand, words.clone())));
            }
            match run.hear(heard, dice).map_err(|fault| format!("{fault:?}"))? {
                Next::Say(said) => drop(spoken.insert(*me, said)),
                Next::Done(Outcome::Signature(signature)) => return Ok(signature),
                Next::Done(other) => return Err(format!("{other:?}").into()),
            }
        }
    }
}

/// A signature by the key of these shares.
fn sign(scheme: Scheme, dealt: &Dealt, message: &[u8], dice: &mut Dice) -> Drawn<Vec<u8>> {
    let facts = shared::facts(scheme, &dealt.public)?;
    let hands = facts.holders.get(..scheme.signers(facts.threshold)).ok_or("too few holders")?;
    let mut runs = BTreeMap::new();
    for (me, share) in dealt.shares.iter().filter(|(me, _)| hands.contains(me)) {
        let one = shared::sign(scheme, RunId([7; 32]), *me, hands, (&dealt.public, share), message);
        runs.insert(*me, one.map_err(|fault| format!("{fault:?}"))?);
    }
    run(runs, dice)
}

impl Group {
    fn scheme(&self) -> Scheme {
        self.transcript.state().charter().scheme()
    }

    /// A signature by the group's key, made by as many holders as it takes.
    pub(crate) fn shared_signature(&mut self, message: &[u8]) -> Drawn<Vec<u8>> {
        let scheme = self.scheme();
        let dealt = self.keys.dealt.as_ref().ok_or("no shares")?;
        sign(scheme, dealt, message, &mut self.dice)
    }

    /// Deals new shares of the group's key to these holders, and makes the key's certificate if the
    /// members sign certificates with it: shares and certificate.
    pub(crate) fn deal(&mut self, holders: &[MemberId]) -> Drawn<(Dealt, Vec<u8>)> {
        let scheme = self.scheme();
        let charter = self.transcript.state().charter().clone();
        let threshold = self.transcript.state().threshold();
        if self.keys.secret.is_none() {
            self.keys.secret = Some(shared::draw_secret(scheme, &mut self.dice)?);
        }
        let secret = self.keys.secret.as_ref().ok_or("no secret")?;
        let dealt = shared::deal(scheme, secret, threshold, holders, &mut self.dice);
        let dealt = dealt.map_err(|why| format!("{why:?}"))?;
        if charter.mode() == Mode::Decentralised && self.keys.certificate.is_empty() {
            let key = shared::public_key(scheme, secret)?;
            let body = AuthorityBody::new(charter.name().as_str(), key, UnixTime(START), &mut self.dice);
            let signature = sign(scheme, &dealt, &body.tbs()?, &mut self.dice)?;
            self.keys.certificate = AuthorityCertificate::close(&body, &signature)?.der().to_vec();
        }
        Ok((dealt, self.keys.certificate.clone()))
    }

    /// One signature of these voters on a request.
    pub(crate) fn multi(
        &mut self,
        body: &GmcBody,
        base: Head,
        voters: &[MemberId],
        expires: u64,
    ) -> Drawn<Multi> {
        let group = self.transcript.group();
        let said = VoteBody {
            group,
            base,
            kind: VoteKind::Admit,
            subject: body.request_digest()?,
            turn: 0,
            verdict: Verdict::Approve,
            expires: UnixTime(expires),
        };
        let mut runs = BTreeMap::new();
        for one in voters {
            let keys = voters.iter().filter_map(|voter| self.people.get(voter));
            let keys = keys.map(|person| {
                ProvenKey::of_possession_proven_elsewhere(person.key().verifying_key(), &group.0)
            });
            let signers = Signers::new(keys.collect::<Result<Vec<_>, _>>()?)?;
            let key = self.people.get(one).ok_or("a voter without a key")?.key();
            let run =
                asm::signer(RunId([9; 32]), key, signers, folkmoot_identity::MULTI_LABEL, &said.encode());
            runs.insert(*one, run.map_err(|fault| format!("{fault:?}"))?);
        }
        let signature = run(runs, &mut self.dice)?;
        Ok(Multi::new(base, 0, UnixTime(expires), &signature)?)
    }
}
