//! What the flush layer promises: members that share a view share what was sent in it, and a member
//! knows which others move on with it. The layers below are the group layer and a model of the ring
//! with extended virtual synchrony.

mod early;
mod parties;
mod receipts;
mod schedules;
mod words;

use crate::member::bus::{self, Bus, GROUP, item, removal};
use crate::member::{Event, Manner, Member, check, config, heal, joined, new_bus, pass};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::limits::STEP_DEADLINE;
use folkmoot_base::{
    Blob, Cause, ConfigurationId, Danger, Instant, NodeId, Party, Proof, Service, SignatureBytes,
    ToySignatures, ViewId,
};
use folkmoot_flush::message::{self, Control, FlushOk, For, Frame, Signed, ViewTag};
use folkmoot_flush::{Flush, FlushError, Output, Phase, View};
use proptest::prelude::*;
use words::{brought, next, said_by, shown, unsigned};

fn ids(indices: &[usize]) -> Vec<Party> {
    indices.iter().map(|index| bus::member(*index)).collect()
}

fn upper(bus: &mut Bus<Member>, index: usize) -> &mut Member {
    &mut bus.hosts[index].upper
}

fn view_of(bus: &Bus<Member>, index: usize) -> View {
    bus.hosts[index].upper.view().unwrap()
}

fn count(bus: &Bus<Member>, index: usize, event: &Event) -> usize {
    bus.hosts[index].upper.life().iter().filter(|it| *it == event).count()
}

#[test]
fn a_view_is_installed_by_all_with_one_list() {
    let bus = joined(3, None);
    for index in 0..3 {
        assert_eq!(view_of(&bus, index).members, ids(&[0, 1, 2]));
    }
    let view = view_of(&bus, 0);
    assert_eq!((view.transitional_set, view.arrived, view.cause), (ids(&[0, 1]), ids(&[2]), Cause::Join));
    assert_eq!(view_of(&bus, 2).transitional_set, ids(&[2]));
    assert_eq!(check::all(&bus), Ok(()));
    assert_eq!(check::one_view(&bus), Ok(()));
}

#[test]
fn a_cascade_of_ten_changes_gives_one_view_and_one_request() {
    let mut bus = joined(2, None);
    for index in 0..2 {
        upper(&mut bus, index).manner = Manner::Slow;
    }
    let before = bus.hosts[0].upper.views().len();
    let requests = count(&bus, 0, &Event::Request);
    for _ in 0..5 {
        bus.reconfigure(&[0, 1], 0);
        bus.settle();
        bus.reconfigure(&[0, 0], 0);
        bus.settle();
    }
    assert_eq!((bus.hosts[0].upper.views().len(), count(&bus, 0, &Event::Request)), (before, requests + 1));
    let now = bus.now;
    for index in 0..2 {
        upper(&mut bus, index).answer(now);
    }
    bus.settle();
    assert_eq!(
        (bus.hosts[0].upper.views().len(), count(&bus, 0, &Event::Request)),
        (before + 1, requests + 1)
    );
    assert_eq!(view_of(&bus, 0).transitional_set, ids(&[0]), "each was lost to the other on the way");
    assert_eq!(check::all(&bus), Ok(()));
}

#[test]
fn a_storm_of_joins_ends_in_one_view() {
    let mut bus = new_bus(12, None);
    for index in 0..12 {
        upper(&mut bus, index).join();
        bus.pump(index);
        bus.order(index);
    }
    bus.settle();
    assert_eq!(check::one_view(&bus), Ok(()));
    assert!(bus.hosts.iter().all(|host| host.upper.views().len() <= 3));
    assert_eq!(check::all(&bus), Ok(()));
}

/// Three in a view, asked to flush because a fourth joins; nobody has answered.
fn three_asked() -> Bus<Member> {
    let mut bus = new_bus(4, None);
    for index in 0..3 {
        upper(&mut bus, index).join();
        bus.settle();
    }
    for index in 0..3 {
        upper(&mut bus, index).manner = Manner::Slow;
    }
    upper(&mut bus, 3).join();
    bus.settle();
    bus
}

