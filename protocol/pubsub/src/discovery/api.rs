//! What the machine is given, and what it gives.

use crate::base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use crate::base::{Digest, Entropy, Mutant, Secret, UnixTime, digest};
use bytes::Bytes;
use core::time::Duration;

/// Who may take part: certificates, this node's own key, and who may exclude. A secured host plugs
/// its X.509 certificates in here.
pub trait Papers {
    /// This node's certificate.
    fn certificate(&self) -> &[u8];
    /// Signs with this node's key. `message` begins with a label of its own.
    fn sign(&self, message: &[u8]) -> Vec<u8>;
    /// What `certificate` allows in `domain`; `None` if nothing. `wall` is the time of day, if
    /// [`Input::Wall`] has told it.
    fn judge(&self, domain: &[u8], certificate: &[u8], wall: Option<UnixTime>) -> Option<Standing>;
    /// Whether the key of `certificate` signed `message`.
    fn verify(&self, certificate: &[u8], message: &[u8], signature: &[u8]) -> bool;
    /// What names whoever holds this certificate, in every form that the certificate can be given:
    /// a signature can often be written in two ways. Here the certificate has one form.
    fn holder(&self, certificate: &[u8]) -> Digest {
        digest(&[certificate])
    }
    /// What a certificate has in common with others of its holder; `None` if none of them takes its
    /// place.
    fn renewal(&self, _certificate: &[u8]) -> Option<Renewal> {
        None
    }
    /// What `statement` excludes, if whoever may say so said it.
    fn judge_exclusion(&self, domain: &[u8], statement: &[u8]) -> Option<Exclusion>;
}

/// How many seconds after the end of a certificate nothing more is known of it, for clocks that are
/// late (PUB-71).
const ENDED_SECONDS: u64 = 3_600;

/// Whether this ended so long ago that nobody takes it any more (PUB-71).
pub fn is_long_over(until: UnixTime, wall: UnixTime) -> bool {
    until.0.saturating_add(ENDED_SECONDS) <= wall.0
}

/// Who is out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exclusion {
    /// Whom ([`Papers::holder`]) it names.
    pub holder: Digest,
    /// When that certificate ends, if the statement says so.
    pub until: Option<UnixTime>,
}

impl Exclusion {
    /// Whether nobody needs it any more: the certificate ended an hour ago (PUB-71).
    pub fn is_over(&self, wall: UnixTime) -> bool {
        self.until.is_some_and(|until| is_long_over(until, wall))
    }
}

/// Of the certificates of one key the one that begins last counts (PUB-80).
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Renewal {
    /// What names the key.
    pub key: Digest,
    /// When its term begins, in seconds since 1970.
    pub begins: u64,
}

/// What a certificate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The sender's id, unique in its domain.
    pub uid: u16,
    /// When it ends.
    pub until: Option<UnixTime>,
}

/// Times that do not follow from the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// A response comes at least this long after the JOIN.
    pub first: Duration,
    /// And this much later at most, for the first who may answer.
    pub spread: Duration,
    /// A node that hears nobody has a key of its own after this.
    pub alone: Duration,
    /// A node that nobody lists asks again after this.
    pub again: Duration,
    /// One of a group tells others of it this often.
    pub beacon: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(30),
            spread: Duration::from_millis(40),
            alone: Duration::from_millis(1_200),
            again: Duration::from_millis(2_500),
            beacon: Duration::from_secs(2),
        }
    }
}

/// How a machine behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the key is for: `239.255.76.67:7667`, or that with `:` and a channel.
    pub domain: Vec<u8>,
    /// Times.
    pub times: Times,
    /// Which check is left out, to show what it is for; none outside of tests.
    pub danger: Mutant<Danger>,
}

impl Settings {
    /// For `domain`, with the usual times.
    pub fn new(domain: &[u8]) -> Self {
        Self { domain: domain.to_vec(), times: Times::default(), danger: Mutant::NONE }
    }
}

/// Rules that a test or a checker leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Danger {
    /// A recorded message counts again (PUB-42), and an old JOIN as a new one (PUB-43).
    ForgetsInstances,
    /// A round counts for whatever candidate there is (PUB-48), and nobody confirms (PUB-50): as in
    /// LCMsec, after a restart.
    RoundsAsReference,
    /// Takes part in an attack: the same shares in every agreement, and recorded rounds are taken.
    Conspires,
    /// A candidate is never given up for a better one (PUB-45).
    KeepsFirst,
    /// Whoever is excluded stays (PUB-46).
    ExcludesNobody,
    /// Each key has the number 1 (PUB-47).
    NumbersStay,
    /// What follows a candidate that came to nothing may have a lower number (PUB-45).
    NumbersFall,
    /// A JOIN is sent again with every response that lacks this node.
    JoinsAgain,
    /// After an exclusion only the neighbours of the excluded draw new shares, as in the Leave of
    /// the paper (PUB-52).
    LeaveAsWritten,
    /// The key is installed without the others' confirmations (PUB-50).
    InstallsEarly,
    /// Times do not follow the round trip.
    FixedTimes,
    /// Members who hold a key do not wait for the newcomers' shares (PUB-49).
    HoldersHurry,
    /// A response does not say why former certificates of its ids do not count (PUB-46).
    HidesFormer,
    /// Members of another group who said nothing count as silent.
    CountsStrangers,
    /// Whoever was left behind does not join anew while it tries to bring the others back.
    StaysBehind,
    /// Any certificate takes the place of another with the same id (PUB-80).
    AnythingRenews,
    /// What ended long ago stays (PUB-71).
    NeverForgets,
}

/// What happens to the machine.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Begin: ask to join.
    Start,
    /// Something came on the management channel.
    Message(&'a [u8]),
    /// The time that [`super::Discovery::poll_timeout`] said has come.
    Timeout,
    /// A statement that excludes somebody.
    Exclude(&'a [u8]),
    /// The time of day, for certificates that end. Nothing else depends on it.
    Wall(UnixTime),
    /// This node leaves.
    Leave,
}

/// What the machine wants done, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Publish this on the management channel.
    Send(Bytes),
    /// Write this in place of the last such value, durably, before any later output takes effect.
    Persist(Bytes),
    /// A new key: seal with it from now on, and open with it and the last one.
    Key(Epoch),
    /// Something for people to know.
    Event(Event),
}

/// One key and who has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Grows with every key that this node has.
    pub number: u64,
    /// The agreement that made it. Together with the number it names the key everywhere.
    pub run: Digest,
    /// The secret from which channels' or names' keys derive.
    pub key: Secret<[u8; 32]>,
    /// Who has it, by rank in the ring.
    pub members: Vec<u16>,
    /// Their certificates, in the same order.
    pub certificates: Vec<Bytes>,
}

/// For people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Two certificates name this id; the authority made a mistake.
    Duplicate(u16),
    /// This member is out.
    Excluded(u16),
    /// An agreement came to nothing, for want of so many members' words.
    Failed(usize),
    /// This node itself is excluded, or its certificate has ended.
    Out,
    /// Others have heard more of this node's certificate than it has said: its memory was lost or
    /// is an older one, or another process has used the certificate. They refuse what it says
    /// (PUB-42).
    Behind,
    /// Another process speaks under this node's certificate, and has said more (PUB-79).
    Twin,
    /// There is no room for a further exclusion, so that one was not taken (PUB-53).
    Full,
}

/// Randomness within a span.
pub(crate) fn within(entropy: &mut dyn Entropy, span: Duration) -> Duration {
    let drawn = u64::from_be_bytes(crate::base::draw(entropy));
    let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(drawn.checked_rem(micros).unwrap_or_default())
}
