//! The engine keeps before it transmits, makes senders wait for a key, and lets a slow reader go.

use bytes::{Bytes, BytesMut};
use folkmoot_attach::{Embedded, Ground, GroundOutput, ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{Entropy, GroupId, Indication, Instant, Locator, Persist, Service, UnixTime};
use folkmoot_runtime::{
    Clock, EVENTS_WAITING_MAX, Generation, Note, Running, RuntimeError, SENDS_WAITING_MAX, Sending, Store,
    UpperStack, Wire, start,
};
use folkmoot_transport::Arrival;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

const GROUP: GroupId = GroupId([7; 32]);
/// A group for which there is always a key.
const OPEN: GroupId = GroupId([8; 32]);
pub(crate) const PEER: Locator = Locator::memory(2);

fn words(text: &'static str) -> Sending {
    Sending { group: GROUP, service: Service::Agreed, payload: text.into(), signed: false }
}

/// A node that keeps what comes, then echoes it; upwards it hands the payload on. It keeps nothing
/// of what begins with "light", and hands that on as often as a digit behind it says.
#[derive(Debug, Default)]
pub(crate) struct Echo(VecDeque<GroundOutput>);

impl Ground for Echo {
    fn member(&mut self, _now: Instant, message: ToNode, _entropy: &mut dyn Entropy) {
        if let ToNode::Send { payload, .. } = message {
            self.0.push_back(GroundOutput::Transmit(PEER, payload));
        }
    }
    fn datagram(&mut self, _now: Instant, from: Locator, datagram: BytesMut, _entropy: &mut dyn Entropy) {
        let datagram = datagram.freeze();
        let times = match datagram.strip_prefix(b"light") {
            Some(times) => usize::from(times[0] - b'0'),
            None => {
                let keep = Persist::put("ring", datagram.clone(), datagram.clone());
                self.0.push_back(GroundOutput::Persist(keep));
                1
            }
        };
        self.0.push_back(GroundOutput::Transmit(from, datagram.clone()));
        let sender = folkmoot_base::MemberId([1; 32]).into();
        let deliver = ToMember::Group(Indication::Deliver {
            group: GROUP,
            sender,
            service: Service::Agreed,
            payload: datagram.into(),
        });
        self.0.extend((0..times).map(|_| GroundOutput::Member(deliver.clone())));
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
pub(crate) enum Order {
    Key(bool),
    Leave,
    Flood(usize),
    UnreliableFlood(usize),
    Send(Vec<Bytes>),
}

#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Payload(Bytes),
    Unreliable,
    Left,
    Refused,
}

#[derive(Debug, Default)]
pub(crate) struct App {
    key: bool,
    out: VecDeque<UpperOutput<Heard>>,
}

impl Upper for App {
    type Command = Order;
    type Answer = ();
    type Event = Heard;
    fn node(&mut self, _now: Instant, message: ToMember, _entropy: &mut dyn Entropy) {
        if let ToMember::Group(Indication::Deliver { payload, .. }) = message {
            self.out.push_back(UpperOutput::Event(Heard::Payload(payload.freeze())));
        }
    }
    fn command(&mut self, _now: Instant, command: Order, _entropy: &mut dyn Entropy) {
        match command {
            Order::Key(key) => self.key = key,
            Order::Leave => self.out.push_back(UpperOutput::Event(Heard::Left)),
            Order::Flood(count) => {
                self.out.extend((0..count).map(|_| UpperOutput::Event(Heard::Payload(Bytes::new()))));
            }
            Order::UnreliableFlood(count) => {
                self.out.extend((0..count).map(|_| UpperOutput::Event(Heard::Unreliable)));
            }
            Order::Send(payloads) => {
                let good = payloads.iter().take_while(|payload| *payload != "bad").count();
                let (party, service) = (folkmoot_base::MemberId([1; 32]).into(), Service::Agreed);
                for payload in payloads.iter().take(good).cloned() {
                    let send = ToNode::Send { party, group: GROUP, service, payload };
                    self.out.push_back(UpperOutput::Node(send));
                }
                self.out.extend(payloads.iter().skip(good).map(|_| UpperOutput::Event(Heard::Refused)));
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
    fn can_send(&self, group: &GroupId) -> bool {
        self.key || *group == OPEN
    }
    fn sending(&self, first: Sending, mut more: Vec<Bytes>) -> Order {
        more.insert(0, first.payload);
        Order::Send(more)
    }
    fn note(&self, event: &Heard) -> Note {
        match event {
            Heard::Payload(payload) => Note::Size(payload.len()),
            Heard::Unreliable => Note::Unreliable(0),
            Heard::Left => Note::Out(GROUP),
            Heard::Refused => Note::SendFailed(folkmoot_member::SendError::LocalMinority.refused()),
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
    async fn recv(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> std::io::Result<()> {
        match self.inbox.recv().await {
            Some(datagram) => batch.push((PEER, Arrival::One(datagram.into()))),
            None => std::future::pending().await,
        }
        Ok(())
    }
    fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> std::io::Result<()> {
        batch.extend(
            std::iter::from_fn(|| self.inbox.try_recv().ok())
                .map(|datagram| (PEER, Arrival::One(datagram.into()))),
        );
        Ok(())
    }
    fn send(&mut self, batch: &mut [(Locator, Bytes)]) {
        let rows = Store::open(&self.store).unwrap().load().unwrap();
        for (_, datagram) in batch {
            let kept = rows.iter().any(|(_, value)| value == datagram);
            self.sent.lock().unwrap().push((datagram.clone(), kept));
        }
    }
}

pub(crate) struct Bench {
    store: PathBuf,
    pub(crate) running: Running<Echo, App>,
    pub(crate) datagrams: mpsc::Sender<Bytes>,
    pub(crate) sent: Arc<Mutex<Vec<(Bytes, bool)>>>,
}

pub(crate) fn bench(name: &str) -> Bench {
    bench_on(name, Generation::of_this_machine())
}

/// The same on a machine of this generation.
pub(crate) fn bench_on(name: &str, generation: Generation) -> Bench {
    let folder = std::env::temp_dir().join(format!("folkmoot-engine-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let store = folder.join("member.sqlite");
    let (datagrams, inbox) = mpsc::channel(64);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let wire = Witness { inbox, store: store.clone(), sent: Arc::clone(&sent) };
    let machine = Embedded::new(Echo::default(), App::default());
    let running = start(machine, wire, Store::open(&store).unwrap(), Clock::start(), generation).unwrap();
    Bench { store, running, datagrams, sent }
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
async fn the_application_hears_little_before_anything_leaves() {
    for (words, times) in [("light1", 1), ("light4", 4), ("light5", 5), ("kept", 1)] {
        let Bench { mut running, datagrams, sent, .. } = bench(words);
        let heard = Arc::clone(&sent);
        let application = tokio::spawn(async move {
            for _ in 0..times {
                assert_eq!(running.next().await.unwrap(), Some(Heard::Payload(words.into())));
                heard.lock().unwrap().push(("heard".into(), false));
            }
            running.stop().await.unwrap();
        });
        datagrams.send(words.into()).await.unwrap();
        application.await.unwrap();
        let order: Vec<_> = sent.lock().unwrap().iter().map(|(bytes, _)| bytes.clone()).collect();
        let mut wanted = vec!["heard"; times];
        wanted.insert(if words.starts_with("light") && times <= 4 { times } else { 0 }, words);
        assert_eq!(order, wanted);
    }
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
async fn a_group_without_a_key_holds_up_no_other() {
    let bench = bench("groups");
    let handle = bench.running.handle.clone();
    for _ in 0..SENDS_WAITING_MAX {
        handle.queue(words("held")).await.unwrap();
    }
    let full = tokio::time::timeout(Duration::from_millis(50), handle.queue(words("one more"))).await;
    assert!(full.is_err(), "the group's own senders wait");
    let sends = async {
        for _ in 0..2 * SENDS_WAITING_MAX {
            handle.send(Sending { group: OPEN, ..words("goes") }).await.unwrap();
        }
        handle.try_send(Sending { group: OPEN, ..words("goes") }).await.unwrap();
    };
    tokio::time::timeout(Duration::from_secs(20), sends).await.expect("another group's senders do not");
    handle.command(Order::Key(true)).await.unwrap();
    handle.send(words("last")).await.unwrap();
    bench.running.stop().await.unwrap();
    let sent: Vec<Bytes> = bench.sent.lock().unwrap().iter().map(|(bytes, _)| bytes.clone()).collect();
    assert!(sent[..=2 * SENDS_WAITING_MAX].iter().all(|text| text == "goes"));
    assert!(sent[2 * SENDS_WAITING_MAX + 1..][..SENDS_WAITING_MAX].iter().all(|text| text == "held"));
    assert_eq!(sent.last().unwrap(), "last");
}

/// Keeps the store from writing until it is dropped.
fn slow_disk(store: &std::path::Path) -> rusqlite::Connection {
    let lock = rusqlite::Connection::open(store).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    lock
}

#[tokio::test]
async fn a_slow_disk_delays_what_goes_out_and_nothing_that_comes_in() {
    const COUNT: u8 = 200;
    let mut bench = bench("disk");
    bench.datagrams.send(vec![0; 9].into()).await.unwrap();
    assert!(bench.running.next().await.unwrap().is_some());
    let lock = slow_disk(&bench.store);
    let comes = async {
        // More than the way in holds.
        for number in 1..=COUNT {
            bench.datagrams.send(vec![number; 9].into()).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(3), comes).await.expect("the engine takes what comes");
    assert_eq!(bench.sent.lock().unwrap().len(), 1, "nothing goes out before it is on disk");
    let handle = bench.running.handle.clone();
    let look = tokio::spawn(async move { handle.look(|_, _, _| ()).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!look.is_finished(), "nor is anybody told what could still be lost");
    drop(lock);
    look.await.unwrap().unwrap();
    for number in 1..=COUNT {
        assert_eq!(bench.running.next().await.unwrap(), Some(Heard::Payload(vec![number; 9].into())));
    }
    bench.running.stop().await.unwrap();
    let sent = bench.sent.lock().unwrap();
    assert!(sent.iter().map(|(bytes, _)| bytes[0]).eq(0..=COUNT), "in order, and all");
    assert!(sent.iter().all(|(_, kept)| *kept));
}

/// A node that waits for one datagram until a deadline, and says whether it came in time.
#[derive(Debug)]
struct Patient(Option<Instant>, VecDeque<GroundOutput>);

impl Ground for Patient {
    fn member(&mut self, _now: Instant, _message: ToNode, _entropy: &mut dyn Entropy) {}
    fn datagram(&mut self, _now: Instant, from: Locator, datagram: BytesMut, _entropy: &mut dyn Entropy) {
        let datagram = datagram.freeze();
        self.0 = None;
        self.1.push_back(GroundOutput::Transmit(from, datagram));
    }
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {
        self.0 = None;
        self.1.push_back(GroundOutput::Transmit(PEER, Bytes::from_static(b"lost")));
    }
    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.1.pop_front()
    }
    fn poll_timeout(&self) -> Option<Instant> {
        self.0
    }
}

/// A wire of which the runtime has not yet heard that it has something.
struct Unheard(Option<Bytes>, mpsc::UnboundedSender<Bytes>);

impl Wire for Unheard {
    async fn recv(&mut self, _batch: &mut Vec<(Locator, Arrival)>) -> std::io::Result<()> {
        std::future::pending().await
    }
    fn take(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> std::io::Result<()> {
        batch.extend(self.0.take().map(|datagram| (PEER, Arrival::One(datagram.into()))));
        Ok(())
    }
    fn send(&mut self, batch: &mut [(Locator, Bytes)]) {
        batch.iter().for_each(|(_, datagram)| self.1.send(datagram.clone()).unwrap());
    }
}

/// A node with something to send until the second datagram comes.
#[derive(Debug)]
struct Leaver(usize, VecDeque<GroundOutput>);

impl Ground for Leaver {
    fn member(&mut self, _now: Instant, _message: ToNode, _entropy: &mut dyn Entropy) {}
    fn datagram(&mut self, _now: Instant, from: Locator, datagram: BytesMut, _entropy: &mut dyn Entropy) {
        let datagram = datagram.freeze();
        self.0 -= 1;
        self.1.push_back(GroundOutput::Transmit(from, datagram));
    }
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}
    fn is_busy(&self) -> bool {
        self.0 > 0
    }
    fn farewell(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {
        self.1.push_back(GroundOutput::Persist(Persist::put("ring", "key", "bye")));
        self.1.push_back(GroundOutput::Transmit(PEER, Bytes::from_static(b"bye")));
    }
    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.1.pop_front()
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

#[tokio::test]
async fn who_stops_sends_what_it_has_and_takes_leave() {
    let folder = std::env::temp_dir().join(format!("folkmoot-leave-{}", std::process::id()));
    let store = folder.join("member.sqlite");
    for comes in [2_u8, 1] {
        std::fs::create_dir_all(&folder).unwrap();
        let (datagrams, inbox) = mpsc::channel(64);
        let sent = Arc::new(Mutex::new(Vec::new()));
        let wire = Witness { inbox, store: store.clone(), sent: Arc::clone(&sent) };
        let machine = Embedded::new(Leaver(2, VecDeque::new()), App::default());
        let (store, generation) = (Store::open(&store).unwrap(), Generation::of_this_machine());
        let running = start(machine, wire, store, Clock::start(), generation).unwrap();
        let stopped = tokio::spawn(running.stop());
        for number in 0..comes {
            datagrams.send(vec![number].into()).await.unwrap();
        }
        // Also if what it has does not get out.
        stopped.await.unwrap().unwrap();
        let said: Vec<Bytes> = sent.lock().unwrap().iter().map(|(bytes, _)| bytes.clone()).collect();
        let expected: &[&[u8]] = if comes == 2 { &[&[0], &[1], b"bye"] } else { &[&[0], b"bye"] };
        assert_eq!(said, expected);
        assert!(sent.lock().unwrap().last().unwrap().1, "on disk first");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[tokio::test]
async fn what_is_in_the_socket_comes_before_an_expired_timer() {
    for (waits, said) in [(Some("token"), "token"), (None, "lost")] {
        let folder = std::env::temp_dir().join(format!("folkmoot-timer-{}-{said}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Store::open(&folder.join("member.sqlite")).unwrap();
        let clock = Clock::start();
        let ground = Patient(Some(clock.now()), VecDeque::new());
        let (out, mut sent) = mpsc::unbounded_channel();
        let wire = Unheard(waits.map(Bytes::from), out);
        let machine = Embedded::new(ground, App::default());
        let running = start(machine, wire, store, clock, Generation::of_this_machine()).unwrap();
        assert_eq!(sent.recv().await.unwrap(), said);
        running.stop().await.unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
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

/// Whoever sends more unreliable messages than a program reads ends no program, and keeps nothing
/// else from it.
#[tokio::test]
async fn unreliable_messages_that_nobody_reads_are_dropped_and_counted() {
    let mut bench = bench("unreliable");
    let (handle, sent) = (bench.running.handle.clone(), EVENTS_WAITING_MAX * 2);
    handle.command(Order::UnreliableFlood(sent)).await.unwrap();
    handle.command(Order::Flood(1)).await.unwrap();
    let untold = usize::try_from(handle.counters().await.unwrap().untold).unwrap();
    assert!(untold >= EVENTS_WAITING_MAX, "{untold}");
    let mut read = 0;
    while bench.running.next().await.unwrap() == Some(Heard::Unreliable) {
        read += 1;
    }
    assert_eq!(read + untold, sent, "what was not told is counted, and the rest comes first");
    bench.running.stop().await.unwrap();
}
