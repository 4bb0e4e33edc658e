//! Admission: messages of guests and members at a member's desk, and messages of contacts at an
//! applicant.

use crate::script::{Dice, number, owned, script, steps};
use crate::world::{NOW, world};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_admission::{
    Admission, Applicant, Command, Config, GuestMessage, Input, KeyedVote, OpenMessage, Output, Reason,
    Withdrawal,
};
use folkmoot_base::{Digest, Host, Instant, UnixTime, codec};
use folkmoot_identity::Request;
use folkmoot_transcript::{
    BallotMessage, Change, Commit, Effect, Item, Judgement, Report, STATEMENT_LABEL, Statement, Transcript,
    Voucher, Vouching, admission,
};

const OUTPUTS_MAX: usize = 4_096;

/// The desk of the first founder, with a transcript that takes what the desk orders.
struct Desk {
    now: Instant,
    admission: Admission,
    transcript: Transcript,
    dice: Dice,
    /// What it said to the members.
    said: Vec<Bytes>,
}

impl Desk {
    fn new() -> Self {
        let transcript = world().transcript.clone();
        let (admission, said) = (Admission::new(Config::default()), Vec::new());
        let mut desk = Self { now: Instant(1), admission, transcript, dice: Dice(3), said };
        desk.take(Input::Clock(NOW));
        desk.take(Input::Present(world().members().into_iter().collect()));
        desk.take(Input::LinkUp { node: world().stranger.node(), host: Host::Memory(1) });
        desk
    }

    fn take(&mut self, input: Input) {
        let me = &world().founders[0];
        let _ = self.admission.handle(self.now, input, &self.transcript, me, &mut self.dice);
        self.follow();
    }

    fn order(&mut self, command: Command) {
        let me = &world().founders[0];
        let _ = self.admission.order(self.now, command, &self.transcript, me, &mut self.dice);
        self.follow();
    }

    /// Hears what it says itself, until it says no more.
    fn follow(&mut self) {
        let me = &world().founders[0];
        let (mut inputs, mut count) = (Vec::new(), 0);
        loop {
            while let Some(output) = self.admission.poll_output() {
                count += 1;
                assert!(count <= OUTPUTS_MAX, "no end of outputs");
                match output {
                    Output::Multicast(payload) => {
                        self.said.push(payload.clone());
                        inputs.push(Input::Open { sender: me.member(), payload });
                    }
                    Output::Item(item) => {
                        let taken = self.transcript.take(&item, Some(NOW)).expect("an item of one's own");
                        inputs.push(Input::Item { item, taken });
                    }
                    _ => {}
                }
            }
            let Some(input) = inputs.pop() else { return };
            let _ = self.admission.handle(self.now, input, &self.transcript, me, &mut self.dice);
        }
    }

    /// An item comes in the order of all.
    fn item(&mut self, item: Bytes) {
        let before = self.transcript.mark();
        match self.transcript.take(&item, Some(NOW)) {
            Ok(taken) => self.take(Input::Item { item, taken }),
            Err(_) => assert_eq!(self.transcript.mark(), before),
        }
    }

    fn approve_all(&mut self, approve: bool) {
        let status = self.admission.status(&self.transcript, &world().founders[0]);
        let requests = status.requests.iter().map(|request| request.request);
        let proposals = status.proposals.iter().map(|proposal| proposal.proposal);
        for motion in requests.chain(proposals).collect::<Vec<_>>() {
            self.order(Command::Vote { motion, approve });
        }
    }
}

/// Admission at a member: words of a guest, of another founder, of one who is no member; items;
/// time; own votes.
pub fn admission_desk(data: &[u8]) {
    desk_after(data);
}

fn desk_after(data: &[u8]) -> Desk {
    let mut desk = Desk::new();
    let (bob, dave) = (&world().founders[1], &world().stranger);
    for (op, body) in steps(data) {
        match op % 8 {
            0 => desk.take(Input::Guest { from: dave.node(), payload: owned(body) }),
            1 => desk.take(Input::Open { sender: bob.member(), payload: owned(body) }),
            2 => desk.item(owned(body)),
            3 => desk.take(Input::Open { sender: dave.member(), payload: owned(body) }),
            4 => desk.take(Input::Clock(UnixTime(NOW.0 + (number(body) << 12)))),
            5 => {
                desk.now = desk.now + Duration::from_millis(number(body));
                desk.take(Input::Timeout);
            }
            6 if op & 16 != 0 => desk.order(Command::Submit(owned(body))),
            6 => desk.approve_all(op & 8 == 0),
            _ => {
                let link = if op & 8 == 0 {
                    Input::LinkDown(dave.node())
                } else {
                    Input::LinkUp { node: dave.node(), host: Host::Memory(1) }
                };
                desk.take(link);
                desk.take(Input::Regrouped);
            }
        }
    }
    let status = desk.admission.status(&desk.transcript, &world().founders[0]);
    assert!(status.requests.len() <= folkmoot_base::limits::REQUESTS_MAX + folkmoot_admission::VOUCHED_MAX);
    assert!(status.proposals.len() <= folkmoot_admission::PROPOSALS_MAX);
    desk
}

