//! The short words of a party that change who is in a group. Its member signs them, because any
//! node of a ring can make a packet in another's name.
//!
//! ```text
//! party --Said: word, number, signature--> its node --> all nodes of the ring, which judge it alike
//! ```
//! A [`Proof`] brings its key along. The id of whoever signed is a digest of that key, so everybody
//! comes to the same verdict, whatever roster it has.

use crate::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::{Blob, ConfigurationId, Digest, GroupId, NodeId, Party, SignatureBytes, ViewId};

/// The domain label of every [`Word`].
pub const WORD_LABEL: &[u8] = b"folkmoot party word v1";

/// Signs with one identity key, and judges what others signed.
pub trait Signatures: core::fmt::Debug + Send + Sync {
    /// A signature of our own, under this domain label.
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Proof;
    /// Whether `signer`, a node or a member, signed this. The verdict follows from the arguments
    /// alone.
    fn verify(&self, signer: &Digest, label: &'static [u8], message: &[u8], proof: &Proof) -> bool;
}

/// A signature and the key that it verifies under.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Proof {
    /// The key, as SPKI DER.
    pub key: Blob,
    /// The signature.
    pub signature: SignatureBytes,
}

/// What a party says that changes who is in a group.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Word {
    /// Which party.
    pub party: Party,
    /// Grows with each word of the party.
    pub number: u64,
    /// What it says.
    pub says: Says,
}

/// What a [`Word`] says.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Says {
    /// It joins a group.
    #[tls_codec(discriminant = 1)]
    Join(Join),
    /// It leaves a group: every join of it with a lower number is over.
    #[tls_codec(discriminant = 2)]
    Leave {
        /// Which group.
        group: GroupId,
    },
    /// It wants a notice although nobody comes or goes.
    #[tls_codec(discriminant = 4)]
    Refresh {
        /// The newest notice that it knows. If there is a newer one, it has what it wants.
        view: ViewId,
    },
    /// Another party is silent.
    #[tls_codec(discriminant = 5)]
    Complain {
        /// In which configuration it says so; it counts in no other.
        configuration: ConfigurationId,
        /// In which view the other is silent (it names the group).
        view: ViewId,
        /// The other.
        suspect: Party,
    },
}

/// Where and when a party joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Join {
    /// Which group.
    pub group: GroupId,
    /// The node where it lives.
    pub node: NodeId,
    /// In which configuration it says so; it joins in no other.
    pub configuration: ConfigurationId,
}

/// A word with its member's signature.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Said {
    /// The word.
    pub word: Word,
    /// Signed by its party's member.
    pub proof: Proof,
}

impl Said {
    /// Signs a word.
    pub fn sign(word: Word, signatures: &dyn Signatures) -> Self {
        let proof = signatures.sign(WORD_LABEL, &codec::encode(&word));
        Self { word, proof }
    }

    /// Whether its party's member signed it.
    pub fn is_signed(&self, signatures: &dyn Signatures) -> bool {
        let bytes = codec::encode(&self.word);
        signatures.verify(&self.word.party.member.0, WORD_LABEL, &bytes, &self.proof)
    }
}

impl Says {
    /// The group that it is about.
    pub fn group(&self) -> GroupId {
        match self {
            Self::Join(Join { group, .. }) | Self::Leave { group } => *group,
            Self::Refresh { view } | Self::Complain { view, .. } => view.group,
        }
    }

    /// The configuration in which alone it counts, if there is such a one.
    pub fn configuration(&self) -> Option<&ConfigurationId> {
        match self {
            Self::Join(Join { configuration, .. }) | Self::Complain { configuration, .. } => {
                Some(configuration)
            }
            Self::Leave { .. } | Self::Refresh { .. } => None,
        }
    }
}

/// Signatures for tests and fuzzing: anybody can make anybody's.
#[cfg(feature = "danger")]
#[derive(Debug, Clone, Copy)]
pub struct ToySignatures(pub Digest);

#[cfg(feature = "danger")]
impl Signatures for ToySignatures {
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Proof {
        let mut signature = [0; 64];
        let tag = crate::digest(&[b"toy", &self.0, label, &[0], message]);
        signature.iter_mut().zip(tag).for_each(|(to, from)| *to = from);
        Proof { key: Blob::from(self.0.to_vec()), signature: signature.into() }
    }

    fn verify(&self, signer: &Digest, label: &'static [u8], message: &[u8], proof: &Proof) -> bool {
        Self(*signer).sign(label, message) == *proof
    }
}
