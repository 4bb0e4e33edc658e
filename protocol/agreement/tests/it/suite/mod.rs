//! The one contract that every module keeps, whatever it is built on.
//!
//! ```text
//! checks ── what is promised, each a function of (module, seed)
//!   world ── members, what each holds, runs among them in one order
//!   mischief ── steps out of turn, by another, twice, cut, lengthened, altered
//!   outsiders ── whoever is out, with all it ever had and all that was sent
//! mutants ── modules that break one promise each; the check of that promise must say so
//! ```
//! A module is tested here once it is in `ModuleName::ALL` and in the list below.

mod checks;
mod mischief;
mod mutants;
mod outsiders;

use folkmoot_agreement::{ModuleName, begin};
use proptest::prelude::*;

macro_rules! modules {
    ($($name:ident: $module:expr, contributory $contributory:expr;)+) => {
        $(mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(6))]

                /// Joins, leaves, merges, all at once, cascades, lost states: one secret for who is
                /// in, none for who is not.
                #[test]
                fn scripts(seed in any::<u64>()) {
                    prop_assert_eq!(checks::script(&|plan, kept| begin($module, plan, kept), seed, 8, 10), Ok(()));
                }

                /// What is out of turn, cut, lengthened or said twice is refused by all alike, and
                /// changes nothing.
                #[test]
                fn only_what_is_awaited_is_taken(seed in any::<u64>()) {
                    prop_assert_eq!(checks::mischief(&|plan, kept| begin($module, plan, kept), seed), Ok(()));
                }

                /// A step with one bit flipped never leaves members that believe in different ends.
                #[test]
                fn altered_steps_are_refused_or_found_out(seed in any::<u64>()) {
                    prop_assert_eq!(checks::altered(&|plan, kept| begin($module, plan, kept), seed), Ok(()));
                }
            }

            #[test]
            fn sizes_to_sixty_four() {
                assert_eq!(checks::sizes(&|plan, kept| begin($module, plan, kept), &[1, 2, 3, 4, 5, 8, 33, 64]), Ok(()));
            }

            #[test]
            fn every_share_counts_if_the_module_says_so() {
                let counts = checks::contributes(&|plan, kept| begin($module, plan, kept), 7);
                assert_eq!(counts.is_ok(), $contributory, "{counts:?}");
            }

            #[test]
            fn agr_60_what_is_brought_fits_what_is_claimed() {
                assert_eq!(checks::origins(&|plan, kept| begin($module, plan, kept), 3), Ok(()));
            }
        })+

        #[test]
        fn every_module_is_under_the_contract() {
            assert_eq!([$($module),+].as_slice(), ModuleName::ALL);
        }
    };
}

modules! {
    gdh: ModuleName::Gdh, contributory true;
    ckd: ModuleName::Ckd, contributory false;
    bd: ModuleName::Bd, contributory true;
    dutta_barua: ModuleName::DuttaBarua, contributory true;
    tgdh: ModuleName::Tgdh, contributory true;
    str: ModuleName::Str, contributory true;
    // Not contributory (K6): its committer draws the secret. But the secret is bound to every key
    // package, so the entropy of everybody who ever came new changes it, and that is all that the
    // check can see.
    mls: ModuleName::Mls, contributory true;
    ckd_hybrid: ModuleName::CkdHybrid, contributory false;
    mls_hybrid: ModuleName::MlsHybrid, contributory true;
}
