//! A group of real members in this process, on UDP over loopback: what `folkmoot bench keying`
//! measures.
//!
//! As on the machines of a large group, each node carries several members, evenly. Folders, stores,
//! sockets and links are the nodes'. Everything above is each member's own.

use crate::meter::{Metered, Meters, Work};
use crate::people::{People, Rules};
use folkmoot::tools::{Attached, Command, Handle, MemberStack, Node, OpenOptions, Opened, Timing, prepare};
use folkmoot::{Event, Faults, GroupId, Locator, Party, Service, StateFolder};
use folkmoot_agreement::ModuleName;
use folkmoot_cli::children::Workshop;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::Identity;
use folkmoot_signing::Scheme;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Nodes, unless told otherwise or fewer members.
pub(crate) const NODES: usize = 16;
/// What was begun before is over after this.
const QUIET: Duration = Duration::from_millis(30);
/// Most sightings that wait to be looked at.
const SEEN_MAX: usize = 8_192;
/// So many members share two processors without a node falling silent for as long as a ring waits
/// usually.
const EASY: f64 = 48.0;

type Ground = Metered<Node>;
type Upper = Metered<Attached<MemberStack>>;

/// What a member saw.
enum Seen {
    View(BTreeSet<Party>),
    Heard,
}

/// One node: its event loop runs in a task, orders go by its handle.
struct Place {
    host: Party,
    members: Vec<Party>,
    at: Locator,
    handle: Handle<Ground, Upper>,
    faults: Faults,
}

/// What one change took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    pub(crate) work: Work,
}

/// The members of one group.
pub(crate) struct Crew {
    places: Vec<Place>,
    /// Oldest in the group first.
    members: Vec<Party>,
    group: GroupId,
    seen: mpsc::Receiver<(Party, Seen)>,
    meters: Meters,
    limit: Duration,
    late: Instant,
    #[expect(dead_code, reason = "held as long as the members run")]
    workshop: Workshop,
}

/// Longest wait for one change: work grows with the square of the size at most, and processors are
/// few.
fn limit(size: usize) -> Duration {
    Duration::from_secs(60)
        + Duration::from_millis(2_500).saturating_mul(u32::try_from(size).unwrap_or(u32::MAX))
}

/// How much longer than usual a ring waits: a node works through what others' members say to its
/// own before it hands on the token, and all nodes share the processors.
fn slowness(size: usize) -> f64 {
    (size as f64 / EASY).powi(2).max(1.0)
}

/// How long the ring of so many members in one process waits.
pub(crate) fn timing(size: usize) -> Timing {
    let (usual, slow) = (Timing::default(), slowness(size));
    Timing {
        // All share one process: nobody is missed while it works for another.
        token_loss: (usual.token_loss * 5 / 2).mul_f64(slow),
        token_repeat: usual.token_repeat.mul_f64(slow),
        consensus: usual.consensus.mul_f64(slow),
        commit: usual.commit.mul_f64(slow),
        stall: usual.stall.mul_f64(slow),
        ..usual
    }
}

/// Which node each of `size` members lives on: spread evenly, and evenly over the two halves of the
/// nodes.
fn spread(size: usize, nodes: usize) -> Vec<usize> {
    let half = nodes.div_ceil(2);
    let order: Vec<usize> =
        (0..half).flat_map(|node| [node, node + half]).filter(|node| *node < nodes).collect();
    (0..size).filter_map(|number| order.get(number % nodes.max(1)).copied()).collect()
}

