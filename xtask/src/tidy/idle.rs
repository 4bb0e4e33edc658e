//! Cargo makes a test program of every library and of every program, and reads every library once
//! more for examples in its comments, whether or not there are any. The manifest says where there
//! are none: in a cold run that is minutes.

use super::Source;

/// Lists the manifests that do not say so, and those by which a test would never run.
pub(super) fn check(manifests: &[Source], rust: &[Source]) -> Vec<String> {
    let crates = manifests.iter().filter_map(|manifest| {
        let folder = manifest.path.strip_suffix("Cargo.toml")?;
        rust.iter().any(|source| source.path == format!("{folder}src/lib.rs")).then_some((manifest, folder))
    });
    crates.flat_map(|(manifest, folder)| breaches(manifest, folder, rust)).collect()
}

fn breaches(manifest: &Source, folder: &str, rust: &[Source]) -> Vec<String> {
    let (src, main) = (format!("{folder}src/"), format!("{folder}src/main.rs"));
    let library: Vec<&Source> =
        rust.iter().filter(|one| one.path.starts_with(&src) && one.path != main).collect();
    let is_off = |section, key: &str| says(&manifest.text, section, &format!("{key} = false"));
    let mut found = Vec::new();
    let mut want = |what: &str, has: bool, is_off: bool| {
        let path = &manifest.path;
        if has && is_off {
            found.push(format!("{path}: {what} never run: the manifest turns them off"));
        } else if !has && !is_off {
            found.push(format!("{path}: there are no {what}: turn them off"));
        }
    };
    let (has_tests, has_examples) =
        (library.iter().any(|one| tests(&one.text)), library.iter().any(|one| examples(&one.text)));
    want("tests in [lib]", has_tests, is_off("[lib]", "test"));
    want("examples in [lib] (doctest)", has_examples, is_off("[lib]", "doctest"));
    if let Some(main) = rust.iter().find(|one| one.path == main) {
        want("tests in [[bin]]", tests(&main.text), is_off("[[bin]]", "test"));
    }
    found
}

/// Whether the first section of this name has this line.
fn says(manifest: &str, section: &str, line: &str) -> bool {
    let lines = manifest.lines().skip_while(|one| *one != section).skip(1);
    lines.take_while(|one| !one.starts_with('[')).any(|one| one == line)
}

fn tests(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "#[test]")
}

/// Whether a comment has a block that is compiled: one that is not said to be something else.
fn examples(text: &str) -> bool {
    let marks = text.lines().map(str::trim).filter_map(|line| {
        let comment = line.strip_prefix("//!").or(line.strip_prefix("///"))?;
        comment.trim().strip_prefix("```")
    });
    // Every second mark ends a block.
    marks.step_by(2).any(|language| !matches!(language, "text" | "toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifest: &str, library: &str, main: Option<&str>) -> usize {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let mut rust = vec![source("a/src/lib.rs", library)];
        rust.extend(main.map(|text| source("a/src/main.rs", text)));
        check(&[source("a/Cargo.toml", manifest)], &rust).len()
    }

    #[test]
    fn what_is_not_there_is_off_and_what_is_there_is_not() {
        let (test, example) = ("#[test]\nfn t() {}\n", "//! ```\n//! f();\n//! ```\n");
        let picture = "//! ```text\n//! a -> b\n//! ```\n";
        let off = "[lib]\nname = \"a\"\ntest = false\ndoctest = false\n\n[dependencies]\n";
        assert_eq!(found(off, picture, None), 0);
        assert_eq!(found(off, &format!("{picture}{example}{test}"), None), 2);
        assert_eq!(found("[dependencies]\n", picture, None), 2);
        assert_eq!(found("", &format!("{example}{test}"), None), 0);
        assert_eq!(found(off, picture, Some("fn main() {}")), 1);
        let bin = format!("{off}\n[[bin]]\ntest = false\n");
        assert_eq!(found(&bin, picture, Some("fn main() {}")), 0);
        assert_eq!(found(&bin, picture, Some(test)), 1);
    }
}
