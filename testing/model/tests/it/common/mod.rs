//! The real flush layer and the real keying machine of one party, joined as the member stack joins
//! them. They report what they do in the model's words.

use bytes::Bytes;
use folkmoot_base::{
    Cause, ConfigurationId, Danger, Digest, Entropy, GroupId, Instant, MemberId, NodeId, Party, Secret,
    Service, SignatureBytes, ToySignatures, ViewId, digest, hmac_sha256,
};
use folkmoot_flush::message::{Control, For, Frame};
use folkmoot_flush::{Flush, Output as Below, message as frames};
use folkmoot_keying::message::Envelope;
use folkmoot_keying::{Config, Credentials, Input, Keying, KeyingError, Output, State, Terms, View};
use folkmoot_model::{Effect, Kind, Ordered, Set, ViewNumber, Who, everybody};
use std::collections::BTreeMap;
use std::sync::Arc;

const GROUP: GroupId = GroupId([9; 32]);
const NOW: Instant = Instant(0);

/// A seeded stream (splitmix64): no security, only repeatable.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }
}

impl Entropy for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let bytes = self.next().to_be_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

fn id(who: Who) -> MemberId {
    let mut id = [0; 32];
    id[31] = who;
    MemberId(id)
}

/// Which party each of the model's members is.
pub type Seats = fn(Who) -> Party;

/// Each is the one party of a member of its own.
pub fn apart(who: Who) -> Party {
    id(who).into()
}

/// The first two are parties of one member. Only where nobody is expelled: the model takes one of
/// them off the roster, where a real expulsion would take both.
pub fn shared(who: Who) -> Party {
    Party::new(id(who / 2), u16::from(who % 2))
}

fn view_id(view: ViewNumber) -> ViewId {
    let order = u64::from(view);
    let configuration = ConfigurationId { ring_seq: order, representative: NodeId([1; 32]), nonce: [2; 16] };
    ViewId { configuration, order, group: GROUP }
}

fn number(view: &ViewId) -> ViewNumber {
    u8::try_from(view.order).unwrap()
}

fn heads(off: Set) -> Digest {
    digest(&[b"heads", &off.iter().collect::<Vec<_>>()])
}

/// The credentials of a member, under a roster that has lost some.
struct Signs(MemberId, Set);

impl Credentials for Signs {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        let mac = hmac_sha256(&digest(&[b"test key", &self.0.0]), &[message]);
        let mut out = [0; 64];
        out[..32].copy_from_slice(&mac);
        out.into()
    }
    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool {
        !self.1.has(member.0[31]) && Signs(*member, self.1).sign(message) == *signature
    }
    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        (!self.1.has(member.0[31])).then(|| digest(&[b"certificate", &member.0]))
    }
    fn terms(&self) -> Terms {
        Terms { charter_version: 1, ..Terms::default() }
    }
}

/// The bytes behind the model's entries, and what the real keys are.
#[derive(Default)]
pub struct Wire {
    flush_oks: BTreeMap<(Who, ViewNumber, Set), Bytes>,
    steps: BTreeMap<(Who, ViewNumber, Kind), (Service, Bytes)>,
    /// Key epochs by the view that was installed with them.
    runs: BTreeMap<Digest, ViewNumber>,
    keys: BTreeMap<ViewNumber, [u8; 32]>,
}

/// A real party.
pub struct Real {
    me: Who,
    seats: Seats,
    flush: Flush,
    keying: Keying,
    off: Set,
    entropy: Seeded,
}

impl Real {
    pub fn new(me: Who, seats: Seats, off: Set, seed: u64, danger: Option<Danger>) -> Self {
        let signatures = Arc::new(ToySignatures(seats(me).member.0));
        let below = folkmoot_flush::Config {
            me: seats(me),
            group: GROUP,
            signatures,
            secret: Secret::new(heads(Set::NONE.with(me))),
            danger: danger.into(),
        };
        let above = Config { danger: danger.into(), ..Config::default() };
        let keying = Keying::new(seats(me), GROUP, above, None).unwrap();
        Self { me, seats, flush: Flush::new(below, heads(off)), keying, off, entropy: Seeded(seed) }
    }

    fn parties(&self, set: Set) -> Vec<Party> {
        set.iter().map(self.seats).collect()
    }

    fn set(&self, parties: &[Party]) -> Set {
        everybody().filter(|who| parties.contains(&(self.seats)(*who))).collect()
    }

    pub fn state(&self) -> State {
        self.keying.state()
    }

    pub fn read(&mut self, entry: Ordered, wire: &mut Wire) -> Vec<Effect> {
        match entry {
            Ordered::Fence | Ordered::Early => {}
            Ordered::Notice { view, members, removed } => {
                let (members, removed) = (self.parties(members), self.parties(removed));
                self.flush.notice(NOW, view_id(view), members, &removed, Cause::Network).unwrap();
            }
            Ordered::Signal { lost } => self.flush.transitional(&self.parties(lost)),
            Ordered::Strike { who } => {
                self.off = self.off.with(who);
                self.flush.heads(NOW, heads(self.off));
            }
            Ordered::FlushOk { from, view, flush_ok } => {
                let bytes = wire.flush_oks[&(from, view, flush_ok.heads)].clone();
                // Refusals are the real layer's own matter: what counts is what it does.
                let _ = self.flush.frame(NOW, (self.seats)(from), Service::Agreed, &bytes);
            }
            Ordered::Reflected { by, of, view } => {
                let (service, bytes) = wire.steps[&(by, view, Kind::Confirm)].clone();
                let _ = self.flush.frame(NOW, (self.seats)(of), service, &bytes);
            }
            Ordered::Step { from, view, kind, .. } => {
                let (service, bytes) = wire.steps[&(from, view, kind)].clone();
                let _ = self.flush.frame(NOW, (self.seats)(from), service, &bytes);
            }
        }
        self.settle(wire)
    }

