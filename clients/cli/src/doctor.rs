//! Looks for what commonly goes wrong on this machine and in this folder. Changes nothing.

use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::show::{Paint, data, harmless, many_of, paint, table};
use folkmoot::{MULTICAST_PORT, StateFolder, UnixTime};
use folkmoot_base::limits::PATH_BYTES_BASE;
use serde_json::{Value, json};
use std::net::UdpSocket;
use std::path::Path;

/// Longest path that a Unix socket may have on common systems.
const SOCKET_PATH_MAX: usize = 100;

/// `folkmoot doctor`
pub(crate) async fn run(folder: &Path, json: bool) -> Result<(), Failure> {
    let mut checks: Vec<(&str, Result<String, String>)> = vec![
        ("random numbers", folkmoot::tools::OsEntropy::new().map(|_| "the system gives them".into())),
        ("UDP on this machine", loopback().map_err(|error| error.to_string())),
        ("clock", clock(folkmoot::tools::wall_clock())),
        ("control socket", socket(folder)),
        ("identity", identity(folder)),
        ("charter", charter(folder)),
        ("folder in use", in_use(folder)),
    ];
    if let Ok(status) = status(folder).await {
        checks.extend(crate::member::times::judged(&status).map(|times| ("time of the decisions", times)));
        checks.extend(needed(&status).map(|needed| ("voters", needed)));
        checks.extend(crate::member::side::judged(&status).map(|side| ("quorum", side)));
        checks.extend(sent(&status).map(|sent| ("what is sent", sent)));
        checks.extend(crate::shares::judged(&status).map(|share| ("share of the key", share)));
        checks.push(("paths to others", paths(&status)));
        checks.extend(multicast(&status).map(|multicast| ("multicast", multicast)));
    }
    let sound = checks.iter().all(|(_, result)| result.is_ok());
    let value: Vec<_> = checks
        .iter()
        .map(|(name, result)| json!({ "check": name, "ok": result.is_ok(), "detail": result.as_ref().unwrap_or_else(|why| why) }))
        .collect();
    data(json, &json!(value), || {
        let rows: Vec<Vec<String>> = checks
            .iter()
            .map(|(name, result)| match result {
                Ok(detail) => vec![(*name).to_owned(), paint(Paint::Green, "good"), detail.clone()],
                Err(why) => vec![(*name).to_owned(), paint(Paint::Red, "look"), why.clone()],
            })
            .collect();
        table(&["CHECK", "", "DETAIL"], &rows)
    });
    if sound { Ok(()) } else { Err(Failure::new(Exit::No, "some checks failed; their lines say what to do")) }
}

fn loopback() -> std::io::Result<String> {
    let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    one.set_read_timeout(Some(std::time::Duration::from_secs(1)))?;
    other.send_to(b"?", one.local_addr()?)?;
    one.recv_from(&mut [0; 8])?;
    Ok("datagrams pass on loopback".into())
}

/// 2025-01-01: before that, no certificate of ours would have begun.
const CLOCK_FIRST: u64 = 1_735_689_600;
/// 2036-01-01: this release is not in use for ten years.
const CLOCK_LAST: u64 = 2_082_758_400;

fn clock(now: UnixTime) -> Result<String, String> {
    match now.0 {
        ..CLOCK_FIRST => Err(format!(
            "this machine's clock shows {now}, years behind: set it, or no certificate will be valid"
        )),
        CLOCK_LAST.. => Err(format!(
            "this machine's clock shows {now}, years ahead: set it, or every certificate has ended"
        )),
        _ => Ok(format!("it shows {now}; compare that with another clock")),
    }
}

/// The time, for a certificate that begins now. A clock that is years off makes one that is never
/// valid where clocks are right.
pub(crate) fn time_of_making() -> Result<UnixTime, Failure> {
    let now = folkmoot::tools::wall_clock();
    clock(now).map(|_| now).map_err(|why| Failure::new(Exit::Configuration, why))
}

fn socket(folder: &Path) -> Result<String, String> {
    let length = folder.join("control.sock").as_os_str().len();
    if length > SOCKET_PATH_MAX {
        return Err(format!(
            "its path has {length} bytes, more than {SOCKET_PATH_MAX}; use a shorter --state"
        ));
    }
    Ok("the path is short enough".into())
}

