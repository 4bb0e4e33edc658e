//! The inputs, outputs and settings of keying.

use crate::base::limits::STEP_DEADLINE;
use crate::base::{
    Cause, Cipher, Digest, Keying, MemberId, ModuleName, Mutant, Party, Persist, Secret, Service, ViewId,
};
use bytes::Bytes;
use core::fmt;
use core::time::Duration;
use folkmoot_base::SignatureBytes;

/// The settings of this machine.
#[derive(Debug, Clone)]
pub struct Config {
    /// How long to wait for another party's step before complaining.
    pub step_deadline: Duration,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Default for Config {
    fn default() -> Self {
        Self { step_deadline: STEP_DEADLINE, danger: Mutant::NONE }
    }
}

/// Signatures and identities of members, whose keys sign for all their parties: the member stack
/// implements it over identity and the roster.
pub trait Credentials {
    /// Signs with the identity key of this party's member: ECDSA P-256 over SHA-256, r ‖ s,
    /// deterministic (RFC 6979).
    fn sign(&self, message: &[u8]) -> SignatureBytes;
    /// Whether `signature` over `message` is by `member`. `false` also for an unknown member.
    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool;
    /// SHA-256 of the member's certificate or admission entry; `None` if the roster does not have
    /// the member.
    fn certificate(&self, member: &MemberId) -> Option<Digest>;
    /// KEY-12: whether an entry of the order has taken `member` off the roster. The end of its term
    /// is none: clocks differ, and a run that has begun ends alike for all.
    fn is_out(&self, member: &MemberId) -> bool {
        self.certificate(member).is_none()
    }
    /// What the charter in force says about keys. It is equal at all parties at one place in the
    /// order.
    fn terms(&self) -> Terms;
}

/// What a charter says about keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terms {
    /// Which charter: its version number.
    pub charter_version: u64,
    /// How the module is chosen.
    pub keying: Keying,
    /// Whether the members of the configuration are far from each other.
    pub far: bool,
    /// The cipher that the key will be used with.
    pub cipher: Cipher,
}

/// A view as flush installs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its id.
    pub id: ViewId,
    /// Its parties, sorted; this party among them.
    pub members: Vec<Party>,
    /// The parties that came along from this party's previous view, this party included.
    pub transitional_set: Vec<Party>,
    /// What each party said that it keeps ([`Output::FlushOk`]), in the order of `members`.
    pub brought: Vec<Bytes>,
    /// Whose FLUSH_OK completed it.
    pub last: Party,
    /// Why it changed.
    pub cause: Cause,
}

/// An input of keying, in the order in which flush puts them out.
#[derive(Debug)]
pub enum Input {
    /// Flush asks for the answer that no more is sent in this view.
    FlushRequest,
    /// From here on, promises of the view hold only within the transitional set.
    TransitionalSignal,
    /// A new view.
    View(View),
    /// An ordered keying message of the current view. Own messages come back this way too.
    Message {
        /// The sender, according to the layers below; the signature is checked against it.
        sender: Party,
        /// The bytes of [`Output::Send`].
        bytes: Bytes,
    },
    /// The application's answer to [`Output::SecureFlushRequest`].
    SecureFlushOk,
    /// Make a new key in this view. Answered by [`Output::Refreshed`], unless the view changes
    /// first.
    Refresh,
    /// The time that `poll_timeout` named has come.
    Timeout,
}

/// An output of keying. Order counts.
#[derive(Debug)]
pub enum Output {
    /// Answer flush: no more is sent in this view.
    FlushOk {
        /// What this party keeps, for all parties: it comes back in [`View::brought`].
        brings: Bytes,
    },
    /// Multicast in the view, with this service.
    Send {
        /// AGREED, or SAFE for a deciding message.
        service: Service,
        /// The message.
        bytes: Bytes,
    },
    /// These parties have not taken their step in time, or have signed nonsense: order a complaint
    /// about each (K4).
    Complain {
        /// In which view.
        view: ViewId,
        /// The parties to complain about.
        suspects: Vec<Party>,
    },
    /// Commit this before any later output takes effect.
    Persist(Persist),
    /// Ask the application to finish; it answers [`Input::SecureFlushOk`].
    SecureFlushRequest,
    /// The transitional signal of the secure view; at most one for each view.
    SecureTransitional,
    /// A view with its key: install both.
    SecureView(SecureView),
    /// A new key for the secure view already installed.
    Refreshed {
        /// In which view.
        view: ViewId,
        /// The key.
        epoch: Epoch,
    },
    /// An event for the log, in plain words, without secrets.
    Trace(String),
}

/// A view whose parties have all confirmed its key.
#[derive(Debug)]
pub struct SecureView {
    /// Its id.
    pub id: ViewId,
    /// Its parties, sorted.
    pub members: Vec<Party>,
    /// The parties that came along with this party from its previous secure view.
    pub transitional_set: Vec<Party>,
    /// Why the last change came.
    pub cause: Cause,
    /// The key.
    pub epoch: Epoch,
}

/// The life of one group key.
#[derive(Debug, Clone)]
pub struct Epoch {
    /// A digest that reveals nothing of the key; equal at every party that holds it.
    pub name: EpochName,
    /// The module that agreed on it.
    pub module: ModuleName,
    /// The cipher that it is to be used with, and with nothing else.
    pub cipher: Cipher,
    /// The group key.
    pub key: Secret<[u8; 32]>,
}

/// Public name of a key epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochName(pub Digest);

impl fmt::Display for EpochName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for EpochName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "epoch:{self}")
    }
}

/// The state of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The flush is answered; the next view is awaited (CM).
    Cascading,
    /// A run is going on; the name is the module's stage (PT, FT, FO, KL).
    Agreeing(&'static str),
    /// The key is there; confirmations are awaited (KC).
    Confirming,
    /// The secure view stands (S).
    Secure,
}
