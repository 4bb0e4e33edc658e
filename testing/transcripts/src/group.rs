//! A group: its people with their keys, its transcript, and the programs of its voters.

use crate::Dice;
use crate::signers::Keys;
use folkmoot_base::{Instant, MemberId, Mutant, UnixTime};
use folkmoot_identity::{GmcBody, Identity, KeyAlgorithm, Verdict};
use folkmoot_transcript::{
    Approval, BallotMessage, BallotOutput, Ballots, Effect, Item, Look, STATEMENT_LABEL, SignedApproval,
    Standing, Statement, Subject, Taken, Transcript,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What can go wrong while a group is drawn: only a fault of the drawer.
pub type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// When the groups are founded.
pub(crate) const START: u64 = 1_767_225_600;
pub(crate) const DAY: u64 = 86_400;
const SECONDS_MAX: u64 = 90;

/// A group as it stands.
#[derive(Debug)]
pub struct Group {
    pub(crate) dice: Dice,
    pub(crate) transcript: Transcript,
    /// Everybody who ever had a key here, members or not.
    pub(crate) people: BTreeMap<MemberId, Identity>,
    pub(crate) keys: Keys,
    pub(crate) clock: u64,
    /// Requests that were certified before, each with its holder.
    pub(crate) asked: Vec<(Identity, GmcBody)>,
    /// Effects that somebody wanted.
    pub(crate) said: Vec<Effect>,
    /// Another line of this group, and the number that was decided twice.
    pub(crate) other: Option<(u64, Transcript)>,
}

/// Whatever a mixed group takes: RSA seldom, as its keys take long to draw.
pub(crate) fn algorithm(dice: &mut Dice) -> KeyAlgorithm {
    match dice.roll(40) {
        0 => KeyAlgorithm::Rsa2048,
        1 => KeyAlgorithm::Rsa3072,
        2..=20 => KeyAlgorithm::Ed25519,
        _ => KeyAlgorithm::P256,
    }
}

impl Group {
    /// The transcript as a file.
    pub fn file(&self) -> Vec<u8> {
        self.transcript.file()
    }

    /// Somebody new.
    pub(crate) fn person(&mut self) -> Drawn<Identity> {
        let names = ["Anna", "Ben", "Cora", "Dan", "Zoë", "山本", "a b"];
        let name = format!("{} {}", self.dice.pick(&names).unwrap_or("x"), self.people.len());
        let terms = (UnixTime(START), UnixTime(START + 7_000 * DAY));
        let algorithm = match self.transcript.state().charter().algorithms().iter().count() {
            1 => KeyAlgorithm::P256,
            _ => algorithm(&mut self.dice),
        };
        let identity = Identity::draw(algorithm, &name, &mut self.dice, terms.0, terms.1)?;
        self.people.insert(identity.member(), identity.clone());
        Ok(identity)
    }

    pub(crate) fn voters(&self) -> Vec<MemberId> {
        self.transcript.state().voters().into_iter().collect()
    }

    pub(crate) fn members(&self) -> Vec<MemberId> {
        self.transcript.state().roster().keys().copied().collect()
    }

    /// What somebody says of a subject over the head, signed.
    pub(crate) fn approval(
        &self,
        voter: MemberId,
        subject: Subject,
        (turn, verdict, expires): (u32, Verdict, u64),
    ) -> Drawn<SignedApproval> {
        let base = self.transcript.state().head();
        let approval = Approval { voter, base, subject, turn, verdict, expires: UnixTime(expires) };
        let person = self.people.get(&voter).ok_or("a voter without a key")?;
        Ok(SignedApproval::sign(person.key(), self.transcript.group(), approval))
    }

    /// Takes an item as a member does; one that is refused changes nothing.
    pub(crate) fn take(&mut self, item: &Item) -> Taken {
        self.transcript.take(&item.encode(), Some(UnixTime(self.clock))).unwrap_or_default()
    }

    /// Lets the programs of these voters work until a decision stands, or for a while. `lost`:
    /// seconds in which no commit arrives. Whether one stood.
    pub(crate) fn decide(&mut self, who: &[MemberId], lost: u64) -> bool {
        let present: BTreeSet<MemberId> = who.iter().copied().collect();
        let state = self.transcript.state();
        let mut programs: BTreeMap<MemberId, Ballots> =
            who.iter().map(|one| (*one, Ballots::new(*one, state, None, Mutant::NONE))).collect();
        for second in 0..SECONDS_MAX {
            if let Some(standing) = self.second(second, &present, &mut programs, lost) {
                return self.take(&Item::Decision(standing)).advanced;
            }
        }
        false
    }

    /// One second of the programs: what stands at its end.
    fn second(
        &self,
        second: u64,
        present: &BTreeSet<MemberId>,
        programs: &mut BTreeMap<MemberId, Ballots>,
        lost: u64,
    ) -> Option<Standing> {
        let mut said: VecDeque<Option<BallotMessage>> = VecDeque::from([None]);
        while let Some(message) = said.pop_front() {
            for (one, program) in &mut *programs {
                let look = Look {
                    state: self.transcript.state(),
                    set: self.transcript.set(),
                    now: Instant(second * 1_000_000),
                    clock: UnixTime(self.clock),
                    present,
                    sign: &|statement: &Statement| self.sign(one, statement),
                };
                match message.clone() {
                    // Nobody lies here, so what does not stand came too late.
                    Some(message) => drop(program.hear(&look, message)),
                    None => program.work(&look),
                }
                while let Some(output) = program.poll_output() {
                    match output {
                        BallotOutput::Send(BallotMessage::Commit { .. }) if second < lost => {}
                        BallotOutput::Send(message) => said.push_back(Some(message)),
                        BallotOutput::Stands(standing) => return Some(standing),
                        BallotOutput::Persist(_) | BallotOutput::Missing(_) => {}
                    }
                }
            }
        }
        None
    }

    pub(crate) fn sign(&self, one: &MemberId, statement: &Statement) -> folkmoot_base::SignatureBytes {
        let bytes = statement.bytes(&self.transcript.group());
        let person = self.people.get(one);
        person.map_or(folkmoot_base::SignatureBytes::NONE, |person| {
            person.key().sign_wire(STATEMENT_LABEL, &bytes)
        })
    }
}
