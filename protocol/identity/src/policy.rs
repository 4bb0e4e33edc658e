//! How a group admits and removes: the policies of its charter, and the one place where votes are
//! judged by them.
//!
//! ```text
//! policy = "threshold"   so many votes, and what the rule asks for        (the default)
//! policy = "list"        whoever is listed, without votes; nobody else
//! policy = "founder"     the yes of one founder, the decider
//! policy = "authority"   the word of the charter's authority, without votes
//! ```
//! Source: Saxena, Tsudik, Yi (2003), section 2: access list, external authority, founder, peers.
//! What is asked of removals here comes on top of the quorum (DECISIONS T4), never instead of it.

use crate::rule::is_role;
use crate::{CertificateError, Roles, Rule};
use folkmoot_base::MemberId;
use std::collections::BTreeSet;

/// Most roles in a charter.
pub const ROLES_MAX: usize = 16;
/// Most keys in one role.
pub const ROLE_KEYS_MAX: usize = 64;
/// Most keys on the list of those who may join without votes.
pub const LIST_KEYS_MAX: usize = 256;
const DAYS_MAX: u32 = 365;
const OBJECTIONS_MAX: u32 = 128;

/// Who decides on an admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The voters.
    #[default]
    Threshold,
    /// The charter's list.
    List,
    /// One founder.
    Founder,
    /// The charter's authority, by signing the certificate.
    Authority,
}

impl Policy {
    /// The word in the charter.
    pub fn word(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::List => "list",
            Self::Founder => "founder",
            Self::Authority => "authority",
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// Why not.
    pub fn from_word(word: &str) -> Result<Self, &'static str> {
        let all = [Self::Threshold, Self::List, Self::Founder, Self::Authority];
        all.into_iter()
            .find(|policy| policy.word() == word)
            .ok_or("it must be threshold, list, founder or authority")
    }
}

/// Who admits if there are fewer voters than the threshold asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Below {
    /// Nobody, until there are enough again.
    #[default]
    Nobody,
    /// All voters there are: the threshold is reset to their number.
    Reset,
    /// The charter's authority, alone.
    Authority,
}

impl Below {
    /// The word in the charter.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nobody => NONE,
            Self::Reset => "reset",
            Self::Authority => "authority",
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// Why not.
    pub fn from_word(word: &str) -> Result<Self, &'static str> {
        let all = [Self::Nobody, Self::Reset, Self::Authority];
        all.into_iter().find(|below| below.word() == word).ok_or("it must be reset, authority or none")
    }
}

/// What the charter says about who comes in and who goes, besides the threshold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policies {
    /// Who decides on admissions.
    pub policy: Policy,
    /// Who may join without votes, if the policy is the list.
    pub list: BTreeSet<MemberId>,
    /// Whose yes admits, if the policy is a founder's.
    pub decider: Option<MemberId>,
    /// Which keys have which role.
    pub roles: Roles,
    /// What the votes for an admission satisfy besides the threshold.
    pub admit: Option<Rule>,
    /// What the votes for a removal satisfy besides threshold and quorum.
    pub remove: Option<Rule>,
    /// How many rejections end a request for good.
    pub objections: Option<u32>,
    /// How many days after the begin of its term a request ends, and every vote on it.
    pub request_days: Option<u32>,
    /// Who admits if there are fewer voters than the threshold asks for.
    pub below: Below,
}

impl Policies {
    /// Whether the votes of `yes` let `holder` in, if the threshold needs so many. Does not judge
    /// quorums.
    ///
    /// # Errors
    /// [`CertificateError`]: too few, not by the rule, not the decider, not on the list.
    pub fn let_in(
        &self,
        holder: Option<&MemberId>,
        yes: &BTreeSet<MemberId>,
        need: usize,
    ) -> Result<(), CertificateError> {
        match self.policy {
            Policy::List if holder.is_some_and(|holder| self.list.contains(holder)) => Ok(()),
            Policy::List => Err(CertificateError::PeerNotListed),
            // Every certificate of such a group needs the authority's signature.
            Policy::Authority => Ok(()),
            Policy::Founder if self.decider.is_some_and(|decider| yes.contains(&decider)) => Ok(()),
            Policy::Founder => Err(CertificateError::PeerNoDecider),
            Policy::Threshold if yes.len() < need => {
                Err(CertificateError::PeerTooFewVotes { got: yes.len(), need })
            }
            Policy::Threshold => match &self.admit {
                Some(rule) if !rule.holds(yes, &self.roles) => {
                    Err(CertificateError::PeerRule(rule.tally(yes, &self.roles)))
                }
                _ => Ok(()),
            },
        }
    }

