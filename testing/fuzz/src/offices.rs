//! An authority: its messages to and from members, its log, its office, and the machine.

use crate::script::{Dice, number, owned, script, steps};
use crate::values::canonical;
use crate::world::{NOW, world};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_admission::{
    Authority, AuthorityMessage, Command, Config, Heartbeat, Input, LOGGING_MAX, LogRecord, Office, Output,
    PETITIONS_MAX, SignedReady, SignerBody, SignerMessage, WireGrounds,
};
use folkmoot_base::{Digest, Host, Instant, UnixTime, codec};
use folkmoot_identity::{
    Central, CharterDraft, Founder, GmcBody, Identity, Request, Scheme, SignedCharter, Verdict, Vote,
    VoteBody, VoteKind,
};
use folkmoot_transcript::{Item, Transcript};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Admission: words between members and their authority, and a record of its log.
pub fn authority_message(data: &[u8]) {
    canonical::<AuthorityMessage>(data);
    canonical::<LogRecord>(data);
}

/// Admission: what makes a process an authority, in a file.
pub fn authority_office(data: &[u8]) {
    if let Ok(office) = Office::decode(data) {
        assert_eq!(office.encode().expose(), data);
    }
}

/// The authority of the founders' other group, one of two replicas; dave's identity speaks for it.
struct Desk {
    now: Instant,
    transcript: Transcript,
    authority: Authority,
    dice: Dice,
    /// Records that came back from the log.
    logged: Vec<Bytes>,
    handed_in: Vec<Bytes>,
    granted: BTreeMap<Digest, Bytes>,
}

fn office() -> Office {
    Office::draw("book club", Scheme::Plain, UnixTime(NOW.0 - 500), &mut Dice(17 << 32))
        .expect("a legal name")
}

fn founded() -> Transcript {
    static FOUNDED: OnceLock<Transcript> = OnceLock::new();
    FOUNDED.get_or_init(found).clone()
}

fn found() -> Transcript {
    let founders = &world().founders;
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let mut draft = CharterDraft::new(world().charter().name().clone(), 2, named, &mut Dice(98 << 32));
    let nodes = [world().stranger.member()].into();
    draft.central = Some(Central { certificate: office().certificate, nodes, dealer: None });
    let all: Vec<&Identity> = founders.iter().collect();
    let signed = SignedCharter::sign(&draft.to_toml(), &all).expect("a legal charter");
    Transcript::founded(signed.der()).expect("a complete charter")
}

fn guest(number: u64) -> Request {
    let who = Identity::new("guest", &mut Dice((30 + number) << 32), NOW, UnixTime(NOW.0 + 900_000));
    let (who, transcript) = (who.expect("a legal name"), founded());
    let body = GmcBody::propose(transcript.roster().charter(), &who, 3, NOW, &mut Dice((50 + number) << 32));
    Request::sign(&who, body.over(transcript.state().head())).expect("its own body")
}

fn grant(request: &Request, voters: &[usize]) -> Vec<u8> {
    let transcript = founded();
    let body = VoteBody {
        group: transcript.group(),
        base: transcript.state().head(),
        kind: VoteKind::Admit,
        subject: request.digest(),
        turn: 0,
        verdict: Verdict::Approve,
        expires: UnixTime(NOW.0 + 100_000),
    };
    let vote = |who: &usize| Vote::sign(&world().founders[*who], body).expect("a legal vote").proof();
    let mut votes: Vec<_> = voters.iter().map(vote).collect();
    votes.sort_by_key(|vote| vote.voter);
    let request = request.der().to_vec().into();
    codec::encode(&AuthorityMessage::Grant { request, grounds: WireGrounds::Votes(votes) })
}

impl Desk {
    fn new() -> Self {
        let (transcript, me) = (founded(), &world().stranger);
        let stored = office().persists(me, &mut Dice(18 << 32)).into_iter();
        let stored: Vec<_> = stored.map(|persist| (persist.key, persist.value.expect("kept"))).collect();
        let config = Config { replicated: true, ..Config::default() };
        let authority = Authority::load(config, &transcript, me, &stored).expect("whole").expect("an office");
        let (logged, handed_in, granted) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut desk =
            Self { now: Instant(1), transcript, authority, dice: Dice(19), logged, handed_in, granted };
        desk.take(Input::Clock(NOW));
        desk.take(Input::LinkUp { node: world().founders[0].node(), host: Host::Memory(1) });
        desk
    }

    fn take(&mut self, input: Input) {
        let me = &world().stranger;
        if let Input::Logged(record) = &input {
            self.logged.push(record.clone());
        }
        let _ = self.authority.handle(self.now, input, &self.transcript, me, &mut self.dice);
        self.drain();
    }

