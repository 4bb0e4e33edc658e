//! A transcript file judged by an outsider who has only the charter: offline, entry by entry.
//!
//! ```text
//! charter (CMS) --> Audit -- push(bytes of the file) ... --> finish(heads known) --> Transcript: who is in, heads
//!                     '-- at the first thing that is wrong --> Flaw: which entry, which rule, whose fault
//! ```
//! Promises: what comes out begins with this charter, byte for byte; every entry stands by its own
//! past; all parents are there; no entry comes twice or out of order, and nothing is left over; all
//! heads that the outsider knew are in it; no serial was decided twice. Does not promise that it is
//! the newest: entries that nobody outside has heard of can be left off at the end, unless a head
//! is known from elsewhere. Bounds: one entry is judged before the next is read, so a file that no
//! members signed ends at its first entry; what stands is kept, as a member keeps it.

use super::entry::{Body, Entry};
use super::error::rule_of;
use super::{EntryError, FileError, FileReader, Transcript};
use crate::numbers::Numbers;
use crate::{Roster, Slot};
use bytes::Bytes;
use folkmoot_base::{EntryId, GroupId, MemberId};
use std::collections::{BTreeMap, BTreeSet};

/// Most contradictions that are reported.
const CONTRADICTIONS_MAX: usize = 64;

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// It is not a transcript file.
    #[error(transparent)]
    File(#[from] FileError),
    /// An entry does not stand, is of another group (`TRN-03`, also for the file as a whole), or is
    /// another beginning.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// `TRN-42` An entry came before.
    #[error("the entry is in the file twice (TRN-42)")]
    WireTwice,
    /// `TRN-43` Entries are not in their order. A parent may be there, but after its child.
    #[error("the entry is out of order (TRN-43)")]
    WireOrder {
        /// The place at which its parent comes, counted from 1, if that is what is wrong.
        parent: Option<usize>,
    },
    /// `TRN-44` A head known from elsewhere is not in it.
    #[error("heads known from elsewhere that are not in it (TRN-44): {}", .0.len())]
    LocalHeads(Vec<EntryId>),
    /// `TRN-45` Two decisions of one serial were carried out.
    #[error("serials that were decided twice (TRN-45): {}", .0.len())]
    PeerContradictions(Vec<Contradiction>),
}

impl Wrong {
    /// The rule of docs/protocol/transcript.md that is broken, as `TRN-07`.
    pub fn rule(&self) -> String {
        rule_of(self)
    }
}

/// Whose fault it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blame {
    /// Anyone who had the file: nobody signed what is wrong with it.
    Anyone,
    /// This member signed it.
    Author(MemberId),
    /// These voters signed it.
    Voters(Vec<MemberId>),
}

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Which entry, counted from 1; `None` if it is the file as a whole.
    pub number: Option<usize>,
    /// The entry's name, if its bytes are there.
    pub id: Option<EntryId>,
    /// What is wrong with it.
    pub wrong: Wrong,
    /// Whose fault that is.
    pub blame: Blame,
}

/// Two decisions that were both carried out at one serial of the electorate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The serial.
    pub serial: u64,
    /// The entries, one for each decision.
    pub entries: Vec<EntryId>,
    /// Who voted for more than one of them in one ballot, which no honest voter does. If nobody
    /// did: who voted for more than one in different ballots. One of these went on before the first
    /// ballot was dead.
    pub voters: Vec<MemberId>,
    /// Whether `voters` voted in one ballot.
    pub one_ballot: bool,
}

/// A file that is being judged.
#[derive(Debug, Clone)]
pub struct Audit {
    file: FileReader,
    transcript: Transcript,
    last: Option<(usize, EntryId)>,
    /// Entries read so far.
    read: usize,
    /// An entry whose parents have not come: the audit looks whether they come later.
    orphan: Option<Orphan>,
}

#[derive(Debug, Clone)]
struct Orphan {
    number: usize,
    id: EntryId,
    parents: Vec<EntryId>,
}

impl Audit {
    /// An audit for the group of this charter (CMS, DER).
    ///
    /// # Errors
    /// `TRN-05` the charter does not stand.
    pub fn of(signed_charter: &[u8]) -> Result<Self, EntryError> {
        Ok(Self {
            file: FileReader::default(),
            transcript: Transcript::genesis(signed_charter)?,
            last: None,
            read: 0,
            orphan: None,
        })
    }

