//! `folkmoot verify CHARTER TRANSCRIPT`: checks a group's transcript offline, by the charter alone.
//!
//! ```text
//! charter.cms + transcript.moot --> FileReader, piece by piece --> 0: who is in, who votes, the head to compare
//!                                                              '-> 1: which section, which rule (LINE-nn), whose fault
//! ```

mod words;

use crate::exit::{Exit, Failure};
use crate::files;
use crate::progress::Progress;
use crate::show::{Paint, data, line, many, paint, table, visible};
use crate::words::of_head;
use folkmoot::tools::wall_clock;
use folkmoot_base::{MemberId, UnixTime, hex};
use folkmoot_identity::SignedCharter;
use folkmoot_transcript::{
    Admit, Effect, FileError, FileReader, Fork, Held, KnownHead, Transcript, Uncounted,
};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use words::{Names, blamed, next_step, rule, section, why};

/// How a transcript's file is called.
pub(crate) const FILE_NAME: &str = "transcript.moot";
/// Bytes read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Progress is told in these.
const KIB: usize = 1024;

/// What is to be judged, and by what.
struct Question<'a> {
    file: &'a Path,
    json: bool,
}

/// `folkmoot verify CHARTER TRANSCRIPT [--head HEAD]...`
pub(crate) fn run(charter: &Path, file: &Path, heads: &[KnownHead], json: bool) -> Result<(), Failure> {
    let signed = files::founded(charter)?;
    let question = Question { file, json };
    let mut reader = FileReader::knowing(signed.der(), heads.to_vec());
    if let Err(flaw) = judge(&mut reader, &question)? {
        if json {
            line(&flaw_json(&flaw, &reader).to_string());
        }
        return Err(refusal(file, &flaw, &reader));
    }
    let transcript = reader.finish().map_err(Failure::bug)?;
    let next = format!("folkmoot verify {} {}", charter.display(), file.display());
    data(json, &told(&transcript, heads), || text(&transcript, heads, &next));
    Ok(())
}

/// The transcript in `file`, of this charter's group, judged; else why not.
pub(crate) fn load(signed: &SignedCharter, file: &Path) -> Result<Transcript, Failure> {
    let mut reader = FileReader::knowing(signed.der(), Vec::new());
    match judge(&mut reader, &Question { file, json: true })? {
        Ok(()) => reader.finish().map_err(Failure::bug),
        Err(flaw) => Err(refusal(file, &flaw, &reader)),
    }
}

fn judge(reader: &mut FileReader, question: &Question<'_>) -> Result<Result<(), FileError>, Failure> {
    let wrong = |error: std::io::Error| Failure::file(question.file, &error);
    let mut input = File::open(question.file).map_err(wrong)?;
    let all = std::fs::metadata(question.file).map_or(0, |about| about.len());
    let all = usize::try_from(all).unwrap_or(usize::MAX).div_ceil(KIB);
    let mut piece = vec![0; PIECE_BYTES];
    let mut progress = Progress::parts("KiB verified", question.json);
    let mut done: usize = 0;
    loop {
        let read = input.read(&mut piece).map_err(wrong)?;
        let judged = match piece.get(..read) {
            None | Some([]) => return Ok(reader.check()),
            Some(piece) => reader.push(piece),
        };
        if judged.is_err() {
            return Ok(judged);
        }
        done = done.saturating_add(read);
        progress.to(done.div_ceil(KIB), all);
    }
}

fn refusal(file: &Path, flaw: &FileError, reader: &FileReader) -> Failure {
    let (rule, why, next) = (rule(flaw), why(flaw, reader), next_step(flaw, reader));
    Failure::new(Exit::No, format!("{} is not valid ({rule}): {why}. {next}", file.display()))
}

fn flaw_json(flaw: &FileError, reader: &FileReader) -> Value {
    let blamed: Vec<String> = blamed(flaw).iter().map(MemberId::hex).collect();
    let (number, part) = section(flaw, reader).unzip();
    json!({
        "stands": false, "rule": rule(flaw), "section": number, "part": part,
        "why": why(flaw, reader), "blame": if blamed.is_empty() { "anyone" } else { "members" }, "blamed": blamed,
        "next": next_step(flaw, reader),
    })
}

