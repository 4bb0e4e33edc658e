//! A ring that stands and rests, where every datagram takes as long.

use crate::harness::{Event, World};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Service};
use folkmoot_ring::Delivery;
use folkmoot_ring::message::{Control, Frame};

/// How long a datagram takes in a [`whole_with`] world, in microseconds.
pub const HOP: u64 = 100;

/// The beginning of the message of [`whole_with`]: of node 0, in its first life, number 0.
const FIRST: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];

/// A ring that stands and rests. Node 0 has sent a message, so it holds the token.
pub fn whole_with(n: usize, seed: u64, danger: Option<Danger>) -> World {
    let mut world = World::new(n, seed, danger);
    world.delay = (HOP, HOP);
    world.settle(Duration::from_secs(5)).expect("a calm network settles");
    world.submit(0, Service::Agreed, FIRST.len());
    world.ms(1_000);
    world
}

/// What a node has delivered, but the message of [`whole_with`].
pub fn delivered(world: &World, i: usize) -> Vec<&Delivery> {
    let log = &world.processes[world.nodes[i].process].log;
    let all = log.iter().filter_map(|(_, e)| if let Event::Deliver(d) = e { Some(d) } else { None });
    all.filter(|delivery| !delivery.payload.starts_with(&FIRST)).collect()
}

/// Whether the frame is the token, or asks for it.
pub fn is_token(bytes: &Bytes) -> bool {
    matches!(Frame::decode(bytes.clone()), Ok(Frame::Control(Control::Token(_) | Control::Hurry(_))))
}
