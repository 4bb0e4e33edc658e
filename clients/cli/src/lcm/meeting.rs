//! Where a command meets others: what it was told, and what stands in for that.
//!
//! Plain commands follow `LCM_DEFAULT_URL`, as LCM's own programs on the host do. It says nothing
//! to whoever has a certificate, which names a group, and does not disturb commands that speak to
//! nobody.

use super::HOME_TTL;
use crate::exit::{Exit, Failure};
use core::net::SocketAddrV4;
use folkmoot_lcm::interfaces_without;
use folkmoot_pubsub::{Address, Interface};

const VARIABLE: &str = "LCM_DEFAULT_URL";

/// What a command was told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    /// The URL, if one was given.
    pub(super) url: Option<Address>,
    /// The interface, if one was given.
    pub(super) interface: Option<Interface>,
}

impl Meeting {
    /// For a plain command.
    pub(super) fn plain(self) -> Result<Address, Failure> {
        let address = match self.url {
            Some(url) => url,
            None => of_host(std::env::var_os(VARIABLE).map(|url| url.to_string_lossy().into_owned()))?,
        };
        Ok(self.on(address))
    }

    /// For a command whose certificate names this group.
    pub(super) fn home(self, group: SocketAddrV4) -> Address {
        self.on(Address { group, ttl: HOME_TTL, ..Address::default() })
    }

    /// Refuses an interface that this host does not have.
    pub(super) fn is_there(self) -> Result<(), Failure> {
        self.lacks().map_or(Ok(()), |(_, words)| Err(Failure::new(Exit::Configuration, words)))
    }

    /// The interface by which it would meet others, if this host has none of that name, and what
    /// people are told.
    pub(super) fn lacks(self) -> Option<(Interface, String)> {
        let interface = self.interface.or(self.url.and_then(|url| url.interface))?;
        let others = interfaces_without(&interface)?;
        let (name, others) = (interface.as_str(), others.join(", "));
        Some((interface, format!("this machine has no network interface {name}; it has: {others}")))
    }

    /// The same place, by the interface that was given.
    pub(super) fn on(self, address: Address) -> Address {
        Address { interface: self.interface.or(address.interface), ..address }
    }
}

/// As liblcm takes it: nothing is LCM's own group.
fn of_host(url: Option<String>) -> Result<Address, Failure> {
    match url {
        Some(url) if !url.is_empty() => url.parse().map_err(|error| {
            let text = format!("{VARIABLE} is {url}: {error}. Give this command --lcm-url, or change that");
            Failure::new(Exit::Usage, text)
        }),
        _ => Ok(Address::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::of_host;
    use folkmoot_pubsub::Address;

    #[test]
    fn the_hosts_group_is_lcms_own_unless_it_says_another() {
        assert_eq!(of_host(None).unwrap(), Address::default());
        assert_eq!(of_host(Some(String::new())).unwrap(), Address::default());
        let other = "udpm://239.255.76.68:7668?ttl=1";
        assert_eq!(of_host(Some(other.into())).unwrap().to_string(), other);
        assert!(of_host(Some("tcpq://localhost".into())).is_err());
    }
}
