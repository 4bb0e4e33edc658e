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
    Cause, ConfigurationId, Danger, Digest, GroupId, Head, Indication, Instant, MemberId, NodeId, Party,
    Service, ViewId,
};
use folkmoot_group::{Config, Group, Mark, Output};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
            let mut group = Group::new(Config { danger: danger.into(), ..Config::new(node(index)) });
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
            let host = &mut self.hosts[index];
            let me = member(index);
            let calls = host.upper.calls();
            let quiet = calls.is_empty();
            for call in calls {
                // A member may be told that it is out just after it has sent something: refusals
                // are not failures here.
                let _ = match call {
                    Call::Join => host.group.join(me, GROUP),
                    Call::Leave => host.group.leave(me, GROUP),
                    Call::Send(service, bytes) => host.group.send(me, GROUP, service, bytes),
                    Call::Complain(view, suspect) => host.group.complain(me, GROUP, view, suspect),
                };
            }
            let Some(output) = host.group.poll_output() else {
                if quiet {
                    return;
                }
                continue;
            };
            self.output(index, output);
        }
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
