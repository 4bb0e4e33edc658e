//! What liars do with what is over: approvals and certificates that they have kept, proposals of an
//! earlier time, packages with a part left out.

use crate::liar::committed;
use crate::node::{Fault, Node, START};
use crate::people::signature;
use crate::wishes::named;
use crate::world::{DAY, World};
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_transcript::{
    Approved, Batch, Decision, Head, Line, Proof, Proposal, Signed, Stage, Standing, State, Subject,
};
use std::collections::BTreeMap;

impl World<'_> {
    /// The owner of a ballot signs a proposal now, of whatever time it likes, and reports to all
    /// that it has committed to that.
    pub(crate) fn late_report(&mut self, owner: MemberId, target: usize) -> Result<(), Fault> {
        let Some(node) = self.nodes.get(target) else { return Ok(()) };
        let state = node.state().clone();
        let Some(ballot) = (0..3).find(|ballot| state.owner(*ballot) == owner) else { return Ok(()) };
        let Some(decision) = self.old_decision(&state, target) else { return Ok(()) };
        let mut promises = if ballot == 0 { Vec::new() } else { self.promises(&state, ballot) };
        promises.retain(|promise| promise.report.is_none());
        let stages = vec![Stage { ballot, promises, signature: signature() }];
        let proposal = Proposal { decision, stages };
        let told = self.proposed(proposal.clone());
        for honest in 0..self.honest {
            self.tell(honest, told.clone())?;
        }
        self.report(owner, &proposal)
    }

    /// A decision of a time since the last one, with approvals that somebody has kept.
    pub(crate) fn old_decision(&mut self, state: &State, target: usize) -> Option<Decision> {
        let last = state.time().0.max(START);
        let age = *self.dice.pick(&[0, 200, 2 * DAY, 300 * DAY]).unwrap_or(&0);
        let time = UnixTime((START + self.seconds).saturating_sub(age).max(last));
        let mut batch = Batch { time, ..Batch::default() };
        if self.dice.chance(70) {
            batch.effects.extend(self.old_effect(state, time));
        }
        if self.dice.chance(50) {
            let open: Vec<Digest> =
                self.nodes.get(target)?.set().admits().map(|admit| admit.request).collect();
            batch.holds.extend(self.dice.pick(&open));
        }
        let contents = &self.contents;
        state.decide(batch, |request| contents.get(request)).ok().map(|(decision, _)| decision)
    }

    /// An effect with every yes of its voters that was ever given and would count at this time.
    fn old_effect(&mut self, state: &State, time: UnixTime) -> Option<Approved> {
        let subjects: Vec<Subject> = self.kept.keys().copied().collect();
        let (effect, kept) = self.kept.get(self.dice.pick(&subjects)?)?;
        let mut proofs: BTreeMap<MemberId, Proof> = BTreeMap::new();
        let counts = |signed: &&Signed| state.counts(&signed.approval, 0, time).is_ok();
        for signed in kept.iter().filter(|signed| signed.approval.is_yes()).filter(counts) {
            proofs.insert(signed.approval.voter, Proof::of(&signed.approval, signature()));
        }
        Some(Approved { effect: effect.clone(), proofs: proofs.into_values().collect() })
    }

    /// Somebody comes with a certificate that it has kept, whatever became of the votes in it.
    pub(crate) fn show_kept(&mut self, target: usize) {
        let requests = self.contents.requests();
        let Some(request) = self.dice.pick(&requests) else { return };
        let (seconds, contents) = (self.seconds, &self.contents);
        let (Some(node), Some(admit)) = (self.nodes.get_mut(target), contents.get(request)) else { return };
        node.take_admit(admit, seconds);
        contents.yes(request).iter().for_each(|signed| node.take_approval(signed.clone(), seconds));
        node.ask(seconds);
    }

    /// Somebody shows again what was approved once: old lists, electorates, roles.
    pub(crate) fn say_again(&mut self, target: usize) {
        let subjects: Vec<Subject> = self.kept.keys().copied().collect();
        let Some(subject) = self.dice.pick(&subjects) else { return };
        let (Some(node), Some((effect, kept))) = (self.nodes.get_mut(target), self.kept.get(subject)) else {
            return;
        };
        kept.iter().for_each(|signed| node.take_approval(signed.clone(), self.seconds));
        node.take_effect(effect);
    }

    /// A newcomer is shown a line of which one electorate is left out: by those who were a quorum
    /// under the one before, if their keys are stolen.
    pub(crate) fn leave_out_handovers(&self, node: &Node) -> Result<(), Fault> {
        let Some((mut handovers, last)) = node.line.handovers_since(0) else { return Ok(()) };
        for place in 0..handovers.len() {
            let mut newcomer = Line::founded(node.state().founding_charter().clone());
            newcomer.endanger(self.danger);
            let left = handovers.remove(place);
            let mut shown: Vec<Standing> = handovers.iter().chain([&last]).cloned().collect();
            if let Some(next) = shown.get_mut(place)
                && let Some(before) = self.records.state(&left.proposal.parent())
                && before.is_quorum(&self.stolen)
                && let Some(signed) = committed(next.proposal.decision.clone(), before, &self.stolen)
            {
                *next = signed;
            }
            let Some((last, shown)) = shown.split_last() else { continue };
            if newcomer.skip(shown, last, node.state().clone()).is_ok() {
                return Err(format!("a line without its electorate of {} is taken", left.head()));
            }
            handovers.insert(place, left);
        }
        Ok(())
    }

    /// Notes what was said since somebody last looked, as liars do.
    pub(crate) fn note_approvals(&mut self) {
        let said: Vec<Signed> =
            self.nodes.iter_mut().flat_map(|node| std::mem::take(&mut node.fresh)).collect();
        for signed in said {
            let subject = signed.approval.subject;
            let (base, yes): (Head, bool) = (signed.approval.base, signed.approval.is_yes());
            if let Some(admit) = self.contents.get(&subject.digest) {
                if yes {
                    self.wanted.entry(admit.member).or_default().insert(base);
                    self.contents.add_yes(&signed);
                }
                continue;
            }
            let effect = self.nodes.iter().find_map(|node| node.set().effect(&subject)).cloned();
            let kept = match (self.kept.get_mut(&subject), effect) {
                (Some(kept), _) => kept,
                (None, Some(effect)) => self.kept.entry(subject).or_insert((effect, Vec::new())),
                (None, None) => continue,
            };
            let admit = named(&kept.0.change).and_then(|request| self.contents.get(&request));
            if let Some(admit) = admit.filter(|_| yes) {
                self.wanted.entry(admit.member).or_default().insert(base);
            }
            if !kept.1.iter().any(|known| known.approval == signed.approval) {
                kept.1.push(signed);
            }
        }
        for node in self.nodes.iter_mut().take(self.honest) {
            self.judged.append(&mut node.judged.drain(..).collect());
        }
    }
}