#[test]
fn a_split_in_the_middle_of_agree_lets_each_side_go_on() {
    let mut bus = three_asked();
    let now = bus.now;
    upper(&mut bus, 0).answer(now);
    upper(&mut bus, 1).answer(now);
    bus.settle();
    assert_eq!(bus.hosts[0].upper.flush.as_ref().unwrap().phase(), Phase::Agree);
    bus.reconfigure(&[0, 0, 1, 1], 0);
    bus.settle();
    upper(&mut bus, 2).answer(now);
    bus.settle();
    assert_eq!(view_of(&bus, 0).members, ids(&[0, 1]));
    assert_eq!(view_of(&bus, 0).transitional_set, ids(&[0, 1]));
    assert_eq!(view_of(&bus, 0).departed, ids(&[2]));
    assert_eq!(view_of(&bus, 2).members, ids(&[2, 3]));
    assert_eq!(view_of(&bus, 2).transitional_set, ids(&[2]));
    assert_eq!(check::all(&bus), Ok(()));
}

#[test]
fn k1_a_leave_in_the_middle_of_agree_signals_once_and_is_not_awaited() {
    let mut bus = three_asked();
    let now = bus.now;
    upper(&mut bus, 0).answer(now);
    upper(&mut bus, 1).answer(now);
    bus.settle();
    assert_eq!(count(&bus, 0, &Event::Signal), 0, "a join signals nothing");
    upper(&mut bus, 2).leave();
    bus.settle();
    assert_eq!(count(&bus, 0, &Event::Signal), 1);
    assert_eq!(view_of(&bus, 0).members, ids(&[0, 1, 3]));
    assert_eq!(view_of(&bus, 0).cause, Cause::Network, "a join and a leave, taken together");
    assert_eq!(check::all(&bus), Ok(()));
}

#[test]
fn k1_one_who_leaves_before_it_was_ever_in_signals_too() {
    let mut bus = three_asked();
    upper(&mut bus, 3).leave();
    bus.settle();
    assert_eq!(count(&bus, 0, &Event::Signal), 1);
    let now = bus.now;
    for index in 0..3 {
        upper(&mut bus, index).answer(now);
    }
    bus.settle();
    assert_eq!(view_of(&bus, 0).transitional_set, ids(&[0, 1, 2]));
    assert_eq!(check::all(&bus), Ok(()));
}

#[test]
fn k4_a_silent_member_is_set_aside_by_complaints() {
    let mut bus = three_asked();
    upper(&mut bus, 2).mute = true;
    let now = bus.now;
    for index in 0..3 {
        upper(&mut bus, index).answer(now);
    }
    bus.settle();
    assert_eq!(bus.hosts[0].upper.flush.as_ref().unwrap().awaited(), ids(&[2]));
    pass(&mut bus, STEP_DEADLINE * 2);
    bus.settle();
    assert_eq!(count(&bus, 0, &Event::Complaint(ids(&[2]))), 1);
    assert_eq!(view_of(&bus, 0).members, ids(&[0, 1, 3]));
    assert_eq!(bus.hosts[2].upper.lives[0].last(), Some(&Event::Left));
    assert_eq!(check::all(&bus), Ok(()));
}

/// Twice the charter's step; never less than usual.
#[test]
fn k4_words_are_waited_for_as_long_as_the_charters_steps_want() {
    for (step, waited) in [(10, 20), (3, 6), (1, 6)] {
        let mut flush = pair();
        flush.wait(Duration::from_secs(step));
        flush.notice(T0, id(2), ids(&[0, 1]), &[], Cause::Refresh).unwrap();
        flush.flush_ok(T0, Bytes::new()).unwrap();
        assert_eq!(flush.poll_timeout(), Some(T0 + Duration::from_secs(waited)), "steps of {step} s");
    }
}

#[test]
fn flu_14_words_are_waited_for_as_long_as_the_configuration_asks() {
    let (mut flush, far) = (pair(), Duration::from_secs(8));
    flush.wait(far);
    flush.notice(T0, id(2), ids(&[0, 1]), &[], Cause::Refresh).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    let complains = |flush: &mut Flush, after: Duration| {
        flush.timeout(T0 + after);
        std::iter::from_fn(|| flush.poll_output()).any(|output| matches!(output, Output::Complain { .. }))
    };
    assert!(!complains(&mut flush, STEP_DEADLINE * 2), "it is far, not silent");
    // What began before goes on as it began.
    flush.wait(STEP_DEADLINE);
    assert_eq!(flush.poll_timeout(), Some(T0 + far * 2));
    assert!(complains(&mut flush, far * 2));
    let again = T0 + far * 2 + STEP_DEADLINE * 4;
    assert_eq!(flush.poll_timeout(), Some(again));
    flush.wait_anew(again);
    assert_eq!(flush.poll_timeout(), Some(again + STEP_DEADLINE * 2));
}

