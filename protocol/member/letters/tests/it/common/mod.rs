//! A group with a perfect order, and strangers who can reach each member.

use bytes::Bytes;
use folkmoot_base::{
    ConfigurationId, Digest, Entropy, GroupId, GroupName, Instant, NodeId, Party, Secret, UnixTime, ViewId,
    digest,
};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use folkmoot_letters::{
    Counter, Desk, DeskInput, DeskOutput, Front, LetterEvent, LettersError, Writer, WriterEvent,
    WriterOutput, is_for_writer, is_guest_message,
};
use folkmoot_transcript::Transcript;
use std::collections::VecDeque;

pub const NOW: UnixTime = UnixTime(1_800_000_000);
pub const LATER: UnixTime = UnixTime(1_900_000_000);

/// Counts hashes.
pub struct Dice(pub u64);

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

pub fn person(name: &str, seed: u64) -> Identity {
    Identity::new(name, &mut Dice(seed * 1_000_000), NOW, LATER).unwrap()
}

/// The key that all members share: what a session would derive its seed from.
#[derive(Clone)]
pub struct Epoch {
    pub view: ViewId,
    pub tag: [u8; 8],
    pub seed: Secret<[u8; 32]>,
}

pub fn epoch(group: GroupId, number: u8) -> Epoch {
    let configuration = ConfigurationId {
        ring_seq: number.into(),
        representative: NodeId([number; 32]),
        nonce: [number; 16],
    };
    Epoch {
        view: ViewId { configuration, order: 1, group },
        tag: [number; 8],
        seed: Secret::new([number; 32]),
    }
}

pub struct Member {
    pub identity: Identity,
    /// Which of its programs this is.
    pub port: u16,
    pub desk: Desk,
    pub events: Vec<LetterEvent>,
    pub errors: Vec<LettersError>,
    /// Whether it is in the group now.
    pub inside: bool,
}

impl Member {
    pub fn party(&self) -> Party {
        Party::new(self.identity.member(), self.port)
    }
}

pub struct Stranger {
    pub identity: Identity,
    pub writer: Writer,
    pub events: Vec<WriterEvent>,
    pub errors: Vec<LettersError>,
}

pub struct Moot {
    pub now: Instant,
    pub dice: Dice,
    pub group: GroupId,
    pub transcript: Transcript,
    pub epoch: Epoch,
    pub members: Vec<Member>,
    pub strangers: Vec<Stranger>,
    /// Sender, receiver and message: over links.
    pub wire: VecDeque<(NodeId, NodeId, Bytes)>,
    /// Everything that ever went over a link, or in the group's order (which session seals).
    pub seen: Vec<Bytes>,
    pub ordered: Vec<Bytes>,
}

