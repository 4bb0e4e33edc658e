//! What is kept on disk: open requests, own words and ballots, open proposals.
//!
//! | table | key | value |
//! |---|---|---|
//! | request | "r" ‖ request digest | contact(32) expires(8) request voucher? endorsement? |
//! | request | "s" ‖ request digest | nothing: its CSR was handed in here, too, after another member's |
//! | request | "p" ‖ proposal's subject | proposer(32) expires(8) effect |
//! | request | "own" | applicant: request (CMS) or certificate (GMC), first byte says which |
//! | request | "voucher" | applicant: what came with its ticket |
//! | request | "endorsement" | applicant: what it shows of who it is (X.509) |
//! | vote | "w" ‖ kind(1) ‖ subject | an own approval or rejection on its way to the transcript |
//! | vote | "b" ‖ digest of the head | what this voter promised, committed to and proposed for the decision after it |
//! | share | digest of the sharing's public part | state, sharing before, public part, certificate, share; sealed under the identity's key |
//! | revoked | "list" | the newest revocation list of the group's key (X.509 CRL) |
//! | office | see authority/office.rs, record.rs, person.rs | what makes a process the authority, and what that issued |

use crate::voting::Proposal;
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::sealing::{Classic, OpeningKey, Sealed, seal};
use folkmoot_base::{Digest, Entropy, Head, MemberId, Persist, Secret, UnixTime, hmac_sha256};
use folkmoot_identity::{Identity, REVOKED_TABLE, RevocationList};
use folkmoot_transcript::{BallotRecord, Effect, SignedApproval, Subject, Voucher};

/// Table of requests and proposals.
pub(crate) const REQUESTS: &str = "request";
/// Where a stranger keeps its voucher.
pub(crate) const VOUCHER: &[u8] = b"voucher";
/// Where a stranger keeps what it shows of who it is.
pub(crate) const ENDORSEMENT: &[u8] = b"endorsement";
/// Table of own shares of the group's key.
pub(crate) const SHARES: &str = "share";
/// Table of own votes.
pub(crate) const VOTES: &str = "vote";

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(crate) struct StoredRequest {
    pub(crate) contact: MemberId,
    pub(crate) expires: UnixTime,
    pub(crate) cms: Blob,
    pub(crate) voucher: Option<Voucher>,
    pub(crate) endorsement: Option<Blob>,
}

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub(crate) struct StoredProposal {
    pub(crate) proposer: MemberId,
    pub(crate) expires: UnixTime,
    pub(crate) effect: Effect,
}

pub(crate) fn put_request(request: &Digest, stored: &StoredRequest) -> Persist {
    Persist::put(REQUESTS, key(b"r", &[request]), codec::encode(stored))
}

/// What the store of a stranger keeps of its ticket, to show it with its requests.
pub fn keep_voucher(voucher: &Voucher) -> Persist {
    Persist::put(REQUESTS, VOUCHER, codec::encode(voucher))
}

/// What the store of a stranger keeps of who it is: a certificate (X.509, DER) that it shows with
/// its requests.
pub fn keep_endorsement(der: &[u8]) -> Persist {
    Persist::put(REQUESTS, ENDORSEMENT, der.to_vec())
}

pub(crate) fn delete_request(request: &Digest) -> Persist {
    Persist::delete(REQUESTS, key(b"r", &[request]))
}

pub(crate) fn put_sponsored(request: &Digest) -> Persist {
    Persist::put(REQUESTS, key(b"s", &[request]), Vec::new())
}

pub(crate) fn delete_sponsored(request: &Digest) -> Persist {
    Persist::delete(REQUESTS, key(b"s", &[request]))
}

pub(crate) fn put_word(word: &SignedApproval) -> Persist {
    Persist::put(VOTES, word_key(&word.approval.subject), codec::encode(word))
}

pub(crate) fn delete_word(subject: &Subject) -> Persist {
    Persist::delete(VOTES, word_key(subject))
}

fn word_key(subject: &Subject) -> Bytes {
    key(b"w", &[&[subject.kind as u8], &subject.digest])
}

pub(crate) fn put_ballots(record: &BallotRecord) -> Persist {
    Persist::put(VOTES, key(b"b", &[&record.parent.digest]), codec::encode(record))
}

pub(crate) fn put_proposal(proposal: &Proposal) -> Persist {
    let stored = StoredProposal {
        proposer: proposal.proposer,
        expires: proposal.expires,
        effect: proposal.effect.clone(),
    };
    Persist::put(REQUESTS, key(b"p", &[&proposal.effect.subject().digest]), codec::encode(&stored))
}

pub(crate) fn delete_ballots(parent: &Head) -> Persist {
    Persist::delete(VOTES, key(b"b", &[&parent.digest]))
}

pub(crate) fn delete_proposal(proposal: &Digest) -> Persist {
    Persist::delete(REQUESTS, key(b"p", &[proposal]))
}

pub(crate) fn put_share(name: &Digest, sealed: Vec<u8>) -> Persist {
    Persist::put(SHARES, Bytes::copy_from_slice(name), sealed)
}

pub(crate) fn delete_share(name: &Digest) -> Persist {
    Persist::delete(SHARES, Bytes::copy_from_slice(name))
}

/// There is room for one: a newer list takes its place.
pub(crate) fn put_revocations(list: &RevocationList) -> Persist {
    Persist::put(REVOKED_TABLE, Bytes::from_static(b"list"), list.der().clone())
}

/// Seals a share under a key that follows from the identity's, so that a copy of the store alone
/// signs nothing.
pub(crate) fn seal_share(
    identity: &Identity,
    name: &Digest,
    plain: &Secret<Vec<u8>>,
    entropy: &mut dyn Entropy,
) -> Option<Vec<u8>> {
    let key = OpeningKey::<Classic>::derive(&share_seed(identity)?);
    let sealed = seal::<Classic>(key.public(), &share_info(name), plain.expose(), entropy)?;
    Some(codec::encode(&sealed))
}

/// Opens what [`seal_share`] made.
pub(crate) fn open_share(identity: &Identity, name: &Digest, sealed: &[u8]) -> Option<Secret<Vec<u8>>> {
    let key = OpeningKey::<Classic>::derive(&share_seed(identity)?);
    key.open(&share_info(name), &codec::decode::<Sealed>(sealed).ok()?).map(Secret::new)
}

fn share_seed(identity: &Identity) -> Option<Secret<[u8; 32]>> {
    let key = identity.key().to_pkcs8_der().ok()?;
    Some(Secret::new(hmac_sha256(key.expose(), &[b"folkmoot share seal v1"])))
}

fn share_info(name: &Digest) -> Vec<u8> {
    [b"folkmoot share v1".as_slice(), name].concat()
}

fn key(kind: &[u8], parts: &[&[u8]]) -> Bytes {
    [kind, &parts.concat()].concat().into()
}
