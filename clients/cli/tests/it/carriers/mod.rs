//! Four companies run a node each, by a charter of theirs, and carry a group that has its own. Two
//! of the nodes are `folkmoot member --carry`; the two where Anna and Ben are attached are opened
//! through the library, because no command attaches a party by another charter.
//!
//! ```text
//!   anna                    ben            one group, by a charter that these two signed
//!   [east]     [north]     [west]    [south]    one ring, by the carriers' charter
//!  library    a process    library   a process
//! ```

mod refused;

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::program;
use folkmoot::tools::{
    Attached, Command, Handle, Lodger, MemberStack, Node, OpenOptions, Opened, Timing, prepare_with,
};
use folkmoot::{Carrying, Event, GroupId, Locator, Party, Service, StateFolder};
use folkmoot_identity::Identity;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Longest wait for anything.
const LIMIT: Duration = Duration::from_secs(60);

fn identity(state: &Path) -> Identity {
    let folder = StateFolder::at(state);
    let certificate = String::from_utf8(folder.read_certificate().unwrap()).unwrap();
    Identity::from_pem(&folder.read_key().unwrap(), &certificate).unwrap()
}

/// A carrier in this process, and the party that is attached there.
struct Carrier {
    host: Party,
    party: Party,
    at: Locator,
    handle: Handle<Node, Attached<MemberStack>>,
    heard: Arc<Mutex<Vec<(Party, Event)>>>,
}

impl Carrier {
    fn open(runtime: &Runtime, state: &Path, at: &[String], club: (&Path, GroupId), lodger: &Actor) -> Self {
        let _guard = runtime.enter();
        let options = OpenOptions {
            state: state.to_owned(),
            listen: ([127, 0, 0, 1], 0).into(),
            seeds: at.iter().map(|at| at.parse().unwrap()).collect(),
            heads: Vec::new(),
            voucher: None,
            carries: vec![club.0.to_owned()],
            replicated: false,
            multicast: false,
            clock_ahead: Duration::ZERO,
            danger_keep_keys: false,
        };
        let identity = identity(&lodger.state);
        let party = Party::from(identity.member());
        let lodgers = [Lodger { identity, port: 0, charter: Some(club.1) }];
        let prepared = prepare_with(options, &lodgers, Timing::default()).unwrap();
        let opened = prepared.start(|node, all| (node, all.attached())).unwrap();
        let Opened { mut running, locator, me, lock, .. } = opened;
        let (handle, heard) = (running.handle.clone(), Arc::default());
        let ear: Arc<Mutex<Vec<(Party, Event)>>> = Arc::clone(&heard);
        runtime.spawn(async move {
            let _lock = lock;
            while let Ok(Some(event)) = running.next().await {
                ear.lock().unwrap().push(event);
            }
        });
        Self { host: me.into(), party, at: locator, handle, heard }
    }

    fn tell(&self, runtime: &Runtime, party: Party, command: Command) {
        runtime.block_on(self.handle.command((party, command))).unwrap();
    }

    fn carrying(&self, runtime: &Runtime) -> Vec<Carrying> {
        runtime.block_on(self.handle.look(|machine, _, _| machine.ground.carrying())).unwrap()
    }

