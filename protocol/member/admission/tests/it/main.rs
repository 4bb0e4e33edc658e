//! The integration tests of folkmoot-admission, one program.
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

mod again;
mod authority;
mod authority_again;
mod authority_deals;
mod authority_lies;
mod authority_member;
mod authority_renewal;
mod authority_replicas;
mod authority_shoup;
mod authority_split;
mod codec;
mod common;
mod contract;
mod crowd;
mod csr;
mod deciding;
mod endorsements;
mod heard;
mod holders;
mod lags;
mod leave;
mod multi;
mod participants;
mod places;
mod policies;
mod renewal;
mod revoked;
mod rotation;
mod rules;
mod signers;
mod starting;
mod withdraw;
