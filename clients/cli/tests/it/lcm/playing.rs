//! `lcm play`: where it starts, how it pauses and continues, and that it begins anew.

use super::alone::alone;
use super::ends::{interrupt, settle};
use super::fleet::{Recorder, ended, until};
use super::{event, folkmoot, recorder, run, said, url};
use crate::common::place::Place;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A log with messages so many seconds after its first one.
fn log(place: &Place, seconds: &[f64]) -> PathBuf {
    let file = place.path().join("from.lcm");
    let mut all = Vec::new();
    for second in seconds {
        let mut one = event(0, "A", second.to_string().as_bytes());
        let time = 1_000_000_000 + (second * 1e6) as u64;
        one[12..20].copy_from_slice(&time.to_be_bytes());
        all.extend(one);
    }
    std::fs::write(&file, all).unwrap();
    file
}

fn listens(place: &Place, url: &str) -> Recorder {
    let file = place.path().join("to.lcm");
    Recorder::of(recorder(url, &file, &["--channel", "A"]), file)
}

/// What was heard, each once: it may be played several times.
fn contents(heard: &Recorder) -> Vec<String> {
    heard.heard().into_iter().map(|(_, payload)| String::from_utf8(payload).unwrap()).collect()
}

fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    assert!(kill.args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_log_is_played_from_where_it_is_told() {
    alone("lcm::playing::a_log_is_played_from_where_it_is_told", || {
        let place = Place::new("lcm-start");
        let (file, url) = (log(&place, &[0.0, 1.0, 1_000.0, 1_000.2]), url(0));
        let file = file.to_str().unwrap();
        let heard = listens(&place, &url);
        let begun = Instant::now();
        until("its end", || {
            let played = said(&run(&url, &["play", "--start", "999.5", file]));
            assert_eq!(
                (played["messages"].as_u64(), played["passes"].as_u64()),
                (Some(2), Some(1)),
                "{played}"
            );
            assert_eq!(played["position"].as_f64(), Some(1_000.2));
            contents(&heard).iter().any(|one| one == "1000.2")
        });
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not wait for what it leaves out");
        assert!(contents(&heard).iter().all(|one| one.starts_with("1000")));
        let behind = run(&url, &["play", "--start", "1001", file]);
        let told = String::from_utf8_lossy(&behind.stderr).into_owned();
        assert_eq!(behind.status.code(), Some(2), "{told}");
        assert!(told.contains("--start 1001 is behind the end of the log, which has 1000.2 s"), "{told}");
        for wrong in ["-1", "nan", "x"] {
            assert_eq!(run(&url, &["play", &format!("--start={wrong}"), file]).status.code(), Some(2));
        }
    });
}

#[test]
fn a_log_begins_anew_until_it_is_told_to_stop() {
    alone("lcm::playing::a_log_begins_anew_until_it_is_told_to_stop", || {
        let place = Place::new("lcm-loop");
        let (file, url) = (log(&place, &[0.0, 0.1, 0.2]), url(1));
        let heard = listens(&place, &url);
        let words = ["play", "--loop", "--start", "0.1", file.to_str().unwrap()];
        let child = folkmoot(&url, &words).spawn().unwrap();
        until("three times", || contents(&heard).iter().filter(|one| *one == "0.2").count() > 3);
        interrupt(&child);
        let told = ended(child);
        assert!(told["passes"].as_u64() >= Some(3), "{told}");
        assert!(contents(&heard).iter().all(|one| one != "0"));
        // What would begin anew for ever without a message, or cannot begin anew.
        let none = run(&url, &["play", "--loop", "--channel", "B", file.to_str().unwrap()]);
        assert_eq!((none.status.code(), said(&none)["messages"].as_u64()), (Some(0), Some(0)));
        assert_eq!(run(&url, &["play", "--loop", "/dev/null"]).status.code(), Some(2));
    });
}

#[test]
fn what_was_stopped_goes_on_with_the_pauses_of_the_log() {
    alone("lcm::playing::what_was_stopped_goes_on_with_the_pauses_of_the_log", || {
        let place = Place::new("lcm-cont");
        let seconds: Vec<f64> = (0..40).map(|number| f64::from(number) / 10.0).collect();
        let (file, url) = (log(&place, &seconds), url(2));
        let heard = listens(&place, &url);
        // Paused, it says nothing until it is told to continue.
        let child = folkmoot(&url, &["play", "--paused", file.to_str().unwrap()]).spawn().unwrap();
        settle(&child);
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(contents(&heard), Vec::<String>::new());
        signal(&child, "-CONT");
        until("the first messages", || contents(&heard).len() > 5);
        signal(&child, "-STOP");
        std::thread::sleep(Duration::from_secs(3));
        let before = contents(&heard).len();
        signal(&child, "-CONT");
        let begun = Instant::now();
        let told = ended(child);
        let (left, took) = (40 - before, begun.elapsed());
        assert_eq!(told["messages"].as_u64(), Some(40));
        // Those that were due meanwhile are not said at once: each still has its tenth of a second.
        let least = Duration::from_millis(u64::try_from(left.saturating_sub(3)).unwrap() * 100);
        assert!(took >= least, "{left} in {took:?}");
    });
}

/// A terminal, and what stands on it.
struct Terminal {
    ours: File,
    theirs: String,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn new() -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let ours = File::from(ours);
        let (mut reads, seen) = (ours.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let to = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut room = [0; 1_024];
            while let Ok(count @ 1..) = reads.read(&mut room) {
                to.lock().unwrap().extend_from_slice(&room[..count]);
            }
        });
        Self { ours, theirs, seen }
    }

    /// A command that has this terminal for itself.
    fn run(&self, url: &str, words: &[&str]) -> Child {
        let script = r#"exec "$@" <"$0" >"$0" 2>&1"#;
        let mut command = Command::new("setsid");
        command.args(["--wait", "--ctty", "sh", "-c", script, &self.theirs]);
        command.arg(env!("CARGO_BIN_EXE_folkmoot")).args(["lcm", "--lcm-url", url]).args(words);
        command.stdin(File::options().read(true).write(true).open(&self.theirs).unwrap());
        command.spawn().unwrap()
    }

    fn press(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    /// Whether it shows what is typed, and hands it on line by line.
    fn is_as_ever(&self) -> bool {
        let mut stty = Command::new("stty");
        let mode = stty.arg("-a").stdin(File::open(&self.theirs).unwrap()).output().unwrap();
        let mode = String::from_utf8_lossy(&mode.stdout).into_owned();
        mode.contains(" icanon") && mode.contains(" echo ")
    }

    fn shows(&self, text: &str) {
        until(text, || String::from_utf8_lossy(&self.seen.lock().unwrap()).contains(text));
    }
}

