//! Headers of secured datagrams. Integers are big-endian.
//!
//! ```text
//! short    = "LC04" | sequence u32 | sender u16 | tag of k_g u8 | tag of k_ch u8 | name | sealed
//! fragment = "LC05" | sequence u32 | bytes of the sealed message u32 | sender u16 | tags u8 u8
//!            | offset u32 | number u16 | count u16 | name: in number 0 alone | part of the sealed
//! ```

use super::SenderId;
use crate::WireError;
use crate::wire::{FRAGMENT, SECURED_FRAGMENT, SECURED_SHORT, SHORT, half, word};

/// What stands before name and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The sender's number for the message.
    pub sequence: u32,
    /// Who says that it sent this.
    pub sender: SenderId,
    /// Which keys it is under: the multicast group's and the channel's. The reference writes what
    /// happens to be in its memory.
    pub tags: [u8; 2],
    /// What follows.
    pub part: Part,
}

/// What follows a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A whole message.
    Whole,
    /// A part of one.
    Fragment {
        /// Bytes of the sealed message.
        size: u32,
        /// Where in it the part begins.
        offset: u32,
        /// Which of the parts it is, from 0.
        number: u16,
        /// How many there are.
        count: u16,
    },
}

impl Header {
    /// Reads a header (PUB-17); what follows it.
    ///
    /// # Errors
    /// [`WireError::PeerForeign`], [`WireError::PeerPlain`], [`WireError::PeerNobody`].
    pub fn decode(datagram: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (magic, rest) = word(datagram)?;
        let long = match magic {
            SECURED_SHORT => false,
            SECURED_FRAGMENT => true,
            SHORT | FRAGMENT => return Err(WireError::PeerPlain),
            _ => return Err(WireError::PeerForeign),
        };
        let (sequence, rest) = word(rest)?;
        let (size, rest) = if long { word(rest)? } else { (0, rest) };
        let (sender, rest) = half(rest)?;
        let (tags, rest) = rest.split_first_chunk().ok_or(WireError::PeerForeign)?;
        let (part, rest) = if long {
            let (offset, rest) = word(rest)?;
            let (number, rest) = half(rest)?;
            let (count, rest) = half(rest)?;
            (Part::Fragment { size, offset, number, count }, rest)
        } else {
            (Part::Whole, rest)
        };
        let sender = SenderId::new(sender).ok_or(WireError::PeerNobody)?;
        Ok((Self { sequence, sender, tags: *tags, part }, rest))
    }

    /// Sender and tags as they stand in the header.
    pub(crate) fn extra(sender: SenderId, tags: [u8; 2]) -> [u8; 4] {
        let [high, low] = sender.get().to_be_bytes();
        let [group, channel] = tags;
        [high, low, group, channel]
    }

    /// Writes it.
    pub fn encode(&self) -> Vec<u8> {
        let extra = Self::extra(self.sender, self.tags);
        let sequence = self.sequence.to_be_bytes();
        match self.part {
            Part::Whole => [&SECURED_SHORT.to_be_bytes()[..], &sequence, &extra].concat(),
            Part::Fragment { size, offset, number, count } => [
                &SECURED_FRAGMENT.to_be_bytes()[..],
                &sequence,
                &size.to_be_bytes(),
                &extra,
                &offset.to_be_bytes(),
                &number.to_be_bytes(),
                &count.to_be_bytes(),
            ]
            .concat(),
        }
    }
}
