//! People, a group of some of them, and entries that they write: correct ones, or over any past.

pub(crate) use crate::common::Seed;
use bytes::Bytes;
use folkmoot_base::{Blob, EntryId, GroupId, GroupName, MemberId, SignatureBytes, UnixTime};
use folkmoot_identity::transcript::{Body, ENTRY_LABEL, Entry};
use folkmoot_identity::{
    BuildError, CharterDraft, Decision, Founder, Gmc, GmcBody, Identity, SignedCharter, Slot, Transcript,
    Verdict, Vote, VoteContent, VoteProof,
};
use std::sync::LazyLock;

pub(crate) const NOW: UnixTime = UnixTime(1_800_000_000);
pub(crate) const LATER: UnixTime = UnixTime(2_000_000_000);
pub(crate) const YEAR: u64 = 365 * 86_400;

pub(crate) static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    (0..12).map(|n| Identity::new(&format!("p{n}"), &mut Seed(n * 1_000), NOW, LATER).unwrap()).collect()
});

/// A group of the first `count` people.
pub(crate) fn found(count: usize, threshold: u32) -> Transcript {
    Transcript::genesis(&charter(count, threshold, 7)).unwrap()
}

pub(crate) fn charter(count: usize, threshold: u32, nonce: u64) -> Vec<u8> {
    let founders: Vec<&Identity> = PEOPLE[..count].iter().collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), threshold, named, &mut Seed(nonce));
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec()
}

pub(crate) fn body(transcript: &Transcript, who: usize, salt: u64) -> GmcBody {
    let roster = transcript.roster();
    let body = GmcBody::propose(roster.charter(), &PEOPLE[who], 3, NOW, &mut Seed(salt));
    body.after(roster.removals_of(&PEOPLE[who].member()))
}

pub(crate) fn gmc(transcript: &Transcript, who: usize, voters: &[usize], salt: u64) -> Gmc {
    granted(&body(transcript, who, salt), who, voters)
}

pub(crate) fn granted(body: &GmcBody, who: usize, voters: &[usize]) -> Gmc {
    let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires: LATER };
    let votes: Vec<VoteProof> =
        voters.iter().map(|voter| Vote::sign(&PEOPLE[*voter], content).unwrap().proof()).collect();
    Gmc::compose(body, &votes, &PEOPLE[who]).unwrap()
}

pub(crate) fn proofs(
    transcript: &Transcript,
    decision: &Decision,
    slot: Slot,
    voters: &[usize],
) -> Vec<VoteProof> {
    let motion = decision.motion(transcript.group(), transcript.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: LATER };
    let mut proofs: Vec<_> =
        voters.iter().map(|voter| Vote::sign(&PEOPLE[*voter], content).unwrap().proof()).collect();
    proofs.sort_by_key(|proof| proof.voter);
    proofs
}

pub(crate) fn slot(transcript: &Transcript) -> Slot {
    Slot { serial: transcript.roster().electorate().serial, ballot: 0 }
}

pub(crate) fn decide(
    transcript: &Transcript,
    decision: &Decision,
    voters: &[usize],
) -> Result<Bytes, BuildError> {
    let slot = slot(transcript);
    transcript.make_decision(decision, slot, &proofs(transcript, decision, slot, voters), &PEOPLE[voters[0]])
}

pub(crate) fn expel(transcript: &Transcript, who: usize) -> Decision {
    let member = PEOPLE[who].member();
    let admission = transcript.roster().member(&member).map_or(EntryId([0; 32]), |admission| admission.entry);
    Decision::Remove { member, admission }
}

/// An entry with any body, rightly signed by `author` over all heads.
pub(crate) fn entry(transcript: &Transcript, body: Body, author: usize) -> Bytes {
    sign(transcript.group(), transcript.heads().iter().copied().collect(), body, author)
}

pub(crate) fn sign(group: GroupId, parents: Vec<EntryId>, body: Body, author: usize) -> Bytes {
    let mut entry =
        Entry { group, parents, author: PEOPLE[author].member(), body, signature: SignatureBytes::NONE };
    entry.signature = PEOPLE[author].key().sign_wire(ENTRY_LABEL, &entry.signed_part());
    entry.encode()
}

pub(crate) fn admit(transcript: &mut Transcript, who: usize, voters: &[usize], salt: u64) -> EntryId {
    let entry = transcript.make_admit(gmc(transcript, who, voters, salt).der(), &PEOPLE[voters[0]]).unwrap();
    transcript.append(&entry).unwrap().id
}

pub(crate) fn admit_body(gmc: &Gmc) -> Body {
    Body::Admit { certificate: Blob(gmc.der().clone()) }
}

pub(crate) fn expire_body(transcript: &Transcript, who: usize, time: u64) -> Body {
    let held = transcript.roster().member(&PEOPLE[who].member()).unwrap();
    Body::Expire { member: held.member, admission: held.entry, time: UnixTime(time) }
}

pub(crate) fn id(who: usize) -> MemberId {
    PEOPLE[who].member()
}

/// Fetches in small batches, naming own heads and what came so far: the other side may know none of
/// our heads.
pub(crate) fn merge(to: &mut Transcript, from: &Transcript) {
    let mut have: Vec<EntryId> = to.heads().iter().copied().collect();
    loop {
        let batch = from.entries_after(&have, 4_000);
        if batch.is_empty() {
            return;
        }
        for entry in batch {
            have.push(to.append(&entry).unwrap().id);
        }
    }
}
