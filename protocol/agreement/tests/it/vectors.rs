//! The published toy vectors hold bit for bit (p = 1019, q = 509, g = 4).

use crate::common::{Group, Script, Toy, member, share, toy_key, values};
use folkmoot_agreement::gdh::Context;

fn three() -> Group<Toy> {
    let members = [member(1), member(2), member(3)];
    let (mut one, mut two, mut three) = (
        Context::<Toy>::new_member(members[0]),
        Context::<Toy>::new_member(members[1]),
        Context::<Toy>::new_member(members[2]),
    );
    let first = one.upflow_first(&members, &mut share(5)).unwrap();
    assert_eq!(values(&first), [4, 5]);
    let second = two.upflow(members[0], &first, &members, &mut share(7)).unwrap();
    assert_eq!(values(&second), [80, 5, 681]);
    let list = three.upflow(members[1], &second, &members, &mut share(11)).unwrap();
    assert_eq!(values(&list), [109, 702]);
    let mut group = Group { contexts: vec![one, two, three], transcript: Vec::new() };
    group.update(&list);
    for context in &group.contexts {
        assert_eq!(toy_key(context), 880);
    }
    group
}

#[test]
fn initial_join_leave_merge() {
    let mut group = three();
    // JOIN of M4.
    let members = [member(1), member(2), member(3), member(4)];
    let token = group.at(member(3)).process_join(member(4), &mut share(13)).unwrap();
    assert_eq!(values(&token), [604, 227, 681, 180]);
    let mut four = Context::new_member(member(4));
    let list = four.join(member(3), &token, &members, &mut share(17)).unwrap();
    assert_eq!(values(&list), [625, 687, 936]);
    group.contexts.push(four);
    group.update(&list);
    assert!(group.contexts.iter().all(|context| toy_key(context) == 718));

    // LEAVE of M2.
    let mut gone = group.leave(&[member(2)], &mut share(19));
    let list = group.transcript.last().unwrap().clone();
    assert_eq!(values(&list), [598, 562]);
    assert!(group.contexts.iter().all(|context| toy_key(context) == 449));
    let leaver = gone.pop().unwrap();
    assert_eq!(toy_key(&leaver), 718, "the leaver keeps the old key and gets no new one");

    // MERGE of M5 and M6.
    group.merge(&[member(5), member(6)], &mut Script(vec![23, 29, 31]));
    let told: Vec<_> = group.transcript.iter().rev().take(8).rev().map(values).collect();
    let published = [vec![339], vec![541], vec![541], vec![667], vec![246], vec![82], vec![339]];
    assert_eq!(told[..7], published, "MASS_JOIN, MASS_JOIN, MERGE_BROADCAST, four FACTOR_OUT");
    assert_eq!(told[7], [618, 998, 99, 14]);
    assert!(group.contexts.iter().all(|context| toy_key(context) == 280));
}

#[test]
fn refresh_changes_the_key_with_one_broadcast() {
    let mut group = three();
    let before = group.transcript.len();
    group.refresh(&mut share(13));
    assert_eq!(group.transcript.len(), before + 1);
    assert_eq!(group.keys_equal(), 180_u16.to_be_bytes(), "5 · 7 · 13");
}
