//! Every text that the program can print, in one list that is read by a person.
//!
//! The list `texts.txt` has all help texts, as the built program prints them, and the string
//! literals of at least two words in the production sources of the clients, the host, the protocol
//! and the bench. Each text is held against the rules of docs/STYLE.md that a program can check. If
//! a text is new, changed or gone, the test fails until the list is written anew:
//!
//! ```text
//! FOLKMOOT_TEXTS=write cargo test -p folkmoot-cli --test it texts::
//! ```
//!
//! So the difference of the list shows each new text to whoever reviews the change.

mod style;

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use style::breaches;
use syn::visit::{self, Visit};

/// The folders whose sources can hold a text that people see.
const FOLDERS: [&str; 5] = ["clients/cli/src", "clients/rust/src", "host", "protocol", "testing/bench/src"];
/// The command line of the bench, which is a program of its own and need not be built: its help is
/// read from its source.
const BENCH_HELP: &str = "testing/bench/src/args.rs";

#[test]
fn every_text_is_in_the_list_and_keeps_the_rules() {
    let texts = collect();
    assert!(texts.len() > 300, "only {} texts found: are the sources where they were?", texts.len());
    let breaches: Vec<String> = texts
        .iter()
        .flat_map(|(place, text)| {
            breaches(text).into_iter().map(move |breach| format!("{place}: {text:?}: {breach}"))
        })
        .collect();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/texts/texts.txt");
    let now: BTreeSet<String> = texts.iter().map(|(place, text)| line(place, text)).collect();
    if std::env::var_os("FOLKMOOT_TEXTS").is_some_and(|value| value == "write") {
        let all = now.iter().fold(String::new(), |all, line| all + line + "\n");
        std::fs::write(&list, all).unwrap();
    }
    let known = std::fs::read_to_string(&list).unwrap_or_default();
    let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    let mut told = String::new();
    for new in now.difference(&known) {
        writeln!(told, "new:  {new}").unwrap();
    }
    for gone in known.difference(&now) {
        writeln!(told, "gone: {gone}").unwrap();
    }
    assert!(breaches.is_empty(), "texts against docs/STYLE.md:\n{}\n{told}", breaches.join("\n"));
    assert!(
        told.is_empty(),
        "{told}Read each new text as somebody who sees it for the first time. Then write the list anew:\n\
         FOLKMOOT_TEXTS=write cargo test -p folkmoot-cli --test it texts::"
    );
}

#[test]
fn literals_are_found_where_people_can_see_them() {
    let source = r#"
        //! a head of a module
        /// a comment on an item
        const BYTES: &[u8] = b"bytes are skipped here";
        const TEXT: &str = "a plain literal";
        #[derive(Debug)]
        enum Wrong {
            #[error("an error of {} bytes", 3)]
            Long,
        }
        #[doc(alias = "another attribute there")]
        fn say(x: u8) -> String {
            debug!("a line for programmers");
            eprintln!("{}", format!("inside of a macro {x}"));
            let one = "word";
            make! { /// a comment in a macro
                x }
            vec![("in a list", { "and in a block" })];
            "continued \
             over lines".to_owned()
        }
        #[cfg(test)]
        mod tests { const NO: &str = "only for tests"; }
        #[test]
        fn no() { let no = "only in a test"; }
    "#;
    let mut found = Literals::default();
    found.visit_file(&syn::parse_file(source).unwrap());
    assert_eq!(
        found.0,
        [
            "a plain literal",
            "an error of {} bytes",
            "inside of a macro {x}",
            "in a list",
            "and in a block",
            "continued over lines"
        ]
    );
}

/// All texts, each with the command or the package that it comes from.
fn collect() -> BTreeSet<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = help();
    for folder in FOLDERS {
        for file in sources(&root.join(folder)) {
            let parsed = syn::parse_file(&std::fs::read_to_string(&file).unwrap()).unwrap();
            let mut found = Literals::default();
            found.visit_file(&parsed);
            let path = file.strip_prefix(&root).unwrap().to_str().unwrap();
            let package = path.split_once("/src/").map_or(path, |(package, _)| package);
            if path == BENCH_HELP {
                found.0.extend(doc_comments(&std::fs::read_to_string(&file).unwrap()));
            }
            texts.extend(found.0.into_iter().map(|text| (package.to_owned(), text)));
        }
    }
    texts
}

/// The comments on items of a source, each as one line: clap prints those on a command line as
/// help.
fn doc_comments(source: &str) -> Vec<String> {
    let lines: Vec<Option<&str>> = source.lines().map(|line| line.trim().strip_prefix("/// ")).collect();
    let blocks = lines.split(Option::is_none).filter(|block| !block.is_empty());
    blocks.map(|block| block.iter().copied().flatten().collect::<Vec<_>>().join(" ")).collect()
}

