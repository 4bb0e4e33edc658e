//! What is here, by name, and what somebody else lacks of it.

use super::Transcript;
use crate::Signed;
use crate::item::{Item, SignedApproval, admit_name, past_name, refusal_name};
use bytes::Bytes;
use folkmoot_base::{Digest, Head, MemberId, UnixTime};
use std::collections::BTreeSet;

impl Transcript {
    /// The names of everything in the set, sorted: what somebody has, for [`Self::lacking`].
    pub fn have(&self) -> BTreeSet<Digest> {
        let set = self.set();
        let admits = set.admits().flat_map(|admit| {
            let epochs = admit.epochs.iter().map(|epoch| admit_name(&admit.request, Some(epoch)));
            epochs.chain([admit.request])
        });
        let approvals = set.approvals().map(|signed| signed.approval.digest());
        let effects = set.effects().map(|effect| effect.subject().digest);
        let sides = self.sides();
        let refusals = set.refusals().map(refusal_name);
        let past = self.past().map(past_name);
        admits.chain(approvals).chain(effects).chain(refusals).chain(past).chain(sides).collect()
    }

    /// Every item that is kept: of the set, and of the admissions that the state holds.
    pub fn items(&self) -> impl Iterator<Item = Bytes> {
        let open = self.set_items(&BTreeSet::new()).into_iter().map(|(_, item)| item);
        let held = self.papers.keys().filter(|request| self.set().admit(request).is_none());
        let sides = self.sides_wanted().map(|(_, item)| item);
        open.chain(held.flat_map(|request| self.papers(request)).cloned()).chain(sides)
    }

    /// The certificate by which `member` is, or was, a member: none for a founder, and of those who
    /// are members no more while it is still kept.
    pub fn certificate_of(&self, member: &MemberId) -> Option<Bytes> {
        let held = self.roster.member(member).or_else(|| self.roster.former(member).map(|one| &one.held))?;
        let item = self.papers(&held.request).next()?;
        let Ok(Item::Admit { certificate, .. }) = Item::decode(item) else { return None };
        Some(certificate.0)
    }

    /// What somebody at this head who has this lacks, in an order in which it can be taken:
    /// decisions with the admissions that they hold, then the set. At most `bytes_max` bytes, but
    /// one item at least, if any. Empty: it lacks nothing, or is on another line.
    pub fn lacking(&self, head: Head, have: &BTreeSet<Digest>, bytes_max: usize) -> Vec<Bytes> {
        let mut out: Vec<Bytes> = Vec::new();
        let mut room = bytes_max;
        let mut push = |item: Bytes| {
            let fits = out.is_empty() || item.len() <= room;
            if fits {
                room = room.saturating_sub(item.len());
                out.push(item);
            }
            fits
        };
        let line = self.line.decisions().range(head.number.saturating_add(1)..);
        for (_, standing) in line {
            let decision = &standing.proposal.decision;
            for (name, paper) in decision.requests().flat_map(|one| self.shown(one, have)) {
                if !have.contains(&name) && !push(paper) {
                    return out;
                }
            }
            for (name, proof) in decision.holds.iter().flat_map(|one| self.approvals_of(one)) {
                if !have.contains(&name) && !push(proof) {
                    return out;
                }
            }
            if !push(Item::Decision(standing.clone()).encode().into()) {
                return out;
            }
        }
        for (name, item) in self.set_items(have).into_iter().chain(self.sides_wanted()) {
            if !have.contains(&name) && !push(item) {
                return out;
            }
        }
        out
    }

    /// The yeses to a request that are here still: whoever applies a decision that holds it asks
    /// for them.
    fn approvals_of(&self, request: &Digest) -> Vec<(Digest, Bytes)> {
        self.set().given(request).filter_map(approval_item).collect()
    }

    /// The set as items, each with its name, in an order in which they can be taken. Nothing of
    /// other lines is among them.
    pub(crate) fn set_items(&self, have: &BTreeSet<Digest>) -> Vec<(Digest, Bytes)> {
        let set = self.set();
        let mut items: Vec<(Digest, Bytes)> = Vec::new();
        for admit in set.admits() {
            items.extend(self.shown(&admit.request, have));
        }
        items.extend(set.approvals().filter_map(approval_item));
        let effects = set.effects().map(|effect| (effect.subject().digest, Item::Effect(effect.clone())));
        items.extend(effects.map(|(name, item)| (name, item.encode().into())));
        let refusals = set.refusals();
        items.extend(
            refusals.filter_map(|one| Some((refusal_name(one), self.refused.get(&one.request)?.clone()))),
        );
        items.extend(self.past().map(|time| (past_name(time), Item::Past { time }.encode().into())));
        items
    }

    /// The time that is past, if it is not only that of the last decision.
    fn past(&self) -> Option<UnixTime> {
        Some(self.set().past()).filter(|past| past.0 > 0)
    }
}

/// An approval as an item, with its name; none if only a certificate proves it.
pub(super) fn approval_item(signed: &Signed) -> Option<(Digest, Bytes)> {
    let (approval, signature) = (signed.approval, signed.signature.clone()?);
    let item = Item::Approval(SignedApproval { approval, signature });
    Some((approval.digest(), item.encode().into()))
}
