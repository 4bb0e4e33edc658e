//! What every host asks of the system: randomness, files that are whole or not there, folders that
//! one process has at a time, and whether the machine was resumed.

mod entropy;
mod files;
mod generation;

pub use entropy::OsEntropy;
pub use files::{Lock, in_words, is_passing, put_in_place, settle, write_whole};
pub use generation::Generation;
