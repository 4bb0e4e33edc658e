//! How many requests a command makes: a proxy in the member's place counts them.

use super::Group;
use crate::common::program::code;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Passes everything on between a socket of its own and the member's, and keeps the requests.
struct Proxy(Arc<Mutex<Vec<String>>>);

impl Proxy {
    fn before(state: &Path) -> Self {
        let (place, behind) = (state.join("control.sock"), state.join("behind.sock"));
        std::fs::rename(&place, &behind).unwrap();
        let listener = UnixListener::bind(&place).unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let counted = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut client, counted) = (stream.unwrap(), counted.clone());
                let mut member = UnixStream::connect(&behind).unwrap();
                let (reads, mut writes) = (client.try_clone().unwrap(), member.try_clone().unwrap());
                std::thread::spawn(move || drop(std::io::copy(&mut member, &mut client)));
                std::thread::spawn(move || {
                    for line in BufReader::new(reads).lines().map_while(Result::ok) {
                        counted.lock().unwrap().push(line.clone());
                        if writes.write_all(format!("{line}\n").as_bytes()).is_err() {
                            break;
                        }
                    }
                    drop(writes.shutdown(std::net::Shutdown::Write));
                });
            }
        });
        Self(asked)
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Each command that orders something, and each that looks: with what it ends, and what it asks.
#[test]
fn a_command_makes_two_requests_at_most() {
    let group = Group::new("control-proxy");
    let anna = &group.anna;
    let proxy = Proxy::before(&anna.state);
    let mut asked = BTreeMap::new();
    for (line, exit) in [
        ("status", 0),
        ("roster", 0),
        ("rules", 0),
        ("why ben", 0),
        ("doctor", 0),
        ("vote list", 0),
        ("vote approve dora", 0),
        ("vote reject nobody", 1),
        ("charter change request_hours 48", 0),
        ("charter change threshold 9", 5),
        ("charter change threshold 3 --force", 0),
        ("charter change nothing 1", 5),
        ("voters anna ben", 0),
        ("expel cleo", 0),
        ("expel nobody", 1),
        ("withdraw expel cleo", 0),
        ("withdraw nobody", 1),
        ("renew", 5),
        ("retime --yes", 5),
        ("resolve 9.0000000000000000000000000000000000000000000000000000000000000000 --yes", 2),
        ("letters", 0),
        ("answer nobody hello", 1),
        ("invite", 0),
        ("proof", 1),
        ("send hello", 0),
        ("leave", 0),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = anna.run(&words);
        assert_eq!(code(&output), exit, "{line}: {}", String::from_utf8_lossy(&output.stderr));
        asked.insert(line, proxy.taken());
    }
    for (line, requests) in &asked {
        assert!(!requests.is_empty() && requests.len() <= 2, "{line} asks {requests:#?}");
    }
}
