//! The rules of docs/STYLE.md that a program can check.

use crate::common::foreign;

/// Phrases that have stood in this project and that no native reader would write; compared in lower
/// case.
const PHRASES: [&str; 47] = [
    "whom or what",
    "that there are not",
    "that there is not",
    "is none",
    "are none",
    "is no more",
    "are no more",
    "no more than that",
    "has but",
    "have but",
    "who has not",
    "to be had",
    "could not be had",
    "cannot be.",
    "can not be",
    "be it ",
    "so many there",
    "such as is",
    "such as are",
    "one who ",
    "those whom it",
    "so as to",
    "ere ",
    "whence",
    "whither",
    "thereof",
    "therein",
    "thereby",
    "wherein",
    "whereof",
    "hitherto",
    "henceforth",
    "lest ",
    "save for",
    "unless not",
    "does not more",
    "not any more than",
    "of its own accord",
    "there is no such",
    "there are no such",
    "is not there",
    "are not there",
    "it is no ",
    "they are no ",
    "which it is not",
    "the like",
    "and suchlike",
];

/// Words that the glossary replaced, and what stands for them now.
const REPLACED: [(&str, &str); 9] = [
    ("yardstick", "baseline"),
    ("yardsticks", "baseline"),
    ("moot", "group"),
    ("moots", "groups"),
    ("hands", "signers, unless it is the verb"),
    ("door", "contact"),
    ("doors", "contacts"),
    ("stair", "attach"),
    ("chair", "coordinator"),
];

/// Nouns that a number may stand before.
const COUNTED: [&str; 15] = [
    "votes",
    "voters",
    "members",
    "certificates",
    "messages",
    "requests",
    "letters",
    "entries",
    "shares",
    "replicas",
    "nodes",
    "admissions",
    "decisions",
    "steps",
    "records",
];

/// Words of the implementation that a text may have, because it takes them out of others' texts.
const MENTIONED: [(&str, &str); 8] = [
    (" (os error", "os error"),
    ("digit found in string", "digit found in string"),
    ("float literal", "float literal"),
    ("socket address syntax", "socket address syntax"),
    ("IP address syntax", "IP address syntax"),
    ("number too large to fit in target type", "in target type"),
    ("number too small to fit in target type", "in target type"),
    ("valid UTF-8", "valid UTF-8"),
];

/// Forms that are no sentences: pieces of a value in a vote.
const EXEMPT: [&str; 1] = ["% of {members} window "];

/// First words that make a question, and that turn a statement round if no question mark follows.
const INVERSIONS: [&str; 16] = [
    "Is", "Are", "Was", "Were", "Has", "Have", "Had", "Does", "Do not", "Did", "Can", "Could", "May",
    "Might", "Should", "Would",
];

/// The rules of docs/STYLE.md that a text breaks.
pub(super) fn breaches(text: &str) -> Vec<String> {
    if EXEMPT.contains(&text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let low = format!(" {} ", text.to_lowercase());
    for phrase in PHRASES {
        if low.contains(&format!(" {phrase}")) {
            found.push(format!("the phrase {phrase:?}"));
        }
    }
    for word in foreign::found(text).into_iter().filter(|word| !MENTIONED.contains(&(text, *word))) {
        found.push(format!("a word of the implementation: {word:?}"));
    }
    // Columns of a table stand two spaces apart; then a value stands beside the spaces.
    let column = |at: usize| text[..at].ends_with('}') || text[at..].trim_start().starts_with('{');
    if text
        .match_indices("  ")
        .any(|(at, _)| !text[..at].trim().is_empty() && !column(at) && !text.contains('\n'))
    {
        found.push("a double space".into());
    }
    if text.ends_with(' ') {
        found.push("a space at the end".into());
    }
    if text.contains('\t') {
        found.push("a tab".into());
    }
    if text.char_indices().any(|(at, c)| c == '!' && !text[at..].starts_with("!=")) {
        found.push("an exclamation mark".into());
    }
    for start in ["error", "failed to", "unable to", "invalid "] {
        if low.trim_start().starts_with(start) {
            found.push(format!("begins with {start:?}: say what happened"));
        }
    }
    let first = text.split([' ', ':']).next().unwrap_or_default();
    let rule = |(layer, number): (&str, &str)| {
        layer.chars().all(|c| c.is_ascii_uppercase()) && number.len() == 2 && number.parse::<u8>().is_ok()
    };
    if first.split_once('-').is_some_and(rule) {
        found.push("a rule's number in front: put it behind, in parentheses".into());
    }
    for sentence in sentences(text) {
        let asks = sentence.ends_with('?');
        let starts = |word: &str| {
            sentence.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ') || rest.starts_with('\n'))
        };
        if !asks && INVERSIONS.iter().any(|word| *word != "Do not" && starts(word)) {
            found.push(format!("an inversion: {sentence:?} should begin with if or when"));
        }
        if !asks && ["Who", "Whom", "Whose", "What"].iter().any(|word| starts(word)) {
            found.push(format!("a bare who or what as a subject: {sentence:?}"));
        }
    }
    for words in text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        found.extend(words_breaches(&words));
    }
    found
}