    /// Whether the votes of `yes` satisfy what is asked of removals besides threshold and quorum;
    /// otherwise the rule, with the tally.
    ///
    /// # Errors
    /// The rule and what it has.
    pub fn let_go(&self, yes: &BTreeSet<MemberId>) -> Result<(), String> {
        match &self.remove {
            Some(rule) if !rule.holds(yes, &self.roles) => Err(rule.tally(yes, &self.roles)),
            _ => Ok(()),
        }
    }

    /// What these voters could never do, even if all of them agreed: the rules that they do not
    /// satisfy.
    pub fn out_of_reach(&self, voters: &BTreeSet<MemberId>) -> Vec<Lack> {
        let admit = match self.policy {
            Policy::List | Policy::Authority => Ok(()),
            Policy::Threshold | Policy::Founder => self.let_in(None, voters, 0),
        };
        let admit = admit.err().map(|_| Lack::Admit);
        let remove = self.let_go(voters).err().map(|_| Lack::Remove);
        admit.into_iter().chain(remove).collect()
    }

    /// Whether an admission only needs votes to be counted, whoever they are from.
    pub(crate) fn counts_alone(&self) -> bool {
        self.policy == Policy::Threshold && self.admit.is_none()
    }

    /// The least number of votes that could admit, by policy and rule; `need` is the threshold's.
    pub fn least(&self, need: usize) -> usize {
        match self.policy {
            Policy::Threshold => need.max(self.admit.as_ref().map_or(0, Rule::least)),
            Policy::List | Policy::Founder => 1,
            Policy::Authority => 0,
        }
    }

    /// The roles of this key.
    pub fn roles_of(&self, member: &MemberId) -> Vec<String> {
        let mine = self.roles.iter().filter(|(_, holders)| holders.contains(member));
        mine.map(|(role, _)| role.clone()).collect()
    }

    /// Which of these is not legal, and why; `founders` are the charter's.
    pub(crate) fn check(&self, founders: &BTreeSet<MemberId>) -> Result<(), (&'static str, &'static str)> {
        let sizes = self.roles.values().all(|holders| (1..=ROLE_KEYS_MAX).contains(&holders.len()));
        if self.roles.len() > ROLES_MAX || !sizes {
            return Err(("roles", "there can be at most 16 roles, each with 1 to 64 keys"));
        }
        if !self.roles.keys().all(|role| is_role(role)) {
            return Err(("roles", "the name of a role can have only lower-case letters, digits and hyphens"));
        }
        for (key, rule) in [("admit", &self.admit), ("remove", &self.remove)] {
            if rule.as_ref().is_some_and(|rule| rule.unknown_role(&self.roles).is_some()) {
                return Err((key, "a rule names a role that the charter does not have"));
            }
        }
        if self.admit.is_some() && self.policy != Policy::Threshold {
            return Err(("admit", "a rule on votes needs policy threshold"));
        }
        if self.list.len() > LIST_KEYS_MAX || (self.policy == Policy::List && self.list.is_empty()) {
            return Err(("list", "policy list needs a list of 1 to 256 keys"));
        }
        if self.decider.is_some_and(|decider| !founders.contains(&decider)) {
            return Err(("decider", "the decider must be a founder's key"));
        }
        if self.policy == Policy::Founder && self.decider.is_none() {
            return Err(("decider", "policy founder needs a decider"));
        }
        self.check_numbers()
    }

    fn check_numbers(&self) -> Result<(), (&'static str, &'static str)> {
        if self.objections.is_some_and(|count| !(1..=OBJECTIONS_MAX).contains(&count)) {
            return Err(("objections", "it must be between 1 and 128"));
        }
        if self.request_days.is_some_and(|days| !(1..=DAYS_MAX).contains(&days)) {
            return Err(("request_days", "it must be between 1 and 365"));
        }
        Ok(())
    }

