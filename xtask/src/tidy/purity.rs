//! Protocol crates are pure: no runtime, socket, clock, thread, hash map or other source of
//! randomness (DECISIONS P1).

use super::Source;

/// What no protocol source may say outside its tests.
const BANNED: &[&str] = &[
    "std::time",
    "std::net",
    "std::thread",
    "std::fs",
    "std::env",
    "std::process",
    "tokio",
    "HashMap",
    "HashSet",
    "getrandom",
    "SystemRandom",
    "OsRng",
    "SysRng",
    "thread_rng",
    "rand::rng",
    "SystemTime",
    "println!",
    "eprintln!",
];

/// Lists every line that breaks purity.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    sources
        .iter()
        .filter(|source| source.path.starts_with("protocol/") && !source.is_test())
        .flat_map(of)
        .collect()
}

fn of(source: &Source) -> Vec<String> {
    let code = source.text.lines().take_while(|line| !line.contains("#[cfg(test)]"));
    code.enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .flat_map(|(number, line)| {
            BANNED.iter().filter(move |word| line.contains(**word)).map(move |word| (number, *word))
        })
        .map(|(number, word)| format!("{}:{}: `{word}` under protocol/", source.path, number + 1))
        .collect()
}
