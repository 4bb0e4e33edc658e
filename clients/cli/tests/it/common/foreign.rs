//! Words that a person needs a programming language for: none of them may be told to anybody.

/// What the language, its library, and the crates that read values and files say of themselves.
const WORDS: [&str; 47] = [
    "panicked at",
    "thread 'main'",
    "RUST_BACKTRACE",
    "stack backtrace",
    "unwrap()",
    "called `Option",
    "called `Result",
    "Some(",
    "None)",
    "Err(",
    "Ok(",
    "Os {",
    "Custom {",
    "kind: ",
    "os error",
    "ErrorKind",
    "InvalidData",
    "InvalidInput",
    "ParseIntError",
    "Utf8Error",
    "FromUtf8",
    "SUN_LEN",
    "in target type",
    "digit found in string",
    "float literal",
    "socket address syntax",
    "IP address syntax",
    "valid UTF-8",
    "invalid utf-8",
    "failed to fill whole buffer",
    "untagged",
    "unknown variant",
    "unknown field",
    "missing field",
    "duplicate field",
    "invalid type:",
    "invalid value:",
    "invalid length",
    "expected u",
    "expected i",
    "expected struct",
    "expected a sequence",
    "expected value at line",
    "trailing characters",
    "EOF while parsing",
    "TOML parse error",
    ".rs:",
];

/// Those of the words that a text has.
pub(crate) fn found(text: &str) -> Vec<&'static str> {
    WORDS.into_iter().filter(|word| text.contains(word)).collect()
}

#[test]
fn foreign_words_are_found() {
    for text in [
        "invalid digit found in string",
        "path must be shorter than SUN_LEN",
        "data did not match any variant of untagged enum Line",
        "thread 'main' panicked at clients/cli/src/main.rs:7:5",
        "No such file or directory (os error 2)",
        "Some(3)",
        "stream did not contain valid UTF-8",
        "missing field `op` at line 1 column 12",
    ] {
        assert!(!found(text).is_empty(), "{text}");
    }
    for text in ["no file or folder is called so", "it must be a whole number", "is expected to answer"] {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
}
