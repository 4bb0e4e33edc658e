//! RING-40 to RING-43, RING-46, RING-47: what distant members say early, and who can lie about it.

use crate::far::{brought, gone, later, turn};
use crate::harness::{Rng, node};
use crate::pair::{ME, OUTSIDER, PEER, Pair, begun, join};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Mutant, NodeId};
use folkmoot_ring::data::{Class, Part, put_piece};
use folkmoot_ring::message::{CommitToken, Control, Entry, Frame, Held, Join, OldRing};
use folkmoot_ring::{Contribution, Output, Phase};

/// A round trip.
const TRIP: Duration = Duration::from_millis(100);

fn controls(pair: &mut Pair) -> Vec<(NodeId, Control)> {
    let sent = |output| match output {
        Output::Send { to, frame } => match Frame::decode(frame) {
            Ok(Frame::Control(control)) => Some((to, control)),
            _ => None,
        },
        _ => None,
    };
    pair.outputs().into_iter().filter_map(sent).collect()
}

fn held(pair: &mut Pair) -> Vec<u32> {
    let said = |(_, control)| if let Control::Held(held) = control { Some(held.held) } else { None };
    controls(pair).into_iter().filter_map(said).collect()
}

/// The peer sends a safe message, and its place. Returns the place.
fn safe(pair: &mut Pair) -> u32 {
    let mut frame = begun(pair.head(), Class::Safe);
    put_piece(&mut frame, Part { first: true, last: true, message: 9 }, &[b"safe"]);
    let record = pair.record(1);
    for frame in [frame.freeze(), record] {
        pair.ring.frame(pair.now, node(PEER), frame, &mut Rng(1)).unwrap();
    }
    u32::try_from(pair.places).unwrap()
}

fn says(pair: &mut Pair, place: u32) -> usize {
    let word = Control::Held(Held { ring: pair.id.nonce, held: place });
    pair.takes_quietly(word);
    let outputs = pair.outputs();
    outputs.iter().filter(|output| matches!(output, Output::Deliver(_))).count()
}

/// In a far ring, with the token gone.
fn far() -> Pair {
    let mut pair = brought();
    while turn(&mut pair).is_none() {}
    pair
}

#[test]
fn ring_40_a_safe_message_is_delivered_when_all_have_said_that_they_hold_it() {
    let mut pair = far();
    let place = safe(&mut pair);
    assert_eq!(held(&mut pair), [place], "told at once, and once");
    assert_eq!(says(&mut pair, place - 1), 0);
    assert_eq!(says(&mut pair, place), 1);
    assert_eq!(held(&mut pair), [0; 0]);
}

#[test]
fn ring_40_who_claims_more_than_there_is_makes_nothing_safe_that_is_not_here() {
    let mut pair = far();
    assert_eq!(says(&mut pair, u32::MAX), 0);
    let place = safe(&mut pair);
    assert!(place > 0);
    pair.outputs();
    // The token says less than HELD did, and is the token all the same.
    pair.passes();
    assert_eq!(pair.ring.status().phase, Phase::Operational);
}

#[test]
fn ring_40_held_counts_from_members_of_this_ring_only() {
    let mut pair = far();
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    pair.outputs();
    let place = safe(&mut pair);
    pair.outputs();
    let word = |ring| Control::Held(Held { ring, held: place });
    assert_eq!(pair.breaks(OUTSIDER, word(pair.id.nonce).encode()), "RING-40");
    pair.ignores(word([9; 16]));
    assert_eq!(says(&mut pair, place), 1);
}

#[test]
fn ring_41_a_token_waits_a_moment_for_packets_that_it_has_overtaken() {
    let mut pair = far();
    let mut frame = begun(pair.head(), Class::Agreed);
    put_piece(&mut frame, Part { first: true, last: true, message: 9 }, &[b"late"]);
    let record = pair.record(1);
    pair.ring.frame(pair.now, node(PEER), record, &mut Rng(1)).unwrap();
    pair.outputs();
    pair.passes();
    let until = pair.ring.poll_timeout().unwrap();
    assert!(until > pair.now && until <= pair.now + TRIP / 32, "{until:?}");
    assert_eq!(pair.hears(frame.freeze()).len(), 1);
    let message = (folkmoot_base::Lead::NONE, Bytes::from_static(b"answer"));
    pair.ring.submit(pair.now, (0, 0), folkmoot_base::Service::Agreed, message).unwrap();
    let places = pair.places;
    let token = std::iter::from_fn(|| Some(turn(&mut pair))).flatten().next().unwrap();
    assert_eq!(token.places, places + 1, "the answer goes with it");
}

