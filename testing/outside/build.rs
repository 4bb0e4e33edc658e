//! Collects the Rust of the pages: of README, of docs, and of the comments of the library. Every
//! block becomes a documentation test of this crate, which `cargo test --doc` compiles and runs. A
//! block that begins with a file's name is a file of a program that `cargo xtask outside` builds.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut sources = vec![root.join("README.md")];
    for folder in ["docs", "docs/protocol", "clients/rust/src"] {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        for entry in fs::read_dir(root.join(folder))? {
            sources.push(entry?.path());
        }
    }
    sources.sort();
    let (mut modules, mut blocks) = (String::new(), 0);
    for source in sources.iter().filter(|path| path.is_file()) {
        let name = source.strip_prefix(&root)?.display().to_string();
        let text = fs::read_to_string(source)?;
        let page = if name.ends_with(".rs") { comments(&text) } else { text };
        let (examples, count) = examples(&page, name.ends_with(".rs"));
        println!("cargo::rerun-if-changed={}", source.display());
        if count > 0 {
            let called = name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_").to_lowercase();
            let file = out.join(format!("{called}.md"));
            fs::write(&file, examples)?;
            writeln!(modules, "#[doc = include_str!({file:?})]\npub mod {called} {{}}")?;
        }
        blocks += count;
    }
    if blocks == 0 {
        return Err("no page has a block of Rust: look at this script".into());
    }
    Ok(fs::write(out.join("pages.rs"), modules)?)
}

/// What the documentation comments of a source say, each line in its place.
fn comments(source: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_start();
        let words = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or("");
        words.strip_prefix(' ').unwrap_or(words).to_owned() + "\n"
    };
    source.lines().map(line).collect()
}

/// The blocks of Rust alone, each line in its place, and how many they are. In a source a block is
/// of Rust unless it says otherwise.
fn examples(page: &str, source: bool) -> (String, usize) {
    let (mut kept, mut count) = (String::new(), 0);
    let mut block: Option<Vec<&str>> = None;
    for line in page.lines().chain([""]) {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(_)) => block = Some(vec![line]),
            (None, None) => kept.push('\n'),
            (Some(lines), Some(_)) => {
                lines.push(line);
                let taken = is_rust(lines, source);
                count += usize::from(taken);
                lines.iter().for_each(|line| kept += &if taken { format!("{line}\n") } else { "\n".into() });
                block = None;
            }
            (Some(lines), None) => lines.push(line),
        }
    }
    (kept, count)
}

fn is_rust(block: &[&str], source: bool) -> bool {
    let words = block.first().map_or("", |fence| fence.trim_start_matches('`'));
    let plain = words.is_empty() || words == "no_run";
    let first = block.get(1).copied().unwrap_or_default();
    let is_file = first.starts_with("// ") && first.ends_with(".rs");
    (words.starts_with("rust") || source && plain) && !is_file
}
