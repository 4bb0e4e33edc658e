//! Mallory is expelled. A quorum approved before that something which names her key: a list, a
//! role, an electorate. Two of them were apart from the others when they did, so nobody could
//! decide it. Nobody lies, and nobody approves it after the expulsion. When all meet, she comes
//! back by none of it. Approved anew, it stands.

use super::stage::{Cast, agree, decided, ids, roster, rule};
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use serde_json::{Value, json};

const FOUNDERS: [&str; 4] = ["anna", "ben", "cleo", "dora"];
/// Half of the voters with the first place: they decide.
const QUORUM: [&str; 2] = ["anna", "ben"];
/// They decide nothing by themselves. With Ben they are a quorum.
const APART: [&str; 2] = ["cleo", "dora"];

/// What stays open.
const OPEN: &str = "set request_hours = 24 in the charter";

/// Four founders who run, and Mallory, who is in. `listed` has the charter's list name her.
fn with_mallory(name: &str, listed: bool) -> Cast {
    let place = Place::new(name);
    let mut people: Vec<Actor> = FOUNDERS.iter().map(|name| Actor::new(&place, name)).collect();
    let mallory = Actor::new(&place, "mallory");
    let folders: Vec<_> = people.iter().map(|one| one.state.as_path()).collect();
    let list = ["--policy", "list", "--list", &mallory.id];
    place.found_with(&folders, Times::PATIENT, if listed { &list } else { &[] });
    people.push(mallory);
    let mut cast = Cast { place, people };
    FOUNDERS.iter().for_each(|name| cast.start(name, &[]));
    cast.start("mallory", &["--apply"]);
    if !listed {
        is_admitted(&cast, &QUORUM);
    }
    APART.iter().for_each(|name| drop(cast.who(name).why("mallory", "present")));
    cast
}

fn is_admitted(cast: &Cast, voters: &[&str]) {
    let id = &cast.who("mallory").id;
    voters.iter().for_each(|name| agree(cast.who(name), |one| one["member"] == id.as_str()));
    voters.iter().for_each(|name| drop(cast.who(name).until(&["roster"], |list| ids(list).contains(id))));
}

/// Whoever was expelled joins anew by starting anew.
fn joins(cast: &mut Cast) {
    cast.kill("mallory");
    cast.start("mallory", &[]);
}

/// Mallory hears that she is out, and asks once more.
fn asks_again(cast: &mut Cast) {
    cast.start("mallory", &["--apply"]);
    let mallory = cast.who("mallory");
    mallory.until(&["roster"], |list| list.is_array() && !ids(list).contains(&mallory.id));
    mallory.ask(&json!({ "op": "apply" }));
}

fn kill(cast: &mut Cast, names: &[&str]) {
    names.iter().for_each(|name| cast.kill(name));
}

fn start(cast: &mut Cast, names: &[&str]) {
    names.iter().for_each(|name| cast.start(name, &[]));
}

/// Ben proposes these, and those who are apart approve: nothing comes of it there. Then she is
/// expelled by the others.
fn approved_before(cast: &mut Cast, all: &[&[&str]]) {
    let by = |list: &Value, who: &[&str]| {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.len() == all.len() && list.iter().all(|one| one["approved"] == json!(who))
    };
    for line in all {
        cast.who("ben").good(line);
    }
    APART.iter().for_each(|name| drop(cast.who(name).until(&["vote", "list"], |list| by(list, &["ben"]))));
    kill(cast, &["anna", "ben", "mallory"]);
    all.iter().for_each(|line| approve(cast, &APART, line));
    for name in APART {
        cast.who(name).until(&["vote", "list"], |list| by(list, &["ben", "cleo", "dora"]));
    }
    APART.iter().for_each(|name| assert_eq!(decided(cast.who(name)), 0, "{name}"));
    kill(cast, &APART);
    start(cast, &QUORUM);
    cast.who("anna").why("ben", "present");
    cast.decide(&["expel", "mallory"], &QUORUM, &QUORUM);
    cast.who("ben").why("mallory", "expelled");
}

