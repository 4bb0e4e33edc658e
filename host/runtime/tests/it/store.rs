//! The store keeps what was committed, whole, and answers damage with a clear error, never a panic.

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

/// Whether these bytes are in any file of the folder.
fn on_disk(home: &Path, bytes: &[u8]) -> bool {
    let files = std::fs::read_dir(home).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|file| file.windows(bytes.len()).any(|window| window == bytes))
}

#[test]
fn a_secret_that_is_deleted_is_nowhere_on_the_disk() {
    for (table, length) in [("office", 90), ("share", 90), ("share", 20_000)] {
        let home = folder(&format!("erase-{table}-{length}"));
        let file = home.join("member.sqlite");
        filled(&file, 20);
        let mut store = Store::open(&file).unwrap();
        let secret = |row: u8| vec![0xa0 + row; length];
        // Among others of its table, so that pages have rows left.
        let rows = (0..3).map(|row| Persist::put(table, vec![row], secret(row)));
        store.commit(&rows.collect::<Vec<_>>()).unwrap();
        // In the file as well as in the log of writes.
        drop(Store::open(&file).unwrap());
        let more = Persist::put(table, vec![1], [secret(1), vec![1]].concat());
        store.commit(&[more]).unwrap();
        assert!(on_disk(&home, &secret(1)[..40]));
        store.commit(&[Persist::delete(table, vec![1])]).unwrap();
        assert!(!on_disk(&home, &secret(1)[..40]), "{table}, {length} bytes");
        assert!(on_disk(&home, &secret(2)[..40]));
    }
}

#[test]
fn a_secret_leaves_the_disk_later_where_somebody_looks_at_the_store_or_it_was_killed() {
    let home = folder("erase-later");
    let file = home.join("member.sqlite");
    let mut store = Store::open(&file).unwrap();
    let secret = vec![0xa7; 90];
    store.commit(&[Persist::put("share", vec![1], secret.clone())]).unwrap();
    let reader = rusqlite::Connection::open(&file).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM kv").unwrap();
    store.commit(&[Persist::delete("share", vec![1])]).unwrap();
    assert!(on_disk(&home, &secret), "held up, and no error");
    reader.execute_batch("COMMIT").unwrap();
    store.commit(&[Persist::put("ring", &b"seq"[..], &b"7"[..])]).unwrap();
    assert!(!on_disk(&home, &secret));
    // Killed between the two: copies of its files are what is left.
    store.commit(&[Persist::put("share", vec![2], secret.clone())]).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM kv").unwrap();
    store.commit(&[Persist::delete("share", vec![2])]).unwrap();
    let later = folder("erase-killed");
    for name in ["member.sqlite", "member.sqlite-wal"] {
        std::fs::copy(home.join(name), later.join(name)).unwrap();
    }
    assert!(on_disk(&later, &secret));
    let store = Store::open(&later.join("member.sqlite")).unwrap();
    assert!(!on_disk(&later, &secret));
    assert_eq!(store.load().unwrap().len(), 1);
}

#[test]
fn who_writes_waits_for_others_for_longer_than_a_few_seconds() {
    let file = folder("busy").join("member.sqlite");
    let mut store = Store::open(&file).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let holds = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(7));
        other.execute_batch("COMMIT").unwrap();
    });
    store.commit(&[Persist::put("ring", &b"seq"[..], &b"7"[..])]).unwrap();
    holds.join().unwrap();
    let error = StoreError::LocalBusy { path: file };
    assert!(error.to_string().contains("held by another program"), "{error}");
}

#[test]
fn a_damaged_store_is_told_by_what_its_folder_is() {
    let file = folder("told").join("member.sqlite");
    filled(&file, 50);
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let error = open_and_load(&file).unwrap_err();
    assert!(error.to_string().contains("restore it from a backup (never an authority's folder"), "{error}");
    let error = error.never_restored();
    assert!(matches!(error, StoreError::LocalCorruptOffice { .. }));
    assert!(error.to_string().contains("Never restore this folder from a backup"), "{error}");
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
    // A key without its certificate says what to do.
    std::fs::remove_file(state.certificate_path()).unwrap();
    let error = state.read_certificate().unwrap_err();
    assert!(matches!(error, StateError::LocalNoCertificate { .. }), "{error}");
    state.write_charter(b"one").unwrap();
    state.write_charter(b"one").unwrap();
    assert!(matches!(state.write_charter(b"two"), Err(StateError::LocalOtherCharter { .. })));
}

#[test]
fn an_identity_is_made_whole_or_not_at_all() {
    let state = StateFolder::open(&folder("identity")).unwrap();
    // As a kill -9 in the middle of making one leaves it: a certificate without a key, and half a
    // key under another name.
    std::fs::write(state.certificate_path(), "of a key that was lost").unwrap();
    std::fs::write(state.path().join("identity.key.new"), "hal").unwrap();
    assert!(!state.has_identity());
    state.write_identity("key", "certificate").unwrap();
    assert_eq!(state.read_key().unwrap().as_str(), "key");
    assert_eq!(state.read_certificate().unwrap(), b"certificate");
    assert!(!state.path().join("identity.key.new").exists());
    // Who comes second changes nothing; nor does one while another makes one.
    assert!(matches!(state.write_identity("other", "other"), Err(StateError::LocalExists { .. })));
    assert_eq!(state.read_certificate().unwrap(), b"certificate");
    let other = StateFolder::open(&folder("identity-lock")).unwrap();
    let _lock = other.lock().unwrap();
    assert!(matches!(other.write_identity("key", ""), Err(StateError::LocalInUse { .. })));
    assert!(!other.has_identity() && !other.certificate_path().exists());
}
