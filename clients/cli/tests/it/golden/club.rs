//! A group of three: founded, asked by strangers, talked in, voted in, and left.
//!
//! ```text
//! anna, ben    folkmoot member        dora    folkmoot join, by a ticket; is expelled
//! cleo         folkmoot chat          frank   folkmoot join, and takes it back
//! eve          folkmoot write         gina    folkmoot join; is refused by two objections
//!                                     erik    imports a key
//! ```

use super::stage::{Note, Running, Stage, is_whole};
use crate::common::openssl::openssl;
use serde_json::{Value, json};

pub(super) fn story() -> Vec<Note> {
    let mut stage = Stage::new("club");
    identities(&mut stage);
    charter(&mut stage);
    let mut club = Club::begin(stage);
    club.at_rest();
    club.messages();
    club.letters();
    club.frank_takes_it_back();
    club.gina_is_refused();
    club.dora_comes_in();
    club.proposals();
    club.refusals();
    club.terms();
    club.dora_is_expelled();
    club.ben_has_another_key();
    club.cleo_leaves();
    club.over()
}

fn identities(stage: &mut Stage) {
    stage.note("anna", "new", "identity new anna --no-passphrase");
    for name in ["ben", "cleo", "dora", "eve", "frank", "gina"] {
        stage.good(name, &format!("identity new {name} --no-passphrase"));
    }
    stage.note("anna", "unencrypted", "identity show");
    stage.note("anna", "with a QR code", "identity show --qr");
    stage.note("anna", "there is one", "identity new anna --no-passphrase");
    let (made, said) =
        openssl(&stage.file(""), "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out erik.key");
    assert!(made, "{said}");
    stage.note("erik", "imported", "identity import --key erik.key --name erik --no-passphrase");
    stage.secret("phrase", "correct horse battery");
    stage.note("erik", "encrypted", "identity passphrase --new-passphrase-file phrase");
    stage.note("erik", "encrypted", "identity show");
    stage.note("erik", "no more", "identity passphrase --no-passphrase --passphrase-file phrase");
}

fn charter(stage: &mut Stage) {
    let founders = "--founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem";
    stage.note(
        "anna",
        "new",
        &format!("charter new \"book club\" --votes 2 --objections 2 --keying gdh --letters {founders}"),
    );
    // Nobody is missed because the machine is busy.
    let draft = std::fs::read_to_string(stage.file("charter.toml")).unwrap();
    std::fs::write(stage.file("charter.toml"), draft + "\n[timeouts]\nsilence_ms = 60000\n").unwrap();
    stage.note("anna", "the first", "charter sign charter.toml");
    stage.note("ben", "the second", "charter sign charter.cms --yes");
    stage.note("anna", "one has not signed", "charter verify charter.cms");
    stage.note("cleo", "apart", "charter sign charter.toml --out cleo.cms");
    stage.note("anna", "all", "charter join charter.cms cleo.cms");
    stage.note("anna", "signed by all", "charter show charter.cms");
    stage.note("anna", "signed by all", "charter verify charter.cms");
    stage.note("anna", "a charter", "verify charter.cms");
    stage.note("anna", "nobody runs", "status");
}

struct Club {
    stage: Stage,
    at: String,
    anna: Running,
    ben: Running,
    cleo: Running,
    /// Those who asked, or ran before.
    ended: Vec<(&'static str, Running)>,
}

impl Club {
    fn begin(stage: Stage) -> Self {
        let (anna, at) = stage.member("anna", "member --charter charter.cms");
        let (ben, _) = stage.member("ben", &format!("member --charter charter.cms --at {at}"));
        let line = format!("chat --charter charter.cms --at {at} --listen 127.0.0.1:0");
        let cleo = stage.start("cleo", &line);
        stage.until("cleo", "status", Value::is_object);
        stage.share(&["anna", "ben", "cleo"]);
        Self { stage, at, anna, ben, cleo, ended: Vec::new() }
    }

    fn at_rest(&mut self) {
        let whole = |told: &Value| is_whole(told, 3);
        for line in ["status", "roster"] {
            self.stage.note_when("anna", "three founders", line, whole);
        }
        self.stage.note_when("anna", "a founder", "why ben", |told| told["state"] == "present");
        for (case, line) in [
            ("the founding ones", "rules"),
            ("nobody", "why nobody"),
            ("nothing", "vote list"),
            ("none", "letters"),
            ("while it runs", "doctor"),
            ("no faults", "fault --heal"),
            ("there is none", "proof"),
            ("nothing to take back", "retime --yes"),
        ] {
            self.stage.note("anna", case, line);
        }
    }

