//! Writes drawn and changed transcripts with their verdicts to stdout, or the verdict on one file.
//!
//! ```text
//! frame = length of the text 4 | text (JSON: seed, about, heads, verdict, must) | length of the file 4 | file
//! ```

use clap::Parser;
use folkmoot_transcripts::{Drawn, Group, drawn_heads, known_heads, mutated, own, verdict};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Draws transcripts, changes them, and says what the project's reader makes of each.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-transcripts", version, about)]
struct Arguments {
    /// How many transcripts.
    #[arg(long, default_value_t = 5)]
    transcripts: u64,
    /// How many changed files, of all transcripts together.
    #[arg(long, default_value_t = 200)]
    mutations: u64,
    /// The seed of the first transcript.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Says what this file is worth, and draws nothing.
    #[arg(long)]
    judge: Option<PathBuf>,
    /// A head that is known from elsewhere to be on the line of that file: NUMBER.HEX.
    #[arg(long)]
    head: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Drawn<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if let Some(path) = &arguments.judge {
        writeln!(out, "{}", verdict(&std::fs::read(path)?, &arguments.head))?;
        return Ok(());
    }
    let count = arguments.transcripts.max(1);
    for number in 0..count {
        let seed = arguments.seed + number;
        let mut group = Group::draw(seed).map_err(|why| format!("seed {seed}: {why}"))?;
        let heads = drawn_heads(&mut group);
        frame(&mut out, seed, "as drawn", &heads, &group.file(), own(&group))?;
        let share = arguments.mutations * (number + 1) / count - arguments.mutations * number / count;
        for _ in 0..share {
            let (file, about) = mutated(&mut group)?;
            let heads = known_heads(&mut group, &file);
            frame(&mut out, seed, &about, &heads, &file, json!({}))?;
        }
    }
    Ok(())
}

/// `must` is what the verdict has to say.
fn frame(
    out: &mut impl Write,
    seed: u64,
    about: &str,
    heads: &[String],
    file: &[u8],
    must: Value,
) -> Drawn<()> {
    let verdict = verdict(file, heads);
    let told = json!({ "seed": seed, "about": about, "heads": heads, "verdict": verdict, "must": must });
    let text = told.to_string();
    for part in [text.as_bytes(), file] {
        out.write_all(&u32::try_from(part.len())?.to_be_bytes())?;
        out.write_all(part)?;
    }
    Ok(())
}
