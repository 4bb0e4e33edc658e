//! Ben's disk is put back to an older day, and he signs twice in good faith: with Anna, and, apart
//! from her, with Cleo. Both lines are honest. People have to say which one goes on.

use super::stage::{Cast, agree, dial, head, in_words};
use crate::common::actor::Actor;
use crate::common::program::{call, code};
use serde_json::{Value, json};

/// Anna is on the one line, Cleo and Ben of the older disk on the other.
pub(crate) fn two_lines(name: &str) -> (Cast, Actor) {
    let mut cast = Cast::founded(name, &["anna", "ben", "cleo"], &[]);
    let mut older = cast.steal("ben");
    cast.who("anna").why("ben", "present");
    cast.kill("cleo");
    cast.decide(&["charter", "change", "certificate_days", "40"], &["anna", "ben"], &["anna"]);
    cast.kill("ben");
    let ours = head(cast.who("anna"));
    cast.kill("anna");
    cast.start("cleo", &[]);
    older.start(&cast.place, core::slice::from_ref(&cast.who("cleo").locator), &[]);
    older.why("cleo", "present");
    cast.decide(&["charter", "change", "certificate_days", "50"], &["cleo"], &[]);
    agree(&older, |one| one["kind"] == "proposal");
    for one in [cast.who("cleo"), &older] {
        one.until(&["status"], |status| status["decided"] == 1);
    }
    cast.start("anna", &[]);
    assert_eq!(head(cast.who("anna")), ours);
    (cast, older)
}

/// Both sides meet, and each says that Ben signed both.
fn meet(cast: &Cast, older: &Actor) {
    let [anna, cleo] = ["anna", "cleo"].map(|name| cast.who(name));
    dial(cleo, anna);
    dial(older, anna);
    for one in [anna, cleo, older] {
        let status = one.until(&["status"], |status| status["forks"] != json!([]));
        assert_eq!(status["forks"][0]["signed_both"], json!([older.id]), "{status}");
    }
}

fn over(told: &Value, to: &str) -> bool {
    told["head"] == to
}

#[test]
fn a_person_goes_over_to_the_other_line() {
    let (cast, mut older) = two_lines("resolve");
    meet(&cast, &older);
    older.kill();
    let ours = head(cast.who("anna"));
    let cleo = cast.who("cleo");
    let left = head(cleo);
    let unknown = call(&cleo.state, &["resolve", &format!("1.{}", "7".repeat(64))]);
    assert_eq!(code(&unknown), 2, "{}", String::from_utf8_lossy(&unknown.stderr));
    assert_eq!(head(cleo), left);
    // Anna reads her head out, in words.
    let words = in_words(cast.who("anna"));
    let forks = cleo.good(&["status"])["forks"].clone();
    assert_eq!((&forks[0]["theirs"], &forks[0]["theirs_words"]), (&json!(ours), &json!(words)), "{forks}");
    let told = cleo.good(&[&["resolve"], words.split(' ').collect::<Vec<_>>().as_slice()].concat());
    assert!(over(&told, &ours), "{told}");
    assert_eq!(told["head_words"], words.as_str());
    cast.who("anna").why("cleo", "present");
    cleo.good(&["send", "here I am", "--timeout", "30"]);
}

#[test]
fn a_vote_takes_everybody_over() {
    let (cast, older) = two_lines("rejoin");
    meet(&cast, &older);
    let ours = head(cast.who("anna"));
    cast.who("cleo").good(&["resolve", &ours, "--everybody"]);
    // Whoever votes sees where it leads, in words.
    let told = json!([{ "head": ours, "label": ours, "words": in_words(cast.who("anna")) }]);
    let leads = |list: &Value| list.as_array()?.iter().find(|one| one["concerns"] == told).cloned();
    let open = older.until(&["vote", "list"], |list| leads(list).is_some());
    assert_eq!(leads(&open).unwrap()["kind"], "proposal", "{open}");
    agree(&older, |one| one["concerns"] == told);
    for one in [cast.who("cleo"), &older] {
        one.until(&["status"], |status| over(status, &ours));
    }
    cast.who("anna").why("cleo", "present");
    cast.who("anna").why("ben", "present");
}

/// Dora has heard Anna's head on the telephone, and knows where Cleo is.
#[test]
fn a_newcomer_with_a_head_is_led_by_nobody_on_another_line() {
    let (cast, _older) = two_lines("head");
    let (anna, cleo) = (cast.who("anna"), cast.who("cleo"));
    let ours = head(anna);
    let [mut dora, mut erik] = ["dora", "erik"].map(|name| Actor::new(&cast.place, name));
    let words = in_words(anna);
    dora.start(&cast.place, core::slice::from_ref(&cleo.locator), &["--apply", "--head", &words]);
    // Erik has heard nothing, and believes Cleo.
    erik.start(&cast.place, core::slice::from_ref(&cleo.locator), &["--apply"]);
    erik.until(&["status"], |status| over(status, &head(cleo)));
    assert_eq!(dora.good(&["status"])["decided"], 0);
    dial(&dora, anna);
    dora.until(&["status"], |status| over(status, &ours));
}
