//! Rust types from `.lcm` files, as lcm-gen makes them for other languages.
//!
//! ```text
//!   files --tokens--> parse --> tree --> check (types exist, are finite, have names) --> emit --> Rust
//!                                  \--> fingerprint of each type -----------------------/
//! ```
//! In a build script:
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), folkmoot_lcm_gen::BuildError> {
//!     folkmoot_lcm_gen::Build::new().file("types/pose.lcm").compile().map(drop)
//! }
//! ```
//! and in the program: `mod types { include!(concat!(env!("OUT_DIR"), "/lcm_types.rs")); }`. The
//! same from the command line: `folkmoot lcm gen`. The promise: types have the fingerprints and the
//! bytes of lcm-gen's, what is wrong in a file is told with its line and column, and no file makes
//! this panic or run without end. What the types are: docs/pubsub.md.

mod build;
mod check;
mod cursor;
mod emit;
mod error;
mod fingerprint;
mod length;
pub mod model;
mod names;
mod number;
mod parse;
mod tokens;
mod tree;

pub use build::{Build, BuildError, FILE_NAME};
pub use error::{Error, Place};

/// The module that has what generated types call, unless [`Build::library`] says another.
pub const LIBRARY: &str = "::folkmoot_lcm::typed";

/// One `.lcm` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What errors call it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// The Rust types of all these files together: a type of one may be used in another.
///
/// # Errors
/// Something in a file is wrong.
pub fn generate(sources: &[Source], library: &str) -> Result<String, Error> {
    let structs = parse::parse(sources)?;
    let types = check::check(structs)?;
    Ok(emit::emit(&types, library))
}
