//! Drawn sequences of proposals, votes, withdrawals and restarts by five members. After each step
//! what a member says by the command line is what its transcript holds: `export` of a copy of its
//! folder, read by `verify`, which shares nothing with the member that runs.
//!
//! `FOLKMOOT_VOTE_SEQUENCES` says how many sequences: 3, or 200 for a release. `FOLKMOOT_VOTE_SEED`
//! draws others. One sequence takes about 5 s, with a debug build and two cores that are free.

mod picture;

use crate::common::actor::Actor;
use crate::common::draw::Draw;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code};
use picture::{Picture, held, lie, names, said};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const MEMBERS: [&str; 5] = ["anna", "ben", "cleo", "dan", "eve"];
/// Steps of one sequence.
const STEPS: usize = 8;
/// A member that has not caught up with its own answer after so long is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

struct Table {
    place: Place,
    actors: Vec<Actor>,
    draw: Draw,
    copies: usize,
}

#[test]
fn what_members_say_is_what_their_transcripts_hold() {
    let sequences = Draw::setting("FOLKMOOT_VOTE_SEQUENCES", 3);
    let seed = Draw::setting("FOLKMOOT_VOTE_SEED", 1);
    let place = Place::new("drawn-votes");
    let mut actors: Vec<Actor> = MEMBERS.iter().map(|name| Actor::new(&place, name)).collect();
    let founders: Vec<&Path> = actors.iter().map(|one| one.state.as_path()).collect();
    place.found_with(&founders, Times::PATIENT, &["--votes", "3"]);
    actors[0].start(&place, &[], &[]);
    let at = [actors[0].locator.clone()];
    actors.iter_mut().skip(1).for_each(|one| one.start(&place, &at, &[]));
    MEMBERS.iter().skip(1).for_each(|name| drop(actors[0].why(name, "present")));
    let mut table = Table { place, actors, draw: Draw::new(seed), copies: 0 };
    for sequence in 0..sequences {
        for step in 0..STEPS {
            let (who, done) = table.step();
            println!("sequence {sequence}, step {step}: {done}");
            let step = format!("seed {seed}, sequence {sequence}, step {step}: {done}");
            // Whoever acts, and somebody else.
            let other = (who + 1 + table.draw.below(MEMBERS.len() - 1)) % MEMBERS.len();
            [who, other].into_iter().for_each(|one| table.look(one, &step));
        }
    }
    table.all_agree();
}

impl Table {
    /// Who does something, and what.
    fn step(&mut self) -> (usize, String) {
        let who = self.draw.below(MEMBERS.len());
        let done = match self.draw.below(10) {
            0..=2 => self.propose(who),
            3..=6 => self.vote(who),
            7 | 8 => self.withdraw(who),
            _ => self.restart(who),
        };
        (who, done)
    }

    fn propose(&mut self, who: usize) -> String {
        let fields = ["request_hours", "certificate_days", "objections"];
        let (field, value) = (fields[self.draw.below(3)], (2 + self.draw.below(4)).to_string());
        let done = self.actors[who].run(&["charter", "change", field, &value]);
        // It may be so already, or so many may have said no that it cannot be.
        assert!(matches!(code(&done), 0 | 5), "{}", String::from_utf8_lossy(&done.stderr));
        format!("{} proposes {field} = {value}: {}", MEMBERS[who], code(&done))
    }

    fn open(&self, who: usize) -> Vec<Value> {
        self.actors[who].good(&["vote", "list"]).as_array().unwrap().clone()
    }

    fn vote(&mut self, who: usize) -> String {
        let open = self.open(who);
        if open.is_empty() {
            return self.propose(who);
        }
        let subject = open[self.draw.below(open.len())]["subject"].as_str().unwrap().to_owned();
        let word = ["approve", "approve", "approve", "reject"][self.draw.below(4)];
        let before = self.transcript(who);
        let done = self.actors[who].run(&["vote", word, "--timeout", "10", &subject]);
        let step = format!("{} votes {word} on {}: {}", MEMBERS[who], &subject[..8], code(&done));
        // It may have ended meanwhile.
        if code(&done) == 0 {
            let told: Value = serde_json::from_slice(&done.stdout).unwrap();
            let held = self.transcript(who);
            assert_eq!(lie(&told, [&before, &held], MEMBERS[who], word), None, "{step}");
        } else {
            assert!(matches!(code(&done), 1 | 5), "{step}: {}", String::from_utf8_lossy(&done.stderr));
        }
        step
    }

