//! A member's log: a line for each thing that happened, with the time of the clock that all
//! processes share. The simulator's checkers read it as one of their records.
//!
//! A line is written before the datagrams that rely on it leave: so what one member caused at
//! another stands behind its cause when the logs of all are sorted by time.

use crate::said::Said;
use crate::words::now;
use folkmoot_base::codec::{self, decode, encode};
use folkmoot_base::{ConfigurationId, Service, ViewId, hex, unhex};
use folkmoot_sim::payload::SERVICES;
use folkmoot_sim::record::{
    Disk, Leak, MessageId, Player, Process, RingEvent, RingMessage, Shown, Standing, What,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a line says; ids in hexadecimal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Word {
    Boot {
        fresh: bool,
    },
    Asked(Name, u8),
    Refused(Name, String),
    Sent(Name, u8, Option<String>),
    /// With its length.
    Delivered(Name, u8, usize),
    Garbled(usize),
    View(Sight),
    Signal,
    Left(String),
    Regular(String, BTreeSet<Player>),
    Transitional(String, BTreeSet<Player>),
    RingKeys(usize, bool),
    RingSent(Player, String, u16),
    RingDelivered {
        sender: Player,
        digest: String,
        configuration: String,
        number: u64,
        service: u8,
    },
    Used(String, String),
    Confirmed(String),
    Heard(String, Player),
    Said(Said),
    LeakedToNode,
    /// A line of the log of a layer, for people.
    Note(String, String),
    Stands(Stands),
}

/// A message: the player, the life, its number there.
pub(crate) type Name = (Player, u16, u32);

/// A view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sight {
    id: String,
    members: BTreeSet<Player>,
    transitional: BTreeSet<Player>,
    key: String,
}

/// How a member stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stands {
    pub(crate) view: Option<Sight>,
    pub(crate) roster: BTreeSet<Player>,
    pub(crate) ring: BTreeSet<Player>,
    pub(crate) gathers: bool,
    pub(crate) activity: String,
    pub(crate) unacknowledged: Vec<Name>,
    /// How long a datagram the path to each member that is linked carries.
    pub(crate) paths: BTreeMap<Player, u16>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Nanoseconds.
    pub(crate) at: u64,
    pub(crate) word: Word,
}

/// The layers whose lines are told apart.
const LAYERS: [&str; 8] = ["link", "node", "ring", "group", "flush", "keying", "session", "admission"];
/// The kinds of numbers that are used once.
const KINDS: [&str; 5] =
    ["nonce", "instance id", "nonce of a ring key", "unreliable packet", "contribution to a ring key"];

impl Sight {
    pub(crate) fn of(view: &Shown) -> Self {
        let (members, transitional) = (view.members.clone(), view.transitional.clone());
        Self { id: text(&view.id), members, transitional, key: view.key.clone() }
    }

    pub(crate) fn shown(self) -> Option<Shown> {
        let Self { id, members, transitional, key } = self;
        Some(Shown { id: read(&id)?, members, transitional, key })
    }
}

impl Stands {
    pub(crate) fn standing(self, process: Process) -> Standing {
        Standing {
            process,
            expected: true,
            view: self.view.and_then(Sight::shown),
            roster: self.roster,
            // What a process says does not tell this.
            cut_off: BTreeSet::new(),
            ring: self.ring,
            gathers: self.gathers,
            activity: self.activity,
            unacknowledged: self.unacknowledged.into_iter().map(message).collect(),
        }
    }
}

