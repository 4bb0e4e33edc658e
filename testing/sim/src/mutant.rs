//! Mutants: for each checker there is a layer that is broken on purpose, which the checker must
//! catch.

use crate::aim::Aim;
use crate::check::{ALL, LIVENESS};
use crate::machine::Crooked;
use crate::schedule::Schedule;
use folkmoot_base::Danger;
use folkmoot_identity::Scheme;

/// One way to break a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant {
    /// The checker that must catch it.
    pub checker: &'static str,
    /// The layer that is broken.
    pub danger: Danger,
    /// At one player only (its number modulo the players), or at all.
    pub at: Option<u8>,
    /// With a node that was broken into, since the promise is kept by two layers and one of them
    /// still stands.
    pub crooked: Option<Crooked>,
    /// Only in calm schedules.
    pub calm: bool,
    /// In groups with this scheme.
    pub scheme: Scheme,
    /// Where the schedules aim, since what is broken shows in one narrow moment only.
    pub aim: Aim,
}

const fn at_all(checker: &'static str, danger: Danger) -> Mutant {
    Mutant {
        checker,
        danger,
        at: None,
        crooked: None,
        calm: false,
        scheme: Scheme::Plain,
        aim: Aim::Anywhere,
    }
}

const fn at_one(checker: &'static str, danger: Danger) -> Mutant {
    Mutant { at: Some(0), ..at_all(checker, danger) }
}

const fn calm(mutant: Mutant) -> Mutant {
    Mutant { calm: true, ..mutant }
}

const fn aimed(aim: Aim, mutant: Mutant) -> Mutant {
    Mutant { aim, ..mutant }
}

const fn signing(scheme: Scheme, mutant: Mutant) -> Mutant {
    Mutant { scheme, ..mutant }
}

const fn with(crooked: Crooked, mutant: Mutant) -> Mutant {
    Mutant { crooked: Some(crooked), ..mutant }
}

/// All of them. Every checker has at least one.
pub const MUTANTS: [Mutant; 90] = [
    at_all("evs-1-basic-delivery", Danger::RingDuplicates),
    at_one("evs-2-configuration-change", Danger::RingForeignMember),
    at_all("evs-3-self-delivery", Danger::RingDropsOwn),
    at_all("evs-4-failure-atomicity", Danger::RingOwnLine),
    at_all("evs-4-failure-atomicity", Danger::RingSkipRecovery),
    at_all("evs-5-causal-delivery", Danger::RingNoOrder),
    at_all("evs-6-agreed-delivery", Danger::RingNoOrder),
    at_all("evs-7-safe-delivery", Danger::RingSafeAsAgreed),
    at_all("evs-7-safe-delivery", Danger::RingSafeByVisits),
    at_all("evs-6-agreed-delivery", Danger::RingOrdersOthers),
    at_all("evs-6-agreed-delivery", Danger::RingSortsKnown),
    aimed(Aim::Straggler, at_all("evs-4-failure-atomicity", Danger::RingTakesLate)),
    at_one("self-inclusion", Danger::MemberOmitsSelf),
    at_all("local-monotonicity", Danger::MemberRepeatsView),
    at_all("initial-view", Danger::MemberSpeaksEarly),
    with(Crooked::Alters, at_all("delivery-integrity", Danger::SessionPlain)),
    with(Crooked::Repeats, at_all("no-duplication", Danger::SessionNoReplayCheck)),
    at_one("same-view-delivery", Danger::MemberSpeaksLate),
    at_all("sending-view-delivery", Danger::MemberSpeaksLate),
    at_all("transitional-set-1", Danger::FlushWholeTransitional),
    at_all("transitional-set-2", Danger::FlushWholeTransitional),
    aimed(Aim::Roster, at_one("transitional-set-3", Danger::FlushWholeTransitional)),
    at_all("fifo-order", Danger::RingFifoOnArrival),
    aimed(Aim::Answers, at_all("causal-order", Danger::RingCausalAsFifo)),
    at_all("total-order", Danger::RingNoOrder),
    at_all("safe-delivery", Danger::RingSafeAsAgreed),
    at_all("self-delivery", Danger::RingDropsOwn),
    at_all("key-per-view", Danger::KeyingReusesKey),
    at_all("key-confirmation", Danger::KeyingNoConfirm),
    aimed(Aim::Reflector, at_all("key-confirmation", Danger::KeyingAnyConfirm)),
    aimed(Aim::Reflector, at_all("key-confirmation", Danger::KeyingOneConfirmKey)),
    aimed(Aim::Confirmation, at_all("key-decision", Danger::KeyingKeyListAgreed)),
    at_all("key-confinement", Danger::KeyingReusesKey),
    aimed(Aim::Expulsion, at_all("key-confinement", Danger::SessionSealsAfterRemoval)),
    at_all("no-disturbance", Danger::LinkPlain),
    at_all("numbers-once", Danger::RingForgetsNumber),
    at_all("numbers-once", Danger::RingSealsRepeats),
    at_all("numbers-once", Danger::RingRepeatsUnreliable),
    at_all("numbers-once", Danger::RingSameContribution),
    at_all("ring-keys", Danger::LinkKeepsRingKey),
    aimed(Aim::Disks, at_all("acknowledged-survives", Danger::HostSendsFirst)),
    at_all("acknowledged-survives", Danger::NodeForgetsItem),
    at_all("log-silence", Danger::SessionLogsPlaintext),
    aimed(Aim::Cascade, calm(at_all("membership-precision", Danger::KeyingNoRuleH))),
    aimed(Aim::Cascade, calm(at_all("membership-precision", Danger::KeyingFlushInKeyList))),
    at_one("virtual-synchrony", Danger::MemberSpeaksLate),
    at_all("liveness", Danger::FlushNoSignal),
    at_all("liveness", Danger::GroupKeepsLost),
    signing(Scheme::Asm, at_all("one-decision", Danger::LineNoQuorum)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineTakesForks)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoQuorum)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoStamps)),
    aimed(Aim::Takeover, at_all("liveness", Danger::LineEndsEarly)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoSince)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoExpiry)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoTurns)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoRefusals)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoPast)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoNamedStamps)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineNoJudgements)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineAnyClock)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineCeasedCounts)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineHoldsUnseen)),
    aimed(Aim::Takeover, at_all("former-keys", Danger::LineAheadOfClock)),
    aimed(Aim::Takeover, at_all("liveness", Danger::LineNeverAsksAgain)),
    signing(Scheme::Frost, at_all("group-key", Danger::AdmissionNoShareEpoch)),
    signing(Scheme::Frost, at_all("share-erasure", Danger::AdmissionKeepsOldShares)),
    signing(Scheme::Frost, at_all("share-durability", Danger::AdmissionForgetsShare)),
    signing(Scheme::Frost, at_all("share-kept", Danger::AdmissionErasesEarly)),
    signing(Scheme::Frost, at_all("pooled-shares", Danger::AdmissionKeepsOldShares)),
    signing(Scheme::Asm, at_all("asm-approval", Danger::AdmissionSignsUnasked)),
    signing(Scheme::Frost, at_all("signing-liveness", Danger::AdmissionTablesStay)),
    signing(Scheme::Frost, at_all("signing-liveness", Danger::AdmissionNeverRepairs)),
    aimed(Aim::Shares, signing(Scheme::Frost, at_all("signing-liveness", Danger::AdmissionErasesEarly))),
    aimed(Aim::Shares, signing(Scheme::Frost, at_all("signing-liveness", Danger::AdmissionNeverRepairs))),
    signing(Scheme::Asm, at_all("signing-liveness", Danger::AdmissionTakesAnyMulti)),
    signing(Scheme::TsDsa, at_all("signing-liveness", Danger::AdmissionKeepsOvertaken)),
    signing(Scheme::Frost, at_all("acknowledged-survives", Danger::NodeForgetsItem)),
    aimed(Aim::Forger, at_all("liveness", Danger::GroupBelievesAnyone)),
    aimed(Aim::Forger, calm(at_all("membership-precision", Danger::FlushBelievesAnyone))),
    aimed(Aim::Forger, at_all("own-words", Danger::GroupBelievesAnyone)),
    aimed(Aim::Forger, at_all("own-words", Danger::GroupHearsAgain)),
    aimed(Aim::Forger, at_all("own-words", Danger::FlushBelievesAnyone)),
    aimed(Aim::Forger, at_all("own-words", Danger::FlushHearsAgain)),
    aimed(Aim::Twice, at_all("twice", Danger::LinkAnyProcess)),
    aimed(Aim::Twice, at_all("twice", Danger::LinkBelievesStarts)),
    aimed(Aim::Readers, calm(at_all("slow-reader", Danger::HostWaitsForReader))),
    aimed(Aim::Readers, at_all("slow-reader", Danger::HostKeepsAll)),
    aimed(Aim::Readers, at_all("slow-reader", Danger::HostKeepsUnreliable)),
    aimed(Aim::Clocks, signing(Scheme::Frost, at_all("signing-liveness", Danger::LineOwnClock))),
];

