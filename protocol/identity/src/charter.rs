//! The charter: a group's founding rules, as TOML. The exact bytes are kept; their digest names the
//! group (N1).
//!
//! ```toml
//! format = 2
//! name = "book club"
//! nonce = "00112233445566778899aabbccddeeff"
//! threshold = 2                        # votes that admit; or { ratio = "30%", window = 5 }: a share of the group's size
//! below_threshold = "reset"            # optional: of fewer voters than that, all suffice
//! policy = "threshold"                 # optional; or "list", "founder"
//! list = ["c783…"]                     # who may join by policy list: key ids, 64 hexadecimal digits
//! decider = "c783…"                    # whose yes admits by policy founder: a founder's key id
//! admit = "2 of operators and 1 of security"      # optional: what the votes for an admission satisfy besides
//! remove = "1 of security or 3 of all"            # optional: and those for a removal
//! objections = 2                       # optional: so many rejections end a request for good
//! request_days = 7                     # optional: so long after its term begins a request ends, and every vote on it
//! scheme = "plain"
//! mode = "decentralised"               # optional; "centralised": an authority signs, named in [authority] (central.rs)
//! keying = "by-size"                   # or a module: gdh, tgdh, str, bd; ckd, dutta-barua, mls
//! cipher = "aes-256-gcm"               # or chacha20-poly1305
//! hybrid = false                       # optional; true, with ckd or mls: keys are agreed by ML-KEM-768 too
//! hybrid_links = false                 # optional, never to be changed; true: links between nodes are by ML-KEM-768 too
//! contributory = true                  # every member has a share in every key; false allows the last three modules
//! minority = "continue"                # or "read-only", "stop": what the smaller side of a split may do
//! minority_may_admit = true
//! quorum = "majority"                  # optional; or "two-thirds": of the voters, besides the threshold
//! adopt = "ask"                        # optional; or "auto": what only ran out of time is held without asking again
//! letters = false                      # optional; true: who is no member may write to the group, and be answered
//! certificate_days = 365
//! request_hours = 72
//! not_before = 1790812800              # optional: no term of a certificate begins before it (seconds since 1970)
//! not_after = 1893456000               # optional: nor ends after it; so then nobody is admitted any more
//! contacts = ["udp/192.0.2.7:4803"]    # optional: where somebody of the group may be found (contact.rs)
//! algorithms = ["p256", "rsa"]         # optional, never to be changed, as the next two: of members' keys; also ed25519
//! rsa_bits = [2048, 3072]              # optional: sizes of RSA keys; goes with rsa
//! hash = "sha256"                      # optional
//! [[founders]]
//! name = "alice"
//! key = "3059…"                        # SPKI, hexadecimal
//! [timeouts]                           # optional, each
//! step_ms = 3000
//! [roles]                              # optional: key ids; holders need not be members yet
//! operators = ["c783…", "69ba…"]
//! security = ["09c8…"]
//! [recognised]                         # optional: whose certificates say who a newcomer is: SPKI, hexadecimal
//! "Example Corp" = "3059…"
//! [groups.fleet]                       # optional: a group named under this one, where it differs
//! keying = "mls"
//! cipher = "chacha20-poly1305"
//! ```
//! Later versions are the founding text and the fields that decisions have set since: the GroupId
//! stays, [`Charter::digest`] moves on.

use crate::CharterError;
use crate::central::{Central, Dealer, check_policies};
use crate::charter_algorithms::Algorithms;
use crate::charter_rules::{Adopt, Minority, Quorum, Rules, Timeouts};
use crate::charter_text::Text;
use crate::charter_value::value;
use crate::contact::Contact;
use crate::founder::Founder;
use crate::policy::{Policies, Refusal};
use crate::threshold::Threshold;
use bytes::Bytes;
use folkmoot_base::{Cipher, Digest, GroupId, GroupName, Keying, MemberId, UnixTime, digest, unhex};
use folkmoot_signing::{Mode, Scheme};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Longest charter, in bytes of TOML.
pub const CHARTER_TOML_BYTES_MAX: usize = 16 * 1024;
const DAY_SECONDS: u64 = 86_400;

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
    algorithms: Algorithms,
    scheme: Scheme,
    central: Option<Arc<Central>>,
    rules: Rules,
    /// The rules' keying as it is run: in its hybrid form if the rules ask for it.
    agreement: Keying,
    /// Module as it is run, and cipher, of the named groups that have rules of their own.
    suites: BTreeMap<GroupId, (Keying, Cipher)>,
}

impl Charter {
    /// Whether a certificate under this charter needs its holder's own signature. If so, a holder
    /// who is not there to sign cannot be admitted by a CSR. All code that has to know asks here.
    pub fn holder_signs(&self) -> bool {
        !self.scheme().shared() && self.mode() == Mode::Decentralised
    }

