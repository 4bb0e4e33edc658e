//! Robots with papers: plain programs on each, a bridge on each, and somebody who listens outside.

use super::ends::interrupt;
use super::papers::good;
use super::{event, folkmoot, run, said};
use crate::common::place::Place;
use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what} does not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A root, folders of papers, and where everybody meets.
pub(super) struct Fleet {
    place: Place,
    port: u16,
}

impl Fleet {
    /// Each robot with its number and its channels.
    pub(super) fn new(name: &str, test: u32, robots: &[(&str, u16, &[&str])]) -> Self {
        let port = 40_000 + (std::process::id() * 16 + test) % 20_000;
        let fleet = Self { place: Place::new(name), port: u16::try_from(port).unwrap() };
        good(fleet.path(), "root new root");
        for (name, sender, channels) in robots {
            let channels: String = channels.iter().map(|channel| format!(" --channel {channel}")).collect();
            let (url, line) =
                (fleet.outside(), format!("certify --root root --sender {sender} --out {name}"));
            good(fleet.path(), &format!("{line}{channels} --lcm-url {url}"));
        }
        fleet
    }

    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.path().join(name).display().to_string()
    }

    /// Where the bridges meet.
    pub(super) fn outside(&self) -> String {
        self.url(68)
    }

    /// Where the plain programs of the robot with this number meet.
    pub(super) fn inside(&self, number: u8) -> String {
        self.url(100 + number)
    }

    fn url(&self, last: u8) -> String {
        format!("udpm://239.255.76.{last}:{}?ttl=0", self.port)
    }

    /// Starts the bridge of a robot at these plain programs.
    pub(super) fn bridge(&self, name: &str, number: u8) -> Bridge {
        self.bridge_of(name, number, &[])
    }

    /// The same with more options.
    pub(super) fn bridge_of(&self, name: &str, number: u8, more: &[&str]) -> Bridge {
        let (folder, inside, outside) = (self.file(name), self.inside(number), self.outside());
        let words = ["bridge", "--secured", &folder, "--inside", &inside, "--outside", &outside];
        let words = [&words[..], &["--every", "1"], more].concat();
        Bridge::new(folkmoot(&inside, &words).spawn().unwrap())
    }

    /// A recorder of the plain programs of a robot.
    pub(super) fn record(&self, number: u8, name: &str) -> Recorder {
        let file = self.path().join(name);
        Recorder { child: super::recorder(&self.inside(number), &file, &[]), file }
    }

    /// Publishes these messages once, among the plain programs of a robot.
    pub(super) fn play(&self, number: u8, messages: &[(&str, Vec<u8>)]) {
        let file = self.path().join("play.lcm");
        self.write(&file, messages);
        let played = run(&self.inside(number), &["play", file.to_str().unwrap()]);
        assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    }

    /// Writes a log of these messages.
    pub(super) fn write(&self, file: &Path, messages: &[(&str, Vec<u8>)]) {
        let events =
            (0_u8..).zip(messages).map(|(number, (channel, payload))| event(number, channel, payload));
        std::fs::write(file, events.collect::<Vec<_>>().concat()).unwrap();
    }

    /// Publishes a message on one robot until it is heard on another.
    pub(super) fn carries(&self, from: u8, to: &Recorder, mark: &str) {
        until(&format!("{mark} from {from}"), || {
            self.play(from, &[("POSE", mark.as_bytes().to_vec())]);
            std::thread::sleep(Duration::from_millis(200));
            to.count("POSE", mark) > 0
        });
    }
}

/// A bridge that runs, and what it has said so far.
pub(super) struct Bridge {
    child: Option<Child>,
    said: Arc<Mutex<Vec<Value>>>,
}

impl Bridge {
    fn new(mut child: Child) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let (lines, to) = (BufReader::new(child.stdout.take().unwrap()).lines(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                to.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child: Some(child), said }
    }

    /// The last report.
    pub(super) fn last(&self) -> Option<Value> {
        self.said.lock().unwrap().iter().rev().find(|one| one.get("outward").is_some()).cloned()
    }

    /// A number of the last report.
    pub(super) fn number(&self, pointer: &str) -> u64 {
        self.last().and_then(|last| last.pointer(pointer)?.as_u64()).unwrap_or(0)
    }

    /// What it warned of under this name, the last time.
    pub(super) fn event(&self, name: &str) -> Option<Value> {
        self.said.lock().unwrap().iter().rev().find(|one| one["event"] == name).cloned()
    }

    /// How often it warned of it.
    pub(super) fn events(&self, name: &str) -> usize {
        self.said.lock().unwrap().iter().filter(|one| one["event"] == name).count()
    }

