//! A charter to be written: from values to the text that founders sign.

use crate::{
    Adopt, Algorithms, Below, Central, Contact, Founder, Minority, Policies, Policy, Quorum, Recognised,
    Timeouts, Validity,
};
use folkmoot_base::{Cipher, Entropy, GroupName, Keying, MemberId, draw, hex};
use folkmoot_signing::{Mode, Scheme};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The values of a charter that [`crate::Charter::from_toml`] will read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharterDraft {
    /// The group's name.
    pub name: GroupName,
    /// What makes two groups with equal rules differ.
    pub nonce: [u8; 16],
    /// Votes that admit.
    pub threshold: u32,
    /// Instead of a number, a share of the group's size: hundredths, and window.
    pub ratio: Option<(u32, u32)>,
    /// How the group signs.
    pub scheme: Scheme,
    /// Who signs its certificates, if an authority does.
    pub central: Option<Central>,
    /// The founders, who sign the charter.
    pub founders: Vec<Founder>,
    /// Which module agrees on keys.
    pub keying: Keying,
    /// The cipher that seals under the keys.
    pub cipher: Cipher,
    /// Whether the agreement also runs ML-KEM-768; only with CKD and MLS.
    pub hybrid: bool,
    /// Whether links between nodes also run ML-KEM-768.
    pub hybrid_links: bool,
    /// What the smaller side of a split may do.
    pub minority: Minority,
    /// Whether it may admit.
    pub minority_may_admit: bool,
    /// Whether anyone who is not a member may write to the group.
    pub letters: bool,
    /// Longest term of a certificate.
    pub certificate_days: u32,
    /// How long a request stays open.
    pub request_hours: u32,
    /// How many of the electorate's places a decision takes.
    pub quorum: Quorum,
    /// Who holds an admission whose approvals have run out.
    pub adopt: Adopt,
    /// Between which times anybody is let in.
    pub validity: Validity,
    /// Where somebody of the group may be found.
    pub contacts: BTreeSet<Contact>,
    /// Timeouts to set.
    pub timeouts: Timeouts,
    /// Who comes in and who goes, and who decides it.
    pub policies: Policies,
    /// Which keys members may have.
    pub algorithms: Algorithms,
    /// Whose certificates say who a newcomer is.
    pub recognised: Recognised,
}

impl CharterDraft {
    /// A draft with a fresh nonce and defaults: the module by size, minorities continue and admit,
    /// certificates hold a year, requests three days.
    pub fn new(name: GroupName, threshold: u32, founders: Vec<Founder>, entropy: &mut dyn Entropy) -> Self {
        Self {
            name,
            nonce: draw(entropy),
            threshold,
            scheme: Scheme::Plain,
            central: None,
            ratio: None,
            founders,
            keying: Keying::default(),
            cipher: Cipher::default(),
            hybrid: false,
            hybrid_links: false,
            minority: Minority::Continue,
            minority_may_admit: true,
            letters: false,
            certificate_days: 365,
            request_hours: 72,
            quorum: Quorum::default(),
            adopt: Adopt::default(),
            validity: Validity::default(),
            contacts: BTreeSet::new(),
            timeouts: Timeouts::default(),
            policies: Policies::default(),
            algorithms: Algorithms::default(),
            recognised: Recognised::default(),
        }
    }

