//! The integration tests of folkmoot-bench, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod chart;
mod keying;
mod ring;

use std::process::{Command, Output, Stdio};

fn bench(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot-bench"));
    command.args(line.split_whitespace()).stdin(Stdio::null()).output().unwrap()
}
