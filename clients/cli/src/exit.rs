//! How a command ends: exit codes that scripts can rely on, and texts that say what to do next.

use crate::show::harmless;
use folkmoot::{Error, Refused, StateError, StoreError};
use folkmoot_authority::AuthorityError;
use folkmoot_control::No;
pub use folkmoot_control::{By, Exit};
use std::process::ExitCode;

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// The code that the program ends with.
    pub exit: Exit,
    /// What people are told; empty if the data say it all.
    pub text: String,
    /// If it is a member that refuses an order: what refuses it.
    pub by: Option<Box<By>>,
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let hint = if refused.forcible { ". To propose it anyway, add --force" } else { "" };
        let by = Some(Box::new(By::from(&refused)));
        Self { by, ..Self::new(Exit::Refused, format!("{refused}{hint}")) }
    }
}

impl Failure {
    /// One that ends with this code.
    pub fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self { exit, text: text.into(), by: None }
    }

    /// A thing that cannot happen, did.
    pub fn bug(text: impl std::fmt::Display) -> Self {
        Self::new(
            Exit::Bug,
            format!("{text}. This is a bug in folkmoot; please report it with the command you ran"),
        )
    }

    /// A file or folder that does not serve.
    pub fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        let why = match error.kind() {
            std::io::ErrorKind::IsADirectory => {
                "it is a folder, and a file is needed here. Give the file's name, with the folder in front"
                    .to_owned()
            }
            _ => what_it_is(path).unwrap_or_else(|| folkmoot::tools::in_words(error)),
        };
        Self::new(mended(folkmoot::tools::is_passing(error)), format!("{}: {why}", path.display()))
    }

    /// Says it on the standard error, if there is anything to say, and gives the code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        match (self.text.as_str(), json) {
            ("", _) => {}
            (_, true) => eprintln!("{}", serde_json::json!(No::from(self.clone()))),
            // It may tell what others have said.
            (text, false) => {
                let lines: Vec<String> = text.split('\n').map(harmless).collect();
                eprintln!("folkmoot: {}", lines.join("\n"));
            }
        }
        ExitCode::from(self.exit as u8)
    }
}

impl From<Failure> for No {
    fn from(Failure { exit, text, by }: Failure) -> Self {
        Self { error: text, exit, by }
    }
}

impl From<No> for Failure {
    fn from(No { error, exit, by }: No) -> Self {
        Self { exit, text: error, by }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match &error {
            Error::Refused(refused) => return refused.clone().into(),
            // Too long was caught before: what is left is the charter's word on minorities.
            Error::SendRefused(refused) => {
                return Self { text: error.to_string(), ..Self::from(refused.clone()) };
            }
            Error::Store(StoreError::LocalStopped) | Error::LocalSlowReader(_) | Error::LocalFailed => {
                Exit::Bug
            }
            Error::Stopped => Exit::Unreachable,
            Error::NotInGroup | Error::NoEpoch => Exit::NotInGroup,
            Error::NotSigned | Error::LocalProof(_) => Exit::No,
            // A service manager starts it again, which is what is to be done.
            Error::LocalResumed => Exit::No,
            error => mended(error.is_passing()),
        };
        Self::new(exit, error.to_string())
    }
}

impl From<AuthorityError> for Failure {
    fn from(error: AuthorityError) -> Self {
        Self::new(Exit::Configuration, error.to_string())
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::new(mended(error.is_passing()), error.to_string())
    }
}

/// By time, or by a person.
pub(crate) fn mended(by_time: bool) -> Exit {
    if by_time { Exit::Temporary } else { Exit::Configuration }
}

/// What lies there, if that is why it cannot be read.
fn what_it_is(path: &std::path::Path) -> Option<String> {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    if kind.is_symlink() && !path.exists() {
        let to = std::fs::read_link(path).ok()?;
        return Some(format!("it is a link to {}, where nothing is", to.display()));
    }
    let socket = std::fs::metadata(path).ok()?.file_type().is_socket();
    socket.then(|| "it is a socket, and a file is needed here".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_its_code() {
        let code = |error: Error| Failure::from(error).exit as u8;
        assert_eq!(code(Error::State(StateError::LocalNoIdentity { path: "x".into() })), 3);
        assert_eq!(code(Error::NotInGroup), 7);
        assert_eq!(code(Error::NoEpoch), 7);
        let minority = folkmoot::SendError::LocalMinority.refused();
        assert_eq!(code(Error::SendRefused(minority.clone())), 5);
        assert_eq!(Failure::from(Error::SendRefused(minority)).by.map(|by| by.code), Some("minority".into()));
        assert_eq!(Failure::new(Exit::TimedOut, "").exit as u8, 6);
        assert_eq!(code(Error::LocalSuperseded(folkmoot::UnixTime(0))), 3);
        assert_eq!(code(Error::LocalResumed), 1);
        let disk = |passing| StoreError::LocalDisk { path: "x".into(), detail: "full".into(), passing };
        assert_eq!([true, false].map(|passing| code(Error::Store(disk(passing)))), [75, 3]);
        for (kind, exit) in [
            (std::io::ErrorKind::StorageFull, 75),
            (std::io::ErrorKind::AddrNotAvailable, 75),
            (std::io::ErrorKind::AddrInUse, 75),
            (std::io::ErrorKind::PermissionDenied, 3),
            (std::io::ErrorKind::NotFound, 3),
        ] {
            assert_eq!(Failure::file("x".as_ref(), &kind.into()).exit as u8, exit, "{kind}");
        }
        let too_many = std::io::Error::from_raw_os_error(24);
        assert_eq!(Failure::file("x".as_ref(), &too_many).exit as u8, 75);
        assert_eq!((code(Error::Stopped), code(Error::LocalFailed)), (4, 70));
    }
}
