//! Each rule of docs/protocol/authority-replicas.md on what a peer says, by its number: one
//! machine, peers by hand.

use crate::world::{member, record};
use bytes::Bytes;
use folkmoot_authority::replicas::{
    Holding, Input, LOG_TABLE, MESSAGE_BYTES_MAX, Message, Output, RECORD_BYTES_MAX, Replicas, ReplicasError,
    Standing, UNDERWAY_MAX, WANTS_MAX,
};
use folkmoot_base::{Blob, ConfigurationId, DecodeError, Digest, GroupId, NodeId, Persist, StoreKey, ViewId};
use std::collections::BTreeMap;

fn view(number: u64) -> ViewId {
    let configuration = ConfigurationId { ring_seq: number, representative: NodeId([1; 32]), nonce: [0; 16] };
    ViewId { configuration, order: 1, group: GroupId([9; 32]) }
}

fn request(number: u64) -> Digest {
    folkmoot_base::digest(&[b"request", &number.to_be_bytes()])
}

/// The first of three; the second is with it.
struct Desk {
    machine: Replicas,
    disk: BTreeMap<StoreKey, Bytes>,
    said: Vec<Message>,
    back: Vec<u64>,
    held: Vec<u64>,
    slow: bool,
}

impl Desk {
    fn new() -> Self {
        let machine = Replicas::load(member(0), (0..3).map(member).collect(), &[]).unwrap();
        Self {
            machine,
            disk: BTreeMap::new(),
            said: Vec::new(),
            back: Vec::new(),
            held: Vec::new(),
            slow: false,
        }
    }

    /// All three have begun, in view 0; the log is empty.
    fn begun() -> Self {
        let mut desk = Self::new();
        desk.take(Input::View { id: view(0), members: (0..3).map(member).collect() }).unwrap();
        desk.own();
        for other in [1, 2] {
            desk.hear(other, state(0, None, 0, 0, [0; 32])).unwrap();
        }
        desk.own();
        desk
    }

    /// In view 1 with the second, logs even and empty.
    fn even() -> Self {
        let mut desk = Self::begun();
        desk.install(1);
        desk.own();
        desk.hear(1, state(1, Some(0), 0, 0, [0; 32])).unwrap();
        desk.own();
        desk.hear(1, kept(1, 0, [0; 32])).unwrap();
        assert_eq!(desk.machine.status().standing, Standing::Ready);
        desk
    }

    fn install(&mut self, number: u64) {
        self.take(Input::View { id: view(number), members: vec![member(0), member(1)] }).unwrap();
    }

    fn take(&mut self, input: Input) -> Result<(), ReplicasError> {
        let result = self.machine.handle(input);
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Persist { ticket, rows } => {
                    for Persist { key, value } in rows {
                        assert_eq!(key.table, LOG_TABLE);
                        match value {
                            Some(value) => self.disk.insert(key, value),
                            None => self.disk.remove(&key),
                        };
                    }
                    self.held.push(ticket);
                }
                Output::Send(payload) => self.said.push(Message::decode(&payload).unwrap()),
                Output::HandBack { place, .. } => self.back.push(place),
                Output::Trace(_) => {}
            }
        }
        if !self.slow {
            self.written();
        }
        result
    }

    fn written(&mut self) {
        for ticket in std::mem::take(&mut self.held) {
            self.take(Input::Persisted(ticket)).unwrap();
        }
    }

    fn hear(&mut self, from: usize, message: Message) -> Result<(), ReplicasError> {
        let (view, payload) = (*message.view(), message.encode().into());
        self.take(Input::Message { from: member(from), view, payload })
    }

    /// What we said comes back to us, in its order.
    fn own(&mut self) {
        while !self.said.is_empty() {
            let message = self.said.remove(0);
            self.hear(0, message).unwrap();
        }
    }

    fn raw(&mut self, payload: &[u8]) -> Result<(), ReplicasError> {
        self.take(Input::Message { from: member(1), view: view(1), payload: Bytes::copy_from_slice(payload) })
    }
}

