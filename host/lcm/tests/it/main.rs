//! The integration tests of folkmoot-lcm, one program. They use IP multicast on this host.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod alone;
mod bursts;
mod heard;
mod membership;
mod renewals;
mod sealed;
mod stays;
mod talk;
mod typed;

/// [`alone::alone`], in a runtime of one thread.
fn run(name: &str, test: impl AsyncFnOnce()) {
    alone::alone(name, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test());
    });
}
