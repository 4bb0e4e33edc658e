//! Host names with ports: where a node is found whose address changes.

use crate::Locator;
use crate::limits::LOCATOR_BYTES_MAX;
use core::fmt;

/// The scheme of locators that name a host.
const DNS: &str = "dns";
/// Longest part of a name between two dots, in bytes (RFC 1035).
const LABEL_BYTES_MAX: usize = 63;
/// Longest name, in bytes: its locator has no more than [`LOCATOR_BYTES_MAX`], with the longest
/// port.
const HOST_BYTES_MAX: usize = LOCATOR_BYTES_MAX - "dns/:65535".len();

const FORM: &str = "it must be a name, a colon and a port";
const PORT: &str = "the port must be a number from 1 to 65535";
const LONG: &str = "the name must have at most 245 bytes";
const ASCII: &str = "write a name that is not ASCII as its registry does, as in xn--bcher-kva.example";
const LABEL: &str =
    "between two dots must be 1 to 63 letters, digits and hyphens, with no hyphen at either end";
const ADDRESS: &str =
    "its last part is a number, so it is an address, and not a valid one: it must be as in 192.0.2.7";

/// A host name and a port, as in `anna.example.org:4803`. Its locator is
/// `dns/anna.example.org:4803`: a node that has no such transport keeps it and hands it on, and
/// nothing here asks for an address.
///
/// The name is one by RFC 1123, in small letters, without a dot at its end. It does not end in a
/// number: then whoever asks for its address could take it for one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName {
    host: String,
    port: u16,
}

/// Why a text is not a host name with a port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a host name with a port, as in anna.example.org:4803: {why}")]
pub struct HostNameError {
    text: String,
    why: &'static str,
}

impl HostName {
    /// Reads one as people write it: large letters become small ones, and a dot at the end goes.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(text: &str) -> Result<Self, HostNameError> {
        let refuse = |why| HostNameError { text: text.chars().take(LOCATOR_BYTES_MAX).collect(), why };
        let (host, port) = text.rsplit_once(':').ok_or_else(|| refuse(FORM))?;
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| digits && *port > 0).ok_or_else(|| refuse(PORT))?;
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        check(&host).map_err(refuse)?;
        Ok(Self { host, port })
    }

    /// The name at a locator; nothing if it is another place, or the name is not in its one
    /// spelling.
    pub fn of(at: &Locator) -> Option<Self> {
        if at.scheme() != DNS {
            return None;
        }
        let text = at.to_string();
        Self::read(text.split_once('/')?.1).ok().filter(|name| name.text() == text)
    }

    /// The name.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The locator that has this name: `dns/anna.example.org:4803`.
    pub fn locator(&self) -> Locator {
        Locator::other(self.text())
    }

    fn text(&self) -> String {
        format!("{DNS}/{}:{}", self.host, self.port)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.host, self.port)
    }
}

fn check(host: &str) -> Result<(), &'static str> {
    if !host.is_ascii() {
        return Err(ASCII);
    }
    if host.is_empty() || host.contains(':') {
        return Err(FORM);
    }
    if host.len() > HOST_BYTES_MAX {
        return Err(LONG);
    }
    if !host.split('.').all(is_label) {
        return Err(LABEL);
    }
    if host.rsplit('.').next().is_some_and(is_number) { Err(ADDRESS) } else { Ok(()) }
}

fn is_label(label: &str) -> bool {
    let plain = label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let ends = label.starts_with('-') || label.ends_with('-');
    plain && !ends && (1..=LABEL_BYTES_MAX).contains(&label.len())
}

