//! Whether a text tells these people apart.

use crate::common::actor::Actor;
use std::collections::BTreeMap;

/// Latin.
pub(super) const ROMAN: &str = "anna";
/// With a Cyrillic a in front.
pub(super) const ROUND: &str = "\u{430}nna";
/// With a Cyrillic a at the end.
pub(super) const LAST: &str = "ann\u{430}";
/// With a zero-width joiner in it.
pub(super) const JOINER: &str = "an\u{200d}na";

pub(super) struct Crowd {
    ids: Vec<String>,
    told: BTreeMap<String, String>,
}

impl Crowd {
    pub(super) fn new(actors: &[Actor]) -> Self {
        let names = [ROMAN, ROMAN, ROUND, LAST];
        let told =
            actors.iter().zip(names).map(|(one, name)| (one.id.clone(), format!("{name}≈{}", &one.id[..8])));
        Self { ids: actors.iter().map(|one| one.id.clone()).collect(), told: told.collect() }
    }

    /// These, and one more of the first name.
    pub(super) fn and(&self, other: &Actor) -> Self {
        let (mut ids, mut told) = (self.ids.clone(), self.told.clone());
        ids.push(other.id.clone());
        told.insert(other.id.clone(), format!("{ROMAN}≈{}", &other.id[..8]));
        Self { ids, told }
    }

    /// What somebody is called.
    pub(super) fn told(&self, id: &str) -> &str {
        &self.told[id]
    }

    /// Each of the names in the text is followed by the digits of a key, and nothing in it is
    /// hidden.
    pub(super) fn reads(&self, what: &str, text: &str) {
        assert!(!text.contains('\u{200d}'), "{what}: {text}");
        for name in [ROMAN, ROUND, LAST] {
            for (at, _) in text.match_indices(name) {
                let rest = &text[at + name.len()..];
                let digits = rest.strip_prefix('≈').or_else(|| rest.strip_prefix(" ("));
                let known =
                    digits.is_some_and(|digits| self.ids.iter().any(|id| digits.starts_with(&id[..8])));
                assert!(known, "{what}: {name:?} is not told from others in: {text}");
            }
        }
    }
}
