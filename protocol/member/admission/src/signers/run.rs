//! The participants' run: what they say goes in and out, round by round, until the run ends.

use super::deal::certified;
use super::message::{PrivateMessage, Purpose, SignerBody, SignerMessage, heard_after};
use super::multi::sign_multi;
use super::outcome::epoch_of;
use super::session::{Participants, SigningSession, Step};
use super::state::{Around, Signers};
use crate::call::Call;
use crate::message::OpenMessage;
use crate::requests::Requests;
use crate::{AdmissionError, Event};
use folkmoot_base::codec;
use folkmoot_base::sealing::{Classic, seal};
use folkmoot_base::{Blob, Digest, MemberId, Secret, digest};
use folkmoot_signing::shared::{self, AnyRun, Outcome};
use folkmoot_signing::{Fault, Incoming, Next, Outgoing, RunId};

impl Signers {
    pub(super) fn make_run(
        &self,
        call: &Call<'_>,
        name: &Digest,
        participants: &Participants,
        requests: &Requests,
    ) -> Option<AnyRun> {
        let session = self.sessions.get(name)?;
        let (me, roster) = (call.me(), call.transcript.roster());
        let scheme = roster.charter().scheme();
        let id = run_id(name, session, participants);
        let run = match &session.purpose {
            Purpose::Multi { request, wording } => {
                return sign_multi(call, id, &participants.givers, (request, wording), requests);
            }
            // The authority makes it, not the signers.
            Purpose::Deal { .. } => return None,
            Purpose::Found { threshold } => {
                shared::found(scheme, id, me, &participants.givers, usize::try_from(*threshold).ok()?)
            }
            Purpose::Reshare { threshold } => {
                let now = roster.sharing()?;
                let share = self.shares.of(&now.public).filter(|_| participants.givers.contains(&me));
                let signers = shared::Moving { givers: &participants.givers, takers: &participants.takers };
                shared::reshare(
                    scheme,
                    id,
                    me,
                    signers,
                    usize::try_from(*threshold).ok()?,
                    (&now.public, share),
                )
            }
            Purpose::Repair { holder } => {
                let now = roster.sharing()?;
                let share = self.shares.of(&now.public).filter(|_| participants.givers.contains(&me));
                shared::repair(scheme, id, me, (&participants.givers, *holder), (&now.public, share))
            }
            Purpose::Authority { epoch, tbs } => {
                let waiting = self.shares.waiting_of(epoch)?;
                shared::sign(
                    scheme,
                    id,
                    me,
                    &participants.givers,
                    (&waiting.public, waiting.share.as_ref()?),
                    &tbs.0,
                )
            }
            Purpose::Certify { request } => {
                let now = roster.sharing()?;
                let open = requests.get(request)?;
                let tbs = certified(roster, open, now, epoch_of(call, now.facts.epoch))?;
                let share = self.shares.of(&now.public)?;
                shared::sign(scheme, id, me, &participants.givers, (&now.public, share), &tbs)
            }
            Purpose::Revoke { tbs } => {
                let now = roster.sharing()?;
                let share = self.shares.of(&now.public)?;
                shared::sign(scheme, id, me, &participants.givers, (&now.public, share), &tbs.0)
            }
        };
        run.ok()
    }

    /// `ADM-45`, `ADM-46`, `ADM-73`: one message of each awaited signer in each round.
    pub(super) fn hear_round(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        message: SignerMessage,
        around: &mut Around<'_>,
    ) -> Result<(), AdmissionError> {
        let (me, name) = (call.me(), message.session);
        let SignerBody::Round { round, .. } = message.body else { return Ok(()) };
        let Some(session) = self.sessions.get_mut(&name) else { return Ok(()) };
        // Nobody else counts a message that was sent before the participants have their place.
        let Some(run) = session.run.as_ref().filter(|_| session.ordered) else { return Ok(()) };
        let awaited = run.awaited();
        if round != session.round || !awaited.contains(&sender) {
            return Err(AdmissionError::PeerSigner(sender, "it does not belong to this round"));
        }
        if !message.is_of_run(call.transcript, &sender, &session.heard) {
            // Its sender speaks in another run, or heard other messages than we did, or somebody
            // else replayed it: its sender is not to blame.
            around.out.trace("a word of another run");
            return Ok(());
        }
        if session.said.contains_key(&sender) {
            return Err(AdmissionError::PeerSigner(sender, "it is its sender's second in this round"));
        }
        let SignerBody::Round { to_all, to_each, .. } = message.body else { return Ok(()) };
        let mut for_me = to_each.into_iter().filter(|private| private.to == me).map(|private| private.sealed);
        session.said.insert(sender, (to_all.0.to_vec(), for_me.next()));
        session.moved = call.now;
        self.end_round(call, name, around);
        Ok(())
    }

    /// Goes on once all that are awaited have spoken.
    fn end_round(&mut self, call: &Call<'_>, name: Digest, around: &mut Around<'_>) {
        let Some(session) = self.sessions.get_mut(&name) else { return };
        let Some(run) = &session.run else { return };
        if run.awaited().iter().all(|signer| session.said.contains_key(signer)) {
            self.arrange_step(call, name, Step::Hear, around);
        }
    }

    /// Takes the step at once, or, if it takes long, when the turn is over.
    pub(super) fn arrange_step(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        step: Step,
        around: &mut Around<'_>,
    ) {
        if let Some(session) = self.sessions.get_mut(&name) {
            session.step = Some((step, call.now));
        }
        if !call.transcript.roster().charter().scheme().takes_long() {
            self.take_step(call, name, around);
        }
    }

