//! The promise: equal keys for all who are in, none for anybody who is not, and every wrong value
//! refused with its own error.

use crate::common::{Group, Seeded, Toy, member, share};
use folkmoot_agreement::gdh::{Context, Kind, Run, Token};
use folkmoot_agreement::{
    AgreementError, Module, ModuleName, Origin, Plan, PrimeGroup, Ristretto, Step, begin,
};
use folkmoot_base::{Blob, Party};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Random scripts of join, leave, merge and refresh: equal keys, no key twice, leavers get
    /// nothing later.
    #[test]
    fn scripts_give_equal_and_independent_keys(seed in any::<u64>(), steps in 1..14_usize) {
        let mut draw = Seeded(seed);
        let mut group = Group::<Ristretto>::one(member(0), &mut draw);
        let mut next = 1_u16;
        let mut keys = BTreeSet::from([group.keys_equal()]);
        let mut leavers: Vec<(Context<Ristretto>, Vec<u8>)> = Vec::new();
        for _ in 0..steps {
            let size = group.contexts.len();
            let before = group.transcript.len();
            let old = group.keys_equal();
            match draw.below(4) {
                0 if size < 32 => {
                    group.join(member(next), &mut draw);
                    next += 1;
                }
                1 if size < 28 => {
                    let newcomers: Vec<_> = (0..=u16::try_from(draw.below(4)).unwrap()).map(|k| member(next + k)).collect();
                    next += u16::try_from(newcomers.len()).unwrap();
                    group.merge(&newcomers, &mut draw);
                }
                2 if size > 1 => {
                    let mut members = group.members();
                    let count = 1 + draw.below(size - 1);
                    let mut gone = Vec::new();
                    for _ in 0..count {
                        gone.push(members.remove(draw.below(members.len())));
                    }
                    for context in group.leave(&gone, &mut draw) {
                        if context.key().is_ok() {
                            leavers.push((context, old.clone()));
                        }
                    }
                }
                _ => group.refresh(&mut draw),
            }
            let key = group.keys_equal();
            prop_assert!(keys.insert(key.clone()), "a key came twice");
            // The whole state of every leaver, fed all later traffic, has its old key and no other.
            for token in &group.transcript[before..] {
                for (context, last) in &mut leavers {
                    let from = *token.members.last().unwrap();
                    prop_assert!(context.update(from, token, &token.members).is_err());
                    let held = context.key().unwrap();
                    prop_assert_eq!(held.expose(), &*last);
                }
            }
        }
    }

    /// Every module on a real group: equal secrets for n to 32, whatever the seed; all see the same
    /// members awaited.
    #[test]
    fn runs_give_equal_secrets(seed in any::<u64>(), n in 1..=32_usize) {
        let secrets = run_all(seed, n);
        prop_assert_eq!(secrets.len(), n);
        prop_assert!(secrets.windows(2).all(|pair| pair[0] == pair[1]));
        prop_assert_ne!(&secrets[0], &run_all(seed ^ 1, n)[0]);
    }
}

fn run_all(seed: u64, n: usize) -> Vec<Vec<u8>> {
    let members: Vec<_> = (0..n).map(|k| member(u16::try_from(k).unwrap())).collect();
    let mut draw = Seeded(seed);
    let mut runs: Vec<_> =
        (0..n).map(|me| begin(ModuleName::Gdh, &Plan::new(&members, me).unwrap(), None).unwrap()).collect();
    let mut log = VecDeque::new();
    let mut secrets = vec![Vec::new(); n];
    let mut apply = |me: usize, steps: Vec<Step>, log: &mut VecDeque<(usize, u8, Vec<u8>)>| {
        for step in steps {
            match step {
                Step::Send { step, body, decides } => {
                    assert_eq!(decides, step == 4);
                    log.push_back((me, step, body));
                }
                Step::Done(secret) => secrets[me] = secret.expose().clone(),
            }
        }
    };
    for (me, run) in runs.iter_mut().enumerate() {
        apply(me, run.start(&mut draw), &mut log);
    }
    let mut messages = 0;
    while let Some((from, step, body)) = log.pop_front() {
        messages += 1;
        let awaited: BTreeSet<_> = runs.iter().map(|run| run.awaited()).collect();
        assert_eq!(awaited.len(), 1, "all see the same members awaited");
        assert!(awaited.first().unwrap().contains(&from));
        for (me, run) in runs.iter_mut().enumerate() {
            let steps = run.receive(from, step, &body, &mut draw).unwrap();
            apply(me, steps, &mut log);
        }
    }
    assert_eq!(messages, if n == 1 { 0 } else { 2 * n }, "2n messages for n members");
    assert!(runs.iter().all(|run| run.awaited().is_empty()));
    secrets
}

#[test]
fn every_share_contributes() {
    let base = toy_initial(&[5, 7, 11, 13]);
    for place in 0..4 {
        let mut shares = [5, 7, 11, 13];
        shares[place] = 17;
        assert_ne!(toy_initial(&shares), base, "share {place} does not count");
    }
}

