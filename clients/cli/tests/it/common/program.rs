//! The program under test, run once or as a member; and its control socket.

use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Longest wait for an answer on the control socket.
const ANSWER: Duration = Duration::from_secs(60);

pub(crate) fn program(state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.env_remove("FOLKMOOT_STATE").arg("--json").arg("--state").arg(state);
    command
}

/// Runs it once, to its end.
pub(crate) fn call(state: &Path, args: &[&str]) -> Output {
    program(state).args(args).stdin(Stdio::null()).output().unwrap()
}

/// As [`call`]; it must succeed, and print one JSON value or nothing.
pub(crate) fn good(state: &Path, args: &[&str]) -> Value {
    let output = call(state, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// The error that it ended with.
pub(crate) fn complaint(output: &Output) -> String {
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    error["error"].as_str().unwrap().to_owned()
}

/// The authority, likewise.
pub(crate) fn authority(state: &Path, charter: &Path, locator: &str, at: &[String], more: &[&str]) -> Child {
    let mut command = program(state);
    command.args(["authority", "run"]).arg(charter);
    run(command, state, locator, at, more)
}

/// A member as a process that ends with this one, and logs into its folder. After a restart it
/// listens where the others know it: at `locator`, unless that is empty.
pub(crate) fn member(state: &Path, charter: &Path, locator: &str, at: &[String], more: &[&str]) -> Child {
    let mut command = program(state);
    command.args(["member", "--charter"]).arg(charter);
    run(command, state, locator, at, more)
}

/// Where nobody listens, nor will while a process that did is down: below the ports that the system
/// gives out, each once in this process.
pub(crate) fn free_address() -> String {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(641);
    (0..COUNT)
        .map(|_| FIRST + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT)
        .map(|port| format!("127.0.0.1:{port}"))
        .find(|address| UdpSocket::bind(address).is_ok())
        .expect("a free port")
}

fn run(mut command: Command, state: &Path, locator: &str, at: &[String], more: &[&str]) -> Child {
    let listen = locator.strip_prefix("udp/").map_or_else(free_address, str::to_owned);
    let log = OpenOptions::new().create(true).append(true).open(state.join("log")).unwrap();
    command.args(["--while-stdin", "--listen", &listen]);
    command.args(at.iter().filter(|at| *at != locator).flat_map(|at| ["--at", at.as_str()])).args(more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap()
}

/// What a process says once it can be spoken to. Lines before that are not its own.
pub(crate) fn wait_for_ready(child: &mut Child) -> Value {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut told = lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    told.find(|event| event["event"] == "ready").expect("it did not start")
}

/// Asks the member that runs on `state`; `Err` if it has no socket, goes away before it answers, or
/// says no.
pub(crate) fn ask(state: &Path, request: &Value) -> Result<Value, String> {
    let gone = |error: std::io::Error| error.to_string();
    let mut stream = UnixStream::connect(state.join("control.sock")).map_err(gone)?;
    stream.set_read_timeout(Some(ANSWER)).map_err(gone)?;
    stream.write_all(format!("{request}\n").as_bytes()).map_err(gone)?;
    let (mut line, mut lines) = (String::new(), BufReader::new(stream));
    // The first line says who speaks.
    lines.read_line(&mut line).map_err(gone)?;
    line.clear();
    lines.read_line(&mut line).map_err(gone)?;
    let answer: Value = serde_json::from_str(&line).map_err(|error| format!("{line:?}: {error}"))?;
    match answer.get("ok") {
        Some(ok) => Ok(ok.clone()),
        None => Err(answer["error"].to_string()),
    }
}