/// The rules on single words, in one line of a text.
fn words_breaches(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at]);
        let (number, other) = (before(1), before(2));
        let counts = number == "1"
            || number.starts_with('{') && number.ends_with('}') && other != "of" && before(3) != "of";
        let verb = words.get(at + 1).is_some_and(|next| next.starts_with("yes") || next.starts_with("no"));
        if counts && COUNTED.contains(&bare) && !verb {
            found.push(format!("singular and plural: {number} {bare}"));
        }
        for (old, new) in REPLACED {
            // `hands in` and its like are the verb.
            let next = words.get(at + 1).is_some_and(|next| ["in", "over", "out"].contains(next));
            if bare.eq_ignore_ascii_case(old) && !(old == "hands" && next) {
                found.push(format!("the word {old:?} was replaced: {new}"));
            }
        }
        let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if digits.len() < bare.len() && ["s", "ms", "us", "kB", "KiB", "MiB", "B", "MB"].contains(&digits) {
            found.push(format!("no space between number and unit: {bare}"));
        }
    }
    found
}

/// The sentences of a text, each with the mark that ends it.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while let Some((at, _)) = rest.char_indices().find(|(at, c)| {
        ".?!".contains(*c) && rest[at + 1..].starts_with(char::is_whitespace)
            || *c == '\n' && rest[at + 1..].starts_with('\n')
    }) {
        let (sentence, after) = rest.split_at(at + 1);
        found.push(sentence.trim());
        rest = after.trim_start();
    }
    found.push(rest);
    found
}

#[test]
fn each_rule_catches_a_bad_text() {
    for (bad, rule) in [
        ("/yes whom or what?", "phrase"),
        ("combinations that there are not", "phrase"),
        ("anyone who has but OpenSSL", "phrase"),
        ("two  spaces here", "double space"),
        ("it ends with a space ", "space at the end"),
        ("a\ttab in it", "tab"),
        ("it is done!", "exclamation mark"),
        ("Error: no such file", "begins with"),
        ("error opening the file", "begins with"),
        ("Failed to open the file", "begins with"),
        ("Is no place free, the dealer deals again", "inversion"),
        ("TRN-26: it is late", "in front"),
        ("NODE-06 {from} asks, but is a guest", "in front"),
        ("It waits. Are all here, it begins.", "inversion"),
        ("Who asks is heard", "bare"),
        ("it waits; what is missing is named. What comes late is dropped.", "bare"),
        ("1 votes admit", "singular"),
        ("{} votes admit", "singular"),
        ("{issued} certificates issued", "singular"),
        ("{0} of 1 members", "singular"),
        ("the hands at the group", "replaced"),
        ("a moot of members", "replaced"),
        ("it said Some(3)", "implementation"),
        ("the path is longer than SUN_LEN", "implementation"),
        ("takes 4 ms or 3s", "number and unit"),
        ("a 20kB file", "number and unit"),
    ] {
        let found = breaches(bad);
        assert!(found.iter().any(|breach| breach.contains(rule)), "{rule} in {bad:?}: {found:?}");
    }
    for good in [
        "Whose request do you approve? Type /yes NAME.",
        "{have} of {need} votes",
        "{} votes yes",
        "1 vote admits",
        "21 votes admit",
        "Is this the group you mean?",
        "udp/192.0.2.7:4803 does not answer",
        "{0}: {1}",
        "tell a != b apart",
        "Has this member a vote? See folkmoot status.",
        "Anyone who asks is heard",
        "Hands in a CSR",
    ] {
        assert_eq!(breaches(good), Vec::<String>::new(), "{good:?}");
    }
}
