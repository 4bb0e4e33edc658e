//! What can be done without a running member: identities and charters.

use crate::args::{Charter, Identity};
use crate::exit::{Exit, Failure, whole};
use crate::show::{Paint, data, paint, short};
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{GroupName, StateFolder, UnixTime};
use folkmoot_base::Secret;
use folkmoot_identity::{
    CertificateError, CharterDraft, Founder, IdentityCertificate, Policy, SignedCharter,
};
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
    let file = folder.certificate_path();
    data(
        json,
        &json!({ "name": name, "member": member, "certificate": file, "key": folder.key_path() }),
        || {
            let hint = paint(Paint::Dim, "give this file to others; keep the folder to yourself");
            format!("{}  {member}\n{}  {hint}", paint(Paint::Bold, name), file.display())
        },
    );
    Ok(())
}

/// Makes an identity in the folder, of a fresh key or of the one in this file; one that is there is not overwritten.
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
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    let text = Secret::new(text);
    folkmoot_identity::Identity::import(text.expose(), name, &mut entropy, from, to).map_err(|error| {
        match error {
            CertificateError::LocalValue(_) => {
                Failure::new(Exit::Usage, format!("{name:?} cannot be a name: {error}"))
            }
            error => Failure::new(Exit::Configuration, format!("{}: {error}", file.display())),
        }
    })
}

/// `folkmoot charter`
pub(crate) fn charter(folder: &Path, command: Charter, json: bool) -> Result<(), Failure> {
    match command {
        Charter::New {
            name,
            founders,
            votes,
            scheme,
            keying,
            cipher,
            hybrid,
            hybrid_links,
            letters,
            rules,
            seat,
            out,
        } => {
            let (ratio, policies, minority) = (rules.share(), rules.policies()?, rules.minority);
            let central = seat.central()?;
            let draft = |founders, name, entropy: &mut OsEntropy| CharterDraft {
                scheme,
                keying,
                cipher,
                hybrid,
                hybrid_links,
                letters,
                ratio,
                policies: policies.clone(),
                central: central.clone(),
                minority,
                ..CharterDraft::new(name, votes, founders, entropy)
            };
            write(&name, &founders, draft, &out, json)
        }
        Charter::Sign { file, out } => sign(folder, &file, out, json),
        Charter::Show { file } => show(&given_or_kept(file, folder)?, json),
        Charter::Verify { file } => verify(&given_or_kept(file, folder)?, json),
        Charter::Change { .. } => Err(Failure::bug("a change of the charter takes a running member")),
    }
}

/// The file that was named, or the charter in the state folder.
pub(crate) fn given_or_kept(file: Option<PathBuf>, folder: &Path) -> Result<PathBuf, Failure> {
    let kept = StateFolder::at(folder).charter_path();
    match file {
        Some(file) => Ok(file),
        None if kept.exists() => Ok(kept),
        None => {
            let hint = format!("{} holds no charter; name the file, as charter.cms", folder.display());
            Err(Failure::new(Exit::Configuration, hint))
        }
    }
}

fn show(file: &Path, json: bool) -> Result<(), Failure> {
    let signed = open(file)?;
    let text = String::from_utf8_lossy(signed.charter().bytes()).into_owned();
    data(json, &json!({ "charter": text, "group": signed.charter().group().hex() }), || {
        text.trim_end().to_owned()
    });
    Ok(())
}

