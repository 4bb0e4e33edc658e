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
use crate::call::Call;
use crate::desk::Desk;
use crate::message::{self, OpenMessage};
use crate::pause::PATIENCE;
use crate::requests::{Open, certificate};
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
pub(crate) struct Asked {
    pub(crate) next: Instant,
    pub(crate) tries: u32,
    /// Whether there were no grounds here the last time. If so, we coordinate the session that
    /// makes them.
    pub(crate) bare: bool,
}

/// What a member knows of the authority.
#[derive(Debug, Default)]
pub(crate) struct AtAuthority {
    /// Its nodes that are linked here.
    pub(crate) linked: BTreeMap<NodeId, Bucket>,
    pub(crate) asked: BTreeMap<Digest, Asked>,
    /// When it last said anything here.
    pub(crate) heard: Option<Instant>,
    pub(crate) beat: Option<Instant>,
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
}

impl Desk {
    pub(crate) fn authority_up(&mut self, call: &Call<'_>, node: NodeId) {
        self.central.linked.entry(node).or_insert_with(|| heard(call.now));
        // Without the time there is nothing to say yet, and nothing is due.
        self.central.beat = call.clock.map(|_| call.now);
        self.central.asked.values_mut().for_each(|asked| asked.next = call.now);
    }

    pub(crate) fn authority_down(&mut self, node: &NodeId) {
        self.central.linked.remove(node);
    }

    /// What follows from what is here: heartbeats, and requests to hand in.
    pub(crate) fn work_central(&mut self, call: &Call<'_>) {
        if call.transcript.roster().charter().mode() == Mode::Decentralised {
            return;
        }
        self.forget_central(call);
        if self.central.is_linked() {
            self.beat(call);
            self.hand_in(call);
        }
    }

    fn beat(&mut self, call: &Call<'_>) {
        let due = self.central.beat.is_none_or(|due| due <= call.now);
        let Some(time) = call.clock.filter(|_| due) else { return };
        self.central.beat = Some(call.now + HEARTBEAT);
        let group = call.transcript.group();
        let present = u32::try_from(call.present.len()).unwrap_or(u32::MAX);
        let beat = Heartbeat::sign(&group, call.identity, time, present);
        for node in self.central.reached().0 {
            self.tell_authority(node, &AuthorityMessage::Heartbeat { beat: beat.clone() });
        }
    }

    fn hand_in(&mut self, call: &Call<'_>) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let ready = self.requests.iter().filter_map(|open| {
            let (digest, ours) = (open.request.digest(), self.requests.is_ours(open));
            let wanted = !self.requests.has_certificate(&digest) && open.enough(call.transcript).is_some();
            let grounds = self.requests.grounds(call.transcript, open);
            // We coordinate a session for our own requests in any case. For the rest we do so if
            // there are no grounds here and nobody else brings them.
            (wanted && (grounds.is_some() || !ours)).then_some((digest, (grounds, ours)))
        });
        let ready: BTreeMap<Digest, (Option<Grounds>, bool)> = ready.collect();
        // What is no longer wanted is not due either: its time would stay in the past and wake us
        // without end.
        self.central.asked.retain(|request, _| ready.contains_key(request));
        for (digest, (grounds, ours)) in ready {
            let first = if ours { call.now } else { call.now + PATIENCE + turn(roster, &me) };
            let fresh = Asked { next: first, tries: 0, bare: false };
            let asked = self.central.asked.entry(digest).or_insert(fresh);
            let made = asked.bare && grounds.is_some();
            if asked.next > call.now && !made {
                continue;
            }
            let tries = asked.tries;
            let pause = PATIENCE.saturating_mul(1 << tries.min(DOUBLINGS_MAX));
            let bare = grounds.is_none();
            *asked = Asked { next: call.now + pause, tries: tries.saturating_add(1), bare };
            let (Some(open), Some(grounds)) = (self.requests.get(&digest), grounds) else { continue };
            if let Some(node) = self.central.node(tries.saturating_add(first_node(&digest))) {
                let (request, grounds) = (open.request.der().to_vec(), WireGrounds::of(&grounds));
                self.tell_authority(node, &AuthorityMessage::Grant { request: Blob::from(request), grounds });
            }
        }
    }

    /// Whether we coordinate the session for this request: it is ours to bring, or we reach the
    /// authority and nobody else has brought it.
    pub(crate) fn coordinates(&self, open: &Open) -> bool {
        let asked = self.central.asked.get(&open.request.digest());
        self.requests.is_ours(open) || (self.central.is_linked() && asked.is_some_and(|asked| asked.bare))
    }

    /// Hears a message of the authority over its link: `ADM-56`, `ADM-59`.
    pub(crate) fn hear_authority(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        payload: &[u8],
    ) -> Result<(), AdmissionError> {
        let linked = self.central.linked.entry(from).or_insert_with(|| heard(call.now));
        if !linked.take(call.now, 1) {
            return Err(AdmissionError::PeerAuthorityTooMuch(from));
        }
        self.central.heard = Some(call.now);
        match message::decode(payload)? {
            AuthorityMessage::Granted { request, der } => {
                let new = self.take_granted(call, &request, &der.0)?;
                let elsewhere = self.requests.get(&request).is_some_and(|open| !self.requests.is_ours(open));
                if new && elsewhere {
                    self.out.multicast(&OpenMessage::Granted { der });
                }
                Ok(())
            }
            AuthorityMessage::Denied { request, reason } => {
                self.requests.hear_denied(call, request, reason, &mut self.out);
                Ok(())
            }
            AuthorityMessage::Dealt { session, dealt } => self.pass_on_dealt(call, session, dealt),
            AuthorityMessage::Revocations { der } => {
                self.hear_revocations(call, from.member(), &der.0)?;
                self.spread_revocations(call, &der.0);
                Ok(())
            }
            AuthorityMessage::Heartbeat { .. }
            | AuthorityMessage::Grant { .. }
            | AuthorityMessage::Deal { .. } => Err(AdmissionError::PeerOutOfTurn(from)),
        }
    }

    fn tell_authority(&mut self, to: NodeId, message: &AuthorityMessage) {
        self.out.tell(to, message);
    }

    /// `ADM-57`.
    fn take_granted(
        &mut self,
        call: &Call<'_>,
        request: &Digest,
        der: &[u8],
    ) -> Result<bool, AdmissionError> {
        let new = self.requests.take_granted(call, request, der, &mut self.out)?;
        if new {
            self.central.asked.remove(request);
        }
        Ok(new)
    }

    /// A member passes on a certificate that the authority signed. It proves itself.
    pub(crate) fn hear_granted(&mut self, call: &Call<'_>, der: &[u8]) -> Result<(), AdmissionError> {
        let (_, request) = certificate(der)?;
        self.take_granted(call, &request, der).map(|_| ())
    }

    /// Forgets what belongs to requests that are closed, or to grounds that no longer hold.
    fn forget_central(&mut self, call: &Call<'_>) {
        self.requests.forget_grounds(call);
        let requests = &self.requests;
        self.central.asked.retain(|request, _| requests.get(request).is_some());
    }
}

/// Which of the authority's nodes a request goes to first: a different one for each request, so
/// that one useless node does not hold up everybody.
fn first_node(request: &Digest) -> u32 {
    request.first().copied().unwrap_or_default().into()
}