impl Moot {
    pub fn new(letters: bool) -> Self {
        let founders: Vec<Identity> = (1..=3).map(|seed| person(&format!("founder{seed}"), seed)).collect();
        let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
        let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, named, &mut Dice(77));
        let text = CharterDraft { letters, ..draft }.to_toml();
        let charter = SignedCharter::sign(&text, &founders.iter().collect::<Vec<_>>()).unwrap();
        let transcript = Transcript::founded(charter.der()).unwrap();
        let group = transcript.group();
        let members = founders.into_iter().map(|identity| Member {
            identity,
            port: 0,
            desk: Desk::default(),
            events: Vec::new(),
            errors: Vec::new(),
            inside: true,
        });
        Self {
            now: Instant(1_000_000),
            dice: Dice(5_000_000_000),
            group,
            transcript,
            epoch: epoch(group, 1),
            members: members.collect(),
            strangers: Vec::new(),
            wire: VecDeque::new(),
            seen: Vec::new(),
            ordered: Vec::new(),
        }
    }

    /// A stranger linked to these members.
    pub fn stranger(&mut self, name: &str, seed: u64, contacts: &[usize]) -> usize {
        let mut writer = Writer::default();
        contacts.iter().for_each(|at| writer.link_up(self.now, self.members[*at].identity.node()));
        let identity = person(name, seed);
        self.strangers.push(Stranger { identity, writer, events: Vec::new(), errors: Vec::new() });
        self.strangers.len() - 1
    }

    /// Another program of this founder, with this port.
    pub fn program(&mut self, of: usize, port: u16) -> usize {
        let identity = person(&format!("founder{}", of + 1), of as u64 + 1);
        let (desk, events, errors) = (Desk::default(), Vec::new(), Vec::new());
        self.members.push(Member { identity, port, desk, events, errors, inside: true });
        self.members.len() - 1
    }

    pub fn write(&mut self, who: usize, text: &[u8]) -> Digest {
        let one = &mut self.strangers[who];
        let text = Bytes::copy_from_slice(text);
        let id = one.writer.write(self.now, (self.group, text), &one.identity, &mut self.dice).unwrap();
        self.drain_writer(who);
        id
    }

    pub fn answer(&mut self, who: usize, letter: Digest, text: &[u8]) -> Result<(), LettersError> {
        self.desk(who, DeskInput::Answer { letter, text: Bytes::copy_from_slice(text) })
    }

    /// Gives a desk an input. What goes to the group is delivered to all members inside, in order.
    pub fn desk(&mut self, who: usize, input: DeskInput) -> Result<(), LettersError> {
        let epoch = self.epoch.clone();
        let (group, inside) = (self.group, self.members[who].inside);
        let front = |asked: &GroupId| {
            (*asked == group && inside).then_some(Front {
                view: epoch.view,
                epoch: epoch.tag,
                seed: &epoch.seed,
            })
        };
        let member = &mut self.members[who];
        let counter = Counter {
            now: self.now,
            identity: &member.identity,
            port: member.port,
            roster: self.transcript.roster(),
            front: &front,
        };
        let done = member.desk.handle(&counter, input, &mut self.dice);
        self.drain_desk(who);
        done
    }

    fn drain_desk(&mut self, who: usize) {
        while let Some(output) = self.members[who].desk.poll_output() {
            let from = self.members[who].identity.node();
            match output {
                DeskOutput::Guest { to, payload } => self.send(from, to, payload),
                DeskOutput::Multicast { group, payload } => {
                    self.ordered.push(payload.clone());
                    let sender = self.members[who].party();
                    for other in 0..self.members.len() {
                        let payload = payload.clone();
                        if self.members[other].inside
                            && let Err(error) = self.desk(other, DeskInput::Member { group, sender, payload })
                        {
                            self.members[other].errors.push(error);
                        }
                    }
                }
                DeskOutput::Event(event) => self.members[who].events.push(event),
            }
        }
    }

    pub fn drain_writer(&mut self, who: usize) {
        while let Some(output) = self.strangers[who].writer.poll_output() {
            match output {
                WriterOutput::Guest { to, payload } => {
                    self.send(self.strangers[who].identity.node(), to, payload)
                }
                WriterOutput::Event(event) => self.strangers[who].events.push(event),
            }
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, payload: Bytes) {
        assert!(is_guest_message(&payload));
        self.seen.push(payload.clone());
        self.wire.push_back((from, to, payload));
    }

    /// Delivers the next message; `false` if there is none.
    pub fn step(&mut self) -> bool {
        let Some((from, to, payload)) = self.wire.pop_front() else { return false };
        self.bring(from, to, payload);
        true
    }

    pub fn bring(&mut self, from: NodeId, to: NodeId, payload: Bytes) {
        if let Some(who) = self.strangers.iter().position(|one| one.identity.node() == to) {
            assert!(is_for_writer(&payload) || self.strangers.iter().any(|one| one.identity.node() == from));
            let one = &mut self.strangers[who];
            let roster = self.transcript.roster();
            let done = one.writer.hear(self.now, (from, &payload), roster, &one.identity, &mut self.dice);
            one.errors.extend(done.err());
            self.drain_writer(who);
        } else if let Some(who) = self.members.iter().position(|one| one.identity.node() == to) {
            let done = self.desk(who, DeskInput::Guest { from, payload });
            self.members[who].errors.extend(done.err());
        }
    }

    /// Delivers all messages, and what becomes due within so many milliseconds.
    pub fn run(&mut self, ms: u64) {
        let end = self.now + core::time::Duration::from_millis(ms);
        loop {
            while self.step() {}
            let due = (0..self.strangers.len())
                .filter_map(|who| Some((self.strangers[who].writer.poll_timeout()?, who)))
                .min();
            let Some((at, who)) = due.filter(|(at, _)| *at <= end) else { break };
            self.now = self.now.max(at);
            self.strangers[who].writer.timeout(self.now);
            self.drain_writer(who);
        }
        self.now = end;
    }

    pub fn answers(&self, who: usize) -> Vec<(String, Vec<u8>)> {
        let roster = self.transcript.roster();
        let name = |by: &Party| roster.member(&by.member).map(|one| by.of(&one.name)).unwrap_or_default();
        let events = self.strangers[who].events.iter();
        events
            .filter_map(|event| match event {
                WriterEvent::Answer { by, text, .. } => Some((name(by), text.to_vec())),
                WriterEvent::Standing { .. } => None,
            })
            .collect()
    }

    pub fn letters(&self, who: usize) -> Vec<(String, Vec<u8>)> {
        let events = self.members[who].events.iter();
        events
            .filter_map(|event| match event {
                LetterEvent::Came { name, text, .. } => Some((name.clone(), text.to_vec())),
                LetterEvent::Answered { .. } => None,
            })
            .collect()
    }
}
