//! `ID-70`: where somebody of the group may be found. A charter says it for newcomers, and for
//! members that have lost all others. It is a hint: nothing is proved by it.

use core::net::{IpAddr, SocketAddr};
use folkmoot_base::Locator;
use folkmoot_base::limits::LOCATOR_BYTES_MAX;
use std::collections::BTreeSet;

/// Most contacts in a charter.
pub const CONTACTS_MAX: usize = 16;
/// Longest contact, in bytes.
pub const CONTACT_BYTES_MAX: usize = LOCATOR_BYTES_MAX;
const SCHEME_BYTES_MAX: usize = 32;

const FORM: &str = "it must be a locator, such as udp/192.0.2.7:4803, of at most 255 printable ASCII characters without spaces or commas";
const UDP: &str = "a udp locator must have an address and a port in their one spelling, such as udp/192.0.2.7:4803 or udp/[2001:db8::7]:4803";
const NOWHERE: &str =
    "it must name one place for everybody: not 0.0.0.0, [::] or port 0, and no zone of one machine";
const MAPPED: &str = "it must name an IPv4 address as such, not as ::ffff:192.0.2.7";
const MANY: &str = "there can be at most 16";
const SORTED: &str = "it must be locators, sorted, each once, with commas between them; or none";

/// A locator in a charter, in its one spelling, without commas; its scheme has no `+` and no `.`,
/// and at most 32 bytes. Its transport may be one that this release does not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact(String);

impl Contact {
    /// Reads one.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let (scheme, place) = text.split_once('/').ok_or(FORM)?;
        let plain = place.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
        if !is_scheme(scheme) || !plain || place.is_empty() || text.len() > CONTACT_BYTES_MAX {
            return Err(FORM);
        }
        if scheme == "udp" {
            check_udp(place)?;
        }
        Ok(Self(text.to_owned()))
    }

    /// As the charter has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where that is; nothing if a scheme that this release knows has no such place.
    pub fn locator(&self) -> Option<Locator> {
        self.0.parse().ok()
    }
}

fn is_scheme(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= SCHEME_BYTES_MAX
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(rest)
}

fn check_udp(place: &str) -> Result<(), &'static str> {
    let socket: SocketAddr = place.parse().map_err(|_| UDP)?;
    if socket.to_string() != place {
        return Err(UDP);
    }
    let zone = matches!(socket, SocketAddr::V6(socket) if socket.scope_id() != 0);
    match socket.ip() {
        ip if ip.is_unspecified() || socket.port() == 0 || zone => Err(NOWHERE),
        IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => Err(MAPPED),
        _ => Ok(()),
    }
}

/// A charter's list, in any order.
pub(crate) fn from_texts(texts: &[String]) -> Result<BTreeSet<Contact>, &'static str> {
    let contacts: BTreeSet<Contact> =
        texts.iter().map(|text| Contact::read(text)).collect::<Result<_, _>>()?;
    if contacts.len() < texts.len() { Err("it has the same locator twice") } else { Ok(contacts) }
}

/// The word of a vote: sorted, each once, commas between; `none` for no contact.
pub(crate) fn from_word(word: &str) -> Result<BTreeSet<Contact>, &'static str> {
    if word == crate::policy::NONE {
        return Ok(BTreeSet::new());
    }
    let contacts: BTreeSet<Contact> = word.split(',').map(Contact::read).collect::<Result<_, _>>()?;
    let spelled = contacts.iter().map(Contact::as_str).collect::<Vec<_>>().join(",");
    if spelled == word { Ok(contacts) } else { Err(SORTED) }
}

pub(crate) fn check(contacts: &BTreeSet<Contact>) -> Result<(), (&'static str, &'static str)> {
    if contacts.len() > CONTACTS_MAX { Err(("contacts", MANY)) } else { Ok(()) }
}
