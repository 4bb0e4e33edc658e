//! A model of the ring, for tests: nodes in components, one log for each configuration, and a
//! cursor into it for each node.
//!
//! A change of configuration follows extended virtual synchrony. The nodes that go on together
//! deliver the same up to one line (the furthest of any of them), then the signal, then the rest of
//! the log up to a hole, and beyond the hole only what they sent themselves. Messages that were
//! submitted and not yet ordered stay in the queue. Above each node is one member with the same
//! key; the test decides what that member is ([`Upper`]). Transcripts are sets of small
//! items.

use bytes::Bytes;
use folkmoot_base::{
    Cause, ConfigurationId, Danger, Digest, GroupId, Head, Indication, Instant, Join, MemberId, NodeId,
    Party, Said, Says, Service, ToySignatures, ViewId, Word,
};
use folkmoot_group::message::{Control, Declaration, Declared, Joined, Scope, SignedJoin, Stamp};
use folkmoot_group::{Config, Group, Mark, Output};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What a member asks of its node.
pub enum Call {
    Join,
    Leave,
    Send(Service, Bytes),
    Complain(ViewId, Party),
}

/// The member above a node.
pub trait Upper {
    fn indication(&mut self, now: Instant, indication: Indication);
    /// The transcript of the node below has changed.
    fn mark(&mut self, _: Instant, _: &Mark) {}
    fn calls(&mut self) -> Vec<Call>;
}

pub const GROUP: GroupId = GroupId([7; 32]);
/// Of the ring's charter.
pub const RING: GroupId = GroupId([8; 32]);

/// The settings of a node whose signatures anybody can make.
pub fn config(me: NodeId, danger: Option<Danger>) -> Config {
    let signatures = Arc::new(ToySignatures(me.0));
    Config { danger: danger.into(), ..Config::new(me, RING, signatures) }
}

/// A word that `party` signed.
pub fn said(party: Party, number: u64, says: Says) -> Said {
    signed_by(party.member, party, number, says)
}

/// A word of `party` that somebody else signed.
pub fn signed_by(signer: MemberId, party: Party, number: u64, says: Says) -> Said {
    Said::sign(Word { party, number, says }, &ToySignatures(signer.0))
}

/// What `node` says of itself, for the tables of a carried charter.
pub fn declared_for(tables: GroupId, node: NodeId, says: Declaration) -> Control {
    Control::Node(Declared::sign(says, Scope { ring: RING, tables }, &ToySignatures(node.0)))
}

/// What `node` says of itself.
pub fn declared(node: NodeId, says: Declaration) -> Control {
    declared_for(RING, node, says)
}

pub fn node(index: usize) -> NodeId {
    NodeId([u8::try_from(index + 1).unwrap(); 32])
}

/// The party with the key of node `index`.
pub fn member(index: usize) -> Party {
    node(index).member().into()
}

/// An item that does nothing.
pub fn item(number: u8) -> Bytes {
    Bytes::from(vec![0, number])
}

/// An item that removes the member of node `index`.
pub fn removal(index: usize) -> Bytes {
    Bytes::from(vec![1, u8::try_from(index).unwrap()])
}

fn name(item: &Bytes) -> Digest {
    folkmoot_base::digest(&[item])
}

/// The mark of a transcript on line `line` with these items.
fn mark(line: u8, items: &BTreeSet<Bytes>) -> Mark {
    let names: Vec<Digest> = items.iter().map(name).collect();
    let set = folkmoot_base::digest(&names.iter().map(<[u8; 32]>::as_slice).collect::<Vec<_>>());
    Mark::new(Head { number: 0, digest: [line; 32] }, set, names)
}

fn rostered(items: &BTreeSet<Bytes>, member: MemberId) -> bool {
    !items.iter().any(|item| item[0] == 1 && node(usize::from(item[1])).member() == member)
}

/// `party` in the State of `node`, with its signed join.
pub fn joined_at(node: NodeId, party: Party, group: GroupId, stamp: Stamp) -> Joined {
    let (configuration, number) = (configuration_of(1), stamp.order + 1);
    let says = Says::Join(Join { group, node, configuration });
    let proof = said(party, number, says).proof;
    Joined { party, stamp, join: SignedJoin { configuration, number, proof } }
}

/// A configuration that the first node made.
pub fn configuration_of(ring_seq: u64) -> ConfigurationId {
    ConfigurationId { ring_seq, representative: node(0), nonce: [0; 16] }
}

pub struct Host<U> {
    pub group: Group,
    pub upper: U,
    pub items: BTreeSet<Bytes>,
    /// On which line its transcript is.
    line: u8,
    /// How often it was asked to provide.
    pub asked: usize,
    /// Messages refused at this node.
    pub refused: usize,
    queue: VecDeque<(Service, Bytes)>,
    ring: usize,
    /// The number of its member's last word.
    pub number: u64,
    /// Its member asked to join.
    wants: bool,
}

