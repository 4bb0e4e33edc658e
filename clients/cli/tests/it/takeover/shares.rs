//! As many holders of old shares as sign, since expelled: the certificate that they sign for a
//! stranger is one of the group's key, and admits nobody at the members of now.

use super::stage::{Cast, agree, head, ids, move_away, roster};
use crate::common::actor::Actor;
use crate::common::openssl::openssl;
use serde_json::json;

const NOW: [&str; 2] = ["anna", "dora"];

/// Four founders share a key by which two sign. A thief has the disks of two of them.
fn with_two_stolen() -> (Cast, Actor, Actor) {
    let mut cast = Cast::founded("shares", &["anna", "dora", "ben", "cleo"], &["--scheme", "frost"]);
    cast.admit("erik", &NOW);
    for name in ["ben", "cleo"] {
        cast.who(name).why("erik", "present");
    }
    let [ben, cleo] = ["ben", "cleo"].map(|name| cast.steal(name));
    for name in ["ben", "cleo"] {
        cast.who("anna").why(name, "present");
    }
    (cast, ben, cleo)
}

/// The two, who have heard of nothing, let a stranger in by the group's key.
fn lets_in(cast: &Cast, [ben, cleo]: [&Actor; 2], name: &str) -> Actor {
    let mut stranger = Actor::new(&cast.place, name);
    stranger.start(&cast.place, &[ben.locator.clone(), cleo.locator.clone()], &["--apply"]);
    for voter in [ben, cleo] {
        agree(voter, |one| one["member"] == stranger.id.as_str());
    }
    stranger.why("ben", "present");
    move_away(&mut stranger);
    stranger
}

/// OpenSSL takes the stranger's certificate for one of the group's.
fn is_the_groups(cast: &Cast, stranger: &Actor) {
    let folder = cast.place.path().join("stranger-file");
    stranger.good(&["export", &folder.display().to_string()]);
    let name = stranger.state.file_name().unwrap().to_str().unwrap().to_owned();
    let files = std::fs::read_dir(folder.join("certificates")).unwrap();
    let mut files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let file = files.find(|file| file.starts_with(&name) && file.ends_with(".pem")).unwrap();
    let (good, said) = openssl(&folder, &format!("verify -CAfile authority.pem certificates/{file}"));
    assert!(good, "{said}");
}

#[test]
fn old_shares_sign_and_admit_nobody() {
    let (mut cast, mut ben, mut cleo) = with_two_stolen();
    ben.start(&cast.place, &[], &[]);
    cleo.start(&cast.place, core::slice::from_ref(&ben.locator), &[]);
    ben.why("cleo", "present");
    let mut early = lets_in(&cast, [&ben, &cleo], "mallory");
    is_the_groups(&cast, &early);
    for name in ["ben", "cleo"] {
        cast.decide(&["expel", name], &NOW, &NOW);
        cast.who("dora").why(name, "expelled");
        cast.kill(name);
    }
    let others = ["anna", "dora", "erik"];
    cast.comes(&mut early, &others);
    move_away(&mut early);

    // Nobody is admitted before there are new shares.
    cast.admit("fred", &NOW);
    let in_it = roster(cast.who("anna"));
    let mut late = lets_in(&cast, [&ben, &cleo], "oscar");
    for stranger in [&mut early, &mut late] {
        cast.comes(stranger, &others);
    }
    cast.who("dora").good(&["send", "we go on", "--timeout", "30"]);
    let line = head(cast.who("anna"));
    for name in NOW {
        assert_eq!(roster(cast.who(name)), in_it, "{name}");
        cast.kill(name);
        let told = cast.stands(cast.who(name), &[&line]);
        assert_eq!((ids(&told["members"]), &told["forks"]), (in_it.clone(), &json!([])), "{name}");
    }
}
