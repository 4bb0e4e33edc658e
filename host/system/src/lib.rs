//! What every host asks of the system: randomness, files that are whole or not there, and folders
//! that one process has at a time.

mod entropy;
mod files;

pub use entropy::OsEntropy;
pub use files::{Lock, in_words, put_in_place, settle, write_whole};
