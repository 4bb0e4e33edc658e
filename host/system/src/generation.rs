//! Whether this machine goes on from a snapshot of itself, as far as the kernel says.
//!
//! A virtual machine that is resumed twice from one snapshot does twice what it was about to do:
//! under the same keys, with the same numbers. Linux shows it as the device `vmclock`, since 6.13,
//! if the hypervisor has one (docs/decisions/0078-resumed-machines.md).

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Where the kernel shows it, to whoever may read this file.
const FILE: &str = "/dev/vmclock0";
/// What the file begins with ("VCLK").
const MAGIC: u32 = 0x4b4c_4356;
/// Bytes of the file that count, and where its numbers are. All are little endian.
const BYTES: usize = 112;
const DISRUPTIONS_AT: usize = 16;
const FLAGS_AT: usize = 24;
const GENERATION_AT: usize = 104;
/// The flag of files that have a generation. The others count moves to another host, too.
const HAS_GENERATION: u64 = 1 << 8;

/// The generation of this machine when the process began; nothing if the kernel shows none.
#[derive(Debug)]
pub struct Generation(Option<(File, u64)>);

impl Generation {
    /// This machine's.
    pub fn of_this_machine() -> Self {
        Self::of(Path::new(FILE))
    }

    /// The one that this file shows now.
    pub fn of(file: &Path) -> Self {
        let file = File::open(file).ok();
        Self(file.and_then(|file| read(&file).map(|began| (file, began))))
    }

    /// Whether it is another now. A file that cannot be read any more says nothing.
    pub fn has_changed(&self) -> bool {
        self.0.as_ref().is_some_and(|(file, began)| read(file).is_some_and(|now| now != *began))
    }
}

fn read(file: &File) -> Option<u64> {
    let mut bytes = [0; BYTES];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    if bytes.first_chunk() != Some(&MAGIC.to_le_bytes()) {
        return None;
    }
    number(if number(FLAGS_AT)? & HAS_GENERATION == 0 { DISRUPTIONS_AT } else { GENERATION_AT })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as the kernel shows it, and what was read when it had other numbers.
    fn seen(flags: u64, writes: &[(usize, u64)]) -> bool {
        let path = std::env::temp_dir().join(format!("folkmoot-vmclock-{}-{flags}", std::process::id()));
        let write = |numbers: &[(usize, u64)]| {
            let mut bytes = [0; 4096];
            bytes[..4].copy_from_slice(b"VCLK");
            for (at, number) in numbers.iter().chain(&[(FLAGS_AT, flags)]) {
                bytes[*at..][..8].copy_from_slice(&number.to_le_bytes());
            }
            std::fs::write(&path, bytes).unwrap();
        };
        write(&[(DISRUPTIONS_AT, 3), (GENERATION_AT, 5)]);
        let generation = Generation::of(&path);
        assert!(!generation.has_changed());
        write(writes);
        let changed = generation.has_changed();
        std::fs::write(&path, b"VCLK").unwrap();
        assert!(!generation.has_changed(), "a file that cannot be read says nothing");
        std::fs::remove_file(&path).unwrap();
        changed
    }

    #[test]
    fn a_machine_that_was_resumed_has_another_generation() {
        assert!(seen(HAS_GENERATION, &[(DISRUPTIONS_AT, 4), (GENERATION_AT, 6)]));
        assert!(!seen(HAS_GENERATION, &[(DISRUPTIONS_AT, 4), (GENERATION_AT, 5)]), "it was only moved");
        assert!(seen(1, &[(DISRUPTIONS_AT, 4), (GENERATION_AT, 5)]), "nobody can tell the two apart");
        assert!(!seen(1, &[(DISRUPTIONS_AT, 3), (GENERATION_AT, 6)]), "that number means nothing");
    }

    #[test]
    fn a_machine_that_shows_none_never_has_another() {
        assert!(!Generation::of(Path::new("/dev/null")).has_changed());
        assert!(!Generation::of(Path::new("/nowhere")).has_changed());
    }
}