/// What stands, as data.
fn told(transcript: &Transcript, heads: &[KnownHead]) -> Value {
    let (state, set) = (transcript.state(), transcript.set());
    let names = Names::of(transcript);
    let member = |(id, held): (&MemberId, &Held)| {
        json!({
            "member": id.hex(), "name": names.told(id), "request": hex(&held.request), "until": until(held).map(|end| end.0),
            "over": is_over(held), "votes": state.may_vote(id), "held": is_held(transcript, id, held),
        })
    };
    let voter = |place: &folkmoot_transcript::Place| json!({ "member": place.voter.hex(), "since": place.since, "votes": state.may_vote(&place.voter) });
    let admission = |admit: &Admit| {
        json!({
            "member": admit.member.hex(), "name": names.told(&admit.member), "request": hex(&admit.request), "until": admit.ends.0,
        })
    };
    let late = |(admit, why): (&Admit, &Uncounted)| {
        let mut late = admission(admit);
        if let Some(fields) = late.as_object_mut() {
            fields.insert("why".to_owned(), json!(names.explain(why)));
            fields.insert("rule".to_owned(), json!(rule(why)));
        }
        late
    };
    let fork = |fork: &Fork| {
        json!({
            "number": fork.ours.head().number, "ours": fork.ours.head().whole(), "theirs": fork.theirs.head().whole(),
            "ours_words": of_head(&fork.ours.head()), "theirs_words": of_head(&fork.theirs.head()),
            "signed_both": ids(&fork.liars), "former": !fork.is_by_voters(state),
        })
    };
    let head = state.head();
    json!({
        "stands": true, "format": 2, "group": transcript.group().hex(), "name": state.charter().name().as_str(),
        "threshold": state.threshold(), "head": head.whole(), "short": head.to_string(), "number": head.number,
        "head_words": of_head(&head),
        "decided": decided(transcript).map(|time| time.0), "verified": transcript.line().decisions().len(),
        "compared": !heads.is_empty(),
        "members": set.members(state).iter().map(member).collect::<Vec<_>>(),
        "voters": state.places().iter().map(voter).collect::<Vec<_>>(), "changes": state.changes(),
        "held": state.roster().len(), "not_held": set.counted().map(admission).collect::<Vec<_>>(),
        "late": set.late().map(late).collect::<Vec<_>>(),
        "proposals": approved(transcript).map(|effect| proposal(transcript, &names, effect)).collect::<Vec<_>>(),
        "forks": transcript.line().forks().values().map(fork).collect::<Vec<_>>(),
    })
}

fn proposal(transcript: &Transcript, names: &Names, effect: &Effect) -> Value {
    let [yes, no] = verdicts(transcript, effect);
    json!({
        "what": names.effect(transcript, effect), "subject": hex(&effect.subject().digest),
        "forced": effect.is_forced(), "approve": ids(&yes), "reject": ids(&no),
        "rejected": transcript.is_rejected(effect, None),
    })
}

/// What members are called in a transcript, each with the first digits of its id.
pub(crate) fn named<'a>(
    transcript: &Transcript,
    members: impl IntoIterator<Item = &'a MemberId>,
) -> Vec<String> {
    let names = Names::of(transcript);
    members.into_iter().map(|member| names.name(member)).collect()
}

fn ids<'a>(members: impl IntoIterator<Item = &'a MemberId>) -> Vec<String> {
    members.into_iter().map(MemberId::hex).collect()
}

/// The effects that somebody approves and that have not been decided since: open, or rejected.
fn approved(transcript: &Transcript) -> impl Iterator<Item = &Effect> {
    transcript.set().effects().filter(|effect| {
        let [yes, _] = verdicts(transcript, effect);
        !yes.is_empty()
    })
}

