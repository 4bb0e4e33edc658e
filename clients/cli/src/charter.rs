//! `folkmoot charter`: a group's founding rules, written, signed, shown, checked.

use crate::args::Charter;
use crate::authority::seat::central;
use crate::exit::{Exit, Failure};
use crate::files::{certificate, given_or_kept, open, read_small, stands_not, unsigned};
use crate::keys::Keys;
use crate::rules::policies;
use crate::show::{Paint, data, many_of, paint, short};
use folkmoot::GroupName;
use folkmoot::tools::OsEntropy;
use folkmoot_base::whole;
use folkmoot_identity::{CharterDraft, Contact, Founder, Policy, SignedCharter};
use serde_json::json;
use std::path::{Path, PathBuf};

/// `folkmoot charter`
pub(crate) fn charter(folder: &Path, command: Charter, keys: &Keys, json: bool) -> Result<(), Failure> {
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
            contacts,
            rules,
            seat,
            out,
        } => {
            let ratio = rules.ratio.map(|hundredths| (hundredths, rules.window));
            let (policies, minority, central) = (policies(&rules)?, rules.minority, central(&seat)?);
            let draft = |founders, name, entropy: &mut OsEntropy| CharterDraft {
                scheme,
                keying,
                cipher,
                hybrid,
                hybrid_links,
                letters,
                contacts: contacts.iter().cloned().collect(),
                ratio,
                policies: policies.clone(),
                central: central.clone(),
                minority,
                ..CharterDraft::new(name, votes, founders, entropy)
            };
            write(&name, &founders, draft, &out, json)
        }
        Charter::Sign { file, out } => sign(&keys.identity(folder)?, &file, out, json),
        Charter::Show { file } => show(&given_or_kept(file, folder)?, json),
        Charter::Verify { file } => verify(&given_or_kept(file, folder)?, json),
        Charter::Change { .. } => Err(Failure::bug("a change of the charter needs a running member")),
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
    let contacts: Vec<&str> = charter.contacts().iter().map(Contact::as_str).collect();
    let value = json!({
        "stands": missing.is_empty(), "group": charter.group().hex(), "name": charter.name().as_str(),
        "founders": founders, "missing": missing, "votes": charter.threshold(),
        "admits": admits(charter), "contacts": contacts,
    });
    data(json, &value, || {
        let verdict = if missing.is_empty() {
            paint(Paint::Green, "valid: signed by all founders")
        } else {
            paint(Paint::Red, &format!("not valid yet: not signed by {}", missing.join(", ")))
        };
        let (name, group) = (charter.name().as_str(), charter.group().short());
        let at = if contacts.is_empty() { "" } else { &format!("; contacts: {}", contacts.join(", ")) };
        format!("{name} ({group}), founded by {}; {}{at}\n{verdict}", founders.join(", "), admits(charter))
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
        (Policy::Threshold, rule) => {
            let votes = many_of(charter.threshold().into(), "vote");
            let admit = if charter.threshold() == 1 { "admits" } else { "admit" };
            let rule = rule.as_ref().map_or_else(String::new, |rule| format!(", among them {rule}"));
            format!("{votes} {admit}{rule}")
        }
    }
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
            "{}\nRead it, and change it if you like. Then each founder runs: folkmoot charter sign {0}",
            out.display()
        )
    });
    Ok(())
}

fn sign(
    me: &folkmoot_identity::Identity,
    file: &Path,
    out: Option<PathBuf>,
    json: bool,
) -> Result<(), Failure> {
    let out = out.unwrap_or_else(|| file.with_extension("cms"));
    let mut signed = signed_by(me, file)?;
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
    let bytes = read_small(file)?;
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
