//! Names of channels and addresses of IPv6 inside a URN, whose parts are divided by `:`.
//!
//! Each byte that is not a letter, a digit or one of `-._~!$&'()*+,;=@/` stands as `%` and two
//! upper-case hexadecimal digits. So each name has one spelling, and one spelling has one name.

use core::fmt::Write as _;

/// Longest escaped text that is read: a name of which all bytes are escaped.
const ESCAPED_BYTES_MAX: usize = 3 * crate::CHANNEL_BYTES_MAX;

fn stands_as_it_is(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=@/".contains(&byte)
}

/// The spelling.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        if stands_as_it_is(*byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// What has this spelling; `None` if nothing has.
pub(crate) fn unescape(text: &str) -> Option<Vec<u8>> {
    if text.len() > ESCAPED_BYTES_MAX {
        return None;
    }
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let ([high, low], after) = rest.split_first_chunk()?;
            let byte = (digit(*high)? << 4) | digit(*low)?;
            if stands_as_it_is(byte) {
                return None;
            }
            out.push(byte);
            rest = after;
        } else if stands_as_it_is(*byte) {
            out.push(*byte);
        } else {
            return None;
        }
    }
    Some(out)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