#[test]
fn the_expelled_leave_at_the_place_of_the_item() {
    let mut bus = joined(3, None);
    bus.hosts[0].group.item(&removal(1)).unwrap();
    bus.settle();
    assert_eq!((view_of(&bus, 0).members, view_of(&bus, 0).cause), (ids(&[0, 2]), Cause::Expelled));
    assert_eq!(count(&bus, 0, &Event::Signal), 1);
    assert_eq!(check::all(&bus), Ok(()));
}

#[test]
fn flu_06_an_item_in_the_middle_of_agree_is_in_the_heads_of_all() {
    let mut bus = three_asked();
    let now = bus.now;
    upper(&mut bus, 0).answer(now);
    bus.settle();
    bus.hosts[1].group.item(&item(1)).unwrap();
    bus.settle();
    upper(&mut bus, 1).answer(now);
    upper(&mut bus, 2).answer(now);
    bus.settle();
    let digest = folkmoot_base::digest;
    assert_eq!(view_of(&bus, 0).heads, digest(&[&digest(&[&item(1)])]));
    assert_eq!(check::all(&bus), Ok(()));
}

// --- one member; the test plays the rest ---

const T0: Instant = Instant(0);

fn id(order: u64) -> ViewId {
    let configuration = ConfigurationId { ring_seq: 1, representative: NodeId([1; 32]), nonce: [0; 16] };
    ViewId { configuration, order, group: GROUP }
}

fn lone() -> Flush {
    Flush::new(config(bus::member(0), None), [0; 32])
}

fn outputs(flush: &mut Flush) -> Vec<Output> {
    std::iter::from_fn(|| flush.poll_output()).collect()
}

/// A FLUSH_OK with a number higher than any before it. [`said_by`] puts the commitment into it.
fn flush_ok(view: ViewId) -> FlushOk {
    let (number, heads, brings) = (next(), [0; 32], Bytes::new().into());
    FlushOk { view, number, heads, brings, reached: None, commitment: [0; 32] }
}

fn word(view: ViewId, heads: u8) -> Bytes {
    unsigned(FlushOk { heads: [heads; 32], ..flush_ok(view) })
}

/// The word of a party that goes from one view to another.
fn leaving(left: ViewId, view: ViewId) -> Bytes {
    let reached = Some(message::Reached { tag: ViewTag::of(&left), parties: Vec::new() });
    unsigned(FlushOk { reached, ..flush_ok(view) })
}

fn hear(flush: &mut Flush, from: usize, bytes: &Bytes) -> Result<(), FlushError> {
    let sender = bus::member(from);
    flush.frame(T0, sender, Service::Agreed, said_by(sender, bytes))
}

/// Members 0 and 1 in view 1.
fn pair() -> Flush {
    let mut flush = lone();
    flush.notice(T0, id(1), ids(&[0, 1]), &[], Cause::Join).unwrap();
    hear(&mut flush, 0, &word(id(1), 0)).unwrap();
    hear(&mut flush, 1, &word(id(1), 0)).unwrap();
    assert_eq!(flush.view(), Some(id(1)));
    outputs(&mut flush);
    flush
}

#[test]
fn a_member_alone_installs_at_its_own_word() {
    let mut flush = lone();
    flush.notice(T0, id(1), ids(&[0]), &[], Cause::Join).unwrap();
    assert_eq!(flush.view(), None);
    let Some(Output::Multicast { bytes, .. }) = flush.poll_output() else { panic!("no word") };
    hear(&mut flush, 0, &bytes).unwrap();
    assert_eq!((flush.view(), flush.phase()), (Some(id(1)), Phase::Verify));
    let received = outputs(&mut flush).into_iter().find_map(|output| match output {
        Output::Multicast { bytes, .. } => Some(bytes),
        _ => None,
    });
    hear(&mut flush, 0, &received.unwrap()).unwrap();
    assert_eq!(flush.phase(), Phase::Steady);
}

