//! The charters that the node carries beside its ring's, as data and as text.

use crate::show::{harmless, many, short};
use folkmoot::{Carrying, Party};
use serde_json::{Value, json};

/// One of them as data.
pub(super) fn data(carrying: &Carrying) -> Value {
    let Carrying { group, name, members, parties, attached, settled, .. } = carrying;
    let parties: Vec<String> = parties.iter().map(Party::hex).collect();
    json!({
        "group": group.hex(), "name": name, "members": members, "parties": parties, "attached": attached, "settled": settled,
    })
}

/// All of them for people, each on a line of its own, read back from the status.
pub(crate) fn text(status: &Value) -> String {
    let carries = status.get("carries").and_then(Value::as_array).into_iter().flatten();
    carries.map(|one| format!("\n{}", line(one))).collect()
}

fn line(carried: &Value) -> String {
    let word = |field: &str| carried.get(field).and_then(Value::as_str).unwrap_or_default();
    let count = |field: &str| carried.get(field).and_then(Value::as_u64).unwrap_or_default();
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let parties = carried.get("parties").and_then(Value::as_array).map_or(0, Vec::len);
    let (name, group) = (harmless(word("name")), short(word("group")));
    let head = format!("carries {name} ({group}): {} on its roster", many(size(count("members")), "member"));
    match carried.get("settled").and_then(Value::as_bool) {
        Some(true) => {
            let here = count("attached");
            format!("{head}, {} in its group, {here} attached here", many(parties, "program"))
        }
        _ => format!("{head}; the nodes that carry it have not agreed yet on who is in its group"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carried_charter_is_told_with_who_stands_there() {
        let told = |settled: bool| {
            text(&json!({ "carries": [{
                "group": "0123456789abcdef", "name": "book club", "members": 3, "parties": ["a"], "attached": 0,
                "settled": settled,
            }] }))
        };
        let head = "\ncarries book club (01234567): 3 members on its roster";
        assert_eq!(told(true), format!("{head}, 1 program in its group, 0 attached here"));
        assert!(told(false).starts_with(&format!("{head}; ")), "{}", told(false));
        assert_eq!(text(&json!({})), "");
    }
}
