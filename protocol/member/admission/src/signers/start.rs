//! When a signing session is wanted, who starts it, and whom its coordinator chooses.

use super::message::{Purpose, SignerBody, SignerMessage, session_name};
use super::participants::spare;
use super::state::{COORDINATOR_SESSIONS_MAX, LATER, Participants, SigningSession};
use crate::call::Call;
use crate::desk::Desk;
use crate::message::OpenMessage;
use crate::pause::PATIENCE;
use crate::roster::{is_dealers, turn, wants_sharing};
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Blob, Danger, Digest, Entropy, Instant, MemberId, UnixTime, draw};
use folkmoot_identity::AuthorityBody;
use folkmoot_signing::Scheme;
use folkmoot_signing::shared::SharingFacts;
use folkmoot_transcript::Change;
use std::collections::BTreeSet;

impl Desk {
    /// Does what follows from transcript and desk in a group that has a key of its own, or whose
    /// voters sign together.
    pub(crate) fn work_signers(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let roster = call.transcript.roster();
        match roster.charter().scheme() {
            Scheme::Plain => return self.work_revocations(call, entropy),
            Scheme::Asm => {
                self.drop_idle_sessions(call);
                self.answer_starts(call);
                self.fix_participants(call, entropy);
                self.coordinate_multis(call, entropy);
                return self.work_revocations(call, entropy);
            }
            Scheme::TsRsa | Scheme::Shoup | Scheme::TsDsa | Scheme::Frost => {}
        }
        if self.signers.shares.follow(call, entropy, &mut self.out) {
            self.signers.forget_old();
        }
        self.drop_idle_sessions(call);
        self.answer_starts(call);
        self.fix_participants(call, entropy);
        if roster.may_vote(&call.me()) {
            self.coordinate_sharing(call, entropy);
            self.judge_sharings(call, entropy);
        } else {
            self.signers.wanted = None;
        }
        self.coordinate_certificates(call, entropy);
        self.work_revocations(call, entropy);
    }

    fn coordinate_sharing(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let (me, roster) = (call.me(), call.transcript.roster());
        // A session in which we would not take part makes nothing for us, so it does not keep us
        // from starting one. Neither does one of a coordinator that lied.
        let busy = |session: &&SigningSession| {
            let ours = session.key.is_some() && !self.signers.liars.contains_key(&session.coordinator);
            session.purpose.makes_sharing() && (session.coordinator == me || ours)
        };
        if !wants_sharing(roster, &me) {
            self.signers.wanted = None;
            return;
        }
        if let Some(coordinator) =
            self.signers.sessions.values().find(busy).map(|session| session.coordinator)
        {
            // When it is over and nothing came of it, all take their turns again, and its
            // coordinator comes last.
            let again = call.now + PATIENCE + turn(roster, &me);
            let soon = self.signers.wanted.is_none_or(|due| due <= call.now);
            self.signers.wanted =
                if coordinator != me { None } else { self.signers.wanted.filter(|_| !soon).or(Some(again)) };
            return;
        }
        let due = *self.signers.wanted.get_or_insert(call.now + turn(roster, &me));
        if due > call.now {
            return;
        }
        // Those before us have had their time. If this comes to nothing, the next try is a round of
        // turns away.
        self.signers.wanted = Some(call.now + PATIENCE + turn(roster, &me));
        if let Some(purpose) = self.next_purpose(call, entropy) {
            self.start_session(call, purpose, entropy);
        }
    }

    /// The next step towards a sharing in use: found or reshare; the certificate of the key; the
    /// decision.
    fn next_purpose(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) -> Option<Purpose> {
        let roster = call.transcript.roster();
        let threshold = u32::try_from(roster.threshold()).ok()?;
        let Some(waiting) = self.signers.shares.next(call) else {
            if is_dealers(roster) {
                return self.authority.is_linked().then_some(Purpose::Deal { threshold });
            }
            let first = roster.sharing().is_none();
            return Some(if first { Purpose::Found { threshold } } else { Purpose::Reshare { threshold } });
        };
        if let Some(effect) = waiting.effect() {
            if let Err(error) = self.voting.propose(call, effect, &mut self.out) {
                self.out.trace(format!("sharing not proposed: {error}"));
            }
            return None;
        }
        let facts = waiting.facts.clone();
        let now = UnixTime(call.clock?.0.saturating_sub(call.config.skew_seconds));
        let body = AuthorityBody::new(roster.charter().name().as_str(), facts.key, now, entropy);
        Some(Purpose::Authority { epoch: facts.epoch, tbs: Blob::from(body.tbs().ok()?) })
    }

