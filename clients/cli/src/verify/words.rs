//! Says what is wrong with a transcript, in words for people: with names instead of ids, and whose
//! fault it is.

use crate::exit::whole;
use crate::show::{harmless, many, short};
use folkmoot_base::{DecodeError, EntryId, MemberId};
use folkmoot_identity::transcript::{Audit, Blame, Contradiction, FileError, Flaw, Wrong};
use folkmoot_identity::{CertificateError, EntryError, Roster};

/// Most names or ids in one sentence.
const SHOWN_MAX: usize = 5;

/// Where it is, and what is wrong with it.
pub(super) fn why(flaw: &Flaw, audit: &Audit) -> String {
    let what = match &flaw.wrong {
        Wrong::File(why) => file(why),
        Wrong::Entry(EntryError::WireOtherGenesis) if flaw.number == Some(1) => {
            "the file does not begin with this charter as it is signed here".into()
        }
        Wrong::Entry(EntryError::WireOtherGroup(group)) if flaw.number.is_none() => {
            format!("it is the transcript of another group ({})", group.short())
        }
        Wrong::Entry(why) => entry(why, audit.roster()),
        Wrong::WireTwice => "it is in the file twice".into(),
        Wrong::WireOrder { parent: Some(parent) } => {
            format!("its parent, entry {parent}, comes after it")
        }
        Wrong::WireOrder { parent: None } => "it is out of order: entries were moved".into(),
        Wrong::LocalHeads(heads) => format!(
            "the file is older than what you know, or from another side of a split, or cut off: {} not in it",
            are(heads.len(), "head", &ids(heads))
        ),
        Wrong::PeerContradictions(all) => all
            .iter()
            .take(SHOWN_MAX)
            .map(|one| contradiction(one, audit.roster()))
            .collect::<Vec<_>>()
            .join("; "),
        other => whole(other),
    };
    match flaw.number {
        Some(number) => {
            let id = flaw.id.map_or_else(String::new, |id| format!(" ({})", short(&id.hex())));
            format!("entry {number} of {}{id}: {what}", audit.progress().1)
        }
        None => what,
    }
}

/// Whose fault it is.
pub(super) fn fault(flaw: &Flaw, roster: &Roster) -> String {
    match &flaw.blame {
        Blame::Author(author) => format!("{} signed this entry, and is to blame", name(author, roster)),
        Blame::Voters(voters) if voters.is_empty() => "No voter signed both".into(),
        Blame::Voters(voters) => {
            let names: Vec<String> = voters.iter().take(SHOWN_MAX).map(|voter| name(voter, roster)).collect();
            let more = voters.len().saturating_sub(SHOWN_MAX);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("One or more of these, who voted for both, are to blame: {}{more}", names.join(", "))
        }
        Blame::Anyone => match &flaw.wrong {
            Wrong::LocalHeads(_) => "Ask for a newer file; every entry in this one is valid".into(),
            _ => "No signature shows whose fault that is: anyone who had the file may have done it".into(),
        },
    }
}

fn are(count: usize, what: &str, which: &str) -> String {
    if count == 1 { format!("the {what} {which} is") } else { format!("the {what}s {which} are") }
}

