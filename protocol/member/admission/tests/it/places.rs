//! ADM-84 to ADM-86: who gets a place for its request when many strangers ask. Each lie first
//! succeeds with the rule switched off, then fails.

use crate::common::{Bus, Dice, person, vote};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, CONTACT_REQUESTS_MAX, Command, Config, Input, MAKER_REQUESTS_MAX, OpenMessage,
    VOUCHED_MAX, VOUCHER_REQUESTS_MAX,
};
use folkmoot_admission::{Closed, Event, GuestMessage, Reason};
use folkmoot_base::{Blob, Danger, Digest, GroupId, Host, MemberId, Mutant, UnixTime, codec};
use folkmoot_identity::{Csr, GmcBody, Identity, Request, Scheme};
use folkmoot_transcript::{Voucher, Vouching};
use std::collections::BTreeSet;

/// Where the flood comes from.
const FLOOD: Host = Host::Memory(1_000);
const HONEST: Host = Host::Memory(2_000);
const FULL: Result<(), AdmissionError> = Err(AdmissionError::PeerTooManyRequests);

/// A group of so many, whose first member breaks this rule.
fn founded(count: u64, danger: Option<Danger>) -> Bus {
    let mut bus = Bus::new(count, 2);
    bus.restart_as(0, Config { danger: Mutant::from(danger), ..Config::default() });
    bus
}

fn stranger(seed: u64) -> Identity {
    person("stranger", 10_000 + seed)
}

fn request(bus: &Bus, who: &Identity) -> Request {
    let transcript = &bus.players[0].transcript;
    let body = GmcBody::propose(transcript.roster().charter(), who, 3, bus.time, &mut Dice(5));
    Request::sign(who, body.over(transcript.state().head())).unwrap()
}

/// One with this key dials the first member from `host`, and asks. The message to the members is
/// still on its way.
fn asks(bus: &mut Bus, who: &Identity, host: Host, voucher: Option<Voucher>) -> Result<(), AdmissionError> {
    let node = who.node();
    bus.input(0, Input::LinkUp { node, host }).unwrap();
    let cms = Blob::from(request(bus, who).der().to_vec());
    let payload = codec::encode(&GuestMessage::Request { cms, voucher, endorsement: None }).into();
    bus.input(0, Input::Guest { from: node, payload })
}

/// So many strangers at one host, one after the other. How many find a place.
fn flood(bus: &mut Bus, seeds: core::ops::Range<u64>, voucher: Option<&Voucher>) -> usize {
    let mut taken = 0;
    for seed in seeds {
        let who = stranger(seed);
        taken += usize::from(asks(bus, &who, FLOOD, voucher.cloned()).is_ok());
        bus.settle();
        bus.input(0, Input::LinkDown(who.node())).unwrap();
    }
    taken
}

fn open(bus: &Bus, who: usize) -> BTreeSet<MemberId> {
    bus.status(who).requests.iter().map(|request| request.member).collect()
}

/// All members have the same requests open: so many.
fn all_have_open(bus: &Bus, many: usize) {
    for who in 0..bus.players.len() {
        assert_eq!(open(bus, who), open(bus, 0), "{who}");
        let stored = bus.players[who].disk.keys().filter(|key| key.table == "request").count();
        assert_eq!((open(bus, who).len(), stored), (many, many), "{who}");
    }
}

fn group(bus: &Bus) -> GroupId {
    bus.players[0].transcript.roster().charter().group()
}

fn saying(bus: &Bus, serial: u8) -> Vouching {
    Vouching { serial: [serial; 16], ends: UnixTime(bus.time.0 + 86_400), holder: None }
}

/// Of a ticket that this member made.
fn voucher(bus: &Bus, maker: usize, serial: u8) -> Voucher {
    Voucher::sign(group(bus), saying(bus, serial), &bus.players[maker].identity)
}