#[test]
fn the_space_key_pauses_and_continues_and_a_line_says_where_it_is() {
    alone("lcm::playing::the_space_key_pauses_and_continues_and_a_line_says_where_it_is", || {
        let place = Place::new("lcm-space");
        let seconds: Vec<f64> = (0..30).map(|number| f64::from(number) / 10.0).collect();
        let (file, url) = (log(&place, &seconds), url(3));
        let heard = listens(&place, &url);
        let mut terminal = Terminal::new();
        let mut child = terminal.run(&url, &["play", "--paused", file.to_str().unwrap()]);
        terminal.shows("at 0.0 s: paused. The space key continues");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(contents(&heard), Vec::<String>::new());
        terminal.press("x ");
        terminal.shows("at 0.0 s: continued");
        until("the first messages", || contents(&heard).len() > 5);
        terminal.press(" ");
        until("the second pause", || {
            String::from_utf8_lossy(&terminal.seen.lock().unwrap()).matches("paused").count() == 2
        });
        std::thread::sleep(Duration::from_millis(500));
        let before = contents(&heard).len();
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(contents(&heard).len() == before && before < 30, "{before}");
        let begun = Instant::now();
        terminal.press(" ");
        assert!(child.wait().unwrap().success());
        terminal.shows("30 messages published");
        assert!(begun.elapsed() >= Duration::from_millis(100) * u32::try_from(27 - before.min(27)).unwrap());
        terminal.shows("of 2 s of the log");
        assert!(terminal.is_as_ever());
    });
}

#[test]
fn ctrl_z_stops_it_and_the_terminal_is_as_ever_meanwhile() {
    alone("lcm::playing::ctrl_z_stops_it_and_the_terminal_is_as_ever_meanwhile", || {
        let place = Place::new("lcm-ctrl-z");
        let (file, url) = (log(&place, &[0.0, 100.0]), url(0));
        let mut terminal = Terminal::new();
        let child = terminal.run(&url, &["play", file.to_str().unwrap()]);
        let stat = format!("/proc/{}/stat", child.id());
        let is_stopped = || std::fs::read_to_string(&stat).unwrap().contains(") T ");
        until("keys, one by one", || !terminal.is_as_ever());
        terminal.press("\u{1a}");
        until("the stop", is_stopped);
        assert!(terminal.is_as_ever());
        signal(&child, "-CONT");
        until("keys, one by one again", || !terminal.is_as_ever());
        assert!(!is_stopped());
        terminal.press(" ");
        terminal.shows("paused. The space key continues");
        terminal.press("\u{3}");
        assert!(child.wait_with_output().unwrap().status.success(), "Ctrl-C ends it");
        assert!(terminal.is_as_ever());
    });
}
