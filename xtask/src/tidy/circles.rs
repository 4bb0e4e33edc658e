//! Files that import one another. Nobody can read a circle of more than three in parts.
//!
//! A module may use what the modules around it define: `lib.rs` has the Input and Output of its
//! crate. So an import from a module that contains the importing one does not count.

use super::parsed::{Parsed, by_crate};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// Most files of a circle.
const CIRCLE_FILES_MAX: usize = 3;

type Path = Vec<String>;

/// File → the files that it takes names from, with one such name each.
type Edges = BTreeMap<usize, BTreeMap<usize, String>>;

/// Lists the circles that are too large.
pub(super) fn check(parsed: &[Parsed]) -> Vec<String> {
    by_crate(parsed).into_values().flat_map(|files| of_crate(&files)).collect()
}

fn of_crate(files: &[&Parsed]) -> Vec<String> {
    let names = Names::of(files);
    let edges: Edges =
        files.iter().enumerate().map(|(number, file)| (number, imports(file, &names))).collect();
    let reach: Vec<BTreeSet<usize>> = (0..files.len()).map(|start| reached(start, &edges)).collect();
    let mut seen = BTreeSet::new();
    let mut breaches = Vec::new();
    for (start, from) in reach.iter().enumerate() {
        let circle: Vec<usize> = from
            .iter()
            .copied()
            .filter(|other| reach.get(*other).is_some_and(|back| back.contains(&start)))
            .collect();
        if circle.len() > CIRCLE_FILES_MAX && seen.insert(circle.clone()) {
            breaches.push(format!(
                "a circle of {} files that import one another; at most {CIRCLE_FILES_MAX}:{}",
                circle.len(),
                arrows(&circle, &edges, files)
            ));
        }
    }
    breaches
}

/// Who takes what from whom in a circle, a line each.
fn arrows(circle: &[usize], edges: &Edges, files: &[&Parsed]) -> String {
    let path = |file: &usize| files.get(*file).map_or("", |file| file.path.as_str());
    let of = |file: &usize| {
        let inside = edges.get(file).into_iter().flatten().filter(|(to, _)| circle.contains(to));
        inside.map(|(to, name)| format!("\n    {} -> {}: {name}", path(file), path(to))).collect::<String>()
    };
    circle.iter().map(of).collect()
}

/// Everything that can be reached from `start` over at least one import.
fn reached(start: usize, edges: &Edges) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        for next in edges.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(*next) {
                open.push(*next);
            }
        }
    }
    reached
}

/// The files that a file takes names from.
fn imports(file: &Parsed, names: &Names) -> BTreeMap<usize, String> {
    let mut paths = Paths { names, module: file.module.clone(), found: BTreeMap::new() };
    paths.visit_file(&file.file);
    paths.found
}

/// Where the modules of a crate stand, and what each hands on under another path.
struct Names {
    modules: BTreeMap<Path, usize>,
    /// (module, name) → what `use` says that it is; none if that is outside the crate.
    handed_on: BTreeMap<(Path, String), Option<Path>>,
}

impl Names {
    fn of(files: &[&Parsed]) -> Self {
        let modules = files.iter().enumerate().map(|(number, file)| (file.module.clone(), number)).collect();
        let mut names = Self { modules, handed_on: BTreeMap::new() };
        for file in files {
            for item in &file.file.items {
                let syn::Item::Use(item) = item else { continue };
                for (path, name) in leaves(&item.tree) {
                    let path = names.absolute(&file.module, &path);
                    names.handed_on.insert((file.module.clone(), name), path);
                }
            }
        }
        names
    }

    /// A path from the root of the crate; none if it leads out of it.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Path> {
        let mut base = module.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => drop(base.pop()),
            first => {
                base.push(first.to_owned());
                let known = self.modules.contains_key(&base);
                base.pop();
                return known.then(|| [&base, path].concat());
            }
        }
        rest = rest.get(1..)?;
        while rest.first().is_some_and(|word| word == "super") {
            base.pop();
            rest = rest.get(1..)?;
        }
        Some([&base, rest].concat())
    }

    /// Whether a file's module is `module` or one around it.
    fn contains(&self, file: usize, module: &[String]) -> bool {
        (0..=module.len()).any(|end| self.modules.get(module.get(..end).unwrap_or_default()) == Some(&file))
    }

    /// The file in which what an absolute path names is defined.
    fn file(&self, path: &[String], depth: usize) -> Option<usize> {
        let mut module: Path = Vec::new();
        for (at, word) in path.iter().enumerate() {
            module.push(word.clone());
            if self.modules.contains_key(&module) {
                continue;
            }
            module.pop();
            if let Some(target) = self.handed_on.get(&(module.clone(), word.clone())).filter(|_| depth < 8) {
                let longer = [target.as_deref()?, path.get(at + 1..).unwrap_or_default()].concat();
                return self.file(&longer, depth + 1);
            }
            break;
        }
        self.modules.get(&module).copied()
    }
}

struct Paths<'a> {
    names: &'a Names,
    module: Path,
    found: BTreeMap<usize, String>,
}

impl Paths<'_> {
    fn take(&mut self, path: &[String]) {
        let file = self.names.absolute(&self.module, path).and_then(|path| self.names.file(&path, 0));
        if let Some(file) = file.filter(|file| !self.names.contains(*file, &self.module)) {
            self.found.insert(file, path.join("::"));
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (path, _) in leaves(&item.tree) {
            // What a module hands on it does not import.
            if matches!(item.vis, syn::Visibility::Inherited) {
                self.take(&path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1 {
            self.take(&words);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}
}

/// Each path that a `use` names, with the name that it gets.
fn leaves(tree: &syn::UseTree) -> Vec<(Path, String)> {
    match tree {
        syn::UseTree::Path(path) => {
            let head = path.ident.to_string();
            leaves(&path.tree)
                .into_iter()
                .map(|(rest, name)| ([vec![head.clone()], rest].concat(), name))
                .collect()
        }
        syn::UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), String::from("self"))],
        syn::UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        syn::UseTree::Rename(rename) => vec![(vec![rename.ident.to_string()], rename.rename.to_string())],
        syn::UseTree::Glob(_) => vec![(Vec::new(), String::from("*"))],
        syn::UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}
