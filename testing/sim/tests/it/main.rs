//! The integration tests of folkmoot-sim, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use folkmoot_sim::flood::heap::Counting;

mod carriers;
mod distant;
mod flood;
mod proposed;
mod runs;
mod shared;
mod takeover;

#[global_allocator]
static HEAP: Counting = Counting;
