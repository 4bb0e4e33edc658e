//! Bytes as hexadecimal digits.

/// Lower-case hexadecimal.
pub fn hex<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or_default();
    bytes.into_iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads hexadecimal of either case; `None` for anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::{hex, unhex};

    #[test]
    fn hex_there_and_back() {
        assert_eq!(unhex(&hex(&[0, 0xab, 255])), Some(vec![0, 0xab, 255]));
        assert_eq!(unhex("00AB"), Some(vec![0, 0xab]));
        for wrong in ["abc", "zz", "é", "+1"] {
            assert_eq!(unhex(wrong), None);
        }
    }
}
