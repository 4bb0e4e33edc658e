//! Several dealers deal to several holders at once, and everybody can check it: the rounds under
//! every run of this module.
//!
//! ```text
//! commit   dealers  all   digest of the opening              nobody's commitments can be chosen by looking at another's
//! open     dealers  all   nonce, commitments, proofs         proofs: the dealer knows what it committed to
//!                   each  the holder's numbers
//! accuse   holders  all   dealers whose numbers do not fit   usually none
//! answer   accused  all   the numbers in dispute             only if somebody is accused
//! ```
//! An answer that fits ends the dispute and is used. One that does not fit names its dealer. If the
//! answer fits, nobody is named: only dealer and accuser know whether the dealer had sent something
//! else or the accuser lied. One of the two is a liar, so the numbers told to all were not a secret
//! to begin with.

use super::message::{Kind, Reader, Writer};
use super::pledge::{Deal, Form, Piece, second_generator};
use super::proof::Known;
use super::round::{accusations, accuse, each, said, to_all};
use crate::PrimeGroup;
use crate::base::{Digest, Entropy, MemberId, Secret, digest, draw};
use crate::hedge::Hedged;
use crate::run::{Fault, FaultKind, Incoming, Next, Outgoing, whole_round};
use std::collections::{BTreeMap, BTreeSet};

/// Who deals what to whom.
pub(crate) struct Plan<G: PrimeGroup> {
    /// Digest of all that the participants must agree on before; every commitment and proof covers
    /// it.
    pub(crate) context: Digest,
    /// Sorted.
    pub(crate) dealers: Vec<MemberId>,
    /// Sorted.
    pub(crate) holders: Vec<MemberId>,
    pub(crate) forms: Vec<Form>,
    /// What each dealer's first commitment must be, if that is known before; else empty.
    pub(crate) expected: BTreeMap<MemberId, G::Element>,
}

/// The result of a dealing: sums over all dealers, one for each form.
pub(crate) struct Dealt<G: PrimeGroup> {
    pub(crate) pledges: Vec<Vec<G::Element>>,
    /// At holders.
    pub(crate) pieces: Option<Vec<Piece<G>>>,
}

enum Stage {
    Commit,
    Open,
    Accuse,
    Answer,
    Over,
}

/// One participant's side of a dealing.
pub(crate) struct Dealing<G: PrimeGroup> {
    plan: Plan<G>,
    me: MemberId,
    second: G::Element,
    stage: Stage,
    constant: Option<Secret<G::Scalar>>,
    /// What stands behind all that this dealer draws, beside the context: a secret, or nothing.
    hedge: Option<Secret<Vec<u8>>>,
    deals: Vec<Deal<G>>,
    opening: Vec<u8>,
    commits: BTreeMap<MemberId, Digest>,
    pledges: BTreeMap<MemberId, Vec<Vec<G::Element>>>,
    pieces: BTreeMap<MemberId, Vec<Piece<G>>>,
    /// (accused, accuser).
    disputes: BTreeSet<(MemberId, MemberId)>,
}

impl<G: PrimeGroup> Dealing<G> {
    /// `constant`: the value of this participant's first polynomial at zero; drawn if there is
    /// none.
    pub(crate) fn new(plan: Plan<G>, me: MemberId, constant: Option<Secret<G::Scalar>>) -> Self {
        Self {
            plan,
            me,
            second: second_generator::<G>(),
            stage: Stage::Commit,
            hedge: constant.as_ref().map(|constant| Secret::new(G::encode_scalar(constant.expose()))),
            constant,
            deals: Vec::new(),
            opening: Vec::new(),
            commits: BTreeMap::new(),
            pledges: BTreeMap::new(),
            pieces: BTreeMap::new(),
            disputes: BTreeSet::new(),
        }
    }

    /// With this secret, which may be empty, and the context behind all that is drawn; without
    /// either if there is none.
    pub(crate) fn hedged(self, hedge: Option<Secret<Vec<u8>>>) -> Self {
        Self { hedge, ..self }
    }

