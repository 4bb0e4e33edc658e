//! Votes on requests: cast here, or heard from others.

use crate::contact::end_of;
use crate::desk::{Admission, Call};
use crate::message::OpenMessage;
use crate::requests::Open;
use crate::{AdmissionError, Event, Output, store};
use folkmoot_base::{Blob, Danger, Digest, MemberId, UnixTime};
use folkmoot_identity::{Roster, Verdict, Vote, VoteContent};

impl Admission {
    /// A person votes on a request. Persisted before it is sent.
    pub(crate) fn vote_request(
        &mut self,
        call: &Call<'_>,
        digest: Digest,
        approve: bool,
    ) -> Result<(), AdmissionError> {
        let me = call.identity.member();
        if !call.transcript.roster().may_vote(&me) {
            return Err(AdmissionError::LocalNotVoter);
        }
        let open = self.requests.get(&digest).ok_or(AdmissionError::LocalUnknown)?;
        let content = VoteContent { motion: open.motion, verdict: verdict(approve), expires: open.expires };
        match open.votes.get(&me).map(|vote| vote.content().verdict) {
            Some(before) if before == content.verdict => return Ok(()),
            Some(Verdict::Approve) => return Err(AdmissionError::LocalVotedAlready),
            _ => {}
        }
        let vote = Vote::sign(call.identity, content).map_err(AdmissionError::WireVote)?;
        let cms = Blob::from(vote.der().to_vec());
        self.count_vote(call, digest, vote);
        self.multicast(&OpenMessage::Vote { cms });
        self.pause.soon();
        Ok(())
    }

    /// A vote came. Our own comes too, perhaps after a restart from an older disk: it binds us as
    /// if we remembered it.
    pub(crate) fn hear_vote(&mut self, call: &Call<'_>, cms: &[u8]) -> Result<(), AdmissionError> {
        let known = self.requests.iter().flat_map(|open| open.votes.values()).any(|vote| vote.der() == cms);
        if known {
            return Ok(());
        }
        let vote = Vote::from_der(cms).map_err(AdmissionError::WireVote)?;
        let (voter, content) = (vote.voter(), *vote.content());
        check_frame(&vote, call, self.clock, self.config.skew_seconds)?;
        let open =
            self.requests.get(&content.motion.subject).ok_or(AdmissionError::PeerVoteUnknown(voter))?;
        if open.motion != content.motion {
            return Err(AdmissionError::PeerVoteUnknown(voter));
        }
        if content.verdict == Verdict::Approve {
            self.check_until(call, open, &vote)?;
        }
        match open.votes.get(&voter).map(|vote| vote.content().verdict) {
            Some(before) if before == content.verdict => return Ok(()),
            Some(Verdict::Approve) => return Err(AdmissionError::PeerVotedAlready(voter)),
            _ => {}
        }
        self.count_vote(call, content.motion.subject, vote);
        Ok(())
    }

    /// `ADM-27`: refuses a yes by which nobody could be admitted (`TRN-15`, `TRN-18`), or that has
    /// almost run out. It would be counted with the others, and all of them would be refused
    /// because of it.
    fn check_until(&self, call: &Call<'_>, open: &Open, vote: &Vote) -> Result<(), AdmissionError> {
        let (voter, until, body) = (vote.voter(), vote.content().expires, open.request.body());
        let now = self.clock.unwrap_or_default();
        if until < body.not_before || until < now {
            return Err(AdmissionError::PeerVoteEnded(voter));
        }
        let charter = call.transcript.roster().charter();
        let bounded = charter.policies().request_days.is_some();
        if bounded && until > end_of(&open.request, now, charter) {
            return Err(AdmissionError::PeerVoteOutlasts(voter));
        }
        Ok(())
    }

    /// Votes for admission that have run out no longer count; their voter may vote again.
    pub(crate) fn drop_late_votes(&mut self, time: UnixTime) {
        for open in self.requests.iter_mut() {
            let late =
                |vote: &Vote| vote.content().verdict == Verdict::Approve && vote.content().expires < time;
            open.votes.retain(|_, vote| !late(vote));
        }
    }

    /// The mutant that sends votes it does not keep.
    pub(crate) fn forgets_votes(&self) -> bool {
        self.config.danger.is(Danger::AdmissionForgetsVote)
    }

    fn count_vote(&mut self, call: &Call<'_>, digest: Digest, vote: Vote) {
        let roster = call.transcript.roster();
        let (voter, approve) = (vote.voter(), vote.content().verdict == Verdict::Approve);
        if voter == call.identity.member() && !self.forgets_votes() {
            self.out.push_back(Output::Persist(store::put_vote(&digest, &vote)));
        }
        let Some(open) = self.requests.get_mut(&digest) else { return };
        open.votes.insert(voter, vote);
        let (have, need) = (open.have(roster), open.need(roster));
        self.out.push_back(Output::Event(Event::VoteCast { motion: digest, voter, approve, have, need }));
        self.answer(call, &digest);
        if self.requests.get(&digest).is_some_and(|open| open.contact == call.identity.member()) {
            self.refuse_for_good(call, &digest);
        }
    }

    /// `ADM-21`: so many object that the request is refused. Once the transcript has the refusal,
    /// nobody can be admitted by the request. The contact enters it at once; the others enter it
    /// when they would speak again and the request is still open.
    pub(crate) fn refuse_for_good(&mut self, call: &Call<'_>, digest: &Digest) {
        let roster = call.transcript.roster();
        let Some(open) = self.requests.get(digest).filter(|open| open.is_objected(roster)) else { return };
        let proofs: Vec<_> = open.objections(roster).into_iter().map(Vote::proof).collect();
        match call.transcript.make_refusal_of(&open.request, &proofs, call.identity) {
            Ok(entry) => self.out.push_back(Output::Entry(entry)),
            Err(error) => self.trace(format!("refusal not entered: {error}")),
        }
    }

    /// The votes on an open request as they stand alone (CMS, DER), in the form that `openssl cms
    /// -verify` reads.
    pub fn votes_on(&self, request: &Digest) -> Vec<Vote> {
        self.requests.get(request).map(|open| open.votes.values().cloned().collect()).unwrap_or_default()
    }
}

/// `ADM-11` to `ADM-13`, `ADM-15`: the vote is of a voter of this group, under this charter, and
/// has not run out.
pub(crate) fn check_frame(
    vote: &Vote,
    call: &Call<'_>,
    clock: Option<UnixTime>,
    skew_seconds: u64,
) -> Result<(), AdmissionError> {
    let (voter, content) = (vote.voter(), vote.content());
    let roster: &Roster = call.transcript.roster();
    if content.motion.group != call.transcript.group() {
        return Err(AdmissionError::PeerVoteGroup(voter));
    }
    if content.motion.charter != roster.charter().digest() {
        return Err(AdmissionError::PeerVoteCharter(voter));
    }
    if !roster.may_vote(&voter) {
        return Err(AdmissionError::PeerNotVoter(voter));
    }
    let early = UnixTime(clock.unwrap_or_default().0.saturating_sub(skew_seconds));
    if content.expires < early {
        return Err(AdmissionError::PeerVoteEnded(voter));
    }
    Ok(())
}

pub(crate) fn verdict(approve: bool) -> Verdict {
    if approve { Verdict::Approve } else { Verdict::Reject }
}

/// Who gave these votes, for status.
pub(crate) fn voters<'a>(votes: impl Iterator<Item = &'a Vote>, verdict: Verdict) -> Vec<MemberId> {
    votes.filter(|vote| vote.content().verdict == verdict).map(Vote::voter).collect()
}
