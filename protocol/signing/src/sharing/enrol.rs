//! A share for one newcomer, from `threshold` holders, without anybody's share being told. A holder
//! that has lost its share gets the same one again, in the same way from the others.
//!
//! ```text
//! masks     helpers   all        δ_jk times the generator, for each k after j
//!                     each k     δ_jk
//! parts     helpers   all        helpers whose δ does not fit
//!                     newcomer   masked part: share · λ(newcomer) + Σ δ_jk of later k − Σ δ_kj of earlier k; held back by accusers
//! masks'    accused   all        the δ in dispute                       only if a helper was accused
//! parts'    accusers  all        nothing further; newcomer: as above    only if a helper was accused
//! verdict   newcomer  all        helpers whose part does not fit
//! parts''   accused   all        the masked part in dispute             only if a helper was accused
//! ```
//! The masked parts add up to the newcomer's share, and each alone is uniformly random. The masks
//! are published times the generator. So every part can be checked by itself against its helper's
//! public share, with nothing opened, and a helper that sent a false one is named. What a dispute
//! makes public, one liar of two knew already, as in `dealing`.

use super::message::{Kind, Reader, Writer};
use super::redistribute::own;
use super::round::{accusations, accuse, each, number, numbers, said, to_all};
use super::{Holding, Share, Sharing, context, listed, sorted, wrong_signers};
use crate::PrimeGroup;
use crate::base::{Digest, Entropy, MemberId, Secret};
use crate::hedge::Hedged;
use crate::polynomial::lagrange;
use crate::run::{Fault, FaultKind, Incoming, Next, Outgoing, Run, RunId, whole_round};
use std::collections::{BTreeMap, BTreeSet};

/// Which masks are under way: (the helper that drew it, the later one that got it).
type Pair = (MemberId, MemberId);

enum Stage {
    Masks,
    Parts,
    MaskAnswers,
    LateParts,
    Verdict,
    PartAnswers,
    Over,
}

/// A participant in an enrolment: a helper, the newcomer, or another holder who looks on.
pub struct Enrol<G: PrimeGroup> {
    context: Digest,
    me: MemberId,
    sharing: Sharing<G>,
    extended: Sharing<G>,
    helpers: Vec<MemberId>,
    newcomer: MemberId,
    /// At helpers: share · λ.
    part: Option<Secret<G::Scalar>>,
    stage: Stage,
    masks: BTreeMap<Pair, Secret<G::Scalar>>,
    public_masks: BTreeMap<Pair, G::Element>,
    parts: BTreeMap<MemberId, Secret<G::Scalar>>,
    /// (accused, accuser), about masks.
    disputes: BTreeSet<Pair>,
    /// About parts.
    accused: Vec<MemberId>,
}

impl<G: PrimeGroup> Enrol<G> {
    /// `helpers`: exactly `threshold` holders, `newcomer` not among them. `share` is `me`'s; needed
    /// of helpers. If `newcomer` is a holder, the sharing stays as it is.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`]; [`FaultKind::LocalShare`] for a helper's share that is not of
    /// `sharing`.
    pub fn new(
        run: RunId,
        me: MemberId,
        sharing: &Sharing<G>,
        share: Option<&Share<G>>,
        helpers: &[MemberId],
        newcomer: MemberId,
    ) -> Result<Self, Fault> {
        let helpers = sorted(helpers)?;
        let known = |member: &MemberId| sharing.holders().contains(member);
        let good = helpers.len() == sharing.threshold()
            && helpers.iter().all(|helper| known(helper) && *helper != newcomer);
        if !good || !(known(&me) || me == newcomer) {
            return Err(wrong_signers());
        }
        let extended = if known(&newcomer) {
            sharing.clone()
        } else {
            sharing.with_holder(newcomer).map_err(|_| wrong_signers())?
        };
        let part = if helpers.contains(&me) {
            let lambda = lagrange::<G>(&me, &helpers, G::place(&newcomer)).ok_or_else(wrong_signers)?;
            Some(Secret::new(G::times(*own(sharing, share, &me)?.value(), lambda)))
        } else {
            None
        };
        let parts: [&[u8]; 4] = [&run.0, &sharing.epoch(), &listed(&helpers), &newcomer.0];
        Ok(Self {
            context: context::<G>(b"folkmoot enrolment v1", &parts),
            me,
            sharing: sharing.clone(),
            extended,
            helpers,
            newcomer,
            part,
            stage: Stage::Masks,
            masks: BTreeMap::new(),
            public_masks: BTreeMap::new(),
            parts: BTreeMap::new(),
            disputes: BTreeSet::new(),
            accused: Vec::new(),
        })
    }

