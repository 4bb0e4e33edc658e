//! Whether the types make sense together: each exists once, is finite, and has a name in Rust.

use crate::error::{Error, Place};
use crate::fingerprint::Fingerprints;
use crate::names;
use crate::tree::{Kind, Member, Name, Size, Struct};
use std::collections::BTreeMap;

/// How deep types may lie in one another without an array of variable length between: deeper, no
/// receiver takes them (`DEPTH_MAX` of folkmoot-pubsub).
const DEPTH_MAX: usize = 32;

/// A type that makes sense.
pub(crate) struct Type {
    pub(crate) structure: Struct,
    pub(crate) fingerprint: u64,
}

/// Types by package and name.
pub(crate) fn check(structs: Vec<Struct>) -> Result<Vec<Type>, Error> {
    let mut types = BTreeMap::new();
    for structure in structs {
        let name = structure.name.clone();
        let place = structure.place.clone();
        if let Some(Struct { place: before, .. }) = types.insert(name.clone(), structure) {
            return place.wrong(format!("{} was there before, at {before}", name.whole()));
        }
    }
    rust_names(&types)?;
    let mut depths = BTreeMap::new();
    for structure in types.values() {
        exist(structure, &types)?;
        depth(&structure.name, &types, &mut depths, 0)?;
    }
    let mut fingerprints = Fingerprints::new(&types);
    let found: Result<Vec<u64>, Error> = types.keys().map(|name| fingerprints.of(name)).collect();
    let found = found?.into_iter();
    let all = types.values().cloned().zip(found);
    Ok(all.map(|(structure, fingerprint)| Type { structure, fingerprint }).collect())
}

fn exist(structure: &Struct, types: &BTreeMap<Name, Struct>) -> Result<(), Error> {
    for member in &structure.members {
        if let Kind::Named(name) = &member.kind
            && !types.contains_key(name)
        {
            return member.place.wrong(format!(
                "no file defines {}, the type of this field. LCM's own types are int8_t, int16_t, int32_t, \
                 int64_t, float, double, string, boolean and byte",
                name.whole()
            ));
        }
    }
    Ok(())
}

/// Whether a value has none of these or any number.
fn is_variable(member: &Member) -> bool {
    member.dimensions.iter().any(|dimension| matches!(dimension.size, Size::Field(_)))
}

/// How many levels of messages each value has at least.
fn depth<'a>(
    name: &'a Name,
    types: &'a BTreeMap<Name, Struct>,
    known: &mut BTreeMap<&'a Name, usize>,
    above: usize,
) -> Result<usize, Error> {
    let Some(structure) = types.get(name) else { return Ok(0) };
    if let Some(depth) = known.get(name) {
        return Ok(*depth);
    }
    let mut deepest = 0;
    for member in structure.members.iter().filter(|member| !is_variable(member)) {
        let Kind::Named(inner) = &member.kind else { continue };
        if above >= DEPTH_MAX {
            return member.place.wrong(format!(
                "{} is in itself, or more than {DEPTH_MAX} types are in one another. Only an array of variable \
                 length can end that",
                inner.whole()
            ));
        }
        deepest = deepest.max(depth(inner, types, known, above.saturating_add(1))?);
    }
    let depth = deepest.saturating_add(1);
    if depth > DEPTH_MAX {
        return structure.place.wrong(format!("more than {DEPTH_MAX} types are in one another here"));
    }
    known.insert(name, depth);
    Ok(depth)
}

/// Names that differ in the file may be the same in Rust.
fn rust_names(types: &BTreeMap<Name, Struct>) -> Result<(), Error> {
    let mut taken: BTreeMap<(Vec<String>, String), (String, Place)> = BTreeMap::new();
    for Struct { name, place, .. } in types.values() {
        let mut module = Vec::new();
        for part in &name.package {
            let called = names::module(part);
            let mut whole = name.package.clone();
            whole.truncate(module.len().saturating_add(1));
            let whole = format!("the package {}", whole.join("."));
            take(&mut taken, (module.clone(), called.clone()), (whole, place))?;
            module.push(called);
        }
        let called = names::structure(&name.short);
        take(&mut taken, (module, called), (name.whole(), place))?;
    }
    types.values().try_for_each(fields)
}

fn take(
    taken: &mut BTreeMap<(Vec<String>, String), (String, Place)>,
    called: (Vec<String>, String),
    (what, place): (String, &Place),
) -> Result<(), Error> {
    let name = called.1.clone();
    match taken.insert(called, (what.clone(), place.clone())) {
        Some((other, at)) if other != what => {
            place.wrong(format!("{what} and {other} (at {at}) would both be called {name} in Rust"))
        }
        _ => Ok(()),
    }
}

fn fields(structure: &Struct) -> Result<(), Error> {
    let mut taken = BTreeMap::new();
    let members = structure.members.iter().map(|member| (&member.name, &member.place));
    for (name, place) in members {
        take(&mut taken, (Vec::new(), names::value(name)), (name.clone(), place))?;
    }
    let mut taken = BTreeMap::new();
    let constants = structure.constants.iter().map(|constant| (&constant.name, &constant.place));
    for (name, place) in constants {
        take(&mut taken, (Vec::new(), names::value(name)), (name.clone(), place))?;
    }
    Ok(())
}
