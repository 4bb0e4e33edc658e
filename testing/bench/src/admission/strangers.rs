//! Hostile strangers, who flood two members that are contacts: each stranger has a key, a socket
//! and a link of its own, over UDP.
//!
//! ```text
//! on    dial ─> link ─> as many messages as a link takes, and as many again ─> (every other one) away, and back with another key
//! off   all hang up
//! ```
//! They run in their own thread, so that a turn waits for them only if no processor is free.

use crate::people::{People, Rules};
use bytes::Bytes;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Locator, NodeId, UnixTime};
use folkmoot_admission::GuestMessage;
use folkmoot_agreement::ModuleName;
use folkmoot_base::{Blob, Instant as Tick, codec, limits};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::{Charter, GmcBody, Identity, KeyAlgorithm, Request};
use folkmoot_link::limits::{GUEST_ADMISSION_BURST, GUEST_ADMISSION_BYTES_MAX, GUEST_ADMISSION_PER_SECOND};
use folkmoot_link::{Channel, Config, IdentityCredentials, Input, Links, Output};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// At each contact: more than it has places for guests.
pub(super) const AT_EACH: usize = limits::GUESTS_MAX + 8;
/// How long one that comes with ever other keys stays.
const STAY: Duration = Duration::from_millis(1_500);
/// How long a stranger waits before it dials again where it was sent away.
const AGAIN: Duration = Duration::from_millis(100);
const DAY_SECONDS: u64 = 86_400;
const DATAGRAM: usize = 2_048;

/// What a bogus request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bogus {
    /// Of the stranger's own key; a bit of its signature is another one.
    Forged,
    /// For another group.
    Foreign,
    /// More bytes than a guest may send in one frame.
    Oversize,
    /// Another stranger's; and its datagrams come twice.
    Replayed,
    /// As an honest one.
    Fresh,
    /// As an honest one, and newer than the one of the same key that is open.
    Newer,
}

impl Bogus {
    pub(super) const ALL: [Self; 6] =
        [Self::Fresh, Self::Forged, Self::Foreign, Self::Newer, Self::Oversize, Self::Replayed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Forged => "forged",
            Self::Foreign => "foreign",
            Self::Oversize => "oversize",
            Self::Replayed => "replayed",
            Self::Fresh => "fresh",
            Self::Newer => "newer",
        }
    }
}

/// How many were sent, in the order of [`Bogus::ALL`], and how many links came up for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    pub(super) words: [u64; Bogus::ALL.len()],
    pub(super) links: u64,
}

/// The thread, and what it is told.
pub(super) struct Flood {
    on: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<Sent, Failure>>>,
}

impl Flood {
    /// Strangers at these contacts of the group of `charter`; they begin when they are let.
    pub(super) fn prepare(contacts: &[Locator], charter: &Charter) -> Result<Self, Failure> {
        let [on, stop] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let sent = Arc::new(AtomicU64::new(0));
        let mut crowd = Crowd::new(contacts, charter)?;
        let (goes, ends, count) = (on.clone(), stop.clone(), sent.clone());
        let run = move || {
            while !ends.load(Ordering::Relaxed) {
                if !crowd.turn(goes.load(Ordering::Relaxed))? {
                    std::thread::sleep(Duration::from_millis(1));
                }
                count.store(crowd.sent.words.iter().sum(), Ordering::Relaxed);
            }
            Ok(crowd.sent)
        };
        let thread = std::thread::Builder::new().name("strangers".into()).spawn(run);
        Ok(Self { on, stop, sent, thread: Some(thread.map_err(Failure::bug)?) })
    }