    /// Sets a field to the value in a vote; `None` if the field is none of these.
    pub(crate) fn set(&mut self, field: &str, word: &str) -> Option<Result<(), Refusal>> {
        let done = match field {
            "policy" => Policy::from_word(word).map(|policy| self.policy = policy).map_err(Refusal::from),
            "list" => keys(word).map(|list| self.list = list).map_err(Refusal::from),
            "decider" => decider(word).map(|decider| self.decider = decider).map_err(Refusal::from),
            "admit" => rule(word).map(|rule| self.admit = rule),
            "remove" => rule(word).map(|rule| self.remove = rule),
            "objections" => count(word).map(|count| self.objections = count).map_err(Refusal::from),
            "request_days" => count(word).map(|days| self.request_days = days).map_err(Refusal::from),
            "below_threshold" => {
                Below::from_word(word).map(|below| self.below = below).map_err(Refusal::from)
            }
            _ => {
                let role = field.strip_prefix(ROLES)?;
                keys(word).map(|holders| self.set_role(role, holders)).map_err(Refusal::from)
            }
        };
        Some(done)
    }

    /// The fields whose values name this key.
    pub fn fields_naming(&self, key: &MemberId) -> Vec<String> {
        let listed = self.list.contains(key).then(|| "list".to_owned());
        let decides = (self.decider == Some(*key)).then(|| "decider".to_owned());
        let roles = self.roles.iter().filter(|(_, holders)| holders.contains(key));
        let roles = roles.map(|(role, _)| format!("{ROLES}{role}"));
        listed.into_iter().chain(decides).chain(roles).collect()
    }

    /// Takes a key out of a field's value, which may be empty then. The rest stays as it is.
    pub(crate) fn strike(&mut self, field: &str, key: &MemberId) {
        match field {
            "list" => self.list.retain(|listed| listed != key),
            "decider" => self.decider = self.decider.filter(|decider| decider != key),
            _ => {
                let role = field.strip_prefix(ROLES).and_then(|role| self.roles.get_mut(role));
                role.into_iter().for_each(|holders| holders.retain(|holder| holder != key));
            }
        }
    }

    fn set_role(&mut self, role: &str, holders: BTreeSet<MemberId>) {
        if holders.is_empty() {
            self.roles.remove(role);
        } else {
            self.roles.insert(role.to_owned(), holders);
        }
    }
}

/// What voters could never do again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Admit anybody.
    Admit,
    /// Remove anybody.
    Remove,
}

/// Why a text cannot be a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Plain(&'static str),
    Rule(crate::RuleError),
}

impl From<&'static str> for Refusal {
    fn from(reason: &'static str) -> Self {
        Self::Plain(reason)
    }
}

/// What the names of fields begin with that say who has a role.
const ROLES: &str = "roles.";

/// The keys that this value of a field names; none if the field is not about keys, or the value is
/// none that it can have.
pub fn keys_named(field: &str, word: &str) -> BTreeSet<MemberId> {
    let about_keys = matches!(field, "list" | "decider") || field.starts_with(ROLES);
    if about_keys { keys(word).unwrap_or_default() } else { BTreeSet::new() }
}

/// Removes a field's value.
pub(crate) const NONE: &str = "none";

/// Key ids in their one spelling: sorted, each once, commas between; `none` for no key.
fn keys(word: &str) -> Result<BTreeSet<MemberId>, &'static str> {
    const FORM: &str =
        "it must be key ids (64 hexadecimal digits), sorted, each once, with commas between them; or none";
    if word == NONE {
        return Ok(BTreeSet::new());
    }
    let keys: Option<Vec<MemberId>> = word.split(',').map(MemberId::from_hex).collect();
    let keys = keys.filter(|keys| keys.is_sorted_by(|one, next| one < next)).ok_or(FORM)?;
    Ok(keys.into_iter().collect())
}

fn decider(word: &str) -> Result<Option<MemberId>, &'static str> {
    if word == NONE {
        return Ok(None);
    }
    MemberId::from_hex(word).map(Some).ok_or("it must be a key id (64 hexadecimal digits), or none")
}

fn rule(word: &str) -> Result<Option<Rule>, Refusal> {
    if word == NONE {
        return Ok(None);
    }
    let rule = Rule::parse(word).map_err(Refusal::Rule)?;
    if rule.to_string() == word {
        Ok(Some(rule))
    } else {
        Err("a rule in a vote must be spelled with single spaces and without needless brackets".into())
    }
}

/// A number, or `none`.
pub(crate) fn count(word: &str) -> Result<Option<u32>, &'static str> {
    if word == NONE { Ok(None) } else { crate::charter_value::number(word).map(Some) }
}
