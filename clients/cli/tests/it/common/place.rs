//! The folder where everybody lives, and the founding of a group there.

use super::program::good;
use std::path::{Path, PathBuf};

/// What the charter of a test says of time.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// Silence after which a link is down. On a loaded machine a process may well be silent for a
    /// second: where a test kills nobody, or a link cannot come back, it is long.
    pub(crate) silence_ms: u32,
    /// Term of a certificate.
    pub(crate) days: u32,
}

impl Times {
    /// Whoever is killed is missed soon.
    pub(crate) const SHORT: Self = Self { silence_ms: 700, days: 365 };
    /// Nobody is missed because the machine is busy.
    pub(crate) const PATIENT: Self = Self { silence_ms: 60_000, days: 365 };
}

/// A folder of folders, removed at the end unless a check failed.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fm-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The charter, signed by all.
    pub(crate) fn signed(&self) -> PathBuf {
        self.0.join("charter.cms")
    }

    /// The founders with these state folders sign a charter: two votes admit, unless it says
    /// otherwise.
    pub(crate) fn found(&self, founders: &[&Path], times: Times) {
        self.found_with(founders, times, &[]);
    }

    /// The same, by a charter with more in it.
    pub(crate) fn found_with(&self, founders: &[&Path], times: Times, more: &[&str]) {
        let text = self.0.join("charter.toml").display().to_string();
        let mut line = vec!["charter", "new", "test", "--out", &text];
        if !more.contains(&"--votes") {
            line.extend(["--votes", "2"]);
        }
        let files: Vec<String> =
            founders.iter().map(|state| state.join("identity.pem").display().to_string()).collect();
        line.extend(more);
        line.extend(files.iter().flat_map(|file| ["--founder", file.as_str()]));
        good(founders[0], &line);
        let draft = std::fs::read_to_string(&text).unwrap();
        let usual = "certificate_days = 365\n";
        assert!(draft.contains(usual) && !draft.contains("[timeouts]"), "{draft}");
        let draft = draft.replace(usual, &format!("certificate_days = {}\n", times.days));
        let timeouts = format!("\n[timeouts]\nsilence_ms = {}\n", times.silence_ms);
        std::fs::write(&text, format!("{draft}{timeouts}")).unwrap();
        for founder in founders {
            good(founder, &["charter", "sign", &text]);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("state folders and logs: {}", self.0.display());
        } else {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