/// Who approves an effect, and who rejects it: as far as that still counts.
fn verdicts(transcript: &Transcript, effect: &Effect) -> [Vec<MemberId>; 2] {
    let state = transcript.state();
    let stamp = state.stamp(&effect.change);
    let all = transcript.set().approvals_of(effect.subject());
    let counting = all.filter(|one| state.counts(one, stamp, state.time()).is_ok());
    let mut verdicts = [Vec::new(), Vec::new()];
    let [yes, no] = &mut verdicts;
    for one in counting {
        if one.is_yes() { yes.push(one.voter) } else { no.push(one.voter) }
    }
    verdicts
}

/// When an admission ends; a founder's does not.
fn until(held: &Held) -> Option<UnixTime> {
    (held.ends.0 < u64::MAX).then_some(held.ends)
}

/// Whether the clock of this machine is past the end of an admission. Nothing in a file is judged
/// by that.
fn is_over(held: &Held) -> bool {
    held.ends < wall_clock()
}

/// When the last decision was made; none if there is none.
fn decided(transcript: &Transcript) -> Option<UnixTime> {
    (transcript.state().head().number > 0).then(|| transcript.state().time())
}

/// Whether a decision holds the admission by which somebody is a member.
fn is_held(transcript: &Transcript, id: &MemberId, held: &Held) -> bool {
    transcript.state().roster().get(id).is_some_and(|known| known.request == held.request)
}

