//! The seam to identities: what a link must know of keys and certificates, and no more.

use bytes::Bytes;
use folkmoot_base::NodeId;

/// What a certificate says of its holder, before anybody proves to be it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// SHA-256 of the certificate's SPKI.
    pub node: NodeId,
    /// Whether it carries votes, that is, claims to be a member's. A claim only: the roster decides (DECISIONS T2).
    pub rostered: bool,
}

/// Own identity and the judgement of others'.
pub trait Credentials {
    /// Own node.
    fn node(&self) -> NodeId;
    /// Signs `label` ‖ `message` with the identity key; `None` if the key does not work.
    fn sign(&self, label: &[u8], message: &[u8]) -> Option<Vec<u8>>;
    /// What `certificate` (DER) says of its holder; `None` unless it is well formed. No clock is asked.
    fn claim(&self, certificate: &[u8]) -> Option<Claim>;
    /// Whether `signature` over `label` ‖ `message` was made by the key in `certificate`; its claim if so.
    fn verify(&self, certificate: &[u8], label: &[u8], message: &[u8], signature: &[u8]) -> Option<Claim>;
    /// Own certificate now, DER.
    fn certificate(&self) -> Bytes;
}