/// Dangers without a checker of their own: another layer stands behind each (README.md says which).
pub const GUARDED_TWICE: [Danger; 8] = [
    Danger::KeyingKeepsExpelled,
    Danger::NodeServesGuests,
    Danger::FlushNoWait,
    Danger::FlushAnyView,
    Danger::FlushOmitsSelf,
    Danger::FlushRepeatsView,
    Danger::FlushBelievesAnyReceipt,
    Danger::FlushOneReceipt,
];

/// Dangers whose moment too few random runs meet: tests catch them (README.md says which).
const RARE: [Danger; 7] = [
    Danger::NodeDialsLowest,
    Danger::LineNoBounds,
    Danger::AdmissionLeavesSettled,
    Danger::AdmissionDueWithoutClock,
    Danger::NodeNamesGuests,
    Danger::FlushFromAnyView,
    Danger::LineOverIsOut,
];

/// The danger called `name`, if it is known here.
pub fn danger_called(name: &str) -> Option<Danger> {
    let mutants = MUTANTS.iter().map(|mutant| mutant.danger);
    mutants.chain(GUARDED_TWICE).chain(RARE).find(|danger| format!("{danger:?}") == name)
}

impl Mutant {
    /// The schedule of `seed`, changed so that the mutant has something to break.
    pub fn schedule(&self, seed: u64) -> Schedule {
        let mut schedule = if self.calm { Schedule::draw_calm(seed) } else { Schedule::draw(seed) };
        schedule.crooked = self.crooked.map(|how| (0, how));
        self.aim.take(&mut schedule);
        crate::signing::take(&mut schedule, self.scheme);
        schedule
    }
}

/// Checkers without a mutant: none.
pub fn unguarded() -> Vec<&'static str> {
    let names = ALL.iter().chain([&LIVENESS]).map(|checker| checker.name);
    names.filter(|name| !MUTANTS.iter().any(|mutant| mutant.checker == *name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_checker_has_a_mutant_and_every_mutant_a_checker() {
        assert_eq!(unguarded(), Vec::<&str>::new());
        let known: Vec<&str> = ALL.iter().chain([&LIVENESS]).map(|checker| checker.name).collect();
        assert!(MUTANTS.iter().all(|mutant| known.contains(&mutant.checker)));
    }
}