/// `folkmoot verify`, `folkmoot charter verify`
pub(crate) fn verify(file: &Path, json: bool) -> Result<(), Failure> {
    let signed = open(file)?;
    let charter = signed.charter();
    let missing: Vec<&str> = signed.missing().map(|founder| founder.name.as_str()).collect();
    let founders: Vec<&str> = charter.founders().iter().map(|founder| founder.name.as_str()).collect();
    let value = json!({
        "stands": missing.is_empty(), "group": charter.group().hex(), "name": charter.name().as_str(),
        "founders": founders, "missing": missing, "votes": charter.threshold(),
        "admits": admits(charter),
    });
    data(json, &value, || {
        let verdict = if missing.is_empty() {
            paint(Paint::Green, "stands: signed by all founders")
        } else {
            paint(Paint::Red, &format!("does not stand yet: not signed by {}", missing.join(", ")))
        };
        let (name, group) = (charter.name().as_str(), charter.group().short());
        format!("{name} ({group}), founded by {}; {}\n{verdict}", founders.join(", "), admits(charter))
    });
    match unsigned(&signed, file) {
        Some(next) => Err(Failure::new(Exit::No, next)),
        None => Ok(()),
    }
}

/// Who admits, in words.
fn admits(charter: &folkmoot_identity::Charter) -> String {
    let policies = charter.policies();
    match (policies.policy, &policies.admit) {
        (Policy::List, _) => format!("{} listed keys may join", policies.list.len()),
        (Policy::Founder, _) => {
            let decider = policies.decider.and_then(|decider| charter.founder(&decider));
            format!("{} admits", decider.map_or("one founder", |founder| &founder.name))
        }
        (Policy::Authority, _) => "the authority admits".into(),
        (Policy::Threshold, Some(rule)) => format!("{} votes admit, among them {rule}", charter.threshold()),
        (Policy::Threshold, None) => format!("{} votes admit", charter.threshold()),
    }
}

/// A signed charter that must be complete: what a transcript is judged by.
pub(crate) fn founded(file: &Path) -> Result<SignedCharter, Failure> {
    let signed = open(file)?;
    if let Some(next) = unsigned(&signed, file) {
        return Err(Failure::new(Exit::No, next));
    }
    signed.verify().map_err(|error| stands_not(file, &error))?;
    Ok(signed)
}

/// What is to be done before a charter stands; nothing if all have signed.
fn unsigned(signed: &SignedCharter, file: &Path) -> Option<String> {
    let missing: Vec<&str> = signed.missing().map(|founder| founder.name.as_str()).collect();
    let who = match missing.as_slice() {
        [] => return None,
        [one] => format!("{one} runs"),
        more => format!("each of {} runs", more.join(", ")),
    };
    Some(format!("the charter lacks signatures: {who}: folkmoot charter sign {}", file.display()))
}

/// Reads a signed charter and keeps it in the folder; it must be complete.
pub(crate) fn adopt(folder: &Path, file: &Path) -> Result<(), Failure> {
    let folder = StateFolder::at(folder);
    folder.read_key()?;
    let signed = open(file)?;
    if let Some(next) = unsigned(&signed, file) {
        return Err(Failure::new(Exit::Refused, next));
    }
    signed.verify().map_err(|error| stands_not(file, &error))?;
    folder.write_charter(signed.der()).map_err(Failure::from)
}

fn write(
    name: &str,
    founders: &[PathBuf],
    draft: impl Fn(Vec<Founder>, GroupName, &mut OsEntropy) -> CharterDraft,
    out: &Path,
    json: bool,
) -> Result<(), Failure> {
    let name = GroupName::new(name).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let founders = founders
        .iter()
        .map(|file| certificate(file).map(|certificate| Founder::from(&certificate)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let text = draft(founders, name, &mut entropy).to_toml();
    folkmoot_identity::Charter::from_toml(&text).map_err(|error| Failure::new(Exit::Usage, whole(&error)))?;
    if out.exists() {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} exists already; choose another with --out", out.display()),
        ));
    }
    std::fs::write(out, &text).map_err(|error| Failure::file(out, &error))?;
    data(json, &json!({ "file": out, "charter": text }), || {
        format!(
            "{}\nRead it, change it if you like; then each founder runs: folkmoot charter sign {0}",
            out.display()
        )
    });
    Ok(())
}

