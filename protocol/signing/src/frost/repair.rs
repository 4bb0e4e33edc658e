//! A share for one who has none, made by helpers and known to nobody else: a lost one again, or a newcomer's (Stinson and Wei 2017, the
//! library's `repairable`, which does the same for both).
//!
//! Each helper owes λ·share, split into one mask for each helper; helper j gives the sum of the masks it got. What the library leaves
//! open is who lied: so each helper commits to its masks, which must add up to what its verifying share says it owes, and each sum has
//! the image that follows from the masks. The helpers' consent, and whether a newcomer may have a share, is for the caller.

use super::entropy::Asked;
use super::frame::{Frame, Step};
use super::handover::{Handover, Image, Numbers};
use super::library::{Seats, key_package, place, public_package, wrong_hands};
use super::words::{judge, tag, tagged_elements, write};
use super::{FrostShare, FrostSharing, Held};
use crate::base::{Digest, Entropy, MemberId, Secret};
use crate::polynomial::lagrange;
use crate::{Edwards, Fault, FaultKind, Heard, Next, PrimeGroup, Run, RunId, Said};
use curve25519_dalek::EdwardsPoint;
use frost_ed25519::Ed25519Sha512;
use frost_ed25519::keys::repairable::{
    Delta, Sigma, repair_share_part1, repair_share_part2, repair_share_part3,
};
use std::collections::BTreeMap;

/// A hand in a repair or an enrolment: a helper's, or that of who is helped.
pub struct Repair {
    me: MemberId,
    tag: Digest,
    sharing: FrostSharing,
    share: Option<FrostShare>,
    helpers: Seats,
    helped: MemberId,
    frame: Frame<State>,
}

enum State {
    /// The masks are said; a helper keeps its own for itself and for its defence.
    Masking { own: Numbers },
    /// The masks are handed over.
    Masked { own: Numbers, sums: BTreeMap<MemberId, EdwardsPoint>, masks: Handover },
    /// The sums are handed over.
    Summed(Handover),
}

impl Repair {
    /// A helper's hand: `helpers` are holders, at least as many as the threshold; `helped` is another holder or is to be one.
    ///
    /// # Errors
    /// [`FaultKind::LocalHands`] if they are not, or the share is not one of `sharing`.
    pub fn help(
        run: RunId,
        sharing: &FrostSharing,
        share: &FrostShare,
        helpers: &[MemberId],
        helped: MemberId,
    ) -> Result<Self, Fault> {
        let repair = Self::new(share.holder(), &run, sharing, helpers, helped)?;
        if !repair.helpers.has(&share.holder()) || share.check(sharing).is_err() {
            return Err(wrong_hands());
        }
        Ok(Self { share: Some(share.clone()), ..repair })
    }

    /// The hand of who is helped.
    ///
    /// # Errors
    /// As [`Self::help`].
    pub fn receive(
        run: RunId,
        sharing: &FrostSharing,
        helpers: &[MemberId],
        helped: MemberId,
    ) -> Result<Self, Fault> {
        Self::new(helped, &run, sharing, helpers, helped)
    }

    fn new(
        me: MemberId,
        run: &RunId,
        sharing: &FrostSharing,
        helpers: &[MemberId],
        helped: MemberId,
    ) -> Result<Self, Fault> {
        let seats = Seats::new(helpers)?;
        let enough = seats.count() >= sharing.threshold();
        if !enough || seats.has(&helped) || !helpers.iter().all(|helper| sharing.holds(helper)) {
            return Err(wrong_hands());
        }
        let tag = tag(b"folkmoot frost repair v1", run, &seats.hands(), &[&sharing.epoch(), &helped.0]);
        let sharing = sharing.with_holder(helped).map_err(|_| wrong_hands())?;
        Ok(Self { me, tag, sharing, share: None, helpers: seats, helped, frame: Frame::Idle })
    }

    /// A helper's masks: images to all, each to its helper.
    fn begin(&self, entropy: &mut dyn Entropy) -> Result<(State, Said), Fault> {
        let say = |error| self.helpers.fault(&error);
        let mut own = Numbers::new();
        let mut to_all = Vec::new();
        if let Some(share) = &self.share {
            let helpers =
                self.helpers.hands().iter().map(place).collect::<Result<Vec<_>, _>>().map_err(say)?;
            let package = key_package(&self.sharing, share).map_err(say)?;
            let helped = place(&self.helped).map_err(say)?;
            let masks =
                repair_share_part1::<Ed25519Sha512, _>(&helpers, &package, &mut Asked(entropy), helped);
            let masks =
                masks.map_err(say)?.into_iter().map(|(place, mask)| (place, Secret::new(mask.serialize())));
            own = self.helpers.named(masks);
            to_all = self.tag.to_vec();
            to_all.extend(write(&images(&own)));
        }
        let to_each =
            own.iter().filter(|(hand, _)| **hand != self.me).map(|(hand, mask)| (*hand, mask.clone()));
        let said = Said { to_all, to_each: to_each.collect() };
        Ok((State::Masking { own }, said))
    }

