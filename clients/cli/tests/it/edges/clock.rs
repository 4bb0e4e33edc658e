//! A clock that is years off: a library in front of the system's moves it.

use crate::common::place::Place;
use crate::common::program::{code, program};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Moves the wall clock by so many years; other clocks stay.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*system_clock)(clockid_t, struct timespec *);
    if (!system_clock) system_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = system_clock(id, at);
    if (id == CLOCK_REALTIME) at->tv_sec += YEARS * 365L * 86400L;
    return result;
}
"#;

fn moved(folder: &Path, years: i64) -> String {
    let (source, library) = (folder.join(format!("{years}.c")), folder.join(format!("{years}.so")));
    fs::write(&source, SHIM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", &format!("-DYEARS=({years})"), "-o"]).arg(&library).arg(&source);
    assert!(compiler.arg("-ldl").status().unwrap().success());
    library.to_str().unwrap().to_owned()
}

#[test]
fn doctor_finds_a_clock_that_is_years_off() {
    let place = Place::new("edge-clock");
    for (years, told) in [(30, "years ahead: set it"), (-20, "years behind: set it"), (0, "compare that")] {
        let mut doctor = program(&place.path().join("anna"));
        doctor.env("LD_PRELOAD", moved(place.path(), years)).arg("doctor").stdin(Stdio::null());
        let output = doctor.output().unwrap();
        let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        let clock = checks.iter().find(|one| one["check"] == "clock").unwrap();
        assert_eq!(clock["ok"], years == 0, "{clock}");
        assert!(clock["detail"].as_str().unwrap().contains(told), "{clock}");
        // Without an identity it always has something to say.
        assert_eq!(code(&output), 1);
    }
}

#[test]
fn nothing_is_certified_by_a_clock_that_is_years_off() {
    let place = Place::new("edge-certified");
    let folder = |name: &str| place.path().join(name).display().to_string();
    for (years, told) in [(-56, "years behind: set it"), (30, "years ahead: set it")] {
        let shim = moved(place.path(), years);
        let root = folder(&format!("root{years}"));
        for line in [&["identity", "new", "anna", "--no-passphrase"][..], &["lcm", "root", "new", &root]] {
            let mut made = program(&place.path().join("anna"));
            made.env("LD_PRELOAD", &shim).args(line).stdin(Stdio::null());
            let output = made.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(code(&output) == 3 && said.contains(told), "{line:?}: {said}");
        }
        assert!(!place.path().join("anna").exists() && !Path::new(&root).exists(), "nothing is written");
    }
}
