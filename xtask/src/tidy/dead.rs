//! Files that no `mod` names are dead, and are listed.

use super::Source;

/// Lists source files that are not part of any crate.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    sources
        .iter()
        .filter(|source| source.path.contains("/src/") && !source.path.contains("/bin/"))
        .filter(|source| !named(source, sources))
        .map(|source| format!("{}: no `mod` names this file", source.path))
        .collect()
}

fn named(source: &Source, sources: &[Source]) -> bool {
    let Some((folder, file)) = source.path.rsplit_once('/') else { return true };
    let stem = file.trim_end_matches(".rs");
    if matches!(stem, "lib" | "main") {
        return true;
    }
    let (folder, name) = match (stem, folder.rsplit_once('/')) {
        ("mod", Some((above, name))) => (above, name),
        _ => (folder, stem),
    };
    let beside = [
        format!("{folder}/lib.rs"),
        format!("{folder}/main.rs"),
        format!("{folder}/mod.rs"),
        format!("{folder}.rs"),
    ];
    sources.iter().filter(|other| beside.contains(&other.path)).any(|other| declares(&other.text, name))
}

fn declares(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
        line.strip_prefix("mod ").is_some_and(|rest| rest.trim_end_matches(';') == name)
    })
}
