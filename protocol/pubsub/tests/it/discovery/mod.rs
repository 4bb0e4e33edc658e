//! The rules of discovery and keys, each with whoever breaks it.

mod net;
mod keys;
mod messages;
mod out;
mod sets;
