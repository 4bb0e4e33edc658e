//! A place on a group's line of decisions.

use crate::Digest;
use crate::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use core::fmt;

/// A decision by number and digest: as the head, the last one that a member applied; as a base, the
/// last one that a voter or a requester knew.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
pub struct Head {
    /// How many decisions came before it; 0 for the founding.
    pub number: u64,
    /// SHA-256 of the decision.
    pub digest: Digest,
}

impl Head {
    /// All of it: number, a dot and the 64 hexadecimal digits of the digest.
    pub fn whole(&self) -> String {
        format!("{}.{}", self.number, crate::hex(&self.digest))
    }

    /// Reads what [`Self::whole`] writes; `None` for anything else.
    pub fn from_whole(text: &str) -> Option<Self> {
        let (number, digits) = text.split_once('.')?;
        let digest = crate::unhex(digits)?.try_into().ok()?;
        let head = Self { number: number.parse().ok()?, digest };
        (head.whole() == text).then_some(head)
    }
}

/// Short, for people: number and the first four bytes, as in `17.5e0c1f22`.
impl fmt::Display for Head {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.", self.number)?;
        self.digest.iter().take(4).try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Head;

    #[test]
    fn a_head_is_read_as_it_is_written_and_in_no_other_way() {
        let head = Head { number: 17, digest: [0xab; 32] };
        let whole = head.whole();
        assert_eq!(Head::from_whole(&whole), Some(head));
        let others = [
            head.to_string(),
            whole.to_uppercase(),
            format!("0{whole}"),
            format!("+{whole}"),
            format!("{whole}ab"),
            whole.replace('.', ""),
            String::new(),
        ];
        for other in others {
            assert_eq!(Head::from_whole(&other), None, "{other}");
        }
    }
}
