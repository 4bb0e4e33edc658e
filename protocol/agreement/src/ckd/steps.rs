//! What each step changes.

use super::pairing::{Pairing, Shared};
use super::run::{ANSWER, KEYS, Run, Seen, done, send};
use super::seal::{Once, SALT_BYTES, SEALED_BYTES, pair};
use crate::base::{Entropy, draw};
use crate::{AgreementError, Step};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

impl<P: Pairing> Run<P> {
    pub(super) fn take_offer(
        &mut self,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let offer = P::read_offer(body)?;
        let missing: BTreeSet<_> = (self.first_unpaired..self.order.members.len()).collect();
        let mut steps = Vec::new();
        if missing.contains(&self.order.me) {
            let (shared, answer) = P::answer(&offer, entropy, &mut self.count);
            self.pair_with(self.order.me, &shared, body, &answer)?;
            steps.push(send(ANSWER, answer));
        }
        self.offer = Some(body.to_vec());
        self.seen = Seen::Answering { missing };
        Ok(steps)
    }

    pub(super) fn take_answer(
        &mut self,
        rank: usize,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let answer = P::read_answer(body)?;
        if self.order.me == 0 {
            let own = self.own.as_ref().ok_or(AgreementError::LocalNotReady)?;
            let shared = P::take(own, &answer, &mut self.count);
            let offer = self.offer.clone().ok_or(AgreementError::LocalNotReady)?;
            self.pair_with(rank, &shared, &offer, body)?;
        }
        if let Seen::Answering { missing } = &mut self.seen {
            missing.remove(&rank);
            if !missing.is_empty() {
                return Ok(Vec::new());
            }
        }
        self.seen = Seen::Paired;
        self.own = None;
        if self.order.me == 0 { self.distribute(entropy) } else { Ok(Vec::new()) }
    }

    /// The pair key of the controller and the party at `rank`, from what the two share and what
    /// they sent for it.
    fn pair_with(
        &mut self,
        rank: usize,
        shared: &Shared,
        offer: &[u8],
        answer: &[u8],
    ) -> Result<(), AgreementError> {
        let (controller, member) = (self.order.member(0)?, self.order.member(rank)?);
        let bound = [&controller.to_bytes()[..], &member.to_bytes(), offer, answer];
        self.pairs.insert(member, pair(P::LABEL, shared, &bound));
        Ok(())
    }

    /// The controller: a fresh key, sealed to each of the others. Alone, it has it at once.
    pub(super) fn distribute(&mut self, entropy: &mut dyn Entropy) -> Result<Vec<Step>, AgreementError> {
        let key = Zeroizing::new(draw(entropy));
        let salt: [u8; SALT_BYTES] = draw(entropy);
        let roll = self.roll();
        let mut body = salt.to_vec();
        for member in self.order.members.iter().skip(1) {
            let pair = self.pairs.get(member).ok_or(AgreementError::LocalNotReady)?;
            let once = Once::new(pair, &salt, &roll, &member.to_bytes());
            body.extend(once.seal(&key).ok_or(AgreementError::LocalNotReady)?);
            self.next.insert(*member, once.next);
        }
        let alone = self.order.members.len() == 1;
        let step = if alone { done(&key) } else { send(KEYS, body) };
        self.key = Some(key);
        if alone {
            self.seen = Seen::Done;
        }
        Ok(vec![step])
    }

    pub(super) fn take_keys(&mut self, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let others = self.order.members.len().saturating_sub(1);
        let (salt, sealed) = body.split_at_checked(SALT_BYTES).ok_or(AgreementError::PeerMalformed)?;
        if sealed.len() != others.saturating_mul(SEALED_BYTES) {
            return Err(AgreementError::PeerWrongList);
        }
        if let Some(mine) = self.order.me.checked_sub(1) {
            let member = self.order.member(self.order.me)?;
            let pair = self.pairs.get(&member).ok_or(AgreementError::LocalNotReady)?;
            let once = Once::new(pair, salt, &self.roll(), &member.to_bytes());
            let sealed = sealed.chunks(SEALED_BYTES).nth(mine).ok_or(AgreementError::PeerWrongList)?;
            self.key = Some(once.open(sealed).ok_or(AgreementError::PeerNotOpening)?);
            self.next.insert(member, once.next);
        }
        let key = self.key.as_ref().ok_or(AgreementError::LocalNotReady)?;
        let steps = vec![done(key)];
        self.seen = Seen::Done;
        Ok(steps)
    }
}
