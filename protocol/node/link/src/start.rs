//! What a handshake signs: also when the process started. Of two processes with one identity it
//! says which is the later.

use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, NodeId, SignatureBytes};

pub(crate) const LABEL: &[u8] = b"folkmoot link v1";

/// Which side signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Dialler = 1,
    Answerer = 2,
}

/// What a handshake signs, without the ring and the signer's id, which its reader knows.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Start {
    /// Who signs: 1 the dialler, 2 the answerer.
    pub role: u8,
    /// The handshake's hash before the message that carries the signature.
    pub hash: Digest,
    /// The node at the other end; zeros, which are nobody's id, if it was not known yet.
    pub to: NodeId,
    /// When the process started, see [`Config::started`].
    pub started: u64,
    /// The static key that the process drew.
    pub key: [u8; 32],
}

/// The proof that a process started.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignedStart {
    /// What is signed.
    pub start: Start,
    /// By the key of the process's identity.
    pub signature: SignatureBytes,
}

impl Start {
    pub(crate) fn new(role: Role, hash: Digest, to: Option<NodeId>, started: u64, key: [u8; 32]) -> Self {
        let to = to.unwrap_or(NodeId([0; 32]));
        Self { role: role as u8, hash, to, started, key }
    }

    /// What is signed.
    pub(crate) fn statement(&self, group: &GroupId, from: NodeId) -> Vec<u8> {
        let started = self.started.to_be_bytes();
        [&[self.role], &group.0[..], &self.hash, &self.key, &from.0, &self.to.0, &started].concat()
    }

    /// Processes of one identity are in the order of these.
    pub(crate) fn rank(&self) -> (u64, [u8; 32]) {
        (self.started, self.key)
    }
}
