//! Two network namespaces, joined by a cable; or this host's loopback.

use crate::Outcome;
use crate::process::call;

/// Where the two sides of a measurement run.
pub(crate) struct Net {
    /// Empty: on this host as it is.
    names: Vec<String>,
}

impl Net {
    /// The two sides share this host, and nothing leaves it.
    pub(crate) const fn loopback() -> Self {
        Self { names: Vec::new() }
    }

    /// Makes two namespaces with a cable between. They go when this is dropped.
    pub(crate) fn cable() -> Outcome<Self> {
        let own = std::process::id();
        let net = Self { names: vec![format!("lcmbench-{own}-0"), format!("lcmbench-{own}-1")] };
        let [one, two] = [0, 1].map(|end| format!("lb{own}x{end}"));
        for name in &net.names {
            call(&format!("ip netns add {name}"))?;
        }
        call(&format!("ip link add {one} type veth peer name {two}"))?;
        for (number, (name, end)) in net.names.iter().zip([one, two]).enumerate() {
            call(&format!("ip link set {end} netns {name}"))?;
            call(&format!("ip -n {name} address add 10.219.77.{}/24 dev {end}", number + 1))?;
            call(&format!("ip -n {name} link set lo up"))?;
            call(&format!("ip -n {name} link set {end} up"))?;
            call(&format!("ip -n {name} route add 224.0.0.0/4 dev {end}"))?;
        }
        // Until both ends are up.
        std::thread::sleep(std::time::Duration::from_millis(500));
        Ok(net)
    }

    /// Which it is.
    pub(crate) fn name(&self) -> &'static str {
        if self.is_loopback() { "loopback" } else { "two namespaces, veth, MTU 1,500" }
    }

    pub(crate) const fn is_loopback(&self) -> bool {
        self.names.is_empty()
    }

    /// How a program gets to one side.
    pub(crate) fn within(&self, side: usize) -> Vec<String> {
        match self.names.get(side) {
            Some(name) => ["ip", "netns", "exec", name].map(str::to_owned).to_vec(),
            None => Vec::new(),
        }
    }

    /// How many packets have left one side by the cable.
    pub(crate) fn left(&self, side: usize) -> u64 {
        let Some(name) = self.names.get(side) else { return 0 };
        let told = call(&format!("ip netns exec {name} cat /proc/net/dev")).unwrap_or_default();
        let cable = told.lines().find_map(|line| line.trim().strip_prefix("lb")?.split_once(':'));
        // The ninth number behind the name is of packets that left, and the first is bytes received.
        let packets = cable.and_then(|(_, numbers)| numbers.split_whitespace().nth(9)?.parse().ok());
        packets.unwrap_or_default()
    }

    /// How many datagrams the sockets of one side had no room for.
    pub(crate) fn lost_at_sockets(&self, side: usize) -> u64 {
        let Some(name) = self.names.get(side) else { return 0 };
        let told = call(&format!("ip netns exec {name} cat /proc/net/udp")).unwrap_or_default();
        let drops =
            told.lines().skip(1).filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
        drops.sum()
    }

    /// How many packets this host lost on their way through it, before any socket.
    pub(crate) fn lost_before_sockets() -> u64 {
        let told = std::fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
        let of = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
        told.lines().filter_map(of).sum()
    }

    /// A group's address: it leaves the host only where there is a cable.
    pub(crate) fn url(&self, port: u16, receive_bytes: u32) -> String {
        let ttl = u8::from(!self.is_loopback());
        format!("udpm://239.255.76.67:{port}?ttl={ttl}&recv_buf_size={receive_bytes}")
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in &self.names {
            // The cable goes with them.
            if let Err(error) = call(&format!("ip netns delete {name}")) {
                eprintln!("{error}");
            }
        }
    }
}
