//! Shares that the charter's authority deals, and what the group's key signs where the authority signs the certificate.

use super::share::{Waiting, in_use};
use super::{Purpose, Say, Table};
use crate::authority::{Dealt, dealt_info};
use crate::desk::{Admission, Call};
use crate::requests::Open;
use crate::{AdmissionError, Event, Output};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, MemberId, Secret};
use folkmoot_identity::{Combined, Mode, Roster, SharedKey};
use folkmoot_signing::shared::{self, SharingFacts};

/// What hands sign under this share-epoch to grant a request: its certificate, or, where the authority signs that, the request.
pub(super) fn certified(roster: &Roster, open: &Open, now: &SharedKey, epoch: Digest) -> Option<Vec<u8>> {
    let body = open.request.body();
    match roster.charter().mode() {
        Mode::Centralised => body.combined_message(&epoch).ok(),
        Mode::Decentralised => body.issued_under(epoch).issued_tbs(&now.facts.key).ok(),
    }
}

impl Admission {
    /// A table's leader passes on what the authority dealt, once, if those at the table would take it.
    pub(crate) fn pass_on_dealt(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        dealt: Dealt,
    ) -> Result<(), AdmissionError> {
        let leads = |table: &&mut Table| table.leader == call.identity.member() && !table.passed_on;
        let Some(table) = self.hands.tables.get_mut(&name).filter(leads) else { return Ok(()) };
        judge(call, &name, table, &dealt)?;
        table.passed_on = true;
        // The leader takes its own share from its own word, at its place in the order, like everybody.
        self.say_hand(call, name, Say::Dealt { dealt });
        Ok(())
    }

    /// `ADM-58`: what one of the authority's nodes dealt to exactly those at the table, of the key that there is.
    pub(crate) fn hear_dealt(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        name: Digest,
        dealt: Dealt,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        let Some(table) = self.hands.tables.get(&name) else { return Ok(()) };
        if sender != table.leader {
            return Err(AdmissionError::PeerDealt("not by the leader of the table"));
        }
        let (facts, dealer) = judge(call, &name, table, &dealt)?;
        let share = self.my_share(call, &name, &dealt, dealer);
        self.hands.tables.remove(&name);
        match share {
            Some(share) => {
                let public = dealt.public.0;
                let after = in_use(call.transcript.roster()).unwrap_or_default();
                let (share, authority) = (Some(share), Some(Bytes::new()));
                let waiting = Waiting { facts, after, public, share, authority };
                self.keep_waiting(call, waiting, entropy);
            }
            None => {
                self.trace("the authority dealt a share that does not fit".to_owned());
                self.out.push_back(Output::Event(Event::HandLied { member: dealer }));
            }
        }
        if sender == call.identity.member() {
            self.hands.wanted = self.hands.wanted.map(|_| call.now);
        }
        Ok(())
    }

    fn my_share(
        &self,
        call: &Call<'_>,
        name: &Digest,
        dealt: &Dealt,
        dealer: MemberId,
    ) -> Option<Secret<Vec<u8>>> {
        let me = call.identity.member();
        let key = self.hands.tables.get(name)?.key.as_ref()?;
        let whisper = dealt.to_each.iter().find(|whisper| whisper.to == me)?;
        let share = Secret::new(key.open(&dealt_info(name, &dealer, &me), &whisper.sealed)?);
        let scheme = call.transcript.roster().charter().scheme();
        shared::check_share(scheme, &dealt.public.0, &me, &share).ok()?;
        Some(share)
    }

    /// The group's key has signed a request: on to the authority.
    pub(crate) fn take_combined(&mut self, call: &Call<'_>, request: Digest, signature: &[u8]) {
        let Some(now) = call.transcript.roster().sharing() else { return };
        let Some(open) = self.requests.get(&request) else { return };
        let Ok(message) = open.request.body().combined_message(&now.facts.epoch) else { return };
        if now.facts.key.verify_raw(&message, signature).is_err() {
            return self.trace("the group's signature does not stand".to_owned());
        }
        let (me, done) = (call.identity.member(), Purpose::Certify { request });
        self.hands.tables.retain(|_, table| table.leader != me || table.purpose != done);
        let combined = Combined { epoch: now.facts.epoch, signature: signature.to_vec() };
        self.central.combined.entry(request).or_insert(combined);
        self.answer(call, &request);
    }
}

/// `ADM-58`: what such a sharing is, and whose, if it was dealt to this table and fits it.
fn judge(
    call: &Call<'_>,
    name: &Digest,
    table: &Table,
    dealt: &Dealt,
) -> Result<(SharingFacts, MemberId), AdmissionError> {
    let refuse = |what| Err(AdmissionError::PeerDealt(what));
    let (Purpose::Deal { threshold }, Some(seats)) = (&table.purpose, &table.seats) else {
        return refuse("at a table where nothing is dealt");
    };
    let Some(dealer) = dealt.dealer(call.transcript, name) else {
        return refuse("not signed by the charter's authority");
    };
    match fair(call.transcript.roster(), dealt, *threshold, &seats.takers) {
        Some(facts) => Ok((facts, dealer)),
        None => refuse("another key, threshold, or other holders"),
    }
}

/// The sharing's facts, if it is of this threshold, to these holders, of the key that there is, if there is one.
fn fair(roster: &Roster, dealt: &Dealt, threshold: u32, takers: &[MemberId]) -> Option<SharingFacts> {
    let facts = shared::facts(roster.charter().scheme(), &dealt.public.0).ok()?;
    let same_key = roster.sharing().is_none_or(|now| now.facts.key == facts.key);
    let fits = usize::try_from(threshold) == Ok(facts.threshold) && facts.holders == takers;
    (same_key && fits).then_some(facts)
}