    /// The images of all masks, helper by helper; those of each helper add up to what it owes.
    fn masked(&self, heard: &Heard) -> Result<BTreeMap<MemberId, Vec<EdwardsPoint>>, Fault> {
        let helpers = self.helpers.hands();
        judge(heard, &helpers, |helper, words| {
            let images = tagged_elements(words, &self.tag, helpers.len())?;
            let factor = lagrange::<Edwards>(helper, &helpers, Edwards::place(&self.helped));
            let owed = factor.map(|factor| Edwards::raise_many(&[(factor, self.sharing.image(helper))]));
            let sum = images.iter().fold(Edwards::identity(), |sum, image| Edwards::add(&sum, image));
            if owed == Some(sum) { Ok(images) } else { Err(FaultKind::PeerCommitment) }
        })
    }

    fn take_masks(&self, own: Numbers, heard: Heard) -> Result<Step<State, Held>, Fault> {
        let masked = self.masked(&heard)?;
        let helpers = self.helpers.hands();
        let column = |number: usize| {
            let images = masked.values().filter_map(|images| images.get(number));
            images.fold(Edwards::identity(), |sum, image| Edwards::add(&sum, image))
        };
        let sums = helpers.iter().enumerate().map(|(number, helper)| (*helper, column(number))).collect();
        let given =
            own.iter().filter(|(hand, _)| **hand != self.me).map(|(hand, mask)| (*hand, mask.clone()));
        let image = mask_images(helpers.clone(), masked);
        let mut masks = Handover::new(self.me, helpers.clone(), helpers, image, given.collect());
        let said = masks.take(heard.to_me);
        Ok(Step::On(State::Masked { own, sums, masks }, said))
    }

    /// The sum of the masks, for who is helped.
    fn sum(
        &self,
        own: &Numbers,
        taken: &Numbers,
        sums: BTreeMap<MemberId, EdwardsPoint>,
    ) -> Result<Step<State, Held>, Fault> {
        let mut given = Numbers::new();
        if self.share.is_some() {
            let mine = taken.values().chain(own.get(&self.me));
            let deltas = mine.map(|mask| Delta::deserialize(mask.expose())).collect::<Result<Vec<_>, _>>();
            let deltas = deltas.map_err(|error| self.helpers.fault(&error))?;
            given.insert(self.helped, Secret::new(repair_share_part2(&deltas).serialize()));
        }
        let image: Image =
            Box::new(move |giver, _| sums.get(giver).copied().unwrap_or_else(Edwards::identity));
        let handover = Handover::new(self.me, self.helpers.hands(), vec![self.helped], image, given);
        let said = handover.give();
        Ok(Step::On(State::Summed(handover), said))
    }

    fn end(&self, taken: &Numbers) -> Result<Held, Fault> {
        if let Some(share) = &self.share {
            return Ok(Held { sharing: self.sharing.clone(), share: share.clone() });
        }
        let say = |error| self.helpers.fault(&error);
        let sums = taken.values().map(|sum| Sigma::deserialize(sum.expose())).collect::<Result<Vec<_>, _>>();
        let package = public_package(&self.sharing, &self.helpers.hands()).map_err(say)?;
        let helped = place(&self.helped).map_err(say)?;
        let key = repair_share_part3(&sums.map_err(say)?, helped, &package).map_err(say)?;
        Held::new(self.sharing.clone(), self.me, key.signing_share().serialize()).map_err(|_| wrong_hands())
    }
}

impl Run for Repair {
    type Done = Held;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Held> {
        let begun = self.begin(entropy);
        self.frame.begin(begun)
    }

    fn awaited(&self) -> Vec<MemberId> {
        match self.frame.stage() {
            Some(State::Masked { masks: handover, .. } | State::Summed(handover)) => handover.awaited(),
            _ => self.helpers.hands(),
        }
    }

    fn hear(&mut self, heard: Heard, _: &mut dyn Entropy) -> Result<Next<Held>, Fault> {
        let step = match self.frame.take()? {
            State::Masking { own } => self.take_masks(own, heard)?,
            State::Masked { own, sums, mut masks } => match masks.hear(heard)? {
                Some(said) => Step::On(State::Masked { own, sums, masks }, said),
                None => self.sum(&own, &masks.taken(), sums)?,
            },
            State::Summed(mut handover) => match handover.hear(heard)? {
                Some(said) => Step::On(State::Summed(handover), said),
                None => Step::Done(self.end(&handover.taken())?),
            },
        };
        Ok(self.frame.go(step))
    }
}

/// Numbers times the generator, in the order of their hands.
fn images(numbers: &Numbers) -> Vec<EdwardsPoint> {
    let scalars = numbers.values().filter_map(|number| Edwards::decode_scalar(number.expose()));
    scalars.map(|scalar| Edwards::raise_generator(&scalar)).collect()
}

fn mask_images(helpers: Vec<MemberId>, masked: BTreeMap<MemberId, Vec<EdwardsPoint>>) -> Image {
    Box::new(move |giver, taker| {
        let number = helpers.iter().position(|helper| helper == taker);
        let image = number.and_then(|number| masked.get(giver)?.get(number));
        image.copied().unwrap_or_else(Edwards::identity)
    })
}
