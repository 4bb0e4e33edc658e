//! Reads what a transcript's line says, for schedules in which an attacker has every former key.

use super::company::Names;
use super::scribe::short;
use crate::record::{Deed, Player, Ruling, What};
use folkmoot_base::{Digest, Head, MemberId};
use folkmoot_identity::Scheme;
use folkmoot_transcript::{Approved, Change, Leave, Standing, Transcript};
use std::collections::BTreeSet;

/// What it has read already.
#[derive(Debug, Default)]
pub(super) struct Clerk {
    mark: Option<(Digest, usize, usize)>,
    decisions: BTreeSet<Head>,
    forks: BTreeSet<Head>,
    strangers: usize,
    hidden: BTreeSet<Player>,
}

impl Clerk {
    /// What is new.
    pub(super) fn read(&mut self, transcript: &Transcript, names: &Names) -> Vec<What> {
        let line = transcript.line();
        let mark = (transcript.digest(), line.forks().len(), transcript.ahead().len());
        if self.mark.replace(mark) == Some(mark) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for standing in line.decisions().values() {
            if self.decisions.insert(standing.head()) {
                out.push(What::Ruled(ruling(transcript, standing, names)));
            }
        }
        for (theirs, fork) in line.forks() {
            if self.forks.insert(*theirs) {
                out.push(What::Fork(theirs.number, all(&fork.liars, names)));
            }
        }
        let hidden = names.players(&transcript.hidden());
        if hidden != self.hidden {
            self.hidden.clone_from(&hidden);
            out.push(What::Hidden(hidden));
        }
        let members = transcript.roster().members().keys();
        let strangers = members.filter(|member| names.player(member).is_none()).count();
        if std::mem::replace(&mut self.strangers, strangers) != strangers {
            out.push(What::Strangers(strangers));
        }
        out
    }
}

fn all<'a>(members: impl IntoIterator<Item = &'a MemberId>, names: &Names) -> Vec<Option<Player>> {
    members.into_iter().map(|member| names.player(member)).collect()
}

fn ruling(transcript: &Transcript, standing: &Standing, names: &Names) -> Ruling {
    let decision = &standing.proposal.decision;
    let scheme = transcript.roster().founding_charter().scheme();
    let electors = transcript.line().electors_of(decision.number);
    Ruling {
        number: decision.number,
        name: short(&decision.digest()),
        parent: short(&decision.parent),
        time: decision.time.0,
        electors: electors.places.iter().map(|place| names.player(&place.member)).collect(),
        signers: standing.commits.iter().map(|commit| names.player(&commit.voter)).collect(),
        deeds: decision.effects.iter().map(|approved| deed(approved, scheme, names)).collect(),
        clock: None,
    }
}

fn deed(approved: &Approved, scheme: Scheme, names: &Names) -> Deed {
    let change = &approved.effect.change;
    let about = match change {
        Change::Remove { member } | Change::Rotate { member, .. } | Change::Leave(Leave { member, .. }) => {
            format!("key of {member}")
        }
        Change::Charter { field, .. } => format!("field {}", String::from_utf8_lossy(&field.0)),
        Change::Electorate { .. } => "electorate".to_owned(),
        Change::Sharing { .. } => "sharing".to_owned(),
        Change::Rejoin { .. } => "rejoin".to_owned(),
        Change::Retime { head } => format!("time of {}", head.number),
        Change::Hold { request } => format!("request {}", short(request)),
    };
    let removes = change.goes().and_then(|member| names.player(member));
    let voters = match change {
        Change::Electorate { voters } => all(voters, names),
        _ => Vec::new(),
    };
    let approvals = approved.approvals();
    let approvals = approvals.map(|one| (names.player(&one.voter), one.base.number, one.expires.0));
    let named = names.players(&change.keys(scheme));
    Deed { about, removes, voters, names: named, approvals: approvals.collect() }
}
