//! One run for one member list, from nothing: IKA.2 as ordered multicasts, so that everybody sees who is awaited.
//!
//! ```text
//! place 0 ─PARTIAL─> 1 ─PARTIAL─> … n−2 ─PARTIAL─> n−1 ═FINAL═> all but n−1 ─FACT_OUT─> n−1 ═KEY_LIST (SAFE)═> all
//! ```
//! Bodies are elements, one after the other: one in PARTIAL, FINAL and FACT_OUT; n − 1 in KEY_LIST, in member order.
//! Every member checks every step, also those meant for others, with the same verdict: turn, encoding, no identity, FINAL
//! equal to the last PARTIAL. 2n messages in all for n members (n = 1: none).

use crate::base::{Blob, Entropy, MemberId};
use crate::gdh::context::{Context, element};
use crate::gdh::token::{Kind, Token};
use crate::{AgreementError, Count, Kept, Module, ModuleName, Plan, PrimeGroup, Stage, Step};
use std::collections::BTreeSet;

/// Up the chain.
pub(crate) const PARTIAL: u8 = 1;
/// From the last: the chain's value.
pub(crate) const FINAL: u8 = 2;
/// From all but the last.
pub(crate) const FACT_OUT: u8 = 3;
/// From the last: decides.
pub(crate) const KEY_LIST: u8 = 4;

/// What all have seen so far in the one order.
enum Seen {
    /// The chain has come to this place; its member sends next.
    Chain { next: usize },
    /// The chain is through.
    Last,
    /// The final token is out; these places have not factored out.
    Factoring { missing: BTreeSet<usize> },
    /// All have.
    All,
    /// The key list is out.
    Done,
}

/// One run at one member.
pub struct Run<G: PrimeGroup> {
    members: Vec<MemberId>,
    me: usize,
    last: usize,
    context: Context<G>,
    seen: Seen,
    chain: Vec<u8>,
}

impl<G: PrimeGroup> Run<G> {
    /// A run for `members`, this member at place `me`.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] if the list is empty, has doubles, or has no place `me`.
    pub fn new(plan: &Plan, kept: Option<&Kept>) -> Result<Self, AgreementError> {
        let (members, me) = (plan.members(), plan.me());
        let id = *members.get(me).ok_or(AgreementError::LocalMembers)?;
        if plan.origin(me).is_some() {
            let before = kept.and_then(Kept::state::<Context<G>>).ok_or(AgreementError::LocalKept)?;
            plan.check_ranks(|rank| before.members().get(usize::try_from(rank).ok()?).copied())?;
        }
        Ok(Self {
            members: members.to_vec(),
            me,
            last: members.len().saturating_sub(1),
            context: Context::new_member(id),
            seen: Seen::Chain { next: 0 },
            chain: Vec::new(),
        })
    }

    fn token(&self, kind: Kind, body: &[u8]) -> Token {
        let values = body.chunks(G::ELEMENT_BYTES.max(1)).map(|value| Blob::from(value.to_vec())).collect();
        Token { kind, epoch: 1, members: self.members.clone(), values }
    }

    fn member(&self, place: usize) -> Result<MemberId, AgreementError> {
        self.members.get(place).copied().ok_or(AgreementError::LocalMembers)
    }

    fn partial(
        &mut self,
        from: usize,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        match self.seen {
            Seen::Chain { next } if next == from && from != self.last => {}
            _ => return Err(self.out_of_turn(from, PARTIAL)),
        }
        element::<G>(body)?;
        let next = from.saturating_add(1);
        let mut steps = Vec::new();
        if next == self.me {
            let token = self.token(Kind::MassJoin, body);
            let (before, members) = (self.member(from)?, self.members.clone());
            let answer = self.context.mass_join(before, &token, &members, entropy)?;
            steps.push(send(if self.me == self.last { FINAL } else { PARTIAL }, &answer));
        }
        self.chain = body.to_vec();
        self.seen = if next == self.last { Seen::Last } else { Seen::Chain { next } };
        Ok(steps)
    }

