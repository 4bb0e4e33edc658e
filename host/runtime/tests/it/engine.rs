//! The engine keeps before it transmits, makes senders wait for a key, and lets a slow reader go.

use bytes::Bytes;
use folkmoot_attach::{Embedded, Ground, GroundOutput, ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{Entropy, GroupId, Indication, Instant, Locator, Persist, Service, UnixTime};
use folkmoot_runtime::{
    Clock, EVENTS_WAITING_MAX, Note, Running, RuntimeError, Sending, Store, UpperStack, Wire, start,
};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

const GROUP: GroupId = GroupId([7; 32]);
const PEER: Locator = Locator::Memory(2);

fn words(text: &'static str) -> Sending {
    Sending { group: GROUP, service: Service::Agreed, payload: text.into(), signed: false }
}

/// A node that keeps what comes, then echoes it; upwards it hands the payload on.
#[derive(Debug, Default)]
struct Echo(VecDeque<GroundOutput>);

impl Ground for Echo {
    fn member(&mut self, _now: Instant, message: ToNode, _entropy: &mut dyn Entropy) {
        if let ToNode::Send { payload, .. } = message {
            self.0.push_back(GroundOutput::Transmit(PEER, payload));
        }
    }
    fn datagram(&mut self, _now: Instant, from: Locator, datagram: Bytes, _entropy: &mut dyn Entropy) {
        self.0.push_back(GroundOutput::Persist(Persist::put("ring", datagram.clone(), datagram.clone())));
        self.0.push_back(GroundOutput::Transmit(from, datagram.clone()));
        let sender = folkmoot_base::MemberId([1; 32]);
        let deliver = ToMember::Group(Indication::Deliver {
            group: GROUP,
            sender,
            service: Service::Agreed,
            payload: datagram,
        });
        self.0.push_back(GroundOutput::Member(deliver));
    }
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}
    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.0.pop_front()
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

#[derive(Debug)]
enum Order {
    Key(bool),
    Leave,
    Flood(usize),
    Send(Bytes),
}

#[derive(Debug, PartialEq)]
enum Heard {
    Payload(Bytes),
    Left,
    Refused,
}

#[derive(Debug, Default)]
struct App {
    key: bool,
    out: VecDeque<UpperOutput<Heard>>,
}

impl Upper for App {
    type Command = Order;
    type Event = Heard;
    fn node(&mut self, _now: Instant, message: ToMember, _entropy: &mut dyn Entropy) {
        if let ToMember::Group(Indication::Deliver { payload, .. }) = message {
            self.out.push_back(UpperOutput::Event(Heard::Payload(payload)));
        }
    }
    fn command(&mut self, _now: Instant, command: Order, _entropy: &mut dyn Entropy) {
        match command {
            Order::Key(key) => self.key = key,
            Order::Leave => self.out.push_back(UpperOutput::Event(Heard::Left)),
            Order::Flood(count) => {
                self.out.extend((0..count).map(|_| UpperOutput::Event(Heard::Payload(Bytes::new()))));
            }
            Order::Send(payload) if payload == "bad" => {
                self.out.push_back(UpperOutput::Event(Heard::Refused))
            }
            Order::Send(payload) => {
                let (member, service) = (folkmoot_base::MemberId([1; 32]), Service::Agreed);
                self.out.push_back(UpperOutput::Node(ToNode::Send {
                    member,
                    group: GROUP,
                    service,
                    payload,
                }));
            }
        }
    }
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}
    fn poll_output(&mut self) -> Option<UpperOutput<Heard>> {
        self.out.pop_front()
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

impl UpperStack for App {
    fn can_send(&self, _group: &GroupId) -> bool {
        self.key
    }
    fn sending(&self, message: Sending) -> Order {
        Order::Send(message.payload)
    }
    fn note(&self, event: &Heard) -> Note {
        match event {
            Heard::Payload(payload) => Note::Size(payload.len()),
            Heard::Left => Note::Out(GROUP),
            Heard::Refused => Note::SendFailed("bad".into()),
        }
    }
}

/// A wire that looks at the disk at the moment of sending, as a crash right after would leave it.
struct Witness {
    inbox: mpsc::Receiver<Bytes>,
    store: PathBuf,
    sent: Arc<Mutex<Vec<(Bytes, bool)>>>,
}

impl Wire for Witness {
    async fn recv(&mut self, batch: &mut Vec<(Locator, Bytes)>) -> std::io::Result<()> {
        match self.inbox.recv().await {
            Some(datagram) => batch.push((PEER, datagram)),
            None => std::future::pending().await,
        }
        Ok(())
    }
    fn send(&mut self, batch: &[(Locator, Bytes)]) {
        let rows = Store::open(&self.store).unwrap().load().unwrap();
        for (_, datagram) in batch {
            let kept = rows.iter().any(|(_, value)| value == datagram);
            self.sent.lock().unwrap().push((datagram.clone(), kept));
        }
    }
}

struct Bench {
    running: Running<Echo, App>,
    datagrams: mpsc::Sender<Bytes>,
    sent: Arc<Mutex<Vec<(Bytes, bool)>>>,
}

fn bench(name: &str) -> Bench {
    let folder = std::env::temp_dir().join(format!("folkmoot-engine-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let store = folder.join("member.sqlite");
    let (datagrams, inbox) = mpsc::channel(64);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let wire = Witness { inbox, store: store.clone(), sent: Arc::clone(&sent) };
    let machine = Embedded::new(Echo::default(), App::default());
    let running = start(machine, wire, Store::open(&store).unwrap(), Clock::start()).unwrap();
    Bench { running, datagrams, sent }
}

#[tokio::test]
async fn what_is_kept_is_on_disk_before_anything_leaves() {
    let mut bench = bench("order");
    for number in 0..40_u8 {
        bench.datagrams.send(vec![number; 9].into()).await.unwrap();
        assert_eq!(bench.running.next().await.unwrap(), Some(Heard::Payload(vec![number; 9].into())));
    }
    bench.running.stop().await.unwrap();
    let sent = bench.sent.lock().unwrap();
    assert_eq!(sent.len(), 40);
    assert!(sent.iter().all(|(_, kept)| *kept));
}

#[tokio::test]
async fn send_waits_for_a_key_and_try_send_does_not() {
    let bench = bench("key");
    let handle = bench.running.handle.clone();
    let refused = handle.try_send(words("a")).await;
    assert!(matches!(refused, Err(RuntimeError::NoEpoch)));
    let waiting = tokio::spawn({
        let handle = handle.clone();
        async move { handle.send(words("b")).await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished() && bench.sent.lock().unwrap().is_empty());
    handle.command(Order::Key(true)).await.unwrap();
    waiting.await.unwrap().unwrap();
    handle.try_send(words("c")).await.unwrap();
    let refused = handle.send(words("bad")).await;
    assert!(matches!(refused, Err(RuntimeError::SendRefused(_))));
    bench.running.stop().await.unwrap();
    let sent: Vec<Bytes> = bench.sent.lock().unwrap().iter().map(|(bytes, _)| bytes.clone()).collect();
    assert_eq!(sent, ["b", "c"]);
}

#[tokio::test]
async fn a_waiting_message_is_dropped_with_an_error_when_the_member_is_out() {
    let bench = bench("left");
    let handle = bench.running.handle.clone();
    let waiting = tokio::spawn({
        let handle = handle.clone();
        async move { handle.send(words("late")).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    handle.command(Order::Leave).await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Err(RuntimeError::NotInGroup)));
    assert!(bench.sent.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_reader_too_slow_is_let_go_with_an_error() {
    let mut bench = bench("slow");
    bench.running.handle.command(Order::Flood(EVENTS_WAITING_MAX + 2_000)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let ended = loop {
        match bench.running.next().await {
            Ok(Some(_)) => {}
            other => break other,
        }
    };
    assert!(matches!(ended, Err(RuntimeError::LocalSlowReader(_))), "{ended:?}");
    let refused = bench.running.handle.command(Order::Key(true)).await;
    assert!(matches!(refused, Err(RuntimeError::Stopped)));
}
