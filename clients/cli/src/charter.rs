//! `folkmoot charter`: a group's founding rules, written, signed, shown, checked.

use crate::args::Charter as Command;
use crate::authority::seat::central;
use crate::endorsement;
use crate::exit::{Exit, Failure};
use crate::files::{certificate, given_or_kept, no_pem, open, own, read_small, stands_not, unsigned};
use crate::keys::Keys;
use crate::member::times;
use crate::rules::policies;
use crate::rules_shown;
use crate::show::{Paint, data, many_of, paint, short, table, visible};
use crate::terminal;
use crate::words::of_digest;
use folkmoot::tools::OsEntropy;
use folkmoot::{GroupName, MemberId};
use folkmoot_base::whole;
use folkmoot_identity::names::told;
use folkmoot_identity::{
    Algorithms, Charter, CharterDraft, Contact, Founder, IdentityCertificate, KeyAlgorithm, Minority, Policy,
    SignedCharter,
};
use folkmoot_transcript::State;
use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// `folkmoot charter`
pub(crate) fn charter(folder: &Path, command: Command, keys: &Keys, json: bool) -> Result<(), Failure> {
    match command {
        Command::New {
            name,
            founders,
            votes,
            scheme,
            algorithms,
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
            let recognised = endorsement::recognised(&rules.recognised)?;
            let draft = |founders: Vec<Founder>, name, entropy: &mut OsEntropy| CharterDraft {
                scheme,
                algorithms: allowed(&algorithms, &founders),
                keying,
                cipher,
                hybrid,
                hybrid_links,
                letters,
                contacts: contacts.iter().cloned().collect(),
                ratio,
                policies: policies.clone(),
                central: central.clone(),
                recognised: recognised.clone(),
                minority,
                ..CharterDraft::new(name, votes, founders, entropy)
            };
            write(&name, &founders, draft, &out, json)
        }
        Command::Sign { file, out, yes } => sign(folder, &file, out, yes, keys, json),
        Command::Join { files, out } => join(&files, &out, json),
        Command::Show { file } => show(&given_or_kept(file, folder)?, json),
        Command::Verify { file } => verify(&given_or_kept(file, folder)?, json),
        Command::Change { .. } => Err(Failure::bug("a change of the charter needs a running member")),
    }
}

/// Which keys members may have: those that were named, or such as the founders have.
fn allowed(named: &[KeyAlgorithm], founders: &[Founder]) -> Algorithms {
    let theirs = founders.iter().map(|founder| founder.key.algorithm());
    let named = named.iter().copied();
    if named.len() == 0 { Algorithms::new(theirs) } else { Algorithms::new(named) }
}

fn show(file: &Path, json: bool) -> Result<(), Failure> {
    let signed = open(file)?;
    let text = String::from_utf8_lossy(signed.charter().bytes()).into_owned();
    let group = signed.charter().group().hex();
    if !json {
        eprintln!(
            "{}",
            paint(Paint::Dim, "the founding text, as it was signed; the rules in force: folkmoot rules")
        );
    }
    data(json, &json!({ "charter": text, "group": group, "founding": true }), || {
        shown(text.trim_end(), std::io::stdout().is_terminal())
    });
    Ok(())
}

