//! The charter: a group's founding rules, as TOML. The exact bytes are kept; their digest names the group (N1).
//!
//! ```toml
//! version = 1
//! name = "book club"
//! nonce = "00112233445566778899aabbccddeeff"
//! threshold = 2                        # votes that admit
//! scheme = "plain"
//! keying = "by-size"                   # or a module: gdh, tgdh, str, bd; ckd, dutta-barua, mls
//! cipher = "aes-256-gcm"               # or chacha20-poly1305
//! hybrid = false                       # optional; true, with ckd or mls: keys are agreed by ML-KEM-768 too
//! hybrid_links = false                 # optional, never to be changed; true: links between nodes are by ML-KEM-768 too
//! contributory = true                  # every member has a share in every key; false allows the last three modules
//! minority = "continue"                # or "read-only", "stop": what the smaller side of a split may do
//! minority_may_admit = true
//! letters = false                      # optional; true: who is no member may write to the group, and be answered
//! certificate_days = 365
//! request_hours = 72
//! [[founders]]
//! name = "alice"
//! key = "3059…"                        # SPKI, hexadecimal
//! [timeouts]                           # optional, each
//! step_ms = 3000
//! [groups.fleet]                       # optional: a group named under this one, where it differs
//! keying = "mls"
//! cipher = "chacha20-poly1305"
//! ```
//! Later versions (T8) are the founding text and the changes made since: the GroupId stays, [`Charter::digest`] moves on.

use crate::charter_groups::{GroupText, Groups};
use crate::envelope::NAME_BYTES_MAX;
use crate::{CharterError, IdentityCertificate};
use bytes::Bytes;
use folkmoot_base::{Cipher, Digest, GroupId, GroupName, Keying, MemberId, digest};
use folkmoot_signing::{Scheme, VerifyingKey};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Longest charter, in bytes of TOML.
pub const CHARTER_TOML_BYTES_MAX: usize = 16 * 1024;
/// Most founders.
pub const FOUNDERS_MAX: usize = 32;
/// Highest threshold.
pub const THRESHOLD_MAX: u32 = 128;
const DAYS_MAX: u32 = 3_650;
const HOURS_MAX: u32 = 8_760;
const TIMEOUT_MS_MAX: u32 = 3_600_000;
pub(crate) const KEYINGS: &str = "by-size, gdh, tgdh, str, bd, ckd, dutta-barua or mls";
pub(crate) const CIPHERS: &str = "aes-256-gcm or chacha20-poly1305";
const SCHEMES: &str = "plain, ts-dsa or frost";
const LINKS_FIXED: &str =
    "fixed when the group was founded: who was away meanwhile could link to nobody to hear of the change";
const NO_HYBRID: &str = "only keying ckd and mls have a form with ML-KEM-768";

/// What the smaller side of a split may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Minority {
    /// Go on as before.
    Continue,
    /// Receive, not send.
    ReadOnly,
    /// Neither.
    Stop,
}

impl Minority {
    /// The word in the charter.
    pub fn word(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::ReadOnly => "read-only",
            Self::Stop => "stop",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Continue, Self::ReadOnly, Self::Stop].into_iter().find(|rule| rule.word() == word)
    }
}

/// Timeouts that the charter sets; `None` leaves a layer's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeouts {
    /// How long a member waits for another's step before it complains (K4).
    pub step_ms: Option<u32>,
    /// How long a node waits for a silent peer.
    pub silence_ms: Option<u32>,
    /// How often absent nodes are probed (D3).
    pub lookup_ms: Option<u32>,
    /// By how much clocks may differ (T7).
    pub skew_ms: Option<u32>,
    /// How old a key grows before the members make another.
    pub refresh_ms: Option<u32>,
}

/// One of those who sign the charter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Founder {
    /// By which name.
    pub name: String,
    /// With which key.
    pub key: VerifyingKey,
}

impl From<&IdentityCertificate> for Founder {
    fn from(certificate: &IdentityCertificate) -> Self {
        Self { name: certificate.name().to_owned(), key: certificate.key().clone() }
    }
}