/// The lines of all help texts: of the program, of its commands, and of theirs. A line that the
/// program's own help has is listed once.
fn help() -> BTreeSet<(String, String)> {
    let mut lines = BTreeSet::new();
    let mut everywhere: BTreeSet<String> = BTreeSet::new();
    let mut open = VecDeque::from([Vec::new()]);
    while let Some(command) = open.pop_front() {
        // See [`BENCH_HELP`].
        if command.first().is_some_and(|first| first == "bench") {
            continue;
        }
        let output = Command::new(env!("CARGO_BIN_EXE_folkmoot"))
            .args(&command)
            .arg("--help")
            .env_remove("FOLKMOOT_STATE")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let place = ["folkmoot".to_owned()].into_iter().chain(command.clone()).collect::<Vec<_>>().join(" ");
        let mut commands = false;
        for line in text.lines() {
            if line.starts_with(|c: char| !c.is_whitespace()) {
                commands = line == "Commands:";
            } else if let Some(name) = line.strip_prefix("  ").filter(|_| commands)
                && let Some(name) = name.split(' ').next().filter(|name| !["", "help"].contains(name))
            {
                open.push_back(command.iter().cloned().chain([name.to_owned()]).collect());
            }
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if has_words(&words) && !everywhere.contains(&words) {
                lines.insert((place.clone(), words));
            }
        }
        if command.is_empty() {
            everywhere = lines.iter().map(|(_, line)| line.clone()).collect();
        }
    }
    lines
}

/// The production sources below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["tests", "benches", "examples", "target"].contains(&name) {
                files.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|end| end == "rs")
            && !["tests.rs", "build.rs"].contains(&name)
            && !std::fs::read_to_string(folder.join("mod.rs"))
                .or_else(|_| std::fs::read_to_string(folder.join("lib.rs")))
                .is_ok_and(|parent| is_module_of_tests(&parent, name.trim_end_matches(".rs")))
        {
            files.push(path);
        }
    }
    files
}

/// Whether a module is compiled for tests only, by the file that declares it.
fn is_module_of_tests(parent: &str, name: &str) -> bool {
    syn::parse_file(parent).unwrap().items.iter().any(
        |item| matches!(item, syn::Item::Mod(module) if module.ident == name && is_for_tests(&module.attrs)),
    )
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|word| word.is_ident("test"))
    })
}

/// The string literals of a source that people can see, in its order.
#[derive(Default)]
struct Literals(Vec<String>);

impl Literals {
    fn take(&mut self, text: String) {
        // Statements for the database, and labels that keep the uses of a key apart.
        let statement = ["SELECT ", "INSERT ", "CREATE ", "DELETE ", "UPDATE ", "PRAGMA ", "BEGIN ", "DROP "];
        let label = text.starts_with("folkmoot ") && text.contains(" v1");
        if has_words(&text) && !label && !statement.iter().any(|start| text.trim_start().starts_with(start)) {
            self.0.push(text);
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut hash = false;
        for token in tokens {
            let attribute =
                std::mem::replace(&mut hash, matches!(&token, TokenTree::Punct(c) if c.as_char() == '#'));
            match token {
                // A comment or an attribute in a macro.
                TokenTree::Group(group) if attribute && !group.to_string().starts_with("[error") => {}
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.take(text.value());
                    }
                }
                _ => {}
            }
        }
    }
}

impl Visit<'_> for Literals {
    fn visit_item(&mut self, item: &syn::Item) {
        let attributes = match item {
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta
            && list.path.is_ident("error")
        {
            self.tokens(list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, called: &syn::Macro) {
        let debug = called.path.segments.last().is_some_and(|name| {
            ["trace", "debug", "debug_assert", "debug_assert_eq"].contains(&name.ident.to_string().as_str())
        });
        if !debug {
            self.tokens(called.tokens.clone());
        }
    }

    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        // The layers' traces, which only the tests and the simulator keep.
        if call.method != "trace" {
            visit::visit_expr_method_call(self, call);
        }
    }

    fn visit_lit_str(&mut self, text: &syn::LitStr) {
        self.take(text.value());
    }
}

/// Whether a text has at least two words of letters.
fn has_words(text: &str) -> bool {
    let word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1 && !word.contains('{');
    text.split_whitespace().filter(word).count() > 1
}

/// One text as a line of the list.
fn line(place: &str, text: &str) -> String {
    format!("{place}: {}", text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
}
