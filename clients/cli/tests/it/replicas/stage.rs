//! Replicas of one office in a group of their own, two of them or three, and three members who vote
//! by two.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{free_address, good};
use folkmoot_base::Persist;
use folkmoot_runtime::Store;
use serde_json::Value;
use std::path::PathBuf;

pub(crate) struct Cast {
    pub(crate) place: Place,
    /// anna, ben, cleo.
    pub(crate) members: [Actor; 3],
    /// The authority's processes.
    pub(crate) offices: Vec<Actor>,
    /// Their folders in the replicas' group.
    pub(crate) replicas: Vec<Actor>,
}

impl Cast {
    pub(crate) fn new(name: &str) -> Self {
        Self::of(name, 2)
    }

    /// With so many replicas.
    pub(crate) fn of(name: &str, count: usize) -> Self {
        let place = Place::new(name);
        let members = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
        let letters = || ["a", "b", "c"].into_iter().take(count);
        let first = Actor::authority(&place, "office-a", "plain");
        let file = place.path().join("office");
        first.good(&["authority", "hand-over", &file.display().to_string()]);
        let others =
            letters().skip(1).map(|one| Actor::authority_of(&place, &format!("office-{one}"), &file));
        let offices = std::iter::once(first).chain(others).collect();
        let replicas = letters().map(|one| Actor::new(&place, &format!("replica-{one}"))).collect();
        let mut cast = Self { place, members, offices, replicas };
        cast.found();
        cast
    }

    fn found(&mut self) {
        let states: Vec<String> =
            self.offices.iter().map(|office| office.state.display().to_string()).collect();
        let mut rules = vec!["--mode", "centralised"];
        rules.extend(states.iter().flat_map(|state| ["--authority", state.as_str()]));
        let founders: Vec<_> = self.members.iter().map(|member| member.state.as_path()).collect();
        self.place.found_with(&founders, Times::SHORT, &rules);
        self.sign_replicas("replicas", "read-only");
        for one in 0..self.members.len() {
            let at = self.at();
            self.members[one].start(&self.place, &at, &[]);
        }
        for one in 0..self.offices.len() {
            self.start_office(one);
        }
        self.members[0].why("cleo", "present");
        let words = self.all_are_ready();
        for office in &self.offices {
            let ready = |status: &Value| status["here"] == 3 && status["replicas"]["words"] == words;
            office.until(&["authority", "status"], ready);
        }
    }

    /// What a replica says of itself when all are there.
    pub(crate) fn all_are_ready(&self) -> String {
        let count = self.replicas.len();
        format!("ready: {count} of {count} replicas")
    }

    /// The replicas sign a charter, of which each has a copy.
    pub(crate) fn sign_replicas(&self, name: &str, minority: &str) -> PathBuf {
        let text = self.place.path().join(format!("{name}.toml"));
        let path = text.display().to_string();
        let mut line =
            vec!["charter", "new", "replicas", "--votes", "1", "--minority", minority, "--out", &path];
        let file = |one: &Actor| one.state.join("identity.pem").display().to_string();
        let files: Vec<String> = self.replicas.iter().map(file).collect();
        line.extend(files.iter().flat_map(|file| ["--founder", file.as_str()]));
        good(&self.replicas[0].state, &line);
        let draft = std::fs::read_to_string(&text).unwrap();
        let timeouts = format!("\n[timeouts]\nsilence_ms = {}\n", Times::SHORT.silence_ms);
        std::fs::write(&text, draft + &timeouts).unwrap();
        for one in &self.replicas {
            good(&one.state, &["charter", "sign", &path]);
        }
        self.place.path().join(format!("{name}.cms"))
    }

    /// The replicas' charter.
    pub(crate) fn replicas_charter(&self) -> String {
        self.place.path().join("replicas.cms").display().to_string()
    }

    /// Where members listen.
    fn at(&self) -> Vec<String> {
        let started = self.members.iter().filter(|member| !member.locator.is_empty());
        started.map(|member| member.locator.clone()).collect()
    }

