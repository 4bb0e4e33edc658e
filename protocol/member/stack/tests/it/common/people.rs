//! Real keys, a charter, and valid entries.

use bytes::Bytes;
use folkmoot_base::{Entropy, EntryId, GroupName, MemberId, UnixTime, digest};
use folkmoot_identity::{
    CharterDraft, Decision, Founder, Gmc, GmcBody, Identity, Minority, SignedCharter, Slot, Verdict, Vote,
    VoteContent, VoteProof,
};
use folkmoot_transcript::Transcript;
use std::sync::LazyLock;

pub const NOW: UnixTime = UnixTime(1_800_000_000);
const LATER: UnixTime = UnixTime(2_000_000_000);

/// A random stream that repeats for its seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        usize::try_from(u64::from_be_bytes(bytes) % bound.max(1) as u64).unwrap()
    }
}

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

/// In the order of their ids, so that the first number is the first member of a view.
pub static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let make = |n: u64| Identity::new(&format!("p{n}"), &mut Dice(n * 1_000), NOW, LATER).unwrap();
    let mut people: Vec<Identity> = (0..7).map(make).collect();
    people.sort_by_key(Identity::member);
    people
});

pub fn id(who: usize) -> MemberId {
    PEOPLE[who].member()
}

/// The charter of the first `count` people: one vote admits, more than half decide.
pub fn charter(count: usize, minority: Minority) -> Bytes {
    let founders: Vec<&Identity> = PEOPLE[..count].iter().collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, named, &mut Dice(7));
    draft.minority = minority;
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into()
}

pub fn gmc(transcript: &Transcript, who: usize, voters: &[usize], salt: u64) -> Gmc {
    let body = GmcBody::propose(
        transcript.roster().charter(),
        &PEOPLE[who],
        3,
        NOW,
        &mut Dice(1 << 50 | salt << 20),
    )
    .after(transcript.roster().removals_of(&id(who)));
    let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires: LATER };
    let votes: Vec<VoteProof> =
        voters.iter().map(|voter| Vote::sign(&PEOPLE[*voter], content).unwrap().proof()).collect();
    Gmc::compose(&body, &votes, &PEOPLE[who]).unwrap()
}

pub fn decide(transcript: &Transcript, decision: &Decision, voters: &[usize]) -> Bytes {
    let slot = Slot { serial: transcript.roster().electorate().serial, ballot: 0 };
    let motion = decision.motion(transcript.group(), transcript.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: LATER };
    let mut proofs: Vec<VoteProof> =
        voters.iter().map(|voter| Vote::sign(&PEOPLE[*voter], content).unwrap().proof()).collect();
    proofs.sort_by_key(|proof| proof.voter);
    transcript.make_decision(decision, slot, &proofs, &PEOPLE[voters[0]]).unwrap()
}

pub fn expulsion(transcript: &Transcript, who: usize) -> Decision {
    let admission = transcript.roster().member(&id(who)).map_or(EntryId([0; 32]), |held| held.entry);
    Decision::Remove { member: id(who), admission }
}
