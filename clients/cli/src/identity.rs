//! `folkmoot identity`: a key and its certificate, in a folder.

use crate::args::keys::{Identity as Command, NewPassphrase};
use crate::doctor::time_of_making;
use crate::exit::{Exit, Failure};
use crate::files::{certificate, read_text};
use crate::keys::{Keys, replacing};
use crate::qr;
use crate::show::{Paint, data, paint, visible};
use crate::words::of_digest;
use folkmoot::tools::OsEntropy;
use folkmoot::{Passphrase, StateError, StateFolder, UnixTime};
use folkmoot_base::Secret;
use folkmoot_identity::names::made;
use folkmoot_identity::{CertificateError, Identity, KeyAlgorithm, is_sealed_key, open_sealed_key};
use serde_json::json;
use std::path::Path;

/// Term of a new identity certificate: ten years. The group's certificates are much shorter.
const TERM_SECONDS: u64 = 3_653 * 86_400;
/// Clocks differ: a certificate begins a little before it is made.
const SKEW_SECONDS: u64 = 3_600;

/// `folkmoot identity`
pub(crate) fn identity(path: &Path, command: &Command, keys: &Keys, json: bool) -> Result<(), Failure> {
    let folder = StateFolder::at(path);
    match command {
        Command::New { name, algorithm, no_passphrase } => {
            drop(make_identity(path, keys, (name, *algorithm), *no_passphrase)?);
        }
        Command::Import { key, name, no_passphrase } => import(path, keys, name, (key, *no_passphrase))?,
        Command::Passphrase(new) => return change(path, keys, new, json),
        // It speaks to the member that runs.
        Command::Rotate { .. } => return Ok(()),
        Command::Show { .. } => {}
    }
    let qr = matches!(command, Command::Show { qr: true });
    let sealed = folder.is_sealed()?;
    let certificate = certificate(&folder.certificate_path())?;
    let (name, member) = (visible(certificate.name()), certificate.member().hex());
    let code = qr::of(&member.to_uppercase()).unwrap_or_default();
    let (file, words) = (folder.certificate_path(), of_digest(&certificate.member().0));
    let algorithm = certificate.key().algorithm().name();
    let value = json!({
        "name": name, "member": member, "words": words, "algorithm": algorithm, "qr": code, "certificate": crate::show::path(&file), "key": crate::show::path(folder.key_path()), "encrypted": sealed,
    });
    data(json, &value, || {
        let hint = paint(Paint::Dim, "give this file to others; keep the folder to yourself");
        let qr = if qr { format!("\n{code}") } else { String::new() };
        format!("{}  {member}\nin words: {words}\n{}  {hint}{qr}", paint(Paint::Bold, &name), file.display())
    });
    Ok(())
}

/// Makes an identity of a fresh key in the folder; one that is there is not overwritten.
pub(crate) fn make_identity(
    path: &Path,
    keys: &Keys,
    (name, algorithm): (&str, KeyAlgorithm),
    none: bool,
) -> Result<Identity, Failure> {
    let made = make(&checked(name)?, Origin::Drawn(algorithm))?;
    absent(path)?;
    keep(path, &made, keys.of_new_key(none)?.as_ref())?;
    Ok(made)
}

/// The same of the key in a file. If that is under a passphrase, so is the copy.
fn import(path: &Path, keys: &Keys, name: &str, (file, none): (&Path, bool)) -> Result<(), Failure> {
    let name = &checked(name)?;
    absent(path)?;
    let text = Secret::new(read_text(file)?);
    if !is_sealed_key(text.expose()) {
        let made = make(name, Origin::File(file, &text))?;
        return keep(path, &made, keys.of_new_key(none)?.as_ref());
    }
    let passphrase = keys.of_file(file)?;
    let open = open_sealed_key(text.expose(), &passphrase)
        .map_err(|error| Failure::new(Exit::Configuration, format!("{}: {error}", file.display())))?;
    keep(path, &make(name, Origin::File(file, &open))?, (!none).then_some(&passphrase))
}

/// `folkmoot identity passphrase`
fn change(path: &Path, keys: &Keys, new: &NewPassphrase, json: bool) -> Result<(), Failure> {
    let (folder, identity) = (StateFolder::at(path), keys.identity(path)?);
    let new = replacing(new)?;
    folder.replace_key(written(&identity, new.as_ref())?.expose())?;
    let (key, sealed) = (folder.key_path(), new.is_some());
    data(json, &json!({ "key": crate::show::path(&key), "encrypted": sealed }), || match sealed {
        true => {
            format!("{} is encrypted under the new passphrase; older copies of it are not", key.display())
        }
        false => {
            format!("{} is not encrypted any more: anyone who gets the folder is this member", key.display())
        }
    });
    Ok(())
}

/// Nobody is asked for a passphrase in vain.
fn absent(path: &Path) -> Result<(), Failure> {
    let folder = StateFolder::at(path);
    match folder.has_identity() {
        true => Err(StateError::LocalExists { path: folder.key_path() }.into()),
        false => Ok(()),
    }
}

fn keep(path: &Path, made: &Identity, passphrase: Option<&Passphrase>) -> Result<(), Failure> {
    let key = written(made, passphrase)?;
    Ok(StateFolder::open(path)?.write_identity(key.expose(), &made.certificate_pem())?)
}

/// The key as it stands in its file.
pub(crate) fn written(
    identity: &Identity,
    passphrase: Option<&Passphrase>,
) -> Result<Secret<String>, Failure> {
    match passphrase {
        None => identity.key_pem().map_err(Failure::bug),
        Some(passphrase) => {
            identity.sealed_key_pem(passphrase, &mut entropy()?).map(Secret::new).map_err(Failure::bug)
        }
    }
}

pub(crate) fn entropy() -> Result<OsEntropy, Failure> {
    OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))
}

/// `ID-90`: the one form of a name.
fn checked(name: &str) -> Result<String, Failure> {
    made(name).map_err(|error| {
        Failure::new(Exit::Usage, format!("{:?} cannot be a name: {error}. Choose another", visible(name)))
    })
}

/// Where the key of a new identity comes from.
pub(crate) enum Origin<'a> {
    /// It is drawn.
    Drawn(KeyAlgorithm),
    /// Other software drew it: the file, and what is in it.
    File(&'a Path, &'a Secret<String>),
}

pub(crate) fn make(name: &str, key: Origin<'_>) -> Result<Identity, Failure> {
    let now = time_of_making()?;
    let (from, to) =
        (UnixTime(now.0.saturating_sub(SKEW_SECONDS)), UnixTime(now.0.saturating_add(TERM_SECONDS)));
    let mut entropy = entropy()?;
    let (file, text) = match key {
        Origin::File(file, text) => (file, text),
        Origin::Drawn(algorithm) => {
            return Identity::draw(algorithm, name, &mut entropy, from, to)
                .map_err(|error| Failure::new(Exit::Usage, format!("{name:?} cannot be a name: {error}")));
        }
    };
    Identity::import(text.expose(), name, &mut entropy, from, to).map_err(|error| match error {
        CertificateError::LocalValue(_) => {
            Failure::new(Exit::Usage, format!("{name:?} cannot be a name: {error}"))
        }
        error => Failure::new(Exit::Configuration, format!("{}: {error}", file.display())),
    })
}
