//! One agreement for one candidate: Dutta–Barua's two rounds, then everybody's proof that it has
//! the key.
//!
//! ```text
//! ring = P and J in order. Fewer than three in P: all speak. Else the first, second and last of P, and J;
//! the other members of P listen, and compute the key from the old one.
//! all shares in ─> link      all links in ─> key, confirm      all confirms in, or one who knows so ─> installed
//! ```

use super::message::Round;
use super::sets::{Candidate, Entry};
use crate::base::{Digest, Entropy, Instant, MemberId, Party, Secret, digest, hmac_sha256};
use bytes::Bytes;
use folkmoot_agreement::{AgreementError, Kept, Module, ModuleName, Origin, Plan, Step, begin};
use std::collections::{BTreeMap, BTreeSet};

const SHARE: u8 = 1;
const LINK: u8 = 2;
/// Fewest old members that a Join needs; the module has the same number.
const OLD_MIN: usize = 3;

/// What one speaker has said.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    pub(crate) share: Option<[u8; 32]>,
    pub(crate) link: Option<[u8; 32]>,
    pub(crate) confirm: Option<[u8; 32]>,
    pub(crate) done: bool,
}

/// Which word of the speakers is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Shares,
    Links,
    Confirms,
}

pub(crate) struct Attempt {
    pub(crate) candidate: Candidate,
    /// The response that named it, for those who missed it.
    pub(crate) response: Bytes,
    /// Whether this node wrote that response.
    pub(crate) own: bool,
    pub(crate) me: u16,
    speakers: Vec<u16>,
    pub(crate) turns: BTreeMap<u16, Turn>,
    module: Option<Box<dyn Module>>,
    stage: Stage,
    master: Option<Secret<[u8; 32]>>,
    transcript: Digest,
    /// Whose proof of the key did not fit.
    liars: BTreeSet<u16>,
    pub(crate) share_at: Instant,
    pub(crate) repeat_at: Instant,
    pub(crate) deadline: Instant,
}

/// The seed of a module's randomness, as a stream.
pub(crate) struct Stream<'a>(pub(crate) &'a [u8; 32], pub(crate) u64);

impl Entropy for Stream<'_> {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            let block = hmac_sha256(self.0, &[b"folkmoot lcm share v1", &self.1.to_be_bytes()]);
            self.1 = self.1.saturating_add(1);
            chunk.iter_mut().zip(block).for_each(|(to, from)| *to = from);
        }
    }
}

fn party(entry: &Entry) -> Party {
    Party::new(MemberId(entry.holder), entry.uid)
}

/// Who speaks: the same at all, from the candidate alone.
pub(crate) fn speakers(candidate: &Candidate) -> Vec<u16> {
    let (old, new) = (&candidate.old, &candidate.new);
    let all = || candidate.entries().map(|entry| entry.uid).collect();
    if old.len() < OLD_MIN || new.is_empty() {
        return all();
    }
    old.iter().take(2).chain(old.last()).chain(new).map(|entry| entry.uid).collect()
}

impl Attempt {
    pub(crate) fn new(candidate: Candidate, response: Bytes, me: u16, now: Instant) -> Self {
        let speakers = speakers(&candidate);
        Self {
            candidate,
            response,
            own: false,
            me,
            speakers,
            turns: BTreeMap::new(),
            module: None,
            stage: Stage::Shares,
            master: None,
            transcript: [0; 32],
            liars: BTreeSet::new(),
            share_at: now,
            repeat_at: now,
            deadline: now,
        }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) fn is_started(&self) -> bool {
        self.module.is_some()
    }

    pub(crate) fn speaks(&self) -> bool {
        self.speakers.contains(&self.me)
    }

    pub(crate) fn speakers(&self) -> &[u16] {
        &self.speakers
    }

    pub(crate) fn own_turn(&self) -> Turn {
        self.turns.get(&self.me).copied().unwrap_or_default()
    }

    /// This node has sent its link: it stays with the candidate.
    pub(crate) fn is_locked(&self) -> bool {
        self.stage > Stage::Shares
    }