    fn helps(&self) -> bool {
        self.part.is_some()
    }

    fn after<'a>(&'a self, helper: &'a MemberId) -> impl Iterator<Item = &'a MemberId> {
        self.helpers.iter().filter(move |other| *other > helper)
    }

    fn before<'a>(&'a self, helper: &'a MemberId) -> impl Iterator<Item = &'a MemberId> {
        self.helpers.iter().filter(move |other| *other < helper)
    }

    /// Draws the masks for the helpers after this one.
    fn draw_masks(&mut self, entropy: &mut dyn Entropy) -> Outgoing {
        let Some(part) = &self.part else { return Outgoing::default() };
        let key = Secret::new(G::encode_scalar(part.expose()));
        let purpose: [&[u8]; 4] = [b"folkmoot enrolment masks v1", &[0], &self.context, &self.me.0];
        let mut entropy = Hedged::new(key, &purpose, entropy);
        let mut writer = Writer::new(Kind::Masks, 0).bytes(&self.context);
        let mut to_each = BTreeMap::new();
        let later: Vec<MemberId> = self.after(&self.me).copied().collect();
        for other in later {
            let mask = Secret::new(G::draw(&mut entropy));
            writer = writer.element::<G>(&G::raise_generator(mask.expose()));
            to_each.insert(other, Secret::new(number::<G>(Kind::Mask, &[mask.expose()])));
            self.masks.insert((self.me, other), mask);
        }
        Outgoing { to_all: writer.end(), to_each }
    }

    fn take_masks(&mut self, heard: &Incoming) -> Result<Next<Holding<G>>, Fault> {
        let public = each(self.helpers.iter().copied(), |helper| {
            self.read_masks(helper, said(heard, helper)).ok_or(FaultKind::PeerMalformed)
        })?;
        self.public_masks = public.into_values().flatten().collect();
        self.stage = Stage::Parts;
        if !self.helps() {
            return Ok(Next::Say(Outgoing::default()));
        }
        let mut accused = Vec::new();
        let earlier: Vec<MemberId> = self.before(&self.me).copied().collect();
        for other in earlier {
            let pair = (other, self.me);
            let came = heard.to_me.get(&other).and_then(|message| secret_number::<G>(message, Kind::Mask));
            match came.filter(|mask| self.mask_fits(&pair, mask.expose())) {
                Some(mask) => drop(self.masks.insert(pair, mask)),
                None => accused.push(other),
            }
        }
        let mut said = if accused.is_empty() { self.say_part() } else { Outgoing::default() };
        said.to_all = accuse(&accused);
        Ok(Next::Say(said))
    }

    fn read_masks(&self, helper: &MemberId, message: &[u8]) -> Option<Vec<(Pair, G::Element)>> {
        let mut reader = Reader::new(message, Kind::Masks)?;
        if reader.digest()? != self.context {
            return None;
        }
        let read = |other: &MemberId| Some(((*helper, *other), reader.element::<G>()?));
        let masks = self.after(helper).map(read).collect::<Option<Vec<_>>>()?;
        reader.end()?;
        Some(masks)
    }

    fn mask_fits(&self, pair: &Pair, mask: &G::Scalar) -> bool {
        self.public_masks.get(pair) == Some(&G::raise_generator(mask))
    }

    /// This helper's masked part; kept, because it may have to be shown.
    fn say_part(&mut self) -> Outgoing {
        let Some(part) = &self.part else { return Outgoing::default() };
        let mut sum = part.clone();
        for ((from, to), mask) in &self.masks {
            if *from == self.me {
                sum = Secret::new(G::plus(*sum.expose(), *mask.expose()));
            } else if *to == self.me {
                sum = Secret::new(G::plus(*sum.expose(), G::minus(*mask.expose())));
            }
        }
        let message = Secret::new(number::<G>(Kind::Part, &[sum.expose()]));
        self.parts.insert(self.me, sum);
        Outgoing { to_all: Vec::new(), to_each: BTreeMap::from([(self.newcomer, message)]) }
    }