#[test]
fn flu_05_no_send_between_flush_and_view_and_no_second_flush() {
    let mut flush = pair();
    assert_eq!(flush.flush_ok(T0, Bytes::new()), Err(FlushError::LocalNotAsked));
    flush.notice(T0, id(2), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    assert_eq!(outputs(&mut flush), [Output::FlushRequest]);
    assert_eq!(flush.send(Service::Safe, For::Session, b"still allowed"), Ok(()));
    assert_eq!(flush.flush_ok(T0, Bytes::new()), Ok(()));
    assert_eq!(flush.flush_ok(T0, Bytes::new()), Err(FlushError::LocalNotAsked));
    assert_eq!(flush.send(Service::Safe, For::Session, b"no"), Err(FlushError::LocalNotAllowed));
    assert_eq!(flush.phase(), Phase::Agree);
    flush.notice(T0, id(3), ids(&[0, 1]), &[bus::member(2)], Cause::Leave).unwrap();
    assert_eq!(flush.send(Service::Safe, For::Session, b"no"), Err(FlushError::LocalNotAllowed));
    hear(&mut flush, 0, &word(id(3), 0)).unwrap();
    hear(&mut flush, 1, &word(id(3), 0)).unwrap();
    assert!(flush.may_send());
    flush.leave();
    assert_eq!(flush.send(Service::Safe, For::Session, b"no"), Err(FlushError::LocalNotAllowed));
}

#[test]
fn flu_01_what_is_no_frame_is_refused() {
    let mut flush = pair();
    for bytes in [&b""[..], b"\x01\x09", b"\xD1sho", &[[0xDC].as_slice(), &[0; 17]].concat()] {
        let refused = hear(&mut flush, 1, &Bytes::copy_from_slice(bytes));
        assert!(matches!(refused, Err(FlushError::PeerMalformed { .. })));
    }
    assert_eq!(outputs(&mut flush), []);
}

fn data(view: u64, service: Service) -> Bytes {
    let header = message::data_header(&ViewTag::of(&id(view)), service, For::Session, 1);
    [header.as_slice(), b"payload"].concat().into()
}

#[test]
fn flu_02_messages_of_another_view_are_refused() {
    let mut flush = pair();
    assert_eq!(
        hear(&mut flush, 1, &data(9, Service::Agreed)),
        Err(FlushError::PeerOtherView(bus::member(1)))
    );
    let ours = data(1, Service::Agreed);
    assert_eq!(hear(&mut flush, 1, &ours), Ok(()));
    let Some(Output::Deliver { payload, .. }) = flush.poll_output() else { panic!("not delivered") };
    assert!(ours.as_ptr_range().contains(&payload.as_ptr()), "a slice, not a copy");
}

#[test]
fn flu_03_who_was_removed_is_heard_no_more_and_who_was_lost_until_the_notice() {
    let mut flush = pair();
    flush.transitional(&ids(&[1]));
    assert_eq!(hear(&mut flush, 1, &data(1, Service::Safe)), Err(FlushError::PeerService(bus::member(1))));
    assert_eq!(hear(&mut flush, 1, &data(1, Service::Agreed)), Ok(()));
    flush.notice(T0, id(2), ids(&[0]), &ids(&[1]), Cause::Network).unwrap();
    assert_eq!(
        hear(&mut flush, 1, &data(1, Service::Agreed)),
        Err(FlushError::PeerNotPresent(bus::member(1)))
    );
    let signals = outputs(&mut flush).into_iter().filter(|it| *it == Output::TransitionalSignal).count();
    assert_eq!(signals, 1);
}

#[test]
fn flu_04_a_message_comes_with_the_service_it_was_sent_with() {
    let mut flush = pair();
    assert_eq!(hear(&mut flush, 1, &data(1, Service::Safe)), Err(FlushError::PeerService(bus::member(1))));
}

#[test]
fn flu_06_no_view_over_unequal_heads_and_the_minority_is_named() {
    let mut flush = lone();
    flush.notice(T0, id(1), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    for (from, heads) in [(0, 0), (1, 5), (2, 0)] {
        hear(&mut flush, from, &word(id(1), heads)).unwrap();
    }
    assert_eq!(flush.view(), None);
    outputs(&mut flush);
    let due = flush.poll_timeout().unwrap();
    flush.timeout(due);
    assert_eq!(outputs(&mut flush), [Output::Complain { view: id(1), suspects: ids(&[1]) }]);
    assert!(flush.poll_timeout().unwrap() > due, "again, later");
    hear(&mut flush, 1, &word(id(1), 0)).unwrap();
    assert_eq!(flush.view(), Some(id(1)));
}

#[test]
fn flu_07_early_words_are_kept_within_bounds_and_late_ones_ignored() {
    let mut flush = lone();
    hear(&mut flush, 1, &word(id(5), 0)).unwrap();
    flush.notice(T0, id(5), ids(&[0, 1]), &[], Cause::Join).unwrap();
    hear(&mut flush, 0, &word(id(5), 0)).unwrap();
    assert_eq!(flush.view(), Some(id(5)));
    assert_eq!(hear(&mut flush, 1, &word(id(4), 0)), Ok(()));
    for order in 0..200 {
        hear(&mut flush, 1, &word(id(100 + order), 0)).unwrap();
    }
    let refused = Err(FlushError::PeerUnknownView(bus::member(1)));
    assert_eq!(hear(&mut flush, 1, &word(id(900), 0)), refused);
    flush.notice(T0, id(99), ids(&[0, 1]), &[], Cause::Refresh).unwrap();
    for order in 0..200 {
        flush.notice(T0, id(1_000 + order), ids(&[0, 1]), &[], Cause::Refresh).unwrap();
    }
    assert_eq!(hear(&mut flush, 1, &word(id(9_000), 0)), Ok(()));
}

#[test]
fn flu_08_a_view_of_somebody_lost_is_not_installed() {
    let mut flush = pair();
    flush.notice(T0, id(2), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    hear(&mut flush, 0, &word(id(2), 0)).unwrap();
    flush.transitional(&ids(&[2]));
    hear(&mut flush, 1, &word(id(2), 0)).unwrap();
    hear(&mut flush, 2, &word(id(2), 0)).unwrap();
    assert_eq!((flush.view(), flush.poll_timeout()), (Some(id(1)), None));
    outputs(&mut flush);
    flush.notice(T0, id(3), ids(&[0, 1]), &ids(&[2]), Cause::Network).unwrap();
    assert!(
        matches!(outputs(&mut flush)[..], [Output::Multicast { .. }]),
        "our word, without a new question"
    );
}

#[test]
fn a_notice_must_follow_and_list_us() {
    let mut flush = pair();
    for (view, list) in [(id(1), ids(&[0])), (id(0), ids(&[0])), (id(2), ids(&[1]))] {
        assert_eq!(flush.notice(T0, view, list, &[], Cause::Join), Err(FlushError::LocalNotice(view)));
    }
}

// --- whatever happens ---

fn bringing(view: ViewId, brings: &'static [u8]) -> Bytes {
    unsigned(FlushOk { brings: Bytes::from_static(brings).into(), ..flush_ok(view) })
}

#[test]
fn flu_09_all_learn_what_each_brings_and_nobody_brings_much() {
    let mut flush = pair();
    flush.notice(T0, id(2), ids(&[0, 1, 2]), &[], Cause::Join).unwrap();
    let long = Bytes::from(vec![0; message::BRINGS_BYTES_MAX + 1]);
    assert_eq!(flush.flush_ok(T0, long.clone()), Err(FlushError::LocalTooLong(long.len())));
    flush.flush_ok(T0, Bytes::from_static(b"mine")).unwrap();
    let mine = outputs(&mut flush).into_iter().find_map(|output| match output {
        Output::Multicast { bytes, .. } => Some(bytes),
        _ => None,
    });
    let mine = mine.unwrap();
    assert_eq!(brought(&mine), Some((id(2), Bytes::from_static(b"mine"))));
    hear(&mut flush, 0, &mine).unwrap();
    hear(&mut flush, 1, &bringing(id(2), b"first")).unwrap();
    hear(&mut flush, 1, &bringing(id(2), b"last")).unwrap();
    let much = unsigned(FlushOk { brings: long.into(), ..flush_ok(id(2)) });
    assert!(matches!(hear(&mut flush, 2, &much), Err(FlushError::PeerMalformed { .. })));
    hear(&mut flush, 2, &bringing(id(2), b"")).unwrap();
    let view = outputs(&mut flush).into_iter().find_map(|output| match output {
        Output::View(view) => Some(view),
        _ => None,
    });
    assert_eq!(view.unwrap().brought, [&b"mine"[..], b"last", b""]);
    // Repeated for each notice until a view is installed, and not for the change after that.
    flush.notice(T0, id(3), ids(&[0, 1]), &[bus::member(2)], Cause::Leave).unwrap();
    flush.flush_ok(T0, Bytes::new()).unwrap();
    let said = outputs(&mut flush).into_iter().find_map(|output| match output {
        Output::Multicast { service: Service::Agreed, bytes } => brought(&bytes),
        _ => None,
    });
    assert_eq!(said, Some((id(3), Bytes::new())));
}
