//! The bytes of both steps, and what can be read from them without being in the group.
//!
//! ```text
//! 1 KEY_PACKAGE   MLSMessage (mls_key_package)
//! 2 COMMIT        version | MLSMessage (mls_public_message) | MLSMessage (mls_welcome) | ratchet_tree      each a Blob;
//!                 the last two empty if nobody comes new
//! ```
//! Besides the library's decoders there are two readers of our own. [`Path`] exists because the
//! library trusts the length of an update path and panics on a short one; [`count_nodes`], because
//! a blank node of one byte takes hundreds of bytes in memory.

use crate::AgreementError;
use crate::base::Blob;
use crate::base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use mls_rs::crypto::{HpkeCiphertext, HpkePublicKey};
use mls_rs::group::{LeafNode, Node, Sender};
use mls_rs::mls_rs_codec::{self as codec, MlsDecode, MlsEncode as _, byte_vec};
use mls_rs::{KeyPackage, MlsMessage};

/// The body of COMMIT.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Commit {
    /// For those in the group.
    pub commit: Blob,
    /// For newcomers: the secrets of the new epoch, sealed to each key package.
    pub welcome: Blob,
    /// For newcomers: the tree, as all have it after the commit.
    pub tree: Blob,
}

/// A message of the library.
pub(super) fn message(bytes: &[u8]) -> Result<MlsMessage, AgreementError> {
    MlsMessage::from_bytes(bytes).map_err(|_| AgreementError::PeerMalformed)
}

/// A commit's update path.
pub(super) struct Path {
    /// The public keys of the committer's ancestors, from below.
    pub(super) keys: Vec<HpkePublicKey>,
}

impl Path {
    /// Reads it from an MLSMessage with a commit in the open that has one (RFC 9420, 6, 6.2, 12.4,
    /// 7.6).
    pub(super) fn read(bytes: &[u8]) -> Result<Self, AgreementError> {
        Self::decode(bytes).map_err(|_| AgreementError::PeerMalformed)
    }

    fn decode(bytes: &[u8]) -> Result<Self, codec::Error> {
        let mut rest = bytes;
        let reader = &mut rest;
        let (_version, _format) = (u16::mls_decode(reader)?, u16::mls_decode(reader)?);
        let _group: Vec<u8> = byte_vec::mls_decode(reader)?;
        let (_epoch, _sender) = (u64::mls_decode(reader)?, Sender::mls_decode(reader)?);
        let _authenticated: Vec<u8> = byte_vec::mls_decode(reader)?;
        let _kind = u8::mls_decode(reader)?;
        let _proposals: Vec<u8> = byte_vec::mls_decode(reader)?;
        if u8::mls_decode(reader)? != 1 {
            return Err(codec::Error::OptionOutOfRange(0));
        }
        LeafNode::mls_decode(reader)?;
        let nodes: Vec<u8> = byte_vec::mls_decode(reader)?;
        let mut keys = Vec::new();
        let mut rest = nodes.as_slice();
        while !rest.is_empty() {
            keys.push(HpkePublicKey::mls_decode(&mut rest)?);
            Vec::<HpkeCiphertext>::mls_decode(&mut rest)?;
        }
        Ok(Self { keys })
    }
}

/// The leaf in a key package.
pub(super) fn leaf_of(package: &KeyPackage) -> Result<LeafNode, AgreementError> {
    let leaf = || -> Result<LeafNode, codec::Error> {
        let bytes = package.mls_encode_to_vec()?;
        let reader = &mut bytes.as_slice();
        let (_version, _suite) = (u16::mls_decode(reader)?, u16::mls_decode(reader)?);
        let _init: Vec<u8> = byte_vec::mls_decode(reader)?;
        LeafNode::mls_decode(reader)
    };
    leaf().map_err(|_| AgreementError::PeerMalformed)
}

/// Whether these are the bytes of a tree of exactly `expected` nodes. Keeps one node at a time.
pub(super) fn count_nodes(bytes: &[u8], expected: usize) -> Result<(), AgreementError> {
    let counted = || -> Result<usize, codec::Error> {
        let reader = &mut &*bytes;
        let (nodes, rest) = codec::iter::mls_decode_split_on_collection(reader)?;
        let (mut nodes, mut count) = (nodes, 0_usize);
        while !nodes.is_empty() && count <= expected {
            Option::<Node>::mls_decode(&mut nodes)?;
            count = count.saturating_add(1);
        }
        if rest.is_empty() { Ok(count) } else { Err(codec::Error::UnexpectedTrailingData) }
    };
    match counted() {
        Ok(count) if count == expected => Ok(()),
        Ok(_) => Err(AgreementError::PeerWrongList),
        Err(_) => Err(AgreementError::PeerMalformed),
    }
}