    /// Waits for such a warning.
    pub(super) fn says(&self, name: &str) -> Value {
        until(&format!("the warning {name}"), || self.event(name).is_some());
        self.event(name).unwrap()
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, name: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(std::process::Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Waits until each key that it has is of these members.
    pub(super) fn is_with(&self, members: &[u16]) {
        self.awaits(members, |_| true);
    }

    /// Waits until the key of this channel, or of the names of channels, is of these members.
    pub(super) fn has(&self, channel: Option<&str>, members: &[u16]) {
        self.awaits(members, |key| key["channel"].as_str() == channel);
    }

    /// Who has its group's key.
    pub(super) fn members(&self) -> Vec<u64> {
        let said = self.said.lock().unwrap();
        let key = said.iter().rev().find_map(|one| one.get("keys")?.get(0)).unwrap();
        key["members"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect()
    }

    fn awaits(&self, members: &[u16], wanted: impl Fn(&Value) -> bool) {
        until(&format!("a bridge with {members:?}"), || {
            let said = self.said.lock().unwrap();
            let last = said.iter().rev().find_map(|one| one.get("keys")?.as_array());
            let keys: Vec<&Value> = last.into_iter().flatten().filter(|key| wanted(key)).collect();
            !keys.is_empty() && keys.iter().all(|key| key["members"] == serde_json::json!(members))
        });
    }

    /// Ends it as Ctrl-C does.
    pub(super) fn stop(mut self) -> Value {
        let child = self.child.take().unwrap();
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        until("the last report", || Arc::strong_count(&self.said) == 1);
        self.last().unwrap()
    }

    /// Waits until it ends by itself; its exit code.
    pub(super) fn ends(mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        until("its end", || child.try_wait().unwrap().is_some());
        child.wait().unwrap().code()
    }

    /// Ends it as a crash does.
    pub(super) fn crash(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A recorder that runs.
pub(super) struct Recorder {
    child: Child,
    file: PathBuf,
}

impl Recorder {
    pub(super) fn of(child: Child, file: PathBuf) -> Self {
        Self { child, file }
    }

    /// Channel and content of what it has written so far.
    pub(super) fn heard(&self) -> Vec<(String, Vec<u8>)> {
        let bytes = std::fs::read(&self.file).unwrap_or_default();
        let (mut rest, mut found) = (bytes.as_slice(), Vec::new());
        while let Some(head) = rest.get(..28) {
            let length =
                |place: usize| u32::from_be_bytes(head[place..place + 4].try_into().unwrap()) as usize;
            let name = 28 + length(20);
            // The rest may not be written yet.
            let Some(event) = rest.get(28..name + length(24)) else { break };
            let (channel, payload) = event.split_at(length(20));
            found.push((String::from_utf8_lossy(channel).into_owned(), payload.to_vec()));
            rest = &rest[name + length(24)..];
        }
        found
    }

    /// How often it heard this.
    pub(super) fn count(&self, channel: &str, content: &str) -> usize {
        let same = |one: &&(String, Vec<u8>)| one.0 == channel && one.1 == content.as_bytes();
        self.heard().iter().filter(same).count()
    }

    /// Ends it; what it says at the end.
    pub(super) fn stop(self) -> Value {
        let mut this = std::mem::ManuallyDrop::new(self);
        interrupt(&this.child);
        let mut told = String::new();
        std::io::Read::read_to_string(this.child.stdout.as_mut().unwrap(), &mut told).unwrap();
        let status = this.child.wait().unwrap();
        assert!(status.success(), "{told}");
        serde_json::from_str(told.lines().last().unwrap()).unwrap()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody in the network, without papers.
pub(super) struct Sniffer {
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
    group: SocketAddrV4,
}

impl Sniffer {
    pub(super) fn new(url: &str) -> Self {
        let group: SocketAddrV4 = url["udpm://".len()..].split('?').next().unwrap().parse().unwrap();
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.set_recv_buffer_size(4 << 20).unwrap();
        socket.bind(&group.into()).unwrap();
        socket.join_multicast_v4(group.ip(), &Ipv4Addr::UNSPECIFIED).unwrap();
        let (socket, heard) = (UdpSocket::from(socket), Arc::new(Mutex::new(Vec::new())));
        let to = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut room = vec![0; 65_536];
            while let Ok(length) = socket.recv(&mut room) {
                to.lock().unwrap().push(room[..length].to_vec());
            }
        });
        Self { heard, group }
    }

    pub(super) fn heard(&self) -> Vec<Vec<u8>> {
        self.heard.lock().unwrap().clone()
    }

    /// The messages of secured LCM among it: all but those of the agreement on keys.
    pub(super) fn sealed(&self) -> Vec<Vec<u8>> {
        let sealed = |one: &Vec<u8>| one.starts_with(b"LC04") || one.starts_with(b"LC05");
        self.heard().into_iter().filter(sealed).collect()
    }

    /// Sends datagrams again.
    pub(super) fn repeat(&self, datagrams: &[Vec<u8>]) {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        for datagram in datagrams {
            socket.send_to(datagram, self.group).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether these bytes are somewhere in it.
pub(super) fn holds(datagram: &[u8], part: &[u8]) -> bool {
    datagram.windows(part.len()).any(|window| window == part)
}

/// What a command says that has ended well.
pub(super) fn ended(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    said(&output)
}
