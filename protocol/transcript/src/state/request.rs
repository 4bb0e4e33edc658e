//! What a state says of a request, whoever approves it.

use super::State;
use crate::{Admit, Uncounted};
use folkmoot_base::{Danger, Digest, UnixTime};

impl State {
    /// Whether an admission may count here at a time, whoever approves it: `LINE-20` to `LINE-22`,
    /// `LINE-26` to `LINE-28`, `LINE-31`, `LINE-90`.
    ///
    /// # Errors
    /// Why not: it is late.
    pub fn check_request(&self, admit: &Admit, time: UnixTime) -> Result<(), Uncounted> {
        if self.is_used(&admit.request) {
            return Err(Uncounted::Used);
        }
        if admit.ends < time {
            return Err(Uncounted::Ended);
        }
        if !self.has_on_line(&admit.base) {
            return Err(Uncounted::RequestOffLine);
        }
        if admit.base.number < self.removed_at(&admit.member) && !self.is(Danger::LineNoStamps) {
            return Err(Uncounted::Removed(admit.member));
        }
        if self.is_former(&admit.member) {
            return Err(Uncounted::Former(admit.member));
        }
        if !self.charter().allows_term(admit.begins, admit.ends) {
            return Err(Uncounted::Term);
        }
        self.check_epoch(admit)
    }

    /// The share-epoch that is in use.
    pub(crate) fn epoch(&self) -> Option<Digest> {
        self.sharing().map(|sharing| sharing.facts.epoch)
    }

    /// `LINE-27`, `LINE-28`: where the group has a key, that key has signed under its present
    /// shares, and those who left could not have signed.
    pub(super) fn check_epoch(&self, admit: &Admit) -> Result<(), Uncounted> {
        if !self.charter().scheme().shared() || self.is_for_authority() {
            return Ok(());
        }
        let sharing = self.sharing().ok_or(Uncounted::Epoch)?;
        if !admit.epochs.contains(&sharing.facts.epoch) && !self.is(Danger::AdmissionNoShareEpoch) {
            return Err(Uncounted::Epoch);
        }
        let (leavers, threshold) = (self.leavers_with_shares().len(), sharing.facts.threshold);
        if leavers >= threshold { Err(Uncounted::SharesStale { leavers, threshold }) } else { Ok(()) }
    }
}
