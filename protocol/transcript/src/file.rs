//! A transcript as a file, for somebody outside the group.
//!
//! ```text
//! "folkmoot transcript v2" 00 | sections: kind 1, length 4, bytes
//! 1 charter (CMS)     2 handover, each     3 last decision     4 state after it     5 item of the set, each
//! 6 item of an admission that the state holds, each     7 end, empty
//! ```
//! The order is that of the kinds. Handovers are the last decisions under each electorate. A group
//! that has decided nothing has no sections 2, 3, 4 and 6. Nothing is signed as a whole: every part
//! proves itself. The reader takes pieces of any size and keeps one section at a time besides what
//! it has taken.

use crate::item::Item;
use crate::proposal::Standing;
use crate::{Electorate, FileError, Head, ITEM_BYTES_MAX, ItemError, Transcript};
use bytes::Bytes;
use folkmoot_base::{Digest, codec};
use std::collections::BTreeSet;

/// What a file begins with.
pub const FILE_LABEL: &[u8] = b"folkmoot transcript v2\0";
/// Longest state, in bytes.
pub const STATE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most handovers of one file.
pub const HANDOVERS_MAX: usize = 100_000;
/// Longest signed charter, in bytes.
const CHARTER_BYTES_MAX: usize = 48 * 1024;
/// Kind and length.
const HEAD_BYTES: usize = 5;

const CHARTER: u8 = 1;
const HANDOVER: u8 = 2;
const LAST: u8 = 3;
const STATE: u8 = 4;
const OPEN: u8 = 5;
const HELD: u8 = 6;
const END: u8 = 7;

impl Transcript {
    /// The transcript as a file.
    pub fn file(&self) -> Vec<u8> {
        let mut out = FILE_LABEL.to_vec();
        section(&mut out, CHARTER, self.signed_charter().der());
        if let Some((handovers, last)) = self.line().handovers_since(0) {
            handovers.iter().for_each(|one| section(&mut out, HANDOVER, &codec::encode(one)));
            section(&mut out, LAST, &codec::encode(&last));
            section(&mut out, STATE, &self.state().encode());
        }
        for (_, item) in self.set_items(&BTreeSet::new()) {
            section(&mut out, OPEN, &item);
        }
        let held: BTreeSet<Digest> = self.state().roster().values().map(|held| held.request).collect();
        for paper in held.iter().flat_map(|request| self.papers(request).take(1)) {
            section(&mut out, HELD, paper);
        }
        section(&mut out, END, &[]);
        out
    }
}

