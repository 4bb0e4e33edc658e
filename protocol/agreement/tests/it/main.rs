//! The integration tests of folkmoot-agreement, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod circle;
mod ckd;
mod ckd_hybrid;
mod codec;
mod common;
mod contract;
mod counts;
mod dutta_barua_leave;
mod gdh_runs;
#[cfg(feature = "mls")]
mod known_keys;
#[cfg(feature = "mls")]
mod mls;
mod str;
mod suite;
mod tgdh;
mod trees;
mod vectors;
mod world;