fn expel(bus: &mut Bus, who: usize) {
    let expelled = bus.players[who].identity.member();
    bus.pass(10);
    bus.command(0, Command::Expel(expelled)).unwrap();
    let removal = bus.status(1).proposals[0].proposal;
    bus.command(1, Command::Vote { motion: removal, approve: true }).unwrap();
    bus.pass(10);
    assert!(!bus.players[0].transcript.roster().is_member(&expelled));
}

#[test]
fn adm_84_one_host_with_50_keys_keeps_nobody_out() {
    for danger in [Some(Danger::AdmissionForgetsHosts), None] {
        let mut bus = founded(3, danger);
        assert_eq!(flood(&mut bus, 0..50, None), CONTACT_REQUESTS_MAX);
        let dora = bus.stranger("dora", 40, 0);
        let member = bus.strangers[dora].identity.member();
        assert_eq!(open(&bus, 0).contains(&member), danger.is_none(), "{danger:?}");
        all_have_open(&bus, CONTACT_REQUESTS_MAX);
        if danger.is_some() {
            continue;
        }
        // Whatever the flood does, it has no more than its part.
        bus.pass(60);
        assert_eq!(flood(&mut bus, 50..100, None), 0);
        vote(&mut bus, 1, dora, true);
        vote(&mut bus, 2, dora, true);
        assert!(bus.admitted(dora));
        all_have_open(&bus, CONTACT_REQUESTS_MAX - 1);
    }
}

#[test]
fn adm_84_two_hosts_have_as_many_places_each_and_who_makes_room_is_told() {
    let mut bus = founded(3, None);
    flood(&mut bus, 0..32, None);
    let first = stranger(0);
    bus.input(0, Input::LinkUp { node: first.node(), host: FLOOD }).unwrap();
    let taken = (100..150).filter(|seed| asks(&mut bus, &stranger(*seed), HONEST, None).is_ok()).count();
    bus.settle();
    assert_eq!(taken, CONTACT_REQUESTS_MAX / 2);
    all_have_open(&bus, CONTACT_REQUESTS_MAX);
    let full = |(to, payload): &(_, Bytes)| {
        let told = codec::decode(payload).unwrap();
        *to == first.node() && matches!(told, GuestMessage::Standing { reason: Reason::Full, .. })
    };
    assert!(bus.lost.iter().any(full), "the oldest of the flood makes room first, and is told");
    let crowded = |event: &&Event| matches!(event, Event::RequestClosed { why: Closed::Crowded, .. });
    assert_eq!(bus.players[2].events.iter().filter(crowded).count(), taken);
}

/// A request is taken, makes room for another, and only then its own copy comes back in the order.
#[test]
fn adm_84_what_made_room_does_not_come_back_by_its_own_copy() {
    let mut bus = founded(3, None);
    for seed in 0..32 {
        asks(&mut bus, &stranger(seed), FLOOD, None).unwrap();
    }
    let honest: Vec<Identity> = (100..105).map(stranger).collect();
    honest.iter().for_each(|who| asks(&mut bus, who, HONEST, None).unwrap());
    let before = open(&bus, 0);
    bus.settle();
    assert_eq!(open(&bus, 0), before);
    all_have_open(&bus, CONTACT_REQUESTS_MAX);
    assert!(honest.iter().all(|who| before.contains(&who.member())));
}

