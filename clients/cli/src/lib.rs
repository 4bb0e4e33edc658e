//! `folkmoot`: the command line of secure peer groups.
//!
//! ```text
//! main --> identity, charter                                        no member needed
//!      --> member     member, chat, join: run one member here, with a control socket in its folder
//!      --> keys       opens the folder's key, and asks for its passphrase
//!      --> commands   vote, expel, status, why   ask the member that runs, through the socket
//!      --> times      resolve, retime: shown, asked, and then told to the member
//!      --> ticket     invite; what join reads of a ticket
//!      --> messages   send, receive
//!      --> leave      leave
//!      --> proof      proof; verify of what it saved
//!      --> verify     verify of a transcript
//!      --> letter     write, as a stranger; letters, answer
//!      --> authority  new, show, certificate, hand-over, take-over; run, status
//!      --> lcm        spy, log, play, echo: publish and subscribe without a group
//!      --> demo                                                 many members, each a child process of this one
//!      --> bench                                                hands over to the program folkmoot-bench
//! ```
//! The package is a library and a program. `main.rs` calls [`main`]. The program `folkmoot-bench`
//! calls it too, since it runs members of its own, and it shows its numbers in the same way. The
//! public modules are public for `folkmoot-bench` alone.
//!
//! Data goes to the standard output, everything else to the standard error; docs/cli.md has every
//! command and exit code.

mod args;
mod authority;
mod charter;
mod chat;
pub mod children;
mod commands;
mod control;
mod csr;
mod demo;
mod doctor;
mod endorsement;
pub mod exit;
mod export;
mod files;
mod identity;
mod keys;
mod lcm;
mod leave;
mod letter;
mod member;
mod messages;
mod notify;
mod open;
mod printer;
pub mod progress;
mod proof;
mod qr;
mod rotate;
mod rules;
mod rules_shown;
mod shares;
mod shell;
pub mod show;
pub mod start;
mod terminal;
mod ticket;
mod times;
pub mod values;
mod verify;
mod words;

use args::keys::Identity;
use args::run::Run;
use args::{Charter, Cli, Command, Verify};
use exit::{Exit, Failure};
use keys::Keys;
use member::Printing;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The version, and the commit that the program was built from, if there was git.
pub const VERSION: &str = env!("FOLKMOOT_VERSION");

/// The program `folkmoot` with this command line. The first word is the name of the program.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli: Cli = match start::parse_by(args::command(), words) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    start::run(cli.json, dispatch(cli))
}

async fn dispatch(cli: Cli) -> Result<(), Failure> {
    let json = cli.json;
    let folder = || state(cli.state.as_deref());
    let keys = Keys::new(cli.keys);
    match cli.command {
        Command::Demo(options) => demo::run(&options, json).await,
        Command::Lcm(options) => lcm::lcm(options, json).await,
        Command::Bench { args } => Err(bench(args, json)),
        Command::Identity(Identity::Rotate { algorithm }) => {
            rotate::rotate(&folder()?, &keys, algorithm, json).await
        }
        Command::Identity(command) => identity::identity(&folder()?, &command, &keys, json),
        Command::Charter(Charter::Change { field, value, force }) => {
            commands::change(&folder()?, field, value, force, json).await
        }
        Command::Charter(command) => charter::charter(&folder()?, command, &keys, json),
        Command::Authority(command) => authority::run(&folder()?, command, keys, json).await,
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
            charter::verify(&file, json)
        }
        Command::Export { to } => export::export(&folder()?, &to, json),
        Command::Completions { shell } => {
            shell::completions(shell);
            Ok(())
        }
        Command::Man { out } => shell::man(out.as_deref(), json),
        Command::Doctor => doctor::run(&folder()?, json).await,
        Command::Member(run) => {
            let printing = if json { Printing::Json } else { Printing::People };
            member::run(&folder()?, &Run { keys, ..run }, printing, None).await
        }
        Command::Join(join) => chat::join(&folder()?, join, keys, json).await,
        Command::Invite(invite) => ticket::invite(&folder()?, invite, json).await,
        Command::Chat(run) => chat::chat(&folder()?, Run { keys, ..run }, json).await,
        Command::Send(send) => messages::send(&folder()?, send).await,
        Command::Receive(receive) => messages::receive(&folder()?, &receive, json).await,
        Command::Vote(vote) => commands::vote(&folder()?, vote, json).await,
        Command::Renew => commands::renew(&folder()?, json).await,
        Command::Withdraw { subject } => open::withdraw(&folder()?, &subject, json).await,
        Command::Rules => open::rules(&folder()?, json).await,
        Command::Csr(csr) => csr::csr(&folder()?, csr, json).await,
        Command::Leave { for_good, force } => leave::run(&folder()?, for_good, force, json).await,
        Command::Expel { member, force } => commands::expel(&folder()?, member, force, json).await,
        Command::Voters { members, force } => commands::voters(&folder()?, members, force, json).await,
        Command::Resolve(resolve) => times::resolve(&folder()?, &resolve, json).await,
        Command::Retime { yes } => times::retime(&folder()?, yes, json).await,
        Command::Write(write) => letter::write(&folder()?, write, &keys, json).await,
        Command::Letters => letter::list(&folder()?, json).await,
        Command::Answer(answer) => letter::answer(&folder()?, answer, json).await,
        Command::Roster => commands::roster(&folder()?, json).await,
        Command::Status => commands::status(&folder()?, json).await,
        Command::Why { member } => commands::why(&folder()?, &member, json).await,
        Command::Fault(fault) => commands::fault(&folder()?, fault).await,
    }
}

/// Becomes `folkmoot-bench`: the one in the folder of this program, or else the one on the PATH.
/// Returns only if neither starts.
fn bench(args: Vec<OsString>, json: bool) -> Failure {
    let name = "folkmoot-bench";
    let beside = std::env::current_exe().map(|own| own.with_file_name(name));
    let program = beside.ok().filter(|path| path.is_file()).unwrap_or_else(|| name.into());
    let error = std::process::Command::new(program).args(json.then_some("--json")).args(args).exec();
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => {
            "the program folkmoot-bench is missing; build it with: cargo build --release -p folkmoot-bench"
                .into()
        }
        _ => format!("the program folkmoot-bench does not start: {}", folkmoot::tools::in_words(&error)),
    };
    Failure::new(Exit::Configuration, why)
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
