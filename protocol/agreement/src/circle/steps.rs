//! What each step changes.

use super::module::send;
use super::{LENT, LINK, OPEN, Run};
use crate::base::Secret;
use crate::prime::{element, element_or_identity};
use crate::{AgreementError, PrimeGroup, Step};
use zeroize::Zeroizing;

impl<G: PrimeGroup> Run<G> {
    pub(super) fn take_share(&mut self, at: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let value = element::<G>(body)?;
        self.check_lent(at, &G::generator(), &value)?;
        store(&mut self.shares, at, value);
        if self.shares.iter().any(Option::is_none) {
            return Ok(Vec::new());
        }
        let share = self.share.clone().ok_or(AgreementError::LocalNotReady)?;
        let after = *self.after(self.at).ok_or(AgreementError::LocalNotReady)?;
        let right = Zeroizing::new(self.raise(&after, &share));
        self.right = Some(right.clone());
        if !self.speaks() {
            return Ok(Vec::new());
        }
        let before = *self.before(self.at).ok_or(AgreementError::LocalNotReady)?;
        let left = Zeroizing::new(self.raise(&before, &share));
        let link = G::add(&right, &Zeroizing::new(G::negate(&left)));
        Ok(vec![send(LINK, G::encode(&link))])
    }

    pub(super) fn take_link(&mut self, at: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let value = element_or_identity::<G>(body)?;
        // Both neighbours of either of two are the other.
        if self.size() == 2 && value != G::identity() {
            return Err(AgreementError::PeerNotOpened);
        }
        let between = self.between(at)?;
        self.check_lent(at, &between, &value)?;
        store(&mut self.links, at, value);
        if self.links.iter().any(Option::is_none) {
            return Ok(Vec::new());
        }
        if self.closes() { self.finish() } else { self.open() }
    }

    /// A step in place of an opened share: nothing is computed, only checked against what was sent.
    pub(super) fn take_opening(&mut self, at: usize, body: &[u8]) -> Result<Vec<Step>, AgreementError> {
        let share = G::decode_scalar(body)
            .filter(|share| *share != G::zero())
            .ok_or(AgreementError::PeerMalformed)?;
        let between = self.between(at)?;
        let sent = [self.raise(&G::generator(), &share), self.raise(&between, &share)];
        if self.share_at(at) != Some(&sent[0]) || self.link_at(at) != Some(&sent[1]) {
            return Err(AgreementError::PeerNotOpened);
        }
        self.opened.insert(at);
        Ok(Vec::new())
    }

    /// A party that has the old key checks the speaker with the lent share by it. (That speaker
    /// itself need not.)
    fn check_lent(&mut self, at: usize, of: &G::Element, value: &G::Element) -> Result<(), AgreementError> {
        let Some(lent) = self.seating.lent.clone() else { return Ok(()) };
        if at != LENT || (self.at == LENT && self.speaks()) {
            return Ok(());
        }
        if self.raise(of, &lent) == *value { Ok(()) } else { Err(AgreementError::PeerNotLent) }
    }

    fn closes(&self) -> bool {
        let product = self.links.iter().flatten().fold(G::identity(), |left, right| G::add(&left, right));
        product == G::identity()
    }

    fn finish(&mut self) -> Result<Vec<Step>, AgreementError> {
        let mut step = self.right.clone().ok_or(AgreementError::LocalNotReady)?;
        let mut key = step.clone();
        let onwards = self.links.iter().flatten().cycle().skip(self.at.saturating_add(1));
        for link in onwards.take(self.size().saturating_sub(1)) {
            step = Zeroizing::new(G::add(link, &step));
            key = Zeroizing::new(G::add(&key, &step));
        }
        let secret = Secret::new(G::encode(&key));
        self.key = Some(key);
        Ok(vec![Step::Done(secret)])
    }

    /// The run has failed, and no key comes of these shares.
    fn open(&mut self) -> Result<Vec<Step>, AgreementError> {
        self.right = None;
        let share = self.share.take().ok_or(AgreementError::LocalNotReady)?;
        if !self.speaks() || self.is_lent(self.at) {
            return Ok(Vec::new());
        }
        Ok(vec![send(OPEN, G::encode_scalar(&share))])
    }
}

fn store<T>(list: &mut [Option<T>], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = Some(value);
    }
}