/// The text of a charter: to a program byte by byte; at a terminal without what cannot be seen, so
/// that no founder looks like another.
fn shown(text: &str, terminal: bool) -> String {
    if !terminal {
        return text.to_owned();
    }
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// `folkmoot verify`, `folkmoot charter verify`
pub(crate) fn verify(file: &Path, json: bool) -> Result<(), Failure> {
    let signed = open(file)?;
    let charter = signed.charter();
    let (missing, founders) = (missing(&signed), founders(charter));
    let contacts: Vec<&str> = charter.contacts().iter().map(Contact::as_str).collect();
    let value = json!({
        "stands": missing.is_empty(), "group": charter.group().hex(), "name": charter.name().as_str(),
        "founders": founders, "missing": missing, "votes": charter.threshold(),
        "admits": admits(charter), "contacts": contacts, "keys": keys_json(charter), "rules": rules_json(charter),
    });
    data(json, &value, || {
        let verdict = if missing.is_empty() {
            paint(Paint::Green, "valid: signed by all founders")
        } else {
            paint(Paint::Red, &format!("not valid yet: not signed by {}", missing.join(", ")))
        };
        let at = if contacts.is_empty() { "" } else { &format!("; contacts: {}", contacts.join(", ")) };
        let founders = founders.join(", ");
        format!(
            "{}, founded by {founders}; {}{at}\n{}\n{verdict}",
            called(charter),
            admits(charter),
            whole_text(charter)
        )
    });
    match unsigned(&signed, file) {
        Some(next) => Err(Failure::new(Exit::No, next)),
        None => Ok(()),
    }
}

/// What the founders are called here, in the charter's order.
fn founders(charter: &Charter) -> Vec<String> {
    let all = charter.founders().iter().map(|founder| (founder.key.member_id(), founder.name.as_str()));
    let told = told(all);
    let name = |founder: &Founder| told.get(&founder.key.member_id()).cloned().unwrap_or_default();
    charter.founders().iter().map(name).collect()
}

/// What those founders are called who have not signed.
fn missing(signed: &SignedCharter) -> Vec<String> {
    let missing: Vec<_> = signed.missing().map(|founder| founder.key.member_id()).collect();
    let all = signed.charter().founders().iter().zip(founders(signed.charter()));
    all.filter(|(founder, _)| missing.contains(&founder.key.member_id())).map(|(_, name)| name).collect()
}

/// The group's name, and the beginning of its id.
fn called(charter: &Charter) -> String {
    format!("{} ({})", visible(charter.name().as_str()), charter.group().short())
}

/// Everything that a founder signs: whose keys are founders', and each rule.
fn whole_text(charter: &Charter) -> String {
    let keys = charter.founders().iter().zip(founders(charter)).map(|(founder, name)| {
        let member = founder.key.member_id();
        vec![name, member.short(), of_digest(&member.0)]
    });
    let rules = rules_of(charter).into_iter().map(|(rule, value)| vec![visible(&rule), visible(&value)]);
    let keys = table(&["FOUNDER", "ID", "IN WORDS"], &keys.collect::<Vec<_>>());
    format!("{keys}\n{}", table(&["RULE", "VALUE"], &rules.collect::<Vec<_>>()))
}

fn rules_of(charter: &Charter) -> Vec<(String, String)> {
    let names: Vec<(MemberId, String)> =
        charter.founders().iter().map(|founder| founder.key.member_id()).zip(founders(charter)).collect();
    let who = |member: &MemberId| match names.iter().find(|(founder, _)| founder == member) {
        Some((_, name)) => format!("{name} ({})", member.short()),
        None => member.hex(),
    };
    rules_shown::all(charter, &who)
}

fn rules_json(charter: &Charter) -> Value {
    rules_of(charter).into_iter().map(|(rule, value)| json!({ "rule": rule, "value": value })).collect()
}

fn keys_json(charter: &Charter) -> Value {
    let one = |(founder, name): (&Founder, String)| {
        let member = founder.key.member_id();
        json!({ "name": name, "member": member.hex(), "words": of_digest(&member.0) })
    };
    charter.founders().iter().zip(founders(charter)).map(one).collect()
}

/// Who admits, in words.
fn admits(charter: &Charter) -> String {
    let policies = charter.policies();
    match (policies.policy, &policies.admit) {
        (Policy::List, _) => format!("{} listed keys may join", policies.list.len()),
        (Policy::Founder, _) => {
            let decider = policies.decider.map(|decider| {
                let at = charter.founders().iter().position(|founder| founder.key.member_id() == decider);
                at.and_then(|at| founders(charter).into_iter().nth(at)).unwrap_or_else(|| decider.short())
            });
            format!("{} admits", decider.unwrap_or_else(|| "one founder".to_owned()))
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
    let charter = Charter::from_toml(&text).map_err(|error| Failure::new(Exit::Usage, whole(&error)))?;
    let needed = times::needed(State::founded(charter.clone()).all_needed_from());
    if out.exists() {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} exists already; choose another with --out", out.display()),
        ));
    }
    std::fs::write(out, &text).map_err(|error| Failure::file(out, &error))?;
    let warning = times::needed_text(Some(&needed));
    let warning = warning.map_or_else(String::new, |text| format!("\n{}", paint(Paint::Red, &text)));
    data(json, &json!({ "file": crate::show::path(out), "charter": text, "all_needed": needed }), || {
        format!(
            "{}\n{}\nRead it, and change it if you like. Then each founder runs: folkmoot charter sign {0}{warning}",
            out.display(),
            minority(&charter)
        )
    });
    Ok(())
}

/// What the smaller side of a split may do, in words.
fn minority(charter: &Charter) -> String {
    let may = match charter.minority() {
        Minority::Continue => "goes on as before",
        Minority::ReadOnly => "receives, and sends nothing",
        Minority::Stop => "neither sends nor receives",
    };
    let admits = if charter.minority_may_admit() { "admits if it has the votes" } else { "admits nobody" };
    format!(
        "If the group splits, a side with fewer than half of the voters, or with half but without the first founder, \
         {may}, and {admits} (minority = \"{}\")",
        charter.minority().word()
    )
}

