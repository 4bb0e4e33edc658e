//! A public item has a caller outside tests, or an entry here that says why it stays.

use super::parsed::{Parsed, is_for_tests};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use std::collections::BTreeMap;

/// (name, reason): items that stay without a production caller.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("ToySignatures", "signs for anybody, in tests of who may say what; a build that ships has none"),
    ("danger_seal_letter", "seals a letter as a liar does, in tests of the rules"),
    ("danger_seal_answer", "seals an answer as a liar does, in tests of the rules"),
    ("danger_keys", "hands the simulator's thief what a member has"),
    ("danger_say", "says what a node that floods or lies says, in the simulator and in tests"),
    ("danger_order", "orders what a carrier forges, in the simulator"),
    ("danger_links", "lends the simulator the links of a node that lies on them"),
    ("danger_start", "shows what a peer has proved, for tests that play it back"),
    ("door_counters", "the bench of floods reads them"),
    ("take_events", "the simulator records what a node saw"),
    ("file_of", "tests and fuzz targets forge transcript files with it"),
    ("entries_of", "tests and fuzz targets forge transcript files with it"),
    ("votes_on", "tests read which votes a member keeps"),
    ("upflow", "GDH's published test vectors are of this step"),
    ("upflow_first", "GDH's published test vectors are of this step"),
    ("historical_from_spki_der", "1,024-bit RSA, for checking old signatures only (DECISIONS C3)"),
    ("next_frame", "reads attach off a socket; the program that opens one is still to come"),
    ("VERSIONS", "what both sides of attach's socket say first; the socket is still to come"),
    ("as_lcmsec", "the reference's derivation, for programs that talk to it; those are still to come"),
    ("join_secured", "a bus whose keys a program installs itself, as the benches do"),
    ("publish_many", "for programs that say much at a time; the bench beside liblcm measures it"),
    ("remembered", "fuzz targets and tests see that what a machine remembers is bounded"),
    ("words_kept", "the simulator sees that what a machine keeps over hours is bounded"),
    ("epoch_key", "the simulator's insiders compute what they can"),
    ("share_of", "the simulator's insiders know their own secrets"),
    ("asynchronous", "a blocking program's way to what only the asynchronous bus does"),
    ("decode_for_study", "tests and fuzz targets read moduli that are too small for production"),
];

/// What users of the library call; nobody in the project does.
const LIBRARY: &str = "clients/rust";

/// Lists public items that no production code names, and exceptions that are none.
pub(super) fn check(parsed: &[Parsed]) -> Vec<String> {
    let mut named = Named::default();
    for file in parsed {
        for item in &file.file.items {
            named.item(item);
        }
    }
    let mut breaches: Vec<String> = parsed
        .iter()
        .filter(|file| file.krate != LIBRARY)
        .flat_map(|file| public(&file.file.items).into_iter().map(move |name| (file, name)))
        .filter(|(_, name)| named.calls(name) == 0 && !is_exception(name))
        .map(|(file, name)| format!("{}: `{name}` is public and has no caller outside tests", file.path))
        .collect();
    let needless = EXCEPTIONS.iter().filter(|(name, _)| named.calls(name) > 0);
    breaches.extend(needless.map(|(name, _)| format!("callers.rs: `{name}` has a caller: no exception")));
    breaches
}

fn is_exception(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(exception, _)| *exception == name)
}

/// The names of the public items of a file, methods included.
fn public(items: &[syn::Item]) -> Vec<String> {
    let is_public = |visibility: &syn::Visibility| matches!(visibility, syn::Visibility::Public(_));
    let mut names = Vec::new();
    for item in items {
        let (visibility, name) = match item {
            syn::Item::Const(item) => (&item.vis, &item.ident),
            syn::Item::Enum(item) => (&item.vis, &item.ident),
            syn::Item::Fn(item) => (&item.vis, &item.sig.ident),
            syn::Item::Static(item) => (&item.vis, &item.ident),
            syn::Item::Struct(item) => (&item.vis, &item.ident),
            syn::Item::Trait(item) => (&item.vis, &item.ident),
            syn::Item::Type(item) => (&item.vis, &item.ident),
            syn::Item::Impl(item) if item.trait_.is_none() => {
                names.extend(item.items.iter().filter_map(|item| match item {
                    syn::ImplItem::Fn(item) if is_public(&item.vis) && !is_for_tests(&item.attrs) => {
                        Some(item.sig.ident.to_string())
                    }
                    syn::ImplItem::Const(item) if is_public(&item.vis) => Some(item.ident.to_string()),
                    _ => None,
                }));
                continue;
            }
            _ => continue,
        };
        if is_public(visibility) {
            names.push(name.to_string());
        }
    }
    names
}

/// How often each name occurs, and how often as the name of what is being defined.
#[derive(Default)]
struct Named {
    calls: BTreeMap<String, usize>,
}

impl Named {
    fn calls(&self, name: &str) -> usize {
        self.calls.get(name).copied().unwrap_or_default()
    }

    /// Counts what an item says. An import is no call, nor is the head of an `impl`.
    fn item(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Use(_) => {}
            syn::Item::Impl(block) => {
                for item in &block.items {
                    self.tokens(item.to_token_stream());
                }
                if let Some((_, path, _)) = &block.trait_ {
                    self.tokens(path.to_token_stream());
                }
            }
            item => self.tokens(item.to_token_stream()),
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        const DEFINES: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];
        let mut defines = false;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    if !defines {
                        *self.calls.entry(name.clone()).or_default() += 1;
                    }
                    defines = DEFINES.contains(&name.as_str());
                }
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    defines = false;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => defines = false,
            }
        }
    }
}
