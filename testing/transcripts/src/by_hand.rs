//! Decisions that all voters sign, whatever their programs and clocks would say.

use crate::Group;
use crate::forge::line::resign;
use crate::group::Drawn;
use folkmoot_base::{SignatureBytes, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Approved, Batch, Change, Commit, Decision, Effect, HOLDS_MAX, Item, Proof, Proposal, Stage, Standing,
};

impl Group {
    /// The next decision, of this time, with these changes and whatever may be held. Whether it
    /// stands.
    pub(crate) fn decide_by_hand(&mut self, changes: Vec<Change>, time: u64) -> Drawn<bool> {
        let effects: Vec<Approved> =
            changes.into_iter().map(|change| self.approved(change, time)).collect::<Drawn<_>>()?;
        let (state, set) = (self.transcript.state(), self.transcript.set());
        let time = UnixTime(time);
        let holds = set.holdable(state, time).into_iter().take(HOLDS_MAX).collect();
        let batch = Batch { time, effects, holds, refusals: Vec::new() };
        let Ok((decision, _)) = state.decide(batch, |request| set.admit(request)) else { return Ok(false) };
        let standing = self.signed_by_all(decision);
        Ok(self.take(&Item::Decision(standing)).advanced)
    }

    /// A change with the approvals of all voters.
    fn approved(&self, change: Change, time: u64) -> Drawn<Approved> {
        let effect = Effect::from(change);
        let mut proofs = Vec::new();
        for voter in self.voters() {
            let signed = self.approval(voter, effect.subject(), (0, Verdict::Approve, time))?;
            let (base, turn, expires) = (signed.approval.base, 0, signed.approval.expires);
            proofs.push(Proof { voter, base, turn, expires, signature: signed.signature });
        }
        Ok(Approved { effect, proofs })
    }

    /// A decision after the head that all voters have committed to in ballot 0.
    fn signed_by_all(&self, decision: Decision) -> Standing {
        let signature = SignatureBytes::NONE;
        let commit = |voter| Commit { voter, signature: signature.clone() };
        let commits = self.voters().into_iter().map(commit).collect();
        let stage = Stage { ballot: 0, promises: Vec::new(), signature: signature.clone() };
        let mut standing = Standing { proposal: Proposal { decision, stages: vec![stage] }, commits };
        resign(self, &mut standing, &self.transcript.state().electorate());
        standing
    }
}
