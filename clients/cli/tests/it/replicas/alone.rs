//! What an authority's own disk has and the log has not.

use super::stage::{Cast, lose_the_store};
use super::{log, texts};
use crate::common::actor::Actor;
use crate::common::program::{code, complaint};
use serde_json::Value;

/// Both logs are lost, and both offices' disks have what was issued: all begin anew, and it goes
/// into the log again.
#[test]
fn auth_18_what_the_own_disk_alone_has_goes_into_the_log() {
    let mut cast = Cast::new("replicas-lack");
    let _guests = ["guest-dora", "guest-erik"].map(|name| cast.admit(name));
    cast.all_have(2);
    cast.offices.iter_mut().for_each(Actor::kill);
    let before = log(&cast.offices[0]);
    cast.replicas.iter().for_each(lose_the_store);
    (0..2).for_each(|one| cast.start_office(one));
    cast.all_have(2);
    cast.offices.iter_mut().for_each(Actor::kill);
    let logs: Vec<Vec<Value>> = cast.replicas.iter().map(log).collect();
    assert_eq!(logs[0], logs[1], "one log");
    let sorted = |log: &[Value]| {
        let mut all = texts(log, "der");
        all.sort();
        all
    };
    assert_eq!(sorted(&logs[0]), sorted(&before), "byte for byte");
}

/// Not only `authority run` runs an office, and none does without the log.
#[test]
fn no_other_command_runs_an_office_without_the_log() {
    let mut cast = Cast::new("replicas-member");
    cast.offices[0].kill();
    let (charter, at) = (cast.place.signed().display().to_string(), cast.members[0].locator.clone());
    for line in [&["join", &charter, "--at", &at][..], &["member"][..], &["chat"][..]] {
        let refused = cast.offices[0].run(line);
        assert_eq!(code(&refused), 3, "{line:?}: {}", complaint(&refused));
        assert!(complaint(&refused).contains("ADM-80"), "{line:?}: {}", complaint(&refused));
    }
}

/// As a kill between the office and its public file leaves it, or a folder that was filled from a
/// safe.
#[test]
fn a_public_file_that_is_missing_is_written_anew() {
    let place = crate::common::place::Place::new("replicas-public");
    let office = Actor::authority(&place, "office", "plain");
    let file = office.state.join("authority.pem");
    let whole = std::fs::read(&file).unwrap();
    for command in ["show", "certificate"] {
        std::fs::remove_file(&file).unwrap();
        office.good(&["authority", command]);
        assert_eq!(std::fs::read(&file).unwrap(), whole, "{command}");
    }
}
