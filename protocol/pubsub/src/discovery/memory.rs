//! What a restart must not forget: own instances, numbers, who was heard, who is out (PUB-51).

use super::api::Renewal;
use super::message::{PROOFS_MAX, Proof};
use crate::base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::base::{DecodeError, Digest};

/// Instances that one write reserves.
const RESERVED: u64 = 64;
/// Members whose instances are remembered.
pub(crate) const REMEMBERED_MAX: usize = 1_024;

/// What was heard of one id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(crate) struct Remembered {
    pub(crate) uid: u16,
    /// [`super::Papers::holder`] of its certificate.
    pub(crate) holder: Digest,
    /// Of its newest JOIN.
    pub(crate) joined: u64,
    /// The highest of all its messages.
    pub(crate) heard: u64,
    /// JOINs up to here are over.
    pub(crate) left: u64,
    /// When its certificate ends.
    pub(crate) until: Option<u64>,
    pub(crate) renewal: Option<Renewal>,
}

/// Why a certificate is out.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(crate) struct Against {
    /// SHA-256 of it.
    pub(crate) holder: Digest,
    /// Its id, and when it ends, if they are known.
    pub(crate) uid: Option<u16>,
    pub(crate) until: Option<u64>,
    pub(crate) proof: Proof,
}

/// The value on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(crate) struct Memory {
    /// No instance below this was left unused.
    pub(crate) reserved: u64,
    /// The highest number of a key that was confirmed.
    pub(crate) number: u64,
    pub(crate) peers: Vec<Remembered>,
    pub(crate) proofs: Vec<Against>,
}

impl Memory {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let memory: Self = codec::decode(bytes)?;
        let fits = memory.peers.len() <= REMEMBERED_MAX && memory.proofs.len() <= PROOFS_MAX;
        if fits { Ok(memory) } else { Err(DecodeError::Malformed) }
    }
}

/// Own instances.
#[derive(Debug)]
pub(crate) struct Instances {
    next: u64,
    /// What the disk says: the first that may not be used without a write.
    reserved: u64,
}

impl Instances {
    pub(crate) fn after(reserved: u64) -> Self {
        Self { next: reserved.max(1), reserved: reserved.max(1) }
    }

    /// The next one, and whether the disk must hear of it first.
    pub(crate) fn draw(&mut self) -> (u64, bool) {
        let drawn = self.next;
        self.next = drawn.saturating_add(1);
        let write = drawn >= self.reserved;
        if write {
            self.reserved = drawn.saturating_add(RESERVED);
        }
        (drawn, write)
    }

    /// Whether this process, or one before it, may have said this one.
    pub(crate) fn is_used(&self, instance: u64) -> bool {
        instance < self.next
    }

    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }
}