/// A legal charter: the founding one, or as changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charter {
    bytes: Bytes,
    group: GroupId,
    digest: Digest,
    version: u32,
    name: GroupName,
    nonce: [u8; 16],
    founders: Vec<Founder>,
    hybrid_links: bool,
    scheme: Scheme,
    rules: Rules,
    /// The rules' keying as it is run: in its hybrid form if they say so.
    agreement: Keying,
    /// Module as it is run and cipher of the named groups that have rules of their own.
    suites: BTreeMap<GroupId, (Keying, Cipher)>,
}

/// What a vote may change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rules {
    threshold: u32,
    keying: Keying,
    cipher: Cipher,
    hybrid: bool,
    contributory: bool,
    minority: Minority,
    minority_may_admit: bool,
    letters: bool,
    certificate_days: u32,
    request_hours: u32,
    timeouts: Timeouts,
    groups: Groups,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    version: u32,
    name: String,
    nonce: String,
    threshold: u32,
    scheme: String,
    keying: String,
    cipher: String,
    #[serde(default)]
    hybrid: bool,
    #[serde(default)]
    hybrid_links: bool,
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

impl Charter {
    /// Reads a founding charter; keeps the exact bytes.
    ///
    /// # Errors
    /// [`CharterError::WireMalformed`], [`CharterError::WireValue`].
    pub fn from_toml(text: &str) -> Result<Self, CharterError> {
        if text.len() > CHARTER_TOML_BYTES_MAX {
            return Err(CharterError::WireMalformed(format!("{} bytes are too long", text.len())));
        }
        let parsed: Text =
            toml::from_str(text).map_err(|error| CharterError::WireMalformed(error.message().to_owned()))?;
        check_fixed(&parsed)?;
        let (founders, scheme) = (founders(&parsed.founders)?, scheme(&parsed)?);
        let rules = Rules {
            threshold: parsed.threshold,
            keying: Keying::from_name(&parsed.keying).ok_or(value("keying", KEYINGS))?,
            cipher: Cipher::from_name(&parsed.cipher).ok_or(value("cipher", CIPHERS))?,
            hybrid: parsed.hybrid,
            contributory: parsed.contributory,
            minority: parsed.minority,
            minority_may_admit: parsed.minority_may_admit,
            letters: parsed.letters,
            certificate_days: parsed.certificate_days,
            request_hours: parsed.request_hours,
            timeouts: parsed.timeouts,
            groups: Groups::read(parsed.groups).map_err(|(key, reason)| value(key, reason))?,
        };
        let agreement = rules.check().map_err(|(key, reason)| CharterError::WireValue { key, reason })?;
        if usize::try_from(rules.threshold).unwrap_or(usize::MAX) > founders.len() {
            return Err(value("threshold", "more votes than founders"));
        }
        let group = GroupId::of_charter(text.as_bytes());
        Ok(Self {
            group,
            suites: rules.suites(&group),
            digest: digest(&[b"folkmoot charter v1\0", text.as_bytes()]),
            version: 1,
            name: GroupName::new(&parsed.name).map_err(|_| value("name", "not a group name"))?,
            nonce: unhex(&parsed.nonce)
                .and_then(|nonce| nonce.try_into().ok())
                .ok_or(value("nonce", "not 32 hexadecimal digits"))?,
            bytes: Bytes::copy_from_slice(text.as_bytes()),
            founders,
            hybrid_links: parsed.hybrid_links,
            scheme,
            rules,
            agreement,
        })
    }

    /// The charter after a vote set `field` to `word`. Fields: threshold, keying, cipher, hybrid, contributory,
    /// minority, minority_may_admit, letters, certificate_days, request_hours, timeouts.{step_ms, silence_ms, lookup_ms, skew_ms,
    /// refresh_ms}, groups.NAME.{keying, cipher}.
    ///
    /// # Errors
    /// [`CharterError::PeerChange`].
    pub fn with_change(&self, field: &str, word: &str) -> Result<Self, CharterError> {
        let refuse =
            |reason| CharterError::PeerChange { field: field.to_owned(), value: word.to_owned(), reason };
        let mut next = self.clone();
        next.rules.set(field, word).map_err(refuse)?;
        next.agreement = next.rules.check().map_err(|(_, reason)| refuse(reason))?;
        next.suites = next.rules.suites(&self.group);
        if next.rules == self.rules {
            return Err(refuse("that is what it is already"));
        }
        next.version = self.version.checked_add(1).ok_or_else(|| refuse("too many changes"))?;
        next.digest = digest(&[b"folkmoot charter change v1\0", &self.digest, &change_digest(field, word)]);
        Ok(next)
    }