    fn take_parts(&mut self, heard: &Incoming) -> Result<Next<Holding<G>>, Fault> {
        let late = matches!(self.stage, Stage::LateParts);
        let accused = each(self.awaited_in(&self.stage), |helper| {
            let earlier: Vec<MemberId> = self.before(helper).copied().collect();
            accusations(said(heard, helper), helper, if late { &[] } else { &earlier })
        })?;
        self.keep_parts(heard);
        let pairs =
            accused.iter().flat_map(|(accuser, list)| list.iter().map(|accused| (*accused, *accuser)));
        let disputes: BTreeSet<Pair> = pairs.collect();
        if disputes.is_empty() {
            self.stage = Stage::Verdict;
            return Ok(Next::Say(self.verdict()));
        }
        self.disputes = disputes;
        self.stage = Stage::MaskAnswers;
        let mine: Vec<Secret<G::Scalar>> = self
            .disputes
            .iter()
            .filter_map(|pair| self.masks.get(pair).filter(|_| pair.0 == self.me))
            .cloned()
            .collect();
        if mine.is_empty() {
            return Ok(Next::Say(Outgoing::default()));
        }
        let mine: Vec<&G::Scalar> = mine.iter().map(Secret::expose).collect();
        Ok(Next::Say(to_all(number::<G>(Kind::Mask, &mine))))
    }

    /// The newcomer keeps what was said to it.
    fn keep_parts(&mut self, heard: &Incoming) {
        if self.me != self.newcomer {
            return;
        }
        for (helper, message) in &heard.to_me {
            if let Some(part) = secret_number::<G>(message, Kind::Part) {
                self.parts.insert(*helper, part);
            }
        }
    }

    fn take_mask_answers(&mut self, heard: &Incoming) -> Result<Next<Holding<G>>, Fault> {
        let answers = each(self.awaited_in(&Stage::MaskAnswers), |helper| {
            let pairs: Vec<Pair> =
                self.disputes.iter().filter(|(accused, _)| accused == helper).copied().collect();
            let masks =
                numbers::<G>(said(heard, helper), Kind::Mask, pairs.len()).ok_or(FaultKind::PeerMalformed)?;
            let answered: Vec<(Pair, G::Scalar)> = pairs.into_iter().zip(masks).collect();
            let fits = answered.iter().all(|(pair, mask)| self.mask_fits(pair, mask));
            if fits { Ok(answered) } else { Err(FaultKind::PeerShare) }
        })?;
        for (pair, mask) in answers.into_values().flatten() {
            if pair.1 == self.me {
                self.masks.insert(pair, Secret::new(mask));
            }
        }
        self.stage = Stage::LateParts;
        let late = self.disputes.iter().any(|(_, accuser)| *accuser == self.me);
        let mut said = if late { self.say_part() } else { Outgoing::default() };
        if late {
            said.to_all = accuse(&[]);
        }
        Ok(Next::Say(said))
    }

    /// The newcomer adds up. If the sum is not its share, it finds out whose part is false.
    fn verdict(&mut self) -> Outgoing {
        if self.me != self.newcomer {
            return Outgoing::default();
        }
        let whole = self.parts.len() == self.helpers.len();
        if !(whole && G::raise_generator(self.sum().expose()) == self.sharing.public_share(&self.newcomer)) {
            let wrong = |helper: &&MemberId| {
                !self.parts.get(helper).is_some_and(|part| self.part_fits(helper, part.expose()))
            };
            self.accused = self.helpers.iter().filter(wrong).copied().collect();
        }
        to_all(accuse(&self.accused))
    }

    fn sum(&self) -> Secret<G::Scalar> {
        let add = |sum: Secret<G::Scalar>, part: &Secret<G::Scalar>| {
            Secret::new(G::plus(*sum.expose(), *part.expose()))
        };
        self.parts.values().fold(Secret::new(G::zero()), add)
    }