    fn messages(&mut self) {
        let line = "receive --count 1 --timeout 50";
        let mut hears = self.stage.begin("ben", line);
        // Until it listens, nobody knows whether it does.
        while hears.try_wait().unwrap().is_none() {
            self.stage.good("anna", "send --sign \"I owe Ben ten crowns\"");
        }
        self.stage.end("ben", "a signed message", line, hears);
        self.stage.note("anna", "to all", "send \"see you at eight\" --service safe");
        self.cleo.types("good morning");
        let is = |text: &'static str| move |event: &Value| event["text"] == text;
        self.anna.says(is("good morning"));
        self.ben.says(is("see you at eight"));
        self.cleo.says(is("see you at eight"));
        self.stage.note("ben", "the newest signed one", "proof --out owes.cms");
        self.stage.note("ben", "a message", "verify owes.cms --charter charter.cms");
        self.stage.note("ben", "nothing comes", "receive --count 1 --timeout 0");
    }

    fn letters(&mut self) {
        let line = format!("write charter.cms \"Is there room for one more?\" --at {}", self.at);
        let writes = self.stage.begin("eve", &line);
        self.stage.until("ben", "letters", |told| told[0].is_object());
        self.stage.note("ben", "one", "letters");
        self.stage.note("ben", "a letter", "answer eve \"Ask again in May.\"");
        self.stage.end("eve", "answered", &line, writes);
        self.stage.note("ben", "one that is answered", "letters");
        self.stage.note("ben", "nobody", "answer nobody no");
        self.anna.says(|event| event["event"] == "answered");
    }

    fn asks(&mut self, who: &'static str, line: &str) -> Running {
        let asks = self.stage.start(who, &format!("join {line} --listen 127.0.0.1:0"));
        for voter in ["anna", "ben"] {
            self.stage.until(voter, "vote list", |told| told[0]["name"] == who);
        }
        asks
    }

    fn frank_takes_it_back(&mut self) {
        let line = format!("charter.cms --at {}", self.at);
        let mut frank = self.asks("frank", &line);
        self.stage.note("ben", "no", "vote reject frank");
        self.stage.note("frank", "a request", "withdraw");
        frank.says(|event| event["event"] == "withdrawn");
        frank.stops();
        self.ended.push(("frank, who takes it back", frank));
        self.stage.until("anna", "vote list", |told| told[0].is_null());
    }

    fn gina_is_refused(&mut self) {
        let line = format!("charter.cms --at {}", self.at);
        let mut gina = self.asks("gina", &line);
        self.stage.good("ben", "vote reject gina");
        self.stage.until("anna", "vote list", |told| told[0]["rejected"] == json!(["ben"]));
        self.stage.note("anna", "the last objection", "vote reject gina");
        gina.ends();
        self.ended.push(("gina, who is refused", gina));
        self.stage.note("anna", "who was refused", "why gina");
        for who in ["anna", "ben"] {
            self.stage.until(who, "vote list", |told| told[0].is_null());
        }
    }

    fn dora_comes_in(&mut self) {
        self.stage.note("anna", "in a file", "invite --for dora/identity.pem --out dora.ticket");
        self.stage.note("anna", "printed", &format!("invite --days 3 --at {}", self.at));
        let mut dora = self.asks("dora", "dora.ticket");
        self.stage.note("ben", "a request", "vote list");
        self.stage.note("ben", "who asks", "why dora");
        self.stage.note("anna", "the first of two", "vote approve dora");
        self.stage.note("anna", "a second time", "vote approve dora");
        self.stage.until("ben", "vote list", |told| told[0]["have"] == 1);
        self.stage.note("ben", "with a vote", "vote list");
        self.stage.note("ben", "who has a vote", "why dora");
        self.stage.note("ben", "the last of two", "vote approve dora");
        let whole = |told: &Value| is_whole(told, 4);
        self.stage.share(&["anna", "ben", "cleo", "dora"]);
        dora.types("hello all");
        self.anna.says(|event| event["text"] == "hello all");
        self.stage.note_when("dora", "a new member", "status", whole);
        self.stage.note_when("dora", "with a new member", "roster", whole);
        self.ended.push(("dora, who is expelled", dora));
    }

