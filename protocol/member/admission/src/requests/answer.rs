//! What the guest of a request is told.

use super::Requests;
use super::open::Open;
use super::vote::proof;
use crate::AdmissionError;
use crate::call::{Call, Out};
use crate::message::{GuestMessage, KeyedVote, Reason, SignerKey};
use crate::roster::are_stale;
use folkmoot_base::{Blob, Digest, NodeId};
use folkmoot_identity::{Mode, Scheme};
use folkmoot_transcript::{ItemError, Roster, Transcript, Uncounted};
use std::collections::BTreeSet;

impl Requests {
    /// Tells the guest of this request how things stand, if it is linked here.
    pub(super) fn answer(&mut self, call: &Call<'_>, digest: &Digest, out: &mut Out) {
        self.enter_sponsored(call, digest, out);
        let roster = call.transcript.roster();
        let Some(open) = self.open.get(digest) else { return };
        let node = open.request.member().node();
        // A member's own request does not belong to the link that it had as a guest.
        if !self.guests.is_linked(&node) || open.contact == open.request.member() {
            return;
        }
        let charter = roster.charter();
        let central = charter.mode() == Mode::Centralised;
        let plain = charter.scheme() == Scheme::Plain && !central;
        let message = if let Some(der) = self.made.issued.get(digest) {
            GuestMessage::Issued { request: *digest, der: Blob::from(der.clone()) }
        } else if let Some(multi) = self.multi_for(roster, digest).filter(|_| !central) {
            multi
        } else if let Some(votes) = open.enough(call.transcript).filter(|_| plain) {
            let keyed = votes.into_iter().filter_map(|signed| {
                let spki = roster.voter_key(&signed.approval.voter)?.spki_der();
                Some(KeyedVote { proof: proof(signed)?, spki: Blob::from(spki.to_vec()) })
            });
            GuestMessage::Votes { request: *digest, votes: keyed.collect() }
        } else {
            let (have, need) = (open.have(call.transcript), open.need(call.transcript));
            let rejected = open.is_rejected(call.transcript);
            let awaited = if rejected { Reason::Rejected } else { Reason::AwaitingVotes };
            let reason = self.stands(call.transcript, open).unwrap_or(awaited);
            GuestMessage::Standing { request: *digest, have: count(have), need: count(need), reason }
        };
        out.tell(node, &message);
    }

    /// After the roster changed: votes may count for more now, or no longer count.
    pub(super) fn retell_guests(&mut self, call: &Call<'_>, out: &mut Out) {
        let all: Vec<Digest> = self.open.iter().map(|open| open.request.digest()).collect();
        for digest in all {
            self.answer(call, &digest, out);
        }
    }

    /// Tells a guest why what it brought is refused.
    pub(super) fn refuse(
        &self,
        call: &Call<'_>,
        to: NodeId,
        request: Digest,
        error: &AdmissionError,
        out: &mut Out,
    ) {
        let reason =
            match error {
                AdmissionError::PeerTooManyRequests => Reason::Full,
                AdmissionError::PeerTerm(_) => Reason::Term,
                AdmissionError::PeerRefused(_) => Reason::Objected,
                AdmissionError::PeerNotListed(_) => Reason::NotListed,
                AdmissionError::PeerName(..) => Reason::Name,
                // What it was made over is on its way: the guest keeps it and says it again.
                AdmissionError::PeerItem(ItemError::Ahead) => Reason::AwaitingVotes,
                // The votes stand. New shares came into use meanwhile, and sign it again.
                AdmissionError::PeerItem(ItemError::Late(
                    Uncounted::Epoch | Uncounted::SharesStale { .. },
                )) if self.open.get(&request).is_some() => Reason::AwaitingVotes,
                AdmissionError::PeerVoteEnded(_)
                | AdmissionError::PeerCertificate(_)
                | AdmissionError::PeerItem(_) => Reason::Votes,
                AdmissionError::PeerCharter(_)
                | AdmissionError::PeerUsed(_)
                | AdmissionError::PeerOlder(_) => Reason::Stale,
                _ => Reason::AwaitingVotes,
            };
        let roster = call.transcript.roster();
        let nobody = || (0, roster.admission_need(&BTreeSet::new()));
        let open = self.open.get(&request);
        let standing = |open: &Open| (open.have(call.transcript), open.need(call.transcript));
        let (have, need) = open.map_or_else(nobody, standing);
        out.tell(to, &GuestMessage::Standing { request, have: count(have), need: count(need), reason });
    }

    /// Tells the guest of a request that is closed why nothing can come of it.
    pub(super) fn tell_over(&self, call: &Call<'_>, open: &Open, reason: Reason, out: &mut Out) {
        let (node, request) = (open.request.member().node(), open.request.digest());
        if self.guests.is_linked(&node) {
            let (have, need) = (count(open.have(call.transcript)), count(open.need(call.transcript)));
            out.tell(node, &GuestMessage::Standing { request, have, need, reason });
        }
    }

    /// What a request waits for that the voters have granted.
    pub(super) fn stands(&self, transcript: &Transcript, open: &Open) -> Option<Reason> {
        if are_stale(transcript.roster()) && open.enough(transcript).is_some() {
            return Some(Reason::SharesStale);
        }
        self.stands_with_authority(transcript, open)
    }

    /// How a request stands with the authority, if the members have done their part and it has not
    /// signed.
    pub(super) fn stands_with_authority(&self, transcript: &Transcript, open: &Open) -> Option<Reason> {
        if transcript.roster().charter().mode() == Mode::Decentralised {
            return None;
        }
        let denied = self.made.denied.get(&open.request.digest()).copied();
        self.grounds(transcript, open).map(|_| denied.unwrap_or(Reason::AwaitingAuthority))
    }

    /// What the guest of this request is told, once its voters have signed.
    fn multi_for(&self, roster: &Roster, request: &Digest) -> Option<GuestMessage> {
        let multi = self.made.multis.get(request)?;
        let key = |signer| {
            let spki = roster.voter_key(signer)?.spki_der();
            Some(SignerKey { spki: Blob::from(spki.to_vec()) })
        };
        Some(GuestMessage::Multi {
            request: *request,
            base: multi.base(),
            turn: multi.turn(),
            expires: multi.expires(),
            signature: Blob::from(multi.signature()),
            keys: multi.signers().iter().map(key).collect::<Option<_>>()?,
        })
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