/// A packet of the peer is delivered, and then its token comes, so much later; this node answers
/// after that. How many places the token has then.
fn answered(span: Duration, danger: Mutant) -> u64 {
    let mut pair = gone(danger);
    later(&mut pair, TRIP);
    let mut frame = begun(pair.head(), Class::Agreed);
    put_piece(&mut frame, Part { first: true, last: true, message: 9 }, &[b"first"]);
    assert_eq!(pair.sends(frame.freeze()).len(), 1);
    let before = pair.places;
    later(&mut pair, span);
    assert_eq!(pair.passes().len(), 0, "it was delivered before");
    let message = (folkmoot_base::Lead::NONE, Bytes::from_static(b"answer"));
    pair.ring.submit(pair.now, (0, 0), folkmoot_base::Service::Agreed, message).unwrap();
    while pair.ring.poll_timeout() == Some(pair.now) {
        turn(&mut pair);
    }
    pair.places - before
}

#[test]
fn ring_47_a_token_that_came_together_with_a_packet_waits_for_the_answer_to_it() {
    assert_eq!(answered(Duration::ZERO, Mutant::NONE), 1);
    assert_eq!(answered(Duration::ZERO, Some(Danger::RingTrainHurries).into()), 0);
    // The answer would have come before the token.
    assert_eq!(answered(Duration::from_micros(1), Mutant::NONE), 0);
}

/// Alone, far from the peer and from `OUTSIDER`.
fn alone(danger: Mutant) -> Pair {
    let mut pair = Pair::alone_with(danger);
    pair.ring.trip(node(PEER), TRIP);
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    pair.ring.trip(node(OUTSIDER), TRIP);
    pair.ring.path(pair.now, node(OUTSIDER), 1_452);
    pair.outputs();
    pair
}

/// The entries that were said, and to whom.
fn entries(pair: &mut Pair) -> Vec<(NodeId, Entry)> {
    let said = |(to, control)| match control {
        Control::Join(join) => Some((to, join.entry?)),
        _ => None,
    };
    controls(pair).into_iter().filter_map(said).collect()
}

/// Gathering with the peer, who would make COMMIT; and what was said to it.
fn gathering(danger: Mutant) -> (Pair, Option<Entry>) {
    let mut pair = alone(danger);
    pair.takes_quietly(Control::Join(join(1, &[PEER, ME])));
    assert_eq!(pair.ring.status().phase, Phase::Gather);
    let said = entries(&mut pair);
    assert!(said.iter().all(|(to, _)| *to == node(PEER)), "{said:?}");
    let entry = said.into_iter().next().map(|(_, entry)| entry);
    (pair, entry)
}

fn whole(pair: &Pair, entry: &Entry) -> CommitToken {
    CommitToken {
        id: pair.next,
        members: vec![node(PEER), node(ME)],
        old_rings: vec![OldRing::default(), entry.old_ring],
        contributions: vec![Contribution::new([7; 32]), entry.contribution.clone()],
        mtus: vec![1_452, entry.mtu],
        trips: vec![100, entry.trip],
        rotation: 2,
    }
}

#[test]
fn ring_42_a_whole_commit_with_what_was_said_begins_the_ring() {
    let (mut pair, entry) = gathering(Mutant::NONE);
    let entry = entry.expect("an entry for the representative");
    assert_eq!((entry.mtu, entry.trip), (1_452, 100));
    let token = whole(&pair, &entry);
    pair.takes(Control::Commit(token));
    assert_eq!(pair.ring.status().phase, Phase::Recover);
}

#[test]
fn ring_42_without_it_nothing_is_said_beforehand() {
    assert!(gathering(Some(Danger::RingEntriesLate).into()).1.is_none());
}

