//! A member with a flush layer, for tests: it records everything that it sees, separately for each
//! time that it joined.

// The group's own tests use more of it.
#[allow(dead_code)]
#[path = "../../../../../node/group/tests/it/bus/mod.rs"]
pub mod bus;

pub mod check;

use bus::{Bus, Call, GROUP, Upper};
use bytes::Bytes;
use folkmoot_base::{
    Danger, Digest, Indication, Instant, Party, Secret, Service, ToySignatures, ViewId, digest,
};
use folkmoot_flush::{Config, Flush, Output, Phase, View};
use folkmoot_group::Mark;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "few of them, in tests")]
pub enum Event {
    View(View),
    Sent(ViewId, Bytes),
    Got(ViewId, Party, Bytes),
    Signal,
    Request,
    Complaint(Vec<Party>),
    Left,
}

/// What the layer above does with a flush request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Sends a last message and answers at once.
    Prompt,
    /// Answers when the test says so.
    Slow,
}

/// The settings of a party whose signatures anybody can make.
pub fn config(me: Party, danger: Option<Danger>) -> Config {
    let signatures = Arc::new(ToySignatures(me.member.0));
    let secret = Secret::new(digest(&[b"secret", &me.to_bytes()]));
    Config { me, group: GROUP, signatures, secret, danger: danger.into() }
}

pub struct Member {
    pub me: Party,
    pub danger: Option<Danger>,
    pub manner: Manner,
    pub wants: bool,
    /// Its messages go nowhere.
    pub mute: bool,
    pub flush: Option<Flush>,
    pub lives: Vec<Vec<Event>>,
    pub calls: Vec<Call>,
    heads: Digest,
    said: u32,
}

impl Member {
    pub fn new(me: Party, danger: Option<Danger>) -> Self {
        let heads = digest(&[]);
        let (manner, calls, lives) = (Manner::Prompt, Vec::new(), Vec::new());
        Self { me, danger, manner, wants: false, mute: false, flush: None, lives, calls, heads, said: 0 }
    }

    pub fn join(&mut self) {
        self.wants = true;
        if self.flush.is_none() {
            self.flush = Some(Flush::new(config(self.me, self.danger), self.heads));
            self.lives.push(Vec::new());
        }
        self.calls.push(Call::Join);
    }

    pub fn leave(&mut self) {
        self.wants = false;
        if let Some(flush) = &mut self.flush {
            flush.leave();
            self.calls.push(Call::Leave);
            // Its join may never take effect. Then nobody would say that it is out.
            if flush.phase() == Phase::Joining {
                self.flush = None;
            }
        }
    }

    /// Sends a message of its own, if it may.
    pub fn say(&mut self) {
        let Some(flush) = &mut self.flush else { return };
        let text = Bytes::from([&self.me.member.0[..1], &self.said.to_be_bytes()].concat());
        if flush.send(Service::Agreed, folkmoot_flush::message::For::Session, &text).is_ok() {
            self.said += 1;
            let view = flush.view().unwrap();
            self.note(Event::Sent(view, text));
        }
    }

    /// Answers an open request.
    pub fn answer(&mut self, now: Instant) {
        if let Some(flush) = &mut self.flush {
            let _ = flush.flush_ok(now, Bytes::new());
        }
    }

    pub fn timeout(&mut self, now: Instant) {
        if let Some(flush) =
            self.flush.as_mut().filter(|flush| flush.poll_timeout().is_some_and(|at| at <= now))
        {
            flush.timeout(now);
        }
    }

    pub fn life(&self) -> &[Event] {
        self.lives.last().map_or(&[], Vec::as_slice)
    }

    pub fn views(&self) -> Vec<View> {
        views(self.life())
    }

    pub fn view(&self) -> Option<View> {
        self.views().pop()
    }

    fn note(&mut self, event: Event) {
        if let Some(life) = self.lives.last_mut() {
            life.push(event);
        }
    }

    fn drain(&mut self, now: Instant) {
        while let Some(output) = self.flush.as_mut().and_then(Flush::poll_output) {
            match output {
                Output::Multicast { service, bytes } if !self.mute => {
                    self.calls.push(Call::Send(service, bytes))
                }
                Output::FlushRequest => {
                    self.note(Event::Request);
                    if self.manner == Manner::Prompt {
                        self.say();
                        self.answer(now);
                    }
                }
                Output::TransitionalSignal => self.note(Event::Signal),
                Output::Deliver { sender, payload, .. } => {
                    let view = self.view().unwrap().id;
                    self.note(Event::Got(view, sender, payload.freeze()));
                }
                Output::View(view) => self.note(Event::View(*view)),
                Output::Complain { view, suspects } => {
                    self.note(Event::Complaint(suspects.clone()));
                    self.calls.extend(suspects.into_iter().map(|suspect| Call::Complain(view, suspect)));
                }
                Output::Multicast { .. } | Output::Trace(_) => {}
            }
        }
    }
}

impl Upper for Member {
    fn indication(&mut self, now: Instant, indication: Indication) {
        let Some(flush) = &mut self.flush else { return };
        match indication {
            Indication::Notice { view, members, removed, cause, .. } => {
                flush.notice(now, *view, members, &removed, cause).unwrap();
            }
            Indication::Transitional { lost, .. } => flush.transitional(&lost),
            // Frames of other views are refused; the checks see only what is delivered.
            Indication::Deliver { sender, service, payload, .. } => {
                _ = flush.frame(now, sender, service, payload)
            }
            Indication::Removed { .. } => {
                self.note(Event::Left);
                self.flush = None;
                if self.wants {
                    self.join();
                }
            }
            Indication::Refused { .. } => {}
        }
        self.drain(now);
    }

    fn mark(&mut self, now: Instant, mark: &Mark) {
        self.heads = mark.set;
        if let Some(flush) = &mut self.flush {
            flush.heads(now, self.heads);
        }
        self.drain(now);
    }

    fn calls(&mut self) -> Vec<Call> {
        self.drain(Instant(0));
        std::mem::take(&mut self.calls)
    }
}

pub fn views(life: &[Event]) -> Vec<View> {
    let view = |event: &Event| match event {
        Event::View(view) => Some(view.clone()),
        _ => None,
    };
    life.iter().filter_map(view).collect()
}

pub fn new_bus(count: usize, danger: Option<Danger>) -> Bus<Member> {
    let mut bus = Bus::new(count, None, |index| Member::new(bus::member(index), danger));
    bus.settle();
    bus
}

/// `count` members, all in one installed view.
pub fn joined(count: usize, danger: Option<Danger>) -> Bus<Member> {
    let mut bus = new_bus(count, danger);
    for index in 0..count {
        bus.hosts[index].upper.join();
        bus.settle();
    }
    bus
}

/// Lets `span` pass.
pub fn pass(bus: &mut Bus<Member>, span: Duration) {
    bus.now = bus.now + span;
    let now = bus.now;
    for host in &mut bus.hosts {
        host.upper.timeout(now);
    }
}

/// One configuration, prompt members, and time enough.
pub fn heal(bus: &mut Bus<Member>) {
    let count = bus.hosts.len();
    bus.reconfigure(&vec![0; count], 0);
    for _ in 0..60 {
        let now = bus.now;
        for host in &mut bus.hosts {
            host.upper.manner = Manner::Prompt;
            host.upper.answer(now);
        }
        bus.settle();
        pass(bus, Duration::from_secs(60));
        for host in &mut bus.hosts {
            if host.upper.wants && host.upper.view().is_none() {
                host.upper.join();
            }
        }
        bus.settle();
    }
}
