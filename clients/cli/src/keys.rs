//! Opens the key of a state folder, and asks for passphrases.
//!
//! ```text
//! --passphrase-file FILE | --passphrase-fd NUMBER | $CREDENTIALS_DIRECTORY/folkmoot-passphrase | the terminal
//! ```
//! There is no environment variable for it: the environment of a process can be read by others of
//! its user, and goes to all its children.

use crate::args::keys::{KeyArgs, NewPassphrase};
use crate::exit::{Exit, Failure};
use crate::terminal;
use folkmoot::{Passphrase, SealedKeyError, StateError, StateFolder};
use folkmoot_base::Secret;
use folkmoot_identity::{Identity, PASSPHRASE_BYTES_MAX, open_sealed_key};
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The name of the credential: `LoadCredential=folkmoot-passphrase:FILE`.
const CREDENTIAL: &str = "folkmoot-passphrase";
/// Where the system shows the files that a process has open.
const DESCRIPTORS: &str = "/dev/fd";
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// How often a person may mistype it.
const ATTEMPTS: u32 = 3;

/// What the command line of this process told, no passphrase itself: papers of LCM lie outside of a
/// state folder, and are opened where no more than their folder is known.
static TOLD: OnceLock<KeyArgs> = OnceLock::new();

/// Where passphrases come from. Whatever was read once is not read again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Arc<Source>);

#[derive(Debug, Default)]
struct Source {
    told: KeyArgs,
    given: OnceLock<Result<Option<Passphrase>, Failure>>,
}

impl Keys {
    pub(crate) fn new(told: KeyArgs) -> Self {
        TOLD.get_or_init(|| told.clone());
        Self(Arc::new(Source { told, given: OnceLock::new() }))
    }

    /// The same by the command line of this process. What they read is erased when they are
    /// dropped.
    pub(crate) fn told() -> Self {
        Self::new(TOLD.get().cloned().unwrap_or_default())
    }

    /// The identity in a folder. Whoever is at the terminal is asked, if nothing else was told.
    pub(crate) fn identity(&self, folder: &Path) -> Result<Identity, Failure> {
        self.opened(folder).map(|(identity, _)| identity)
    }

    /// The same, with the passphrase that its key is under.
    pub(crate) fn opened(&self, folder: &Path) -> Result<(Identity, Option<Passphrase>), Failure> {
        let state = StateFolder::at(folder);
        if !state.is_sealed()? {
            return Ok((state.identity(None)?, None));
        }
        match self.given()? {
            None if terminal::is_here() => {
                let open = |typed: &Passphrase| state.identity(Some(typed));
                let (identity, typed) = ask_until_it_opens(&state.key_path(), open)?;
                Ok((identity?, Some(typed)))
            }
            given => Ok((state.identity(given.as_ref())?, given)),
        }
    }

    /// The passphrase for a key that is made now; none if that is what was asked for.
    pub(crate) fn of_new_key(&self, none: bool) -> Result<Option<Passphrase>, Failure> {
        let KeyArgs { passphrase_file, passphrase_fd } = &self.0.told;
        if none && (passphrase_file.is_some() || passphrase_fd.is_some()) {
            let why = "--no-passphrase leaves the key unencrypted, so no passphrase can be given with it";
            return Err(Failure::new(Exit::Usage, why));
        }
        if none {
            return Ok(None);
        }
        match self.given()? {
            Some(given) => Ok(Some(given)),
            None if terminal::is_here() => ask_for_new().map(Some),
            None => Err(nobody_here("--passphrase-file FILE or --passphrase-fd NUMBER")),
        }
    }

    /// The same for a key that may also be made where nobody can be asked: there it has none.
    pub(crate) fn of_new_root(&self, none: bool) -> Result<Option<Passphrase>, Failure> {
        // A script has the terminal of whoever started it, and keeps the question to itself.
        let asked = terminal::is_here() && std::io::stderr().is_terminal();
        let given = self.given()?.is_some();
        self.of_new_key(none || !(asked || given))
    }

