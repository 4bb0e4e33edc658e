//! `folkmoot`: the command line of secure peer groups.
//!
//! ```text
//! main --> files      identity, charter, verify                 no member needed
//!      --> member     member, chat, join: run one member here, with a control socket in its folder
//!      --> commands   vote, expel, status, why, send, receive   ask the member that runs, through the socket
//!      --> proof      proof; verify of what it saved
//!      --> verify     verify of a transcript
//!      --> letter     write, as one who is no member; letters, answer
//!      --> authority  new, show, certificate, hand-over, take-over; run, status
//!      --> demo, bench                                          many members, each a child process of this one
//! ```
//! Data goes to the standard output, everything else to the standard error; docs/cli.md has every command and exit code.

mod args;
mod authority;
mod bench;
mod chat;
mod children;
mod commands;
mod control;
mod csr;
mod demo;
mod doctor;
mod exit;
mod export;
mod files;
mod letter;
mod member;
mod proof;
mod rules;
mod show;
mod verify;

use args::{Charter, Cli, Command, Verify};
use bench::args::Bench;
use clap::Parser;
use exit::{Exit, Failure};
use member::Printing;
use std::path::{Path, PathBuf};

#[cfg(not(debug_assertions))]
const _: () = assert!(
    !folkmoot_base::danger::ENABLED,
    "This build would contain the mutants' switches. Build the program apart from the simulator and the tests: \
     cargo build --release -p folkmoot-cli"
);
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misread(&error),
    };
    log();
    let json = cli.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return Failure::new(Exit::Configuration, format!("no threads to be had: {error}")).report(json);
        }
    };
    let result = runtime.block_on(dispatch(cli));
    // A thread that still waits for the standard input must not hold up the end.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

/// A command line that says nothing sensible, or asks for help. Programs hear of errors as data here, too.
fn misread(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    if error.use_stderr() && std::env::args().any(|word| word == "--json") {
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        return Failure::new(Exit::Usage, text.trim()).report(true);
    }
    // Nobody may be there to read it.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Logs what FOLKMOOT_LOG asks for (as `debug` or `folkmoot_runtime=trace`) to the standard error.
fn log() {
    let filter = std::env::var("FOLKMOOT_LOG").unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

async fn dispatch(cli: Cli) -> Result<(), Failure> {
    let json = cli.json;
    let folder = || state(cli.state.as_deref());
    match cli.command {
        Command::Demo(options) => demo::run(&options, json).await,
        Command::Bench(Bench::Ring(options)) => bench::ring(&options, json).await,
        Command::Bench(Bench::Links(options)) => bench::links(&options, json),
        Command::Bench(Bench::Admission(options)) => bench::admission(&options, json).await,
        Command::Bench(Bench::Keying(options)) => bench::keying(&options, json).await,
        Command::Identity(command) => files::identity(&folder()?, &command, json),
        Command::Charter(Charter::Change { field, value, force }) => {
            commands::change(&folder()?, field, value, force, json).await
        }
        Command::Charter(command) => files::charter(&folder()?, command, json),
        Command::Authority(command) => authority::run(&folder()?, command, json).await,
        Command::Proof(proof) => proof::save(&folder()?, proof, json).await,
        Command::Verify(Verify { file: Some(charter), history: Some(file), heads, .. }) => {
            verify::run(&charter, &file, &heads, json)
        }
        Command::Verify(verify) if proof::is_message(&verify) => {
            proof::verify(&folder().unwrap_or_default(), &verify, json)
        }
        Command::Verify(verify) => {
            let file = match verify.file {
                Some(file) => file,
                None => files::given_or_kept(None, &folder()?)?,
            };
            files::verify(&file, json)
        }
        Command::Export { to } => export::export(&folder()?, &to, json),
        Command::Doctor => doctor::run(&folder()?, json),
        Command::Member(run) => {
            let printing = if json { Printing::Json } else { Printing::People };
            member::run(&folder()?, &run, printing, None).await
        }
        Command::Join(join) => chat::join(&folder()?, join, json).await,
        Command::Chat(run) => chat::chat(&folder()?, run, json).await,
        Command::Send(send) => commands::send(&folder()?, send).await,
        Command::Receive(receive) => commands::receive(&folder()?, &receive, json).await,
        Command::Vote(vote) => commands::vote(&folder()?, vote, json).await,
        Command::Renew => commands::renew(&folder()?, json).await,
        Command::Csr(csr) => csr::csr(&folder()?, csr, json).await,
        Command::Expel { member, force } => commands::expel(&folder()?, member, force, json).await,
        Command::Voters { members, force } => commands::voters(&folder()?, members, force, json).await,
        Command::Write(write) => letter::write(&folder()?, write, json).await,
        Command::Letters => letter::list(&folder()?, json).await,
        Command::Answer(answer) => letter::answer(&folder()?, answer, json).await,
        Command::Roster => commands::roster(&folder()?, json).await,
        Command::Status => commands::status(&folder()?, json).await,
        Command::Why { member } => commands::why(&folder()?, &member, json).await,
        Command::Fault(fault) => commands::fault(&folder()?, fault).await,
    }
}

/// The state folder: as given, or where the XDG rules put it.
fn state(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given
        .map(Path::to_owned)
        .or_else(|| absolute("XDG_STATE_HOME").map(|home| home.join("folkmoot")))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state/folkmoot")))
        .ok_or_else(|| {
            Failure::new(Exit::Configuration, "no home folder is known; name a folder with --state")
        })
}
