//! RING-44: a member that asks for the token again and again, whether it had it or not, and with
//! HURRYs that it has kept. A HURRY names its ring and nothing else, so it claims no visit.

use crate::harness::{World, check, node};
use crate::{is_data, is_record};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Instant, Service};
use folkmoot_ring::message::{Control, Frame, Hurry, RingNonce};
use std::cell::Cell;

/// One way, in microseconds.
const HOP: u64 = 100_000;
const MEMBERS: usize = 4;
const LIAR: usize = 3;

/// What the tokens said that left.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    seq: u64,
    passes: u32,
    /// How many of them went to the liar.
    to_liar: u32,
    /// The most passes for which a member had not had the token when it came.
    longest: u16,
}

thread_local! {
    static SEEN: Cell<Seen> = const { Cell::new(Seen { seq: 0, passes: 0, to_liar: 0, longest: 0 }) };
}

fn has_record(frame: &Bytes) -> bool {
    is_record(frame) || matches!(Frame::decode(frame.clone()), Ok(Frame::Data(_, Some(_))))
}

fn watch(_: usize, to: usize, bytes: &Bytes) -> bool {
    let Ok(Frame::Control(Control::Token(token))) = Frame::decode(bytes.clone()) else { return false };
    let mut seen = SEEN.get();
    if token.token_seq > seen.seq {
        let longest = token.members.iter().map(|member| member.passes).max();
        seen = Seen {
            seq: token.token_seq,
            passes: seen.passes + 1,
            to_liar: seen.to_liar + u32::from(to == LIAR),
            longest: seen.longest.max(longest.unwrap_or(0)),
        };
        SEEN.set(seen);
    }
    false
}

/// The share of all passes that the liar gets, in hundredths, and the most passes for which a
/// member waits. One member sends, and its packets come late, so the token waits for them
/// (RING-41).
fn share(hop: u64, lies: bool, danger: Option<Danger>) -> (u32, u16) {
    let mut world = World::new(MEMBERS, 7, danger);
    (world.delay, world.detect) = ((hop, hop + hop / 40), (1_000, 1_000));
    (0..MEMBERS).for_each(|i| world.start(i));
    world.settle(Duration::from_secs(60)).expect("one ring");
    let ring: RingNonce = world.nodes[0].ring.as_ref().unwrap().status().configuration.unwrap().nonce;
    // The first is of this ring. The second is one of another ring, kept until now.
    let kept = [ring, [9; 16]].map(|ring| Control::Hurry(Hurry { ring }).encode());
    SEEN.set(Seen::default());
    world.drop_frame = Some(watch);
    world.hold_frame = Some(|from, _, bytes| from == 0 && is_data(bytes) && !has_record(bytes));
    for step in 0..10_000 {
        if step % 10 == 0 {
            world.submit(0, Service::Agreed, 550);
        }
        if step % 120 == 0 {
            world.release();
        }
        for to in (0..LIAR).filter(|_| lies) {
            kept.iter().for_each(|hurry| world.take(Instant(world.now), to, node(LIAR), hurry.clone()));
        }
        world.ms(2);
    }
    (world.hold_frame, world.drop_frame) = (None, None);
    world.release();
    world.ms(5_000);
    assert_eq!(check::all(&world), Ok(()));
    let seen = SEEN.get();
    assert!(seen.passes > 100, "{seen:?}");
    (seen.to_liar * 100 / seen.passes, seen.longest)
}

#[test]
fn ring_44_who_asks_again_and_again_gets_the_token_no_more_often_than_without() {
    let silent = share(HOP, false, None);
    let asks = share(HOP, true, None);
    let heeded = share(HOP, true, Some(Danger::RingHeedsLateHurry));
    println!("{silent:?}, {asks:?}, without the rule {heeded:?}");
    assert!(asks.0 <= silent.0, "{asks:?}");
    assert!(heeded.0 >= silent.0 + 3, "{heeded:?}");
}

#[test]
fn ring_44_and_ord_04_whoever_asks_all_others_have_their_turns() {
    for danger in [None, Some(Danger::RingHeedsLateHurry)] {
        for hop in [100, HOP] {
            let (share, longest) = share(hop, true, danger);
            println!("{danger:?}, {hop} us: {share} of 100, {longest} passes");
            assert!(usize::from(longest) <= 2 * MEMBERS && share <= 50, "{share} {longest}");
        }
    }
}
