//! When a table is wanted, and by whom it is convened.

use super::seats::spare;
use super::share::Waiting;
use super::word::table_name;
use super::{HandWord, LATER, LEADER_TABLES_MAX, PATIENCE, Purpose, Say, Seats, TURN, Table};
use crate::central::is_dealers;
use crate::desk::{Admission, Call};
use crate::message::OpenMessage;
use core::time::Duration;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Blob, Danger, Digest, Entropy, Instant, MemberId, UnixTime, draw};
use folkmoot_identity::{AuthorityBody, Decision, Roster};
use folkmoot_signing::Scheme;
use folkmoot_signing::shared::SharingFacts;
use std::collections::BTreeSet;

impl Admission {
    /// What follows from transcript and desk where the group has a key of its own, or its voters sign together.
    pub(crate) fn work_hands(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let roster = call.transcript.roster();
        match roster.charter().scheme() {
            Scheme::Plain => return self.work_revocations(call, entropy),
            Scheme::Asm => {
                self.drop_idle_tables(call);
                self.answer_calls(call);
                self.set_tables(call, entropy);
                self.lead_multis(call, entropy);
                return self.work_revocations(call, entropy);
            }
            Scheme::TsRsa | Scheme::Shoup | Scheme::TsDsa | Scheme::Frost => {}
        }
        self.follow_sharing(call, entropy);
        self.drop_idle_tables(call);
        self.answer_calls(call);
        self.set_tables(call, entropy);
        if roster.may_vote(&call.identity.member()) {
            self.lead_sharing(call, entropy);
            self.judge_sharings(call, entropy);
        } else {
            self.hands.wanted = None;
        }
        self.lead_certificates(call, entropy);
        self.work_revocations(call, entropy);
    }

    /// `SHR-W`: whether the present sharing is not what charter, electorate and roster call for.
    pub(crate) fn wants_sharing(roster: &Roster, for_whom: &MemberId) -> bool {
        let Some(sharing) = roster.sharing() else { return true };
        if roster.charter().is_dealt_once() {
            return false;
        }
        sharing.facts.threshold != roster.threshold()
            || !roster.leavers_with_shares().is_empty()
            || !sharing.facts.holders.contains(for_whom)
    }

    fn lead_sharing(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        // At a table that we would not sit at nothing is made for us: it does not keep us from leading, nor does one of a leader that lied.
        let busy = |table: &&Table| {
            let ours = table.key.is_some() && !self.hands.liars.contains_key(&table.leader);
            table.purpose.makes_sharing() && (table.leader == me || ours)
        };
        if !Self::wants_sharing(roster, &me) {
            self.hands.wanted = None;
            return;
        }
        if let Some(leader) = self.hands.tables.values().find(busy).map(|table| table.leader) {
            // When it is over and nothing came of it, all take their turns anew, and who led that one comes last.
            let again = call.now + PATIENCE + turn(roster, &me);
            let soon = self.hands.wanted.is_none_or(|due| due <= call.now);
            self.hands.wanted =
                if leader != me { None } else { self.hands.wanted.filter(|_| !soon).or(Some(again)) };
            return;
        }
        let due = *self.hands.wanted.get_or_insert(call.now + turn(roster, &me));
        if due > call.now {
            return;
        }
        // Whoever is before us has had its time; should this come to nothing, the next try is a round of turns away.
        self.hands.wanted = Some(call.now + PATIENCE + turn(roster, &me));
        if let Some(purpose) = self.next_purpose(call, entropy) {
            self.convene(call, purpose, entropy);
        }
    }

