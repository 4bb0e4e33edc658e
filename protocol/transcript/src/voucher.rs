//! What a member puts into a ticket so that its newcomer does not wait behind strangers.
//!
//! ```text
//! ticket --> newcomer --Request, Voucher--> contact: a place among the vouched (docs/protocol/admission.md)
//! ```
//! A voucher is no vote and admits nobody: it gives a request one of few places.

use crate::{Roster, SignatureBytes};
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{GroupId, MemberId, UnixTime};
use folkmoot_identity::{Identity, VerifyingKey};

/// What its maker signs it under.
const LABEL: &[u8] = b"folkmoot voucher v1";

/// What a voucher says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Vouching {
    /// Random: requests by the same voucher share its places.
    pub serial: [u8; 16],
    /// Until when it serves.
    pub ends: UnixTime,
    /// The only key that it is for, if it is for one.
    pub holder: Option<MemberId>,
}

/// What a member says for whoever brings it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Voucher {
    /// What it says.
    pub says: Vouching,
    /// The member that made it.
    pub maker: MemberId,
    /// Its maker's.
    pub signature: SignatureBytes,
}

/// Why a voucher does not count. The request that it came with is heard as one without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VoucherError {
    /// Nobody by that name is a member now.
    #[error("its maker is no member")]
    Maker,
    /// It has ended.
    #[error("it has ended")]
    Ended,
    /// It is for another key.
    #[error("it is for another key")]
    Holder,
    /// It was changed, is of another group, or somebody else signed it.
    #[error("its maker has not signed this for this group")]
    Signature,
}

#[derive(TlsSize, TlsSerialize)]
struct Body {
    group: GroupId,
    says: Vouching,
}

fn body(group: GroupId, says: Vouching) -> Vec<u8> {
    codec::encode(&Body { group, says })
}

impl Voucher {
    /// Makes one.
    pub fn sign(group: GroupId, says: Vouching, maker: &Identity) -> Self {
        let signature = maker.sign(LABEL, &body(group, says)).to_wire();
        Self { says, maker: maker.member(), signature }
    }

    /// Whether the holder of `key` has signed it for this group.
    ///
    /// # Errors
    /// [`VoucherError::Signature`].
    pub fn verify(&self, group: GroupId, key: &VerifyingKey) -> Result<(), VoucherError> {
        let signed = key.verify_wire(LABEL, &body(group, self.says), &self.signature);
        signed.map_err(|_| VoucherError::Signature)
    }

    /// `ADM-85`: whether it vouches now for a request of this key.
    ///
    /// # Errors
    /// [`VoucherError`]
    pub fn check(&self, roster: &Roster, newcomer: &MemberId, now: UnixTime) -> Result<(), VoucherError> {
        let maker = roster.member(&self.maker).ok_or(VoucherError::Maker)?;
        if self.says.ends <= now {
            return Err(VoucherError::Ended);
        }
        if self.says.holder.is_some_and(|holder| holder != *newcomer) {
            return Err(VoucherError::Holder);
        }
        self.verify(roster.charter().group(), &maker.key)
    }
}
