//! Network namespaces for members: one each, and one with a bridge between them.
//!
//! ```text
//!   fm1 [eth0 10.77.0.1] --- p1 [ br0 in fmsw ] p2 --- [eth0 10.77.0.2] fm2
//! ```
//! If all the namespaces that a bench is given exist, it uses them. If none does, it makes them,
//! and removes them at the end. Both need root and the program `ip`.

use folkmoot_cli::exit::{Exit, Failure};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;

/// The namespace of the bridge.
const SWITCH: &str = "fmsw";
/// Addresses that a made network has room for.
const MOST: usize = 64;

/// Namespaces that can reach one another.
#[derive(Debug)]
pub(crate) struct Network {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
    made: bool,
}

impl Network {
    /// Uses these, or makes them.
    pub(crate) fn open(names: &[String]) -> Result<Self, Failure> {
        let there = ip(&["netns", "list"])?;
        let there: Vec<&str> = there.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let found = names.iter().filter(|name| there.contains(&name.as_str())).count();
        let mut network = Self { names: names.to_vec(), addresses: Vec::new(), made: found == 0 };
        if network.made {
            if there.contains(&SWITCH) || names.len() > MOST {
                let text =
                    format!("the namespace {SWITCH} is left from another run. Run: ip netns del {SWITCH}");
                network.made = false;
                return Err(Failure::new(Exit::Configuration, text));
            }
            network.make()?;
        } else if found < names.len() {
            let text =
                "some of these namespaces exist and some do not. Name those that exist, or none of them";
            return Err(Failure::new(Exit::Configuration, text));
        }
        network.addresses = names.iter().map(|name| address(name)).collect::<Result<_, _>>()?;
        Ok(network)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Where the member with this number is.
    pub(crate) fn address(&self, number: usize) -> Option<IpAddr> {
        self.addresses.get(number).copied()
    }

    /// What a command line begins with to run in the namespace of the member with this number.
    pub(crate) fn enter(&self, number: usize) -> Vec<String> {
        let name = self.names.get(number).cloned().unwrap_or_default();
        vec!["ip".into(), "netns".into(), "exec".into(), name]
    }

    fn make(&self) -> Result<(), Failure> {
        ip(&["netns", "add", SWITCH])?;
        on(SWITCH, "link add br0 type bridge mcast_snooping 0")?;
        on(SWITCH, "link set br0 up")?;
        for (number, name) in (1..).zip(&self.names) {
            ip(&["netns", "add", name])?;
            on(name, "link set lo up")?;
            on(name, &format!("link add eth0 type veth peer name p{number} netns {SWITCH}"))?;
            on(SWITCH, &format!("link set p{number} master br0 up"))?;
            on(name, "link set eth0 up")?;
            on(name, &format!("addr add {}/24 brd + dev eth0", Ipv4Addr::new(10, 77, 0, number)))?;
            on(name, "route add 224.0.0.0/4 dev eth0")?;
        }
        Ok(())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if self.made {
            for name in self.names.iter().map(String::as_str).chain([SWITCH]) {
                // One that was not made yet cannot be removed.
                let _ = ip(&["netns", "del", name]);
            }
        }
    }
}

/// Whether a word can be the name of a namespace.
pub(crate) fn name(word: &str) -> Result<String, &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let first = word.starts_with(|c: char| c.is_ascii_alphanumeric());
    if first && word.len() <= 64 && word.chars().all(fits) && word != SWITCH {
        return Ok(word.to_owned());
    }
    Err("it must be letters and digits, and other than fmsw")
}

/// Runs `ip` in a namespace, with words that have no spaces in them.
fn on(name: &str, words: &str) -> Result<String, Failure> {
    let words: Vec<&str> = ["-n", name].into_iter().chain(words.split_whitespace()).collect();
    ip(&words)
}

fn ip(words: &[&str]) -> Result<String, Failure> {
    let refused = |why: &str| {
        let line = words.join(" ");
        let text = format!("ip {line}: {}. Namespaces need root and the package iproute2", why.trim());
        Failure::new(Exit::Configuration, text)
    };
    let output = Command::new("ip").args(words).output().map_err(|error| refused(&error.to_string()))?;
    if !output.status.success() {
        return Err(refused(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn address(name: &str) -> Result<IpAddr, Failure> {
    let told = on(name, "-j -4 addr show dev eth0")?;
    let missing = || {
        let text = format!("the namespace {name} has no IPv4 address on eth0. Let the bench make it instead");
        Failure::new(Exit::Configuration, text)
    };
    first_address(&told).ok_or_else(missing)
}

/// The first address in what `ip -j addr` prints.
fn first_address(told: &str) -> Option<IpAddr> {
    let all: Value = serde_json::from_str(told).ok()?;
    all.get(0)?.get("addr_info")?.get(0)?.get("local")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{first_address, name};

    #[test]
    fn an_address_is_read_from_what_ip_prints() {
        let told =
            r#"[{"ifname":"eth0","addr_info":[{"family":"inet","local":"10.77.0.3","prefixlen":24}]}]"#;
        assert_eq!(first_address(told), "10.77.0.3".parse().ok());
        for none in ["[]", "", r#"[{"ifname":"eth0","addr_info":[]}]"#] {
            assert_eq!(first_address(none), None);
        }
    }

    #[test]
    fn a_name_cannot_be_an_option_a_path_or_the_bridge() {
        assert_eq!(name("fm1").as_deref(), Ok("fm1"));
        for wrong in ["", "-n", "../x", "a b", "fmsw"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
