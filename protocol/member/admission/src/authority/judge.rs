//! What an authority would sign. It judges by its own transcript and clock, as the transcript will
//! judge the item.

use super::message::WireGrounds;
use super::office::Office;
use crate::voting::lacks_votes_only;
use crate::{AdmissionError, Reason};
use folkmoot_base::{Head, MemberId, NodeId, UnixTime};
use folkmoot_identity::{CertificateError, Gmc, GmcBody, Grounds, Request, Scheme, VoteKind};
use folkmoot_transcript::{Admit, Approval, ItemError, Roster, Signed, Transcript, Uncounted};

/// A refusal: the reason that the guest hears, and what is wrong.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) reason: Reason,
    pub(super) why: Box<AdmissionError>,
}

impl Refused {
    pub(super) fn new(reason: Reason, why: AdmissionError) -> Self {
        Self { reason, why: Box::new(why) }
    }
}

/// What the authority judges by.
pub(super) struct Judge<'a> {
    pub(super) office: &'a Office,
    pub(super) transcript: &'a Transcript,
    pub(super) time: UnixTime,
    pub(super) skew_seconds: u64,
    /// Who handed it in.
    pub(super) from: NodeId,
}

impl Judge<'_> {
    /// The certificate for this request on these grounds, if an item with it would count now:
    /// `ADM-60`, `ADM-61`. It is made so that it can be judged whole. One that does not stand is
    /// dropped here, and nobody has seen it.
    pub(super) fn certify(&self, request: &Request, grounds: &Grounds) -> Result<Gmc, Refused> {
        self.check_charter(request.body())?;
        self.check_time(request.body(), &approvals(grounds))?;
        self.check_grounds(request, grounds).map_err(|why| self.refuse(reason_of(&why), why))?;
        let made = self.sign(request.body(), grounds).map_err(ItemError::Certificate);
        let made = made.and_then(|gmc| self.admits(&gmc).map(|()| gmc));
        // The group's key has signed, so the voters have spoken: what they said is on its way.
        let spoken = matches!(grounds, Grounds::Combined(_));
        made.map_err(|why| match reason_of(&why) {
            Reason::AwaitingVotes if spoken => self.refuse(Reason::AwaitingAuthority, why),
            reason => self.refuse(reason, why),
        })
    }

    /// `ADM-60`, `ADM-68`: whether those named have signed these grounds. The transcript passes
    /// over an approval that nobody signed, or whose base is not on its line; the asker is told.
    fn check_grounds(&self, request: &Request, grounds: &Grounds) -> Result<(), ItemError> {
        let (group, roster) = (self.transcript.group(), self.transcript.roster());
        let (digest, scheme) = (request.digest(), roster.charter().scheme());
        let wanted = match grounds {
            Grounds::Votes(_) => scheme == Scheme::Plain || roster.is_for_authority(),
            Grounds::Multi(_) => scheme == Scheme::Asm,
            Grounds::Combined(_) => scheme.shared(),
        };
        if !wanted {
            return Err(ItemError::Certificate(CertificateError::PeerAuthority));
        }
        match grounds {
            Grounds::Votes(votes) => votes.iter().try_for_each(|vote| {
                let no_vote = ItemError::Late(Uncounted::NotVoter(vote.voter));
                let key = roster.voter_key(&vote.voter).ok_or(no_vote)?;
                self.check_base(&vote.base, vote.voter)?;
                vote.verify(group, digest, key).map_err(|_| ItemError::Signature(vote.voter))
            }),
            Grounds::Multi(multi) => {
                let of_key = self.rotates(&Admit::asked(request));
                let kind = if of_key { VoteKind::Rotate } else { VoteKind::Admit };
                let body = multi.body(group, kind, digest);
                let first = multi.signers().first().copied();
                first.map_or(Ok(()), |first| self.check_base(&multi.base(), first))?;
                let key = |signer: &MemberId| match of_key {
                    true => roster.key_of(signer),
                    false => roster.voter_key(signer),
                };
                multi.verify_body(&body, key).map_err(ItemError::Certificate)
            }
            Grounds::Combined(combined) => {
                let present = roster.sharing().map(|now| now.facts.epoch) == Some(combined.epoch);
                if present { Ok(()) } else { Err(ItemError::Late(Uncounted::Epoch)) }
            }
        }
    }

    /// Whether a voter's base is on our line, or may come to be.
    fn check_base(&self, base: &Head, voter: MemberId) -> Result<(), ItemError> {
        let state = self.transcript.state();
        match state.has_on_line(base) {
            true => Ok(()),
            false if base.number > state.head().number => Err(ItemError::Ahead),
            false => Err(ItemError::Late(Uncounted::OffLine(voter))),
        }
    }

    /// `ADM-83`: whether a certificate that was made before still stands.
    pub(super) fn stands(&self, gmc: &Gmc) -> bool {
        let timely = self.check_time(gmc.body(), &gmc.approvals()).is_ok();
        timely && self.admits(gmc).is_ok()
    }

    /// Whether an item with this certificate, and with the approvals that are known here, would
    /// admit.
    fn admits(&self, gmc: &Gmc) -> Result<(), ItemError> {
        let (set, state) = (self.transcript.set(), self.transcript.state());
        let request = gmc.body().request_digest().map_err(ItemError::Certificate)?;
        let asked = Admit::of(gmc, request);
        let approvals = set.approving(state, &asked);
        if gmc.combined().is_some() {
            self.check_ends(gmc, &approvals)?;
        }
        match self.transcript.make_admit(gmc.der(), &approvals) {
            // `ADM-93`: of another key for a member the voters approve that, and no admission. The
            // certificate admits nobody by itself.
            Err(ItemError::Late(why)) if lacks_votes_only(&why) && self.rotates(&asked) => Ok(()),
            judged => judged.map(|_| ()),
        }
    }

    /// `ADM-93`: whether the voters have approved this key in place of a member's, by approvals
    /// that have not run out by our clock.
    fn rotates(&self, asked: &Admit) -> bool {
        let early = UnixTime(self.time.0.saturating_sub(self.skew_seconds));
        self.transcript.is_rotation_granted(asked, early)
    }

    /// `ADM-61` where the group's key has signed: the approvals are those that are known here, and
    /// enough of them have not run out by our clock.
    fn check_ends(&self, gmc: &Gmc, approvals: &[&Signed]) -> Result<(), ItemError> {
        let early = UnixTime(self.time.0.saturating_sub(self.skew_seconds));
        let (over, live): (Vec<&Approval>, Vec<&Approval>) =
            approvals.iter().map(|signed| &signed.approval).partition(|one| one.expires < early);
        let yes = live.iter().map(|one| one.voter).collect();
        match over.first() {
            Some(over) if !self.transcript.roster().lets_in(&gmc.member(), &yes) => {
                Err(ItemError::Late(Uncounted::Expired(over.voter)))
            }
            _ => Ok(()),
        }
    }

    /// Reads the grounds.
    pub(super) fn read(&self, grounds: &WireGrounds) -> Result<Grounds, Refused> {
        grounds.read().map_err(|why| Refused::new(Reason::Votes, why))
    }

    pub(super) fn refuse(&self, reason: Reason, why: ItemError) -> Refused {
        Refused::new(reason, AdmissionError::PeerGrant(self.from, why))
    }

    fn sign(&self, body: &GmcBody, grounds: &Grounds) -> Result<Gmc, CertificateError> {
        let (body, key) = (body.on_grounds(grounds), self.office.certificate.key());
        let tbs = body.issued_tbs(key)?;
        Gmc::issue_by_group(&body, key, &self.office.key.sign_raw(&tbs).to_paper())
    }

    /// `ADM-68`: a request from before an expulsion of its holder is stale for good. A base that we
    /// do not know may be that of decisions on their way.
    fn check_charter(&self, body: &GmcBody) -> Result<(), Refused> {
        let (roster, said) = (self.transcript.roster(), &body.membership);
        let refuse = |reason, why| Err(self.refuse(reason, ItemError::Certificate(why)));
        let ours = said.group == self.transcript.group();
        if ours && said.base.number > roster.head().number {
            return Err(self.refuse(Reason::AwaitingAuthority, ItemError::Ahead));
        }
        body.check_charter(roster.charter()).or_else(|why| refuse(Reason::Stale, why))
    }

    /// `ADM-61`: the term is now, and neither a vote nor the request has run out, by our clock,
    /// give or take the skew. What has not begun yet will begin, and our clock may be the slow one:
    /// that waits.
    fn check_time(&self, body: &GmcBody, approvals: &[(MemberId, UnixTime)]) -> Result<(), Refused> {
        let (early, late) = (
            UnixTime(self.time.0.saturating_sub(self.skew_seconds)),
            UnixTime(self.time.0.saturating_add(self.skew_seconds)),
        );
        let refused = |reason, what| Refused::new(reason, AdmissionError::PeerGrantTime(self.from, what));
        let refuse = |what| Err(refused(Reason::Term, what));
        if body.not_before > late {
            return Err(refused(
                Reason::AwaitingAuthority,
                "the term has not begun by this authority's clock",
            ));
        }
        if body.not_after < early {
            return refuse("the term is over");
        }
        if approvals.iter().any(|(_, expires)| *expires < early) {
            return refuse("a vote has run out");
        }
        if end_of(self.transcript.roster(), body).is_some_and(|end| end < early) {
            return refuse("the request has run out");
        }
        Ok(())
    }
}