    /// Every voter's machine approves the sharing that it took part in: the run itself was the
    /// agreement. The transcript judges that the certificate with it is the key's own. A machine
    /// rejects a sharing of which it has no share, since it will never have one: the others need
    /// not wait for it.
    fn judge_sharings(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let (set, me) = (call.transcript.set(), call.me());
        let open = set.effects().filter(|effect| set.approval(&effect.subject(), &me).is_none());
        let ours = open.filter_map(|effect| {
            let Change::Sharing { public, authority } = &effect.change else { return None };
            let name = folkmoot_base::digest(&[&public.0]);
            let ours = self.signers.shares.has_waiting(&name);
            Some((effect.clone(), ours.then(|| (name, authority.0.clone()))))
        });
        let ours: Vec<_> = ours.collect();
        for (effect, ours) in ours {
            let said = if let Some((name, authority)) = ours {
                self.signers.shares.keep_authority(call, &name, authority, entropy, &mut self.out);
                self.voting.approve(call, &effect, &mut self.out)
            } else {
                self.voting.reject(call, &effect, &mut self.out)
            };
            if let Err(error) = said {
                self.out.trace(format!("sharing not voted on: {error}"));
            }
        }
    }

    /// The contact has the group sign for its guests that were voted for, and for those whom it
    /// sponsors. If an authority signs and nothing comes of that, any member that reaches the
    /// authority does so.
    fn coordinate_certificates(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let roster = call.transcript.roster();
        if roster.sharing().is_none() || roster.is_for_authority() {
            return;
        }
        let at_work = |digest: &Digest| {
            self.signers
                .sessions
                .values()
                .any(|session| session.purpose == Purpose::Certify { request: *digest })
        };
        let ours = self.requests.iter().filter(|open| {
            let digest = open.request.digest();
            self.authority.coordinates(&self.requests, open)
                && open.enough(call.transcript).is_some()
                && !self.requests.has_certificate(&digest)
                && !self.requests.has_combined(&digest)
                && !self.signers.starting.contains_key(&digest)
                && !at_work(&digest)
        });
        let ours: Vec<Digest> = ours.map(|open| open.request.digest()).collect();
        for request in ours {
            self.start_session(call, Purpose::Certify { request }, entropy);
        }
    }

    fn work_revocations(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let of_list = |session: &SigningSession| matches!(session.purpose, Purpose::Revoke { .. });
        let at_work = self.signers.sessions.values().any(of_list);
        if let Some(purpose) = self.signers.revoked.work(call, at_work, &mut self.out) {
            self.start_session(call, purpose, entropy);
        }
    }

    /// Starts a session. If this member is ready for it, it says so at once, with a one-time key
    /// that is kept until the start is heard.
    pub(crate) fn start_session(&mut self, call: &Call<'_>, purpose: Purpose, entropy: &mut dyn Entropy) {
        let me = call.me();
        if self.room_for_session(&me).is_err() {
            return;
        }
        if self.signers.attempts == 0 {
            self.signers.attempts = u32::from_be_bytes(draw(entropy));
        }
        self.signers.attempts = self.signers.attempts.wrapping_add(1);
        let attempt = self.signers.attempts;
        let session = session_name(call.transcript, &me, &purpose, attempt);
        self.out.trace(format!("starts a signing session: {}", purpose.name()));
        if let Some(request) = purpose.request() {
            self.signers.starting.insert(*request, (session, call.now));
        }
        let takes_part =
            self.signers.offered.len() < COORDINATOR_SESSIONS_MAX && self.is_willing(call, &me, &purpose);
        self.say_to_signers(call, session, SignerBody::Start { purpose, attempt });
        if takes_part {
            let key = OpeningKey::draw(entropy);
            self.say_to_signers(call, session, ready(&key));
            self.signers.offered.insert(session, (key, call.now));
        }
    }

    /// When a willing signer says that it is ready. If an exact number of holders sign, the first
    /// ones do so at once, counted from the coordinator on. The others do so only if those were too
    /// few by then, so that nothing is sent that nobody needs.
    pub(crate) fn answers_at(&self, call: &Call<'_>, coordinator: &MemberId, purpose: &Purpose) -> Instant {
        let roster = call.transcript.roster();
        let facts = match purpose {
            Purpose::Certify { .. } | Purpose::Revoke { .. } => roster.sharing().map(|now| &now.facts),
            Purpose::Authority { epoch, .. } => {
                self.signers.shares.waiting_of(epoch).map(|waiting| &waiting.facts)
            }
            _ => None,
        };
        let Some(facts) = facts else { return call.now };
        let signers = roster.charter().scheme().signers(facts.threshold);
        let after = facts.holders.iter().filter(|signer| *signer >= coordinator);
        let before = facts.holders.iter().filter(|signer| *signer < coordinator);
        let first = after.chain(before).take(signers).any(|signer| *signer == call.me());
        if first { call.now } else { call.now + LATER }
    }