    /// The next step to a sharing in use: found or reshare; the certificate of the key; the decision.
    fn next_purpose(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) -> Option<Purpose> {
        let roster = call.transcript.roster();
        let threshold = u32::try_from(roster.threshold()).ok()?;
        let waiting = self.hands.shares.waiting.values();
        let waiting =
            waiting.filter(|waiting| waiting.fits(roster)).find(|waiting| !self.was_refused(waiting));
        let Some(waiting) = waiting else {
            if is_dealers(roster) {
                return self.central.is_linked().then_some(Purpose::Deal { threshold });
            }
            let first = roster.sharing().is_none();
            return Some(if first { Purpose::Found { threshold } } else { Purpose::Reshare { threshold } });
        };
        if let Some(decision) = Self::sharing_decision(waiting) {
            if let Err(error) = self.propose(call, decision) {
                self.trace(format!("sharing not proposed: {error}"));
            }
            return None;
        }
        let facts = waiting.facts.clone();
        let now = UnixTime(self.clock?.0.saturating_sub(self.config.skew_seconds));
        let body = AuthorityBody::new(roster.charter().name().as_str(), facts.key, now, entropy);
        Some(Purpose::Authority { epoch: facts.epoch, tbs: Blob::from(body.tbs().ok()?) })
    }

    /// Every voter's machine approves the sharing that it took part in: the run itself was the agreement. That the certificate with
    /// it is the key's own, the transcript has judged. One that it has no share of it rejects, since it will never have: else a ballot
    /// in which nobody wins would wait for a word that no person is asked for.
    fn judge_sharings(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let open = self.ballots.proposals().filter(|(_, proposal)| proposal.opinion.is_none());
        let ours = open.filter_map(|(digest, proposal)| {
            let Decision::Sharing { public, authority } = &proposal.decision else { return None };
            let name = folkmoot_base::digest(&[&public.0]);
            let ours = self.hands.shares.waiting.get(&name).is_some_and(|waiting| waiting.share.is_some());
            Some((*digest, ours.then(|| (name, authority.0.clone()))))
        });
        let ours: Vec<_> = ours.collect();
        for (digest, ours) in ours {
            let approve = ours.is_some();
            if let Some((name, authority)) = ours {
                self.keep_authority(call, &name, authority, entropy);
            }
            if let Err(error) = self.vote_proposal(call, digest, approve) {
                self.trace(format!("sharing not voted on: {error}"));
            }
        }
    }

    /// Whether too many voters have no share of it: until the next serial it is not proposed again.
    pub(crate) fn was_refused(&self, waiting: &Waiting) -> bool {
        Self::sharing_decision(waiting).is_some_and(|decision| self.ballots.was_rejected(&decision.digest()))
    }

    /// The contact has the group sign for its guests that were voted for, and for whom it sponsors; where an authority signs, whoever
    /// reaches it, if nothing comes of that.
    fn lead_certificates(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let roster = call.transcript.roster();
        if roster.sharing().is_none() || roster.is_for_authority() {
            return;
        }
        let at_work = |digest: &Digest| {
            self.hands.tables.values().any(|table| table.purpose == Purpose::Certify { request: *digest })
        };
        let ours = self.requests.iter().filter(|open| {
            let digest = open.request.digest();
            self.leads(open)
                && open.enough(roster).is_some()
                && !self.hands.issued.contains_key(&digest)
                && !self.central.combined.contains_key(&digest)
                && !self.hands.called.contains_key(&digest)
                && !at_work(&digest)
        });
        let ours: Vec<Digest> = ours.map(|open| open.request.digest()).collect();
        for request in ours {
            self.convene(call, Purpose::Certify { request }, entropy);
        }
    }

