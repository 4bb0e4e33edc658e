//! What several tests need: people, a charter, votes, certificates.

use folkmoot_base::{
    ConfigurationId, Entropy, GroupId, GroupName, Head, MemberId, NodeId, Party, Service, UnixTime, ViewId,
    digest,
};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, CertificateError, Charter, CharterDraft, Gmc, GmcBody, GroupKey,
    Identity, Request, SignedCharter, SignedMessage, SignerCertificate, SigningKey, Stamp, Verdict,
    VerifyingKey, Vote, VoteBody, VoteKind, VoteProof,
};

/// 2026-01-01T00:00:00Z.
pub const START: UnixTime = UnixTime(1_767_225_600);
/// 2046-01-01, so that OpenSSL, which reads the clock, agrees for a while.
pub const END: UnixTime = UnixTime(2_398_377_600);

/// Entropy from a number.
pub struct Seed(pub u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

/// The key that certifies for the group of this name, and its certificate.
pub fn authority(name: &str) -> (SigningKey, AuthorityCertificate) {
    let key = SigningKey::generate(&mut Seed(7 << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new(name, public, START, &mut Seed(8 << 32));
    let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
    (key, AuthorityCertificate::close(&body, &signature).unwrap())
}

pub fn person(name: &str, seed: u64) -> Identity {
    Identity::new(name, &mut Seed(seed << 32), START, END).unwrap()
}

/// Three founders, two votes admit, one stranger.
pub struct World {
    pub founders: Vec<Identity>,
    pub stranger: Identity,
    pub signed: SignedCharter,
}

impl World {
    pub fn new() -> Self {
        let founders: Vec<_> = [("alice", 1), ("bob", 2), ("carol", 3)].map(|(n, s)| person(n, s)).into();
        let stranger = person("dave", 4);
        let named = founders.iter().map(|founder| founder.certificate().into()).collect();
        let draft = CharterDraft::new(GroupName::new("book club").unwrap(), 2, named, &mut Seed(99 << 32));
        let all: Vec<_> = founders.iter().collect();
        let signed = SignedCharter::sign(&draft.to_toml(), &all).unwrap();
        Self { founders, stranger, signed }
    }

    /// What its charter was made of.
    pub fn draft(&self) -> CharterDraft {
        let named = self.founders.iter().map(|founder| founder.certificate().into()).collect();
        CharterDraft::new(GroupName::new("book club").unwrap(), 2, named, &mut Seed(99 << 32))
    }

    pub fn charter(&self) -> &Charter {
        self.signed.charter()
    }

    pub fn request(&self) -> Request {
        let body = GmcBody::propose(self.charter(), &self.stranger, 3, START, &mut Seed(5 << 32));
        let body = body.over(self.head());
        Request::sign(&self.stranger, body).unwrap()
    }

    /// The founding: the decision before the first (docs/protocol/line.md).
    pub fn head(&self) -> Head {
        Head { number: 0, digest: digest(&[b"folkmoot founding v1\0", &self.charter().group().0]) }
    }

    /// A yes to the stranger's request.
    pub fn yes(&self) -> VoteBody {
        let (group, subject) = (self.charter().group(), self.request().digest());
        let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
        VoteBody { group, base: self.head(), kind, subject, turn: 0, verdict, expires: END }
    }

    pub fn vote(&self, who: usize) -> Vote {
        Vote::sign(&self.founders[who], self.yes()).unwrap()
    }

    pub fn gmc_with(&self, votes: &[VoteProof]) -> Gmc {
        Gmc::compose(self.request().body(), votes, &self.stranger).unwrap()
    }

    pub fn gmc(&self) -> Gmc {
        self.gmc_with(&[self.vote(0).proof(), self.vote(2).proof()])
    }

    pub fn said_by_founder(&self, text: &'static [u8]) -> SignedMessage {
        let alice = &self.founders[0];
        let stamp = stamp(self.charter().group(), alice.member());
        let shown = SignerCertificate::Founder(Box::new(alice.certificate().clone()));
        SignedMessage::assemble(stamp, text.into(), &stamp.sign(alice.key(), text), shown).unwrap()
    }

    pub fn said_by_newcomer(&self, text: &'static [u8]) -> SignedMessage {
        let stamp = stamp(self.charter().group(), self.stranger.member());
        let shown = SignerCertificate::Admitted(Box::new(self.gmc()));
        SignedMessage::assemble(stamp, text.into(), &stamp.sign(self.stranger.key(), text), shown).unwrap()
    }

    pub fn check(&self, gmc: &Gmc) -> Result<(), CertificateError> {
        gmc.check_authority(self.charter(), |member| self.key(member))
    }

    pub fn key(&self, member: &folkmoot_base::MemberId) -> Option<&VerifyingKey> {
        self.charter().founder(member).map(|founder| &founder.key)
    }
}

/// A message of this member's party with port 258 in a view of this group.
pub fn stamp(group: GroupId, sender: MemberId) -> Stamp {
    let configuration = ConfigurationId { ring_seq: 4, representative: NodeId([1; 32]), nonce: [2; 16] };
    let view = ViewId { configuration, order: 9, group };
    let sender = Party::new(sender, 258);
    Stamp { view, epoch: [3; 8], sender, number: 5, service: Service::Agreed }
}