#[test]
fn ring_42_a_whole_commit_that_says_anything_else_counts_nowhere() {
    type Lie = fn(&mut CommitToken);
    let lies: [Lie; 6] = [
        |token| token.contributions[1] = Contribution::new([8; 32]),
        |token| token.old_rings[1].held += 1,
        |token| token.mtus[1] -= 1,
        |token| token.trips[1] += 1,
        |token| token.id.ring_seq = 0,
        |token| {
            token.members.push(node(OUTSIDER));
            token.old_rings.push(OldRing::default());
            token.contributions.push(Contribution::new([3; 32]));
            token.mtus.push(1_452);
            token.trips.push(100);
        },
    ];
    for lie in lies {
        let (mut pair, entry) = gathering(Mutant::NONE);
        let mut token = whole(&pair, &entry.unwrap());
        lie(&mut token);
        pair.takes(Control::Commit(token));
        assert_eq!(pair.ring.status().phase, Phase::Gather);
    }
    // The true one, from somebody else.
    let (mut pair, entry) = gathering(Mutant::NONE);
    let token = Control::Commit(whole(&pair, &entry.unwrap())).encode();
    pair.ring.frame(pair.now, node(OUTSIDER), token, &mut Rng(1)).unwrap();
    assert_eq!(pair.ring.status().phase, Phase::Gather);
}

/// Whoever takes part in a ring that this node refused must not take its next JOIN for an old one.
#[test]
fn ring_42_what_is_said_after_a_refused_commit_is_younger_than_it() {
    let (mut pair, entry) = gathering(Mutant::NONE);
    let mut token = whole(&pair, &entry.unwrap());
    token.mtus[1] -= 1;
    pair.takes(Control::Commit(token));
    let mut rings = Vec::new();
    while rings.is_empty() {
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
        let said = |(_, control)| if let Control::Join(join) = control { Some(join.ring_seq) } else { None };
        rings.extend(controls(&mut pair).into_iter().filter_map(said));
    }
    assert!(rings.iter().all(|ring_seq| *ring_seq >= pair.next.ring_seq), "{rings:?}");
}

#[test]
fn ring_42_what_is_said_once_is_drawn_anew_for_the_next_attempt() {
    let (mut pair, first) = gathering(Mutant::NONE);
    let first = first.unwrap();
    let token = whole(&pair, &first);
    pair.id = token.id;
    pair.takes(Control::Commit(token.clone()));
    pair.takes_quietly(Control::Join(Join { ring_seq: token.id.ring_seq, ..join(2, &[PEER, ME]) }));
    assert_eq!(pair.ring.status().phase, Phase::Gather);
    let again = entries(&mut pair);
    assert!(!again.is_empty() && again.iter().all(|(_, entry)| entry.contribution != first.contribution));
    // The first attempt does not come back.
    pair.takes(Control::Commit(token));
    assert_eq!(pair.ring.status().phase, Phase::Gather);
}

/// This node would make COMMIT. Returns it, and how long it took. The link to the peer, who says
/// nothing, came up so long ago.
fn made(entry: Option<Entry>, ago: Duration, danger: Mutant) -> (CommitToken, Duration) {
    let mut pair = alone(danger);
    pair.now = pair.now + ago;
    let began = pair.now;
    let asks = Control::Join(Join { entry, ..join(1, &[ME, OUTSIDER]) });
    pair.ring.frame(pair.now, node(OUTSIDER), asks.encode(), &mut Rng(1)).unwrap();
    loop {
        let made = controls(&mut pair).into_iter().find_map(|(to, control)| match control {
            Control::Commit(token) if to == node(OUTSIDER) => Some(token),
            _ => None,
        });
        if let Some(token) = made {
            return (token, pair.now.since(began));
        }
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
    }
}

fn others_entry() -> Entry {
    let contribution = Contribution::new([5; 32]);
    Entry { old_ring: OldRing::default(), contribution, mtu: 1_300, trip: 90 }
}

#[test]
fn ring_42_the_representative_makes_commit_of_what_all_said_or_sends_it_round_after_a_round_trip() {
    let entry = others_entry();
    let (token, took) = made(Some(entry.clone()), TRIP * 3, Mutant::NONE);
    assert_eq!((token.rotation, took), (2, Duration::ZERO));
    assert_eq!(token.contribution(&node(OUTSIDER)), Some(&entry.contribution));
    let (token, took) = made(None, TRIP * 3, Mutant::NONE);
    assert_eq!((token.rotation, token.old_rings.len(), took), (1, 1, TRIP));
}