    pub fn answer(&mut self, wire: &mut Wire) -> Vec<Effect> {
        let mut told = Vec::new();
        self.ask(Input::SecureFlushOk, &mut told);
        told.extend(self.settle(wire));
        told
    }

    fn ask(&mut self, input: Input, told: &mut Vec<Effect>) {
        let result =
            self.keying.handle(NOW, input, &Signs((self.seats)(self.me).member, self.off), &mut self.entropy);
        if let Err(KeyingError::LocalOutOfTurn(_)) = result {
            told.push(Effect::OutOfTurn);
        }
    }

    fn settle(&mut self, wire: &mut Wire) -> Vec<Effect> {
        let mut told = Vec::new();
        loop {
            if let Some(output) = self.flush.poll_output() {
                self.below(output, wire, &mut told);
            } else if let Some(output) = self.keying.poll_output() {
                self.above(output, wire, &mut told);
            } else {
                return told;
            }
        }
    }

    fn below(&mut self, output: Below, wire: &mut Wire, told: &mut Vec<Effect>) {
        match output {
            Below::Multicast { service, bytes } => self.sent(service, bytes, wire, told),
            Below::FlushRequest => {
                told.push(Effect::Asked);
                self.ask(Input::FlushRequest, told);
            }
            Below::TransitionalSignal => {
                told.push(Effect::Signalled);
                self.ask(Input::TransitionalSignal, told);
            }
            Below::Deliver { sender, payload, .. } => {
                self.ask(Input::Message { sender, bytes: payload.freeze() }, told);
            }
            Below::View(view) => {
                let (members, together) = (self.set(&view.members), self.set(&view.transitional_set));
                told.push(Effect::Installed { view: number(&view.id), members, together });
                let folkmoot_flush::View { id, members, transitional_set, brought, last, cause, .. } = *view;
                self.ask(Input::View(View { id, members, transitional_set, brought, last, cause }), told);
            }
            other => panic!("flush says {other:?}"),
        }
    }

    fn sent(&mut self, service: Service, bytes: Bytes, wire: &mut Wire, told: &mut Vec<Effect>) {
        match frames::decode(&bytes).unwrap() {
            Frame::Control(control) => {
                let Control::FlushOk(signed) = control else { return };
                let frames::FlushOk { view, brings, .. } = signed.ok;
                let view = number(&view);
                wire.flush_oks.insert((self.me, view, self.off), bytes);
                let brings = brings.0.get(1..33).map(|run| {
                    let run: Digest = run.try_into().unwrap();
                    (wire.runs[&run], brings.0[36])
                });
                told.push(Effect::FlushOk { view, heads: self.off, brings });
            }
            Frame::Data { payload, .. } => {
                let envelope = Envelope::decode(&payload).unwrap();
                let (view, kind) = (number(&envelope.view), kind(envelope.step));
                wire.steps.insert((self.me, view, kind), (service, bytes));
                told.push(Effect::Step { view, kind, safe: service == Service::Safe });
            }
        }
    }

    fn above(&mut self, output: Output, wire: &mut Wire, told: &mut Vec<Effect>) {
        match output {
            Output::FlushOk { brings } => {
                if self.flush.flush_ok(NOW, brings).is_err() {
                    told.push(Effect::OutOfTurn);
                }
            }
            Output::Send { service, bytes } => {
                if self.flush.send(service, For::Keying, &bytes).is_err() {
                    told.push(Effect::Late);
                }
            }
            Output::SecureFlushRequest => told.push(Effect::AskApplication),
            Output::SecureTransitional => told.push(Effect::SecureSignal),
            Output::SecureView(view) => {
                let (number, key) = (number(&view.id), *view.epoch.key.expose());
                wire.runs.insert(view.epoch.name.0, number);
                assert_eq!(*wire.keys.entry(number).or_insert(key), key, "two keys for view {number}");
                let users = wire.keys.values().filter(|other| **other == key).count();
                assert_eq!(users, 1, "one key for two views");
                told.push(Effect::Secure {
                    view: number,
                    together: self.set(&view.transitional_set),
                    key: 0,
                });
            }
            Output::Persist(_) | Output::Trace(_) => {}
            other => panic!("keying says {other:?}"),
        }
    }
}

fn kind(step: u8) -> Kind {
    match step {
        1 => Kind::Partial,
        2 => Kind::Final,
        3 => Kind::FactOut,
        4 => Kind::KeyList,
        5 => Kind::NewMember,
        200 => Kind::Confirm,
        other => panic!("step {other}"),
    }
}
