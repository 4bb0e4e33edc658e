//! The types as Rust.
//!
//! Everything is named so that no name in a file gets in its way: paths are whole, and what is read
//! stands in `v_…`.

mod shape;

use crate::check::Type;
use crate::names;
use crate::tree::{Constant, Member};
use shape::Shape;
use std::collections::BTreeMap;

/// What generated code does as the files say, whatever the style of whoever includes it.
const ALLOWED: &str = "#[allow(clippy::all, clippy::pedantic, clippy::nursery, missing_docs, non_snake_case, \
     non_upper_case_globals, rustdoc::all, unreachable_pub, unused)]";

/// A package, and those in it.
#[derive(Default)]
struct Module<'a> {
    types: Vec<&'a Type>,
    inner: BTreeMap<&'a str, Self>,
}

/// Lines, each at its depth.
struct Page<'a> {
    library: &'a str,
    text: String,
    depth: usize,
}

/// All types, in modules as their packages are.
pub(crate) fn emit(types: &[Type], library: &str) -> String {
    let mut root = Module::default();
    for one in types {
        let package = one.structure.name.package.iter();
        package.fold(&mut root, |at, part| at.inner.entry(part).or_default()).types.push(one);
    }
    let mut page = Page { library, text: String::new(), depth: 0 };
    page.line("// Written by folkmoot-lcm-gen from .lcm files. Whatever is changed here is lost.");
    page.module(&root);
    page.text
}

impl Page<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.is_empty() && self.text.ends_with("{\n") {
            return;
        }
        if !line.is_empty() {
            (0..self.depth).for_each(|_| self.text.push_str("    "));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// A line, whatever stands in its braces, and the end of those.
    fn block(&mut self, head: impl AsRef<str>, inside: impl FnOnce(&mut Self)) {
        self.line(format!("{} {{", head.as_ref()));
        self.depth = self.depth.saturating_add(1);
        inside(self);
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    fn about(&mut self, about: &[String]) {
        about.iter().for_each(|line| self.line(format!("/// {line}").trim_end()));
    }

    fn allow(&mut self) {
        if self.depth == 0 {
            self.line(ALLOWED);
        }
    }

    fn module(&mut self, module: &Module<'_>) {
        module.types.iter().for_each(|one| self.structure(one));
        for (name, inner) in &module.inner {
            self.line("");
            self.allow();
            self.block(format!("pub mod {}", names::module(name)), |page| page.module(inner));
        }
    }

    fn structure(&mut self, one: &Type) {
        let structure = &one.structure;
        let name = names::structure(&structure.name.short);
        let shapes: Vec<Shape<'_>> =
            structure.members.iter().map(|member| Shape::of(&structure.name, member)).collect();
        let derives = shapes.iter().all(Shape::derives_default);
        self.line("");
        self.about(&structure.about);
        self.allow();
        let default = if derives { ", Default" } else { "" };
        self.line(format!("#[derive(Debug, Clone, PartialEq{default})]"));
        self.block(format!("pub struct {name}"), |page| {
            for (member, shape) in structure.members.iter().zip(&shapes) {
                page.about(&member.about);
                page.line(format!("pub {}: {},", names::value(&member.name), shape.rust()));
            }
        });
        if !derives {
            self.default(&name, &structure.members, &shapes);
        }
        if !structure.constants.is_empty() {
            self.constants(&name, &structure.constants);
        }
        self.typed(&name, one, &shapes);
    }

    fn default(&mut self, name: &str, members: &[Member], shapes: &[Shape<'_>]) {
        let library = self.library.to_owned();
        self.line("");
        self.allow();
        self.block(format!("impl ::core::default::Default for {name}"), |page| {
            page.block("fn default() -> Self", |page| {
                page.block("Self", |page| {
                    for (member, shape) in members.iter().zip(shapes) {
                        page.line(format!("{}: {},", names::value(&member.name), shape.default(&library)));
                    }
                });
            });
        });
    }

    fn constants(&mut self, name: &str, constants: &[Constant]) {
        self.line("");
        self.allow();
        self.block(format!("impl {name}"), |page| {
            for constant in constants {
                page.about(&constant.about);
                let (name, kind) = (names::value(&constant.name), constant.primitive.rust());
                page.line(format!("pub const {name}: {kind} = {};", constant.value));
            }
        });
    }

    fn typed(&mut self, name: &str, one: &Type, shapes: &[Shape<'_>]) {
        let library = self.library.to_owned();
        let members = &one.structure.members;
        let result = |good: &str, wrong: &str| format!("::core::result::Result<{good}, {library}::{wrong}>");
        self.line("");
        self.allow();
        self.block(format!("impl {library}::Typed for {name}"), |page| {
            page.line(format!("const NAME: &'static str = {:?};", one.structure.name.whole()));
            page.line(format!("const FINGERPRINT: u64 = {:#018x};", one.fingerprint));
            page.line("");
            let head = format!("fn write(&self, to: &mut {library}::Writer<'_>)");
            page.block(format!("{head} -> {}", result("()", "EncodeError")), |page| {
                shapes.iter().for_each(|shape| page.line(shape.write()));
                page.line("Ok(())");
            });
            page.line("");
            let head = format!("fn read(from: &mut {library}::Reader<'_>)");
            page.block(format!("{head} -> {}", result("Self", "DecodeError")), |page| {
                for (member, shape) in members.iter().zip(shapes) {
                    page.line(format!("let v_{}: {} = {}?;", member.name, shape.rust(), shape.read()));
                }
                let names =
                    members.iter().map(|member| format!("{}: v_{}", names::value(&member.name), member.name));
                page.line(format!("Ok(Self {{ {} }})", names.collect::<Vec<_>>().join(", ")));
            });
        });
    }
}
