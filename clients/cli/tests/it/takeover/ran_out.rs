//! What was approved and ran out acts on nothing: neither with a yes that came in time, nor in a
//! certificate that somebody kept until then.

use super::stage::{Cast, agree, decided, head, roster};
use crate::common::actor::Actor;
use folkmoot_base::{Blob, Persist, UnixTime, digest};
use folkmoot_identity::{Gmc, GmcBody, Identity, SignedCharter, Verdict};
use folkmoot_runtime::{OsEntropy, StateFolder, Store, wall_clock};
use folkmoot_transcript::{Approval, Item, SignedApproval, State, TABLE, admission};
use serde_json::{Value, json};
use std::path::Path;

const FOUNDERS: [&str; 3] = ["anna", "ben", "cleo"];
const DAY: u64 = 86_400;
/// Longer than a proposal is open by the charter of these tests.
const MONTH: &str = "2678400";

/// Waits until somebody's list shows these, and nobody else, for the only proposal.
fn shows(who: &Actor, approved: &[&str]) {
    let only = |list: &Value| {
        let one = list.as_array().filter(|all| all.len() == 1).map(|all| &all[0]);
        one.is_some_and(|one| one["approved"] == json!(approved) && one["have"] == approved.len())
    };
    who.until(&["vote", "list"], only);
}

#[test]
fn a_yes_that_ran_out_expels_nobody() {
    let mut cast = Cast::founded("ran-out", &FOUNDERS, &[]);
    cast.who("anna").good(&["expel", "cleo"]);
    for name in FOUNDERS {
        shows(cast.who(name), &["anna"]);
    }
    FOUNDERS.iter().for_each(|name| cast.kill(name));
    FOUNDERS.iter().for_each(|name| cast.start(name, &["--clock-ahead", MONTH]));
    cast.who("ben").why("anna", "present");
    cast.who("cleo").why("anna", "present");

    // At the line's time of before, and at a time after its end.
    cast.who("ben").until(&["expel", "cleo"], |told| !told.is_null());
    shows(cast.who("ben"), &["ben"]);
    cast.who("anna").good(&["charter", "change", "certificate_days", "200"]);
    agree(cast.who("ben"), |one| one["name"] == "set certificate_days = 200 in the charter");
    for name in FOUNDERS {
        cast.who(name).until(&["status"], |status| status["decided"] == 1);
        shows(cast.who(name), &["ben"]);
    }
    // Said anew it counts.
    agree(cast.who("anna"), |one| one["name"] == "expel cleo");
    cast.who("ben").why("cleo", "expelled");
    assert_eq!(decided(cast.who("ben")), 2);
}

pub(super) fn identity(folder: &Path) -> Identity {
    let folder = StateFolder::at(folder);
    let (key, certificate) = (folder.read_key().unwrap(), folder.read_certificate().unwrap());
    Identity::from_pem(&key, core::str::from_utf8(&certificate).unwrap()).unwrap()
}

pub(super) fn charter(cast: &Cast) -> SignedCharter {
    SignedCharter::complete_from_der(&std::fs::read(cast.place.signed()).unwrap()).unwrap()
}

/// A certificate for somebody, of twenty days ago, with approvals that end so many days from now;
/// and it is on the holder's disk, as if it had been in the transcript there.
fn certified(cast: &Cast, who: &Actor, ends: i64) {
    let charter = charter(cast);
    let (holder, now) = (identity(&who.state), wall_clock().0);
    let begins = UnixTime(now - 20 * DAY);
    let mut body = GmcBody::propose(charter.charter(), &holder, 1, begins, &mut OsEntropy::new().unwrap());
    body.not_after = UnixTime(now + 20 * DAY);
    body.membership.base = State::founded(charter.charter().clone()).head();
    let subject = admission(body.request_digest().unwrap());
    let expires = UnixTime(now.saturating_add_signed(ends * DAY.cast_signed()));
    let approve = |voter: &str| {
        let voter = identity(&cast.who(voter).state);
        let (base, verdict) = (body.membership.base, Verdict::Approve);
        let approval = Approval { voter: voter.member(), base, subject, turn: 0, verdict, expires };
        SignedApproval::sign(voter.key(), charter.charter().group(), approval)
    };
    let mut approvals = vec![approve("anna"), approve("ben")];
    approvals.sort_by_key(|signed| signed.approval.voter);
    let certificate = Blob(Gmc::compose(&body, &[], &holder).unwrap().der().clone());
    let item = Item::Admit { certificate, approvals }.encode();
    let key = [&b"i"[..], &digest(&[&item])].concat();
    let mut store = Store::open(&StateFolder::at(&who.state).store_path()).unwrap();
    store.commit(&[Persist::put(TABLE, key, item)]).unwrap();
}

#[test]
fn a_certificate_by_votes_that_ran_out_admits_nobody() {
    let cast = Cast::founded("ran-out-paper", &FOUNDERS, &[]);
    cast.decide(&["charter", "change", "certificate_days", "200"], &["anna", "ben"], &FOUNDERS);
    let line = head(cast.who("anna"));
    admits_nobody(&cast);
    FOUNDERS.iter().for_each(|name| assert_eq!(head(cast.who(name)), line, "{name}"));
}

/// Nothing has been decided, so the time of the line stands still.
#[test]
fn a_certificate_by_votes_that_ran_out_admits_nobody_in_a_group_at_rest() {
    admits_nobody(&Cast::founded("ran-out-rest", &FOUNDERS, &[]));
}

/// Eve has a certificate by two votes that ended ten days ago, on her own disk.
fn admits_nobody(cast: &Cast) {
    let before = roster(cast.who("anna"));
    let mut eve = Actor::new(&cast.place, "eve");
    certified(cast, &eve, -10);
    cast.comes(&mut eve, &FOUNDERS);
    for name in FOUNDERS {
        eve.why(&cast.who(name).id, "other-side");
    }
    FOUNDERS.iter().for_each(|name| assert_eq!(roster(cast.who(name)), before, "{name}"));

    // Not for any other reason: the same with votes that last admits.
    let mut fay = Actor::new(&cast.place, "fay");
    certified(cast, &fay, 10);
    let at = FOUNDERS.map(|name| cast.who(name).locator.clone());
    fay.start(&cast.place, &at, &[]);
    for name in FOUNDERS {
        cast.who(name).why(&fay.id, "present");
        assert!(!roster(cast.who(name)).contains(&eve.id), "{name}");
    }
}
