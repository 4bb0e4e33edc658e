//! A member's dealings with the charter's authority: heartbeats, requests handed in, certificates
//! and shares that come back.
//!
//! ```text
//! grounds ready --Grant--> authority   by the guest's contact at once, by others who reach the authority if it does not
//! authority --Granted--> member --Open::Granted--> all: the contact tells its guest
//! voters in a session --Deal--> authority --Dealt--> coordinator --SignerBody::Dealt--> all (signers/)
//! ```
//! Promise: only admissions, first shares, and new shares of which the authority keeps the secret
//! wait for it. A member hands in a request again, to each of the authority's nodes in turn, until
//! one answers.

use crate::AdmissionError;
use crate::authority::{AuthorityMessage, Heartbeat, WireGrounds, heard};
use crate::call::{Call, Out};
use crate::message;
use crate::pause::PATIENCE;
use crate::requests::{Open, Requests};
use crate::roster::turn;
use core::time::Duration;
use folkmoot_base::{Blob, Bucket, Digest, Instant, NodeId};
use folkmoot_identity::{Grounds, Mode};
use std::collections::BTreeMap;

/// How often a member says that it is here.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// The pauses before a request is handed in again double so often: from 5 s to 40 s.
const DOUBLINGS_MAX: u32 = 3;

/// When a request is handed in next, and how often that was done.
#[derive(Debug, Clone, Copy)]
struct Asked {
    next: Instant,
    tries: u32,
    /// Whether there were no grounds here the last time. If so, we coordinate the session that
    /// makes them.
    bare: bool,
}

/// What a member knows of the authority.
#[derive(Debug, Default)]
pub(crate) struct AtAuthority {
    /// Its nodes that are linked here.
    linked: BTreeMap<NodeId, Bucket>,
    asked: BTreeMap<Digest, Asked>,
    /// When it last said anything here.
    heard: Option<Instant>,
    beat: Option<Instant>,
}

impl AtAuthority {
    pub(crate) fn due(&self) -> Option<Instant> {
        if self.linked.is_empty() {
            return None;
        }
        self.asked.values().map(|asked| asked.next).chain(self.beat).min()
    }

    pub(crate) fn is_linked(&self) -> bool {
        !self.linked.is_empty()
    }

    /// Its nodes that are linked here, and when one of them last said anything.
    pub(crate) fn reached(&self) -> (Vec<NodeId>, Option<Instant>) {
        (self.linked.keys().copied().collect(), self.heard)
    }

    pub(crate) fn node(&self, tries: u32) -> Option<NodeId> {
        let at = usize::try_from(tries).ok()?.checked_rem(self.linked.len())?;
        self.linked.keys().nth(at).copied()
    }

    pub(crate) fn up(&mut self, call: &Call<'_>, node: NodeId) {
        self.linked.entry(node).or_insert_with(|| heard(call.now));
        // Without the time there is nothing to say yet, and nothing is due.
        self.beat = call.clock.map(|_| call.now);
        self.asked.values_mut().for_each(|asked| asked.next = call.now);
    }

    pub(crate) fn down(&mut self, node: &NodeId) {
        self.linked.remove(node);
    }

    /// What follows from what is here: heartbeats, and requests to hand in.
    pub(crate) fn work(&mut self, call: &Call<'_>, requests: &mut Requests, out: &mut Out) {
        if call.transcript.roster().charter().mode() == Mode::Decentralised {
            return;
        }
        requests.forget_grounds(call);
        self.asked.retain(|request, _| requests.get(request).is_some());
        if self.is_linked() {
            self.say_beat(call, out);
            self.hand_in(call, requests, out);
        }
    }

    fn say_beat(&mut self, call: &Call<'_>, out: &mut Out) {
        let due = self.beat.is_none_or(|due| due <= call.now);
        let Some(time) = call.clock.filter(|_| due) else { return };
        self.beat = Some(call.now + HEARTBEAT);
        let group = call.transcript.group();
        let present = u32::try_from(call.present.len()).unwrap_or(u32::MAX);
        let beat = Heartbeat::sign(&group, call.identity, time, present);
        for node in self.reached().0 {
            out.tell(node, &AuthorityMessage::Heartbeat { beat: beat.clone() });
        }
    }

    fn hand_in(&mut self, call: &Call<'_>, requests: &Requests, out: &mut Out) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let ready = requests.iter().filter_map(|open| {
            let (digest, ours) = (open.request.digest(), requests.is_ours(open));
            let wanted = !requests.has_certificate(&digest) && open.enough(call.transcript).is_some();
            let grounds = requests.grounds(call.transcript, open);
            // We coordinate a session for our own requests in any case. For the rest we do so if
            // there are no grounds here and nobody else brings them.
            (wanted && (grounds.is_some() || !ours)).then_some((digest, (grounds, ours)))
        });
        let ready: BTreeMap<Digest, (Option<Grounds>, bool)> = ready.collect();
        // What is no longer wanted is not due either: its time would stay in the past and wake us
        // without end.
        self.asked.retain(|request, _| ready.contains_key(request));
        for (digest, (grounds, ours)) in ready {
            let first = if ours { call.now } else { call.now + PATIENCE + turn(roster, &me) };
            let fresh = Asked { next: first, tries: 0, bare: false };
            let asked = self.asked.entry(digest).or_insert(fresh);
            let made = asked.bare && grounds.is_some();
            if asked.next > call.now && !made {
                continue;
            }
            let tries = asked.tries;
            let pause = PATIENCE.saturating_mul(1 << tries.min(DOUBLINGS_MAX));
            let bare = grounds.is_none();
            *asked = Asked { next: call.now + pause, tries: tries.saturating_add(1), bare };
            let (Some(open), Some(grounds)) = (requests.get(&digest), grounds) else { continue };
            if let Some(node) = self.node(tries.saturating_add(first_node(&digest))) {
                let (request, grounds) = (open.request.der().to_vec(), WireGrounds::of(&grounds));
                out.tell(node, &AuthorityMessage::Grant { request: Blob::from(request), grounds });
            }
        }
    }

    /// Whether we coordinate the session for this request: it is ours to bring, or we reach the
    /// authority and nobody else has brought it.
    pub(crate) fn coordinates(&self, requests: &Requests, open: &Open) -> bool {
        let asked = self.asked.get(&open.request.digest());
        requests.is_ours(open) || (self.is_linked() && asked.is_some_and(|asked| asked.bare))
    }

    /// Hears a message of the authority over its link: `ADM-59`.
    pub(crate) fn hear(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        payload: &[u8],
    ) -> Result<AuthorityMessage, AdmissionError> {
        let linked = self.linked.entry(from).or_insert_with(|| heard(call.now));
        if !linked.take(call.now, 1) {
            return Err(AdmissionError::PeerAuthorityTooMuch(from));
        }
        self.heard = Some(call.now);
        message::decode(payload)
    }

    /// It has signed what this request asks for.
    pub(crate) fn answered(&mut self, request: &Digest) {
        self.asked.remove(request);
    }
}

/// Which of the authority's nodes a request goes to first: a different one for each request, so
/// that one useless node does not hold up everybody.
fn first_node(request: &Digest) -> u32 {
    request.first().copied().unwrap_or_default().into()
}
