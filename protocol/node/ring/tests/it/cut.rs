//! Messages that take several packets: who gets which bytes.

use crate::harness::{Rng, node};
use crate::pair::{PEER, Pair, data};
use bytes::Bytes;
use folkmoot_base::{Buffer, Lead, Service};
use folkmoot_ring::{Delivery, Output};

fn delivered(pair: &mut Pair) -> Vec<Delivery> {
    let deliveries = |output| if let Output::Deliver(delivery) = output { Some(delivery) } else { None };
    pair.outputs().into_iter().filter_map(deliveries).collect()
}

/// A member sends messages of one packet and of several. The latter come back to it as it handed
/// them in: the same lead and the same memory. All have their order.
#[test]
fn own_messages_in_pieces_come_back_as_they_were_handed_in() {
    let mut pair = Pair::alone();
    let lead = Lead::of(&[b"lead"]);
    let payloads: Vec<Bytes> = (0..6_u8).map(|n| vec![n; [10, 10_000][usize::from(n % 2)]].into()).collect();
    for payload in &payloads {
        pair.ring.submit(pair.now, (0, 0), Service::Agreed, (lead, payload.clone())).unwrap();
    }
    let delivered = delivered(&mut pair);
    assert_eq!(delivered.len(), payloads.len());
    for (delivery, payload) in delivered.iter().zip(&payloads) {
        let whole = payload.len() == 10;
        let expected = if whole { [lead.as_slice(), payload].concat() } else { payload.to_vec() };
        assert_eq!(delivery.payload[..], expected);
        assert_eq!(delivery.lead, if whole { Lead::NONE } else { lead });
        assert_eq!(delivery.payload.as_ptr() == payload.as_ptr(), !whole);
    }
    // So what was joined of them is nothing: only packets were filled.
    let filled: usize = payloads.iter().map(|payload| payload.len() + lead.length()).sum();
    let copied = pair.ring.counters().copied;
    assert!((filled as u64..filled as u64 + 200).contains(&copied), "{copied} of {filled}");
}

/// What is joined of another's pieces, nobody else has: it can be opened in place. A message of one
/// packet is a slice of that, which the ring keeps.
#[test]
fn what_is_joined_belongs_to_whoever_gets_it() {
    let mut pair = Pair::together();
    for (pieces, is_owned) in [
        (&[(&b"one, "[..], true, false), (b"two", false, true)][..], true),
        (&[(b"whole", true, true)], false),
    ] {
        let head = pair.head();
        let record = pair.record(1);
        for frame in [data(head, pieces), record] {
            pair.ring.frame(pair.now, node(PEER), frame, &mut Rng(1)).unwrap();
        }
        let [Delivery { payload, lead: Lead::NONE, .. }] = &delivered(&mut pair)[..] else {
            panic!("one message");
        };
        let expected: Vec<u8> = pieces.iter().flat_map(|(bytes, ..)| bytes.to_vec()).collect();
        assert_eq!((payload[..] == expected, matches!(payload, Buffer::Owned(_))), (true, is_owned));
    }
}