impl Word {
    /// The word for what happened, where there is one; `bytes`: the length of what was delivered.
    pub(crate) fn of(what: &What, bytes: usize) -> Option<Self> {
        Some(match what {
            What::Boot(disk) => Self::Boot { fresh: *disk == Disk::Fresh },
            What::Asked(message, service) => Self::Asked(name(*message), *service as u8),
            What::Refused(message, reason) => Self::Refused(name(*message), reason.clone()),
            What::Sent(message, service, view) => {
                Self::Sent(name(*message), *service as u8, view.as_ref().map(text))
            }
            What::Delivered(message, service) => Self::Delivered(name(*message), *service as u8, bytes),
            What::Garbled(bytes) => Self::Garbled(*bytes),
            What::View(view) => Self::View(Sight::of(view)),
            What::Signal => Self::Signal,
            What::Left(reason) => Self::Left(reason.clone()),
            What::Ring(event) => Self::of_ring(event),
            What::Used(kind, value) => Self::Used((*kind).to_owned(), hex(value)),
            What::Confirmed(view) => Self::Confirmed(text(view)),
            What::Heard(view, player) => Self::Heard(text(view), *player),
            What::Word(word) => Self::Said(Said::of(word)),
            What::Leaked(Leak::Node) => Self::LeakedToNode,
            What::Note(layer, text) => Self::Note((*layer).to_owned(), text.clone()),
            _ => return None,
        })
    }

    fn of_ring(event: &RingEvent) -> Self {
        match event {
            RingEvent::Regular(id, nodes) => Self::Regular(text(id), nodes.clone()),
            RingEvent::Transitional { from, nodes } => Self::Transitional(text(from), nodes.clone()),
            RingEvent::Keys(kept, attempt) => Self::RingKeys(*kept, *attempt),
            RingEvent::Sent(message, party) => Self::RingSent(message.sender, hex(&message.digest), *party),
            RingEvent::Delivered { message, configuration, number, service } => Self::RingDelivered {
                sender: message.sender,
                digest: hex(&message.digest),
                configuration: text(configuration),
                number: *number,
                service: *service as u8,
            },
        }
    }

    /// What happened; `None` for what is no entry of a record, or cannot be read.
    pub(crate) fn what(self) -> Option<What> {
        Some(match self {
            Self::Boot { fresh } => What::Boot(if fresh { Disk::Fresh } else { Disk::Synced }),
            Self::Asked(name, of) => What::Asked(message(name), service(of)?),
            Self::Refused(name, reason) => What::Refused(message(name), reason),
            Self::Sent(name, of, view) => {
                let view: Option<ViewId> = view.map(|view| read(&view).ok_or(())).transpose().ok()?;
                What::Sent(message(name), service(of)?, view)
            }
            Self::Delivered(name, of, _) => What::Delivered(message(name), service(of)?),
            Self::Garbled(bytes) => What::Garbled(bytes),
            Self::View(view) => What::View(view.shown()?),
            Self::Signal => What::Signal,
            Self::Left(reason) => What::Left(reason),
            Self::Regular(id, nodes) => What::Ring(RingEvent::Regular(read(&id)?, nodes)),
            Self::Transitional(from, nodes) => {
                What::Ring(RingEvent::Transitional { from: read(&from)?, nodes })
            }
            Self::RingKeys(kept, attempt) => What::Ring(RingEvent::Keys(kept, attempt)),
            Self::RingSent(sender, digest, party) => {
                What::Ring(RingEvent::Sent(ring_message(sender, &digest)?, party))
            }
            Self::RingDelivered { sender, digest, configuration, number, service: of } => {
                let configuration: ConfigurationId = read(&configuration)?;
                let (message, service) = (ring_message(sender, &digest)?, service(of)?);
                What::Ring(RingEvent::Delivered { message, configuration, number, service })
            }
            Self::Used(kind, value) => {
                What::Used(KINDS.into_iter().find(|known| *known == kind)?, unhex(&value)?)
            }
            Self::Confirmed(view) => What::Confirmed(read(&view)?),
            Self::Heard(view, player) => What::Heard(read(&view)?, player),
            Self::Said(said) => What::Word(said.word()?),
            Self::LeakedToNode => What::Leaked(Leak::Node),
            Self::Note(layer, text) => {
                let layer = LAYERS.into_iter().find(|known| *known == layer).unwrap_or("other");
                What::Note(layer, text)
            }
            Self::Stands(_) => return None,
        })
    }
}

