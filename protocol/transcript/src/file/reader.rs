//! Reads a transcript's file and judges it.
//!
//! ```text
//! pieces of any size --> push: sections, each judged when it is whole --> finish: the end, the heads, the forks
//! ```
//! Promise: whatever the bytes are, the reader keeps one section at a time besides what it has
//! taken, and takes a state or a handover only after the signatures on it. The set is loaded as a
//! whole and judged once, so time grows with the length of the file.

use super::{
    CHARTER, END, FILE_LABEL, FORK, HANDOVER, HANDOVERS_MAX, HEAD_BYTES, HELD, ITEMS_MAX, LAST, OPEN, STATE,
};
use super::{Evidence, longest, place_of};
use crate::item::Item;
use crate::proposal::Standing;
use crate::{Electorate, FORKS_MAX, FileError, Fork, Head, ItemError, KnownHead, SIDES_MAX, Transcript};
use bytes::Bytes;
use folkmoot_base::codec::{self, Wire};
use folkmoot_base::{Digest, UnixTime};
use std::collections::BTreeSet;

/// Reads a file and judges it.
#[derive(Debug)]
pub struct FileReader {
    charter: Bytes,
    heads: Vec<KnownHead>,
    buffer: Vec<u8>,
    labelled: bool,
    /// The kind of the section before.
    last_kind: u8,
    /// How many sections came.
    sections: usize,
    transcript: Option<Transcript>,
    handovers: Vec<Standing>,
    /// The number of the last handover that came, and those who commit after it.
    electors: Option<(u64, Electorate)>,
    last: Option<Standing>,
    /// Whether items of the set come.
    loading: bool,
    /// How many items of the set came.
    items: usize,
    /// The place of the last of them.
    place: (u8, Digest),
    held: BTreeSet<Digest>,
    /// The time that is past, as the file has it.
    past: Option<UnixTime>,
}

impl FileReader {
    /// A reader for the group of this signed charter (CMS, DER), who knows from elsewhere that
    /// these heads are on the group's line.
    pub fn new(charter: &[u8], heads: Vec<Head>) -> Self {
        Self::knowing(charter, heads.into_iter().map(KnownHead::from).collect())
    }

    /// The same with heads as people write them.
    pub fn knowing(charter: &[u8], heads: Vec<KnownHead>) -> Self {
        Self {
            charter: Bytes::copy_from_slice(charter),
            heads,
            buffer: Vec::new(),
            labelled: false,
            last_kind: 0,
            sections: 0,
            transcript: None,
            handovers: Vec::new(),
            electors: None,
            last: None,
            loading: false,
            items: 0,
            place: (0, [0; 32]),
            held: BTreeSet::new(),
            past: None,
        }
    }