    fn events<T>(&self, of: Party, pick: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|(party, _)| *party == of).filter_map(|(_, event)| pick(event)).collect()
    }

    /// Who was in each view that its party installed.
    fn views(&self) -> Vec<Vec<Party>> {
        self.events(self.party, |event| match event {
            Event::View { members, .. } => Some(members.clone()),
            _ => None,
        })
    }

    fn texts(&self) -> Vec<String> {
        self.events(self.party, |event| match event {
            Event::Message { payload, .. } => Some(String::from_utf8_lossy(payload).into_owned()),
            _ => None,
        })
    }

    /// The member of the node itself votes for the first proposal that it hears of.
    fn host_agrees(&self, runtime: &Runtime) {
        let proposal = |event: &Event| match event {
            Event::Proposal { subject, .. } => Some(*subject),
            _ => None,
        };
        until("a proposal", || !self.events(self.host, proposal).is_empty());
        let subject = self.events(self.host, proposal)[0];
        self.tell(runtime, self.host, Command::Vote { subject, approve: true });
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < LIMIT, "{what} did not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn carriers_carry_a_group_in_which_their_voters_have_no_say() {
    let (ring, club) = (Place::new("carriers"), Place::new("carried"));
    let mut companies = ["north", "south", "east", "west"].map(|name| Actor::new(&ring, name));
    let founders: Vec<_> = companies.iter().map(|one| one.state.clone()).collect();
    ring.found(&founders.iter().map(|state| state.as_path()).collect::<Vec<_>>(), Times::PATIENT);
    let [anna, ben] = ["anna", "ben"].map(|name| Actor::new(&club, name));
    club.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::PATIENT);
    let charter = club.signed();
    let group = anna.good(&["charter", "verify", &charter.display().to_string()]);
    let group = GroupId::from_hex(group["group"].as_str().unwrap()).unwrap();

    let [north, south, east, west] = &mut companies;
    let carry = ["--carry", charter.to_str().unwrap()];
    north.start(&ring, &[], &carry);
    south.start(&ring, core::slice::from_ref(&north.locator), &carry);
    let runtime = Runtime::new().unwrap();
    let at = [north.locator.clone()];
    for state in [&east.state, &west.state] {
        let folder = StateFolder::at(state);
        folder.write_charter(&std::fs::read(ring.signed()).unwrap()).unwrap();
    }
    let east = Carrier::open(&runtime, &east.state, &at, (&charter, group), &anna);
    let at = [at[0].clone(), east.at.to_string()];
    let west = Carrier::open(&runtime, &west.state, &at, (&charter, group), &ben);

    // The carriers' own members are a group by the ring's charter; Anna and Ben one by theirs.
    for carrier in [&east, &west] {
        let home = runtime.block_on(carrier.handle.look(|machine, _, _| machine.upper.host().member.home()));
        carrier.tell(&runtime, carrier.host, Command::Join { group: home.unwrap() });
        carrier.tell(&runtime, carrier.party, Command::Join { group });
    }
    let mut both = vec![east.party, west.party];
    both.sort_unstable();
    until("one view", || [&east, &west].iter().all(|one| one.views().last() == Some(&both)));
    let payload = "our own affair".into();
    let send = Command::Send { group, service: Service::Safe, payload, signed: false };
    east.tell(&runtime, east.party, send);
    until("the message", || west.texts() == ["our own affair"] && east.texts() == west.texts());

    told(north, group, &both);
    assert_eq!(east.carrying(&runtime)[0].attached, 1);

    // The ring's voters expel one of their own. They have nobody else to expel, and nothing to ask.
    for name in ["north", "south", "east", "west"] {
        north.why(name, "present");
    }
    assert_eq!(north.good(&["roster"]).as_array().unwrap().len(), 4);
    assert_eq!(crate::common::program::code(&north.run(&["expel", "anna"])), 1, "nobody is called so there");
    east.tell(&runtime, east.host, Command::Join { group });
    until("agreement", || east.carrying(&runtime)[0].settled);
    let before = east.carrying(&runtime);
    north.good(&["expel", "south"]);
    [&east, &west].iter().for_each(|one| one.host_agrees(&runtime));
    north.why("south", "expelled");
    told(north, group, &both);
    until("the same tables", || east.carrying(&runtime) == before);
    let others = |views: Vec<Vec<Party>>| views.iter().flatten().any(|party| !both.contains(party));
    assert!(!others(east.views()) && !others(west.views()), "no carrier's member was in the group");
}

/// What `status` says at a node where nobody of the group is attached. After each change of the
/// ring the nodes agree anew, and a second command may fall into that moment: each form waits.
fn told(node: &Actor, group: GroupId, parties: &[Party]) {
    let hex: Vec<String> = parties.iter().map(Party::hex).collect();
    let carried = serde_json::json!([{
        "group": group.hex(), "name": "test", "members": 2, "parties": hex, "attached": 0, "settled": true,
    }]);
    node.until(&["status"], |status| status["carries"] == carried);
    let short = &group.hex()[..8];
    let line =
        format!("carries test ({short}): 2 members on its roster, 2 programs in its group, 0 attached here");
    until(&line, || words(node).lines().any(|one| one == line));
}

/// What `status` prints for people.
fn words(node: &Actor) -> String {
    let mut command = program(&node.state);
    command.args(["status"]);
    let words: Vec<_> =
        command.get_args().filter(|word| *word != "--json").map(|word| word.to_owned()).collect();
    let output = std::process::Command::new(command.get_program()).args(words).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
