//! The library `folkmoot` as a program of somebody else's sees it.

use crate::run::{root, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How the names of the project's crates begin.
const OURS: &str = "folkmoot_";

/// Builds and runs programs that are no members of the workspace and depend on `folkmoot` alone,
/// the library's examples among them. Profiles and versions are the workspace's, so that what
/// others wrote is not compiled anew.
pub(crate) fn outside() -> Result<(), String> {
    let (lock, here) = (root().join("Cargo.lock"), root().join("testing/outside/Cargo.lock"));
    fs::copy(lock, &here).map_err(|error| format!("{}: {error}", here.display()))?;
    let build = "--manifest-path testing/outside/Cargo.toml --target-dir target --config Cargo.toml";
    run(&format!("cargo build --quiet {build}"))?;
    run(&format!("cargo run --quiet {build}")).map(drop)
}

/// Every type that a page of `folkmoot` names is of a crate that `folkmoot::parts` has.
pub(crate) fn named() -> Result<(), String> {
    let library = read(&root().join("clients/rust/src/lib.rs"))?;
    let whole = |line| Some(str::strip_prefix(str::trim(line), "pub use ")?.split_once(" as ")?.0);
    let parts: BTreeSet<&str> = library.lines().filter_map(whole).collect();
    let pages = pages()?;
    run("cargo doc --quiet --no-deps -p folkmoot")?;
    let mut found = BTreeSet::new();
    linked(&pages.join("folkmoot"), &mut found)?;
    if found.is_empty() {
        return Err(String::from("no page of `folkmoot` names a type of another crate: look at this check"));
    }
    found.retain(|name| !parts.contains(name.as_str()));
    if found.is_empty() { Ok(()) } else { Err(format!("`folkmoot::parts` lacks {found:?}")) }
}

/// Where rustdoc writes. It links a type of another crate only if it finds a folder for that crate,
/// so there is one for each.
fn pages() -> Result<PathBuf, String> {
    let pages = root().join("target/doc");
    drop(fs::remove_dir_all(pages.join("folkmoot")));
    let locked = read(&root().join("Cargo.lock"))?;
    let names = locked.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    for name in names.map(|name| name.replace('-', "_")).filter(|name| name.starts_with(OURS)) {
        let page = pages.join(name);
        fs::create_dir_all(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    }
    Ok(pages)
}

/// The project's crates that the pages in a folder link.
fn linked(folder: &Path, found: &mut BTreeSet<String>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            linked(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            let page = read(&path)?;
            let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let crates = links.filter_map(|link| link.trim_start_matches("../").split('/').next());
            found.extend(crates.filter(|name| name.starts_with(OURS)).map(str::to_owned));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
