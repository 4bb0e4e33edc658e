//! Tells a group of exclusions, and hears who has carried them out.

use super::exclude::Struck;
use super::failed;
use super::papers::{RootFolder, read_certificate};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::show::{many_of, visible};
use bytes::Bytes;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot_base::{Digest, MemberId};
use folkmoot_lcm::{Bus, CONFIRMATION_CHANNEL, Capacity, Pattern, Subscription};
use folkmoot_pubsub::secured::{Claim, Confirming, Domain, Permit, PermitError, Question, Root};
use folkmoot_pubsub::{Address, Channel};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A question is asked so often. A member answers one in 50 ms.
const PAUSE: Duration = Duration::from_millis(100);
/// So often at least those are told that nobody is waited for with.
const TURNS_OVER: usize = 10;
/// Most answers that are read between two questions.
const HEARD_MAX: usize = 1_000;
/// Clocks differ: a certificate that ended a moment ago may still be used.
const SKEW_SECONDS: u64 = 3_600;

/// One of the groups that are told.
pub(super) struct Group {
    domain: Domain,
    address: Address,
    root: Root,
    /// Who has a certificate for it, by the register.
    members: BTreeMap<MemberId, Member>,
    /// Whose certificates do not count.
    out: BTreeSet<Digest>,
    /// Which of the exclusions are told in all groups of their certificates.
    whole: Vec<bool>,
    /// For each exclusion: who has confirmed it.
    confirmed: Vec<BTreeMap<MemberId, u16>>,
}

struct Member {
    sender: u16,
    subject: String,
}

impl Group {
    /// One of those where all of this is told.
    pub(super) fn new(
        address: Address,
        all: &[Address],
        root: &RootFolder,
        struck: &[Struck],
    ) -> Result<Self, Failure> {
        let domain = Domain::group(address.group.into()).map_err(Failure::bug)?;
        let judge = root.issuer.root().clone();
        let mut members = BTreeMap::new();
        for (_, der) in root.issued()? {
            let permit = match judge.permit(&der, wall_clock(), SKEW_SECONDS) {
                Err(PermitError::PeerNotYet(begins)) => judge.permit(&der, begins, 0),
                other => other,
            };
            let Ok(permit) = permit else { continue };
            let subject = Claim::from_der(&der).map(|claim| claim.subject).unwrap_or_default();
            if let Some(sender) = permit.sender(&domain) {
                members.insert(permit.key().member_id(), Member { sender: sender.get(), subject });
            }
        }
        let mut out = BTreeSet::new();
        for file in root.excluded()? {
            let statement = root.issuer.exclude(&read_certificate(&file)?);
            let statement = statement.ok().and_then(|statement| judge.excluded(&statement));
            out.extend(statement.map(|out| out.holder));
        }
        let whole = struck.iter().map(|one| one.is_told_in(all)).collect();
        let confirmed = vec![BTreeMap::new(); struck.len()];
        Ok(Self { domain, address, root: judge, members, out, whole, confirmed })
    }

    /// Whether everybody has carried it out who has a certificate, in all groups; nobody is not
    /// everybody.
    pub(super) fn is_done(&self, place: usize) -> bool {
        let all = !self.members.is_empty() && self.missing(place).next().is_none();
        all && self.whole.get(place) == Some(&true)
    }

    pub(super) fn is_unheard(&self) -> bool {
        self.confirmed.iter().all(BTreeMap::is_empty)
    }

    /// How many have not confirmed everything.
    pub(super) fn silent(&self) -> u64 {
        let all: BTreeSet<u16> = (0..self.confirmed.len())
            .flat_map(|place| self.missing(place).map(|member| member.sender).collect::<Vec<_>>())
            .collect();
        all.len().try_into().unwrap_or(u64::MAX)
    }

    fn confirmed(&self, place: usize) -> &BTreeMap<MemberId, u16> {
        static NOBODY: BTreeMap<MemberId, u16> = BTreeMap::new();
        self.confirmed.get(place).unwrap_or(&NOBODY)
    }

