//! This node's messages that wait for the token, and how they are cut and packed into packets.

use crate::circuit::Source;
use crate::error::SubmitError;
use crate::message::{Class, Data, HEADER_BYTES, Head, PACKET_BYTES_MAX, PIECE_HEADER_BYTES, put_piece};
use crate::output::Counters;
use bytes::Bytes;
use folkmoot_base::Service;
use folkmoot_base::limits::{ORDERED_BYTES_MAX, SEND_QUEUE_BYTES_MAX};
use std::collections::VecDeque;

/// What a queued message costs in addition to its bytes, so that empty messages are bounded too.
const MESSAGE_COST_BYTES: usize = 64;
/// Above this the ring says `Congested(true)`.
pub(crate) const CONGESTED_BYTES: usize = 2 * 1024 * 1024;
/// Below this it says `Congested(false)`.
pub(crate) const RELAXED_BYTES: usize = 512 * 1024;
/// If a packet has less room left than this, no further message is begun in it.
const PIECE_BYTES_MIN: usize = 32;

const _: () = assert!(CONGESTED_BYTES + ORDERED_BYTES_MAX + MESSAGE_COST_BYTES < SEND_QUEUE_BYTES_MAX);

/// Messages in the order in which they were taken. Survives changes of configuration.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    messages: VecDeque<(Class, Bytes)>,
    /// How much of the first message has been numbered in this configuration.
    offset: usize,
    bytes: usize,
    /// Bytes of messages that were put into packets.
    copied: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, service: Service, payload: Bytes) -> Result<(), SubmitError> {
        if payload.len() > ORDERED_BYTES_MAX {
            return Err(SubmitError::LocalTooLong { got: payload.len(), most: ORDERED_BYTES_MAX });
        }
        let bytes = self.bytes.saturating_add(payload.len()).saturating_add(MESSAGE_COST_BYTES);
        if bytes > SEND_QUEUE_BYTES_MAX {
            return Err(SubmitError::LocalFull);
        }
        self.bytes = bytes;
        let class = if service == Service::Safe { Class::Safe } else { Class::Agreed };
        self.messages.push_back((class, payload));
        Ok(())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters { copied: self.copied, ..Counters::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// A new configuration: a message that is only half numbered is sent again from its start.
    pub(crate) fn restart(&mut self) {
        self.offset = 0;
    }

    /// Only for a mutant.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Source for Queue {
    fn packet(&mut self, head: Head) -> Option<Data> {
        let (class, _) = *self.messages.front()?;
        let waiting = self.bytes.saturating_sub(self.offset);
        let body = waiting.min(PACKET_BYTES_MAX - HEADER_BYTES);
        let mut frame = head.begin(class, body);
        while let Some((next, payload)) = self.messages.front() {
            let room = PACKET_BYTES_MAX.saturating_sub(frame.len()).saturating_sub(PIECE_HEADER_BYTES);
            let rest = payload.get(self.offset..).unwrap_or_default();
            if *next != class || frame.len().saturating_add(PIECE_HEADER_BYTES) > PACKET_BYTES_MAX {
                break;
            }
            if rest.len() > room && room < PIECE_BYTES_MIN {
                break;
            }
            let taken = rest.get(..room).unwrap_or(rest);
            let last = taken.len() == rest.len();
            put_piece(&mut frame, taken, self.offset == 0, last);
            self.copied = self.copied.saturating_add(u64::try_from(taken.len()).unwrap_or(u64::MAX));
            if !last {
                self.offset = self.offset.saturating_add(taken.len());
                break;
            }
            self.bytes = self.bytes.saturating_sub(payload.len()).saturating_sub(MESSAGE_COST_BYTES);
            self.offset = 0;
            self.messages.pop_front();
        }
        Some(Data { class, sender: head.sender, seq: head.seq, ring: head.ring, frame: frame.freeze() })
    }

    fn backlog(&self) -> u32 {
        if self.messages.is_empty() {
            return 0;
        }
        let packets = self.bytes.saturating_sub(self.offset) / (PACKET_BYTES_MAX - HEADER_BYTES);
        u32::try_from(packets).unwrap_or(u32::MAX).saturating_add(1)
    }
}
