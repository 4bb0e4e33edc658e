//! The founding text of a charter, read: its keys, and the values that no vote changes.

use crate::CharterError;
use crate::charter::{FOUNDERS_MAX, Founder};
use crate::charter_groups::{GroupText, Groups};
use crate::charter_rules::{CIPHERS, KEYINGS, Minority, Rules, Timeouts};
use crate::envelope::NAME_BYTES_MAX;
use folkmoot_base::{Cipher, Keying};
use folkmoot_signing::VerifyingKey;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    pub(crate) version: u32,
    pub(crate) name: String,
    pub(crate) nonce: String,
    threshold: u32,
    scheme: String,
    keying: String,
    cipher: String,
    #[serde(default)]
    hybrid: bool,
    #[serde(default)]
    pub(crate) hybrid_links: bool,
    contributory: bool,
    minority: Minority,
    minority_may_admit: bool,
    #[serde(default)]
    letters: bool,
    certificate_days: u32,
    request_hours: u32,
    founders: Vec<FounderText>,
    #[serde(default)]
    timeouts: Timeouts,
    #[serde(default)]
    groups: BTreeMap<String, GroupText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FounderText {
    name: String,
    key: String,
}

impl Text {
    /// Reads the keys, and refuses what this release cannot do.
    pub(crate) fn read(text: &str) -> Result<Self, CharterError> {
        let text: Self =
            toml::from_str(text).map_err(|error| CharterError::WireMalformed(error.message().to_owned()))?;
        if text.version != 1 {
            return Err(value("version", "this release reads version 1"));
        }
        if text.scheme != "plain" {
            return Err(value("scheme", "this release knows \"plain\""));
        }
        Ok(text)
    }

    pub(crate) fn founders(&self) -> Result<Vec<Founder>, CharterError> {
        founders(&self.founders)
    }

    /// What a vote may change, not yet checked.
    pub(crate) fn rules(&self) -> Result<Rules, CharterError> {
        Ok(Rules {
            threshold: self.threshold,
            keying: Keying::from_name(&self.keying).ok_or(value("keying", KEYINGS))?,
            cipher: Cipher::from_name(&self.cipher).ok_or(value("cipher", CIPHERS))?,
            hybrid: self.hybrid,
            contributory: self.contributory,
            minority: self.minority,
            minority_may_admit: self.minority_may_admit,
            letters: self.letters,
            certificate_days: self.certificate_days,
            request_hours: self.request_hours,
            timeouts: self.timeouts,
            groups: Groups::read(&self.groups).map_err(|(key, reason)| value(key, reason))?,
        })
    }
}

fn founders(texts: &[FounderText]) -> Result<Vec<Founder>, CharterError> {
    if texts.is_empty() || texts.len() > FOUNDERS_MAX {
        return Err(value("founders", "between 1 and 32"));
    }
    let mut seen = BTreeSet::new();
    let mut out = Vec::with_capacity(texts.len());
    for text in texts {
        if text.name.is_empty() || text.name.len() > NAME_BYTES_MAX || text.name.chars().any(char::is_control)
        {
            return Err(value("founders.name", "1 to 64 bytes without control characters"));
        }
        let key = unhex(&text.key).and_then(|spki| VerifyingKey::from_spki_der(&spki).ok());
        let key = key.ok_or(value("founders.key", "not the SPKI of a P-256 key in hexadecimal"))?;
        if !seen.insert(key.member_id()) {
            return Err(value("founders.key", "the same key twice"));
        }
        out.push(Founder { name: text.name.clone(), key });
    }
    Ok(out)
}

pub(crate) fn value(key: &'static str, reason: &'static str) -> CharterError {
    CharterError::WireValue { key, reason }
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
