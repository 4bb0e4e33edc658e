//! The one message: a sealed application message, sender → all members of its view.
//!
//! ```text
//!  0        1           9        11          19
//!  +--------+-----------+--------+-----------+--------------------+--------+
//!  | version| epoch tag | sender | counter   | ciphertext         | tag    |
//!  | 1      | 8         | 2      | 8         | 0..=16 MiB         | 16     |
//!  +--------+-----------+--------+-----------+--------------------+--------+
//! ```
//! Big endian. Nonce: four zero bytes, then the counter. Additional data: the header, GroupId, ViewId.

use crate::base::limits::MESSAGE_BYTES_MAX;
use crate::error::OpenError;

/// The version in the first byte.
pub const VERSION: u8 = 1;
/// Bytes before the ciphertext.
pub const HEADER_BYTES: usize = 19;
/// Bytes after it.
pub const TAG_BYTES: usize = 16;

/// Public name of an epoch on the wire, derived from its key: commits to the key, so that one key at most is ever tried.
pub(crate) type EpochTag = [u8; 8];

/// What stands before the ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) epoch: EpochTag,
    pub(crate) sender: u16,
    pub(crate) counter: u64,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [VERSION; HEADER_BYTES];
        let fields =
            self.epoch.into_iter().chain(self.sender.to_be_bytes()).chain(self.counter.to_be_bytes());
        out.iter_mut().skip(1).zip(fields).for_each(|(to, from)| *to = from);
        out
    }

    /// Reads the header of a sealed message of legal length (SES-01).
    pub(crate) fn decode(sealed: &[u8]) -> Result<Self, OpenError> {
        let longest = HEADER_BYTES.saturating_add(MESSAGE_BYTES_MAX).saturating_add(TAG_BYTES);
        if sealed.len() < HEADER_BYTES.saturating_add(TAG_BYTES) || sealed.len() > longest {
            return Err(OpenError::PeerMalformed);
        }
        let bad = OpenError::PeerMalformed;
        let (version, rest) = sealed.split_first().ok_or(bad)?;
        let (epoch, rest) = rest.split_first_chunk::<8>().ok_or(bad)?;
        let (sender, rest) = rest.split_first_chunk::<2>().ok_or(bad)?;
        let (counter, _) = rest.split_first_chunk::<8>().ok_or(bad)?;
        if *version != VERSION {
            return Err(bad);
        }
        Ok(Self { epoch: *epoch, sender: u16::from_be_bytes(*sender), counter: u64::from_be_bytes(*counter) })
    }
}
