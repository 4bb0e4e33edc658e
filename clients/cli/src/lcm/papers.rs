//! Folders of certificates and keys.
//!
//! ```text
//! ROOT/                0700              MEMBER/        0700
//!   root.key           0600, PKCS#8        root.crt     by which it judges the others
//!   root.crt           for all members     member.crt
//!   issued/4-9f21….crt the register        member.key   0600, PKCS#8
//!   excluded/4-9f21….crt                   state/       what it counts; only one program runs on it
//!   excluded/4-9f21….statement             excluded/    the root's statements of who is out
//!   lock
//! ```
//! A key is under a passphrase or open, as the key of a state folder is.

use crate::args::lcm::Passphrase as Change;
use crate::exit::{Exit, Failure};
use crate::files::{read_small, read_text};
use crate::identity::{Origin, make, written};
use crate::keys::{Keys, replacing};
use crate::show::data;
use folkmoot::Passphrase;
use folkmoot_base::{Secret, hex};
use folkmoot_identity::plain::SigningKey;
use folkmoot_identity::{certificate_from_pem, certificate_pem, is_sealed_key, key_from_pem, key_to_pem};
use folkmoot_lcm::{EXCLUSION_FILE_END, EXCLUSION_FILES_MAX, exclusions_in};
use folkmoot_pubsub::secured::Issuer;
use serde_json::json;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(super) const ROOT_CERTIFICATE: &str = "root.crt";
pub(super) const ROOT_KEY: &str = "root.key";
pub(super) const CERTIFICATE: &str = "member.crt";
pub(super) const KEY: &str = "member.key";
/// The folder of statements of who is out.
pub(super) const EXCLUDED: &str = "excluded";

/// Anybody may read it.
const PUBLIC: u32 = 0o644;
/// Its owner alone may read it.
const PRIVATE: u32 = 0o600;

/// Makes a folder that its owner alone may read, if there is none.
pub(super) fn make_folder(path: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Failure::file(path, &error))
}

/// Refuses to go on where one of these files is there already.
pub(super) fn absent(folder: &Path, names: &[&str]) -> Result<(), Failure> {
    let there = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    there.map_or(Ok(()), |path| {
        let text = format!("{} exists, and is not overwritten. Choose another folder", path.display());
        Err(Failure::new(Exit::Configuration, text))
    })
}

/// Writes a new file, and returns when the disk has it.
pub(super) fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write(path, bytes, PUBLIC)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    fill(path, bytes, mode).map_err(|error| Failure::file(path, &error))
}

fn fill(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let mut out = OpenOptions::new().create_new(true).write(true).mode(mode).open(path)?;
    out.write_all(bytes)?;
    out.sync_all()
}

pub(super) fn create_certificate(path: &Path, der: &[u8]) -> Result<(), Failure> {
    create(path, certificate_pem(der).as_bytes())
}

/// Writes a new key, under a passphrase if there is one.
pub(super) fn create_key(path: &Path, key: &SigningKey, under: Option<&Passphrase>) -> Result<(), Failure> {
    write(path, text_of(path, key, under)?.expose().as_bytes(), PRIVATE)
}

/// A key as it stands in its file.
fn text_of(path: &Path, key: &SigningKey, under: Option<&Passphrase>) -> Result<Secret<String>, Failure> {
    let open = key_to_pem(&key.clone().into()).map_err(Failure::bug)?;
    // Identities alone are sealed; what else this one has is dropped.
    written(&make("lcm", Origin::File(path, &open))?, under)
}

/// The certificate in this file, in DER. Nobody has judged it.
pub(super) fn read_certificate(path: &Path) -> Result<Vec<u8>, Failure> {
    // `openssl ca` writes text before it, in any encoding.
    let text = String::from_utf8_lossy(&read_small(path)?).into_owned();
    certificate_from_pem(&text).map_err(|error| wrong(path, &error))
}

