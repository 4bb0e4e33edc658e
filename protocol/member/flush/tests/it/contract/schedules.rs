//! Random schedules, and the mutants that the checks must find.

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Join(usize),
    Leave(usize),
    Say(usize),
    Answer(usize),
    Manner(usize, bool),
    Entry(usize, u8),
    Order(usize),
    Deliver(usize, usize),
    Parts(Vec<usize>, usize),
    Pass(u64),
}

fn step(nodes: usize) -> impl Strategy<Value = Step> {
    let who = 0..nodes;
    let parts = prop::collection::vec(0..2_usize, nodes);
    prop_oneof![
        3 => who.clone().prop_map(Step::Join),
        1 => who.clone().prop_map(Step::Leave),
        6 => who.clone().prop_map(Step::Say),
        3 => who.clone().prop_map(Step::Answer),
        1 => (who.clone(), any::<bool>()).prop_map(|(who, slow)| Step::Manner(who, slow)),
        1 => (who.clone(), 1..20_u8).prop_map(|(who, number)| Step::Entry(who, number)),
        20 => who.clone().prop_map(Step::Order),
        20 => (who.clone(), 1..8_usize).prop_map(|(who, count)| Step::Deliver(who, count)),
        2 => (parts, 0..9_usize).prop_map(|(parts, hole)| Step::Parts(parts, hole)),
        1 => (0..9_u64).prop_map(Step::Pass),
    ]
}

fn play(bus: &mut Bus<Member>, step: &Step) {
    let now = bus.now;
    match step {
        Step::Join(who) => upper(bus, *who).join(),
        Step::Leave(who) => upper(bus, *who).leave(),
        Step::Say(who) => upper(bus, *who).say(),
        Step::Answer(who) => upper(bus, *who).answer(now),
        Step::Manner(who, slow) => {
            upper(bus, *who).manner = if *slow { Manner::Slow } else { Manner::Prompt }
        }
        Step::Entry(who, number) => bus.hosts[*who].group.item(&item(*number)).unwrap(),
        Step::Order(who) => _ = bus.order(*who),
        Step::Deliver(who, count) => {
            for _ in 0..*count {
                bus.deliver(*who);
            }
        }
        Step::Parts(parts, hole) => bus.reconfigure(parts, *hole),
        Step::Pass(seconds) => pass(bus, std::time::Duration::from_secs(*seconds)),
    }
    for index in 0..bus.hosts.len() {
        bus.pump(index);
    }
}

fn run(steps: &[Step], danger: Option<Danger>) -> Bus<Member> {
    let mut bus = new_bus(5, danger);
    for index in 0..4 {
        upper(&mut bus, index).join();
    }
    bus.settle();
    for step in steps {
        play(&mut bus, step);
    }
    bus
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn members_of_a_view_agree_whatever_happens(steps in prop::collection::vec(step(5), 0..250)) {
        let mut bus = run(&steps, None);
        prop_assert_eq!(check::all(&bus), Ok(()));
        heal(&mut bus);
        prop_assert_eq!(check::all(&bus), Ok(()));
        prop_assert_eq!(check::one_view(&bus), Ok(()));
    }
}

/// Schedules for the mutants: drawn once, the same in every run.
fn schedules() -> Vec<Vec<Step>> {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec(step(5), 250);
    (0..48).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_checks_catch_every_mutant() {
    let schedules = schedules();
    let mutants = [
        Danger::FlushNoWait,
        Danger::FlushAnyView,
        Danger::FlushWholeTransitional,
        Danger::FlushRepeatsView,
        Danger::FlushOmitsSelf,
    ];
    for danger in mutants {
        let caught = schedules.iter().any(|steps| check::all(&run(steps, Some(danger))).is_err());
        assert!(caught, "{danger:?} is not caught");
    }
    assert!(schedules.iter().all(|steps| check::all(&run(steps, None)).is_ok()));
}

#[test]
fn the_mutant_without_a_signal_at_leaves_is_seen() {
    for (danger, signals) in [(None, 1), (Some(Danger::FlushNoSignal), 0)] {
        let mut bus = joined(3, danger);
        upper(&mut bus, 2).leave();
        bus.settle();
        assert_eq!(count(&bus, 0, &Event::Signal), signals);
    }
}
