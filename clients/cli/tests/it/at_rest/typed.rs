//! A person at a terminal: what is asked, and that nothing of what is typed is shown.

use super::{draft, key, locked, opens, phrase};
use crate::common::place::Place;
use crate::common::program::good;
use crate::common::typist::Typist;

#[test]
fn id_84_a_new_passphrase_is_asked_for_twice_and_not_shown() {
    let place = Place::new("typed");
    let anna = place.path().join("anna");
    let mut new = Typist::new(&anna, &["identity", "new", "anna"]);
    new.asks("New passphrase");
    new.types("correct hors\n");
    new.asks("again");
    new.types("correct horse\n");
    let (code, shown) = new.ends();
    assert!(code == 2 && shown.contains("differ"), "{shown}");
    assert!(!shown.contains("hors") && !anna.join("identity.key").exists(), "{shown}");
    let mut new = Typist::new(&anna, &["identity", "new", "anna"]);
    new.asks("New passphrase");
    new.types("wrong\u{15}correct hosr\u{7f}\u{7f}rse\n");
    new.asks("again");
    new.types("correct horse\n");
    let (code, shown) = new.ends();
    assert!(code == 0 && !shown.contains("hors"), "{shown}");
    draft(&place, &anna);
    assert!(opens(&place, &anna, Some("correct horse")));
    for (keys, word) in [("\n", "empty"), ("half\u{3}", "nothing was done"), ("\u{4}", "nothing was done")] {
        let mut given_up = Typist::new(&place.path().join("ben"), &["identity", "new", "ben"]);
        given_up.asks("New passphrase");
        given_up.types(keys);
        let (code, shown) = given_up.ends();
        assert!(code != 0 && shown.contains(word), "{keys:?} {shown}");
        assert!(!place.path().join("ben").exists());
    }
}

#[test]
fn id_84_whoever_mistypes_is_asked_again_three_times_in_all() {
    let place = Place::new("again");
    let anna = locked(&place, "anna", "correct horse");
    draft(&place, &anna);
    let text = place.path().join("charter.toml");
    let line = ["charter", "sign", text.to_str().unwrap()];
    let mut signs = Typist::new(&anna, &line);
    for typed in ["battery\n", "staple\n", "correct horse\n"] {
        signs.asks("Passphrase of");
        signs.types(typed);
    }
    let (code, shown) = signs.ends();
    assert_eq!(code, 0, "{shown}");
    let mut signs = Typist::new(&anna, &line);
    for _ in 0..3 {
        signs.asks("Passphrase of");
        signs.types("battery\n");
    }
    let (code, shown) = signs.ends();
    assert!(code == 3 && shown.contains("folkmoot expel"), "{shown}");
    assert!(!shown.contains("battery"), "{shown}");
    // Nobody is asked where a file was named, nor where the key is open.
    let wrong = phrase(&place, "battery");
    let (code, shown) = Typist::new(&anna, &[&line[..], &["--passphrase-file", &wrong]].concat()).ends();
    assert!(code == 3 && !shown.contains("Passphrase of"), "{shown}");
    good(
        &anna,
        &["identity", "passphrase", "--passphrase-file", &phrase(&place, "correct horse"), "--no-passphrase"],
    );
    assert!(key(&anna).starts_with("-----BEGIN PRIVATE KEY-----"));
    let (code, shown) = Typist::new(&anna, &line).ends();
    assert_eq!(code, 0, "{shown}");
}