    pub(super) fn let_go(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// How many bogus requests were sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn end(mut self) -> Result<Sent, Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().ok_or_else(|| Failure::bug("the strangers have ended"))?;
        thread.join().map_err(|_| Failure::bug("the thread of the strangers has panicked"))?
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What all of them know.
struct Lore {
    charter: Charter,
    /// Of another group.
    foreign: Charter,
    /// Somebody's true request.
    others: Bytes,
    oversize: Bytes,
    from: UnixTime,
    to: UnixTime,
}

impl Lore {
    fn new(charter: &Charter, entropy: &mut OsEntropy) -> Result<Self, Failure> {
        let (module, scheme) = (ModuleName::Ckd, charter.scheme());
        let rules = Rules {
            module: Some(module),
            scheme,
            votes: charter.threshold(),
            central: None,
            keys: KeyAlgorithm::P256,
        };
        let foreign = People::new(&rules, usize::try_from(charter.threshold()).unwrap_or(1).max(2), STAY)?;
        let now = wall_clock().0;
        let (from, to) = (UnixTime(now.saturating_sub(3_600)), UnixTime(now.saturating_add(DAY_SECONDS)));
        let other = Identity::new("stranger", entropy, from, to).map_err(Failure::bug)?;
        let others = request(&other, charter, from, entropy)?;
        let junk = Blob::from(vec![0x30; GUEST_ADMISSION_BYTES_MAX + 1_024]);
        Ok(Self {
            charter: charter.clone(),
            foreign: foreign.charter.charter().clone(),
            others,
            oversize: word(junk),
            from,
            to,
        })
    }
}

fn word(cms: Blob) -> Bytes {
    Bytes::from(codec::encode(&GuestMessage::Request { cms, voucher: None, endorsement: None }))
}

fn request(
    one: &Identity,
    charter: &Charter,
    from: UnixTime,
    entropy: &mut OsEntropy,
) -> Result<Bytes, Failure> {
    let body = GmcBody::propose(charter, one, 5, from, entropy);
    let request = Request::sign(one, body).map_err(Failure::bug)?;
    Ok(word(Blob::from(request.der().to_vec())))
}

struct Crowd {
    lore: Lore,
    strangers: Vec<Stranger>,
    entropy: OsEntropy,
    began: Instant,
    sent: Sent,
}

impl Crowd {
    fn new(contacts: &[Locator], charter: &Charter) -> Result<Self, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let lore = Lore::new(charter, &mut entropy)?;
        let mut strangers = Vec::new();
        for number in 0..AT_EACH.saturating_mul(contacts.len()) {
            let contact = contacts.get(number % contacts.len().max(1)).cloned();
            let contact = contact.ok_or_else(|| Failure::bug("a flood has no contact"))?;
            // Half of those at each contact keep their keys.
            let keeps = (number / contacts.len().max(1)).is_multiple_of(2);
            strangers.push(Stranger::new(contact, keeps, &lore, &mut entropy)?);
        }
        Ok(Self { lore, strangers, entropy, began: Instant::now(), sent: Sent::default() })
    }

    /// Everybody's turn; whether anything was done.
    fn turn(&mut self, on: bool) -> Result<bool, Failure> {
        let mut busy = false;
        for stranger in &mut self.strangers {
            let now = Tick(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1));
            busy |= stranger.hear(now, &mut self.entropy)?;
            if on {
                busy |= stranger.go_on(now, &self.lore, &mut self.entropy, &mut self.sent)?;
            } else {
                stranger.go_away(now, &mut self.entropy)?;
            }
        }
        Ok(busy)
    }
}

/// One of them.
struct Stranger {
    contact: Locator,
    socket: UdpSocket,
    keeps: bool,
    one: Identity,
    links: Links<IdentityCredentials>,
    /// The member, once the link to it is up.
    up: Option<NodeId>,
    came: Option<Tick>,
    dialled: Option<Tick>,
    /// Bytes that it may still say, as the link counts them, twice over.
    allowed: u64,
    filled: Tick,
    said: usize,
    /// From when its newest request is.
    from: UnixTime,
    room: Vec<u8>,
}