    /// The founding text, byte for byte.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The group that the founding text founds.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Names this version: the founding text and every change since, in order. What votes and certificates cover.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// 1 for the founding text, one more for each change.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The group's name.
    pub fn name(&self) -> &GroupName {
        &self.name
    }

    /// What makes two groups with equal rules differ.
    pub fn nonce(&self) -> &[u8; 16] {
        &self.nonce
    }

    /// The founders, in the order of the text; the first one's vote breaks a tie of halves (T4).
    pub fn founders(&self) -> &[Founder] {
        &self.founders
    }

    /// The founder with this id.
    pub fn founder(&self, member: &MemberId) -> Option<&Founder> {
        self.founders.iter().find(|founder| founder.key.member_id() == *member)
    }

    /// In which way the group signs. The same in every version.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Votes that admit.
    pub fn threshold(&self) -> u32 {
        self.rules.threshold
    }

    /// Which module agrees on keys, by the word in the text. What is run is [`Self::agreement`].
    pub fn keying(&self) -> Keying {
        self.rules.keying
    }

    /// The module as it is run: the hybrid form of [`Self::keying`] where [`Self::hybrid`] says so.
    pub fn agreement(&self) -> Keying {
        self.agreement
    }

    /// Module, as it is run, and cipher of a group: the charter's own, or one named under it.
    pub fn suite(&self, group: &GroupId) -> (Keying, Cipher) {
        self.suites.get(group).copied().unwrap_or((self.agreement, self.rules.cipher))
    }

    /// The groups named under this one that have rules of their own.
    pub fn named_groups(&self) -> impl Iterator<Item = GroupName> {
        self.rules.groups.names()
    }

    /// Whether the agreement also runs ML-KEM-768: in CKD's pairs, in MLS's encapsulations. Of links
    /// [`Self::hybrid_links`] says it.
    pub fn hybrid(&self) -> bool {
        self.rules.hybrid
    }

    /// Whether links between nodes also run ML-KEM-768. The same in every version.
    pub fn hybrid_links(&self) -> bool {
        self.hybrid_links
    }

    /// What seals under them.
    pub fn cipher(&self) -> Cipher {
        self.rules.cipher
    }

    /// Whether only modules are allowed in which every member has a share in every key.
    pub fn contributory(&self) -> bool {
        self.rules.contributory
    }

    /// What the smaller side of a split may do.
    pub fn minority(&self) -> Minority {
        self.rules.minority
    }

    /// Whether the smaller side of a split may admit.
    pub fn minority_may_admit(&self) -> bool {
        self.rules.minority_may_admit
    }

    /// Whether who is no member may write to the group.
    pub fn letters(&self) -> bool {
        self.rules.letters
    }

    /// Longest term of a certificate.
    pub fn certificate_days(&self) -> u32 {
        self.rules.certificate_days
    }

    /// How long a request stays open, and votes on it count.
    pub fn request_hours(&self) -> u32 {
        self.rules.request_hours
    }

    /// Timeouts that it sets.
    pub fn timeouts(&self) -> &Timeouts {
        &self.rules.timeouts
    }
}

/// Digest of a change of one field: the subject of votes on it.
pub fn change_digest(field: &str, word: &str) -> Digest {
    digest(&[b"folkmoot change v1\0", field.as_bytes(), b"\0", word.as_bytes()])
}

impl Rules {
    /// The module as it is run, if the rules are legal; else which of them is not, and why.
    fn check(&self) -> Result<Keying, (&'static str, &'static str)> {
        if !(1..=THRESHOLD_MAX).contains(&self.threshold) {
            return Err(("threshold", "between 1 and 128"));
        }
        let mut keyings = self.groups.keyings().chain([self.keying]);
        if self.contributory && keyings.any(|keying| !keying.contributory()) {
            return Err((
                "keying",
                "in that module not every member has a share: contributory must be false",
            ));
        }
        if !(1..=DAYS_MAX).contains(&self.certificate_days) {
            return Err(("certificate_days", "between 1 and 3650"));
        }
        if !(1..=HOURS_MAX).contains(&self.request_hours) {
            return Err(("request_hours", "between 1 and 8760"));
        }
        let times = &self.timeouts;
        let set = [times.step_ms, times.silence_ms, times.lookup_ms, times.skew_ms, times.refresh_ms];
        if set.into_iter().flatten().any(|ms| !(1..=TIMEOUT_MS_MAX).contains(&ms)) {
            return Err(("timeouts", "between 1 and 3600000 ms"));
        }
        if self.groups.keyings().any(|keying| self.agreement(keying).is_none()) {
            return Err(("hybrid", NO_HYBRID));
        }
        self.agreement(self.keying).ok_or(("hybrid", NO_HYBRID))
    }

