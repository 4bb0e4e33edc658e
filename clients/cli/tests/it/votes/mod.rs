//! What is voted on is found by its name, whatever its kind; a word that fits two is refused with a
//! list; an order that the member refuses is not reported as done.
//!
//! ```text
//! two strangers called dora   by name: refused, both listed    by digits: admitted
//! eve is expelled             by her name alone: nothing       by the proposal's words: expelled
//! module and cipher change    one after the other, in the group that stands: a new key each time, no new view
//! three proposals at once     each answer names its own count, who said yes and who no; a mind is changed
//! the threshold is changed    by the proposal's words          to what cannot be: refused, and why
//! a voter hears nobody        the answer says that the vote waits; later it counts
//! ```

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, complaint};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Who was expelled is gone from the roster at once, and from the view only with the next one.
fn all_in_one_view(all: &[&Actor]) {
    let begun = Instant::now();
    loop {
        let views: Vec<_> = all.iter().map(|one| one.ask(&json!({ "op": "view" }))).collect();
        let alone = views[0]["members"].as_array().is_some_and(|held| held.len() == all.len());
        if alone && views.iter().all(|view| view["steady"] == true && view["view"] == views[0]["view"]) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "not in one view: {views:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

struct Cast {
    place: Place,
    anna: Actor,
    ben: Actor,
}

#[test]
fn votes_go_to_what_is_named_or_to_nothing() {
    let place = Place::new("votes");
    let [mut anna, mut ben, cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    let cast = Cast { place, anna, ben };
    let doras = cast.two_of_one_name();
    cast.a_name_alone_expels_nobody();
    cast.the_module_and_the_cipher_are_changed(&doras[0]);
    cast.each_answer_says_what_became_of_the_vote();
    cast.the_charter_is_changed();
    cast.who_has_no_vote_is_told_so(&doras[0]);
    cast.a_vote_that_nobody_orders_waits();
}

impl Cast {
    /// A stranger with this name, in a folder of its own, asks.
    fn guest(&self, folder: &str, name: &str) -> Actor {
        let mut guest = Actor::called(&self.place, folder, name);
        guest.start(&self.place, &[self.anna.locator.clone(), self.ben.locator.clone()], &["--apply"]);
        guest
    }

    fn open(&self, who: &Actor, fits: impl Fn(&Value) -> bool) -> Value {
        let find = |list: &Value| list.as_array().unwrap().iter().find(|one| fits(one)).cloned();
        find(&who.until(&["vote", "list"], |list| find(list).is_some())).unwrap()
    }

    fn request(&self, who: &Actor, of: &Actor) -> String {
        let one = self.open(who, |one| one["member"] == of.id.as_str());
        one["subject"].as_str().unwrap().to_owned()
    }

    fn two_of_one_name(&self) -> [Actor; 2] {
        let doras = ["dora-1", "dora-2"].map(|folder| self.guest(folder, "dora"));
        let subjects = [&doras[0], &doras[1]].map(|dora| self.request(&self.anna, dora));
        let refused = self.anna.run(&["vote", "approve", "dora"]);
        assert_eq!(code(&refused), 2);
        let listed = complaint(&refused);
        for subject in &subjects {
            assert!(listed.contains(&subject[..8]) && listed.contains("request \"dora≈"), "{listed}");
        }
        let list = self.anna.good(&["vote", "list"]);
        assert!(list.as_array().unwrap().iter().all(|one| one["have"] == 0), "{list}");

        for voter in [&self.anna, &self.ben] {
            self.request(voter, &doras[0]);
            let voted = voter.good(&["vote", "approve", &subjects[0][..8]]);
            let told = format!("dora≈{}", &doras[0].id[..8]);
            assert_eq!((&voted["kind"], &voted["about"]), (&json!("request"), &json!(told)));
            assert_eq!(voted["state"], "counted", "{voted}");
        }
        self.anna.why(&doras[0].id, "present");
        self.anna.why(&doras[1].id, "asking");
        // Both are still called so: whoever asks about one of them is told of the other.
        let unclear = self.anna.run(&["why", "dora"]);
        assert_eq!(code(&unclear), 2);
        assert!(complaint(&unclear).contains("asking \"dora≈"), "{}", complaint(&unclear));
        doras
    }

    fn a_name_alone_expels_nobody(&self) {
        let eve = self.guest("eve", "eve");
        for voter in [&self.anna, &self.ben] {
            self.request(voter, &eve);
            voter.good(&["vote", "approve", "eve"]);
        }
        self.anna.why("eve", "present");
        self.anna.good(&["expel", "eve"]);
        let proposal = self.open(&self.ben, |one| one["name"] == "expel eve");
        let refused = self.ben.run(&["vote", "approve", "eve"]);
        assert_eq!(code(&refused), 1, "she asks for nothing");
        let digits = &proposal["subject"].as_str().unwrap()[..8];
        let hint = format!("proposal \"expel eve\" {digits}");
        assert!(complaint(&refused).contains(&hint), "{}", complaint(&refused));
        let voted = self.ben.good(&["vote", "approve", "expel", "eve"]);
        assert_eq!(voted["kind"], "proposal");
        self.anna.why("eve", "expelled");
        let refused = self.anna.run(&["expel", "eve"]);
        assert_eq!(code(&refused), 1, "no member any more");
    }

    /// Anna proposes, once her charter allows it; Ben agrees.
    fn change(&self, field: &str, value: &str) {
        self.anna.until(&["charter", "change", field, value], |told| !told.is_null());
        let words = format!("set {field} = {value} in the charter");
        self.open(&self.ben, |one| one["name"] == words.as_str());
        self.ben.good(&["vote", "approve", &words]);
    }

    fn the_module_and_the_cipher_are_changed(&self, dora: &Actor) {
        let all = [&self.anna, &self.ben, dora];
        all_in_one_view(&all);
        let before = self.anna.good(&["status"]);
        // Which of the two it is depends on how long round trips take here.
        assert!([json!("gdh"), json!("tgdh")].contains(&before["module"]), "{before}");
        assert_eq!(before["cipher"], "aes-256-gcm");
        let refused = self.anna.run(&["charter", "change", "keying", "mls"]);
        assert_eq!(code(&refused), 5);
        assert!(complaint(&refused).contains("contributory must be false"), "{}", complaint(&refused));
        self.change("contributory", "false");
        self.change("keying", "mls");
        self.change("cipher", "chacha20-poly1305");
        let moved = |told: &Value| told["module"] == "mls" && told["cipher"] == "chacha20-poly1305";
        let after = all.map(|one| one.until(&["status"], moved));
        for told in &after {
            assert_eq!(
                (&told["view"], &told["epoch"]),
                (&before["view"], &after[0]["epoch"]),
                "no new view, one key"
            );
        }
        assert_ne!(before["epoch"], after[0]["epoch"]);
        dora.good(&["send", "under the new key"]);
    }

    fn the_charter_is_changed(&self) {
        for (field, value, why) in [("threshold", "none", "cannot become"), ("threshold", "2", "already")] {
            let refused = self.anna.run(&["charter", "change", field, value]);
            assert_eq!(code(&refused), 5);
            assert!(complaint(&refused).contains(why), "{}", complaint(&refused));
        }
        self.anna.good(&["charter", "change", "threshold", "3"]);
        self.open(&self.ben, |one| one["name"] == "set threshold = 3 in the charter");
        self.ben.good(&["vote", "approve", "set threshold = 3"]);
        // The second dora asks again under the new rule.
        self.open(&self.ben, |one| one["kind"] == "request" && one["need"] == 3);
    }

    /// The admitted vote from the next electorate on, and the electorate is still the founders.
    fn who_has_no_vote_is_told_so(&self, dora: &Actor) {
        let open = self.open(dora, |one| one["kind"] == "request");
        let refused = dora.run(&["vote", "approve", &open["subject"].as_str().unwrap()[..8]]);
        assert_eq!(code(&refused), 5);
        assert!(complaint(&refused).contains("no vote"), "{}", complaint(&refused));
    }

    /// Three are open at once, and Ben changes his mind.
    fn each_answer_says_what_became_of_the_vote(&self) {
        let changes = [("request_hours", "24"), ("certificate_days", "200"), ("cipher", "aes-256-gcm")];
        for (field, value) in changes {
            self.anna.until(&["charter", "change", field, value], |told| !told.is_null());
        }
        for (field, value) in changes {
            let words = format!("set {field} = {value} in the charter");
            self.open(&self.ben, |one| one["name"] == words.as_str());
        }
        for (field, value) in &changes[..2] {
            let about = format!("set {field} = {value} in the charter");
            let told = self.ben.good(&["vote", "reject", &about]);
            assert_eq!((&told["about"], &told["approve"]), (&json!(about), &json!(false)), "{told}");
            assert_eq!(
                (&told["state"], &told["have"], &told["need"]),
                (&json!("counted"), &json!(1), &json!(2))
            );
            let who = (&told["approved"], &told["rejected"], &told["waits"]);
            assert_eq!(who, (&json!(["anna"]), &json!(["ben"]), &json!("votes")), "{told}");
        }
        let told = self.ben.good(&["vote", "approve", "set request_hours = 24 in the charter"]);
        assert_eq!(
            (&told["state"], &told["have"], &told["rejected"]),
            (&json!("counted"), &json!(2), &json!([]))
        );
        assert!(told["waits"] == "decision" || told["over"] == "decided", "{told}");
        let told = self.anna.good(&["vote", "approve", "set certificate_days = 200 in the charter"]);
        assert_eq!(
            (&told["have"], &told["rejected"], &told["over"]),
            (&json!(1), &json!(["ben"]), &json!(null))
        );
        self.anna.until(&["vote", "list"], |list| {
            list.as_array().is_some_and(|open| {
                open.iter().all(|one| one["name"] != "set request_hours = 24 in the charter")
            })
        });
    }

    /// Ben hears nobody: until his node orders by itself or hears others again, his vote waits.
    fn a_vote_that_nobody_orders_waits(&self) {
        let words = "set cipher = aes-256-gcm in the charter";
        self.open(&self.ben, |one| one["name"] == words);
        self.ben.cut(&[&self.anna]);
        // If the token was just with his node, that orders once more, and passes it on in vain.
        std::thread::sleep(Duration::from_millis(300));
        let told = self.ben.good(&["vote", "approve", "--timeout", "0", words]);
        assert_eq!((&told["state"], &told["waits"]), (&json!("waiting"), &json!("order")), "{told}");
        assert_eq!((&told["have"], &told["approved"]), (&json!(1), &json!(["anna"])), "{told}");
        self.ben.heal();
        let counted = |list: &Value| {
            let mut all = list.as_array().into_iter().flatten();
            all.any(|one| one["name"] == words && one["approved"] == json!(["anna", "ben"]))
        };
        self.anna.until(&["vote", "list"], counted);
    }
}
