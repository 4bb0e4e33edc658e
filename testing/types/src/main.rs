//! The generated types, for testing/lcm/check.py.
//!
//! ```text
//! folkmoot-types fingerprints           prints "TYPE FINGERPRINT" for each
//! folkmoot-types fixed TYPE             writes the value that every language makes by itself
//! folkmoot-types say TYPE SEED COUNT    writes so many drawn values
//! folkmoot-types again TYPE             reads messages, and writes each again
//! ```
//! Messages on the standard input and output have their length before them, as u32.

use folkmoot_pubsub::typed::Typed as _;
use folkmoot_types::draw::Draw;
use folkmoot_types::{ALL, EverythingT, LengthsT, SPOKEN, fixed, lengths};
use std::io::{Read as _, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("folkmoot-types: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<(), String> {
    match words {
        ["fingerprints"] => ALL.iter().for_each(|(name, print, _)| println!("{name} {print:016x}")),
        ["fixed", EverythingT::NAME] => write(&fixed().encode().map_err(|error| error.to_string())?)?,
        ["fixed", LengthsT::NAME] => write(&lengths().encode().map_err(|error| error.to_string())?)?,
        ["say", name, seed, count] => {
            let known = SPOKEN.iter().find(|(known, _)| known == name);
            let (_, said) = known.ok_or_else(|| format!("nothing is drawn of {name}"))?;
            let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
            let mut draw = Draw(number(seed)?);
            for _ in 0..number(count)? {
                write(&said(&mut draw).map_err(|error| error.to_string())?)?;
            }
        }
        ["again", name] => {
            let known = ALL.iter().find(|(known, ..)| known == name);
            let (.., again) = known.ok_or_else(|| format!("there is no type {name}"))?;
            messages()?.iter().try_for_each(|message| write(&again(message)?))?;
        }
        _ => return Err(String::from("say fingerprints, fixed TYPE, say TYPE SEED COUNT, or again TYPE")),
    }
    Ok(())
}

fn write(message: &[u8]) -> Result<(), String> {
    let length = u32::try_from(message.len()).map_err(|error| error.to_string())?;
    let all = [&length.to_be_bytes(), message].concat();
    std::io::stdout().write_all(&all).map_err(|error| error.to_string())
}

fn messages() -> Result<Vec<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let (mut rest, mut found) = (bytes.as_slice(), Vec::new());
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|error| error.to_string())?;
        let (message, after) = after.split_at_checked(length).ok_or("a message is cut short")?;
        found.push(message.to_vec());
        rest = after;
    }
    Ok(found)
}
