//! What a drawn group is founded on.

use crate::group::{DAY, Drawn, START, algorithm};
use crate::signers::{Keys, authority};
use crate::{Dice, Group, contacts};
use folkmoot_base::{GroupName, MemberId, UnixTime};
use folkmoot_identity::{
    Adopt, Algorithms, Below, Central, CharterDraft, Dealer, Founder, Identity, KeyAlgorithm, Policy, Quorum,
    Rule, Scheme, SignedCharter,
};
use folkmoot_signing::SigningKey;
use folkmoot_transcript::Transcript;
use std::collections::BTreeMap;

/// How a group signs: plain groups are drawn most.
fn scheme(dice: &mut Dice) -> (Scheme, bool) {
    match dice.roll(20) {
        0..=12 => (Scheme::Plain, false),
        13 => (Scheme::Plain, true),
        14 | 15 => (Scheme::Asm, false),
        16 => (Scheme::Frost, false),
        17 => (Scheme::Frost, true),
        18 => (Scheme::TsDsa, false),
        _ => (Scheme::TsDsa, true),
    }
}

impl Group {
    pub(crate) fn found(mut dice: Dice) -> Drawn<Self> {
        let (scheme, centralised) = scheme(&mut dice);
        // Asm takes keys on P-256 alone.
        let is_mixed = scheme != Scheme::Asm && dice.chance(40);
        let mut people = BTreeMap::new();
        let mut founders: Vec<Identity> = Vec::new();
        for number in 0..1 + dice.roll(7) {
            let (from, to) = (UnixTime(START), UnixTime(START + 7_000 * DAY));
            let key = if is_mixed { algorithm(&mut dice) } else { KeyAlgorithm::P256 };
            let founder = Identity::draw(key, &format!("Anna {number}"), &mut dice, from, to)?;
            people.insert(founder.member(), founder.clone());
            founders.push(founder);
        }
        let mut keys = Keys::default();
        let mut draft = drafted(&mut dice, &founders, scheme, centralised.then_some(&mut keys))?;
        if is_mixed {
            draft.algorithms = Algorithms::new(KeyAlgorithm::ALL.iter().copied());
        }
        let all: Vec<&Identity> = founders.iter().collect();
        let more = if is_mixed { String::new() } else { contacts::algorithms(&mut dice) };
        let text = draft.to_toml().replacen("format = 2\n", &format!("format = 2\n{more}"), 1);
        let signed = SignedCharter::sign(&text, &all)?;
        let transcript = Transcript::founded(signed.der())?;
        let (asked, said, other) = (Vec::new(), Vec::new(), None);
        Ok(Self { dice, transcript, people, keys, clock: START + DAY, asked, said, other })
    }
}

/// The founding rules.
fn drafted(
    dice: &mut Dice,
    founders: &[Identity],
    scheme: Scheme,
    central: Option<&mut Keys>,
) -> Drawn<CharterDraft> {
    let name = "book club";
    let named: Vec<Founder> = founders.iter().map(|founder| founder.certificate().into()).collect();
    let most = if scheme == Scheme::TsDsa { founders.len().div_ceil(2) } else { founders.len() };
    let threshold = u32::try_from(1 + dice.roll(most.min(3)))?;
    let mut draft = CharterDraft::new(GroupName::new(name)?, threshold, named, dice);
    draft.scheme = scheme;
    if let Some(keys) = central {
        let key = SigningKey::generate(dice);
        let node = SigningKey::generate(dice).verifying_key().member_id();
        let certificate = authority(name, &key, dice)?;
        let dealer = scheme.shared().then_some(Dealer::Keeps);
        draft.central = Some(Central { certificate, nodes: [node].into(), dealer });
        keys.authority = Some(key);
    }
    if dice.chance(20) {
        draft.ratio = Some((50, 1)).filter(|_| scheme != Scheme::TsDsa);
    }
    if dice.chance(25) {
        draft.quorum = Quorum::TwoThirds;
    }
    if dice.chance(25) {
        draft.adopt = Adopt::Auto;
    }
    draft.minority_may_admit = scheme.shared() || dice.chance(80);
    draft.policies.objections = dice.chance(40).then_some(1 + u32::try_from(dice.roll(2))?);
    draft.policies.request_days = dice.chance(20).then_some(40);
    if dice.chance(30) {
        draft.policies.below = Below::Reset;
    }
    draft.contacts = contacts::some(dice);
    draft.validity = contacts::validity(dice);
    draft.recognised = contacts::recognised(dice);
    policies(dice, &mut draft, founders)?;
    Ok(draft)
}

/// Policies and rules, where the scheme lets votes be looked at.
fn policies(dice: &mut Dice, draft: &mut CharterDraft, founders: &[Identity]) -> Drawn<()> {
    if draft.scheme != Scheme::Plain {
        return Ok(());
    }
    let ids: Vec<MemberId> = founders.iter().map(Identity::member).collect();
    let some = |dice: &mut Dice| dice.some(&ids, 60).into_iter().chain(ids.first().copied()).collect();
    draft.policies.roles.insert("crew".to_owned(), some(dice));
    match dice.roll(6) {
        0 => draft.policies.admit = Some(Rule::parse("1 of crew or 3 of all")?),
        1 => {
            draft.policies.policy = Policy::Founder;
            draft.policies.decider = ids.first().copied();
        }
        2 if draft.minority_may_admit => {
            draft.policies.policy = Policy::List;
            draft.policies.list = some(dice);
        }
        3 if draft.central.is_some() && draft.minority_may_admit => draft.policies.policy = Policy::Authority,
        _ => draft.policies.remove = Some(Rule::parse("1 of crew")?),
    }
    Ok(())
}