    /// What has been taken so far, once the charter is read: for names in messages. Nothing says
    /// that the rest of the file stands.
    pub fn so_far(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    /// The number of the section that is being read, from 0, and its kind, as far as that is known.
    pub fn section(&self) -> (usize, Option<u8>) {
        let begun = self.buffer.first().filter(|_| self.labelled).copied();
        (self.sections, begun.or((self.last_kind > 0).then_some(self.last_kind)))
    }

    /// Takes the next piece of the file.
    ///
    /// # Errors
    /// [`FileError`]; the reader is then of no more use, except for [`Self::so_far`].
    pub fn push(&mut self, mut piece: &[u8]) -> Result<(), FileError> {
        while !piece.is_empty() {
            let want = self.wanted()?;
            let missing = want.saturating_sub(self.buffer.len()).min(piece.len());
            let (now, rest) = piece.split_at(missing);
            if self.buffer.len() >= HEAD_BYTES {
                // As long as the section is, and no longer.
                self.buffer.reserve_exact(want.saturating_sub(self.buffer.len()));
            }
            self.buffer.extend_from_slice(now);
            piece = rest;
            if self.buffer.len() == want && self.wanted()? == want {
                self.step()?;
            }
        }
        Ok(())
    }

    /// How many bytes make the part that is being read complete.
    fn wanted(&self) -> Result<usize, FileError> {
        if !self.labelled {
            return Ok(FILE_LABEL.len());
        }
        if self.last_kind == END {
            return Err(FileError::AfterEnd);
        }
        let Some((kind, rest)) = self.buffer.split_first() else { return Ok(HEAD_BYTES) };
        let Some(length) = rest.first_chunk::<4>() else { return Ok(HEAD_BYTES) };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        match longest(*kind) {
            Some(most) if length <= most => Ok(HEAD_BYTES.saturating_add(length)),
            Some(_) => Err(FileError::TooLong { section: self.sections, length }),
            None => Err(FileError::Kind { section: self.sections, kind: *kind }),
        }
    }

    fn step(&mut self) -> Result<(), FileError> {
        let part = std::mem::take(&mut self.buffer);
        if !self.labelled {
            self.labelled = true;
            return if part == FILE_LABEL { Ok(()) } else { Err(FileError::Label) };
        }
        let kind = part.first().copied().unwrap_or_default();
        let bytes = part.get(HEAD_BYTES..).unwrap_or(&[]);
        self.check_order(kind)?;
        if kind > OPEN {
            self.settle()?;
        }
        self.last_kind = kind;
        self.take(kind, bytes)?;
        self.sections = self.sections.saturating_add(1);
        Ok(())
    }

    /// `LINE-81`: kinds rise, and what is there once is there once. The last decision comes with
    /// its state.
    fn check_order(&self, kind: u8) -> Result<(), FileError> {
        let once = matches!(kind, CHARTER | LAST | STATE | END);
        let twice = once && kind == self.last_kind;
        let parted = kind > STATE && (self.last.is_some() || !self.handovers.is_empty());
        let section = self.sections;
        if kind < self.last_kind || twice || parted {
            return Err(FileError::Order { section, kind });
        }
        if kind > CHARTER && self.transcript.is_none() { Err(FileError::Charter) } else { Ok(()) }
    }

    fn take(&mut self, kind: u8, bytes: &[u8]) -> Result<(), FileError> {
        let section = self.sections;
        let Some(transcript) = &mut self.transcript else {
            if bytes != self.charter {
                return Err(FileError::Charter);
            }
            self.transcript = Some(Transcript::founded(bytes).map_err(FileError::CharterRefused)?);
            return Ok(());
        };
        let judged = match kind {
            HANDOVER if self.handovers.len() >= HANDOVERS_MAX => {
                return Err(FileError::Order { section, kind });
            }
            HANDOVER => self.take_handover(bytes),
            LAST => self.take_last(bytes),
            STATE => {
                let last = self.last.take().ok_or(FileError::Order { section, kind })?;
                self.take_state(last, bytes)
            }
            OPEN => return self.take_open(bytes),
            HELD => {
                let held = transcript.keep_held(bytes, &BTreeSet::new());
                if held.as_ref().is_ok_and(|request| !self.held.insert(*request)) {
                    return Err(FileError::Twice { section });
                }
                held.map(drop)
            }
            FORK => take_fork(transcript, bytes),
            _ => Ok(()),
        };
        judged.map_err(|why| FileError::Item { section, why })
    }

    /// The signatures of a handover or of the last decision. What nobody signed takes no room.
    fn check_standing(&mut self, standing: &Standing) -> Result<(), ItemError> {
        let Some(transcript) = &self.transcript else { return Ok(()) };
        let electors = self.electors.take().unwrap_or_else(|| (0, transcript.state().electorate()));
        self.electors = Some(transcript.handed_over(standing, electors)?);
        Ok(())
    }

    fn take_handover(&mut self, bytes: &[u8]) -> Result<(), ItemError> {
        let standing: Standing = decoded(bytes)?;
        self.check_standing(&standing)?;
        if standing.proposal.decision.electorate.is_none() {
            return Err(crate::Unproposed::Handover.into());
        }
        self.handovers.push(standing);
        Ok(())
    }

    fn take_last(&mut self, bytes: &[u8]) -> Result<(), ItemError> {
        let standing: Standing = decoded(bytes)?;
        self.check_standing(&standing)?;
        self.last = Some(standing);
        Ok(())
    }

    fn take_state(&mut self, last: Standing, bytes: &[u8]) -> Result<(), ItemError> {
        let handovers = std::mem::take(&mut self.handovers);
        let Some(transcript) = &mut self.transcript else { return Ok(()) };
        transcript.go_on(handovers, last, bytes, true).map(drop)
    }

    /// An item of the set: each kind of item after the one before, each item once.
    fn take_open(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let section = self.sections;
        let place = place_of(bytes);
        if place <= self.place {
            return Err(FileError::Order { section, kind: OPEN });
        }
        self.place = place;
        let Some(transcript) = &mut self.transcript else { return Err(FileError::Charter) };
        if !self.loading {
            self.loading = true;
            transcript.set_mut().1.load();
        }
        let past = take_item(transcript, bytes).map_err(|why| FileError::Item { section, why })?;
        if self.past.is_some() {
            return Err(FileError::Order { section, kind: OPEN });
        }
        self.past = past;
        self.items = self.items.saturating_add(1);
        if self.items > ITEMS_MAX || transcript.set().is_overfull() {
            Err(FileError::Overfull { section })
        } else {
            Ok(())
        }
    }

    /// The set is complete: it is judged as a whole.
    fn settle(&mut self) -> Result<(), FileError> {
        let Some(transcript) = self.transcript.as_mut().filter(|_| self.loading) else { return Ok(()) };
        self.loading = false;
        let (state, set) = transcript.set_mut();
        let section = self.sections.saturating_sub(1);
        let settled = set.settle(state, self.past).map_err(|why| FileError::Item { section, why })?;
        transcript.refresh();
        if settled { Ok(()) } else { Err(FileError::Overfull { section }) }
    }

    /// Whether the file is whole, and has what is known from elsewhere.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn check(&self) -> Result<(), FileError> {
        let whole = self.transcript.as_ref().filter(|_| self.last_kind == END);
        let transcript = whole.ok_or(FileError::Short)?;
        if let Some(head) = self.heads.iter().find(|head| !transcript.knows(head)) {
            return Err(FileError::NoHead(head.clone()));
        }
        let known = self.heads.iter().map(KnownHead::number).max();
        let mut forks = transcript.line().forks().iter();
        let asks = |theirs: &Head, fork: &Fork| {
            known.is_none_or(|known| known < theirs.number) && fork.is_by_voters(transcript.state())
        };
        match forks.find(|(theirs, fork)| asks(theirs, fork)) {
            Some((theirs, fork)) => {
                Err(FileError::Forked { number: theirs.number, liars: fork.liars.clone() })
            }
            None => Ok(()),
        }
    }

