//! Certificates by others that say who a newcomer is: by an authority outside, which is OpenSSL,
//! and by another group, of which the newcomer is a member. The voters see what stands.
//!
//! ```text
//! chess   xena, and an authority that signs; dora is let in, and exports her certificate
//! test    anna and ben, who recognise Corp and the chess group's authority
//!         erik shows Corp's certificate, dora hers of the other group, mallory one that he made himself
//! ```

use crate::common::actor::{Actor, Talk};
use crate::common::openssl::openssl;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good, program};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn run(place: &Place, line: &str) {
    let (good, said) = openssl(place.path(), line);
    assert!(good, "openssl {line}: {said}");
}

/// An authority outside, in files that begin with this.
fn authority(place: &Place, name: &str) -> String {
    run(place, &format!("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {name}.key"));
    run(
        place,
        &format!("req -x509 -new -key {name}.key -subj /O=Example/CN=Corp -days 3650 -out {name}.pem"),
    );
    place.path().join(format!("{name}.pem")).display().to_string()
}

/// Its certificate for somebody's key.
fn issue(place: &Place, by: &str, who: &str) -> String {
    run(place, &format!("req -new -key {who}/identity.key -subj /CN={who} -out {who}.csr"));
    std::fs::write(place.path().join("person.ext"), "keyUsage=critical,digitalSignature\n").unwrap();
    let how =
        format!("-CA {by}.pem -CAkey {by}.key -CAcreateserial -extfile person.ext -days 30 -out {who}.crt");
    run(place, &format!("x509 -req -in {who}.csr {how}"));
    place.path().join(format!("{who}.crt")).display().to_string()
}

/// `folkmoot join`, which somebody watches.
fn joins(place: &Place, who: &Actor, at: &str, endorsement: &str) -> Talk {
    let mut command = program(&who.state);
    command.arg("join").arg(place.signed()).args([
        "--at",
        at,
        "--listen",
        "127.0.0.1:0",
        "--endorsement",
        endorsement,
    ]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Talk::of(command.spawn().unwrap())
}

/// The request of somebody, as a voter sees it.
fn asked(voter: &Actor, name: &str) -> Value {
    let is_its = |one: &&Value| one["name"].as_str().is_some_and(|it| it.starts_with(name));
    let of = |told: &Value| told.as_array().into_iter().flatten().find(is_its).cloned();
    of(&voter.until(&["vote", "list"], |told| of(told).is_some())).unwrap()
}

/// Another group lets dora in; her certificate there, and the authority's.
fn elsewhere(place: &Place) -> (PathBuf, String, String) {
    let mut office = Actor::authority(place, "authority", "plain");
    let mut xena = Actor::new(place, "xena");
    let state = office.state.display().to_string();
    let rules = ["--votes", "1", "--mode", "centralised", "--authority", &state];
    place.found_with(&[&xena.state], Times::PATIENT, &rules);
    xena.start(place, &[], &[]);
    office.start(place, &[xena.locator.clone()], &[]);
    let mut dora = Actor::new(place, "dora");
    dora.start(place, &[xena.locator.clone()], &["--apply"]);
    xena.until(&["vote", "approve", "dora"], |told| !told.is_null());
    xena.why("dora", "present");
    dora.kill();
    let folder = place.path().join("papers");
    dora.good(&["export", &folder.display().to_string()]);
    let held = std::fs::read_dir(folder.join("certificates")).unwrap();
    let held = held.map(|file| file.unwrap().path());
    let own = held.into_iter().find(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        name.starts_with("dora-") && name.ends_with(".pem")
    });
    let signer = folder.join("authority.pem").display().to_string();
    (dora.state.clone(), own.unwrap().display().to_string(), signer)
}

/// The same key in a folder of this group.
fn with_key(place: &Place, name: &str, key: &Path) -> Actor {
    let state = place.path().join(name);
    let key = key.join("identity.key").display().to_string();
    let line = ["identity", "import", "--key", &key, "--name", name, "--no-passphrase"];
    let made = good(&state, &line);
    Actor::of(state, made["member"].as_str().unwrap())
}

#[test]
fn voters_see_what_an_authority_and_another_group_say_of_a_newcomer() {
    let (chess, place) = (Place::new("shown-chess"), Place::new("shown"));
    let (key, membership, signer) = elsewhere(&chess);
    let corp = authority(&place, "corp");
    authority(&place, "liar");
    let mut members = ["anna", "ben"].map(|name| Actor::new(&place, name));
    let folders = [members[0].state.clone(), members[1].state.clone()];
    let rules = ["--recognise", &corp, "--recognise", &signer];
    place.found_with(&[&folders[0], &folders[1]], Times::PATIENT, &rules);
    let mut at = Vec::new();
    for one in &mut members {
        one.start(&place, &at, &[]);
        at = vec![at.first().unwrap_or(&one.locator).clone()];
    }
    let [anna, ben] = &members;
    anna.why("ben", "present");

    let (erik, mallory) = (Actor::new(&place, "erik"), Actor::new(&place, "mallory"));
    let endorsements = [issue(&place, "corp", "erik"), issue(&place, "liar", "mallory")];
    // Another's, or a CA's, is refused before anything is sent.
    for (who, endorsement, why) in
        [(&mallory, &endorsements[0], "for another key"), (&erik, &corp, "authority")]
    {
        let signed = place.signed().display().to_string();
        let refused =
            call(&who.state, &["join", &signed, "--at", &anna.locator, "--endorsement", endorsement]);
        assert_eq!(code(&refused), 5);
        assert!(complaint(&refused).contains(why), "{}", complaint(&refused));
    }
    let dora = with_key(&place, "dora", &key);
    let talks = [
        joins(&place, &erik, &anna.locator, &endorsements[0]),
        joins(&place, &dora, &anna.locator, &membership),
        joins(&place, &mallory, &anna.locator, &endorsements[1]),
    ];
    for voter in [anna, ben] {
        let shown = |name: &str| asked(voter, name)["endorsement"].clone();
        let (of_erik, of_dora) = (shown("erik"), shown("dora"));
        assert_eq!((&of_erik["by"], &of_erik["member"]), (&"Corp".into(), &false.into()));
        assert_eq!((&of_dora["by"], &of_dora["member"]), (&"test".into(), &true.into()));
        assert_eq!(shown("mallory"), Value::Null);
    }
    // In words, too; and it admits nobody by itself.
    let told = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"))
        .args(["--state", &anna.state.display().to_string(), "vote", "list"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("dora is a member of the group test under this name, until 20"), "{told}");
    assert!(told.contains("Corp says that this key is that of erik, until 20"), "{told}");
    assert_eq!(asked(anna, "erik")["have"], 0);
    for voter in [anna, ben] {
        voter.until(&["vote", "approve", "erik"], |told| !told.is_null());
    }
    anna.why("erik", "present");
    // A group may recognise somebody no more.
    for voter in [anna, ben] {
        voter.until(&["charter", "change", "recognised.test", "none"], |told| !told.is_null());
    }
    anna.until(&["vote", "list"], |told| {
        let all = told.as_array().into_iter().flatten();
        all.filter(|one| one["name"] == "dora").all(|one| one["endorsement"].is_null())
    });
    talks.into_iter().for_each(Talk::kill);
}
