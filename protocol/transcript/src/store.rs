//! What a store keeps of a transcript, and a transcript made from it again.
//!
//! | key | value |
//! |---|---|
//! | "s" | the state at the head |
//! | "d" ‖ number(8) | a decision that is kept |
//! | "a" ‖ number(8) | a decision that waits for the clock |
//! | "i" ‖ SHA-256 of it | an item of the set, or of an admission that the state holds |
//! | "e" ‖ number(8) ‖ digest(32) | another decision than ours of that number |
//! | "x" ‖ member | a former member |
//! | "h" ‖ SHA-256 of it | a head that the person knows: [`crate::await_head`] |
//! | "t" | when this member last shared a ring |
//! | "k" | what this member skipped last |

use crate::item::Item;
use crate::proposal::Standing;
use crate::roster::Former;
use crate::transcript::heads;
use crate::{Head, ItemError, State, Taken, Transcript};
use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, Persist, StoreKey, UnixTime, codec, digest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The store's table for a transcript.
pub const TABLE: &str = "transcript";
/// So many items more than are needed are a reason to look which are.
const SPARE_ITEMS: usize = 1_024;
/// So many bytes more than are needed are one, too.
const SPARE_BYTES: usize = 2 * 1024 * 1024;

/// Which parts of a transcript a store holds.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    items: BTreeSet<Digest>,
    /// By name: SHA-256 of each, since another line may have another of that number.
    decisions: BTreeMap<Vec<u8>, Digest>,
    ahead: BTreeMap<Vec<u8>, Digest>,
    forks: BTreeMap<Vec<u8>, Digest>,
    formers: BTreeSet<MemberId>,
    /// How many bytes the items have.
    bytes: usize,
    /// How many items were needed when that was last looked up, and how many bytes.
    needed: (usize, usize),
}

impl Kept {
    /// What is in this store.
    pub fn of(stored: &[(StoreKey, Bytes)]) -> Self {
        let mut kept = Self::default();
        for (key, value) in stored.iter().filter(|(key, _)| key.table == TABLE) {
            let Some((kind, name)) = key.key.split_first() else { continue };
            match (kind, <[u8; 32]>::try_from(name)) {
                (b'i', Ok(name)) => {
                    kept.items.insert(name);
                    kept.bytes = kept.bytes.saturating_add(value.len());
                }
                (b'x', Ok(name)) => drop(kept.formers.insert(MemberId(name))),
                (b'd', _) => drop(kept.decisions.insert(name.to_vec(), digest(&[value]))),
                (b'a', _) => drop(kept.ahead.insert(name.to_vec(), digest(&[value]))),
                (b'e', _) => drop(kept.forks.insert(name.to_vec(), digest(&[value]))),
                _ => {}
            }
        }
        kept.needed = (kept.items.len(), kept.bytes);
        kept
    }

    /// What to write after `transcript` has taken this item.
    pub fn after(&mut self, transcript: &Transcript, item: &Bytes, taken: &Taken) -> Vec<Persist> {
        let mut out = Vec::new();
        if taken.new && !matches!(Item::decode(item), Ok(Item::Decision(_))) {
            let name = digest(&[item]);
            if self.items.insert(name) {
                self.bytes = self.bytes.saturating_add(item.len());
            }
            out.push(Persist::put(TABLE, key(b'i', &name), item.clone()));
        }
        // First who is a member no more: whoever is off the roster of a state that is written is
        // remembered, wherever writing breaks off.
        self.follow_formers(transcript, &mut out);
        if taken.advanced {
            self.follow_line(transcript, &mut out);
        }
        self.follow_others(transcript, &mut out);
        if taken.advanced || self.has_too_much() {
            self.sweep(transcript, &mut out);
        }
        out
    }

    /// Whether there is so much more than was needed that it is worth looking what still is.
    fn has_too_much(&self) -> bool {
        let over =
            |now: usize, needed: usize, spare: usize| now > needed.saturating_mul(2).saturating_add(spare);
        over(self.items.len(), self.needed.0, SPARE_ITEMS) || over(self.bytes, self.needed.1, SPARE_BYTES)
    }

