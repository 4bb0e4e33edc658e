//! What became of a request or a proposal, and of this member's vote on it: while it is open, from
//! admission; afterwards from the transcript, and from what admission said when it was over.
//!
//! ```text
//! open     votes that count, and what it waits for           admission
//! over     why: granted, rejected, withdrawn, ...            [`Ended`]: the last 256, on disk
//!          who said yes and no                               the transcript
//! ```

use crate::{Member, join::Joining};
use base::{Digest, MemberId, Persist, StoreKey};
use bytes::Bytes;
use folkmoot_admission as admission;
use folkmoot_admission::Closed;
use folkmoot_base as base;
use folkmoot_identity::Gmc;
use folkmoot_transcript::{Approval, Item};
use std::collections::BTreeMap;

/// Where the reasons are kept.
const TABLE: &str = "closed";
/// Most reasons that are kept; then the oldest goes.
const ENDED_MAX: usize = 256;

/// What an open request or proposal waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaits {
    /// Votes of people.
    Votes,
    /// It has the votes of people: the voters' programs decide.
    Decision,
    /// It has the votes: the admission itself follows.
    Admission,
    /// It has the votes: the group's authority has to sign.
    Authority,
    /// It has the votes: nobody can sign until the voters have new shares of the group's key.
    NewShares,
}

/// How a request or a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// It is open.
    Open(Awaits),
    /// It is over.
    Over(Closed),
}

/// How a vote of this member stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// It counts, or counted when the matter was over.
    Counted,
    /// It has no place in the group's order yet.
    Waiting,
    /// The group knows it, and it does not count.
    Uncounted(String),
}

/// What became of a request or a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The digest that a vote on it names.
    pub subject: Digest,
    /// How it stands.
    pub stands: Stands,
    /// This member's vote, if it has given one: yes or no, and whether it counts.
    pub vote: Option<(bool, Counting)>,
    /// Who said yes: while it is open, those whose yes counts.
    pub approved: Vec<MemberId>,
    /// Who said no.
    pub rejected: Vec<MemberId>,
    /// How many votes it takes, at the least; unknown once it is over.
    pub need: Option<u32>,
    /// The charter's rule besides, with the votes so far in each part; `None` if none applies.
    pub rule: Option<String>,
}

/// Why things were over that were open to votes.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    by_subject: BTreeMap<Digest, (u64, Closed)>,
}

impl Ended {
    /// From the store. What is not legible is left out: people are told less, and nothing else.
    pub(crate) fn load(stored: &[(StoreKey, Bytes)]) -> Self {
        let rows = stored.iter().filter(|(key, _)| key.table == TABLE);
        let read = |(key, value): &(StoreKey, Bytes)| {
            let subject: Digest = key.key.as_ref().try_into().ok()?;
            let (number, word) = value.split_first_chunk::<8>()?;
            let [word] = word else { return None };
            Some((subject, (u64::from_be_bytes(*number), over(*word)?)))
        };
        Self { by_subject: rows.filter_map(read).collect() }
    }

    /// Something is over. What has to be written.
    fn note(&mut self, subject: Digest, why: Closed) -> Vec<Persist> {
        let last = self.by_subject.values().map(|(number, _)| *number).max();
        let number = last.map_or(0, |last| last.saturating_add(1));
        self.by_subject.insert(subject, (number, why));
        let value = [&number.to_be_bytes()[..], &[word(why)]].concat();
        let mut writes = vec![Persist::put(TABLE, subject.to_vec(), value)];
        if self.by_subject.len() > ENDED_MAX
            && let Some(oldest) = self.by_subject.iter().min_by_key(|(_, (number, _))| *number)
        {
            let oldest = *oldest.0;
            self.by_subject.remove(&oldest);
            writes.push(Persist::delete(TABLE, oldest.to_vec()));
        }
        writes
    }

    fn why(&self, subject: &Digest) -> Option<Closed> {
        self.by_subject.get(subject).map(|(_, why)| *why)
    }
}

fn word(why: Closed) -> u8 {
    match why {
        Closed::Granted => 1,
        Closed::Rejected => 2,
        Closed::Expired => 3,
        Closed::Overtaken => 4,
        Closed::Crowded => 5,
        Closed::Withdrawn => 6,
    }
}