fn toy_initial(shares: &[u16]) -> Vec<u8> {
    let names: Vec<_> = (0..shares.len()).map(|k| member(u16::try_from(k).unwrap())).collect();
    Group::<Toy>::initial_merge_pattern(&names, &mut crate::common::Script(shares.to_vec())).keys_equal()
}

/// A leaver's old partial key and share give the old key, and nothing else does (toy vector: 718,
/// not 449).
#[test]
fn the_leavers_old_values_give_only_the_old_key() {
    let names: Vec<_> = (0..4).map(member).collect();
    let mut group =
        Group::<Toy>::initial_merge_pattern(&names, &mut crate::common::Script(vec![5, 7, 11, 13]));
    let old = group.keys_equal();
    let list = group.transcript.last().unwrap().clone();
    let mine = u32::from(crate::common::values(&list)[1]);
    group.leave(&[names[1]], &mut share(19));
    let new = group.keys_equal();
    assert_eq!(Toy::encode(&Toy::raise(&mine, &7)), old);
    for token in &group.transcript {
        for value in crate::common::values(token) {
            assert_ne!(Toy::encode(&Toy::raise(&u32::from(value), &7)), new);
        }
    }
}

struct Tried {
    context: Context<Toy>,
    from: Party,
    token: Token,
    members: Vec<Party>,
}

/// M2 of three, about to take the controller's list.
fn tried() -> Tried {
    let names: Vec<_> = (0..3).map(member).collect();
    let mut group = Group::<Toy>::initial_merge_pattern(&names, &mut crate::common::Script(vec![5, 7, 11]));
    let token = group.at(names[2]).refresh(&mut share(13)).unwrap();
    Tried { context: group.contexts.remove(1), from: names[2], token, members: names }
}

fn refused(change: impl FnOnce(&mut Tried)) -> AgreementError {
    let mut tried = tried();
    change(&mut tried);
    let before = tried.context.key().unwrap();
    let error = tried.context.update(tried.from, &tried.token, &tried.members).unwrap_err();
    assert!(before == tried.context.key().unwrap(), "a refused token changed the context");
    error
}

fn with_value(bytes: &[u8]) -> AgreementError {
    let bytes = bytes.to_vec();
    refused(move |tried| tried.token.values[0] = Blob::from(bytes))
}

#[test]
fn agr_01_values_outside_the_group_are_refused() {
    assert_eq!(with_value(&[0, 0]), AgreementError::PeerNotInGroup, "zero");
    assert_eq!(with_value(&1018_u16.to_be_bytes()), AgreementError::PeerNotInGroup, "p − 1, of order two");
    assert_eq!(
        with_value(&2_u16.to_be_bytes()),
        AgreementError::PeerNotInGroup,
        "a generator of the whole group"
    );
    assert_eq!(with_value(&1019_u16.to_be_bytes()), AgreementError::PeerNotInGroup, "out of range");
    assert_eq!(with_value(&[4]), AgreementError::PeerMalformed);
    assert_eq!(with_value(&[0, 4, 0]), AgreementError::PeerMalformed);
}

#[test]
fn agr_02_the_identity_is_refused() {
    assert_eq!(with_value(&1_u16.to_be_bytes()), AgreementError::PeerIdentity);
    let names = [member(0), member(1)];
    let mut run = Run::<Ristretto>::new(&Plan::new(&names, 1).unwrap(), None).unwrap();
    run.start(&mut Seeded(1));
    let identity = run.receive(0, 1, &[0; 32], &mut Seeded(1)).unwrap_err();
    assert_eq!(identity, AgreementError::PeerIdentity);
    let off = run.receive(0, 1, &[0xff; 32], &mut Seeded(1)).unwrap_err();
    assert_eq!(off, AgreementError::PeerNotInGroup);
}

#[test]
fn agr_03_lists_name_exactly_the_members_in_order() {
    let wrong = AgreementError::PeerWrongList;
    assert_eq!(refused(|tried| tried.token.members.swap(0, 1)), wrong);
    assert_eq!(refused(|tried| tried.token.values.truncate(1)), wrong);
    assert_eq!(refused(|tried| tried.token.values.push(Blob::from(vec![0, 4]))), wrong);
    assert_eq!(refused(|tried| tried.members.truncate(2)), wrong);
}

#[test]
fn agr_04_only_the_controller_ends_an_operation() {
    assert_eq!(refused(|tried| tried.from = member(0)), AgreementError::PeerNotController);
    let mut not_controller = tried().context;
    assert_eq!(not_controller.refresh(&mut share(3)).unwrap_err(), AgreementError::LocalNotController);
    let started = not_controller.merge_start(&[member(9)], &mut share(3)).unwrap_err();
    assert_eq!(started, AgreementError::LocalNotController);
}