    /// The key of LCM papers, in PEM, of a file that is encrypted.
    pub(crate) fn of_paper(&self, file: &Path, sealed: &Secret<String>) -> Result<Secret<String>, Failure> {
        let path = || file.to_owned();
        let open = |passphrase: &Passphrase| {
            open_sealed_key(sealed.expose(), passphrase).map_err(|error| match error {
                SealedKeyError::LocalWrong => StateError::LocalPassphrase { path: path() },
                error => StateError::LocalMalformed { path: path(), detail: error.to_string() },
            })
        };
        let opened = match self.given()? {
            Some(given) => open(&given),
            None if terminal::is_here() => ask_until_it_opens(file, open)?.0,
            None => Err(StateError::LocalSealed { path: path() }),
        };
        opened.map_err(|error| match error {
            StateError::LocalPassphrase { path } => forgotten(&path),
            error => error.into(),
        })
    }

    /// What opens a key file that is encrypted, wherever it lies.
    pub(crate) fn of_file(&self, file: &Path) -> Result<Passphrase, Failure> {
        match self.given()? {
            Some(given) => Ok(given),
            None if terminal::is_here() => ask(&format!("Passphrase of {}:", file.display())),
            None => Err(StateError::LocalSealed { path: file.to_owned() }.into()),
        }
    }

    fn given(&self) -> Result<Option<Passphrase>, Failure> {
        self.0.given.get_or_init(|| read(&self.0.told)).clone()
    }
}

/// The passphrase that replaces another; none if that is what was asked for.
pub(crate) fn replacing(told: &NewPassphrase) -> Result<Option<Passphrase>, Failure> {
    match told {
        NewPassphrase { no_passphrase: true, .. } => Ok(None),
        NewPassphrase { new_passphrase_file: Some(file), .. } => of_private_file(file).map(Some),
        NewPassphrase { new_passphrase_fd: Some(number), .. } => first_line(&descriptor(*number)).map(Some),
        _ if terminal::is_here() => ask_for_new().map(Some),
        _ => Err(nobody_here("--new-passphrase-file FILE or --new-passphrase-fd NUMBER")),
    }
}

fn nobody_here(options: &str) -> Failure {
    let why = format!(
        "a key needs a passphrase, and nobody is at a terminal to choose one. Give it with {options}. To leave the key \
         unencrypted, so that anyone who gets the folder is this member, give --no-passphrase"
    );
    Failure::new(Exit::Usage, why)
}

/// Papers have no vote that leads back.
fn forgotten(file: &Path) -> Failure {
    let why = format!(
        "the passphrase does not open {}. Try again. If it is forgotten, nobody can open the key any more: certify another \
         one (folkmoot lcm certify), or, if it is a root's, make a new root (folkmoot lcm root new) and certify everybody anew",
        file.display()
    );
    Failure::new(Exit::Configuration, why)
}

/// Gives what came of the last try, and what was typed for it.
fn ask_until_it_opens<T>(
    key: &Path,
    open: impl Fn(&Passphrase) -> Result<T, StateError>,
) -> Result<(Result<T, StateError>, Passphrase), Failure> {
    let question = format!("Passphrase of {}:", key.display());
    for left in (0..ATTEMPTS).rev() {
        let typed = ask(&question)?;
        match open(&typed) {
            Err(StateError::LocalPassphrase { .. }) if left > 0 => {
                eprintln!("This passphrase does not open the key.");
            }
            opened => return Ok((opened, typed)),
        }
    }
    Err(Failure::bug("nobody was asked for a passphrase"))
}

fn ask_for_new() -> Result<Passphrase, Failure> {
    let first = ask("New passphrase:")?;
    if first == ask("The same passphrase again:")? {
        return Ok(first);
    }
    Err(Failure::new(Exit::Usage, "the two passphrases differ; nothing was done. Run the same command again"))
}

fn ask(question: &str) -> Result<Passphrase, Failure> {
    Passphrase::new(terminal::hidden(question)?).map_err(|error| refuse("what was typed", &error))
}

