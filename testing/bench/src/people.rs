//! Who is in a measured group: as many founders as a charter takes. The first of them admits
//! everybody else, each by one item of the transcript, and all of them decide to hold these
//! admissions. The transcript's own functions make the items.

use folkmoot::tools::{OsEntropy, Store, wall_clock};
use folkmoot::{Bytes, Digest, GroupId, GroupName, StateFolder, UnixTime};
use folkmoot_agreement::ModuleName;
use folkmoot_base::{Head, Keying, Persist};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::{
    Algorithms, Central, CharterDraft, Founder, Gmc, GmcBody, Identity, KeyAlgorithm, SignedCharter,
    Timeouts, Verdict, Vote, VoteBody, VoteKind,
};
use folkmoot_signing::Scheme;
use folkmoot_transcript::{
    Batch, Claim, Commit, HOLDS_MAX, Item, Kept, Proposal, STATEMENT_LABEL, SignatureBytes, Stage, Standing,
    Transcript,
};
use std::time::Duration;

/// A charter has no more founders.
pub(crate) const FOUNDERS_MAX: usize = 32;
/// The group's name.
pub(crate) const GROUP: &str = "bench";
const DAY_SECONDS: u64 = 86_400;
/// So long may a step take: nobody is to be complained of because a processor serves hundreds of
/// members.
const STEP_MS: u32 = 3_600_000;

/// What a group is founded on.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// `None`: by size, or by distance.
    pub(crate) module: Option<ModuleName>,
    pub(crate) scheme: Scheme,
    /// How many votes admit.
    pub(crate) votes: u32,
    /// Who signs the certificates besides, where an authority does.
    pub(crate) central: Option<Central>,
    /// Which keys all members have.
    pub(crate) keys: KeyAlgorithm,
}

/// A group on paper.
pub(crate) struct People {
    pub(crate) identities: Vec<Identity>,
    pub(crate) charter: SignedCharter,
    /// What its transcript has besides the charter: the admissions, held by a decision.
    stored: Vec<Persist>,
    keys: KeyAlgorithm,
}

impl People {
    /// `size` members of a group by these rules, whose links may be silent for so long. More than
    /// [`FOUNDERS_MAX`] where one vote admits, and the scheme is plain.
    pub(crate) fn new(rules: &Rules, size: usize, silence: Duration) -> Result<Self, Failure> {
        let silence_ms = u32::try_from(silence.as_millis()).map_err(Failure::bug)?;
        let timeouts =
            Timeouts { step_ms: Some(STEP_MS), silence_ms: Some(silence_ms), ..Timeouts::default() };
        Self::with(rules, size, timeouts)
    }

    /// The same with these timeouts.
    pub(crate) fn with(rules: &Rules, size: usize, timeouts: Timeouts) -> Result<Self, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let (from, to) = term();
        let identities = (0..size)
            .map(|number| Identity::draw(rules.keys, &format!("n{number}"), &mut entropy, from, to))
            .map(|identity| identity.map_err(Failure::bug))
            .collect::<Result<Vec<_>, Failure>>()?;
        let (founders, others) = identities.split_at(size.min(FOUNDERS_MAX));
        let charter = charter(rules, founders, timeouts, &mut entropy)?;
        let stored = admissions(&charter, founders, others, (from, to), &mut entropy)?;
        Ok(Self { identities, charter, stored, keys: rules.keys })
    }

    /// Somebody who is not among them.
    pub(crate) fn stranger(&self, number: usize) -> Result<Identity, Failure> {
        self.called(&format!("n{number}"))
    }

    /// Somebody of this name who is not among them, with such a key as they have.
    pub(crate) fn called(&self, name: &str) -> Result<Identity, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let (from, to) = term();
        Identity::draw(self.keys, name, &mut entropy, from, to).map_err(Failure::bug)
    }

    /// Makes the folder that of `host`, who knows the charter only.
    pub(crate) fn introduce(&self, folder: &StateFolder, host: &Identity) -> Result<(), Failure> {
        let key = host.key_pem().map_err(Failure::bug)?;
        folder.write_identity(key.expose(), &host.certificate_pem())?;
        Ok(folder.write_charter(self.charter.der())?)
    }

    /// Makes the folder that of `host`, with the whole transcript on its disk.
    pub(crate) fn furnish(&self, folder: &StateFolder, host: &Identity) -> Result<(), Failure> {
        self.introduce(folder, host)?;
        let broken = |error| Failure::from(folkmoot::Error::Store(error));
        Store::open(&folder.store_path()).and_then(|mut store| store.commit(&self.stored)).map_err(broken)
    }
}

/// For how long the certificates are valid.
fn term() -> (UnixTime, UnixTime) {
    let now = wall_clock().0;
    (UnixTime(now.saturating_sub(3_600)), UnixTime(now.saturating_add(DAY_SECONDS)))
}