/// As C libraries read numbers in addresses: `7`, `0x7f`.
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::{HOST_BYTES_MAX, HostName};
    use crate::Locator;
    use crate::limits::LOCATOR_BYTES_MAX;

    fn long(bytes: usize) -> String {
        let mut name = "a.".repeat(bytes / 2);
        name.truncate(bytes - 1);
        name + "a"
    }

    #[test]
    fn a_name_has_one_spelling_and_people_may_write_others() {
        for (written, one) in [
            ("anna.example.org:4803", "anna.example.org:4803"),
            ("Anna.Example.ORG.:4803", "anna.example.org:4803"),
            ("localhost:1", "localhost:1"),
            ("3com.example:65535", "3com.example:65535"),
            ("192.0.2.7.example:004803", "192.0.2.7.example:4803"),
            ("xn--bcher-kva.example:4803", "xn--bcher-kva.example:4803"),
            ("0xbeer:9", "0xbeer:9"),
        ] {
            let name = HostName::read(written).unwrap();
            assert_eq!((name.to_string().as_str(), name.locator().scheme()), (one, "dns"));
            assert_eq!(HostName::of(&name.locator()), Some(name.clone()));
            assert_eq!(format!("dns/{one}").parse::<Locator>().unwrap(), name.locator());
            let other: Locator = format!("dns/{written}").parse().unwrap();
            assert_eq!(HostName::of(&other).is_some(), written == one, "{written}");
        }
        let name = HostName::read(&format!("{}:65535", long(HOST_BYTES_MAX))).unwrap();
        assert_eq!(name.locator().to_string().len(), LOCATOR_BYTES_MAX);
        assert_eq!(HostName::of(&name.locator()), Some(name));
        assert_eq!(HostName::of(&"udp/192.0.2.7:4803".parse().unwrap()), None);
    }

    /// What a C library would take for an address is no name, nor is what could be read otherwise.
    #[test]
    fn what_is_no_name_is_refused_with_the_reason() {
        let label = "a".repeat(64);
        for (text, why) in [
            ("anna.example.org", "a name, a colon and a port"),
            (":4803", "a name, a colon and a port"),
            ("a:b:4803", "a name, a colon and a port"),
            ("2001:db8::7:4803", "a name, a colon and a port"),
            ("[::1]:4803", "a name, a colon and a port"),
            ("anna:", "the port"),
            ("anna:0", "the port"),
            ("anna:65536", "the port"),
            ("anna:+1", "the port"),
            ("anna:x", "the port"),
            ("b\u{fc}cher.example:1", "xn--"),
            ("a..b:1", "between two dots"),
            (".:1", "a name, a colon and a port"),
            ("-a.example:1", "between two dots"),
            ("a-.example:1", "between two dots"),
            ("a_b.example:1", "between two dots"),
            ("a b:1", "between two dots"),
            ("a/b:1", "between two dots"),
            ("a\u{0}:1", "between two dots"),
            ("192.0.2.300:1", "its last part is a number"),
            ("127.1:1", "its last part is a number"),
            ("2130706433:1", "its last part is a number"),
            ("0x7f000001:1", "its last part is a number"),
            ("127.0.0.0x1:1", "its last part is a number"),
            ("a.0x:1", "its last part is a number"),
            (&format!("{label}.example:1"), "between two dots"),
            (&format!("{}:1", long(HOST_BYTES_MAX + 1)), "at most 245 bytes"),
        ] {
            let error = HostName::read(text).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("is not a host name"), "{text}: {error}");
        }
    }

    /// All short texts over the characters that names are difficult by.
    #[test]
    fn whatever_is_read_is_a_locator_comes_back_and_is_no_address() {
        const SIGNS: [char; 8] = ['a', 'F', '-', '.', '0', 'x', ':', '\u{e4}'];
        let mut texts = vec![String::new()];
        let mut read = 0;
        for _ in 0..5 {
            let longer = |text: &String| SIGNS.map(|sign| format!("{text}{sign}"));
            texts = texts.iter().flat_map(longer).collect();
            for name in texts.iter().filter_map(|text| HostName::read(&format!("{text}:7")).ok()) {
                read += 1;
                assert_eq!(HostName::of(&name.locator()), Some(name.clone()));
                assert_eq!(HostName::read(&name.to_string()), Ok(name.clone()));
                assert!(name.host().parse::<core::net::IpAddr>().is_err(), "{name}");
            }
        }
        assert!(read > 1_000, "{read}");
    }
}
