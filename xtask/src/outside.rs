//! The library `folkmoot` as a program of somebody else's sees it.

use crate::run::{capture, root, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How the names of the project's crates begin.
const OURS: &str = "folkmoot_";

/// Builds and runs programs that are no members of the workspace and depend on `folkmoot` alone,
/// the library's examples among them. Profiles and versions are the workspace's, so that what
/// others wrote is not compiled anew.
pub(crate) fn outside() -> Result<(), String> {
    let here = root().join("testing/outside");
    copy(&root().join("Cargo.lock"), &here.join("Cargo.lock"))?;
    let program = page_program("docs/pubsub.md", "outside-pubsub")?;
    run(&format!("cargo build --quiet {}", build(&program)))?;
    let build = build(&here);
    run(&format!("cargo test --quiet --doc {build}"))?;
    run(&format!("cargo build --quiet {build}"))?;
    run(&format!("cargo run --quiet {build}")).map(drop)
}

/// Writes the program that a page shows: each block whose first line is a comment with a file's
/// name is that file. Where the page says `folkmoot/`, this checkout is meant.
fn page_program(page: &str, name: &str) -> Result<PathBuf, String> {
    let folder = target().join(name);
    drop(fs::remove_dir_all(&folder));
    let head = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[workspace]\n\n");
    let text = read(&root().join(page))?;
    for block in text.split("\n```").skip(1).step_by(2) {
        let (file, lines) =
            block.split_once('\n').and_then(|(_, block)| block.split_once('\n')).unwrap_or_default();
        let Some(file) = file.strip_prefix("// ").or(file.strip_prefix("# ")).filter(|file| is_file(file))
        else {
            continue;
        };
        let start = if file == "Cargo.toml" { head.as_str() } else { "" };
        let lines = lines.replace("path = \"folkmoot/", &format!("path = \"{}/", root().display()));
        write(&folder.join(file), &format!("{start}{lines}\n"))?;
    }
    copy(&root().join("Cargo.lock"), &folder.join("Cargo.lock"))?;
    Ok(folder)
}

/// Whether a comment's text is the name of a file, and nothing else.
fn is_file(text: &str) -> bool {
    text.ends_with(".rs") || text.ends_with(".lcm") || text == "Cargo.toml"
}

/// Packs the library and the crates that it needs, as they would be published, and builds an
/// example from these packages alone, in a folder where nothing else of the project is.
pub(crate) fn package() -> Result<(), String> {
    let (packages, place) = (target().join("package"), std::env::temp_dir().join("folkmoot-package"));
    for old in [&packages, &place] {
        drop(fs::remove_dir_all(old));
    }
    let inside = private()?;
    let leave_out = inside.iter().fold(String::new(), |line, name| format!("{line} --exclude {name}"));
    let target = target().display().to_string();
    run(&format!(
        "cargo package --quiet --workspace --no-verify --allow-dirty --target-dir {target}{leave_out}"
    ))?;
    let program = place.join("program");
    fs::create_dir_all(program.join("src")).map_err(|error| format!("{}: {error}", program.display()))?;
    let names = unpack(&packages, &place)?;
    let hello =
        place.join(names.get("folkmoot").ok_or("`folkmoot` was not packed")?).join("examples/hello.rs");
    copy(&hello, &program.join("src/main.rs"))?;
    copy(&root().join("Cargo.lock"), &program.join("Cargo.lock"))?;
    write(&program.join("Cargo.toml"), &dependent(&names))?;
    run(&format!("cargo build --quiet {}", build(&program)))?;
    fs::remove_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))
}

/// How cargo builds a crate that is in no workspace, beside what this workspace has built.
fn build(folder: &Path) -> String {
    let (folder, target, root) = (folder.display(), target(), root());
    let (target, profiles) = (target.display(), root.join("Cargo.toml"));
    format!("--manifest-path {folder}/Cargo.toml --target-dir {target} --config {}", profiles.display())
}

/// Where cargo builds: this program lies there.
fn target() -> PathBuf {
    let here = std::env::current_exe().unwrap_or_default();
    here.ancestors().nth(2).map_or_else(|| root().join("target"), Path::to_path_buf)
}

/// The crates of the workspace that are not published: those that inherit `publish = false`.
fn private() -> Result<Vec<String>, String> {
    let (_, listed) = capture("git ls-files *Cargo.toml")?;
    let mut names = Vec::new();
    for path in listed.lines().filter(|path| !is_apart(path)) {
        let manifest = read(&root().join(path))?;
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        if manifest.lines().any(|line| line == "publish.workspace = true") {
            names.push(name.ok_or_else(|| format!("{path} has no name"))?.to_owned());
        }
    }
    Ok(names)
}

/// The workspace itself, and crates that are not in it.
fn is_apart(manifest: &str) -> bool {
    ["Cargo.toml", "testing/outside/Cargo.toml", "testing/fuzz/libfuzzer/Cargo.toml"].contains(&manifest)
}

/// Unpacks every package into `place`; gives the folder of each by the crate's name. In a package
/// all files have one old date, by which cargo would take what it built of an earlier one.
fn unpack(packages: &Path, place: &Path) -> Result<BTreeMap<String, String>, String> {
    let entries = fs::read_dir(packages).map_err(|error| format!("{}: {error}", packages.display()))?;
    let mut names = BTreeMap::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(folder) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".crate")) else {
            continue;
        };
        run(&format!(
            "tar --extract --touch --gzip --file {} --directory {}",
            path.display(),
            place.display()
        ))?;
        let name = folder.rsplit_once('-').map_or(folder, |(name, _)| name);
        names.insert(name.to_owned(), folder.to_owned());
    }
    Ok(names)
}

/// The manifest of a program that needs `folkmoot`, and takes the project's crates as unpacked.
fn dependent(names: &BTreeMap<String, String>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let tokio = "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }";
    let head =
        "[package]\nname = \"packaged-hello\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let mut text =
        format!("{head}\n[dependencies]\nfolkmoot = \"{version}\"\n{tokio}\n\n[patch.crates-io]\n");
    for (name, folder) in names {
        text.push_str(&format!("{name} = {{ path = \"../{folder}\" }}\n"));
    }
    text
}

/// Writes a file, and the folders above it.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
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
