//! The dealer: it deals shares of the group's key to the members that are ready to take them. Each
//! share is sealed to its holder.

use super::machine::{Authority, Call, Last, Wish};
use super::message::{AuthorityMessage, Dealt, SignedReady, dealt_info};
use crate::message::ADMISSION_BYTES_MAX;
use crate::roster::{is_dealers, wants_sharing};
use crate::{AdmissionError, Output, PrivateMessage, SignerBody};
use core::time::Duration;
use folkmoot_base::sealing::{Classic, seal};
use folkmoot_base::{Blob, Entropy, MemberId, codec};
use folkmoot_identity::Dealer;
use folkmoot_signing::{SIGNERS_MAX, shared};
use folkmoot_transcript::Roster;
use std::collections::BTreeSet;

/// Time between two deals.
const DEAL_PAUSE: Duration = Duration::from_secs(2);
/// How much a member adds when it passes on what was dealt.
const PASSED_ON_BYTES: usize = 256;

impl Authority {
    /// `ADM-65`, `ADM-66`: a voter asks the dealer to deal to those who are ready in its signing
    /// session.
    pub(super) fn hear_deal(
        &mut self,
        call: &Call<'_>,
        asker: MemberId,
        wish: Wish<'_>,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        let roster = call.transcript.roster();
        let refuse = |what| AdmissionError::PeerDeal(asker, what);
        // The cheapest checks come first: a voter may ask as often as it is heard, and a deal of
        // Shoup's scheme takes long.
        self.is_wanted(roster, asker, wish).map_err(refuse)?;
        let again =
            self.dealt.as_ref().filter(|last| last.session == *wish.session).map(|last| last.dealt.clone());
        if again.is_none() && self.tried.is_some_and(|at| call.now.since(at) < DEAL_PAUSE) {
            return Err(refuse("the last deal was less than 2 s ago"));
        }
        let keys = check_ready(call, asker, wish)?;
        if let Some(dealt) = again {
            // The answer was lost on its way: it is sent again.
            self.tell(asker.node(), &AuthorityMessage::Dealt { session: *wish.session, dealt });
            return Ok(());
        }
        self.tried = Some(call.now);
        let dealt = self.deal(call, asker, wish, &keys, entropy)?;
        self.dealt = Some(Last { session: *wish.session, dealt: dealt.clone() });
        self.tell(asker.node(), &AuthorityMessage::Dealt { session: *wish.session, dealt });
        Ok(())
    }

    /// `ADM-66`: whether, by our own transcript, there is something to deal and a deal is called
    /// for.
    fn is_wanted(&self, roster: &Roster, asker: MemberId, wish: Wish<'_>) -> Result<(), &'static str> {
        let charter = roster.charter();
        if charter.central().and_then(|central| central.dealer).is_none() {
            return Err("this group's authority deals no shares");
        }
        if !roster.may_vote(&asker) {
            return Err("the asker has no vote");
        }
        let Some(key) = self.group_key.as_ref().filter(|_| self.office.secret.is_some()) else {
            return Err("the secret is erased");
        };
        if !is_dealers(roster) {
            return Err("the shares were dealt once, and are the members' now");
        }
        if roster.sharing().is_some_and(|now| now.facts.key != *key) {
            return Err("the group's key is not the one that this authority deals");
        }
        if !wants_sharing(roster, &asker) {
            return Err("the sharing is as it should be");
        }
        let threshold = u32::try_from(roster.threshold()).unwrap_or(u32::MAX);
        if wish.threshold == threshold { Ok(()) } else { Err("the threshold is not the charter's") }
    }

    fn deal(
        &self,
        call: &Call<'_>,
        asker: MemberId,
        wish: Wish<'_>,
        keys: &[(MemberId, Blob)],
        entropy: &mut dyn Entropy,
    ) -> Result<Dealt, AdmissionError> {
        let refuse = |what| AdmissionError::PeerDeal(asker, what);
        let (scheme, me) = (call.transcript.roster().charter().scheme(), call.identity.member());
        let secret = self.office.secret.as_ref().ok_or(refuse("the secret is erased"))?;
        let holders: Vec<MemberId> = keys.iter().map(|(holder, _)| *holder).collect();
        let threshold = usize::try_from(wish.threshold).unwrap_or(usize::MAX);
        let dealt = shared::deal(scheme, secret, threshold, &holders, entropy);
        let dealt = dealt.map_err(|_| refuse("the scheme cannot deal to these signers"))?;
        let mut to_each = Vec::with_capacity(keys.len());
        for ((to, key), (_, share)) in keys.iter().zip(&dealt.shares) {
            let sealed = seal::<Classic>(&key.0, &dealt_info(wish.session, &me, to), share.expose(), entropy);
            let sealed = sealed.ok_or(AdmissionError::PeerDeal(*to, "its one-time key is malformed"))?;
            to_each.push(PrivateMessage { to: *to, sealed });
        }
        let dealt =
            Dealt::sign(call.transcript, call.identity, wish.session, Blob::from(dealt.public), to_each);
        let size = codec::encode(&dealt).len().saturating_add(PASSED_ON_BYTES);
        if size > ADMISSION_BYTES_MAX {
            return Err(refuse("there are more holders than one message has room for"));
        }
        Ok(dealt)
    }

    /// `ADM-66`: a dealer that is for the set-up only has no secret once the group has the key.
    pub(super) fn erase_secret(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        if self.office.secret.is_none() {
            return;
        }
        let once =
            roster.charter().central().is_some_and(|central| central.dealer == Some(Dealer::SetupOnly));
        let in_use = roster.sharing().is_some_and(|now| Some(&now.facts.key) == self.group_key.as_ref());
        if once && in_use {
            let persist = self.office.erase();
            self.dealt = None;
            self.out.push_back(Output::Persist(persist));
            self.trace("the shares are in use: the dealer's secret is erased".to_owned());
        }
    }
}

/// `ADM-65`: the one-time keys of those who are ready. They must be voters, sorted, each by its own
/// message in this session, the asker among them, as many as sign and a quorum.
fn check_ready(
    call: &Call<'_>,
    asker: MemberId,
    wish: Wish<'_>,
) -> Result<Vec<(MemberId, Blob)>, AdmissionError> {
    let roster = call.transcript.roster();
    let refuse = |what| Err(AdmissionError::PeerDeal(asker, what));
    if wish.ready.len() > SIGNERS_MAX || !wish.ready.is_sorted_by(|a, b| a.member < b.member) {
        return refuse("the signers are not sorted, one is named twice, or there are too many");
    }
    let all: BTreeSet<MemberId> = wish.ready.iter().map(|ready| ready.member).collect();
    let threshold = usize::try_from(wish.threshold).unwrap_or(usize::MAX);
    if all.len() < roster.charter().scheme().signers(threshold) || !roster.is_quorum(&all) {
        return refuse("the signers are too few to sign, or are not a quorum");
    }
    if !all.contains(&asker) {
        return refuse("the asker is not among the signers");
    }
    let mut keys = Vec::with_capacity(wish.ready.len());
    for SignedReady { member, message } in wish.ready {
        let SignerBody::Ready { key } = &message.body else {
            return refuse("a message does not say that its signer is ready");
        };
        if message.session != *wish.session || key.0.len() != 32 {
            return refuse("a message belongs to another signing session, or its key is of another kind");
        }
        if !roster.may_vote(member) {
            return refuse("a share would go to somebody who has no vote");
        }
        message.verify(call.transcript, member)?;
        keys.push((*member, key.clone()));
    }
    Ok(keys)
}