    /// What to write after `transcript` has gone on without the decisions between, or over to
    /// another line.
    pub fn after_skip(&mut self, transcript: &Transcript) -> Vec<Persist> {
        let mut out = Vec::new();
        self.follow_formers(transcript, &mut out);
        self.follow_line(transcript, &mut out);
        self.follow_others(transcript, &mut out);
        let skipped = transcript.skipped().map(|skipped| codec::encode(&skipped));
        out.extend(skipped.map(|skipped| Persist::put(TABLE, key(b'k', &[]), skipped)));
        self.sweep(transcript, &mut out);
        out
    }

    fn follow_line(&mut self, transcript: &Transcript, out: &mut Vec<Persist>) {
        follow(b'd', &mut self.decisions, numbered(transcript.line().decisions().values()), out);
        out.push(Persist::put(TABLE, key(b's', &[]), transcript.state().encode()));
    }

    fn follow_others(&mut self, transcript: &Transcript, out: &mut Vec<Persist>) {
        follow(b'a', &mut self.ahead, numbered(transcript.ahead()), out);
        let forks = transcript.line().forks();
        let name = |head: &Head| [&head.number.to_be_bytes()[..], &head.digest].concat();
        follow(b'e', &mut self.forks, forks.iter().map(|(head, fork)| (name(head), &fork.theirs)), out);
    }

    fn follow_formers(&mut self, transcript: &Transcript, out: &mut Vec<Persist>) {
        let formers = transcript.roster().formers();
        for (member, former) in formers {
            if self.formers.insert(*member) {
                out.push(Persist::put(TABLE, key(b'x', &member.0), former.encode()));
            }
        }
        let gone: Vec<MemberId> =
            self.formers.iter().filter(|member| !formers.contains_key(member)).copied().collect();
        for member in gone {
            self.formers.remove(&member);
            out.push(Persist::delete(TABLE, key(b'x', &member.0)));
        }
    }

    /// Deletes the items that nothing needs any more, and writes those that are others now.
    fn sweep(&mut self, transcript: &Transcript, out: &mut Vec<Persist>) {
        let needed: BTreeMap<Digest, Bytes> =
            transcript.items().map(|item| (digest(&[&item]), item)).collect();
        // What decisions hold has its approvals beside it now, and Past may be another.
        let other = |item: &Bytes| matches!(Item::decode(item), Ok(Item::Admit { .. } | Item::Past { .. }));
        let new = needed.iter().filter(|(name, item)| !self.items.contains(*name) && other(item));
        let new: Vec<(Digest, Bytes)> = new.map(|(name, item)| (*name, item.clone())).collect();
        for gone in self.items.iter().filter(|item| !needed.contains_key(*item)) {
            out.push(Persist::delete(TABLE, key(b'i', gone)));
        }
        self.items.retain(|item| needed.contains_key(item));
        for (name, item) in new {
            self.items.insert(name);
            out.push(Persist::put(TABLE, key(b'i', &name), item));
        }
        self.bytes = self.items.iter().filter_map(|item| needed.get(item)).map(Bytes::len).sum();
        self.needed = (self.items.len(), self.bytes);
    }
}

impl Transcript {
    /// We share a ring with somebody now: what to write of it, if that is new.
    pub fn shares_ring(&mut self, clock: Option<UnixTime>) -> Option<Persist> {
        self.note_ring(clock).map(|note| Persist::put(TABLE, key(b't', &[]), note))
    }

