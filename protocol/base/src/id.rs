//! Identifiers of nodes, members, groups and entries. They are digests, so nobody can choose their
//! own.

use crate::codec::{DeserializeBytes, Serialize, Size, TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::limits::GROUP_NAME_BYTES_MAX;
use core::cmp::Ordering;
use hmac::{KeyInit, Mac};
use sha2::Digest as _;
use std::fmt;
use std::io::Write;

/// A SHA-256 value.
pub type Digest = [u8; 32];

/// SHA-256 of the concatenation of `parts`.
pub fn digest(parts: &[&[u8]]) -> Digest {
    let mut hasher = sha2::Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// SHA-512 of the concatenation of `parts`, where a format of others asks for it.
pub fn digest_512(parts: &[&[u8]]) -> [u8; 64] {
    let mut hasher = sha2::Sha512::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// HMAC-SHA-256 (RFC 2104) of the concatenation of `parts`.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> Digest {
    let mut block = [0_u8; 64];
    if key.len() > block.len() {
        for (to, from) in block.iter_mut().zip(digest(&[key])) {
            *to = from;
        }
    } else {
        for (to, from) in block.iter_mut().zip(key) {
            *to = *from;
        }
    }
    let mut mac = hmac::Hmac::<sha2::Sha256>::new(&block.into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The bytes as numbers, in an order that is theirs: ids are compared with every packet, and this
/// takes no call.
fn words(id: &Digest) -> [u64; 4] {
    let mut words = [0; 4];
    let (chunks, _) = id.as_chunks();
    words.iter_mut().zip(chunks).for_each(|(word, chunk)| *word = u64::from_be_bytes(*chunk));
    words
}

macro_rules! digest_id {
    ($(#[$doc:meta])* $name:ident, $short:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes)]
        pub struct $name(pub Digest);

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                words(&self.0).cmp(&words(&other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            /// The first eight hexadecimal digits: for people, never for decisions.
            pub fn short(&self) -> String {
                crate::hex(self.0.iter().take(4))
            }

            /// All 64 hexadecimal digits, lower case.
            pub fn hex(&self) -> String {
                crate::hex(&self.0)
            }

            /// Reads what [`Self::hex`] writes; `None` for anything else.
            pub fn from_hex(text: &str) -> Option<Self> {
                let id = Self(crate::unhex(text)?.try_into().ok()?);
                (!text.bytes().any(|digit| digit.is_ascii_uppercase())).then_some(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.short())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, concat!($short, ":{}"), self.short())
            }
        }
    };
}

digest_id!(
    /// One running lower stack: SHA-256 of its public key's SPKI (DER).
    NodeId, "node"
);
digest_id!(
    /// One admitted member: SHA-256 of its public key's SPKI (DER). A program that embeds both
    /// stacks uses one key for both, hence equal bytes; see [`MemberId::node`].
    MemberId, "member"
);
digest_id!(
    /// A group: SHA-256("folkmoot group v1" ‖ charter bytes). For a group without a charter of its
    /// own: SHA-256(label ‖ ring's GroupId ‖ name) (DECISIONS N1).
    GroupId, "group"
);
digest_id!(
    /// An entry of the transcript: SHA-256 of its encoding.
    EntryId, "entry"
);

impl GroupId {
    /// The group that this exact charter founds.
    pub fn of_charter(charter: &[u8]) -> Self {
        Self(digest(&[b"folkmoot group v1", charter]))
    }

    /// The group called `name` that is open to every member of the ring governed by `ring`.
    pub fn of_name(ring: &GroupId, name: &GroupName) -> Self {
        Self(digest(&[b"folkmoot named group v1", &ring.0, name.as_str().as_bytes()]))
    }
}

impl MemberId {
    /// The node with the same key.
    pub fn node(&self) -> NodeId {
        NodeId(self.0)
    }
}

impl NodeId {
    /// The member with the same key.
    pub fn member(&self) -> MemberId {
        MemberId(self.0)
    }
}

/// One of a member's programs in groups: the member, and a port that it chose for the program.
/// Views list parties, rosters list members, rings list nodes. A key is agreed among parties, and a
/// signature by a member's key always covers the port of the party that speaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Party {
    /// The member, whose key signs for the party.
    pub member: MemberId,
    /// Which of the member's programs; 0 if the member has only one.
    pub port: u16,
}

impl Party {
    /// Bytes of a party's encoding: the member, then the port, the higher byte first.
    pub const BYTES: usize = 34;

    /// Both parts.
    pub fn new(member: MemberId, port: u16) -> Self {
        Self { member, port }
    }

    /// The encoding.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0_u8; Self::BYTES];
        let (member, port) = bytes.split_at_mut(32);
        member.copy_from_slice(&self.member.0);
        port.copy_from_slice(&self.port.to_be_bytes());
        bytes
    }

    /// The member's 64 hexadecimal digits, lower case; a port other than 0 follows after a colon.
    pub fn hex(&self) -> String {
        self.of(&self.member.hex())
    }

    /// Reads what [`Self::hex`] writes; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let (member, port) =
            text.split_once(':').map_or((text, Some(0)), |(member, port)| (member, port.parse().ok()));
        let party = Self::new(MemberId::from_hex(member)?, port?);
        (party.hex() == text).then_some(party)
    }

    /// For people, never for decisions: the member's short name; behind it the port, if it is not
    /// 0.
    pub fn short(&self) -> String {
        self.of(&self.member.short())
    }

    /// The party, if its member is called `name`: `anna`, `anna:2`.
    pub fn of(&self, name: &str) -> String {
        if self.port == 0 { name.to_owned() } else { format!("{name}:{}", self.port) }
    }
}

impl From<MemberId> for Party {
    /// The party of a member that has only one program.
    fn from(member: MemberId) -> Self {
        Self::new(member, 0)
    }
}

impl fmt::Display for Party {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.short())
    }
}

