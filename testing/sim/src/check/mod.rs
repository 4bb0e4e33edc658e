//! One checker for each promise, one file each. A checker is a function of the record; each names
//! paper and clause.
//!
//! Papers, as the files cite them:
//! * **EVS**: L. Moser, Y. Amir, P. Melliar-Smith, D. Agarwal, "Extended Virtual Synchrony", ICDCS
//!   1994, §3.
//! * **Survey**: R. Vitenberg, I. Keidar, G. Chockler, D. Dolev, "Group Communication
//!   Specifications: A Comprehensive Study", ACM Computing Surveys 33(4), 2001.
//! * **Robust**: Y. Amir, Y. Kim, C. Nita-Rotaru, J. Schultz, J. Stanton, G. Tsudik, "Secure Group
//!   Communication Using Robust Contributory Key Agreement", IEEE TPDS 15(5), 2004.

mod asm_approval;
mod causal_order;
mod delivery_integrity;
mod disturbance;
mod evs_1_basic_delivery;
mod evs_2_configuration_change;
mod evs_3_self_delivery;
mod evs_4_failure_atomicity;
mod evs_5_causal_delivery;
mod evs_6_agreed_delivery;
mod evs_7_safe_delivery;
mod fifo_order;
mod former_keys;
mod group_key;
mod initial_view;
mod key_confinement;
mod key_confirmation;
mod key_decision;
mod key_per_view;
mod liveness;
mod local_monotonicity;
mod log_silence;
mod membership_precision;
mod no_duplication;
mod numbers_once;
mod one_decision;
mod order;
mod own_words;
mod pooled_shares;
mod ring_keys;
mod safe_delivery;
mod same_view_delivery;
mod self_delivery;
mod self_inclusion;
mod sending_view_delivery;
mod share_durability;
mod share_erasure;
mod share_kept;
mod signing_liveness;
mod slow_reader;
mod story;
#[cfg(test)]
pub(crate) mod tale;
mod total_order;
mod transitional_set;
mod twice;
mod virtual_synchrony;
mod what_was_acknowledged;

pub use story::{End, Got, Life, RingLife, RingPlace, RingSegment, Segment, Story};

use crate::record::{Process, Record};

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub property: &'static str,
    /// Who saw it broken.
    pub process: Process,
    /// The entry of the record at which it shows, if it is one.
    pub entry: Option<usize>,
    /// What happened, in words.
    pub what: String,
}

/// Why a checker's function says no: who, where, what.
pub type Broken = (Process, Option<usize>, String);

/// One checker.
#[derive(Clone, Copy)]
pub struct Checker {
    /// Its name, as `--mutants` and violations print it.
    pub name: &'static str,
    /// Paper and clause.
    pub source: &'static str,
    /// The judge.
    pub judge: fn(&Record, &Story) -> Result<(), Broken>,
}

impl Checker {
    /// Judges one run.
    ///
    /// # Errors
    /// The first [`Violation`] found.
    pub fn check(&self, record: &Record, story: &Story) -> Result<(), Violation> {
        (self.judge)(record, story).map_err(|(process, entry, what)| Violation {
            property: self.name,
            process,
            entry,
            what,
        })
    }
}

/// All checkers.
pub const ALL: [Checker; 45] = [
    evs_1_basic_delivery::CHECKER,
    evs_2_configuration_change::CHECKER,
    evs_3_self_delivery::CHECKER,
    evs_4_failure_atomicity::CHECKER,
    evs_5_causal_delivery::CHECKER,
    evs_6_agreed_delivery::CHECKER,
    evs_7_safe_delivery::CHECKER,
    self_inclusion::CHECKER,
    local_monotonicity::CHECKER,
    initial_view::CHECKER,
    delivery_integrity::CHECKER,
    no_duplication::CHECKER,
    same_view_delivery::CHECKER,
    sending_view_delivery::CHECKER,
    virtual_synchrony::CHECKER,
    transitional_set::INTERSECTION,
    transitional_set::PREVIOUS,
    transitional_set::SYMMETRY,
    fifo_order::CHECKER,
    causal_order::CHECKER,
    total_order::CHECKER,
    safe_delivery::CHECKER,
    self_delivery::CHECKER,
    key_per_view::CHECKER,
    key_confirmation::CHECKER,
    key_decision::CHECKER,
    key_confinement::CHECKER,
    disturbance::CHECKER,
    own_words::CHECKER,
    numbers_once::CHECKER,
    ring_keys::CHECKER,
    what_was_acknowledged::CHECKER,
    log_silence::CHECKER,
    membership_precision::CHECKER,
    one_decision::CHECKER,
    former_keys::CHECKER,
    group_key::CHECKER,
    share_erasure::CHECKER,
    share_durability::CHECKER,
    share_kept::CHECKER,
    pooled_shares::CHECKER,
    asm_approval::CHECKER,
    signing_liveness::CHECKER,
    twice::CHECKER,
    slow_reader::CHECKER,
];

/// Judged like the others, but last: a run that is not safe is not expected to come to rest.
pub const LIVENESS: Checker = liveness::CHECKER;

/// Everything that a run broke: at most one violation for each promise.
pub fn check(record: &Record) -> Vec<Violation> {
    let story = Story::of(record);
    let mut out: Vec<Violation> =
        ALL.iter().filter_map(|checker| checker.check(record, &story).err()).collect();
    out.extend(LIVENESS.check(record, &story).err());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_sources_named() {
        let names: BTreeSet<_> = ALL.iter().chain([&LIVENESS]).map(|checker| checker.name).collect();
        assert_eq!(names.len(), ALL.len() + 1);
        assert!(ALL.iter().all(|checker| checker.source.len() > 8));
    }

    #[test]
    fn an_empty_record_breaks_nothing_but_liveness() {
        let broken = check(&Record::default());
        assert_eq!(broken.len(), 1);
        assert_eq!(broken[0].property, LIVENESS.name);
    }
}