    fn vote(&mut self, motion: Digest, approve: bool) {
        let (vote, me) = (Command::Vote { motion, approve }, &world().stranger);
        let _ = self.authority.order(self.now, vote, &self.transcript, me);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.authority.poll_output() {
            match output {
                Output::Log(record) => self.handed_in.push(record),
                Output::Guest { payload, .. } => self.told(&payload),
                Output::Multicast(_) | Output::Item(_) => panic!("an authority is no member"),
                Output::Persist(_) | Output::Event(_) | Output::Trace(_) => {}
            }
        }
    }

    fn told(&mut self, payload: &[u8]) {
        let Ok(AuthorityMessage::Granted { request, der }) = codec::decode(payload) else { return };
        let record = codec::encode(&LogRecord { request, der: der.clone() });
        assert!(self.logged.iter().any(|logged| logged[..] == record[..]), "told before it was logged");
        let item = Item::Admit { certificate: der.clone(), approvals: Vec::new() }.encode();
        assert_eq!(self.transcript.check_admit(&item), Ok(()), "it would admit nobody");
        let first = self.granted.entry(request).or_insert_with(|| der.0.clone());
        assert_eq!(*first, der.0, "two certificates for one request");
    }
}

/// Admission at an authority: words of members and of a stranger, records of the log, time, a
/// person's word.
pub fn authority_desk(data: &[u8]) {
    desk_after(data);
}

fn desk_after(data: &[u8]) -> Desk {
    let mut desk = Desk::new();
    let (alice, bob, dave) =
        (world().founders[0].node(), world().founders[1].node(), world().stranger.node());
    for (op, body) in steps(data) {
        match op % 8 {
            0 => desk.take(Input::Guest { from: alice, payload: owned(body) }),
            1 => desk.take(Input::Guest { from: if op & 8 == 0 { bob } else { dave }, payload: owned(body) }),
            2 => desk.take(Input::Logged(owned(body))),
            3 => {
                let record = desk.handed_in.get(usize::try_from(number(body)).unwrap_or_default()).cloned();
                record.into_iter().for_each(|record| desk.take(Input::Logged(record)));
            }
            4 => desk.take(Input::Clock(UnixTime(NOW.0 + (number(body) << 4)))),
            5 => {
                desk.now = desk.now + Duration::from_millis(number(body));
                desk.take(Input::Timeout);
            }
            6 => {
                let waiting = desk.authority.status().petitions;
                for motion in waiting.into_iter().map(|petition| petition.request) {
                    desk.vote(motion, op & 8 == 0);
                }
            }
            _ => desk.take(if op & 8 == 0 {
                Input::LinkUp { node: bob, host: Host::Memory(1) }
            } else {
                Input::LinkDown(alice)
            }),
        }
    }
    let status = desk.authority.status();
    assert!(status.petitions.len() <= PETITIONS_MAX && status.logging <= LOGGING_MAX);
    desk
}

/// Somebody has lost its share.
fn lost(who: &Identity) -> AuthorityMessage {
    let body = SignerBody::Ready { key: vec![9; 32].into() };
    let message = SignerMessage { session: [5; 32], body, signature: [6; 64].into() };
    AuthorityMessage::Again { attempt: 1, ready: SignedReady { member: who.member(), message } }
}

/// Seeds: words and a record; an office; a grant that is logged, one that is refused, one that is
/// handed in again.
pub(crate) fn authority_seeds() -> [Vec<Vec<u8>>; 3] {
    let (transcript, alice) = (founded(), &world().founders[0]);
    let beat = Heartbeat::sign(&transcript.group(), alice, NOW, 3);
    let beat = codec::encode(&AuthorityMessage::Heartbeat { beat });
    let (good, few) = (grant(&guest(0), &[0, 1]), grant(&guest(1), &[2]));
    let logged =
        script([(0, good.clone()), (0, beat.clone()), (3, vec![0, 0]), (0, good.clone()), (0, few.clone())]);
    let desk = desk_after(&logged);
    let record = desk.logged.first().expect("it was logged").to_vec();
    let der = desk.granted.values().next().expect("it was told").clone();
    let request = guest(0).digest();
    let words = vec![
        beat,
        good.clone(),
        codec::encode(&AuthorityMessage::Granted { request, der: der.into() }),
        record.clone(),
        codec::encode(&lost(alice)),
    ];
    let again = script([(7, vec![]), (1, good), (5, vec![0xff, 0xff]), (2, record), (4, vec![0xff, 0xff])]);
    let refused = script([(1, few), (6, vec![])]);
    [words, vec![office().encode().expose().clone()], vec![logged, again, refused]]
}

#[cfg(test)]
mod tests {
    use super::{authority_seeds, desk_after};

    #[test]
    fn seeds_lead_to_a_certificate_and_a_refusal() {
        let [_, _, desk] = authority_seeds();
        let issued: Vec<_> = desk.iter().map(|seed| desk_after(seed).granted.len()).collect();
        assert_eq!(issued, [1, 1, 0]);
    }
}