    /// Says that we are ready if too few said so before us.
    fn answer_starts(&mut self, call: &Call<'_>) {
        let mut now = Vec::new();
        for (name, session) in &mut self.signers.sessions {
            if session.participants.is_some() || session.answers.is_none_or(|at| at > call.now) {
                continue;
            }
            session.answers = None;
            now.extend(session.key.as_ref().map(|key| (*name, ready(key))));
        }
        for (name, body) in now {
            self.say_to_signers(call, name, body);
        }
    }

    pub(crate) fn say_to_signers(&mut self, call: &Call<'_>, session: Digest, body: SignerBody) {
        let message = SignerMessage::sign(call.transcript, call.identity, (session, None), body);
        self.out.multicast(&OpenMessage::Signer { message });
    }

    /// As a coordinator: names the participants once enough signers are ready, or once the wait for
    /// more is over.
    fn fix_participants(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let me = call.me();
        for session in
            self.signers.sessions.values_mut().filter(|session| session.gathers_until() <= call.now)
        {
            session.gathered = true;
        }
        let open = self
            .signers
            .sessions
            .iter()
            .filter(|(_, session)| session.coordinator == me && session.participants.is_none());
        let ready: Vec<(Digest, Participants)> =
            open.filter_map(|(name, session)| Some((*name, self.choose(call, session)?))).collect();
        for (name, participants) in ready {
            let body = SignerBody::Participants {
                givers: participants.givers.clone(),
                takers: participants.takers.clone(),
            };
            self.say_to_signers(call, name, body);
            self.begin(call, name, participants, entropy);
        }
    }

    /// Which of the ready signers shall get shares. Those who were silent or lied do not, if the
    /// others are enough whatever happens; otherwise only those of whom everybody knows it do not
    /// (`ADM-72`).
    fn choose_takers(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        fit: &[MemberId],
    ) -> Option<Participants> {
        let roster = call.transcript.roster();
        let threshold = u32::try_from(roster.threshold()).ok()?;
        let known = |signer: &&MemberId| !self.signers.set_aside.contains(*signer);
        let best: Vec<MemberId> = fit.iter().filter(known).copied().collect();
        let voters = best.iter().filter(|signer| roster.may_vote(signer)).count();
        if voters >= spare(roster.charter().scheme(), threshold) {
            return self.choose_of(call, session, &best);
        }
        let ready: Vec<MemberId> = session.ready.keys().filter(known).copied().collect();
        self.choose_of(call, session, &ready)
    }

    /// Which of the ready signers take part, if they are enough. For a signature, those come first
    /// who took part in vain least often. If all take part, another coordinates the next session.
    fn choose(&self, call: &Call<'_>, session: &SigningSession) -> Option<Participants> {
        let fit = |member: &&MemberId| {
            !self.signers.silent.contains(*member) && !self.signers.liars.contains_key(*member)
        };
        let ready: Vec<MemberId> = session.ready.keys().filter(fit).copied().collect();
        if session.purpose.gives_shares() {
            return self.choose_takers(call, session, &ready);
        }
        if session.purpose.makes_sharing() {
            return self.choose_of(call, session, &ready);
        }
        let failed = |signer: &MemberId| self.signers.failures.get(signer).copied().unwrap_or_default();
        let levels: BTreeSet<u32> = ready.iter().map(failed).collect();
        // Others are waited for before one that took part in vain does so again.
        levels.into_iter().filter(|most| *most == 0 || session.gathered).find_map(|most| {
            let ready: Vec<MemberId> =
                ready.iter().filter(|signer| failed(signer) <= most).copied().collect();
            self.choose_of(call, session, &ready)
        })
    }

