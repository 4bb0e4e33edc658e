//! One member as a real process, and the folder where all of them live.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything.
const LIMIT: Duration = Duration::from_secs(40);

pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fm-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A charter of these founders: two votes admit, certificates last a day, silence is noticed soon.
    pub(crate) fn charter(&self, founders: &[&Actor]) {
        let text = self.0.join("charter.toml").display().to_string();
        let mut line = vec!["charter", "new", "status", "--votes", "2", "--out", &text];
        let files: Vec<String> =
            founders.iter().map(|one| one.state.join("identity.pem").display().to_string()).collect();
        line.extend(files.iter().flat_map(|file| ["--founder", file.as_str()]));
        founders[0].good(&line);
        let draft = std::fs::read_to_string(&text).unwrap();
        let mut lines: Vec<&str> =
            draft.lines().filter(|line| !line.starts_with("certificate_days")).collect();
        let at = lines.iter().position(|line| line.starts_with("request_hours")).unwrap();
        lines.insert(at, "certificate_days = 1");
        std::fs::write(&text, format!("{}\n[timeouts]\nsilence_ms = 700\n", lines.join("\n"))).unwrap();
        for founder in founders {
            founder.good(&["charter", "sign", &text]);
        }
    }

    pub(crate) fn signed(&self) -> PathBuf {
        self.0.join("charter.cms")
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

pub(crate) struct Actor {
    pub(crate) id: String,
    pub(crate) locator: String,
    pub(crate) state: PathBuf,
    child: Option<Child>,
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn program(state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.env_remove("FOLKMOOT_STATE").arg("--json").arg("--state").arg(state);
    command
}

/// What the process says once it can be spoken to. Lines before that are not its own.
pub(crate) fn wait_for_ready(child: &mut Child) -> Value {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut told = lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    told.find(|event| event["event"] == "ready").expect("it did not start")
}

impl Actor {
    pub(crate) fn new(place: &Place, name: &str) -> Self {
        Self::called(place, name, name)
    }

    /// Called `name`, which others may be called, too.
    pub(crate) fn called(place: &Place, folder: &str, name: &str) -> Self {
        let state = place.0.join(folder);
        let mut actor = Self { id: String::new(), locator: String::new(), state, child: None };
        let made = actor.good(&["identity", "new", name]);
        actor.id = made["member"].as_str().unwrap().to_owned();
        actor
    }

    /// Starts the process, where it was before, and waits until it can be spoken to.
    pub(crate) fn start(&mut self, place: &Place, at: &[String], more: &[&str]) {
        let listen = self.locator.strip_prefix("udp/").unwrap_or("127.0.0.1:0").to_owned();
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.state.join("log")).unwrap();
        let mut command = program(&self.state);
        command
            .args(["member", "--quiet", "--while-stdin", "--listen", &listen, "--charter"])
            .arg(place.signed());
        command.args(at.iter().flat_map(|at| ["--at", at.as_str()])).args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let ready = wait_for_ready(&mut child);
        self.locator = ready["locator"].as_str().unwrap().to_owned();
        self.child = Some(child);
    }

    /// `folkmoot join` or `folkmoot chat`, with somebody at the keyboard.
    pub(crate) fn talk(&self, place: &Place, how: &str, at: &str) -> Talk {
        let mut command = program(&self.state);
        command.args([how, "--at", at, "--listen", "127.0.0.1:0"]);
        command.args((how == "chat").then_some("--charter")).arg(place.signed());
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Talk(child)
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        program(&self.state).args(args).stdin(Stdio::null()).output().unwrap()
    }

    /// A command that must succeed.
    pub(crate) fn good(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// A command again and again, until its data are as they shall be.
    pub(crate) fn until(&self, args: &[&str], done: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let output = self.run(args);
            let told = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
            if done(&told) {
                return told;
            }
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(Instant::now() < end, "{} {args:?}: {told} {complaint}", self.state.display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until `folkmoot why` says that `who` is `state`; the exit code is 0 only for those present.
    pub(crate) fn why(&self, who: &str, state: &str) -> Value {
        self.until(&["why", who], |told| told["state"] == state)
    }

    pub(crate) fn ask(&self, request: &Value) {
        let mut stream = UnixStream::connect(self.state.join("control.sock")).unwrap();
        stream.write_all(format!("{request}\n").as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert!(line.starts_with(r#"{"ok""#), "{request}: {line}");
    }

    pub(crate) fn cut(&self, others: &[&Self]) {
        let others = others.iter().flat_map(|other| ["--cut", &other.locator]);
        self.good(&["fault"].into_iter().chain(others).collect::<Vec<_>>());
    }

    pub(crate) fn heal(&self) {
        self.good(&["fault", "--heal"]);
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// A talk that goes on.
pub(crate) struct Talk(Child);

impl Talk {
    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Nothing more is typed.
    pub(crate) fn closes(&mut self) {
        self.0.stdin.take();
    }

    /// Waits for its end. Until then nobody closes what is open.
    pub(crate) fn end(mut self) -> Output {
        let typing = self.0.stdin.take();
        let output = self.0.wait_with_output().unwrap();
        drop(typing);
        output
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.kill();
    }
}
