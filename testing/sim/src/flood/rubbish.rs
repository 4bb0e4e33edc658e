//! What a member that floods says: everything that it can sign or make, ever new, and noise where
//! it can sign nothing.

use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_admission::OpenMessage;
use folkmoot_base::{Blob, Digest, Entropy, Head, MemberId, UnixTime, codec};
use folkmoot_identity::{
    Csr, Gmc, GmcBody, Identity, Request, Signature, SignedCharter, Verdict, VoteKind, VoteProof,
};
use folkmoot_node::{PIECE_BYTES, PIECES_MAX, Sync};
use folkmoot_transcript::{
    Approval, BallotMessage, Change, Commit, Effect, Have, Item, Judgement, Promise, Report, STATEMENT_LABEL,
    SignedApproval, Statement, Subject, Transcript, admission,
};

/// What stands in front of an admission message in a payload.
const OPEN: u8 = 1;
/// What stands in front of a frame of the flush layer.
const FLUSH: u8 = 2;
/// From when strangers' identities hold, and until when.
const TERM: (UnixTime, UnixTime) = (UnixTime(1_800_000_000), UnixTime(2_200_000_000));
/// The wall clock when it begins.
const START: UnixTime = UnixTime(1_900_000_000);
/// How long what it signs would count, in seconds.
const DAY: u64 = 86_400;
/// Votes in a long certificate: as many as fit.
const VOTES: usize = 200;
/// Short things in each burst.
const SHORT: u64 = 8;

/// Something that is said.
pub(super) enum Said {
    /// An item, ordered.
    Item(Bytes),
    /// A payload of the group, ordered.
    Payload(Bytes),
    /// To every node.
    Frame(Sync),
}

/// Where rubbish comes from.
pub(super) struct Rubbish {
    identity: Identity,
    charter: SignedCharter,
    votes: bool,
    rng: Rng,
    turn: u64,
    strangers: Vec<Identity>,
    signature: Option<Signature>,
}

impl Rubbish {
    /// That of a member, by its seed. With `votes` it signs approvals.
    pub(super) fn new(identity: Identity, charter: SignedCharter, votes: bool, seed: u64) -> Self {
        let rng = Rng::new(seed, "rubbish", u64::from(votes));
        Self { identity, charter, votes, rng, turn: 0, strangers: Vec::new(), signature: None }
    }

    /// Who says it.
    pub(super) fn member(&self) -> MemberId {
        self.identity.member()
    }

    /// The next things to say: some short, one long.
    pub(super) fn burst(&mut self, transcript: &Transcript, entropy: &mut dyn Entropy) -> Vec<Said> {
        let mut all = Vec::new();
        for _ in 0..SHORT {
            self.turn = self.turn.saturating_add(1);
            if self.votes && self.turn.is_multiple_of(2) {
                self.say_as_voter(transcript, &mut all);
            } else {
                self.say_as_member(transcript, entropy, &mut all);
            }
        }
        self.say_long(transcript, &mut all);
        all
    }

    /// What only a voter can sign.
    fn say_as_voter(&mut self, transcript: &Transcript, all: &mut Vec<Said>) {
        let (digest, turn) = (self.digest(), u32::try_from(self.turn).unwrap_or(u32::MAX));
        let head = transcript.state().head();
        let fixed = admission([7; 32]);
        let request = Subject { kind: VoteKind::Admit, digest };
        match (self.turn / 2) % 8 {
            0 => all.push(item(Item::Approval(self.word(head, fixed, turn, turn.is_multiple_of(3))))),
            1 | 2 => all.push(item(Item::Approval(self.word(head, request, turn % 5, true)))),
            3 => all.push(item(Item::Approval(self.word(head, request, 0, false)))),
            4 => {
                let hold = Effect::from(Change::Hold { request: digest });
                self.want(head, hold, all);
            }
            5 => {
                let old = transcript.state().decision_at(self.rng.below(3) as u64).unwrap_or(head);
                all.push(item(Item::Approval(self.word(old, request, 1, true))));
            }
            6 => self.reject_csr(transcript, all),
            _ => self.say_ballots(transcript.group(), head, digest, turn, all),
        }
    }