    /// The form of a module that is run.
    fn agreement(&self, keying: Keying) -> Option<Keying> {
        if self.hybrid { keying.hybrid() } else { Some(keying) }
    }

    fn suites(&self, home: &GroupId) -> BTreeMap<GroupId, (Keying, Cipher)> {
        let mut suites = self.groups.suites(home, (self.keying, self.cipher));
        for (keying, _) in suites.values_mut() {
            *keying = self.agreement(*keying).unwrap_or(*keying);
        }
        suites
    }

    fn set(&mut self, field: &str, word: &str) -> Result<(), &'static str> {
        match field {
            "threshold" => self.threshold = number(word)?,
            "keying" => self.keying = Keying::from_name(word).ok_or(KEYINGS)?,
            "cipher" => self.cipher = Cipher::from_name(word).ok_or(CIPHERS)?,
            "hybrid" => self.hybrid = truth(word)?,
            "hybrid_links" => return Err(LINKS_FIXED),
            "contributory" => self.contributory = truth(word)?,
            "minority" => self.minority = Minority::from_word(word).ok_or("continue, read-only or stop")?,
            "minority_may_admit" => self.minority_may_admit = truth(word)?,
            "letters" => self.letters = truth(word)?,
            "certificate_days" => self.certificate_days = number(word)?,
            "request_hours" => self.request_hours = number(word)?,
            "timeouts.step_ms" => self.timeouts.step_ms = Some(number(word)?),
            "timeouts.silence_ms" => self.timeouts.silence_ms = Some(number(word)?),
            "timeouts.lookup_ms" => self.timeouts.lookup_ms = Some(number(word)?),
            "timeouts.skew_ms" => self.timeouts.skew_ms = Some(number(word)?),
            "timeouts.refresh_ms" => self.timeouts.refresh_ms = Some(number(word)?),
            _ => {
                let named = field.strip_prefix("groups.").and_then(|rest| rest.rsplit_once('.'));
                let (name, rule) = named.ok_or("not a field that can be changed")?;
                self.groups.set(name, rule, word)?;
            }
        }
        Ok(())
    }
}

fn check_fixed(text: &Text) -> Result<(), CharterError> {
    if text.version != 1 {
        return Err(value("version", "this release reads version 1"));
    }
    Ok(())
}

/// ID-48: a scheme that this release runs, with what it needs.
fn scheme(text: &Text) -> Result<Scheme, CharterError> {
    let scheme = Scheme::from_name(&text.scheme).ok_or(value("scheme", SCHEMES))?;
    if !matches!(scheme, Scheme::Plain | Scheme::TsDsa | Scheme::Frost) {
        return Err(value("scheme", SCHEMES));
    }
    let signers = scheme.signers(usize::try_from(text.threshold).unwrap_or(usize::MAX));
    if signers > text.founders.len() {
        return Err(value("threshold", "more signers than founders: ts-dsa takes two for each vote, less one"));
    }
    if scheme.shared() && !text.minority_may_admit {
        return Err(value("minority_may_admit", "a signature of the group does not say whose hands made it: true"));
    }
    Ok(scheme)
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

fn value(key: &'static str, reason: &'static str) -> CharterError {
    CharterError::WireValue { key, reason }
}

/// A number in its one spelling.
fn number(word: &str) -> Result<u32, &'static str> {
    let number: u32 = word.parse().map_err(|_| "not a number")?;
    if number.to_string() == word { Ok(number) } else { Err("not a number in plain digits") }
}

fn truth(word: &str) -> Result<bool, &'static str> {
    word.parse().map_err(|_| "true or false")
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