    /// Judges the next bytes of the file, however many.
    ///
    /// # Errors
    /// The first [`Flaw`]; the audit is over then.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Box<Flaw>> {
        self.file.push(bytes);
        self.greet()?;
        loop {
            let bytes = match (self.file.next_entry(), &self.orphan) {
                (Ok(Some(bytes)), _) => bytes,
                (Ok(None), _) => return Ok(()),
                // What is wrong after an entry that does not stand no longer matters.
                (Err(_), Some(orphan)) => return Err(orphan.flaw(None)),
                (Err(why), None) => return Err(self.of_file(why)),
            };
            self.read = self.read.saturating_add(1);
            match &self.orphan {
                None => self.judge(&bytes)?,
                Some(orphan) if orphan.parents.contains(&Entry::id_of(&bytes)) => {
                    return Err(orphan.flaw(Some(self.read)));
                }
                Some(_) => {}
            }
        }
    }

    /// No more bytes come. `heads` are entries that must be there: heads that the outsider knows
    /// from elsewhere.
    ///
    /// # Errors
    /// [`Flaw`]. After `TRN-44` and `TRN-45` the entries themselves stand.
    pub fn finish(&mut self, heads: &[EntryId]) -> Result<&Transcript, Box<Flaw>> {
        if let Some(orphan) = &self.orphan {
            return Err(orphan.flaw(None));
        }
        self.file.finish().map_err(|why| self.of_file(why))?;
        let contradictions = self.contradictions();
        if !contradictions.is_empty() {
            let voters: BTreeSet<MemberId> =
                contradictions.iter().flat_map(|one| one.voters.clone()).collect();
            let blame = Blame::Voters(voters.into_iter().collect());
            return Err(Flaw::new(None, Wrong::PeerContradictions(contradictions), blame));
        }
        match self.transcript.unknown(heads) {
            unknown if unknown.is_empty() => Ok(&self.transcript),
            unknown => Err(Flaw::new(None, Wrong::LocalHeads(unknown), Blame::Anyone)),
        }
    }

    /// The transcript, as far as it was judged; [`Self::finish`] says whether it is whole.
    pub fn into_transcript(self) -> Transcript {
        self.transcript
    }

    /// Who is in, by the entries judged so far: for names.
    pub fn roster(&self) -> &Roster {
        self.transcript.roster()
    }

    /// The group.
    pub fn group(&self) -> GroupId {
        self.transcript.group()
    }

    /// What was judged so far.
    pub fn numbers(&self) -> Numbers {
        let (splits, merges) = self.transcript.graph.shape();
        Numbers { entries: self.read, splits, merges, ..self.roster().numbers() }
    }

    /// Entries judged so far, and entries that the file says it has.
    pub fn progress(&self) -> (usize, usize) {
        (self.read, usize::try_from(self.file.count()).unwrap_or(usize::MAX))
    }

    /// The heads of what was judged so far.
    pub fn heads(&self) -> &BTreeSet<EntryId> {
        self.transcript.heads()
    }

    /// `TRN-40`, `TRN-41`, `TRN-03`: the file's own head.
    fn greet(&mut self) -> Result<(), Box<Flaw>> {
        let said = self.file.group().map_err(|why| self.of_file(why))?;
        match said {
            Some(said) if said != self.transcript.group() => {
                Err(Flaw::new(None, EntryError::WireOtherGroup(said), Blame::Anyone))
            }
            _ => Ok(()),
        }
    }

    fn judge(&mut self, bytes: &Bytes) -> Result<(), Box<Flaw>> {
        let id = Entry::id_of(bytes);
        let at = Some((self.read, id));
        if self.read == 1 {
            self.begins(bytes, id).map_err(|why| Flaw::new(at, why, Blame::Anyone))?;
        } else if self.transcript.get(&id).is_some() {
            return Err(Flaw::new(at, Wrong::WireTwice, Blame::Anyone));
        }
        match self.transcript.append(bytes) {
            Ok(_) => {}
            Err(EntryError::MissingParents(parents)) => {
                self.orphan = Some(Orphan { number: self.read, id, parents });
                return Ok(());
            }
            Err(why) => {
                let blame = blame(bytes, &why);
                return Err(Flaw::new(at, why, blame));
            }
        }
        let place = self.transcript.graph.place(&id);
        if place <= self.last {
            return Err(Flaw::new(at, Wrong::WireOrder { parent: None }, Blame::Anyone));
        }
        self.last = place;
        Ok(())
    }

    /// `TRN-05`: the first entry is the charter that we have, byte for byte.
    fn begins(&self, bytes: &Bytes, id: EntryId) -> Result<(), EntryError> {
        if id == self.transcript.genesis_id() {
            return Ok(());
        }
        let entry = Entry::decode(bytes)?;
        let group = self.transcript.group();
        Err(if entry.group == group {
            EntryError::WireOtherGenesis
        } else {
            EntryError::WireOtherGroup(entry.group)
        })
    }

    /// What is wrong with the file, or with the entry that did not come out of it.
    fn of_file(&self, why: FileError) -> Box<Flaw> {
        let number = matches!(why, FileError::WireTooLong(_)).then(|| self.read.saturating_add(1));
        Box::new(Flaw { number, id: None, wrong: why.into(), blame: Blame::Anyone })
    }

    /// `TRN-45`: each serial at which more than one decision was carried out.
    fn contradictions(&self) -> Vec<Contradiction> {
        let serials: BTreeSet<u64> = self.roster().contradictions().take(CONTRADICTIONS_MAX).collect();
        if serials.is_empty() {
            return Vec::new();
        }
        let mut carried: BTreeMap<u64, Vec<Carried>> = BTreeMap::new();
        for bytes in self.transcript.entries() {
            let Ok(Entry { body: Body::Decide { decision, votes }, .. }) = Entry::decode(bytes) else {
                continue;
            };
            let Slot { serial, ballot } = votes.slot;
            if serials.contains(&serial) {
                let voters = votes.votes.iter().map(|vote| vote.voter).collect();
                let digest = decision.digest();
                carried.entry(serial).or_default().push(Carried {
                    id: Entry::id_of(bytes),
                    digest,
                    ballot,
                    voters,
                });
            }
        }
        carried.into_iter().map(|(serial, carried)| Contradiction::of(serial, &carried)).collect()
    }
}