    fn proposals(&mut self) {
        self.stage.note("anna", "a number", "charter change request_hours 24");
        let about = "set request_hours = 24 in the charter";
        self.open("ben", about);
        self.stage.note("ben", "a proposal", "vote list");
        self.stage.note("ben", "a proposal", &format!("vote reject {about}"));
        self.stage.until("anna", "vote list", |told| told[0]["rejected"] == json!(["ben"]));
        self.stage.note("anna", "with an objection", "vote list");
        self.stage.note("ben", "of somebody else", &format!("withdraw {about}"));
        self.stage.note("anna", "a proposal", &format!("withdraw {about}"));
        self.stage.until("ben", "vote list", |told| told[0].is_null());
        self.stage.note("anna", "two of three", "voters anna ben");
        self.open("anna", "let these vote from now on: anna, ben");
        self.stage.good("anna", "withdraw \"let these vote from now on: anna, ben\"");
        self.decides("charter change certificate_days 200", "set certificate_days = 200 in the charter");
        self.stage.note("anna", "with a decision", "rules");
        self.stage.note_when("anna", "with a decision", "status", |told| is_whole(told, 4));
    }

    fn open(&self, who: &str, about: &str) {
        let is = |told: &Value| told.as_array().is_some_and(|all| all.iter().any(|one| one["name"] == about));
        self.stage.until(who, "vote list", is);
    }

    /// Anna proposes, Ben agrees, and all know of it.
    fn decides(&mut self, line: &str, about: &str) {
        let decided = self.stage.good("anna", "status")["decided"].as_u64().unwrap();
        self.stage.good("anna", line);
        self.open("ben", about);
        self.stage.note("ben", "the last of two, on a proposal", &format!("vote approve {about}"));
        for who in ["anna", "ben"] {
            self.stage.until(who, "status", |told| told["decided"].as_u64() > Some(decided));
            self.stage.until(who, "vote list", |told| told[0].is_null());
        }
    }

    fn refusals(&mut self) {
        for (case, line) in [
            ("what is not open", "vote approve nothing of this kind"),
            ("what is not open", "vote reject nothing of this kind"),
            ("nobody", "expel nobody"),
            ("a field that there is not", "charter change favourite_colour green"),
            ("a value that cannot be", "charter change threshold none"),
            ("nothing to take back", "withdraw nothing of this kind"),
            ("nobody", "voters anna nobody"),
            ("a head that there is not", "resolve 17.36c92395e61b02aef6df28 --timeout 0"),
        ] {
            self.stage.note("anna", case, line);
        }
        self.stage.note("dora", "without a vote", "expel ben");
        self.open("anna", "expel ben");
        self.stage.note("anna", "of somebody without a vote", "vote list");
        self.stage.note("dora", "a proposal without her vote", "withdraw expel ben");
        for who in ["anna", "ben"] {
            self.stage.until(who, "vote list", |told| told[0].is_null());
        }
    }

    fn terms(&mut self) {
        self.stage.note("dora", "a member", "renew");
        self.stage.until("anna", "vote list", |told| told[0]["kind"] == "renewal");
        self.stage.until("ben", "vote list", |told| told[0]["kind"] == "renewal");
        self.stage.note("anna", "a renewal", "vote list");
        self.stage.note("anna", "a renewal", "vote approve dora");
        self.stage.good("ben", "vote approve dora");
        let (_, dora) = self.ended.last().unwrap();
        dora.says(|event| event["event"] == "certified");
        self.stage.until("anna", "vote list", |told| told[0].is_null());
        self.stage.until("ben", "vote list", |told| told[0].is_null());
    }

    /// Dora has no vote, so one yes does not decide what she proposes.
    fn dora_is_expelled(&mut self) {
        self.stage.good("dora", "expel cleo");
        self.open("anna", "expel cleo");
        self.stage.good("anna", "vote approve expel cleo");
        self.stage.note("dora", "what others have said yes to", "withdraw expel cleo");
        self.stage.note("anna", "of somebody who took it back", "vote list");
        self.stage.note("anna", "a member", "expel dora");
        self.open("ben", "expel dora");
        self.stage.note("ben", "an expulsion", "vote list");
        self.stage.note("ben", "by the name alone", "vote approve dora");
        self.stage.good("ben", "vote approve expel dora");
        let (_, dora) = self.ended.last_mut().unwrap();
        dora.ends();
        self.stage.until("anna", "why dora", |told| told["state"] == "expelled");
        self.stage.note("anna", "who was expelled", "why dora");
        self.stage.share(&["anna", "ben", "cleo"]);
        self.stage.note_when("anna", "after an expulsion", "status", |told| is_whole(told, 3));
    }

