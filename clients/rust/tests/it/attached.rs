//! Several parties on each node, on real sockets: three nodes of four parties each agree on one
//! key, hear one order, let parties go and come, part when the ring is cut and meet again; and
//! whoever is silent is set aside, not its neighbours. Three of the four on each node are programs
//! of one member.

use bytes::Bytes;
use folkmoot::tools::{
    Attached, Command, Entropy, Handle, Instant as Now, MemberStack, Node, Note, Opened, OsEntropy, Sending,
    Timing, ToMember, ToNode, Upper, UpperOutput, UpperStack, prepare, wall_clock,
};
use folkmoot::{Cause, Event, Faults, GroupId, GroupName, Locator, Party, Service, StateFolder, UnixTime};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const NODES: usize = 3;
const ON_EACH: usize = 4;
const LIMIT: Duration = Duration::from_secs(60);

/// A member that says nothing to the others while its switch is on.
struct Mutable {
    seat: MemberStack,
    mute: Arc<AtomicBool>,
}

impl Upper for Mutable {
    type Command = Command;
    type Answer = <MemberStack as Upper>::Answer;
    type Event = Event;
    fn node(&mut self, now: Now, message: ToMember, entropy: &mut dyn Entropy) {
        self.seat.node(now, message, entropy);
    }
    fn command(&mut self, now: Now, command: Command, entropy: &mut dyn Entropy) -> Self::Answer {
        self.seat.command(now, command, entropy)
    }
    fn clock(&mut self, now: Now, time: UnixTime, entropy: &mut dyn Entropy) {
        self.seat.clock(now, time, entropy);
    }
    fn timeout(&mut self, now: Now, entropy: &mut dyn Entropy) {
        self.seat.timeout(now, entropy);
    }
    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        loop {
            match self.seat.poll_output()? {
                UpperOutput::Node(ToNode::Send { .. }) if self.mute.load(Ordering::Relaxed) => {}
                output => return Some(output),
            }
        }
    }
    fn poll_timeout(&self) -> Option<Now> {
        self.seat.poll_timeout()
    }
}

impl UpperStack for Mutable {
    fn can_send(&self, group: &GroupId) -> bool {
        self.seat.can_send(group)
    }
    fn sending(&self, first: Sending, more: Vec<Bytes>) -> Command {
        self.seat.sending(first, more)
    }
    fn note(&self, event: &Event) -> Note {
        self.seat.note(event)
    }
}

/// What one member heard.
#[derive(Default, Clone)]
struct Heard {
    texts: Vec<String>,
    views: Vec<(BTreeSet<Party>, Cause)>,
    removed: Vec<Cause>,
}

type Ear = Arc<Mutex<BTreeMap<Party, Heard>>>;

struct Place {
    handle: Handle<Node, Attached<Mutable>>,
    members: Vec<Party>,
    at: Locator,
    faults: Faults,
    heard: Ear,
    task: tokio::task::JoinHandle<()>,
}

struct Moot {
    /// By number: on each node the host, another member, and two more programs of the host.
    seats: Vec<(Identity, u16)>,
    root: PathBuf,
    group: GroupId,
    switches: BTreeMap<Party, Arc<AtomicBool>>,
    places: Vec<Place>,
}

fn party((identity, port): &(Identity, u16)) -> Party {
    Party::new(identity.member(), *port)
}

