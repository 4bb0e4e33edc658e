//! Two runs of cargo test side by side, of which each leaves to the other what is not its own. Both
//! name the whole workspace: for a part of it cargo would choose other features, and build anew.

use clap::ValueEnum;
use std::path::Path;
use std::process::Command;

/// Who runs the tests of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lane {
    /// Those with real processes, sockets or timeouts, and the examples in docs.
    Processes,
    /// Those that only calculate.
    Beside,
}

/// Crates whose tests start no process and have no timeout in real time.
const BESIDE: [&str; 28] = [
    "folkmoot-admission",
    "folkmoot-agreement",
    "folkmoot-attach",
    "folkmoot-authority",
    "folkmoot-base",
    "folkmoot-decisions",
    "folkmoot-flush",
    "folkmoot-fuzz",
    "folkmoot-group",
    "folkmoot-groups",
    "folkmoot-identity",
    "folkmoot-keying",
    "folkmoot-letters",
    "folkmoot-link",
    "folkmoot-member",
    "folkmoot-model",
    "folkmoot-node",
    "folkmoot-order",
    "folkmoot-pubsub",
    "folkmoot-ring",
    "folkmoot-session",
    "folkmoot-signing",
    "folkmoot-sim",
    "folkmoot-study",
    "folkmoot-transcript",
    "folkmoot-transcripts",
    "folkmoot-types",
    "xtask",
];

/// The command line of a lane's tests.
pub(crate) fn tests(environment: &str, lane: Lane) -> String {
    let xtask = std::env::current_exe().unwrap_or_default().display().to_string();
    let (word, what) = match lane {
        Lane::Processes => ("processes", ""),
        Lane::Beside => ("beside", "--tests"),
    };
    let runner = format!(r#"target.'cfg(all())'.runner=["{xtask}","lane","{word}"]"#);
    format!("{environment} cargo test --workspace {what} --quiet --no-fail-fast --config {runner}")
}

/// Runs a test program if it is this lane's; cargo calls it for each. Returns whether all is well.
pub(crate) fn run(lane: Lane, program: &str, options: &[String]) -> Result<bool, String> {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    if whose(&package, Path::new(program)) != lane {
        return Ok(true);
    }
    let status =
        Command::new(program).args(options).status().map_err(|error| format!("{program}: {error}"))?;
    Ok(status.success())
}

/// Whose a test program is. Examples in docs are built elsewhere than all others.
fn whose(package: &str, program: &Path) -> Lane {
    let built = program.parent().is_some_and(|folder| folder.ends_with("deps"));
    if built && BESIDE.contains(&package) { Lane::Beside } else { Lane::Processes }
}

#[cfg(test)]
mod tests {
    use super::{BESIDE, Lane, whose};
    use crate::run::{capture, root};
    use std::path::Path;

    #[test]
    fn what_has_processes_is_not_run_beside_and_examples_in_docs_are_run_once() {
        let of = |package, program| whose(package, Path::new(program));
        assert_eq!(of("folkmoot-ring", "target/debug/deps/it-1"), Lane::Beside);
        assert_eq!(of("folkmoot-ring", "/tmp/rustdoctest1/rust_out"), Lane::Processes);
        assert_eq!(of("folkmoot-cli", "target/debug/deps/it-1"), Lane::Processes);
        assert_eq!(of("", "target/debug/deps/it-1"), Lane::Processes);
    }

    #[test]
    fn each_crate_that_runs_beside_exists() {
        let manifest = root().join("Cargo.toml");
        let line =
            format!("cargo metadata --no-deps --format-version 1 --manifest-path {}", manifest.display());
        let (_, said) = capture(&line).unwrap();
        for package in BESIDE {
            assert!(said.contains(&format!(r#""name":"{package}""#)), "{package}");
        }
    }
}
