//! A single voter whose clock was three days ahead by mistake, and is put right.

use super::stage::{Note, Stage};
use serde_json::Value;

/// And a half, so that it is as many days a moment later, too.
const THREE_DAYS: &str = "--clock-ahead 302400";
const FORTY_FIVE_DAYS: &str = "--clock-ahead 3888000";

pub(super) fn story() -> Vec<Note> {
    let mut stage = Stage::new("clock");
    stage.good("anna", "identity new anna --no-passphrase");
    stage.good("anna", "charter new alone --votes 1 --founder anna/identity.pem");
    stage.good("anna", "charter sign charter.toml");
    let decided = |number: u64| move |told: &Value| told["decided"] == number;

    let (mut anna, _) = stage.member("anna", &format!("member --charter charter.cms {THREE_DAYS}"));
    stage.until("anna", "charter change certificate_days 40", |told| !told.is_null());
    stage.until("anna", "status", decided(1));
    anna.stops();
    let (mut anna, _) = stage.member("anna", "member");
    let behind = |told: &Value| told["line"]["behind_line"] == true && told["activity"] == "steady";
    stage.note_when("anna", "behind its decisions", "status", behind);
    stage.note("anna", "nobody can be asked", "retime");
    stage.note("anna", "a voter alone", "retime --yes");
    stage.until("anna", "status", decided(2));
    anna.stops();

    let (mut anna, _) = stage.member("anna", &format!("member {FORTY_FIVE_DAYS}"));
    stage.good("anna", "charter change request_hours 24");
    let told = stage.until("anna", "status", |told| told["line"]["asks_date"] == true);
    let head = told["head"].as_str().unwrap();
    stage.note("anna", "with a clock far ahead", "charter change certificate_days 50");
    stage.note("anna", "a clock far ahead", "doctor");
    stage.note("anna", "nobody can be asked", &format!("resolve {head}"));
    stage.note("anna", "by its clock", &format!("resolve {head} --yes"));
    stage.until("anna", "status", decided(3));
    anna.stops();
    stage.notes()
}