#[test]
fn agr_05_tokens_of_other_epochs_and_operations_are_refused() {
    assert_eq!(refused(|tried| tried.token.epoch += 1), AgreementError::PeerWrongEpoch);
    assert_eq!(refused(|tried| tried.token.epoch -= 1), AgreementError::PeerWrongEpoch);
    assert_eq!(refused(|tried| tried.token.kind = Kind::MassJoin), AgreementError::PeerWrongToken);
    let mut tried = tried();
    tried.context.update(tried.from, &tried.token, &tried.members).unwrap();
    let again = tried.context.update(tried.from, &tried.token, &tried.members).unwrap_err();
    assert_eq!(again, AgreementError::PeerWrongEpoch, "a replay");
}

#[test]
fn agr_06_steps_of_a_run_come_in_turn_and_once() {
    let names: Vec<_> = (0..3).map(member).collect();
    let mut zero = Run::<Toy>::new(&Plan::new(&names, 0).unwrap(), None).unwrap();
    let partial = match zero.start(&mut share(5)).remove(0) {
        Step::Send { body, .. } => body,
        Step::Done(_) => panic!("not yet"),
    };
    let mut draw = share(7);
    let turn = |from, step| AgreementError::PeerOutOfTurn { from, step };
    assert_eq!(zero.receive(1, 1, &partial, &mut draw).unwrap_err(), turn(1, 1));
    assert_eq!(zero.receive(2, 2, &partial, &mut draw).unwrap_err(), turn(2, 2));
    assert_eq!(zero.receive(2, 4, &partial, &mut draw).unwrap_err(), turn(2, 4));
    assert_eq!(zero.receive(0, 9, &partial, &mut draw).unwrap_err(), AgreementError::PeerUnknownStep(9));
    zero.receive(0, 1, &partial, &mut draw).unwrap();
    let repeated = AgreementError::PeerRepeated { from: 0, step: 1 };
    assert_eq!(zero.receive(0, 1, &partial, &mut draw).unwrap_err(), repeated);
    assert_eq!(zero.awaited(), [1]);
}

#[test]
fn agr_07_the_final_token_is_the_last_partial_token() {
    let names = [member(0), member(1)];
    let mut zero = Run::<Toy>::new(&Plan::new(&names, 0).unwrap(), None).unwrap();
    zero.start(&mut share(5));
    zero.receive(0, 1, &[0, 5], &mut share(7)).unwrap();
    assert_eq!(zero.receive(1, 2, &[0, 4], &mut share(7)).unwrap_err(), AgreementError::PeerAltered);
    zero.receive(1, 2, &[0, 5], &mut share(7)).unwrap();
}

#[test]
fn member_lists_are_checked() {
    let local = Some(AgreementError::LocalMembers);
    assert_eq!(Plan::new(&[], 0).err(), local);
    assert_eq!(Plan::new(&[member(1), member(1)], 0).err(), local);
    assert_eq!(Plan::new(&[member(1)], 1).err(), local);
}

/// The base is the largest side, in its run's order; a member that brings nothing is a newcomer.
#[test]
fn plans_sort_members_by_what_they_bring() {
    let members: Vec<_> = (0..6).map(member).collect();
    let from = |run: u8, rank| Some(Origin { run: [run; 32], rank });
    let origins = vec![None, from(1, 1), from(2, 0), from(1, 0), from(2, 1), from(1, 7)];
    let plan = Plan::with_origins(&members, 0, origins).unwrap();
    assert_eq!(plan.sides(), [vec![3, 1, 5], vec![2, 4], vec![0]]);
    assert_eq!(plan.base(), [3, 1, 5]);
    assert_eq!(plan.newcomers(), [0, 2, 4]);
    assert!(!plan.in_base());
    let fresh = Plan::new(&members, 0).unwrap();
    assert!(fresh.base().is_empty());
    assert_eq!(fresh.newcomers(), [0, 1, 2, 3, 4, 5]);
    let short = Plan::with_origins(&members, 0, vec![None]).unwrap_err();
    assert_eq!(short, AgreementError::LocalMembers);
}

#[test]
fn what_a_member_is_to_bring_must_be_there() {
    let origins = vec![Some(Origin { run: [1; 32], rank: 0 })];
    let plan = Plan::with_origins(&[member(0)], 0, origins).unwrap();
    assert_eq!(begin(ModuleName::Gdh, &plan, None).err(), Some(AgreementError::LocalKept));
}

#[test]
fn modules_have_names_and_defaults() {
    let names: BTreeSet<_> = ModuleName::ALL.iter().map(|module| module.as_str()).collect();
    assert_eq!(names.len(), ModuleName::ALL.len());
    for module in ModuleName::ALL {
        assert_eq!(ModuleName::from_name(module.as_str()), Some(*module));
    }
    assert_eq!(ModuleName::from_name("GDH"), None);
    let above = ModuleName::from_name("tgdh").unwrap_or(ModuleName::Gdh);
    for (members, module) in
        [(0, ModuleName::Gdh), (1, ModuleName::Gdh), (8, ModuleName::Gdh), (9, above), (64, above)]
    {
        assert_eq!(ModuleName::by_size(members), module, "{members} members");
        assert!(ModuleName::by_size(members).contributory());
    }
    assert!(!ModuleName::Ckd.contributory() && !ModuleName::DuttaBarua.contributory());
}
