//! The members of now, and what a thief or a former member has.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good};
use folkmoot_base::Persist;
use folkmoot_runtime::Store;
use serde_json::{Value, json};
use std::process::Output;

/// What a state folder is made of, but for the lock and the socket.
const FILES: [&str; 5] =
    ["identity.key", "identity.pem", "charter.cms", "member.sqlite", "member.sqlite-wal"];
/// The store's table of places where others were found.
const PLACES: &str = "locator";

/// People in one group, each a process.
pub(crate) struct Cast {
    pub(crate) place: Place,
    pub(crate) people: Vec<Actor>,
}

impl Cast {
    /// Founders by these names, who run and share a view.
    pub(crate) fn founded(place: &str, names: &[&str], rules: &[&str]) -> Self {
        let place = Place::new(place);
        let people: Vec<Actor> = names.iter().map(|name| Actor::new(&place, name)).collect();
        let folders: Vec<_> = people.iter().map(|one| one.state.as_path()).collect();
        place.found_with(&folders, Times::PATIENT, rules);
        let mut cast = Self { place, people };
        for name in names {
            cast.start(name, &[]);
        }
        for name in &names[1..] {
            cast.who(names[0]).why(name, "present");
        }
        cast
    }

    pub(crate) fn who(&self, name: &str) -> &Actor {
        self.people.iter().find(|one| one.state.ends_with(name)).unwrap()
    }

    fn at(&self, name: &str) -> Vec<String> {
        let others = self.people.iter().filter(|one| !one.state.ends_with(name));
        others.map(|one| one.locator.clone()).filter(|at| !at.is_empty()).collect()
    }

    /// Starts somebody, who knows where everybody is.
    pub(crate) fn start(&mut self, name: &str, more: &[&str]) {
        let at = self.at(name);
        let one = self.people.iter_mut().find(|one| one.state.ends_with(name)).unwrap();
        one.start(&self.place, &at, more);
    }

    pub(crate) fn kill(&mut self, name: &str) {
        self.people.iter_mut().find(|one| one.state.ends_with(name)).unwrap().kill();
    }

    /// Somebody asks, and these vote yes.
    pub(crate) fn admit(&mut self, name: &str, voters: &[&str]) {
        self.people.push(Actor::new(&self.place, name));
        self.start(name, &["--apply"]);
        for voter in voters {
            self.who(voter).until(&["vote", "approve", name], |told| !told.is_null());
        }
        self.who(name).why(voters[0], "present");
    }

    /// The first of these proposes, the others agree, and it is decided at all of these people.
    pub(crate) fn decide(&self, line: &[&str], voters: &[&str], at: &[&str]) {
        let proposer = self.who(voters[0]);
        let number = decided(proposer);
        proposer.until(line, |told| !told.is_null());
        for voter in &voters[1..] {
            agree(self.who(voter), |one| is_of(one, line));
        }
        for one in at {
            self.who(one).until(&["status"], |status| status["decided"].as_u64() > Some(number));
        }
    }

    /// Somebody who takes itself for a member comes to these members of now. It follows their line
    /// as far as they are; at each of them it is no member.
    pub(crate) fn comes(&self, stranger: &mut Actor, now: &[&str]) {
        let at: Vec<String> = now.iter().map(|name| self.who(name).locator.clone()).collect();
        stranger.start(&self.place, &at, &[]);
        stranger.until(&["status"], |status| status["head"] == head(self.who(now[0])).as_str());
        for name in now {
            let status = self.who(name).good(&["status"]);
            assert!(!roster(self.who(name)).contains(&stranger.id), "{name}: {status}");
        }
        // By its own clock, or from the others, it hears that it is none.
        stranger.until(&["roster"], |list| list.is_array() && !ids(list).contains(&stranger.id));
    }

    /// The folder of somebody as it is now, in a folder of the thief's. Nothing in it says where
    /// the others are.
    pub(crate) fn steal(&mut self, name: &str) -> Actor {
        self.kill(name);
        let victim = self.who(name);
        let stolen = self.place.path().join(format!("{name}-stolen"));
        std::fs::create_dir_all(&stolen).unwrap();
        for file in FILES.iter().filter(|file| victim.state.join(file).exists()) {
            std::fs::copy(victim.state.join(file), stolen.join(file)).unwrap();
        }
        forget_places(&stolen.join("member.sqlite"));
        let thief = Actor::of(stolen, &victim.id);
        self.start(name, &[]);
        thief
    }

