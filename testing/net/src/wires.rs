//! A network for one scenario: a namespace for each member, and one with two bridges between them.
//!
//! ```text
//!   [eth0 10.88.0.1, fd88::1] --- p0 [ br0 --- trunk --- br1 ] p1 --- [eth0 10.88.0.2, fd88::2]
//! ```
//! * **Split**: a member's port is moved from one bridge to the other, while the trunk is cut.
//! * **No way between two**: both ports are *isolated*, as bridges say.
//! * **One way cut**: the sender has a neighbour entry for the other that nobody listens to. Its
//!   frames leave, and nobody takes them.
//! * **Narrow**: the interface, or the trunk, carries less. A bridge drops what is too long for its
//!   port, and says nothing. It would let trains of segments pass whole, which no cable does, so
//!   the interfaces cut them, except where that is what is tried.
//!
//! All namespaces of a scenario are removed when its [`Wires`] are dropped. If the program was
//! killed before, the next run removes them: their names have the number of the process.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

/// What the names of all namespaces begin with.
const PREFIX: &str = "fmnet-";
/// A hardware address that no interface has.
const NOBODY: &str = "02:00:00:00:00:99";

/// How many neighbours all namespaces have together, at most.
const NEIGHBOURS: &str = "/proc/sys/net/ipv4/neigh/default/gc_thresh3";

/// One member's place.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) mtu: u16,
    pub(crate) addresses: Vec<IpAddr>,
}

/// The network.
#[derive(Debug)]
pub(crate) struct Wires {
    prefix: String,
    ports: Vec<Port>,
    trunk: u16,
    /// Who is at the other end of the trunk.
    beyond: Vec<usize>,
}

/// The IPv4 address with this number.
pub(crate) fn four(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 88, 0, number).into()
}

/// The IPv6 address with this number.
pub(crate) fn six(number: u8) -> IpAddr {
    Ipv6Addr::new(0xfd88, 0, 0, 0, 0, 0, 0, number.into()).into()
}

/// The address of IPv6 with this number that is good on one link only.
pub(crate) fn near(number: u8) -> IpAddr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, number.into()).into()
}

impl Wires {
    /// Lays the network of `scenario`; a trunk of less than 1,500 bytes is narrow.
    pub(crate) fn lay(scenario: &str, ports: Vec<Port>, trunk: u16) -> Result<Self, String> {
        let wires = Self {
            prefix: format!("{PREFIX}{}-{scenario}", std::process::id()),
            ports,
            trunk,
            beyond: Vec::new(),
        };
        remember(wires.ports.len())?;
        let switch = wires.switch();
        let members: Vec<usize> = (0..wires.ports.len()).collect();
        let mut names = vec![format!("netns add {switch}")];
        names.extend(members.iter().map(|member| format!("netns add {}", wires.name(*member))));
        batch(None, &names)?;
        let mut lines: Vec<String> = Vec::new();
        for bridge in ["br0", "br1"] {
            lines.push(format!("link add {bridge} type bridge"));
            lines.push(format!("link set {bridge} type bridge mcast_snooping 0"));
            lines.push(format!("link set {bridge} up"));
        }
        lines.push(format!("link add t0 mtu {trunk} type veth peer name t1 mtu {trunk}"));
        lines.extend([0, 1].map(|end| format!("link set t{end} master br{end} up")));
        for (member, port) in wires.ports.iter().enumerate() {
            let (name, mtu) = (wires.name(member), port.mtu);
            lines.push(format!(
                "link add p{member} mtu {mtu} type veth peer name eth0 mtu {mtu} netns {name}"
            ));
            lines.push(format!("link set p{member} master br0 up"));
        }
        batch(Some(&switch), &lines)?;
        for (member, port) in wires.ports.iter().enumerate() {
            let mut lines = vec!["link set lo up".to_owned(), "link set eth0 gso_max_segs 1 up".to_owned()];
            lines.extend(port.addresses.iter().map(add));
            batch(Some(&wires.name(member)), &lines)?;
        }
        Ok(wires)
    }

    /// What a command line begins with to run in the namespace of a member.
    pub(crate) fn enter(&self, member: usize) -> Vec<String> {
        vec!["ip".into(), "netns".into(), "exec".into(), self.name(member)]
    }

    pub(crate) fn addresses(&self, member: usize) -> &[IpAddr] {
        self.ports.get(member).map(|port| port.addresses.as_slice()).unwrap_or_default()
    }

    /// The member has these addresses instead.
    pub(crate) fn readdress(&mut self, member: usize, addresses: Vec<IpAddr>) -> Result<(), String> {
        let name = self.name(member);
        let Some(port) = self.ports.get_mut(member) else { return Ok(()) };
        let gone = std::mem::replace(&mut port.addresses, addresses.clone());
        let mut lines: Vec<String> =
            gone.iter().map(|one| add(one).replacen("addr add", "addr del", 1)).collect();
        lines.extend(addresses.iter().map(add));
        batch(Some(&name), &lines)
    }

