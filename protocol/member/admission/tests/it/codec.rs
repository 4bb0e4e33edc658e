//! Every message reads back as it was; anything else is an error, never a panic.

use folkmoot_admission::{
    AuthorityMessage, Dealt, GuestMessage, Heartbeat, KeyedVote, LogRecord, Office, OpenMessage,
    PrivateMessage, Purpose, Reason, SignedReady, SignerBody, SignerKey, SignerMessage, WireGrounds,
    Withdrawal, Wording,
};
use folkmoot_base::codec::{DeserializeBytes, Serialize, Size, decode, encode};
use folkmoot_base::{Blob, Entropy, Head, MemberId, Sealed, UnixTime};
use folkmoot_identity::{SigningKey, VoteProof};
use folkmoot_transcript::{
    BallotMessage, Change, Commit, Decision, Effect, Force, Judgement, Promise, Proposal, Report, Stage,
    Voucher, Vouching,
};
use proptest::prelude::*;

struct Dice;

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(5);
    }
}

const BASE: Head = Head { number: 3, digest: [8; 32] };

fn voucher(holder: Option<MemberId>) -> Voucher {
    let says = Vouching { serial: [4; 16], ends: UnixTime(11), holder };
    Voucher { says, maker: MemberId([3; 32]), signature: [6; 64].into() }
}

fn withdrawal() -> Withdrawal {
    Withdrawal { request: [3; 32], signature: [6; 64].into() }
}

fn guest_messages(bytes: Vec<u8>, have: u32) -> Vec<GuestMessage> {
    let key = SigningKey::generate(&mut Dice);
    let (voter, signature) = (key.verifying_key().member_id(), key.sign(b"folkmoot test", b""));
    let vote = KeyedVote {
        proof: VoteProof { voter, base: BASE, turn: 2, expires: UnixTime(7), signature },
        spki: Blob::from(key.verifying_key().spki_der().to_vec()),
    };
    let cms = Blob::from(bytes);
    vec![
        GuestMessage::Request { cms: cms.clone(), voucher: None, endorsement: None },
        GuestMessage::Request {
            cms: cms.clone(),
            voucher: Some(voucher(None)),
            endorsement: Some(cms.clone()),
        },
        GuestMessage::Request {
            cms: cms.clone(),
            voucher: Some(voucher(Some(MemberId([2; 32])))),
            endorsement: None,
        },
        GuestMessage::Certificate { der: cms.clone() },
        GuestMessage::Standing { request: [1; 32], have, need: 2, reason: Reason::Stale },
        GuestMessage::Votes { request: [1; 32], votes: vec![vote.clone(), vote.clone()] },
        GuestMessage::Withdraw { withdrawal: withdrawal() },
        GuestMessage::Multi {
            base: BASE,
            turn: 1,
            request: [1; 32],
            expires: UnixTime(u64::from(have)),
            signature: cms,
            keys: vec![SignerKey { spki: vote.spki }],
        },
    ]
}

fn open_messages(bytes: Vec<u8>) -> Vec<OpenMessage> {
    let cms = Blob::from(bytes);
    let wording = Wording { base: BASE, turn: 1, expires: UnixTime(9) };
    let purpose = Purpose::Multi { request: [8; 32], wording };
    let say = SignerBody::Start { purpose, attempt: 1 };
    let change = Change::Charter { field: Blob::from(b"threshold".to_vec()), value: cms.clone() };
    let remove = Effect { change: Change::Remove { member: MemberId([2; 32]) }, force: Force::Yes };
    let mut all: Vec<OpenMessage> =
        ballots().into_iter().map(|message| OpenMessage::Ballot { message }).collect();
    all.extend([
        OpenMessage::Request { cms: cms.clone(), voucher: None, endorsement: None, instead: None },
        OpenMessage::Request {
            cms: cms.clone(),
            voucher: Some(voucher(None)),
            endorsement: Some(cms.clone()),
            instead: Some([7; 32]),
        },
        OpenMessage::Proposal { effect: change.into() },
        OpenMessage::Proposal { effect: Change::Electorate { voters: vec![MemberId([4; 32]); 3] }.into() },
        OpenMessage::Proposal { effect: remove },
        OpenMessage::Revocations { der: cms.clone() },
        OpenMessage::Withdrawn { withdrawal: withdrawal() },
        OpenMessage::TakenBack { proposal: [7; 32] },
        OpenMessage::Signer {
            message: SignerMessage { session: [5; 32], body: say, signature: [6; 64].into() },
        },
        OpenMessage::Signer {
            message: SignerMessage {
                session: [5; 32],
                body: SignerBody::Start { purpose: Purpose::Revoke { tbs: cms }, attempt: 3 },
                signature: [6; 64].into(),
            },
        },
    ]);
    all
}