impl Crew {
    /// `size` members of a group with this module on so many nodes, all in one view.
    pub(crate) async fn found(module: ModuleName, size: usize, nodes: usize) -> Result<Self, Failure> {
        let workshop = Workshop::open("bench-keying", false)?;
        let silence = Duration::from_millis(1_500).mul_f64(slowness(size));
        let people = People::new(
            &Rules {
                module: Some(module),
                scheme: Scheme::Plain,
                votes: 1,
                central: None,
                keys: folkmoot_identity::KeyAlgorithm::P256,
            },
            size,
            silence,
        )?;
        let homes = spread(size, nodes);
        let (tell, seen) = mpsc::channel(SEEN_MAX);
        let meters = Meters::default();
        let mut places = Vec::new();
        for number in 0..nodes {
            let here = people.identities.iter().zip(&homes).filter(|(_, home)| **home == number);
            let here: Vec<Identity> = here.map(|(one, _)| one.clone()).collect();
            let path = workshop.path().join(format!("node{number}"));
            places.push(hire(&path, &people, &here, timing(size), &meters, tell.clone())?);
        }
        let members = people.identities.iter().map(|one| one.member().into()).collect();
        let (group, limit) = (people.charter.charter().group(), limit(size));
        let late = Instant::now() + limit;
        let mut crew = Self { places, members, group, seen, meters, limit, late, workshop };
        crew.gather().await?;
        Ok(crew)
    }

    /// The members of each node find one another first, then the nodes: few views on the way.
    async fn gather(&mut self) -> Result<(), Failure> {
        let mut wanted: BTreeMap<Party, BTreeSet<Party>> = BTreeMap::new();
        for place in &self.places {
            let here: BTreeSet<Party> = place.members.iter().copied().collect();
            for member in &place.members {
                wanted.insert(*member, here.clone());
                place.handle.command((*member, Command::Join { group: self.group })).await?;
            }
        }
        self.expect(wanted).await?;
        for (number, place) in self.places.iter().enumerate() {
            for other in self.places.iter().take(number) {
                place.handle.command((place.host, Command::Dial(other.at.clone()))).await?;
            }
        }
        self.all_see(self.ids(0..self.size())).await
    }

    fn ids(&self, places: std::ops::Range<usize>) -> BTreeSet<Party> {
        self.members.get(places).unwrap_or_default().iter().copied().collect()
    }

    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// Members on each side when the nodes are cut into halves.
    pub(crate) fn halves(&self) -> (usize, usize) {
        let (left, right) = self.places.split_at(self.places.len().div_ceil(2));
        let count = |places: &[Place]| places.iter().map(|place| place.members.len()).sum();
        (count(left), count(right))
    }

    /// Until each of these has seen a view of exactly these.
    async fn all_see(&mut self, members: BTreeSet<Party>) -> Result<(), Failure> {
        self.expect(members.iter().map(|member| (*member, members.clone())).collect()).await
    }

    /// Until each has seen a view of exactly those that it is to see. Views of both sides may come
    /// mixed.
    async fn expect(&mut self, mut wanted: BTreeMap<Party, BTreeSet<Party>>) -> Result<(), Failure> {
        while !wanted.is_empty() {
            let missing = wanted.len();
            if let (one, Seen::View(view)) = self.next(missing).await?
                && wanted.get(&one) == Some(&view)
            {
                wanted.remove(&one);
            }
        }
        Ok(())
    }

    async fn next(&mut self, missing: usize) -> Result<(Party, Seen), Failure> {
        let left = self.late.saturating_duration_since(Instant::now());
        let late = |_| {
            let (limit, size) = (self.limit.as_secs(), self.members.len());
            let text = format!("{missing} of {size} members were not done after {limit} s");
            Failure::new(Exit::TimedOut, text)
        };
        let next = tokio::time::timeout(left, self.seen.recv()).await.map_err(late)?;
        next.ok_or_else(|| Failure::new(Exit::Unreachable, "a node has stopped"))
    }

    /// Lets what was begun come to its end, and forgets what was seen of it. The next change has
    /// its whole time.
    async fn quiet(&mut self) {
        tokio::time::sleep(QUIET).await;
        while self.seen.try_recv().is_ok() {}
        self.late = Instant::now() + self.limit;
    }

