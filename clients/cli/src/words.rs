//! Digests in words, so that two people can compare them aloud.
//!
//! ```text
//! 17.5e0c1f22a0b1c2d3e4f506... --first 88 bits, 11 a word--> 17 funny expect chair ... (8 words)
//! ```
//! The words are those of BIP-39's English list: 2,048, each known by its first four letters. They
//! are another spelling of the first 22 digits, so whoever reads them names the same head.

use bip39::Language;
use folkmoot_base::{Digest, Head};

/// Words of one digest.
const WORDS: usize = 8;
/// Bits that a word stands for.
const BITS: usize = 11;
/// What may stand between words.
pub(crate) const BETWEEN: [char; 4] = [' ', '-', ',', '\t'];
/// Bits of a hexadecimal digit.
const DIGIT_BITS: usize = 4;

/// Why words do not name a head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoWords {
    /// It does not begin with a number.
    #[error("a head in words begins with its number, as in: 17 zoo zone ...")]
    Number,
    /// There are too few or too many.
    #[error("a head in words is a number and {WORDS} words; here are {0}")]
    Count(usize),
    /// One is not in the list.
    #[error("{0:?} is not one of the words that a head is written in")]
    Unknown(String),
}

/// The words of a digest: its first 88 bits.
pub(crate) fn of_digest(digest: &Digest) -> String {
    let first = digest.iter().take(16).fold(0_u128, |all, byte| (all << 8) | u128::from(*byte));
    let word = |place: usize| {
        let bits = first >> (128 - BITS * (place + 1));
        let list = Language::English.word_list();
        usize::try_from(bits % 2048).ok().and_then(|number| list.get(number)).copied()
    };
    (0..WORDS).filter_map(word).collect::<Vec<_>>().join(" ")
}

/// A head in words, with its number in front.
pub(crate) fn of_head(head: &Head) -> String {
    format!("{} {}", head.number, of_digest(&head.digest))
}

/// The head that somebody has read out, with as many digits as its words stand for.
///
/// # Errors
/// [`NoWords`].
pub(crate) fn head(said: &str) -> Result<String, NoWords> {
    let mut words = said.split(BETWEEN).filter(|one| !one.is_empty());
    let number = words.next().filter(|first| first.bytes().all(|byte| byte.is_ascii_digit()));
    let number = number.ok_or(NoWords::Number)?;
    let words: Vec<&str> = words.collect();
    if words.len() != WORDS {
        return Err(NoWords::Count(words.len()));
    }
    let bits = words.iter().try_fold(0_u128, |all, word| {
        let place = Language::English.find_word(&word.to_lowercase());
        let place = place.ok_or_else(|| NoWords::Unknown((*word).to_owned()))?;
        Ok((all << BITS) | u128::from(place))
    })?;
    Ok(format!("{number}.{bits:0width$x}", width = WORDS * BITS / DIGIT_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_base::digest;
    use folkmoot_transcript::KnownHead;

    #[test]
    fn words_and_digits_name_the_same_head() {
        let heads: Vec<Head> =
            (0..200_u64).map(|number| Head { number, digest: digest(&[&number.to_be_bytes()]) }).collect();
        for head in &heads {
            let words = of_head(head);
            let said: KnownHead = super::head(&words).unwrap().parse().unwrap();
            let named: Vec<&Head> = heads.iter().filter(|other| said.names(other)).collect();
            assert_eq!(named, [head], "{words}");
            let dictated = words.to_uppercase().replace(' ', ", ");
            assert_eq!(super::head(&dictated), super::head(&words));
        }
    }

    #[test]
    fn another_word_is_another_head() {
        let head = Head { number: 17, digest: digest(&[b"a decision"]) };
        let words = of_head(&head);
        let words: Vec<&str> = words.split(' ').collect();
        for place in 1..words.len() {
            let mut other = words.clone();
            other[place] = if words[place] == "zoo" { "zone" } else { "zoo" };
            let said: KnownHead = super::head(&other.join(" ")).unwrap().parse().unwrap();
            assert!(!said.names(&head), "{other:?}");
        }
    }

    /// The words of BIP-39, by their numbers there: 0, 1, 1024, 2047.
    #[test]
    fn the_list_is_the_published_one() {
        let all = [of_digest(&[0; 32]), of_digest(&[0xff; 32])];
        assert_eq!(all, [["abandon"; WORDS].join(" "), ["zoo"; WORDS].join(" ")]);
        let mut bits = [0_u8; 32];
        (bits[0], bits[2]) = (0x80, 0x04);
        assert_eq!(of_digest(&bits), "length ability abandon abandon abandon abandon abandon abandon");
    }

    #[test]
    fn what_names_no_head_is_refused() {
        let zoo = ["zoo"; WORDS].join(" ");
        assert_eq!(head(&zoo), Err(NoWords::Number));
        assert_eq!(head(""), Err(NoWords::Number));
        assert_eq!(head("17 zoo zoo"), Err(NoWords::Count(2)));
        assert_eq!(head(&format!("17 {zoo} zoo")), Err(NoWords::Count(WORDS + 1)));
        assert_eq!(
            head(&format!("17 {zoo}").replacen("zoo", "zooo", 1)),
            Err(NoWords::Unknown("zooo".into()))
        );
        assert_eq!(head("1.5 zoo"), Err(NoWords::Number));
    }
}