fn sign(
    folder: &Path,
    file: &Path,
    out: Option<PathBuf>,
    yes: bool,
    keys: &Keys,
    json: bool,
) -> Result<(), Failure> {
    let out = out.unwrap_or_else(|| file.with_extension("cms"));
    let me = own(folder)?;
    let (charter, earlier) = text_or_signed(file)?;
    is_founder(&me, &charter)?;
    // Founders may each sign the text: what others have signed into the same file stays.
    let others = out.exists().then(|| open(&out)).transpose()?;
    if others.as_ref().is_some_and(|others| *others.charter() != charter) {
        let hint = format!("{} holds another charter; choose another file with --out", out.display());
        return Err(Failure::new(Exit::Usage, hint));
    }
    if !json {
        eprintln!("what you sign:\n{}\n{}", called(&charter), whole_text(&charter));
        if !yes && terminal::is_here() && !terminal::agrees("Sign it? Type yes or no:") {
            return Err(Failure::new(Exit::No, "nothing was signed: the answer was not yes"));
        }
    }
    let text = std::str::from_utf8(charter.bytes()).map_err(Failure::bug)?;
    let me = keys.identity(folder)?;
    let signed = match earlier {
        Some(mut signed) => signed.add_signature(&me).map(|()| signed),
        None => SignedCharter::sign(text, &[&me]),
    };
    let mut signed = signed.map_err(|error| stands_not(file, &error))?;
    if let Some(others) = others {
        signed.merge(&others).map_err(|error| stands_not(&out, &error))?;
    }
    keep(&signed, &out, json)
}

/// `folkmoot charter join`: the signatures that founders made apart, in one file.
fn join(files: &[PathBuf], out: &Path, json: bool) -> Result<(), Failure> {
    // What the file to write holds already stays.
    let mut all = files.iter().map(PathBuf::as_path).chain(out.exists().then_some(out));
    let first = all.next().ok_or_else(|| Failure::bug("no file to join"))?;
    let mut signed = open(first)?;
    for file in all {
        let more = open(file)?;
        if more.charter() != signed.charter() {
            let hint = format!(
                "{} and {} hold different charters, and only signatures under one text go together. Compare them \
                 (folkmoot charter show FILE), and let each founder sign the same charter.toml",
                first.display(),
                file.display()
            );
            return Err(Failure::new(Exit::Refused, hint));
        }
        signed.merge(&more).map_err(|error| stands_not(file, &error))?;
    }
    keep(&signed, out, json)
}

/// Writes a signed charter, and says who has yet to sign.
fn keep(signed: &SignedCharter, out: &Path, json: bool) -> Result<(), Failure> {
    std::fs::write(out, signed.der()).map_err(|error| Failure::file(out, &error))?;
    let missing = missing(signed);
    let charter = signed.charter();
    let value = json!({
        "file": crate::show::path(out), "group": charter.group().hex(), "missing": missing, "keys": keys_json(charter),
        "rules": rules_json(charter),
    });
    data(json, &value, || {
        let rest = if missing.is_empty() {
            "complete".into()
        } else {
            format!("still to sign: {}", missing.join(", "))
        };
        format!("{}  group {}  {rest}", out.display(), short(&charter.group().hex()))
    });
    Ok(())
}

/// The charter in `file`; and, if founders have signed it, their signatures.
fn text_or_signed(file: &Path) -> Result<(Charter, Option<SignedCharter>), Failure> {
    let bytes = read_small(file)?;
    no_pem(file, &bytes)?;
    if let Ok(text) = std::str::from_utf8(&bytes) {
        let charter = Charter::from_toml(text).map_err(|error| stands_not(file, &error))?;
        return Ok((charter, None));
    }
    let signed = SignedCharter::from_der(&bytes).map_err(|error| stands_not(file, &error))?;
    Ok((signed.charter().clone(), Some(signed)))
}

/// Refuses whoever the charter does not name as a founder, before anything is asked.
fn is_founder(me: &IdentityCertificate, charter: &Charter) -> Result<(), Failure> {
    if charter.founder(&me.member()).is_some() {
        return Ok(());
    }
    let (name, names) = (visible(me.name()), founders(charter).join(", "));
    let why = format!("{name} ({}) is not among the founders: {names}", me.member().short());
    Err(Failure::new(Exit::Refused, why))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_cannot_be_seen_is_shown_at_a_terminal() {
        let text = "name = \"an\u{200d}na\"\nkey = \"7\"";
        assert_eq!(shown(text, false), text, "whoever pipes it has it byte by byte");
        assert_eq!(shown(text, true), "name = \"an\u{fffd}na\"\nkey = \"7\"");
    }
}
