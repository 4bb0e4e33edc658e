//! The integration tests of folkmoot-ring, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod calm;
mod causal;
mod codec;
mod contract;
mod cut;
mod early;
mod far;
mod harness;
mod hurries;
mod key;
mod late;
mod mutants;
mod orders;
mod pair;
mod paths;
mod reach;
mod rules;
mod saves;
mod schedules;
mod times;
mod unreliable;

/// Whether the frame is DATA.
fn is_data(frame: &bytes::Bytes) -> bool {
    frame.first().is_some_and(|byte| byte & 0xf0 == 0xa0)
}

/// Whether the frame is DATA with unreliable messages.
fn is_unreliable(frame: &bytes::Bytes) -> bool {
    frame.first() == Some(&0xa7)
}

/// Whether the frame is a record.
fn is_record(frame: &bytes::Bytes) -> bool {
    frame.first() == Some(&0xa4)
}
