//! LCM's URLs.

use folkmoot_pubsub::{Address, AddressError};

fn read(text: &str) -> Result<Address, AddressError> {
    text.parse()
}

#[test]
fn addresses_are_read_as_liblcm_reads_them() {
    let own = Address::default();
    assert_eq!(own.to_string(), "udpm://239.255.76.67:7667?ttl=0");
    for text in ["udpm://", "udpm://239.255.76.67:7667", "udpm://?ttl=0", "udpm://239.255.76.67:7667?ttl=0"] {
        assert_eq!(read(text), Ok(own), "{text}");
    }
    let other = read("udpm://239.0.0.1:9?ttl=1&recv_buf_size=4194304").unwrap();
    assert_eq!(
        (other.group, other.ttl, other.receive_buffer),
        ("239.0.0.1:9".parse().unwrap(), 1, Some(4_194_304))
    );
    assert_eq!(read(&other.to_string()), Ok(other));
}

#[test]
fn what_is_no_address_says_why() {
    for text in ["", "239.255.76.67:7667", "tcpq://localhost", "file:///tmp/log", "memq://", "mpudpm://"] {
        assert_eq!(read(text), Err(AddressError::Provider), "{text}");
    }
    for group in
        ["127.0.0.1:7667", "239.255.76.67", "239.255.76.67:0", "239.255.76.67:99999", "[ff02::1]:1", "robots"]
    {
        assert_eq!(read(&format!("udpm://{group}?ttl=0")), Err(AddressError::Group(group.into())), "{group}");
    }
    for option in ["ttl=256", "ttl=", "ttl", "recv_buf_size=big", "speed=2", "=1"] {
        assert_eq!(read(&format!("udpm://?{option}")), Err(AddressError::Option(option.into())), "{option}");
    }
}
