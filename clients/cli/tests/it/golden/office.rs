//! A group whose authority deals shares of the key that signs certificates.

use super::stage::{Note, Stage, is_whole};
use crate::common::openssl::openssl;
use serde_json::{Value, json};

pub(super) fn story() -> Vec<Note> {
    let mut stage = Stage::new("office");
    offices(&mut stage);
    let rules = "--votes 2 --keying gdh --scheme frost --mode centralised --authority office --dealer keeps";
    let founders = "--founder gina/identity.pem --founder hugo/identity.pem";
    for name in ["gina", "hugo"] {
        stage.good(name, &format!("identity new {name} --no-passphrase"));
    }
    stage.note("gina", "with an authority", &format!("charter new works {rules} {founders}"));
    let draft = std::fs::read_to_string(stage.file("charter.toml")).unwrap();
    std::fs::write(stage.file("charter.toml"), draft + "\n[timeouts]\nsilence_ms = 60000\n").unwrap();
    stage.good("gina", "charter sign charter.toml");
    stage.note("hugo", "with an authority", "charter sign charter.cms");
    let (mut gina, at) = stage.member("gina", "member --charter charter.cms");
    let (mut hugo, _) = stage.member("hugo", &format!("member --charter charter.cms --at {at}"));
    let (mut office, _) = stage.member("office", &format!("authority run charter.cms --at {at}"));
    stage.share(&["gina", "hugo"]);
    stage.note_when("office", "two members are here", "authority status", |told| is_seen(told, 0));
    let holds = |told: &Value| {
        is_whole(told, 2) && told["share"]["state"] == "held" && told["authority"]["reached"] == true
    };
    stage.until("hugo", "status", holds);
    stage.note_when("gina", "a member, with an authority", "status", holds);
    stage.note("gina", "with a share", "doctor");
    stage.note("gina", "with an authority", "rules");
    erik(&mut stage);
    stage.note_when("office", "one was issued", "authority status", |told| is_seen(told, 1));
    office.stops();
    stage.note("office", "an authority's", "authority log");
    stage.note_events("authority run", &[("told to stop", &office)], &[]);
    gina.stops();
    hugo.says(|event| event["left"] == json!(["gina"]));
    hugo.stops();
    let members = [&gina, &hugo].map(|one| ("with an authority", one));
    stage.note_events("member", &members, &[]);
    stage.notes()
}

/// Whether the authority has dealt the shares and issued so many certificates, and both members are
/// here and see both.
fn is_seen(told: &Value, issued: u64) -> bool {
    let people = told["people"].as_array().into_iter().flatten();
    told["issued"] == issued
        && told["dealer"] == "keeps"
        && people.filter(|one| one["here"] == true && one["sees"] == 2).count() == 2
}

fn offices(stage: &mut Stage) {
    stage.note("office", "with shares", "authority new --group works --scheme frost --no-passphrase");
    stage.note("office", "with shares", "authority show");
    stage.note("office", "for the founders", "authority certificate");
    stage.note("office", "to a file", "authority hand-over secret.office");
    stage.good("spare", "identity new spare --no-passphrase");
    stage.note("spare", "from a file", "authority take-over secret.office");
    stage.note("spare", "there is one", "authority take-over secret.office");
}

/// He has only OpenSSL.
fn erik(stage: &mut Stage) {
    let here = stage.file("");
    for line in [
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out erik.key",
        "req -new -key erik.key -subj /CN=erik -out erik.csr",
    ] {
        let (done, said) = openssl(&here, line);
        assert!(done, "{said}");
    }
    stage.note("gina", "a request", "csr submit erik.csr");
    stage.until("hugo", "vote list", |told| told[0]["name"] == "erik");
    stage.note("hugo", "by a CSR", "vote list");
    stage.note("gina", "not granted yet", "csr fetch erik.csr");
    for name in ["gina", "hugo"] {
        stage.good(name, "vote approve erik");
    }
    stage.note("gina", "to a file", "csr fetch erik.csr --out erik.pem --timeout 50");
    stage.note("gina", "printed", "csr fetch erik.csr");
    stage.note("gina", "granted before", "csr submit erik.csr");
}
