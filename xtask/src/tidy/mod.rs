//! Checks what the project promises about its own source.

mod callers;
mod circles;
mod columns;
mod danger;
mod dead;
mod edges;
mod idle;
mod parsed;
mod programs;
mod purity;
mod rules;
mod sizes;
#[cfg(test)]
mod tests;

use crate::run::root;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of the project: its path from the root, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Runs all checks and lists every breach.
pub(crate) fn tidy() -> Result<(), String> {
    let rust = sources(&["protocol", "host", "clients", "testing", "xtask"], "rs")?;
    let docs = sources(&["docs"], "md")?;
    let pages = sources(&["README.md", "docs"], "md")?;
    let mut manifests = sources(&["protocol", "host", "clients", "testing"], "toml")?;
    manifests.retain(|source| source.path.ends_with("Cargo.toml"));
    let mut breaches = Vec::new();
    breaches.extend(edges::check(&manifests));
    breaches.extend(idle::check(&manifests, &rust));
    manifests.push(read(&root().join("Cargo.toml"))?);
    breaches.extend(danger::check(&manifests));
    breaches.extend(sizes::check(&rust));
    breaches.extend(purity::check(&rust));
    breaches.extend(rules::check(&rust, &docs));
    breaches.extend(dead::check(&rust));
    breaches.extend(programs::check(&rust));
    breaches.extend(columns::check(&rust, &pages));
    let (parsed, unparsed) = parsed::parse(&rust, &["protocol/", "host/", "clients/"]);
    breaches.extend(unparsed);
    breaches.extend(circles::check(&parsed));
    breaches.extend(callers::check(&parsed));
    for breach in &breaches {
        eprintln!("tidy: {breach}");
    }
    if breaches.is_empty() {
        eprintln!("tidy: {} Rust files, {} pages: in order", rust.len(), docs.len());
        return Ok(());
    }
    Err(format!("{} breaches", breaches.len()))
}

fn sources(folders: &[&str], ending: &str) -> Result<Vec<Source>, String> {
    let mut found = Vec::new();
    for folder in folders {
        let path = root().join(folder);
        if path.is_file() { found.push(read(&path)?) } else { walk(&path, ending, &mut found)? }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<Source>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path: PathBuf = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with("corpus") {
                walk(&path, ending, found)?;
            }
        } else if path.extension().is_some_and(|have| have == ending) {
            found.push(read(&path)?);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Source, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let path = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    Ok(Source { path, text })
}

impl Source {
    /// Whether the file holds tests only.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs")
            || self.path.contains("/fuzz_targets/")
    }
}
