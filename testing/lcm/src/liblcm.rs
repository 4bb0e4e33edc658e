//! Debian's liblcm, and testing/lcm/bench.c, which is its side of each measurement.

use crate::Outcome;
use crate::process::{Process, call};
use std::path::{Path, PathBuf};

/// The compiled program, and the folder of the library that it needs.
pub(crate) struct Liblcm {
    program: PathBuf,
    libraries: PathBuf,
}

impl Liblcm {
    /// Compiles the program beside Debian's packages, which lie in this folder or are fetched.
    pub(crate) fn prepare(root: Option<&Path>) -> Outcome<Self> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => call("python3 testing/lcm/parts.py")?.into(),
        };
        let libraries = call(&format!("find {} -name liblcm.so.1", root.display()))?;
        let library = PathBuf::from(libraries.lines().next().ok_or("liblcm is not there")?);
        let program = root.join("bench");
        let source = "testing/lcm/bench.c";
        call(&format!(
            "cc -O2 -Wall -o {} {source} -I{}/usr/include {} -Wl,--allow-shlib-undefined",
            program.display(),
            root.display(),
            library.display()
        ))?;
        let libraries = library.parent().map(Path::to_owned).ok_or("liblcm is nowhere")?;
        Ok(Self { program, libraries })
    }

    /// Starts a role of it, behind the words that say where it runs.
    pub(crate) fn start(&self, mut line: Vec<String>, role: &str, url: &str) -> Outcome<Process> {
        line.extend([self.program.display().to_string(), role.to_owned(), url.to_owned()]);
        let libraries = self.libraries.display().to_string();
        Process::start(&line, &[("LD_LIBRARY_PATH".to_owned(), libraries)])
    }
}
