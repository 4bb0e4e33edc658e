//! `folkmoot verify CHARTER TRANSCRIPT`: checks a group's whole history offline, by the charter
//! alone.
//!
//! ```text
//! charter.cms + transcript.moot --> Audit, entry by entry --> 0: who is in, the heads to note, numbers
//!                                                         '-> 1: which entry, which rule (TRN-nn), whose fault
//! ```

mod line;
mod line_words;
mod words;

use crate::exit::{Exit, Failure, whole};
use crate::files;
use crate::progress::Progress;
use crate::show::{Paint, data, harmless, line as print, many, paint, short, table};
use crate::values::Known;
use folkmoot_base::{EntryId, MemberId, UnixTime};
use folkmoot_identity::transcript::{Audit, Blame, Flaw, Numbers};
use folkmoot_identity::{Admission, Ending, Roster, SignedCharter, Transcript};
use folkmoot_transcript::FILE_LABEL;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How a transcript's file is called.
pub(crate) const FILE_NAME: &str = "transcript.moot";
/// Bytes read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// So many bytes say what a file is.
const LABEL_BYTES: u64 = FILE_LABEL.len() as u64;

/// `folkmoot verify CHARTER TRANSCRIPT [--head HEAD]...`: by what the file begins with, it is a
/// line of decisions or a transcript of format 1.
pub(crate) fn run(charter: &Path, file: &Path, heads: &[Known], json: bool) -> Result<(), Failure> {
    let signed = files::founded(charter)?;
    let wrong = |error: std::io::Error| Failure::file(file, &error);
    let mut open = File::open(file).map_err(wrong)?;
    let mut label = Vec::new();
    open.by_ref().take(LABEL_BYTES).read_to_end(&mut label).map_err(wrong)?;
    if label == FILE_LABEL {
        let about = line::Question { signed: &signed, charter, file, heads, json };
        return line::run(&about, label.as_slice().chain(open));
    }
    run_graph(&signed, [charter, file], label.as_slice().chain(open), &entries(heads)?, json)
}

/// The heads for a transcript of format 1.
fn entries(heads: &[Known]) -> Result<Vec<EntryId>, Failure> {
    let entry = |head: &Known| match head {
        Known::Entry(entry) => Ok(*entry),
        Known::Line(head) => {
            let text = format!(
                "{head} is a head of a line, but this file holds entries (format 1): give the head of an entry"
            );
            Err(Failure::new(Exit::Usage, text))
        }
    };
    heads.iter().map(entry).collect()
}

fn run_graph(
    signed: &SignedCharter,
    [charter, file]: [&Path; 2],
    open: impl Read,
    heads: &[EntryId],
    json: bool,
) -> Result<(), Failure> {
    let mut audit = Audit::of(signed.der()).map_err(|error| Failure::new(Exit::Refused, whole(&error)))?;
    let numbers = match judge(&mut audit, file, open, heads, json)? {
        Ok(()) => audit.numbers(),
        Err(flaw) => {
            if json {
                print(&flaw_json(&flaw, &audit).to_string());
            }
            return Err(refusal(file, &flaw, &audit));
        }
    };
    let next = format!("folkmoot verify {} {}", charter.display(), file.display());
    data(json, &told(&audit, &numbers), || text(&audit, &numbers, &next));
    Ok(())
}

/// The transcript in `file`, of this charter's group, judged; else why not.
pub(crate) fn load(signed: &SignedCharter, file: &Path) -> Result<Transcript, Failure> {
    let mut audit = Audit::of(signed.der()).map_err(|error| Failure::new(Exit::No, whole(&error)))?;
    let open = File::open(file).map_err(|error| Failure::file(file, &error))?;
    match judge(&mut audit, file, open, &[], true)? {
        Ok(()) => Ok(audit.into_transcript()),
        Err(flaw) => Err(refusal(file, &flaw, &audit)),
    }
}

fn judge(
    audit: &mut Audit,
    file: &Path,
    mut open: impl Read,
    heads: &[EntryId],
    quiet: bool,
) -> Result<Result<(), Box<Flaw>>, Failure> {
    let wrong = |error: std::io::Error| Failure::file(file, &error);
    let mut piece = vec![0; PIECE_BYTES];
    let mut progress = Progress::parts("entries verified", quiet);
    loop {
        let read = open.read(&mut piece).map_err(wrong)?;
        let judged = match piece.get(..read) {
            None | Some([]) => return Ok(audit.finish(heads).map(|_| ())),
            Some(piece) => audit.push(piece),
        };
        if judged.is_err() {
            return Ok(judged);
        }
        let (done, all) = audit.progress();
        progress.to(done, all);
    }
}

fn refusal(file: &Path, flaw: &Flaw, audit: &Audit) -> Failure {
    let (rule, why) = (flaw.wrong.rule(), words::why(flaw, audit));
    let text =
        format!("{} is not valid ({rule}): {why}. {}", file.display(), words::fault(flaw, audit.roster()));
    Failure::new(Exit::No, text)
}

fn flaw_json(flaw: &Flaw, audit: &Audit) -> Value {
    let (kind, members) = match &flaw.blame {
        Blame::Anyone => ("anyone", Vec::new()),
        Blame::Author(author) => ("author", vec![author.hex()]),
        Blame::Voters(voters) => ("voters", voters.iter().map(MemberId::hex).collect()),
    };
    json!({
        "stands": false, "rule": flaw.wrong.rule(), "entry": flaw.number, "id": flaw.id.map(|id| id.hex()),
        "entries": audit.progress().1, "why": words::why(flaw, audit), "blame": kind, "blamed": members,
    })
}

