//! The model is a model of the machine as built. Along random walks, every member of the model has
//! a real flush layer and a real keying machine beside it, which read the same order. At each step
//! both do the same and are in the same state.

use crate::common::{Real, Seats, Seeded, Wire, apart, shared};
use folkmoot_base::Danger;
use folkmoot_keying::State;
use folkmoot_model::{Action, Effect, Rules, Scope, Stage, Standing, Who, World, beginnings, everybody};
use std::collections::BTreeMap;

const WALKS: u64 = 3_000;
const RULES: Rules = Rules {
    rule_h: true,
    key_list_holds: true,
    k1: true,
    safe_list: true,
    confirmation: true,
    own_confirmation: true,
    prior: true,
    early_held: true,
    removed_named: true,
    named_awaited: true,
    freeze: true,
    early_requests: false,
    every_read: true,
};

#[derive(Default)]
struct Seen {
    steps: usize,
    views: usize,
    held: usize,
    reflected: usize,
}

/// One walk, each a member of its own; says where model and machine first differ.
fn walk(seed: u64, rules: &Rules, danger: Option<Danger>, seen: &mut Seen) -> Result<(), String> {
    walk_as(apart, &Scope::all(4), seed, rules, danger, seen)
}

fn walk_as(
    seats: Seats,
    scope: &Scope,
    seed: u64,
    rules: &Rules,
    danger: Option<Danger>,
    seen: &mut Seen,
) -> Result<(), String> {
    let mut draw = Seeded(seed);
    let roots = beginnings(scope);
    let mut world = roots[draw.below(roots.len())].clone();
    let (mut wire, mut real) = (Wire::default(), BTreeMap::new());
    for step in 0..10_000 {
        match_seats(&world, &mut real, seats, (seed, step), danger);
        let quiet = world.steps(rules);
        let all = world.actions(rules, scope);
        let changes: Vec<_> = all.iter().copied().filter(|action| action.is_change()).collect();
        let pool =
            if changes.is_empty() || (!quiet.is_empty() && draw.below(12) > 0) { quiet } else { changes };
        if pool.is_empty() {
            return Ok(());
        }
        let action = pool[draw.below(pool.len())];
        let next = world.act(action, rules);
        let told = match action {
            Action::Read(who) => {
                let entry = world.player(who).unwrap().queue[0];
                real.get_mut(&who).unwrap().read(entry, &mut wire)
            }
            Action::Answer(who) => real.get_mut(&who).unwrap().answer(&mut wire),
            _ => Vec::new(),
        };
        let modelled: Vec<_> = next.told.iter().copied().map(without_key).collect();
        if told != modelled {
            return Err(format!("{action:?}: the model {modelled:?}, the machine {told:?}"));
        }
        world = next.world;
        for (who, player) in world.players() {
            let standing = player.member.keying.standing();
            seen.held += usize::from(matches!(standing, Standing::Running(_, true)));
            if let Some(real) = real.get(&who)
                && !alike(standing, real.state())
            {
                return Err(format!("{action:?}: the model {standing:?}, the machine {:?}", real.state()));
            }
        }
        seen.steps += 1;
        seen.reflected += usize::from(matches!(action, Action::Reflect(..)));
        seen.views += told.iter().filter(|effect| matches!(effect, Effect::Secure { .. })).count();
    }
    Err("no end".into())
}

/// A real party for each that is up.
fn match_seats(
    world: &World,
    real: &mut BTreeMap<Who, Real>,
    seats: Seats,
    (seed, step): (u64, u64),
    danger: Option<Danger>,
) {
    for who in everybody() {
        match world.player(who) {
            None => drop(real.remove(&who)),
            Some(player) => {
                let salt = seed * 1_000_000 + step * 10 + u64::from(who);
                real.entry(who).or_insert_with(|| Real::new(who, seats, player.member.off(), salt, danger));
            }
        }
    }
}

fn without_key(effect: Effect) -> Effect {
    match effect {
        Effect::Secure { view, together, .. } => Effect::Secure { view, together, key: 0 },
        other => other,
    }
}

