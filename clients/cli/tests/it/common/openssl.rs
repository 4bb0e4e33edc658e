//! OpenSSL's command line, as a judge.

use std::path::Path;
use std::process::Command;

/// Runs it in this folder: whether it succeeded, and what it said.
pub(crate) fn openssl(folder: &Path, line: &str) -> (bool, String) {
    let output = Command::new("openssl").args(line.split(' ')).current_dir(folder).output();
    let output = output.expect("the openssl command is needed: apt-get install openssl");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}
