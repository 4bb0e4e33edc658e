//! A network for one test alone. Other programs on this host do not disturb it, and it does not
//! need a route on the host.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// Set for the test program that runs inside a namespace.
const INSIDE: &str = "FOLKMOOT_LCM_ALONE";

/// Ways to make a network namespace: as root, and as a user who may make user namespaces.
const WAYS: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];

/// Gives multicast a way, and becomes the program that follows.
const ENTER: &str = r#"ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@""#;

/// Runs the test of this name in a network namespace: the test program starts itself there. Where
/// none can be made, the test uses the host's network, if multicast works there.
pub(crate) fn alone(name: &str, test: impl FnOnce()) {
    if is_alone() {
        return test();
    }
    let Some(way) = way() else {
        if let Err(error) = host_hears_itself() {
            panic!(
                "this test needs IP multicast, and has none. A network namespace cannot be made (that needs \
                 unshare, ip, and root or user namespaces), and the host's network does not carry \
                 multicast: {error}. As root, this helps: \
                 ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo"
            );
        }
        return test();
    };
    let program = std::env::current_exe().unwrap();
    let mut command = enter(way);
    let output = command.arg(program).args(["--exact", name, "--nocapture"]).env(INSIDE, "1").output();
    let output = output.unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let said = said.concat();
    // A name that no test has would pass otherwise.
    assert!(output.status.success() && said.contains("test result: ok. 1 passed"), "{name}: {said}");
}

/// Whether this is a test program in a network namespace.
pub(crate) fn is_alone() -> bool {
    std::env::var_os(INSIDE).is_some()
}

fn enter(way: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", ENTER, "sh"]);
    command
}

/// The first way that works here.
fn way() -> Option<&'static [&'static str]> {
    static WAY: OnceLock<Option<&[&str]>> = OnceLock::new();
    let works = |way: &&&[&str]| enter(way).arg("true").output().is_ok_and(|done| done.status.success());
    *WAY.get_or_init(|| WAYS.iter().find(works).copied())
}

fn host_hears_itself() -> std::io::Result<()> {
    let group = Ipv4Addr::new(239, 255, 76, 67);
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_multicast_ttl_v4(0)?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)?;
    socket.send_to(b"folkmoot", (group, socket.local_addr()?.port()))?;
    socket.recv_from(&mut [0; 16]).map(drop)
}