fn state(number: u64, epoch: Option<u64>, length: u64, floor: u64, tip: Digest) -> Message {
    let (since, epoch) = (epoch, epoch.map(view));
    Message::State { view: view(number), has: Holding { since, epoch, length, floor, tip } }
}

fn kept(number: u64, place: u64, tip: Digest) -> Message {
    Message::Kept { view: view(number), place, tip }
}

fn propose(number: u64, of: u64) -> Message {
    Message::Propose { view: view(number), record: Blob(record(request(of), b"certificate")) }
}

fn tip(before: Digest, of: u64) -> Digest {
    folkmoot_base::digest(&[b"folkmoot log v1", &before, &record(request(of), b"certificate")])
}

#[test]
fn auth_01_what_is_no_message_is_refused() {
    let mut desk = Desk::even();
    let malformed =
        |result| matches!(result, Err(ReplicasError::PeerMalformed(from, _)) if from == member(1));
    assert!(malformed(desk.raw(b"")));
    assert!(malformed(desk.raw(&[1, 9])));
    let more = [&propose(1, 1).encode()[..], &[0]].concat();
    assert!(malformed(desk.raw(&more)));
    let long = vec![1; MESSAGE_BYTES_MAX + 1];
    let most = MESSAGE_BYTES_MAX;
    let expected = ReplicasError::PeerMalformed(member(1), DecodeError::TooLong { got: long.len(), most });
    assert_eq!(desk.raw(&long), Err(expected));
    assert_eq!(desk.machine.status().length, 0);
}

#[test]
fn auth_02_who_is_not_listed_is_not_heard() {
    let mut desk = Desk::even();
    assert_eq!(desk.hear(7, propose(1, 1)), Err(ReplicasError::PeerNotReplica(member(7))));
    let members = vec![member(0), member(7), member(8), member(9)];
    desk.take(Input::View { id: view(2), members }).unwrap();
    assert_eq!(desk.machine.status().standing, Standing::NoQuorum, "nor counted");
}

#[test]
fn auth_03_who_speaks_out_of_turn_is_refused() {
    let out = |result| matches!(result, Err(ReplicasError::PeerOutOfTurn(..)));
    let mut desk = Desk::begun();
    desk.install(1);
    assert!(out(desk.hear(1, propose(1, 1))), "before the logs are even");
    assert!(out(desk.hear(1, kept(1, 0, [0; 32]))), "nobody was told what to keep");
    assert!(out(desk.hear(2, state(1, None, 0, 0, [0; 32]))), "not in the view");
    for (epoch, length, floor) in [(None, 5, 0), (Some(0), 3, 4), (Some(0), u64::MAX, 0)] {
        assert!(
            out(desk.hear(1, state(1, epoch, length, floor, [0; 32]))),
            "it sent a state that no log can have"
        );
    }
    desk.own();
    desk.hear(1, state(1, Some(0), 3, 3, [0; 32])).unwrap();
    assert!(out(desk.hear(1, state(1, None, 0, 0, [0; 32]))), "twice");
    let records = |from, count| {
        let records = (0..count).map(|of| Blob(record(request(of), b"certificate"))).collect();
        Message::Records { view: view(1), from, records }
    };
    assert!(out(desk.hear(0, records(1, 1))), "not the one whose log stands");
    assert!(out(desk.hear(1, records(2, 1))), "not the next");
    assert!(out(desk.hear(1, records(1, 4))), "more than there are");
    assert!(out(desk.hear(1, records(1, 0))), "none");
    let mut desk = Desk::even();
    assert!(out(desk.hear(1, records(1, 1))), "nobody lacks any");
    assert!(out(desk.hear(1, kept(1, 1, [0; 32]))), "has no place yet");
}

