//! QR codes on a terminal.
//!
//! ```text
//! a key           one code
//! a ticket        folkmoot-part:1/6:...  folkmoot-part:2/6:...     a code each; their texts together are the ticket
//! ```

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use std::collections::BTreeMap;

/// Characters of one part: its code has 97 columns, with the margin.
const PART: usize = 650;
/// How a part begins.
const BEGINS: &str = "folkmoot-part:";
/// Most parts that are put together.
const PARTS_MAX: usize = 200;

/// The QR code of a text, light on dark as terminals are; `None` if it is too long for one.
pub(crate) fn of(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    Some(code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build())
}

/// A text in parts that have a code each.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let count = chars.chunks(PART).count();
    let part = |(at, part): (usize, &[char])| {
        format!("{BEGINS}{}/{count}:{}", at.saturating_add(1), part.iter().collect::<String>())
    };
    chars.chunks(PART).enumerate().map(part).collect()
}

/// The text of these parts, one a line in any order; itself, if it has none.
///
/// # Errors
/// Which part is missing, or that they do not belong together.
pub(crate) fn whole(text: &str) -> Result<String, String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(BEGINS));
    let mut parts = BTreeMap::new();
    let mut counts = Vec::new();
    for line in lines {
        let part = line.split_once(':').and_then(|(place, part)| {
            let (at, count) = place.split_once('/')?;
            Some((at.parse::<usize>().ok()?, count.parse::<usize>().ok()?, part))
        });
        let (at, count, part) = part.ok_or("a part of the ticket is cut short")?;
        counts.push(count);
        parts.insert(at, part);
    }
    let Some(count) = counts.first().copied() else { return Ok(text.to_owned()) };
    if count > PARTS_MAX || counts.iter().any(|other| *other != count) {
        return Err("these are parts of different tickets".to_owned());
    }
    let part = |at: usize| {
        parts.get(&at).copied().ok_or_else(|| format!("part {at} of {count} of the ticket is missing"))
    };
    (1..=count).map(part).collect()
}

/// Whether a text has parts.
pub(crate) fn has_parts(text: &str) -> bool {
    text.trim_start().starts_with(BEGINS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fits_and_what_is_too_long_has_none() {
        let key = of(&"0123456789ABCDEF".repeat(4)).unwrap();
        // Version 3: 29 modules and four on each side.
        assert_eq!(key.lines().next().unwrap().chars().count(), 37, "{key}");
        assert_eq!(key.lines().count(), 19);
        assert!(of(&"x".repeat(3_000)).is_none());
    }

    #[test]
    fn parts_in_any_order_are_the_text() {
        let text: String = (0..3_000_u32).filter_map(|n| char::from_digit(n % 36, 36)).collect();
        let mut parts = parts(&text);
        assert_eq!(parts.len(), 5);
        let widest = parts.iter().map(|part| of(part).unwrap().lines().next().unwrap().chars().count());
        assert!(widest.max().unwrap() <= 97);
        parts.reverse();
        assert_eq!(whole(&parts.join("\n")), Ok(text.clone()));
        assert_eq!(whole(&text), Ok(text));
        parts.remove(1);
        assert_eq!(whole(&parts.join("\n")), Err("part 4 of 5 of the ticket is missing".to_owned()));
        parts.push("folkmoot-part:1/2:x".to_owned());
        assert!(whole(&parts.join("\n")).is_err());
        assert!(whole("folkmoot-part:1").is_err() && has_parts("folkmoot-part:1"));
    }
}
