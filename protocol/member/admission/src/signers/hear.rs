//! What a member hears in a signing session: the start, who is ready, who takes part, and when the
//! run begins.

use super::again::hands_in_at;
use super::message::{Purpose, SignerBody, SignerMessage, session_name};
use super::multi::said_yes;
use super::outcome::awaits_certificate;
use super::run::run_id;
use super::session::{Participants, Ready, SigningSession, Step, gathers};
use super::state::{Around, COORDINATOR_SESSIONS_MAX, SESSIONS_MAX, Signers};
use crate::AdmissionError;
use crate::call::{Call, Out};
use crate::pause::PATIENCE;
use crate::requests::Requests;
use crate::roster::{are_stale, is_dealers, turn, wants_sharing};
use folkmoot_base::sealing::OpeningKey;
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::AuthorityBody;
use folkmoot_signing::{SIGNERS_MAX, Scheme};
use std::collections::BTreeMap;

impl Signers {
    /// `ADM-41` to `ADM-46`.
    pub(crate) fn hear(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        message: SignerMessage,
        around: &mut Around<'_>,
    ) -> Result<(), AdmissionError> {
        if call.transcript.roster().charter().scheme() == Scheme::Plain {
            return Err(AdmissionError::PeerSigner(sender, "in this group each voter signs for itself"));
        }
        if !self.concerns(call, &sender, &message, around.requests) {
            return Ok(());
        }
        if let SignerBody::Ready { key } = &message.body {
            let key = key.0.to_vec();
            return self.hear_ready(call, sender, Ready { key, message, proven: false }, around.out);
        }
        if let SignerBody::Round { .. } = &message.body {
            return self.hear_round(call, sender, message, around);
        }
        message.verify(call.transcript, &sender)?;
        match message.body {
            SignerBody::Start { purpose, attempt } => {
                self.hear_start(call, sender, message.session, (purpose, attempt), around)
            }
            SignerBody::Participants { givers, takers } => {
                self.hear_participants(call, sender, message.session, Participants { givers, takers }, around)
            }
            SignerBody::Signed { request, signature } => {
                self.take_certificate(call, request, &signature.0, around);
                Ok(())
            }
            SignerBody::Dealt { dealt } => self.hear_dealt(call, sender, message.session, dealt, around),
            SignerBody::Ready { .. } | SignerBody::Round { .. } => Ok(()),
        }
    }

    /// Whether anything here depends on this message. A signature that nothing depends on is not
    /// verified. While a member verifies, the token waits, and in a group of fifty ten signers send
    /// each member some hundred messages.
    fn concerns(
        &self,
        call: &Call<'_>,
        sender: &MemberId,
        message: &SignerMessage,
        requests: &Requests,
    ) -> bool {
        let session = self.sessions.get(&message.session);
        let own = *sender == call.me();
        match &message.body {
            SignerBody::Start { .. } => true,
            // Until the participants have their place. The coordinator knows them before, but until
            // then it hears, as all do, who else is ready.
            SignerBody::Ready { .. } => {
                session.is_some_and(|session| session.participants.is_none() || !session.ordered)
            }
            SignerBody::Participants { .. } | SignerBody::Dealt { .. } => session.is_some(),
            // Our own message counted when we sent it, unless a step takes long.
            SignerBody::Round { .. } => {
                let counts = !own || call.transcript.roster().charter().scheme().takes_long();
                counts && session.is_some_and(|session| session.run.is_some())
            }
            SignerBody::Signed { request, .. } => awaits_certificate(call, request, requests),
        }
    }

    /// `ADM-42`: room for one more session of this coordinator.
    pub(super) fn room_for_session(&self, coordinator: &MemberId) -> Result<(), AdmissionError> {
        let of_leader = self.sessions.values().filter(|session| session.coordinator == *coordinator).count();
        if self.sessions.len() >= SESSIONS_MAX || of_leader >= COORDINATOR_SESSIONS_MAX {
            return Err(AdmissionError::PeerSigner(*coordinator, "too many signing sessions are open"));
        }
        Ok(())
    }