    pub(crate) fn has_key(&self) -> bool {
        self.master.is_some()
    }

    /// Speakers whose word for the present stage has not come.
    pub(crate) fn missing(&self) -> Vec<u16> {
        let lacks = |turn: &Turn| match self.stage {
            Stage::Shares => turn.share.is_none(),
            Stage::Links => turn.link.is_none(),
            Stage::Confirms => turn.confirm.is_none() && !turn.done,
        };
        let lacks = |uid: &&u16| self.turns.get(*uid).is_none_or(lacks);
        self.speakers.iter().filter(lacks).copied().collect()
    }

    /// Whether all joiners' shares are in.
    pub(crate) fn newcomers_spoke(&self) -> bool {
        let spoke = |uid: u16| self.turns.get(&uid).is_some_and(|turn| turn.share.is_some());
        self.candidate.new.iter().all(|entry| spoke(entry.uid))
    }

    /// Starts the module: this node's share, if it speaks.
    pub(crate) fn start(&mut self, kept: Option<&Kept>, seed: &[u8; 32]) -> Result<(), AgreementError> {
        let parties: Vec<_> = self.candidate.entries().map(party).collect();
        let me = self.candidate.entries().position(|entry| entry.uid == self.me);
        let me = me.ok_or(AgreementError::LocalMembers)?;
        let size = u32::try_from(self.candidate.old.len()).map_err(|_| AgreementError::LocalMembers)?;
        let joins = self.candidate.old.len() >= OLD_MIN;
        let origin = |place: usize| {
            let place = u32::try_from(place).ok().filter(|place| *place < size && joins)?;
            Some(Origin { run: self.candidate.base?, rank: size << 16 | place })
        };
        let origins: Vec<_> = (0..parties.len()).map(origin).collect();
        let kept = kept.filter(|_| origins.get(me).is_some_and(Option::is_some));
        let plan = Plan::with_origins(&parties, me, origins)?.with_context(self.candidate.digest);
        let mut module = begin(ModuleName::DuttaBarua, &plan, kept)?;
        let steps = module.start(&mut Stream(seed, 0));
        self.module = Some(module);
        self.take(steps)
    }

    fn take(&mut self, steps: Vec<Step>) -> Result<(), AgreementError> {
        for step in steps {
            match step {
                Step::Send { step, body, .. } => {
                    let body: [u8; 32] = body.try_into().map_err(|_| AgreementError::PeerInvalid)?;
                    let turn = self.turns.entry(self.me).or_default();
                    match step {
                        SHARE => turn.share = Some(body),
                        LINK => turn.link = Some(body),
                        // The ring does not close: somebody lied, and no key comes of it.
                        _ => return Err(AgreementError::PeerNotOpened),
                    }
                }
                Step::Done(secret) => self.derive(&secret),
            }
        }
        Ok(())
    }

    fn derive(&mut self, secret: &Secret<Vec<u8>>) {
        let mut said = Vec::new();
        for uid in &self.speakers {
            let turn = self.turns.get(uid).copied().unwrap_or_default();
            said.extend_from_slice(&turn.share.unwrap_or_default());
            said.extend_from_slice(&turn.link.unwrap_or_default());
        }
        self.transcript = digest(&[b"folkmoot lcm transcript v1\0", &self.candidate.digest, &said]);
        self.master = Some(master(secret.expose(), &self.transcript));
        self.stage = Stage::Confirms;
        let confirm = self.confirmation(self.me);
        if self.speaks() {
            self.turns.entry(self.me).or_default().confirm = confirm;
        }
    }

    /// What `uid` must say to prove that it has the key.
    fn confirmation(&self, uid: u16) -> Option<[u8; 32]> {
        let key = hmac_sha256(self.master.as_ref()?.expose(), &[b"confirm"]);
        Some(hmac_sha256(&key, &[&self.transcript, &uid.to_be_bytes()]))
    }

    /// The key for the application.
    pub(crate) fn key(&self) -> Option<Secret<[u8; 32]>> {
        Some(Secret::new(hmac_sha256(self.master.as_ref()?.expose(), &[b"key"])))
    }

