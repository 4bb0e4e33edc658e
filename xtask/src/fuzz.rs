//! Runs the fuzz targets of testing/fuzz, one after the other.

use crate::run::{capture, root, run};

/// Runs each target for `seconds`. Needs a nightly toolchain; installs cargo-fuzz where it is missing.
pub(crate) fn fuzz(seconds: u32) -> Result<(), String> {
    if !capture("cargo fuzz --version").is_ok_and(|(success, _)| success) {
        run("cargo install cargo-fuzz --locked --quiet")?;
    }
    for target in targets()? {
        let folder = "testing/fuzz";
        run(&format!(
            "cargo +nightly fuzz run --fuzz-dir {folder} {target} -- -max_total_time={seconds} -rss_limit_mb=2048 -print_final_stats=1"
        ))?;
    }
    Ok(())
}

/// The names of the targets: one file each.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("testing/fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|end| end == "rs") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}