    /// It takes the votes of two, and what Ben has of his old key ends.
    fn ben_has_another_key(&mut self) {
        let told = self.stage.note("ben", "proposed", "identity rotate");
        let old = told["member"].as_str().unwrap().to_owned();
        let has = |one: &&Value| one["name"].as_str().is_some_and(|name| name.starts_with("give ben"));
        let found = |told: &Value| told.as_array().and_then(|all| all.iter().find(has).cloned());
        let open = found(&self.stage.until("anna", "vote list", |told| found(told).is_some())).unwrap();
        self.stage.note("anna", "another key", "vote list");
        self.stage.good("anna", &format!("vote approve {}", open["subject"].as_str().unwrap()));
        for who in ["anna", "ben"] {
            self.stage.until(who, &format!("why {old}"), |told| told["state"] == "replaced");
        }
        self.stage.note("anna", "of an old key", &format!("why {old}"));
        self.ben.stops();
        self.stage.note("ben", "taken into use", "identity rotate");
        let (again, _) = self.stage.member("ben", &format!("member --at {}", self.at));
        let before = std::mem::replace(&mut self.ben, again);
        self.ended.push(("ben, whose key was replaced", before));
        self.stage.share(&["anna", "ben", "cleo"]);
    }

    fn cleo_leaves(&mut self) {
        let is_wish = |one: &Value| one["name"].as_str().is_some_and(|name| name.starts_with("release"));
        self.stage.note("cleo", "for good", "leave --for-good");
        self.open("anna", "release cleo, who asks to leave for good");
        self.stage.note("anna", "who wishes to leave", "vote list");
        self.stage.note("cleo", "a wish to leave", "withdraw release cleo");
        let is_closed = |told: &Value| told.as_array().is_some_and(|all| !all.iter().any(is_wish));
        self.stage.until("ben", "vote list", is_closed);
        self.stage.good("cleo", "leave --for-good");
        self.open("ben", "release cleo, who asks to leave for good");
        self.stage.note("ben", "the last of two, on a wish", "vote approve release cleo");
        self.cleo.ends();
        self.stage.until("anna", "why cleo", |told| told["state"] == "left-for-good");
        self.stage.note("anna", "who has left for good", "why cleo");
        self.stage.share(&["anna", "ben"]);
    }

    /// What is left is read without a member.
    fn over(mut self) -> Vec<Note> {
        self.stage.note("ben", "for now", "leave");
        self.ben.ends();
        self.stage.until("anna", "why ben", |told| told["state"] == "left");
        self.stage.note("anna", "who has left", "why ben");
        self.anna.stops();
        let told = self.stage.note("anna", "all", "export copy");
        let head = told["head"].as_str().unwrap_or("1.00").to_owned();
        self.stage.note("eve", "a transcript", "verify charter.cms copy/transcript.moot");
        let line = format!("verify charter.cms copy/transcript.moot --head {head}");
        self.stage.note("eve", "a transcript with a head", &line);
        let line = "verify owes.cms --charter charter.cms --transcript copy/transcript.moot";
        self.stage.note("eve", "a message, by a transcript", line);
        self.stage.note("eve", "no charter", "verify phrase");
        self.stage.note("anna", "nobody runs", "doctor");
        let all: Vec<_> = self.ended.iter().map(|(case, one)| (*case, one)).collect();
        let (before, joins) = all.split_last().unwrap();
        let anna = ("anna, who was told to stop", &self.anna);
        let members = [anna, ("ben, who left", &self.ben), *before];
        let chat = [("cleo, who leaves for good", &self.cleo)];
        self.stage.note_events("member", &members, &[joins, &chat].concat());
        self.stage.note_events("join", joins, &[&members[..], &chat].concat());
        self.stage.note_events("chat", &chat, &[joins, &members].concat());
        self.stage.notes()
    }
}