fn section(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The longest section of a kind; none for a kind that there is not.
fn longest(kind: u8) -> Option<usize> {
    match kind {
        CHARTER => Some(CHARTER_BYTES_MAX),
        HANDOVER | LAST | OPEN | HELD => Some(ITEM_BYTES_MAX),
        STATE => Some(STATE_BYTES_MAX),
        END => Some(0),
        _ => None,
    }
}

/// Reads a file and judges it.
#[derive(Debug)]
pub struct FileReader {
    charter: Bytes,
    heads: Vec<Head>,
    buffer: Vec<u8>,
    labelled: bool,
    /// The kind of the section before.
    last_kind: u8,
    /// How many sections came.
    sections: usize,
    transcript: Option<Transcript>,
    handovers: Vec<Standing>,
    /// Those who commit after the last handover that came.
    electors: Option<Electorate>,
    last: Option<Standing>,
    held: BTreeSet<Digest>,
}

impl FileReader {
    /// A reader for the group of this signed charter (CMS, DER), who knows from elsewhere that
    /// these heads are on the group's line.
    pub fn new(charter: &[u8], heads: Vec<Head>) -> Self {
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
            held: BTreeSet::new(),
        }
    }

    /// Takes the next piece of the file.
    ///
    /// # Errors
    /// [`FileError`]; the reader is then of no more use.
    pub fn push(&mut self, mut piece: &[u8]) -> Result<(), FileError> {
        while !piece.is_empty() {
            let want = self.wanted()?;
            let missing = want.saturating_sub(self.buffer.len()).min(piece.len());
            let (now, rest) = piece.split_at(missing);
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
        let (kind, bytes) =
            (part.first().copied().unwrap_or_default(), part.get(HEAD_BYTES..).unwrap_or(&[]));
        let once = matches!(kind, CHARTER | LAST | STATE | END);
        if kind < self.last_kind || (once && kind == self.last_kind) {
            return Err(FileError::Order { section: self.sections, kind });
        }
        self.last_kind = kind;
        self.take(kind, bytes)?;
        self.sections = self.sections.saturating_add(1);
        Ok(())
    }

    fn take(&mut self, kind: u8, bytes: &[u8]) -> Result<(), FileError> {
        let section = self.sections;
        let refuse = |why| FileError::Item { section, why };
        if kind == CHARTER {
            if bytes != self.charter {
                return Err(FileError::Charter);
            }
            let transcript = Transcript::founded(bytes).map_err(FileError::CharterRefused)?;
            self.transcript = Some(transcript);
            return Ok(());
        }
        let transcript = self.transcript.as_mut().ok_or(FileError::Charter)?;
        match kind {
            HANDOVER if self.handovers.len() >= HANDOVERS_MAX => Err(FileError::Order { section, kind }),
            HANDOVER => {
                // Verified before it is kept: what nobody signed takes no room.
                let standing = codec::decode(bytes).map_err(|why| refuse(ItemError::Wire(why)))?;
                let electors = self.electors.take().unwrap_or_else(|| transcript.state().electorate());
                self.electors = Some(transcript.handed_over(&standing, electors).map_err(refuse)?);
                self.handovers.push(standing);
                Ok(())
            }
            LAST => {
                self.last = Some(codec::decode(bytes).map_err(|why| refuse(ItemError::Wire(why)))?);
                Ok(())
            }
            STATE => {
                let last = self.last.take().ok_or(FileError::Order { section, kind })?;
                let handovers = std::mem::take(&mut self.handovers);
                // Each handover was verified when it came.
                let electors = self.electors.take().unwrap_or_else(|| transcript.state().electorate());
                transcript.handed_over(&last, electors).map_err(refuse)?;
                transcript.skip_verified(&handovers, &last, bytes).map_err(refuse)?;
                Ok(())
            }
            OPEN => {
                transcript.take(bytes, None).map_err(refuse)?;
                Ok(())
            }
            HELD => {
                let request = transcript.check_held(bytes).map_err(refuse)?;
                if self.held.insert(request) { Ok(()) } else { Err(FileError::Twice { section }) }
            }
            _ => Ok(()),
        }
    }

    /// The transcript that the file holds.
    ///
    /// # Errors
    /// [`FileError::Short`] if the file ends early; [`FileError::NoHead`] if a head that is known
    /// from elsewhere is not on its line.
    pub fn finish(self) -> Result<Transcript, FileError> {
        let transcript = self.transcript.filter(|_| self.last_kind == END).ok_or(FileError::Short)?;
        if self.last.is_some() || !self.handovers.is_empty() {
            return Err(FileError::Short);
        }
        match self.heads.iter().find(|head| !transcript.has_on_line(head)) {
            Some(head) => Err(FileError::NoHead(*head)),
            None => Ok(transcript),
        }
    }
}

impl Transcript {
    /// Whether this decision is on the line, as far as the line still shows it.
    pub fn has_on_line(&self, head: &Head) -> bool {
        let kept = self.line().decisions().get(&head.number);
        self.state().has_on_line(head) || kept.is_some_and(|standing| standing.head() == *head)
    }

    /// Whether an item is of an admission that the state holds. What it names.
    fn check_held(&mut self, bytes: &[u8]) -> Result<Digest, ItemError> {
        let Item::Admit { certificate, .. } = Item::decode(bytes)? else { return Err(ItemError::NotHeld) };
        self.keep_held(bytes, &certificate.0)
    }
}
