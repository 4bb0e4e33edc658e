//! `folkmoot lcm root`, `certify`, `certificate`: who may be on which channels.

use super::papers::{
    CERTIFICATE, EXCLUDED, KEY, ROOT_CERTIFICATE, ROOT_KEY, RootFolder, absent, create_certificate,
    create_key, make_folder, read_certificate, statements_in, wrong,
};
use crate::args::certify::{Certificate, Certify, Root};
use crate::args::keys::NewPassphrase;
use crate::doctor::time_of_making;
use crate::exit::{Exit, Failure};
use crate::files::read_small;
use crate::keys::{Keys, replacing};
use crate::show::{Paint, data, paint, table, visible};
use core::ops::RangeInclusive;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Passphrase, UnixTime};
use folkmoot_base::whole;
use folkmoot_identity::plain::{SigningKey, VerifyingKey};
use folkmoot_identity::{Csr, pem_labels, public_from_pem};
use folkmoot_pubsub::secured::{
    Claim, Domain, IssueError, Issuer, Permit, PermitError, Right, Root as Judge, duplicates,
};
use folkmoot_pubsub::{Address, Channel, Pattern};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Clocks differ: a certificate begins a little before it is made.
const SKEW_SECONDS: u64 = 3_600;
const DAY_SECONDS: u64 = 86_400;
/// What is made if the folder has no name to take.
const NAMELESS: &str = "lcm member";

/// `folkmoot lcm root`
pub(super) fn root(command: &Root, json: bool) -> Result<(), Failure> {
    let Root::New { folder, name, days, no_passphrase } = command;
    absent(folder, &[ROOT_KEY, ROOT_CERTIFICATE])?;
    let term = term(*days)?;
    let passphrase = Keys::told().of_new_root(*no_passphrase)?;
    make_folder(folder)?;
    let mut entropy = entropy()?;
    let key = SigningKey::generate(&mut entropy);
    let issuer = Issuer::new(name, key, &term, &mut entropy).map_err(refused)?;
    create_key(&folder.join(ROOT_KEY), issuer.key(), passphrase.as_ref())?;
    let file = folder.join(ROOT_CERTIFICATE);
    create_certificate(&file, issuer.certificate())?;
    let (key, sealed) = (folder.join(ROOT_KEY), passphrase.is_some());
    data(
        json,
        &json!({ "name": name, "certificate": crate::show::path(&file), "key": crate::show::path(&key), "encrypted": sealed }),
        || {
            let hint = paint(
                Paint::Dim,
                "keep this folder to yourself; whoever has root.key decides who may be where",
            );
            let open = if sealed { String::new() } else { unencrypted(&key, folder) };
            format!("{}  root of {}\n{hint}{open}", file.display(), paint(Paint::Bold, &visible(name)))
        },
    );
    Ok(())
}

/// Said of a key that is made without a passphrase.
fn unencrypted(key: &Path, folder: &Path) -> String {
    let (key, folder) = (key.display(), folder.display());
    format!("\n{key} is not encrypted. To give it a passphrase: folkmoot lcm passphrase {folder}")
}

/// The passphrase for a member's key that is made now; none unless it was asked for.
fn of_member(command: &Certify) -> Result<Option<Passphrase>, Failure> {
    let (file, fd) = (command.new_passphrase_file.clone(), command.new_passphrase_fd);
    let no_passphrase = file.is_none() && fd.is_none();
    replacing(&NewPassphrase { new_passphrase_file: file, new_passphrase_fd: fd, no_passphrase })
}