/// The stranger, asking.
struct Asking {
    now: Instant,
    applicant: Applicant,
    dice: Dice,
    said: Vec<Bytes>,
}

impl Asking {
    fn new() -> Self {
        let applicant = Applicant::default();
        let mut asking = Self { now: Instant(1), applicant, dice: Dice(6), said: Vec::new() };
        asking.take(Input::Clock(NOW));
        asking.take(Input::LinkUp { node: world().founders[0].node(), host: Host::Memory(1) });
        asking
    }

    fn take(&mut self, input: Input) {
        let (transcript, me) = (&world().transcript, &world().stranger);
        let _ = self.applicant.handle(self.now, input, transcript, me, &mut self.dice);
        let mut count = 0;
        while let Some(output) = self.applicant.poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            if let Output::Guest { payload, .. } = output {
                self.said.push(payload);
            }
        }
    }
}

/// Admission at the stranger: words of the contact and of another; time; links.
pub fn admission_applicant(data: &[u8]) {
    asking_after(data);
}

fn asking_after(data: &[u8]) -> Asking {
    let mut asking = Asking::new();
    let (alice, bob) = (world().founders[0].node(), world().founders[1].node());
    for (op, body) in steps(data) {
        match op % 8 {
            0..=2 => asking.take(Input::Guest { from: alice, payload: owned(body) }),
            3 => asking.take(Input::Guest { from: bob, payload: owned(body) }),
            4 => asking.take(Input::Clock(UnixTime(NOW.0 + (number(body) << 12)))),
            5 => {
                asking.now = asking.now + Duration::from_millis(number(body));
                asking.take(Input::Timeout);
            }
            6 => asking.take(Input::LinkUp { node: bob, host: Host::Memory(1) }),
            _ => asking.take(Input::LinkDown(alice)),
        }
    }
    if let Some(gmc) = asking.applicant.certificate() {
        let key = |member: &_| world().charter().founder(member).map(|founder| &founder.key);
        assert_eq!(gmc.check_authority(world().charter(), key), Ok(()), "votes that do not stand");
    }
    asking
}

fn guest(message: &GuestMessage) -> Vec<u8> {
    codec::encode(message)
}

fn open(message: &OpenMessage) -> Vec<u8> {
    codec::encode(message)
}

fn votes(request: Digest) -> Vec<KeyedVote> {
    let of = |who: usize| KeyedVote {
        proof: world().vote_on(request, who).proof(),
        spki: world().founders[who].certificate().key().spki_der().to_vec().into(),
    };
    vec![of(0), of(1)]
}

/// An expulsion that the second founder wants, with its judgement of what the desk proposes and its
/// commit.
fn expulsion() -> Vec<u8> {
    let (remove, bob) = (removal(), &world().founders[1]);
    let mut steps: Vec<(u8, Vec<u8>)> = vec![
        (1, open(&OpenMessage::Proposal { effect: remove.clone() })),
        (2, world().approval(remove.subject(), 1)),
        (2, Item::Effect(remove).encode()),
        (6, vec![]),
        (5, vec![4, 0]),
        (5, vec![4, 0]),
    ];
    let desk = desk_after(&script(steps.clone()));
    let proposal = desk.said.iter().find_map(|said| match codec::decode(said) {
        Ok(OpenMessage::Ballot { message: BallotMessage::Proposal { proposal, .. } }) => Some(proposal),
        _ => None,
    });
    let proposal = proposal.expect("the owner of the first ballot proposes");
    let (parent, ballot) = (proposal.parent(), proposal.ballot());
    let report = Report { ballot, decision: proposal.decision.digest() };
    let voter = bob.member();
    let sign =
        |statement: Statement| bob.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&world().group()));
    let decision = report.decision;
    let judgement = Judgement { voter, signature: sign(Statement::Judge { parent, ballot, decision }) };
    let commit = Commit { voter, signature: sign(Statement::Commit { parent, ballot, decision }) };
    let said = [
        BallotMessage::Judgement { parent, report, judgement },
        BallotMessage::Commit { parent, report, commit },
    ];
    steps.extend(said.map(|message| (1, open(&OpenMessage::Ballot { message }))));
    steps.push((5, vec![0xff, 0xff]));
    script(steps)
}

fn removal() -> Effect {
    Change::Remove { member: world().members()[2] }.into()
}

