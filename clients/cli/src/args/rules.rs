//! What a new charter is told on who comes in and who goes.

use crate::values::{minority, ratio};
use clap::Args;
use folkmoot_identity::{Below, Minority, Policy};

#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// In place of --votes, a share of the group's size, as 30%; it follows the size.
    #[arg(long, value_name = "SHARE", value_parser = ratio)]
    pub(crate) ratio: Option<u32>,
    /// With --ratio: by how much the group grows or shrinks before the number of votes follows.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, requires = "ratio")]
    pub(crate) window: u32,
    /// If there are fewer voters than votes asked for: all of them suffice (reset), or the
    /// authority decides.
    #[arg(long, value_name = "HOW", value_parser = Below::from_word)]
    pub(crate) below_threshold: Option<Below>,
    /// A role and its keys, as operators=anna/identity.pem,ben/identity.pem; files or key ids. May
    /// be given more than once.
    #[arg(long = "role", value_name = "NAME=KEYS")]
    pub(crate) roles: Vec<String>,
    /// What votes for an admission satisfy besides their number, as "2 of operators and 1 of
    /// security".
    #[arg(long, value_name = "RULE")]
    pub(crate) admit: Option<String>,
    /// What votes for an expulsion satisfy besides.
    #[arg(long, value_name = "RULE")]
    pub(crate) remove: Option<String>,
    /// How many rejections end a request for good.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) objections: Option<u32>,
    /// How long a request lasts, and every vote on it, whoever was away meanwhile.
    #[arg(long, value_name = "DAYS")]
    pub(crate) request_days: Option<u32>,
    /// Who admits: the voters (threshold), the charter's list, one founder, or the authority.
    #[arg(long, value_name = "POLICY", default_value = "threshold", value_parser = Policy::from_word)]
    pub(crate) policy: Policy,
    /// With --policy list: who may join without votes; files or key ids, with commas between.
    #[arg(long, value_name = "KEYS")]
    pub(crate) list: Option<String>,
    /// What the smaller side of a split may do: continue, read-only or stop.
    #[arg(long, value_name = "HOW", default_value = "continue", value_parser = minority)]
    pub(crate) minority: Minority,
    /// With --policy founder: whose vote admits; a file or key id.
    #[arg(long, value_name = "KEY")]
    pub(crate) decider: Option<String>,
}
