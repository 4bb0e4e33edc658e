//! What a program that goes on says: the kinds of its events, and the fields of each.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// They come if the machine is busy, and are not noted: `transitional` comes with a view, but not
/// to everybody.
const BUSY: [&str; 6] = ["stalled", "resumed", "lacking", "caught-up", "missed", "transitional"];
/// In place of the type of a field that an event of this kind does not always have.
const ABSENT: &str = "absent";

/// The kinds of events that `own` has, each with its fields, and the types that their values have
/// in `all`. A field of a field is written as in `term.from`, an element of a list as in
/// `approved[]`.
pub(super) fn kinds(own: &[Value], all: &[Value]) -> Value {
    let kind = |event: &Value| event["event"].as_str().unwrap_or("(no event)").to_owned();
    let mut said: BTreeSet<String> = own.iter().map(kind).collect();
    said.retain(|kind| !BUSY.contains(&kind.as_str()));
    let mut kinds: BTreeMap<String, Vec<BTreeMap<String, BTreeSet<&str>>>> = BTreeMap::new();
    for event in all.iter().filter(|event| said.contains(&kind(event))) {
        let mut fields = BTreeMap::new();
        for (name, value) in event.as_object().into_iter().flatten().filter(|(name, _)| *name != "event") {
            types(name, value, &mut fields);
        }
        kinds.entry(kind(event)).or_default().push(fields);
    }
    let kinds = kinds.into_iter().map(|(kind, all)| (kind, fields(&all)));
    kinds.collect::<Map<_, _>>().into()
}

/// The fields of all events of a kind.
fn fields(all: &[BTreeMap<String, BTreeSet<&str>>]) -> Value {
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let types = |name: &String| {
        let mut types: BTreeSet<&str> =
            all.iter().filter_map(|fields| fields.get(name)).flatten().copied().collect();
        // What is within another field is there as often as that.
        if !name.contains(['.', '[']) && all.iter().any(|fields| !fields.contains_key(name)) {
            types.insert(ABSENT);
        }
        types.into_iter().collect::<Vec<_>>().join(" or ")
    };
    names.into_iter().map(|name| (name.clone(), types(name).into())).collect::<Map<_, _>>().into()
}

fn types(name: &str, value: &Value, fields: &mut BTreeMap<String, BTreeSet<&str>>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => {
            items.iter().for_each(|item| types(&format!("{name}[]"), item, fields));
            "list"
        }
        Value::Object(inner) => {
            for (one, value) in inner {
                let one = if is_id(one) { "(id)" } else { one };
                types(&format!("{name}.{one}"), value, fields);
            }
            "object"
        }
    };
    fields.entry(name.to_owned()).or_default().insert(kind);
}

fn is_id(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn kinds_have_fields_and_types() {
    let events = [
        json!({ "event": "votes", "have": 1, "rule": null }),
        json!({ "event": "votes", "have": 2, "rule": "x", "by": [{ "name": "anna" }] }),
    ];
    let wanted = json!({ "votes": {
        "by": "absent or list", "by[]": "object", "by[].name": "string", "have": "number", "rule": "null or string",
    } });
    assert_eq!(kinds(&events[..1], &events), wanted);
}
