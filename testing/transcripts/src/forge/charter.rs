//! Another charter in place of the group's, signed by its founders.

use crate::mutate::Section;
use crate::{Drawn, Group, contacts};
use folkmoot_identity::{Identity, SignedCharter};
use folkmoot_signing::Signature;

/// A line of the text taken out, doubled, or with another value; signed by all founders or by all
/// but one. The rest of the file is of another group then and left out.
pub(super) fn change(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let charter = group.transcript.signed_charter().charter().clone();
    let text = std::str::from_utf8(charter.bytes())?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = group.dice.roll(lines.len());
    let what = altered(group, &mut lines, at);
    let text = lines.join("\n") + "\n";
    let founders: Vec<Identity> = charter
        .founders()
        .iter()
        .filter_map(|founder| group.people.get(&founder.key.member_id()).cloned())
        .collect();
    let few = usize::from(group.dice.chance(10));
    let signers: Vec<&Identity> = founders.iter().skip(few).collect();
    let der = match SignedCharter::sign(&text, &signers) {
        Ok(signed) => signed.der().to_vec(),
        Err(_) => unchecked(&text, &signers)?,
    };
    *sections = vec![(1, der), (8, Vec::new())];
    Ok(format!("charter, line {at}: {what}"))
}

/// Right and wrong values of keys.
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "129",
    "4000",
    "-1",
    "4294967296",
    "1.5",
    "true",
    "false",
    "\"none\"",
    "\"\"",
    "[]",
    "\"reset\"",
    "\"authority\"",
    "\"list\"",
    "\"founder\"",
    "\"two-thirds\"",
    "\"mls\"",
    "\"ckd\"",
    "\"asm\"",
    "\"frost\"",
    "\"ts-dsa\"",
    "\"shoup-rsa\"",
    "\"ts-rsa\"",
    "\"centralised\"",
    "{ ratio = \"30%\", window = 5 }",
    "{ ratio = \"030%\", window = 5 }",
    "\"stop\"",
    "\"1 of all\"",
    "\"1 of crew and (2 of all or 1 of crew)\"",
    "\"9 of none\"",
    "\"auto\"",
    "'plain'",
    "{}",
    // Of TOML 1.1, which nobody reads here.
    "{ ratio = \"30%\", window = 5, }",
    "{ ratio = \"30%\",\n window = 5 }",
    "{ ratio = \"30%\", window = 5 # of each size\n }",
    "\"pl\\x61in\"",
    "\"\\e\"",
    "\"pl\\u0061in\"",
    "07:32",
];

/// Keys, and words that are none.
const KEYS: &[&str] = &[
    "objections",
    "request_days",
    "below_threshold",
    "policy",
    "list",
    "decider",
    "admit",
    "remove",
    "hybrid",
    "hybrid_links",
    "letters",
    "quorum",
    "adopt",
    "mode",
    "threshold",
    "keying",
    "contributory",
    "version",
    "format",
    "unknown",
    "certificate_days",
    "request_hours",
    "minority",
    "cipher",
    "scheme",
    "contacts",
    "algorithms",
    "rsa_bits",
    "hash",
    "not_before",
    "not_after",
];

/// Tables, of which some are none of a charter.
const TABLES: &[&str] = &[
    "[timeouts]\nstep_ms = 3000",
    "[timeouts]\nstep_ms = 0",
    "[groups.fleet]\nkeying = \"str\"",
    "[groups.fleet]\nkeying = \"mls\"",
    "[groups.\"\"]\ncipher = \"aes-256-gcm\"",
    "[roles.x]\ny = 1",
    "[authority]\nnodes = []",
    "[timeouts]\nsilence = 1",
];

fn altered(group: &mut Group, lines: &mut Vec<String>, at: usize) -> String {
    let value = group.dice.pick(VALUES).unwrap_or("1");
    let key = group.dice.pick(KEYS).unwrap_or("letters");
    match group.dice.roll(8) {
        0 => lines.remove(at),
        1 => {
            let copy = lines.get(at).cloned().unwrap_or_default();
            lines.insert(at, copy.clone());
            copy
        }
        2 => {
            let table = group.dice.pick(TABLES).unwrap_or_default().to_owned();
            lines.push(table.clone());
            table
        }
        3 => {
            let line = format!("{key} = {value}");
            lines.retain(|one| !one.starts_with(&format!("{key} = ")));
            lines.insert(2, line.clone());
            line
        }
        6 | 7 => {
            let some = group.dice.pick(contacts::LINES).unwrap_or_default().to_owned();
            let line = if group.dice.chance(50) { some } else { contacts::line(&mut group.dice) };
            let key = line.split(" = ").next().unwrap_or_default().to_owned();
            lines.retain(|one| !one.starts_with(&format!("{key} = ")));
            lines.insert(2, line.clone());
            line
        }
        _ => {
            let Some(line) = lines.get_mut(at) else { return String::new() };
            let key = line.split(" = ").next().unwrap_or_default().to_owned();
            *line = format!("{key} = {value}");
            line.clone()
        }
    }
}

/// A text that is no charter, signed as one: the signed charter of another text with this one in
/// its place would not verify, so the message is put together by hand.
fn unchecked(text: &str, signers: &[&Identity]) -> Drawn<Vec<u8>> {
    let attributes = super::items::attributes(text.as_bytes());
    let signed: Vec<(Vec<u8>, Signature)> = signers
        .iter()
        .map(|one| (one.certificate().der().to_vec(), one.key().sign_raw(&attributes)))
        .collect();
    super::items::message(text.as_bytes(), &signed)
}