/// The key in this file, which others must not be able to read.
pub(super) fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let about = std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?;
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.display();
        let text = format!("{path} can be read by others (mode {mode:o}). Run: chmod 600 {path}");
        return Err(Failure::new(Exit::Configuration, text));
    }
    let mut text = Secret::new(read_text(path)?);
    if is_sealed_key(text.expose()) {
        text = Keys::told().of_paper(path, &text)?;
    }
    let key = key_from_pem(text.expose()).map_err(|error| wrong(path, &error))?;
    key.as_p256().cloned().ok_or_else(|| {
        let what = key.verifying_key().algorithm().name();
        let text = format!("{}: it is a key of {what}, and topics take keys of p256 alone", path.display());
        Failure::new(Exit::Configuration, text)
    })
}

/// `folkmoot lcm passphrase`
pub(super) fn passphrase(command: &Change, json: bool) -> Result<(), Failure> {
    let file = key_in(&command.at)?;
    let key = read_key(&file)?;
    let new = replacing(&command.new)?;
    replace(&file, text_of(&file, &key, new.as_ref())?.expose().as_bytes())
        .map_err(|error| Failure::file(&file, &error))?;
    let (key, sealed) = (file.display(), new.is_some());
    data(json, &json!({ "key": crate::show::path(&file), "encrypted": sealed }), || match sealed {
        true => format!("{key} is encrypted under the new passphrase; older copies of it are not"),
        false => format!("{key} is not encrypted any more: anyone who gets the folder has its rights"),
    });
    Ok(())
}

/// The one key in a folder, or the key itself.
fn key_in(at: &Path) -> Result<PathBuf, Failure> {
    let mut there = Vec::from([ROOT_KEY, KEY].map(|name| at.join(name)));
    there.retain(|key| key.exists());
    let why = match there.as_slice() {
        _ if !at.is_dir() => return Ok(at.to_owned()),
        [one] => return Ok(one.clone()),
        [] => "holds neither root.key nor member.key. Choose another folder",
        _ => "holds root.key and member.key. Give the file of one of them",
    };
    Err(Failure::new(Exit::Configuration, format!("{} {why}", at.display())))
}

/// Puts another form of the same key in its place: a crash leaves the one or the other. What was
/// there is overwritten, as far as the disk lets a program do that.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // The place that links lead to.
    let file = file.canonicalize()?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let _lock = lock(folder)?;
    let mut old = OpenOptions::new().write(true).open(&file)?;
    let mut draft = file.clone().into_os_string();
    draft.push(".new");
    if let Err(error) = std::fs::remove_file(&draft)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(error);
    }
    fill(Path::new(&draft), bytes, PRIVATE)?;
    std::fs::rename(&draft, &file)?;
    File::open(folder)?.sync_all()?;
    let about = old.metadata()?;
    if about.nlink() > 0 {
        // It has another name, so it is another's copy.
        return Ok(());
    }
    old.write_all(&vec![0; usize::try_from(about.len()).unwrap_or_default()])?;
    old.sync_all()
}