struct Ring {
    id: ConfigurationId,
    members: BTreeSet<usize>,
    log: Vec<(usize, Service, Bytes)>,
    cursors: BTreeMap<usize, usize>,
}

pub struct Bus<U> {
    pub hosts: Vec<Host<U>>,
    pub now: Instant,
    rings: Vec<Ring>,
}

impl<U: Upper> Bus<U> {
    /// `count` nodes, all in one configuration, with an attached member each.
    pub fn new(count: usize, danger: Option<Danger>, mut upper: impl FnMut(usize) -> U) -> Self {
        let host = |index: usize| {
            let mut group = Group::new(config(node(index), danger));
            group.attach(member(index)).unwrap();
            group.mark(mark(0, &BTreeSet::new()));
            let upper = upper(index);
            Host {
                group,
                upper,
                items: BTreeSet::new(),
                line: 0,
                asked: 0,
                refused: 0,
                queue: VecDeque::new(),
                ring: usize::MAX,
                number: 0,
                wants: false,
            }
        };
        let hosts = (0..count).map(host).collect();
        let mut bus = Self { hosts, now: Instant(0), rings: Vec::new() };
        bus.install(&(0..count).collect());
        bus
    }

    /// Handles what the members and the group ask for, until both are quiet.
    pub fn pump(&mut self, index: usize) {
        loop {
            let calls = self.hosts[index].upper.calls();
            let quiet = calls.is_empty();
            for call in calls {
                self.call(index, call);
            }
            let Some(output) = self.hosts[index].group.poll_output() else {
                if quiet {
                    return;
                }
                continue;
            };
            self.output(index, output);
        }
    }

    /// A member may be told that it is out just after it has sent something: refusals are not
    /// failures here.
    fn call(&mut self, index: usize, call: Call) {
        let configuration = self.configuration(index);
        let says = match call {
            Call::Join => Says::Join(Join { group: GROUP, node: node(index), configuration }),
            Call::Leave => Says::Leave { group: GROUP },
            Call::Complain(view, suspect) => Says::Complain { configuration, view, suspect },
            Call::Send(service, bytes) => {
                let _ = self.hosts[index].group.send(member(index), GROUP, service, bytes, 0);
                return;
            }
        };
        self.say(index, says);
    }

    /// The member of node `index` says this.
    pub fn say(&mut self, index: usize, says: Says) {
        let host = &mut self.hosts[index];
        match says {
            Says::Join(_) => host.wants = true,
            Says::Leave { .. } => host.wants = false,
            _ => {}
        }
        host.number += 1;
        let _ = host.group.say(said(member(index), host.number, says));
    }

    /// The configuration in which node `index` is.
    pub fn configuration(&self, index: usize) -> ConfigurationId {
        self.rings[self.hosts[index].ring].id
    }

    /// A node that forges packets has this ordered in the name of another.
    pub fn forge(&mut self, victim: usize, control: &Control) {
        let bytes = folkmoot_group::message::encode(control);
        let ring = self.hosts[victim].ring;
        self.rings[ring].log.push((victim, Service::Agreed, bytes));
    }

    /// What the ring that node `index` is in has ordered so far.
    pub fn log(&self, index: usize) -> Vec<Bytes> {
        self.rings[self.hosts[index].ring].log.iter().map(|(_, _, bytes)| bytes.clone()).collect()
    }

    /// What the first ring ordered.
    pub fn first_log(&self) -> Vec<Bytes> {
        self.rings[0].log.iter().map(|(_, _, bytes)| bytes.clone()).collect()
    }

    fn output(&mut self, index: usize, output: Output) {
        let (now, host) = (self.now, &mut self.hosts[index]);
        match output {
            Output::Submit { service, lead, payload, .. } => {
                host.queue.push_back((service, [lead.as_slice(), &payload].concat().into()));
            }
            Output::Member { to, indication } => {
                assert_eq!(to, member(index));
                host.upper.indication(now, indication);
            }
            Output::Item(item) => self.take(index, item),
            Output::Reconcile { behind } => {
                host.asked += 1;
                for item in host.items.clone() {
                    if behind.iter().any(|mark| mark.head.digest[0] == host.line && !mark.has(&name(&item))) {
                        host.group.item(&item).unwrap();
                    }
                }
            }
            Output::Carries { .. } | Output::Trace(_) => {}
        }
    }

