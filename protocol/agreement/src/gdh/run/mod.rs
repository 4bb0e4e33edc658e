//! One run for one plan: the published operations as ordered multicasts, so that everybody sees who
//! is awaited.
//!
//! ```text
//! nobody brings anything   first ─PARTIAL─> … ─PARTIAL─> last ═FINAL═> all ─FACT_OUT─> last ═KEY_LIST═> all      (IKA.2)
//! several come             the same, from the base's newest on: who is in the base factors out too              (MERGE)
//! one comes                the base's newest ─NEW_MEMBER─> joiner ═KEY_LIST═> all                               (JOIN)
//! nobody comes             the newest of the remaining ═KEY_LIST═> all                                (LEAVE, REFRESH)
//! ```
//! The run's own order is by age: the base in the order of its run, then the newcomers by place;
//! the last is the controller. Leavers are dropped before anything is sent, so a change of both
//! kinds costs one run. Bodies are elements, one after the other. Every party checks every step,
//! also those meant for others, with the same verdict.

mod steps;

use crate::base::{Blob, Entropy};
use crate::gdh::context::Context;
use crate::gdh::token::{Kind, Token};
use crate::plan::ByAge;
use crate::{AgreementError, Count, Kept, Module, ModuleName, Plan, PrimeGroup, Stage, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Up the chain.
pub(crate) const PARTIAL: u8 = 1;
/// From the last: the chain's value.
pub(crate) const FINAL: u8 = 2;
/// From all but the last.
pub(crate) const FACT_OUT: u8 = 3;
/// From the last: decides.
pub(crate) const KEY_LIST: u8 = 4;
/// From the base's newest to the one who joins.
pub(crate) const NEW_MEMBER: u8 = 5;

/// What all have seen so far in the one order.
enum Seen {
    /// The chain has come to this rank; its party sends next.
    Chain { next: usize },
    /// The chain is through.
    Last,
    /// The final token is out; these ranks have not factored out.
    Factoring { missing: BTreeSet<usize> },
    /// One is to join and has not been told.
    Joining,
    /// Only the key list is missing.
    All,
    /// The key list is out.
    Done,
}

/// One run at one party.
pub struct Run<G: PrimeGroup> {
    order: ByAge,
    /// How many parties, from the first, are of the base.
    base: usize,
    last: usize,
    context: Context<G>,
    seen: Seen,
    /// The last PARTIAL.
    chain: Vec<u8>,
    /// By rank: the partial key before the list, as far as all have seen it.
    before: BTreeMap<usize, Vec<u8>>,
}

impl<G: PrimeGroup> Run<G> {
    /// A run for `plan`. One newcomer to a base joins: two messages.
    ///
    /// # Errors
    /// [`AgreementError::LocalKept`] and [`AgreementError::PeerOrigin`], as [`crate::begin`].
    pub fn new(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let mut run = Self::prepare(plan, kept)?;
        let newcomers = run.order.members.len().saturating_sub(run.base);
        run.seen = match (run.base, newcomers) {
            (_, 0) => run.expect_list(),
            (0, _) => Seen::Chain { next: 0 },
            (_, 1) => Seen::Joining,
            (base, _) => Seen::Chain { next: base.saturating_sub(1) },
        };
        Ok(run)
    }

    /// The same, but a single newcomer comes by a merge, as the comparison of 2004 counts a join.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn merging(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let mut run = Self::new(plan, kept)?;
        if matches!(run.seen, Seen::Joining) {
            run.seen = Seen::Chain { next: run.base.saturating_sub(1) };
        }
        Ok(run)
    }

    fn prepare(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let base = plan.base();
        let order = ByAge::new(plan)?;
        let id = order.member(order.me)?;
        let mut context = Context::new_member(id);
        if plan.origin(plan.me()).is_some() {
            let before = kept.and_then(Kept::state::<Context<G>>).ok_or(AgreementError::LocalKept)?;
            plan.check_ranks(|rank| before.members().get(usize::try_from(rank).ok()?).copied())?;
            if plan.in_base() {
                context = before.clone();
                context.reset_count();
                context.remain(order.members.get(..base.len()).unwrap_or_default());
            }
        }
        let last = order.members.len().saturating_sub(1);
        let (seen, chain, before) = (Seen::Done, Vec::new(), BTreeMap::new());
        Ok(Self { order, base: base.len(), last, context, seen, chain, before })
    }

    /// LEAVE: the list must renew what every party of the base kept.
    fn expect_list(&mut self) -> Seen {
        self.before = (0..self.last)
            .filter_map(|rank| {
                Some((rank, G::encode(self.context.partials.get(self.order.members.get(rank)?)?)))
            })
            .collect();
        Seen::All
    }

    fn begin(&mut self, entropy: &mut dyn Entropy) -> Result<Vec<Step>, AgreementError> {
        if self.last == 0 {
            self.context = Context::first_member(self.order.member(0)?, entropy);
            self.seen = Seen::Done;
            return Ok(vec![Step::Done(self.context.key()?)]);
        }
        let newcomers = self.order.members.get(self.base..).unwrap_or_default().to_vec();
        let (order, first) = (self.order.members.clone(), self.awaited_ranks().contains(&self.order.me));
        let sent = match self.seen {
            Seen::All if first => (KEY_LIST, self.context.refresh(entropy)?),
            Seen::Joining if first => {
                (NEW_MEMBER, self.context.process_join(self.order.member(self.last)?, entropy)?)
            }
            Seen::Chain { .. } if first && self.base == 0 => {
                (PARTIAL, self.context.mass_join_first(&order, entropy)?)
            }
            Seen::Chain { .. } if first => (PARTIAL, self.context.merge_start(&newcomers, entropy)?),
            Seen::Chain { .. } if self.order.me < self.base => {
                self.context.merge_expect(&newcomers)?;
                return Ok(Vec::new());
            }
            _ => return Ok(Vec::new()),
        };
        Ok(vec![send(sent.0, &sent.1)])
    }

    fn token(&self, kind: Kind, body: &[u8]) -> Token {
        let values = body.chunks(G::ELEMENT_BYTES.max(1)).map(|value| Blob::from(value.to_vec())).collect();
        Token {
            kind,
            epoch: self.context.epoch().saturating_add(1),
            members: self.order.members.clone(),
            values,
        }
    }

    fn awaited_ranks(&self) -> Vec<usize> {
        match &self.seen {
            Seen::Chain { next } => vec![*next],
            Seen::Last | Seen::All => vec![self.last],
            Seen::Joining => vec![self.last.saturating_sub(1)],
            Seen::Factoring { missing } => missing.iter().copied().collect(),
            Seen::Done => Vec::new(),
        }
    }
}

