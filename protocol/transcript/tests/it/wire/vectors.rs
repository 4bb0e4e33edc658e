//! Golden bytes in testing/vectors/transcript: from fixed seeds the same bytes come out as ever,
//! and are taken as ever. A change of them breaks every existing group. To write them again:
//! `FOLKMOOT_WRITE_VECTORS=1 cargo test -p folkmoot-transcript --test it vectors::`.

use super::{Group, NOW, person, remove};
use folkmoot_base::Head;
use folkmoot_transcript::{FileReader, Item, Transcript};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/vectors/transcript").join(name)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Three founders admit somebody by two votes, and two expel the third.
fn story() -> (Group, Vec<(&'static str, Vec<u8>)>) {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let admit = group.admit(&stranger, &group.request(&stranger), &[0, 2]);
    group.all_take(&admit);
    let effect = remove(group.id(2));
    let approval = group.approval(0, effect.subject(), 0, folkmoot_identity::Verdict::Approve);
    group.approve(&effect, &[0, 1]);
    let decision = group.decide(&[0, 1, 2]).remove(0);
    let made = vec![
        ("charter.cms", group.first().signed_charter().der().to_vec()),
        ("admit.item", admit.encode()),
        ("approval.item", Item::Approval(approval).encode()),
        ("effect.item", Item::Effect(effect).encode()),
        ("decision.item", decision.encode()),
        ("group.transcript", group.first().file()),
    ];
    (group, made)
}

#[test]
fn the_same_seeds_give_the_same_bytes_and_they_are_taken() {
    let (group, made) = story();
    for (name, bytes) in &made {
        if std::env::var_os("FOLKMOOT_WRITE_VECTORS").is_some() {
            std::fs::write(path(name), bytes).unwrap();
        }
        assert!(std::fs::read(path(name)).unwrap() == *bytes, "{name} came out as {}", hex(bytes));
    }
    let golden = |name: &str| std::fs::read(path(name)).unwrap();
    let mut transcript = Transcript::founded(&golden("charter.cms")).unwrap();
    for name in ["admit.item", "approval.item", "effect.item", "decision.item"] {
        assert!(transcript.take(&golden(name), Some(NOW)).unwrap().new, "{name}");
    }
    let head = transcript.state().head();
    assert_eq!(head, group.first().state().head());
    assert_eq!((head.number, transcript.roster().len()), (1, 3));
    assert_eq!(transcript.state().digest(), group.first().state().digest());
    let mut reader = FileReader::new(&golden("charter.cms"), vec![Head { number: 1, ..head }]);
    reader.push(&golden("group.transcript")).unwrap();
    assert_eq!(reader.finish().unwrap().state().head(), head);
}