#[test]
fn auth_04_a_record_that_is_none_is_refused() {
    let mut desk = Desk::even();
    let long = record(request(1), &vec![0; RECORD_BYTES_MAX]);
    for bytes in [Bytes::from_static(b"x"), long] {
        let refused = desk.hear(1, Message::Propose { view: view(1), record: Blob(bytes.clone()) });
        assert_eq!(refused, Err(ReplicasError::PeerRecord(member(1))));
        assert!(matches!(desk.take(Input::Record(bytes)), Err(ReplicasError::LocalRecord(_))));
    }
    assert_eq!(desk.machine.status().length, 0);
}

#[test]
fn auth_05_two_logs_that_differ_stop_the_replica() {
    let mut desk = Desk::even();
    desk.hear(1, propose(1, 1)).unwrap();
    desk.own();
    assert_eq!(desk.hear(1, kept(1, 1, [8; 32])), Err(ReplicasError::PeerDiverged(member(1))));
    assert_eq!(desk.machine.status().standing, Standing::Diverged(member(1)));
    desk.hear(1, kept(1, 1, tip([0; 32], 1))).unwrap();
    desk.install(2);
    assert_eq!((desk.back.len(), desk.said.len()), (0, 0), "nothing is said or handed back any more");
    // The same where the log that stands is not the one that was promised.
    let mut desk = Desk::even();
    desk.hear(1, propose(1, 1)).unwrap();
    desk.own();
    desk.install(3);
    desk.own();
    desk.hear(1, state(3, Some(2), 1, 1, [8; 32])).unwrap();
    let other = Blob(record(request(2), b"certificate"));
    let refused = desk.hear(1, Message::Records { view: view(3), from: 1, records: vec![other] });
    assert_eq!(refused, Err(ReplicasError::PeerDiverged(member(1))));
}

#[test]
fn auth_15_a_log_of_a_later_view_stops_the_replica() {
    let mut desk = Desk::begun();
    desk.install(1);
    desk.own();
    let refused = desk.hear(1, state(1, Some(2), 0, 0, [0; 32]));
    assert_eq!(refused, Err(ReplicasError::PeerAhead(member(1))));
    assert_eq!(desk.machine.status().standing, Standing::Diverged(member(1)));
    desk.install(3);
    assert!(desk.said.is_empty(), "nothing is said any more");
    // Nor is it told to be even in the very view that begins.
    let mut desk = Desk::begun();
    desk.install(1);
    desk.own();
    let refused = desk.hear(1, state(1, Some(1), 0, 0, [0; 32]));
    assert_eq!(refused, Err(ReplicasError::PeerAhead(member(1))));
}

#[test]
fn auth_17_what_waits_is_forgotten_at_each_view() {
    let mut desk = Desk::begun();
    desk.take(Input::Record(record(request(1), b"before"))).unwrap();
    assert_eq!((desk.machine.status().waiting, desk.said.len()), (1, 0));
    desk.install(1);
    assert_eq!(desk.machine.status().waiting, 0);
    desk.own();
    desk.hear(1, state(1, Some(0), 0, 0, [0; 32])).unwrap();
    desk.own();
    desk.hear(1, kept(1, 0, [0; 32])).unwrap();
    assert!(desk.said.is_empty(), "what the authority may have dropped is not proposed");
    // What it says again is.
    desk.take(Input::Record(record(request(1), b"now"))).unwrap();
    let proposed = Message::Propose { view: view(1), record: Blob(record(request(1), b"now")) };
    assert_eq!(desk.said, [proposed]);
}

#[test]
fn auth_06_what_is_said_for_another_view_or_after_the_signal_says_nothing() {
    let mut desk = Desk::even();
    let late = propose(7, 1).encode();
    desk.raw(&late).unwrap();
    desk.take(Input::Message { from: member(1), view: view(7), payload: propose(1, 1).encode().into() })
        .unwrap();
    assert_eq!(desk.machine.status().length, 0);
    desk.hear(1, propose(1, 1)).unwrap();
    desk.take(Input::Transitional).unwrap();
    desk.hear(1, propose(1, 2)).unwrap();
    desk.own();
    desk.hear(1, kept(1, 1, tip([0; 32], 1))).unwrap();
    assert_eq!((desk.machine.status().length, desk.back.len()), (1, 0));
    assert_eq!(desk.machine.status().standing, Standing::Changing);
}

