//! `folkmoot lcm exclude`: a certificate counts no more, and all others agree on new keys.
//!
//! ```text
//! root's folder --statement--> tell: ask in each group, hear who has carried it out --> is it so?
//! ```
//! Nobody is called excluded before the members have said so, signed: an outsider could say it,
//! too.

use super::meeting::Meeting;
use super::papers::{RootFolder, create, read_certificate, wrong};
use super::sealed::groups;
use super::tell::{Group, tell};
use crate::args::certify::Exclude;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of, visible};
use bytes::Bytes;
use folkmoot::tools::wall_clock;
use folkmoot_base::hex;
use folkmoot_pubsub::Address;
use folkmoot_pubsub::discovery::is_long_over;
use folkmoot_pubsub::secured::{Claim, SenderId};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A certificate that is excluded, and the statement of that.
pub(super) struct Struck {
    claim: Claim,
    sender: SenderId,
    pub(super) statement: Bytes,
    file: PathBuf,
}

impl Struck {
    /// Whether it ended so long ago, by this host's clock, that members whose clocks agree neither
    /// take it nor say anything about it (PUB-71).
    pub(super) fn is_over(&self) -> bool {
        is_long_over(*self.claim.term.end(), wall_clock())
    }

    /// Whether all groups of the certificate are among these.
    pub(super) fn is_told_in(&self, all: &[Address]) -> bool {
        groups(&self.claim).all(|group| all.iter().any(|address| address.group == group))
    }
}

pub(super) async fn run(at: Meeting, command: &Exclude, json: bool) -> Result<(), Failure> {
    if command.now || command.again {
        at.is_there()?;
    }
    let root = RootFolder::open(&command.root)?;
    let struck = match &command.certificate {
        Some(file) => strike_holder(&root, file, command)?,
        None => all(&root)?,
    };
    if !(command.now || command.again) {
        data(json, &value(&struck, &[], false), || untold(&struck, &command.root));
        return Ok(());
    }
    let mut told = Vec::new();
    let all = addresses(at, &struck);
    for address in &all {
        told.push(Group::new(*address, &all, &root, &struck)?);
    }
    // Others may use the root's folder meanwhile.
    drop(root);
    let done = tell(&mut told, &struck, Duration::from_secs(command.wait), json).await?;
    data(json, &value(&struck, &told, done), || text(&struck, &told));
    if done {
        return Ok(());
    }
    Err(Failure::new(Exit::TimedOut, next(&told, command)))
}

/// Excludes the certificate in this file, and all others that the register has of the same key:
/// whoever holds it would go on with one of those.
fn strike_holder(root: &RootFolder, file: &Path, command: &Exclude) -> Result<Vec<Struck>, Failure> {
    let own = read_certificate(file)?;
    let key = Claim::from_der(&own).map_err(|error| wrong(file, &error))?.key;
    let mut others = Vec::new();
    for (other, der) in root.issued()?.into_iter().filter(|(_, der)| !command.only && *der != own) {
        let claim = Claim::from_der(&der).map_err(|error| wrong(&other, &error))?;
        if claim.key == key {
            others.push(other);
        }
    }
    if command.out.is_some() && !others.is_empty() {
        let text = "the register has several certificates of this key, and --out takes the statement of one. Leave --out away: all statements come to lie in the folder excluded/ of the root. Or give --only";
        return Err(Failure::new(Exit::Usage, text));
    }
    let all: Vec<Struck> = [file]
        .into_iter()
        .chain(others.iter().map(PathBuf::as_path))
        .map(|one| strike(root, one))
        .collect::<Result<_, _>>()?;
    if let (Some(out), [one]) = (&command.out, all.as_slice()) {
        create(out, &one.statement)?;
    }
    Ok(all)
}