pub(crate) fn name(message: MessageId) -> Name {
    (message.player, message.life, message.number)
}

fn message((player, life, number): Name) -> MessageId {
    MessageId { player, life, number }
}

fn ring_message(sender: Player, digest: &str) -> Option<RingMessage> {
    Some(RingMessage { sender, digest: unhex(digest)?.try_into().ok()? })
}

fn service(of: u8) -> Option<Service> {
    SERVICES.into_iter().find(|known| *known as u8 == of)
}

pub(crate) fn text<T: codec::Serialize + codec::Size>(id: &T) -> String {
    hex(&encode(id))
}

pub(crate) fn read<T: codec::Wire>(text: &str) -> Option<T> {
    decode(&unhex(text)?).ok()
}

/// Writes a log. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Pen(Arc<Mutex<Book>>);

#[derive(Debug)]
struct Book {
    file: File,
    text: Vec<u8>,
}

impl Pen {
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::create(path)?;
        Ok(Self(Arc::new(Mutex::new(Book { file, text: Vec::new() }))))
    }

    /// Notes what happened now; [`Self::flush`] writes it.
    pub(crate) fn note(&self, what: &What, bytes: usize) {
        if let Some(word) = Word::of(what, bytes) {
            self.say(word);
        }
    }

    pub(crate) fn say(&self, word: Word) {
        let line = Line { at: now(), word };
        let mut book = self.book();
        let written = serde_json::to_writer(&mut book.text, &line);
        // A log that lacks a line proves nothing.
        assert!(written.is_ok(), "a line is no JSON: {written:?}");
        book.text.push(b'\n');
    }

    /// Whatever happens to this process from here on: the lines are there.
    pub(crate) fn flush(&self) {
        let mut book = self.book();
        let Book { file, text } = &mut *book;
        if !text.is_empty() {
            let written = file.write_all(text);
            assert!(written.is_ok(), "the log cannot be written: {written:?}");
            text.clear();
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_base::{GroupId, NodeId};

    #[test]
    fn what_is_written_is_read_back() {
        let configuration = ConfigurationId { ring_seq: 7, representative: NodeId([1; 32]), nonce: [2; 16] };
        let view = ViewId { configuration, order: 3, group: GroupId([4; 32]) };
        let id = MessageId { player: 1, life: 2, number: 3 };
        let members = BTreeSet::from([0, 1]);
        let shown =
            Shown { id: view, members: members.clone(), transitional: members.clone(), key: "k".into() };
        let ring = RingMessage { sender: 1, digest: [9; 16] };
        let delivered =
            RingEvent::Delivered { message: ring, configuration, number: 5, service: Service::Safe };
        let all = [
            What::Boot(Disk::Fresh),
            What::Boot(Disk::Synced),
            What::Asked(id, Service::Unreliable),
            What::Refused(id, "no".into()),
            What::Sent(id, Service::Causal, Some(view)),
            What::Sent(id, Service::Fifo, None),
            What::Delivered(id, Service::Safe),
            What::Garbled(3),
            What::View(shown),
            What::Signal,
            What::Left("leave".into()),
            What::Ring(RingEvent::Regular(configuration, members.clone())),
            What::Ring(RingEvent::Transitional { from: configuration, nodes: members }),
            What::Ring(RingEvent::Keys(2, true)),
            What::Ring(RingEvent::Sent(ring, 1)),
            What::Ring(delivered),
            What::Used("instance id", vec![1, 2]),
            What::Confirmed(view),
            What::Heard(view, 1),
            What::Leaked(Leak::Node),
            What::Note("ring", "a line".into()),
        ];
        for what in all {
            let line = Line { at: 1, word: Word::of(&what, 100).unwrap() };
            let text = serde_json::to_string(&line).unwrap();
            let back: Line = serde_json::from_str(&text).unwrap();
            assert_eq!(back.word.what(), Some(what));
        }
    }
}
