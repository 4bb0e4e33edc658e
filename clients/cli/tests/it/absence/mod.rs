//! Leaving for good, stopping and crashing look like three things: in events, in `why`, and to
//! whoever starts again.
//!
//! ```text
//! dora   leave --for-good, and the others agree   left-for-good   she has to ask again
//! gina   the same; she has no vote                left-for-good
//! hugo   has no vote; the others expel him        expelled
//! ben    SIGTERM                                  left            he comes back without a vote
//! erik   folkmoot leave                           left
//! cleo   SIGKILL                                  silent
//! ```

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, program};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What somebody hears from now on.
fn hears(who: &Actor) -> Arc<Mutex<Vec<Value>>> {
    let mut child =
        program(&who.state).args(["receive"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let all = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&all);
    std::thread::spawn(move || {
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            heard.lock().unwrap().push(serde_json::from_str(&line).unwrap());
        }
        child.wait().unwrap();
    });
    all
}

/// Waits for an event.
fn until(heard: &Mutex<Vec<Value>>, is: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        if let Some(event) = heard.lock().unwrap().iter().find(|event| is(event)) {
            return event.clone();
        }
        if begun.elapsed() > Duration::from_secs(60) {
            heard.lock().unwrap().iter().for_each(|event| println!("{event}"));
            panic!("an event has not come");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The view that this one is missing in.
fn view_without(heard: &Mutex<Vec<Value>>, name: &str) -> Value {
    until(heard, |event| event["event"] == "view" && event["went"] == json!([name]))
}

#[test]
fn leaving_for_good_stopping_and_crashing_are_three_things() {
    let place = Place::new("absence");
    let names = ["anna", "ben", "cleo", "dora", "erik"];
    let [mut anna, mut ben, mut cleo, mut dora, mut erik] = names.map(|name| Actor::new(&place, name));
    place.found(
        &[&anna, &ben, &cleo, &dora, &erik].map(|one| one.state.as_path()),
        Times { silence_ms: 3_000, days: 365 },
    );
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    for one in [&mut ben, &mut cleo, &mut dora, &mut erik] {
        one.start(&place, &at, &[]);
    }
    for name in &names[1..] {
        anna.why(name, "present");
    }
    let heard = hears(&anna);

    let asked = dora.run(&["leave", "--for-good"]);
    assert_eq!(code(&asked), 0, "{}", String::from_utf8_lossy(&asked.stderr));
    anna.why("dora", "present");
    for one in [&anna, &ben] {
        let voted = one.until(&["vote", "approve", "release", "dora"], |told| !told.is_null());
        println!("{voted}");
    }
    anna.why("dora", "left-for-good");
    let expelled = until(&heard, |event| event["event"] == "expelled");
    assert_eq!((&expelled["name"], &expelled["own_wish"]), (&json!("dora"), &json!(true)));
    let without = |event: &Value| event["names"].as_array().is_some_and(|names| names.len() == 4);
    assert_eq!(until(&heard, |event| event["event"] == "view" && without(event))["went"], json!([]));
    dora.kill();

    who_has_no_vote(&place, &anna, &ben, &heard);

    // Told to stop, each leaves before it ends.
    ben.signal("TERM");
    assert_eq!(ben.ends(), 0);
    // The view without hugo may still be under way: then one view is without both, and its cause is
    // `network`. It says who left all the same.
    assert_eq!(view_without(&heard, "ben")["left"], json!(["ben"]));
    let left = anna.why("ben", "left");
    assert!(left["why"].as_str().unwrap().contains("without a vote"), "{left}");
    let told = erik.good(&["leave"]);
    assert_eq!(told["left"], "for-now");
    assert_eq!(erik.ends(), 0);
    let view = view_without(&heard, "erik");
    assert_eq!((&view["cause"], &view["left"]), (&json!("leave"), &json!(["erik"])));

    cleo.kill();
    let view = view_without(&heard, "cleo");
    assert_eq!((&view["cause"], &view["left"]), (&json!("network"), &json!([])));
    let silent = anna.why("cleo", "silent");
    assert!(silent["why"].as_str().unwrap().contains("has crashed"), "{silent}");

    // Who stopped comes back.
    ben.start(&place, &at, &[]);
    anna.why("ben", "present");
    for signal in ["HUP", "INT"] {
        ben.signal(signal);
        assert_eq!(ben.ends(), 0);
        anna.why("ben", "left");
        ben.start(&place, &at, &[]);
        anna.why("ben", "present");
    }
    for gone in ["dora", "gina"] {
        let why = anna.why(gone, "left-for-good");
        assert!(why["why"].as_str().unwrap().contains("ask for admission again"), "{why}");
    }
    ben.why("hugo", "expelled");
}

/// The wish of one who has no vote is told apart from an expulsion all the same, also by whoever
/// starts again.
fn who_has_no_vote(place: &Place, anna: &Actor, ben: &Actor, heard: &Mutex<Vec<Value>>) {
    let [mut gina, mut hugo] = ["gina", "hugo"].map(|name| Actor::new(place, name));
    for guest in [&mut gina, &mut hugo] {
        guest.start(place, &[anna.locator.clone(), ben.locator.clone()], &["--apply"]);
    }
    for name in ["gina", "hugo"] {
        for voter in [anna, ben] {
            voter.until(&["vote", "approve", name], |told| !told.is_null());
        }
        anna.why(name, "present");
    }
    gina.until(&["leave", "--for-good"], |told| !told.is_null());
    let open = anna.until(&["vote", "list"], |list| !list[0].is_null());
    assert_eq!(
        (&open[0]["name"], &open[0]["have"]),
        (&json!("release gina, who asks to leave for good"), &json!(0))
    );
    assert_eq!(open[0]["proposer"], "gina");
    // She thinks better of it, and then does not.
    gina.good(&["withdraw", "release", "gina"]);
    anna.until(&["vote", "list"], |list| list == &json!([]));
    gina.good(&["leave", "--for-good"]);
    anna.good(&["expel", "hugo"]);
    for voter in [anna, ben] {
        voter.until(&["vote", "approve", "release", "gina"], |told| !told.is_null());
    }
    ben.until(&["vote", "approve", "expel", "hugo"], |told| !told.is_null());
    for (name, own) in [("gina", true), ("hugo", false)] {
        let told = until(heard, |event| event["event"] == "expelled" && event["name"] == name);
        assert_eq!(told["own_wish"], own, "{told}");
    }
    for one in [anna, ben] {
        one.why("gina", "left-for-good");
        one.why("hugo", "expelled");
    }
}

/// When one node goes, the ring is formed anew; and while it is, others leave. Nobody takes them
/// for crashed.
#[test]
fn all_who_stop_at_the_same_time_have_left() {
    let place = Place::new("at-once");
    let names = ["anna", "ben", "cleo", "dora", "erik", "frida"];
    let mut all = names.map(|name| Actor::new(&place, name));
    let folders: Vec<_> = all.iter().map(|one| one.state.as_path()).collect();
    place.found(&folders, Times { silence_ms: 3_000, days: 365 });
    let mut at = Vec::new();
    for one in &mut all {
        one.start(&place, &at, &[]);
        at = vec![at.first().cloned().unwrap_or_else(|| one.locator.clone())];
    }
    let [anna, ben, cleo, dora, erik, frida] = &mut all;
    for name in &names[1..] {
        anna.why(name, "present");
    }
    let heard = hears(anna);
    frida.kill();
    for one in [&*ben, &*dora, &*erik] {
        one.signal("TERM");
    }
    for one in [ben, dora, erik] {
        assert_eq!(one.ends(), 0);
    }
    for name in ["ben", "dora", "erik"] {
        for one in [&*anna, &*cleo] {
            one.why(name, "left");
        }
        let view =
            until(&heard, |event| event["went"].as_array().is_some_and(|all| all.contains(&json!(name))));
        assert!(view["left"].as_array().unwrap().contains(&json!(name)), "{view}");
    }
    anna.why("frida", "silent");
}