fn refuse(what: &str, error: &SealedKeyError) -> Failure {
    let next = match error {
        SealedKeyError::LocalEmpty => ". To leave a key unencrypted, give --no-passphrase",
        _ => "",
    };
    Failure::new(Exit::Configuration, format!("{what}: {error}{next}"))
}

fn read(told: &KeyArgs) -> Result<Option<Passphrase>, Failure> {
    match told {
        KeyArgs { passphrase_file: Some(_), passphrase_fd: Some(_) } => {
            Err(Failure::new(Exit::Usage, "give either --passphrase-file or --passphrase-fd, not both"))
        }
        KeyArgs { passphrase_file: Some(file), .. } => of_private_file(file).map(Some),
        KeyArgs { passphrase_fd: Some(number), .. } => first_line(&descriptor(*number)).map(Some),
        _ => credential().map(|file| first_line(&file)).transpose(),
    }
}

/// Where systemd has put the credential, if it has.
fn credential() -> Option<PathBuf> {
    let file = PathBuf::from(std::env::var_os("CREDENTIALS_DIRECTORY")?).join(CREDENTIAL);
    file.exists().then_some(file)
}

/// Why a file with a passphrase is not open.
fn unopened(file: &Path, error: &std::io::Error) -> Failure {
    match file.strip_prefix(DESCRIPTORS) {
        Ok(number) if error.kind() == std::io::ErrorKind::NotFound => {
            let number = number.display();
            let why = format!("no file is open as number {number}. Open it for this command: {number}<FILE");
            Failure::new(Exit::Usage, why)
        }
        _ => Failure::file(file, error),
    }
}

/// A file that this process was handed open.
fn descriptor(number: u32) -> PathBuf {
    Path::new(DESCRIPTORS).join(number.to_string())
}

/// A file that lies about: nobody else may read it.
fn of_private_file(file: &Path) -> Result<Passphrase, Failure> {
    let about = std::fs::metadata(file).map_err(|error| Failure::file(file, &error))?;
    let mode = about.permissions().mode() & 0o777;
    if about.is_file() && mode & 0o077 != 0 {
        return Err(StateError::LocalExposed { path: file.to_owned(), mode }.into());
    }
    first_line(file)
}

/// The first line, without its end. No more is taken: what follows may be for others.
fn first_line(file: &Path) -> Result<Passphrase, Failure> {
    let wrong = |error: std::io::Error| Failure::file(file, &error);
    let mut open = File::open(file).map_err(|error| unopened(file, &error))?;
    // Room for all at once: no half-filled copy is left behind.
    let mut line = Vec::with_capacity(PASSPHRASE_BYTES_MAX + 2);
    let mut byte = [0_u8; 1];
    while line.len() <= PASSPHRASE_BYTES_MAX + 1 && open.read(&mut byte).map_err(wrong)? == 1 {
        if byte == *b"\n" {
            break;
        }
        line.push(byte[0]);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    let mut line = Secret::new(line);
    if is_utf_16(line.expose()) {
        let why =
            format!("{} is no text in UTF-8: save it in that form, or type the passphrase", file.display());
        return Err(Failure::new(Exit::Configuration, why));
    }
    // Some editors begin a file with a byte order mark, which nobody types.
    if line.expose().starts_with(BYTE_ORDER_MARK) {
        let mut typed = Vec::with_capacity(PASSPHRASE_BYTES_MAX + 2);
        typed.extend_from_slice(line.expose().get(BYTE_ORDER_MARK.len()..).unwrap_or_default());
        line = Secret::new(typed);
    }
    Passphrase::new(line).map_err(|error| refuse(&file.display().to_string(), &error))
}

/// Whether this is text in UTF-16, in either order: a mark, and every second byte is zero.
fn is_utf_16(line: &[u8]) -> bool {
    let zeros = match line {
        [0xff, 0xfe, rest @ ..] => rest.get(1..).unwrap_or_default().iter().step_by(2),
        [0xfe, 0xff, rest @ ..] => rest.iter().step_by(2),
        _ => return false,
    };
    line.len() > 3 && zeros.copied().all(|byte| byte == 0)
}
