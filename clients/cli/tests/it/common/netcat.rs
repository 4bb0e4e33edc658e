//! OpenBSD's `nc`, with which docs/control.md speaks to a member: the machine's own, or that of
//! Debian's package, unpacked for these tests alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What a shell has in `PATH`, so that it finds `nc`.
pub(crate) fn path() -> String {
    static PATH: OnceLock<String> = OnceLock::new();
    let own = || std::env::var("PATH").unwrap_or_default();
    PATH.get_or_init(|| match is_there() {
        true => own(),
        false => format!("{}:{}", own(), unpacked().display()),
    })
    .clone()
}

fn is_there() -> bool {
    let said = Command::new("nc").arg("-h").output();
    said.is_ok_and(|said| String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).contains("OpenBSD"))
}

/// The folder with `nc`.
fn unpacked() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("netcat");
    let folder = root.join("bin");
    if !folder.join("nc").exists() {
        // Another process may do the same.
        let new = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("netcat-{}", std::process::id()));
        std::fs::create_dir_all(&new).unwrap();
        fetch(&new);
        let link = new.join("bin/nc");
        std::os::unix::fs::symlink("nc.openbsd", link).unwrap();
        if std::fs::rename(&new, &root).is_err() {
            std::fs::remove_dir_all(&new).unwrap();
        }
    }
    assert!(folder.join("nc").exists());
    folder
}

fn fetch(folder: &Path) {
    let line = "apt-get download netcat-openbsd || { apt-get update && apt-get download netcat-openbsd; } && \
                dpkg-deb -x netcat-openbsd_*.deb . && rm netcat-openbsd_*.deb";
    let output = Command::new("bash").args(["-c", line]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "docs/control.md needs nc: apt-get install netcat-openbsd. {said}");
}
