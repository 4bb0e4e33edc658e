//! Production sources as syntax trees, for the checks that follow names.

use super::Source;
use std::collections::BTreeMap;

/// A production source file: where it stands in its crate, and what it says.
pub(super) struct Parsed {
    /// Path from the root of the workspace.
    pub(super) path: String,
    /// The crate's folder from the root, for example `protocol/node/ring`.
    pub(super) krate: String,
    /// Path of the module in its crate; empty for `lib.rs` and `main.rs`.
    pub(super) module: Vec<String>,
    /// The file without whatever is compiled for tests only.
    pub(super) file: syn::File,
}

/// Parses the production sources below `folders`; lists those that do not parse.
pub(super) fn parse(sources: &[Source], folders: &[&str]) -> (Vec<Parsed>, Vec<String>) {
    let mut parsed = Vec::new();
    let mut breaches = Vec::new();
    let below = |source: &&Source| folders.iter().any(|folder| source.path.starts_with(folder));
    for source in sources.iter().filter(below).filter(|source| !source.is_test()) {
        let Some((krate, rest)) = source.path.split_once("/src/") else { continue };
        match syn::parse_file(&source.text) {
            Ok(mut file) => {
                file.items.retain(|item| !is_for_tests(attributes(item)));
                let (path, krate) = (source.path.clone(), krate.to_owned());
                parsed.push(Parsed { path, krate, module: module(rest), file });
            }
            Err(error) => breaches.push(format!("{}: {error}", source.path)),
        }
    }
    (parsed, breaches)
}

/// The files of each crate.
pub(super) fn by_crate(parsed: &[Parsed]) -> BTreeMap<&str, Vec<&Parsed>> {
    let mut crates: BTreeMap<&str, Vec<&Parsed>> = BTreeMap::new();
    for file in parsed {
        crates.entry(&file.krate).or_default().push(file);
    }
    crates
}

/// Whether something stands under `#[cfg(test)]`.
pub(super) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|word| word.is_ident("test"))
    })
}

fn module(file: &str) -> Vec<String> {
    let mut parts: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
