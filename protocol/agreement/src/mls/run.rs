//! One run at one party.

use super::Suite;
use super::group::{MlsClient, MlsGroup, named};
use super::judge::{Judge, Package, fresh};
use super::layout::Layout;
use super::provider::{Parts, Provider};
use super::source::Source;
use crate::base::{Digest, Entropy, Party, digest};
use crate::{AgreementError, Count, Kept, Module, ModuleName, Plan, Stage, Step};
use std::collections::{BTreeMap, BTreeSet};

/// From everybody who comes new.
pub(crate) const KEY_PACKAGE: u8 = 1;
/// From the committer: decides.
pub(crate) const COMMIT: u8 = 2;

/// What all have seen so far in the one order.
pub(super) enum Seen {
    /// These have not sent their key package.
    Packages { missing: BTreeSet<usize> },
    /// All have.
    All,
    /// The commit is out.
    Done,
}

/// The state of this party.
pub(super) enum State {
    /// Not begun; it will come as a newcomer.
    Empty,
    /// Its keys, and a group of its own that lends the library's judgement.
    New { client: Box<MlsClient>, own: Box<MlsGroup> },
    /// The group.
    In(Box<MlsGroup>),
}

/// What is kept: the group, without the secret that it has exported.
struct Standing {
    group: MlsGroup,
    suite: Suite,
    source: Source,
}

/// One run at one party.
pub struct Run {
    pub(super) plan: Plan,
    pub(super) layout: Layout,
    pub(super) suite: Suite,
    pub(super) source: Source,
    pub(super) parts: Parts,
    pub(super) state: State,
    pub(super) seen: Seen,
    pub(super) packages: BTreeMap<usize, Package>,
    /// Digests of the key packages, by place: what the secret is bound to.
    pub(super) spoken: BTreeMap<usize, Digest>,
    /// The committer's own COMMIT.
    pub(super) sent: Option<Vec<u8>>,
    pub(super) powers: u64,
}

impl Run {
    /// A run for `plan`. A party of the base starts from what it kept.
    ///
    /// # Errors
    /// [`AgreementError::LocalKept`] if `kept` is not of this module and suite, or not at the leaf
    /// that the plan says; [`AgreementError::PeerOrigin`] if another's origin in the plan cannot
    /// be.
    pub fn new(plan: &Plan, kept: Option<&Kept>, suite: Suite) -> Result<Self, AgreementError> {
        let standing = match plan.origin(plan.me()) {
            Some(_) => Some(standing(plan, kept, suite)?).filter(|_| plan.in_base()),
            None => None,
        };
        let layout = Layout::new(plan)?;
        let source = standing.map_or_else(Source::default, |standing| standing.source.clone());
        let provider = Provider { suite, source: source.clone() };
        let missing: BTreeSet<_> = layout.newcomers.iter().copied().collect();
        Ok(Self {
            plan: plan.clone(),
            suite,
            source,
            parts: provider.parts().ok_or(AgreementError::LocalNotReady)?,
            state: standing.map_or(State::Empty, |standing| State::In(Box::new(standing.group.clone()))),
            seen: if missing.is_empty() { Seen::All } else { Seen::Packages { missing } },
            packages: BTreeMap::new(),
            spoken: BTreeMap::new(),
            sent: None,
            powers: 0,
            layout,
        })
    }

    pub(super) fn me(&self) -> Result<Party, AgreementError> {
        self.plan.members().get(self.plan.me()).copied().ok_or(AgreementError::LocalMembers)
    }

    pub(super) fn provider(&self) -> Provider {
        Provider { suite: self.suite, source: self.source.clone() }
    }