fn approve(cast: &Cast, voters: &[&str], line: &[&str]) {
    for name in voters {
        cast.who(name).until(line, |told| !told.is_null());
    }
}

/// All meet. Whatever is ready is decided, and then something new.
fn meet(cast: &mut Cast) {
    start(cast, &APART);
    let known = decided(cast.who("anna"));
    for name in FOUNDERS {
        cast.who(name).until(&["status"], |status| status["decided"].as_u64() >= Some(known));
    }
    APART.iter().for_each(|name| drop(cast.who("anna").why(name, "present")));
    let line = ["charter", "change", "certificate_days", "200"];
    approve(cast, &QUORUM, &line);
    for name in FOUNDERS {
        cast.who(name).until(&["status"], |status| status["decided"].as_u64() > Some(known));
        assert_eq!(decided(cast.who(name)), known + 1, "{name}: nothing else was decided");
        assert_eq!(rule(cast.who(name), "certificate_days"), "200", "{name}");
    }
}

/// Of how many voters something open at Anna's speaks.
fn has_voters(cast: &Cast, many: u64) {
    let open = |list: &Value| list.as_array()?.iter().find(|one| one["name"] == OPEN).cloned();
    cast.who("anna").until(&["vote", "list"], |list| open(list).is_some_and(|one| one["voters"] == many));
}

#[test]
fn nobody_comes_back_by_a_list_that_was_approved_before_its_expulsion() {
    let mut cast = with_mallory("comeback-list", true);
    let frank = Actor::new(&cast.place, "frank");
    let both = format!("{},{}", cast.who("mallory").id, frank.id);
    let list = ["charter", "change", "list", &both];
    approved_before(&mut cast, &[&list]);
    meet(&mut cast);
    asks_again(&mut cast);
    let denied = |status: &Value| status["denied"].as_str().is_some_and(|why| why.contains("not on it"));
    cast.who("mallory").until(&["status"], denied);
    FOUNDERS.iter().for_each(|name| assert_eq!(roster(cast.who(name)).len(), 4, "{name}"));
    // Approved anew it lets her in.
    approve(&cast, &QUORUM, &list);
    cast.who("anna").until(&["status"], |status| status["decided"] == 3);
    cast.who("mallory").ask(&json!({ "op": "apply" }));
    let id = cast.who("mallory").id.clone();
    cast.who("mallory").until(&["roster"], |list| ids(list).contains(&id));
    joins(&mut cast);
    FOUNDERS.iter().for_each(|name| drop(cast.who(name).why("mallory", "present")));
}

#[test]
fn nobody_votes_again_by_an_electorate_or_a_role_that_was_approved_before_its_expulsion() {
    let mut cast = with_mallory("comeback-voters", false);
    let voters = ["voters", "anna", "ben", "cleo", "dora", "mallory"];
    let role = ["charter", "change", "roles.doors", "mallory"];
    approved_before(&mut cast, &[&voters, &role]);
    // She is a member again, by new votes, and no more than that.
    asks_again(&mut cast);
    is_admitted(&cast, &QUORUM);
    joins(&mut cast);
    cast.who("mallory").why("anna", "present");
    meet(&mut cast);
    for name in FOUNDERS {
        let who = cast.who(name);
        who.why("mallory", "present");
        assert_eq!(rule(who, "roles.doors"), Value::Null, "{name}");
    }
    cast.who("mallory").good(&["charter", "change", "request_hours", "24"]);
    has_voters(&cast, 4);
    // Approved anew she has both.
    for (line, decided) in [(&role[..], 3), (&voters, 4)] {
        approve(&cast, &QUORUM, line);
        let done = |status: &Value| status["decided"] == decided;
        FOUNDERS.iter().for_each(|name| drop(cast.who(name).until(&["status"], done)));
    }
    assert!(rule(cast.who("anna"), "roles.doors").as_str().is_some_and(|role| role.contains("mallory")));
    has_voters(&cast, 5);
}