    /// Reads a founding charter; keeps the exact bytes.
    ///
    /// # Errors
    /// [`CharterError::WireMalformed`], [`CharterError::WireValue`].
    pub fn from_toml(text: &str) -> Result<Self, CharterError> {
        if text.len() > CHARTER_TOML_BYTES_MAX {
            return Err(CharterError::WireMalformed(format!(
                "it has {} bytes, which is too long",
                text.len()
            )));
        }
        let parsed = Text::read(text)?;
        let founders = parsed.founders()?;
        let rules = parsed.rules()?;
        let agreement = rules.check(&ids(&founders)).map_err(|(key, reason)| value(key, reason))?;
        if !rules.policies.out_of_reach(&ids(&founders)).is_empty() {
            return Err(value("policy", "all founders together do not satisfy the rules"));
        }
        if usize::try_from(rules.threshold.votes()).unwrap_or(usize::MAX) > founders.len() {
            return Err(value("threshold", "it asks for more votes than there are founders"));
        }
        let central = parsed.central(&founders)?;
        let group = GroupId::of_charter(text.as_bytes());
        Ok(Self {
            group,
            suites: rules.suites(&group),
            digest: digest(&[b"folkmoot charter v1\0", text.as_bytes()]),
            version: 1,
            name: GroupName::new(&parsed.name).map_err(|_| value("name", "it is not a group name"))?,
            nonce: unhex(&parsed.nonce)
                .and_then(|nonce| nonce.try_into().ok())
                .ok_or(value("nonce", "it must have 32 hexadecimal digits"))?,
            bytes: Bytes::copy_from_slice(text.as_bytes()),
            algorithms: parsed.algorithms(&founders, text)?,
            founders,
            hybrid_links: parsed.hybrid_links,
            scheme: parsed.scheme(&rules, central.as_ref())?,
            central: central.map(Arc::new),
            rules,
            agreement,
        })
    }

    /// The charter after a vote set `field` to `word`. Fields: threshold, policy, list, decider,
    /// admit, remove, roles.NAME, objections, request_days, below_threshold, keying, cipher,
    /// hybrid, contributory, minority, minority_may_admit, letters, certificate_days,
    /// request_hours, timeouts.{step_ms, silence_ms, lookup_ms, skew_ms, refresh_ms},
    /// contacts, recognised.NAME, not_before, not_after, groups.NAME.{keying, cipher}.
    ///
    /// # Errors
    /// [`CharterError::PeerChange`].
    pub fn with_change(&self, field: &str, word: &str) -> Result<Self, CharterError> {
        let refuse = |reason| refused(field, word, reason);
        let mut next = self.clone();
        next.set(field, word)?;
        next.settle(field, word)?;
        if self.is_dealt_once() && next.rules.threshold != self.rules.threshold {
            return Err(refuse(
                "the shares were dealt once, for this threshold, and the dealer has erased the secret",
            ));
        }
        if next.rules == self.rules {
            return Err(refuse("it has this value already"));
        }
        next.version =
            self.version.checked_add(1).ok_or_else(|| refuse("the charter has been changed too often"))?;
        next.digest = digest(&[b"folkmoot charter change v1\0", &self.digest, &change_digest(field, word)]);
        Ok(next)
    }

    /// This founding charter with all of these fields set, whatever the order in which votes set
    /// them: field to value, as [`Self::with_change`] takes them.
    ///
    /// # Errors
    /// [`CharterError::PeerChange`].
    pub fn amended(&self, changes: &BTreeMap<String, String>) -> Result<Self, CharterError> {
        let mut next = self.clone();
        for (field, word) in changes {
            next.set(field, word)?;
        }
        next.settle("", "")?;
        next.version = u32::try_from(changes.len()).unwrap_or(u32::MAX).saturating_add(self.version);
        for (field, word) in changes {
            next.digest =
                digest(&[b"folkmoot charter change v1\0", &next.digest, &change_digest(field, word)]);
        }
        Ok(next)
    }