fn charter(
    rules: &Rules,
    people: &[Identity],
    timeouts: Timeouts,
    entropy: &mut OsEntropy,
) -> Result<SignedCharter, Failure> {
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let name = GroupName::new(GROUP).map_err(Failure::bug)?;
    let classical = match rules.module {
        Some(ModuleName::CkdHybrid) => Some(ModuleName::Ckd),
        Some(ModuleName::MlsHybrid) => Some(ModuleName::Mls),
        other => other,
    };
    let draft = CharterDraft {
        keying: classical.map_or_else(Keying::default, Keying::Module),
        hybrid: rules.module.is_some_and(ModuleName::is_hybrid),
        scheme: rules.scheme,
        central: rules.central.clone(),
        algorithms: Algorithms::new([rules.keys]),
        timeouts,
        ..CharterDraft::new(name, rules.votes, founders, entropy)
    };
    SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).map_err(Failure::bug)
}

/// The first founder votes for each of the others, and the founders decide to hold them. What a
/// disk has then.
///
/// From 64 admissions on that no decision holds, the voters' programs make one by themselves. They
/// would do so while the bench measures something else.
fn admissions(
    charter: &SignedCharter,
    founders: &[Identity],
    others: &[Identity],
    (from, to): (UnixTime, UnixTime),
    entropy: &mut OsEntropy,
) -> Result<Vec<Persist>, Failure> {
    let mut transcript = Transcript::founded(charter.der()).map_err(Failure::bug)?;
    let first = founders.first().ok_or_else(|| Failure::bug("the group has no founders"))?;
    let (group, base) = (transcript.group(), transcript.state().head());
    let (mut kept, mut stored) = (Kept::default(), Vec::new());
    for (number, one) in (founders.len()..).zip(others) {
        let size = u32::try_from(number).map_err(Failure::bug)?;
        let body = GmcBody::propose(charter.charter(), one, size, from, entropy).over(base);
        let subject = body.request_digest().map_err(Failure::bug)?;
        let vote = approval(group, base, subject, to);
        let vote = Vote::sign(first, vote).map_err(Failure::bug)?.proof();
        let certificate = Gmc::compose(&body, &[vote], one).map_err(Failure::bug)?;
        let item = transcript.make_admit(certificate.der(), &[]).map_err(Failure::bug)?;
        let taken = transcript.take(&item, None).map_err(Failure::bug)?;
        stored.extend(kept.after(&transcript, &item, &taken));
    }
    while let Some(item) = hold(&transcript, founders)? {
        let taken = transcript.take(&item, None).map_err(Failure::bug)?;
        stored.extend(kept.after(&transcript, &item, &taken));
    }
    Ok(stored)
}

/// The founders' decision to hold the admissions that are not held yet, if there are any.
fn hold(transcript: &Transcript, founders: &[Identity]) -> Result<Option<Bytes>, Failure> {
    let (state, set, group) = (transcript.state(), transcript.set(), transcript.group());
    let holds: Vec<Digest> = set.holdable(state, set.time(state)).into_iter().take(HOLDS_MAX).collect();
    if holds.is_empty() {
        return Ok(None);
    }
    let batch = Batch { time: wall_clock(), holds, ..Batch::default() };
    let (decision, _) = state.decide(batch, |request| set.admit(request)).map_err(Failure::bug)?;
    let stage = Stage { ballot: 0, promises: Vec::new(), signature: SignatureBytes::NONE };
    let mut proposal = Proposal { decision, stages: vec![stage] };
    let sign = |claim: &Claim| {
        let voter = founders.iter().find(|one| one.member() == claim.voter);
        let sign = |one: &Identity| one.key().sign_wire(STATEMENT_LABEL, &claim.statement.bytes(&group));
        voter.map(sign).ok_or_else(|| Failure::bug("no founder has this vote"))
    };
    let claims = proposal.claims(state);
    for (stage, claim) in proposal.stages.iter_mut().zip(&claims) {
        stage.signature = sign(claim)?;
    }
    let mut commits = Vec::new();
    for voter in state.voters() {
        let mut commit = Commit { voter, signature: SignatureBytes::NONE };
        commit.signature = sign(&commit.claim(state.head(), proposal.report()))?;
        commits.push(commit);
    }
    Ok(Some(Item::Decision(Standing { proposal, commits }).encode().into()))
}

/// A yes to the request with this digest, over this head.
pub(crate) fn approval(group: GroupId, base: Head, subject: Digest, expires: UnixTime) -> VoteBody {
    VoteBody { group, base, kind: VoteKind::Admit, subject, turn: 0, verdict: Verdict::Approve, expires }
}