    /// Calls to a table, and says in the same breath that its leader is ready, if it is: by a key that is kept until the call is heard.
    pub(crate) fn convene(&mut self, call: &Call<'_>, purpose: Purpose, entropy: &mut dyn Entropy) {
        let me = call.identity.member();
        if self.room_for_table(&me).is_err() {
            return;
        }
        if self.hands.attempts == 0 {
            self.hands.attempts = u32::from_be_bytes(draw(entropy));
        }
        self.hands.attempts = self.hands.attempts.wrapping_add(1);
        let attempt = self.hands.attempts;
        let table = table_name(call.transcript, &me, &purpose, attempt);
        self.trace(format!("calls to a table: {}", purpose.word()));
        if let Some(request) = purpose.request() {
            self.hands.called.insert(*request, (table, call.now));
        }
        let sits = self.hands.offered.len() < LEADER_TABLES_MAX && self.is_willing(call, &me, &purpose);
        self.say_hand(call, table, Say::Convene { purpose, attempt });
        if sits {
            let key = OpeningKey::draw(entropy);
            self.say_hand(call, table, ready(&key));
            self.hands.offered.insert(table, (key, call.now));
        }
    }

    /// When a hand that is willing says that it is ready. Where exactly so many sign, the first of the holders do so at once, counted from
    /// the leader on; the others only if those were too few by then: what nobody needs is neither said nor carried.
    pub(crate) fn answers_at(&self, call: &Call<'_>, leader: &MemberId, purpose: &Purpose) -> Instant {
        let roster = call.transcript.roster();
        let facts = match purpose {
            Purpose::Certify { .. } | Purpose::Revoke { .. } => roster.sharing().map(|now| &now.facts),
            Purpose::Authority { epoch, .. } => self.waiting_of(epoch).map(|waiting| &waiting.facts),
            _ => None,
        };
        let Some(facts) = facts else { return call.now };
        let hands = roster.charter().scheme().signers(facts.threshold);
        let after = facts.holders.iter().filter(|hand| *hand >= leader);
        let before = facts.holders.iter().filter(|hand| *hand < leader);
        let first = after.chain(before).take(hands).any(|hand| *hand == call.identity.member());
        if first { call.now } else { call.now + LATER }
    }

    /// Says that we are ready where too few were before us.
    fn answer_calls(&mut self, call: &Call<'_>) {
        let mut now = Vec::new();
        for (name, table) in &mut self.hands.tables {
            if table.seats.is_some() || table.answers.is_none_or(|at| at > call.now) {
                continue;
            }
            table.answers = None;
            now.extend(table.key.as_ref().map(|key| (*name, ready(key))));
        }
        for (name, say) in now {
            self.say_hand(call, name, say);
        }
    }

    pub(crate) fn say_hand(&mut self, call: &Call<'_>, table: Digest, say: Say) {
        let word = HandWord::sign(call.transcript, call.identity, table, say);
        self.multicast(&OpenMessage::Hand { word });
    }

    /// As a leader: names the hands once those are ready that it takes, or that could be waited for.
    fn set_tables(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let me = call.identity.member();
        for table in self.hands.tables.values_mut().filter(|table| table.gathers_until() <= call.now) {
            table.gathered = true;
        }
        let open = self.hands.tables.iter().filter(|(_, table)| table.leader == me && table.seats.is_none());
        let ready: Vec<(Digest, Seats)> =
            open.filter_map(|(name, table)| Some((*name, self.choose(call, table)?))).collect();
        for (name, seats) in ready {
            let say = Say::Seats { givers: seats.givers.clone(), takers: seats.takers.clone() };
            self.say_hand(call, name, say);
            self.seat(call, name, seats, entropy);
        }
    }

    /// Who of those ready shall have a share: without those who were silent or lied, if the others are enough whatever befalls; else all but those of
    /// whom everybody knows it (`ADM-72`).
    fn choose_takers(&self, call: &Call<'_>, table: &Table, fit: &[MemberId]) -> Option<Seats> {
        let roster = call.transcript.roster();
        let threshold = u32::try_from(roster.threshold()).ok()?;
        let known = |hand: &&MemberId| !self.hands.set_aside.contains(*hand);
        let best: Vec<MemberId> = fit.iter().filter(known).copied().collect();
        let voters = best.iter().filter(|hand| roster.may_vote(hand)).count();
        if voters >= spare(roster.charter().scheme(), threshold) {
            return self.choose_of(call, table, &best);
        }
        let ready: Vec<MemberId> = table.ready.keys().filter(known).copied().collect();
        self.choose_of(call, table, &ready)
    }

