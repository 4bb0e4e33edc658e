//! `folkmoot identity`: a key and its certificate, in a folder.

use crate::args::Identity;
use crate::exit::{Exit, Failure};
use crate::files::{certificate, read_text};
use crate::show::{Paint, data, paint};
use crate::words::of_digest;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{StateFolder, UnixTime};
use folkmoot_base::Secret;
use folkmoot_identity::CertificateError;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Term of a new identity certificate: ten years. The group's certificates are much shorter.
const TERM_SECONDS: u64 = 3_653 * 86_400;
/// Clocks differ: a certificate begins a little before it is made.
const SKEW_SECONDS: u64 = 3_600;

/// `folkmoot identity`
pub(crate) fn identity(path: &Path, command: &Identity, json: bool) -> Result<(), Failure> {
    let folder = StateFolder::at(path);
    match command {
        Identity::New { name } => make_identity(path, name, None)?,
        Identity::Import { key, name } => make_identity(path, name, Some(key))?,
        Identity::Show => {}
    }
    if !folder.has_identity() {
        folder.read_key()?;
    }
    let certificate = certificate(&folder.certificate_path())?;
    let (name, member) = (certificate.name(), certificate.member().hex());
    let (file, words) = (folder.certificate_path(), of_digest(&certificate.member().0));
    data(
        json,
        &json!({ "name": name, "member": member, "words": words, "certificate": file, "key": folder.key_path() }),
        || {
            let hint = paint(Paint::Dim, "give this file to others; keep the folder to yourself");
            format!("{}  {member}\nin words: {words}\n{}  {hint}", paint(Paint::Bold, name), file.display())
        },
    );
    Ok(())
}

/// Makes an identity in the folder, of a fresh key or of the one in this file; one that is there is
/// not overwritten.
pub(crate) fn make_identity(path: &Path, name: &str, key: Option<&PathBuf>) -> Result<(), Failure> {
    let made = make(name, key)?;
    let key = made.key_pem().map_err(Failure::bug)?;
    StateFolder::open(path)?.write_identity(key.expose(), &made.certificate_pem())?;
    Ok(())
}

fn make(name: &str, key: Option<&PathBuf>) -> Result<folkmoot_identity::Identity, Failure> {
    let now = wall_clock();
    let (from, to) =
        (UnixTime(now.0.saturating_sub(SKEW_SECONDS)), UnixTime(now.0.saturating_add(TERM_SECONDS)));
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let Some(file) = key else {
        return folkmoot_identity::Identity::new(name, &mut entropy, from, to)
            .map_err(|error| Failure::new(Exit::Usage, format!("{name:?} cannot be a name: {error}")));
    };
    let text = Secret::new(read_text(file)?);
    folkmoot_identity::Identity::import(text.expose(), name, &mut entropy, from, to).map_err(|error| {
        match error {
            CertificateError::LocalValue(_) => {
                Failure::new(Exit::Usage, format!("{name:?} cannot be a name: {error}"))
            }
            error => Failure::new(Exit::Configuration, format!("{}: {error}", file.display())),
        }
    })
}
