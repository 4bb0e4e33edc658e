//! Numbers handed from hand to hand in private, of each of which all know the image (the number times the generator).
//!
//! ```text
//! giving      each giver, to each taker alone: its number
//! accusing    each taker, to all: whose number was missing or had another image; mostly nobody's
//! defending   only if somebody is accused; each accused, to all: the numbers for its accusers
//! ```
//! A published number that has its image settles the matter and its accuser takes it: nobody can tell who of the two lied, so nobody is
//! named, and no accuser can put an honest giver out, nor a giver an honest accuser. One that has not is proof for all. What is
//! published was known to the accuser or made by the accused, one of whom lies: nothing of two honest hands comes out.

use super::words::{WORD, judge, silent};
use crate::base::{MemberId, Secret};
use crate::{Edwards, Fault, FaultKind, Heard, PrimeGroup, Said};
use curve25519_dalek::EdwardsPoint;
use std::collections::{BTreeMap, BTreeSet};

/// The image of what the first hand gives to the second.
pub(super) type Image = Box<dyn Fn(&MemberId, &MemberId) -> EdwardsPoint + Send>;
/// Numbers by hand.
pub(super) type Numbers = BTreeMap<MemberId, Secret<Vec<u8>>>;

/// One hand's part in a handover.
pub(super) struct Handover {
    me: MemberId,
    givers: Vec<MemberId>,
    takers: Vec<MemberId>,
    image: Image,
    given: Numbers,
    taken: Numbers,
    stage: Stage,
}

enum Stage {
    Giving,
    Accusing,
    /// Who is accused, and by whom.
    Defending(BTreeMap<MemberId, BTreeSet<MemberId>>),
}

impl Handover {
    /// `givers` and `takers` are sorted; `given` is what this hand gives to each taker but itself.
    pub(super) fn new(
        me: MemberId,
        givers: Vec<MemberId>,
        takers: Vec<MemberId>,
        image: Image,
        given: Numbers,
    ) -> Self {
        Self { me, givers, takers, image, given, taken: Numbers::new(), stage: Stage::Giving }
    }

    /// What is given in private, first.
    pub(super) fn give(&self) -> Said {
        Said { to_all: Vec::new(), to_each: self.given.clone() }
    }

    pub(super) fn awaited(&self) -> Vec<MemberId> {
        match &self.stage {
            Stage::Giving => self.givers.clone(),
            Stage::Accusing => self.takers.clone(),
            Stage::Defending(accused) => accused.keys().copied().collect(),
        }
    }

    /// Takes a round; says what is said in the next one, or nothing: all is settled.
    pub(super) fn hear(&mut self, heard: Heard) -> Result<Option<Said>, Fault> {
        match &self.stage {
            Stage::Giving => {
                silent(&heard, &self.givers)?;
                Ok(Some(self.take(heard.to_me)))
            }
            Stage::Accusing => self.accused(&heard),
            Stage::Defending(accused) => {
                let published = self.defended(&heard, accused)?;
                self.taken.extend(published);
                Ok(None)
            }
        }
    }

    /// What came in private is taken, or its giver accused.
    pub(super) fn take(&mut self, to_me: Numbers) -> Said {
        self.stage = Stage::Accusing;
        let fits = |giver: &MemberId, number: &Secret<Vec<u8>>| {
            *giver != self.me && self.fits(giver, &self.me, number.expose())
        };
        self.taken = to_me.into_iter().filter(|(giver, number)| fits(giver, number)).collect();
        Said { to_all: self.accusation(), to_each: BTreeMap::new() }
    }

    /// What this hand was given by each giver but itself, once all is settled.
    pub(super) fn taken(self) -> Numbers {
        self.taken
    }

    fn fits(&self, giver: &MemberId, taker: &MemberId, number: &[u8]) -> bool {
        let scalar = Edwards::decode_scalar(number);
        scalar.is_some_and(|scalar| Edwards::raise_generator(&scalar) == (self.image)(giver, taker))
    }

    fn accusation(&self) -> Vec<u8> {
        if !self.takers.contains(&self.me) {
            return Vec::new();
        }
        let lacking =
            self.givers.iter().filter(|giver| **giver != self.me && !self.taken.contains_key(giver));
        lacking.flat_map(|giver| giver.0).collect()
    }

    fn accused(&mut self, heard: &Heard) -> Result<Option<Said>, Fault> {
        let lists = judge(heard, &self.takers, |taker, words| self.read_accusation(taker, words))?;
        let mut accused: BTreeMap<MemberId, BTreeSet<MemberId>> = BTreeMap::new();
        for (taker, list) in lists {
            for giver in list {
                accused.entry(giver).or_default().insert(taker);
            }
        }
        if accused.is_empty() {
            return Ok(None);
        }
        let to_all = accused.get(&self.me).map(|accusers| self.defence(accusers)).unwrap_or_default();
        self.stage = Stage::Defending(accused);
        Ok(Some(Said { to_all, to_each: BTreeMap::new() }))
    }

    /// Givers' ids, sorted, none twice, not the taker's own.
    fn read_accusation(&self, taker: &MemberId, words: &[u8]) -> Result<Vec<MemberId>, FaultKind> {
        let (ids, rest) = words.as_chunks::<WORD>();
        let list: Vec<MemberId> = ids.iter().copied().map(MemberId).collect();
        let sorted = list.iter().zip(list.iter().skip(1)).all(|(one, next)| one < next);
        let known = list.iter().all(|giver| giver != taker && self.givers.binary_search(giver).is_ok());
        if rest.is_empty() && sorted && known { Ok(list) } else { Err(FaultKind::PeerMalformed) }
    }

    fn defence(&self, accusers: &BTreeSet<MemberId>) -> Vec<u8> {
        let numbers = accusers.iter().filter_map(|accuser| self.given.get(accuser));
        numbers.flat_map(|number| number.expose().iter().copied()).collect()
    }

    /// The published numbers for this hand.
    fn defended(
        &self,
        heard: &Heard,
        accused: &BTreeMap<MemberId, BTreeSet<MemberId>>,
    ) -> Result<Numbers, Fault> {
        let none = BTreeSet::new();
        let hands: Vec<MemberId> = accused.keys().copied().collect();
        let mine = judge(heard, &hands, |giver, words| {
            self.read_defence(giver, accused.get(giver).unwrap_or(&none), words)
        })?;
        Ok(mine.into_iter().filter_map(|(giver, number)| Some((giver, number?))).collect())
    }

    fn read_defence(
        &self,
        giver: &MemberId,
        accusers: &BTreeSet<MemberId>,
        words: &[u8],
    ) -> Result<Option<Secret<Vec<u8>>>, FaultKind> {
        let (numbers, rest) = words.as_chunks::<WORD>();
        if !rest.is_empty() || numbers.len() != accusers.len() {
            return Err(FaultKind::PeerMalformed);
        }
        if !accusers.iter().zip(numbers).all(|(accuser, number)| self.fits(giver, accuser, number)) {
            return Err(FaultKind::PeerShare);
        }
        let mine = accusers.iter().zip(numbers).find(|(accuser, _)| **accuser == self.me);
        Ok(mine.map(|(_, number)| Secret::new(number.to_vec())))
    }
}
