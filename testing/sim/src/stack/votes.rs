//! Votes to admit, and admissions that are over, by name, as far as they are judged across a
//! restart.

use super::company::Names;
use crate::record::Player;
use folkmoot_base::Digest;
use folkmoot_member::Member;
use std::collections::BTreeSet;

/// A machine that forgets may have fewer decisions than a vote of its was over: by so many at most.
const LOST_DECISIONS: u64 = 16;

/// A vote over the decision with this number.
pub(super) fn name(subject: Digest, base: u64, player: Player) -> String {
    format!("vote-to-admit {} over {base} player{player}", short(&subject))
}

/// The end of the admission that this request brought about. A later admission of the same key does
/// not undo it.
pub(super) fn expelled(request: &Digest) -> String {
    format!("expelled from {}", short(request))
}

fn short(subject: &Digest) -> String {
    subject.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Open requests without this member's vote, with every base of a vote that would count: not before
/// the member had its place, nor before the request's key was expelled (LINE-12, LINE-13). What was
/// said before that counts no more, and is kept no more.
pub(super) fn lacking(member: &Member, names: &Names) -> BTreeSet<String> {
    let (me, state) = (member.id(), member.transcript().state());
    let Some(place) = state.since(&me).filter(|_| state.may_vote(&me)) else { return BTreeSet::new() };
    let mut lacking = BTreeSet::new();
    for petition in member.petitions().into_iter().filter(|petition| !petition.approved.contains(&me)) {
        let Some(player) = names.player(&petition.member) else { continue };
        let first = place.max(state.removed_at(&petition.member));
        let last = state.head().number.max(first).saturating_add(LOST_DECISIONS);
        lacking.extend((first..=last).map(|base| name(petition.subject, base, player)));
    }
    lacking
}
