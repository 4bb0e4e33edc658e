//! The network interfaces of this host, by name.

use folkmoot_pubsub::Interface;

/// The names of those that this host has, if none has this name or this other name (`altname`).
/// `None` if there is one, or the system does not say.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn interfaces_without(interface: &Interface) -> Option<Vec<String>> {
    use nix::errno::Errno;
    use nix::net::if_::{if_nameindex, if_nametoindex};
    match if_nametoindex(interface.as_str()) {
        Err(Errno::ENODEV | Errno::ENXIO) => {}
        _ => return None,
    }
    let all = if_nameindex().ok()?;
    Some(all.iter().map(|one| one.name().to_string_lossy().into_owned()).collect())
}

/// The system chooses the interface.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn interfaces_without(_: &Interface) -> Option<Vec<String>> {
    None
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_answered_with_those_that_are() {
        let others = interfaces_without(&"nope".parse().unwrap()).unwrap();
        assert!(!others.is_empty());
        for other in others {
            assert_eq!(interfaces_without(&other.parse().unwrap()), None, "{other}");
        }
    }
}