    /// Whom they know to be in, who votes, and by which decision, as `folkmoot verify` reads it out
    /// of what somebody who does not run exports.
    pub(crate) fn exported(&self, who: &Actor, heads: &[&str]) -> (Output, Value) {
        let folder = self.place.path().join(format!("{}-file", who.state.file_name().unwrap().display()));
        let _ = std::fs::remove_dir_all(&folder);
        let to = folder.display().to_string();
        good(&who.state, &["export", &to]);
        let [charter, file] = [self.place.signed(), folder.join("transcript.moot")];
        let [charter, file] = [charter, file].map(|path| path.display().to_string());
        let mut line = vec!["verify", charter.as_str(), file.as_str()];
        line.extend(heads.iter().flat_map(|head| ["--head", head]));
        let output = call(&self.place.path().join("nobody"), &line);
        let told = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output, told)
    }

    /// A file that is refused by this rule.
    pub(crate) fn refused(&self, who: &Actor, heads: &[&str], rule: &str) -> String {
        let (output, told) = self.exported(who, heads);
        assert_eq!((code(&output), &told["rule"]), (1, &json!(rule)), "{told}");
        complaint(&output)
    }

    /// A file that stands.
    pub(crate) fn stands(&self, who: &Actor, heads: &[&str]) -> Value {
        let (output, told) = self.exported(who, heads);
        assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        told
    }
}

fn forget_places(path: &std::path::Path) {
    let mut store = Store::open(path).unwrap();
    let places = store.load().unwrap().into_iter().filter(|(key, _)| key.table == PLACES);
    let gone: Vec<Persist> = places.map(|(key, _)| Persist { key, value: None }).collect();
    store.commit(&gone).unwrap();
}

/// Whether an open proposal is the one that this command made.
fn is_of(one: &Value, line: &[&str]) -> bool {
    let name = one["name"].as_str().unwrap();
    match line {
        ["expel", ..] => name == line.join(" "),
        ["voters", ..] => name.starts_with("let these vote"),
        _ => name.starts_with("set "),
    }
}

/// Votes yes on the one open matter that fits.
pub(crate) fn agree(voter: &Actor, fits: impl Fn(&Value) -> bool) {
    let find = |list: &Value| list.as_array()?.iter().find(|one| fits(one)).cloned();
    let list = voter.until(&["vote", "list"], |list| find(list).is_some());
    let subject = find(&list).unwrap()["subject"].as_str().unwrap().to_owned();
    voter.until(&["vote", "approve", &subject], |told| !told.is_null());
}

pub(crate) fn decided(who: &Actor) -> u64 {
    who.good(&["status"])["decided"].as_u64().unwrap()
}

pub(crate) fn head(who: &Actor) -> String {
    who.good(&["status"])["head"].as_str().unwrap().to_owned()
}

/// The same in words, to be read out.
pub(crate) fn in_words(who: &Actor) -> String {
    who.good(&["status"])["head_words"].as_str().unwrap().to_owned()
}

/// What somebody's `folkmoot rules` says of one; null if it is not there.
pub(crate) fn rule(who: &Actor, name: &str) -> Value {
    let told = who.good(&["rules"]);
    let one = told["rules"].as_array().unwrap().iter().find(|one| one["rule"] == name);
    one.map_or(Value::Null, |one| one["value"].clone())
}

/// The ids of those who are in, as somebody's `folkmoot roster` says.
pub(crate) fn roster(who: &Actor) -> Vec<String> {
    ids(&who.good(&["roster"]))
}

/// The members in a list.
pub(crate) fn ids(list: &Value) -> Vec<String> {
    let all = list.as_array().unwrap().iter();
    let mut all: Vec<String> = all.map(|one| one["member"].as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

/// Tells somebody's node where another listens.
pub(crate) fn dial(who: &Actor, to: &Actor) {
    who.ask(&json!({ "op": "dial", "at": to.locator }));
}

/// Ends somebody's process. The next one begins at another place, and knows nobody's.
pub(crate) fn move_away(who: &mut Actor) {
    who.kill();
    forget_places(&who.state.join("member.sqlite"));
    who.locator.clear();
}
