//! A member asks for a new certificate before its own ends: voted on like an admission, entered by
//! itself; a restart loses nothing.

use crate::common::{Bus, player, vote};
use folkmoot_admission::{AdmissionError, Closed, Command, Event};
use folkmoot_base::{Digest, UnixTime};
use folkmoot_identity::{Gmc, Scheme};

/// How much later the renewal is asked for, in seconds.
const LATER: u64 = 1_000;

/// Four founders and dora, who has become a member like them.
pub(crate) fn with_dora(scheme: Scheme) -> (Bus, usize) {
    let mut bus = Bus::silent(scheme, 4, 2);
    bus.pass(12);
    let which = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, which, true);
    vote(&mut bus, 2, which, true);
    bus.pass(12);
    assert!(bus.admitted(which));
    let mut dora = player(bus.strangers[which].identity.clone(), &bus.charter());
    let theirs = &bus.players[0].transcript;
    let items = theirs.lacking(dora.transcript.state().head(), &dora.transcript.have(), usize::MAX);
    for item in items {
        dora.transcript.take(&item, Some(bus.time)).unwrap();
    }
    bus.strangers.clear();
    bus.players.push(dora);
    bus.time = UnixTime(bus.time.0 + LATER);
    bus.pass(1);
    (bus, 4)
}

fn open(bus: &Bus, who: usize) -> Option<Digest> {
    let player = &bus.players[who];
    player
        .admission
        .status(&player.transcript, &player.identity)
        .requests
        .first()
        .map(|request| request.request)
}

fn end(bus: &Bus, who: usize) -> UnixTime {
    bus.players[0].transcript.roster().member(&bus.players[who].identity.member()).unwrap().ends
}

#[test]
fn adm_55_a_member_renews_its_certificate_by_votes() {
    for scheme in [Scheme::Plain, Scheme::Asm, Scheme::Frost, Scheme::TsDsa] {
        let (mut bus, dora) = with_dora(scheme);
        let (before, members) = (end(&bus, dora), bus.players[0].transcript.roster().len());
        bus.command(dora, Command::Renew).unwrap();
        let motion = open(&bus, 1).unwrap();
        bus.command(1, Command::Vote { motion, approve: true }).unwrap();
        bus.pass(2);
        assert_eq!(end(&bus, dora), before, "{scheme:?}: fewer votes are not enough");
        // Stopped in the middle, it goes on.
        bus.restart(dora);
        bus.command(2, Command::Vote { motion, approve: true }).unwrap();
        bus.pass(20);
        assert!(end(&bus, dora).0 >= before.0 + LATER, "{scheme:?}: {:#?}", bus.traces);
        let roster = bus.players[0].transcript.roster();
        assert_eq!(roster.len(), members, "nobody came, nobody went");
        let member = bus.players[dora].identity.member();
        let gmc = Gmc::from_der(&bus.players[0].transcript.certificate_of(&member).unwrap()).unwrap();
        assert_eq!(gmc.body().request_digest(), Ok(motion));
        for player in &bus.players {
            let closed = |event: &Event| matches!(event, Event::RequestClosed { why: Closed::Granted, request, .. } if *request == motion);
            assert!(player.events.iter().any(closed));
            assert_eq!(player.admission.poll_timeout(), None, "{scheme:?}: something is still at work");
        }
    }
}

#[test]
fn adm_55_voters_may_say_no_and_founders_need_none() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    let before = end(&bus, dora);
    bus.command(dora, Command::Renew).unwrap();
    let motion = open(&bus, 1).unwrap();
    for who in 0..3 {
        bus.command(who, Command::Vote { motion, approve: false }).unwrap();
    }
    bus.pass(5);
    assert_eq!(end(&bus, dora), before);
    assert_eq!(bus.command(0, Command::Renew), Err(AdmissionError::LocalEndless));
    // It has no vote of its own before the electorate has it.
    let voted = bus.command(dora, Command::Vote { motion, approve: true });
    assert_eq!(voted, Err(AdmissionError::LocalNotVoter));
}

/// The link that it had as a guest is still up at the contact, which does not take it for a guest
/// and calls no sessions for it.
#[test]
fn adm_55_a_renewal_is_its_members_alone_to_bring() {
    let (mut bus, dora) = with_dora(Scheme::Frost);
    bus.command(dora, Command::Renew).unwrap();
    bus.pass(1);
    let guests = |who: usize| {
        let player = &bus.players[who];
        player.admission.signing(bus.now, &player.transcript).guests
    };
    assert_eq!(guests(dora), [bus.players[dora].identity.member()]);
    for who in 0..dora {
        assert!(open(&bus, who).is_some() && guests(who).is_empty(), "{who}");
    }
}

#[test]
fn adm_55_nobody_renews_for_another() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    bus.command(dora, Command::Renew).unwrap();
    let motion = open(&bus, 1).unwrap();
    // Its own machine is gone: the votes are there, and nobody else can sign in its place.
    bus.players[dora].up = false;
    let before = end(&bus, dora);
    for who in [1, 2] {
        bus.command(who, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(10);
    assert_eq!(end(&bus, dora), before);
    bus.restart(dora);
    bus.merge();
    bus.pass(70);
    assert!(end(&bus, dora) > before, "{:#?}", bus.traces);
}
