//! New shares of the same key for those who stay, so that a leaver's old share fits none of them (the library's `refresh`).
//!
//! Each hand deals a polynomial that is zero at zero, by commitments without a constant term; the sum is added to the old polynomial. The
//! library's proofs in these packages prove nothing (the secret is zero) and are not sent. The key stays: t shares of one share-epoch
//! give it for ever, so a group that lost that many in one epoch makes a new key.

use super::dealt::{Dealt, Packages};
use super::entropy::Asked;
use super::frame::{Frame, Step};
use super::library::{Seats, commitments, count, key_package, public_package, wrong_hands};
use super::words::{judge, tag, tagged_elements};
use super::{FrostShare, FrostSharing, Held};
use crate::base::{Digest, Entropy, MemberId};
use crate::{Edwards, Fault, Heard, Next, PrimeGroup, Run, RunId, Said};
use curve25519_dalek::EdwardsPoint;
use frost_ed25519::keys::dkg::round1;
use frost_ed25519::keys::refresh::{refresh_dkg_part1, refresh_dkg_part2, refresh_dkg_shares};
use std::collections::BTreeMap;

/// One stayer's hand in a refresh.
pub struct Refresh {
    held: Held,
    tag: Digest,
    seats: Seats,
    frame: Frame<State>,
}

enum State {
    Offered { secret: round1::SecretPackage, own: Box<round1::Package> },
    Dealt(Box<Dealt>),
}

impl Refresh {
    /// A hand of the holder of `share` among `stayers`, who are to be the only holders.
    ///
    /// # Errors
    /// [`FaultKind::LocalHands`] unless the share is one of `sharing`, its holder and all stayers are among its holders, they are at least
    /// as many as the threshold, and that is two or more: a share of one is the key itself, and no refresh takes it back.
    pub fn new(
        run: RunId,
        sharing: &FrostSharing,
        share: &FrostShare,
        stayers: &[MemberId],
    ) -> Result<Self, Fault> {
        let seats = Seats::new(stayers)?;
        let enough = sharing.threshold() >= 2 && seats.count() >= sharing.threshold();
        let held = stayers.iter().all(|hand| sharing.holds(hand)) && seats.has(&share.holder());
        if !enough || !held || share.check(sharing).is_err() {
            return Err(wrong_hands());
        }
        let tag = tag(b"folkmoot frost refresh v1", &run, &seats.hands(), &[&sharing.epoch()]);
        let held = Held { sharing: sharing.clone(), share: share.clone() };
        Ok(Self { held, tag, seats, frame: Frame::Idle })
    }

    fn begin(&self, entropy: &mut dyn Entropy) -> Result<(State, Said), Fault> {
        let say = |error| self.seats.fault(&error);
        let own = self.seats.place(&self.held.share.holder())?;
        let (all, min) = (count(self.seats.count())?, count(self.held.sharing.threshold())?);
        let (secret, own) = refresh_dkg_part1(own, all, min, Asked(entropy)).map_err(say)?;
        let mut to_all = self.tag.to_vec();
        to_all.extend(own.commitment().serialize_whole().map_err(say)?);
        Ok((State::Offered { secret, own: Box::new(own) }, Said { to_all, ..Said::default() }))
    }

    fn deal(
        &self,
        secret: round1::SecretPackage,
        own: &round1::Package,
        heard: &Heard,
    ) -> Result<Step<State, Held>, Fault> {
        let (me, hands) = (self.held.share.holder(), self.seats.hands());
        let terms = self.held.sharing.threshold().saturating_sub(1);
        let offered = judge(heard, &hands, |_, words| tagged_elements(words, &self.tag, terms))?;
        let sum = self.sum_of(&offered);
        let mut packages = Packages::new();
        for (hand, elements) in offered.iter().filter(|(hand, _)| **hand != me) {
            let vector = commitments(elements).map_err(|error| self.seats.fault(&error))?;
            packages.insert(self.seats.place(hand)?, round1::Package::new(vector, *own.proof_of_knowledge()));
        }
        let dealt = refresh_dkg_part2(secret, &packages).map_err(|error| self.seats.fault(&error))?;
        let zero = |elements: Vec<EdwardsPoint>| [vec![Edwards::identity()], elements].concat();
        let polynomials = offered.into_iter().map(|(hand, elements)| (hand, zero(elements))).collect();
        let (dealt, said) = Dealt::new((me, &self.seats), packages, dealt, (sum, polynomials));
        Ok(Step::On(State::Dealt(dealt), said))
    }

    /// The old commitments with all that is dealt added; the key's as it was.
    fn sum_of(&self, offered: &BTreeMap<MemberId, Vec<EdwardsPoint>>) -> Vec<EdwardsPoint> {
        let old = self.held.sharing.elements().iter().enumerate();
        let term = |(power, element): (usize, &EdwardsPoint)| {
            let dealt = offered.values().filter_map(|terms| terms.get(power.checked_sub(1)?));
            dealt.fold(*element, |sum, term| Edwards::add(&sum, term))
        };
        old.map(term).collect()
    }

    fn end(&self, dealt: Dealt) -> Result<Held, Fault> {
        let Held { sharing, share } = &self.held;
        dealt.end((share.holder(), &self.seats), |secret, packages, taken| {
            let old = public_package(sharing, &self.seats.hands())?;
            let own = key_package(sharing, share)?;
            refresh_dkg_shares(secret, packages, taken, old, own).map(|(key, _)| key)
        })
    }
}

impl Run for Refresh {
    type Done = Held;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Held> {
        let begun = self.begin(entropy);
        self.frame.begin(begun)
    }

    fn awaited(&self) -> Vec<MemberId> {
        match self.frame.stage() {
            Some(State::Dealt(dealt)) => dealt.awaited(),
            _ => self.seats.hands(),
        }
    }

    fn hear(&mut self, heard: Heard, _: &mut dyn Entropy) -> Result<Next<Held>, Fault> {
        let step = match self.frame.take()? {
            State::Offered { secret, own } => self.deal(secret, &own, &heard)?,
            State::Dealt(mut dealt) => match dealt.hear(heard)? {
                Some(said) => Step::On(State::Dealt(dealt), said),
                None => Step::Done(self.end(*dealt)?),
            },
        };
        Ok(self.frame.go(step))
    }
}
