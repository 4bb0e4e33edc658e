//! What a voter and a member without a vote who flood cost the others. The ten minutes of the issue
//! run in `cargo xtask release`.

use folkmoot_base::Danger;
use folkmoot_sim::flood::{Costs, DISK_MAX, MEMORY_MAX, Plan, judge, play};
use std::sync::OnceLock;

const PLAN: Plan = Plan { seed: 1, seconds: 6, floods: true, danger: None };

fn quiet() -> &'static Costs {
    static QUIET: OnceLock<Costs> = OnceLock::new();
    QUIET.get_or_init(|| play(Plan { floods: false, ..PLAN }))
}

#[test]
fn a_flood_costs_each_member_little_and_delays_no_expulsion() {
    let (quiet, flooded) = (quiet(), play(PLAN));
    assert_eq!(flooded.len(), 3);
    assert_eq!(judge(quiet, &flooded), Vec::<String>::new(), "{quiet:?} {flooded:?}");
    for (player, cost) in &flooded {
        let calm = quiet[player];
        assert!(calm.memory > 100_000 && calm.memory_end > 100_000, "memory is counted: {calm:?}");
        assert!(calm.memory < MEMORY_MAX / 8 && calm.disk < DISK_MAX / 8, "{calm:?}");
        assert!(
            cost.memory > calm.memory + 1_000_000 && cost.disk > calm.disk + 1_000_000,
            "a flood: {cost:?}"
        );
    }
}

#[test]
fn without_the_bounds_of_the_set_a_flood_costs_too_much() {
    let broken = judge(quiet(), &play(Plan { danger: Some(Danger::LineNoBounds), ..PLAN }));
    assert_eq!(broken.iter().filter(|line| line.contains("memory")).count(), 3, "{broken:?}");
}
