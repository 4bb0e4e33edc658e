//! A yes to an admission that no decision holds is said again before it ends. Method: a stranger is
//! admitted on the smaller side of a split, where nobody decides, and the clock goes on.

use crate::common::{Bus, NOW};
use crate::deciding::comes;
use crate::policies::governed;
use folkmoot_admission::Config;
use folkmoot_base::{Danger, Digest, Mutant, UnixTime};
use folkmoot_identity::{Policies, Scheme, Verdict};
use folkmoot_transcript::{Item, LIFE_SECONDS, admission};

const DAY: u64 = 86_400;
/// The voters on the smaller side.
const SMALL: [usize; 3] = [4, 5, 6];

/// Seven founders, of whom three are cut off and have admitted dora, with votes of three days.
fn split(danger: Option<Danger>) -> (Bus, usize) {
    let mut bus = Bus::of_scheme(Scheme::Plain, 7, 2);
    bus.cut = Some(4);
    let config = || Config { danger: Mutant::from(danger), ..Config::default() };
    SMALL.into_iter().for_each(|who| bus.restart_as(who, config()));
    let dora = comes(&mut bus, "dora", 40, &SMALL[..2]);
    bus.pass(5);
    says(&mut bus, 6, dora, Verdict::Approve);
    assert!(is_in(&bus, dora));
    (bus, dora)
}

fn request(bus: &Bus, dora: usize) -> Digest {
    let member = bus.strangers[dora].identity.member();
    let set = bus.players[4].transcript.set();
    set.admits().find(|admit| admit.member == member).unwrap().request
}

/// A person says so when the request is closed already.
fn says(bus: &mut Bus, who: usize, dora: usize, verdict: Verdict) {
    let player = &bus.players[who];
    let (subject, ends) = (admission(request(bus, dora)), UnixTime(NOW.0 + 3 * DAY));
    let word = player.transcript.approve(&player.identity, subject, verdict, ends);
    let word = Item::Approval(word).encode().into();
    for who in SMALL {
        bus.take(who, &word);
    }
}

fn is_in(bus: &Bus, dora: usize) -> bool {
    let member = bus.strangers[dora].identity.member();
    SMALL.into_iter().all(|who| bus.players[who].transcript.roster().is_member(&member))
}

/// Until when the last yeses of these last; none if what was said last is no yes.
fn until(bus: &Bus, dora: usize) -> Vec<Option<UnixTime>> {
    let set = bus.players[4].transcript.set();
    let subject = admission(request(bus, dora));
    let said = |who: usize| set.approval(&subject, &bus.players[who].identity.member());
    let yes = |who: usize| said(who).map(|said| said.approval).filter(|said| said.is_yes());
    SMALL.into_iter().map(|who| yes(who).map(|yes| yes.expires)).collect()
}

fn jump(bus: &mut Bus, days: u64) {
    bus.time = UnixTime(NOW.0 + days * DAY);
    bus.pass(5);
}

#[test]
fn adm_96_on_the_smaller_side_of_a_split_nobody_falls_out_because_votes_are_short() {
    for danger in [Some(Danger::AdmissionSaysOnce), None] {
        let (mut bus, dora) = split(danger);
        let (first, before) = (until(&bus, dora), bus.items);
        jump(&mut bus, 1);
        assert_eq!((until(&bus, dora), bus.items), (first.clone(), before), "it is not time yet");
        bus.time = UnixTime(NOW.0 + 2 * DAY + 60);
        let now = bus.time;
        bus.pass(30);
        let again = if danger.is_none() { vec![Some(UnixTime(now.0 + LIFE_SECONDS)); 3] } else { first };
        assert_eq!(until(&bus, dora), again, "{danger:?}");
        let said = if danger.is_none() { 3 } else { 0 };
        assert_eq!(bus.items, before + said, "each says it once");
        bus.time = UnixTime(NOW.0 + 4 * DAY);
        bus.pass(30);
        assert_eq!(is_in(&bus, dora), danger.is_none());
        // When all meet she counts everywhere, and is held.
        bus.merge();
        bus.pass(700);
        let member = bus.strangers[dora].identity.member();
        let held = bus.players.iter().all(|one| one.transcript.state().roster().contains_key(&member));
        assert_eq!(held, danger.is_none(), "{:#?}", bus.traces);
    }
}

#[test]
fn adm_96_what_was_taken_back_is_not_said_again() {
    let (mut bus, dora) = split(None);
    says(&mut bus, 6, dora, Verdict::Reject);
    assert_eq!(until(&bus, dora)[2], None);
    bus.time = UnixTime(NOW.0 + 2 * DAY + 60);
    bus.pass(30);
    let said: Vec<bool> = until(&bus, dora).iter().map(Option::is_some).collect();
    assert_eq!((said, is_in(&bus, dora)), (vec![true, true, false], true));
}

#[test]
fn adm_96_what_has_run_out_is_not_said_again() {
    let (mut bus, dora) = split(None);
    let (first, before) = (until(&bus, dora), bus.items);
    // The machines were off for a week, and their clocks say so before anything else.
    jump(&mut bus, 7);
    bus.pass(30);
    assert_eq!((until(&bus, dora), is_in(&bus, dora)), (first, false));
    assert_eq!(bus.items, before + 1, "one Past, and no word");
}

#[test]
fn adm_96_no_yes_outlasts_what_the_charter_allows_a_request() {
    let mut bus = governed(7, 2, &Policies { request_days: Some(2), ..Policies::default() });
    bus.cut = Some(4);
    let dora = comes(&mut bus, "dora", 40, &SMALL[..2]);
    bus.pass(5);
    let (first, before) = (until(&bus, dora), bus.items);
    bus.time = UnixTime(NOW.0 + DAY + DAY / 2);
    bus.pass(30);
    assert_eq!((until(&bus, dora), bus.items, is_in(&bus, dora)), (first, before, true));
}
