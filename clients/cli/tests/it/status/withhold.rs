//! A member that takes every step but one: it never confirms a key. The shipped node and member
//! with a sieve between them, in a process of its own: this test program once more, told by its
//! environment what to be.

use crate::common::actor::Actor;
use crate::common::place::Place;
use crate::common::program::wait_for_ready;
use bytes::Bytes;
use folkmoot_attach::{ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{Entropy, GroupId, Instant, UnixTime};
use folkmoot_keying::message::{CONFIRM, Envelope};
use folkmoot_runtime::{
    Command, Event, MemberStack, Note, Options, Sending, StateFolder, UpperStack, open_with,
};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// What tells the process which folder it runs on, and whom it looks for.
const STATE: &str = "FOLKMOOT_TEST_WITHHOLDS_IN";
const AT: &str = "FOLKMOOT_TEST_WITHHOLDS_AT";
/// What comes before a keying message in a payload: the header of flush (docs/protocol/flush.md).
const KEYING_AT: usize = folkmoot_flush::DATA_HEADER_BYTES;

/// The member, less its confirmations.
struct Withholding(MemberStack);

fn is_confirmation(payload: &[u8]) -> bool {
    let envelope = payload.get(KEYING_AT..).and_then(|bytes| Envelope::decode(bytes).ok());
    envelope.is_some_and(|envelope| envelope.step == CONFIRM)
}

impl Upper for Withholding {
    type Command = Command;
    type Answer = <MemberStack as Upper>::Answer;
    type Event = Event;

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        self.0.node(now, message, entropy);
    }

    fn command(&mut self, now: Instant, command: Command, entropy: &mut dyn Entropy) -> Self::Answer {
        self.0.command(now, command, entropy)
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.0.clock(now, time, entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.0.timeout(now, entropy);
    }

    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        loop {
            match self.0.poll_output()? {
                UpperOutput::Node(ToNode::Send { payload, .. }) if is_confirmation(&payload) => {}
                output => return Some(output),
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout()
    }
}

impl UpperStack for Withholding {
    fn can_send(&self, group: &GroupId) -> bool {
        self.0.can_send(group)
    }

    fn sending(&self, first: Sending, more: Vec<Bytes>) -> Command {
        self.0.sending(first, more)
    }

    fn note(&self, event: &Event) -> Note {
        self.0.note(event)
    }
}

/// In the parent: starts the process on the folder of `actor`, with the test `name` as its way in.
pub(crate) fn start(actor: &Actor, place: &Place, at: &str, name: &str) -> Child {
    let charter = std::fs::read(place.signed()).unwrap();
    StateFolder::open(&actor.state).unwrap().write_charter(&charter).unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(STATE, &actor.state).env(AT, at);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for_ready(&mut child);
    child
}

/// In the child: lives as that member until the parent is gone, and says so. In the parent:
/// `false`.
pub(crate) fn lived() -> bool {
    let Some(state) = std::env::var_os(STATE).map(PathBuf::from) else { return false };
    let at = std::env::var(AT).unwrap().parse().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(live(&state, at));
    true
}

async fn live(state: &Path, at: folkmoot_base::Locator) {
    let listen = "127.0.0.1:0".parse().unwrap();
    let (replicated, clock_ahead, danger_keep_keys) = (false, std::time::Duration::ZERO, false);
    let (state, seeds, heads, voucher) = (state.into(), vec![at], Vec::new(), None);
    let (multicast, carries) = (false, Vec::new());
    let options = Options {
        state,
        identity: None,
        listen,
        seeds,
        heads,
        voucher,
        endorsement: None,
        carries,
        replicated,
        multicast,
        clock_ahead,
        danger_keep_keys,
    };
    let mut opened = open_with(options, Withholding).await.unwrap();
    opened.running.handle.command(Command::Join { group: opened.group }).await.unwrap().unwrap();
    println!("\n{}", serde_json::json!({ "event": "ready", "locator": opened.locator.to_string() }));
    let parent = tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0]));
    let events = async { while opened.running.next().await.unwrap().is_some() {} };
    tokio::select! {
        _ = parent => {}
        () = events => panic!("the member stopped by itself"),
    }
}
