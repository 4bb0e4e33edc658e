//! When a signing session is wanted, who starts it, and whom its coordinator chooses.

use super::message::{Purpose, SignerBody, SignerMessage, session_name};
use super::session::{LATER, Participants, SigningSession};
use super::state::COORDINATOR_SESSIONS_MAX;
use crate::call::Call;
use crate::desk::Desk;
use crate::message::OpenMessage;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Blob, Digest, Entropy, Instant, MemberId, draw};
use folkmoot_signing::Scheme;

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

    /// The contact has the group sign for its guests that were voted for, and for those whom it
    /// sponsors. If an authority signs and nothing comes of that, any member that reaches the
    /// authority does so.
    pub(super) fn coordinate_certificates(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
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

    pub(super) fn work_revocations(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
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
    pub(super) fn answer_starts(&mut self, call: &Call<'_>) {
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
    pub(super) fn fix_participants(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
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
}

fn ready(key: &OpeningKey<Classic>) -> SignerBody {
    SignerBody::Ready { key: Blob::from(key.public().to_vec()) }
}
