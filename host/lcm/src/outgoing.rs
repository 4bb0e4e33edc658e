//! Datagrams that leave in one call: as a train if they have one size (GSO), else as a list
//! (sendmmsg).
//!
//! ```text
//!   a burst, or the fragments of a message --copied--> |1452|1452|1452|700|  one call, one way through the stack
//! ```
//! To copy them behind one another costs far less than a call for each. What is long goes alone and
//! is not copied.

use folkmoot_pubsub::Packet;

/// Most bytes of one call: the longest that a train may be.
const BYTES_MAX: usize = 65_507;
/// Most datagrams of one call, as of one train.
const COUNT_MAX: usize = 64;
/// What is longer goes alone: next to such a datagram the call is nothing.
pub(crate) const TOGETHER_MAX: usize = 16_384;

/// Datagrams that wait for the call.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

impl Outgoing {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Whether this one goes with those that wait. None breaks a train: two calls with a train in
    /// one of them cost less than one call without.
    pub(crate) fn takes(&self, packet: &Packet<'_>, longest: usize) -> bool {
        let length = packet.bytes();
        let Some((first, last)) = self.lengths.first().zip(self.lengths.last()) else { return true };
        let fits = self.lengths.len() < COUNT_MAX && self.bytes.len().saturating_add(length) <= BYTES_MAX;
        let breaks = length > *first || last < first;
        fits && !(breaks && self.lengths.len() > 1 && self.size(longest).is_some())
    }

    pub(crate) fn put(&mut self, packet: &Packet<'_>) {
        self.bytes.extend_from_slice(packet.head());
        self.bytes.extend_from_slice(packet.data);
        self.lengths.push(packet.bytes());
    }

    /// All of them, one behind the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The size of all but the last, which is no longer, if they can be a train: none is longer
    /// than `longest`.
    pub(crate) fn size(&self, longest: usize) -> Option<usize> {
        let (last, others) = self.lengths.split_last()?;
        let first = others.first().filter(|first| **first <= longest && last <= *first)?;
        others.iter().all(|length| length == first).then_some(*first)
    }

    /// Each of them, after the first `sent`.
    pub(crate) fn each(&self, sent: usize) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        let each = self.lengths.iter().map(move |length| {
            let (datagram, after) = rest.split_at_checked(*length).unwrap_or_default();
            rest = after;
            datagram
        });
        each.skip(sent)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use folkmoot_pubsub::{Channel, Packets, Sizes};

    /// What leaves together of messages of these lengths, and the size if it is a train.
    fn calls(lengths: &[usize], longest: usize) -> Vec<(Vec<usize>, Option<usize>)> {
        let (mut out, mut calls) = (Outgoing::default(), Vec::new());
        let mut leave = |out: &mut Outgoing| {
            let told = out.each(0).map(<[u8]>::len).collect::<Vec<_>>();
            assert_eq!(told.iter().sum::<usize>(), out.bytes().len());
            calls.push((told, out.size(longest)));
            out.clear();
        };
        for length in lengths {
            // A header and a name of one byte.
            let said = vec![0; length - 10];
            let packets = Packets::new(Channel::new("A").unwrap(), &said, 0, Sizes::LARGE).unwrap();
            for packet in packets {
                if !out.takes(&packet, longest) {
                    leave(&mut out);
                }
                out.put(&packet);
            }
        }
        leave(&mut out);
        calls
    }

    #[test]
    fn what_has_one_size_is_a_train_and_ends_with_a_shorter_one() {
        let list = |lengths: &[usize]| lengths.to_vec();
        assert_eq!(calls(&[100, 100, 50], 1_472), [(list(&[100, 100, 50]), Some(100))]);
        let two = [(list(&[100, 50]), Some(100)), (list(&[50, 50]), Some(50))];
        assert_eq!(calls(&[100, 50, 50, 50], 1_472), two);
        let broken = [(list(&[100, 100]), Some(100)), (list(&[120]), None)];
        assert_eq!(calls(&[100, 100, 120], 1_472), broken);
        // None to break: a list, as it comes.
        assert_eq!(calls(&[100, 120, 50, 130], 1_472), [(list(&[100, 120, 50, 130]), None)]);
        assert_eq!(calls(&[2_000, 2_000, 10], 1_472), [(list(&[2_000, 2_000, 10]), None)]);
        assert_eq!(calls(&[100, 100], 0), [(list(&[100, 100]), None)], "the system takes no trains");
        assert_eq!(calls(&[100], 1_472), [(list(&[100]), None)]);
    }

    #[test]
    fn no_call_has_more_than_a_train_may() {
        let counts = |lengths: &[usize]| -> Vec<usize> {
            calls(lengths, 1_472).iter().map(|(lengths, _)| lengths.len()).collect()
        };
        assert_eq!(counts(&[100; 130]), [64, 64, 2]);
        assert_eq!(counts(&[1_472; 60]), [44, 16]);
        assert_eq!(counts(&[16_384; 5]), [3, 2]);
    }
}