    fn hear_start(
        &mut self,
        call: &Call<'_>,
        coordinator: MemberId,
        name: Digest,
        (purpose, attempt): (Purpose, u32),
        around: &mut Around<'_>,
    ) -> Result<(), AdmissionError> {
        if let Some(request) = purpose.request() {
            self.starting.retain(|of, (session, _)| of != request || *session != name);
        }
        if session_name(call.transcript, &coordinator, &purpose, attempt) != name {
            return Err(AdmissionError::PeerSigner(
                coordinator,
                "it starts from another transcript than ours",
            ));
        }
        if self.sessions.contains_key(&name) {
            return Ok(());
        }
        self.room_for_session(&coordinator)?;
        let willing = self.is_willing(call, &coordinator, &purpose, around.requests);
        if matches!(purpose, Purpose::Revoke { .. }) {
            self.revoked.heed(call, willing);
        }
        let offered = self.offered.remove(&name).map(|(key, _)| key).filter(|_| willing);
        let said = offered.is_some();
        let key = offered.or_else(|| willing.then(|| OpeningKey::draw(around.entropy)));
        let answers = (willing && !said).then(|| self.answers_at(call, &coordinator, &purpose));
        let hands_in = hands_in_at(call, &coordinator, &purpose).map(|at| (at, attempt));
        self.note_lost(call, &coordinator, &purpose);
        let session = SigningSession {
            coordinator,
            purpose,
            key,
            ready: BTreeMap::new(),
            participants: None,
            ordered: false,
            run: None,
            step: None,
            begun: false,
            round: 0,
            heard: [0; 32],
            said: BTreeMap::new(),
            gathered: coordinator != call.me(),
            gathers: gathers(self.missed),
            passed_on: false,
            answers,
            hands_in,
            started: call.now,
            moved: call.now,
        };
        self.sessions.insert(name, session);
        Ok(())
    }

    /// `ADM-43`: whether this member finds the purpose right, by its own transcript and desk, and
    /// could take part.
    pub(super) fn is_willing(
        &self,
        call: &Call<'_>,
        coordinator: &MemberId,
        purpose: &Purpose,
        requests: &Requests,
    ) -> bool {
        let (me, roster) = (call.me(), call.transcript.roster());
        let threshold = u32::try_from(roster.threshold()).unwrap_or(u32::MAX);
        let sharers = roster.may_vote(&me) && roster.may_vote(coordinator);
        let scheme_has_it = roster.charter().scheme().shared() != matches!(purpose, Purpose::Multi { .. });
        if !scheme_has_it || !self.others.may_coordinate(coordinator, purpose.gives_shares()) {
            return false;
        }
        match purpose {
            Purpose::Multi { request, wording } => said_yes(call, request, wording, requests),
            Purpose::Found { threshold: asked } => {
                sharers && *asked == threshold && roster.sharing().is_none() && !is_dealers(roster)
            }
            Purpose::Reshare { threshold: asked } => {
                // A holder that votes no more gives all the same: the new voters who hold shares
                // may be too few.
                let gives = || self.shares.holds(roster);
                let fits = roster.may_vote(coordinator)
                    && (roster.may_vote(&me) || (roster.is_member(&me) && gives()));
                let wanted = wants_sharing(roster, coordinator) && !is_dealers(roster);
                fits && *asked == threshold && wanted
            }
            Purpose::Deal { threshold: asked } => {
                let wanted = wants_sharing(roster, coordinator) && is_dealers(roster);
                sharers && *asked == threshold && wanted
            }
            Purpose::Authority { epoch, tbs } => {
                let held = self
                    .shares
                    .waiting_of(epoch)
                    .is_some_and(|waiting| waiting.share.is_some() && waiting.authority.is_none());
                held && self.is_fair_authority(call, epoch, &tbs.0)
            }
            Purpose::Certify { request } => {
                let voted = requests.get(request).is_some_and(|open| {
                    open.enough(call.transcript).is_some() && !roster.has_issued(&open.request.body().serial)
                });
                let held = self.shares.holds(roster);
                voted && held && !are_stale(roster)
            }
            Purpose::Repair { holder } => self.is_willing_to_repair(call, coordinator, holder),
            Purpose::Revoke { tbs } => sharers && self.revoked.is_right(call, &tbs.0, &self.shares),
        }
    }

