//! A member gets another key, as processes: what it was before knows nothing any more, whoever was
//! away learns of it, and what was proved stays proved. The new key is of another algorithm.
//!
//! ```text
//! anna, ben, cleo, dora; cleo is away     anna rotates: anna, ben and dora approve, a quorum of four
//! old anna    a copy of her folder        links to nobody, votes on nothing, gets no key
//! cleo        comes back                  learns of it, also if old anna is the first whom it meets
//! ```
//! In groups whose key, or whose authority, signs certificates: [`signed`].

mod cast;
mod signed;

use crate::at_rest::phrase;
use crate::common::program::{code, complaint};
use cast::{Cast, copied, is_told, until_state};

#[test]
fn id_86_a_rotated_key_is_refused_everywhere_and_whoever_was_away_learns_it() {
    let mut cast = Cast::new("plain", false, "p256");
    let file = phrase(&cast.place, "correct horse");
    cast.all[0].kill();
    cast.all[0].good(&["identity", "passphrase", "--new-passphrase-file", &file]);
    cast.more = ["--passphrase-file".into(), file].into();
    cast.start(0);
    is_refused(&cast);
    is_rejected(&cast);
    let proof = cast.proof();
    let stolen = copied(&cast.all[0].state, cast.place.path().join("stolen"));
    cast.all[2].kill();
    let told = cast.rotate(&["--algorithm", "ed25519"]);
    let (old, new) = (told["member"].as_str().unwrap().to_owned(), told["new"].as_str().unwrap().to_owned());
    assert_eq!(old, cast.all[0].id);
    // Said again, it is the same proposal; of another algorithm it is none.
    assert_eq!(cast.rotate(&[])["new"], new.as_str());
    let other = cast.try_rotate(&["--algorithm", "rsa-2048"]);
    assert!(complaint(&other).contains("is of ed25519, and you asked for rsa-2048"), "{}", complaint(&other));
    // Not decided, it is not taken into use.
    cast.all[0].kill();
    let early = cast.all[0].run(&["identity", "rotate"]);
    assert!(code(&early) == 1 && complaint(&early).contains("not decided"), "{}", complaint(&early));
    cast.start(0);
    // While it is open, two keys are called anna: only digits say which is meant.
    until_state(&cast.all[1], &old, "present");
    cast.vote("approve", &old, &new);
    until_state(&cast.all[1], &old, "replaced");
    // Her own folder has to know before she stops.
    until_state(&cast.all[0], &old, "replaced");
    cast.all[0].kill();
    // Stopped in the middle: its certificate is the new key's already. The command goes on.
    let own = cast.all[0].state.join("identity.pem");
    std::fs::copy(cast.all[0].state.join("next/identity.pem"), own).unwrap();
    let taken = cast.all[0].good(&["identity", "rotate"]);
    assert_eq!(taken["member"], new.as_str());
    assert!(!cast.all[0].state.join("next").exists());
    let shown = cast.all[0].good(&["identity", "show"]);
    assert_eq!(
        (&shown["member"], &shown["encrypted"], &shown["algorithm"]),
        (&new.as_str().into(), &true.into(), &"ed25519".into())
    );
    cast.start(0);
    until_state(&cast.all[1], &new, "present");
    cast.all[0].good(&["send", "it is me", "--timeout", "30"]);
    is_told(&cast.all[1], "anna", &old, &new);
    cast.old_is_nobody(stolen, &old, &new);

    // The new key votes: without its yes there is no quorum.
    cast.all[3].good(&["charter", "change", "request_hours", "24"]);
    for voter in [0, 2] {
        let subject = ["vote", "approve", "set", "request_hours", "=", "24"];
        cast.all[voter].until(&subject, |told| !told.is_null());
    }
    cast.all[2].until(&["vote", "list"], |told| told.as_array().is_some_and(Vec::is_empty));
    cast.proves(&proof);
}

/// `ID-73`: no key is made of an algorithm that the charter does not name.
fn is_refused(cast: &Cast) {
    let refused = cast.try_rotate(&["--algorithm", "rsa-3072"]);
    let told = complaint(&refused);
    assert!(code(&refused) == 2 && told.contains("a key of rsa-3072 was chosen"), "{told}");
    assert!(told.contains("It names p256, ed25519, rsa-2048."), "{told}");
    assert!(!cast.all[0].state.join("next").exists());
}

/// `ID-89`: the key of a rejected proposal makes nobody's name one that looks like another's.
fn is_rejected(cast: &Cast) {
    let told = cast.rotate(&[]);
    let (old, new) = (told["member"].as_str().unwrap(), told["new"].as_str().unwrap());
    cast.all[2].until(&["why", &old[..12]], |told| told["alike"] == true);
    cast.vote("reject", old, new);
    let name = format!("anna≈{} (not admitted)", &new[..8]);
    for who in 0..4 {
        cast.all[who].until(&["why", "anna"], |told| told["member"] == old && told["alike"] == false);
        let status = cast.all[who].good(&["status"]);
        assert!(
            status["late"].as_array().unwrap().iter().any(|one| one["name"] == name.as_str()),
            "{status}"
        );
    }
    std::fs::remove_dir_all(cast.all[0].state.join("next")).unwrap();
}
