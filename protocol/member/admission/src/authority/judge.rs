//! What an authority would sign. It judges by its own transcript and clock, as the transcript will
//! judge the entry.

use super::message::WireGrounds;
use super::office::Office;
use crate::{AdmissionError, Reason};
use folkmoot_base::{MemberId, NodeId, UnixTime};
use folkmoot_identity::{CertificateError, Gmc, GmcBody, Grounds, Request};
use folkmoot_transcript::{Admit, ItemError, Roster, Transcript, Uncounted};

/// A refusal: the reason that the guest hears, and what is wrong.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) reason: Reason,
    pub(super) why: AdmissionError,
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
    /// The certificate for this request on these grounds, if an entry with it would stand now:
    /// `ADM-60`, `ADM-61`. It is made so that it can be judged whole. One that does not stand is
    /// dropped here, and nobody has seen it.
    pub(super) fn certify(&self, request: &Request, grounds: &Grounds) -> Result<Gmc, Refused> {
        self.check_charter(request.body())?;
        self.check_time(request.body(), &approvals(grounds))?;
        let made = self.sign(request.body(), grounds).map_err(ItemError::Certificate);
        let made = made.and_then(|gmc| self.admits(&gmc).map(|()| gmc));
        made.map_err(|why| self.refuse(reason_of(&why), why))
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
        self.transcript.make_admit(gmc.der(), &set.approving(state, &asked)).map(|_| ())
    }

    /// Reads the grounds.
    pub(super) fn read(&self, grounds: &WireGrounds) -> Result<Grounds, Refused> {
        grounds.read().map_err(|why| Refused { reason: Reason::Votes, why })
    }

    pub(super) fn refuse(&self, reason: Reason, why: ItemError) -> Refused {
        Refused { reason, why: AdmissionError::PeerGrant(self.from, why) }
    }

    fn sign(&self, body: &GmcBody, grounds: &Grounds) -> Result<Gmc, CertificateError> {
        let (body, key) = (body.on_grounds(grounds), self.office.certificate.key());
        let tbs = body.issued_tbs(key)?;
        Gmc::issue_by_group(&body, key, &self.office.key.sign_raw(&tbs).to_der())
    }

    /// `ADM-68`: a request from before an expulsion of its holder is stale for good. A base that we
    /// do not know may be that of decisions on their way.
    fn check_charter(&self, body: &GmcBody) -> Result<(), Refused> {
        let (roster, said) = (self.transcript.roster(), &body.membership);
        let refuse = |reason, why| Err(self.refuse(reason, ItemError::Certificate(why)));
        let ours = said.group == self.transcript.group();
        if ours && said.base.number > roster.head().number {
            let why = CertificateError::PeerCharter("it was made over a decision that is not known here");
            return refuse(Reason::AwaitingAuthority, why);
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
        let refused = |reason, what| Refused { reason, why: AdmissionError::PeerGrantTime(self.from, what) };
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

/// The reason that a guest hears for a certificate that no entry would take. What may stand once
/// more entries are here waits: `ADM-68`.
fn reason_of(error: &ItemError) -> Reason {
    match error {
        ItemError::Certificate(error) => reason_of_certificate(error),
        ItemError::Late(why) => reason_of_late(why),
        _ => Reason::Votes,
    }
}

fn reason_of_late(why: &Uncounted) -> Reason {
    match why {
        Uncounted::Minority { .. } | Uncounted::TooFew { .. } => Reason::AwaitingVotes,
        Uncounted::Policy(error) => reason_of_certificate(error),
        Uncounted::Epoch | Uncounted::NotVoter(_) | Uncounted::OffLine(_) => Reason::AwaitingAuthority,
        Uncounted::SharesStale { .. } => Reason::SharesStale,
        Uncounted::Refused => Reason::Objected,
        Uncounted::Full => Reason::Full,
        Uncounted::Used
        | Uncounted::SerialNumber
        | Uncounted::Removed(_)
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