/// Without that, the node that comes a moment later costs another configuration. One that stays
/// silent costs a round trip, and no more.
#[test]
fn ring_43_commit_waits_a_round_trip_at_most_for_a_node_whose_long_link_has_just_come_up() {
    let (token, took) = made(Some(others_entry()), Duration::ZERO, Mutant::NONE);
    assert_eq!((token.rotation, took), (2, TRIP));
    let hasty = Some(Danger::RingFreshLeft).into();
    assert_eq!(made(Some(others_entry()), Duration::ZERO, hasty).1, Duration::ZERO);
}

#[test]
fn ring_43_a_node_whose_long_link_has_just_come_up_is_named_as_heard_and_not_wanted() {
    let named = |danger: Mutant| {
        let mut pair = alone(danger);
        let mut said = Vec::new();
        while said.is_empty() {
            pair.now = pair.ring.poll_timeout().unwrap();
            pair.ring.timeout(pair.now, &mut Rng(1));
            let joins = |(_, control)| if let Control::Join(join) = control { Some(join) } else { None };
            said.extend(controls(&mut pair).into_iter().filter_map(joins));
        }
        assert!(said.iter().all(|join| join.wants == [node(ME)]), "{said:?}");
        (pair, said.remove(0).hears)
    };
    let (mut pair, hears) = named(Mutant::NONE);
    assert_eq!(hears, [PEER, ME, OUTSIDER].map(node));
    assert_eq!(named(Some(Danger::RingFreshUnheard).into()).1, [node(ME)]);
    // They stay silent.
    pair.now = pair.now + TRIP * 3;
    pair.ring.timeout(pair.now, &mut Rng(1));
    let last = controls(&mut pair).into_iter().rev().find_map(|(_, control)| match control {
        Control::Join(join) => Some(join.hears),
        _ => None,
    });
    assert!(last.is_none_or(|hears| hears == [node(ME)]));
}

/// A node whose link came up so long ago hears this one, and says that it wants `PEER` and not this
/// one. Returns whether this node forms a ring alone at once, and how long it gathers at most.
fn left_out(ago: Duration, danger: Mutant) -> (bool, Duration) {
    let mut pair = alone(danger);
    pair.now = pair.now + ago;
    let began = pair.now;
    let bound = Join { bound: 1, wants: vec![node(OUTSIDER)], ..join(1, &[ME, OUTSIDER]) };
    let others = vec![node(PEER), node(OUTSIDER)];
    let wants = Join { wants: others, ..join(2, &[PEER, ME, OUTSIDER]) };
    for join in [bound, wants.clone()] {
        pair.ring.frame(pair.now, node(OUTSIDER), Control::Join(join).encode(), &mut Rng(1)).unwrap();
    }
    let at_once = pair.ring.status().phase == Phase::Operational;
    while pair.ring.status().phase != Phase::Operational {
        pair.now = pair.ring.poll_timeout().unwrap();
        pair.ring.timeout(pair.now, &mut Rng(1));
        // It says so again and again, whatever comes.
        let again = Control::Join(Join { number: wants.number + 1, ..wants.clone() }).encode();
        pair.ring.frame(pair.now, node(OUTSIDER), again, &mut Rng(1)).unwrap();
    }
    (at_once, pair.now.since(began))
}

/// It says so because no JOIN of this node has come there yet: with the next one it wants both.
#[test]
fn ring_46_a_node_that_waits_for_our_join_has_not_chosen_others() {
    assert!(!left_out(Duration::ZERO, Mutant::NONE).0);
    assert!(left_out(Duration::ZERO, Some(Danger::RingFreshChose).into()).0);
}

/// What it says counts when its link is older; and it holds up nobody for more than the time in
/// which this node would choose by itself.
#[test]
fn ring_46_who_always_says_so_costs_four_round_trips_at_most() {
    assert!(left_out(TRIP * 3, Mutant::NONE).0);
    let took = left_out(Duration::ZERO, Mutant::NONE).1;
    assert!(took <= TRIP * 4, "{took:?}");
}
