//! Who comes in and who goes, by the charter's word, with real processes.
//!
//! ```text
//! rules      2 of operators and 1 of security, or 3 of owners     one side, the other side, and neither
//! out of reach   the only one of security is expelled             refused; with --force warned, voted on, carried out
//! objections     two say no                                       refused for good; asked anew, admitted
//! hook           a program votes                                  yes, no, wait; broken is to wait, and told
//! the end        a request of one day                             is over a day later, for whoever brings it
//! list, founder  without votes; by one vote
//! ```

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DAY: &str = "90000";

/// A group whose founders all run.
struct Cast {
    place: Place,
    people: Vec<Actor>,
}

impl Cast {
    /// Founders by these names; `rules` are options of `charter new`, in which `@name` is a
    /// founder's file.
    fn new(place: &str, names: &[&str], rules: &[&str], more: &[&[&str]]) -> Self {
        let place = Place::new(place);
        let mut people: Vec<Actor> = names.iter().map(|name| Actor::new(&place, name)).collect();
        let file = |rule: &&str| {
            names.iter().fold((*rule).to_owned(), |rule, name| {
                let path = place.path().join(name).join("identity.pem");
                rule.replace(&format!("@{name}"), &path.display().to_string())
            })
        };
        let rules: Vec<String> = rules.iter().map(file).collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let folders: Vec<PathBuf> = people.iter().map(|one| one.state.clone()).collect();
        let folders: Vec<_> = folders.iter().map(PathBuf::as_path).collect();
        place.found_with(&folders, Times::PATIENT, &rules);
        let mut at = Vec::new();
        for (which, one) in people.iter_mut().enumerate() {
            one.start(&place, &at, more.get(which).copied().unwrap_or_default());
            at.truncate(0);
            at.push(one.locator.clone());
        }
        for one in &names[1..] {
            people[0].why(one, "present");
        }
        Self { place, people }
    }

    fn who(&self, name: &str) -> &Actor {
        self.people.iter().find(|one| one.state.ends_with(name)).unwrap()
    }

    fn guest(&self, name: &str, more: &[&str]) -> Actor {
        let mut guest = Actor::new(&self.place, name);
        let more: Vec<&str> = ["--apply"].iter().chain(more).copied().collect();
        guest.start(&self.place, &[self.people[0].locator.clone()], &more);
        guest
    }

    fn vote(&self, voter: &str, how: &str, subject: &str) {
        let open = |list: &Value| list.as_array().unwrap().iter().any(|one| one["name"] == subject);
        self.who(voter).until(&["vote", "list"], open);
        self.who(voter).good(&["vote", how, subject]);
    }

    /// The request of `name`, as `who` sees it, once it is as it shall be.
    fn request(&self, who: &str, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let find = |list: &Value| {
            let list = list.as_array().cloned().unwrap_or_default();
            list.into_iter().find(|one| one["name"] == name && fits(one))
        };
        find(&self.who(who).until(&["vote", "list"], |list| find(list).is_some())).unwrap()
    }

    /// Whether a guest was told that it is not admitted.
    fn is_denied(&self, guest: &Actor, why: &str) {
        let said = |view: &Value| {
            view["people"].as_array().is_some_and(|people| {
                people
                    .iter()
                    .any(|one| one["state"] == "denied" && one["why"].as_str().unwrap().contains(why))
            })
        };
        guest.until(&["status"], said);
    }
}

const ROLES: [&str; 6] =
    ["--role", "operators=@anna,@ben", "--role", "security=@cleo", "--role", "owners=@anna,@cleo,@dan"];

#[test]
fn a_rule_over_roles_admits_and_what_puts_it_out_of_reach_takes_force() {
    let rule = "2 of operators and 1 of security or 3 of owners";
    let rules: Vec<&str> = ["--admit", rule].iter().chain(&ROLES).copied().collect();
    let cast = Cast::new("rules", &["anna", "ben", "cleo", "dan"], &rules, &[]);
    let told = good(&cast.who("anna").state, &["verify", &cast.place.signed().display().to_string()]);
    assert_eq!(told["admits"], format!("2 votes admit, among them {rule}"));

    let dora = cast.guest("dora", &[]);
    cast.vote("anna", "approve", "dora");
    cast.vote("ben", "approve", "dora");
    let open = cast.request("dan", "dora", |one| one["have"] == 2);
    let tally = "2 of operators (has 2) and 1 of security (has 0) or 3 of owners (has 1)";
    assert_eq!((&open["rule"], &open["need"]), (&json!(tally), &json!(3)));
    dora.why("anna", "answers");
    cast.vote("cleo", "approve", "dora");
    cast.who("anna").why("dora", "present");

    let eve = cast.guest("eve", &[]);
    for owner in ["anna", "cleo", "dan"] {
        cast.vote(owner, "approve", "eve");
    }
    cast.who("ben").why("eve", "present");
    cast.an_unknown_rule_is_shown_where_it_is_wrong();
    cast.the_last_of_a_role_is_expelled_by_force();
    drop((dora, eve));
}