#[test]
fn adm_84_many_hosts_take_turns_and_what_is_approved_stays() {
    let mut bus = founded(3, None);
    let host = |seed: u64| Host::Memory(u32::try_from(seed).unwrap());
    let comes = |bus: &mut Bus, seed: u64| {
        let who = stranger(seed);
        let asked = asks(bus, &who, host(seed), None);
        bus.settle();
        bus.input(0, Input::LinkDown(who.node())).unwrap();
        asked
    };
    (0..32).for_each(|seed| comes(&mut bus, seed).unwrap());
    assert_eq!(comes(&mut bus, 32), FULL);
    let hers = voucher(&bus, 1, 1);
    assert_eq!(asks(&mut bus, &stranger(70), host(70), Some(hers)), Ok(()));
    bus.settle();
    bus.input(0, Input::LinkDown(stranger(70).node())).unwrap();
    let first = bus.status(1).requests.iter().find(|one| one.member == stranger(0).member()).unwrap().request;
    bus.command(1, Command::Vote { motion: first, approve: true }).unwrap();
    bus.pass(8);
    assert_eq!(comes(&mut bus, 33), FULL, "a turn lasts ten seconds");
    bus.pass(1);
    (34..65).for_each(|seed| comes(&mut bus, seed).unwrap());
    assert_eq!(comes(&mut bus, 65), FULL, "and all but one have had theirs");
    let kept = open(&bus, 0);
    let of =
        |seeds: core::ops::Range<u64>| seeds.filter(|one| kept.contains(&stranger(*one).member())).count();
    assert_eq!((of(0..1), of(1..34), of(34..65), of(70..71)), (1, 0, 31, 1));
    all_have_open(&bus, CONTACT_REQUESTS_MAX + 1);
}

/// What a contact says makes room is its own, and nobody has approved it.
#[test]
fn adm_84_a_contact_says_what_makes_room_of_its_own_requests_alone() {
    let mut bus = founded(3, None);
    let [anna, ben] = [0, 1].map(|who| bus.players[who].identity.member());
    let shows = |bus: &mut Bus, sender: MemberId, seed: u64, instead: Option<Digest>| {
        let cms = Blob::from(request(bus, &stranger(seed)).der().to_vec());
        let message = OpenMessage::Request { cms, voucher: None, endorsement: None, instead };
        bus.everyone(&Input::Open { sender, payload: codec::encode(&message).into() });
        bus.settle();
    };
    let digest = |bus: &Bus, seed| request(bus, &stranger(seed)).digest();
    let [first, second] = [1, 2].map(|seed| digest(&bus, seed));
    shows(&mut bus, anna, 1, None);
    shows(&mut bus, anna, 2, None);
    shows(&mut bus, ben, 3, Some(first));
    assert_eq!(open(&bus, 2).len(), 3, "of another contact");
    bus.command(2, Command::Vote { motion: first, approve: true }).unwrap();
    shows(&mut bus, anna, 4, Some(first));
    assert_eq!(open(&bus, 2).len(), 4, "approved");
    shows(&mut bus, anna, 5, Some(second));
    assert_eq!((open(&bus, 2).len(), open(&bus, 2).contains(&stranger(2).member())), (4, false));
}

/// What a member asks for itself, or for the holder of a CSR, does not wait behind strangers, and
/// does not make room for them.
#[test]
fn adm_84_strangers_do_not_keep_a_member_from_its_own_requests() {
    for danger in [Some(Danger::AdmissionForgetsHosts), None] {
        let mut bus = Bus::of_scheme(Scheme::Frost, 3, 2);
        bus.pass(12);
        bus.restart_as(0, Config { danger: Mutant::from(danger), ..Config::default() });
        flood(&mut bus, 0..50, None);
        let csr = Csr::sign(person("erik", 50).key(), "erik").unwrap();
        let handed_in = bus.command(0, Command::Submit(Bytes::copy_from_slice(csr.der())));
        assert_eq!(handed_in, if danger.is_some() { FULL } else { Ok(()) });
        if danger.is_none() {
            (100..150).for_each(|seed| drop(asks(&mut bus, &stranger(seed), HONEST, None)));
            bus.settle();
            assert!((0..3).all(|who| open(&bus, who).contains(&csr.member())));
        }
    }
}

#[test]
fn adm_84_a_request_that_came_from_the_disk_has_its_host_once_its_guest_asks_again() {
    let mut bus = founded(3, None);
    flood(&mut bus, 0..31, None);
    let dora = stranger(40);
    asks(&mut bus, &dora, HONEST, None).unwrap();
    bus.settle();
    bus.restart(0);
    asks(&mut bus, &dora, HONEST, None).unwrap();
    let host = |seed: u64| Host::Memory(u32::try_from(seed).unwrap());
    (100..115).for_each(|seed| asks(&mut bus, &stranger(seed), host(seed), None).unwrap());
    bus.settle();
    assert!(open(&bus, 0).contains(&dora.member()), "the flood makes room");
    all_have_open(&bus, CONTACT_REQUESTS_MAX);
}

