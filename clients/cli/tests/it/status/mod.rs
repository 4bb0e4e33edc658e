//! `folkmoot status` and `folkmoot why` say who is in, who is not, and why: one group of real
//! processes lives through every reason. Exit codes on the way are those of docs/cli.md.
//!
//! ```text
//! founders come one by one   never-seen -> present          dora asks, one vote, two votes    not-admitted -> asking -> present
//! eve asks, two say no       join ends with 5; denied       dora leaves the group             left
//! cleo is cut off            silent, seen from either side  cleo is killed                    silent
//! frank's certificate ends   expired                        dora is expelled                  expelled; send ends with 7
//!
//! split.rs   only short datagrams pass        other-side, seen from either side
//!            anna and cleo are cut            ben is on a ring with one; the other is other-side
//! forms.rs   ben's charter lacks hybrid links never-seen, seen from either side, with the reason
//! aside.rs   cleo withholds one step          arriving -> set-aside; killed: silent; honest again: present
//! twice.rs   cleo's folder is copied, and runs   the earlier process ends; present, with the reason
//! side.rs    a minority may not send       it says so in status, doctor and send; the other side is whole
//! given_up.rs    unreliable messages find no ring    counted, and told
//! unread.rs  nobody reads anna's output        she answers, and stops as told, by each signal
//! ```

mod aside;
mod forms;
mod given_up;
mod side;
mod split;
mod twice;
mod unread;
mod withhold;

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::code;
use serde_json::{Value, json};

struct Cast {
    place: Place,
    anna: Actor,
    ben: Actor,
    cleo: Actor,
}

#[test]
fn why_tells_every_reason() {
    let place = Place::new("status");
    let [anna, ben, cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times { days: 1, ..Times::SHORT });
    let mut cast = Cast { place, anna, ben, cleo };
    cast.founders_come();
    let mut dora = cast.dora_asks();
    cast.eve_is_refused();
    cast.frank_runs_out();
    cast.dora_leaves(&mut dora);
    cast.a_cable_is_cut();
    cast.cleo_is_killed();
    cast.dora_is_expelled(&mut dora);
}

impl Cast {
    fn founders_come(&mut self) {
        self.anna.start(&self.place, &[], &[]);
        self.anna.why("ben", "never-seen");
        self.anna.why("nobody-of-that-name", "unknown");
        let known = [self.anna.locator.clone()];
        self.ben.start(&self.place, &known, &[]);
        self.cleo.start(&self.place, &known, &[]);
        for name in ["anna", "ben", "cleo"] {
            self.ben.why(name, "present");
        }
        let id = self.cleo.id.clone();
        self.anna.why(&id, "present");
        self.anna.why(&id[..8], "present");
        self.anna.why(&id.to_uppercase(), "present");
        let roster = self.anna.good(&["roster"]);
        assert_eq!(roster.as_array().unwrap().len(), 3);
    }

    fn guest(&self, name: &str, more: &[&str]) -> Actor {
        let mut guest = Actor::new(&self.place, name);
        guest.start(&self.place, &[self.anna.locator.clone(), self.ben.locator.clone()], more);
        guest
    }

    fn dora_asks(&mut self) -> Actor {
        let dora = self.guest("dora", &[]);
        dora.why("dora", "not-admitted");
        dora.ask(&json!({ "op": "apply" }));
        let asks = self.anna.why("dora", "asking");
        assert_eq!((asks["votes"]["have"].as_u64(), asks["votes"]["need"].as_u64()), (Some(0), Some(2)));
        let none = "has 0 of the 2 votes needed to be admitted (nobody has voted)";
        assert_eq!(asks["why"], none);
        assert_eq!(code(&dora.run(&["send", "let me in", "--timeout", "1"])), 6, "no key within that time");
        dora.why("dora", "asking");
        self.anna.good(&["vote", "approve", "dora"]);
        let asks = self.ben.until(&["why", "dora"], |told| told["votes"]["have"] == 1);
        assert_eq!(asks["votes"]["approved"], json!(["anna"]));
        assert!(
            asks["why"].as_str().unwrap().contains("1 of the 2 votes needed to be admitted (yes from anna)"),
            "{asks}"
        );
        self.ben.good(&["vote", "approve", "dora"]);
        self.cleo.why("dora", "present");
        dora
    }

