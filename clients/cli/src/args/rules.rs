//! Options of a new charter on who is admitted and who is expelled.

use crate::values::{minority, ratio};
use clap::Args;
use folkmoot_identity::{Below, Minority, Policy};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// In place of --votes: a share of the group's size, for example 30%. The number of
    /// votes follows the size.
    #[arg(long, value_name = "SHARE", value_parser = ratio)]
    pub(crate) ratio: Option<u32>,
    /// With --ratio: by how many members the group grows or shrinks before the number of
    /// votes follows.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, requires = "ratio")]
    pub(crate) window: u32,
    /// What happens if there are fewer voters than the votes asked for: the votes of all of
    /// them suffice (reset), or the authority decides (authority).
    #[arg(long, value_name = "HOW", value_parser = Below::from_word)]
    pub(crate) below_threshold: Option<Below>,
    /// A role and its keys, as files or key ids, for example
    /// operators=anna/identity.pem,ben/identity.pem. You can give it more than once.
    #[arg(long = "role", value_name = "NAME=KEYS")]
    pub(crate) roles: Vec<String>,
    /// A rule for the votes on an admission, besides their number, for example "2 of
    /// operators and 1 of security".
    #[arg(long, value_name = "RULE")]
    pub(crate) admit: Option<String>,
    /// A rule for the votes on an expulsion, besides their number.
    #[arg(long, value_name = "RULE")]
    pub(crate) remove: Option<String>,
    /// How many votes against a request end it for good.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) objections: Option<u32>,
    /// How long a request stays open and the votes on it stay valid.
    #[arg(long, value_name = "DAYS")]
    pub(crate) request_days: Option<u32>,
    /// Who admits: the voters (threshold), the charter's list, one founder, or the authority.
    #[arg(long, value_name = "POLICY", default_value = "threshold", value_parser = Policy::from_word)]
    pub(crate) policy: Policy,
    /// With --policy list: the keys that may join without votes, as files or key ids with
    /// commas between them.
    #[arg(long, value_name = "KEYS")]
    pub(crate) list: Option<String>,
    /// The certificate (X.509, PEM) of an authority, or of another group's key, whose certificates
    /// say who a newcomer is: the voters see it. You can give it up to eight times.
    #[arg(long = "recognise", value_name = "FILE")]
    pub(crate) recognised: Vec<PathBuf>,
    /// What the smaller side of a split may do: continue, read-only or stop.
    #[arg(long, value_name = "HOW", default_value = "continue", value_parser = minority)]
    pub(crate) minority: Minority,
    /// With --policy founder: the founder whose vote admits, as a file or key id.
    #[arg(long, value_name = "KEY")]
    pub(crate) decider: Option<String>,
}
