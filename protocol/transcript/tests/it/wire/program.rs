//! A program with a disk, and one that does something wrong on purpose.

use bytes::Bytes;
use folkmoot_base::{Danger, Mutant, Persist, StoreKey, UnixTime};
use folkmoot_transcript::{ItemError, Kept, Taken, Transcript};
use std::collections::{BTreeMap, BTreeSet};

/// A program with a disk.
pub(super) struct Program {
    pub(super) transcript: Transcript,
    pub(super) kept: Kept,
    disk: BTreeMap<StoreKey, Bytes>,
}

impl Program {
    /// One that has nothing but the charter.
    pub(super) fn new(other: &Transcript) -> Self {
        let transcript = Transcript::founded(other.signed_charter().der()).unwrap();
        Self { transcript, kept: Kept::default(), disk: BTreeMap::new() }
    }

    /// One that is given all that another has.
    pub(super) fn like(other: &Transcript, clock: Option<UnixTime>) -> Self {
        let mut program = Self::new(other);
        for item in other.lacking(program.transcript.state().head(), &BTreeSet::new(), usize::MAX) {
            program.take(&item, clock).unwrap();
        }
        program
    }

    pub(super) fn take(&mut self, item: &Bytes, clock: Option<UnixTime>) -> Result<Taken, ItemError> {
        let taken = self.transcript.take(item, clock)?;
        self.kept.after(&self.transcript, item, &taken).into_iter().for_each(|write| self.write(write));
        Ok(taken)
    }

    pub(super) fn write(&mut self, Persist { key, value }: Persist) {
        match value {
            Some(value) => drop(self.disk.insert(key, value)),
            None => drop(self.disk.remove(&key)),
        }
    }

    /// What it is after a restart.
    pub(super) fn restarted(&self) -> Transcript {
        let stored: Vec<(StoreKey, Bytes)> = self.disk.clone().into_iter().collect();
        let founded = Transcript::founded(self.transcript.signed_charter().der()).unwrap();
        founded.restore(&stored).unwrap()
    }
}

pub(super) fn without(transcript: &Transcript, danger: Option<Danger>) -> Transcript {
    let mut transcript = transcript.clone();
    transcript.endanger(Mutant::from(danger));
    transcript
}
