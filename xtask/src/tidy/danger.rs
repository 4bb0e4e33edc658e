//! The switches of mutants (feature `danger` of folkmoot-base). No build that ships turns them on.

use super::Source;

/// Lists the manifests that turn the feature on for others than their tests.
///
/// A manifest turns it on with a string, `"danger"` or `"folkmoot-base/danger"`; base itself only
/// declares the bare word.
pub(super) fn check(manifests: &[Source]) -> Vec<String> {
    manifests
        .iter()
        .filter(|manifest| !manifest.path.starts_with("testing/"))
        .flat_map(|manifest| lines(&manifest.text).map(|line| format!("{}: {line}", manifest.path)))
        .map(|line| format!("{line}: only tests and testing/ may have mutants"))
        .collect()
}

/// The lines that turn the feature on, outside of dependencies for tests.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut for_tests = false;
    text.lines().filter(move |line| {
        if line.starts_with('[') {
            for_tests = line.contains("dev-dependencies");
        }
        !for_tests && (line.contains("\"danger\"") || line.contains("/danger\""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&[Source { path: path.into(), text: text.into() }]).len()
    }

    #[test]
    fn only_tests_have_mutants() {
        let of = |section: &str| format!("[{section}]\nfolkmoot-base = {{ features = [\"danger\"] }}\n");
        assert_eq!(breaches("protocol/a/Cargo.toml", &of("dependencies")), 1);
        assert_eq!(breaches("protocol/a/Cargo.toml", &of("build-dependencies")), 1);
        assert_eq!(breaches("Cargo.toml", &of("workspace.dependencies")), 1);
        assert_eq!(breaches("protocol/a/Cargo.toml", &of("dev-dependencies")), 0);
        assert_eq!(breaches("testing/sim/Cargo.toml", &of("dependencies")), 0);
        let features = "[features]\ndefault = [\"danger\"]\nmore = [\"folkmoot-base/danger\"]\ndanger = []\n";
        assert_eq!(breaches("protocol/base/Cargo.toml", features), 2);
    }
}
