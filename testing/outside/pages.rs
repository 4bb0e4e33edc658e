//! Every block of Rust in README, in docs and in the comments of the library, as a documentation
//! test of a crate that is not the library's.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
