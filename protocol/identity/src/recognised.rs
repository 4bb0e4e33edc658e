//! `ID-92`: whose certificates say who a newcomer is: authorities outside the group, and keys of
//! other groups. The charter names each, and has its key.

use crate::envelope::check_name;
use crate::policy::NONE;
use folkmoot_base::{hex, unhex};
use folkmoot_signing::{GroupKey, VerifyingKey};
use std::collections::BTreeMap;

/// Most that a charter names.
const RECOGNISED_MAX: usize = 8;
const KEY: &str = "it must be the SPKI of a key of P-256, Ed25519 or RSA, in hexadecimal; or none";
const MANY: &str = "it can name at most 8, each by a key of its own";
const NAME: &str = "a name must have 1 to 64 bytes without control characters";

/// Those that a charter names, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recognised(BTreeMap<String, GroupKey>);

impl Recognised {
    /// Reads the table.
    pub(crate) fn read(table: &BTreeMap<String, String>) -> Result<Self, &'static str> {
        let one = |(name, key): (&String, &String)| Ok((name.clone(), read_key(key)?));
        table.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Names one more, or another key for a name.
    pub fn insert(&mut self, name: String, key: GroupKey) {
        self.0.insert(name, key);
    }

    /// Each, with its key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &GroupKey)> {
        self.0.iter().map(|(name, key)| (name.as_str(), key))
    }

    /// Sets the key of one, as a vote has it.
    pub(crate) fn set(&mut self, name: &str, word: &str) -> Result<(), &'static str> {
        if word == NONE {
            self.0.remove(name);
            return Ok(());
        }
        let key = read_key(word)?;
        if hex(key.spki_der()) != word {
            return Err(KEY);
        }
        self.0.insert(name.to_owned(), key);
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let keys: Vec<&GroupKey> = self.0.values().collect();
        let twice = keys.iter().enumerate().any(|(at, key)| keys.iter().take(at).any(|other| other == key));
        if keys.len() > RECOGNISED_MAX || twice {
            return Err(("recognised", MANY));
        }
        if self.0.keys().any(|name| check_name(name).is_err()) {
            return Err(("recognised", NAME));
        }
        Ok(())
    }
}

/// A key in the form that members' keys have (SIGN-09).
fn read_key(text: &str) -> Result<GroupKey, &'static str> {
    let spki = unhex(text).ok_or(KEY)?;
    VerifyingKey::from_spki_der(&spki).and_then(|_| GroupKey::from_spki_der(&spki)).map_err(|_| KEY)
}