    /// Three vote and two admit: two who say no are enough. `join` says so and ends.
    fn eve_is_refused(&self) {
        let mut eve = Actor::new(&self.place, "eve");
        let joining = eve.talk(&self.place, "join", &self.anna.locator);
        for voter in [&self.anna, &self.ben] {
            voter.why("eve", "asking");
            voter.good(&["vote", "reject", "eve"]);
        }
        let output = joining.end();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(code(&output), 5, "{complaint}");
        assert!(complaint.contains("the voters said no") && complaint.contains("refused"), "{complaint}");
        let asks = self.anna.why("eve", "asking");
        assert_eq!(asks["votes"]["rejected"], json!(["anna", "ben"]));
        // The answer stands: it is told again to whoever asks again.
        eve.start(&self.place, core::slice::from_ref(&self.anna.locator), &["--apply"]);
        let told = eve.why("eve", "denied");
        assert!(told["why"].as_str().unwrap().contains("the voters said no"), "{told}");
        eve.kill();
    }

    /// Certificates of this charter end after a day; Anna's clock is set two days forward.
    fn frank_runs_out(&mut self) {
        let mut frank = self.guest("frank", &["--apply"]);
        for voter in [&self.anna, &self.ben] {
            voter.why("frank", "asking");
            voter.good(&["vote", "approve", "frank"]);
        }
        self.cleo.why("frank", "present");
        frank.kill();
        // Dora's certificate must not end with it: only her process is not there to be missed.
        self.anna.why("frank", "silent");
    }

    fn dora_leaves(&mut self, dora: &mut Actor) {
        dora.ask(&json!({ "op": "leave" }));
        self.anna.why("dora", "left");
        dora.why("dora", "left");
        // Nobody misses who left: her process may stop, and come back without a word.
        dora.kill();
        self.anna.until(&["status"], |status| status["activity"] == "steady");
        self.anna.why("dora", "left");
        let known = [self.anna.locator.clone()];
        dora.start(&self.place, &known, &[]);
        self.anna.why("dora", "present");
        dora.ask(&json!({ "op": "leave" }));
        self.anna.why("dora", "left");
    }

    /// Cleo's cables are cut: from either side of the split the other is silent.
    fn a_cable_is_cut(&self) {
        self.cleo.cut(&[&self.anna, &self.ben]);
        self.anna.why("cleo", "silent");
        self.cleo.why("anna", "silent");
        self.ben.why("anna", "present");
        self.cleo.heal();
        self.anna.why("cleo", "present");
        self.ben.why("anna", "present");
    }

    fn cleo_is_killed(&mut self) {
        self.cleo.kill();
        let told = self.anna.why("cleo", "silent");
        assert!(told["seconds_ago"].as_u64().unwrap() < 60);
        let since = told["since"].as_str().unwrap();
        assert!(told["why"].as_str().unwrap().contains(since), "{told}");
    }

    fn dora_is_expelled(&mut self, dora: &mut Actor) {
        self.anna.good(&["expel", "dora"]);
        let open = |list: &Value| list.as_array().unwrap().iter().any(|one| one["name"] == "expel dora");
        self.ben.until(&["vote", "list"], open);
        // A proposal outlives the process that heard it.
        self.ben.kill();
        self.ben.start(&self.place, core::slice::from_ref(&self.anna.locator), &[]);
        let known = self.ben.until(&["vote", "list"], open);
        let find =
            |list: &Value| list.as_array().unwrap().iter().find(|one| one["name"] == "expel dora").cloned();
        assert_eq!(find(&known).unwrap()["proposer"], "anna");
        // Anna's vote is told again to whoever comes back.
        self.ben.until(&["vote", "list"], |list| find(list).unwrap()["approved"] == json!(["anna"]));
        let subject = find(&known).unwrap()["subject"].as_str().unwrap()[..8].to_owned();
        self.ben.good(&["vote", "approve", &subject]);
        self.anna.why("dora", "expelled");
        self.ben.why("dora", "expelled");
        dora.until(&["why", "dora"], |told| told["state"] == "expelled");
        let refused = dora.run(&["send", "still here", "--timeout", "40"]);
        assert_eq!(code(&refused), 7, "{}", String::from_utf8_lossy(&refused.stderr));
        // The same group two days later: Frank's certificate has ended.
        let known = [self.ben.locator.clone()];
        self.anna.kill();
        self.anna.start(&self.place, &known, &["--clock-ahead", "172800"]);
        let told = self.anna.why("frank", "expired");
        let since = told["since"].as_str().unwrap();
        assert_eq!(told["why"], format!("its certificate ended at {since}; it may ask for admission again"));
        // By ben's clock it has not: nobody takes another's word for what time it is.
        self.ben.why("frank", "never-seen");
        self.ben.kill();
        let known = [self.anna.locator.clone()];
        self.ben.start(&self.place, &known, &["--clock-ahead", "172800"]);
        self.ben.why("frank", "expired");
        self.ben.why("anna", "present");
    }
}