fn text(transcript: &Transcript, heads: &[KnownHead], next: &str) -> String {
    let head = transcript.state().head();
    let names = Names::of(transcript);
    let parts = [
        about(transcript, &names),
        position(transcript),
        people(transcript, &names),
        voters(transcript, &names),
        changes(transcript),
        replaced(transcript, &names),
        held(transcript),
        late(transcript, &names),
        proposals(transcript, &names),
        forks(transcript, &names),
        verified(transcript),
        paint(Paint::Dim, &hint(&head, heads)),
        format!("{next} --head {}", head.whole()),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn about(transcript: &Transcript, names: &Names) -> String {
    let state = transcript.state();
    let founders: Vec<String> = state
        .founding_charter()
        .founders()
        .iter()
        .map(|founder| names.told(&founder.key.member_id()))
        .collect();
    let (need, voters) = (state.threshold(), state.voters().len());
    let admit = if need == 1 { "admits" } else { "admit" };
    let group = transcript.group().short();
    let name = visible(state.charter().name().as_str());
    let founders = founders.join(", ");
    format!("{name} ({group}), founded by {founders}; {} of {voters} {admit}", many(need, "vote"))
}

fn position(transcript: &Transcript) -> String {
    let head = transcript.state().head();
    let words = format!("\nhead in words: {}", of_head(&head));
    match decided(transcript) {
        Some(time) => {
            format!("head {head}: {} made, the last at {time}{words}", many_decisions(head.number))
        }
        None => format!("head {head}: the founding; nothing is decided yet{words}"),
    }
}

/// What was verified, and what was not.
fn verified(transcript: &Transcript) -> String {
    let (all, shown) = (transcript.state().head().number, transcript.line().decisions().len());
    if shown == 0 {
        return paint(Paint::Green, "valid: nothing is decided, and what counts was approved");
    }
    let stands = paint(
        Paint::Green,
        "valid: every handover and the last decision were committed by those who could, and what counts and no \
         decision holds was approved",
    );
    if u64::try_from(shown).is_ok_and(|shown| shown == all) {
        return stands;
    }
    let rest = format!(
        "The file shows {shown} of {}. That the others were right is the word of those who committed to these.",
        many_decisions(all)
    );
    format!("{stands}\n{}", paint(Paint::Dim, &rest))
}

fn many_decisions(number: u64) -> String {
    many(usize::try_from(number).unwrap_or(usize::MAX), "decision")
}

fn people(transcript: &Transcript, names: &Names) -> String {
    let state = transcript.state();
    let row = |(id, held): (&MemberId, &Held)| {
        let by = match (is_held(transcript, id, held), until(held)) {
            (true, None) => "the founding",
            (true, Some(_)) => "a decision",
            (false, _) => "approvals",
        };
        let over = if is_over(held) { ", over today" } else { "" };
        let until = until(held).map_or_else(|| "no term".to_owned(), |end| format!("{end}{over}"));
        let votes = if state.may_vote(id) { "yes" } else { "no" };
        vec![names.told(id), id.short(), votes.to_owned(), by.to_owned(), until]
    };
    let members = transcript.set().members(state);
    let rows: Vec<Vec<String>> = members.iter().map(row).collect();
    let mut people = table(&["MEMBER", "ID", "VOTES", "BY", "UNTIL"], &rows);
    if members.values().any(is_over) {
        let over = "over today: by the clock of this machine. Only members can say who is in now";
        people = format!("{people}\n{}", paint(Paint::Dim, over));
    }
    people
}

/// The places of the electorate, in order.
fn voters(transcript: &Transcript, names: &Names) -> String {
    let state = transcript.state();
    let place = |place: &folkmoot_transcript::Place| {
        let name = names.name(&place.voter);
        if state.may_vote(&place.voter) { name } else { format!("{name}, no longer a member") }
    };
    let all: Vec<String> = state.places().iter().map(place).collect();
    format!("voters: {}", all.join(", "))
}

fn changes(transcript: &Transcript) -> String {
    let changes = transcript.state().changes().iter();
    let changes: Vec<String> = changes
        .map(|(field, value)| format!("charter now: {} = {}", visible(field), visible(value)))
        .collect();
    changes.join("\n")
}

/// Keys whose places others have taken.
fn replaced(transcript: &Transcript, names: &Names) -> String {
    let all = transcript.state().replaced().iter().map(|(member, one)| {
        format!(
            "{} has the place of {} since decision {}",
            names.name(&one.by),
            names.name(member),
            one.number
        )
    });
    all.collect::<Vec<_>>().join("\n")
}

fn held(transcript: &Transcript) -> String {
    let (held, counted) = (transcript.state().roster().len(), transcript.set().counted().count());
    let not = if counted == 1 { "counts and is not held yet" } else { "count and are not held yet" };
    format!("decisions hold {}; {} {not}", many(held, "member"), many(counted, "admission"))
}

fn late(transcript: &Transcript, names: &Names) -> String {
    let late = transcript.set().late().map(|(admit, why)| {
        format!("late, so not a member by this: {}: {}", names.name(&admit.member), names.explain(why))
    });
    late.collect::<Vec<_>>().join("\n")
}

fn proposals(transcript: &Transcript, names: &Names) -> String {
    let one = |effect: &Effect| {
        let [yes, no] = verdicts(transcript, effect);
        let against =
            if no.is_empty() { String::new() } else { format!("; against it: {}", names.several(&no)) };
        let what = names.effect(transcript, effect);
        let open = if transcript.is_rejected(effect, None) { "rejected" } else { "open" };
        format!("{open}: {what}; approved by {}{against}", names.several(&yes))
    };
    approved(transcript).map(one).collect::<Vec<_>>().join("\n")
}

fn forks(transcript: &Transcript, names: &Names) -> String {
    let one = |fork: &Fork| {
        let theirs = fork.theirs.head();
        let liars: Vec<MemberId> = fork.liars.iter().copied().collect();
        let both = if liars.is_empty() {
            "nobody signed both in a way that contradicts itself".to_owned()
        } else {
            format!("{} signed both", names.several(&liars))
        };
        let (former, colour) = match fork.is_by_voters(transcript.state()) {
            true => ("", Paint::Red),
            false => (
                "; only former voters committed to it, and may have done so since they had no vote",
                Paint::Dim,
            ),
        };
        let text = format!(
            "fork: number {} was decided twice; the other decision is {theirs} (in words: {}); {both}{former}",
            theirs.number,
            of_head(&theirs)
        );
        paint(colour, &text)
    };
    transcript.line().forks().values().map(one).collect::<Vec<_>>().join("\n")
}

fn hint(head: &folkmoot_base::Head, heads: &[KnownHead]) -> String {
    if heads.is_empty() {
        return format!(
            "A file proves its own line only: former voters can write another. Compare the head {head} with \
             somebody inside, or give a head that you have from there with --head."
        );
    }
    "Keep the head for the next time: with it, a file that was rolled back does not pass.".to_owned()
}
