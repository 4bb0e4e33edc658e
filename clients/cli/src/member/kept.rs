//! The newest messages, kept in memory so that a person who has read one may still ask for its
//! proof. Nothing goes to disk.

use folkmoot::Event;
use std::collections::VecDeque;

/// Messages kept.
const MESSAGES_MAX: usize = 256;
/// Bytes of their texts, all together.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one: it goes through the control socket as hexadecimal.
pub(crate) const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Newest last, numbered from 1 in the order of their delivery to this process.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    heard: u64,
    bytes: usize,
    messages: VecDeque<(u64, Event)>,
}

impl Kept {
    /// Keeps a message, as far as it is not too long; the oldest go. Returns its number.
    pub(crate) fn note(&mut self, message: &Event) -> u64 {
        self.heard += 1;
        let bytes = length(message);
        if bytes <= TEXT_BYTES_MAX {
            self.bytes += bytes;
            self.messages.push_back((self.heard, message.clone()));
        }
        while self.messages.len() > MESSAGES_MAX || self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.messages.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(length(&oldest));
        }
        self.heard
    }

    /// The message with this number, or the newest signed one.
    pub(crate) fn find(&self, number: Option<u64>) -> Option<&(u64, Event)> {
        match number {
            Some(number) => self.messages.iter().find(|(of, _)| *of == number),
            None => self.messages.iter().rev().find(|(_, message)| is_signed(message)),
        }
    }
}

fn is_signed(message: &Event) -> bool {
    matches!(message, Event::Message { origin, .. } if origin.is_signed())
}

fn length(message: &Event) -> usize {
    if let Event::Message { payload, .. } = message { payload.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::{GroupId, MemberId, Origin, Service, ViewId};
    use folkmoot_base::{ConfigurationId, NodeId};

    fn message(bytes: usize) -> Event {
        let configuration = ConfigurationId { ring_seq: 1, representative: NodeId([1; 32]), nonce: [1; 16] };
        let group = GroupId([2; 32]);
        Event::Message {
            group,
            sender: MemberId([3; 32]).into(),
            view: ViewId { configuration, order: 1, group },
            service: Service::Agreed,
            payload: vec![0; bytes].into(),
            origin: Origin { epoch: [0; 8], number: 0, signature: None },
        }
    }

    #[test]
    fn what_is_kept_is_bounded_in_number_and_bytes() {
        let mut kept = Kept::default();
        let numbers: Vec<u64> = (0..300).map(|_| kept.note(&message(1))).collect();
        assert_eq!((numbers[0], numbers[299], kept.messages.len()), (1, 300, MESSAGES_MAX));
        assert!(kept.find(Some(1)).is_none() && kept.find(Some(300)).is_some());
        assert!(kept.find(None).is_none(), "none is signed");
        for _ in 0..10 {
            kept.note(&message(TEXT_BYTES_MAX));
        }
        assert!(kept.bytes <= BYTES_MAX && kept.messages.len() <= 4);
        let long = kept.note(&message(TEXT_BYTES_MAX + 1));
        assert!(kept.find(Some(long)).is_none());
    }
}
