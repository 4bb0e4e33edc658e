//! The rules of discovery and keys, each with whoever breaks it.

mod keys;
mod messages;
mod net;
mod out;
mod sets;
