//! A group with a key of its own: who was expelled is refused by OpenSSL, by what a member exports.
//!
//! ```text
//! dora and erik are voted in, the group's key signs      export: no list
//! dora is expelled                                       export: a list; erik verifies, dora does not
//! ```

use crate::common::actor::Actor;
use crate::common::openssl::openssl;
use crate::common::place::{Place, Times};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn export(place: &Place, who: &Actor, name: &str) -> PathBuf {
    let folder = place.path().join(name);
    who.good(&["export", &folder.display().to_string()]);
    folder
}

/// Stops it, exports, and starts it again until there is a list: each time for a second longer.
pub(crate) fn list_of(place: &Place, who: &mut Actor, at: &str) -> PathBuf {
    let begun = Instant::now();
    for seconds in 1.. {
        std::thread::sleep(Duration::from_secs(seconds));
        who.kill();
        let folder = export(place, who, "evidence");
        if folder.join("revoked.crl").exists() {
            return folder;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no list");
        who.start(place, &[at.to_owned()], &[]);
    }
    unreachable!()
}

/// The one membership certificate of this name.
fn certificate(folder: &Path, name: &str) -> String {
    let files = std::fs::read_dir(folder.join("certificates")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let file = files.filter(|file| file.starts_with(name) && file.ends_with(".pem")).collect::<Vec<_>>();
    assert_eq!(file.len(), 1, "{file:?}");
    format!("certificates/{}", file[0])
}

#[test]
fn who_was_expelled_is_refused_by_what_a_member_exports() {
    let place = Place::new("revoked");
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    let founders = [&anna, &ben].map(|one| one.state.as_path());
    place.found_with(&founders, Times::PATIENT, &["--scheme", "frost"]);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    let [mut dora, mut erik] = ["dora", "erik"].map(|name| Actor::new(&place, name));
    for (guest, name) in [(&mut dora, "dora"), (&mut erik, "erik")] {
        guest.start(&place, &[anna.locator.clone(), ben.locator.clone()], &["--apply"]);
        for voter in [&anna, &ben] {
            voter.until(&["vote", "approve", name], |told| !told.is_null());
        }
        guest.why("anna", "present");
    }
    ben.kill();
    let before = export(&place, &ben, "before");
    assert!(before.join("authority.pem").exists() && !before.join("revoked.crl").exists());
    let at = anna.locator.clone();
    ben.start(&place, core::slice::from_ref(&at), &[]);
    anna.why("ben", "present");
    anna.good(&["expel", "dora"]);
    ben.until(&["vote", "approve", "expel", "dora"], |told| !told.is_null());
    ben.why("dora", "expelled");

    let folder = list_of(&place, &mut ben, &at);
    let verify = "verify -x509_strict -check_ss_sig -crl_check -CAfile authority.pem -CRLfile revoked.pem";
    let (stays, said) = openssl(&folder, &format!("{verify} {}", certificate(&folder, "erik")));
    assert!(stays, "{said}");
    let (gone, said) = openssl(&folder, &format!("{verify} {}", certificate(&folder, "dora")));
    assert!(!gone && said.contains("error 23"), "{said}");
    let (read, said) = openssl(&folder, "crl -inform DER -in revoked.crl -noout -text -CAfile authority.pem");
    assert!(read && said.contains("verify OK") && said.contains("X509v3 CRL Number"), "{said}");
    println!("{said}");
}
