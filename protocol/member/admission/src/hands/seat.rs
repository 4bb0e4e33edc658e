//! At the table: hearing words, and who gets a seat.

use super::convene::turn;
use super::run::run_id;
use super::word::table_name;
use super::{
    HandWord, LEADER_TABLES_MAX, PATIENCE, Purpose, Ready, Say, Seats, Step, TABLES_MAX, Table, are_stale,
};
use crate::AdmissionError;
use crate::central::is_dealers;
use crate::desk::{Admission, Call};
use folkmoot_base::sealing::OpeningKey;
use folkmoot_base::{Digest, Entropy, MemberId};
use folkmoot_identity::AuthorityBody;
use folkmoot_signing::{SIGNERS_MAX, Scheme};
use std::collections::BTreeMap;

impl Admission {
    /// `ADM-41` to `ADM-46`.
    pub(crate) fn hear_hand(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        word: HandWord,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        if call.transcript.roster().charter().scheme() == Scheme::Plain {
            return Err(AdmissionError::PeerHand(sender, "this group's voters sign each for itself"));
        }
        if !self.concerns(call, &sender, &word) {
            return Ok(());
        }
        if let Say::Ready { key } = &word.say {
            let key = key.0.to_vec();
            return self.hear_ready(call, sender, Ready { key, word, proven: false });
        }
        if let Say::Round { .. } = &word.say {
            return self.hear_round(call, sender, word, entropy);
        }
        word.verify(call.transcript, &sender)?;
        match word.say {
            Say::Convene { purpose, attempt } => {
                self.hear_call(call, sender, word.table, (purpose, attempt), entropy)
            }
            Say::Seats { givers, takers } => {
                self.hear_seats(call, sender, word.table, Seats { givers, takers }, entropy)
            }
            Say::Signed { request, signature } => {
                self.take_certificate(call, request, &signature.0);
                Ok(())
            }
            Say::Dealt { dealt } => self.hear_dealt(call, sender, word.table, dealt, entropy),
            Say::Ready { .. } | Say::Round { .. } => Ok(()),
        }
    }

    /// Whether anything here depends on this word: a signature that nothing depends on is not verified. While a member verifies, the
    /// token waits, and in a group of fifty a table of ten hands says some hundred words to each.
    fn concerns(&self, call: &Call<'_>, sender: &MemberId, word: &HandWord) -> bool {
        let table = self.hands.tables.get(&word.table);
        let own = *sender == call.identity.member();
        match &word.say {
            Say::Convene { .. } => true,
            // Until the seats have their place: the leader, who knows them before, hears until then who else is ready, as all do.
            Say::Ready { .. } => table.is_some_and(|table| table.seats.is_none() || !table.seated),
            Say::Seats { .. } | Say::Dealt { .. } => table.is_some(),
            // Our own counted when we said it, but where a step takes long.
            Say::Round { .. } => {
                let counts = !own || call.transcript.roster().charter().scheme().takes_long();
                counts && table.is_some_and(|table| table.run.is_some())
            }
            Say::Signed { request, .. } => self.awaits_certificate(call, request),
        }
    }

    /// `ADM-42`: room for one more table of this leader.
    pub(crate) fn room_for_table(&self, leader: &MemberId) -> Result<(), AdmissionError> {
        let of_leader = self.hands.tables.values().filter(|table| table.leader == *leader).count();
        if self.hands.tables.len() >= TABLES_MAX || of_leader >= LEADER_TABLES_MAX {
            return Err(AdmissionError::PeerHand(*leader, "more tables than may be at once"));
        }
        Ok(())
    }

    fn hear_call(
        &mut self,
        call: &Call<'_>,
        leader: MemberId,
        name: Digest,
        (purpose, attempt): (Purpose, u32),
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        if let Some(request) = purpose.request() {
            self.hands.called.retain(|of, (table, _)| of != request || *table != name);
        }
        if table_name(call.transcript, &leader, &purpose, attempt) != name {
            return Err(AdmissionError::PeerHand(leader, "called from another past than ours"));
        }
        if self.hands.tables.contains_key(&name) {
            return Ok(());
        }
        self.room_for_table(&leader)?;
        let willing = self.is_willing(call, &leader, &purpose);
        if matches!(purpose, Purpose::Revoke { .. }) {
            self.heed_revocations(call, willing);
        }
        let offered = self.hands.offered.remove(&name).map(|(key, _)| key).filter(|_| willing);
        let said = offered.is_some();
        let key = offered.or_else(|| willing.then(|| OpeningKey::draw(entropy)));
        let answers = (willing && !said).then(|| self.answers_at(call, &leader, &purpose));
        let table = Table {
            leader,
            purpose,
            key,
            ready: BTreeMap::new(),
            seats: None,
            seated: false,
            run: None,
            step: None,
            begun: false,
            round: 0,
            heard: [0; 32],
            said: BTreeMap::new(),
            gathered: leader != call.identity.member(),
            passed_on: false,
            answers,
            convened: call.now,
            moved: call.now,
        };
        self.hands.tables.insert(name, table);
        Ok(())
    }