    /// The transcript that the file holds.
    ///
    /// # Errors
    /// [`FileError::Short`] if the file ends early; [`FileError::NoHead`] if a head that is known
    /// from elsewhere is not on its line; [`FileError::Forked`] if it shows a fork that voters of
    /// now made, and no such head says which side to follow.
    pub fn finish(self) -> Result<Transcript, FileError> {
        self.check()?;
        self.transcript.ok_or(FileError::Short)
    }
}

fn decoded<T: Wire>(bytes: &[u8]) -> Result<T, ItemError> {
    codec::decode(bytes).map_err(ItemError::Wire)
}

/// Takes an item of the set, if a set could hold it. A time that is past is returned: it is judged
/// when everything else is there.
fn take_item(transcript: &mut Transcript, bytes: &[u8]) -> Result<Option<UnixTime>, ItemError> {
    let item = Item::decode(bytes)?;
    if let Item::Past { time } = item {
        return Ok(Some(time));
    }
    let state = transcript.state();
    let unfit = match &item {
        Item::Coming { .. } => return Err(ItemError::NotOfSet),
        Item::Approval(signed) => {
            state.counts(&signed.approval, 0, UnixTime(0)).err().map(ItemError::Uncounted)
        }
        _ => None,
    };
    let is_refusal = matches!(item, Item::Refusal { .. });
    let new = transcript.add(item, bytes, None)?;
    match unfit {
        Some(why) => Err(why),
        None if is_refusal && !new => Err(ItemError::NoRejection),
        None => Ok(None),
    }
}

/// `LINE-85`: evidence of a fork, in the order of their numbers and, of one number, of their
/// digests.
fn take_fork(transcript: &mut Transcript, bytes: &[u8]) -> Result<(), ItemError> {
    let Evidence { ours, theirs } = decoded(bytes)?;
    let known = transcript.line().forks();
    let last = known.keys().next_back().copied();
    let head = theirs.head();
    let of_number = known.keys().filter(|known| known.number == head.number).count();
    let full = known.len() >= FORKS_MAX || of_number >= SIDES_MAX;
    if full || head.number == 0 || last.is_some_and(|last| head <= last) {
        return Err(ItemError::NoFork);
    }
    transcript.take_fork(ours, theirs)
}
