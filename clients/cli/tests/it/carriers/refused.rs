//! What a node does not carry, and what the program says then.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, complaint};

#[test]
fn a_node_carries_whole_charters_of_others_each_once() {
    let (ring, club) = (Place::new("not-carried"), Place::new("carry-club"));
    let [north, anna] = [Actor::new(&ring, "north"), Actor::new(&club, "anna")];
    ring.found_with(&[&north.state], Times::PATIENT, &["--votes", "1"]);
    club.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1"]);
    let [own, charter] = [ring.signed(), club.signed()].map(|path| path.display().to_string());
    let copy = club.path().join("copy.cms").display().to_string();
    std::fs::copy(&charter, &copy).unwrap();
    let key = anna.state.join("identity.pem").display().to_string();
    let missing = club.path().join("nothing.cms").display().to_string();

    let refused = |carry: &[&str], says: &[&str]| {
        let mut args = vec!["member", "--listen", "127.0.0.1:0", "--charter", own.as_str()];
        args.extend(carry.iter().flat_map(|file| ["--carry", *file]));
        let output = north.run(&args);
        assert_eq!(code(&output), 3, "{carry:?}");
        let told = complaint(&output);
        assert!(says.iter().all(|text| told.contains(text)), "{told}");
    };
    refused(&[&key], &[&key, "no charter that a node can carry", "Ask a founder of that group"]);
    refused(&[&missing], &[&missing, "no such file"]);
    refused(&[&charter, &own], &[&own, "this node's own ring", "Leave it out"]);
    refused(&[&charter, &copy], &[&charter, &copy, "the same charter", "Name it once"]);
    refused(&[charter.as_str(); 65], &["65 charters are too many", "at most 64"]);
}
