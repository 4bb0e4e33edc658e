//! New shares: when they are wanted, who has them made, and what a voter's machine says to them.

use super::message::Purpose;
use super::session::SigningSession;
use super::state::{Around, Signers};
use crate::call::Call;
use crate::pause::PATIENCE;
use crate::roster::{are_stale, is_dealers, turn, wants_sharing};
use crate::voting::Voting;
use core::time::Duration;
use folkmoot_base::{Blob, Danger, Instant, MemberId};
use folkmoot_identity::AuthorityBody;
use folkmoot_transcript::Change;

/// How long voters who are away are waited for.
const AWAY: Duration = Duration::from_secs(30);

impl Signers {
    pub(super) fn coordinate_sharing(
        &mut self,
        call: &Call<'_>,
        voting: &mut Voting,
        around: &mut Around<'_>,
    ) {
        let (me, roster) = (call.me(), call.transcript.roster());
        // A session that makes nothing for us does not keep us from starting one.
        let busy = |session: &&SigningSession| {
            let own = session.coordinator == me && session.purpose.makes_sharing();
            own || self.may_give_share(session)
        };
        if !wants_sharing(roster, &me) {
            self.wanted = None;
            self.away = None;
            return;
        }
        if let Some(coordinator) = self.sessions.values().find(busy).map(|session| session.coordinator) {
            // When it is over and nothing came of it, all take their turns again, and its
            // coordinator comes last.
            let again = call.now + PATIENCE + turn(roster, &me);
            let soon = self.wanted.is_none_or(|due| due <= call.now);
            self.wanted =
                if coordinator != me { None } else { self.wanted.filter(|_| !soon).or(Some(again)) };
            return;
        }
        if let Some(until) = self.waits_for_away(call) {
            self.wanted = Some(until);
            return;
        }
        let due = *self.wanted.get_or_insert(call.now + turn(roster, &me));
        if due > call.now {
            return;
        }
        // Those before us have had their time. If this comes to nothing, the next try is a round of
        // turns away.
        self.wanted = Some(call.now + PATIENCE + turn(roster, &me));
        if let Some(purpose) = self.next_purpose(call, voting, around) {
            self.start_session(call, purpose, around);
        }
    }

    /// `ADM-79`: voters who are not in our view are waited for before another sharing is made, so
    /// that it does not leave them out; not for the first sharing, and not while so many have left
    /// with shares that they could sign. Until when.
    fn waits_for_away(&mut self, call: &Call<'_>) -> Option<Instant> {
        let (me, roster) = (call.me(), call.transcript.roster());
        let is_here = |voter: &MemberId| *voter == me || call.present.contains(voter);
        let away = roster.voters().iter().any(|voter| !is_here(voter));
        let moves = roster.sharing().is_some() && !are_stale(roster) && self.shares.next(call).is_none();
        let hurries = call.config.danger.is(Danger::AdmissionAwaitsNobody);
        if call.present.is_empty() || !away || !moves || hurries {
            if self.away.take().is_some_and(|since| call.now < since + AWAY) {
                self.wanted = Some(call.now + turn(roster, &me));
            }
            return None;
        }
        let since = *self.away.get_or_insert(call.now);
        (call.now < since + AWAY).then(|| since + AWAY + turn(roster, &me))
    }

    /// Whether we take part in this run for a sharing. A coordinator that lied gives us nothing.
    fn may_give_share(&self, session: &SigningSession) -> bool {
        session.purpose.makes_sharing() && session.key.is_some() && !self.others.lied(&session.coordinator)
    }

    /// The next step towards a sharing in use: found or reshare; the certificate of the key; the
    /// decision.
    fn next_purpose(
        &mut self,
        call: &Call<'_>,
        voting: &mut Voting,
        around: &mut Around<'_>,
    ) -> Option<Purpose> {
        let roster = call.transcript.roster();
        let threshold = u32::try_from(roster.threshold()).ok()?;
        let Some(waiting) = self.shares.next(call) else {
            if is_dealers(roster) {
                return around.authority.is_linked().then_some(Purpose::Deal { threshold });
            }
            let first = roster.sharing().is_none();
            return Some(if first { Purpose::Found { threshold } } else { Purpose::Reshare { threshold } });
        };
        if let Some(effect) = waiting.effect() {
            if let Err(error) = voting.propose(call, effect, around.out) {
                around.out.trace(format!("sharing not proposed: {error}"));
            }
            return None;
        }
        let facts = waiting.facts.clone();
        call.clock?;
        let name = roster.charter().name();
        let body = AuthorityBody::new(name.as_str(), facts.key, call.early(), around.entropy);
        Some(Purpose::Authority { epoch: facts.epoch, tbs: Blob::from(body.tbs().ok()?) })
    }

    /// Every voter's machine approves the sharing that it took part in: the run itself was the
    /// agreement. The transcript judges that the certificate with it is the key's own. A machine
    /// rejects a sharing of which it has no share, if it takes part in no run that may still give
    /// it one: the others need not wait for it. What a coordinator proposes may come before the
    /// last words of its run. If it is given that share after all, it says yes again. Where one
    /// share is the key, all sharings among the same holders are one, so its word may be a
    /// rejection, or a yes from before another sharing was taken into use, which counts no more.
    pub(super) fn judge_sharings(&mut self, call: &Call<'_>, voting: &mut Voting, around: &mut Around<'_>) {
        let (set, me) = (call.transcript.set(), call.me());
        let open = set.effects().filter(|effect| set.approval(&effect.subject(), &me).is_none());
        let ours = open.filter_map(|effect| {
            let Change::Sharing { public, authority } = &effect.change else { return None };
            let name = folkmoot_base::digest(&[&public.0]);
            let ours = self.shares.has_waiting(&name);
            Some((effect.clone(), ours.then(|| (name, authority.0.clone()))))
        });
        let ours: Vec<_> = ours.collect();
        for effect in self.shares.take_anew() {
            if set.approval(&effect.subject(), &me).is_some()
                && let Err(error) = voting.approve(call, &effect, around.out)
            {
                around.out.trace(format!("sharing not voted on: {error}"));
            }
        }
        for effect in self.shares.late(call.now) {
            // Without a yes of ours there is nothing to take back.
            let yes = set.approval(&effect.subject(), &me).is_some_and(|said| said.approval.is_yes());
            if yes && let Err(error) = voting.reject(call, &effect, around.out) {
                around.out.trace(format!("sharing not taken back: {error}"));
            }
        }
        let runs = self.sessions.values().any(|session| self.may_give_share(session));
        for (effect, ours) in ours {
            let said = if let Some((name, authority)) = ours {
                self.shares.keep_authority(call, &name, authority, around.entropy, around.out);
                voting.approve(call, &effect, around.out)
            } else if runs {
                continue;
            } else {
                voting.reject(call, &effect, around.out)
            };
            if let Err(error) = said {
                around.out.trace(format!("sharing not voted on: {error}"));
            }
        }
    }
}