    /// Puts the members in the order of the run that they hold: by age, where the module has ages.
    pub(crate) async fn by_rank(&mut self) -> Result<(), Failure> {
        let group = self.group;
        let mut ranks: BTreeMap<Party, Option<u32>> = BTreeMap::new();
        for place in &self.places {
            let told = place.handle.look(move |machine, _, _| {
                let all = machine.upper.stack.members();
                all.map(|(member, seat)| (*member, seat.member.rank(group))).collect::<Vec<_>>()
            });
            ranks.extend(told.await?);
        }
        self.members.sort_by_key(|member| (ranks.get(member).copied().flatten(), *member));
        Ok(())
    }

    fn place_of(&self, member: &Party) -> Result<&Place, Failure> {
        let place = self.places.iter().find(|place| place.members.contains(member));
        place.ok_or_else(|| Failure::bug("no such member"))
    }

    fn hand(&self, place: usize) -> Result<Party, Failure> {
        self.members.get(place).copied().ok_or_else(|| Failure::bug("no such member"))
    }

    async fn order(&self, member: Party, command: Command) -> Result<(), Failure> {
        self.place_of(&member)?.handle.command((member, command)).await?;
        Ok(())
    }

    /// The member at `place` by age leaves; until the others have their view.
    pub(crate) async fn leave(&mut self, place: usize) -> Result<Spent, Failure> {
        self.quiet().await;
        let gone = self.hand(place)?;
        let mut rest = self.ids(0..self.size());
        rest.remove(&gone);
        let began = Began::now(&self.meters);
        self.order(gone, Command::Leave { group: self.group }).await?;
        self.all_see(rest).await?;
        Ok(began.spent(&self.meters))
    }

    /// The member at `place`, which has left, comes back, and is the newest from then on.
    pub(crate) async fn join(&mut self, place: usize) -> Result<Spent, Failure> {
        self.quiet().await;
        let back = self.hand(place)?;
        self.members.retain(|member| *member != back);
        self.members.push(back);
        let all = self.ids(0..self.size());
        let began = Began::now(&self.meters);
        self.order(back, Command::Join { group: self.group }).await?;
        self.all_see(all).await?;
        Ok(began.spent(&self.meters))
    }

    /// A new key in the same view; until all have it.
    pub(crate) async fn refresh(&mut self) -> Result<Spent, Failure> {
        self.quiet().await;
        let before = self.epochs().await?;
        let first = self.hand(0)?;
        // Looking costs something, too: not more than it must.
        let pause = Duration::from_micros(500).mul_f64(slowness(self.size()));
        let began = Began::now(&self.meters);
        self.order(first, Command::Refresh { group: self.group }).await?;
        while !self.epochs().await?.is_disjoint(&before) {
            if Instant::now() > self.late {
                let text = format!("the key was not renewed within {} s", self.limit.as_secs());
                return Err(Failure::new(Exit::TimedOut, text));
            }
            tokio::time::sleep(pause).await;
        }
        Ok(began.spent(&self.meters))
    }

    async fn epochs(&self) -> Result<BTreeSet<Option<String>>, Failure> {
        let (group, mut epochs) = (self.group, BTreeSet::new());
        for place in &self.places {
            let told = place.handle.look(move |machine, _, _| {
                let all = machine.upper.stack.members();
                all.map(|(_, seat)| seat.member.epoch(group).map(str::to_owned)).collect::<BTreeSet<_>>()
            });
            epochs.extend(told.await?);
        }
        Ok(epochs)
    }

