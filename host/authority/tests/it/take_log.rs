//! `authority take-log` on real folders: what it takes along, and what it refuses.

use crate::world::World;
use folkmoot_authority::{AuthorityError, records, take_log};
use folkmoot_base::{GroupName, Persist, UnixTime};
use folkmoot_identity::{CharterDraft, Founder, Identity, Minority, SignedCharter};
use folkmoot_runtime::{OsEntropy, StateFolder, Store, wall_clock};

fn folder(name: &str) -> StateFolder {
    let root = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = root.join(format!("take-log-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let folder = StateFolder::open(&path).unwrap();
    folder.write_identity("key", "certificate").unwrap();
    folder
}

/// A replica's folder with two records, whose views had numbers up to 3; it has seen rings up to
/// `ring_seq`.
fn knows(name: &str, ring_seq: Option<u64>) -> StateFolder {
    let mut world = World::new(1, 2, None);
    for _ in 0..3 {
        world.change(&[vec![0, 1]]);
        world.settle();
    }
    (1..3).for_each(|number| world.ask(0, [number; 32]));
    world.settle();
    let folder = folder(name);
    let mut rows: Vec<Persist> = Vec::new();
    rows.extend(
        world.all[1].disk.iter().map(|(key, value)| Persist { key: key.clone(), value: Some(value.clone()) }),
    );
    rows.extend(ring_seq.map(|number| Persist::put("ring", &b"ring_seq"[..], number.to_be_bytes().to_vec())));
    Store::open(&folder.store_path()).unwrap().commit(&rows).unwrap();
    folder
}

fn ring_seq(folder: &StateFolder) -> u64 {
    let stored = Store::open(&folder.store_path()).unwrap().load().unwrap();
    let row = stored.into_iter().find(|(key, _)| key.table == "ring" && &key.key[..] == b"ring_seq").unwrap();
    u64::from_be_bytes(row.1.as_ref().try_into().unwrap())
}

#[test]
fn auth_15_the_rings_number_goes_with_the_log() {
    // The other's number; its log's newest view, where it has none; the own one.
    for (theirs, ours, taken) in [(Some(9), None, 9), (None, None, 3), (Some(9), Some(12), 12)] {
        let (from, new) = (knows("from", theirs), folder("new"));
        let own =
            ours.map(|number: u64| Persist::put("ring", &b"ring_seq"[..], number.to_be_bytes().to_vec()));
        let own: Vec<Persist> = own.into_iter().collect();
        Store::open(&new.store_path()).unwrap().commit(&own).unwrap();
        assert_eq!(take_log(&new, &from).unwrap(), 2);
        assert_eq!(ring_seq(&new), taken, "{theirs:?} {ours:?}");
        assert_eq!(records(&new).unwrap(), records(&from).unwrap());
        assert!(matches!(take_log(&new, &from), Err(AuthorityError::LocalKnows { .. })));
    }
    assert!(matches!(take_log(&folder("new"), &folder("empty")), Err(AuthorityError::LocalNoLog { .. })));
}

#[test]
fn a_log_of_another_group_is_not_taken() {
    let charter = |name: &str| {
        let (now, mut entropy) = (wall_clock(), OsEntropy::new().unwrap());
        let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
        let people = ["a", "b"].map(|name| Identity::new(name, &mut entropy, from, to).unwrap());
        let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
        let mut draft = CharterDraft::new(GroupName::new(name).unwrap(), 1, founders, &mut entropy);
        draft.minority = Minority::ReadOnly;
        SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).unwrap().der().to_vec()
    };
    let (ours, theirs) = (charter("replicas"), charter("others"));
    let (from, new) = (knows("charter-from", None), folder("charter-new"));
    from.write_charter(&theirs).unwrap();
    new.write_charter(&ours).unwrap();
    let refused = take_log(&new, &from);
    assert!(matches!(refused, Err(AuthorityError::LocalOtherGroup { .. })), "{refused:?}");
    assert!(records(&new).unwrap().is_empty(), "nothing was written");
    // Where one of the two has no charter yet, nobody can tell.
    let (from, new) = (knows("bare-from", None), folder("bare-new"));
    new.write_charter(&ours).unwrap();
    assert_eq!(take_log(&new, &from).unwrap(), 2);
}
