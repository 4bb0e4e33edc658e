//! What each role pays equals Tables 2 to 4 of the ICDCS 2000 paper without the long-term-key rows,
//! for n from 2 to 64. As there, n includes the joining or the leaving member. Formulas:
//! docs/protocol/agreement.md.

use crate::common::{Group, Seeded, Toy, member, sizes};
use folkmoot_agreement::gdh::Context;
use folkmoot_agreement::{PrimeGroup, Ristretto};
use folkmoot_base::Party;

fn names(n: u16) -> Vec<Party> {
    (1..=n).map(member).collect()
}

fn group(n: u16) -> Group<Toy> {
    let mut group = if n == 1 {
        Group::one(member(1), &mut Seeded(u64::from(n)))
    } else {
        Group::initial_merge_pattern(&names(n), &mut Seeded(u64::from(n)))
    };
    group.contexts.iter_mut().for_each(Context::reset_count);
    group
}

fn paid<G: PrimeGroup>(group: &mut Group<G>, number: u16) -> u64 {
    group.at(member(number)).count().exponentiations
}

#[test]
fn join_costs_the_controller_n_and_the_joiner_n() {
    for n in sizes(2) {
        let mut group = group(n - 1);
        group.join(member(n), &mut Seeded(7));
        let wide = u64::from(n);
        // Published: n + 1, of which one is the long-term key with the joiner.
        assert_eq!(paid(&mut group, n - 1), wide, "controller, n = {n}");
        // Published: 2n − 1, of which n − 1 are long-term keys.
        assert_eq!(paid(&mut group, n), wide, "joiner, n = {n}");
        // Published serial total: 3n.
        assert_eq!(paid(&mut group, n - 1) + paid(&mut group, n), 2 * wide);
        for other in 1..n - 1 {
            assert_eq!(paid(&mut group, other), 1, "every other member, n = {n}");
        }
    }
}

#[test]
fn leave_costs_the_controller_n_minus_one_whoever_leaves() {
    for n in sizes(2) {
        for leaver in [1, n] {
            let mut group = group(n);
            group.leave(&[member(leaver)], &mut Seeded(9));
            let controller = if leaver == n { n - 1 } else { n };
            // Published: n, of which one removes the long-term key with the previous controller.
            assert_eq!(paid(&mut group, controller), u64::from(n) - 1, "n = {n}, {leaver} leaves");
            for other in (1..=n).filter(|other| *other != leaver && *other != controller) {
                assert_eq!(paid(&mut group, other), 1);
            }
        }
    }
}

#[test]
fn initial_agreements_cost_what_the_literature_says() {
    for n in sizes(2) {
        let (names, wide) = (names(n), u64::from(n));
        // IKA.1: i + 1 each, n the last; (n² + 3n) / 2 − 1 in all.
        let mut entropy = Seeded(3);
        // On the real group: in the toy one, values are sometimes equal by chance, which saves a
        // factor-out.
        let mut first = Context::<Ristretto>::new_member(names[0]);
        let mut token = first.upflow_first(&names, &mut entropy).unwrap();
        let mut contexts = vec![first];
        for place in 1..names.len() {
            let mut context = Context::new_member(names[place]);
            token = context.upflow(names[place - 1], &token, &names, &mut entropy).unwrap();
            contexts.push(context);
        }
        let mut upflow = Group { contexts, transcript: Vec::new() };
        upflow.update(&token);
        upflow.keys_equal();
        for i in 1..n {
            assert_eq!(paid(&mut upflow, i), u64::from(i) + 1);
        }
        assert_eq!(paid(&mut upflow, n), wide);
        let total: u64 = upflow.contexts.iter().map(|context| context.count().exponentiations).sum();
        assert_eq!(total, (wide * wide + 3 * wide) / 2 - 1);

        // IKA.2: 4 each counting the inversion, 2 the last but one, n the last; 5n − 6 in all.
        let merged = Group::<Ristretto>::initial_merge_pattern(&names, &mut Seeded(5));
        merged.keys_equal();
        let costs: Vec<_> = merged
            .contexts
            .iter()
            .map(|context| context.count())
            .map(|c| c.exponentiations + c.inversions)
            .collect();
        assert!(costs[..names.len() - 2].iter().all(|cost| *cost == 4));
        assert_eq!(costs[names.len() - 2..], [2, wide]);
        assert_eq!(costs.iter().sum::<u64>(), 5 * wide - 6);
    }
}

#[test]
fn merge_and_mass_leave_cost_one_broadcast_and_what_the_docs_say() {
    for (n, m) in [(1_u16, 1_u16), (4, 1), (4, 3), (10, 5), (20, 12)] {
        let mut group = group(n);
        let newcomers: Vec<_> = (n + 1..=n + m).map(member).collect();
        group.merge(&newcomers, &mut Seeded(11));
        let messages = usize::from(n + m) + usize::from(m) + 1;
        let pattern = if n == 1 { 0 } else { usize::from(2 * n) };
        assert_eq!(group.transcript.len() - pattern, messages, "(n + m) + m + 1 messages");
        assert_eq!(paid(&mut group, n + m), u64::from(n + m), "the new controller");
        let before = group.transcript.len();
        group.contexts.iter_mut().for_each(Context::reset_count);
        let gone: Vec<_> = (1..=n).map(member).collect();
        group.leave(&gone, &mut Seeded(13));
        assert_eq!(group.transcript.len(), before + 1);
        assert_eq!(paid(&mut group, n + m), u64::from(m), "m − 1 to re-raise and the key");
    }
}
