//! The machine of an authority: its state, and where each input goes.

use super::links::Links;
use super::lists::Lists;
use super::message::{AuthorityMessage, Dealt, SignedReady};
use super::office::Office;
use super::petition::{self, Petitions};
use super::record::{Issued, Logging};
use crate::roster::speaks;
use crate::{AdmissionError, Command, Config, Input, Output, message};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, Instant, MemberId, NodeId, StoreKey, UnixTime, codec};
use folkmoot_identity::{Dealer, GroupKey, Identity};
use folkmoot_transcript::Transcript;
use std::collections::{BTreeMap, VecDeque};

/// What one call works with: everything outside the machine.
pub(super) struct Call<'a> {
    pub(super) now: Instant,
    pub(super) transcript: &'a Transcript,
    pub(super) identity: &'a Identity,
}

/// The newest heartbeat of a member.
#[derive(Debug)]
pub(super) struct Beat {
    pub(super) time: UnixTime,
    /// Members in its view.
    pub(super) present: u32,
    pub(super) heard: Instant,
}

/// What was dealt last.
#[derive(Debug)]
pub(super) struct Last {
    pub(super) session: Digest,
    pub(super) dealt: Dealt,
}

/// What a voter asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'a> {
    pub(super) session: &'a Digest,
    pub(super) threshold: u32,
    pub(super) ready: &'a [SignedReady],
}

/// The authority of a group, in a process whose identity is one of its nodes. Driven like
/// [`crate::Admission`]; never a member.
#[derive(Debug)]
pub struct Authority {
    pub(super) config: Config,
    pub(super) clock: Option<UnixTime>,
    pub(super) office: Office,
    pub(super) links: Links,
    pub(super) beats: BTreeMap<MemberId, Beat>,
    pub(super) issued: Issued,
    pub(super) logging: BTreeMap<Digest, Logging>,
    pub(super) petitions: Petitions,
    /// The public key of the secret that is dealt here.
    pub(super) group_key: Option<GroupKey>,
    /// When it last began a deal, whatever came of it.
    pub(super) tried: Option<Instant>,
    pub(super) dealt: Option<Last>,
    /// What was said again last, and how often that was since it started.
    pub(super) said: Option<Last>,
    pub(super) again: u32,
    pub(super) lists: Lists,
    /// The log and the own disk have two certificates for one request: nothing is told or issued
    /// any more.
    pub(super) conflict: bool,
    pub(super) out: VecDeque<Output>,
    /// For status, as of the input before: when that was, how many members there were, whether the
    /// scheme has shares, and whether they were dealt.
    pub(super) now: Instant,
    pub(super) members: usize,
    pub(super) deals: bool,
    pub(super) shared: bool,
}

