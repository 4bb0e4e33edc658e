//! Replicas of an authority as processes over UDP: two of one office (or three), three members; any
//! replica is killed, or all are, at odd moments.
//!
//! ```text
//! killed at odd moments   4 admissions, each with a kill around its last vote; one log in the end, and it has what the transcript has
//! no quorum               the second alone says for whom it waits; the first alone goes on, but not if it knows nothing
//! lost for ever           either is set up anew from identities and office, and is handed the whole log
//! three                   any one may be away or lost, with all its disks, and nobody has to say anything; one alone waits
//! logs that differ        the process ends, and says why
//! what is refused         no --replicas, a folder that is none, a charter that lets a minority go on, a stranger to the replicas
//! ```
//! `FOLKMOOT_KILLS=40`: so many admissions, each with a kill. `FOLKMOOT_SEED=7`: other moments.

mod alone;
mod stage;

use crate::common::actor::Actor;
use crate::common::draw::Draw;
use crate::common::program::{code, complaint};
use serde_json::Value;
use stage::{Cast, certificates};
use std::collections::BTreeSet;
use std::time::Duration;

/// Which replicas a kill takes, in which order: all of these in turn.
const WHO: [&[usize]; 4] = [&[0], &[1], &[0, 1], &[1, 0]];
/// Longest time between the last vote and the kill, and between a kill and the start after it, in
/// milliseconds.
const MOMENT_MS: usize = 150;
const AWAY_MS: usize = 1_800;

/// The log of a replica that does not run.
fn log(replica: &Actor) -> Vec<Value> {
    replica.good(&["authority", "log"]).as_array().unwrap().clone()
}

