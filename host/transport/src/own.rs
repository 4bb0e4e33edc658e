//! This machine's addresses, as far as others can use them.

use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use folkmoot_base::Locator;
use std::collections::BTreeSet;

/// Most addresses of this machine that are named.
const ADDRESSES_MAX: usize = 16;

/// Where others can reach a socket that is bound there: where it is, or, for one that is bound to
/// all addresses, at each address of this machine that is not for itself alone. Those that
/// everybody can use come first. None if the machine has no such address now, or the system does
/// not tell.
pub fn reached_at(bound: &Locator) -> Vec<Locator> {
    match bound.as_udp() {
        Some(at) if at.ip().is_unspecified() => among(at, interfaces()),
        _ => vec![bound.clone()],
    }
}

/// The same words, where the zone of an address may be an interface of this machine by its name
/// (RFC 4007): `[fe80::1%eth0]:4803` becomes `[fe80::1%2]:4803`.
///
/// # Errors
/// The name, if no interface has it.
pub fn numbered(words: &str) -> Result<String, &str> {
    let Some((before, rest)) = words.split_once('%') else { return Ok(words.to_owned()) };
    let Some((zone, after)) = rest.split_once(']') else { return Ok(words.to_owned()) };
    if zone.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(words.to_owned());
    }
    let number = interface(zone).ok_or(zone)?;
    Ok(format!("{before}%{number}]{after}"))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn interface(name: &str) -> Option<u32> {
    nix::net::if_::if_nametoindex(name).ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn interface(_name: &str) -> Option<u32> {
    None
}

/// Whether this machine has that address.
pub fn is_own(ip: IpAddr) -> bool {
    ip.is_loopback() || interfaces().any(|one| one == ip)
}

/// All addresses of this machine, whatever becomes of the interfaces that have them.
pub fn addresses() -> BTreeSet<IpAddr> {
    all().map(|(ip, _)| ip).collect()
}

/// Which setting of this machine lets others speak in the name of its own addresses: with
/// `accept_local` in that of all, with `route_localnet` in that of 127.0.0.0/8. None if no
/// interface but loopback has it: the system drops such datagrams then.
pub fn takes_forged(setting: &str) -> Option<String> {
    let all = std::fs::read_dir("/proc/sys/net/ipv4/conf").into_iter().flatten().flatten();
    let names = all.map(|one| one.path().join(setting));
    let others =
        names.filter(|path| !path.parent().is_some_and(|of| of.ends_with("lo") || of.ends_with("default")));
    let mut set = others.filter(|path| std::fs::read(path).is_ok_and(|value| !value.starts_with(b"0")));
    let path = set.next()?;
    let interface = path.parent()?.file_name()?.to_string_lossy();
    Some(format!("net.ipv4.conf.{interface}.{setting}"))
}

fn among(bound: SocketAddr, all: impl Iterator<Item = IpAddr>) -> Vec<Locator> {
    let fits = |ip: &IpAddr| bound.is_ipv6() || ip.is_ipv4();
    let ranked: BTreeSet<(u8, IpAddr)> = all.filter(fits).filter_map(|ip| Some((rank(ip)?, ip))).collect();
    let at = |(_, ip): (u8, IpAddr)| Locator::udp(SocketAddr::new(ip, bound.port()));
    ranked.into_iter().take(ADDRESSES_MAX).map(at).collect()
}

/// How many can use an address: everybody, those on the same networks, or nobody else.
fn rank(ip: IpAddr) -> Option<u8> {
    match ip {
        IpAddr::V4(ip) if ip.is_loopback() || ip.is_link_local() || ip.is_unspecified() => None,
        IpAddr::V4(ip) if ip.is_multicast() || ip.is_broadcast() => None,
        IpAddr::V4(ip) => Some(u8::from(ip.is_private())),
        // A link-local address is nothing without a zone, and a zone is of one machine.
        IpAddr::V6(ip) if ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() => None,
        IpAddr::V6(ip) if ip.is_unicast_link_local() => None,
        IpAddr::V6(ip) => Some(u8::from(is_unique_local(ip))),
    }
}

/// RFC 4193.
fn is_unique_local(ip: Ipv6Addr) -> bool {
    ip.segments().first().is_some_and(|first| first & 0xfe00 == 0xfc00)
}

/// The addresses of interfaces that are up and have a carrier.
fn interfaces() -> impl Iterator<Item = IpAddr> {
    all().filter_map(|(ip, works)| works.then_some(ip))
}

/// The addresses of all interfaces, and whether these are up and have a carrier.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn all() -> impl Iterator<Item = (IpAddr, bool)> {
    use nix::net::if_::InterfaceFlags;
    let works = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
    let all = nix::ifaddrs::getifaddrs().into_iter().flatten();
    all.filter_map(move |one| {
        let address = one.address?;
        let four = address.as_sockaddr_in().map(|at| IpAddr::V4(at.ip()));
        let ip = four.or_else(|| address.as_sockaddr_in6().map(|at| IpAddr::V6(at.ip())))?;
        Some((ip, one.flags.contains(works)))
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn all() -> impl Iterator<Item = (IpAddr, bool)> {
    core::iter::empty()
}

#[cfg(test)]
mod tests {
    use super::{among, is_own, numbered, reached_at};
    use core::net::{IpAddr, SocketAddr};
    use folkmoot_base::Locator;

    const ALL: [&str; 13] = [
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "::",
        "10.0.0.3",
        "fe80::1",
        "169.254.7.7",
        "fd00::7",
        "192.0.2.7",
        "2001:db8::7",
        "224.0.0.1",
        "ff02::1",
        "10.0.0.3",
    ];

    fn named(bound: &str, all: &[&str]) -> Vec<String> {
        let bound: SocketAddr = bound.parse().unwrap();
        among(bound, all.iter().map(|ip| ip.parse().unwrap())).iter().map(Locator::to_string).collect()
    }

    #[test]
    fn a_zone_is_an_interface_by_name_or_number() {
        let one = numbered("udp/[fe80::1%lo]:4803").unwrap();
        assert!(one.parse::<Locator>().is_ok_and(|at| at.zone() == Some(1)), "{one}");
        for same in ["udp/[fe80::1%7]:1", "udp/[fe80::1]:1", "udp/192.0.2.7:1", "mail/a%b@c.example"] {
            assert_eq!(numbered(same), Ok(same.to_owned()));
        }
        assert_eq!(numbered("[fe80::1%no-such]:1"), Err("no-such"));
    }

    #[test]
    fn addresses_that_everybody_can_use_come_first_and_those_for_this_machine_not_at_all() {
        assert_eq!(named("0.0.0.0:4803", &ALL), ["udp/192.0.2.7:4803", "udp/10.0.0.3:4803"]);
        assert_eq!(
            named("[::]:1", &ALL),
            ["udp/192.0.2.7:1", "udp/[2001:db8::7]:1", "udp/10.0.0.3:1", "udp/[fd00::7]:1"]
        );
        assert_eq!(named("0.0.0.0:4803", &["127.0.0.1", "2001:db8::7"]), [""; 0]);
        let many: Vec<String> = (0..200).map(|host| format!("192.0.2.{host}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(named("0.0.0.0:1", &many).len(), super::ADDRESSES_MAX);
    }

    #[test]
    fn a_socket_that_is_bound_to_one_address_is_there() {
        for text in ["udp/127.0.0.1:4803", "udp/[2001:db8::7]:1", "memory/7"] {
            let bound: Locator = text.parse().unwrap();
            assert_eq!(reached_at(&bound), [bound]);
        }
        let all = reached_at(&"udp/[::]:4803".parse().unwrap());
        assert!(
            all.iter().all(|at| at.leads_somewhere() && at.as_udp().is_some_and(|at| !at.ip().is_loopback()))
        );
        assert!(all.iter().all(|at| at.as_udp().is_some_and(|at| is_own(at.ip()))));
        let foreign: IpAddr = "192.0.2.1".parse().unwrap();
        assert!(is_own("127.0.0.1".parse().unwrap()) && !is_own(foreign));
    }
}