/// Of a ticket that the second founder made.
pub(crate) fn voucher() -> Voucher {
    let says = Vouching { serial: [1; 16], ends: UnixTime(NOW.0 + 86_400), holder: None };
    Voucher::sign(world().group(), says, &world().founders[1])
}

/// Seeds: each message; a request decided at the desk; an expulsion; votes for the applicant.
pub(crate) fn admission_seeds() -> [Vec<Vec<u8>>; 3] {
    let request = world().request();
    let cms = |bytes: &[u8]| bytes.to_vec().into();
    let asked = guest(&GuestMessage::Request { cms: cms(request.der()), voucher: None, endorsement: None });
    let certificate = guest(&GuestMessage::Certificate { der: world().gmc().der().clone().into() });
    let withdrawal = Withdrawal::sign(&world().group(), request.digest(), &world().stranger);
    let withdraws = guest(&GuestMessage::Withdraw { withdrawal: withdrawal.clone() });
    let withdrawn = open(&OpenMessage::Withdrawn { withdrawal });
    let taken_back = open(&OpenMessage::TakenBack { proposal: removal().subject().digest });
    let standing =
        GuestMessage::Standing { request: request.digest(), have: 1, need: 2, reason: Reason::AwaitingVotes };
    let voucher = Some(voucher());
    let vouched = guest(&GuestMessage::Request {
        cms: cms(request.der()),
        voucher: voucher.clone(),
        endorsement: None,
    });
    let told = open(&OpenMessage::Request {
        cms: cms(request.der()),
        voucher,
        endorsement: None,
        instead: Some(request.digest()),
    });
    let vote = world().approval(admission(request.digest()), 1);
    let proposal = open(&OpenMessage::Proposal { effect: removal() });
    let revoked = open(&OpenMessage::Revocations { der: world().revocations(2).der().clone().into() });
    let by_csr = open(&OpenMessage::Request {
        cms: cms(world().by_csr().der()),
        voucher: None,
        endorsement: None,
        instead: None,
    });
    let submitted = script([(1, by_csr.clone()), (22, world().csr().der().to_vec()), (6, vec![])]);
    let messages = vec![
        asked,
        vouched.clone(),
        told.clone(),
        certificate.clone(),
        guest(&standing),
        guest(&GuestMessage::Votes { request: request.digest(), votes: votes(request.digest()) }),
        proposal.clone(),
        revoked.clone(),
        by_csr,
        withdraws.clone(),
        withdrawn,
        taken_back.clone(),
    ];
    let given_up = script([(0, vouched.clone()), (0, withdraws), (1, proposal), (1, taken_back)]);
    let admitted = script([(0, vouched), (2, vote), (6, vec![]), (0, certificate)]);
    let brought = script([(1, told), (5, vec![40, 0]), (6, vec![])]);
    let late = script([(4, vec![0xff, 0xff]), (5, vec![0xff, 0xff]), (1, revoked)]);
    [messages, vec![admitted, brought, expulsion(), late, submitted, given_up], applicant_seeds()]
}

fn applicant_seeds() -> Vec<Vec<u8>> {
    let asking = Asking::new();
    let said = asking.said.first().expect("the applicant asks its contact");
    let Ok(GuestMessage::Request { cms, .. }) = codec::decode(said) else { panic!("a request") };
    let request = Request::from_der(&cms.0).expect("its own request").digest();
    let standing = GuestMessage::Standing { request, have: 1, need: 2, reason: Reason::AwaitingVotes };
    let votes = GuestMessage::Votes { request, votes: votes(request) };
    let stale = GuestMessage::Standing { request, have: 0, need: 2, reason: Reason::Stale };
    vec![
        script([(0, guest(&standing)), (0, guest(&votes)), (5, vec![40, 0])]),
        script([(0, guest(&stale)), (5, vec![0xff, 0]), (7, vec![]), (6, vec![])]),
    ]
}

#[cfg(test)]
mod tests {
    use super::{admission_seeds, asking_after, desk_after};

    #[test]
    fn seeds_lead_to_an_admission_an_expulsion_and_a_certificate() {
        let [_, desk, applicant] = admission_seeds();
        let me = &super::world().founders[0];
        let desks: Vec<_> = desk.iter().map(|seed| desk_after(seed)).collect();
        assert_eq!(desks[0].transcript.roster().len(), 4, "the stranger is in");
        assert_eq!(
            desks[1].admission.status(&desks[1].transcript, me).requests.len(),
            1,
            "a request is open"
        );
        assert_eq!(desks[2].transcript.roster().len(), 2, "carol is out");
        let asked: Vec<_> =
            applicant.iter().map(|seed| asking_after(seed).applicant.certificate().is_some()).collect();
        assert_eq!(asked, [true, false]);
    }
}
