//! Replicas of an authority: what one of three sends to another, views, records, the disk.

use crate::frames::{member, view_id};
use crate::script::{owned, script, steps};
use bytes::Bytes;
use folkmoot_admission::LogRecord;
use folkmoot_authority::replicas::{Holding, Input, LOG_MAX, Message, Output, Replicas};
use folkmoot_base::{Blob, Digest, GroupId, MemberId, Persist, StoreKey, ViewId, codec};
use std::collections::BTreeMap;

const OUTPUTS_MAX: usize = 16_384;

fn view(number: u64) -> ViewId {
    view_id(GroupId([3; 32]), number)
}

fn listed() -> Vec<MemberId> {
    (1..4).map(member).collect()
}

/// Any message.
pub fn replica_message(data: &[u8]) {
    if let Ok(message) = Message::decode(data) {
        assert_eq!(message.encode(), data);
    }
}

/// The first of three, with its disk. What it says comes back to it at once; what it writes is
/// written.
struct Replica {
    machine: Replicas,
    disk: BTreeMap<StoreKey, Bytes>,
    view: u64,
    slow: Vec<u64>,
    handed: Vec<u64>,
}

impl Replica {
    fn new() -> Self {
        let machine = Replicas::load(member(1), listed(), &[]).expect("a listed member");
        Self { machine, disk: BTreeMap::new(), view: 0, slow: Vec::new(), handed: Vec::new() }
    }

    fn take(&mut self, input: Input) {
        let (mut inputs, mut count) = (vec![input], 0);
        while let Some(input) = inputs.pop() {
            let _ = self.machine.handle(input);
            while let Some(output) = self.machine.poll_output() {
                count += 1;
                assert!(count <= OUTPUTS_MAX, "no end of outputs");
                match output {
                    Output::Persist { ticket, rows } => {
                        rows.into_iter().for_each(|row| self.write(row));
                        self.slow.push(ticket);
                    }
                    Output::Send(payload) => {
                        assert!(Message::decode(&payload).is_ok());
                        inputs.insert(0, Input::Message { from: member(1), view: view(self.view), payload });
                    }
                    Output::HandBack { place, .. } => self.handed.push(place),
                    Output::Trace(_) => {}
                }
            }
        }
        assert!(self.machine.status().length <= LOG_MAX);
    }

    fn write(&mut self, Persist { key, value }: Persist) {
        match value {
            Some(value) => self.disk.insert(key, value),
            None => self.disk.remove(&key),
        };
    }

    fn written(&mut self) {
        for ticket in std::mem::take(&mut self.slow) {
            self.take(Input::Persisted(ticket));
        }
    }
}

/// A replica: words of the second and the third in the view that it is in, views, records of its
/// own, the disk, the signal.
pub fn replica_machine(data: &[u8]) {
    replica_after(data);
}

fn replica_after(data: &[u8]) -> Replica {
    let mut replica = Replica::new();
    for (op, body) in steps(data) {
        let (view, payload) = (view(replica.view), owned(body));
        match op % 8 {
            0 | 1 => replica.take(Input::Message { from: member(2), view, payload }),
            2 => replica.take(Input::Message { from: member(3), view, payload }),
            3 => {
                replica.view += 1;
                let id = self::view(replica.view);
                let members = listed().into_iter().take(1 + usize::from(op / 8) % 3).collect();
                replica.take(Input::View { id, members });
            }
            4 => replica.take(Input::Record(payload)),
            5 => replica.written(),
            6 => replica.handed.pop().into_iter().for_each(|place| replica.take(Input::Handed(place))),
            _ if op & 8 == 0 => replica.take(Input::Transitional),
            _ => replica.take(Input::Out),
        }
    }
    // Whatever was said, the disk is that of a log.
    let stored: Vec<(StoreKey, Bytes)> = replica.disk.clone().into_iter().collect();
    assert!(Replicas::load(member(1), listed(), &stored).is_ok(), "what was written is a log");
    replica
}

fn record(request: Digest) -> Bytes {
    codec::encode(&LogRecord { request, der: Blob(Bytes::from_static(b"certificate")) }).into()
}

/// Seeds: each message; a replica that begins with both others, logs a record, and takes over
/// another of the third.
pub(crate) fn replica_seeds() -> [Vec<Vec<u8>>; 2] {
    let state = |number, epoch: Option<u64>, length, tip| {
        let epoch = epoch.map(view);
        let has = Holding {
            since: epoch.map(|view| view.configuration.ring_seq),
            epoch,
            length,
            floor: length,
            tip,
        };
        Message::State { view: view(number), has }.encode()
    };
    let kept = |number, place, tip| Message::Kept { view: view(number), place, tip }.encode();
    let (first, second) = (record([1; 32]), record([2; 32]));
    let chain =
        |before: Digest, record: &Bytes| folkmoot_base::digest(&[b"folkmoot log v1", &before, record]);
    let one = chain([0; 32], &first);
    let two = chain(one, &second);
    let proposal = Message::Propose { view: view(1), record: Blob(first.clone()) }.encode();
    let records = Message::Records { view: view(3), from: 2, records: vec![Blob(second)] }.encode();
    let words = vec![state(1, None, 0, [0; 32]), kept(1, 0, [0; 32]), proposal.clone(), records.clone()];
    let story = script([
        // All three begin.
        (3 + 16, vec![]),
        (0, words[0].clone()),
        (2, words[0].clone()),
        (5, vec![]),
        (0, words[1].clone()),
        (2, words[1].clone()),
        (4, first.to_vec()),
        (0, proposal),
        (5, vec![]),
        (0, kept(1, 1, one)),
        (2, kept(1, 1, one)),
        (6, vec![]),
        (5, vec![]),
        // The third was in a view that we were not in.
        (3 + 16, vec![]),
        (3 + 16, vec![]),
        (0, state(3, Some(1), 1, one)),
        (2, state(3, Some(2), 2, two)),
        (2, records),
        (5, vec![]),
        (0, kept(3, 2, two)),
        (2, kept(3, 2, two)),
        (7, vec![]),
        (15, vec![]),
    ]);
    [words, vec![story]]
}

#[cfg(test)]
mod tests {
    use super::{replica_after, replica_seeds};

    #[test]
    fn the_seed_leads_to_two_records_on_disk_and_handed_back() {
        let [_, machine] = replica_seeds();
        let replica = replica_after(&machine[0]);
        assert_eq!((replica.machine.status().length, replica.handed.len()), (2, 1), "one was taken before");
    }
}
