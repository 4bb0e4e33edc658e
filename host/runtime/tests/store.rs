//! The store keeps what was committed, whole, and answers damage with a clear error, never a panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use bytes::Bytes;
use folkmoot_base::Persist;
use folkmoot_runtime::{StateError, StateFolder, Store, StoreError, Writer};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("folkmoot-store-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn filled(path: &Path, rows: u32) {
    let mut store = Store::open(path).unwrap();
    let batch: Vec<Persist> = (0..rows)
        .map(|row| {
            Persist::put(
                "transcript",
                row.to_be_bytes().to_vec(),
                vec![u8::try_from(row % 251).unwrap(); 700],
            )
        })
        .collect();
    store.commit(&batch).unwrap();
}

fn open_and_load(path: &Path) -> Result<usize, StoreError> {
    Store::open(path)?.load().map(|rows| rows.len())
}

#[test]
fn what_was_committed_is_there_after_reopening() {
    let file = folder("reopen").join("member.sqlite");
    let mut store = Store::open(&file).unwrap();
    store
        .commit(&[
            Persist::put("ring", &b"seq"[..], &b"7"[..]),
            Persist::put("ring", &b"seq"[..], &b"8"[..]),
            Persist::put("vote", &b"a"[..], &b"yes"[..]),
            Persist::delete("vote", &b"a"[..]),
            Persist::put("a later layer", &b""[..], &b""[..]),
        ])
        .unwrap();
    drop(store);
    let rows = Store::open(&file).unwrap().load().unwrap();
    let told: Vec<(&str, Bytes)> = rows.iter().map(|(key, value)| (key.table, value.clone())).collect();
    assert_eq!(told, [("a later layer", Bytes::new()), ("ring", Bytes::from_static(b"8"))]);
}

#[test]
fn a_store_cut_anywhere_gives_a_clear_error() {
    let home = folder("cut");
    let file = home.join("member.sqlite");
    filled(&file, 200);
    let whole = std::fs::read(&file).unwrap();
    let copy = home.join("copy.sqlite");
    for part in 0..32 {
        std::fs::write(&copy, &whole[..whole.len() * part / 32]).unwrap();
        let error = open_and_load(&copy).unwrap_err();
        assert!(matches!(error, StoreError::LocalCorrupt { .. }), "{part}/32: {error}");
        assert!(error.to_string().contains("copy.sqlite"), "{error}");
    }
}

#[test]
fn a_flipped_bit_is_found_or_harmless() {
    let home = folder("flip");
    let file = home.join("member.sqlite");
    filled(&file, 50);
    let whole = std::fs::read(&file).unwrap();
    let copy = home.join("copy.sqlite");
    let honest = Store::open(&file).unwrap().load().unwrap();
    for place in (0..whole.len()).step_by(211) {
        let mut bad = whole.clone();
        bad[place] ^= 0x10;
        std::fs::write(&copy, &bad).unwrap();
        let _ = std::fs::remove_file(home.join("copy.sqlite-wal"));
        let _ = std::fs::remove_file(home.join("copy.sqlite-shm"));
        match Store::open(&copy).and_then(|store| store.load()) {
            Ok(rows) => assert_eq!(rows, honest, "byte {place}"),
            Err(
                StoreError::LocalCorrupt { .. }
                | StoreError::LocalFormat { .. }
                | StoreError::LocalDisk { .. },
            ) => {}
            Err(other) => panic!("byte {place}: {other}"),
        }
    }
}

#[test]
fn a_foreign_file_and_a_newer_format_are_refused() {
    let home = folder("foreign");
    let text = home.join("text.sqlite");
    std::fs::write(&text, "not a database at all, whatever its name says".repeat(100)).unwrap();
    assert!(matches!(open_and_load(&text), Err(StoreError::LocalCorrupt { .. })));
    let file = home.join("newer.sqlite");
    filled(&file, 3);
    rusqlite::Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    assert!(matches!(open_and_load(&file), Err(StoreError::LocalFormat { found: 99, .. })));
}

#[test]
fn the_writer_answers_when_the_disk_has_it() {
    let file = folder("writer").join("member.sqlite");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let writer = Writer::start(Store::open(&file).unwrap()).unwrap();
    runtime.block_on(writer.commit(vec![Persist::put("ring", &b"k"[..], &b"v"[..])])).unwrap();
    // Read beside the open writer, as a process after a kill -9 would.
    assert_eq!(open_and_load(&file).unwrap(), 1);
    let log = file.with_extension("sqlite-wal");
    assert!(log.exists());
    drop(writer);
    assert!(!log.exists(), "a store that was closed in good order is one file");
}

#[test]
fn a_store_is_made_whole_or_not_at_all_and_never_under_an_old_log() {
    let home = folder("make");
    let file = home.join("member.sqlite");
    // As a kill -9 in the middle of making it leaves it.
    std::fs::write(home.join("member.new"), b"half a store").unwrap();
    std::fs::write(home.join("member.new-journal"), b"and its journal").unwrap();
    assert_eq!(open_and_load(&file).unwrap(), 0);
    assert!(!home.join("member.new").exists());
    std::fs::remove_file(&file).unwrap();
    std::fs::write(home.join("member.sqlite-wal"), b"of the store that was moved away").unwrap();
    let error = open_and_load(&file).unwrap_err();
    assert!(matches!(&error, StoreError::LocalCorrupt { detail, .. } if detail.contains("-wal")), "{error}");
}

#[test]
fn one_process_at_a_time_and_no_key_overwritten_or_exposed() {
    let state = StateFolder::open(&folder("state").join("deep")).unwrap();
    let lock = state.lock().unwrap();
    assert!(matches!(state.lock(), Err(StateError::LocalInUse { .. })));
    drop(lock);
    state.lock().unwrap();
    assert!(matches!(state.read_key(), Err(StateError::LocalNoIdentity { .. })));
    assert!(matches!(state.read_charter(), Err(StateError::LocalNoCharter { .. })));
    state.write_identity("key", "certificate").unwrap();
    assert!(matches!(state.write_identity("other", ""), Err(StateError::LocalExists { .. })));
    assert_eq!(state.read_key().unwrap().as_str(), "key");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(state.key_path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(state.read_key(), Err(StateError::LocalExposed { mode: 0o644, .. })));
    state.write_charter(b"one").unwrap();
    state.write_charter(b"one").unwrap();
    assert!(matches!(state.write_charter(b"two"), Err(StateError::LocalOtherCharter { .. })));
}