impl Stranger {
    fn new(contact: Locator, keeps: bool, lore: &Lore, entropy: &mut OsEntropy) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).map_err(Failure::bug)?;
        socket.set_nonblocking(true).map_err(Failure::bug)?;
        let (one, links) = somebody(lore, entropy)?;
        Ok(Self {
            contact,
            socket,
            keeps,
            one,
            links,
            up: None,
            came: None,
            dialled: None,
            allowed: 0,
            filled: Tick(0),
            said: 0,
            from: lore.from,
            room: vec![0; DATAGRAM],
        })
    }

    /// What has come, and what time asks for.
    fn hear(&mut self, now: Tick, entropy: &mut OsEntropy) -> Result<bool, Failure> {
        let mut heard = false;
        // Whatever the socket says besides, a lost datagram is no failure here.
        while let Ok(length) = self.socket.recv(&mut self.room) {
            let bytes = Bytes::copy_from_slice(self.room.get(..length).unwrap_or_default());
            let _ = self.links.handle(
                now,
                Input::Datagram { from: self.contact.clone(), bytes: bytes.into() },
                entropy,
            );
            self.drain(now, false);
            heard = true;
        }
        if self.links.poll_timeout().is_some_and(|at| at <= now) {
            self.links.handle(now, Input::Timeout, entropy).map_err(Failure::bug)?;
            self.drain(now, false);
        }
        Ok(heard)
    }

    fn drain(&mut self, now: Tick, twice: bool) {
        while let Some(output) = self.links.poll_output() {
            match output {
                Output::Transmit { to, datagram } | Output::Probe { to, datagram } => {
                    let Some(to) = to.as_udp() else { continue };
                    for _ in 0..=usize::from(twice) {
                        let _ = self.socket.send_to(&datagram, to);
                    }
                }
                Output::Up { node, .. } => {
                    (self.up, self.came, self.filled) = (Some(node), Some(now), now);
                    self.allowed = GUEST_ADMISSION_BURST;
                }
                Output::Down { .. } => self.up = None,
                _ => {}
            }
        }
    }

    /// Dials, says the next word if it may, or comes with another key.
    fn go_on(
        &mut self,
        now: Tick,
        lore: &Lore,
        entropy: &mut OsEntropy,
        sent: &mut Sent,
    ) -> Result<bool, Failure> {
        let Some(member) = self.up else {
            if self.dialled.is_none_or(|at| now.since(at) >= AGAIN) {
                self.dialled = Some(now);
                let _ = self.links.handle(now, Input::Dial { at: self.contact.clone(), node: None }, entropy);
                self.drain(now, false);
            }
            return Ok(false);
        };
        if !self.keeps && self.came.is_some_and(|came| now.since(came) >= STAY) {
            self.go_away(now, entropy)?;
            (self.one, self.links) = somebody(lore, entropy)?;
            self.dialled = None;
            sent.links += 1;
            return Ok(true);
        }
        let earned = now.since(self.filled).as_secs_f64() * (GUEST_ADMISSION_PER_SECOND * 2) as f64;
        if earned >= 1_024.0 {
            (self.allowed, self.filled) = ((self.allowed + earned as u64).min(GUEST_ADMISSION_BURST), now);
        }
        if self.allowed < 4_096 {
            return Ok(false);
        }
        self.say(now, member, lore, entropy, sent)?;
        Ok(true)
    }

    fn say(
        &mut self,
        now: Tick,
        member: NodeId,
        lore: &Lore,
        entropy: &mut OsEntropy,
        sent: &mut Sent,
    ) -> Result<(), Failure> {
        let place = self.said % Bogus::ALL.len();
        self.said = self.said.wrapping_add(1);
        let kind = Bogus::ALL.get(place).copied().unwrap_or(Bogus::Fresh);
        let word = self.word(kind, lore, entropy)?;
        self.allowed = self.allowed.saturating_sub(word.len() as u64);
        if self.links.send(now, member, Channel::Admission, &[&word]).is_ok()
            && let Some(count) = sent.words.get_mut(place)
        {
            *count += 1;
        }
        self.drain(now, kind == Bogus::Replayed);
        Ok(())
    }

    fn word(&mut self, kind: Bogus, lore: &Lore, entropy: &mut OsEntropy) -> Result<Bytes, Failure> {
        match kind {
            Bogus::Foreign => request(&self.one, &lore.foreign, lore.from, entropy),
            Bogus::Oversize => Ok(lore.oversize.clone()),
            Bogus::Replayed => Ok(lore.others.clone()),
            Bogus::Fresh => request(&self.one, &lore.charter, self.from, entropy),
            Bogus::Newer => {
                self.from = UnixTime(self.from.0.saturating_add(1));
                request(&self.one, &lore.charter, self.from, entropy)
            }
            Bogus::Forged => {
                let mut forged = request(&self.one, &lore.charter, lore.from, entropy)?.to_vec();
                if let Some(last) = forged.last_mut() {
                    *last ^= 1;
                }
                Ok(Bytes::from(forged))
            }
        }
    }

    fn go_away(&mut self, now: Tick, entropy: &mut OsEntropy) -> Result<(), Failure> {
        if let Some(node) = self.up {
            self.links.handle(now, Input::Hangup { node }, entropy).map_err(Failure::bug)?;
            self.drain(now, false);
        }
        Ok(())
    }
}

/// A key that nobody has seen, and links of its own.
fn somebody(lore: &Lore, entropy: &mut OsEntropy) -> Result<(Identity, Links<IdentityCredentials>), Failure> {
    let one = Identity::new("stranger", entropy, lore.from, lore.to).map_err(Failure::bug)?;
    let config = Config::new(lore.charter.group());
    let links = Links::new(config, IdentityCredentials::new(one.clone()), entropy);
    Ok((one, links))
}
