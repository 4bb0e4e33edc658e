//! What tests with real processes share: the folder where all of them live, the program, one member as a process.
#![allow(dead_code)]

pub(crate) mod actor;
pub(crate) mod place;
pub(crate) mod program;
