//! Who signs a certificate: its holder, or a group with the key that its members share.

use const_oid::db::rfc5912;
use const_oid::db::rfc8410;
use der::asn1::{Any, Null};
use folkmoot_signing::{GroupKey, KeyKind};
use spki::AlgorithmIdentifierOwned;

/// Who signs a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Issuer {
    /// The key that it names.
    Own,
    /// A group.
    Group {
        /// The group's name.
        name: String,
        /// The kind of its key.
        kind: KeyKind,
        /// The first 20 bytes of the key's digest.
        key_id: [u8; 20],
    },
}

/// How certificates name a group's key: the first 20 bytes of the SHA-256 of its SPKI.
pub(crate) fn key_id(key: &GroupKey) -> [u8; 20] {
    let mut head = [0; 20];
    head.iter_mut().zip(key.digest()).for_each(|(to, from)| *to = from);
    head
}

/// The identifier of the signatures of such a key (RFC 5758, 8410, 8017), in certificates, lists,
/// CSRs and CMS alike.
pub(crate) fn algorithm(kind: KeyKind) -> AlgorithmIdentifierOwned {
    let (oid, parameters) = match kind {
        KeyKind::EcdsaP256 => (rfc5912::ECDSA_WITH_SHA_256, None),
        KeyKind::Ed25519 => (rfc8410::ID_ED_25519, None),
        KeyKind::Rsa => (rfc5912::SHA_256_WITH_RSA_ENCRYPTION, Some(Any::from(Null))),
    };
    AlgorithmIdentifierOwned { oid, parameters }
}

/// Which kind of key makes signatures with this identifier; in its one form.
pub(crate) fn key_kind(identifier: &AlgorithmIdentifierOwned) -> Option<KeyKind> {
    let all = [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa];
    all.into_iter().find(|kind| algorithm(*kind) == *identifier)
}
