//! What programs are told of an order that is refused.

use crate::AdmissionError;
use folkmoot_base::{Fault, Refused, RefusedBy};

impl AdmissionError {
    /// The refusal of an order: for programs, and in words.
    pub fn refused(&self) -> Refused {
        let (remedy, forcible) = (self.remedy(), self.is_forcible());
        Refused { remedy, forcible, ..Refused::new(self.refused_by(), self) }
    }

    /// Whether the order would be accepted with force ([`folkmoot_transcript::Force`]).
    const fn is_forcible(&self) -> bool {
        matches!(self, Self::LocalDecision(unfit) if unfit.is_forcible())
    }

    /// The code, the rule, and with whom it lies.
    pub const fn refused_by(&self) -> RefusedBy {
        use Fault::{Group, Member, Order};
        match self {
            Self::PeerDecision(unfit) | Self::LocalNoRotation(unfit) | Self::LocalDecision(unfit) => {
                unfit.refused_by()
            }
            Self::WireMalformed(_) => RefusedBy::rule(Order, "malformed", "ADM-01"),
            Self::WireRequest(_) => RefusedBy::rule(Order, "request", "ADM-02"),
            Self::PeerNotHolder(_) => RefusedBy::rule(Order, "not-the-holder", "ADM-03"),
            Self::PeerCharter(_) => RefusedBy::rule(Order, "request-does-not-fit", "ADM-04"),
            Self::PeerTerm(_) => RefusedBy::rule(Order, "term", "ADM-05"),
            Self::PeerUsed(_) => RefusedBy::rule(Order, "request-used", "ADM-06"),
            Self::PeerIn(_) => RefusedBy::rule(Order, "member-already", "ADM-54"),
            Self::PeerTooManyRequests => RefusedBy::rule(Group, "too-many-requests", "ADM-07"),
            Self::PeerTooOften(_) => RefusedBy::rule(Group, "too-often", "ADM-08"),
            Self::PeerNotMember(_) => RefusedBy::rule(Member, "not-a-member", "ADM-09"),
            Self::PeerNotVoter(_) => RefusedBy::rule(Member, "no-vote", "ADM-11"),
            Self::PeerVoteEnded(_) => RefusedBy::rule(Group, "vote-ended", "ADM-15"),
            Self::PeerOlder(_) => RefusedBy::rule(Order, "newer-request-open", "ADM-17"),
            Self::PeerTooSoon(_) => RefusedBy::rule(Group, "too-soon", "ADM-26"),
            Self::PeerRefused(_) => RefusedBy::rule(Group, "refused-for-good", "ADM-19"),
            Self::PeerNotListed(_) => RefusedBy::rule(Group, "not-listed", "ADM-23"),
            Self::PeerHolderSigns(_) => RefusedBy::rule(Order, "holder-signs", "ADM-50"),
            Self::PeerGuestCsr(_) => RefusedBy::rule(Order, "guest-csr", "ADM-53"),
            Self::PeerCertificate(_) => RefusedBy::rule(Order, "certificate", "ADM-20"),
            Self::PeerItem(_) => RefusedBy::rule(Group, "admission-does-not-count", "ADM-22"),
            Self::PeerTooManyProposals => RefusedBy::rule(Group, "too-many-proposals", "ADM-32"),
            Self::PeerBallot(_) => RefusedBy::rule(Group, "ballot", "ADM-35"),
            Self::PeerName(..) => RefusedBy::rule(Order, "name", "ADM-90"),
            Self::PeerWithdrawal => RefusedBy::rule(Order, "not-yours", "ADM-91"),
            Self::PeerNotProposer(_) => RefusedBy::rule(Order, "not-yours", "ADM-92"),
            Self::PeerOutOfTurn(_) => RefusedBy::rule(Order, "out-of-turn", "ADM-01"),
            Self::PeerOtherRequest(_) => RefusedBy::rule(Order, "other-request", "ADM-28"),
            Self::LocalEndless => RefusedBy::new(Order, "no-term"),
            Self::LocalRotation(_) => RefusedBy::new(Order, "rotation"),
            Self::LocalAlgorithm(_) => RefusedBy::rule(Order, "algorithm", "ID-73"),
            Self::LocalRotates => RefusedBy::rule(Order, "vote-on-the-proposal", "ADM-94"),
            Self::LocalNotVoter => RefusedBy::new(Member, "no-vote"),
            Self::LocalUnknown => RefusedBy::new(Order, "not-open"),
            Self::LocalNotOurs => RefusedBy::new(Order, "not-yours"),
            Self::LocalCsrStays => RefusedBy::new(Order, "csr-stays"),
            Self::LocalVotedAlready => RefusedBy::new(Order, "voted-already"),
            Self::LocalRejected => RefusedBy::new(Group, "rejected"),
            Self::LocalNoShare => RefusedBy::rule(Member, "no-share", "ADM-74"),
            Self::LocalNoClock => RefusedBy::new(Member, "no-clock"),
            Self::LocalNotMember(_) => RefusedBy::new(Order, "not-a-member"),
            Self::LocalRequest(_) => RefusedBy::new(Order, "request"),
            Self::LocalCsr(_) => RefusedBy::new(Order, "csr"),
            Self::LocalHolderSigns => RefusedBy::new(Order, "holder-signs"),
            Self::LocalCorrupt(_) => RefusedBy::new(Member, "store-damaged"),
            Self::PeerSigner(..) => RefusedBy::rule(Group, "signer", "ADM-41"),
            Self::PeerNotGranted => RefusedBy::rule(Order, "not-granted", "ADM-57"),
            Self::PeerDealt(_) => RefusedBy::rule(Group, "dealt-shares", "ADM-58"),
            Self::PeerAuthorityTooMuch(_) => RefusedBy::rule(Group, "too-often", "ADM-59"),
            Self::PeerGrant(..) => RefusedBy::rule(Group, "not-granted", "ADM-60"),
            Self::PeerGrantTime(..) => RefusedBy::rule(Group, "not-granted", "ADM-61"),
            Self::PeerPetitions(_) => RefusedBy::rule(Group, "too-many-requests", "ADM-63"),
            Self::PeerBeat(..) => RefusedBy::rule(Group, "heartbeat", "ADM-64"),
            Self::PeerDeal(..) => RefusedBy::rule(Group, "deal", "ADM-65"),
            Self::PeerTooMuch(_) => RefusedBy::rule(Group, "too-often", "ADM-69"),
            Self::LocalOffice(_) => RefusedBy::new(Member, "office"),
            Self::LocalRecord(_) => RefusedBy::rule(Member, "log-record", "ADM-62"),
            Self::LocalAlone(_) => RefusedBy::rule(Member, "replicas", "ADM-80"),
            Self::LocalConflict => RefusedBy::rule(Member, "log-conflict", "ADM-81"),
            Self::LocalFull => RefusedBy::new(Member, "authority-full"),
            Self::PeerRevocations(..) | Self::PeerRevocationsAhead(_) => {
                RefusedBy::rule(Group, "revocation-list", "ADM-48")
            }
        }
    }

    /// What a person can do about it, where the sentence does not say so.
    const fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::LocalNotVoter | Self::PeerNotVoter(_) => "Ask a member that has a vote",
            Self::LocalUnknown => "It may be over: look at what is open",
            Self::LocalNoClock => {
                "Set the clock of this machine, or wait until members of the group are heard"
            }
            Self::LocalRejected => "Those who said no can take that back",
            Self::PeerTooManyRequests | Self::PeerTooManyProposals => "Try again when one of them is over",
            Self::PeerTooSoon(_) => "Wait a little, and try again",
            _ => return None,
        })
    }
}