    pub(crate) fn kept(&self) -> Option<Kept> {
        self.module.as_ref()?.keep()
    }

    /// PUB-48: takes a speaker's words. `false` if one is new and another than before.
    pub(crate) fn hear(&mut self, from: u16, round: &Round, done: bool) -> bool {
        if !self.speakers.contains(&from) || from == self.me {
            // A listener only asks.
            return from != self.me && round.share.is_none();
        }
        let turn = self.turns.entry(from).or_default();
        let differs =
            |old: Option<[u8; 32]>, new: Option<[u8; 32]>| old.zip(new).is_some_and(|(old, new)| old != new);
        if differs(turn.share, round.share) || differs(turn.link, round.link) {
            return false;
        }
        turn.share = turn.share.or(round.share);
        turn.link = turn.link.or(round.link);
        turn.confirm = turn.confirm.or(round.confirm);
        turn.done |= done;
        true
    }

    /// Goes as far as what was said allows; whether it came further. The error names the liar, if
    /// it is known.
    pub(crate) fn advance(&mut self) -> Result<bool, Option<u16>> {
        let before = self.stage;
        if self.is_started() && self.stage == Stage::Shares && self.missing().is_empty() {
            self.feed(SHARE, |turn| turn.share)?;
            if !self.has_key() {
                self.stage = Stage::Links;
            }
        }
        if self.stage == Stage::Links && self.missing().is_empty() {
            self.feed(LINK, |turn| turn.link)?;
        }
        Ok(self.stage != before)
    }

    fn feed(&mut self, step: u8, what: impl Fn(&Turn) -> Option<[u8; 32]>) -> Result<(), Option<u16>> {
        let order: Vec<u16> = self.candidate.entries().map(|entry| entry.uid).collect();
        for uid in self.speakers.clone() {
            let body = self.turns.get(&uid).and_then(&what).ok_or(None)?;
            let place = order.iter().position(|other| *other == uid).ok_or(None)?;
            let module = self.module.as_mut().ok_or(None)?;
            // The module draws nothing after its start.
            let steps = module.receive(place, step, &body, &mut Stream(&[0; 32], 0));
            let steps = steps.map_err(|error| match error {
                AgreementError::PeerNotInGroup
                | AgreementError::PeerIdentity
                | AgreementError::PeerNotLent
                | AgreementError::PeerNotOpened => Some(uid),
                _ => None,
            })?;
            self.take(steps).map_err(|_| None)?;
        }
        Ok(())
    }

    /// PUB-50: all speakers have proved that they have the key, or one has that says that all
    /// have. A proof that does not fit counts as none, and its sender as a liar.
    pub(crate) fn is_confirmed(&mut self) -> bool {
        if !self.has_key() {
            return false;
        }
        let mut all = true;
        for uid in self.speakers.clone() {
            let expected = self.confirmation(uid);
            let turn = self.turns.entry(uid).or_default();
            if turn.confirm != expected && turn.confirm.take().is_some() {
                self.liars.insert(uid);
            }
            if turn.done && turn.confirm.is_some() {
                return true;
            }
            all &= turn.confirm.is_some();
        }
        all
    }

    /// Whose proofs did not fit, if they are fewer than half: else this node is the one who is
    /// wrong.
    pub(crate) fn liars(&self) -> Vec<u16> {
        let few = self.liars.len().saturating_mul(2) < self.speakers.len();
        self.liars.iter().filter(|_| few).copied().collect()
    }

    /// What this node has to say.
    pub(crate) fn round(&self, flags: u8, lacks: Vec<u16>) -> Round {
        let Turn { share, link, confirm, .. } = self.own_turn();
        Round { candidate: self.candidate.digest, share, link, confirm, flags, lacks }
    }
}

/// The secret of an agreement, bound to all that was said in it.
pub(crate) fn master(secret: &[u8], transcript: &Digest) -> Secret<[u8; 32]> {
    Secret::new(hmac_sha256(secret, &[b"folkmoot lcm master v1\0", transcript]))
}
