//! A group with a long life, always the same: 200 changes, a split, a merge; and what a tamperer
//! needs to forge more of it.

use bytes::Bytes;
use folkmoot_base::{
    Blob, Digest, Entropy, EntryId, GroupId, GroupName, MemberId, SignatureBytes, UnixTime, digest,
};
use folkmoot_identity::transcript::{Body, DecisionVotes, ENTRY_LABEL, Entry};
use folkmoot_identity::{
    CharterDraft, Decision, Founder, Gmc, GmcBody, Identity, Motion, SignedCharter, Slot, Transcript,
    Verdict, Vote, VoteContent, VoteProof,
};
use std::sync::LazyLock;

pub(crate) const NOW: UnixTime = UnixTime(1_800_000_000);
pub(crate) const LATER: UnixTime = UnixTime(2_000_000_000);
const DAY: u64 = 86_400;
/// Changes after the founding, at least.
pub(crate) const CHANGES: usize = 200;
/// Somebody who asks, and was never in.
pub(crate) const STRANGER: usize = 16;
/// Was a voter, and was expelled.
pub(crate) const EXPELLED: usize = 4;
/// Was expelled and admitted again, more than once; is a member, and no voter.
pub(crate) const MEMBER: usize = 5;

struct Dice(u64);

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

/// 0 to 3 are founders.
pub(crate) static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| {
    let name = |n: u64| format!("p{n}");
    (0..18).map(|n| Identity::new(&name(n), &mut Dice(n * 1_000), NOW, LATER).unwrap()).collect()
});

pub(crate) static STORY: LazyLock<Story> = LazyLock::new(Story::new);

pub(crate) fn id(who: usize) -> MemberId {
    PEOPLE[who].member()
}

/// A charter signed by four founders: two votes admit.
pub(crate) fn charter(nonce: u64) -> Vec<u8> {
    charter_by(nonce, 2)
}

pub(crate) fn charter_by(nonce: u64, threshold: u32) -> Vec<u8> {
    let founders: Vec<&Identity> = PEOPLE[..4].iter().collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), threshold, named, &mut Dice(nonce));
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec()
}

/// What the tests tamper with.
pub(crate) struct Story {
    pub(crate) charter: Vec<u8>,
    pub(crate) honest: Transcript,
    /// The same group's transcript half way.
    pub(crate) early: Transcript,
    /// The two sides before the merge.
    pub(crate) sides: [Transcript; 2],
    /// In the file's order.
    pub(crate) entries: Vec<Bytes>,
}

impl Story {
    fn new() -> Self {
        let charter = charter(7);
        let mut moot = Moot { t: Transcript::genesis(&charter).unwrap(), salt: 1 };
        (4..=9).for_each(|who| moot.admit(who, [0, 1]));
        moot.decide(&Decision::Electorate { voters: (0..5).map(id).collect() }, &[0, 1, 2]);
        moot.live(80);
        let early = moot.t.clone();
        moot.live(150);
        moot.expel(EXPELLED, &[0, 1, 2]);
        let mut other = Moot { t: moot.t.clone(), salt: 1_000_000 };
        for who in 10..=12 {
            moot.admit(who, [0, 1]);
            other.admit(who + 2, [2, 3]);
        }
        moot.expel(11, &[0, 1]);
        moot.decide(&Decision::change("certificate_days", "77"), &[0, 1]);
        other.expire(13);
        other.admit(10, [3, 2]);
        let sides = [moot.t.clone(), other.t.clone()];
        for entry in other.t.entries() {
            moot.t.append(entry).unwrap();
        }
        assert_eq!(moot.t.heads().len(), 2, "a split");
        moot.admit(15, [0, 3]);
        assert_eq!(moot.t.heads().len(), 1, "and a merge");
        moot.live(CHANGES + 3);
        let entries = file_entries(&moot.t);
        Self { charter, honest: moot.t, early, sides, entries }
    }

    pub(crate) fn group(&self) -> GroupId {
        self.honest.group()
    }

    /// The file with other entries.
    pub(crate) fn file(&self, entries: &[Bytes]) -> Vec<u8> {
        Transcript::file_of(self.group(), entries)
    }

    pub(crate) fn honest_file(&self) -> Vec<u8> {
        self.file(&self.entries)
    }

    /// The file with one entry more at its end: over the head, by this author.
    pub(crate) fn and(&self, body: Body, author: usize) -> Vec<u8> {
        self.and_entry(forge(&self.honest, body, author))
    }

    pub(crate) fn and_entry(&self, entry: Bytes) -> Vec<u8> {
        let mut entries = self.entries.clone();
        entries.push(entry);
        self.file(&entries)
    }

    /// The file with another entry in this place.
    pub(crate) fn instead(&self, place: usize, entry: Bytes) -> Vec<u8> {
        let mut entries = self.entries.clone();
        entries[place] = entry;
        self.file(&entries)
    }

    /// The first entry from `from` on that is one like this; from 0.
    pub(crate) fn place(&self, from: usize, like: impl Fn(&Body) -> bool) -> usize {
        (from..self.entries.len()).find(|place| like(&self.entry(*place).body)).unwrap()
    }

    pub(crate) fn entry(&self, place: usize) -> Entry {
        Entry::decode(&self.entries[place]).unwrap()
    }

    /// The next slot for a decision.
    pub(crate) fn slot(&self) -> Slot {
        slot(&self.honest)
    }
}

/// Its entries in the order of the file, by the reader.
pub(crate) fn file_entries(t: &Transcript) -> Vec<Bytes> {
    let file: Vec<u8> = t.file().flatten().collect();
    Transcript::entries_of(&file).unwrap().1
}

/// A group that lives on.
pub(crate) struct Moot {
    pub(crate) t: Transcript,
    pub(crate) salt: u64,
}

