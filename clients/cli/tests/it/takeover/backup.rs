//! The disk of a founder from the time when it was alone, started by a thief after that founder has
//! handed over to others and was expelled. In its own eyes it admits, decides and expels alone.

use super::stage::{Cast, agree, dial, head, ids, move_away, roster};
use crate::common::actor::Actor;
use serde_json::json;

const NOW: [&str; 2] = ["ben", "cleo"];

/// Anna founds the group, admits two, makes them the voters, and they expel her.
fn with_anna_expelled() -> (Cast, Actor) {
    let mut cast = Cast::founded("backup", &["anna"], &["--votes", "1"]);
    for name in NOW {
        cast.admit(name, &["anna"]);
    }
    let thief = cast.steal("anna");
    for name in NOW {
        cast.who(name).why("anna", "present");
    }
    cast.decide(&["voters", "ben", "cleo"], &["anna"], &NOW);
    cast.decide(&["expel", "anna"], &["cleo", "ben"], &NOW);
    cast.who("ben").why("anna", "expelled");
    cast.kill("anna");
    (cast, thief)
}

#[test]
fn the_disk_of_a_founder_who_was_alone_brings_nobody_in() {
    let (mut cast, mut anna) = with_anna_expelled();
    let line = head(cast.who("ben"));
    let in_it = roster(cast.who("ben"));
    anna.start(&cast.place, &[], &[]);
    let mut mallory = Actor::new(&cast.place, "mallory");
    mallory.start(&cast.place, core::slice::from_ref(&anna.locator), &["--apply"]);
    agree(&anna, |one| one["member"] == mallory.id.as_str());
    mallory.why("anna", "present");

    // Her one vote admits whom she likes, and then the voters are whom she likes.
    let mut friend = Actor::new(&cast.place, "friend");
    friend.start(&cast.place, core::slice::from_ref(&anna.locator), &["--apply"]);
    agree(&anna, |one| one["member"] == friend.id.as_str());
    friend.why("anna", "present");
    move_away(&mut friend);
    anna.good(&["voters", "mallory"]);
    mallory.until(&["status"], |status| status["decided"] == 1);
    mallory.until(&["expel", "cleo"], |told| !told.is_null());
    anna.why("cleo", "expelled");
    for name in NOW {
        dial(&anna, cast.who(name));
        dial(cast.who(name), &mallory);
    }
    for name in NOW {
        let status = cast.who(name).until(&["status"], |status| status["forks"] != json!([]));
        let fork = &status["forks"][0];
        assert_eq!((&fork["number"], &fork["signed_both"]), (&json!(1), &json!([anna.id])), "{status}");
    }
    // The friend has a certificate by her vote, and is at no decision yet.
    [&mut anna, &mut mallory].into_iter().for_each(Actor::kill);
    cast.comes(&mut friend, &NOW);
    for name in NOW {
        assert_eq!(head(cast.who(name)), line, "{name}");
        assert_eq!(roster(cast.who(name)), in_it, "{name}");
    }
    cast.who("ben").good(&["send", "we go on", "--timeout", "30"]);
    for name in NOW {
        cast.kill(name);
        let told = cast.stands(cast.who(name), &[&line]);
        assert_eq!((ids(&told["members"]), ids(&told["voters"])), (in_it.clone(), in_it.clone()), "{name}");
    }
    cast.refused(&mallory, &[&line], "LINE-84");
}