    /// Starts an authority and its replica, where they were before.
    pub(crate) fn start_office(&mut self, one: usize) {
        let place = |office: &Actor| office.ready["replicas"].as_str().map(str::to_owned);
        let own = place(&self.offices[one]);
        let listen = own.as_deref().and_then(|at| at.strip_prefix("udp/"));
        let listen = listen.map_or_else(free_address, str::to_owned);
        let (state, charter) = (self.replicas[one].state.display().to_string(), self.replicas_charter());
        let mut more =
            vec!["--replicas", &state, "--replicas-charter", &charter, "--replicas-listen", &listen];
        let others = self.offices.iter().enumerate().filter(|(other, _)| *other != one);
        let others: Vec<String> = others.filter_map(|(_, office)| place(office)).collect();
        more.extend(others.iter().flat_map(|at| ["--replicas-at", at.as_str()]));
        let at = self.at();
        self.offices[one].start(&self.place, &at, &more);
    }

    /// The machine of a replica is lost, and what was in the safe is put on another: identities,
    /// and the office.
    pub(crate) fn lose(&mut self, one: usize) {
        self.offices[one].kill();
        for actor in [&self.offices[one], &self.replicas[one]] {
            lose_the_store(actor);
        }
        let file = self.office_file();
        self.offices[one].good(&["authority", "take-over", &file.display().to_string()]);
    }

    /// The office in its file, in the safe.
    fn office_file(&self) -> PathBuf {
        self.place.path().join("office")
    }

    /// All replicas have so many records, and every office has issued them.
    pub(crate) fn all_have(&self, count: u64) {
        let words = self.all_are_ready();
        let have = |status: &Value| {
            let replicas = &status["replicas"];
            replicas["words"] == words
                && [&replicas["records"], &replicas["handed"], &status["issued"]]
                    .iter()
                    .all(|one| **one == count)
        };
        for office in &self.offices {
            office.until(&["authority", "status"], have);
        }
    }

    /// Somebody asks, two vote, and the others hear of it.
    pub(crate) fn admit(&self, name: &str) -> Actor {
        let guest = self.guest(name);
        self.vote(0, name);
        self.vote(1, name);
        self.members[2].until(&["roster"], |roster| has(roster, name));
        guest
    }

    /// A stranger that asks.
    pub(crate) fn guest(&self, name: &str) -> Actor {
        let mut guest = Actor::new(&self.place, name);
        guest.start(&self.place, &self.at(), &["--apply"]);
        guest
    }

    /// A member votes for who asks.
    pub(crate) fn vote(&self, voter: usize, who: &str) {
        self.members[voter].until(&["vote", "approve", who], |told| !told.is_null());
    }
}

/// Takes the store away, as a disk does that is replaced.
pub(crate) fn lose_the_store(actor: &Actor) {
    for file in ["member.sqlite", "member.sqlite-wal", "member.sqlite-shm"] {
        let _ = std::fs::remove_file(actor.state.join(file));
    }
}

/// Changes a byte of the last certificate in a log, as a disk does that was set back or changed.
pub(crate) fn forge_the_last_record(replica: &Actor) {
    let mut store = Store::open(&replica.state.join("member.sqlite")).unwrap();
    let stored = store.load().unwrap();
    let records = stored.into_iter().filter(|(key, _)| key.table == "log" && key.key.starts_with(b"r"));
    let (key, value) = records.max_by(|one, other| one.0.key.cmp(&other.0.key)).unwrap();
    let mut bytes = value.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    store.commit(&[Persist { key, value: Some(bytes.into()) }]).unwrap();
}

/// Whether a roster has somebody of this name.
pub(crate) fn has(roster: &Value, name: &str) -> bool {
    roster.as_array().is_some_and(|people| people.iter().any(|one| one["name"] == name))
}

/// The certificates of all but the founders that a member's transcript has, in hexadecimal, sorted.
pub(crate) fn certificates(cast: &mut Cast) -> Vec<String> {
    let folder = cast.place.path().join("evidence");
    cast.members[1].kill();
    cast.members[1].good(&["export", &folder.display().to_string()]);
    let files = std::fs::read_dir(folder.join("certificates")).unwrap().map(|file| file.unwrap().path());
    let guests = files.filter(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("guest") && name.ends_with(".der")
    });
    let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut all: Vec<String> = guests.map(|file| hex(std::fs::read(file).unwrap())).collect();
    all.sort();
    all
}
