//! Members that share one view and one log: every member hears everything. A liar or a silent
//! member may be among them.

use crate::forward::FromDisk;

use super::{GROUP, Over, Seeded, Stamper, certificate, member, number, stamped, view_id};
use bytes::Bytes;
use folkmoot_base::{
    Blob, Cause, Danger, Digest, Entropy, GroupId, Instant, MemberId, Party, Persist, Service,
    SignatureBytes, ViewId, codec,
};
use folkmoot_keying::message::{CONFIRM, Envelope, binding};
use folkmoot_keying::{Config, Credentials, Input, Keying, KeyingError, Output, Terms, View};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub struct Table {
    /// The party of each number.
    pub seat: fn(usize) -> Party,
    pub keyings: Vec<Keying>,
    pub log: VecDeque<(usize, Bytes)>,
    pub heard: Vec<(usize, Bytes)>,
    pub services: Vec<(u8, Service)>,
    pub outputs: Vec<Vec<Output>>,
    pub errors: Vec<Vec<KeyingError>>,
    pub now: Instant,
    pub draw: Seeded,
    /// The members that the roster has lost, the same at all members: an entry has its place in the
    /// order.
    pub off: BTreeSet<usize>,
    /// At whom whose term is over: each member asks its own clock.
    pub ended: BTreeSet<(usize, usize)>,
    /// What the charter says, the same at all members.
    pub terms: Terms,
    pub group: GroupId,
    /// What each member was given, in order.
    pub given: Vec<(usize, Given)>,
    /// Everything that anybody kept.
    pub disks: Vec<Vec<u8>>,
    /// Members whose randomness is their own, and none.
    pub own_draw: BTreeMap<usize, FromDisk>,
    /// Members that accept a stamp under one of these keys as anyone's signature. Nobody should.
    pub believed: Vec<[u8; 32]>,
}

/// An input that can be given again.
pub enum Given {
    View(View),
    Message(usize, Bytes),
    FlushRequest,
    SecureFlushOk,
    Signal,
    Refresh,
    Timeout,
}

impl Given {
    fn of(input: &Input, number: impl Fn(&Party) -> usize) -> Self {
        match input {
            Input::View(view) => Self::View(view.clone()),
            Input::Message { sender, bytes } => Self::Message(number(sender), bytes.clone()),
            Input::FlushRequest => Self::FlushRequest,
            Input::SecureFlushOk => Self::SecureFlushOk,
            Input::TransitionalSignal => Self::Signal,
            Input::Refresh => Self::Refresh,
            Input::Timeout => Self::Timeout,
        }
    }

    pub fn input(&self, seat: fn(usize) -> Party) -> Input {
        match self {
            Self::View(view) => Input::View(view.clone()),
            Self::Message(from, bytes) => Input::Message { sender: seat(*from), bytes: bytes.clone() },
            Self::FlushRequest => Input::FlushRequest,
            Self::SecureFlushOk => Input::SecureFlushOk,
            Self::Signal => Input::TransitionalSignal,
            Self::Refresh => Input::Refresh,
            Self::Timeout => Input::Timeout,
        }
    }
}

pub fn view(order: u64, n: usize) -> View {
    let members: Vec<_> = (0..n).map(member).collect();
    View {
        id: view_id(order),
        brought: vec![Bytes::new(); members.len()],
        transitional_set: members.clone(),
        last: member(0),
        members,
        cause: Cause::Join,
    }
}

pub fn bound(id: &ViewId, attempt: u32, n: usize) -> Digest {
    let pairs: Vec<_> = (0..n).map(|k| (member(k), certificate(&member(k).member))).collect();
    binding(id, attempt, &pairs, &vec![Bytes::new(); n], 1, ["gdh", "aes-256-gcm"])
}

/// Signs an altered message again, as its sender can. Nobody signs a confirmation.
pub fn signed(mut envelope: Envelope, from: usize, n: usize) -> Bytes {
    let binding = bound(&envelope.view, envelope.attempt, n);
    if envelope.step != CONFIRM {
        envelope.signature = Stamper(from).sign(&envelope.signed_content(&binding, from));
    }
    codec::encode(&envelope).into()
}

pub fn with_body(bytes: &Bytes, from: usize, n: usize, change: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut envelope = Envelope::decode(bytes).unwrap();
    let mut body = envelope.body.0.to_vec();
    change(&mut body);
    envelope.body = Blob::from(body);
    signed(envelope, from, n)
}

pub fn step(bytes: &Bytes) -> u8 {
    Envelope::decode(bytes).unwrap().step
}

/// The key in an output.
pub fn key(output: &Output) -> Option<[u8; 32]> {
    match output {
        Output::SecureView(view) => Some(*view.epoch.key.expose()),
        Output::Refreshed { epoch, .. } => Some(*epoch.key.expose()),
        _ => None,
    }
}

struct Believes<'a> {
    over: Over<'a>,
    keys: &'a [[u8; 32]],
    /// Whose terms are over by this member's clock.
    ended: BTreeSet<MemberId>,
}

impl Credentials for Believes<'_> {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        self.over.sign(message)
    }
    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool {
        let believed = self.keys.iter().any(|key| stamped(key, message) == *signature);
        believed || self.over.verify(member, message, signature)
    }
    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        self.over.certificate(member).filter(|_| !self.ended.contains(member))
    }
    fn is_out(&self, member: &MemberId) -> bool {
        self.over.certificate(member).is_none()
    }
    fn terms(&self) -> Terms {
        self.over.terms()
    }
}