    fn deal(&mut self, entropy: &mut dyn Entropy) -> Outgoing {
        let Some(key) = self.hedge.take() else { return self.deal_by(entropy) };
        let (context, me) = (self.plan.context, self.me.0);
        self.deal_by(&mut Hedged::new(key, &[b"folkmoot dealing nonces v1", &[0], &context, &me], entropy))
    }

    fn deal_by(&mut self, entropy: &mut dyn Entropy) -> Outgoing {
        let constant = self.constant.take();
        self.deals =
            Deal::draw(&self.plan.forms, constant.as_ref().map(|constant| *constant.expose()), entropy);
        let mut writer = Writer::new(Kind::Open, 0).bytes(&draw::<32>(entropy));
        for (form, deal) in self.plan.forms.iter().zip(&self.deals) {
            for commitment in deal.pledge(&self.second) {
                writer = writer.element::<G>(&commitment);
            }
            if !form.hides() {
                let constant = Secret::new(deal.constant());
                let proof = Known::<G>::prove(&self.plan.context, &self.me, constant.expose(), entropy);
                writer = proof.write(writer);
            }
        }
        self.opening = writer.end();
        to_all(Writer::new(Kind::Commit, 32).bytes(&self.commit(&self.me, &self.opening)).end())
    }

    fn commit(&self, dealer: &MemberId, opening: &[u8]) -> Digest {
        digest(&[b"folkmoot dealing v1", &[0], &self.plan.context, &dealer.0, opening])
    }

    fn take_commits(&mut self, heard: &Incoming) -> Result<Next<Dealt<G>>, Fault> {
        self.commits = each(self.plan.dealers.iter().copied(), |dealer| {
            let read = || {
                let mut reader = Reader::new(said(heard, dealer), Kind::Commit)?;
                let commit = reader.digest()?;
                reader.end()?;
                Some(commit)
            };
            read().ok_or(FaultKind::PeerMalformed)
        })?;
        self.stage = Stage::Open;
        Ok(Next::Say(self.open()))
    }

    fn open(&self) -> Outgoing {
        if self.deals.is_empty() {
            return Outgoing::default();
        }
        let others = self.plan.holders.iter().filter(|holder| **holder != self.me);
        let to_each = others.map(|holder| (*holder, self.piece_message(Kind::Piece, &[*holder])));
        Outgoing { to_all: self.opening.clone(), to_each: to_each.collect() }
    }

    /// The numbers of `holders`, one after another.
    fn piece_message(&self, kind: Kind, holders: &[MemberId]) -> Secret<Vec<u8>> {
        let scalars: usize = self.plan.forms.iter().map(|form| form.scalars()).sum();
        let room = scalars.saturating_mul(G::SCALAR_BYTES).saturating_mul(holders.len());
        let mut writer = Writer::new(kind, room);
        for holder in holders {
            for (form, deal) in self.plan.forms.iter().zip(&self.deals) {
                writer = deal.piece(holder).write(*form, writer);
            }
        }
        Secret::new(writer.end())
    }

    fn take_openings(&mut self, heard: &Incoming) -> Result<Next<Dealt<G>>, Fault> {
        self.pledges = each(self.plan.dealers.iter().copied(), |dealer| {
            self.check_opening(dealer, said(heard, dealer))
        })?;
        let mut accused = Vec::new();
        if self.plan.holders.contains(&self.me) {
            accused = self.take_pieces(heard);
        }
        self.stage = Stage::Accuse;
        let holds = self.plan.holders.contains(&self.me);
        Ok(Next::Say(if holds { to_all(accuse(&accused)) } else { Outgoing::default() }))
    }

    fn check_opening(&self, dealer: &MemberId, message: &[u8]) -> Result<Vec<Vec<G::Element>>, FaultKind> {
        if self.commits.get(dealer) != Some(&self.commit(dealer, message)) {
            return Err(FaultKind::PeerReveal);
        }
        let (pledges, proofs) = self.read_opening(message).ok_or(FaultKind::PeerMalformed)?;
        let known =
            |(public, proof): &(G::Element, Known<G>)| proof.holds(&self.plan.context, dealer, public);
        if !proofs.iter().all(known) {
            return Err(FaultKind::PeerProof);
        }
        let first = pledges.first().and_then(|pledge| pledge.first());
        match self.plan.expected.get(dealer) {
            Some(expected) if first != Some(expected) => Err(FaultKind::PeerCommitment),
            _ => Ok(pledges),
        }
    }

