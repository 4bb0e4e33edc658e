//! The outsider: the reader in process, and the program.

use super::parts::Case;
use crate::common::place::Place;
use crate::common::program::{call, code, complaint};
use folkmoot_base::Head;
use folkmoot_transcript::{FILE_LABEL, FileError, FileReader};
use serde_json::{Value, json};
use std::error::Error;
use std::process::Output;

/// Bytes in a piece: not a divisor of anything.
const PIECE: usize = 997;

pub(crate) fn judged(charter: &[u8], file: &[u8], heads: &[Head]) -> Result<(), FileError> {
    let mut reader = FileReader::new(charter, heads.to_vec());
    file.chunks(PIECE).try_for_each(|piece| reader.push(piece))?;
    reader.finish().map(drop)
}

/// The rule by which it is refused.
pub(crate) fn refused(charter: &[u8], case: &Case) -> String {
    match judged(charter, &case.file, &case.heads) {
        Ok(()) => "nothing".to_owned(),
        Err(error) => rule(&error),
    }
}

fn rule(error: &FileError) -> String {
    let mut all = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        all = format!("{all}: {cause}");
        below = cause.source();
    }
    let at = all.find("(LINE-").unwrap_or_else(|| panic!("no rule: {all}"));
    assert_eq!(all.matches("(LINE-").count(), 1, "{all}");
    all[at + 1..at + 8].to_owned()
}

/// Has the program judge it.
pub(crate) fn verify(name: &str, charter: &[u8], case: &Case) -> Output {
    let slug: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let place = Place::new(&format!("line-{slug}"));
    let path = |end: &str| place.path().join(end).display().to_string();
    let (charter_path, file_path) = (path("charter.cms"), path("transcript.moot"));
    std::fs::write(&charter_path, charter).unwrap();
    std::fs::write(&file_path, &case.file).unwrap();
    let heads: Vec<String> = case.heads.iter().map(Head::whole).collect();
    let mut line = vec!["verify", &charter_path, &file_path];
    line.extend(heads.iter().flat_map(|head| ["--head", head.as_str()]));
    call(&place.path().join("nobody"), &line)
}

pub(crate) fn refused_by_program(name: &str, charter: &[u8], case: &Case, rule: &str) {
    let output = verify(name, charter, case);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(code(&output), 1, "{name}: {said}{}", String::from_utf8_lossy(&output.stderr));
    if !case.file.starts_with(FILE_LABEL) {
        // It is read as a transcript of format 1, and is none.
        return;
    }
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = complaint(&output);
    assert_eq!((&told["stands"], &told["rule"]), (&json!(false), &json!(rule)), "{name}: {text}");
    assert!(text.contains(&format!("is not valid ({rule}): ")), "{name}: {text}");
    assert_eq!(text.matches("LINE-").count(), 1, "{name}: the number once: {text}");
    let next = told["next"].as_str().unwrap();
    assert!(text.ends_with(next) && next.len() > 20, "{name}: what to do: {text}");
}