/// Takes a folder for this process, and waits for whoever uses it.
fn lock(folder: &Path) -> std::io::Result<File> {
    let file = folder.join("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(PRIVATE).open(file)?;
    lock.lock().map(|()| lock)
}

/// The statements in a folder of those, each with its file; none if there is no such folder.
pub(super) fn statements_in(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let all = exclusions_in(folder).map_err(|error| Failure::file(folder, &error))?;
    if all.len() > EXCLUSION_FILES_MAX {
        let text = format!(
            "{} holds more than {EXCLUSION_FILES_MAX} exclusions. Move those away whose certificates have ended",
            folder.display()
        );
        return Err(Failure::new(Exit::Configuration, text));
    }
    let read = |(path, statement): (PathBuf, std::io::Result<Vec<u8>>)| match statement {
        Ok(statement) => Ok((path, statement)),
        Err(error) => Err(Failure::file(&path, &error)),
    };
    all.into_iter().map(read).collect()
}

/// A file that does not hold what it should.
pub(super) fn wrong(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(Exit::Configuration, format!("{}: {error}", path.display()))
}

/// The folder of a root, which this process alone uses.
pub(super) struct RootFolder {
    path: PathBuf,
    pub(super) issuer: Issuer,
    #[expect(dead_code, reason = "held, not used: closing the file gives the lock back")]
    lock: File,
}

impl RootFolder {
    /// Opens it, and waits for whoever uses it.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let (certificate, key) = (path.join(ROOT_CERTIFICATE), path.join(ROOT_KEY));
        if !key.exists() {
            let text = format!("{0} holds no root. To make one: folkmoot lcm root new {0}", path.display());
            return Err(Failure::new(Exit::Configuration, text));
        }
        let issuer = Issuer::open(&read_certificate(&certificate)?, read_key(&key)?);
        let issuer = issuer.map_err(|error| wrong(&certificate, &error))?;
        let lock = lock(path).map_err(|error| Failure::file(&path.join("lock"), &error))?;
        Ok(Self { path: path.to_owned(), issuer, lock })
    }

    /// What was issued and is not excluded: each with its file.
    pub(super) fn issued(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
        let folder = self.path.join("issued");
        make_folder(&folder)?;
        let wrong = |error: std::io::Error| Failure::file(&folder, &error);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.extension().is_some_and(|end| end == "crt") {
                let der = read_certificate(&path)?;
                found.push((path, der));
            }
        }
        Ok(found)
    }

    /// Enters a certificate, and says where it stands.
    pub(super) fn enter(&self, sender: u16, der: &[u8]) -> Result<PathBuf, Failure> {
        let folder = self.path.join("issued");
        let path = folder.join(file_name(sender, der));
        create_certificate(&path, der)?;
        let settled = File::open(&folder).and_then(|folder| folder.sync_all());
        settled.map_err(|error| Failure::file(&folder, &error))?;
        Ok(path)
    }

    /// Enters that a certificate is excluded, by this statement: its sender's number is free again.
    /// Says where the statement stands.
    pub(super) fn exclude(&self, sender: u16, der: &[u8], statement: &[u8]) -> Result<PathBuf, Failure> {
        let folder = self.path.join(EXCLUDED);
        make_folder(&folder)?;
        let name = file_name(sender, der);
        let (from, to) = (self.path.join("issued").join(&name), folder.join(&name));
        let said = to.with_extension(EXCLUSION_FILE_END);
        // An older release wrote another form.
        if std::fs::read(&said).is_ok_and(|old| old != statement) {
            std::fs::remove_file(&said).map_err(|error| Failure::file(&said, &error))?;
        }
        if !said.exists() {
            create(&said, statement)?;
        }
        if from.exists() {
            std::fs::rename(&from, &to).map_err(|error| Failure::file(&from, &error))?;
        } else if !to.exists() {
            // OpenSSL may have made it.
            create_certificate(&to, der)?;
        }
        Ok(said)
    }

    /// The certificates that were excluded.
    pub(super) fn excluded(&self) -> Result<Vec<PathBuf>, Failure> {
        let folder = self.path.join(EXCLUDED);
        make_folder(&folder)?;
        let wrong = |error: std::io::Error| Failure::file(&folder, &error);
        let entries = std::fs::read_dir(&folder).map_err(wrong)?;
        let mut all = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(wrong)?;
        all.retain(|path| path.extension().is_some_and(|end| end == "crt"));
        all.sort();
        Ok(all)
    }

    /// Gives a member's folder all statements of who is out.
    pub(super) fn hand_exclusions(&self, out: &Path) -> Result<(), Failure> {
        let folder = self.path.join(EXCLUDED);
        let all = exclusions_in(&folder).map_err(|error| Failure::file(&folder, &error))?;
        if all.is_empty() {
            return Ok(());
        }
        let to = out.join(EXCLUDED);
        make_folder(&to)?;
        for (path, statement) in all {
            let statement = statement.map_err(|error| Failure::file(&path, &error))?;
            let file = to.join(path.file_name().unwrap_or_default());
            if !file.exists() {
                create(&file, &statement)?;
            }
        }
        Ok(())
    }
}

fn file_name(sender: u16, der: &[u8]) -> String {
    let digest = folkmoot_base::digest(&[der]);
    format!("{sender}-{}.crt", hex(digest.iter().take(8)))
}