#[test]
fn auth_07_the_first_record_of_a_request_stands() {
    let mut desk = Desk::even();
    desk.take(Input::Record(record(request(1), b"another"))).unwrap();
    let ours = desk.said.pop().unwrap();
    desk.hear(1, propose(1, 1)).unwrap();
    desk.hear(0, ours).unwrap();
    assert_eq!(desk.machine.status().length, 1);
    desk.own();
    desk.hear(1, kept(1, 1, tip([0; 32], 1))).unwrap();
    assert_eq!((&desk.back[..], desk.machine.status().waiting), (&[1][..], 0));
    // Wanted again: what stands, again.
    desk.take(Input::Record(record(request(1), b"another"))).unwrap();
    assert_eq!((&desk.back[..], desk.said.len()), (&[1, 1][..], 0));
}

#[test]
fn auth_08_what_waits_and_what_is_on_its_way_is_bounded() {
    let mut desk = Desk::even();
    let most = WANTS_MAX as u64;
    for of in 0..most {
        desk.take(Input::Record(record(request(of), b"ours"))).unwrap();
    }
    assert_eq!(desk.take(Input::Record(record(request(most), b"ours"))), Err(ReplicasError::LocalFull));
    assert_eq!(desk.said.len(), WANTS_MAX, "each is proposed once");
    desk.take(Input::Record(record(request(0), b"ours"))).unwrap();
    assert_eq!(desk.said.len(), WANTS_MAX);
    desk.said.clear();
    for of in 0..UNDERWAY_MAX {
        desk.hear(1, propose(1, of)).unwrap();
    }
    assert_eq!(desk.hear(1, propose(1, UNDERWAY_MAX)), Err(ReplicasError::PeerTooMany(member(1))));
    assert_eq!(desk.machine.status().length, UNDERWAY_MAX);
}

#[test]
fn auth_09_kept_is_said_of_what_the_disk_has_in_the_view_it_was_written_for() {
    let mut desk = Desk::even();
    desk.slow = true;
    desk.hear(1, propose(1, 1)).unwrap();
    assert!(desk.said.is_empty(), "not before the disk has it");
    desk.install(2);
    assert!(desk.said.is_empty(), "nor what it has, as long as a write is under way");
    desk.written();
    assert!(matches!(desk.said[..], [Message::State { .. }]), "of the old view nothing: {:?}", desk.said);
    assert!(matches!(desk.take(Input::Persisted(99)), Err(ReplicasError::LocalTicket)));
}

#[test]
fn a_replica_comes_back_as_its_disk_has_it() {
    let mut desk = Desk::even();
    desk.hear(1, propose(1, 1)).unwrap();
    desk.own();
    desk.hear(1, kept(1, 1, tip([0; 32], 1))).unwrap();
    desk.take(Input::Handed(1)).unwrap();
    let stored: Vec<_> = desk.disk.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let load = |stored: &[_]| Replicas::load(member(0), (0..3).map(member).collect(), stored);
    let status = load(&stored).unwrap().status();
    assert_eq!((status.length, status.handed), (1, 1));
    for damaged in 0..stored.len() {
        let mut less = stored.clone();
        less.remove(damaged);
        assert!(matches!(load(&less), Err(ReplicasError::LocalCorrupt(_))), "a row is missing");
    }
    let mut more = stored.clone();
    more.push((StoreKey { table: LOG_TABLE, key: Bytes::from_static(b"x") }, Bytes::new()));
    assert!(matches!(load(&more), Err(ReplicasError::LocalCorrupt(_))), "a row too many");
    let stranger = Replicas::load(member(9), (0..3).map(member).collect(), &[]);
    assert!(matches!(stranger, Err(ReplicasError::LocalNotReplica)));
}
