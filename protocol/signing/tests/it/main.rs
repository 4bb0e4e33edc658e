//! The integration tests of folkmoot-signing, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    missing_docs,
    unreachable_pub
)]

mod anonymity;
mod asm;
mod asm_attacks;
mod asm_help;
mod common;
mod contract;
mod deal;
mod enrol;
mod frost;
mod keys;
mod kit;
mod member_keys;
mod openssl;
mod plain_kinds;
mod repeats;
mod sharing;
mod sharing_lies;
mod shoup;
mod shoup_openssl;
mod toy;
mod ts_dsa;
