//! Identity certificates and charters, read from files.

use crate::exit::{Exit, Failure};
use crate::show::visible;
use crate::values::is_ours;
use folkmoot::{Locator, MemberId, StateError, StateFolder};
use folkmoot_base::{Secret, whole};
use folkmoot_identity::{CertificateError, Charter, IdentityCertificate, SignedCharter};
use folkmoot_transcript::FILE_LABEL;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longer than any charter, certificate or key: no more than this is read of a file that should be
/// one.
const SMALL_BYTES: usize = 64 * 1024;

/// The file that was named, or the charter in the state folder.
pub(crate) fn given_or_kept(file: Option<PathBuf>, folder: &Path) -> Result<PathBuf, Failure> {
    let kept = StateFolder::at(folder).charter_path();
    match file {
        Some(file) => Ok(file),
        None if kept.exists() => Ok(kept),
        None => {
            let hint =
                format!("{} holds no charter; name the file, for example charter.cms", folder.display());
            Err(Failure::new(Exit::Configuration, hint))
        }
    }
}

/// The first bytes of a file, at most so many.
pub(crate) fn read_start(file: &Path, most: usize) -> Result<Vec<u8>, Failure> {
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|open| open.take(most).read_to_end(&mut bytes))
        .map_err(|error| Failure::file(file, &error))?;
    Ok(bytes)
}

/// A file that should be a charter, as far as one can reach.
pub(crate) fn read_small(file: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read_start(file, SMALL_BYTES)?;
    if bytes.starts_with(FILE_LABEL) {
        let name = file.display();
        let text = format!(
            "{name} is a transcript, and a charter is needed here. To judge a transcript, give the charter first: \
             folkmoot verify charter.cms {name}"
        );
        return Err(Failure::new(Exit::Refused, text));
    }
    Ok(bytes)
}

/// A file that should be a certificate or a key in PEM, likewise.
pub(crate) fn read_text(file: &Path) -> Result<String, Failure> {
    let most = u64::try_from(SMALL_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::with_capacity(SMALL_BYTES);
    File::open(file)
        .and_then(|open| open.take(most).read_to_end(&mut bytes))
        .map_err(|error| Failure::file(file, &error))?;
    let bytes = Secret::new(bytes);
    Ok(String::from_utf8_lossy(bytes.expose()).into_owned())
}

/// A signed charter that must be complete: what a transcript is judged by.
pub(crate) fn founded(file: &Path) -> Result<SignedCharter, Failure> {
    complete(file, Exit::No)
}

fn complete(file: &Path, lacks: Exit) -> Result<SignedCharter, Failure> {
    let signed = open(file)?;
    if let Some(next) = unsigned(&signed, file) {
        return Err(Failure::new(lacks, next));
    }
    signed.verify().map_err(|error| stands_not(file, &error))?;
    Ok(signed)
}

/// Refuses to look for the group of this charter where there is nowhere to look.
pub(crate) fn reachable(at: &[Locator], charter: &Path) -> Result<(), Failure> {
    let named = at.iter().any(is_ours);
    if !named
        && !open(charter)?.charter().contacts().iter().any(|one| one.locator().as_ref().is_some_and(is_ours))
    {
        let hint = format!(
            "{} names no contact that this release can dial. Ask a member where it listens, and give that with --at. Or join by a ticket, which \
             a member makes with: folkmoot invite",
            charter.display()
        );
        return Err(Failure::new(Exit::Usage, hint));
    }
    Ok(())
}

/// What is to be done before a charter stands; nothing if all have signed.
pub(crate) fn unsigned(signed: &SignedCharter, file: &Path) -> Option<String> {
    let missing: Vec<String> = signed.missing().map(|founder| visible(&founder.name)).collect();
    let who = match missing.as_slice() {
        [] => return None,
        [one] => format!("{one} runs"),
        more => format!("each of {} runs", more.join(", ")),
    };
    Some(format!("the charter lacks signatures. Now {who}: folkmoot charter sign {}", file.display()))
}

/// Reads a signed charter and keeps it in the folder; it must be complete.
pub(crate) fn adopt(folder: &Path, file: &Path) -> Result<(), Failure> {
    let folder = StateFolder::at(folder);
    folder.read_key()?;
    folder.write_charter(complete(file, Exit::Refused)?.der()).map_err(Failure::from)
}

/// Whose folder it is.
pub(crate) fn me(folder: &Path) -> Result<MemberId, Failure> {
    own(folder).map(|certificate| certificate.member())
}

/// The certificate of the folder itself, which needs no passphrase.
pub(crate) fn own(folder: &Path) -> Result<IdentityCertificate, Failure> {
    let folder = StateFolder::at(folder);
    folder.read_key()?;
    let pem = folder.read_certificate()?;
    let malformed = |error: CertificateError| StateError::LocalMalformed {
        path: folder.certificate_path(),
        detail: error.to_string(),
    };
    IdentityCertificate::from_pem(&String::from_utf8_lossy(&pem)).map_err(|error| malformed(error).into())
}

pub(crate) fn certificate(file: &Path) -> Result<IdentityCertificate, Failure> {
    let pem = read_text(file)?;
    if pem.contains("PRIVATE KEY-----") {
        let text = format!(
            "{0} holds a private key, and a certificate is needed here. A private key is for its owner's eyes only: \
             if {0} has left its machine, make a new identity. Give the identity.pem that lies beside it",
            file.display()
        );
        return Err(Failure::new(Exit::Configuration, text));
    }
    IdentityCertificate::from_pem(&pem).map_err(|error| match read_small(file) {
        Ok(bytes) if SignedCharter::from_der(&bytes).is_ok() => {
            let file = file.display();
            let text = format!(
                "{file} is a signed charter, and a certificate is needed here: the identity.pem of a person"
            );
            Failure::new(Exit::Configuration, text)
        }
        _ => Failure::new(Exit::Configuration, format!("{}: {error}", file.display())),
    })
}

/// Refuses PEM where a charter is needed.
pub(crate) fn no_pem(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(bytes);
    let what = match text.as_ref() {
        text if text.contains("PRIVATE KEY-----") => "a private key",
        text if text.contains("-----BEGIN CERTIFICATE-----") => "somebody's certificate",
        _ => return Ok(()),
    };
    let text = format!(
        "{} is {what}, and a charter is needed here: charter.cms, or charter.toml to sign it",
        file.display()
    );
    Err(Failure::new(Exit::Refused, text))
}

pub(crate) fn open(file: &Path) -> Result<SignedCharter, Failure> {
    let der = read_small(file)?;
    no_pem(file, &der)?;
    SignedCharter::from_der(&der).map_err(|error| match std::str::from_utf8(&der) {
        Ok(text) if Charter::from_toml(text).is_ok() => {
            let hint = format!(
                "{0} is not signed yet: each founder runs: folkmoot charter sign {0}",
                file.display()
            );
            Failure::new(Exit::Refused, hint)
        }
        _ => stands_not(file, &error),
    })
}

pub(crate) fn stands_not(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(Exit::Refused, format!("{} is not valid: {}", file.display(), whole(error)))
}
