//! The integration tests of folkmoot-lcm-gen, one program. testing/types tests what is generated,
//! and testing/lcm holds it against what lcm-gen generates.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod build;
mod refused;
mod taken;

use folkmoot_lcm_gen::{Error, LIBRARY, Source, generate};

/// The types of one file, `a.lcm`.
fn types(text: &str) -> Result<String, Error> {
    generate(&[Source { name: "a.lcm".into(), text: text.into() }], LIBRARY)
}
