//! A group that has a charter of its own: two people, who live at two carriers.

use super::identity;
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use folkmoot::tools::Lodger;
use folkmoot::{GroupId, Party};
use std::path::PathBuf;

pub(super) struct Club {
    place: Place,
    pub(super) people: [Actor; 2],
    pub(super) group: GroupId,
}

impl Club {
    pub(super) fn new(name: &str, people: [&str; 2]) -> Self {
        let place = Place::new(name);
        let people = people.map(|name| Actor::new(&place, name));
        place.found(&people.each_ref().map(|one| one.state.as_path()), Times::PATIENT);
        let verified = people[0].good(&["charter", "verify", &place.signed().display().to_string()]);
        let group = GroupId::from_hex(verified["group"].as_str().unwrap()).unwrap();
        Self { place, people, group }
    }

    pub(super) fn charter(&self) -> PathBuf {
        self.place.signed()
    }

    /// The program of the person who lives at this carrier.
    pub(super) fn lodger(&self, at: usize) -> Lodger {
        Lodger { identity: identity(&self.people[at].state), port: 0, charter: Some(self.group) }
    }

    /// Both, sorted.
    pub(super) fn parties(&self) -> Vec<Party> {
        let mut both = self.people.each_ref().map(|one| Party::from(identity(&one.state).member()));
        both.sort_unstable();
        both.to_vec()
    }
}