    /// This charter as it acts when these keys do not act by these fields any more, although their
    /// values name them. Text and digest stay.
    #[must_use]
    pub fn without<'a>(mut self, struck: impl IntoIterator<Item = &'a (String, MemberId)>) -> Self {
        struck.into_iter().for_each(|(field, key)| self.rules.policies.strike(field, key));
        self
    }

    fn set(&mut self, field: &str, word: &str) -> Result<(), CharterError> {
        self.rules.set(field, word).map_err(|why| match why {
            Refusal::Plain(reason) => refused(field, word, reason),
            Refusal::Rule(source) => CharterError::PeerRule { field: field.to_owned(), source },
        })
    }

    /// Checks the rules as they are set now, and works out what follows from them.
    fn settle(&mut self, field: &str, word: &str) -> Result<(), CharterError> {
        let refuse = |(_, reason)| refused(field, word, reason);
        self.agreement = self.rules.check(&ids(&self.founders)).map_err(refuse)?;
        self.suites = self.rules.suites(&self.group);
        check_policies(&self.rules.policies, self.scheme, self.mode(), self.rules.minority_may_admit)
            .map_err(refuse)
    }

    /// The founding text, byte for byte.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The group that the founding text founds.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Names this version: the founding text and every change since, in order. Votes and
    /// certificates cover it.
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

    /// Which keys its members may have. The same in every version.
    pub fn algorithms(&self) -> &Algorithms {
        &self.algorithms
    }

    /// How the group signs. The same in every version.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Who issues certificates. The same in every version.
    pub fn mode(&self) -> Mode {
        Central::mode(self.central())
    }

    /// The authority that signs certificates, if the mode is centralised. The same in every
    /// version.
    pub fn central(&self) -> Option<&Central> {
        self.central.as_deref()
    }

    /// Whether shares of the group's key are never made again after the first: only a dealer could,
    /// and it has erased the secret.
    pub fn is_dealt_once(&self) -> bool {
        let dealer = self.central().and_then(|central| central.dealer);
        self.scheme.needs_dealer() && dealer == Some(Dealer::SetupOnly)
    }

    /// Votes that admit: the number that the threshold gives now.
    pub fn threshold(&self) -> u32 {
        self.rules.threshold.votes()
    }

    /// The rule that gives that number.
    pub fn threshold_rule(&self) -> Threshold {
        self.rules.threshold
    }

    /// Who comes in and who goes, and who decides it.
    pub fn policies(&self) -> &Policies {
        &self.rules.policies
    }

    /// The module that agrees on keys, as the text names it. [`Self::agreement`] says which one is
    /// run.
    pub fn keying(&self) -> Keying {
        self.rules.keying
    }

    /// The module as it is run: the hybrid form of [`Self::keying`] if [`Self::hybrid`] is true.
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

    /// Whether the agreement also runs ML-KEM-768: in CKD's pairs, in MLS's encapsulations. For
    /// links, [`Self::hybrid_links`] says it.
    pub fn hybrid(&self) -> bool {
        self.rules.hybrid
    }

    /// Whether links between nodes also run ML-KEM-768. The same in every version.
    pub fn hybrid_links(&self) -> bool {
        self.hybrid_links
    }

    /// The cipher that seals under the keys.
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

    /// How many of the electorate's places a decision takes.
    pub fn quorum(&self) -> Quorum {
        self.rules.quorum
    }

    /// Who holds an admission whose approvals have run out.
    pub fn adopt(&self) -> Adopt {
        self.rules.adopt
    }

    /// Whether anyone who is not a member may write to the group.
    pub fn letters(&self) -> bool {
        self.rules.letters
    }

    /// Between which times terms may lie.
    pub fn validity(&self) -> crate::Validity {
        self.rules.validity
    }

    /// Whether a certificate may be for this term, by its length and by the charter's own validity:
    /// LINE-26.
    pub fn allows_term(&self, begins: UnixTime, ends: UnixTime) -> bool {
        let most = u64::from(self.certificate_days()).saturating_mul(DAY_SECONDS);
        ends.0.saturating_sub(begins.0) <= most && self.rules.validity.holds(begins, ends)
    }

    /// The end of the longest term from then on; that same moment, if the charter has ended.
    pub(crate) fn longest_term(&self, begins: UnixTime) -> UnixTime {
        let most = u64::from(self.certificate_days()).saturating_mul(DAY_SECONDS);
        let end = begins.0.saturating_add(most).min(self.rules.validity.end());
        UnixTime(end.max(begins.0))
    }

    /// Whose certificates say who a newcomer is.
    pub fn recognised(&self) -> &crate::Recognised {
        &self.rules.recognised
    }

    /// Where somebody of the group may be found.
    pub fn contacts(&self) -> &BTreeSet<Contact> {
        &self.rules.contacts
    }

    /// Longest term of a certificate.
    pub fn certificate_days(&self) -> u32 {
        self.rules.certificate_days
    }

    /// How long a request stays open, and votes on it count, unless [`Policies::request_days`] says
    /// how long.
    pub fn request_hours(&self) -> u32 {
        self.rules.request_hours
    }

    /// The timeouts that it sets.
    pub fn timeouts(&self) -> &Timeouts {
        &self.rules.timeouts
    }
}

fn refused(field: &str, word: &str, reason: &'static str) -> CharterError {
    CharterError::PeerChange { field: field.to_owned(), value: word.to_owned(), reason }
}

fn ids(founders: &[Founder]) -> BTreeSet<MemberId> {
    founders.iter().map(|founder| founder.key.member_id()).collect()
}

/// Digest of a change of one field: the subject of votes on it.
pub fn change_digest(field: &str, word: &str) -> Digest {
    digest(&[b"folkmoot change v1\0", field.as_bytes(), b"\0", word.as_bytes()])
}