impl<G: PrimeGroup> Module for Run<G> {
    fn name(&self) -> ModuleName {
        ModuleName::Gdh
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        // What begin needs was checked when the run was made.
        self.begin(entropy).unwrap_or_default()
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let rank = self.order.rank(from, step)?;
        match step {
            PARTIAL => self.partial(rank, body, entropy),
            FINAL => self.final_token(rank, body),
            FACT_OUT => self.fact_out(rank, body),
            KEY_LIST => self.key_list(rank, body),
            NEW_MEMBER => self.new_member(rank, body, entropy),
            other => Err(AgreementError::PeerUnknownStep(other)),
        }
    }

    fn awaited(&self) -> Vec<usize> {
        self.order.places(&self.awaited_ranks())
    }

    fn count(&self) -> Count {
        self.context.count()
    }

    fn keep(&self) -> Option<Kept> {
        let done = matches!(self.seen, Seen::Done) && self.context.key().is_ok();
        let me = self.order.members.get(self.order.me).filter(|_| done)?;
        Kept::of_order(ModuleName::Gdh, *me, &self.order.members, self.context.without_key())
    }

    fn stage(&self) -> Stage {
        let last = self.order.me == self.last;
        let stage = |name, deciding| Stage { name, deciding };
        match &self.seen {
            Seen::Chain { next } if *next > self.order.me => stage("final token", false),
            Seen::Chain { .. } => stage("partial token", false),
            Seen::Last if !last => stage("final token", false),
            Seen::Last => stage("fact outs", false),
            Seen::Joining => stage("new member", false),
            Seen::Factoring { .. } if last => stage("fact outs", false),
            Seen::Factoring { .. } | Seen::All => stage("key list", true),
            Seen::Done => stage("done", true),
        }
    }
}

fn send(step: u8, token: &Token) -> Step {
    let body = token.values.iter().flat_map(|value| value.as_ref().iter().copied()).collect();
    Step::Send { step, decides: step == KEY_LIST, body }
}