    /// `ADM-43`: whether this member finds the purpose right, by its own transcript and desk, and could take part.
    pub(super) fn is_willing(&self, call: &Call<'_>, leader: &MemberId, purpose: &Purpose) -> bool {
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        let threshold = u32::try_from(roster.threshold()).unwrap_or(u32::MAX);
        let sharers = roster.may_vote(&me) && roster.may_vote(leader);
        let scheme_has_it = roster.charter().scheme().shared() != matches!(purpose, Purpose::Multi { .. });
        // Where new shares are made whoever stays away is left without, unless the others stay away too (`ADM-72`).
        let all_know = self.hands.liars.get(leader);
        if all_know.is_some_and(|all| *all || !purpose.gives_shares()) || !scheme_has_it {
            return false;
        }
        // One that was silent would seat itself again, and call again before another can.
        if purpose.gives_shares() && self.hands.set_aside.contains(leader) {
            return false;
        }
        match purpose {
            Purpose::Multi { request, expires } => self.said_yes(call, request, *expires),
            Purpose::Found { threshold: asked } => {
                sharers && *asked == threshold && roster.sharing().is_none() && !is_dealers(roster)
            }
            Purpose::Reshare { threshold: asked } => {
                // Who holds a share and votes no more gives all the same: new voters may be too few of those who hold any.
                let gives =
                    || roster.sharing().is_some_and(|now| self.hands.shares.of(&now.public).is_some());
                let sits =
                    roster.may_vote(leader) && (roster.may_vote(&me) || (roster.is_member(&me) && gives()));
                let wanted = Self::wants_sharing(roster, leader) && !is_dealers(roster);
                sits && *asked == threshold && wanted
            }
            Purpose::Deal { threshold: asked } => {
                let wanted = Self::wants_sharing(roster, leader) && is_dealers(roster);
                sharers && *asked == threshold && wanted
            }
            Purpose::Authority { epoch, tbs } => {
                let held = self
                    .waiting_of(epoch)
                    .is_some_and(|waiting| waiting.share.is_some() && waiting.authority.is_none());
                held && self.is_fair_authority(call, epoch, &tbs.0)
            }
            Purpose::Certify { request } => {
                let voted = self.requests.get(request).is_some_and(|open| {
                    open.enough(roster).is_some() && !roster.has_issued(&open.request.body().serial)
                });
                let held = roster.sharing().is_some_and(|now| self.hands.shares.of(&now.public).is_some());
                voted && held && !are_stale(roster)
            }
            Purpose::Revoke { tbs } => sharers && self.is_right_list(call, &tbs.0),
        }
    }

    /// Whether a certificate of the group's key says what it should, from about now on.
    fn is_fair_authority(&self, call: &Call<'_>, epoch: &Digest, tbs: &[u8]) -> bool {
        let roster = call.transcript.roster();
        let Ok(body) = AuthorityBody::from_tbs(tbs) else { return false };
        let Some(facts) = self.waiting_of(epoch).map(|waiting| &waiting.facts) else { return false };
        let now = self.clock.unwrap_or_default();
        let near = body.not_before().0.abs_diff(now.0) <= self.config.skew_seconds.saturating_mul(3);
        *body.key() == facts.key && near && roster.charter().name().as_str().starts_with(body.name())
    }

