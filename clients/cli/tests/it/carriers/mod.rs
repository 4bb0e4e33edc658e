//! Four companies run a node each, by a charter of theirs, and carry two groups that have their
//! own. Two of the nodes are `folkmoot member --carry`; the two where the groups' people are
//! attached are opened through the library, because no command attaches a party by another charter.
//!
//! ```text
//!   anna dora               ben emil       two groups: anna and ben signed one charter, dora and emil another
//!   [east]     [north]     [west]    [south]    one ring, by the carriers' charter
//!  library    a process    library   a process
//! ```

mod club;
mod refused;

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::program;
use club::Club;
use folkmoot::tools::{
    Attached, Command, Handle, Lodger, MemberStack, Node, OpenOptions, Opened, Timing, prepare_with,
};
use folkmoot::{Carrying, Event, Locator, Party, Service, StateFolder};
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

/// A carrier in this process, and the parties that are attached there: one of each club.
struct Carrier {
    host: Party,
    parties: Vec<Party>,
    at: Locator,
    handle: Handle<Node, Attached<MemberStack>>,
    heard: Arc<Mutex<Vec<(Party, Event)>>>,
}

impl Carrier {
    /// With those who live at the place `seat` of each club.
    fn open(runtime: &Runtime, state: &Path, at: &[String], clubs: &[Club], seat: usize) -> Self {
        let _guard = runtime.enter();
        let options = OpenOptions {
            state: state.to_owned(),
            identity: None,
            listen: ([127, 0, 0, 1], 0).into(),
            seeds: at.iter().map(|at| at.parse().unwrap()).collect(),
            heads: Vec::new(),
            voucher: None,
            endorsement: None,
            carries: clubs.iter().map(Club::charter).collect(),
            replicated: false,
            multicast: false,
            clock_ahead: Duration::ZERO,
            danger_keep_keys: false,
        };
        let lodgers: Vec<Lodger> = clubs.iter().map(|club| club.lodger(seat)).collect();
        let parties = lodgers.iter().map(|lodger| Party::from(lodger.identity.member())).collect();
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
        Self { host: me.into(), parties, at: locator, handle, heard }
    }

    fn tell(&self, runtime: &Runtime, party: Party, command: Command) {
        runtime.block_on(self.handle.command((party, command))).unwrap().unwrap().unwrap();
    }

    fn carrying(&self, runtime: &Runtime) -> Vec<Carrying> {
        runtime.block_on(self.handle.look(|machine, _, _| machine.ground.carrying())).unwrap()
    }