/// A decision at a serial that has another.
struct Carried {
    id: EntryId,
    digest: folkmoot_base::Digest,
    ballot: u32,
    voters: BTreeSet<MemberId>,
}

impl Contradiction {
    fn of(serial: u64, carried: &[Carried]) -> Self {
        let both = |same_ballot: bool| -> BTreeSet<MemberId> {
            let pairs = carried.iter().flat_map(|one| carried.iter().map(move |other| (one, other)));
            let pairs = pairs.filter(|(one, other)| one.digest < other.digest);
            let pairs = pairs.filter(|(one, other)| !same_ballot || one.ballot == other.ballot);
            pairs.flat_map(|(one, other)| one.voters.intersection(&other.voters).copied()).collect()
        };
        let liars = both(true);
        let one_ballot = !liars.is_empty();
        let voters = if one_ballot { liars } else { both(false) };
        let mut told = BTreeSet::new();
        let entries = carried.iter().filter(|one| told.insert(one.digest)).map(|one| one.id).collect();
        Self { serial, entries, voters: voters.into_iter().collect(), one_ballot }
    }
}

impl Orphan {
    /// Its parents come later, in the entry with this number, or not at all.
    fn flaw(&self, later: Option<usize>) -> Box<Flaw> {
        let wrong = match later {
            None => EntryError::MissingParents(self.parents.clone()).into(),
            parent => Wrong::WireOrder { parent },
        };
        Flaw::new(Some((self.number, self.id)), wrong, Blame::Anyone)
    }
}

impl Flaw {
    fn new(at: Option<(usize, EntryId)>, wrong: impl Into<Wrong>, blame: Blame) -> Box<Self> {
        let (number, id) = at.unzip();
        Box::new(Self { number, id, wrong: wrong.into(), blame })
    }
}

fn blame(bytes: &Bytes, why: &EntryError) -> Blame {
    match Entry::decode(bytes) {
        Ok(entry) if why.is_authors() => Blame::Author(entry.author),
        _ => Blame::Anyone,
    }
}
