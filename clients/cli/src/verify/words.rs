//! Says what is wrong with a line's file, and what is open in it, in words for people: with names
//! in place of ids, and with what to do next.

use crate::show::visible;
use folkmoot_base::whole;
use folkmoot_base::{MemberId, hex};
use folkmoot_identity::names::{Apart, is_marked, told_apart};
use folkmoot_transcript::{
    Change, Effect, FileError, FileReader, ItemError, KnownHead, Transcript, Uncounted,
};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

/// Most names in one sentence.
const SHOWN_MAX: usize = 5;
/// Digits of a short id.
const SHORT: usize = 8;

/// The rule that an error names, or that what is below it does.
pub(super) fn rule(error: &dyn Error) -> String {
    let text = whole(error);
    let at = text.rfind("(LINE-").and_then(|at| text.get(at.saturating_add(1)..));
    at.and_then(|rest| rest.split(')').next()).unwrap_or("LINE-01").to_owned()
}

/// An error's words, without the number of its rule: the sentence around has it.
fn plain(error: &dyn Error) -> String {
    whole(error).replacen(&format!(" ({})", rule(error)), "", 1)
}

/// The section that a flaw is in, counted from 1, and what it is.
pub(super) fn section(flaw: &FileError, reader: &FileReader) -> Option<(usize, &'static str)> {
    let (number, kind) = reader.section();
    let at = |section: usize, kind: Option<u8>| (section.saturating_add(1), part(kind));
    match flaw {
        FileError::Kind { section, kind } | FileError::Order { section, kind } => {
            Some(at(*section, Some(*kind)))
        }
        FileError::TooLong { section, .. } | FileError::Item { section, .. } => Some(at(*section, kind)),
        FileError::Twice { section } => Some(at(*section, kind)),
        FileError::Overfull { section } => Some(at(*section, Some(5))),
        FileError::Charter if reader.so_far().is_none() => Some(at(number, Some(1))),
        _ => None,
    }
}

fn part(kind: Option<u8>) -> &'static str {
    match kind {
        Some(1) => "the charter",
        Some(2) => "a handover",
        Some(3) => "the last decision",
        Some(4) => "the state",
        Some(5) => "an item of the set",
        Some(6) => "the certificate of a member",
        Some(7) => "evidence of a fork",
        Some(8) => "the end",
        _ => "of an unknown kind",
    }
}

/// Where it is, and what is wrong with it.
pub(super) fn why(flaw: &FileError, reader: &FileReader) -> String {
    let names = reader.so_far().map(Names::of).unwrap_or_default();
    let what = match flaw {
        FileError::Label => "it is not a transcript of format 2".to_owned(),
        FileError::Charter => "the file does not begin with this charter as it is signed here".to_owned(),
        FileError::Kind { kind, .. } => format!("kind {kind} is not known to this release"),
        FileError::Order { .. } => "it is not in its place, or is there twice".to_owned(),
        FileError::TooLong { length, .. } => format!("{length} bytes are more than it may have"),
        FileError::AfterEnd => "more bytes follow its end".to_owned(),
        FileError::Short => "it is cut short: the end is missing".to_owned(),
        FileError::Twice { .. } => "an earlier section is of the same admission".to_owned(),
        FileError::Overfull { .. } => "the set has more than a member keeps of one".to_owned(),
        FileError::Item { why, .. } => names.put_into(&plain(why)),
        FileError::NoHead(head) => off_line(head, reader.so_far()),
        FileError::Forked { number, liars } => {
            let liars: Vec<MemberId> = liars.iter().copied().collect();
            let both = if liars.is_empty() {
                String::new()
            } else {
                format!(", and {} signed both", names.several(&liars))
            };
            format!("it shows that decision {number} was made twice{both}")
        }
        other => plain(other),
    };
    let text = match section(flaw, reader) {
        Some((number, part)) => format!("section {number} ({part}): {what}"),
        None => what,
    };
    visible(&text)
}

/// Why a head that somebody knows is not on the line of the file.
fn off_line(head: &KnownHead, transcript: Option<&Transcript>) -> String {
    let ours = transcript.map(|transcript| (transcript.state().head(), transcript.head_at(head.number())));
    match ours {
        Some((last, _)) if head.number() > last.number => {
            format!("the file ends with decision {}, before the head {head} that you know", last.number)
        }
        Some((_, Some(other))) => {
            format!("the file is of another line: it has {other} where you know {head}")
        }
        _ => format!("the head {head} that you know is so old that the file does not show it any more"),
    }
}

/// Who is proven to have signed what no honest member signs.
pub(super) fn blamed(flaw: &FileError) -> Vec<MemberId> {
    match flaw {
        FileError::Forked { liars, .. } => liars.iter().copied().collect(),
        _ => Vec::new(),
    }
}