    fn choose_of(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        ready: &[MemberId],
    ) -> Option<Participants> {
        let roster = call.transcript.roster();
        let scheme = roster.charter().scheme();
        let (me, waited) = (call.me(), session.gathered);
        let voters: Vec<MemberId> = ready.iter().filter(|signer| roster.may_vote(signer)).copied().collect();
        let all = roster.electorate().iter().filter(|voter| roster.may_vote(voter)).count();
        let enough = |voters: &Vec<MemberId>, need: usize| {
            let quorum = roster.is_quorum(&voters.iter().copied().collect());
            quorum && voters.len() >= need && (waited || voters.len() == all)
        };
        // The coordinator itself first: it is the one that waits for the result.
        let holders = |facts: &SharingFacts, count: usize| {
            // A coordinator that has lost its share leaves it to the others.
            let lost =
                !self.signers.shares.has_current() && self.signers.shares.waiting_of(&facts.epoch).is_none();
            let hold = |signer: &&MemberId| facts.holders.contains(signer) && !(lost && **signer == me);
            let (first, rest): (Vec<_>, Vec<_>) =
                ready.iter().filter(hold).partition(|signer| **signer == session.coordinator);
            let mut signers: Vec<MemberId> = first.into_iter().chain(rest).copied().take(count).collect();
            signers.sort();
            (signers.len() == count).then_some(signers)
        };
        match &session.purpose {
            Purpose::Found { threshold } => {
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Participants { givers: voters.clone(), takers: voters.clone() })
            }
            // A session of the authority has no members that give.
            Purpose::Deal { threshold } => {
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Participants { givers: Vec::new(), takers: voters.clone() })
            }
            Purpose::Reshare { threshold } => {
                let now = roster.sharing()?;
                let givers = holders(&now.facts, now.facts.threshold)?;
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Participants { givers, takers: voters.clone() })
            }
            Purpose::Authority { epoch, .. } => {
                let facts = &self.signers.shares.waiting_of(epoch)?.facts;
                Some(Participants {
                    givers: holders(facts, scheme.signers(facts.threshold))?,
                    takers: Vec::new(),
                })
            }
            Purpose::Certify { .. } | Purpose::Revoke { .. } => {
                let facts = &roster.sharing()?.facts;
                Some(Participants {
                    givers: holders(facts, scheme.signers(facts.threshold))?,
                    takers: Vec::new(),
                })
            }
            Purpose::Multi { request, wording } => {
                self.choose_signers(call, ready, (request, wording.expires))
            }
        }
    }

    /// Sessions that stand still are over; their coordinator remembers who kept it waiting. A start
    /// that does not come back is over too.
    fn drop_idle_sessions(&mut self, call: &Call<'_>) {
        if call.config.danger.is(Danger::AdmissionTablesStay) {
            let late = |session: &&mut SigningSession| call.now.since(session.moved) >= PATIENCE;
            self.signers.sessions.values_mut().filter(late).for_each(|session| session.moved = call.now);
            return;
        }
        self.signers.starting.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        self.signers.offered.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        let late: Vec<Digest> = self
            .signers
            .sessions
            .iter()
            .filter(|(_, session)| call.now.since(session.moved) >= PATIENCE)
            .map(|(name, _)| *name)
            .collect();
        for name in late {
            let Some(session) = self.signers.sessions.remove(&name) else { continue };
            if session.purpose.gives_shares() {
                self.set_aside_of(call, &session);
            }
            if session.coordinator == call.me() {
                if session.purpose.makes_sharing() {
                    // The coordinator of a session that came to nothing comes last.
                    let me = call.me();
                    self.signers.wanted = Some(call.now + PATIENCE + turn(call.transcript.roster(), &me));
                }
                self.count_failure(call, &session);
            }
            self.out.trace(format!("a signing session stood still: {session:?}"));
        }
    }

    /// Notes who was awaited and silent in a session for new shares that stood still. All who took
    /// part know the same.
    fn set_aside_of(&mut self, call: &Call<'_>, session: &SigningSession) {
        if session.participants.is_none() && session.key.is_some() {
            // Too few came, or too few were left: anyone who was left out may come again.
            self.signers.set_aside.clear();
        }
        let me = call.me();
        let awaited =
            session.run.as_ref().filter(|_| session.ordered).map(|run| run.awaited()).unwrap_or_default();
        let mut silent =
            awaited.into_iter().filter(|signer| *signer != me && !session.said.contains_key(signer));
        let left_out = |participants: &Participants| {
            session.ready.keys().any(|signer| !participants.all().contains(signer))
        };
        if session.round == 0
            && session.participants.as_ref().is_some_and(left_out)
            && silent.clone().next().is_some()
        {
            // It may miss those whom we left out, because it was absent when we learned why: all
            // learn it again, together.
            self.signers.set_aside.clear();
            return;
        }
        self.signers.set_aside.extend(&mut silent);
    }

    /// Notes who was silent, and who took part in vain, in a session that we coordinated and that
    /// stood still.
    fn count_failure(&mut self, call: &Call<'_>, session: &SigningSession) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let awaited = session.run.as_ref().map(|run| run.awaited()).unwrap_or_default();
        if awaited.is_empty() {
            // Too few came: anyone who was left out before may come again.
            self.signers.silent.clear();
        }
        if !session.ordered {
            // Nobody has heard who takes part.
            return;
        }
        for signer in awaited.into_iter().filter(|signer| *signer != me) {
            if !session.said.contains_key(&signer) {
                self.signers.silent.insert(signer);
            }
            let failures = self.signers.failures.entry(signer).or_default();
            *failures = failures.saturating_add(1);
        }
        self.signers.failures.retain(|signer, _| roster.is_member(signer));
    }
}

fn ready(key: &OpeningKey<Classic>) -> SignerBody {
    SignerBody::Ready { key: Blob::from(key.public().to_vec()) }
}
