//! What each step changes.

use super::{FACT_OUT, FINAL, KEY_LIST, NEW_MEMBER, PARTIAL, Run, Seen, send};
use crate::base::Entropy;
use crate::gdh::context::elements;
use crate::gdh::token::Kind;
use crate::prime::element;
use crate::{AgreementError, PrimeGroup, Step};

impl<G: PrimeGroup> Run<G> {
    pub(super) fn partial(
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
        if next == self.order.me {
            let token = self.token(Kind::MassJoin, body);
            let (before, members) = (self.order.member(from)?, self.order.members.clone());
            let answer = self.context.mass_join(before, &token, &members, entropy)?;
            steps.push(send(if self.order.me == self.last { FINAL } else { PARTIAL }, &answer));
        }
        self.chain = body.to_vec();
        self.seen = if next == self.last { Seen::Last } else { Seen::Chain { next } };
        Ok(steps)
    }

    pub(super) fn final_token(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        if !matches!(self.seen, Seen::Last) || from != self.last {
            return Err(self.out_of_turn(from, FINAL));
        }
        if body != self.chain.as_slice() {
            return Err(AgreementError::PeerAltered);
        }
        let mut steps = Vec::new();
        if self.order.me != self.last {
            let token = self.token(Kind::MergeBroadcast, body);
            let answer = self.context.factor_out(self.order.member(from)?, &token)?;
            steps.push(send(FACT_OUT, &answer));
        }
        self.seen = Seen::Factoring { missing: (0..self.last).collect() };
        Ok(steps)
    }

    pub(super) fn fact_out(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let missing = match &self.seen {
            Seen::Factoring { missing } if missing.contains(&from) => missing.len(),
            _ => return Err(self.out_of_turn(from, FACT_OUT)),
        };
        element::<G>(body)?;
        let mut steps = Vec::new();
        if self.order.me == self.last {
            let token = self.token(Kind::FactorOut, body);
            let answer = self.context.collect(self.order.member(from)?, &token)?;
            steps.extend(answer.map(|answer| send(KEY_LIST, &answer)));
        }
        self.before.insert(from, body.to_vec());
        if missing == 1 {
            self.seen = Seen::All;
        } else if let Seen::Factoring { missing } = &mut self.seen {
            missing.remove(&from);
        }
        Ok(steps)
    }

    pub(super) fn new_member(
        &mut self,
        from: usize,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        if !matches!(self.seen, Seen::Joining) || from.saturating_add(1) != self.last {
            return Err(self.out_of_turn(from, NEW_MEMBER));
        }
        let token = self.token(Kind::NewMember, body);
        let values = elements::<G>(&token.values)?;
        let (without, partials) = values.split_last().ok_or(AgreementError::PeerWrongList)?;
        if partials.len() != self.last {
            return Err(AgreementError::PeerWrongList);
        }
        let mut steps = Vec::new();
        if self.order.me == self.last {
            let (controller, members) = (self.order.member(from)?, self.order.members.clone());
            let answer = self.context.join(controller, &token, &members, entropy)?;
            steps.push(send(KEY_LIST, &answer));
        } else {
            self.context.note_partial(self.order.member(self.last)?, *without);
        }
        self.before = partials.iter().map(G::encode).enumerate().collect();
        self.seen = Seen::All;
        Ok(steps)
    }

    pub(super) fn key_list(&mut self, from: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        if !matches!(self.seen, Seen::All) || from != self.last {
            return Err(self.out_of_turn(from, KEY_LIST));
        }
        let token = self.token(Kind::KeyUpdate, body);
        if token.values.len() != self.last {
            return Err(AgreementError::PeerWrongList);
        }
        let mut listed = token.values.iter().enumerate();
        if listed.any(|(rank, value)| self.before.get(&rank).is_some_and(|old| old == value.as_ref())) {
            return Err(AgreementError::PeerNotRenewed);
        }
        let (controller, members) = (self.order.member(from)?, self.order.members.clone());
        self.context.update(controller, &token, &members)?;
        self.seen = Seen::Done;
        Ok(vec![Step::Done(self.context.key()?)])
    }

    /// A step that is not awaited from there: taken before, or not yet its turn.
    fn out_of_turn(&self, rank: usize, step: u8) -> AgreementError {
        let (first, newest) = (self.base.saturating_sub(1), rank == self.last);
        let unchained = self.chain.is_empty();
        let repeated = match (step, &self.seen) {
            (PARTIAL, Seen::Chain { next }) => (first..*next).contains(&rank),
            (PARTIAL, _) => !unchained && (first..self.last).contains(&rank),
            (FINAL, Seen::Factoring { .. } | Seen::All | Seen::Done) => !unchained && newest,
            (FACT_OUT, Seen::Factoring { missing }) => !newest && !missing.contains(&rank),
            (FACT_OUT, Seen::All | Seen::Done) => !unchained && !newest,
            (NEW_MEMBER, Seen::All | Seen::Done) => {
                unchained && self.base == self.last && rank.saturating_add(1) == self.last
            }
            (KEY_LIST, Seen::Done) => newest,
            _ => false,
        };
        let from = self.order.place(rank);
        if repeated {
            AgreementError::PeerRepeated { from, step }
        } else {
            AgreementError::PeerOutOfTurn { from, step }
        }
    }
}