fn texts(log: &[Value], field: &str) -> Vec<String> {
    log.iter().map(|record| record[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn killed_at_odd_moments_they_issue_each_once_and_keep_one_log() {
    let mut cast = Cast::new("replicas-kill");
    let kills = Draw::setting("FOLKMOOT_KILLS", 4);
    let mut draw = Draw::new(Draw::setting("FOLKMOOT_SEED", 1));
    for number in 0..kills {
        let name = format!("guest{number}");
        let mut guest = cast.guest(&name);
        cast.vote(0, &name);
        let who = WHO[usize::try_from(number).unwrap() % WHO.len()];
        // Before the last vote as often as after it.
        let early = draw.below(3) == 0;
        if !early {
            cast.vote(1, &name);
        }
        std::thread::sleep(draw.delay(MOMENT_MS));
        for one in who {
            cast.offices[*one].kill();
            std::thread::sleep(draw.delay(MOMENT_MS));
        }
        if early {
            cast.vote(1, &name);
        }
        for one in who {
            std::thread::sleep(draw.delay(AWAY_MS));
            cast.start_office(*one);
        }
        cast.members[2].until(&["roster"], |roster| stage::has(roster, &name));
        guest.kill();
    }
    let both = |status: &Value| {
        let replicas = &status["replicas"];
        let all_here =
            replicas["replicas"].as_array().is_some_and(|all| all.iter().all(|one| one["here"] == true));
        replicas["in_sync"] == true
            && all_here
            && replicas["records"] == kills
            && replicas["handed"] == kills
            && status["issued"] == kills
    };
    for office in &cast.offices {
        office.until(&["authority", "status"], both);
    }
    cast.offices.iter_mut().for_each(Actor::kill);

    let logs: Vec<Vec<Value>> = cast.replicas.iter().map(log).collect();
    assert_eq!(logs[0], logs[1], "one log");
    let log = &logs[0];
    assert!(log.iter().all(|record| record["stands"] == true), "{log:?}");
    assert_eq!(log.len() as u64, kills, "each request once");
    for field in ["request", "serial", "certificate", "member"] {
        let once: BTreeSet<String> = texts(log, field).into_iter().collect();
        assert_eq!(once.len(), log.len(), "no {field} twice");
    }
    let mut logged = texts(log, "der");
    logged.sort();
    assert_eq!(logged, certificates(&mut cast), "what the transcript has is what the log has, byte for byte");
    for office in &cast.offices {
        let mut issued = texts(&self::log(office), "der");
        issued.sort();
        assert_eq!(issued, logged, "what an authority has told is in the log");
    }
}

#[test]
fn the_second_says_for_whom_it_waits_and_the_first_goes_on_alone() {
    let mut cast = Cast::new("replicas-alone");
    cast.offices[0].kill();
    let waits = |status: &Value| status["replicas"]["state"] == "no-quorum";
    let status = cast.offices[1].until(&["authority", "status"], waits);
    let replicas = &status["replicas"];
    assert_eq!(replicas["words"], "waits for replica replica-a: no quorum (1 of 2 replicas)");
    assert_eq!((&replicas["quorum"], &replicas["in_sync"]), (&Value::Bool(false), &Value::Bool(false)));
    let dora = cast.guest("guest-dora");
    cast.vote(0, "guest-dora");
    cast.vote(1, "guest-dora");
    cast.offices[1].until(&["authority", "status"], |status| status["replicas"]["waiting"] == 1);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(cast.offices[1].good(&["authority", "status"])["issued"], 0, "nothing without a quorum");
    cast.start_office(0);
    cast.members[0].why("guest-dora", "present");

    cast.offices[1].kill();
    let alone = |status: &Value| status["replicas"]["words"] == "ready: 1 of 2 replicas";
    cast.offices[0].until(&["authority", "status"], alone);
    let erik = cast.guest("guest-erik");
    cast.vote(0, "guest-erik");
    cast.vote(1, "guest-erik");
    erik.why("anna", "present");
    cast.start_office(1);
    cast.offices[1].until(&["authority", "status"], |status| status["issued"] == 2);
    drop(dora);

    // Its log is gone, and it is a quorum by itself, but one that knows nothing.
    cast.offices.iter_mut().for_each(Actor::kill);
    stage::lose_the_store(&cast.replicas[0]);
    cast.start_office(0);
    let status =
        cast.offices[0].until(&["authority", "status"], |status| status["replicas"]["state"] == "few-know");
    assert_eq!(
        status["replicas"]["words"],
        "waits for replica replica-b: all begin together (1 of 2 replicas)"
    );
}

/// The machine of either replica is lost with all its disks. Its identities and the office are in a
/// safe; it is set up anew from there, and is handed the whole log. Of the first, which alone knows
/// what it issued alone, the owner has to say that the other's log is the log.
#[test]
fn a_replica_that_is_lost_is_set_up_anew() {
    let mut cast = Cast::new("replicas-lost");
    let mut guests = Vec::new();
    guests.push(cast.admit("guest-dora"));
    cast.all_have(1);
    cast.lose(1);
    guests.push(cast.admit("guest-erik"));
    cast.start_office(1);
    cast.all_have(2);
    guests.push(cast.admit("guest-fred"));
    cast.all_have(3);

    cast.lose(0);
    cast.start_office(0);
    let stuck =
        |status: &Value| status["replicas"]["state"] == "few-know" && status["replicas"]["knows"] == true;
    let status = cast.offices[1].until(&["authority", "status"], stuck);
    let words = status["replicas"]["words"].as_str().unwrap();
    assert!(
        words.starts_with("only 1 of 2 replicas know the log, and the others are new: too few"),
        "{words}"
    );
    cast.offices.iter_mut().for_each(Actor::kill);
    let (first, second) = (&cast.replicas[0], &cast.replicas[1]);
    let [from, own] = [second, first].map(|replica| replica.state.display().to_string());
    assert_eq!(first.good(&["authority", "take-log", &from])["records"], 3);
    let again = first.run(&["authority", "take-log", &from]);
    assert!(
        code(&again) == 3 && complaint(&again).contains("knows the log already"),
        "{}",
        complaint(&again)
    );
    let nothing = second.run(&["authority", "take-log", &own]);
    assert!(code(&nothing) == 3 && complaint(&nothing).contains("knows the log already"));
    (0..2).for_each(|one| cast.start_office(one));
    cast.all_have(3);
    guests.push(cast.admit("guest-gina"));
    cast.all_have(4);
    cast.offices.iter_mut().for_each(Actor::kill);
    let logs: Vec<_> = cast.replicas.iter().map(log).collect();
    assert_eq!(logs[0], logs[1], "one log");
    assert_eq!(logs[0].len(), 4);
}

#[test]
fn of_three_any_one_may_be_away_or_lost() {
    let mut cast = Cast::of("replicas-three", 3);
    let mut guests = Vec::new();
    let says = |office: &Actor, words: &str| {
        office.until(&["authority", "status"], |status| status["replicas"]["words"] == words);
    };
    for away in 0..3 {
        cast.offices[away].kill();
        let name = format!("guest{away}");
        guests.push(cast.admit(&name));
        says(&cast.offices[(away + 1) % 3], "ready: 2 of 3 replicas");
        // The last comes back with nothing but what was in the safe.
        if away == 2 {
            cast.lose(away);
        }
        cast.start_office(away);
        says(&cast.offices[away], &cast.all_are_ready());
    }

    (0..2).for_each(|one| cast.offices[one].kill());
    says(&cast.offices[2], "waits for replica replica-a or replica-b: no quorum (1 of 3 replicas)");
    guests.push(cast.guest("late"));
    cast.vote(0, "late");
    cast.vote(1, "late");
    cast.offices[2].until(&["authority", "status"], |status| status["replicas"]["waiting"] == 1);
    cast.start_office(1);
    cast.members[2].until(&["roster"], |roster| stage::has(roster, "late"));
    cast.start_office(0);
    cast.all_have(4);
    cast.offices.iter_mut().for_each(Actor::kill);
    let logs: Vec<_> = cast.replicas.iter().map(log).collect();
    assert!(logs.iter().all(|one| *one == logs[0]), "one log");
    let once: BTreeSet<String> = texts(&logs[0], "request").into_iter().collect();
    assert_eq!((logs[0].len(), once.len()), (4, 4), "each request once");
}

#[test]
fn two_logs_that_differ_end_the_process_with_the_reason() {
    let mut cast = Cast::new("replicas-differ");
    let dora = cast.guest("guest-dora");
    cast.vote(0, "guest-dora");
    cast.vote(1, "guest-dora");
    dora.why("anna", "present");
    for office in &cast.offices {
        office.until(&["authority", "status"], |status| status["replicas"]["handed"] == 1);
    }
    cast.offices.iter_mut().for_each(Actor::kill);
    stage::forge_the_last_record(&cast.replicas[1]);
    cast.start_office(1);
    cast.start_office(0);
    let [first, second] = &mut cast.offices[..] else { panic!("two offices") };
    let ended = Actor::one_ends([first, second]);
    assert_eq!(ended.ends(), 3);
    assert!(ended.said("the replica has stopped: the log here and that of") && ended.said("(AUTH-05)"));
}

#[test]
fn what_would_issue_twice_does_not_start() {
    let mut cast = Cast::new("replicas-refused");
    cast.offices.iter_mut().for_each(Actor::kill);
    let charter = cast.place.signed().display().to_string();
    let [office, other] = [0, 1].map(|one| cast.offices[one].state.display().to_string());
    let run = |more: &[&str]| {
        let line = ["authority", "run", &charter, "--listen", "127.0.0.1:0"];
        cast.offices[0].run(&[&line[..], more].concat())
    };
    let stranger = Actor::new(&cast.place, "stranger");
    let stranger = stranger.state.display().to_string();
    let strict = cast.replicas_charter();
    let listen = ["--replicas-listen", "127.0.0.1:0"];
    let wrong: [(&[&str], i32, &str); 5] = [
        (&[], 3, "Run each with --replicas"),
        (&["--replicas", &office], 2, "another folder than --state"),
        (&["--replicas", &other, listen[0], listen[1]], 3, "minority = \"continue\""),
        (&["--replicas", &stranger, listen[0], listen[1]], 3, "--replicas-charter"),
        (
            &["--replicas", &stranger, "--replicas-charter", &strict, listen[0], listen[1]],
            3,
            "not among the founders",
        ),
    ];
    for (more, exit, why) in wrong {
        let refused = run(more);
        assert_eq!(code(&refused), exit, "{more:?}: {}", complaint(&refused));
        assert!(complaint(&refused).contains(why), "{more:?}: {}", complaint(&refused));
    }
}
