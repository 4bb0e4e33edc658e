//! Tokens of the published operations.
//!
//! | token | sender → receiver | values |
//! |---|---|---|
//! | UPFLOW | M_i → M_(i+1) | partial keys of 1..i, then `g^(N1…Ni)` |
//! | NEW_MEMBER | controller → joiner | partial keys of all old parties, then the key without the joiner |
//! | MASS_JOIN | controller → first new → … → last new | the key so far |
//! | MERGE_BROADCAST | last new → all | the key without the last |
//! | FACTOR_OUT | all but the last → last | that without the sender |
//! | KEY_UPDATE | controller → all | partial keys of all but the controller |

use crate::base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::base::{Blob, Party};

/// Which token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Kind {
    /// IKA.1, up the chain.
    Upflow = 1,
    /// JOIN, to the joiner.
    NewMember = 2,
    /// MERGE and IKA.2, up the chain.
    MassJoin = 3,
    /// MERGE and IKA.2, from the last.
    MergeBroadcast = 4,
    /// MERGE and IKA.2, back to the last.
    FactorOut = 5,
    /// The last of every operation.
    KeyUpdate = 6,
}

/// One token. It is public: anyone who sees it learns nothing of the key. Whoever carries it must
/// sign it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Token {
    /// Which.
    pub kind: Kind,
    /// The number of the key that the operation makes; one more than the last.
    pub epoch: u64,
    /// All parties once the operation is done, in order; the last is the controller.
    pub members: Vec<Party>,
    /// Elements, as the kind says.
    pub values: Vec<Blob>,
}
