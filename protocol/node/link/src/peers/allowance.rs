//! LINK-14: what a guest may send.

use crate::limits::{
    GUEST_ADMISSION_BURST, GUEST_ADMISSION_BYTES_MAX, GUEST_ADMISSION_PER_SECOND, GUEST_FRAME_COST,
    GUEST_TRANSCRIPT_BURST, GUEST_TRANSCRIPT_PER_SECOND,
};
use crate::message::{Lane, Piece};
use crate::{Channel, LinkError};
use folkmoot_base::{Bucket, Instant, NodeId};

/// The channels that guests may use.
const GUEST_CHANNELS: &[Channel] = &[Channel::Transcript, Channel::Admission];

/// How much a guest may still send now.
#[derive(Debug)]
pub(super) struct Allowance {
    admission: Bucket,
    transcript: Bucket,
}

impl Allowance {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            admission: Bucket::new(GUEST_ADMISSION_BURST, GUEST_ADMISSION_PER_SECOND, now),
            transcript: Bucket::new(GUEST_TRANSCRIPT_BURST, GUEST_TRANSCRIPT_PER_SECOND, now),
        }
    }

    /// Guests may use two channels, at a bounded rate unless we dialled them, and only to us.
    pub(super) fn take(
        &mut self,
        now: Instant,
        node: NodeId,
        dialled: bool,
        piece: &Piece,
    ) -> Result<(), LinkError> {
        let bytes = u64::try_from(piece.bytes.len()).unwrap_or(u64::MAX);
        let cost = bytes.max(GUEST_FRAME_COST);
        let may = match piece.lane {
            Lane::Control => dialled || bytes <= GUEST_FRAME_COST || self.transcript.take(now, bytes),
            Lane::Channel(Channel::Ring) => {
                let (allowed, got) = (GUEST_CHANNELS, Channel::Ring);
                return Err(LinkError::PeerOutOfTurn { peer: node, allowed, got });
            }
            Lane::Channel(Channel::Transcript) => dialled || self.transcript.take(now, cost),
            Lane::Channel(Channel::Admission) => {
                may_be_whole(piece) && (dialled || self.admission.take(now, cost))
            }
        };
        if may { Ok(()) } else { Err(LinkError::PeerTooMuch(node)) }
    }
}

/// Whether the frame that a piece belongs to is not too long for an admission frame of a guest, as
/// far as this piece shows.
fn may_be_whole(piece: &Piece) -> bool {
    let others = piece.fragment.map_or(1, |(_, _, parts)| usize::from(parts.saturating_sub(1)));
    let length = piece.bytes.len();
    length <= GUEST_ADMISSION_BYTES_MAX && length.saturating_mul(others) < GUEST_ADMISSION_BYTES_MAX
}
