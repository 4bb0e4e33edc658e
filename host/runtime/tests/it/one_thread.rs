//! A program and its engine that have one thread take turns in bounded steps.

use crate::engine::{Heard, Order, bench};
use bytes::Bytes;
use folkmoot_runtime::EVENTS_WAITING_MAX;
use std::sync::{Arc, Mutex};

/// A program that always has an event to take still lets other tasks run: its engine is one.
#[tokio::test(flavor = "current_thread")]
async fn a_program_that_reads_without_a_pause_does_not_hold_up_its_own_engine() {
    const EVENTS: usize = 10_000;
    /// So many events in a row at most: what tokio lets a task do before others run.
    const TOGETHER: usize = 128;
    let mut bench = bench("pauses");
    bench.running.handle.command(Order::Flood(EVENTS)).await.unwrap();
    let turns = Arc::new(Mutex::new(0));
    let count = Arc::clone(&turns);
    let other = tokio::spawn(async move {
        loop {
            *count.lock().unwrap() += 1;
            tokio::task::yield_now().await;
        }
    });
    for _ in 0..EVENTS {
        assert_eq!(bench.running.next().await.unwrap(), Some(Heard::Payload(Bytes::new())));
    }
    let turns = *turns.lock().unwrap();
    assert!(turns >= EVENTS / TOGETHER, "{turns} turns of another task");
    other.abort();
    bench.running.stop().await.unwrap();
}

/// An engine that always has something to do still lets its program run: what waits does not grow.
#[tokio::test(flavor = "current_thread")]
async fn an_engine_without_a_pause_does_not_hold_up_its_own_program() {
    const FLOODS: usize = 40;
    const EACH: usize = EVENTS_WAITING_MAX / 32;
    let mut bench = bench("gives-way");
    let handle = bench.running.handle.clone();
    let sender = tokio::spawn(async move {
        for _ in 0..FLOODS {
            handle.command(Order::Flood(EACH)).await.unwrap();
        }
    });
    for _ in 0..FLOODS * EACH {
        assert_eq!(bench.running.next().await.unwrap(), Some(Heard::Payload(Bytes::new())));
    }
    sender.await.unwrap();
    bench.running.stop().await.unwrap();
}