    /// The text to sign. [`crate::Charter::from_toml`] judges it.
    pub fn to_toml(&self) -> String {
        let mut out = String::from(
            "# The founding rules of a group. Signed by its founders; every byte counts.\nformat = 2\n",
        );
        let mut line = |key: &str, value: String| {
            let _ = writeln!(out, "{key} = {value}");
        };
        line("name", quote(self.name.as_str()));
        line("nonce", quote(&hex(&self.nonce)));
        line(
            "threshold",
            match self.ratio {
                Some((percent, window)) => format!("{{ ratio = \"{percent}%\", window = {window} }}"),
                None => self.threshold.to_string(),
            },
        );
        line("scheme", quote(self.scheme.name()));
        if self.central.is_some() {
            line("mode", quote(Mode::Centralised.name()));
        }
        line("keying", quote(self.keying.as_str()));
        line("cipher", quote(self.cipher.as_str()));
        // Left out if false: older releases do not know the key, and refuse what they do not know.
        if self.hybrid {
            line("hybrid", self.hybrid.to_string());
        }
        if self.hybrid_links {
            line("hybrid_links", self.hybrid_links.to_string());
        }
        line("contributory", self.keying.contributory().to_string());
        line("minority", quote(self.minority.word()));
        line("minority_may_admit", self.minority_may_admit.to_string());
        if self.quorum != Quorum::default() {
            line("quorum", quote(self.quorum.word()));
        }
        if self.adopt != Adopt::default() {
            line("adopt", quote(self.adopt.word()));
        }
        if self.letters {
            line("letters", self.letters.to_string());
        }
        line("certificate_days", self.certificate_days.to_string());
        line("request_hours", self.request_hours.to_string());
        for (key, time) in [("not_before", self.validity.not_before), ("not_after", self.validity.not_after)]
        {
            time.into_iter().for_each(|time| line(key, time.to_string()));
        }
        if !self.contacts.is_empty() {
            line("contacts", list(self.contacts.iter().map(Contact::as_str)));
        }
        if self.algorithms != Algorithms::default() {
            line("algorithms", list(self.algorithms.families().into_iter()));
            let sizes: Vec<String> = self.algorithms.sizes().iter().map(u32::to_string).collect();
            if !sizes.is_empty() {
                line("rsa_bits", format!("[{}]", sizes.join(", ")));
            }
        }
        self.policy_lines().into_iter().for_each(|(key, value)| line(key, value));
        for founder in &self.founders {
            let (name, key) = (quote(&founder.name), quote(&hex(founder.key.spki_der())));
            let _ = write!(out, "\n[[founders]]\nname = {name}\nkey = {key}\n");
        }
        self.write_timeouts(&mut out);
        self.write_roles(&mut out);
        self.write_recognised(&mut out);
        self.write_central(&mut out);
        out
    }

    fn write_central(&self, out: &mut String) {
        let Some(central) = &self.central else { return };
        let (certificate, nodes) = (quote(&hex(central.certificate.der())), ids(&central.nodes));
        let _ = write!(out, "\n[authority]\ncertificate = {certificate}\nnodes = {nodes}\n");
        if let Some(dealer) = central.dealer {
            let _ = writeln!(out, "dealer = {}", quote(dealer.word()));
        }
    }

    /// Only what differs from the default: older releases refuse words that they do not know.
    fn policy_lines(&self) -> Vec<(&'static str, String)> {
        let policies = &self.policies;
        let mut lines = Vec::new();
        if policies.policy != Policy::Threshold {
            lines.push(("policy", quote(policies.policy.word())));
        }
        if !policies.list.is_empty() {
            lines.push(("list", ids(&policies.list)));
        }
        lines.extend(policies.decider.map(|decider| ("decider", quote(&decider.hex()))));
        lines.extend(policies.admit.as_ref().map(|rule| ("admit", quote(&rule.to_string()))));
        lines.extend(policies.remove.as_ref().map(|rule| ("remove", quote(&rule.to_string()))));
        lines.extend(policies.objections.map(|count| ("objections", count.to_string())));
        lines.extend(policies.request_days.map(|days| ("request_days", days.to_string())));
        if policies.below != Below::default() {
            lines.push(("below_threshold", quote(policies.below.word())));
        }
        lines
    }

    fn write_roles(&self, out: &mut String) {
        if !self.policies.roles.is_empty() {
            out.push_str("\n[roles]\n");
        }
        for (role, holders) in &self.policies.roles {
            let _ = writeln!(out, "{role} = {}", ids(holders));
        }
    }

    fn write_recognised(&self, out: &mut String) {
        let mut all = self.recognised.iter().peekable();
        if all.peek().is_some() {
            out.push_str("\n[recognised]\n");
        }
        for (name, key) in all {
            let _ = writeln!(out, "{} = {}", quote(name), quote(&hex(key.spki_der())));
        }
    }

    fn write_timeouts(&self, out: &mut String) {
        let times = &self.timeouts;
        if *times != Timeouts::default() {
            out.push_str("\n[timeouts]\n");
        }
        let all = [
            ("step_ms", times.step_ms),
            ("silence_ms", times.silence_ms),
            ("lookup_ms", times.lookup_ms),
            ("skew_ms", times.skew_ms),
            ("refresh_ms", times.refresh_ms),
        ];
        for (key, ms) in all {
            if let Some(ms) = ms {
                let _ = writeln!(out, "{key} = {ms}");
            }
        }
    }
}

fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn ids(members: &BTreeSet<MemberId>) -> String {
    list(members.iter().map(MemberId::hex))
}

fn list(texts: impl Iterator<Item = impl AsRef<str>>) -> String {
    let quoted: Vec<String> = texts.map(|text| quote(text.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}