#[test]
fn adm_85_a_voucher_counts_from_a_member_for_this_group_until_it_ends() {
    for danger in [Some(Danger::AdmissionBelievesVouchers), None] {
        let mut bus = founded(4, danger);
        let (ours, cleo) = (saying(&bus, 1), voucher(&bus, 3, 1));
        expel(&mut bus, 3);
        assert_eq!(flood(&mut bus, 0..50, None), CONTACT_REQUESTS_MAX);
        let group = group(&bus);
        let anna = bus.players[0].identity.clone();
        let sign = |group, says| Voucher::sign(group, says, &anna);
        let ended = UnixTime(bus.time.0 - 61);
        let altered = Vouching { ends: UnixTime(ours.ends.0 + 1), ..ours };
        let lies = [
            ("is no member", Voucher::sign(group, ours, &stranger(900))),
            ("is no member", cleo),
            ("has ended", sign(group, Vouching { ends: ended, ..ours })),
            ("for this group", sign(GroupId([1; 32]), ours)),
            ("for this group", Voucher { says: altered, ..sign(group, ours) }),
            ("for this group", Voucher { maker: bus.players[1].identity.member(), ..sign(group, ours) }),
            ("for another key", sign(group, Vouching { holder: Some(MemberId([7; 32])), ..ours })),
        ];
        for (number, (why, lie)) in (200..).zip(lies) {
            let heard = asks(&mut bus, &stranger(number), FLOOD, Some(lie));
            bus.settle();
            if danger.is_some() {
                assert_eq!(heard, Ok(()), "{why}");
            } else {
                assert_eq!(heard, FULL, "{why}");
                assert!(bus.traces.last().unwrap().1.ends_with(why), "{why}: {:?}", bus.traces.last());
            }
        }
        if danger.is_none() {
            let dora = stranger(40);
            let hers = sign(group, Vouching { holder: Some(dora.member()), ..ours });
            assert_eq!(asks(&mut bus, &dora, FLOOD, Some(hers)), Ok(()), "where the flood comes from");
            assert_eq!(open(&bus, 0).len(), CONTACT_REQUESTS_MAX + 1);
        }
    }
}

/// It gives a place and no vote.
#[test]
fn adm_85_a_voucher_admits_nobody() {
    let mut bus = founded(3, None);
    let (dora, voucher) = (stranger(40), voucher(&bus, 1, 1));
    asks(&mut bus, &dora, HONEST, Some(voucher)).unwrap();
    bus.settle();
    let status = bus.status(2);
    assert_eq!((status.requests[0].have, status.requests[0].need), (0, 2));
    assert!(status.requests[0].approved.is_empty() && bus.items == 0);
}

/// Fifty and more strangers at one host share a ticket that has leaked.
#[test]
fn adm_86_a_leaked_voucher_has_four_places() {
    for danger in [Some(Danger::AdmissionVouchersUnbounded), None] {
        let mut bus = founded(3, danger);
        let [leaked, other] = [1, 2].map(|serial| voucher(&bus, 1, serial));
        let taken = flood(&mut bus, 0..120, Some(&leaked));
        let dora = asks(&mut bus, &stranger(40_000), FLOOD, Some(other));
        bus.settle();
        if danger.is_some() {
            assert_eq!((taken, dora), (VOUCHED_MAX + CONTACT_REQUESTS_MAX, FULL));
            continue;
        }
        assert_eq!((taken, dora), (VOUCHER_REQUESTS_MAX + CONTACT_REQUESTS_MAX, Ok(())));
        assert_eq!(asks(&mut bus, &stranger(40_001), HONEST, None), Ok(()), "nobody vouches for it");
        bus.settle();
        all_have_open(&bus, taken + 1);
        // A voucher that has no place left is as none: its host's part counts.
        assert_eq!(asks(&mut bus, &stranger(40_002), FLOOD, Some(leaked.clone())), FULL);
        assert_eq!(asks(&mut bus, &stranger(40_003), HONEST, Some(leaked)), Ok(()));
        bus.settle();
        // It is the same after a restart.
        bus.restart(0);
        assert_eq!(open(&bus, 0).len(), taken + 1);
        let third = voucher(&bus, 1, 3);
        assert_eq!(asks(&mut bus, &stranger(40_004), FLOOD, Some(third)), Ok(()));
        bus.settle();
        all_have_open(&bus, taken + 2);
    }
}

