//! The encoding of a state, to be changed field by field.

use folkmoot_base::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, GroupId, Head, MemberId, UnixTime};

#[derive(Debug, Clone, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(super) struct HeldWire {
    pub(super) member: MemberId,
    pub(super) request: Digest,
    pub(super) name: Blob,
    pub(super) key: Blob,
    pub(super) ends: UnixTime,
    pub(super) issued: Option<[u8; 16]>,
}

#[derive(Debug, Clone, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(super) struct RefusedWire {
    pub(super) request: Digest,
    pub(super) csr: Option<[u8; 16]>,
    pub(super) number: u64,
}

/// State of docs/protocol/line.md. What has two or three parts is a tuple here.
#[derive(Debug, Clone, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(super) struct StateWire {
    pub(super) group: GroupId,
    pub(super) number: u64,
    pub(super) time: UnixTime,
    pub(super) changes: Vec<(Blob, Blob)>,
    pub(super) roster: Vec<HeldWire>,
    pub(super) places: Vec<(MemberId, u64)>,
    pub(super) sharing: Option<(Blob, Blob)>,
    pub(super) removed: Vec<(MemberId, u64)>,
    pub(super) fields: Vec<(Blob, u64)>,
    pub(super) electorate_stamp: u64,
    pub(super) sharing_stamp: u64,
    pub(super) rejoin_stamp: u64,
    pub(super) struck: Vec<(Blob, MemberId)>,
    pub(super) recent: Vec<(Head, UnixTime)>,
    pub(super) used: Vec<(Digest, UnixTime)>,
    pub(super) refused: Vec<RefusedWire>,
    pub(super) revoked: Vec<([u8; 16], UnixTime)>,
    pub(super) rejoin: Option<Head>,
    pub(super) replaced: Vec<(MemberId, MemberId, u64)>,
    pub(super) running: Digest,
}