    fn final_token(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        if !matches!(self.seen, Seen::Last) || from != self.last {
            return Err(self.out_of_turn(from, FINAL));
        }
        if body != self.chain.as_slice() {
            return Err(AgreementError::PeerAltered);
        }
        let mut steps = Vec::new();
        if self.me != self.last {
            let token = self.token(Kind::MergeBroadcast, body);
            let answer = self.context.factor_out(self.member(from)?, &token)?;
            steps.push(send(FACT_OUT, &answer));
        }
        self.seen = Seen::Factoring { missing: (0..self.last).collect() };
        Ok(steps)
    }

    fn fact_out(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let missing = match &self.seen {
            Seen::Factoring { missing } if missing.contains(&from) => missing.len(),
            _ => return Err(self.out_of_turn(from, FACT_OUT)),
        };
        element::<G>(body)?;
        let mut steps = Vec::new();
        if self.me == self.last {
            let token = self.token(Kind::FactorOut, body);
            let answer = self.context.collect(self.member(from)?, &token)?;
            steps.extend(answer.map(|answer| send(KEY_LIST, &answer)));
        }
        if missing == 1 {
            self.seen = Seen::All;
        } else if let Seen::Factoring { missing } = &mut self.seen {
            missing.remove(&from);
        }
        Ok(steps)
    }

    fn key_list(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        if !matches!(self.seen, Seen::All) || from != self.last {
            return Err(self.out_of_turn(from, KEY_LIST));
        }
        let token = self.token(Kind::KeyUpdate, body);
        let (controller, members) = (self.member(from)?, self.members.clone());
        self.context.update(controller, &token, &members)?;
        self.seen = Seen::Done;
        Ok(vec![Step::Done(self.context.key()?)])
    }

    /// A step that is not awaited from there: taken before, or not yet its turn.
    fn out_of_turn(&self, from: usize, step: u8) -> AgreementError {
        let repeated = match (step, &self.seen) {
            (PARTIAL, Seen::Chain { next }) => from < *next,
            (PARTIAL, _) => from < self.last,
            (FINAL, Seen::Factoring { .. } | Seen::All | Seen::Done) => from == self.last,
            (FACT_OUT, Seen::Factoring { missing }) => from < self.last && !missing.contains(&from),
            (FACT_OUT, Seen::All | Seen::Done) => from < self.last,
            (KEY_LIST, Seen::Done) => from == self.last,
            _ => false,
        };
        if repeated {
            AgreementError::PeerRepeated { from, step }
        } else {
            AgreementError::PeerOutOfTurn { from, step }
        }
    }
}

impl<G: PrimeGroup> Module for Run<G> {
    fn name(&self) -> ModuleName {
        ModuleName::Gdh
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        if self.last == 0 {
            if let Some(id) = self.members.first() {
                self.context = Context::first_member(*id, entropy);
            }
            self.seen = Seen::Done;
            return self.context.key().map(Step::Done).into_iter().collect();
        }
        if self.me != 0 {
            return Vec::new();
        }
        let members = self.members.clone();
        self.context
            .mass_join_first(&members, entropy)
            .map(|token| send(PARTIAL, &token))
            .into_iter()
            .collect()
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        match step {
            PARTIAL => self.partial(from, body, entropy),
            FINAL => self.final_token(from, body),
            FACT_OUT => self.fact_out(from, body),
            KEY_LIST => self.key_list(from, body),
            other => Err(AgreementError::PeerUnknownStep(other)),
        }
    }

    fn awaited(&self) -> Vec<usize> {
        match &self.seen {
            Seen::Chain { next } => vec![*next],
            Seen::Last | Seen::All => vec![self.last],
            Seen::Factoring { missing } => missing.iter().copied().collect(),
            Seen::Done => Vec::new(),
        }
    }

    fn count(&self) -> Count {
        self.context.count()
    }

    fn keep(&self) -> Option<Kept> {
        let done = matches!(self.seen, Seen::Done);
        done.then(|| Kept::new(ModuleName::Gdh, self.me, self.context.clone()))
    }

    fn stage(&self) -> Stage {
        let last = self.me == self.last;
        let stage = |name, deciding| Stage { name, deciding };
        match &self.seen {
            Seen::Chain { next } if *next > self.me => stage("final token", false),
            Seen::Chain { .. } => stage("partial token", false),
            Seen::Last if !last => stage("final token", false),
            Seen::Last => stage("fact outs", false),
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
