//! One test program of the crate: a module for each topic.

mod wire;
