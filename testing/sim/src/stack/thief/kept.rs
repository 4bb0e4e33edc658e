//! What somebody has kept that is over: a certificate whose approvals ran out while the group
//! rested, and approvals of lists, electorates and roles that name a key which was expelled since.

use super::forger::{Forger, LIFE_SECONDS};
use super::friends::{Word, proof};
use bytes::Bytes;
use folkmoot_base::{Blob, MemberId, UnixTime};
use folkmoot_identity::{Gmc, GmcBody, Identity, Scheme, Verdict};
use folkmoot_transcript::{
    Change, Effect, Force, Item, PAST_SAID_SECONDS, SignedApproval, State, Transcript, admission,
};

/// How far clocks are past an end before whoever shows it lies, in seconds: no honest clock is as
/// far behind ([`crate::takeover`]).
const OVER_SECONDS: u64 = PAST_SAID_SECONDS + 400;
/// For how long before that approvals may have run out.
const AGES: [u64; 4] = [0, 3_600, 86_400, 30 * 86_400];
/// Days of the term of whoever comes with a certificate: only its approvals are over.
const TERM_DAYS: u32 = 300;

impl Forger {
    /// A stranger, or somebody who was expelled, comes with a certificate that enough voters
    /// approved over the head of now. It is shown at once, or late: its approvals after it. Or it
    /// lies in its own store, for whoever asks for what that has: of a
    /// late one the certificate alone is shown.
    pub(super) fn kept(
        &mut self,
        clock: UnixTime,
        people: &[Identity],
        line: &mut Option<Transcript>,
    ) -> Vec<Bytes> {
        let Some(age) = self.newest() else { return Vec::new() };
        let stranger = self.strangers().first().cloned().filter(|_| self.rng.chance(400_000));
        let Some(who) = stranger.or_else(|| self.expelled(people)) else { return Vec::new() };
        let Some((ended, mut items)) = self.ran_out(clock, people, &who, &age) else { return Vec::new() };
        if self.rng.chance(300_000) {
            let mut store = age;
            items.iter().for_each(|item| drop(store.take(item, Some(ended))));
            *line = Some(store);
            // It is asked for the rest.
            items.truncate(1);
        }
        items
    }

    /// A certificate and its approvals, and when they ran out; none if the group has not rested.
    fn ran_out(
        &mut self,
        clock: UnixTime,
        people: &[Identity],
        who: &Identity,
        age: &Transcript,
    ) -> Option<(UnixTime, Vec<Bytes>)> {
        let state = age.state();
        if state.charter().scheme() != Scheme::Plain || age.roster().is_member(&who.member()) {
            return None;
        }
        let over = clock.0.checked_sub(OVER_SECONDS).filter(|over| *over > state.time().0)?;
        let ago = self.rng.pick(&AGES).copied().unwrap_or_default();
        let expires = UnixTime(over.saturating_sub(ago).max(state.time().0.saturating_add(1)));
        let begins = UnixTime(expires.0.saturating_sub(3_600));
        let body = GmcBody::propose(state.charter(), who, TERM_DAYS, begins, &mut self.rng);
        let body = body.over(state.head());
        let word = Word {
            at: age,
            subject: admission(body.request_digest().ok()?),
            expires,
            turn: 0,
            verdict: Verdict::Approve,
        };
        let yes: Vec<SignedApproval> = voters(state, people).map(|voter| word.of(voter)).collect();
        let late = self.rng.chance(400_000);
        let votes: Vec<_> = yes.iter().filter(|_| !late).filter_map(proof).collect();
        let gmc = Gmc::compose(&body, &votes, who).ok()?;
        let beside = if late { Vec::new() } else { yes.clone() };
        let admit = Item::Admit { certificate: Blob(gmc.der().clone()), approvals: beside };
        let items = [admit].into_iter().chain(yes.into_iter().filter(|_| late).map(Item::Approval));
        Some((expires, items.map(|item| item.encode().into()).collect()))
    }

    /// What voters once approved that names somebody who was expelled since: the electorate, the
    /// list, or a role.
    pub(super) fn named(&mut self, clock: UnixTime, people: &[Identity]) -> Vec<Bytes> {
        let (Some(who), Some(age)) = (self.expelled(people), self.age()) else { return Vec::new() };
        let state = age.state();
        if !age.roster().is_member(&who.member()) {
            return Vec::new();
        }
        let keys: Vec<MemberId> = match self.rng.chance(500_000) {
            true => vec![who.member()],
            false => voters(state, people).map(Identity::member).chain([who.member()]).collect(),
        };
        let Some(change) = self.names(keys) else { return Vec::new() };
        let effect = Effect { change, force: Force::No };
        let expires = UnixTime(clock.0.saturating_add(LIFE_SECONDS));
        let subject = effect.subject();
        let word = Word { at: &age, subject, expires, turn: 0, verdict: Verdict::Approve };
        let said = voters(state, people).map(|voter| Item::Approval(word.of(voter)));
        said.chain([Item::Effect(effect)]).map(|item| item.encode().into()).collect()
    }

    /// A change that names these keys.
    fn names(&mut self, mut keys: Vec<MemberId>) -> Option<Change> {
        keys.sort_unstable();
        keys.dedup();
        let field = ["electorate", "list", "roles.cook"].get(self.rng.below(3))?;
        if *field == "electorate" {
            return Some(Change::Electorate { voters: keys });
        }
        let value = keys.iter().map(MemberId::hex).collect::<Vec<_>>().join(",");
        let (field, value) = (Blob::from(field.as_bytes().to_vec()), Blob::from(value.into_bytes()));
        Some(Change::Charter { field, value })
    }
}

/// Those at the table who have a vote there.
fn voters<'a>(state: &'a State, people: &'a [Identity]) -> impl Iterator<Item = &'a Identity> {
    people.iter().filter(|one| state.may_vote(&one.member()))
}