/// Whose fault it is, and what to do about it.
pub(super) fn next_step(flaw: &FileError, reader: &FileReader) -> &'static str {
    match flaw {
        FileError::Label => "Give the file that a member wrote with: folkmoot export",
        FileError::Charter => {
            "Either file is another group's or was changed by somebody. Ask a member for both files"
        }
        FileError::Short | FileError::AfterEnd => {
            "Anyone who had the file may have done it. Copy the file again, or ask a member for a new one"
        }
        FileError::Kind { .. } => {
            "A newer release may have written it, or anyone who had the file changed it. Ask a member for a new one"
        }
        FileError::NoHead(head) => head_step(head, reader.so_far()),
        FileError::Forked { .. } => {
            "Ask members whom you trust which head they have, and give it with: --head HEAD"
        }
        FileError::Item { why: ItemError::State(_), .. } => {
            "Those who committed the last decision are to blame. Ask several members for a new file"
        }
        _ => {
            "No signature shows whose fault that is: anyone who had the file may have changed it. Ask a member \
             for a new one"
        }
    }
}

fn head_step(head: &KnownHead, transcript: Option<&Transcript>) -> &'static str {
    let shown = transcript.and_then(|transcript| transcript.head_at(head.number()));
    let last = transcript.map_or(0, |transcript| transcript.state().head().number);
    match shown {
        Some(_) => {
            "Former voters, or voters who signed both, made one of the two lines. Ask several members which \
             head they have, and do not use this file before they agree"
        }
        None if head.number() > last => {
            "The file is an older one, or was made from one. Ask for a newer file"
        }
        None => "Nobody need be at fault. Ask a member for a later head",
    }
}

/// What members are called, in a transcript.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: BTreeMap<MemberId, String>,
    /// By the first digits of the id.
    short: BTreeMap<String, MemberId>,
}

impl Names {
    /// Of all whom the transcript names: founders, members, whoever is late.
    pub(super) fn of(transcript: &Transcript) -> Self {
        let charter = transcript.signed_charter().charter();
        let founders = charter.founders().iter().map(|one| (one.key.member_id(), one.name.clone()));
        let late = transcript.set().admits().map(|admit| (admit.member, admit.name.clone()));
        let roster = transcript.state().roster();
        let held = roster.iter().map(|(member, held)| (*member, held.name.clone()));
        let names: BTreeMap<MemberId, String> = late.chain(founders).chain(held).collect();
        let former = transcript.state().former_keys();
        let people = names.iter().map(|(member, name)| (*member, name.as_str()));
        let left = transcript.roster().formers().keys().filter(|key| !former.contains_key(*key));
        let (gone, unasked, asking) = (left.copied().collect(), transcript.unasked_keys(), BTreeSet::new());
        let apart = Apart { former: &former, unasked: &unasked, gone: &gone, asking: &asking };
        let names = told_apart(people, apart);
        let short = names.keys().map(|member| (member.short(), *member)).collect();
        Self { names, short }
    }

    /// `Anna (1a2b3c4d)`, or the id alone.
    pub(super) fn name(&self, member: &MemberId) -> String {
        match self.names.get(member) {
            Some(name) if is_marked(name) => name.clone(),
            Some(name) => format!("{name} ({})", member.short()),
            None => member.short(),
        }
    }

    /// The name alone, with its mark if it has one.
    pub(super) fn told(&self, member: &MemberId) -> String {
        self.names.get(member).cloned().unwrap_or_else(|| member.short())
    }

    /// The first few of several members.
    pub(super) fn several(&self, members: &[MemberId]) -> String {
        let shown: Vec<String> = members.iter().take(SHOWN_MAX).map(|one| self.name(one)).collect();
        match (members.len().saturating_sub(SHOWN_MAX), shown.is_empty()) {
            (_, true) => "nobody".to_owned(),
            (0, _) => shown.join(", "),
            (more, _) => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// A text with names where it has short ids.
    fn put_into(&self, text: &str) -> String {
        let words = text.split_inclusive(|c: char| !c.is_ascii_hexdigit());
        let said = words.map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
            match self.short.get(word) {
                Some(member) => piece.replacen(word, &self.name(member), 1),
                None => piece.to_owned(),
            }
        });
        said.collect()
    }

    /// Why an admission does not count.
    pub(super) fn explain(&self, why: &Uncounted) -> String {
        visible(&self.put_into(&plain(why)))
    }

    /// What an effect does.
    pub(super) fn effect(&self, transcript: &Transcript, effect: &Effect) -> String {
        let forced = if effect.is_forced() { ", whatever it leaves behind" } else { "" };
        let text = |bytes: &[u8]| visible(&String::from_utf8_lossy(bytes));
        let asked = |request: &[u8; 32]| match transcript.set().admit(request) {
            Some(admit) => self.name(&admit.member),
            None => hex(request.iter().take(SHORT / 2)),
        };
        let what = match &effect.change {
            Change::Remove { member } => format!("expel {}", self.name(member)),
            Change::Leave(leave) => {
                format!("release {}, who asks to leave for good", self.name(&leave.member))
            }
            Change::Charter { field, value } => {
                format!("change the charter: {} = {}", text(&field.0), text(&value.0))
            }
            Change::Electorate { voters } => format!("let these vote: {}", self.several(voters)),
            Change::Sharing { .. } => "share the group's signing key anew".to_owned(),
            Change::Hold { request } => format!("hold the late admission of {}", asked(request)),
            Change::Rotate { member, request, .. } => {
                format!("give {} the key of the request of {}", self.name(member), asked(request))
            }
            Change::Rejoin { head } => format!("go over to the other line of decisions, at {head}"),
            Change::Retime { head } => format!("take the time of decision {head} back to the voters' clocks"),
        };
        what + forced
    }
}