/// When a request ends by what its guest signed, if the charter says so.
fn end_of(roster: &Roster, body: &GmcBody) -> Option<UnixTime> {
    let days = u64::from(roster.charter().policies().request_days?);
    Some(UnixTime(body.not_before.0.saturating_add(days.saturating_mul(86_400))))
}

/// Who approved it, and until when each approval counts.
fn approvals(grounds: &Grounds) -> Vec<(MemberId, UnixTime)> {
    match grounds {
        Grounds::Votes(votes) => votes.iter().map(|vote| (vote.voter, vote.expires)).collect(),
        Grounds::Multi(multi) => multi.signers().iter().map(|signer| (*signer, multi.expires())).collect(),
        Grounds::Combined(_) => Vec::new(),
    }
}

/// The reason that a guest hears for a certificate that would not count. What may stand once
/// more items are here waits: `ADM-68`.
fn reason_of(error: &ItemError) -> Reason {
    match error {
        ItemError::Certificate(error) => reason_of_certificate(error),
        ItemError::Late(why) => reason_of_late(why),
        ItemError::Ahead => Reason::AwaitingAuthority,
        _ => Reason::Votes,
    }
}

fn reason_of_late(why: &Uncounted) -> Reason {
    match why {
        Uncounted::Minority { .. } | Uncounted::TooFew { .. } => Reason::AwaitingVotes,
        Uncounted::Policy(error) => reason_of_certificate(error),
        Uncounted::Epoch | Uncounted::NotVoter(_) => Reason::AwaitingAuthority,
        Uncounted::SharesStale { .. } => Reason::SharesStale,
        Uncounted::Expired(_) => Reason::Term,
        Uncounted::Refused => Reason::Objected,
        Uncounted::Full => Reason::Full,
        Uncounted::Used
        | Uncounted::SerialNumber
        | Uncounted::Removed(_)
        | Uncounted::Former(_)
        | Uncounted::RequestOffLine
        | Uncounted::Term
        | Uncounted::Ended => Reason::Stale,
        _ => Reason::Votes,
    }
}

fn reason_of_certificate(error: &CertificateError) -> Reason {
    match error {
        CertificateError::PeerTooFewVotes { .. }
        | CertificateError::PeerRule(_)
        | CertificateError::PeerNoDecider => Reason::AwaitingVotes,
        CertificateError::PeerNotVoter(_)
        | CertificateError::PeerAuthority
        | CertificateError::PeerGroupKey => Reason::AwaitingAuthority,
        CertificateError::PeerNotListed => Reason::NotListed,
        CertificateError::PeerCharter(_) => Reason::Stale,
        _ => Reason::Votes,
    }
}