/// `folkmoot lcm certify`
pub(super) fn certify(address: &Address, command: &Certify, json: bool) -> Result<(), Failure> {
    let root = RootFolder::open(&command.root)?;
    let Certify { out, sender, .. } = command;
    let (named, public) = match &command.request {
        Some(file) => requested(file)?,
        None => (None, None),
    };
    absent(out, if public.is_some() { &[CERTIFICATE] } else { &[CERTIFICATE, KEY, ROOT_CERTIFICATE] })?;
    let passphrase = of_member(command)?;
    let mut entropy = entropy()?;
    let made = public.is_none().then(|| SigningKey::generate(&mut entropy));
    let key = public.or_else(|| made.as_ref().map(|made| made.verifying_key().clone()));
    let key = key.ok_or_else(|| Failure::bug("there is no key to certify"))?;
    let of_folder = || out.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = command.name.clone().or(named).or_else(of_folder).unwrap_or_else(|| NAMELESS.to_owned());
    let rights = rights(address, command)?;
    let certificate =
        root.issuer.issue(&name, &key, &rights, &term(command.days)?, &mut entropy).map_err(refused)?;
    free(&root, &certificate)?;
    make_folder(out)?;
    let entry = root.enter(sender.get(), &certificate)?;
    let write = || {
        if let Some(made) = &made {
            create_key(&out.join(KEY), made, passphrase.as_ref())?;
        }
        own_root(&out.join(ROOT_CERTIFICATE), root.issuer.certificate())?;
        root.hand_exclusions(out)?;
        create_certificate(&out.join(CERTIFICATE), &certificate)
    };
    write().inspect_err(|_| {
        // Nobody has it, so nobody has the number.
        let _ = std::fs::remove_file(&entry);
    })?;
    let claim = Claim::from_der(&certificate).map_err(Failure::bug)?;
    data(json, &value(&claim, None), || {
        let next = match (&made, &passphrase) {
            (None, _) => "; put the key beside it, as member.key".to_owned(),
            (Some(_), Some(_)) => String::new(),
            (Some(_), None) => unencrypted(&out.join(KEY), out),
        };
        let file = out.join(CERTIFICATE);
        let nothing = if is_for_none(command) { for_none(&file) } else { String::new() };
        format!("{}{nothing}\n{}{next}", text(&claim), file.display())
    });
    Ok(())
}

fn is_for_none(command: &Certify) -> bool {
    command.channel.is_empty() && command.channels.is_empty()
}

/// Said of a certificate that names no channel.
fn for_none(file: &Path) -> String {
    format!(
        "\nfor no channel: its holder sees which channels are in use, and reads nothing. To add some, certify its key anew into another folder; add --channel NAME --request {}",
        file.display()
    )
}

