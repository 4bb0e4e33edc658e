//! Parties as people and programs read them.

use super::render::{Names, name};
use folkmoot::Party;

/// The name of a party: its member's, with the port if that is not 0.
pub(crate) fn party_name(names: &Names, party: &Party) -> String {
    party.of(&name(names, &party.member))
}

/// The texts of parties, as [`Party::hex`] writes them.
pub(super) fn ids(parties: &[Party]) -> Vec<String> {
    parties.iter().map(Party::hex).collect()
}
