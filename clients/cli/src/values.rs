//! Reads the values of the command line. Nothing here knows the commands.

use crate::words;
use clap::ValueEnum;
use folkmoot::tools::{addresses, is_own};
use folkmoot::{HostName, Locator};
use folkmoot_base::{Cipher, Keying, LocatorError};
pub use folkmoot_control::Ordering;
use folkmoot_identity::{Contact, Dealer, KeyAlgorithm, Minority, Mode, Scheme};
use folkmoot_transcript::{KnownHead, NoHead};
use std::net::SocketAddr;

/// How packets go to all other members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Multicast {
    /// To each by itself.
    #[default]
    Off,
    /// By IP multicast if all hear that, else to each.
    Auto,
}

/// A scheme that a charter may name, by its name.
///
/// # Errors
/// The names that there are.
pub fn scheme(word: &str) -> Result<Scheme, String> {
    Scheme::from_name(word).ok_or_else(|| "it must be plain, asm, ts-dsa, frost or shoup-rsa".to_owned())
}

pub(crate) fn algorithm(word: &str) -> Result<KeyAlgorithm, &'static str> {
    KeyAlgorithm::from_name(word).ok_or("it must be p256, ed25519, rsa-2048 or rsa-3072")
}

pub(crate) fn keying(word: &str) -> Result<Keying, &'static str> {
    Keying::from_name(word).ok_or("it must be by-size, gdh, tgdh, str, bd, ckd, dutta-barua or mls")
}

pub(crate) fn cipher(word: &str) -> Result<Cipher, &'static str> {
    Cipher::from_name(word).ok_or("it must be aes-256-gcm or chacha20-poly1305")
}

/// A locator as a charter has it; this release has its transport.
pub(crate) fn contact(word: &str) -> Result<Contact, String> {
    let at = locator(word)?;
    if at.zone().is_some() {
        return Err(format!("{at} works on one link only: give an address that every newcomer can reach"));
    }
    Contact::read(&at.to_string()).map_err(str::to_owned)
}

/// Where somebody may be found by this release.
///
/// # Errors
/// It is no locator, leads nowhere, or is of a transport that this release does not have.
pub(crate) fn locator(word: &str) -> Result<Locator, String> {
    let nowhere = |at: &Locator| format!("{at} leads nowhere: give the address of a machine, and the port");
    let many = |at: &Locator| format!("{at} leads to many machines: give an address of one, and the port");
    let at = ours(word)?;
    if !at.leads_somewhere() {
        return Err(nowhere(&at));
    }
    if at.is_of_one_host() { Ok(at) } else { Err(many(&at)) }
}

/// A locator of a transport that this release has, or of a host name.
fn ours(word: &str) -> Result<Locator, String> {
    if let Some(name) = host_name(word)? {
        return Ok(name.locator());
    }
    let at: Locator = numbered(word)?.parse().map_err(|error: LocatorError| error.to_string())?;
    if at.zone() == Some(0) {
        return Err(format!(
            "{at} works on one link only: name the interface, as in udp/[fe80::1%eth0]:4803"
        ));
    }
    let other = || format!("this release has no transport for {at}; write udp/ADDRESS:PORT or udp/NAME:PORT");
    if is_ours(&at) { Ok(at) } else { Err(other()) }
}

/// An address whose zone may be an interface by its name.
fn numbered(word: &str) -> Result<String, String> {
    let none =
        |name: &str| format!("this machine has no interface {name}: `ip link` shows those that it has");
    folkmoot::tools::numbered(word).map_err(none)
}

/// Whether this release has the transport, or can find out an address.
pub(crate) fn is_ours(at: &Locator) -> bool {
    at.as_udp().is_some() || HostName::of(at).is_some()
}

/// The host name in `udp/NAME:PORT`, as people write it, or in `dns/NAME:PORT`, as it is kept;
/// nothing if it is another locator.
pub(crate) fn host_name(word: &str) -> Result<Option<HostName>, String> {
    let rest = match word.split_once('/') {
        Some(("dns", rest)) => rest,
        Some(("udp", rest)) if rest.matches(':').count() < 2 && rest.parse::<SocketAddr>().is_err() => rest,
        _ => return Ok(None),
    };
    HostName::read(rest).map(Some).map_err(|error| error.to_string())
}

/// Where to listen: at an address, or at that of this machine which a host name has.
pub(crate) fn listen(word: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = numbered(word)?.parse() {
        return Ok(address);
    }
    let name = HostName::read(word).map_err(|_| {
        "it must be an address and a port, as in 0.0.0.0:4803 or [::]:4803, or a name of this machine and a port"
            .to_owned()
    })?;
    let all = format!("To listen at all addresses of this machine: 0.0.0.0:{}", name.port());
    let found = addresses(&name).map_err(|why| format!("no address is known for {name}: {why}. {all}"))?;
    let own = || found.iter().filter(|at| is_own(at.ip()));
    // A system may call itself by an address that no other machine can use.
    let at = own().find(|at| !at.ip().is_loopback()).or_else(|| own().next()).copied();
    at.ok_or_else(|| {
        let found: Vec<String> = found.iter().map(|at| at.ip().to_string()).collect();
        format!("{name} is at {}, which is not this machine. {all}", found.join(", "))
    })
}

/// A head in digits or in words.
pub(crate) fn head(text: &str) -> Result<KnownHead, String> {
    let text = text.trim();
    let digits = if text.contains(words::BETWEEN) {
        words::head(text).map_err(|error| error.to_string())?
    } else {
        text.to_owned()
    };
    let or_words = |error: NoHead| format!("{error}; or its number and its words, as in \"17 zoo zone ...\"");
    digits.parse().map_err(or_words)
}

/// Who signs certificates, by its name.
///
/// # Errors
/// The names that there are.
pub fn mode(word: &str) -> Result<Mode, &'static str> {
    let all = [Mode::Decentralised, Mode::Centralised];
    all.into_iter().find(|mode| mode.name() == word).ok_or("it must be decentralised or centralised")
}

pub(crate) fn dealer(word: &str) -> Result<Dealer, &'static str> {
    Dealer::from_word(word).ok_or("it must be keeps or setup-only")
}

pub(crate) fn minority(word: &str) -> Result<Minority, &'static str> {
    Minority::from_word(word).ok_or("it must be continue, read-only or stop")
}

pub(crate) fn ratio(word: &str) -> Result<u32, &'static str> {
    word.strip_suffix('%').and_then(|number| number.parse().ok()).ok_or("write a share as 30%")
}

#[cfg(test)]
mod tests {
    use super::{contact, listen, locator};

    #[test]
    fn an_address_of_one_link_is_found_by_its_interface() {
        let at = locator("udp/[fe80::1%lo]:4803").unwrap();
        assert_eq!(at.zone(), Some(1));
        assert_eq!(listen("[fe80::1%lo]:4803").unwrap(), at.as_udp().unwrap());
        for (word, why) in [
            ("udp/[fe80::1]:4803", "name the interface"),
            ("udp/[fe80::1%no-such]:4803", "no interface no-such"),
        ] {
            assert!(locator(word).unwrap_err().contains(why), "{word}");
        }
        assert!(contact("udp/[fe80::1%lo]:4803").unwrap_err().contains("one link only"));
    }
}