    fn take(&mut self, index: usize, item: Bytes) {
        let (now, host) = (self.now, &mut self.hosts[index]);
        if !host.items.insert(item.clone()) {
            return;
        }
        let mark = mark(host.line, &host.items);
        host.group.mark(mark.clone());
        if item[0] == 1 {
            host.group.roster_changed(&[(node(usize::from(item[1])).member(), Cause::Expelled)]);
        }
        host.upper.mark(now, &mark);
    }

    /// The transcript of this node is on another line from now on.
    pub fn fork(&mut self, index: usize, line: u8) {
        let host = &mut self.hosts[index];
        host.line = line;
        host.group.mark(mark(line, &host.items));
    }

    /// The node's next submitted message gets its place.
    pub fn order(&mut self, index: usize) -> bool {
        let host = &mut self.hosts[index];
        let Some((service, bytes)) = host.queue.pop_front() else { return false };
        self.rings[host.ring].log.push((index, service, bytes));
        true
    }

    /// The node delivers the next message of its configuration.
    pub fn deliver(&mut self, index: usize) -> bool {
        let ring = &mut self.rings[self.hosts[index].ring];
        let place = ring.cursors[&index];
        let Some((sender, service, bytes)) = ring.log.get(place).cloned() else { return false };
        ring.cursors.insert(index, place + 1);
        let id = ring.id;
        self.hand(index, id, place, sender, service, bytes);
        true
    }

    fn hand(
        &mut self,
        index: usize,
        id: ConfigurationId,
        place: usize,
        sender: usize,
        service: Service,
        bytes: Bytes,
    ) {
        let host = &mut self.hosts[index];
        let items = &host.items;
        let holds = |member: MemberId| rostered(items, member);
        let order = u64::try_from(place).unwrap();
        if host.group.deliver(id, Some(order), node(sender), service, bytes, &holds).is_err() {
            host.refused += 1;
        }
        self.pump(index);
    }

    /// `place[i]` says which component node `i` is in from now on; `hole` says where each old log
    /// is cut.
    pub fn reconfigure(&mut self, place: &[usize], hole: usize) {
        let parts: BTreeSet<usize> = place.iter().copied().collect();
        let parts: Vec<BTreeSet<usize>> = parts
            .iter()
            .map(|part| (0..self.hosts.len()).filter(|index| place[*index] == *part).collect())
            .collect();
        for part in &parts {
            let old: BTreeSet<usize> = part.iter().map(|index| self.hosts[*index].ring).collect();
            for ring in old {
                let together: BTreeSet<usize> =
                    part.intersection(&self.rings[ring].members).copied().collect();
                self.recover(ring, &together, hole);
            }
        }
        for part in &parts {
            self.install(part);
        }
    }

    fn recover(&mut self, ring: usize, together: &BTreeSet<usize>, hole: usize) {
        let (id, log) = (self.rings[ring].id, self.rings[ring].log.clone());
        let line = together.iter().map(|index| self.rings[ring].cursors[index]).max().unwrap();
        let hole = line + hole % (log.len() - line + 1);
        let survivors: Vec<NodeId> = together.iter().map(|index| node(*index)).collect();
        for index in together {
            while self.rings[ring].cursors[index] < line {
                self.deliver(*index);
            }
            self.hosts[*index].group.transitional(&survivors);
            self.pump(*index);
            for (place, (sender, service, bytes)) in log.iter().enumerate().skip(line) {
                if place < hole || together.contains(sender) {
                    self.hand(*index, id, place, *sender, *service, bytes.clone());
                }
            }
        }
    }

    fn install(&mut self, part: &BTreeSet<usize>) {
        let ring_seq = u64::try_from(self.rings.len()).unwrap() + 1;
        let id = ConfigurationId { ring_seq, representative: node(*part.first().unwrap()), nonce: [0; 16] };
        let members: Vec<NodeId> = part.iter().map(|index| node(*index)).collect();
        let cursors = part.iter().map(|index| (*index, 0)).collect();
        self.rings.push(Ring { id, members: part.clone(), log: Vec::new(), cursors });
        for index in part {
            let host = &mut self.hosts[*index];
            host.ring = self.rings.len() - 1;
            let items = &host.items;
            host.group.regular(id, &members, &|member: MemberId| rostered(items, member));
            // A join counts in the configuration that it names.
            if host.wants && !host.group.members(GROUP).contains(&member(*index)) {
                self.call(*index, Call::Join);
            }
            self.pump(*index);
        }
    }

    /// Orders and delivers everything, until nobody has anything to send.
    pub fn settle(&mut self) {
        for _ in 0..100_000 {
            let mut busy = false;
            for index in 0..self.hosts.len() {
                self.pump(index);
                busy |= self.order(index);
            }
            for index in 0..self.hosts.len() {
                while self.deliver(index) {
                    busy = true;
                }
            }
            if !busy {
                return;
            }
        }
        panic!("never quiet");
    }
}