impl Authority {
    /// Restores the authority. Hand in everything stored; other tables are passed over. `None` if
    /// there is no office here, or the charter does not name this identity.
    ///
    /// # Errors
    /// [`AdmissionError::LocalCorrupt`] names the damaged table. [`AdmissionError::LocalAlone`] if
    /// others speak for the authority too and the config has no log.
    /// [`AdmissionError::LocalOffice`] if the office is another group's, or its secret is missing
    /// or of another scheme.
    pub fn load(
        config: Config,
        transcript: &Transcript,
        identity: &Identity,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Option<Self>, AdmissionError> {
        let roster = transcript.roster();
        let Some(central) = roster.charter().central().filter(|_| speaks(roster, &identity.node())) else {
            return Ok(None);
        };
        let Some(office) = Office::load(identity, stored)? else { return Ok(None) };
        if office.certificate != central.certificate {
            return Err(AdmissionError::LocalOffice(
                "it was made for another group: the charter has another certificate",
            ));
        }
        // ADM-80: before anything is heard.
        if central.nodes.len() > 1 && !config.replicated {
            return Err(AdmissionError::LocalAlone(central.nodes.len()));
        }
        let group_key = office.check(roster.charter().scheme(), central.dealer == Some(Dealer::Keeps))?;
        let mut issued = Issued::default();
        issued.load(office.certificate.key(), stored)?;
        issued.forget(roster);
        let mut authority = Self {
            config,
            clock: None,
            office,
            links: Links::default(),
            beats: BTreeMap::new(),
            issued,
            logging: BTreeMap::new(),
            petitions: petition::load(stored)?,
            group_key,
            tried: None,
            dealt: None,
            said: None,
            again: 0,
            lists: Lists::load(transcript, stored),
            conflict: false,
            out: VecDeque::new(),
            now: Instant::default(),
            members: 0,
            deals: central.dealer.is_some(),
            shared: false,
        };
        let call = Call { now: Instant::default(), transcript, identity };
        authority.follow(&call);
        Ok(Some(authority))
    }

    /// Takes one input.
    ///
    /// # Errors
    /// [`AdmissionError`]; nothing but bookkeeping against floods has changed then. After
    /// [`AdmissionError::LocalConflict`] nothing is issued any more: end the process.
    pub fn handle(
        &mut self,
        now: Instant,
        input: Input,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        if self.conflict {
            return Ok(());
        }
        let call = Call { now, transcript, identity };
        self.now = now;
        let result = self.dispatch(&call, input, entropy);
        self.log_again(&call);
        self.work_lists(&call);
        result
    }

    /// The authority's person speaks: it votes. The digest is the request's.
    ///
    /// # Errors
    /// [`AdmissionError`], and nothing has changed.
    pub fn order(
        &mut self,
        now: Instant,
        command: Command,
        transcript: &Transcript,
        identity: &Identity,
    ) -> Result<Digest, AdmissionError> {
        if self.conflict {
            return Err(AdmissionError::LocalConflict);
        }
        let call = Call { now, transcript, identity };
        self.now = now;
        let result = self.command(&call, command);
        self.log_again(&call);
        self.work_lists(&call);
        result
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.logging.values().map(|logging| logging.due).min()
    }

    fn dispatch(
        &mut self,
        call: &Call<'_>,
        input: Input,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        match input {
            Input::Guest { from, payload } => return self.hear(call, from, &payload, entropy),
            Input::Logged(record) => return self.hear_logged(&record),
            Input::Clock(time) => {
                self.clock = Some(time);
                self.close_late(time);
                self.issued.forget_ended(time, self.config.skew_seconds);
            }
            Input::LinkUp { node, .. } => self.links.up(node, call.now),
            Input::LinkDown(node) => self.links.down(&node),
            Input::Item { .. } => self.follow(call),
            // These are for members only; what follows from time is done after every input.
            Input::Open { .. } | Input::Present(_) | Input::Regrouped | Input::Timeout => {}
        }
        Ok(())
    }

    /// `ADM-69`: a member's message over its link.
    fn hear(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        payload: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        if !call.transcript.roster().is_rostered(&from) {
            return Err(AdmissionError::PeerNotMember(from.member()));
        }
        if !self.links.may_speak(from, call.now) {
            return Err(AdmissionError::PeerTooMuch(from));
        }
        match message::decode(payload)? {
            AuthorityMessage::Heartbeat { beat } => self.hear_beat(call, &beat),
            AuthorityMessage::Grant { request, grounds } => self.hear_grant(call, from, &request.0, &grounds),
            AuthorityMessage::Deal { session, threshold, ready } => {
                let wish = Wish { session: &session, threshold, ready: &ready };
                self.hear_deal(call, from.member(), wish, entropy)
            }
            AuthorityMessage::Again { attempt, ready } => {
                self.hear_again(call, from.member(), attempt, &ready, entropy)
            }
            AuthorityMessage::Granted { .. }
            | AuthorityMessage::Denied { .. }
            | AuthorityMessage::Dealt { .. }
            | AuthorityMessage::Revocations { .. } => Err(AdmissionError::PeerOutOfTurn(from)),
        }
    }

    /// What follows from the transcript.
    fn follow(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        (self.members, self.shared) = (roster.len(), roster.sharing().is_some());
        self.erase_secret(call);
        self.issued.forget(roster);
        self.beats.retain(|member, _| roster.is_member(member));
        self.close_settled(call);
    }

    /// Tells a linked member. To one that is not linked it would be lost, and that one asks again.
    pub(super) fn tell(&mut self, to: NodeId, message: &AuthorityMessage) {
        if self.links.has(&to) {
            self.out.push_back(Output::Guest { to, payload: Bytes::from(codec::encode(message)) });
        }
    }

    pub(super) fn trace(&mut self, text: String) {
        self.out.push_back(Output::Trace(text));
    }
}