impl Moot {
    /// Comings and goings, until there are so many entries.
    fn live(&mut self, entries: usize) {
        let mut round = 0;
        while self.t.len() < entries {
            let who = MEMBER + round % 5;
            self.expel(who, &[0, 1, 2]);
            self.admit(who, [round % 3, 3]);
            match round % 4 {
                0 => {
                    let days = (30 + self.salt % 300).to_string();
                    self.decide(&Decision::change("certificate_days", &days), &[0, 2, 3]);
                }
                1 => self.admit(who, [2, 1]),
                2 => {
                    self.expire(who);
                    self.admit(who, [3, 1]);
                }
                _ => {
                    let mut voters = self.t.roster().electorate().voters.clone();
                    voters[1..].reverse();
                    self.decide(&Decision::Electorate { voters }, &[0, 1, 2]);
                }
            }
            round += 1;
        }
    }

    pub(crate) fn admit(&mut self, who: usize, voters: [usize; 2]) {
        self.salt += 1;
        let gmc = gmc(&self.t, who, &voters, self.salt);
        let entry = self.t.make_admit(gmc.der(), &PEOPLE[voters[0]]).unwrap();
        self.t.append(&entry).unwrap();
    }

    pub(crate) fn expel(&mut self, who: usize, voters: &[usize]) {
        self.decide(&removal(&self.t, who), voters);
    }

    pub(crate) fn decide(&mut self, decision: &Decision, voters: &[usize]) {
        self.salt += 1;
        let slot = slot(&self.t);
        let votes = proofs(&motion(&self.t, decision, slot), voters);
        let entry = self.t.make_decision(decision, slot, &votes, &PEOPLE[voters[0]]).unwrap();
        self.t.append(&entry).unwrap();
    }

    fn expire(&mut self, who: usize) {
        let held = self.t.roster().member(&id(who)).unwrap().clone();
        let time = UnixTime(held.not_after.0 + 1);
        let entry = self.t.make_expire(held.member, held.entry, time, &PEOPLE[1]).unwrap();
        self.t.append(&entry).unwrap();
    }
}

pub(crate) fn slot(t: &Transcript) -> Slot {
    Slot { serial: t.roster().electorate().serial, ballot: 0 }
}

pub(crate) fn removal(t: &Transcript, who: usize) -> Decision {
    Decision::Remove { member: id(who), admission: t.roster().member(&id(who)).unwrap().entry }
}

pub(crate) fn motion(t: &Transcript, decision: &Decision, slot: Slot) -> Motion {
    decision.motion(t.group(), t.roster().charter().digest(), slot)
}

pub(crate) fn proof(motion: &Motion, voter: usize, verdict: Verdict, expires: UnixTime) -> VoteProof {
    Vote::sign(&PEOPLE[voter], VoteContent { motion: *motion, verdict, expires }).unwrap().proof()
}

/// Approvals, sorted.
pub(crate) fn proofs(motion: &Motion, voters: &[usize]) -> Vec<VoteProof> {
    let one = |voter: &usize| proof(motion, *voter, Verdict::Approve, LATER);
    let mut proofs: Vec<VoteProof> = voters.iter().map(one).collect();
    proofs.sort_by_key(|proof| proof.voter);
    proofs
}

/// What somebody asks for.
pub(crate) fn request(t: &Transcript, who: usize, salt: u64) -> GmcBody {
    let body = GmcBody::propose(t.roster().charter(), &PEOPLE[who], 3, NOW, &mut Dice(salt << 16));
    body.after(t.roster().removals_of(&id(who)))
}

pub(crate) fn gmc(t: &Transcript, who: usize, voters: &[usize], salt: u64) -> Gmc {
    let body = request(t, who, salt);
    Gmc::compose(&body, &proofs(&body.motion().unwrap(), voters), &PEOPLE[who]).unwrap()
}

/// A founder's own certificate, which carries no votes.
pub(crate) fn founders_own(t: &Transcript, who: usize) -> Gmc {
    Gmc::found(t.roster().charter(), &PEOPLE[who], NOW, &mut Dice(3)).unwrap()
}

/// The motion to admit, as it would be in another group, or under another version of the charter.
pub(crate) fn moved(motion: &Motion, group: GroupId, charter: Digest) -> Motion {
    Motion { group, charter, ..*motion }
}

pub(crate) fn admit_body(gmc: &Gmc) -> Body {
    Body::Admit { certificate: Blob(gmc.der().clone()) }
}

pub(crate) fn decide_body(decision: &Decision, slot: Slot, votes: Vec<VoteProof>) -> Body {
    Body::Decide { decision: decision.clone(), votes: DecisionVotes { slot, votes } }
}

pub(crate) fn day_after(time: UnixTime) -> UnixTime {
    UnixTime(time.0 + DAY)
}

/// An entry with any body, over all heads, rightly signed.
pub(crate) fn forge(t: &Transcript, body: Body, author: usize) -> Bytes {
    forge_over(t, t.heads().iter().copied().collect(), body, author)
}

/// The same over any past.
pub(crate) fn forge_over(t: &Transcript, parents: Vec<EntryId>, body: Body, author: usize) -> Bytes {
    let entry =
        Entry { group: t.group(), parents, author: id(author), body, signature: SignatureBytes::NONE };
    signed(entry, author)
}

/// An entry, changed or not, signed anew by one who holds this key.
pub(crate) fn signed(mut entry: Entry, author: usize) -> Bytes {
    entry.signature = PEOPLE[author].key().sign_wire(ENTRY_LABEL, &entry.signed_part());
    entry.encode()
}

/// Who wrote it.
pub(crate) fn author(entry: &Entry) -> usize {
    PEOPLE.iter().position(|person| person.member() == entry.author).unwrap()
}