impl Cast {
    fn an_unknown_rule_is_shown_where_it_is_wrong(&self) {
        let refused = self.who("anna").run(&["charter", "change", "admit", "2 of operators und 1 of all"]);
        assert_eq!(code(&refused), 2);
        assert!(complaint(&refused).contains("at character 16"), "{}", complaint(&refused));
        let refused = self.who("anna").run(&["charter", "change", "admit", "2 of guards"]);
        assert_eq!(code(&refused), 5);
        assert!(complaint(&refused).contains("names a role"), "{}", complaint(&refused));
        // One spelling, and names instead of keys, are the program's work.
        let told =
            self.who("anna").good(&["charter", "change", "admit", "(2 of operators)  and (1 of security)"]);
        assert_eq!(told["value"], "2 of operators and 1 of security");
        self.vote("ben", "approve", "set admit = 2 of operators and 1 of security in the charter");
        let tally = "2 of operators (has 0) and 1 of security (has 0)";
        let moved = |told: &Value| told["rule"] == tally && told["name"] == "fred";
        let fred = self.guest("fred", &[]);
        self.request("anna", "fred", moved);
        drop(fred);
    }

    fn the_last_of_a_role_is_expelled_by_force(&self) {
        let anna = self.who("anna");
        let refused = anna.run(&["expel", "cleo"]);
        assert_eq!(code(&refused), 5);
        let why = complaint(&refused);
        assert!(why.contains("LINE-46") && why.contains("admit") && why.contains("--force"), "{why}");
        let refused = anna.run(&["voters", "anna", "ben", "dan"]);
        assert!(complaint(&refused).contains("--force"), "{}", complaint(&refused));
        let role = anna.run(&["charter", "change", "roles.security", &"0".repeat(64)]);
        assert!(complaint(&role).contains("--force"), "{}", complaint(&role));

        let forced = anna.run(&["expel", "cleo", "--force"]);
        assert_eq!(code(&forced), 0);
        let warned = String::from_utf8_lossy(&forced.stderr);
        assert!(
            warned.contains("warning: the voters who are left") && warned.contains("LINE-46"),
            "{warned}"
        );
        self.vote("ben", "approve", "expel cleo, even if some decisions are impossible then");
        anna.why("cleo", "expelled");
        // The way back: somebody else has the role.
        let told = anna.until(&["charter", "change", "roles.security", "dan"], |told| !told.is_null());
        assert_eq!(told["value"], self.who("dan").id.as_str());
        let words = format!("set roles.security = {} in the charter", self.who("dan").id);
        self.vote("ben", "approve", &words);
        let gina = self.guest("gina", &[]);
        for voter in ["anna", "ben", "dan"] {
            self.vote(voter, "approve", "gina");
        }
        anna.why("gina", "present");
        drop(gina);
    }
}

#[test]
fn objections_end_a_request_for_good_and_its_time_ends_it_too() {
    let rules = ["--objections", "2", "--request-days", "1"];
    let cast = Cast::new("objections", &["anna", "ben", "cleo"], &rules, &[]);
    let mut dora = cast.guest("dora", &[]);
    let first = cast.request("anna", "dora", |_| true)["subject"].clone();
    cast.vote("anna", "reject", "dora");
    let once = cast.request("cleo", "dora", |one| !one["rejected"].as_array().unwrap().is_empty());
    assert_eq!(once["rejected"], json!(["anna"]));
    cast.vote("ben", "reject", "dora");
    cast.is_denied(&dora, "refused for good");
    cast.who("cleo").until(&["vote", "list"], |list| list == &json!([]));
    // The same command asks anew.
    dora.ask(&json!({ "op": "apply" }));
    let again = cast.request("anna", "dora", |_| true)["subject"].clone();
    assert_ne!(first, again);
    cast.vote("anna", "approve", "dora");
    cast.vote("cleo", "approve", "dora");
    cast.who("ben").why("dora", "present");

    // A day and an hour ahead at the voters: what was asked before is over.
    let mut eve = cast.guest("eve", &[]);
    cast.vote("anna", "approve", "eve");
    cast.request("ben", "eve", |one| one["have"] == 1);
    eve.kill();
    let Cast { place, mut people } = cast;
    people.iter_mut().for_each(Actor::kill);
    dora.kill();
    let mut at = Vec::new();
    for one in &mut people {
        one.start(&place, &at, &["--clock-ahead", DAY]);
        at = vec![one.locator.clone()];
    }
    people[0].until(&["vote", "list"], |list| list == &json!([]));
    let refused = people[0].run(&["vote", "approve", "eve"]);
    assert_eq!(code(&refused), 1, "nothing to vote on");
}

