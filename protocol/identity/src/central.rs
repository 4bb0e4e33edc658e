//! The authority of a group (GAUTH), if the charter says `mode = "centralised"`: a key outside the
//! group that signs its certificates and may deal the shares of the group's key. The members vote
//! as always; the authority signs what they voted for.
//!
//! ```toml
//! mode = "centralised"
//! [authority]
//! certificate = "3082…"                # of the key that signs certificates: X.509, DER, hexadecimal
//! nodes = ["c783…"]                    # key ids of those who speak with it: its replicas
//! dealer = "keeps"                     # or "setup-only"; where the scheme has shares, and nowhere else
//! ```
//! Source: Saxena, Tsudik, Yi (2003), sections 2 and 4, GAUTH. [`refusal`] says what a combination
//! lacks.

use crate::charter_value::value;
use crate::policy::{Below, Policies, Policy};
use crate::{AuthorityCertificate, CharterError};
use folkmoot_base::{MemberId, unhex};
use folkmoot_signing::{Mode, Scheme};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Most replicas of an authority.
pub const AUTHORITY_NODES_MAX: usize = 8;

/// What the dealer of a group's key does with the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dealer {
    /// Keeps it, sealed, and deals again when holders leave, voters come or the threshold moves. It
    /// can sign for the group.
    Keeps,
    /// Erases it once it is dealt.
    SetupOnly,
}

impl Dealer {
    /// The word in the charter.
    pub fn word(self) -> &'static str {
        match self {
            Self::Keeps => "keeps",
            Self::SetupOnly => "setup-only",
        }
    }

    /// Reads it.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Keeps, Self::SetupOnly].into_iter().find(|dealer| dealer.word() == word)
    }
}

/// Who signs the certificates of a group with `mode = "centralised"`. The same in every version of
/// the charter: no vote changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Central {
    /// The certificate of the key that signs.
    pub certificate: AuthorityCertificate,
    /// The identity keys that speak for it.
    pub nodes: BTreeSet<MemberId>,
    /// What it does with the secret of the group's key; `None` if the scheme has no such key.
    pub dealer: Option<Dealer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CentralText {
    certificate: String,
    nodes: Vec<String>,
    dealer: Option<Dealer>,
}

impl CentralText {
    /// `ID-65`: the certificate is the key's own, in its one form; 1 to 8 nodes, each once.
    pub(crate) fn read(&self) -> Result<Central, CharterError> {
        let der = unhex(&self.certificate).unwrap_or_default();
        let certificate = AuthorityCertificate::from_der(&der).map_err(|_| {
            value("authority.certificate", "it must be the certificate of an authority's key, in hexadecimal")
        })?;
        let nodes: Option<BTreeSet<MemberId>> = self.nodes.iter().map(|id| MemberId::from_hex(id)).collect();
        let nodes = nodes.filter(|nodes| nodes.len() == self.nodes.len());
        let nodes =
            nodes.ok_or(value("authority.nodes", "it must be key ids (64 hexadecimal digits), each once"))?;
        if !(1..=AUTHORITY_NODES_MAX).contains(&nodes.len()) {
            return Err(value("authority.nodes", "there must be between 1 and 8"));
        }
        Ok(Central { certificate, nodes, dealer: self.dealer })
    }
}

impl Central {
    /// Whether this key speaks for the authority.
    pub fn speaks(&self, member: &MemberId) -> bool {
        self.nodes.contains(member)
    }

    /// The mode of a charter with, or without, such a part.
    pub(crate) fn mode(central: Option<&Self>) -> Mode {
        if central.is_some() { Mode::Centralised } else { Mode::Decentralised }
    }
}

/// `ID-48`, `ID-66`: why a group cannot be run like this; `follows`: its threshold follows its
/// size. The table of schemes and modes in docs/protocol/identity.md is made from this.
pub fn refusal(
    scheme: Scheme,
    mode: Mode,
    dealer: Option<Dealer>,
    follows: bool,
) -> Option<(&'static str, &'static str)> {
    match (scheme, mode, dealer) {
        (Scheme::TsRsa, ..) => {
            Some(("scheme", "ts-rsa as published leaks the group's key: for study only, not for groups"))
        }
        (Scheme::Shoup, Mode::Decentralised, _) => {
            Some(("mode", "only a dealer can make shares of shoup-rsa: set mode = \"centralised\""))
        }
        (Scheme::Shoup, _, Some(Dealer::SetupOnly)) if follows => Some((
            "dealer",
            "such a dealer deals shares of shoup-rsa only once, so the threshold cannot follow the size: set dealer = \"keeps\"",
        )),
        (_, Mode::Centralised, None) if scheme.shared() => {
            Some(("dealer", "with this scheme the authority deals: set dealer = \"keeps\" or \"setup-only\""))
        }
        (_, _, Some(_)) if !scheme.shared() => Some(("dealer", "this scheme has no shares to deal")),
        _ => None,
    }
}

/// `ID-67`: what policies require of an authority, or of signers that are not there.
pub(crate) fn check_policies(
    policies: &Policies,
    scheme: Scheme,
    mode: Mode,
    minority_may_admit: bool,
) -> Result<(), (&'static str, &'static str)> {
    const NO_AUTHORITY: &str = "that takes an authority: set mode = \"centralised\"";
    let alone = policies.policy == Policy::Authority;
    if alone && mode == Mode::Decentralised {
        return Err(("policy", NO_AUTHORITY));
    }
    if policies.below == Below::Authority && mode == Mode::Decentralised {
        return Err(("below_threshold", NO_AUTHORITY));
    }
    if scheme == Scheme::Asm && (alone || policies.policy == Policy::List) {
        return Err(("policy", "it admits without signers, but with asm somebody has to sign"));
    }
    // A multisignature counts only keys whose holders have shown that they know the secret. If an
    // authority signs, the request that voters looked at has shown it. But somebody admitted
    // without votes could sign in a voter's name, with a key made from the voter's.
    if scheme == Scheme::Asm && policies.below == Below::Authority {
        return Err((
            "below_threshold",
            "with asm the voters must have seen the request: it shows that the newcomer has its key, which the authority's signature does not",
        ));
    }
    if alone && !minority_may_admit {
        return Err(("policy", "an authority admits without votes, so minority_may_admit must be true"));
    }
    if scheme.shared() && !minority_may_admit {
        return Err((
            "minority_may_admit",
            "with this scheme it must be true: a signature does not show who made it",
        ));
    }
    if scheme.shared() && !policies.counts_alone() {
        return Err((
            "policy",
            "with this scheme it must be threshold: a signature by the group's key does not show who made it",
        ));
    }
    Ok(())
}
