//! The integration tests of folkmoot-cli, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    missing_docs
)]

mod absence;
mod at_rest;
mod authority;
mod carriers;
mod chat;
mod common;
mod contacts;
mod control;
mod crash;
mod csr;
mod edges;
mod endorsed;
mod exits;
mod findings;
mod golden;
mod kills;
mod lcm;
mod letters;
mod matrix;
mod names;
mod offline;
mod open;
mod papers;
mod past;
mod people;
mod policies;
mod proof;
mod readme;
mod renewal;
mod replicas;
mod revoked;
mod rotation;
mod shell;
mod status;
mod takeover;
mod texts;
mod tickets;
mod times;
mod verify_transcript;
mod votes;