impl fmt::Debug for Party {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "party:{}", self.short())
    }
}

/// A group's name: 1 to 255 bytes of UTF-8 without control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(String);

/// Why a text is not a group name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty or too long.
    #[error("a group name has 1 to {GROUP_NAME_BYTES_MAX} bytes, not {0}")]
    Length(usize),
    /// It contains a control character.
    #[error("a group name cannot have control characters")]
    Control,
}

impl GroupName {
    /// Checks `text`.
    ///
    /// # Errors
    /// [`NameError`] says which rule it breaks.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if text.is_empty() || text.len() > GROUP_NAME_BYTES_MAX {
            return Err(NameError::Length(text.len()));
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Control);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Size for GroupName {
    fn tls_serialized_len(&self) -> usize {
        self.0.len().saturating_add(1)
    }
}

impl Serialize for GroupName {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        let length = u8::try_from(self.0.len()).map_err(|_| tls_codec::Error::InvalidVectorLength)?;
        length.tls_serialize(writer)?;
        writer
            .write_all(self.0.as_bytes())
            .map_err(|_| tls_codec::Error::InvalidWriteLength("name".into()))?;
        Ok(self.tls_serialized_len())
    }
}

impl DeserializeBytes for GroupName {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        let (length, rest) = u8::tls_deserialize_bytes(bytes)?;
        let (name, rest) = rest.split_at_checked(usize::from(length)).ok_or(tls_codec::Error::EndOfStream)?;
        let name = std::str::from_utf8(name).map_err(|_| tls_codec::Error::DecodingError("utf-8".into()))?;
        let name = Self::new(name).map_err(|error| tls_codec::Error::DecodingError(error.to_string()))?;
        Ok((name, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::{MemberId, Party};
    use crate::codec;

    #[test]
    fn a_party_is_its_member_and_its_port_and_nothing_else() {
        let party = Party::new(MemberId([0xAB; 32]), 258);
        let mut expected = [0xAB; 34];
        expected[32..].copy_from_slice(&[1, 2]);
        assert_eq!(party.to_bytes(), expected);
        let encoded = codec::encode(&party);
        assert_eq!(encoded[1..], expected, "behind the version");
        assert_eq!(codec::decode::<Party>(&encoded), Ok(party));
        assert!(codec::decode::<Party>(&encoded[..34]).is_err());
        assert_eq!(party.to_string(), "abababab:258");
        assert_eq!(Party::from(party.member).to_string(), "abababab");
        assert_eq!(party.of("anna"), "anna:258");
    }

    #[test]
    fn ids_are_ordered_as_their_bytes() {
        let mut ids = vec![[0_u8; 32]];
        for place in [0, 7, 8, 15, 31] {
            for value in [1, 0x7f, 0x80, 0xff] {
                let mut id = [0x40; 32];
                id[place] = value;
                ids.push(id);
            }
        }
        for one in &ids {
            for other in &ids {
                assert_eq!(MemberId(*one).cmp(&MemberId(*other)), one.cmp(other));
            }
        }
    }

    #[test]
    fn a_party_has_one_text() {
        let whole = Party::new(MemberId([0xAB; 32]), 258);
        for party in [whole, whole.member.into()] {
            assert_eq!(Party::from_hex(&party.hex()), Some(party));
        }
        for port in ["", "0", "00", "0258", "+2", "-1", "2 ", "65536", "abab", ":258"] {
            assert_eq!(Party::from_hex(&format!("{}:{port}", whole.member.hex())), None, "{port:?}");
        }
    }

    #[test]
    fn parties_of_one_member_stand_together_in_the_order_of_their_ports() {
        let of = |member, port| Party::new(MemberId([member; 32]), port);
        let mut parties = [of(2, 0), of(1, 300), of(1, 2)];
        parties.sort();
        assert_eq!(parties, [of(1, 2), of(1, 300), of(2, 0)]);
    }
}
