//! The record, sorted for the checkers: each life as its views, one after the other, and as its
//! configurations.

use crate::record::{MessageId, Player, Process, Record, RingEvent, RingMessage, Shown, What};
use folkmoot_base::{ConfigurationId, Service, ViewId};
use std::collections::{BTreeMap, BTreeSet};

/// How a view (or a configuration, or a life) ended for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It had not ended when the world stopped.
    Open,
    /// The next view was installed.
    Next,
    /// The process crashed.
    Crashed,
    /// The member left, or was removed.
    Left,
}

/// A message seen at an entry of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Got {
    /// The entry.
    pub entry: usize,
    /// Which message.
    pub message: MessageId,
    /// What its sender asked for.
    pub service: Service,
}

/// One view of one process.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Where it was installed.
    pub entry: usize,
    /// What was installed.
    pub view: Shown,
    /// Where the transitional signal came.
    pub signal: Option<usize>,
    /// What was sent in it.
    pub sent: Vec<Got>,
    /// What was delivered in it, in order.
    pub delivered: Vec<Got>,
    /// How it ended.
    pub end: End,
}

impl Segment {
    /// Whether `entry` comes before the transitional signal.
    pub fn is_regular(&self, entry: usize) -> bool {
        self.signal.is_none_or(|signal| entry < signal)
    }

    /// The messages delivered.
    pub fn messages(&self) -> BTreeSet<MessageId> {
        self.delivered.iter().map(|got| got.message).collect()
    }
}

/// A place in the ring's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPlace {
    /// The entry of the record.
    pub entry: usize,
    /// The message.
    pub message: RingMessage,
    /// The configuration that numbered it.
    pub configuration: ConfigurationId,
    /// Its number there.
    pub number: u64,
    /// How ordered.
    pub service: Service,
}

/// One configuration of one node.
#[derive(Debug, Clone)]
pub struct RingSegment {
    /// Where it was installed.
    pub entry: usize,
    /// Its name.
    pub id: ConfigurationId,
    /// Its nodes.
    pub nodes: BTreeSet<Player>,
    /// The transitional configuration after it: where, and who goes on together.
    pub transitional: Option<(usize, BTreeSet<Player>)>,
    /// What was delivered in it and in its transitional configuration.
    pub delivered: Vec<RingPlace>,
    /// How it ended.
    pub end: End,
}

/// The ring's part of a life.
#[derive(Debug, Clone, Default)]
pub struct RingLife {
    /// Configurations, one after the other.
    pub segments: Vec<RingSegment>,
    /// What was handed to the ring: entry and name.
    pub sent: Vec<(usize, RingMessage, u16)>,
    /// Deliveries before the first configuration.
    pub stray: Vec<RingPlace>,
}

/// One life.
#[derive(Debug, Clone)]
pub struct Life {
    /// Its views, one after the other.
    pub segments: Vec<Segment>,
    /// What was sent or delivered outside of any view.
    pub stray: Vec<Got>,
    /// Its configurations.
    pub ring: RingLife,
    /// Whether it crashed.
    pub crashed: bool,
    in_view: bool,
}

/// All lives.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// By process.
    pub lives: BTreeMap<Process, Life>,
    /// The view that each message was sent in; `None` inside: in no view.
    pub sent_in: BTreeMap<MessageId, Option<ViewId>>,
}

impl Story {
    /// Sorts `record`.
    pub fn of(record: &Record) -> Self {
        let mut story = Self::default();
        for (entry, line) in record.entries.iter().enumerate() {
            let life = story.lives.entry(line.process).or_insert_with(Life::new);
            if let What::Sent(message, _, view) = &line.what {
                story.sent_in.entry(*message).or_insert(*view);
            }
            life.take(entry, &line.what);
        }
        story
    }

    /// Every view of every process.
    pub fn segments(&self) -> impl Iterator<Item = (Process, &Segment)> {
        self.lives.iter().flat_map(|(process, life)| life.segments.iter().map(|segment| (*process, segment)))
    }

    /// For each view, who installed it.
    pub fn installers(&self) -> BTreeMap<ViewId, Vec<(Process, &Segment)>> {
        let mut out: BTreeMap<ViewId, Vec<_>> = BTreeMap::new();
        for (process, segment) in self.segments() {
            out.entry(segment.view.id).or_default().push((process, segment));
        }
        out
    }

