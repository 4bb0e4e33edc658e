//! A member as systemd starts one: a folder of credentials, a socket to say that it has started,
//! no terminal, SIGTERM at the end. And its log at the most talkative: the passphrase is not in it.

use super::{draft, locked, phrase};
use crate::common::place::Place;
use crate::common::program::{free_address, good};
use folkmoot_base::hex;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The unit in the documentation.
const UNIT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/systemd/folkmoot@.service"));
/// Another than any word of the program.
const PHRASE: &str = "zwölf Boxkämpfer";

/// As the unit starts it, on this folder and at a free port.
fn service(state: &Path, place: &Path, notify: &str) -> Command {
    let start = UNIT.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = start.split(' ').skip(1).collect();
    let (folder, listen) = (state.display().to_string(), free_address());
    let change = |word: &&str| match *word {
        "/var/lib/folkmoot/%i" => folder.clone(),
        "[::]:4803" => listen.clone(),
        word => word.to_owned(),
    };
    let words: Vec<String> = words.iter().map(change).collect();
    assert!(words.contains(&folder) && words.contains(&listen), "{start}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.env_clear().env("FOLKMOOT_LOG", "trace");
    command.env("CREDENTIALS_DIRECTORY", place.join("credentials")).env("NOTIFY_SOCKET", notify);
    command.args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// SIGTERM, and its end.
fn terminates(child: Child) -> std::process::Output {
    let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    child.wait_with_output().unwrap()
}

fn is_told(socket: &UnixDatagram) {
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut told = [0; 64];
    let length = socket.recv(&mut told).unwrap();
    assert_eq!(&told[..length], b"READY=1");
}

#[test]
fn id_84_a_member_runs_from_systemd_with_a_credential_and_logs_no_passphrase() {
    assert!(
        UNIT.contains("\nType=notify\n") && UNIT.contains("\nLoadCredentialEncrypted=folkmoot-passphrase:")
    );
    let place = Place::new("service");
    let anna = locked(&place, "anna", PHRASE);
    draft(&place, &anna);
    let (text, file) = (place.path().join("charter.toml"), phrase(&place, PHRASE));
    good(&anna, &["charter", "sign", text.to_str().unwrap(), "--passphrase-file", &file]);
    let signed = text.with_extension("cms");
    std::fs::copy(&signed, anna.join("charter.cms")).unwrap();

    // Without the credential it ends at once, and says why.
    let ended = service(&anna, place.path(), "/nowhere").output().unwrap();
    let why = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code() == Some(3) && why.contains("folkmoot-passphrase"), "{why}");

    let credentials = place.path().join("credentials");
    std::fs::create_dir(&credentials).unwrap();
    std::fs::copy(&file, credentials.join("folkmoot-passphrase")).unwrap();
    let path = place.path().join("notify");
    let by_path = UnixDatagram::bind(&path).unwrap();
    let name = format!("folkmoot-test-{}", std::process::id());
    let by_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes()).unwrap()).unwrap();
    for (socket, at) in [(&by_path, path.display().to_string()), (&by_name, format!("@{name}"))] {
        let child = service(&anna, place.path(), &at).spawn().unwrap();
        is_told(socket);
        let status = good(&anna, &["status"]);
        assert_eq!(status["people"][0]["name"], "anna", "{status}");
        let ended = terminates(child);
        let said = [ended.stdout, ended.stderr].concat();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&said));
        let log = String::from_utf8_lossy(&said);
        assert!(log.contains("DEBUG folkmoot_runtime"), "the log is talkative: {log}");
        let bytes = PHRASE.as_bytes();
        let (small, large) = (hex(bytes), hex(bytes).to_uppercase());
        let numbers = format!("{bytes:?}");
        let list = numbers.trim_matches(['[', ']']);
        for form in [bytes, small.as_bytes(), large.as_bytes(), list.as_bytes()] {
            assert!(!said.windows(form.len()).any(|part| part == form), "the log has the passphrase");
        }
    }
}
