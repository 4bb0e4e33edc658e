//! The founding text of a charter, as read: its keys, and the values that no vote changes.

use crate::authority::common;
use crate::central::{Central, CentralText, check_policies, refusal};
use crate::charter_algorithms::{self, Algorithms};
use crate::charter_groups::{GroupText, Groups};
use crate::charter_rules::{Adopt, Minority, Quorum, Rules, Timeouts};
use crate::charter_value::{CIPHERS, KEYINGS, value};
use crate::founder::{FOUNDERS_MAX, Founder};
use crate::names::is_made;
use crate::policy::{Below, Policies, Policy};
use crate::threshold::Threshold;
use crate::{CharterError, Recognised, Rule, Validity, contact, toml_1_0};
use folkmoot_base::{Cipher, Keying, MemberId, unhex};
use folkmoot_signing::{Mode, Scheme, VerifyingKey};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    format: Option<u32>,
    /// What the first format had in its place.
    version: Option<u32>,
    pub(crate) name: String,
    pub(crate) nonce: String,
    threshold: ThresholdText,
    scheme: String,
    mode: Option<String>,
    authority: Option<CentralText>,
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
    #[serde(default)]
    quorum: Quorum,
    #[serde(default)]
    adopt: Adopt,
    founders: Vec<FounderText>,
    #[serde(default)]
    timeouts: Timeouts,
    #[serde(default)]
    groups: BTreeMap<String, GroupText>,
    policy: Option<String>,
    list: Option<Vec<String>>,
    decider: Option<String>,
    admit: Option<String>,
    remove: Option<String>,
    objections: Option<u32>,
    request_days: Option<u32>,
    below_threshold: Option<String>,
    #[serde(default)]
    roles: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    contacts: Vec<String>,
    not_before: Option<u32>,
    not_after: Option<u32>,
    algorithms: Option<Vec<String>>,
    rsa_bits: Option<Vec<u32>>,
    hash: Option<String>,
    #[serde(default)]
    recognised: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "threshold must be a number of votes, as in 2, or a share, as in { ratio = \"30%\", window = 5 }"
)]
enum ThresholdText {
    Fixed(u32),
    Ratio(RatioText),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatioText {
    ratio: String,
    window: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FounderText {
    name: String,
    key: String,
}

/// What the reader of TOML says, in words that need no programming language.
fn plain(message: &str) -> String {
    let mut words = message.splitn(3, ' ');
    let (first, second, rest) = (words.next(), words.next(), words.next().unwrap_or_default());
    let key = rest.trim_start_matches('`').split('`').next().unwrap_or_default();
    match (first.unwrap_or_default(), second.unwrap_or_default()) {
        ("missing", "field") => format!("it does not say {key}"),
        ("unknown", "field") => format!("it says {key}, which this release does not know"),
        ("duplicate", "field") => format!("it says {key} twice"),
        ("invalid", "type:" | "value:" | "length") => match rest.split_once(", expected ") {
            Some((got, wanted)) => format!("{} stands where {} is expected", noun(got), noun(wanted)),
            None => message.to_owned(),
        },
        _ => message.replace('`', "\""),
    }
}

/// What stands in TOML, or is expected there.
fn noun(theirs: &str) -> String {
    match theirs {
        "a sequence" | "sequence" => return "a list".to_owned(),
        "a map" | "map" => return "a table".to_owned(),
        "a boolean" => return "true or false".to_owned(),
        "a string" => return "a text in quotes".to_owned(),
        kind if kind.starts_with("struct ") => return "a table".to_owned(),
        kind if kind.strip_prefix(['u', 'i']).is_some_and(|bits| bits.parse::<u8>().is_ok()) => {
            return "a whole number".to_owned();
        }
        _ => {}
    }
    let kinds = ["integer", "floating point", "string", "boolean"];
    let value = kinds.iter().find_map(|kind| theirs.strip_prefix(kind)).unwrap_or(theirs);
    value.trim().trim_matches('`').to_owned()
}

impl Text {
    /// Reads the keys, and refuses what this release cannot do.
    pub(crate) fn read(source: &str) -> Result<Self, CharterError> {
        let text: Self =
            toml::from_str(source).map_err(|error| CharterError::WireMalformed(plain(error.message())))?;
        if let Some((line, what)) = toml_1_0::beyond(source) {
            let why = format!("line {line} has {what}, which TOML 1.0 does not allow");
            return Err(CharterError::WireMalformed(why));
        }
        if text.version.is_some() {
            return Err(value("version", OLD));
        }
        if text.format != Some(2) {
            return Err(value("format", "this release reads format 2"));
        }
        Ok(text)
    }

    /// `ID-71`, `ID-73`, `ID-74`: which keys members may have. All founders have such keys, and
    /// what they sign fits one message.
    pub(crate) fn algorithms(&self, founders: &[Founder], text: &str) -> Result<Algorithms, CharterError> {
        let asm = Scheme::from_name(&self.scheme) == Some(Scheme::Asm);
        let algorithms = Algorithms::read(self.algorithms.as_deref(), self.rsa_bits.as_deref())?;
        charter_algorithms::check_hash(self.hash.as_deref())?;
        if asm && !algorithms.is_p256_alone() {
            return Err(value("algorithms", ASM));
        }
        if let Some(founder) = founders.iter().find(|founder| !algorithms.allows(&founder.key)) {
            return Err(value("founders.key", algorithms.why_not(&founder.key)));
        }
        charter_algorithms::check_room(text, founders)?;
        Ok(algorithms)
    }

    /// `ID-48`, `ID-66`, `ID-67`: a scheme that this release runs, with what it needs. A signature
    /// of the group's key does not say who signed, so with such a scheme no rule can ask who did. A
    /// multisignature names its signers, so nobody comes in by a list.
    pub(crate) fn scheme(&self, rules: &Rules, central: Option<&Central>) -> Result<Scheme, CharterError> {
        let scheme = Scheme::from_name(&self.scheme).ok_or(value("scheme", SCHEMES))?;
        let (mode, dealer) = (Central::mode(central), central.and_then(|central| central.dealer));
        if let Some((key, reason)) = refusal(scheme, mode, dealer, rules.threshold.follows()) {
            return Err(value(key, reason));
        }
        let signers = scheme.signers(usize::try_from(rules.threshold.votes()).unwrap_or(usize::MAX));
        if signers > self.founders.len() {
            return Err(value(
                "threshold",
                "there are too few founders to sign: ts-dsa takes two signers for each vote, less one",
            ));
        }
        check_policies(&rules.policies, scheme, mode, rules.minority_may_admit)
            .map_err(|(key, reason)| value(key, reason))?;
        Ok(scheme)
    }

    /// `ID-65`: the authority, if and only if the mode says that there is one.
    pub(crate) fn central(&self, founders: &[Founder]) -> Result<Option<Central>, CharterError> {
        let named = |mode: Mode| self.mode.as_deref().unwrap_or(Mode::Decentralised.name()) == mode.name();
        let central = match &self.authority {
            None if named(Mode::Decentralised) => return Ok(None),
            Some(text) if named(Mode::Centralised) => text.read()?,
            Some(_) | None if named(Mode::Centralised) || named(Mode::Decentralised) => {
                return Err(value("authority", "mode = \"centralised\" and [authority] go together"));
            }
            Some(_) | None => return Err(value("mode", "it must be decentralised or centralised")),
        };
        if central.certificate.name() != common(&self.name) {
            return Err(value(
                "authority.certificate",
                "it was made for another group: its subject must be this group's name",
            ));
        }
        if founders.iter().any(|founder| central.speaks(&founder.key.member_id())) {
            return Err(value(
                "authority.nodes",
                "it lists a founder's key, but an authority stands outside the group",
            ));
        }
        Ok(Some(central))
    }

    pub(crate) fn founders(&self) -> Result<Vec<Founder>, CharterError> {
        founders(&self.founders)
    }

    /// What a vote may change, not yet checked.
    pub(crate) fn rules(&self) -> Result<Rules, CharterError> {
        Ok(Rules {
            threshold: self.threshold()?,
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
            quorum: self.quorum,
            adopt: self.adopt,
            groups: Groups::read(&self.groups).map_err(|(key, reason)| value(key, reason))?,
            contacts: contact::from_texts(&self.contacts).map_err(|reason| value("contacts", reason))?,
            validity: Validity { not_before: self.not_before, not_after: self.not_after },
            policies: self.policies()?,
            recognised: Recognised::read(&self.recognised).map_err(|reason| value("recognised", reason))?,
        })
    }

    fn threshold(&self) -> Result<Threshold, CharterError> {
        match &self.threshold {
            ThresholdText::Fixed(votes) => Ok(Threshold::Fixed(*votes)),
            ThresholdText::Ratio(text) => Threshold::founded(&text.ratio, text.window, self.founders.len())
                .map_err(|reason| value("threshold", reason)),
        }
    }

    fn policies(&self) -> Result<Policies, CharterError> {
        let policy = self.policy.as_deref().map(Policy::from_word).transpose();
        let below = self.below_threshold.as_deref().map(Below::from_word).transpose();
        let decider =
            self.decider.as_deref().map(|id| MemberId::from_hex(id).ok_or(value("decider", NO_KEY_ID)));
        let roles = self.roles.iter().map(|(role, ids)| Ok((role.clone(), keys("roles", ids)?)));
        Ok(Policies {
            policy: policy.map_err(|reason| value("policy", reason))?.unwrap_or_default(),
            list: keys("list", self.list.as_deref().unwrap_or_default())?,
            decider: decider.transpose()?,
            roles: roles.collect::<Result<_, CharterError>>()?,
            admit: rule("admit", self.admit.as_deref())?,
            remove: rule("remove", self.remove.as_deref())?,
            objections: self.objections,
            request_days: self.request_days,
            below: below.map_err(|reason| value("below_threshold", reason))?.unwrap_or_default(),
        })
    }
}

const OLD: &str = "this charter has the first format, which this release does not read: found the group anew with folkmoot charter new, and admit its members again";
const SCHEMES: &str = "it must be plain, asm, ts-dsa, frost or shoup-rsa";
const ASM: &str = "with asm it must be p256 alone: its multisignatures are made by keys on that curve";
const NO_KEY_ID: &str = "it must be a key id: 64 hexadecimal digits, as folkmoot identity show prints it";

fn keys(field: &'static str, texts: &[String]) -> Result<BTreeSet<MemberId>, CharterError> {
    let mut ids = BTreeSet::new();
    for text in texts {
        if !ids.insert(MemberId::from_hex(text).ok_or(value(field, NO_KEY_ID))?) {
            return Err(value(field, "it has the same key twice"));
        }
    }
    Ok(ids)
}

fn rule(field: &'static str, text: Option<&str>) -> Result<Option<Rule>, CharterError> {
    let read = |text| Rule::parse(text).map_err(|source| CharterError::WireRule { key: field, source });
    text.map(read).transpose()
}

fn founders(texts: &[FounderText]) -> Result<Vec<Founder>, CharterError> {
    if texts.is_empty() || texts.len() > FOUNDERS_MAX {
        return Err(value("founders", "there must be between 1 and 32"));
    }
    let mut seen = BTreeSet::new();
    let mut out = Vec::with_capacity(texts.len());
    for text in texts {
        is_made(&text.name).map_err(|why| CharterError::WireName(text.name.clone(), why))?;
        let key = unhex(&text.key).and_then(|spki| VerifyingKey::from_spki_der(&spki).ok());
        let key = key.ok_or(value(
            "founders.key",
            "it must be the SPKI of a key of P-256, Ed25519 or RSA, in hexadecimal",
        ))?;
        if !seen.insert(key.member_id()) {
            return Err(value("founders.key", "it has the same key twice"));
        }
        out.push(Founder { name: text.name.clone(), key });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_a_charter_lacks_is_told_in_plain_words() {
        for (theirs, ours) in [
            ("missing field `name`", "it does not say name"),
            (
                "unknown field `x`, expected one of `name`, `votes`",
                "it says x, which this release does not know",
            ),
            ("invalid type: integer `7`, expected a sequence", "7 stands where a list is expected"),
            (
                "invalid type: string \"many\", expected u32",
                "\"many\" stands where a whole number is expected",
            ),
            ("invalid value: integer `-1`, expected u64", "-1 stands where a whole number is expected"),
            ("invalid type: map, expected a string", "a table stands where a text in quotes is expected"),
            ("key with no value, expected `=`", "key with no value, expected \"=\""),
        ] {
            assert_eq!(plain(theirs), ours);
        }
    }
}
