//! Known-key resistance: an attacker has been told group keys of other runs, of this group and of
//! others with the same members, and has everything sent in run r. It does not get the key of run
//! r.
//!
//! ```text
//! history ── runs of one group, runs of another with the same members: what was said, what came of it
//! attack ── derived: known keys through every label ─┬─ raised: elements said, to scalars made of those, and what follows
//!                                                    ├─ opened: everything that may be sealed, under those
//!                                                    ├─ private: one of those is the secret half of something said
//!                                                    └─ replayed: somebody's part, with those for its randomness
//! weak ── modules that use an old key for the next; the same attack must get the new one
//! ```
//! Shares are not disclosed: whoever has them is a member (`tests/it/suite`). Keying, which signs,
//! refuses lies (`tests/it/known_keys` there).

mod attack;
mod derived;
mod history;
mod leaked;
mod long_term;
mod opened;
mod raised;
mod weak;
mod welcome;

use crate::world::{Verdict, World, ensure};
use attack::{Way, ways};
use folkmoot_agreement::{ModuleName, begin};
use history::{Known, told};
use std::collections::BTreeSet;
use weak::Weakness;

/// Every kind of change, each followed by others.
fn views() -> Vec<Vec<u16>> {
    vec![
        vec![0, 1, 2, 3],
        vec![0, 1, 2, 3],
        vec![0, 1, 2, 3, 4],
        vec![0, 1, 3, 4],
        vec![1, 3, 4],
        vec![20, 21],
        vec![1, 3, 4, 20, 21],
        vec![1, 4, 20, 21, 30, 31],
        vec![30],
    ]
}

/// What the attack gets of each run of a history.
fn got(module: ModuleName, known: Known) -> Verdict<Vec<BTreeSet<Way>>> {
    let make = |plan: &_, kept: Option<&_>| begin(module, plan, kept);
    let (mut own, mut other) = (World::new(&make, 1), World::new(&make, 2));
    history::other_dice(&mut other);
    for view in views() {
        own.complete(&view, |_| true)?;
        other.complete(&view, |_| true)?;
    }
    let runs = 0..own.records.len();
    Ok(runs.map(|run| ways(module, &own, run, &told(&own, &other, run, known))).collect())
}

fn withstands(module: ModuleName, known: Known) -> Verdict {
    for (run, ways) in got(module, known)?.into_iter().enumerate() {
        ensure!(ways.is_empty(), "the key of run {run} is got: {ways:?}");
    }
    Ok(())
}

macro_rules! modules {
    ($($name:ident: $module:expr;)+) => {
        $(mod $name {
            use super::*;

            /// The keys as keying hands them out: what an application may lose.
            #[test]
            fn group_keys_of_other_runs_give_nothing() {
                assert_eq!(withstands($module, Known::Handed), Ok(()));
            }

            /// Stronger: the modules' own secrets, which nobody is told. Dutta–Barua does not
            /// withstand that, see below.
            #[test]
            fn secrets_of_other_runs_give_nothing_but_in_dutta_barua() {
                if $module != ModuleName::DuttaBarua {
                    assert_eq!(withstands($module, Known::Secrets), Ok(()));
                }
            }

            /// All that outlives a run is learnt afterwards.
            #[test]
            fn long_term_secrets_give_no_key_of_the_past() {
                assert_eq!(long_term::withstands($module), Ok(()));
            }

            #[test]
            fn an_ephemeral_secret_from_a_long_term_one_gives_the_key() {
                assert_eq!(long_term::is_found($module), Ok(()));
            }

            /// The same attack on the same module with one thing built wrong.
            #[test]
            fn the_attack_finds_a_module_that_uses_its_old_keys() {
                for weakness in Weakness::of($module) {
                    assert_eq!(weak::is_found($module, *weakness), Ok(()), "{weakness:?}");
                }
            }
        })+

        #[test]
        fn every_module_is_attacked() {
            assert_eq!([$($module),+].as_slice(), ModuleName::ALL);
        }
    };
}

modules! {
    gdh: ModuleName::Gdh;
    ckd: ModuleName::Ckd;
    bd: ModuleName::Bd;
    dutta_barua: ModuleName::DuttaBarua;
    tgdh: ModuleName::Tgdh;
    str: ModuleName::Str;
    mls: ModuleName::Mls;
    ckd_hybrid: ModuleName::CkdHybrid;
    mls_hybrid: ModuleName::MlsHybrid;
}

/// A Join lends a share that is made of the old secret: anyone who has that secret can listen. The
/// keys that keying hands out give nothing of it.
#[test]
fn the_secret_before_a_dutta_barua_join_gives_the_one_after() {
    let got = got(ModuleName::DuttaBarua, Known::Secrets).unwrap();
    let broken: Vec<_> = (0..got.len()).filter(|run| !got[*run].is_empty()).collect();
    // A Join each: one comes to all four, a side of two comes to all three.
    assert_eq!(broken, [2, 6], "{got:?}");
    assert_eq!(got[2], BTreeSet::from([Way::Raised, Way::Private]));
}
