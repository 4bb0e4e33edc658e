//! The one message of keying, sender → all parties of the view, in the one order:
//!
//! ```text
//!  version | view | attempt u32 | instance (u64, 16 bytes) | step u8 | body | signature
//! ```
//! | step | service | sender | body |
//! |---|---|---|---|
//! | 1 … 127, the module's own (GDH: 1 PARTIAL, 2 FINAL, 3 FACT_OUT, 4 KEY_LIST) | AGREED; what decides: SAFE | as the module says | the module's |
//! | 200 CONFIRM | SAFE | every party, once it has the key | form u8, MAC 32 |
//! | 201 REFRESH | AGREED | whoever wants a new key in this view | none |
//!
//! The signature covers ("folkmoot keying v1", binding, instance, place, step, body), where binding
//! is SHA-256 over GroupId, ViewId, attempt, parties (34 bytes: member and port), the digests of
//! their members' certificates and what they bring in order, charter version, module and cipher
//! (DECISIONS N4). The place is the sender's in that list. So the signature names the party, and
//! nothing that a member's key signed for one of its parties is good for another.
//!
//! A CONFIRM is not signed: its signature is empty, and the MAC in its body is under a key of the
//! sender's own that follows from the run's secret (KEY-23; derive.rs).

use crate::base::codec::{self, Serialize as _, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::base::limits::MEMBERS_MAX;
use crate::base::{Blob, DecodeError, Digest, GroupId, Party, ViewId, digest};
use bytes::Bytes;
use folkmoot_base::SignatureBytes;

/// CONFIRM.
pub const CONFIRM: u8 = 200;
/// REFRESH.
pub const REFRESH: u8 = 201;
/// The form of a confirmation: HMAC-SHA-256 under the party's confirmation key (KEY-23). Another
/// way to confirm will have another number.
pub const MAC_FORM: u8 = 1;
/// The longest message: a hybrid MLS commit to which everybody in the largest group is new. Each
/// module limits its steps to less, the classical ones to a tenth.
pub const MESSAGE_BYTES_MAX: usize = MEMBERS_MAX * 10_240 + 8_192;

const _: () = assert!(MESSAGE_BYTES_MAX < crate::base::limits::MESSAGE_BYTES_MAX);

const LABEL: &[u8] = b"folkmoot keying v1";

/// Identifies one party's part in one run; never used again. The counter is kept on disk. The
/// random part keeps the identifier fresh even if an old copy of the disk was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Instance {
    /// Grows with every run; persisted before it is used.
    pub counter: u64,
    /// Drawn at random for the run.
    pub nonce: [u8; 16],
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Envelope {
    /// In which view.
    pub view: ViewId,
    /// 0 for the run that makes the view secure; one more for each refresh.
    pub attempt: u32,
    /// Identifies the sender's part in the run.
    pub instance: Instance,
    /// Which step.
    pub step: u8,
    /// The step's bytes.
    pub body: Blob,
    /// The sender's; empty in a CONFIRM.
    pub signature: SignatureBytes,
}

impl Envelope {
    /// Reads a message.
    ///
    /// # Errors
    /// Every [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        codec::decode_at_most(bytes, MESSAGE_BYTES_MAX)
    }

    /// The body of a CONFIRM.
    pub fn confirmation(mac: &Digest) -> Blob {
        Blob::from([[MAC_FORM].as_slice(), mac].concat())
    }

    /// KEY-23: the MAC of a CONFIRM, if it is in the one form that there is.
    pub fn mac(&self) -> Option<&Digest> {
        let (form, mac) = self.body.as_ref().split_first()?;
        let fits = *form == MAC_FORM && self.signature == SignatureBytes::NONE;
        mac.try_into().ok().filter(|_| fits)
    }

    /// What the signature covers.
    pub fn signed_content(&self, binding: &Digest, place: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body.0.len().saturating_add(128));
        out.extend_from_slice(LABEL);
        out.extend_from_slice(binding);
        out.extend_from_slice(&self.instance.counter.to_be_bytes());
        out.extend_from_slice(&self.instance.nonce);
        out.extend_from_slice(&u32::try_from(place).unwrap_or(u32::MAX).to_be_bytes());
        out.push(self.step);
        out.extend_from_slice(self.body.as_ref());
        out
    }
}

/// Everything that a run is bound to, in one digest. `names`: module and cipher.
pub fn binding(
    view: &ViewId,
    attempt: u32,
    members: &[(Party, Digest)],
    brought: &[Bytes],
    charter_version: u64,
    names: [&str; 2],
) -> Digest {
    let GroupId(group) = view.group;
    let mut out = b"folkmoot keying binding v1".to_vec();
    out.extend_from_slice(&group);
    let written = view.tls_serialize(&mut out);
    assert!(written.is_ok(), "a view id always encodes");
    out.extend_from_slice(&attempt.to_be_bytes());
    out.extend_from_slice(&u32::try_from(members.len()).unwrap_or(u32::MAX).to_be_bytes());
    for (party, certificate) in members {
        out.extend_from_slice(&party.to_bytes());
        out.extend_from_slice(certificate);
    }
    for said in brought {
        out.extend_from_slice(&digest(&[said]));
    }
    out.extend_from_slice(&charter_version.to_be_bytes());
    for name in names {
        out.extend_from_slice(&digest(&[name.as_bytes()]));
    }
    digest(&[&out])
}