    fn withdraw(&mut self, who: usize) -> String {
        let own: Vec<Value> =
            self.open(who).into_iter().filter(|one| one["proposer"] == MEMBERS[who]).collect();
        if own.is_empty() {
            return self.vote(who);
        }
        let subject = own[self.draw.below(own.len())]["subject"].as_str().unwrap().to_owned();
        let done = self.actors[who].run(&["withdraw", &subject]);
        let step = format!("{} withdraws {}: {}", MEMBERS[who], &subject[..8], code(&done));
        assert!(matches!(code(&done), 0 | 1), "{step}: {}", String::from_utf8_lossy(&done.stderr));
        let open = self.open(who).into_iter().find(|one| one["subject"] == subject.as_str());
        match code(&done) {
            0 => assert_eq!(open, None, "{step}"),
            _ => assert!(open.is_none_or(|one| !names(&one["approved"]).contains(MEMBERS[who])), "{step}"),
        }
        let held = self.transcript(who).votes.remove(&subject);
        assert!(held.is_none_or(|[yes, _]| !yes.contains(MEMBERS[who])), "{step}");
        step
    }

    fn restart(&mut self, who: usize) -> String {
        let at: Vec<String> = self.actors.iter().map(|one| one.locator.clone()).collect();
        self.actors[who].kill();
        self.actors[who].start(&self.place, &at, &[]);
        for other in MEMBERS {
            self.actors[who].why(other, "present");
        }
        format!("{} restarts", MEMBERS[who])
    }

    /// What a member says is what its transcript holds.
    fn look(&mut self, who: usize, step: &str) {
        let begun = Instant::now();
        loop {
            let (before, said, held, after) =
                (self.transcript(who), self.said(who), self.transcript(who), self.said(who));
            if before == said && said == held {
                return;
            }
            // It moved on while we looked.
            let moved = before != held || said != after;
            let late = begun.elapsed() > PATIENCE;
            assert!(moved || !late, "{}, {step}: says {said:#?}, holds {held:#?}", MEMBERS[who]);
            assert!(begun.elapsed() < 3 * PATIENCE, "{}, {step}: never at rest", MEMBERS[who]);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// By the command line.
    fn said(&self, who: usize) -> Picture {
        let actor = &self.actors[who];
        said(&actor.good(&["status"]), &actor.good(&["rules"]), &actor.good(&["vote", "list"]))
    }

    /// From a copy of its folder, offline.
    fn transcript(&mut self, who: usize) -> Picture {
        self.copies += 1;
        let copy = self.place.path().join(format!("copy-{}", self.copies));
        let charter = self.place.signed().display().to_string();
        let begun = Instant::now();
        let told = loop {
            copy_folder(&self.actors[who].state, &copy);
            let to = copy.join("export").display().to_string();
            let exported = call(&copy, &["export", &to]);
            let verified = call(&copy, &["verify", &charter, &format!("{to}/transcript.moot")]);
            if code(&exported) == 0 && code(&verified) == 0 {
                break serde_json::from_slice::<Value>(&verified.stdout).unwrap();
            }
            // The member wrote while its files were copied.
            let why = [exported.stderr, verified.stderr].concat();
            assert!(begun.elapsed() < PATIENCE, "{}", String::from_utf8_lossy(&why));
        };
        std::fs::remove_dir_all(&copy).unwrap();
        self.picture(&told)
    }

    fn picture(&self, told: &Value) -> Picture {
        held(told, |id| {
            let at = self.actors.iter().position(|one| id == one.id.as_str()).unwrap();
            MEMBERS[at].to_owned()
        })
    }

    /// At rest, all say the same.
    fn all_agree(&mut self) {
        let begun = Instant::now();
        loop {
            let said: Vec<Picture> = (0..MEMBERS.len()).map(|who| self.said(who)).collect();
            if said.iter().all(|one| *one == said[0]) {
                return;
            }
            assert!(begun.elapsed() < 3 * PATIENCE, "{said:#?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).unwrap();
    for name in ["identity.key", "identity.pem", "charter.cms", "member.sqlite", "member.sqlite-wal"] {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}
