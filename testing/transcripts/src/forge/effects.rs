//! Effects with odd values, and odd approvals of them: in the set, and in decisions.

use crate::mutate::{Section, in_order};
use crate::steps::charter;
use crate::{Drawn, Group};
use folkmoot_base::{Blob, Head, MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Approval, Approved, Change, Effect, Force, Item, Leave, Proof, SignatureBytes, SignedApproval,
};

/// Adds an effect: to the set, with approvals of its own, or to a decision that its voters sign.
pub(super) fn change(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let change = group.odd_change()?;
    let force = if group.dice.chance(20) { Force::Yes } else { Force::No };
    let said = group.said.clone();
    let before = group.dice.pick(&said).filter(|_| group.dice.chance(30));
    let effect = before.unwrap_or(Effect { change, force });
    let kind = effect.subject().kind;
    let people: Vec<MemberId> = group.people.keys().copied().collect();
    let voters = if group.dice.chance(90) { group.voters() } else { people };
    let some = group.dice.some(&voters, 60);
    let mut approvals = Vec::new();
    for voter in some {
        approvals.push(approval(group, voter, &effect)?);
    }
    sections.push((5, Item::Effect(effect).encode()));
    sections.extend(approvals.into_iter().map(|one| (5, Item::Approval(one).encode())));
    in_order(sections);
    sections.dedup();
    Ok(format!("odd effect, {kind:?}"))
}

/// An approval of any turn, end and base, signed by its voter.
fn approval(group: &mut Group, voter: MemberId, effect: &Effect) -> Drawn<SignedApproval> {
    let state = group.transcript.state();
    let head = state.head();
    let before = state.decision_at(head.number.saturating_sub(group.dice.long(3)));
    let base = before.filter(|_| group.dice.chance(40)).unwrap_or(head);
    let turn = group.dice.pick(&[0, 0, 1, u32::MAX]).unwrap_or_default();
    let verdict = if group.dice.chance(80) { Verdict::Approve } else { Verdict::Reject };
    let expires = UnixTime(group.dice.pick(&[0, group.clock, u64::MAX]).unwrap_or_default());
    let approval = Approval { voter, base, subject: effect.subject(), turn, verdict, expires };
    let person = group.people.get(&voter).ok_or("a voter without a key")?;
    Ok(SignedApproval::sign(person.key(), group.transcript.group(), approval))
}

/// An effect in a decision that nobody need judge, with approvals that are none.
pub(super) fn undecided(group: &mut Group) -> Drawn<Approved> {
    let effect = Effect::from(group.odd_change()?);
    let head = group.transcript.state().head();
    let proof = |voter: &MemberId| Proof {
        voter: *voter,
        base: head,
        turn: u32::MAX,
        expires: UnixTime(0),
        signature: SignatureBytes::NONE,
    };
    let proofs = group.voters().iter().rev().map(proof).collect();
    Ok(Approved { effect, proofs })
}

impl Group {
    /// A change that cannot be, or that nobody would want.
    pub(crate) fn odd_change(&mut self) -> Drawn<Change> {
        let people: Vec<MemberId> = self.people.keys().copied().collect();
        let somebody = self.dice.pick(&people).ok_or("nobody is there")?;
        let head = self.transcript.state().head();
        let admits: Vec<_> = self.transcript.set().admits().map(|admit| admit.request).collect();
        let request = self.dice.pick(&admits).unwrap_or([7; 32]);
        let public = self.keys.dealt.as_ref().map_or(vec![1, 2, 3], |dealt| dealt.public.clone());
        Ok(match self.dice.roll(12) {
            0 => Change::Remove { member: MemberId([0; 32]) },
            1 => self.odd_field(somebody),
            2 => self.odd_field(somebody),
            3 => self.odd_electorate(&people),
            4 => self.odd_electorate(&people),
            5 => Change::Sharing { public: Blob::from(public), authority: Blob::from(vec![0xff]) },
            6 => Change::Sharing { public: Blob::default(), authority: Blob::default() },
            7 => Change::Hold { request },
            8 => Change::Rotate { member: somebody, request, signature: SignatureBytes::NONE },
            9 => Change::Rejoin { head: Head { number: u64::MAX, digest: head.digest } },
            10 => self.odd_leave(somebody)?,
            _ => Change::Retime { head: Head { number: self.dice.long(9), digest: head.digest } },
        })
    }

    fn odd_field(&mut self, somebody: MemberId) -> Change {
        let key = folkmoot_base::hex(&somebody.0);
        let blob = |bytes: &[u8]| Blob::from(bytes.to_vec());
        match self.dice.roll(9) {
            0 => Change::Charter { field: blob(&[0xff]), value: blob(&[0xfe]) },
            1 => Change::Charter { field: blob(b"list"), value: blob(&[0xfe]) },
            2 => charter("letters", &"x".repeat(self.dice.roll(300_000))),
            3 => charter("", ""),
            4 => charter("list", &key.to_uppercase()),
            5 => charter("roles.", &key),
            6 => charter("decider", &[key.as_str(), key.as_str()].join(",")),
            7 => charter("roles.crew", &key),
            _ => Change::Charter { field: blob(b"roles.\xff"), value: blob(key.as_bytes()) },
        }
    }

    fn odd_electorate(&mut self, people: &[MemberId]) -> Change {
        let many = [0, 1, 2, 257];
        let count = self.dice.pick(&many).unwrap_or_default();
        let some = self.dice.some(people, 60);
        Change::Electorate { voters: some.iter().chain(people).cycle().take(count).copied().collect() }
    }

    fn odd_leave(&mut self, member: MemberId) -> Drawn<Change> {
        let key = self.people.get(&member).ok_or("a member without a key")?.key();
        let mut leave = Leave::sign(key, self.transcript.group(), self.dice.long(3), UnixTime(0));
        match self.dice.roll(4) {
            0 => leave.member = MemberId([0; 32]),
            1 => leave.until = UnixTime(u64::MAX),
            _ => {}
        }
        Ok(Change::Leave(leave))
    }
}
