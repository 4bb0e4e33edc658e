//! Members and parties as people and programs read them. A name that looks like another's has its
//! mark here already, in text and in JSON (`ID-91`).

use folkmoot::{MemberId, Party};
use folkmoot_identity::names::{told, unmarked};
use std::collections::BTreeMap;

/// What people are called, as far as known.
pub(crate) type Names = BTreeMap<MemberId, String>;

/// The name, or the first digits of the id.
pub(crate) fn name(names: &Names, member: &MemberId) -> String {
    names.get(member).filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| member.short())
}

/// The same for somebody who may not be known here, and goes by this name.
pub(crate) fn stranger(names: &Names, member: &MemberId, name: &str) -> String {
    if let Some(known) = names.get(member) {
        return known.clone();
    }
    let known = names.iter().map(|(member, name)| (*member, unmarked(name)));
    told(known.chain([(*member, name)])).remove(member).unwrap_or_else(|| member.short())
}

/// The name of a party: its member's, with the port if that is not 0.
pub(crate) fn party_name(names: &Names, party: &Party) -> String {
    party.of(&name(names, &party.member))
}

/// The texts of parties, as [`Party::hex`] writes them.
pub(super) fn ids(parties: &[Party]) -> Vec<String> {
    parties.iter().map(Party::hex).collect()
}