    /// Who of those ready shall sit, if they are enough. At a signature those first who sat least often in vain; where all sit, another leads the
    /// next table.
    fn choose(&self, call: &Call<'_>, table: &Table) -> Option<Seats> {
        let fit = |member: &&MemberId| {
            !self.hands.silent.contains(*member) && !self.hands.liars.contains_key(*member)
        };
        let ready: Vec<MemberId> = table.ready.keys().filter(fit).copied().collect();
        if table.purpose.gives_shares() {
            return self.choose_takers(call, table, &ready);
        }
        if table.purpose.makes_sharing() {
            return self.choose_of(call, table, &ready);
        }
        let failed = |hand: &MemberId| self.hands.failures.get(hand).copied().unwrap_or_default();
        let levels: BTreeSet<u32> = ready.iter().map(failed).collect();
        // Before one that sat in vain sits again, others are waited for.
        levels.into_iter().filter(|most| *most == 0 || table.gathered).find_map(|most| {
            let ready: Vec<MemberId> = ready.iter().filter(|hand| failed(hand) <= most).copied().collect();
            self.choose_of(call, table, &ready)
        })
    }

    fn choose_of(&self, call: &Call<'_>, table: &Table, ready: &[MemberId]) -> Option<Seats> {
        let roster = call.transcript.roster();
        let scheme = roster.charter().scheme();
        let (me, waited) = (call.identity.member(), table.gathered);
        let voters: Vec<MemberId> = ready.iter().filter(|hand| roster.may_vote(hand)).copied().collect();
        let all = roster.electorate().voters.iter().filter(|voter| roster.may_vote(voter)).count();
        let enough = |voters: &Vec<MemberId>, need: usize| {
            let quorum = roster.electorate().is_quorum(&voters.iter().copied().collect());
            quorum && voters.len() >= need && (waited || voters.len() == all)
        };
        // The leader itself first: it is the one that waits for what comes of it.
        let holders = |facts: &SharingFacts, count: usize| {
            // Whoever leads and has lost its share leaves it to the others.
            let lost = self.hands.shares.current.is_none() && self.waiting_of(&facts.epoch).is_none();
            let hold = |hand: &&MemberId| facts.holders.contains(hand) && !(lost && **hand == me);
            let (first, rest): (Vec<_>, Vec<_>) =
                ready.iter().filter(hold).partition(|hand| **hand == table.leader);
            let mut signers: Vec<MemberId> = first.into_iter().chain(rest).copied().take(count).collect();
            signers.sort();
            (signers.len() == count).then_some(signers)
        };
        match &table.purpose {
            Purpose::Found { threshold } => {
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Seats { givers: voters.clone(), takers: voters.clone() })
            }
            // A table of the authority has no givers among the members.
            Purpose::Deal { threshold } => {
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Seats { givers: Vec::new(), takers: voters.clone() })
            }
            Purpose::Reshare { threshold } => {
                let now = roster.sharing()?;
                let givers = holders(&now.facts, now.facts.threshold)?;
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Seats { givers, takers: voters.clone() })
            }
            Purpose::Authority { epoch, .. } => {
                let facts = &self.waiting_of(epoch)?.facts;
                Some(Seats { givers: holders(facts, scheme.signers(facts.threshold))?, takers: Vec::new() })
            }
            Purpose::Certify { .. } | Purpose::Revoke { .. } => {
                let facts = &roster.sharing()?.facts;
                Some(Seats { givers: holders(facts, scheme.signers(facts.threshold))?, takers: Vec::new() })
            }
            Purpose::Multi { request, expires } => self.choose_signers(roster, ready, (request, *expires)),
        }
    }

    /// The waiting sharing with this share-epoch.
    pub(crate) fn waiting_of(&self, epoch: &Digest) -> Option<&Waiting> {
        self.hands.shares.waiting.values().find(|waiting| waiting.facts.epoch == *epoch)
    }

    /// Tables that stand still are over; as their leader we remember who kept us waiting. A call that does not come back is over too.
    fn drop_idle_tables(&mut self, call: &Call<'_>) {
        if self.config.danger.is(Danger::AdmissionTablesStay) {
            let late = |table: &&mut Table| call.now.since(table.moved) >= PATIENCE;
            self.hands.tables.values_mut().filter(late).for_each(|table| table.moved = call.now);
            return;
        }
        self.hands.called.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        self.hands.offered.retain(|_, (_, at)| call.now.since(*at) < PATIENCE);
        let late: Vec<Digest> = self
            .hands
            .tables
            .iter()
            .filter(|(_, table)| call.now.since(table.moved) >= PATIENCE)
            .map(|(name, _)| *name)
            .collect();
        for name in late {
            let Some(table) = self.hands.tables.remove(&name) else { continue };
            if table.purpose.gives_shares() {
                self.set_aside_of(call, &table);
            }
            if table.leader == call.identity.member() {
                if table.purpose.makes_sharing() {
                    // Whoever led what came to nothing comes last.
                    let me = call.identity.member();
                    self.hands.wanted = Some(call.now + PATIENCE + turn(call.transcript.roster(), &me));
                }
                self.count_failure(call, &table);
            }
            self.trace(format!("a table stood still: {table:?}"));
        }
    }

    /// Of a table for new shares that stood still: who was awaited there and silent, as all know who sat there.
    fn set_aside_of(&mut self, call: &Call<'_>, table: &Table) {
        if table.seats.is_none() && table.key.is_some() {
            // Too few came, or too few were left: whoever was left out may come again.
            self.hands.set_aside.clear();
        }
        let me = call.identity.member();
        let awaited =
            table.run.as_ref().filter(|_| table.seated).map(|run| run.awaited()).unwrap_or_default();
        let mut silent = awaited.into_iter().filter(|hand| *hand != me && !table.said.contains_key(hand));
        let left_out = |seats: &Seats| table.ready.keys().any(|hand| !seats.all().contains(hand));
        if table.round == 0 && table.seats.as_ref().is_some_and(left_out) && silent.clone().next().is_some() {
            // It may miss whom we left out, for it was not where we learned why: we learn it anew, together.
            self.hands.set_aside.clear();
            return;
        }
        self.hands.set_aside.extend(&mut silent);
    }

    /// Of a table that we led and that stood still: who was silent, and who sat in vain.
    fn count_failure(&mut self, call: &Call<'_>, table: &Table) {
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        let awaited = table.run.as_ref().map(|run| run.awaited()).unwrap_or_default();
        if awaited.is_empty() {
            // Too few came: whoever was left out before may come again.
            self.hands.silent.clear();
        }
        if !table.seated {
            // Nobody has heard who sits.
            return;
        }
        for hand in awaited.into_iter().filter(|hand| *hand != me) {
            if !table.said.contains_key(&hand) {
                self.hands.silent.insert(hand);
            }
            let failures = self.hands.failures.entry(hand).or_default();
            *failures = failures.saturating_add(1);
        }
        self.hands.failures.retain(|hand, _| roster.is_member(hand));
    }
}

fn ready(key: &OpeningKey<Classic>) -> Say {
    Say::Ready { key: Blob::from(key.public().to_vec()) }
}

/// How long this voter lets those before it begin.
pub(crate) fn turn(roster: &Roster, me: &MemberId) -> Duration {
    let place = roster.electorate().voters.iter().position(|voter| voter == me).unwrap_or_default();
    TURN.saturating_mul(u32::try_from(place).unwrap_or(u32::MAX))
}
