//! The people in the inputs: three founders, of whom two admit, and a stranger. They are made once
//! and are always the same.

use crate::script::Dice;
use bytes::Bytes;
use folkmoot_base::{Blob, Digest, GroupId, GroupName, Head, MemberId, UnixTime};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Charter, CharterDraft, Csr, Founder, Gmc, GmcBody, GroupKey,
    Identity, Request, RevocationBody, RevocationList, SignedCharter, Verdict, Vote, VoteBody, VoteKind,
};
use folkmoot_transcript::{Approval, Item, SignedApproval, Subject, Transcript};
use std::sync::OnceLock;

/// The wall clock.
pub(crate) const NOW: UnixTime = UnixTime(1_800_000_000);
/// When certificates end.
pub(crate) const LATER: UnixTime = UnixTime(2_000_000_000);
/// When votes end: within the 90 days that one may count.
pub(crate) const VOTES_END: UnixTime = UnixTime(NOW.0 + 30 * 86_400);

/// Everybody, and what they signed.
pub(crate) struct World {
    pub(crate) founders: Vec<Identity>,
    pub(crate) stranger: Identity,
    pub(crate) signed: SignedCharter,
    pub(crate) transcript: Transcript,
}

/// The one world.
pub(crate) fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(World::new)
}

fn person(name: &str, seed: u64) -> Identity {
    Identity::new(name, &mut Dice(seed << 32), UnixTime(NOW.0 - 1_000), LATER).expect("a legal name and term")
}

impl World {
    fn new() -> Self {
        let founders: Vec<Identity> =
            [("alice", 1), ("bob", 2), ("carol", 3)].map(|(n, s)| person(n, s)).into();
        let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
        let name = GroupName::new("book club").expect("a legal name");
        let draft = CharterDraft::new(name, 2, named, &mut Dice(99 << 32));
        let all: Vec<&Identity> = founders.iter().collect();
        let signed = SignedCharter::sign(&draft.to_toml(), &all).expect("a legal charter");
        let transcript = Transcript::founded(signed.der()).expect("a complete charter");
        Self { founders, stranger: person("dave", 4), signed, transcript }
    }

    pub(crate) fn charter(&self) -> &Charter {
        self.signed.charter()
    }

    pub(crate) fn charter_der(&self) -> Bytes {
        Bytes::copy_from_slice(self.signed.der())
    }

    pub(crate) fn group(&self) -> GroupId {
        self.charter().group()
    }

    pub(crate) fn members(&self) -> Vec<MemberId> {
        self.founders.iter().map(Identity::member).collect()
    }

    pub(crate) fn request(&self) -> Request {
        let body = GmcBody::propose(self.charter(), &self.stranger, 3, NOW, &mut Dice(5 << 32));
        Request::sign(&self.stranger, body.over(self.head())).expect("the stranger's own body")
    }

    /// What the stranger could make with OpenSSL alone.
    pub(crate) fn csr(&self) -> Csr {
        Csr::sign(self.stranger.key(), self.stranger.name()).expect("a name")
    }

    /// What a member proposes for it.
    pub(crate) fn by_csr(&self) -> Request {
        let body = GmcBody::propose_csr(self.charter(), &self.csr(), 3, NOW);
        Request::by_csr(self.csr(), body.over(self.head())).expect("for this CSR")
    }

    /// The founding, which everything here is over.
    pub(crate) fn head(&self) -> Head {
        self.transcript.state().head()
    }

    /// A founder's vote to admit by the request with this digest.
    pub(crate) fn vote_on(&self, subject: Digest, who: usize) -> Vote {
        let (group, base, kind) = (self.group(), self.head(), VoteKind::Admit);
        let body =
            VoteBody { group, base, kind, subject, turn: 0, verdict: Verdict::Approve, expires: VOTES_END };
        Vote::sign(&self.founders[who], body).expect("a legal vote")
    }

    pub(crate) fn vote(&self, who: usize) -> Vote {
        self.vote_on(self.request().digest(), who)
    }

    /// A founder's approval, as an item.
    pub(crate) fn approval(&self, subject: Subject, who: usize) -> Vec<u8> {
        let (voter, base) = (self.founders[who].member(), self.head());
        let approval =
            Approval { voter, base, subject, turn: 0, verdict: Verdict::Approve, expires: VOTES_END };
        Item::Approval(SignedApproval::sign(self.founders[who].key(), self.group(), approval)).encode()
    }

    /// The item that admits the stranger.
    pub(crate) fn admit(&self) -> Vec<u8> {
        Item::Admit { certificate: Blob(self.gmc().der().clone()), approvals: Vec::new() }.encode()
    }

    /// The certificate of a group's key; alice's stands for the shared one.
    pub(crate) fn authority(&self) -> AuthorityCertificate {
        let key = self.founders[0].key();
        let group = GroupKey::from_spki_der(key.verifying_key().spki_der()).expect("a key of P-256");
        let body = AuthorityBody::new("book club", group, NOW, &mut Dice(7 << 32));
        let signature = key.sign_raw(&body.tbs().expect("legal values")).to_paper();
        AuthorityCertificate::close(&body, &signature).expect("its own signature")
    }

    /// A revocation list by that key, of so many.
    pub(crate) fn revocations(&self, count: u8) -> RevocationList {
        let serials = (0..count).map(|number| [0x40 + number; 16]).collect();
        let body = RevocationBody::new(self.authority(), NOW, u64::from(count), serials).expect("few");
        let signature = self.founders[0].key().sign_raw(&body.tbs().expect("legal values")).to_paper();
        RevocationList::close(&body, &signature).expect("its key's signature")
    }

    pub(crate) fn gmc(&self) -> Gmc {
        let votes = [self.vote(0).proof(), self.vote(2).proof()];
        Gmc::compose(self.request().body(), &votes, &self.stranger).expect("votes of two voters")
    }
}