fn over(word: u8) -> Option<Closed> {
    let all = [
        Closed::Granted,
        Closed::Rejected,
        Closed::Expired,
        Closed::Overtaken,
        Closed::Crowded,
        Closed::Withdrawn,
    ];
    all.into_iter().find(|why| self::word(*why) == word)
}

impl Member {
    /// Something that was open to votes is over.
    pub(crate) fn note_over(&mut self, subject: Digest, why: Closed) {
        for write in self.ended.note(subject, why) {
            self.persist(write);
        }
    }

    /// What became of a request or a proposal, by the digest that votes on it name, and of this
    /// member's vote on it. `None` if nothing is known of it here.
    pub fn outcome(&self, subject: &Digest) -> Option<Outcome> {
        let open = match &self.joining {
            Joining::Inside(admission) => {
                let status = admission.status(&self.transcript, &self.config.identity);
                let proposal = status.proposals.iter().find(|one| one.proposal == *subject);
                let request = status.requests.iter().find(|one| one.request == *subject);
                let proposal = proposal.map(|one| self.of_proposal(one));
                proposal.or_else(|| request.map(|one| self.of_request(one)))
            }
            Joining::Office(authority) => {
                let all = authority.status().petitions;
                all.iter().find(|one| one.request == *subject).map(|one| self.of_petition(one))
            }
            Joining::Elsewhere | Joining::Closed | Joining::Outside(_) => None,
        };
        open.or_else(|| self.of_ended(subject))
    }

    fn of_proposal(&self, one: &admission::ProposalStatus) -> Outcome {
        let awaits = if one.have >= one.need { Awaits::Decision } else { Awaits::Votes };
        Outcome {
            subject: one.proposal,
            stands: Stands::Open(awaits),
            vote: self.own_vote(&one.proposal, one.opinion, (&one.approved, &one.rejected)),
            approved: one.approved.clone(),
            rejected: one.rejected.clone(),
            need: Some(crate::said::count(one.need)),
            rule: one.rule.clone(),
        }
    }

    fn of_request(&self, one: &admission::RequestStatus) -> Outcome {
        let awaits = match (one.stale, one.waits) {
            (true, _) => Awaits::NewShares,
            (_, Some(_)) => Awaits::Authority,
            _ if one.have >= one.need => Awaits::Admission,
            _ => Awaits::Votes,
        };
        Outcome {
            subject: one.request,
            stands: Stands::Open(awaits),
            vote: self.own_vote(&one.request, one.opinion, (&one.approved, &one.rejected)),
            approved: one.approved.clone(),
            rejected: one.rejected.clone(),
            need: Some(crate::said::count(one.need)),
            rule: one.rule.clone(),
        }
    }

    /// The authority's own person decides alone.
    fn of_petition(&self, one: &admission::PetitionStatus) -> Outcome {
        let yes = one.verdict == Some(true);
        Outcome {
            subject: one.request,
            stands: Stands::Open(if yes { Awaits::Admission } else { Awaits::Votes }),
            vote: one.verdict.map(|approve| (approve, Counting::Counted)),
            approved: if yes { vec![self.me] } else { Vec::new() },
            rejected: if one.verdict == Some(false) { vec![self.me] } else { Vec::new() },
            need: Some(1),
            rule: None,
        }
    }

    fn own_vote(
        &self,
        subject: &Digest,
        opinion: Option<bool>,
        (yes, no): (&[MemberId], &[MemberId]),
    ) -> Option<(bool, Counting)> {
        let approve = opinion?;
        if (if approve { yes } else { no }).contains(&self.me) {
            return Some((approve, Counting::Counted));
        }
        let state = self.transcript.state();
        let mut own = self.said_of(subject).filter(|one| one.voter == self.me && one.is_yes() == approve);
        let why = own.next().map(|one| match state.counts(one, 0, state.time()) {
            Err(why) => why.to_string(),
            Ok(()) => "what it is about has changed since".to_owned(),
        });
        Some((approve, why.map_or(Counting::Waiting, Counting::Uncounted)))
    }