/// One of each kind of message about the next decision.
fn ballots() -> Vec<BallotMessage> {
    let (voter, signature) = (MemberId([2; 32]), [6; 64].into());
    let report = Report { ballot: 1, decision: [4; 32] };
    let promise = Promise { voter, report: Some(report), signature };
    let decision = Decision {
        group: folkmoot_base::GroupId([1; 32]),
        number: BASE.number + 1,
        parent: BASE.digest,
        time: UnixTime(7),
        effects: Vec::new(),
        holds: vec![[3; 32], [5; 32]],
        refusals: Vec::new(),
        electorate: None,
        state: [9; 32],
    };
    let stage = Stage { ballot: 2, promises: vec![promise.clone()], signature: promise.signature.clone() };
    let proposal = Proposal { decision, stages: vec![stage] };
    let commit = Commit { voter, signature: promise.signature.clone() };
    let judgement = Judgement { voter, signature: promise.signature.clone() };
    let judgements = vec![judgement.clone()];
    vec![
        BallotMessage::Proposal { proposal: proposal.clone(), judgements: judgements.clone() },
        BallotMessage::Promise { parent: BASE, ballot: 2, promise, report: Some(proposal), judgements },
        BallotMessage::Commit { parent: BASE, report, commit },
        BallotMessage::Judgement { parent: BASE, report, judgement },
    ]
}

fn authority_messages(bytes: Vec<u8>, number: u32) -> Vec<AuthorityMessage> {
    let key = SigningKey::generate(&mut Dice);
    let (voter, signature) = (key.verifying_key().member_id(), key.sign(b"folkmoot test", b""));
    let vote = VoteProof { voter, base: BASE, turn: 2, expires: UnixTime(7), signature };
    let blob = Blob::from(bytes);
    let (time, request) = (UnixTime(u64::from(number)), [1; 32]);
    let grant = |grounds| AuthorityMessage::Grant { request: blob.clone(), grounds };
    let word = SignerMessage {
        session: [5; 32],
        body: SignerBody::Ready { key: blob.clone() },
        signature: [6; 64].into(),
    };
    let sealed = Sealed { encapsulated: blob.clone(), body: blob.clone() };
    let dealt = Dealt {
        by: SignerKey { spki: blob.clone() },
        public: blob.clone(),
        to_each: vec![
            PrivateMessage { to: voter, sealed: sealed.clone() },
            PrivateMessage { to: MemberId([2; 32]), sealed },
        ],
        signature: [3; 64].into(),
    };
    let beat = Heartbeat { member: voter, time, present: number, signature: [4; 64].into() };
    vec![
        AuthorityMessage::Heartbeat { beat },
        grant(WireGrounds::Votes(vec![vote.clone(), vote])),
        grant(WireGrounds::Multi { base: BASE, turn: 1, expires: time, signature: blob.clone() }),
        grant(WireGrounds::Combined { epoch: [8; 32], signature: blob.clone() }),
        AuthorityMessage::Granted { request, der: blob.clone() },
        AuthorityMessage::Denied { request, reason: Reason::AwaitingAuthority },
        AuthorityMessage::Deal {
            session: [5; 32],
            threshold: number,
            ready: vec![SignedReady { member: voter, message: word.clone() }],
        },
        AuthorityMessage::Again { attempt: number, ready: SignedReady { member: voter, message: word } },
        AuthorityMessage::Dealt { session: [5; 32], dealt },
        AuthorityMessage::Revocations { der: blob },
    ]
}

fn check<T>(message: &T, place: usize, flip: u8) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeBytes + Size + PartialEq + core::fmt::Debug,
{
    let bytes = encode(message);
    prop_assert_eq!(&decode::<T>(&bytes).unwrap(), message);
    prop_assert!(decode::<T>(&bytes[..place % bytes.len()]).is_err());
    prop_assert!(decode::<T>(&[&bytes[..], &[0]].concat()).is_err());
    let mut bad = bytes.clone();
    bad[place % bytes.len()] ^= flip;
    prop_assert!(decode::<T>(&bad).map_or(true, |other| other != *message && encode(&other) == bad));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn round_trip_and_damage(
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        have in any::<u32>(),
        place in any::<usize>(),
        flip in 1..=255_u8,
    ) {
        for message in guest_messages(bytes.clone(), have) {
            check(&message, place, flip)?;
        }
        for message in authority_messages(bytes.clone(), have) {
            check(&message, place, flip)?;
        }
        check(&LogRecord { request: [1; 32], der: Blob::from(bytes.clone()) }, place, flip)?;
        for message in open_messages(bytes) {
            check(&message, place, flip)?;
        }
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let guest = decode::<GuestMessage>(&bytes).map(|message| encode(&message));
        prop_assert!(guest.is_err() || guest == Ok(bytes.clone()));
        let open = decode::<OpenMessage>(&bytes).map(|message| encode(&message));
        prop_assert!(open.is_err() || open == Ok(bytes.clone()));
        let authority = decode::<AuthorityMessage>(&bytes).map(|message| encode(&message));
        prop_assert!(authority.is_err() || authority == Ok(bytes.clone()));
        let record = decode::<LogRecord>(&bytes).map(|record| encode(&record));
        prop_assert!(record.is_err() || record == Ok(bytes.clone()));
        let office = Office::decode(&bytes).map(|office| office.encode().expose().clone());
        prop_assert!(office.map_or(true, |office| office == bytes));
    }
}