    fn missing(&self, place: usize) -> impl Iterator<Item = &Member> {
        let confirmed = self.confirmed(place);
        self.members.iter().filter(|(key, _)| !confirmed.contains_key(key)).map(|(_, member)| member)
    }

    pub(super) fn words(&self, place: usize) -> String {
        let group = self.address.group;
        let confirmed = self.confirmed(place).len().try_into().unwrap_or(u64::MAX);
        let missing = |one: &Member| format!("{} (sender {})", visible(&one.subject), one.sender);
        let missing: Vec<String> = self.missing(place).map(missing).collect();
        let mut said = format!("{} on {group} confirmed it", many_of(confirmed, "member"));
        if self.members.is_empty() {
            said.push_str(", and the register names nobody there who could");
        }
        if self.whole.get(place) == Some(&false) {
            said.push_str("; it was not told in all groups of the certificate");
        }
        if missing.is_empty() { said } else { format!("{said}, not {}", missing.join(", ")) }
    }

    pub(super) fn value(&self, place: usize) -> Value {
        json!({
            "group": self.address.group.to_string(),
            "confirmed": self.confirmed(place).values().collect::<BTreeSet<_>>(),
            "missing": self.missing(place).map(|member| member.sender).collect::<BTreeSet<_>>(),
        })
    }

    /// Takes an answer, if it is to one of these questions.
    fn hear(&mut self, said: &[u8], questions: &[Question]) {
        let Ok(Confirming::Confirmation(answer)) = Confirming::read(said) else { return };
        let judge = |question: &Question| -> Option<Permit> {
            answer.judge(question, &self.domain, &self.root, wall_clock(), SKEW_SECONDS)
        };
        let judged =
            questions.iter().enumerate().find_map(|(place, question)| Some((place, judge(question)?)));
        let Some((place, permit)) = judged else { return };
        let sender = permit.sender(&self.domain).map_or(0, |sender| sender.get());
        // Whoever is out itself has no say.
        if self.out.contains(permit.holder()) {
            return;
        }
        if let Some(confirmed) = self.confirmed.get_mut(place) {
            confirmed.insert(permit.key().member_id(), sender);
        }
    }
}

/// Asks until all members have confirmed all exclusions, or for so long; whether they have. Those
/// of certificates that ended long ago are told, and not waited for.
pub(super) async fn tell(
    told: &mut [Group],
    struck: &[Struck],
    wait: Duration,
    json: bool,
) -> Result<bool, Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let questions: Vec<Question> =
        struck.iter().map(|one| Question::new(one.statement.clone(), &mut entropy)).collect();
    let mut places = told.iter().map(|group| Place::join(group.address)).collect::<Result<Vec<_>, _>>()?;
    let progress = Progress::wait("waiting for members to confirm", json);
    let ends = Instant::now() + wait;
    let least = if struck.iter().any(Struck::is_over) { TURNS_OVER } else { 0 };
    let mut turn = 0_usize;
    loop {
        for (place, group) in places.iter().zip(told.iter()) {
            let open: Vec<usize> = (0..struck.len()).filter(|one| !group.is_done(*one)).collect();
            let next = turn.checked_rem(open.len()).and_then(|at| open.get(at));
            if let Some(question) = next.and_then(|one| questions.get(*one)) {
                place.ask(question).await?;
            }
        }
        tokio::time::sleep(PAUSE).await;
        for (place, group) in places.iter_mut().zip(told.iter_mut()) {
            place.heard().for_each(|said| group.hear(&said, &questions));
        }
        let done =
            |place: usize, one: &Struck| one.is_over() || told.iter().all(|group| group.is_done(place));
        let all = struck.iter().enumerate().all(|(place, one)| done(place, one));
        let done = all && turn >= least;
        if done || Instant::now() >= ends {
            drop(progress);
            return Ok(done);
        }
        turn = turn.saturating_add(1);
    }
}

