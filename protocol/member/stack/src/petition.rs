//! What is open to votes.

use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::Endorsement;

/// A request for admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Petition {
    /// The digest that a vote on it names.
    pub subject: Digest,
    /// The key that asks.
    pub member: MemberId,
    /// The name that it asks for.
    pub name: String,
    /// The member that handed in its CSR, if one did. Otherwise it asks by itself.
    pub sponsor: Option<MemberId>,
    /// Votes so far.
    pub have: u32,
    /// Votes needed.
    pub need: u32,
    /// The members that voted yes.
    pub approved: Vec<MemberId>,
    /// The members that voted no.
    pub rejected: Vec<MemberId>,
    /// The charter's rule on admissions, with the votes so far in each part; `None` if there is
    /// none.
    pub rule: Option<String>,
    /// The roles that the charter gives this key.
    pub roles: Vec<String>,
    /// The term asked for: beginning and end.
    pub term: (UnixTime, UnixTime),
    /// The members have done their part, and the authority has not signed yet. The text says why,
    /// if the authority said so.
    pub waits: Option<Option<&'static str>>,
    /// The voters have granted it, but nobody can sign until there are new shares: as many holders
    /// as the threshold could have left with old shares.
    pub stale: bool,
    /// Whoever asks is a member, and asks for a new certificate.
    pub renews: bool,
    /// How many voters there are.
    pub voters: u32,
    /// What the newcomer shows of who it is, if that counts now.
    pub endorsement: Option<Box<Endorsement>>,
}

/// A proposal that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The digest that a vote on it names.
    pub subject: Digest,
    /// The member that proposes it.
    pub proposer: MemberId,
    /// The proposed decision, in plain words.
    pub text: String,
    /// Votes so far.
    pub have: u32,
    /// Votes needed.
    pub need: u32,
    /// The members that voted yes.
    pub approved: Vec<MemberId>,
    /// The members that voted no.
    pub rejected: Vec<MemberId>,
    /// How many voters there are.
    pub voters: u32,
    /// The charter's rule on removals, with the votes so far in each part; `None` if none applies.
    pub rule: Option<String>,
}
