//! One program of integration tests in a crate, `tests/it`. Each further program would be linked
//! anew.

use super::Source;

/// Lists test programs beside `tests/it/main.rs`.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    sources
        .iter()
        .filter(|source| is_second(&source.path))
        .map(|source| format!("{}: a second test program; make it a module of tests/it", source.path))
        .collect()
}

fn is_second(path: &str) -> bool {
    let Some((_, test)) = path.split_once("/tests/") else { return false };
    match test.split('/').collect::<Vec<_>>().as_slice() {
        [_] => true,
        [folder, file] => *file == "main.rs" && *folder != "it",
        _ => false,
    }
}
