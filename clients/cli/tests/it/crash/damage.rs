//! A member's store is cut, flipped, emptied, replaced: it does not start and says why; the others
//! talk on all the time.

use super::actor::Actor;
use super::stage::Stage;
use crate::common::program::call;
use std::path::{Path, PathBuf};

/// Who is damaged.
const VICTIM: usize = 2;
/// Places where a byte is flipped within the rows.
const FLIPS: usize = 6;

/// What is done to the file.
struct Damage {
    what: String,
    bytes: Vec<u8>,
}

fn damages(whole: &[u8], row: &[u8]) -> Vec<Damage> {
    let mut list: Vec<Damage> = [0, 1, 100, 4096, whole.len() / 2, whole.len() - 1]
        .map(|length| Damage { what: format!("cut to {length} bytes"), bytes: whole[..length].to_vec() })
        .into();
    let mut flip = |what: String, at: usize| {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 0x41;
        list.push(Damage { what, bytes });
    };
    flip("flipped in the magic".into(), 3);
    flip("flipped in the application id".into(), 69);
    flip("flipped in the head of the first page".into(), 100);
    let found = (0..whole.len() - row.len()).find(|at| whole[*at..].starts_with(row)).unwrap();
    for part in 0..FLIPS {
        let at = found + part * (row.len() - 1) / FLIPS;
        flip(format!("flipped at {at}, in a row"), at);
    }
    list.push(Damage { what: "replaced by a text".into(), bytes: b"buy milk\n".repeat(2_000) });
    list
}

/// All of it.
pub(crate) fn run() -> Result<(), String> {
    let mut stage = Stage::new("damage")?;
    stage.round("before")?;
    stage.cast[VICTIM].stop();
    let disk = stage.cast[VICTIM].disk().clone();
    // The head of a row, as long as surely lies in one piece on one page.
    let row = disk.longest();
    let file = stage.cast[VICTIM].state.join("member.sqlite");
    assert!(!file.with_extension("sqlite-wal").exists(), "a stopped member leaves one file");
    let whole = std::fs::read(&file).unwrap();
    let victim = stage.cast.remove(VICTIM);
    for (number, damage) in damages(&whole, &row[..64.min(row.len())]).iter().enumerate() {
        write(&file, &damage.bytes);
        refused(&victim, &stage.charter, &file, &damage.what);
        assert!(std::fs::read(&file).unwrap() == damage.bytes, "{}: the file was changed", damage.what);
        stage.round(&format!("go on {number}"))?;
    }
    moved_away(&file);
    stage.cast.push(victim);
    stage.start(VICTIM)?;
    stage.gather()?;
    stage.round("healed")?;
    older(&mut stage)?;
    stage.stop();
    Ok(())
}

/// A write-ahead log that is cut, or damaged in the middle, reads as an older disk (SQLite cannot
/// tell it from a commit that was never finished): the member starts from that, and is back in one
/// view under a new key.
fn older(stage: &mut Stage) -> Result<(), String> {
    for cut in [true, false] {
        stage.cast[VICTIM].kill();
        let log = stage.cast[VICTIM].state.join("member.sqlite-wal");
        let mut bytes = std::fs::read(&log).unwrap();
        assert!(bytes.len() > 8_192, "a killed member leaves its log");
        let middle = bytes.len() / 2;
        if cut {
            bytes.truncate(middle);
        } else {
            bytes[middle] ^= 0x41;
        }
        std::fs::write(&log, &bytes).unwrap();
        stage.start(VICTIM)?;
        stage.gather()?;
        stage.round(&format!("older, cut: {cut}"))?;
    }
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) {
    for companion in ["sqlite-wal", "sqlite-shm"] {
        let _ = std::fs::remove_file(file.with_extension(companion));
    }
    std::fs::write(file, bytes).unwrap();
}

/// Exit code 3, one line that names the file and says what to do, no panic.
fn refused(victim: &Actor, charter: &Path, file: &Path, what: &str) {
    let charter = charter.display().to_string();
    let output = call(&victim.state, &["member", "--listen", "127.0.0.1:0", "--charter", &charter]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{what}: {error}");
    assert!(error.contains(&file.display().to_string()), "{what}: {error}");
    assert!(error.contains("move it away") || error.contains("newer release"), "{what}: {error}");
    assert!(!error.contains("panicked") && output.stdout.is_empty(), "{what}: {error}");
    println!("{what}: {}", error.trim());
}

/// What the error advises: the store goes, the member starts from its charter.
fn moved_away(file: &Path) {
    let kept: PathBuf = file.with_extension("damaged");
    std::fs::rename(file, kept).unwrap();
    for companion in ["sqlite-wal", "sqlite-shm"] {
        let _ = std::fs::remove_file(file.with_extension(companion));
    }
}