    /// `ADM-41`: the leader, who chooses among those that are ready, verifies each word at once; the others only those of hands that they
    /// get a seat beside.
    fn hear_ready(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        mut said: Ready,
    ) -> Result<(), AdmissionError> {
        let Some(table) = self.hands.tables.get_mut(&said.word.table) else { return Ok(()) };
        if said.key.len() != 32 || table.ready.len() >= SIGNERS_MAX {
            return Err(AdmissionError::PeerHand(sender, "a key of another kind, or too many hands"));
        }
        let me = call.identity.member();
        if me == table.leader || me == sender {
            said.prove(call.transcript, &sender)?;
        }
        if me == sender && !table.ready.contains_key(&me) && !table.has_key(&said.key) {
            // Said so long ago, or before a restart, that the key is gone: whatever is sealed to it, nobody opens.
            self.hands.tables.remove(&said.word.table);
            self.trace("a table was heard of too late".to_owned());
            return Ok(());
        }
        match table.ready.get_mut(&sender) {
            // The first word of a hand alone moves the table: nobody keeps one open by saying it again.
            None => {
                table.ready.insert(sender, said);
                table.moved = call.now;
            }
            // Of two words the first that it has signed: nobody takes a hand's place by speaking in its name before it.
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

    /// `ADM-44`: the leader names hands that are ready, sorted, each once.
    fn hear_seats(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        name: Digest,
        seats: Seats,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        let Some(table) = self.hands.tables.get(&name) else { return Ok(()) };
        let sorted = |hands: &[MemberId]| hands.is_sorted_by(|a, b| a < b);
        let legal = sorted(&seats.givers) && sorted(&seats.takers);
        let ready = seats.all().iter().all(|hand| table.ready.contains_key(hand));
        let dealt = matches!(table.purpose, Purpose::Deal { .. });
        if sender != table.leader || !legal || !ready || seats.givers.is_empty() != dealt {
            return Err(AdmissionError::PeerHand(
                sender,
                "seats that are not its to give, or of hands not ready",
            ));
        }
        if table.seats.is_some() && sender != call.identity.member() {
            // The first that it gave are the table's.
            return Ok(());
        }
        if let Err(why) = self.judge_seats(call, table, &seats) {
            return self.refuse_seats(call, sender, name, why);
        }
        let lied = |hand: &MemberId| self.hands.liars.contains_key(hand);
        if !table.purpose.gives_shares() && seats.all().iter().any(lied) {
            // With one that was proven to lie nobody signs; the leader will see that nothing comes of it.
            self.hands.tables.remove(&name);
        } else if table.seats.is_none() {
            self.seat(call, name, seats, entropy);
        } else {
            self.own_seats(call, name, entropy);
        }
        Ok(())
    }

    /// The table is over. A leader whose roster moved between its choice and the seats' place calls to another at once.
    fn refuse_seats(
        &mut self,
        call: &Call<'_>,
        leader: MemberId,
        name: Digest,
        why: &'static str,
    ) -> Result<(), AdmissionError> {
        let over = self.hands.tables.remove(&name);
        if leader != call.identity.member() {
            return Err(AdmissionError::PeerHand(leader, why));
        }
        if over.is_some_and(|table| table.purpose.makes_sharing()) {
            self.hands.wanted = self.hands.wanted.map(|_| call.now);
        }
        self.trace(format!("seats that fit no more: {why}"));
        Ok(())
    }

    /// The seats that we gave have their place in the order: words of the run count from here on, here as everywhere.
    fn own_seats(&mut self, call: &Call<'_>, name: Digest, entropy: &mut dyn Entropy) {
        let Some(table) = self.hands.tables.get_mut(&name) else { return };
        table.seated = true;
        if table.run.is_some() && !table.begun {
            self.arrange_step(call, name, Step::Begin, entropy);
        }
    }

    /// The run is fixed; who has a seat begins.
    pub(crate) fn seat(&mut self, call: &Call<'_>, name: Digest, seats: Seats, entropy: &mut dyn Entropy) {
        let me = call.identity.member();
        let Some(table) = self.hands.tables.get_mut(&name) else { return };
        if table.seats.is_some() {
            return;
        }
        table.seats = Some(seats.clone());
        table.seated = table.leader != me;
        table.answers = None;
        let (purpose, leader) = (table.purpose.word(), table.leader);
        table.moved = call.now;
        // Whoever leads a run that can be watched takes what it comes to, without a seat of its own.
        let watches = table.leader == me && matches!(table.purpose, Purpose::Multi { .. });
        if !seats.all().contains(&me) && !watches {
            // Its leader waits to hear what comes of it; the others let those seated have their time.
            if table.leader != me {
                let shares = table.purpose.makes_sharing();
                self.hands.tables.remove(&name);
                if shares && self.hands.wanted.is_some() {
                    let turn = turn(call.transcript.roster(), &me);
                    self.hands.wanted = Some(call.now + PATIENCE + turn);
                }
            }
            return;
        }
        let ours = table.ready.get(&me).is_none_or(|ready| table.has_key(&ready.key));
        if let Err(error) = prove_all(call, table, &seats) {
            self.trace(format!("a seat beside one who did not say so: {error}"));
            self.hands.tables.remove(&name);
            return;
        }
        if !ours {
            self.trace("a seat by a key that is gone".to_owned());
            self.hands.tables.remove(&name);
            return;
        }
        if matches!(table.purpose, Purpose::Deal { .. }) {
            return self.ask_to_deal(call, name);
        }
        let run = self.make_run(call, &name, &seats);
        match run {
            Some(run) => {
                self.trace(format!("sits at a table: {purpose}"));
                if let Some(table) = self.hands.tables.get_mut(&name) {
                    table.heard = run_id(&name, table, &seats).0;
                    table.run = Some(run);
                }
                // What its leader says is to be on its way before what takes long: it begins when it hears itself.
                if leader != me || !call.transcript.roster().charter().scheme().takes_long() {
                    self.arrange_step(call, name, Step::Begin, entropy);
                }
            }
            None => {
                self.trace("a seat at a table whose run cannot be begun here".to_owned());
                self.hands.tables.remove(&name);
            }
        }
    }
}

/// `ADM-41` for the hands that are seated.
fn prove_all(call: &Call<'_>, table: &mut Table, seats: &Seats) -> Result<(), AdmissionError> {
    let seated = seats.all();
    let mut ready = table.ready.iter_mut().filter(|(hand, _)| seated.contains(*hand));
    ready.try_for_each(|(hand, ready)| ready.prove(call.transcript, hand))
}
