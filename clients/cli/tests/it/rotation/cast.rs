//! Four founders with keys of several algorithms, of whom anna gets another key.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::complaint;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

const NAMES: [&str; 4] = ["anna", "ben", "cleo", "dora"];
/// What the charter names.
const ALGORITHMS: [&str; 3] = ["p256", "ed25519", "rsa-2048"];

pub(super) fn copied(from: &Path, to: PathBuf) -> PathBuf {
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_type().unwrap().is_file() && entry.file_name() != "lock" {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    to
}

/// The state of the member with this id, as another sees it.
fn state_of(who: &Actor, id: &str) -> String {
    let status = who.good(&["status"]);
    let people = status["people"].as_array().unwrap();
    let one = people.iter().find(|one| one["member"] == id);
    one.map_or_else(|| "unknown".to_owned(), |one| one["state"].as_str().unwrap().to_owned())
}

pub(super) fn until_state(who: &Actor, id: &str, wanted: &str) {
    let of = |told: &Value| {
        let people = told["people"].as_array().cloned().unwrap_or_default();
        people.iter().any(|one| one["member"] == id && one["state"] == wanted)
    };
    who.until(&["status"], of);
}

/// `ID-89`: her name means her present key and has no mark, and both say what became of the other.
pub(super) fn is_told(by: &Actor, name: &str, old: &str, new: &str) {
    let told = by.why(name, "present");
    assert_eq!((&told["member"], &told["alike"]), (&new.into(), &false.into()), "{told}");
    assert_eq!(told["former_keys"][0]["member"], old);
    assert!(told["why"].as_str().unwrap().contains(&old[..8]), "{told}");
    let former = by.why(&old[..12], "replaced");
    assert_eq!(former["by"], new);
    assert_eq!(former["name"], format!("{name}≈{} (former key)", &old[..8]));
    let roster = by.good(&["roster"]);
    assert!(roster.as_array().unwrap().iter().all(|one| one["member"] != old), "{roster}");
}

pub(super) struct Cast {
    pub(super) place: Place,
    pub(super) all: Vec<Actor>,
    pub(super) authority: Option<Actor>,
    /// What each is started with.
    pub(super) more: Vec<String>,
}

impl Cast {
    /// By this scheme, with an authority or without; anna's key is of this algorithm.
    pub(super) fn new(scheme: &str, central: bool, algorithm: &str) -> Self {
        let place = Place::new(&format!("rotated-{scheme}-{central}"));
        let keys = [algorithm, "p256", "ed25519", "p256"];
        let all: Vec<Actor> =
            NAMES.iter().zip(keys).map(|(name, key)| Actor::with(&place, name, key)).collect();
        let authority = central.then(|| Actor::authority(&place, "authority", scheme));
        let mut rules = vec!["--scheme".to_owned(), scheme.to_owned()];
        rules.extend(ALGORITHMS.iter().flat_map(|one| ["--algorithm".to_owned(), (*one).to_owned()]));
        if let Some(authority) = &authority {
            let state = authority.state.display().to_string();
            rules.extend(["--mode".into(), "centralised".into(), "--authority".into(), state]);
        }
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        // Anna last: where exactly half agree, the first one listed decides.
        let folders: Vec<_> = [1, 2, 3, 0].iter().map(|who| all[*who].state.as_path()).collect();
        place.found_with(&folders, Times::SHORT, &rules);
        let mut cast = Self { place, all, authority, more: Vec::new() };
        for who in 0..4 {
            cast.start(who);
        }
        if let Some(authority) = &mut cast.authority {
            let at: Vec<String> = [1, 3].map(|who| cast.all[who].locator.clone()).to_vec();
            authority.start(&cast.place, &at, &[]);
        }
        for name in NAMES {
            cast.all[1].why(name, "present");
        }
        cast
    }

    pub(super) fn start(&mut self, who: usize) {
        let at: Vec<String> = self.all.iter().map(|one| one.locator.clone()).collect();
        let at: Vec<String> = at.into_iter().filter(|at| !at.is_empty()).collect();
        let more: Vec<&str> = self.more.iter().map(String::as_str).collect();
        self.all[who].start(&self.place, &at, &more);
    }

    pub(super) fn try_rotate(&self, more: &[&str]) -> Output {
        let keys = self.more.iter().map(String::as_str);
        self.all[0].run(
            &["identity", "rotate"].into_iter().chain(keys).chain(more.iter().copied()).collect::<Vec<_>>(),
        )
    }

    pub(super) fn rotate(&self, more: &[&str]) -> Value {
        let done = self.try_rotate(more);
        assert!(done.status.success(), "{}", complaint(&done));
        serde_json::from_slice(&done.stdout).unwrap()
    }

    /// Dora and ben say so of the one proposal, of which they see both keys.
    pub(super) fn vote(&self, verdict: &str, old: &str, new: &str) {
        for voter in [3, 1] {
            let open = self.all[voter].until(&["vote", "list"], |told| told[0]["concerns"][1].is_object());
            assert_eq!(open.as_array().unwrap().len(), 1, "nobody is asked about an admission: {open}");
            let concerns = &open[0]["concerns"];
            assert_eq!(
                (&concerns[0]["member"], &concerns[1]["member"]),
                (&json!(old), &json!(new)),
                "{open}"
            );
            let subject = open[0]["subject"].as_str().unwrap();
            self.all[voter].until(&["vote", verdict, subject], |told| !told.is_null());
        }
    }

    pub(super) fn until_decided(&self, number: u64) {
        let reached = |status: &Value| {
            let head = status["head"].as_str().and_then(|head| head.split('.').next()?.parse::<u64>().ok());
            head.is_some_and(|head| head >= number)
        };
        self.all[1].until(&["status"], reached);
    }

    /// Anna rotates to a key of this algorithm while cleo is away; ben and dora approve. Her old
    /// key, her new one, and the number of the decision.
    pub(super) fn rotates(&mut self, algorithm: &str) -> (String, String, u64) {
        self.all[2].kill();
        let told = self.rotate(&["--algorithm", algorithm]);
        let (old, new) = (told["member"].as_str().unwrap(), told["new"].as_str().unwrap());
        self.vote("approve", old, new);
        until_state(&self.all[1], old, "replaced");
        let number = self.all[1].why(&old[..12], "replaced")["decision"].as_u64().unwrap();
        // Her own folder has to know before she stops.
        until_state(&self.all[0], old, "replaced");
        self.all[0].kill();
        assert_eq!(self.all[0].good(&["identity", "rotate"])["member"], new);
        self.start(0);
        until_state(&self.all[1], new, "present");
        is_told(&self.all[1], "anna", old, new);
        (old.to_owned(), new.to_owned(), number)
    }

    /// Whoever has the old key is nobody: not to those who decided, nor to cleo, who meets it
    /// first.
    pub(super) fn old_is_nobody(&mut self, stolen: PathBuf, old: &str, new: &str) {
        let mut liar = Actor::of(stolen, old);
        let at: Vec<String> = [1, 3].map(|who| self.all[who].locator.clone()).to_vec();
        let more: Vec<&str> = self.more.iter().map(String::as_str).collect();
        liar.start(&self.place, &at, &more);
        self.all[2].start(&self.place, core::slice::from_ref(&liar.locator), &[]);
        until_state(&self.all[2], old, "replaced");
        until_state(&self.all[2], new, "present");
        liar.run(&["expel", "ben"]);
        liar.run(&["send", "do not believe her", "--timeout", "3"]);
        std::thread::sleep(Duration::from_secs(2));
        for who in [0, 1, 2, 3] {
            assert_eq!(state_of(&self.all[who], old), "replaced");
            let open = self.all[who].good(&["vote", "list"]);
            assert!(!open.to_string().contains("expel"), "{open}");
            let members = self.all[who].ask(&json!({ "op": "view" }));
            let members = members["members"].as_array().unwrap().clone();
            assert!(members.len() == 4 && !members.contains(&old.into()), "{members:?}");
        }
        liar.kill();
    }

    /// What anna's old key has signed.
    pub(super) fn proof(&self) -> String {
        self.all[0].good(&["send", "--sign", "I owe Ben ten crowns", "--timeout", "30"]);
        let proof = self.place.path().join("message.cms").display().to_string();
        self.all[1].until(&["proof", "--out", &proof], |told| !told.is_null());
        proof
    }

    /// It stays hers, and the transcript stands from its beginning. Ben is stopped for it.
    pub(super) fn proves(&mut self, proof: &str) {
        self.all[1].kill();
        let evidence = self.place.path().join("evidence").display().to_string();
        self.all[1].good(&["export", &evidence]);
        let (charter, transcript) =
            (self.place.signed().display().to_string(), format!("{evidence}/transcript.moot"));
        let verified =
            self.all[3].run(&["verify", proof, "--charter", &charter, "--transcript", &transcript]);
        assert!(verified.status.success(), "{}", complaint(&verified));
        let told = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(told.contains("a former key of a member"), "{told}");
        let judged = self.all[3].run(&["verify", &charter, &transcript]);
        assert!(judged.status.success(), "{}", complaint(&judged));
    }

    /// Erik is admitted by these voters, whoever else is away.
    pub(super) fn admits_erik(&self, voters: [usize; 2]) {
        let mut erik = Actor::new(&self.place, "erik");
        let at: Vec<String> = voters.map(|who| self.all[who].locator.clone()).to_vec();
        erik.start(&self.place, &at, &["--apply"]);
        for voter in voters {
            self.all[voter].until(&["vote", "approve", "erik"], |told| !told.is_null());
        }
        self.all[voters[0]].why("erik", "present");
    }
}