fn ids(ids: &[EntryId]) -> String {
    let shown: Vec<String> = ids.iter().take(SHOWN_MAX).map(|id| short(&id.hex()).to_owned()).collect();
    let more = ids.len().saturating_sub(SHOWN_MAX);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// A member as the roster calls it, if it ever had it.
fn name(member: &MemberId, roster: &Roster) -> String {
    let admission = roster.member(member).or_else(|| roster.former(member).map(|(admission, _)| admission));
    match admission {
        Some(admission) => format!("{} ({})", harmless(&admission.name), member.short()),
        None => format!("{}, whom the group does not know,", member.short()),
    }
}

fn file(why: &FileError) -> String {
    match why {
        FileError::WireLabel => "it is not a transcript file".into(),
        FileError::WireHead(DecodeError::Version(version)) => {
            format!("it is of version {version}, which this release does not read")
        }
        FileError::WireCount(count) => {
            format!("the number of entries that it gives, {count}, is out of range")
        }
        FileError::WireShort { here, count } => {
            format!("it is cut short: only {here} of {count} entries are whole")
        }
        FileError::WireLeftover(_) => "more bytes follow its last entry".into(),
        FileError::WireTooLong(bytes) => format!("it has {bytes} bytes, more than an entry may have"),
        other => whole(other),
    }
}

fn entry(why: &EntryError, roster: &Roster) -> String {
    let name = |member: &MemberId| name(member, roster);
    match why {
        EntryError::WireMalformed(DecodeError::Version(version)) => {
            format!("it is of version {version}, which this release does not read")
        }
        EntryError::WireMalformed(_) => "it is not a correctly encoded entry".into(),
        EntryError::WireParents => {
            "its list of parents is empty, too long, unsorted, or names one twice".into()
        }
        EntryError::WireOtherGroup(group) => format!("it is an entry of another group ({})", group.short()),
        EntryError::MissingParents(parents) => {
            let which = are(parents.len(), "parent", &ids(parents));
            format!("{which} not in the file: taken out, or never there")
        }
        EntryError::WireOtherGenesis => "it founds the group a second time".into(),
        EntryError::PeerNotMember(author) => {
            format!("it names {} as its author, who was not a member", name(author))
        }
        EntryError::WireSignature => {
            "its author's signature does not verify: it was forged, or the entry was changed".into()
        }
        EntryError::PeerCertificate(why) => certificate(why, roster),
        EntryError::PeerUsed(member) => {
            format!(
                "the request of {} was used for an admission before; to come back, it needs new votes",
                name(member)
            )
        }
        EntryError::PeerVoteEnded(voter) => format!("the vote of {} had run out", name(voter)),
        EntryError::PeerNoVotes(member) => format!("the certificate of {} carries no votes", name(member)),
        EntryError::PeerMinority { got, need } => {
            format!(
                "{}: too few to admit anybody; the charter asks for a quorum, at least {need}",
                many(*got, "vote")
            )
        }
        EntryError::PeerSerial { got, want } => {
            format!("it decides serial {got}, but serial {want} was next")
        }
        EntryError::PeerVotesOrder => "its votes are not sorted, or a voter is counted twice".into(),
        EntryError::PeerNotVoter(voter) => format!("{} had no vote", name(voter)),
        EntryError::PeerVote(voter) => not_on_this(&name(voter)),
        EntryError::PeerTooFewVotes { got, need } => {
            format!(
                "{}: too few to decide; it takes at least {need}, or exactly half with the voter listed first",
                many(*got, "vote")
            )
        }
        EntryError::PeerTarget(member) => format!("{} had no such admission then", name(member)),
        EntryError::PeerTooEarly { not_after, time } => {
            format!("it ends an admission at {time}, but that admission runs until {not_after}")
        }
        other => words(other),
    }
}

fn certificate(why: &CertificateError, roster: &Roster) -> String {
    match why {
        CertificateError::PeerTooFewVotes { got, need } => {
            format!("{}: too few to admit anybody; the charter asks for {need}", many(*got, "vote"))
        }
        CertificateError::PeerVote(voter) => not_on_this(&name(voter, roster)),
        CertificateError::PeerNotVoter(voter) => format!("{} had no vote", name(voter, roster)),
        other => format!("its certificate admits nobody: {}", whole(other)),
    }
}

fn not_on_this(voter: &str) -> String {
    format!("the vote of {voter} is not for this: it was forged, or given for something else")
}

/// An error's own words, without the rule's number: the sentence around has it.
fn words(error: &EntryError) -> String {
    whole(error).replacen(&format!(" ({})", error.rule()), "", 1)
}

fn contradiction(one: &Contradiction, roster: &Roster) -> String {
    let voters: Vec<String> = one.voters.iter().take(SHOWN_MAX).map(|voter| name(voter, roster)).collect();
    let ballot = if one.one_ballot { "one ballot, which no honest voter does" } else { "two ballots" };
    format!(
        "serial {} was decided twice, by entries {}; {} voted for both in {ballot}",
        one.serial,
        ids(&one.entries),
        voters.join(", "),
    )
}