    /// The nodes are cut into two halves, whose members have views of their own; from the end of
    /// the cut to one view.
    pub(crate) async fn merge(&mut self) -> Result<Spent, Failure> {
        self.quiet().await;
        let (left, right) = self.places.split_at(self.places.len().div_ceil(2));
        let mut wanted = BTreeMap::new();
        for (here, there) in [(left, right), (right, left)] {
            let there: Vec<Locator> = there.iter().map(|place| place.at.clone()).collect();
            here.iter().for_each(|place| place.faults.cut(there.iter().cloned()));
            let members = || here.iter().flat_map(|place| place.members.iter().copied());
            wanted.extend(members().map(|member| (member, members().collect())));
        }
        self.expect(wanted).await?;
        self.quiet().await;
        let all = self.ids(0..self.size());
        let began = Began::now(&self.meters);
        self.places.iter().for_each(|place| place.faults.heal());
        self.all_see(all).await?;
        Ok(began.spent(&self.meters))
    }

    /// From sending one message to hearing it oneself, with nothing else on the ring.
    pub(crate) async fn echo(&mut self, service: Service) -> Result<Duration, Failure> {
        self.quiet().await;
        let (first, group) = (self.hand(0)?, self.group);
        let began = Instant::now();
        self.order(first, Command::Send { group, service, payload: "echo".into(), signed: false }).await?;
        loop {
            if let (one, Seen::Heard) = self.next(1).await?
                && one == first
            {
                return Ok(began.elapsed());
            }
        }
    }
}

/// The start of a change.
struct Began {
    at: Instant,
    work: Work,
}

impl Began {
    fn now(meters: &Meters) -> Self {
        Self { at: Instant::now(), work: meters.read() }
    }

    fn spent(&self, meters: &Meters) -> Spent {
        Spent { wall: self.at.elapsed(), work: meters.read() - self.work }
    }
}

/// A node with its members: the folder of the first of them, with the whole transcript on its disk;
/// its event loop runs.
fn hire(
    path: &std::path::Path,
    people: &People,
    here: &[Identity],
    timing: Timing,
    meters: &Meters,
    tell: mpsc::Sender<(Party, Seen)>,
) -> Result<Place, Failure> {
    let (host, others) = here.split_first().ok_or_else(|| Failure::bug("a node has no members"))?;
    people.furnish(&StateFolder::open(path)?, host)?;
    let options = OpenOptions {
        state: path.to_owned(),
        identity: None,
        listen: ([127, 0, 0, 1], 0).into(),
        seeds: Vec::new(),
        heads: Vec::new(),
        voucher: None,
        endorsement: None,
        carries: Vec::new(),
        replicated: false,
        multicast: false,
        clock_ahead: Duration::ZERO,
        danger_keep_keys: false,
    };
    let others: Vec<(Identity, u16)> = others.iter().map(|one| (one.clone(), 0)).collect();
    let opened = prepare(options, &others, timing)?.start(|node, all| {
        (Metered::new(node, &meters.ground), Metered::new(all.attached(), &meters.upper))
    })?;
    let Opened { mut running, locator: at, faults, lock, .. } = opened;
    let handle = running.handle.clone();
    tokio::spawn(async move {
        let _lock = lock;
        while let Ok(Some((member, event))) = running.next().await {
            let seen = match event {
                Event::View { members, .. } => Seen::View(members.into_iter().collect()),
                Event::Message { .. } => Seen::Heard,
                _ => continue,
            };
            if tell.send((member, seen)).await.is_err() {
                return;
            }
        }
    });
    let members = here.iter().map(|one| one.member().into()).collect();
    Ok(Place { host: host.member().into(), members, at, handle, faults })
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn members_are_spread_evenly_over_nodes_and_halves() {
        for (size, nodes) in [(2, 2), (3, 3), (15, 15), (20, 16), (64, 16), (512, 16), (7, 2)] {
            let homes = spread(size, nodes);
            assert_eq!(homes.len(), size);
            let on = |node: usize| homes.iter().filter(|home| **home == node).count();
            let counts: Vec<usize> = (0..nodes).map(on).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
            let left: usize = counts[..nodes.div_ceil(2)].iter().sum();
            assert!(
                left.abs_diff(size - left) <= 1 + usize::from(nodes % 2 == 1) * size / nodes,
                "{counts:?}"
            );
        }
    }
}