/// The name and the key of a request or of another certificate, or the key of a public key.
fn requested(file: &Path) -> Result<(Option<String>, Option<VerifyingKey>), Failure> {
    let bytes = read_small(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let asks = |label: &&str| label.contains("CERTIFICATE") || *label == "PUBLIC KEY";
    if pem_labels(&text).filter(asks).count() > 1 {
        let why = format!(
            "{} holds more than one request, certificate or public key. Give a file with the one that is to be certified",
            file.display()
        );
        return Err(Failure::new(Exit::Usage, why));
    }
    if text.contains("-----BEGIN PUBLIC KEY-----") {
        let key = public_from_pem(&text).map_err(|error| wrong(file, &error))?;
        return Ok((None, Some(on_curve(file, &key)?)));
    }
    if text.contains("-----BEGIN CERTIFICATE-----") {
        let claim = Claim::from_der(&read_certificate(file)?).map_err(|error| wrong(file, &error))?;
        if claim.rights.is_empty() {
            let text = format!("{} is a root's certificate, and a root is no member", file.display());
            return Err(Failure::new(Exit::Configuration, text));
        }
        return Ok((claim.subject.strip_prefix("CN=").map(str::to_owned), Some(claim.key)));
    }
    let csr = Csr::read(&bytes).map_err(|error| {
        Failure::new(Exit::Configuration, format!("{}: {}", file.display(), whole(&error)))
    })?;
    Ok((Some(csr.name().to_owned()), Some(on_curve(file, csr.key())?)))
}

/// The key, if topics take it.
fn on_curve(file: &Path, key: &folkmoot_identity::VerifyingKey) -> Result<VerifyingKey, Failure> {
    let refuse = || {
        let what = key.algorithm().name();
        let text =
            format!("{}: it holds a key of {what}, and topics take keys of p256 alone", file.display());
        Failure::new(Exit::Configuration, text)
    };
    key.as_p256().cloned().ok_or_else(refuse)
}

fn rights(address: &Address, command: &Certify) -> Result<BTreeSet<Right>, Failure> {
    let group = Domain::group(address.group.into());
    let group = group.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let mut domains = vec![group];
    for channel in &command.channel {
        literal(channel)?;
        domains.push(group.with_channel(*channel));
    }
    for pattern in &command.channels {
        if is_open(pattern) {
            let text = format!(
                "{pattern} is what begins with its first part or ends with its last. Write ({pattern}) for the names themselves"
            );
            return Err(Failure::new(Exit::Usage, text));
        }
        // The error says more than that it is none.
        Pattern::new(pattern).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let channels = group.with_channels(pattern);
        domains.push(channels.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?);
    }
    Ok(domains.into_iter().map(|domain| Right { domain, sender: command.sender }).collect())
}

/// Whether a pattern has a choice outside of brackets: it would name more than it looks like.
fn is_open(pattern: &str) -> bool {
    let mut depth = 0_i32;
    let mut escaped = false;
    pattern.chars().any(|one| {
        let plain = !core::mem::take(&mut escaped);
        match one {
            '\\' if plain => escaped = true,
            '(' | '[' if plain => depth = depth.saturating_add(1),
            ')' | ']' if plain => depth = depth.saturating_sub(1),
            '|' => return plain && depth == 0,
            _ => {}
        }
        false
    })
}

/// Refuses what looks like a pattern: it would be the name of one channel, which nobody uses.
fn literal(channel: &Channel) -> Result<(), Failure> {
    let text = channel.text();
    if !text.contains(['*', '+', '?', '|', '(', '[', '^', '$', '\\']) {
        return Ok(());
    }
    let text = visible(&text);
    Err(Failure::new(
        Exit::Usage,
        format!(
            "{text} looks like a pattern, and --channel takes a name. For all channels that it names: --channels '{text}'. For a name with such a character, write that as a pattern, with \\ before it"
        ),
    ))
}

/// Refuses a certificate whose sender another key has (PUB-28).
fn free(root: &RootFolder, certificate: &[u8]) -> Result<(), Failure> {
    let (judge, now) = (root.issuer.root(), wall_clock());
    let mut permits = Vec::new();
    for (file, der) in root.issued()? {
        let permit = match judge.permit(&der, now, SKEW_SECONDS) {
            // It has the number from now on.
            Err(PermitError::PeerNotYet(begins)) => judge.permit(&der, begins, 0),
            other => other,
        };
        match permit {
            Ok(permit) => permits.push((file, permit)),
            // Its number is free again.
            Err(PermitError::PeerEnded(_)) => {}
            Err(error) => return Err(wrong(&file, &error)),
        }
    }
    let new = judge.permit(certificate, now, 0).map_err(|error| refused(error.into()))?;
    let taken = |(file, permit): &(_, Permit)| {
        duplicates([permit, &new]).first().map(|(right, _)| (Clone::clone(file), *right))
    };
    let Some((file, right)): Option<(std::path::PathBuf, Right)> = permits.iter().find_map(taken) else {
        return Ok(());
    };
    let text = format!(
        "another key is sender {} in {} until its certificate ends or is excluded ({}). Choose another number",
        right.sender,
        right.domain,
        file.display()
    );
    Err(Failure::new(Exit::No, text))
}

/// Writes the root certificate, or sees that it is there.
fn own_root(file: &Path, root: &[u8]) -> Result<(), Failure> {
    if !file.exists() {
        return create_certificate(file, root);
    }
    if read_certificate(file)? == root {
        return Ok(());
    }
    let text = format!("{} is of another root. Choose another folder", file.display());
    Err(Failure::new(Exit::Configuration, text))
}

/// `folkmoot lcm certificate`
pub(super) fn certificate(command: &Certificate, json: bool) -> Result<(), Failure> {
    let Certificate::Show { file, root } = command;
    let der = read_certificate(file)?;
    let claim = Claim::from_der(&der).map_err(|error| wrong(file, &error))?;
    let beside = file.with_file_name(ROOT_CERTIFICATE);
    let by = root.clone().or_else(|| Some(beside).filter(|beside| beside.exists() && beside != file));
    let judged = match by {
        Some(by) => Some(judge(&by, file, &der)?),
        None => None,
    };
    data(json, &value(&claim, judged.as_ref()), || {
        let verdict = match &judged {
            None => String::new(),
            Some(Ok(())) => format!("\n{}", paint(Paint::Green, "it counts now")),
            Some(Err(why)) => format!("\n{}", paint(Paint::Red, &format!("it does not count: {why}"))),
        };
        format!("{}{verdict}", text(&claim))
    });
    match judged {
        // The data say it all.
        Some(Err(_)) => Err(Failure::new(Exit::No, "")),
        _ => Ok(()),
    }
}

/// Whether the certificate in this file counts now, under this root; or why not. What lies in
/// `excluded/` beside the one and the other is looked at, too.
fn judge(root: &Path, file: &Path, der: &[u8]) -> Result<Result<(), String>, Failure> {
    let judge = Judge::from_der(&read_certificate(root)?).map_err(|error| wrong(root, &error))?;
    let permit = match judge.permit(der, wall_clock(), 0) {
        Ok(permit) => permit,
        Err(error) => return Ok(Err(error.to_string())),
    };
    for folder in [root, file].map(|one| one.with_file_name(EXCLUDED)) {
        let excludes = |statement: &[u8]| {
            // A statement of another root excludes nobody here.
            judge.excluded(statement).is_some_and(|out| out.holder == *permit.holder())
        };
        let found = statements_in(&folder)?.into_iter().find(|(_, statement)| excludes(statement));
        if let Some((said, _)) = found {
            return Ok(Err(format!("it is excluded, says {}{}", said.display(), written(&said))));
        }
    }
    Ok(Ok(()))
}

/// When a file was written, in words, if the system knows.
fn written(file: &Path) -> String {
    let time = std::fs::metadata(file).and_then(|about| about.modified()).ok();
    let since = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or_else(String::new, |since| format!(", which is of {}", UnixTime(since.as_secs())))
}

fn text(claim: &Claim) -> String {
    let head = format!(
        "{}, certified by {}, from {} to {}",
        paint(Paint::Bold, &visible(&claim.subject)),
        visible(&claim.issuer),
        claim.term.start(),
        claim.term.end()
    );
    if claim.rights.is_empty() {
        return format!("{head}\na root: it certifies others");
    }
    let row = |right: &Right| {
        let named = right.domain.channel().map(Channel::text).or_else(|| right.domain.pattern_text());
        let channel = named.map_or("(names of channels)".into(), |one| visible(&one));
        vec![right.domain.address().to_string(), right.sender.to_string(), channel]
    };
    let rows: Vec<Vec<String>> = claim.rights.iter().map(row).collect();
    format!("{head}\n{}", table(&["GROUP", "SENDER", "CHANNEL"], &rows))
}

fn value(claim: &Claim, judged: Option<&Result<(), String>>) -> Value {
    let right = |right: &Right| {
        json!({
            "group": right.domain.address().to_string(),
            "channel": right.domain.channel().map(Channel::text),
            "pattern": right.domain.pattern_text(),
            "sender": right.sender.get(),
            "urn": right.to_string(),
        })
    };
    json!({
        "subject": claim.subject,
        "issuer": claim.issuer,
        "key": claim.key.member_id().hex(),
        "begins": claim.term.start().to_string(),
        "ends": claim.term.end().to_string(),
        "rights": claim.rights.iter().map(right).collect::<Vec<_>>(),
        "counts": judged.map(Result::is_ok),
        "why": judged.and_then(|judged| judged.as_ref().err()),
    })
}

fn entropy() -> Result<OsEntropy, Failure> {
    OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))
}

fn term(days: u64) -> Result<RangeInclusive<UnixTime>, Failure> {
    let now = time_of_making()?.0;
    let ends = now.saturating_add(days.saturating_mul(DAY_SECONDS));
    Ok(UnixTime(now.saturating_sub(SKEW_SECONDS))..=UnixTime(ends))
}

/// A certificate that cannot be made as it was asked for.
fn refused(error: IssueError) -> Failure {
    Failure::new(Exit::Usage, error.to_string())
}