    /// Whether `part` is `helper`'s share times λ, masked as published.
    fn part_fits(&self, helper: &MemberId, part: &G::Scalar) -> bool {
        let Some(lambda) = lagrange::<G>(helper, &self.helpers, G::place(&self.newcomer)) else {
            return false;
        };
        let mut terms = vec![(lambda, self.sharing.public_share(helper))];
        for ((from, to), mask) in &self.public_masks {
            if from == helper {
                terms.push((G::one(), *mask));
            } else if to == helper {
                terms.push((G::minus(G::one()), *mask));
            }
        }
        G::raise_generator(part) == G::raise_many(&terms)
    }

    fn take_verdict(&mut self, heard: &Incoming) -> Result<Next<Holding<G>>, Fault> {
        self.accused = accusations(said(heard, &self.newcomer), &self.newcomer, &self.helpers)
            .map_err(|kind| Fault::of(kind, self.newcomer))?;
        if self.accused.is_empty() {
            return Ok(Next::Done(self.held()));
        }
        self.stage = Stage::PartAnswers;
        let disputed = self.helps() && self.accused.contains(&self.me);
        let part = self.parts.get(&self.me).filter(|_| disputed);
        Ok(Next::Say(
            part.map_or_else(Outgoing::default, |part| to_all(number::<G>(Kind::Part, &[part.expose()]))),
        ))
    }

    fn take_part_answers(&mut self, heard: &Incoming) -> Result<Next<Holding<G>>, Fault> {
        let answers = each(self.accused.iter().copied(), |helper| {
            let read =
                numbers::<G>(said(heard, helper), Kind::Part, 1).and_then(|read| read.first().copied());
            let part = read.ok_or(FaultKind::PeerMalformed)?;
            if self.part_fits(helper, &part) { Ok(part) } else { Err(FaultKind::PeerPart) }
        })?;
        if self.me == self.newcomer {
            self.parts.extend(answers.into_iter().map(|(helper, part)| (helper, Secret::new(part))));
        }
        Ok(Next::Done(self.held()))
    }

    fn held(&self) -> Holding<G> {
        let gets = self.me == self.newcomer;
        let share = gets.then(|| Share::new(self.me, self.extended.epoch(), *self.sum().expose()));
        Holding { sharing: self.extended.clone(), share }
    }

    fn awaited_in(&self, stage: &Stage) -> Vec<MemberId> {
        let of_disputes = |side: fn(&Pair) -> MemberId| {
            let members: BTreeSet<MemberId> = self.disputes.iter().map(side).collect();
            members.into_iter().collect()
        };
        match stage {
            Stage::Masks | Stage::Parts => self.helpers.clone(),
            Stage::MaskAnswers => of_disputes(|pair| pair.0),
            Stage::LateParts => of_disputes(|pair| pair.1),
            Stage::Verdict => vec![self.newcomer],
            Stage::PartAnswers => self.accused.clone(),
            Stage::Over => Vec::new(),
        }
    }
}

/// A message of one number for one participant alone.
fn secret_number<G: PrimeGroup>(message: &Secret<Vec<u8>>, kind: Kind) -> Option<Secret<G::Scalar>> {
    let mut read = numbers::<G>(message.expose(), kind, 1)?;
    let number = read.first().copied().map(Secret::new);
    read.iter_mut().for_each(zeroize::Zeroize::zeroize);
    number
}

impl<G: PrimeGroup> Run for Enrol<G> {
    type Done = Holding<G>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Holding<G>> {
        Next::Say(if self.helps() { self.draw_masks(entropy) } else { Outgoing::default() })
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.awaited_in(&self.stage)
    }

    fn hear(&mut self, heard: Incoming, _: &mut dyn Entropy) -> Result<Next<Holding<G>>, Fault> {
        let whole = whole_round(&heard, &self.awaited());
        let next = whole.and_then(|()| match self.stage {
            Stage::Masks => self.take_masks(&heard),
            Stage::Parts | Stage::LateParts => self.take_parts(&heard),
            Stage::MaskAnswers => self.take_mask_answers(&heard),
            Stage::Verdict => self.take_verdict(&heard),
            Stage::PartAnswers => self.take_part_answers(&heard),
            Stage::Over => Err(Fault::of_nobody(FaultKind::LocalRound)),
        });
        if !matches!(next, Ok(Next::Say(_))) {
            self.stage = Stage::Over;
            self.part = None;
            self.masks.clear();
            self.parts.clear();
        }
        next
    }
}
