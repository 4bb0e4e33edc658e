//! The takeover of issue 15: two founders who were expelled decide over the founding.

use super::stage::{Cast, agree, dial, head, ids, roster};
use crate::common::actor::Actor;
use serde_json::Value;
use std::collections::BTreeSet;

const HONEST: [&str; 4] = ["anna", "dora", "erik", "fred"];

/// The two former founders, and their friends.
struct Gang {
    ben: Actor,
    cleo: Actor,
    mallory: Actor,
    oscar: Actor,
}

impl Gang {
    /// Alone, they let in two strangers and make these the voters; then these expel Anna.
    fn take_over(cast: &Cast, mut ben: Actor, mut cleo: Actor) -> Self {
        ben.start(&cast.place, &[], &[]);
        cleo.start(&cast.place, core::slice::from_ref(&ben.locator), &[]);
        ben.why("cleo", "present");
        let [mut mallory, mut oscar] = ["mallory", "oscar"].map(|name| Actor::new(&cast.place, name));
        for stranger in [&mut mallory, &mut oscar] {
            stranger.start(&cast.place, &[ben.locator.clone(), cleo.locator.clone()], &["--apply"]);
            for voter in [&ben, &cleo] {
                agree(voter, |one| one["member"] == stranger.id.as_str());
            }
            stranger.why("ben", "present");
        }
        ben.good(&["voters", "mallory", "oscar"]);
        agree(&cleo, |one| one["kind"] == "proposal");
        mallory.until(&["status"], |status| status["decided"] == 1);
        mallory.until(&["expel", "anna"], |told| !told.is_null());
        agree(&oscar, |one| one["name"] == "expel anna");
        ben.why("anna", "expelled");
        Self { ben, cleo, mallory, oscar }
    }

    fn all(&self) -> [&Actor; 4] {
        [&self.ben, &self.cleo, &self.mallory, &self.oscar]
    }

    /// Each side dials the other.
    fn meet(&self, cast: &Cast) {
        let honest = HONEST.map(|name| cast.who(name));
        for (liar, member) in self.all().into_iter().zip(honest) {
            dial(liar, member);
            dial(member, liar);
        }
    }
}

/// Three founders admit three and make them voters; then four of the six expel two founders.
fn with_two_expelled() -> (Cast, Actor, Actor) {
    let mut cast = Cast::founded("takeover", &["anna", "ben", "cleo"], &[]);
    for name in ["dora", "erik", "fred"] {
        cast.admit(name, &["anna", "ben"]);
    }
    cast.who("cleo").why("fred", "present");
    let [ben, cleo] = ["ben", "cleo"].map(|name| cast.steal(name));
    for name in ["ben", "cleo"] {
        cast.who("anna").why(name, "present");
    }
    // Without Ben, who is first, it takes four of the six.
    let all = ["ben", "anna", "cleo", "dora", "erik", "fred"];
    cast.decide(&[&["voters"][..], &all].concat(), &["anna", "ben"], &all);
    cast.decide(&["expel", "ben"], &HONEST, &HONEST);
    cast.decide(&["expel", "cleo"], &HONEST[..3], &HONEST);
    for name in ["ben", "cleo"] {
        cast.kill(name);
    }
    (cast, ben, cleo)
}

#[test]
fn two_expelled_founders_do_not_undo_the_founding() {
    let (mut cast, ben, cleo) = with_two_expelled();
    let honest = HONEST.map(|name| cast.who(name).id.clone());
    let (line, in_it) = (head(cast.who("anna")), BTreeSet::from(honest));
    let gang = Gang::take_over(&cast, ben, cleo);
    gang.meet(&cast);

    let former = [&gang.ben.id, &gang.cleo.id];
    for name in HONEST {
        let status = cast.who(name).until(&["status"], |status| status["forks"] != serde_json::json!([]));
        named(&status["forks"], &former);
        let names = status["forks"][0]["names"].to_string();
        assert!(["ben (", "cleo ("].iter().any(|one| names.contains(one)), "{names}");
        assert_eq!(status["head"], line.as_str(), "{name}");
        assert_eq!(roster(cast.who(name)).into_iter().collect::<BTreeSet<_>>(), in_it, "{name}");
    }
    // They go on as before: with a key, by their own votes.
    cast.who("dora").good(&["send", "we go on", "--timeout", "30"]);
    cast.decide(&["charter", "change", "request_hours", "24"], &["dora", "erik", "fred"], &HONEST);
    let line = head(cast.who("anna"));
    for name in HONEST {
        cast.kill(name);
        let told = cast.stands(cast.who(name), &[&line]);
        for list in ["members", "voters"] {
            assert_eq!(ids(&told[list]).into_iter().collect::<BTreeSet<_>>(), in_it, "{name}: {list}");
        }
        named(&told["forks"], &former);
    }
    // Whoever knows no head is told of it, too: only former voters made the other line.
    let told = cast.stands(cast.who("anna"), &[]);
    named(&told["forks"], &former);
    assert_eq!(told["forks"][0]["former"], true, "{told}");
    let Gang { ben, mut mallory, .. } = gang;
    mallory.kill();
    cast.refused(&mallory, &[&line], "LINE-84");
    drop(ben);
}

/// The fork at the founding names nobody but former founders, and one of them at least.
fn named(forks: &Value, former: &[&String]) {
    let forks = forks.as_array().unwrap();
    assert_eq!(forks.len(), 1, "{forks:?}");
    let both = forks[0]["signed_both"].as_array().unwrap();
    let is_former = |id: &Value| former.iter().any(|one| id == one.as_str());
    assert!(forks[0]["number"] == 1 && !both.is_empty() && both.iter().all(is_former), "{forks:?}");
}
