//! A group as wide as is legal, and files of its set.

use folkmoot::tools::OsEntropy;
use folkmoot_base::{Blob, GroupName, SignatureBytes, UnixTime, digest};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::{CharterDraft, Gmc, GmcBody, Identity, SignedCharter, Verdict};
use folkmoot_transcript::{
    Approval, Approved, Batch, Change, Commit, Decision, Effect, Electors, FILE_LABEL, Item, Proof, Proposal,
    STATEMENT_LABEL, SignedApproval, Stage, Standing, Subject, Transcript, VOTERS_MAX, admission,
};
use std::collections::BTreeMap;

const FOUNDERS: usize = 3;
const DAY: u64 = 86_400;
const NOW: UnixTime = UnixTime(1_767_300_000);
/// Kind of an item of the set, and of the end, in a file.
const OPEN: u8 = 5;
const END: u8 = 8;
/// Bytes of kind and length of a section.
const HEAD_BYTES: usize = 5;

/// The group: its line is decided, its set is empty.
pub(super) struct Wide {
    people: Vec<Identity>,
    transcript: Transcript,
}

fn bug(error: impl std::fmt::Display) -> Failure {
    Failure::bug(error)
}

impl Wide {
    /// Founders admit the others, and all of them vote.
    pub(super) fn new() -> Result<Self, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let end = UnixTime(NOW.0.saturating_add(400 * DAY));
        let person =
            |number: usize| Identity::new(&format!("p{number}"), &mut entropy, NOW, end).map_err(bug);
        let people = (0..VOTERS_MAX).map(person).collect::<Result<Vec<_>, _>>()?;
        let founders: Vec<&Identity> = people.iter().take(FOUNDERS).collect();
        let named = founders.iter().map(|one| one.certificate().into()).collect();
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let draft = CharterDraft::new(GroupName::new("wide").map_err(bug)?, 2, named, &mut entropy);
        let signed = SignedCharter::sign(&draft.to_toml(), &founders).map_err(bug)?;
        let mut wide = Self { people, transcript: Transcript::founded(signed.der()).map_err(bug)? };
        wide.admit_all(&mut entropy)?;
        let voters = wide.people.iter().map(Identity::member).collect();
        wide.decide(&[Change::Electorate { voters }.into()])?;
        Ok(wide)
    }

    pub(super) fn charter(&self) -> &[u8] {
        self.transcript.signed_charter().der()
    }

    fn admit_all(&mut self, entropy: &mut OsEntropy) -> Result<(), Failure> {
        let others: Vec<Identity> = self.people.iter().skip(FOUNDERS).cloned().collect();
        for other in &others {
            let item = self.admission(other, entropy, &[0, 1])?.1;
            self.take(&item)?;
        }
        self.decide(&[])
    }

    fn take(&mut self, item: &Item) -> Result<(), Failure> {
        self.transcript.take(&item.encode(), Some(NOW)).map(drop).map_err(|error| bug(format!("{error:?}")))
    }

    /// Somebody's admission with these voters' approvals: its subject and its item.
    fn admission(
        &self,
        who: &Identity,
        entropy: &mut OsEntropy,
        voters: &[usize],
    ) -> Result<(Subject, Item), Failure> {
        let charter = self.transcript.signed_charter().charter();
        let mut body = GmcBody::propose(charter, who, 1, NOW, entropy);
        body.membership.base = self.transcript.state().head();
        let subject = admission(body.request_digest().map_err(bug)?);
        let certificate = Blob(Gmc::compose(&body, &[], who).map_err(bug)?.der().clone());
        let approvals = voters.iter().filter_map(|voter| self.approval(*voter, subject)).collect();
        Ok((subject, Item::Admit { certificate, approvals }))
    }

    fn approval(&self, voter: usize, subject: Subject) -> Option<SignedApproval> {
        let voter = self.people.get(voter)?;
        let (base, verdict) = (self.transcript.state().head(), Verdict::Approve);
        let expires = UnixTime(NOW.0.saturating_add(30 * DAY));
        let approval = Approval { voter: voter.member(), base, subject, turn: 0, verdict, expires };
        Some(SignedApproval::sign(voter.key(), self.transcript.group(), approval))
    }

    /// All founders approve these effects and decide.
    fn decide(&mut self, effects: &[Effect]) -> Result<(), Failure> {
        let (state, set) = (self.transcript.state(), self.transcript.set());
        let approved = |effect: &Effect| {
            let signed = (0..FOUNDERS).filter_map(|voter| self.approval(voter, effect.subject()));
            let mut proofs: Vec<Proof> =
                signed.map(|one| Proof::of(&one.approval, one.signature.clone())).collect();
            proofs.sort_by_key(|proof| proof.voter);
            Approved { effect: effect.clone(), proofs }
        };
        let effects = effects.iter().map(approved).collect();
        let holds = set.holdable(state, set.time(state)).into_iter().collect();
        let batch = Batch { time: NOW, effects, holds, ..Batch::default() };
        let (decision, _) =
            state.decide(batch, |request| set.admit(request)).map_err(|error| bug(format!("{error:?}")))?;
        let standing = self.signed(decision);
        self.take(&Item::Decision(standing))
    }

    /// The decision as all founders commit to it in ballot 0.
    fn signed(&self, decision: Decision) -> Standing {
        let unsigned = SignatureBytes::NONE;
        let mut voters: Vec<_> = self.people.iter().take(FOUNDERS).map(Identity::member).collect();
        voters.sort_unstable();
        let commit = |voter| Commit { voter, signature: unsigned.clone() };
        let stages = vec![Stage { ballot: 0, promises: Vec::new(), signature: unsigned.clone() }];
        let commits = voters.into_iter().map(commit).collect();
        let mut standing = Standing { proposal: Proposal { decision, stages }, commits };
        let electors: &dyn Electors = self.transcript.state();
        let keys: BTreeMap<_, _> = self.people.iter().map(|one| (one.member(), one.key())).collect();
        let mut signatures = standing.claims(electors).into_iter().filter_map(|claim| {
            let key = keys.get(&claim.voter)?;
            Some(key.sign_wire(STATEMENT_LABEL, &claim.statement.bytes(&self.transcript.group())))
        });
        let stages = standing.proposal.stages.iter_mut().map(|stage| &mut stage.signature);
        let commits = standing.commits.iter_mut().map(|commit| &mut commit.signature);
        for place in stages.chain(commits) {
            *place = signatures.next().unwrap_or(SignatureBytes::NONE);
        }
        standing
    }

    /// The file of the group with a set of so many items.
    pub(super) fn file(&self, items: usize) -> Result<Vec<u8>, Failure> {
        let mut items = self.items(items)?;
        items.sort_by_cached_key(|item| (item.get(1).copied(), digest(&[item])));
        let file = self.transcript.file();
        // The line of the file, without the certificates and the end behind it.
        let mut at = FILE_LABEL.len();
        while let Some([kind, a, b, c, d]) = file.get(at..).and_then(|rest| rest.first_chunk::<HEAD_BYTES>())
        {
            if *kind >= OPEN {
                break;
            }
            let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
            at = at.saturating_add(HEAD_BYTES).saturating_add(length);
        }
        let mut out = file.get(..at).unwrap_or_default().to_vec();
        for (kind, bytes) in items.iter().map(|item| (OPEN, item.as_slice())).chain([(END, &[][..])]) {
            out.push(kind);
            out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
            out.extend(bytes);
        }
        Ok(out)
    }

    /// A quarter are admissions, a sixteenth effects, the rest approvals by the voters in turn.
    fn items(&self, items: usize) -> Result<Vec<Vec<u8>>, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let end = UnixTime(NOW.0.saturating_add(400 * DAY));
        let mut out = Vec::new();
        let mut subjects = Vec::new();
        for number in 0..items / 4 {
            let who = Identity::new(&format!("s{number}"), &mut entropy, NOW, end).map_err(bug)?;
            let (subject, item) = self.admission(&who, &mut entropy, &[])?;
            subjects.push(subject);
            out.push(item.encode());
        }
        let mut approve = |voter: usize, subject: Subject| {
            let voter = voter.checked_rem(VOTERS_MAX).unwrap_or_default();
            out.extend(self.approval(voter, subject).map(|signed| Item::Approval(signed).encode()));
        };
        let effect = |number: usize| -> Effect {
            let value = number.to_string().into_bytes();
            Change::Charter { field: b"request_hours".to_vec().into(), value: value.into() }.into()
        };
        let effects: Vec<Effect> = (0..items / 16).map(effect).collect();
        effects.iter().enumerate().for_each(|(number, effect)| approve(number, effect.subject()));
        let left = items.saturating_sub(items / 4).saturating_sub(effects.len().saturating_mul(2));
        for (number, subject) in (0..left).zip(subjects.iter().cycle()) {
            // Another voter each time that a subject comes again.
            approve(number.saturating_add(number / subjects.len().max(1)), *subject);
        }
        out.extend(effects.into_iter().map(|effect| Item::Effect(effect).encode()));
        Ok(out)
    }
}
