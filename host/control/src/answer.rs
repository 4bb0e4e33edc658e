//! What a member answers.

use folkmoot_base::Refused;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The published exit codes (docs/cli.md). 0 is done, or yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// The answer is no, or a check failed.
    No = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Something in the state folder, a file or a setting is wrong.
    Configuration = 3,
    /// Nobody answers there: no member runs on the folder, or no contact at the locator.
    Unreachable = 4,
    /// The charter or the voters say no.
    Refused = 5,
    /// It took too long.
    TimedOut = 6,
    /// The member is not in the group.
    NotInGroup = 7,
    /// A bug of ours.
    Bug = 70,
    /// Something that time may mend, and nobody need decide: a full disk, an address that is not
    /// there yet, too many open files. `EX_TEMPFAIL` of sysexits.
    Temporary = 75,
}

/// What refuses an order, for programs ([`folkmoot_base::RefusedBy`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// A name that stays the same.
    pub code: String,
    /// The rule of docs/protocol, if one refuses it.
    pub rule: Option<String>,
    /// With whom it lies: `order`, `member` or `group`.
    pub fault: String,
    /// Whether the order would be accepted with force.
    pub forcible: bool,
}

impl From<&Refused> for By {
    fn from(refused: &Refused) -> Self {
        Self {
            code: refused.by.code.into(),
            rule: refused.by.rule.map(Into::into),
            fault: refused.by.fault.name().into(),
            forcible: refused.forcible,
        }
    }
}

/// Why an answer is no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct No {
    /// For people: why, and what to do.
    pub error: String,
    /// How a command ends that asked.
    pub exit: Exit,
    /// What refuses it, if it is an order that a member refuses, or a line that is not a request.
    #[serde(flatten)]
    pub by: Option<Box<By>>,
}

/// What a member answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// It was done, or is known.
    Ok {
        /// What is told of it.
        ok: Value,
    },
    /// It was not.
    No(No),
}