    /// These members are on the other side of a split; nobody: there is none.
    pub(crate) fn split(&self, other: &[usize]) -> Result<(), String> {
        let trunk = if other.is_empty() { "up" } else { "down" };
        let mut lines = vec![format!("link set t0 {trunk}")];
        lines.extend((0..self.ports.len()).map(|member| {
            let side = u8::from(other.contains(&member));
            format!("link set p{member} master br{side}")
        }));
        batch(Some(&self.switch()), &lines)
    }

    /// These members are beyond the trunk.
    pub(crate) fn beyond(&mut self, members: &[usize]) -> Result<(), String> {
        self.beyond = members.to_vec();
        let lines: Vec<String> =
            members.iter().map(|member| format!("link set p{member} master br1")).collect();
        batch(Some(&self.switch()), &lines)
    }

    /// Interfaces leave trains whole, and so switches let them pass whatever a port carries.
    pub(crate) fn let_trains_pass(&self) -> Result<(), String> {
        let line = ["link set eth0 gso_max_segs 64".to_owned()];
        (0..self.ports.len()).try_for_each(|member| batch(Some(&self.name(member)), &line))
    }

    /// These members do not reach one another, in either direction; nobody: all do.
    pub(crate) fn isolate(&self, members: &[usize]) -> Result<(), String> {
        let lines = (0..self.ports.len()).map(|member| {
            let word = if members.contains(&member) { "on" } else { "off" };
            format!("link set p{member} type bridge_slave isolated {word}")
        });
        batch(Some(&self.switch()), &lines.collect::<Vec<_>>())
    }

    /// The longest datagram that gets from one to the other, in bytes of UDP.
    pub(crate) fn carries(&self, one: usize, other: usize) -> u16 {
        let port = |member: usize| self.ports.get(member).map_or(0, |port| port.mtu);
        let across = self.beyond.contains(&one) != self.beyond.contains(&other);
        let mtu = port(one).min(port(other)).min(if across { self.trunk } else { u16::MAX });
        let six = [one, other].iter().all(|member| self.addresses(*member).iter().any(IpAddr::is_ipv6));
        mtu.saturating_sub(if six { 48 } else { 28 })
    }

    /// Nothing that `from` sends to `to` arrives; or all does again.
    pub(crate) fn one_way(&self, from: usize, to: usize, cut: bool) -> Result<(), String> {
        let lines = self.addresses(to).iter().map(|address| match cut {
            true => format!("neigh replace {address} lladdr {NOBODY} nud permanent dev eth0"),
            false => format!("neigh del {address} dev eth0"),
        });
        batch(Some(&self.name(from)), &lines.collect::<Vec<_>>())
    }

    fn name(&self, member: usize) -> String {
        format!("{}-{member}", self.prefix)
    }

    fn switch(&self) -> String {
        format!("{}-switch", self.prefix)
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        for name in (0..self.ports.len()).map(|member| self.name(member)).chain([self.switch()]) {
            // One that was not made yet cannot be removed.
            drop(ip(&["netns", "del", &name], ""));
        }
    }
}

/// Has the system remember the neighbours of so many members: it has one table for all namespaces,
/// of 1,024 places, and once that is full, nothing is sent to anybody else. Stays so until the
/// machine starts anew.
fn remember(members: usize) -> Result<(), String> {
    let read = std::fs::read_to_string(NEIGHBOURS).map_err(|error| format!("{NEIGHBOURS}: {error}"))?;
    let (wanted, room) = (2 * members * members, read.trim().parse().unwrap_or(0));
    if wanted <= room {
        return Ok(());
    }
    std::fs::write(NEIGHBOURS, wanted.to_string()).map_err(|error| format!("{NEIGHBOURS}: {error}"))
}

/// Whether namespaces can be made here; if not, why. Removes what killed runs have left.
pub(crate) fn ready() -> Result<(), String> {
    let listed = ip(&["netns", "list"], "")?;
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        let of = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if of.is_some_and(|process| !std::path::Path::new("/proc").join(process).exists()) {
            ip(&["netns", "del", name], "")?;
        }
    }
    Wires::lay("try", vec![Port { mtu: 1_500, addresses: vec![four(1)] }], 1_500).map(drop)
}

fn add(address: &IpAddr) -> String {
    match address {
        IpAddr::V4(_) => format!("addr add {address}/24 dev eth0"),
        IpAddr::V6(_) => format!("addr add {address}/64 dev eth0 nodad"),
    }
}

/// Runs lines of `ip`, in a namespace.
fn batch(namespace: Option<&str>, lines: &[String]) -> Result<(), String> {
    let mut words = vec!["-batch", "-"];
    if let Some(name) = namespace {
        words.splice(0..0, ["-n", name]);
    }
    ip(&words, &(lines.join("\n") + "\n")).map(drop)
}

fn ip(words: &[&str], input: &str) -> Result<String, String> {
    let cannot = |why: &str| format!("ip {} says: {}\n{input}", words.join(" "), why.trim());
    let mut command = Command::new("ip");
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| cannot(&error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the program does not read them, its own words say why.
        drop(stdin.write_all(input.as_bytes()));
    }
    let output = child.wait_with_output().map_err(|error| cannot(&error.to_string()))?;
    if !output.status.success() {
        return Err(cannot(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
