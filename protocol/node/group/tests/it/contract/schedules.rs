//! Random schedules of joins, leaves, splits and messages.

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Join(usize),
    Leave(usize),
    Detach(usize),
    Complain(usize, usize),
    Say(usize),
    Item(usize, u8),
    Order(usize),
    Deliver(usize, usize),
    Parts(Vec<usize>, usize),
}

fn step(nodes: usize) -> impl Strategy<Value = Step> {
    let who = 0..nodes;
    prop_oneof![
        3 => who.clone().prop_map(Step::Join),
        1 => who.clone().prop_map(Step::Leave),
        1 => who.clone().prop_map(Step::Detach),
        2 => (who.clone(), who.clone()).prop_map(|(who, about)| Step::Complain(who, about)),
        3 => who.clone().prop_map(Step::Say),
        1 => (who.clone(), 0..20_u8).prop_map(|(who, number)| Step::Item(who, number)),
        8 => who.clone().prop_map(Step::Order),
        8 => (who.clone(), 1..6_usize).prop_map(|(who, count)| Step::Deliver(who, count)),
        2 => (prop::collection::vec(0..3_usize, nodes), 0..9_usize).prop_map(|(parts, hole)| Step::Parts(parts, hole)),
    ]
}

fn play(bus: &mut Bus<Scribe>, step: &Step, said: &mut u32) {
    match step {
        Step::Join(who) => bus.hosts[*who].upper.calls.push(Call::Join),
        Step::Leave(who) => bus.hosts[*who].upper.calls.push(Call::Leave),
        Step::Detach(who) => {
            bus.hosts[*who].group.detach(member(*who)).unwrap();
            bus.hosts[*who].group.attach(member(*who)).unwrap();
        }
        Step::Complain(who, about) => {
            if let Some((view, ..)) = bus.hosts[*who].upper.notices().pop() {
                bus.hosts[*who].upper.calls.push(Call::Complain(view, member(*about)));
            }
        }
        Step::Say(who) => {
            *said += 1;
            let payload = Bytes::copy_from_slice(&said.to_be_bytes());
            bus.hosts[*who].upper.calls.push(Call::Send(Service::Agreed, payload));
        }
        Step::Item(who, number) if *number == 0 => bus.hosts[*who].group.item(&removal(0)).unwrap(),
        Step::Item(who, number) => bus.hosts[*who].group.item(&item(*number)).unwrap(),
        Step::Order(who) => _ = bus.order(*who),
        Step::Deliver(who, count) => {
            for _ in 0..*count {
                bus.deliver(*who);
            }
        }
        Step::Parts(parts, hole) => bus.reconfigure(parts, *hole),
    }
    for index in 0..bus.hosts.len() {
        bus.pump(index);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn notices_agree_and_tables_are_equal_in_the_end(steps in prop::collection::vec(step(4), 0..120)) {
        let mut bus = bus(4);
        let mut said = 0;
        for step in &steps {
            play(&mut bus, step, &mut said);
        }
        bus.reconfigure(&[0; 4], 3);
        bus.settle();
        let mut lists: BTreeMap<ViewId, Vec<Party>> = BTreeMap::new();
        for (index, host) in bus.hosts.iter().enumerate() {
            let notices = host.upper.notices();
            prop_assert!(notices.is_sorted_by(|a, b| a.0 < b.0), "ids grow");
            for (view, list, _, _) in notices {
                prop_assert!(list.contains(&member(index)), "self inclusion");
                prop_assert_eq!(lists.entry(view).or_insert_with(|| list.clone()), &list, "one id, one list");
            }
            prop_assert!(host.group.is_settled());
            prop_assert_eq!(host.group.members(GROUP), bus.hosts[0].group.members(GROUP));
            let heard = host.upper.heard();
            prop_assert_eq!(heard.iter().collect::<BTreeSet<_>>().len(), heard.len(), "no message twice");
        }
        let table = bus.hosts[0].group.members(GROUP);
        let newest: BTreeSet<ViewId> = (0..4)
            .filter(|index| table.contains(&member(*index)))
            .map(|index| bus.hosts[index].upper.newest())
            .map(|(view, list, _, _)| { assert_eq!(list, table); view })
            .collect();
        prop_assert!(newest.len() <= 1, "all members have the same newest notice");
    }
}
