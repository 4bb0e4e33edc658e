//! What people decide, and how it is named in an approval.

use crate::{Head, Leave, Subject};
use folkmoot_base::SignatureBytes;
use folkmoot_base::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize, codec_enum};
use folkmoot_base::{Digest, MemberId, digest};
use folkmoot_identity::{VoteKind, keys_named};
use folkmoot_signing::{Scheme, shared};
use std::collections::BTreeSet;

/// One change to the state.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Change {
    /// Expel a member, whatever it was admitted by.
    #[tls_codec(discriminant = 1)]
    Remove {
        /// The member.
        member: MemberId,
    },
    /// Change one field of the charter.
    #[tls_codec(discriminant = 2)]
    Charter {
        /// The field's name, UTF-8.
        field: Blob,
        /// Its new value as the charter writes it, UTF-8.
        value: Blob,
    },
    /// Say who votes from now on.
    #[tls_codec(discriminant = 3)]
    Electorate {
        /// The voters, in order: 1 to 256 distinct members.
        voters: Vec<MemberId>,
    },
    /// The members hold shares of the group's key in this way from now on.
    #[tls_codec(discriminant = 4)]
    Sharing {
        /// The public part, as the charter's scheme encodes it.
        public: Blob,
        /// The certificate of the group's key, signed by that key (X.509, DER); empty if an
        /// authority signs certificates.
        authority: Blob,
    },
    /// Hold an admission that came too late to count.
    #[tls_codec(discriminant = 5)]
    Hold {
        /// The digest of its request.
        request: Digest,
    },
    /// Give a member another key. It stays the same member, with its vote.
    #[tls_codec(discriminant = 6)]
    Rotate {
        /// The member by its old key.
        member: MemberId,
        /// The digest of the request that the new key signs.
        request: Digest,
        /// The old key's signature on that digest.
        signature: SignatureBytes,
    },
    /// Go over to another line, which left ours at a fork. Ours ends.
    #[tls_codec(discriminant = 7)]
    Rejoin {
        /// The first decision of the other line after the fork.
        head: Head,
    },
    /// Let a member go that has said itself that it leaves for good.
    #[tls_codec(discriminant = 8)]
    Leave(Leave),
    /// Take the line's time, which is ahead of the voters' clocks, back to them.
    #[tls_codec(discriminant = 9)]
    Retime {
        /// The head that has this time: so it acts once.
        head: Head,
    },
}

codec_enum! {
    /// Whether a change is carried out whatever it leaves behind.
    pub enum Force {
        /// Only if the group can go on as before.
        No = 0,
        /// Although the group may lose the ability to do something. One voter must stay.
        Yes = 1,
    }
}

/// A change that people decide on: an expulsion, a change of rules, a new electorate.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Effect {
    /// What it changes.
    pub change: Change,
    /// Whether it is carried out although it leaves voters who can no longer reach the threshold or
    /// satisfy a rule (`LINE-45`). The approvals cover this.
    pub force: Force,
}

impl From<Change> for Effect {
    fn from(change: Change) -> Self {
        Self { change, force: Force::No }
    }
}

impl Effect {
    /// What approvals of it name.
    pub fn subject(&self) -> Subject {
        let kind = self.kind();
        let plain = self.change.digest();
        Subject {
            kind,
            digest: if self.is_forced() { digest(&[b"folkmoot forced v1\0", &plain]) } else { plain },
        }
    }

    /// Whether it is forced.
    pub fn is_forced(&self) -> bool {
        self.force == Force::Yes
    }

    fn kind(&self) -> VoteKind {
        match self.change {
            Change::Remove { .. } => VoteKind::Remove,
            Change::Charter { .. } => VoteKind::ChangeCharter,
            Change::Electorate { .. } => VoteKind::Electorate,
            Change::Sharing { .. } => VoteKind::Sharing,
            Change::Hold { .. } => VoteKind::Hold,
            Change::Rotate { .. } => VoteKind::Rotate,
            Change::Rejoin { .. } => VoteKind::Rejoin,
            Change::Leave(_) => VoteKind::Leave,
            Change::Retime { .. } => VoteKind::Retime,
        }
    }
}

impl Change {
    /// How many bytes it says beyond a few: what its subject covers, so equal for equal subjects.
    pub(crate) fn long(&self) -> usize {
        match self {
            Self::Charter { field, value } => field.0.len().saturating_add(value.0.len()),
            Self::Sharing { public, authority } => public.0.len().saturating_add(authority.0.len()),
            _ => 0,
        }
    }

    /// Whom the voters let go by it, whether that member asks for it or not.
    pub fn goes(&self) -> Option<&MemberId> {
        match self {
            Self::Remove { member } => Some(member),
            Self::Leave(leave) => Some(&leave.member),
            _ => None,
        }
    }

    /// The keys that it names, whose removals since end approvals of it. A request that it names
    /// has one more.
    pub fn keys(&self, scheme: Scheme) -> BTreeSet<MemberId> {
        match self {
            Self::Remove { member } | Self::Rotate { member, .. } => [*member].into(),
            Self::Leave(leave) => [leave.member].into(),
            Self::Charter { field, value } => {
                let text = |blob: &Blob| core::str::from_utf8(&blob.0).unwrap_or_default().to_owned();
                keys_named(&text(field), &text(value))
            }
            Self::Electorate { voters } => voters.iter().copied().collect(),
            Self::Sharing { public, .. } => shared::facts(scheme, &public.0)
                .map(|facts| facts.holders.iter().copied().collect())
                .unwrap_or_default(),
            Self::Hold { .. } | Self::Rejoin { .. } | Self::Retime { .. } => BTreeSet::new(),
        }
    }

    /// The request that it names, if it names one.
    pub(crate) fn request(&self) -> Option<&Digest> {
        match self {
            Self::Hold { request } | Self::Rotate { request, .. } => Some(request),
            _ => None,
        }
    }

    fn digest(&self) -> Digest {
        match self {
            Self::Remove { member } => digest(&[b"folkmoot removal v2\0", &member.0]),
            // As `folkmoot_identity::change_digest`, of the bytes: what is no text has a name of its
            // own too.
            Self::Charter { field, value } => digest(&[b"folkmoot change v1\0", &field.0, b"\0", &value.0]),
            Self::Electorate { voters } => {
                let mut parts: Vec<&[u8]> = vec![b"folkmoot electorate v2\0"];
                parts.extend(voters.iter().map(|voter| voter.0.as_slice()));
                digest(&parts)
            }
            Self::Sharing { public, authority } => {
                digest(&[b"folkmoot sharing v2\0", &digest(&[&public.0]), &digest(&[&authority.0])])
            }
            Self::Hold { request } => digest(&[b"folkmoot hold v1\0", request]),
            Self::Rotate { member, request, .. } => digest(&[b"folkmoot rotation v1\0", &member.0, request]),
            Self::Rejoin { head } => {
                digest(&[b"folkmoot rejoin v1\0", &head.number.to_be_bytes(), &head.digest])
            }
            Self::Leave(leave) => leave.digest(),
            Self::Retime { head } => {
                digest(&[b"folkmoot retime v1\0", &head.number.to_be_bytes(), &head.digest])
            }
        }
    }
}
