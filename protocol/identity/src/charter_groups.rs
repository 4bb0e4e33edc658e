//! ID-37: what a charter says about the groups that are named under it, if it differs from the
//! charter's own rules.

use folkmoot_base::{Cipher, GroupId, GroupName, Keying};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Most named groups that a charter has rules for.
const GROUPS_MAX: usize = 64;
/// Removes a group's rule: the charter's own applies again.
const INHERIT: &str = "inherit";

/// One `[groups.NAME]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupText {
    keying: Option<String>,
    cipher: Option<String>,
}

/// What differs in one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Own {
    keying: Option<Keying>,
    cipher: Option<Cipher>,
}

/// The differences, by group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Groups(BTreeMap<String, Own>);

impl Groups {
    /// Reads the tables. An error says which key is wrong, and why.
    pub(crate) fn read(tables: &BTreeMap<String, GroupText>) -> Result<Self, (&'static str, &'static str)> {
        let mut groups = Self::default();
        for (name, text) in tables {
            for (rule, word) in [("keying", &text.keying), ("cipher", &text.cipher)] {
                if let Some(word) = word {
                    groups.set(name, rule, word).map_err(|reason| ("groups", reason))?;
                }
            }
        }
        Ok(groups)
    }

    /// Sets `keying` or `cipher` of the group called `name`; `inherit` takes it back.
    pub(crate) fn set(&mut self, name: &str, rule: &str, word: &str) -> Result<(), &'static str> {
        GroupName::new(name).map_err(|_| "it does not name a group")?;
        let own = self.0.entry(name.to_owned()).or_default();
        match (rule, word) {
            ("keying", INHERIT) => own.keying = None,
            ("cipher", INHERIT) => own.cipher = None,
            ("keying", _) => own.keying = Some(Keying::from_name(word).ok_or(super::charter_value::KEYINGS)?),
            ("cipher", _) => own.cipher = Some(Cipher::from_name(word).ok_or(super::charter_value::CIPHERS)?),
            _ => return Err("for a named group, only keying and cipher can be changed"),
        }
        self.0.retain(|_, own| *own != Own::default());
        if self.0.len() > GROUPS_MAX { Err("at most 64 groups can have rules of their own") } else { Ok(()) }
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = GroupName> {
        self.0.keys().filter_map(|name| GroupName::new(name).ok())
    }

    /// Every module that a group is given.
    pub(crate) fn keyings(&self) -> impl Iterator<Item = Keying> {
        self.0.values().filter_map(|own| own.keying)
    }

    /// Module and cipher of each; `usual` if nothing else is said.
    pub(crate) fn suites(
        &self,
        home: &GroupId,
        usual: (Keying, Cipher),
    ) -> BTreeMap<GroupId, (Keying, Cipher)> {
        let suite = |(name, own): (&String, &Own)| {
            let name = GroupName::new(name).ok()?;
            let suite = (own.keying.unwrap_or(usual.0), own.cipher.unwrap_or(usual.1));
            Some((GroupId::of_name(home, &name), suite))
        };
        self.0.iter().filter_map(suite).collect()
    }
}