    /// Whether a certificate of the group's key says what it should, with a term from about now.
    fn is_fair_authority(&self, call: &Call<'_>, epoch: &Digest, tbs: &[u8]) -> bool {
        let roster = call.transcript.roster();
        let Ok(body) = AuthorityBody::from_tbs(tbs) else { return false };
        let Some(facts) = self.shares.waiting_of(epoch).map(|waiting| &waiting.facts) else {
            return false;
        };
        let now = call.clock.unwrap_or_default();
        let near = body.not_before().0.abs_diff(now.0) <= call.config.skew_seconds.saturating_mul(3);
        *body.key() == facts.key && near && roster.charter().name().as_str().starts_with(body.name())
    }

    /// `ADM-41`: the coordinator, who chooses among those that are ready, verifies each message at
    /// once. The others verify only those of the signers that take part beside them.
    fn hear_ready(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        mut said: Ready,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let Some(session) = self.sessions.get_mut(&said.message.session) else { return Ok(()) };
        if said.key.len() != 32 || session.ready.len() >= SIGNERS_MAX {
            return Err(AdmissionError::PeerSigner(
                sender,
                "its key is of another kind, or there are too many signers",
            ));
        }
        let me = call.me();
        if me == session.coordinator || me == sender {
            said.prove(call.transcript, &sender)?;
        }
        if me == sender && !session.ready.contains_key(&me) && !session.has_key(&said.key) {
            // This was sent so long ago, or before a restart, that the key is gone: nobody can open
            // what is sealed to it.
            self.sessions.remove(&said.message.session);
            out.trace("a signing session was heard of too late");
            return Ok(());
        }
        match session.ready.get_mut(&sender) {
            // Only a signer's first message moves the session: nobody keeps one open by repeating
            // itself.
            None => {
                session.ready.insert(sender, said);
                session.moved = call.now;
            }
            // Of two messages, the first that the signer has really signed counts: nobody takes its
            // place by speaking in its name before it.
            Some(first) if !first.proven => {
                if first.prove(call.transcript, &sender).is_err() {
                    said.prove(call.transcript, &sender)?;
                    *first = said;
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// `ADM-44`: the coordinator names signers that are ready, sorted, each once.
    fn hear_participants(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        name: Digest,
        participants: Participants,
        around: &mut Around<'_>,
    ) -> Result<(), AdmissionError> {
        let Some(session) = self.sessions.get(&name) else { return Ok(()) };
        let sorted = |signers: &[MemberId]| signers.is_sorted_by(|a, b| a < b);
        let legal = sorted(&participants.givers) && sorted(&participants.takers);
        let ready = participants.all().iter().all(|signer| session.ready.contains_key(signer));
        let dealt = matches!(session.purpose, Purpose::Deal { .. });
        if sender != session.coordinator || !legal || !ready || participants.givers.is_empty() != dealt {
            return Err(AdmissionError::PeerSigner(
                sender,
                "it may not name these participants, or they are not ready",
            ));
        }
        if session.participants.is_some() && sender != call.me() {
            // The first participants that it named are the session's.
            return Ok(());
        }
        if let Err(why) = self.judge_participants(call, session, &participants, around.requests) {
            return self.refuse_participants(call, sender, name, why, around.out);
        }
        let lied = |signer: &MemberId| self.others.lied(signer);
        if !session.purpose.gives_shares() && participants.all().iter().any(lied) {
            // Nobody signs together with a member that was proven to lie. The coordinator will see
            // that nothing comes of the session.
            self.sessions.remove(&name);
        } else if session.participants.is_none() {
            self.begin(call, name, participants, around);
        } else {
            self.own_participants(call, name, around);
        }
        Ok(())
    }

    /// The session is over. If its coordinator's roster moved between its choice and the
    /// participants' place in the order, it starts another at once.
    fn refuse_participants(
        &mut self,
        call: &Call<'_>,
        coordinator: MemberId,
        name: Digest,
        why: &'static str,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let over = self.sessions.remove(&name);
        if coordinator != call.me() {
            return Err(AdmissionError::PeerSigner(coordinator, why));
        }
        if over.is_some_and(|session| session.purpose.makes_sharing()) {
            self.missed = self.missed.saturating_add(1);
            self.wanted = self.wanted.map(|_| call.now);
        }
        out.trace(format!("participants that fit no more: {why}"));
        Ok(())
    }

    /// The participants that we named have their place in the order. Messages of the run count from
    /// here on, at all members alike.
    fn own_participants(&mut self, call: &Call<'_>, name: Digest, around: &mut Around<'_>) {
        let Some(session) = self.sessions.get_mut(&name) else { return };
        session.ordered = true;
        if session.purpose.makes_sharing() {
            self.missed = 0;
        }
        if session.run.is_some() && !session.begun {
            self.arrange_step(call, name, Step::Begin, around);
        }
    }

    /// The run is fixed, and the participants begin.
    pub(super) fn begin(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        participants: Participants,
        around: &mut Around<'_>,
    ) {
        let me = call.me();
        let Some(session) = self.sessions.get_mut(&name) else { return };
        if session.participants.is_some() {
            return;
        }
        session.participants = Some(participants.clone());
        session.ordered = session.coordinator != me;
        session.answers = None;
        let (purpose, coordinator) = (session.purpose.name(), session.coordinator);
        session.moved = call.now;
        // The coordinator of a run that can be watched takes its result without taking part.
        let watches = session.coordinator == me && matches!(session.purpose, Purpose::Multi { .. });
        if !participants.all().contains(&me) && !watches {
            // Its coordinator waits to hear the result; the others give the participants time.
            if session.coordinator != me {
                let shares = session.purpose.makes_sharing();
                self.sessions.remove(&name);
                if shares && self.wanted.is_some() {
                    let turn = turn(call.transcript.roster(), &me);
                    self.wanted = Some(call.now + PATIENCE + turn);
                }
            }
            return;
        }
        let ours = session.ready.get(&me).is_none_or(|ready| session.has_key(&ready.key));
        if let Err(error) = prove_all(call, session, &participants) {
            around.out.trace(format!("a participant beside one who did not say that it is ready: {error}"));
            self.sessions.remove(&name);
            return;
        }
        if !ours {
            around.out.trace("a participant by a key that is gone");
            self.sessions.remove(&name);
            return;
        }
        if matches!(session.purpose, Purpose::Deal { .. }) {
            return self.ask_to_deal(call, name, around);
        }
        let run = self.make_run(call, &name, &participants, around.requests);
        match run {
            Some(run) => {
                around.out.trace(format!("takes part in a signing session: {purpose}"));
                if let Some(session) = self.sessions.get_mut(&name) {
                    session.heard = run_id(&name, session, &participants).0;
                    session.run = Some(run);
                }
                // The coordinator's message is to be on its way before a step that takes long: it
                // begins when it hears itself.
                if coordinator != me || !call.transcript.roster().charter().scheme().takes_long() {
                    self.arrange_step(call, name, Step::Begin, around);
                }
            }
            None => {
                around.out.trace("a participant in a signing session whose run cannot begin here");
                self.sessions.remove(&name);
            }
        }
    }
}

/// `ADM-41` for the signers that take part.
fn prove_all(
    call: &Call<'_>,
    session: &mut SigningSession,
    participants: &Participants,
) -> Result<(), AdmissionError> {
    let ordered = participants.all();
    let mut ready = session.ready.iter_mut().filter(|(signer, _)| ordered.contains(*signer));
    ready.try_for_each(|(signer, ready)| ready.prove(call.transcript, signer))
}
