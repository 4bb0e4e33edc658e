//! Which channels a subscription is for, or a certificate.

use crate::{Channel, MANAGEMENT_PREFIX, SELF_TEST_CHANNEL};
use regex_lite::{Regex, RegexBuilder};

/// A regular expression for names of channels, with `^` before it and `$` behind it. liblcm puts
/// them there, too: so `POSE` is one channel, and `A|B` is whatever begins with A or ends with B.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
}

/// The text is not a regular expression, or is too large a one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a pattern for channels: {why}. A pattern is a regular expression, as in POSE.*")]
pub struct PatternError {
    text: String,
    why: String,
}

impl Pattern {
    /// Reads one.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn new(text: &str) -> Result<Self, PatternError> {
        // No name hides from `.*`, whatever bytes are in it.
        let regex = RegexBuilder::new(&format!("^{text}$")).dot_matches_new_line(true).build();
        match regex {
            Ok(regex) => Ok(Self { regex }),
            Err(error) => Err(PatternError { text: text.to_owned(), why: error.to_string() }),
        }
    }

    /// The same, but for names that no certificate gives a right to: what members themselves say in
    /// a group, and the self test.
    pub fn covers(&self, channel: &Channel) -> bool {
        let name = channel.as_bytes();
        let ours = name.starts_with(MANAGEMENT_PREFIX) || name == SELF_TEST_CHANNEL.as_bytes();
        !ours && self.matches(channel)
    }

    /// Whether the channel is one of them. What is not UTF-8 in its name is matched by `.`.
    pub fn matches(&self, channel: &Channel) -> bool {
        self.regex.is_match(&channel.text())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn matches(pattern: &str, channel: &[u8]) -> bool {
        Pattern::new(pattern).unwrap().matches(&Channel::new(channel).unwrap())
    }

    #[test]
    fn a_pattern_is_for_whole_names() {
        assert!(matches("POSE", b"POSE") && !matches("POSE", b"POSE2") && !matches("POSE", b"A_POSE"));
        assert!(matches("POSE.*", b"POSE2") && matches(".*", b"x") && matches("[A-C]_\\d+", b"B_12"));
        assert!(matches("[[:alpha:]]+", b"abc") && !matches("[[:alpha:]]+", b"ab1"));
        assert!(matches("(A|B)", b"A") && !matches("(A|B)", b"AX"));
        // As in liblcm: the ends hold for one side each.
        assert!(matches("A|B", b"AX") && matches("A|B", b"XB") && !matches("A|B", b"XA"));
        assert!(matches("a.b", b"a\xffb"));
        assert!(matches(".*", b"a\nb") && matches(".*", b"\n") && !matches("A", b"A\n"));
    }

    #[test]
    fn no_pattern_takes_for_ever() {
        // Each would try 2^60 ways to be wrong, one after another.
        for text in ["(x+x+)+y", "(x*)*y", "(x|xx)*y", "(x|x)*y", "x?x?x?x?(x{0,60}){0,9}y"] {
            assert!(!matches(text, &[b'x'; 63]), "{text}");
        }
        assert!(Pattern::new("((((x{99}){99}){99}){99})").is_err(), "nor as much memory as it likes");
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        for text in ["(", ")", "[", "a{99999999}"] {
            let why = Pattern::new(text).unwrap_err().to_string();
            assert!(why.starts_with(&format!("{text:?} is not a pattern for channels: ")), "{why}");
        }
    }
}
