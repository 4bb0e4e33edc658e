//! Machines with host names: a network namespace for each, joined by a bridge in one more.
//!
//! ```text
//!   [ anna  eth0 10.89.0.1 ]--.
//!   [ ben   eth0 10.89.0.2 ]--+--[ br0 ]      names: /etc/netns/NAMESPACE/hosts, which ip netns
//!   [ cleo  eth0 10.89.0.3 ]--'               exec shows to programs there as /etc/hosts
//! ```
//! Needs root and `ip`. Namespaces and files are removed when it is dropped; what a killed run has
//! left, at the next one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "fmname-";

pub(crate) struct Spaces {
    prefix: String,
    machines: Vec<(String, u8)>,
}

impl Spaces {
    /// Nothing, and a word about it, where no namespace can be made.
    pub(crate) fn lay(names: &[&str]) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{PREFIX}{}-{number}", std::process::id());
        if let Err(why) = ip(&format!("netns add {prefix}-switch")) {
            eprintln!("SKIPPED: no network namespaces can be made here. {why}");
            return None;
        }
        let machines = names.iter().map(|name| (*name).to_owned()).zip(1..).collect();
        let spaces = Self { prefix, machines };
        let switch = format!("{}-switch", spaces.prefix);
        good(&format!("-n {switch} link add br0 type bridge mcast_snooping 0"));
        good(&format!("-n {switch} link set br0 up"));
        for (name, number) in &spaces.machines {
            let space = spaces.space(name);
            good(&format!("netns add {space}"));
            good(&format!("-n {switch} link add p{number} type veth peer name eth0 netns {space}"));
            good(&format!("-n {switch} link set p{number} master br0 up"));
            good(&format!("-n {space} link set lo up"));
            good(&format!("-n {space} link set eth0 up"));
            good(&format!("-n {space} addr add 10.89.0.{number}/24 dev eth0"));
        }
        spaces.call_all();
        Some(spaces)
    }

    fn space(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// The host name of this machine.
    pub(crate) fn host(&self, name: &str) -> String {
        format!("{name}.moot.test")
    }

    /// Its address now.
    pub(crate) fn address(&self, name: &str) -> String {
        let number = self.machines.iter().find(|(one, _)| one == name).map(|(_, number)| number);
        format!("10.89.0.{}", number.expect("a machine"))
    }

    /// What a command line begins with to run on this machine. Whoever is on none is on the last.
    pub(crate) fn enter(&self, name: &str) -> Vec<String> {
        let known = self.machines.iter().find(|(one, _)| one == name);
        let (name, _) = known.or(self.machines.last()).expect("a machine");
        ["ip", "netns", "exec", &self.space(name)].map(str::to_owned).to_vec()
    }

    /// Nobody reaches anybody; or all do again.
    pub(crate) fn cut(&self, cut: bool) {
        let state = if cut { "down" } else { "up" };
        good(&format!("-n {}-switch link set br0 {state}", self.prefix));
    }

    /// All have other addresses. Their names go on leading to the old ones until
    /// [`Self::call_all`].
    pub(crate) fn move_all(&mut self) {
        for place in 0..self.machines.len() {
            let (name, number) = self.machines[place].clone();
            let (space, other) = (self.space(&name), number + 50);
            good(&format!("-n {space} addr del 10.89.0.{number}/24 dev eth0"));
            good(&format!("-n {space} addr add 10.89.0.{other}/24 dev eth0"));
            self.machines[place].1 = other;
        }
    }

    /// The names lead to where the machines are now. Files are written in their place: programs
    /// that run have them open by that.
    pub(crate) fn call_all(&self) {
        let lines =
            self.machines.iter().map(|(name, _)| format!("{} {}\n", self.address(name), self.host(name)));
        let hosts = format!("127.0.0.1 localhost\n{}", lines.collect::<String>());
        for (name, _) in &self.machines {
            let folder = files(&self.space(name));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("hosts"), &hosts).unwrap();
        }
    }
}

impl Drop for Spaces {
    fn drop(&mut self) {
        let all = self.machines.iter().map(|(name, _)| self.space(name));
        for space in all.chain([format!("{}-switch", self.prefix)]) {
            remove(&space);
        }
    }
}

fn files(space: &str) -> PathBuf {
    Path::new("/etc/netns").join(space)
}

/// One that was not made yet cannot be removed.
fn remove(space: &str) {
    let _ = ip(&format!("netns del {space}"));
    let _ = std::fs::remove_dir_all(files(space));
    // Fails as long as others have files there.
    let _ = std::fs::remove_dir("/etc/netns");
}

/// Removes what killed runs have left: the names have the number of the process.
fn sweep() {
    let listed = ip("netns list").unwrap_or_default();
    let listed = listed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    let folders = std::fs::read_dir("/etc/netns").into_iter().flatten().flatten();
    let folders = folders.filter_map(|entry| entry.file_name().into_string().ok());
    for space in listed.chain(folders) {
        let process = space.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            remove(&space);
        }
    }
}

fn ip(line: &str) -> Result<String, String> {
    let output = Command::new("ip").args(line.split(' ')).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("ip {line} says: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn good(line: &str) {
    ip(line).unwrap_or_else(|why| panic!("{why}"));
}
