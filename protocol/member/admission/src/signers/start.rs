//! When a signing session is wanted, who starts it, and whom its coordinator chooses.

use super::message::{Purpose, SignerBody, SignerMessage, session_name};
use super::session::{LATER, Participants, SigningSession};
use super::state::{Around, COORDINATOR_SESSIONS_MAX, Signers};
use crate::call::{Call, Out};
use crate::message::OpenMessage;
use crate::voting::Voting;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Blob, Digest, Instant, MemberId, draw};
use folkmoot_signing::Scheme;

impl Signers {
    /// Does what follows from transcript and desk in a group that has a key of its own, or whose
    /// voters sign together.
    pub(crate) fn work(&mut self, call: &Call<'_>, voting: &mut Voting, around: &mut Around<'_>) {
        let roster = call.transcript.roster();
        match roster.charter().scheme() {
            Scheme::Plain => return self.work_revocations(call, around),
            Scheme::Asm => {
                self.drop_idle(call, around.out);
                self.answer_starts(call, around.out);
                self.fix_participants(call, around);
                self.coordinate_multis(call, around);
                return self.work_revocations(call, around);
            }
            Scheme::TsRsa | Scheme::Shoup | Scheme::TsDsa | Scheme::Frost => {}
        }
        if self.shares.follow(call, around.entropy, around.out) {
            self.forget_old();
        }
        self.drop_idle(call, around.out);
        self.answer_starts(call, around.out);
        self.fix_participants(call, around);
        if roster.may_vote(&call.me()) {
            self.coordinate_sharing(call, voting, around);
            self.judge_sharings(call, voting, around);
        } else {
            self.wanted = None;
        }
        self.coordinate_repair(call, around);
        self.hand_in_lost(call, around);
        self.coordinate_certificates(call, around);
        self.work_revocations(call, around);
    }

    /// The contact has the group sign for its guests that were voted for, and for those whom it
    /// sponsors. If an authority signs and nothing comes of that, any member that reaches the
    /// authority does so.
    fn coordinate_certificates(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        let roster = call.transcript.roster();
        if roster.sharing().is_none() || roster.is_for_authority() {
            return;
        }
        let at_work = |digest: &Digest| {
            self.sessions.values().any(|session| session.purpose == Purpose::Certify { request: *digest })
        };
        let ours = around.requests.iter().filter(|open| {
            let digest = open.request.digest();
            around.authority.coordinates(around.requests, open)
                && open.enough(call.transcript).is_some()
                && !around.requests.has_certificate(&digest)
                && !around.requests.has_combined(&digest)
                && !self.starting.contains_key(&digest)
                && !at_work(&digest)
        });
        let ours: Vec<Digest> = ours.map(|open| open.request.digest()).collect();
        for request in ours {
            self.start_session(call, Purpose::Certify { request }, around);
        }
    }

    fn work_revocations(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        let of_list = |session: &SigningSession| matches!(session.purpose, Purpose::Revoke { .. });
        let at_work = self.sessions.values().any(of_list);
        if let Some(purpose) = self.revoked.work(call, at_work, around.out) {
            self.start_session(call, purpose, around);
        }
    }

    /// Starts a session. If this member is ready for it, it says so at once, with a one-time key
    /// that is kept until the start is heard.
    pub(super) fn start_session(&mut self, call: &Call<'_>, purpose: Purpose, around: &mut Around<'_>) {
        let me = call.me();
        if self.room_for_session(&me).is_err() {
            return;
        }
        if self.attempts == 0 {
            self.attempts = u32::from_be_bytes(draw(around.entropy));
        }
        self.attempts = self.attempts.wrapping_add(1);
        let attempt = self.attempts;
        let session = session_name(call.transcript, &me, &purpose, attempt);
        around.out.trace(format!("starts a signing session: {}", purpose.name()));
        if let Some(request) = purpose.request() {
            self.starting.insert(*request, (session, call.now));
        }
        let takes_part = self.offered.len() < COORDINATOR_SESSIONS_MAX
            && self.is_willing(call, &me, &purpose, around.requests);
        say(call, session, SignerBody::Start { purpose, attempt }, around.out);
        if takes_part {
            let key = OpeningKey::draw(around.entropy);
            say(call, session, ready(&key), around.out);
            self.offered.insert(session, (key, call.now));
        }
    }

    /// When a willing signer says that it is ready. If an exact number of holders sign, the first
    /// ones do so at once, counted from the coordinator on. The others do so only if those were too
    /// few by then, so that nothing is sent that nobody needs.
    pub(super) fn answers_at(&self, call: &Call<'_>, coordinator: &MemberId, purpose: &Purpose) -> Instant {
        let roster = call.transcript.roster();
        let facts = match purpose {
            Purpose::Certify { .. } | Purpose::Revoke { .. } | Purpose::Repair { .. } => {
                roster.sharing().map(|now| &now.facts)
            }
            Purpose::Authority { epoch, .. } => self.shares.waiting_of(epoch).map(|waiting| &waiting.facts),
            _ => None,
        };
        let Some(facts) = facts else { return call.now };
        let signers = match purpose {
            // Its holder is the first of them, and does not help itself.
            Purpose::Repair { .. } => facts.threshold.saturating_add(1),
            _ => roster.charter().scheme().signers(facts.threshold),
        };
        let after = facts.holders.iter().filter(|signer| *signer >= coordinator);
        let before = facts.holders.iter().filter(|signer| *signer < coordinator);
        let first = after.chain(before).take(signers).any(|signer| *signer == call.me());
        if first { call.now } else { call.now + LATER }
    }

    /// Says that we are ready if too few said so before us.
    fn answer_starts(&mut self, call: &Call<'_>, out: &mut Out) {
        let mut now = Vec::new();
        for (name, session) in &mut self.sessions {
            if session.participants.is_some() || session.answers.is_none_or(|at| at > call.now) {
                continue;
            }
            session.answers = None;
            now.extend(session.key.as_ref().map(|key| (*name, ready(key))));
        }
        for (name, body) in now {
            say(call, name, body, out);
        }
    }

    /// As a coordinator: names the participants once enough signers are ready, or once the wait for
    /// more is over.
    fn fix_participants(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        let me = call.me();
        for session in self.sessions.values_mut().filter(|session| session.gathers_until() <= call.now) {
            session.gathered = true;
        }
        let open = self
            .sessions
            .iter()
            .filter(|(_, session)| session.coordinator == me && session.participants.is_none());
        let ready: Vec<(Digest, Participants)> = open
            .filter_map(|(name, session)| Some((*name, self.choose(call, session, around.requests)?)))
            .collect();
        for (name, participants) in ready {
            let body = SignerBody::Participants {
                givers: participants.givers.clone(),
                takers: participants.takers.clone(),
            };
            say(call, name, body, around.out);
            self.begin(call, name, participants, around);
        }
    }
}

pub(super) fn say(call: &Call<'_>, session: Digest, body: SignerBody, out: &mut Out) {
    let message = SignerMessage::sign(call.transcript, call.identity, (session, None), body);
    out.multicast(&OpenMessage::Signer { message });
}

fn ready(key: &OpeningKey<Classic>) -> SignerBody {
    SignerBody::Ready { key: Blob::from(key.public().to_vec()) }
}