/// What stands, as data.
fn told(audit: &Audit, numbers: &Numbers) -> Value {
    let roster = audit.roster();
    let charter = roster.charter();
    let member = |one: &Admission| {
        json!({
            "member": one.member.hex(), "name": one.name, "admission": one.entry.hex(),
            "until": until(one).map(|time| time.0), "votes": roster.may_vote(&one.member),
        })
    };
    let former = |(one, ending): (&Admission, &Ending)| {
        let (how, entry) = ended(ending);
        json!({ "member": one.member.hex(), "name": one.name, "state": how, "entry": entry.hex() })
    };
    let mut value = json!({
        "stands": true, "group": audit.group().hex(), "name": charter.name().as_str(),
        "threshold": charter.threshold(), "serial": roster.electorate().serial,
        "members": roster.members().map(member).collect::<Vec<_>>(),
        "former": roster.formers().map(former).collect::<Vec<_>>(), "heads": heads(audit.heads()),
    });
    let counts = json!({
        "entries": numbers.entries, "admissions": numbers.admissions, "removals": numbers.removals,
        "expiries": numbers.expiries, "decisions": numbers.decisions, "charter_changes": numbers.charter_changes,
        "electorates": numbers.electorates, "splits": numbers.splits, "merges": numbers.merges, "contradictions": 0,
    });
    if let (Some(fields), Value::Object(counts)) = (value.as_object_mut(), counts) {
        fields.extend(counts);
    }
    value
}

/// Heads as data: whole, for who shortens them compares less.
pub(crate) fn heads<'a>(heads: impl IntoIterator<Item = &'a EntryId>) -> Vec<String> {
    heads.into_iter().map(EntryId::hex).collect()
}

fn text(audit: &Audit, numbers: &Numbers, next: &str) -> String {
    let roster = audit.roster();
    let charter = roster.charter();
    let founders: Vec<String> =
        roster.founding_charter().founders().iter().map(|founder| harmless(&founder.name)).collect();
    let admit = many(usize::try_from(charter.threshold()).unwrap_or(usize::MAX), "vote");
    let about = format!(
        "{} ({}), founded by {}; {admit} of {} {}",
        harmless(charter.name().as_str()),
        audit.group().short(),
        founders.join(", "),
        roster.electorate().voters.len(),
        if charter.threshold() == 1 { "admits" } else { "admit" },
    );
    let heads = heads(audit.heads());
    let options: Vec<String> = heads.iter().map(|head| format!("--head {head}")).collect();
    let shown: Vec<String> = heads.iter().map(|head| format!("head {head}")).collect();
    let hint = paint(
        Paint::Dim,
        "keep the heads for the next time: with them, a file that was rolled back or cut short does not pass",
    );
    let stands = paint(Paint::Green, "valid: every entry follows from the charter");
    let parts = [about, people(roster), gone(roster), counts(numbers), shown.join("\n"), stands];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}\n{hint}\n{next} {}", parts.join("\n"), options.join(" "))
}

fn people(roster: &Roster) -> String {
    let row = |one: &Admission| {
        let since = if one.certificate.is_none() {
            "the founding".into()
        } else {
            short(&one.entry.hex()).to_owned()
        };
        let until = until(one).map_or_else(|| "no term".into(), |time| time.to_string());
        let votes = if roster.may_vote(&one.member) { "yes" } else { "no" };
        vec![harmless(&one.name), one.member.short(), votes.to_owned(), since, until]
    };
    let rows: Vec<Vec<String>> = roster.members().map(row).collect();
    table(&["MEMBER", "ID", "VOTES", "SINCE", "UNTIL"], &rows)
}

fn gone(roster: &Roster) -> String {
    let one = |(one, ending): (&Admission, &Ending)| {
        format!("{} ({}, {})", harmless(&one.name), one.member.short(), ended(ending).0)
    };
    let gone: Vec<String> = roster.formers().map(one).collect();
    if gone.is_empty() { String::new() } else { format!("no longer members: {}", gone.join(", ")) }
}

fn ended(ending: &Ending) -> (&'static str, EntryId) {
    match ending {
        Ending::Expelled { entry } => ("expelled", *entry),
        Ending::Expired { entry, .. } => ("expired", *entry),
    }
}

/// When an admission runs out; a founder's does not.
fn until(one: &Admission) -> Option<UnixTime> {
    one.certificate.as_ref().map(|_| one.not_after)
}

fn counts(numbers: &Numbers) -> String {
    let Numbers { entries, admissions, removals, expiries, decisions, splits, merges, .. } = *numbers;
    let entries = if entries == 1 { "1 entry".into() } else { format!("{entries} entries") };
    let expiries = if expiries == 1 { "1 expiry".into() } else { format!("{expiries} expiries") };
    let parts = [
        many(admissions, "admission"),
        expiries,
        many(decisions, "decision"),
        many(removals, "removal"),
        many(splits, "split"),
        many(merges, "merge"),
    ];
    let [admitted, expired, decided, removed, split, merged] = parts;
    format!("{entries}: {admitted}, {expired}, {decided} ({removed}); {split}, {merged}; no contradiction")
}
