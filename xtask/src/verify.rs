//! What CI runs, in the order in which a failure is cheapest to find.

use crate::run::{capture, has, root, run};
use crate::tidy::tidy;
use std::path::Path;
use std::time::{Duration, Instant};

/// Checks and tests everything; changes no file of the project.
pub(crate) fn verify(keep_going: bool) -> Result<(), String> {
    needs()?;
    let start = Instant::now();
    let mut failures = Vec::new();
    let mut table = Vec::new();
    for (name, step) in steps() {
        eprintln!("== {name}");
        let begun = Instant::now();
        let outcome = step();
        table.push((name, begun.elapsed(), outcome.is_ok()));
        if let Err(reason) = outcome {
            eprintln!("FAILED {name}: {reason}");
            failures.push(name);
            if !keep_going {
                break;
            }
        }
    }
    report(&table, start.elapsed());
    if failures.is_empty() { Ok(()) } else { Err(format!("failed: {}", failures.join(", "))) }
}

/// Formats, and applies what clippy can repair.
pub(crate) fn fix() -> Result<(), String> {
    run("cargo fmt --all")?;
    run("cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged")?;
    Ok(())
}

type Step = fn() -> Result<(), String>;

fn steps() -> Vec<(&'static str, Step)> {
    vec![
        ("tidy", tidy),
        ("format", || run("cargo fmt --all --check").map(drop)),
        ("lints", || run("cargo clippy --workspace --all-targets -- -D warnings").map(drop)),
        ("dependencies", dependencies),
        ("tests", || run("cargo test --workspace --quiet --no-fail-fast").map(drop)),
        // The simulator apart: it has the mutants' switches, and the program does not compile with them.
        ("release build", || {
            run("cargo build --release -p folkmoot-cli -p folkmoot-model")?;
            run("cargo build --release -p folkmoot-sim").map(drop)
        }),
        ("model: three changes of every kind", || model("")),
        ("model: without rule H", || model("--without rule-h")),
        ("model: without K1", || model("--without k1")),
        ("simulator: 300 schedules", || simulate("--schedules 300")),
        ("simulator: every other module", modules),
        ("simulator: voters who sign together", schemes),
        ("demo", || run(&format!("{} demo", built("folkmoot"))).map(drop)),
    ]
}

/// A program of the release build, wherever cargo was told to put that: this program lies beside it.
fn built(program: &str) -> String {
    let here = std::env::current_exe().unwrap_or_default();
    let target = here.ancestors().nth(2).map_or_else(|| root().join("target"), Path::to_path_buf);
    target.join("release").join(program).display().to_string()
}

fn simulate(options: &str) -> Result<(), String> {
    run(&format!("{} --seed 1 {options}", built("folkmoot-sim"))).map(drop)
}

/// Every state of three members and three changes; with a rule off, the deadlock that it is for.
fn model(options: &str) -> Result<(), String> {
    run(&format!("{} --changes 3 {options}", built("folkmoot-model"))).map(drop)
}

/// Schedules for each scheme in which voters sign together: fewer, the dearer its signatures are.
fn schemes() -> Result<(), String> {
    for (scheme, schedules) in [("asm", 60), ("frost", 40), ("ts-dsa", 20)] {
        simulate(&format!("--scheme {scheme} --schedules {schedules}"))?;
    }
    Ok(())
}

/// Schedules for each module that the default does not choose, and with votes on modules and ciphers.
fn modules() -> Result<(), String> {
    for module in crate::release::MODULES {
        simulate(&format!("--keying {module} --schedules 300"))?;
    }
    simulate("--aim charter --schedules 60")
}

/// Licences, sources and duplicates by cargo-deny; advisories need the network and are left to `cargo deny check`.
fn dependencies() -> Result<(), String> {
    if !capture("cargo deny --version").is_ok_and(|(success, _)| success) {
        // Not optimised: it runs for seconds, and is built for minutes otherwise.
        run("cargo install cargo-deny --locked --debug --quiet")?;
    }
    run("cargo deny check bans licenses sources").map(drop)
}

/// Says the one command that installs what a machine may lack.
fn needs() -> Result<(), String> {
    let lacking: Vec<&str> = ["openssl", "cmake", "cc"].into_iter().filter(|program| !has(program)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these programs are missing: {}. Install them with: sudo apt-get install -y openssl cmake gcc libc6-dev",
        lacking.join(", ")
    ))
}

fn report(table: &[(&str, Duration, bool)], total: Duration) {
    eprintln!();
    for (name, span, good) in table {
        let word = if *good { "ok" } else { "FAILED" };
        eprintln!("{word:>7}  {:>7.1} s  {name}", span.as_secs_f64());
    }
    eprintln!("         {:>7.1} s  in all", total.as_secs_f64());
}