    /// What the transcript has of voters' words on a subject, whether they count or not.
    fn said_of(&self, subject: &Digest) -> impl Iterator<Item = &Approval> {
        let all = self.transcript.set().approvals().map(|signed| &signed.approval);
        all.filter(move |one| one.subject.digest == *subject)
    }

    fn of_ended(&self, subject: &Digest) -> Option<Outcome> {
        let granted = self.granted(subject);
        let why = self.ended.why(subject).or(granted.as_ref().map(|_| Closed::Granted))?;
        let said = |yes: bool| -> Vec<MemberId> {
            let mut all: Vec<MemberId> =
                self.said_of(subject).filter(|one| one.is_yes() == yes).map(|one| one.voter).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let rejected = said(false);
        let mut approved = granted.filter(|_| why == Closed::Granted).unwrap_or_else(|| said(true));
        // A yes that was taken back is kept for others, and is none any more.
        approved.retain(|voter| !rejected.contains(voter));
        let own = [(true, &approved), (false, &rejected)].into_iter().find(|(_, all)| all.contains(&self.me));
        Some(Outcome {
            subject: *subject,
            stands: Stands::Over(why),
            vote: own.map(|(approve, _)| (approve, Counting::Counted)),
            approved,
            rejected,
            need: None,
            rule: None,
        })
    }

    /// Whose votes carried it, if a decision has carried it out, or it has admitted somebody.
    fn granted(&self, subject: &Digest) -> Option<Vec<MemberId>> {
        let decisions = self.transcript.line().decisions().values().rev();
        let mut effects = decisions.flat_map(|standing| &standing.proposal.decision.effects);
        if let Some(approved) = effects.find(|one| one.effect.subject().digest == *subject) {
            return Some(approved.proofs.iter().map(|proof| proof.voter).collect());
        }
        let roster = self.transcript.roster();
        let admitted = roster.members().values().any(|held| held.request == *subject);
        if !admitted {
            return None;
        }
        let mut voters: Vec<MemberId> = self.transcript.papers(subject).flat_map(signers).collect();
        voters.sort_unstable();
        voters.dedup();
        Some(voters)
    }
}

/// Whose votes the item of an admission carries.
fn signers(paper: &Bytes) -> Vec<MemberId> {
    let Ok(Item::Admit { certificate, approvals }) = Item::decode(paper) else { return Vec::new() };
    let beside = approvals.iter().map(|signed| signed.approval.voter);
    let Ok(gmc) = Gmc::from_der(&certificate.0) else { return beside.collect() };
    let together = gmc.multi().map(|multi| multi.signers().to_vec()).unwrap_or_default();
    let inside = gmc.votes().iter().map(|vote| vote.voter);
    beside.chain(inside).chain(together).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_things_were_over_is_kept_for_the_newest() {
        let mut ended = Ended::default();
        let mut disk: BTreeMap<StoreKey, Bytes> = BTreeMap::new();
        let subject = |number: usize| base::digest(&[&number.to_be_bytes()]);
        for number in 0..ENDED_MAX + 3 {
            let why = over(u8::try_from(number % 6 + 1).unwrap_or_default()).unwrap_or(Closed::Granted);
            for write in ended.note(subject(number), why) {
                match write.value {
                    Some(value) => drop(disk.insert(write.key, value)),
                    None => drop(disk.remove(&write.key)),
                }
            }
        }
        assert_eq!(disk.len(), ENDED_MAX);
        let stored: Vec<(StoreKey, Bytes)> = disk.into_iter().collect();
        let mut again = Ended::load(&stored);
        assert_eq!((again.why(&subject(2)), again.why(&subject(3))), (None, Some(Closed::Overtaken)));
        assert_eq!(again.by_subject, ended.by_subject);
        again.note(subject(3), Closed::Withdrawn);
        assert_eq!(again.why(&subject(3)), Some(Closed::Withdrawn));
        for bad in [&b""[..], &[0; 8], &[0; 9], &[9; 10]] {
            let key = StoreKey { table: TABLE, key: subject(1).to_vec().into() };
            let loaded = Ended::load(&[(key, Bytes::copy_from_slice(bad))]);
            assert_eq!(loaded.why(&subject(1)), None);
        }
    }
}
