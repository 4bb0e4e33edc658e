//! What nodes say to one another, and the network between them.

use crate::dice::Dice;
use crate::nouns::{Packet, Per, Record, Set};
use crate::token::Token;
use std::collections::BTreeSet;

/// What a node says in a commit entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its old configuration.
    pub(crate) old: usize,
    /// Everything up to this place it has delivered, or knows to be safe.
    pub(crate) line: usize,
}

/// What a survivor hands on with its END.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    /// Messages that it delivered early, or took over.
    pub(crate) owed: Set,
    /// Survivors of attempts of which it, or somebody before, had all ENDs.
    pub(crate) trusted: Set,
}

/// A datagram.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    /// A sign of life: stands in for links and JOINs.
    Hello { at: usize, config: usize, attempt: usize, gathers: bool, hears: Set, top: usize },
    /// Outside the streams.
    Unreliable { config: usize, uid: usize },
    /// Packets and records: as they are made, or as repairs.
    Data { config: usize, hop: usize, packets: Vec<Packet>, records: Vec<Record> },
    /// What the holder of a parked token says.
    Status { config: usize, hop: usize, last_record: usize, high: Per<usize>, safe: usize },
    /// The token.
    Token(Token),
    /// What a node lacks.
    Want { config: usize, packets: Vec<(usize, usize)>, records: Vec<usize> },
    /// Write a commit entry.
    Ask { attempt: usize, members: Set },
    /// The commit entry.
    Wrote { attempt: usize, entry: Entry },
    /// All entries: recover.
    Commit { attempt: usize, members: Set, entries: Per<Entry> },
    /// A part of what a survivor holds. The last one, with lists, is its END.
    Chunk {
        attempt: usize,
        old: usize,
        index: usize,
        of: usize,
        packets: Vec<Packet>,
        records: Vec<Record>,
        lists: Option<Lists>,
    },
    /// Whose ENDs, with all that goes before, the sender has.
    Have { attempt: usize, ends: Set, installed: bool },
}

/// A datagram under way.
#[derive(Debug)]
struct Flight {
    due: usize,
    from: usize,
    to: usize,
    frame: Frame,
}

/// The network: delays, losses, cuts in either direction.
#[derive(Debug, Default)]
pub(crate) struct Network {
    flights: Vec<Flight>,
    /// Losses in a thousand.
    pub(crate) loss: usize,
    /// For each sender: who does not hear it, until when.
    pub(crate) cuts: Per<Per<usize>>,
    /// The side on which each node is.
    pub(crate) sides: Per<usize>,
    /// Until when what a node sends of its stream is lost, while its records arrive.
    pub(crate) hollow: Per<usize>,
    /// Until when what a node says of the order reaches one other only, and whom.
    pub(crate) veiled: Per<(usize, usize)>,
    /// Unreliable messages and whom they were sent to.
    pub(crate) unreliable: BTreeSet<(usize, usize)>,
    /// An unreliable message was sent twice to one node.
    pub(crate) again: Option<usize>,
}

impl Network {
    /// One that loses so many datagrams in a thousand.
    pub(crate) fn losing(loss: usize) -> Self {
        Self { loss, ..Self::default() }
    }

    /// Whether what one sends now reaches the other, losses aside.
    pub(crate) fn reaches(&self, now: usize, from: usize, to: usize) -> bool {
        self.sides[from] == self.sides[to] && self.cuts[from][to] <= now
    }

    /// Sends to each of these but the sender.
    pub(crate) fn send(&mut self, now: usize, dice: &mut Dice, from: usize, to: Set, frame: &Frame) {
        for to in to.iter().filter(|to| *to != from) {
            if let Frame::Unreliable { uid, .. } = frame {
                let first = self.unreliable.insert((*uid, to));
                self.again = self.again.or((!first).then_some(*uid));
            }
            let due = now + dice.between(1, 4);
            if self.reaches(now, from, to) && !dice.chance(self.loss) {
                let mut frame = frame.clone();
                let veiled = self.veiled[from].0 > now && self.veiled[from].1 != to;
                match &mut frame {
                    Frame::Data { packets, .. } if self.hollow[from] > now => packets.clear(),
                    Frame::Data { records, .. } if veiled => records.clear(),
                    Frame::Token(_) | Frame::Status { .. } if veiled => continue,
                    _ => {}
                }
                self.flights.push(Flight { due, from, to, frame });
            }
        }
    }

    /// What arrives now: (from, to, frame).
    pub(crate) fn arrived(&mut self, now: usize) -> Vec<(usize, usize, Frame)> {
        let mut here = Vec::new();
        let mut index = 0;
        while let Some(flight) = self.flights.get(index) {
            if flight.due > now {
                index += 1;
                continue;
            }
            let flight = self.flights.swap_remove(index);
            if self.reaches(now, flight.from, flight.to) {
                here.push((flight.from, flight.to, flight.frame));
            }
        }
        here
    }
}