fn alike(model: Standing, real: State) -> bool {
    match model {
        Standing::Cascading | Standing::Keyless => real == State::Cascading,
        Standing::Secure(_) => real == State::Secure,
        Standing::Spent(key) => matches!(real, State::Agreeing(_)) != key && real != State::Secure,
        Standing::Running(Stage::Confirming, _) => real == State::Confirming,
        Standing::Running(stage, _) => real == State::Agreeing(name(stage)),
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::PartialToken => "partial token",
        Stage::FinalToken => "final token",
        Stage::FactOuts => "fact outs",
        Stage::NewMember => "new member",
        Stage::KeyList => "key list",
        Stage::Confirming => "confirmation",
    }
}

#[test]
fn the_real_machines_do_what_the_model_does() {
    let mut seen = Seen::default();
    for seed in 0..WALKS {
        walk(seed, &RULES, None, &mut seen).unwrap_or_else(|differs| panic!("walk {seed}: {differs}"));
    }
    let Seen { steps, views, held, .. } = seen;
    println!("{WALKS} walks, {steps} steps, {views} secure views, {held} times a flush was held");
    assert!(steps > 100_000 && views > 8_000 && held > 1_500);
}

/// The model knows no members, only whoever flushes and agrees. So two parties of one member do
/// what two members do: flush asks, waits for and hears each for itself.
#[test]
fn two_parties_of_one_member_do_what_two_members_do() {
    let (mut seen, scope) = (Seen::default(), Scope { expulsions: false, ..Scope::all(4) });
    for seed in 0..WALKS / 3 {
        walk_as(shared, &scope, seed, &RULES, None, &mut seen)
            .unwrap_or_else(|differs| panic!("walk {seed}: {differs}"));
    }
    let Seen { steps, views, held, .. } = seen;
    println!("{} walks, {steps} steps, {views} secure views, {held} times a flush was held", WALKS / 3);
    assert!(steps > 30_000 && views > 2_000 && held > 300);
}

/// A carrier says confirmations in others' names: nothing comes of it at either. With the rule off
/// at the machine, the walks tell.
#[test]
fn a_reflected_confirmation_is_passed_over_by_both() {
    let (mut seen, scope) = (Seen::default(), Scope::all(4).with_reflections(6));
    for seed in 0..WALKS / 3 {
        walk_as(apart, &scope, seed, &RULES, None, &mut seen)
            .unwrap_or_else(|differs| panic!("walk {seed}: {differs}"));
    }
    let Seen { steps, views, reflected, .. } = seen;
    println!("{} walks, {steps} steps, {views} secure views, {reflected} reflections", WALKS / 3);
    assert!(reflected > 1_000);
    for danger in [Danger::KeyingOneConfirmKey, Danger::KeyingAnyConfirm] {
        let walk = |seed| walk_as(apart, &scope, seed, &RULES, Some(danger), &mut Seen::default()).err();
        let differs = (0..WALKS).find_map(walk);
        println!("{danger:?}: {}", differs.as_deref().unwrap_or("no difference"));
        assert!(differs.is_some(), "{danger:?}");
    }
}

/// The walks tell a machine that is not the model's.
#[test]
fn a_real_machine_without_a_rule_differs() {
    for danger in [
        Danger::KeyingNoRuleH,
        Danger::KeyingFlushInKeyList,
        Danger::KeyingNoConfirm,
        Danger::KeyingKeyListAgreed,
        Danger::FlushNoSignal,
    ] {
        let differs =
            (0..WALKS).find_map(|seed| walk(seed, &RULES, Some(danger), &mut Seen::default()).err());
        println!("{danger:?}: {}", differs.as_deref().unwrap_or("no difference"));
        assert!(differs.is_some(), "{danger:?}");
    }
}

/// With a rule off, the model is a model of the mutant.
#[test]
fn a_rule_off_in_both_is_the_same_again() {
    let off = [
        (Danger::KeyingNoRuleH, Rules { rule_h: false, ..RULES }),
        (Danger::KeyingFlushInKeyList, Rules { key_list_holds: false, ..RULES }),
        (Danger::KeyingKeyListAgreed, Rules { safe_list: false, ..RULES }),
        (Danger::FlushNoSignal, Rules { k1: false, ..RULES }),
    ];
    for (danger, rules) in off {
        for seed in 0..WALKS / 10 {
            walk(seed, &rules, Some(danger), &mut Seen::default())
                .unwrap_or_else(|differs| panic!("{danger:?}, walk {seed}: {differs}"));
        }
    }
}
