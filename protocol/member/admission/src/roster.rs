//! What several parts ask of the roster.

use core::time::Duration;
use folkmoot_base::{MemberId, NodeId};
use folkmoot_identity::Dealer;
use folkmoot_transcript::Roster;

/// How long a voter waits for each one before it to begin.
pub(crate) const TURN: Duration = Duration::from_millis(800);

/// Whether this node speaks for the charter's authority.
pub(crate) fn speaks(roster: &Roster, node: &NodeId) -> bool {
    roster.charter().central().is_some_and(|central| central.speaks(&node.member()))
}

/// Whether the authority, and not the members, is to make the sharing that is wanted.
pub(crate) fn is_dealers(roster: &Roster) -> bool {
    let dealer = roster.charter().central().and_then(|central| central.dealer);
    match dealer {
        Some(Dealer::Keeps) => true,
        Some(Dealer::SetupOnly) => roster.sharing().is_none(),
        None => false,
    }
}

/// Whether this member is to have a share of the sharing in use: it is one of its holders and
/// votes.
fn is_due_a_share(roster: &Roster, member: &MemberId) -> bool {
    roster.sharing().is_some_and(|now| now.facts.holders.contains(member)) && roster.may_vote(member)
}

/// `ADM-76`: whether the other holders can give this member its share again, should it be lost.
pub(crate) fn may_be_repaired(roster: &Roster, member: &MemberId) -> bool {
    roster.charter().scheme().repairs() && is_due_a_share(roster, member)
}

/// `ADM-87`: whether the authority can say this member's share again, should it be lost: members
/// cannot, and its dealer keeps the secret.
pub(crate) fn may_be_told_again(roster: &Roster, member: &MemberId) -> bool {
    !roster.charter().scheme().repairs() && is_dealers(roster) && is_due_a_share(roster, member)
}

/// `SHR-W`: whether the present sharing differs from what charter, electorate and roster call
/// for.
pub(crate) fn wants_sharing(roster: &Roster, for_whom: &MemberId) -> bool {
    let Some(sharing) = roster.sharing() else { return true };
    if roster.charter().is_dealt_once() {
        return false;
    }
    sharing.facts.threshold != roster.threshold()
        || !roster.leavers_with_shares().is_empty()
        || !sharing.facts.holders.contains(for_whom)
}

/// Whether as many holders as could sign have left with shares of the group's key. The threshold is
/// that of their shares, as the transcript counts it (`LINE-28`): the charter's may have moved
/// since.
pub(crate) fn are_stale(roster: &Roster) -> bool {
    roster.sharing().is_some_and(|now| roster.leavers_with_shares().len() >= now.facts.threshold)
}

/// How long this voter waits for those before it to begin.
pub(crate) fn turn(roster: &Roster, me: &MemberId) -> Duration {
    let place = roster.electorate().iter().position(|voter| voter == me).unwrap_or_default();
    TURN.saturating_mul(u32::try_from(place).unwrap_or(u32::MAX))
}