fn sign(folder: &Path, file: &Path, out: Option<PathBuf>, json: bool) -> Result<(), Failure> {
    let me = own(folder)?;
    let out = out.unwrap_or_else(|| file.with_extension("cms"));
    let mut signed = signed_by(&me, file)?;
    if out.exists() {
        // Founders may each sign the text: what others have signed into the same file stays.
        let others = open(&out)?;
        if others.charter() != signed.charter() {
            let hint = format!("{} holds another charter; choose another file with --out", out.display());
            return Err(Failure::new(Exit::Usage, hint));
        }
        signed.merge(&others).map_err(|error| stands_not(&out, &error))?;
    }
    std::fs::write(&out, signed.der()).map_err(|error| Failure::file(&out, &error))?;
    let missing: Vec<&str> = signed.missing().map(|founder| founder.name.as_str()).collect();
    data(json, &json!({ "file": out, "group": signed.charter().group().hex(), "missing": missing }), || {
        let rest = if missing.is_empty() {
            "complete".into()
        } else {
            format!("still to sign: {}", missing.join(", "))
        };
        format!("{}  group {}  {rest}", out.display(), short(&signed.charter().group().hex()))
    });
    Ok(())
}

/// The charter in `file`, text or signed before, with the signature of `me`.
fn signed_by(me: &folkmoot_identity::Identity, file: &Path) -> Result<SignedCharter, Failure> {
    let bytes = std::fs::read(file).map_err(|error| Failure::file(file, &error))?;
    let founder = |charter: &folkmoot_identity::Charter| {
        let names: Vec<&str> = charter.founders().iter().map(|founder| founder.name.as_str()).collect();
        charter.founder(&me.member()).map(|_| ()).ok_or_else(|| {
            let why = format!(
                "{} ({}) is not among the founders: {}",
                me.name(),
                me.member().short(),
                names.join(", ")
            );
            Failure::new(Exit::Refused, why)
        })
    };
    if let Ok(text) = std::str::from_utf8(&bytes) {
        let charter =
            folkmoot_identity::Charter::from_toml(text).map_err(|error| stands_not(file, &error))?;
        founder(&charter)?;
        return SignedCharter::sign(text, &[me]).map_err(|error| stands_not(file, &error));
    }
    let mut signed = SignedCharter::from_der(&bytes).map_err(|error| stands_not(file, &error))?;
    founder(signed.charter())?;
    signed.add_signature(me).map_err(|error| stands_not(file, &error))?;
    Ok(signed)
}

fn own(folder: &Path) -> Result<folkmoot_identity::Identity, Failure> {
    let folder = StateFolder::at(folder);
    let (key, certificate) = (folder.read_key()?, folder.read_certificate()?);
    let certificate = String::from_utf8_lossy(&certificate);
    folkmoot_identity::Identity::from_pem(&key, &certificate).map_err(|error| {
        Failure::new(Exit::Configuration, format!("{}: {error}", folder.key_path().display()))
    })
}

pub(crate) fn certificate(file: &Path) -> Result<IdentityCertificate, Failure> {
    let pem = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    IdentityCertificate::from_pem(&pem)
        .map_err(|error| Failure::new(Exit::Configuration, format!("{}: {error}", file.display())))
}

fn open(file: &Path) -> Result<SignedCharter, Failure> {
    let der = std::fs::read(file).map_err(|error| Failure::file(file, &error))?;
    SignedCharter::from_der(&der).map_err(|error| match std::str::from_utf8(&der) {
        Ok(text) if folkmoot_identity::Charter::from_toml(text).is_ok() => {
            let hint = format!(
                "{0} is not signed yet: each founder runs: folkmoot charter sign {0}",
                file.display()
            );
            Failure::new(Exit::Refused, hint)
        }
        _ => stands_not(file, &error),
    })
}

fn stands_not(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(Exit::Refused, format!("{} does not stand: {}", file.display(), whole(error)))
}
