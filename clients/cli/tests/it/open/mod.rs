//! What is open to votes: what it takes, who takes it back, and what becomes of it; and the rules
//! that come of it.
//!
//! ```text
//! anna, ben, cleo, finn; three votes; removals with one of security (cleo)
//! a proposal that its proposer takes back      over at everybody, if nobody else said yes; else theirs
//! two proposals about one rule                 one is decided, and the other is told to be over
//! a stranger takes its request back            by folkmoot withdraw, or by Ctrl-C: exit code 7
//! a member renews                              told as a renewal
//! ```

mod drawn;

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, complaint, program};
use serde_json::{Value, json};
use std::process::{Child, Stdio};

struct Cast {
    place: Place,
    anna: Actor,
    ben: Actor,
    cleo: Actor,
    /// Says nothing.
    _finn: Actor,
    /// All that Ben's member tells.
    heard: Option<Child>,
}

fn named<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|one| one["name"] == name)
}

#[test]
fn what_is_open_says_what_it_takes_and_what_became_of_it() {
    let place = Place::new("open");
    let [mut anna, mut ben, mut cleo, mut finn] =
        ["anna", "ben", "cleo", "finn"].map(|name| Actor::new(&place, name));
    let security = format!("security={}", cleo.state.join("identity.pem").display());
    let founders = [&anna, &ben, &cleo, &finn].map(|one| one.state.as_path());
    let rules = ["--votes", "3", "--role", &security, "--remove", "1 of security", "--admit", "2 of all"];
    place.found_with(&founders, Times::PATIENT, &rules);
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    ben.start(&place, &at, &[]);
    cleo.start(&place, &at, &[]);
    finn.start(&place, &at, &[]);
    for name in ["ben", "cleo", "finn"] {
        anna.why(name, "present");
    }
    let mut heard = program(&ben.state);
    heard.args(["receive", "--timeout", "600"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let heard = Some(heard.spawn().unwrap());
    let mut cast = Cast { place, anna, ben, cleo, _finn: finn, heard };
    cast.the_founding_text_is_marked();
    cast.a_removal_says_what_its_rule_asks();
    cast.a_proposal_is_taken_back();
    cast.of_two_about_one_rule_the_other_is_over();
    cast.a_stranger_asks_no_more();
    cast.ctrl_c_takes_the_request_back();
    cast.a_renewal_is_told_as_one();
    cast.all_was_announced();
}

impl Cast {
    fn propose(&self, field: &str, value: &str) -> String {
        self.anna.good(&["charter", "change", field, value]);
        let words = format!("set {field} = {value} in the charter");
        for one in [&self.anna, &self.ben, &self.cleo] {
            one.until(&["vote", "list"], |list| named(list, &words).is_some_and(|one| one["have"] == 1));
        }
        words
    }

    fn the_founding_text_is_marked(&self) {
        let shown = self.anna.good(&["charter", "show"]);
        assert_eq!(shown["founding"], true);
        let verified = self.anna.good(&["charter", "verify"]);
        let rules = verified["rules"].as_array().unwrap();
        let value =
            |rule: &str| rules.iter().find(|one| one["rule"] == rule).unwrap()["value"].as_str().unwrap();
        assert_eq!((value("threshold"), value("remove"), value("letters")), ("3", "1 of security", "false"));
        assert_eq!(value("roles.security"), format!("cleo ({})", &self.cleo.id[..8]));
        assert_eq!(
            (value("keying"), value("cipher"), value("mode")),
            ("by-size", "aes-256-gcm", "decentralised")
        );
        assert_eq!(verified["keys"][0]["words"].as_str().unwrap().split(' ').count(), 8);
        // Whoever signs is shown all of it.
        let [draft, out] = ["charter.toml", "again.cms"].map(|name| self.place.path().join(name));
        let [draft, out] = [draft, out].map(|path| path.display().to_string());
        let signed = self.anna.good(&["charter", "sign", &draft, "--out", &out]);
        assert_eq!((&signed["rules"], &signed["keys"]), (&verified["rules"], &verified["keys"]));
        let rules = self.anna.good(&["rules"]);
        assert!(rules["rules"].as_array().unwrap().iter().all(|one| one["since"] == 0), "{rules}");
    }

    fn a_removal_says_what_its_rule_asks(&self) {
        self.anna.good(&["expel", "ben"]);
        let list = self.cleo.until(&["vote", "list"], |list| {
            named(list, "expel ben").is_some_and(|one| one["approved"] == json!(["anna"]))
        });
        let one = named(&list, "expel ben").unwrap();
        assert_eq!(one["needs"], "3 of 4 voters and 1 of security (has 0)");
        let taken = self.anna.good(&["withdraw", "expel", "ben"]);
        assert_eq!((&taken["state"], &taken["approved"]), (&json!("withdrawn"), &json!([])), "{taken}");
        self.nothing_open();
    }

    fn nothing_open(&self) {
        for one in [&self.anna, &self.ben, &self.cleo] {
            one.until(&["vote", "list"], |list| list == &json!([]));
        }
    }

    fn a_proposal_is_taken_back(&self) {
        let words = self.propose("request_hours", "24");
        let refused = self.ben.run(&["withdraw", &words]);
        assert_eq!(code(&refused), 5, "another's proposal");
        assert!(complaint(&refused).contains("whoever asked or proposed"), "{}", complaint(&refused));
        let voted = self.ben.good(&["vote", "approve", &words]);
        assert_eq!((&voted["state"], &voted["waits"]), (&json!("counted"), &json!("votes")), "{voted}");
        self.anna.until(&["vote", "list"], |list| named(list, &words).is_some_and(|one| one["have"] == 2));
        // Ben has said yes to it: it goes on as his.
        let taken = self.anna.run(&["withdraw", &words]);
        assert_eq!(code(&taken), 1);
        let taken: Value = serde_json::from_slice(&taken.stdout).unwrap();
        assert_eq!((&taken["state"], &taken["approved"]), (&json!("open"), &json!(["ben"])));
        let theirs = |list: &Value| {
            named(list, &words)
                .is_some_and(|one| one["approved"] == json!(["ben"]) && one["rejected"] == json!(["anna"]))
        };
        self.cleo.until(&["vote", "list"], theirs);
        self.ben.good(&["vote", "reject", &words]);
        self.nothing_open();
        // It may be proposed again.
        self.propose("request_hours", "24");
    }

    fn of_two_about_one_rule_the_other_is_over(&self) {
        let (other, words) = ("set request_hours = 24 in the charter", self.propose("request_hours", "48"));
        for one in [&self.ben, &self.cleo] {
            one.good(&["vote", "approve", &words]);
        }
        self.nothing_open();
        let refused = self.ben.run(&["vote", "approve", other]);
        assert_eq!(code(&refused), 1, "{}", complaint(&refused));
        for one in [&self.anna, &self.cleo] {
            let told = one.good(&["rules"]);
            let rule =
                told["rules"].as_array().unwrap().iter().find(|one| one["rule"] == "request_hours").unwrap();
            assert_eq!((&rule["value"], &rule["since"]), (&json!("48"), &json!(1)), "{rule}");
            assert_eq!(rule["approved"], json!(["anna", "ben", "cleo"]));
        }
    }

    fn a_stranger_asks_no_more(&self) {
        let mut eve = Actor::new(&self.place, "eve");
        eve.start(&self.place, std::slice::from_ref(&self.anna.locator), &["--apply"]);
        self.ben.until(&["vote", "list"], |list| named(list, "eve").is_some());
        let taken = eve.good(&["withdraw"]);
        assert_eq!(taken["known"], true, "{taken}");
        self.nothing_open();
        assert_eq!(code(&self.anna.run(&["withdraw"])), 2, "a member asks for nothing");
    }

    fn ctrl_c_takes_the_request_back(&self) {
        let dan = Actor::new(&self.place, "dan");
        let talk = dan.talk(&self.place, "join", &self.anna.locator);
        self.ben.until(&["vote", "list"], |list| named(list, "dan").is_some());
        talk.interrupt();
        let end = talk.end();
        let said = String::from_utf8_lossy(&end.stderr).into_owned();
        assert_eq!(code(&end), 7, "{said}");
        assert!(said.contains("the request is withdrawn"), "{said}");
        self.nothing_open();
    }

    fn a_renewal_is_told_as_one(&self) {
        let mut dora = Actor::new(&self.place, "dora");
        dora.start(&self.place, std::slice::from_ref(&self.anna.locator), &["--apply"]);
        for voter in [&self.anna, &self.ben, &self.cleo] {
            voter.until(&["vote", "approve", "dora"], |told| !told.is_null());
        }
        self.anna.why("dora", "present");
        dora.good(&["renew"]);
        let list = self.ben.until(&["vote", "list"], |list| named(list, "dora").is_some());
        assert_eq!(named(&list, "dora").unwrap()["kind"], "renewal");
        let voted = self.ben.good(&["vote", "approve", "dora"]);
        assert_eq!(voted["kind"], "renewal");
        dora.good(&["withdraw", "dora"]);
        self.nothing_open();
    }

    fn all_was_announced(&mut self) {
        let mut heard = self.heard.take().unwrap();
        self.ben.kill();
        let heard = {
            let mut said = String::new();
            std::io::Read::read_to_string(heard.stdout.as_mut().unwrap(), &mut said).unwrap();
            heard.wait().unwrap();
            said
        };
        let events: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let closed: Vec<[&str; 3]> = events
            .iter()
            .filter(|one| one["event"] == "closed")
            .map(|one| ["kind", "name", "why"].map(|field| one[field].as_str().unwrap()))
            .collect();
        let hours = |hours: u32| format!("set request_hours = {hours} in the charter");
        assert_eq!(
            closed,
            [
                ["proposal", "expel ben", "withdrawn"],
                ["proposal", &hours(24), "rejected"],
                ["proposal", &hours(48), "granted"],
                ["proposal", &hours(24), "overtaken"],
                ["request", "eve", "withdrawn"],
                ["request", "dan", "withdrawn"],
                ["request", "dora", "granted"],
                ["renewal", "dora", "withdrawn"],
            ]
        );
        let asked = events.iter().filter(|one| one["event"] == "request" && one["name"] == "dora");
        let kinds: Vec<&str> = asked.map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["request", "renewal"]);
    }
}
