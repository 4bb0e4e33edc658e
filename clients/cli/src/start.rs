//! How a program of this project begins and ends: command line, log, threads, exit code.

use crate::exit::{Exit, Failure};
use crate::show::unwritten;
use clap::{Command, Parser};
use std::ffi::OsString;
use std::process::ExitCode;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Reads a command line. The first word is the name of the program.
///
/// # Errors
/// The exit code, if the line is wrong or asks for help; the text has been printed then.
pub fn parse<Words: Parser>(words: impl IntoIterator<Item = OsString>) -> Result<Words, ExitCode> {
    parse_by(Words::command(), words)
}

/// As [`parse`], by a definition that says more in its help.
pub(crate) fn parse_by<Words: Parser>(
    mut command: Command,
    words: impl IntoIterator<Item = OsString>,
) -> Result<Words, ExitCode> {
    let words: Vec<OsString> = words.into_iter().collect();
    let read = command.try_get_matches_from_mut(&words).and_then(|read| Words::from_arg_matches(&read));
    read.map_err(|error| misread(&error.format(&mut command), &words))
}

/// A command line that says nothing sensible, or asks for help. Programs hear of errors as data
/// here, too.
fn misread(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let text = plain(&error.to_string());
    if error.use_stderr() && words.iter().any(|word| word == "--json") {
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        return Failure::new(Exit::Usage, text.trim()).report(true);
    }
    if error.use_stderr() && text != error.to_string() {
        eprint!("{text}");
    } else if let Err(error) = error.print()
        && let Some(failure) = unwritten(&error)
    {
        return failure.report(false);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What readers of values call invalid, in words that a person needs no programming language for.
const INVALID: [(&str, &str); 5] = [
    (
        "UTF-8 was detected in one or more arguments",
        "a word of the command line is not text: it must be UTF-8",
    ),
    ("digit found in string", "it must be a whole number"),
    ("float literal", "it must be a number"),
    ("socket address syntax", "it must be an address and a port, as in 0.0.0.0:4803 or [::]:4803"),
    ("IP address syntax", "it must be an address, as in 192.0.2.7"),
];
/// What else they say.
const PLAIN: [(&str, &str); 3] = [
    ("cannot parse integer from empty string", "it must be a whole number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
];

fn plain(text: &str) -> String {
    let say = |text: String, (theirs, ours): &(&str, &str)| text.replace(&format!("invalid {theirs}"), ours);
    let text = INVALID.iter().fold(text.to_owned(), say);
    PLAIN.iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours))
}

/// Runs a command to its end and reports its failure, if it has one.
pub fn run(json: bool, command: impl Future<Output = Result<(), Failure>>) -> ExitCode {
    log();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return Failure::new(Exit::Configuration, format!("the system starts no more threads ({}). End other programs, or raise the limit (ulimit -u)", folkmoot::tools::in_words(&error))).report(json);
        }
    };
    let result = runtime.block_on(command);
    // A thread that still waits for the standard input must not hold up the end.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

/// Logs what FOLKMOOT_LOG asks for to the standard error: a level, or levels by module, such as
/// `warn,folkmoot_runtime=trace`.
fn log() {
    let wanted = std::env::var("FOLKMOOT_LOG").unwrap_or_else(|_| "warn".into());
    let filter = wanted.parse::<Targets>().unwrap_or_else(|error| {
        eprintln!("folkmoot: FOLKMOOT_LOG={wanted} is not understood ({error}). Set it to a level: error, warn, info, debug or trace");
        Targets::new().with_default(LevelFilter::WARN)
    });
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
}
