//! The only encoding of a state, and its digest.

use super::{Held, Place, REPLACED_MAX, Replaced, Stamps, State, VOTERS_MAX};
use crate::{Head, Refusal};
use folkmoot_base::codec::{self, Blob, DecodeError, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, MemberId, Mutant, UnixTime, digest, limits};
use folkmoot_identity::Charter;
use folkmoot_signing::VerifyingKey;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::OnceLock;

/// Why bytes are not a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// They do not decode.
    #[error("the state is malformed")]
    Wire(#[from] DecodeError),
    /// A value in it cannot be: a key, a name, a change of the charter, a sharing.
    #[error("the state holds an impossible {0}")]
    Value(&'static str),
    /// It is another group's.
    #[error("the state is another group's")]
    OtherGroup,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct HeldWire {
    member: MemberId,
    request: Digest,
    name: Blob,
    key: Blob,
    ends: UnixTime,
    issued: Option<[u8; 16]>,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct PlaceWire {
    voter: MemberId,
    since: u64,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct ChangeWire {
    field: Blob,
    value: Blob,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct FieldWire {
    field: Blob,
    stamp: u64,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct RemovedWire {
    member: MemberId,
    stamp: u64,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct RecentWire {
    head: Head,
    until: UnixTime,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct UsedWire {
    request: Digest,
    ends: UnixTime,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct RefusedWire {
    request: Digest,
    csr: Option<[u8; 16]>,
    number: u64,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct RevokedWire {
    serial: [u8; 16],
    ends: UnixTime,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct SharingWire {
    public: Blob,
    authority: Blob,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct StruckWire {
    field: Blob,
    member: MemberId,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct ReplacedWire {
    member: MemberId,
    by: MemberId,
    number: u64,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct StateWire {
    group: GroupId,
    number: u64,
    time: UnixTime,
    changes: Vec<ChangeWire>,
    roster: Vec<HeldWire>,
    places: Vec<PlaceWire>,
    sharing: Option<SharingWire>,
    removed: Vec<RemovedWire>,
    fields: Vec<FieldWire>,
    electorate_stamp: u64,
    sharing_stamp: u64,
    rejoin_stamp: u64,
    struck: Vec<StruckWire>,
    recent: Vec<RecentWire>,
    used: Vec<UsedWire>,
    refused: Vec<RefusedWire>,
    revoked: Vec<RevokedWire>,
    rejoin: Option<Head>,
    replaced: Vec<ReplacedWire>,
    running: Digest,
}

fn struck((field, member): &(String, MemberId)) -> StruckWire {
    StruckWire { field: blob(field.as_bytes()), member: *member }
}

fn replaced((member, one): (&MemberId, &Replaced)) -> ReplacedWire {
    ReplacedWire { member: *member, by: one.by, number: one.number }
}

fn blob(bytes: &[u8]) -> Blob {
    Blob::from(bytes.to_vec())
}

fn text(blob: &Blob) -> Result<String, StateError> {
    String::from_utf8(blob.0.to_vec()).map_err(|_| StateError::Value("text"))
}

/// A list as a map. Sorted, each once, as the map holds them: anything else would have another
/// encoding. The list goes as the map comes: either may have many entries.
fn sorted<T, K: Ord, V>(
    list: Vec<T>,
    entry: impl Fn(T) -> Result<(K, V), StateError>,
) -> Result<BTreeMap<K, V>, StateError> {
    let entries = list.into_iter().map(entry).collect::<Result<Vec<(K, V)>, StateError>>()?;
    if !entries.is_sorted_by(|(one, _), (next, _)| one < next) {
        return Err(DecodeError::NotCanonical.into());
    }
    Ok(entries.into_iter().collect())
}

impl State {
    /// SHA-256 of [`Self::encode`].
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Self::digest_of(&self.encode()))
    }

    /// The digest of the state with this encoding.
    pub(crate) fn digest_of(encoded: &[u8]) -> Digest {
        digest(&[b"folkmoot state v1\0", encoded])
    }

    /// Its only encoding.
    pub fn encode(&self) -> Vec<u8> {
        let held = |(member, held): (&MemberId, &Held)| HeldWire {
            member: *member,
            request: held.request,
            name: blob(held.name.as_bytes()),
            key: blob(held.key.spki_der()),
            ends: held.ends,
            issued: held.issued,
        };
        let sharing = self.sharing.as_ref().map(|sharing| SharingWire {
            public: Blob(sharing.public.clone()),
            authority: Blob(sharing.authority.clone()),
        });
        let change = |(field, value): (&String, &String)| ChangeWire {
            field: blob(field.as_bytes()),
            value: blob(value.as_bytes()),
        };
        let field =
            |(field, stamp): (&String, &u64)| FieldWire { field: blob(field.as_bytes()), stamp: *stamp };
        let recent = |(number, (digest, until)): (&u64, &(Digest, UnixTime))| RecentWire {
            head: Head { number: *number, digest: *digest },
            until: *until,
        };
        let refused = |(refusal, number): (&Refusal, &u64)| RefusedWire {
            request: refusal.request,
            csr: refusal.csr,
            number: *number,
        };
        let removed = self.stamps.removed.iter();
        codec::encode(&StateWire {
            group: self.group,
            number: self.head.number,
            time: self.time,
            changes: self.changes.iter().map(change).collect(),
            roster: self.roster.iter().map(held).collect(),
            places: self
                .places
                .iter()
                .map(|place| PlaceWire { voter: place.voter, since: place.since })
                .collect(),
            sharing,
            removed: removed.map(|(member, stamp)| RemovedWire { member: *member, stamp: *stamp }).collect(),
            fields: self.stamps.fields.iter().map(field).collect(),
            electorate_stamp: self.stamps.electorate,
            sharing_stamp: self.stamps.sharing,
            rejoin_stamp: self.stamps.rejoin,
            struck: self.struck.iter().map(struck).collect(),
            recent: self.recent.iter().map(recent).collect(),
            used: self
                .used
                .iter()
                .map(|(request, ends)| UsedWire { request: *request, ends: *ends })
                .collect(),
            refused: self.refused.iter().map(refused).collect(),
            revoked: self
                .revoked
                .iter()
                .map(|(serial, ends)| RevokedWire { serial: *serial, ends: *ends })
                .collect(),
            rejoin: self.rejoin,
            replaced: self.replaced.iter().map(replaced).collect(),
            running: self.running,
        })
    }

    /// Reads what [`Self::encode`] writes: the state after the decision with this digest, of the
    /// group that this charter founds. Whoever calls this has compared [`Self::digest`] with what
    /// that decision says.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn decode(bytes: &[u8], founding: Arc<Charter>, decision: Digest) -> Result<Self, StateError> {
        let wire: StateWire = codec::decode(bytes)?;
        if wire.group != founding.group() {
            return Err(StateError::OtherGroup);
        }
        if wire.roster.len() > limits::MEMBERS_MAX || wire.places.len() > VOTERS_MAX {
            return Err(StateError::Value("number of members"));
        }
        if wire.replaced.len() > REPLACED_MAX {
            return Err(StateError::Value("number of former keys"));
        }
        let held = |wire: HeldWire| {
            let key = VerifyingKey::from_spki_der(&wire.key.0).map_err(|_| StateError::Value("key"))?;
            if key.member_id() != wire.member || key.spki_der() != wire.key.0 {
                return Err(StateError::Value("key"));
            }
            let (request, name, ends, issued) = (wire.request, text(&wire.name)?, wire.ends, wire.issued);
            Ok((wire.member, Held { request, name, key, ends, issued }))
        };
        let stamps = Stamps {
            removed: sorted(wire.removed, |one| Ok((one.member, one.stamp)))?,
            fields: sorted(wire.fields, |one| Ok((text(&one.field)?, one.stamp)))?,
            electorate: wire.electorate_stamp,
            sharing: wire.sharing_stamp,
            rejoin: wire.rejoin_stamp,
        };
        let refusal = |one: RefusedWire| (Refusal { request: one.request, csr: one.csr }, one.number);
        let mut state = Self {
            head: Head { number: wire.number, digest: decision },
            group: wire.group,
            time: wire.time,
            charter: founding.clone(),
            founding,
            changes: sorted(wire.changes, |one| Ok((text(&one.field)?, text(&one.value)?)))?,
            roster: sorted(wire.roster, held)?,
            places: wire.places.iter().map(|one| Place { voter: one.voter, since: one.since }).collect(),
            sharing: None,
            stamps,
            struck: sorted(wire.struck, |one| Ok(((text(&one.field)?, one.member), ())))?
                .into_keys()
                .collect(),
            recent: sorted(wire.recent, |one| Ok((one.head.number, (one.head.digest, one.until))))?,
            used: sorted(wire.used, |one| Ok((one.request, one.ends)))?,
            refused: sorted(wire.refused, |one| Ok(refusal(one)))?,
            revoked: sorted(wire.revoked, |one| Ok((one.serial, one.ends)))?,
            rejoin: wire.rejoin,
            replaced: sorted(wire.replaced, |one| {
                Ok((one.member, Replaced { by: one.by, number: one.number }))
            })?,
            running: wire.running,
            danger: Mutant::NONE,
            digest: OnceLock::new(),
        };
        state.amend().map_err(|_| StateError::Value("change of the charter"))?;
        if let Some(sharing) = &wire.sharing {
            state.sharing = Some(Arc::new(state.decoded_sharing(&sharing.public.0, &sharing.authority.0)?));
        }
        let _ = state.digest.set(Self::digest_of(bytes));
        Ok(state)
    }
}