/// This command's place in a group, plain.
struct Place {
    bus: Bus,
    channel: Channel,
    answers: Subscription,
}

impl Place {
    fn join(address: Address) -> Result<Self, Failure> {
        let channel = Channel::new(CONFIRMATION_CHANNEL).map_err(Failure::bug)?;
        let bus = Bus::join(address).map_err(failed)?;
        let pattern = Pattern::new(CONFIRMATION_CHANNEL).map_err(Failure::bug)?;
        let answers = bus.subscribe(pattern, Capacity::default()).map_err(failed)?;
        Ok(Self { bus, channel, answers })
    }

    async fn ask(&self, question: &Question) -> Result<(), Failure> {
        let said = Confirming::Question(question.clone()).encode();
        self.bus.publish(self.channel, &said).await.map_err(failed)
    }

    /// What came, but no more than a flood leaves time for.
    fn heard(&mut self) -> impl Iterator<Item = Bytes> {
        std::iter::from_fn(|| self.answers.waiting().map(|heard| heard.payload)).take(HEARD_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::UnixTime;
    use folkmoot_pubsub::secured::{Certificates, Issuer, Right, SenderId};
    use folkmoot_signing::plain::SigningKey;

    fn certificates(issuer: &Issuer, domain: Domain, number: u16) -> Certificates {
        let mut entropy = OsEntropy::new().unwrap();
        let (key, sender) = (SigningKey::generate(&mut entropy), SenderId::new(number).unwrap());
        let (rights, now) = (BTreeSet::from([Right { domain, sender }]), wall_clock());
        let term = now..=UnixTime(now.0 + 60);
        let made = issuer.issue("arm", key.verifying_key(), &rights, &term, &mut entropy).unwrap();
        Certificates::new(issuer.certificate(), &made, key).unwrap()
    }

    #[test]
    fn pub_75_whoever_is_excluded_confirms_nothing() {
        let mut entropy = OsEntropy::new().unwrap();
        let (now, address) = (wall_clock(), Address::default());
        let term = now..=UnixTime(now.0 + 60);
        let issuer = Issuer::new("root", SigningKey::generate(&mut entropy), &term, &mut entropy).unwrap();
        let domain = Domain::group(address.group.into()).unwrap();
        let [arm, thief] = [1, 2].map(|number| certificates(&issuer, domain, number));
        let statement =
            folkmoot_pubsub::secured::exclude(issuer.key(), thief.permit().holder(), thief.permit().ends());
        let question = Question::new(statement, &mut entropy);
        let (members, confirmed) = (BTreeMap::new(), vec![BTreeMap::new()]);
        let out = BTreeSet::from([*thief.permit().holder()]);
        let (root, whole) = (issuer.root().clone(), vec![true]);
        let mut group = Group { domain, address, root, members, out, whole, confirmed };
        assert!(!group.is_done(0), "nobody is not everybody");
        let says = |who: &Certificates| Confirming::Confirmation(question.confirm(&domain, who)).encode();
        group.hear(&says(&thief), std::slice::from_ref(&question));
        assert!(group.is_unheard());
        group.hear(&says(&arm), std::slice::from_ref(&question));
        assert!(!group.is_done(0), "the register does not know of it, nor perhaps of others");
        let member = Member { sender: 1, subject: "CN=arm".into() };
        group.members.insert(arm.permit().key().member_id(), member);
        assert!(group.is_done(0));
        group.whole = vec![false];
        assert!(!group.is_done(0), "it was told in one of two groups");
        group.whole = vec![true];
        // Another member has a certificate, and has said nothing.
        let other = certificates(&issuer, domain, 3);
        let member = Member { sender: 3, subject: "CN=leg".into() };
        group.members.insert(other.permit().key().member_id(), member);
        assert!(!group.is_done(0) && group.silent() == 1);
    }
}