    pub(super) fn judge(&self) -> Judge<'_> {
        Judge { suite: self.suite, parts: &self.parts, plan: &self.plan, layout: &self.layout }
    }

    fn key_package(
        &mut self,
        from: usize,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let last = match &self.seen {
            Seen::Packages { missing } if missing.contains(&from) => missing.len() == 1,
            _ => return Err(self.out_of_turn(from, KEY_PACKAGE)),
        };
        if body.len() > self.suite.key_package_bytes_max() {
            return Err(AgreementError::PeerMalformed);
        }
        let member = *self.plan.members().get(from).ok_or(AgreementError::LocalMembers)?;
        let package = self.judge_package(&member, body)?;
        self.packages.insert(from, package);
        self.spoken.insert(from, digest(&[body]));
        if let Seen::Packages { missing } = &mut self.seen {
            missing.remove(&from);
        }
        if !last {
            return Ok(Vec::new());
        }
        self.seen = Seen::All;
        // A committer that cannot commit is silent, and the others complain about it: the step that
        // it answers was good.
        let mine = self.plan.me() == self.layout.committer;
        Ok(if mine { self.commit(entropy).into_iter().collect() } else { Vec::new() })
    }

    fn judge_package(&mut self, member: &Party, body: &[u8]) -> Result<Package, AgreementError> {
        let mut state = core::mem::replace(&mut self.state, State::Empty);
        let judged = || match &mut state {
            State::Empty => Err(AgreementError::LocalNotReady),
            State::New { own, .. } => self.judge().package(own, member, body, self.packages.values()),
            State::In(group) => {
                let package = self.judge().package(group, member, body, self.packages.values())?;
                fresh(group, &package)?;
                Ok(package)
            }
        };
        let (judged, powers) = self.source.during(None, judged);
        self.state = state;
        self.powers = self.powers.saturating_add(powers);
        judged
    }

    fn take_commit(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        if !matches!(self.seen, Seen::All) || from != self.layout.committer {
            return Err(self.out_of_turn(from, COMMIT));
        }
        if body.len() > self.suite.commit_bytes_max(self.plan.size()) {
            return Err(AgreementError::PeerMalformed);
        }
        let (taken, powers) = self.source.during(None, || self.follow(body));
        let (group, secret) = taken?;
        self.powers = self.powers.saturating_add(powers);
        self.forget();
        self.state = State::In(Box::new(group));
        self.seen = Seen::Done;
        self.sent = None;
        Ok(vec![Step::Done(secret)])
    }

    fn begin(&mut self, entropy: &mut dyn Entropy) -> Result<Option<Step>, AgreementError> {
        let package = if self.plan.in_base() { None } else { self.arrive(entropy)? };
        if self.plan.size() == 1 {
            return self.alone(entropy).map(Some);
        }
        if matches!(self.seen, Seen::All) && self.plan.me() == self.layout.committer {
            return self.commit(entropy).map(Some);
        }
        Ok(package)
    }

    /// A step that is not awaited from there: taken before, or not yet its turn.
    fn out_of_turn(&self, from: usize, step: u8) -> AgreementError {
        let repeated = match step {
            KEY_PACKAGE => self.packages.contains_key(&from),
            _ => matches!(self.seen, Seen::Done) && from == self.layout.committer,
        };
        if repeated {
            AgreementError::PeerRepeated { from, step }
        } else {
            AgreementError::PeerOutOfTurn { from, step }
        }
    }
}

impl Module for Run {
    fn name(&self) -> ModuleName {
        self.suite.module()
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        self.begin(entropy).ok().flatten().into_iter().collect()
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        match step {
            KEY_PACKAGE => self.key_package(from, body, entropy),
            COMMIT => self.take_commit(from, body),
            other => Err(AgreementError::PeerUnknownStep(other)),
        }
    }

    fn awaited(&self) -> Vec<usize> {
        match &self.seen {
            Seen::Packages { missing } => missing.iter().copied().collect(),
            Seen::All => vec![self.layout.committer],
            Seen::Done => Vec::new(),
        }
    }

    fn stage(&self) -> Stage {
        match &self.seen {
            Seen::Packages { .. } => Stage { name: "key packages", deciding: false },
            Seen::All => Stage { name: "commit", deciding: true },
            Seen::Done => Stage { name: "done", deciding: true },
        }
    }

    fn count(&self) -> Count {
        Count { exponentiations: self.powers, inversions: 0 }
    }

    fn keep(&self) -> Option<Kept> {
        let (State::In(group), Seen::Done) = (&self.state, &self.seen) else { return None };
        let roster = group.roster();
        let leaf = |member: mls_rs::group::Member| Some((named(&member.signing_identity)?, member.index));
        let ranks: Vec<_> = roster.members_iter().filter_map(leaf).collect();
        let standing =
            Standing { group: group.as_ref().clone(), suite: self.suite, source: self.source.clone() };
        Kept::new(self.suite.module(), self.me().ok()?, ranks, standing)
    }
}

/// AGR-60: what this party kept, if the plan says the same as the tree about it and all its side.
fn standing<'k>(plan: &Plan, kept: Option<&'k Kept>, suite: Suite) -> Result<&'k Standing, AgreementError> {
    let standing: &Standing = kept.and_then(Kept::state).ok_or(AgreementError::LocalKept)?;
    plan.check_ranks(|leaf| {
        standing.group.member_at_index(leaf).and_then(|found| named(&found.signing_identity))
    })?;
    let mine = plan.origin(plan.me()).map(|origin| origin.rank);
    if standing.suite != suite || mine != Some(standing.group.current_member_index()) {
        return Err(AgreementError::LocalKept);
    }
    Ok(standing)
}