    /// Takes the step that has waited longest, one in a turn. Takes all of them before anything
    /// else that was ordered is heard, because that may rest on what they bring.
    pub(crate) fn take_steps(&mut self, call: &Call<'_>, all: bool, around: &mut Around<'_>) {
        loop {
            let waiting = self.sessions.iter().filter_map(|(name, session)| Some((session.step?.1, *name)));
            let Some((_, name)) = waiting.min() else { return };
            self.take_step(call, name, around);
            if !all {
                return;
            }
        }
    }

    fn take_step(&mut self, call: &Call<'_>, name: Digest, around: &mut Around<'_>) {
        let Some(session) = self.sessions.get_mut(&name) else { return };
        let Some((step, _)) = session.step.take() else { return };
        session.begun = true;
        let heard = (step == Step::Hear).then(|| {
            let said = session.said.iter().map(|(signer, (to_all, _))| (signer, to_all));
            let after = heard_after(&session.heard, said);
            let heard = open_round(&name, session, &call.me());
            session.heard = after;
            session.round = session.round.saturating_add(1);
            heard
        });
        let Some(run) = session.run.as_mut() else { return };
        let next = match heard {
            Some(heard) => run.hear(heard, around.entropy),
            None => Ok(run.start(around.entropy)),
        };
        self.follow_run(call, name, next, around);
    }

    fn follow_run(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        next: Result<Next<Outcome>, Fault>,
        around: &mut Around<'_>,
    ) {
        match next {
            Ok(Next::Say(said)) => self.say_round(call, name, said, around),
            Ok(Next::Done(outcome)) => {
                if let Some(session) = self.sessions.remove(&name) {
                    self.take_outcome(call, name, &session, outcome, around);
                }
            }
            Err(fault) => {
                let over = self.sessions.remove(&name);
                self.others
                    .note_liars(&fault.culprits, over.is_some_and(|session| session.purpose.gives_shares()));
                around.out.trace(format!("a run came to nothing: {fault}"));
                for liar in fault.culprits {
                    around.out.event(Event::SignerLied { member: liar });
                }
            }
        }
    }

    fn say_round(&mut self, call: &Call<'_>, name: Digest, said: Outgoing, around: &mut Around<'_>) {
        let Some(session) = self.sessions.get(&name) else { return };
        let (me, round, heard) = (call.me(), session.round, session.heard);
        if !session.run.as_ref().is_some_and(|run| run.awaited().contains(&me)) {
            return;
        }
        let mut to_each = Vec::with_capacity(said.to_each.len());
        for (to, message) in &said.to_each {
            let info = private_info(&name, round, &me, to);
            let key = session.ready.get(to).map(|ready| ready.key.as_slice()).unwrap_or_default();
            if let Some(sealed) = seal::<Classic>(key, &info, message.expose(), around.entropy) {
                to_each.push(PrivateMessage { to: *to, sealed });
            }
        }
        around.out.trace("speaks in a signing session");
        // Nobody else can say it, and nobody can say a second one. So we need not wait for its
        // place in the order, which costs another turn of the token. If a step takes longer than
        // that turn we do wait, because the message is on its way then.
        let own = to_each.iter().find(|private| private.to == me).map(|private| private.sealed.clone());
        let at_once = !call.transcript.roster().charter().scheme().takes_long();
        if let Some(session) = self.sessions.get_mut(&name).filter(|_| at_once) {
            session.said.insert(me, (said.to_all.clone(), own));
        }
        let body = SignerBody::Round { round, to_all: Blob::from(said.to_all), to_each };
        let message = SignerMessage::sign(call.transcript, call.identity, (name, Some(&heard)), body);
        around.out.multicast(&OpenMessage::Signer { message });
        if at_once {
            self.end_round(call, name, around);
        }
    }
}

/// The run's name: no two are alike, since every signer's one-time key is new.
pub(super) fn run_id(name: &Digest, session: &SigningSession, participants: &Participants) -> RunId {
    let ordered = codec::encode(&SignerBody::Participants {
        givers: participants.givers.clone(),
        takers: participants.takers.clone(),
    });
    let mut parts: Vec<&[u8]> = vec![b"folkmoot run v1", name, &ordered];
    for signer in participants.all() {
        parts.extend(session.ready.get(&signer).map(|ready| ready.key.as_slice()));
    }
    RunId(digest(&parts))
}

fn private_info(session: &Digest, round: u8, from: &MemberId, to: &MemberId) -> Vec<u8> {
    [b"folkmoot whisper v1".as_slice(), session, &[round], &from.0, &to.0].concat()
}

/// What was said to all, and what was said to us and opens. What does not open counts as not said,
/// and its sender is accused.
fn open_round(name: &Digest, session: &mut SigningSession, me: &MemberId) -> Incoming {
    let mut heard = Incoming::default();
    for (speaker, (to_all, sealed)) in core::mem::take(&mut session.said) {
        let info = private_info(name, session.round, &speaker, me);
        let opened = session.key.as_ref().zip(sealed).and_then(|(key, sealed)| key.open(&info, &sealed));
        if let Some(message) = opened {
            heard.to_me.insert(speaker, Secret::new(message));
        }
        heard.to_all.insert(speaker, to_all);
    }
    heard
}
