//! Members and parties as people and programs read them.

use crate::show::harmless;
use folkmoot::{MemberId, Party};
use std::collections::BTreeMap;

/// Names of members, as far as known.
pub(crate) type Names = BTreeMap<MemberId, String>;

/// The name, made harmless, or the first digits of the id.
pub(crate) fn name(names: &Names, member: &MemberId) -> String {
    names.get(member).filter(|name| !name.is_empty()).map_or_else(|| member.short(), |name| harmless(name))
}

/// The name of a party: its member's, with the port if that is not 0.
pub(crate) fn party_name(names: &Names, party: &Party) -> String {
    party.of(&name(names, &party.member))
}

/// The texts of parties, as [`Party::hex`] writes them.
pub(super) fn ids(parties: &[Party]) -> Vec<String> {
    parties.iter().map(Party::hex).collect()
}