    /// Judges, promises and commits to what there is not.
    fn say_ballots(
        &mut self,
        group: folkmoot_base::GroupId,
        parent: Head,
        decision: Digest,
        turn: u32,
        all: &mut Vec<Said>,
    ) {
        let ballot = turn % 8;
        let voter = self.member();
        let report = Report { ballot, decision };
        let sign =
            |statement: Statement| self.identity.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&group));
        let signature = sign(Statement::Commit { parent, ballot, decision });
        let commit = BallotMessage::Commit { parent, report, commit: Commit { voter, signature } };
        let signature = sign(Statement::Judge { parent, ballot, decision });
        let judged = BallotMessage::Judgement { parent, report, judgement: Judgement { voter, signature } };
        let signature = sign(Statement::Promise { parent, ballot, report: None });
        let promise = Promise { voter, report: None, signature };
        let judgements = Vec::new();
        let promise = BallotMessage::Promise { parent, ballot, promise, report: None, judgements };
        for message in [judged, commit, promise] {
            all.push(open(&OpenMessage::Ballot { message }));
        }
    }

    /// A request by CSR, refused.
    fn reject_csr(&mut self, transcript: &Transcript, all: &mut Vec<Said>) {
        let name = format!("csr{}", self.turn);
        let Ok(csr) = Csr::sign(self.identity.key(), &name) else { return };
        let body = GmcBody::propose_csr(self.charter.charter(), &csr, 5, START);
        let body = body.over(transcript.state().head());
        let Ok(request) = Request::by_csr(csr, body) else { return };
        let word = self.word(transcript.state().head(), admission(request.digest()), 0, false);
        all.push(item(Item::Approval(word)));
        all.push(item(Item::Refusal { request: blob(request.der().to_vec()) }));
    }

    /// What any member can say.
    fn say_as_member(&mut self, transcript: &Transcript, entropy: &mut dyn Entropy, all: &mut Vec<Said>) {
        let (digest, head) = (self.digest(), transcript.state().head());
        match self.turn % 7 {
            0 | 1 => self.admit(transcript, entropy, 0, 0, all),
            2 => self.ask(transcript, entropy, all),
            3 => {
                let ends = transcript.roster().member(&self.member()).map_or(DAY, |held| held.ends.0);
                all.push(item(Item::Past { time: UnixTime(ends.saturating_add(1)) }));
                all.push(item(Item::Past { time: UnixTime(START.0 + self.turn) }));
            }
            4 => {
                let effect = Effect::from(field("request_hours", &(1 + self.turn % 8_000).to_string()));
                all.push(open(&OpenMessage::Proposal { effect }));
            }
            5 => {
                all.push(Said::Frame(Sync::Mark {
                    head: Head { number: head.number + 1, digest },
                    set: digest,
                }));
                let (from, until) = ([0; 32], [0xff; 32]);
                all.push(Said::Frame(Sync::Fetch(Have { head, from, until, names: vec![digest] })));
                all.push(Said::Frame(Sync::Want { name: digest, index: 0 }));
            }
            _ => {
                let noise = self.rng.bytes(600);
                all.push(Said::Item(noise.clone().into()));
                all.push(Said::Payload([&[FLUSH], noise.as_slice()].concat().into()));
                all.push(Said::Frame(Sync::Items(vec![blob(noise)])));
                if let Some(old) = transcript.line().decisions().values().next() {
                    all.push(item(Item::Decision(old.clone())));
                    all.push(item(Item::Coming { decisions: vec![old.clone()] }));
                }
            }
        }
    }

    /// One thing of up to a megabyte.
    fn say_long(&mut self, transcript: &Transcript, all: &mut Vec<Said>) {
        let entropy = &mut Rng::new(self.turn, "stranger", u64::from(self.votes));
        let head = transcript.state().head();
        match (self.turn / SHORT) % 10 {
            0 | 1 if self.votes => {
                let value = "x".repeat(240 * 1024) + &self.turn.to_string();
                self.want(head, Effect::from(field("text", &value)), all);
            }
            2 => self.admit(transcript, entropy, 0, 1_500, all),
            3 => {
                let noise = self.rng.bytes(200 * 1024);
                all.push(Said::Payload([&[FLUSH], noise.as_slice()].concat().into()));
            }
            4 => all.push(open(&OpenMessage::Request {
                cms: blob(self.rng.bytes(40 * 1024)),
                voucher: None,
                endorsement: None,
                instead: None,
            })),
            5 => {
                let value = "y".repeat(40 * 1024) + &self.turn.to_string();
                all.push(open(&OpenMessage::Proposal { effect: Effect::from(field("text", &value)) }));
            }
            6 => self.say_pieces(all),
            _ => self.admit(transcript, entropy, VOTES, 0, all),
        }
    }

    /// The beginning of something long that never ends.
    fn say_pieces(&mut self, all: &mut Vec<Said>) {
        let (name, of) = ([self.turn as u8; 32], u16::try_from(PIECES_MAX).unwrap_or(1));
        for index in 0..8 {
            let bytes = blob(vec![0; PIECE_BYTES]);
            all.push(Said::Frame(Sync::Piece { name, of, index, bytes }));
        }
    }

    /// An approval, signed.
    fn word(&self, base: Head, subject: Subject, turn: u32, yes: bool) -> SignedApproval {
        let verdict = if yes { Verdict::Approve } else { Verdict::Reject };
        let expires = UnixTime(START.0 + DAY + self.turn);
        let approval = Approval { voter: self.member(), base, subject, turn, verdict, expires };
        SignedApproval::sign(self.identity.key(), self.charter.charter().group(), approval)
    }

    /// An effect, and the yes that keeps it.
    fn want(&self, head: Head, effect: Effect, all: &mut Vec<Said>) {
        all.push(item(Item::Approval(self.word(head, effect.subject(), 0, true))));
        all.push(item(Item::Effect(effect)));
    }

    /// A stranger's certificate: with this voter's yes, votes that nobody gave, and approvals by
    /// nobody beside it.
    fn admit(
        &mut self,
        transcript: &Transcript,
        entropy: &mut dyn Entropy,
        votes: usize,
        beside: usize,
        all: &mut Vec<Said>,
    ) {
        let Some((stranger, body)) = self.stranger(transcript, entropy) else { return };
        let Ok(request) = body.request_digest() else { return };
        let head = transcript.state().head();
        let mut approvals = Vec::new();
        if self.votes {
            approvals.push(self.word(head, admission(request), 0, true));
        }
        let mut nobodys = Vec::new();
        for _ in 0..votes {
            nobodys.extend(self.nobodys(head));
        }
        for _ in 0..beside {
            let mut word = self.word_of_nobody(head, admission(request));
            word.approval.voter = MemberId(self.digest());
            approvals.push(word);
        }
        let Ok(certificate) = Gmc::compose(&body, &nobodys, &stranger) else { return };
        all.push(item(Item::Admit { certificate: Blob(certificate.der().clone()), approvals }));
    }

    /// A vote in the name of somebody who does not exist.
    fn nobodys(&mut self, base: Head) -> Option<VoteProof> {
        let word = self.word_of_nobody(base, admission([9; 32]));
        let signature = Signature::from_wire(&word.signature).ok()?;
        let voter = MemberId(self.digest());
        Some(VoteProof { voter, base, turn: 0, expires: UnixTime(START.0 + DAY), signature })
    }

    /// One signature does for all of them: nobody can verify it.
    fn word_of_nobody(&mut self, base: Head, subject: Subject) -> SignedApproval {
        if self.signature.is_none() {
            let word = self.word(base, subject, 0, true);
            self.signature = Signature::from_wire(&word.signature).ok();
        }
        let signature = self.signature.as_ref().map(Signature::to_wire);
        let approval = Approval {
            voter: self.member(),
            base,
            subject,
            turn: 0,
            verdict: Verdict::Approve,
            expires: UnixTime(START.0 + DAY),
        };
        match signature {
            Some(signature) => SignedApproval { approval, signature },
            None => self.word(base, subject, 0, true),
        }
    }

    /// A fresh stranger's request, as its contact passes it on.
    fn ask(&mut self, transcript: &Transcript, entropy: &mut dyn Entropy, all: &mut Vec<Said>) {
        let Some((stranger, body)) = self.stranger(transcript, entropy) else { return };
        if let Ok(request) = Request::sign(&stranger, body) {
            all.push(open(&OpenMessage::Request {
                cms: blob(request.der().to_vec()),
                voucher: None,
                endorsement: None,
                instead: None,
            }));
        }
    }

    /// Somebody who asks: keys are drawn now and then, requests each time.
    fn stranger(
        &mut self,
        transcript: &Transcript,
        entropy: &mut dyn Entropy,
    ) -> Option<(Identity, GmcBody)> {
        if self.strangers.len() < 64 {
            let name = format!("stranger{}", self.turn);
            self.strangers.push(Identity::new(&name, entropy, TERM.0, TERM.1).ok()?);
        }
        let which = self.rng.below(self.strangers.len());
        let stranger = self.strangers.get(which)?.clone();
        let body = GmcBody::propose(self.charter.charter(), &stranger, 5, START, entropy);
        Some((stranger, body.over(transcript.state().head())))
    }

    fn digest(&mut self) -> Digest {
        let bytes = self.rng.bytes(32);
        folkmoot_base::digest(&[&bytes])
    }
}

fn item(item: Item) -> Said {
    Said::Item(item.encode().into())
}

fn open(message: &OpenMessage) -> Said {
    Said::Payload([&[OPEN], codec::encode(message).as_slice()].concat().into())
}

fn blob(bytes: Vec<u8>) -> Blob {
    Blob::from(bytes)
}

fn field(field: &str, value: &str) -> Change {
    Change::Charter { field: blob(field.into()), value: blob(value.into()) }
}