/// A program in the place.
fn program(place: &Place, name: &str, text: &str) -> String {
    let path = place.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// What the program was asked, once it is as it shall be.
fn asked(file: &Path, done: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let all: Vec<Value> = text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
        if done(&all) {
            return all;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_program_votes_and_a_broken_one_waits() {
    // Every question is kept; the name says what is answered.
    let text = "#!/bin/sh\nread -r question\necho \"$question\" >> \"$0.asked\"\ncase \"$question\" in\n\
        *'\"name\":\"dora\"'*) echo '{\"verdict\":\"approve\",\"reason\":\"on my list\"}' ;;\n\
        *'\"name\":\"eve\"'*) exit 3 ;;\n*'\"name\":\"fred\"'*) exit 1 ;;\n*) exit 4 ;;\nesac\n";
    let scripts = Place::new("hook-scripts");
    let hook = program(&scripts, "hook", text);
    let broken = program(&scripts, "broken", "#!/nowhere/at/all\n");
    let more: [&[&str]; 2] = [&["--policy-hook", &hook], &["--policy-hook", &broken]];
    let cast = Cast::new("hook", &["anna", "ben", "cleo"], &["--role", "friends=@ben"], &more);
    let dora = cast.guest("dora", &[]);
    cast.request("cleo", "dora", |one| one["approved"] == json!(["anna"]));
    cast.vote("cleo", "approve", "dora");
    cast.who("anna").why("dora", "present");
    let eve = cast.guest("eve", &[]);
    let fred = cast.guest("fred", &[]);
    cast.request("cleo", "eve", |one| one["rejected"] == json!(["anna"]));
    // Ben's program cannot be run and anna's fails on fred: both wait, and both can vote themselves.
    cast.vote("ben", "approve", "fred");
    cast.request("cleo", "fred", |one| one["approved"] == json!(["ben"]));
    let file = scripts.path().join("hook.asked");
    // Anna's is asked again, now that ben has voted.
    let questions = asked(&file, |all| all.iter().any(|one| one["name"] == "fred" && one["have"] == 1));
    cast.vote("anna", "approve", "fred");
    cast.who("cleo").why("fred", "present");
    let about = |name: &str| questions.iter().filter(|one| one["name"] == name).collect::<Vec<_>>();
    let first = about("dora")[0];
    assert_eq!((&first["member"], &first["have"], &first["need"]), (&json!(dora.id), &json!(0), &json!(2)));
    assert_eq!(first["me"], cast.who("anna").id.as_str());
    assert!(first["term"]["to"].as_u64() > first["term"]["from"].as_u64() && first["request"].is_string());
    let told = about("fred");
    let voted = told.iter().find(|one| one["have"] == 1).unwrap();
    assert_eq!(voted["approved"][0]["roles"], json!(["friends"]));
    assert_eq!(about("eve").len(), 1, "who was voted on is not asked about again");
    drop((eve, fred));
}

#[test]
fn a_list_and_a_founder_admit_without_the_others() {
    let place = Place::new("listed");
    let listed = Actor::new(&place, "dora");
    let cast = Cast::new("list", &["anna", "ben"], &["--policy", "list", "--list", &listed.id], &[]);
    let mut dora = listed;
    dora.start(&cast.place, &[cast.people[0].locator.clone()], &["--apply"]);
    cast.who("ben").why("dora", "present");
    let eve = cast.guest("eve", &[]);
    cast.is_denied(&eve, "not on it");
    let refused = call(
        &cast.people[0].state,
        &[
            "charter",
            "new",
            "x",
            "--policy",
            "authority",
            "--votes",
            "1",
            "--founder",
            &cast.people[0].state.join("identity.pem").display().to_string(),
        ],
    );
    assert_eq!(code(&refused), 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("takes an authority"));
    drop((dora, eve, cast));

    let cast = Cast::new("founder", &["anna", "ben"], &["--policy", "founder", "--decider", "@ben"], &[]);
    let dora = cast.guest("dora", &[]);
    cast.vote("anna", "approve", "dora");
    cast.request("ben", "dora", |one| one["have"] == 1 && one["need"] == 2);
    cast.vote("ben", "approve", "dora");
    cast.who("anna").why("dora", "present");
    drop(dora);
}