impl Table {
    pub fn new(n: usize, danger: Option<Danger>) -> Self {
        Self::of_group(GROUP, n, danger)
    }

    pub fn of_group(group: GroupId, n: usize, danger: Option<Danger>) -> Self {
        Self::seated(group, n, danger, member)
    }

    /// The same, of other parties.
    pub fn seated(group: GroupId, n: usize, danger: Option<Danger>, seat: fn(usize) -> Party) -> Self {
        let config = Config { danger: danger.into(), ..Config::default() };
        Self {
            keyings: (0..n).map(|k| Keying::new(seat(k), group, config.clone(), None).unwrap()).collect(),
            seat,
            group,
            believed: Vec::new(),
            given: Vec::new(),
            disks: Vec::new(),
            own_draw: BTreeMap::new(),
            log: VecDeque::new(),
            heard: Vec::new(),
            services: Vec::new(),
            outputs: (0..n).map(|_| Vec::new()).collect(),
            errors: vec![Vec::new(); n],
            now: Instant(0),
            draw: Seeded(5),
            off: BTreeSet::new(),
            ended: BTreeSet::new(),
            terms: Stamper(0).terms(),
        }
    }

    pub fn give(&mut self, to: usize, input: Input) -> Result<(), KeyingError> {
        let ended = self.ended.iter().filter(|(at, _)| *at == to).map(|(_, gone)| (self.seat)(*gone).member);
        let credentials = Believes {
            over: Over(Stamper::of(&(self.seat)(to)), &self.off, self.terms),
            keys: &self.believed,
            ended: ended.collect(),
        };
        self.given.push((to, Given::of(&input, number)));
        let draw: &mut dyn Entropy = match self.own_draw.get_mut(&to) {
            Some(own) => own,
            None => &mut self.draw,
        };
        let result = self.keyings[to].handle(self.now, input, &credentials, draw);
        while let Some(output) = self.keyings[to].poll_output() {
            if let Output::Send { service, bytes } = &output {
                self.services.push((step(bytes), *service));
                self.log.push_back((to, bytes.clone()));
            }
            if let Output::Persist(Persist { value: Some(value), .. }) = &output {
                self.disks.push(value.to_vec());
            }
            self.outputs[to].push(output);
        }
        result
    }

    pub fn all(&mut self, input: impl Fn(usize) -> Input) {
        for to in 0..self.keyings.len() {
            self.give(to, input(to)).unwrap();
        }
    }

    pub fn start(&mut self, order: u64) {
        let n = self.keyings.len();
        self.all(|_| Input::View(view(order, n)));
    }

    pub fn say(&mut self, to: usize, from: usize, bytes: &Bytes) -> Result<(), KeyingError> {
        self.give(to, Input::Message { sender: (self.seat)(from), bytes: bytes.clone() })
    }

    /// The view of these members, all of whom came along, with what each said when it last answered
    /// a flush.
    pub fn view_of(&self, order: u64, members: &[usize]) -> View {
        let said = |of: &usize| {
            let brings = self.outputs[*of].iter().rev().find_map(|output| match output {
                Output::FlushOk { brings } => Some(brings.clone()),
                _ => None,
            });
            brings.unwrap_or_default()
        };
        let brought = members.iter().map(said).collect();
        let members: Vec<_> = members.iter().map(|number| (self.seat)(*number)).collect();
        let id = ViewId { group: self.group, ..view_id(order) };
        View { id, members: members.clone(), transitional_set: members, brought, ..view(order, 1) }
    }

    /// Gives these members their view.
    pub fn install(&mut self, order: u64, members: &[usize]) {
        for to in members {
            let view = self.view_of(order, members);
            self.give(*to, Input::View(view)).unwrap();
        }
    }

    /// Delivers everything, through `filter`, which may alter or drop.
    pub fn run(&mut self, mut filter: impl FnMut(usize, &Bytes) -> Option<Bytes>) {
        while let Some((from, bytes)) = self.log.pop_front() {
            let Some(bytes) = filter(from, &bytes) else { continue };
            for to in 0..self.keyings.len() {
                if let Err(error) = self.say(to, from, &bytes) {
                    self.errors[to].push(error);
                }
            }
            self.heard.push((from, bytes));
        }
    }

    pub fn honest(&mut self) {
        self.run(|_, bytes| Some(bytes.clone()));
    }

    /// Ends the view: flush, answers.
    pub fn flush(&mut self) {
        self.all(|_| Input::FlushRequest);
        self.all(|_| Input::SecureFlushOk);
    }

    /// The time of the first member's step is over, for all.
    pub fn late(&mut self) {
        self.now = self.keyings[0].poll_timeout().unwrap();
        self.all(|_| Input::Timeout);
    }

    pub fn keys(&self) -> Vec<Option<[u8; 32]>> {
        self.outputs.iter().map(|outputs| outputs.iter().rev().find_map(key)).collect()
    }

    pub fn complaints(&self, of: usize) -> Vec<Vec<Party>> {
        let complaint = |output: &Output| match output {
            Output::Complain { suspects, .. } => Some(suspects.clone()),
            _ => None,
        };
        self.outputs[of].iter().filter_map(complaint).collect()
    }
}