    fn events<T>(&self, of: Party, pick: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|(party, _)| *party == of).filter_map(|(_, event)| pick(event)).collect()
    }

    /// Who was in each view that its party of this club installed.
    fn views(&self, club: usize) -> Vec<Vec<Party>> {
        self.events(self.parties[club], |event| match event {
            Event::View { members, .. } => Some(members.clone()),
            _ => None,
        })
    }

    fn texts(&self, club: usize) -> Vec<String> {
        self.events(self.parties[club], |event| match event {
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
fn carriers_carry_two_groups_in_which_their_voters_have_no_say() {
    let ring = Place::new("carriers");
    let mut companies = ["north", "south", "east", "west"].map(|name| Actor::new(&ring, name));
    let founders: Vec<_> = companies.iter().map(|one| one.state.clone()).collect();
    ring.found(&founders.iter().map(|state| state.as_path()).collect::<Vec<_>>(), Times::PATIENT);
    let clubs = [Club::new("carried", ["anna", "ben"]), Club::new("carried-too", ["dora", "emil"])];
    let charters = clubs.each_ref().map(|club| club.charter().display().to_string());

    let [north, south, east, west] = &mut companies;
    let carry: Vec<&str> = charters.iter().flat_map(|charter| ["--carry", charter]).collect();
    north.start(&ring, &[], &carry);
    south.start(&ring, core::slice::from_ref(&north.locator), &carry);
    let runtime = Runtime::new().unwrap();
    let at = [north.locator.clone()];
    for state in [&east.state, &west.state] {
        let folder = StateFolder::at(state);
        folder.write_charter(&std::fs::read(ring.signed()).unwrap()).unwrap();
    }
    let east = Carrier::open(&runtime, &east.state, &at, &clubs, 0);
    let at = [at[0].clone(), east.at.to_string()];
    let west = Carrier::open(&runtime, &west.state, &at, &clubs, 1);
    speak(&runtime, [&east, &west], &clubs);
    told(north, &clubs);

    // The ring's voters expel one of their own. They have nobody else to expel, and nothing to ask.
    for name in ["north", "south", "east", "west"] {
        north.why(name, "present");
    }
    assert_eq!(north.good(&["roster"]).as_array().unwrap().len(), 4);
    assert_eq!(crate::common::program::code(&north.run(&["expel", "anna"])), 1, "nobody is called so there");
    for club in &clubs {
        east.tell(&runtime, east.host, Command::Join { group: club.group });
    }
    let settled = |one: &Carrying| one.settled && one.attached == 1;
    until("agreement", || east.carrying(&runtime).iter().all(settled));
    let before = east.carrying(&runtime);
    assert_eq!(before.len(), 2);
    north.good(&["expel", "south"]);
    [&east, &west].iter().for_each(|one| one.host_agrees(&runtime));
    north.why("south", "expelled");
    told(north, &clubs);
    until("the same tables", || east.carrying(&runtime) == before);
    for (place, club) in clubs.iter().enumerate() {
        let both = club.parties();
        let views = [&east, &west].map(|one| one.views(place)).concat();
        assert!(views.iter().flatten().all(|party| both.contains(party)), "nobody else was in the group");
    }
}

/// The carriers' own members are a group by the ring's charter, and each club is one by its own,
/// all at one time. In each club one speaks, and only its own people hear it.
fn speak(runtime: &Runtime, carriers: [&Carrier; 2], clubs: &[Club; 2]) {
    for carrier in carriers {
        let home = runtime.block_on(carrier.handle.look(|machine, _, _| machine.upper.host().member.home()));
        carrier.tell(runtime, carrier.host, Command::Join { group: home.unwrap() });
        for (party, club) in carrier.parties.iter().zip(clubs) {
            carrier.tell(runtime, *party, Command::Join { group: club.group });
        }
    }
    for (place, club) in clubs.iter().enumerate() {
        let both = club.parties();
        until("one view", || carriers.iter().all(|one| one.views(place).last() == Some(&both)));
    }
    for (place, (club, from)) in clubs.iter().zip(carriers).enumerate() {
        let payload = format!("the affair of club {place}").into();
        let send = Command::Send { group: club.group, service: Service::Safe, payload, signed: false };
        from.tell(runtime, from.parties[place], send);
    }
    for place in 0..clubs.len() {
        let said = [format!("the affair of club {place}")];
        until("the message", || carriers.iter().all(|one| one.texts(place) == said));
    }
}

/// What `status` says at a node where nobody of the groups is attached. After each change of the
/// ring the nodes agree anew, and a second command may fall into that moment: each form waits.
fn told(node: &Actor, clubs: &[Club]) {
    for club in clubs {
        let (group, hex) = (club.group.hex(), club.parties().iter().map(Party::hex).collect::<Vec<_>>());
        let carried = serde_json::json!({
            "group": group, "name": "test", "members": 2, "parties": hex, "attached": 0, "settled": true,
        });
        node.until(&["status"], |status| {
            let all = status["carries"].as_array().cloned().unwrap_or_default();
            all.len() == clubs.len() && all.contains(&carried)
        });
        let short = &group[..8];
        let line = format!(
            "carries test ({short}): 2 members on its roster, 2 programs in its group, 0 attached here"
        );
        until(&line, || words(node).lines().any(|one| one == line));
    }
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
