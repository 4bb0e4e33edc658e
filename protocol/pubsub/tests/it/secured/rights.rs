//! The URNs of certificates.

use super::helper::id;
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::secured::{Domain, DomainError, Right};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[test]
fn pub_26_rights_are_read_as_the_reference_writes_them() {
    let channel: Right = "urn:lcmsec:gkexchg:239.255.76.67:7667:channel1:4".parse().unwrap();
    let group: Right = "urn:lcmsec:gkexchg_g:239.255.76.67:7667:4".parse().unwrap();
    assert_eq!(group.domain, "239.255.76.67:7667".parse().unwrap());
    assert_eq!(channel.domain, group.domain.with_channel(Channel::new("channel1").unwrap()));
    assert_eq!((channel.sender, group.sender), (id(4), id(4)));
    let escaped = "urn:lcmsec:gkexchg:ff15%3A%3A4c43:7667:robot%3Apose%25:65535";
    let right: Right = escaped.parse().unwrap();
    assert_eq!(right.domain.channel().unwrap().as_bytes(), b"robot:pose%");
    assert_eq!(right.to_string(), escaped);
}

#[test]
fn pub_26_a_right_has_one_spelling() {
    let group = "urn:lcmsec:gkexchg_g:";
    let over = "urn:lcmsec:gkexchg:";
    for (lie, refused) in [
        ("urn:lcmsec:gkexchg_h:239.255.76.67:7667:4".to_owned(), DomainError::Urn),
        ("URN:lcmsec:gkexchg_g:239.255.76.67:7667:4".to_owned(), DomainError::Urn),
        (format!("{group}239.255.76.67:7667"), DomainError::Parts),
        (format!("{group}239.255.76.67:7667:a:4"), DomainError::Parts),
        (format!("{over}239.255.76.67:7667:4"), DomainError::Parts),
        (format!("{over}239.255.76.67:7667:a:b:4"), DomainError::Parts),
        (format!("{group}ff15::4c43:7667:4"), DomainError::Parts),
        (format!("{group}239.255.76.067:7667:4"), DomainError::Address),
        (format!("{group}10.0.0.1:7667:4"), DomainError::Address),
        (format!("{group}239.255.76.67 :7667:4"), DomainError::Address),
        (format!("{group}ff15%3a%3a4c43:7667:4"), DomainError::Address),
        (format!("{group}ff15%3A0%3A%3A4c43:7667:4"), DomainError::Address),
        (format!("{group}239.255.76.67:0:4"), DomainError::Port),
        (format!("{group}239.255.76.67:07667:4"), DomainError::Port),
        (format!("{group}239.255.76.67:+7667:4"), DomainError::Port),
        (format!("{group}239.255.76.67:76670:4"), DomainError::Port),
        (format!("{group}239.255.76.67:7667:0"), DomainError::Sender),
        (format!("{group}239.255.76.67:7667:04"), DomainError::Sender),
        (format!("{group}239.255.76.67:7667:65536"), DomainError::Sender),
        (format!("{group}239.255.76.67:7667:"), DomainError::Sender),
        (format!("{over}239.255.76.67:7667::4"), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:a b:4"), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:%61:4"), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:%3a:4"), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:a%3:4"), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:a%00:4"), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:{}:4", "a".repeat(64)), DomainError::Channel),
        (format!("{over}239.255.76.67:7667:é:4"), DomainError::Channel),
    ] {
        assert_eq!(lie.parse::<Right>(), Err(refused), "{lie}");
    }
}

proptest! {
    #[test]
    fn a_right_is_read_as_it_was_written(name in prop::option::of(prop::collection::vec(1_u8..=255, 1..=63)), v6: bool, bits: u128, port in 1_u16.., sender in 1_u16..) {
        let [.., a, b, c] = bits.to_be_bytes();
        let ip = if v6 { IpAddr::V6(Ipv6Addr::from_bits(bits | 0xff << 120)) } else { IpAddr::V4(Ipv4Addr::new(239, a, b, c)) };
        let mut domain = Domain::group(SocketAddr::new(ip, port)).unwrap();
        if let Some(name) = name {
            domain = domain.with_channel(Channel::new(name).unwrap());
        }
        let right = Right { domain, sender: id(sender) };
        prop_assert_eq!(right.to_string().parse(), Ok(right));
        prop_assert_eq!(domain.to_string().parse(), Ok(domain));
    }

    #[test]
    fn whatever_is_read_has_that_spelling(text in "(urn:lcmsec:gkexchg(_g)?:)?(239\\.1\\.2\\.3|ff02%3A%3A1):[0-9]{1,5}(:[ -~]{0,9})?:[0-9]{1,5}") {
        if let Ok(right) = text.parse::<Right>() {
            prop_assert_eq!(right.to_string(), text);
        }
    }
}
