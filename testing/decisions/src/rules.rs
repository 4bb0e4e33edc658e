//! The rules of a run's group: its charter, and the group's key where there is one.

use crate::people::{Counted, Dice, PEOPLE, People};
use folkmoot_base::{Blob, GroupName, MemberId, UnixTime};
use folkmoot_identity::{
    Adopt, AuthorityBody, AuthorityCertificate, Central, Charter, CharterDraft, Dealer, Founder, GroupKey,
    Policy, Quorum, Scheme, SigningKey,
};
use folkmoot_signing::shared;
use folkmoot_transcript::{Change, State};

pub(crate) const SCHEME: Scheme = Scheme::Frost;
const NAME: &str = "decisions";

/// What a charter says, as a run draws it.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How many founders.
    pub founders: usize,
    /// Which of them the charter names first.
    first: usize,
    threshold: u32,
    quorum: Quorum,
    objections: Option<u32>,
    adopt: Adopt,
    who: Who,
}

/// Who lets newcomers in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Voters,
    /// The voters, by a key that they share.
    Key,
    /// The charter's authority alone.
    Authority,
    /// Whom the charter lists comes in unasked.
    List,
}

impl Rules {
    /// The rules of one run.
    pub fn draw(dice: &mut Dice) -> Self {
        let founders = 3 + dice.roll(3);
        Self {
            founders,
            first: dice.roll(founders),
            threshold: u32::try_from(1 + dice.roll(3)).unwrap_or(1),
            quorum: if dice.chance(25) { Quorum::TwoThirds } else { Quorum::Majority },
            objections: dice.chance(30).then_some(2),
            adopt: if dice.chance(50) { Adopt::Auto } else { Adopt::Ask },
            who: match dice.roll(20) {
                0 => Who::Key,
                1 => Who::Authority,
                2 | 3 => Who::List,
                _ => Who::Voters,
            },
        }
    }

    /// The charter.
    ///
    /// # Errors
    /// Its own refusal, as text.
    pub fn charter(&self, people: &People) -> Result<Charter, String> {
        let founder = |person: usize| {
            let key = people.key(person)?.clone();
            Some(Founder { name: format!("person {person}"), key })
        };
        let order = (0..self.founders).map(|place| (place + self.first) % self.founders);
        let named = order.filter_map(founder).collect();
        let name = GroupName::new(NAME).map_err(|why| why.to_string())?;
        let mut draft = CharterDraft::new(name, self.threshold, named, &mut Counted(1 << 48));
        draft.quorum = self.quorum;
        draft.adopt = self.adopt;
        draft.policies.objections = self.objections;
        if matches!(self.who, Who::Key | Who::Authority) {
            draft.central = Some(central(people, self.who)?);
        }
        match self.who {
            Who::Voters => {}
            Who::Key => draft.scheme = SCHEME,
            Who::Authority => draft.policies.policy = Policy::Authority,
            Who::List => {
                draft.policies.policy = Policy::List;
                draft.policies.list = (0..PEOPLE).step_by(2).map(|person| people.member(person)).collect();
            }
        }
        Charter::from_toml(&draft.to_toml()).map_err(|why| why.to_string())
    }
}

/// An authority that speaks with the last key of all.
fn central(people: &People, who: Who) -> Result<Central, String> {
    let key = SigningKey::generate(&mut Counted(90 << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).map_err(|why| why.to_string())?;
    let body = AuthorityBody::new(NAME, public, UnixTime(crate::node::START), &mut Counted(91 << 32));
    let text = body.tbs().map_err(|why| why.to_string())?;
    let signature = key.sign_raw(&text).to_paper();
    let certificate = AuthorityCertificate::close(&body, &signature).map_err(|why| why.to_string())?;
    let dealer = (who == Who::Key).then_some(Dealer::Keeps);
    Ok(Central { certificate, nodes: [people.member(2 * PEOPLE - 1)].into(), dealer })
}

/// A sharing of the group's key among these holders, where the charter has such a key.
pub(crate) fn sharing(state: &State, holders: &[MemberId], deal: usize) -> Option<Change> {
    let mut holders = holders.to_vec();
    holders.sort_unstable();
    let seed = u64::try_from(deal).unwrap_or_default();
    let secret = shared::draw_secret(SCHEME, &mut Counted(50 << 32)).ok()?;
    let dealt =
        shared::deal(SCHEME, &secret, state.threshold(), &holders, &mut Counted((60 + seed) << 32)).ok()?;
    Some(Change::Sharing { public: Blob::from(dealt.public), authority: Blob::default() })
}
