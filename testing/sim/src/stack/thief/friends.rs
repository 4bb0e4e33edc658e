//! What friends of an expelled member once signed for it, honestly or not: none of it counts any
//! more, or never did. Whoever was expelled shows it all the same.

use super::forger::{Forger, LIFE_SECONDS};
use bytes::Bytes;
use folkmoot_base::{Blob, MemberId, UnixTime};
use folkmoot_identity::{Gmc, GmcBody, Identity, Scheme, Signature, Verdict, VoteProof};
use folkmoot_transcript::{Approval, Item, SignedApproval, Subject, Transcript, admission};

/// So many voters at least, where some object: then some who do are there still when it is read.
const OBJECTED_MIN: usize = 4;

/// Why what its friends signed does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// They signed before the expulsion.
    Before,
    /// They had no vote then.
    NoVote,
    /// It had run out when the decision was made that they signed over.
    RanOut,
    /// They took it back.
    TakenBack,
    /// Others object, as many as the charter asks for.
    Objected,
}

impl Forger {
    /// A second admission of somebody who was expelled, by what its friends signed over some age.
    /// What they took back, or others objected to, is shown to those only who hear of both at once
    /// and pass on neither: who knows the decision that they were signed over (`knows`). Anybody
    /// else lacks the base of the second word, and waits with the first until it is decided.
    pub(super) fn comeback(
        &mut self,
        clock: UnixTime,
        people: &[Identity],
        knows: Option<u64>,
    ) -> Vec<Bytes> {
        let flaws = [Flaw::Before, Flaw::NoVote, Flaw::RanOut, Flaw::TakenBack, Flaw::Objected];
        let flaws = flaws.get(..if knows.is_some() { 5 } else { 3 }).unwrap_or_default();
        let Some(flaw) = self.rng.pick(flaws).copied() else { return Vec::new() };
        // Whoever objects has a vote now.
        let age = if flaw == Flaw::Objected { self.newest() } else { self.age() };
        let (Some(who), Some(age)) = (self.expelled(people), age) else { return Vec::new() };
        let objects = matches!(flaw, Flaw::TakenBack | Flaw::Objected);
        if objects && knows.is_none_or(|number| number < age.state().head().number) {
            return Vec::new();
        }
        self.second(clock, people, &who, &age, flaw).unwrap_or_default()
    }

    pub(super) fn expelled(&mut self, people: &[Identity]) -> Option<Identity> {
        let stolen: Vec<&Identity> = people.iter().filter(|one| self.has(&one.member())).collect();
        self.rng.pick(&stolen).map(|one| (*one).clone())
    }

    fn second(
        &mut self,
        clock: UnixTime,
        people: &[Identity],
        who: &Identity,
        age: &Transcript,
        flaw: Flaw,
    ) -> Option<Vec<Bytes>> {
        let (state, members) = (age.state(), age.roster());
        // Somebody without a clock may have let it in since.
        let in_it = members.is_member(&who.member()) && state.removed_at(&who.member()) == 0;
        if state.charter().scheme() != Scheme::Plain || (flaw == Flaw::Before) != in_it {
            return None;
        }
        let signs = |friend: &&Identity| {
            let votes = state.may_vote(&friend.member());
            members.is_member(&friend.member()) && votes != (flaw == Flaw::NoVote)
        };
        let friends: Vec<&Identity> = people.iter().filter(signs).collect();
        let (yes, no): (&[&Identity], &[&Identity]) = match flaw {
            Flaw::Objected if friends.len() < OBJECTED_MIN => return None,
            Flaw::Objected => friends.split_at(state.threshold().min(2)),
            Flaw::TakenBack => (&friends, &friends),
            _ => (&friends, &[]),
        };
        let over = UnixTime(state.time().0.checked_sub(1)?);
        let (begins, expires) = match flaw {
            Flaw::RanOut => (over, over),
            _ => (clock, UnixTime(clock.0.saturating_add(LIFE_SECONDS))),
        };
        let body = GmcBody::propose(state.charter(), who, 3, begins, &mut self.rng).over(state.head());
        let request = body.request_digest().ok()?;
        let say = |friends: &[&Identity], turn, verdict| {
            let word = Word { at: age, subject: admission(request), expires, turn, verdict };
            friends.iter().map(|friend| word.of(friend)).collect::<Vec<_>>()
        };
        let yes = say(yes, 0, Verdict::Approve);
        let gmc = Gmc::compose(&body, &yes.iter().filter_map(proof).collect::<Vec<_>>(), who).ok()?;
        let no = say(no, 1, Verdict::Reject);
        let admit = Item::Admit { certificate: Blob(gmc.der().clone()), approvals: yes };
        let items = no.into_iter().map(Item::Approval).chain([admit]);
        Some(items.map(|item| item.encode().into()).collect())
    }

    fn has(&self, member: &MemberId) -> bool {
        self.keys.contains_key(member)
    }
}

/// What a friend says of something.
pub(super) struct Word<'a> {
    pub(super) at: &'a Transcript,
    pub(super) subject: Subject,
    pub(super) expires: UnixTime,
    pub(super) turn: u32,
    pub(super) verdict: Verdict,
}

impl Word<'_> {
    pub(super) fn of(&self, friend: &Identity) -> SignedApproval {
        let (voter, base) = (friend.member(), self.at.state().head());
        let Self { subject, expires, turn, verdict, .. } = *self;
        let approval = Approval { voter, base, subject, turn, verdict, expires };
        SignedApproval::sign(friend.key(), self.at.group(), approval)
    }
}

/// An approval as a certificate carries it.
pub(super) fn proof(signed: &SignedApproval) -> Option<VoteProof> {
    let Approval { voter, base, turn, expires, .. } = signed.approval;
    let signature = Signature::from_wire(&signed.signature).ok()?;
    Some(VoteProof { voter, base, turn, expires, signature })
}