    /// Reads back what a store holds of the transcript that this one, which has only its founding,
    /// begins. The line is verified again from electorate to electorate; an item that no longer
    /// stands is passed over.
    ///
    /// # Errors
    /// [`ItemError`]: the line in the store does not stand.
    pub fn restore(mut self, stored: &[(StoreKey, Bytes)]) -> Result<Self, ItemError> {
        let of = |kind: u8| {
            let ours = stored.iter().filter(move |(key, _)| key.table == TABLE);
            ours.filter(move |(key, _)| key.key.first() == Some(&kind))
        };
        let mut decisions: BTreeMap<u64, Standing> = BTreeMap::new();
        for (_, bytes) in of(b'd') {
            let standing: Standing = codec::decode(bytes)?;
            decisions.insert(standing.head().number, standing);
        }
        if let Some((_, state)) = of(b's').next() {
            self.restore_line(&decisions, state)?;
        }
        self.restore_items(of(b'i').map(|(_, item)| item));
        for (_, standing) in decisions.range(self.state().head().number.saturating_add(1)..) {
            // Applied before the power went, and the state after it was not written any more.
            let _ = self.take(&Item::Decision(standing.clone()).encode(), None);
        }
        let ahead: Vec<Standing> =
            of(b'a').map(|(_, bytes)| codec::decode(bytes)).collect::<Result<_, _>>()?;
        let ahead: BTreeMap<u64, Standing> = ahead.into_iter().map(|one| (one.head().number, one)).collect();
        for standing in ahead.values() {
            // No clock has come there yet, as far as we know.
            let _ = self.take_ahead(standing, Some(UnixTime(0)));
        }
        for (_, bytes) in of(b'e') {
            let _ = self.take(&Item::Decision(codec::decode(bytes)?).encode(), None);
        }
        for (key, bytes) in of(b'x') {
            let member = key.key.get(1..).and_then(|name| <[u8; 32]>::try_from(name).ok());
            if let (Some(member), Some(former)) = (member, Former::decode(bytes)) {
                self.recall(MemberId(member), former);
            }
        }
        for (_, head) in of(b'h') {
            self.await_head(heads::awaited(head)?)?;
        }
        let one = |kind: u8| of(kind).next().map(|(_, value)| &**value);
        self.recall_way(one(b't'), one(b'k'))?;
        Ok(self)
    }

    fn restore_line(&mut self, decisions: &BTreeMap<u64, Standing>, state: &[u8]) -> Result<(), ItemError> {
        let founding = Arc::new(self.signed_charter().charter().clone());
        let of = |standing: &&Standing| {
            let read = State::decode(state, founding.clone(), standing.head().digest);
            read.is_ok_and(|read| read.digest() == standing.proposal.decision.state)
        };
        let last = decisions.values().rev().find(of).ok_or(ItemError::NotHeld)?;
        let before = decisions.range(..last.head().number);
        let handovers: Vec<Standing> = before
            .filter(|(_, standing)| standing.proposal.decision.electorate.is_some())
            .map(|(_, standing)| standing.clone())
            .collect();
        self.skip(&handovers, last, state, true)?;
        self.recall_decisions(decisions);
        Ok(())
    }

    fn restore_items<'a>(&mut self, items: impl Iterator<Item = &'a Bytes>) {
        const PAST: u8 = 3;
        let rank = |item: &Item| match item {
            Item::Admit { .. } => 0,
            Item::Approval(_) => 1,
            // It is an end of something that is there.
            Item::Past { .. } => PAST,
            _ => 2,
        };
        let mut read: Vec<(u8, &Bytes)> =
            items.filter_map(|bytes| Some((rank(&Item::decode(bytes).ok()?), bytes))).collect();
        read.sort_by_key(|(rank, _)| *rank);
        let decided = self.decided();
        for (rank, bytes) in read {
            // What was held and is over is in the set no more.
            if self.keep_held(bytes, &decided).is_ok_and(|request| !self.state().is_used(&request)) {
                continue;
            }
            // Our clock was asked when it came, and is asked again at the start.
            let _ = match (rank, Item::decode(bytes)) {
                (PAST, Ok(item)) => self.add(item, bytes, Some(UnixTime(u64::MAX))).map(drop),
                _ => self.take(bytes, None).map(drop),
            };
        }
        self.refresh();
    }
}

pub(crate) fn key(kind: u8, name: &[u8]) -> Bytes {
    [&[kind], name].concat().into()
}

fn numbered<'a>(
    decisions: impl IntoIterator<Item = &'a Standing>,
) -> impl Iterator<Item = (Vec<u8>, &'a Standing)> {
    decisions.into_iter().map(|one| (one.head().number.to_be_bytes().to_vec(), one))
}

/// Writes those decisions that the store does not have, and deletes those that are no longer kept.
fn follow<'a>(
    kind: u8,
    stored: &mut BTreeMap<Vec<u8>, Digest>,
    kept: impl Iterator<Item = (Vec<u8>, &'a Standing)>,
    out: &mut Vec<Persist>,
) {
    let mut gone = std::mem::take(stored);
    for (name, standing) in kept {
        let bytes = codec::encode(standing);
        let contents = digest(&[&bytes]);
        if gone.remove(&name) != Some(contents) {
            out.push(Persist::put(TABLE, key(kind, &name), bytes));
        }
        stored.insert(name, contents);
    }
    out.extend(gone.keys().map(|name| Persist::delete(TABLE, key(kind, name))));
}