#[test]
fn adm_86_one_member_vouches_for_16_and_leaves_the_others_their_share() {
    let mut bus = founded(6, None);
    flood(&mut bus, 0..32, None);
    let mut places = Vec::new();
    for maker in 0..6 {
        let seeds = 100 * u64::try_from(maker).unwrap() + 100;
        let mut taken = 0;
        for number in 0..20_u8 {
            let one = voucher(&bus, maker, number);
            taken += flood(&mut bus, seeds + u64::from(number)..seeds + u64::from(number) + 1, Some(&one));
        }
        places.push(taken);
    }
    let share = VOUCHED_MAX / 2 / 6;
    let most = MAKER_REQUESTS_MAX;
    assert_eq!(places, [most, most, share, share, share, share]);
    all_have_open(&bus, CONTACT_REQUESTS_MAX + places.iter().sum::<usize>());
}

/// Whoever is expelled vouches for nobody any more: its places are free for others.
#[test]
fn adm_86_the_places_of_an_expelled_member_are_free_again() {
    let mut bus = founded(4, None);
    for number in 0..16 {
        let one = voucher(&bus, 3, number);
        asks(&mut bus, &stranger(u64::from(number)), FLOOD, Some(one)).unwrap();
    }
    bus.settle();
    expel(&mut bus, 3);
    assert_eq!(flood(&mut bus, 100..150, None), CONTACT_REQUESTS_MAX - 16, "they count as others do");
    for number in 0..16 {
        let one = voucher(&bus, 1, number);
        assert_eq!(asks(&mut bus, &stranger(200 + u64::from(number)), FLOOD, Some(one)), Ok(()));
    }
}

#[test]
fn adm_85_a_newcomer_shows_its_voucher_with_each_request_also_after_a_restart() {
    let mut bus = founded(3, None);
    let voucher = voucher(&bus, 1, 1);
    let kept = folkmoot_admission::keep_voucher(&voucher);
    let dora = bus.stranger("dora", 40, 0);
    let it = &mut bus.strangers[dora];
    it.disk.insert(kept.key, kept.value.unwrap());
    let stored: Vec<_> = it.disk.clone().into_iter().collect();
    it.applicant = folkmoot_admission::Applicant::load(&stored).unwrap();
    assert!(it.applicant.has_asked());
    let (now, time) = (bus.now, bus.time);
    let it = &mut bus.strangers[dora];
    let contact = it.contact.unwrap();
    let host = HONEST;
    let mut said = Vec::new();
    for input in [Input::Clock(time), Input::LinkUp { node: contact, host }, Input::Timeout] {
        it.applicant.handle(now, input, &it.transcript, &it.identity, &mut Dice(3)).unwrap();
    }
    let due = it.applicant.poll_timeout().unwrap();
    it.applicant.handle(due, Input::Timeout, &it.transcript, &it.identity, &mut Dice(3)).unwrap();
    while let Some(output) = it.applicant.poll_output() {
        if let folkmoot_admission::Output::Guest { payload, .. } = output {
            said.push(codec::decode::<GuestMessage>(&payload).unwrap());
        }
    }
    let shows = |word: &GuestMessage| matches!(word, GuestMessage::Request { voucher: Some(shown), .. } if *shown == voucher);
    assert!(!said.is_empty() && said.iter().all(shows), "{said:?}");
}