    /// Every step from one view to the next: process, old, new.
    pub fn steps(&self) -> Vec<(Process, &Segment, &Segment)> {
        let mut out = Vec::new();
        for (process, life) in &self.lives {
            for pair in life.segments.windows(2) {
                let [old, new] = pair else { continue };
                if old.end == End::Next {
                    out.push((*process, old, new));
                }
            }
        }
        out
    }

    /// For each configuration, who installed it.
    pub fn ring_installers(&self) -> BTreeMap<ConfigurationId, Vec<(Process, &RingSegment)>> {
        let mut out: BTreeMap<ConfigurationId, Vec<_>> = BTreeMap::new();
        for (process, life) in &self.lives {
            for segment in &life.ring.segments {
                out.entry(segment.id).or_default().push((*process, segment));
            }
        }
        out
    }
}

impl Life {
    fn new() -> Self {
        Self {
            segments: Vec::new(),
            stray: Vec::new(),
            ring: RingLife::default(),
            crashed: false,
            in_view: false,
        }
    }

    fn current(&mut self) -> Option<&mut Segment> {
        if self.in_view { self.segments.last_mut() } else { None }
    }

    fn take(&mut self, entry: usize, what: &What) {
        match what {
            What::Sent(message, service, _) => {
                let got = Got { entry, message: *message, service: *service };
                match self.current() {
                    Some(segment) => segment.sent.push(got),
                    None => self.stray.push(got),
                }
            }
            What::Delivered(message, service) => {
                let got = Got { entry, message: *message, service: *service };
                match self.current() {
                    Some(segment) => segment.delivered.push(got),
                    None => self.stray.push(got),
                }
            }
            What::View(view) => self.install(entry, view),
            What::Signal => {
                if let Some(segment) = self.current() {
                    segment.signal.get_or_insert(entry);
                }
            }
            What::Left(_) => self.close(End::Left),
            What::Crash(_) => {
                self.crashed = true;
                self.close(End::Crashed);
                if let Some(segment) = self.ring.segments.last_mut() {
                    segment.end = End::Crashed;
                }
            }
            What::Ring(event) => self.ring.take(entry, event),
            _ => {}
        }
    }

    fn install(&mut self, entry: usize, view: &Shown) {
        self.close(End::Next);
        self.in_view = true;
        self.segments.push(Segment {
            entry,
            view: view.clone(),
            signal: None,
            sent: Vec::new(),
            delivered: Vec::new(),
            end: End::Open,
        });
    }

    fn close(&mut self, end: End) {
        if let Some(segment) = self.current() {
            segment.end = end;
        }
        self.in_view = false;
    }
}

impl RingLife {
    fn take(&mut self, entry: usize, event: &RingEvent) {
        match event {
            RingEvent::Regular(id, nodes) => {
                if let Some(segment) = self.segments.last_mut() {
                    segment.end = End::Next;
                }
                self.segments.push(RingSegment {
                    entry,
                    id: *id,
                    nodes: nodes.clone(),
                    transitional: None,
                    delivered: Vec::new(),
                    end: End::Open,
                });
            }
            RingEvent::Transitional { nodes, .. } => {
                if let Some(segment) = self.segments.last_mut() {
                    segment.transitional.get_or_insert((entry, nodes.clone()));
                }
            }
            RingEvent::Keys(..) => {}
            RingEvent::Sent(message, party) => self.sent.push((entry, *message, *party)),
            RingEvent::Delivered { message, configuration, number, service } => {
                let place = RingPlace {
                    entry,
                    message: *message,
                    configuration: *configuration,
                    number: *number,
                    service: *service,
                };
                match self.segments.last_mut() {
                    Some(segment) => segment.delivered.push(place),
                    None => self.stray.push(place),
                }
            }
        }
    }
}

impl RingSegment {
    /// Whether `entry` comes before the transitional configuration.
    pub fn is_regular(&self, entry: usize) -> bool {
        self.transitional.as_ref().is_none_or(|(signal, _)| entry < *signal)
    }

    /// The numbers delivered.
    pub fn numbers(&self) -> BTreeSet<u64> {
        self.delivered.iter().map(|place| place.number).collect()
    }
}