    #[allow(clippy::type_complexity, reason = "two lists, named where they are taken apart")]
    fn read_opening(&self, message: &[u8]) -> Option<(Vec<Vec<G::Element>>, Vec<(G::Element, Known<G>)>)> {
        let mut reader = Reader::new(message, Kind::Open)?;
        reader.take(32)?;
        let (mut pledges, mut proofs) = (Vec::new(), Vec::new());
        for form in &self.plan.forms {
            let pledge = reader.elements::<G>(form.commitments())?;
            if !form.hides() {
                proofs.push((*pledge.first()?, Known::read(&mut reader)?));
            }
            pledges.push(pledge);
        }
        reader.end()?;
        Some((pledges, proofs))
    }

    /// Keeps the pieces that came, and says who is to be accused. The sum is checked first: if it
    /// fits, so will this participant's share, and it does not matter who dealt what.
    fn take_pieces(&mut self, heard: &Incoming) -> Vec<MemberId> {
        let mut missing = Vec::new();
        for dealer in &self.plan.dealers {
            let pieces = if *dealer == self.me {
                Some(self.deals.iter().map(|deal| deal.piece(&self.me)).collect())
            } else {
                heard.to_me.get(dealer).and_then(|message| self.read_piece(message.expose()))
            };
            match pieces {
                Some(pieces) => drop(self.pieces.insert(*dealer, pieces)),
                None => missing.push(*dealer),
            }
        }
        if missing.is_empty() && self.fits(&self.me, &self.sum_of_pieces(), &self.sum_of_pledges()) {
            return missing;
        }
        let wrong = |dealer: &&MemberId| !self.piece_fits(dealer);
        self.plan.dealers.iter().filter(wrong).copied().collect()
    }

    fn read_piece(&self, message: &[u8]) -> Option<Vec<Piece<G>>> {
        let mut reader = Reader::new(message, Kind::Piece)?;
        let pieces = Piece::read_all(&self.plan.forms, &mut reader)?;
        reader.end()?;
        Some(pieces)
    }

    fn piece_fits(&self, dealer: &MemberId) -> bool {
        let known = (self.pieces.get(dealer), self.pledges.get(dealer));
        matches!(known, (Some(pieces), Some(pledges)) if self.fits(&self.me, pieces, pledges))
    }

    fn fits(&self, holder: &MemberId, pieces: &[Piece<G>], pledges: &[Vec<G::Element>]) -> bool {
        let all = self.plan.forms.iter().zip(pieces).zip(pledges);
        pieces.len() == self.plan.forms.len()
            && all.into_iter().all(|((form, piece), pledge)| piece.fits(*form, pledge, holder, &self.second))
    }

    fn take_accusations(&mut self, heard: &Incoming) -> Result<Next<Dealt<G>>, Fault> {
        let accused = each(self.plan.holders.iter().copied(), |holder| {
            accusations(said(heard, holder), holder, &self.plan.dealers)
        })?;
        let pairs =
            accused.iter().flat_map(|(accuser, list)| list.iter().map(|accused| (*accused, *accuser)));
        self.disputes = pairs.collect();
        if self.disputes.is_empty() {
            return Ok(Next::Done(self.sums()));
        }
        self.stage = Stage::Answer;
        let disputed = self.accusers(&self.me);
        if disputed.is_empty() {
            return Ok(Next::Say(Outgoing::default()));
        }
        Ok(Next::Say(to_all(self.piece_message(Kind::Answer, &disputed).expose().clone())))
    }

    fn accusers(&self, accused: &MemberId) -> Vec<MemberId> {
        self.disputes.iter().filter(|(member, _)| member == accused).map(|(_, accuser)| *accuser).collect()
    }

    fn take_answers(&mut self, heard: &Incoming) -> Result<Next<Dealt<G>>, Fault> {
        let answers = each(self.answering(), |dealer| self.check_answer(dealer, said(heard, dealer)))?;
        for (dealer, mut mine) in answers {
            if let Some(pieces) = mine.remove(&self.me) {
                self.pieces.insert(dealer, pieces);
            }
        }
        Ok(Next::Done(self.sums()))
    }

