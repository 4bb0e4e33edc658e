//! Tells a service manager that the member can be spoken to (systemd, `Type=notify`): one datagram
//! to the socket that `NOTIFY_SOCKET` names.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Says that it has started. Nobody may be there to hear it.
pub(crate) fn ready() {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let told = address(name.as_bytes()).and_then(|to| UnixDatagram::unbound()?.send_to_addr(b"READY=1", &to));
    if let Err(error) = told {
        tracing::warn!("the service manager cannot be told that the member has started: {error}");
    }
}

/// A path, or after an `@` a name that is no path.
fn address(name: &[u8]) -> std::io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = name.strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt;
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))
}
