//! Runs schedules. `folkmoot-sim --help` says how; README.md says why.
fn main() {}