    fn check_answer(
        &self,
        dealer: &MemberId,
        message: &[u8],
    ) -> Result<BTreeMap<MemberId, Vec<Piece<G>>>, FaultKind> {
        let mut reader = Reader::new(message, Kind::Answer).ok_or(FaultKind::PeerMalformed)?;
        let mut answers = BTreeMap::new();
        for holder in self.accusers(dealer) {
            let pieces = Piece::read_all(&self.plan.forms, &mut reader).ok_or(FaultKind::PeerMalformed)?;
            let pledges = self.pledges.get(dealer).ok_or(FaultKind::LocalRound)?;
            if !self.fits(&holder, &pieces, pledges) {
                return Err(FaultKind::PeerShare);
            }
            answers.insert(holder, pieces);
        }
        reader.end().ok_or(FaultKind::PeerMalformed)?;
        Ok(answers)
    }

    fn answering(&self) -> Vec<MemberId> {
        let accused: BTreeSet<MemberId> = self.disputes.iter().map(|(accused, _)| *accused).collect();
        accused.into_iter().collect()
    }

    fn sums(&self) -> Dealt<G> {
        let holds = self.plan.holders.contains(&self.me);
        Dealt { pledges: self.sum_of_pledges(), pieces: holds.then(|| self.sum_of_pieces()) }
    }

    fn sum_of_pledges(&self) -> Vec<Vec<G::Element>> {
        let add = |left: Vec<Vec<G::Element>>, right: &Vec<Vec<G::Element>>| {
            let pairs = left.into_iter().zip(right);
            pairs.map(|(left, right)| left.iter().zip(right).map(|(a, b)| G::add(a, b)).collect()).collect()
        };
        let mut pledges = self.pledges.values();
        let first = pledges.next().cloned().unwrap_or_default();
        pledges.fold(first, add)
    }

    fn sum_of_pieces(&self) -> Vec<Piece<G>> {
        let add = |left: Vec<Piece<G>>, right: &Vec<Piece<G>>| {
            left.iter().zip(right).map(|(left, right)| left.plus(right)).collect()
        };
        let mut pieces = self.pieces.values();
        let first = pieces.next().cloned().unwrap_or_default();
        pieces.fold(first, add)
    }

    /// What this participant says first.
    pub(crate) fn begin(&mut self, entropy: &mut dyn Entropy) -> Outgoing {
        if self.plan.dealers.contains(&self.me) { self.deal(entropy) } else { Outgoing::default() }
    }

    /// As in [`crate::Run`].
    pub(crate) fn awaited(&self) -> Vec<MemberId> {
        match self.stage {
            Stage::Commit | Stage::Open => self.plan.dealers.clone(),
            Stage::Accuse => self.plan.holders.clone(),
            Stage::Answer => self.answering(),
            Stage::Over => Vec::new(),
        }
    }

    /// As in [`crate::Run`].
    pub(crate) fn hear(&mut self, heard: &Incoming) -> Result<Next<Dealt<G>>, Fault> {
        let whole = whole_round(heard, &self.awaited());
        // Whatever is refused ends the run: a caller that hands in half a round gets no second
        // answer with the same secrets.
        let stage = core::mem::replace(&mut self.stage, Stage::Over);
        let next = whole.and_then(|()| match stage {
            Stage::Commit => self.take_commits(heard),
            Stage::Open => self.take_openings(heard),
            Stage::Accuse => self.take_accusations(heard),
            Stage::Answer => self.take_answers(heard),
            Stage::Over => Err(Fault::of_nobody(FaultKind::LocalRound)),
        });
        if !matches!(next, Ok(Next::Say(_))) {
            self.end();
        }
        next
    }

    /// Hears nothing any more, and has no secrets.
    pub(crate) fn end(&mut self) {
        self.stage = Stage::Over;
        self.constant = None;
        self.hedge = None;
        self.deals.clear();
        self.opening.clear();
        self.pieces.clear();
    }
}