impl Moot {
    fn found(name: &str) -> Self {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let now = wall_clock();
        let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
        let mut entropy = OsEntropy::new().unwrap();
        let named = |number: usize, entropy: &mut OsEntropy| {
            Identity::new(&format!("m{number}"), entropy, from, to).unwrap()
        };
        let people: Vec<Identity> = (0..NODES * 2).map(|number| named(number, &mut entropy)).collect();
        let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
        let on_node =
            |two: &[Identity]| [(0, 0), (1, 0), (0, 2), (0, 3)].map(|(who, port)| (two[who].clone(), port));
        let seats: Vec<(Identity, u16)> = people.chunks(2).flat_map(on_node).collect();
        let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, founders, &mut entropy);
        draft.timeouts.step_ms = Some(1_000);
        let charter = SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).unwrap();
        for (number, host) in people.chunks(2).map(|two| &two[0]).enumerate() {
            let folder = StateFolder::open(&root.join(number.to_string())).unwrap();
            folder.write_identity(host.key_pem().unwrap().expose(), &host.certificate_pem()).unwrap();
            folder.write_charter(charter.der()).unwrap();
        }
        let switches = seats.iter().map(|seat| (party(seat), Arc::default())).collect();
        Self { seats, root, group: charter.charter().group(), switches, places: Vec::new() }
    }

    fn open(&mut self, number: usize) {
        let here = &self.seats[number * ON_EACH..(number + 1) * ON_EACH];
        let options = folkmoot::tools::OpenOptions {
            state: self.root.join(number.to_string()),
            identity: None,
            listen: ([127, 0, 0, 1], 0).into(),
            seeds: self.places.iter().map(|place| place.at.clone()).collect(),
            heads: Vec::new(),
            voucher: None,
            endorsement: None,
            carries: Vec::new(),
            replicated: false,
            multicast: false,
            clock_ahead: Duration::ZERO,
            danger_keep_keys: false,
        };
        let switches = &self.switches;
        let mutable =
            |member: Party, seat: MemberStack| (member, Mutable { seat, mute: switches[&member].clone() });
        let opened: Opened<Attached<Mutable>> = prepare(options, &here[1..], Timing::default())
            .unwrap()
            .start(|node, all| {
                let host = mutable(all.host_id(), all.host);
                (
                    node,
                    Attached::new(host, all.others.into_iter().map(|(member, seat)| mutable(member, seat))),
                )
            })
            .unwrap();
        let Opened { mut running, locator, faults, lock, .. } = opened;
        let (handle, heard) = (running.handle.clone(), Ear::default());
        let ear = heard.clone();
        let task = tokio::spawn(async move {
            let _lock = lock;
            while let Ok(Some((member, event))) = running.next().await {
                let mut all = ear.lock().unwrap();
                let heard = all.entry(member).or_default();
                match event {
                    Event::Message { payload, .. } => {
                        heard.texts.push(String::from_utf8(payload.to_vec()).unwrap())
                    }
                    Event::View { members, cause, .. } => {
                        heard.views.push((members.into_iter().collect(), cause))
                    }
                    Event::Removed { cause, .. } => heard.removed.push(cause),
                    _ => {}
                }
            }
        });
        let members = here.iter().map(party).collect();
        self.places.push(Place { handle, members, at: locator, faults, heard, task });
    }

    fn ids(&self, numbers: impl IntoIterator<Item = usize>) -> BTreeSet<Party> {
        numbers.into_iter().map(|number| self.party(number)).collect()
    }

    fn party(&self, number: usize) -> Party {
        party(&self.seats[number])
    }

    fn place(&self, member: &Party) -> &Place {
        self.places.iter().find(|place| place.members.contains(member)).unwrap()
    }

    async fn tell(&self, number: usize, command: Command) {
        let member = self.party(number);
        self.place(&member).handle.command((member, command)).await.unwrap().unwrap().unwrap();
    }

    async fn say(&self, number: usize, text: String) {
        let (group, service) = (self.group, Service::Agreed);
        self.tell(number, Command::Send { group, service, payload: text.into(), signed: false }).await;
    }

    async fn join_all(&self) {
        for number in 0..self.seats.len() {
            self.tell(number, Command::Join { group: self.group }).await;
        }
    }

    fn heard(&self, member: &Party) -> Heard {
        self.place(member).heard.lock().unwrap().get(member).cloned().unwrap_or_default()
    }

    async fn until(&self, what: &str, who: &BTreeSet<Party>, holds: impl Fn(&Heard) -> bool) {
        let begun = Instant::now();
        while !who.iter().all(|member| holds(&self.heard(member))) {
            assert!(begun.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Until each of these has a view of exactly these, and all have one key for it.
    async fn together(&self, what: &str, who: &BTreeSet<Party>) {
        self.until(what, who, |heard| heard.views.last().is_some_and(|(view, _)| view == who)).await;
        let begun = Instant::now();
        loop {
            let mut epochs = BTreeSet::new();
            for member in who {
                let member = *member;
                let group = self.group;
                let ask = self.place(&member).handle.look(move |machine, _, _| {
                    machine.upper.member(&member).unwrap().seat.member.epoch(group).map(str::to_owned)
                });
                epochs.insert(ask.await.unwrap());
            }
            if epochs.len() == 1 && epochs.first().unwrap().is_some() {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{what}: more than one key");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twelve_parties_on_three_nodes_are_one_group() {
    let mut moot = Moot::found("attached");
    (0..NODES).for_each(|number| moot.open(number));
    moot.join_all().await;
    let all = moot.ids(0..12);
    moot.together("founding", &all).await;

    // One order, whoever speaks and wherever it lives.
    for round in 0..3 {
        for number in 0..12 {
            moot.say(number, format!("{number} says {round}")).await;
        }
    }
    moot.until("messages", &all, |heard| heard.texts.len() >= 36).await;
    let first = moot.heard(&moot.party(0)).texts;
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 36, "each once");
    for member in &all {
        assert_eq!(moot.heard(member).texts, first);
    }

    // One who lives with others goes, and hears no more; its neighbours stay.
    let (gone, group) = (moot.party(5), moot.group);
    moot.tell(5, Command::Leave { group }).await;
    let rest: BTreeSet<_> = all.iter().filter(|member| **member != gone).copied().collect();
    moot.together("leave", &rest).await;
    moot.until("its leave", &[gone].into(), |heard| heard.removed == [Cause::Leave]).await;
    moot.say(4, "without five".into()).await;
    moot.until("a message of the rest", &rest, |heard| heard.texts.len() == 37).await;
    assert_eq!(moot.heard(&gone).texts.len(), 36);
    moot.tell(5, Command::Join { group }).await;
    moot.together("join", &all).await;

    // A host goes from the group: its node carries the others on.
    moot.tell(4, Command::Leave { group }).await;
    let rest: BTreeSet<_> = all.iter().filter(|member| **member != moot.party(4)).copied().collect();
    moot.together("leave of a host", &rest).await;
    moot.tell(4, Command::Join { group }).await;
    moot.together("join of a host", &all).await;

    // A cut is between nodes: those of one node stay together.
    let (here, there) = (moot.ids(0..8), moot.ids(8..12));
    let away = moot.places[2].at.clone();
    moot.places[..2].iter().for_each(|place| place.faults.cut([away.clone()]));
    moot.places[2].faults.cut(moot.places[..2].iter().map(|place| place.at.clone()));
    moot.together("one side", &here).await;
    moot.together("the other side", &there).await;
    moot.say(9, "nine on its side".into()).await;
    moot.until("a message of a side", &there, |heard| heard.texts.last().unwrap() == "nine on its side")
        .await;
    moot.places.iter().for_each(|place| place.faults.heal());
    moot.together("merge", &all).await;
    moot.tell(11, Command::Refresh { group }).await;
    moot.together("refresh", &all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_silent_is_set_aside_and_its_neighbours_stay() {
    let mut moot = Moot::found("attached-silent");
    (0..NODES).for_each(|number| moot.open(number));
    moot.join_all().await;
    let all = moot.ids(0..12);
    moot.together("founding", &all).await;

    // Six lives with others, and says nothing when the view changes.
    let (silent, group) = (moot.party(6), moot.group);
    moot.switches[&silent].store(true, Ordering::Relaxed);
    moot.tell(1, Command::Leave { group }).await;
    let rest: BTreeSet<_> =
        all.iter().filter(|member| **member != silent && **member != moot.party(1)).copied().collect();
    moot.together("without the silent one", &rest).await;
    moot.until("its removal", &[silent].into(), |heard| heard.removed.contains(&Cause::Complaint)).await;

    moot.switches[&silent].store(false, Ordering::Relaxed);
    moot.tell(1, Command::Join { group }).await;
    moot.together("all again", &all).await;
}

/// Those who share a disk find each their own counters there: no instance of keying is used twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parties_of_one_node_find_their_own_on_the_disk_they_share() {
    let mut moot = Moot::found("attached-again");
    (0..NODES).for_each(|number| moot.open(number));
    moot.join_all().await;
    let all = moot.ids(0..12);
    moot.together("founding", &all).await;

    let place = moot.places.remove(2);
    place.task.abort();
    let _ = place.task.await;
    drop(place.handle);
    let rest = moot.ids(0..8);
    moot.together("two nodes", &rest).await;
    let counters = kept(&moot, 2).await;
    assert_eq!(counters.len(), ON_EACH, "one for each party, each in its own place");

    moot.open(2);
    for number in 8..12 {
        moot.tell(number, Command::Join { group: moot.group }).await;
    }
    moot.together("back", &all).await;
    let later = kept(&moot, 2).await;
    assert!(counters.iter().all(|(place, counter)| later[place] > *counter), "every counter went on");
}

/// The instance counters on the disk of a node, by their place there.
async fn kept(moot: &Moot, number: usize) -> BTreeMap<(String, Vec<u8>), Vec<u8>> {
    let path = StateFolder::at(&moot.root.join(number.to_string())).store_path();
    let begun = Instant::now();
    loop {
        // The store of a node that has just stopped may not be closed yet.
        let pairs = folkmoot::tools::Store::open(&path).and_then(|store| store.load());
        if let Ok(pairs) = pairs {
            let group = moot.group.0;
            let ours = pairs.into_iter().filter(|(key, _)| key.key.ends_with(&group));
            return ours
                .map(|(key, value)| ((key.table.to_owned(), key.key.to_vec()), value.to_vec()))
                .collect();
        }
        assert!(begun.elapsed() < LIMIT, "{pairs:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