fn identity(folder: &Path) -> Result<String, String> {
    let sealed = StateFolder::at(folder).is_sealed().map_err(|error| error.to_string())?;
    let how = match sealed {
        true => "and its key is encrypted",
        false => "but its key is not encrypted (folkmoot identity passphrase)",
    };
    Ok(format!("it exists, only you can read it, {how}"))
}

fn charter(folder: &Path) -> Result<String, String> {
    let der = StateFolder::at(folder).read_charter().map_err(|error| error.to_string())?;
    let signed =
        folkmoot_identity::SignedCharter::complete_from_der(&der).map_err(|error| error.to_string())?;
    Ok(format!("{}, signed by all its founders", signed.charter().name().as_str()))
}

fn in_use(folder: &Path) -> Result<String, String> {
    let open = StateFolder::at(folder);
    if !open.has_identity() {
        return Ok("no member runs on it".into());
    }
    match open.lock() {
        Ok(_) => Ok("no member runs on it".into()),
        Err(folkmoot::StateError::LocalInUse { .. }) => Ok("a member runs on it".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// The state of the member that runs here.
async fn status(folder: &Path) -> Result<Value, Failure> {
    Control::connect(folder).await?.ask(&Request::Status).await
}

/// Whether some voter can be spared.
fn needed(status: &Value) -> Option<Result<String, String>> {
    crate::member::times::needed_text(status.get("all_needed")).map(Err)
}

/// Whether the paths to all others carry what every path should.
fn paths(status: &Value) -> Result<String, String> {
    let people = status.get("people").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let narrow = people.iter().find_map(|person| {
        let mtu = person.get("path")?.get("mtu")?.as_u64().filter(|mtu| *mtu < PATH_BYTES_BASE as u64)?;
        Some((harmless(person.get("name")?.as_str()?), mtu))
    });
    match narrow {
        Some((name, mtu)) => Err(format!(
            "the path to {name} carries datagrams of {mtu} bytes only, and every packet is cut for it. Raise the MTU of the network or VPN between you to 1280 or more"
        )),
        None => Ok(format!("they carry {PATH_BYTES_BASE} bytes or more")),
    }
}

/// Whether what is for all goes by multicast, if the member that runs here was told to try.
fn multicast(status: &Value) -> Option<Result<String, String>> {
    Some(match status.get("multicast")?.as_bool()? {
        true => Ok("all others hear it".into()),
        false => Err(format!(
            "not all others hear it, so packets go to each by itself. Run all members with --multicast auto, and let UDP port {MULTICAST_PORT} through"
        )),
    })
}

/// Whether what the member that runs here sends comes back to it, in every group, and whether every
/// node has what is sent.
pub(crate) fn sent(status: &Value) -> Option<Result<String, String>> {
    if let Some(lacking) = status.get("lacking").filter(|lacking| lacking.is_object()) {
        let (name, seconds) = (harmless(lacking.get("name")?.as_str()?), lacking.get("seconds")?);
        return Some(Err(format!(
            "{name} has had nothing of it for {seconds} s. Does something on the way to it let only short datagrams pass?"
        )));
    }
    let stalled = status.get("groups")?.as_array()?.iter().filter_map(|group| {
        let stalled = group.get("stalled").filter(|stalled| stalled.is_object())?;
        let count = many_of(stalled.get("messages")?.as_u64()?, "message");
        let seconds = stalled.get("seconds")?;
        let group: String = group.get("group")?.as_str()?.chars().take(8).collect();
        Some(format!("in the group {group}: {count}, and none for {seconds} s"))
    });
    let stalled: Vec<String> = stalled.collect();
    if stalled.is_empty() {
        return Some(Ok("it comes back".into()));
    }
    let all = stalled.join("; ");
    Some(Err(format!("it does not come back: {all}. `folkmoot status` shows who is silent")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_years_off_is_told() {
        let now = folkmoot::tools::wall_clock().0;
        let years = |count: u64| count * 365 * 86_400;
        assert!(clock(UnixTime(now)).is_ok());
        for wrong in [0, 1, now - years(20), now + years(30), u64::MAX] {
            assert!(clock(UnixTime(wrong)).is_err(), "{wrong}");
        }
    }
}
