//! Voters of one group who speak about the next decision.

use crate::group::{Group, commits, member, members, signature};
use folkmoot_base::{Danger, Instant, MemberId, Mutant, UnixTime};
use folkmoot_transcript::{
    BallotMessage, BallotOutput, BallotRecord, Ballots, Commit, Decision, Judgement, Look, Promise, Proposal,
    Report, Stage, Standing, Statement, Unproposed,
};
use std::collections::BTreeSet;

pub struct Voter {
    pub ballots: Ballots,
    pub record: Option<BallotRecord>,
    pub said: Vec<BallotMessage>,
    pub stands: Option<Standing>,
    pub missing: usize,
}

impl Voter {
    pub fn new(group: &Group, me: usize) -> Self {
        Self::from_disk(group, me, None, None)
    }

    pub fn from_disk(group: &Group, me: usize, record: Option<BallotRecord>, danger: Option<Danger>) -> Self {
        let ballots = Ballots::new(member(me), group.state(), record.clone(), Mutant::from(danger));
        Self { ballots, record, said: Vec::new(), stands: None, missing: 0 }
    }

    fn step<T>(&mut self, group: &Group, seconds: u64, act: impl FnOnce(&mut Ballots, &Look<'_>) -> T) -> T {
        let present: BTreeSet<MemberId> = group.state().voters();
        let look = Look {
            state: group.state(),
            set: group.set(),
            now: Instant(seconds * 1_000_000),
            clock: UnixTime(group.now + seconds),
            present: &present,
            sign: &|_: &Statement| signature(),
        };
        let done = act(&mut self.ballots, &look);
        while let Some(output) = self.ballots.poll_output() {
            match output {
                BallotOutput::Persist(record) => self.record = Some(record),
                BallotOutput::Send(message) => self.said.push(message),
                BallotOutput::Stands(standing) => self.stands = Some(standing),
                BallotOutput::Missing(_) => self.missing += 1,
            }
        }
        done
    }

    /// Does what is due, so many seconds after the group's time.
    pub fn work(&mut self, group: &Group, seconds: u64) {
        self.step(group, seconds, |ballots, look| ballots.work(look));
    }

    pub fn hear(&mut self, group: &Group, seconds: u64, message: &BallotMessage) -> Result<(), Unproposed> {
        self.step(group, seconds, |ballots, look| ballots.hear(look, message.clone()))
    }

    /// Says again what others may have missed.
    pub fn resend(&mut self, group: &Group, seconds: u64) {
        self.step(group, seconds, |ballots, look| ballots.resend(look));
    }

    /// Hears a proposal that all others have judged.
    pub fn hear_judged(&mut self, group: &Group, seconds: u64, proposal: &Proposal) {
        self.hear(group, seconds, &told(group, proposal)).unwrap();
        for judgement in judged(group) {
            let (parent, report) = (proposal.parent(), proposal.judged());
            self.hear(group, seconds, &BallotMessage::Judgement { parent, report, judgement }).unwrap();
        }
    }

    /// What it committed to, by ballot.
    pub fn commits(&self) -> Vec<Report> {
        let commits = self.said.iter().filter_map(|message| match message {
            BallotMessage::Commit { report, .. } => Some(*report),
            _ => None,
        });
        commits.collect()
    }

    /// What it judged, by ballot.
    pub fn judgements(&self) -> Vec<Report> {
        let judgements = self.said.iter().filter_map(|message| match message {
            BallotMessage::Judgement { report, .. } => Some(*report),
            _ => None,
        });
        judgements.collect()
    }

    pub fn proposals(&self) -> Vec<Proposal> {
        let proposals = self.said.iter().filter_map(|message| match message {
            BallotMessage::Proposal { proposal, .. } => Some(proposal.clone()),
            _ => None,
        });
        proposals.collect()
    }

    /// The ballots that it promised.
    pub fn promised(&self) -> Vec<u32> {
        let promises = self.said.iter().filter_map(|message| match message {
            BallotMessage::Promise { ballot, .. } => Some(*ballot),
            _ => None,
        });
        promises.collect()
    }
}

/// All say what they have to say to all, again and again, a second apart, until nobody has news.
pub fn talk(group: &Group, voters: &mut [Voter], from: u64, seconds: u64) {
    let mut told = vec![0; voters.len()];
    for second in from..from + seconds {
        for speaker in 0..voters.len() {
            let news: Vec<BallotMessage> = voters[speaker].said[told[speaker]..].to_vec();
            told[speaker] = voters[speaker].said.len();
            for message in &news {
                for voter in voters.iter_mut() {
                    let _ = voter.hear(group, second, message);
                }
            }
        }
        voters.iter_mut().for_each(|voter| voter.work(group, second));
    }
}

/// A promise of a person for a ballot, with the commit that it reports.
pub fn promise(person: usize, report: Option<Report>) -> Promise {
    Promise { voter: member(person), report, signature: signature() }
}

/// The judgements of these people.
pub fn judgements(people: &[usize]) -> Vec<Judgement> {
    let judgement = |person: &usize| Judgement { voter: member(*person), signature: signature() };
    let mut judgements: Vec<Judgement> = people.iter().map(judgement).collect();
    judgements.sort_by_key(|judgement| judgement.voter);
    judgements
}

/// The judgements of all voters.
pub fn judged(group: &Group) -> Vec<Judgement> {
    let voters = group.state().voters().into_iter();
    voters.map(|voter| Judgement { voter, signature: signature() }).collect()
}

/// A proposal as its owner tells it; all have judged what it follows.
pub fn told(group: &Group, proposal: &Proposal) -> BallotMessage {
    let judgements = if proposal.is_fresh() { Vec::new() } else { judged(group) };
    BallotMessage::Proposal { proposal: proposal.clone(), judgements }
}

/// A promise of a person; all have judged what it reports.
pub fn say_promise(group: &Group, person: usize, ballot: u32, report: Option<&Proposal>) -> BallotMessage {
    let judgements = if report.is_some() { judged(group) } else { Vec::new() };
    say_promise_with(group, person, ballot, report, judgements)
}

pub fn say_promise_with(
    group: &Group,
    person: usize,
    ballot: u32,
    report: Option<&Proposal>,
    judgements: Vec<Judgement>,
) -> BallotMessage {
    BallotMessage::Promise {
        parent: group.head(),
        ballot,
        promise: promise(person, report.map(Proposal::report)),
        report: report.cloned(),
        judgements,
    }
}

pub fn say_judgement(group: &Group, person: usize, report: Report) -> BallotMessage {
    let judgement = Judgement { voter: member(person), signature: signature() };
    BallotMessage::Judgement { parent: group.head(), report, judgement }
}

pub fn say_commit(group: &Group, person: usize, report: Report) -> BallotMessage {
    let commit = Commit { voter: member(person), signature: signature() };
    BallotMessage::Commit { parent: group.head(), report, commit }
}

/// A decision proposed in these stages: the ballot, and who promised it with which report.
pub fn proposal(decision: &Decision, stages: &[(u32, Vec<Promise>)]) -> Proposal {
    let stage = |(ballot, promises): &(u32, Vec<Promise>)| {
        let mut promises = promises.clone();
        promises.sort_by_key(|promise| promise.voter);
        Stage { ballot: *ballot, promises, signature: signature() }
    };
    Proposal { decision: decision.clone(), stages: stages.iter().map(stage).collect() }
}

pub fn standing(proposal: Proposal, people: &[usize]) -> Standing {
    Standing { proposal, commits: commits(members(people)) }
}
