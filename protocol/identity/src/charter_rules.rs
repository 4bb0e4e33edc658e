//! The fields of a charter that a vote may change, and their legal values.

use crate::charter_algorithms::FIXED;
use crate::charter_groups::Groups;
use crate::charter_value::{CIPHERS, KEYINGS, number};
use crate::contact::{self, Contact};
use crate::policy::{Policies, Policy, Refusal, count};
use crate::recognised::Recognised;
use crate::threshold::Threshold;
use crate::validity::Validity;
use folkmoot_base::{Cipher, GroupId, Keying, MemberId};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const DAYS_MAX: u32 = 3_650;
const HOURS_MAX: u32 = 8_760;
const TIMEOUT_MS_MAX: u32 = 3_600_000;
const LINKS_FIXED: &str = "it is fixed when the group is founded: a member that was away could not link to anybody to hear of the change";
const RECOGNISED: &str = "recognised.";
const NO_HYBRID: &str = "only the modules ckd and mls have a form with ML-KEM-768";

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

    /// The rule of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Continue, Self::ReadOnly, Self::Stop].into_iter().find(|rule| rule.word() == word)
    }
}

/// How many of the electorate's places a decision takes, besides the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quorum {
    /// More than half, or half with the first place. Two quorums share a voter.
    #[default]
    Majority,
    /// More than two thirds. Two quorums share more than a third of the places.
    TwoThirds,
}

impl Quorum {
    /// The word in the charter.
    pub fn word(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::TwoThirds => "two-thirds",
        }
    }

    /// The rule of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Majority, Self::TwoThirds].into_iter().find(|rule| rule.word() == word)
    }

    /// Whether `yes` of the places `places` are enough.
    pub fn holds(self, places: &[MemberId], yes: &BTreeSet<MemberId>) -> bool {
        let count = places.iter().filter(|voter| yes.contains(voter)).count();
        let first = places.first().is_some_and(|first| yes.contains(first));
        match self {
            Self::Majority => count * 2 > places.len() || (first && count * 2 == places.len()),
            Self::TwoThirds => count * 3 > places.len() * 2,
        }
    }
}

/// Who lets in somebody whose approvals ran out before a decision could hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adopt {
    /// The voters, who are asked again.
    #[default]
    Ask,
    /// The voters' programs, if nothing but the time has run out.
    Auto,
}

impl Adopt {
    /// The word in the charter.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Auto => "auto",
        }
    }

    /// The rule of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Ask, Self::Auto].into_iter().find(|rule| rule.word() == word)
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

/// What a vote may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) threshold: Threshold,
    pub(crate) keying: Keying,
    pub(crate) cipher: Cipher,
    pub(crate) hybrid: bool,
    pub(crate) contributory: bool,
    pub(crate) minority: Minority,
    pub(crate) minority_may_admit: bool,
    pub(crate) letters: bool,
    pub(crate) certificate_days: u32,
    pub(crate) request_hours: u32,
    pub(crate) timeouts: Timeouts,
    pub(crate) quorum: Quorum,
    pub(crate) adopt: Adopt,
    pub(crate) groups: Groups,
    pub(crate) contacts: BTreeSet<Contact>,
    pub(crate) validity: Validity,
    pub(crate) policies: Policies,
    pub(crate) recognised: Recognised,
}

