//! Replicas that hear entries in any order agree; sides that do not hear each other decide nothing
//! twice.

use super::*;

/// What happens next, on which replica.
#[derive(Debug, Clone)]
enum Step {
    Admit(usize, usize, bool),
    Expel(usize, usize, bool),
    Change(usize, u32, bool),
    Expire(usize, usize),
    Backdate(usize, usize),
    Merge(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let side = 0..3_usize;
    let step = prop_oneof![
        (side.clone(), 4..9_usize, any::<bool>()).prop_map(|(at, who, left)| Step::Admit(at, who, left)),
        (side.clone(), 0..9_usize, any::<bool>()).prop_map(|(at, who, left)| Step::Expel(at, who, left)),
        (side.clone(), 20..60_u32, any::<bool>()).prop_map(|(at, days, left)| Step::Change(at, days, left)),
        (side.clone(), 4..9_usize).prop_map(|(at, who)| Step::Expire(at, who)),
        (side.clone(), 4..9_usize).prop_map(|(at, who)| Step::Backdate(at, who)),
        (side.clone(), side).prop_map(|(to, from)| Step::Merge(to, from)),
    ];
    proptest::collection::vec(step, 0..14)
}

fn play(replicas: &mut [Transcript], number: usize, step: &Step) {
    // Four founders: two disjoint pairs of voters; only the pair with the first listed is a quorum.
    let pair = |left: bool| if left { [0, 1] } else { [2, 3] };
    let made = match step {
        Step::Merge(to, from) => {
            let from = replicas[*from].clone();
            return merge(&mut replicas[*to], &from);
        }
        Step::Admit(at, who, left) => {
            let t = &replicas[*at];
            let gmc = gmc(t, *who, &pair(*left), 1_000 + number as u64);
            (*at, t.make_admit(gmc.der(), &PEOPLE[pair(*left)[0]]))
        }
        Step::Expel(at, who, left) => {
            (*at, decide(&replicas[*at], &expel(&replicas[*at], *who), &pair(*left)))
        }
        Step::Change(at, days, left) => {
            let change = Decision::change("certificate_days", &days.to_string());
            (*at, decide(&replicas[*at], &change, &pair(*left)))
        }
        Step::Expire(at, who) => {
            let t = &replicas[*at];
            let Some(held) = t.roster().member(&id(*who)) else { return };
            (*at, t.make_expire(held.member, held.entry, UnixTime(NOW.0 + 2 * YEAR), &PEOPLE[0]))
        }
        // Somebody's certificate once more, in an entry that knows of nothing but the beginning.
        Step::Backdate(at, who) => {
            let t = &replicas[*at];
            let bodies = t.entries().map(|entry| Entry::decode(entry).unwrap().body);
            let is_theirs = |der: &Blob| Gmc::from_der(&der.0).unwrap().member() == id(*who);
            let mut used =
                bodies.filter(|body| matches!(body, Body::Admit { certificate } if is_theirs(certificate)));
            let found = used.next().map(|body| sign(t.group(), vec![t.genesis_id()], body, 3));
            drop(used);
            return drop(found.map(|entry| replicas[*at].append(&entry)));
        }
    };
    if let (at, Ok(entry)) = made {
        replicas[at].append(&entry).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn replicas_converge_whatever_the_order(steps in steps(), seed in any::<u64>()) {
        let mut replicas = vec![found(4, 2); 3];
        for (number, step) in steps.iter().enumerate() {
            play(&mut replicas, number, step);
        }
        for (to, from) in [(0, 1), (0, 2), (1, 0), (2, 0)] {
            let from = replicas[from].clone();
            merge(&mut replicas[to], &from);
        }
        let mut entries: Vec<Bytes> = replicas[0].entries().cloned().collect();
        entries.sort_by_key(|entry| digest(&[&seed.to_be_bytes(), entry]));
        replicas.push(Transcript::load(entries).unwrap());
        for other in &replicas[1..] {
            prop_assert_eq!(other.heads(), replicas[0].heads());
            prop_assert_eq!(other.heads_digest(), replicas[0].heads_digest());
            prop_assert_eq!(other.roster(), replicas[0].roster());
            prop_assert_eq!(other.roster().electorate(), replicas[0].roster().electorate());
        }
    }

    #[test]
    fn two_sides_never_both_expel(count in 2..8_usize, sides in any::<u8>(), threshold in 1..3_u32) {
        let t = found(count, threshold);
        let side = |bit: bool| -> Vec<usize> { (0..count).filter(|who| (sides >> who & 1 == 1) == bit).collect() };
        let expels = |voters: &[usize], targets: &[usize]| {
            !voters.is_empty() && targets.iter().any(|target| decide(&t, &expel(&t, *target), voters).is_ok())
        };
        let (left, right) = (side(true), side(false));
        prop_assert!(!(expels(&left, &right) && expels(&right, &left)));
    }

    #[test]
    fn trn_17_two_sides_never_both_admit(count in 1..8_usize, sides in any::<u8>()) {
        let mut t = found(count, 1);
        let everyone: Vec<usize> = (0..count).collect();
        t.append(&decide(&t, &Decision::change("minority_may_admit", "false"), &everyone).unwrap()).unwrap();
        let admits = |bit: bool| {
            let side: Vec<usize> = (0..count).filter(|who| (sides >> who & 1 == 1) == bit).collect();
            !side.is_empty() && t.make_admit(gmc(&t, 9, &side, 1).der(), &PEOPLE[side[0]]).is_ok()
        };
        prop_assert!(admits(true) != admits(false), "one side, and one only");
    }

    #[test]
    fn any_bytes_are_an_entry_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut t = found(1, 1);
        prop_assert!(t.append(&bytes).is_err());
    }
}
