//! Candidates: who would share the next key.

use super::api::Renewal;
use super::message::Response;
use crate::base::{Blob, Digest, UnixTime, digest};
use bytes::Bytes;
use core::cmp::Reverse;
use std::sync::Arc;

/// A JOIN that was checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) bytes: Bytes,
    pub(crate) digest: Digest,
    pub(crate) uid: u16,
    pub(crate) instance: u64,
    pub(crate) number: u64,
    pub(crate) certificate: Bytes,
    pub(crate) until: Option<UnixTime>,
    /// [`super::Papers::holder`].
    pub(crate) holder: Digest,
    /// [`super::Papers::renewal`].
    pub(crate) renewal: Option<Renewal>,
}

pub(crate) type Entry = Arc<Joined>;

/// PUB-45: a larger P, then a larger J, then a higher number, then the smaller digest. No two
/// candidates are equal.
pub(crate) type Rank = (usize, usize, u64, Reverse<Digest>);

/// P, J and the number of the key.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) number: u64,
    pub(crate) salt: [u8; 16],
    pub(crate) base: Option<Digest>,
    pub(crate) old: Vec<Entry>,
    pub(crate) new: Vec<Entry>,
    pub(crate) digest: Digest,
}

impl Candidate {
    pub(crate) fn new(
        tag: &[u8; 16],
        number: u64,
        salt: [u8; 16],
        base: Option<Digest>,
        old: Vec<Entry>,
        new: Vec<Entry>,
    ) -> Self {
        let size = |list: &[Entry]| u32::try_from(list.len()).unwrap_or(u32::MAX).to_be_bytes();
        let mut bytes = Vec::with_capacity(old.len().saturating_add(new.len()).saturating_mul(32));
        bytes.extend_from_slice(tag);
        bytes.extend_from_slice(&number.to_be_bytes());
        bytes.extend_from_slice(&salt);
        bytes.push(u8::from(base.is_some()));
        bytes.extend_from_slice(&base.unwrap_or_default());
        for list in [&old, &new] {
            bytes.extend_from_slice(&size(list));
            list.iter().for_each(|entry| bytes.extend_from_slice(&entry.digest));
        }
        let digest = digest(&[b"folkmoot lcm candidate v1\0", &bytes]);
        Self { number, salt, base, old, new, digest }
    }

    pub(crate) fn rank(&self) -> Rank {
        (self.old.len(), self.new.len(), self.number, Reverse(self.digest))
    }

    /// In the order of the ring.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.old.iter().chain(&self.new)
    }

    pub(crate) fn size(&self) -> usize {
        self.old.len().saturating_add(self.new.len())
    }

    pub(crate) fn entry(&self, uid: u16) -> Option<&Entry> {
        self.entries().find(|entry| entry.uid == uid)
    }

    /// The wire form, without proofs and times.
    pub(crate) fn response(&self) -> Response {
        let blobs = |list: &[Entry]| list.iter().map(|entry| Blob(entry.bytes.clone())).collect();
        Response {
            number: self.number,
            salt: self.salt,
            base: self.base,
            old: blobs(&self.old),
            new: blobs(&self.new),
            proofs: Vec::new(),
            held: Vec::new(),
            pace: 0,
        }
    }
}