/// Signs that the certificate in this file is out, and enters it.
fn strike(root: &RootFolder, certificate: &Path) -> Result<Struck, Failure> {
    let der = read_certificate(certificate)?;
    let claim = Claim::from_der(&der).map_err(|error| wrong(certificate, &error))?;
    let Some(sender) = claim.rights.first().map(|right| right.sender) else {
        let text = format!("{} is a root, which has no rights to lose", certificate.display());
        return Err(Failure::new(Exit::Usage, text));
    };
    // Whether its term holds does not matter.
    let statement = root.issuer.exclude(&der).map_err(|error| wrong(certificate, &error))?;
    let file = root.exclude(sender.get(), &der, &statement)?;
    Ok(Struck { claim, sender, statement, file })
}

/// All that were excluded before.
fn all(root: &RootFolder) -> Result<Vec<Struck>, Failure> {
    let struck: Vec<_> = root.excluded()?.iter().map(|file| strike(root, file)).collect::<Result<_, _>>()?;
    if struck.is_empty() {
        return Err(Failure::new(Exit::No, "no certificate of this root was excluded yet"));
    }
    Ok(struck)
}

/// Where it is told: in the groups that the certificates name, or at the URL.
fn addresses(at: Meeting, struck: &[Struck]) -> Vec<Address> {
    if let Some(url) = at.url {
        return vec![at.on(url)];
    }
    let mut all: Vec<_> = struck.iter().flat_map(|one| groups(&one.claim)).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|group| at.home(group)).collect()
}

fn name(one: &Struck) -> String {
    format!("{}, sender {}", visible(&one.claim.subject), one.sender)
}

fn untold(struck: &[Struck], root: &Path) -> String {
    let one = |one: &Struck| {
        format!(
            "{}: the exclusion is signed, and lies in {}. Without --now this command tells nobody",
            name(one),
            one.file.display()
        )
    };
    let lines: Vec<String> = struck.iter().map(one).collect();
    format!(
        "{}\nTo tell those that run: folkmoot lcm exclude --again --root {}. Or copy the file into the folder excluded/ beside a member's certificate",
        lines.join("\n"),
        root.display()
    )
}

/// Who has carried out what.
fn text(struck: &[Struck], told: &[Group]) -> String {
    let one = |(place, one): (usize, &Struck)| {
        let said = told.iter().map(|group| group.words(place)).collect::<Vec<_>>().join("; ");
        let done = told.iter().all(|group| group.is_done(place));
        let verdict = if done { "is excluded" } else { "is not excluded everywhere" };
        let ended = one.claim.term.end();
        match one.is_over() && !done {
            true => format!(
                "{}: its certificate ended at {ended}, by this host's clock. Members whose clocks agree take it no \
                 more, and do not confirm that. For those whose clocks are late it was told: {said}",
                name(one)
            ),
            false => format!("{} {verdict}: {said}", name(one)),
        }
    };
    struck.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
}

/// What to do about those that have not confirmed.
fn next(told: &[Group], command: &Exclude) -> String {
    let silent = told.iter().map(Group::silent).max().unwrap_or_default();
    let again = format!("folkmoot lcm exclude --again --root {}", command.root.display());
    if told.iter().all(Group::is_unheard) {
        return format!(
            "no member confirmed it within {} s: none runs, or none can be reached from here. Until then whoever holds the certificate may share their keys. Run this where they can be reached: {again}",
            command.wait
        );
    }
    format!(
        "{} did not confirm it within {} s. The others tell them when they meet; until then they may share keys with whoever holds the certificate. To ask again: {again}",
        many_of(silent, "member"),
        command.wait
    )
}

fn value(struck: &[Struck], told: &[Group], done: bool) -> Value {
    let one = |(place, one): (usize, &Struck)| {
        json!({
            "subject": one.claim.subject,
            "sender": one.sender.get(),
            "statement": hex(&one.statement),
            "file": crate::show::path(&one.file),
            "over": one.is_over(),
            "excluded": !told.is_empty() && told.iter().all(|group| group.is_done(place)),
            "groups": told.iter().map(|group| group.value(place)).collect::<Vec<_>>(),
        })
    };
    json!({ "done": done, "exclusions": struck.iter().enumerate().map(one).collect::<Vec<_>>() })
}