impl Rules {
    /// The module as it is run, if the rules are legal; otherwise which rule is not, and why.
    pub(crate) fn check(
        &self,
        founders: &BTreeSet<MemberId>,
    ) -> Result<Keying, (&'static str, &'static str)> {
        self.threshold.check().map_err(|reason| ("threshold", reason))?;
        self.policies.check(founders)?;
        contact::check(&self.contacts)?;
        self.validity.check()?;
        self.recognised.check()?;
        if self.policies.policy == Policy::List && !self.minority_may_admit {
            return Err(("policy", "a list admits without votes, so minority_may_admit must be true"));
        }
        let mut keyings = self.groups.keyings().chain([self.keying]);
        if self.contributory && keyings.any(|keying| !keying.contributory()) {
            return Err((
                "keying",
                "in this module the key does not depend on every member's share: contributory must be false",
            ));
        }
        if !(1..=DAYS_MAX).contains(&self.certificate_days) {
            return Err(("certificate_days", "it must be between 1 and 3650"));
        }
        if !(1..=HOURS_MAX).contains(&self.request_hours) {
            return Err(("request_hours", "it must be between 1 and 8760"));
        }
        let times = &self.timeouts;
        let set = [times.step_ms, times.silence_ms, times.lookup_ms, times.skew_ms, times.refresh_ms];
        if set.into_iter().flatten().any(|ms| !(1..=TIMEOUT_MS_MAX).contains(&ms)) {
            return Err(("timeouts", "each must be between 1 and 3600000 ms"));
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

    pub(crate) fn suites(&self, home: &GroupId) -> BTreeMap<GroupId, (Keying, Cipher)> {
        let mut suites = self.groups.suites(home, (self.keying, self.cipher));
        for (keying, _) in suites.values_mut() {
            *keying = self.agreement(*keying).unwrap_or(*keying);
        }
        suites
    }

    pub(crate) fn set(&mut self, field: &str, word: &str) -> Result<(), Refusal> {
        match self.policies.set(field, word) {
            Some(done) => done,
            None => self.set_plain(field, word).map_err(Refusal::from),
        }
    }

    fn set_plain(&mut self, field: &str, word: &str) -> Result<(), &'static str> {
        match field {
            "threshold" => self.threshold = Threshold::from_word(word)?,
            "keying" => self.keying = Keying::from_name(word).ok_or(KEYINGS)?,
            "cipher" => self.cipher = Cipher::from_name(word).ok_or(CIPHERS)?,
            "hybrid" => self.hybrid = truth(word)?,
            "hybrid_links" => return Err(LINKS_FIXED),
            "algorithms" | "rsa_bits" | "hash" => return Err(FIXED),
            "not_before" => self.validity.not_before = count(word)?,
            "not_after" => self.validity.not_after = count(word)?,
            "contacts" => self.contacts = contact::from_word(word)?,
            "contributory" => self.contributory = truth(word)?,
            "minority" => {
                self.minority = Minority::from_word(word).ok_or("it must be continue, read-only or stop")?
            }
            "minority_may_admit" => self.minority_may_admit = truth(word)?,
            "quorum" => self.quorum = Quorum::from_word(word).ok_or("it must be majority or two-thirds")?,
            "adopt" => self.adopt = Adopt::from_word(word).ok_or("it must be ask or auto")?,
            "letters" => self.letters = truth(word)?,
            "certificate_days" => self.certificate_days = number(word)?,
            "request_hours" => self.request_hours = number(word)?,
            "timeouts.step_ms" => self.timeouts.step_ms = Some(number(word)?),
            "timeouts.silence_ms" => self.timeouts.silence_ms = Some(number(word)?),
            "timeouts.lookup_ms" => self.timeouts.lookup_ms = Some(number(word)?),
            "timeouts.skew_ms" => self.timeouts.skew_ms = Some(number(word)?),
            "timeouts.refresh_ms" => self.timeouts.refresh_ms = Some(number(word)?),
            _ if field.starts_with(RECOGNISED) => {
                self.recognised.set(field.get(RECOGNISED.len()..).unwrap_or_default(), word)?;
            }
            _ => {
                let named = field.strip_prefix("groups.").and_then(|rest| rest.rsplit_once('.'));
                let (name, rule) = named.ok_or("no field of this name can be changed")?;
                self.groups.set(name, rule, word)?;
            }
        }
        Ok(())
    }
}

fn truth(word: &str) -> Result<bool, &'static str> {
    word.parse().map_err(|_| "it must be true or false")
}
