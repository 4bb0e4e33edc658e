//! How a member is opened, when the folder alone does not say it.

use crate::Error;
use folkmoot_base::Locator;
use folkmoot_runtime::{Identity, Passphrase};
use folkmoot_runtime::{KnownHead, StateFolder, Voucher};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The port that members listen on unless told otherwise.
const PORT: u16 = 4803;

/// What to open. Start from [`Options::new`] and change what is different.
///
/// ```
/// let options = folkmoot::Options::new("state/anna").listen(([127, 0, 0, 1], 4801)).seed("udp/127.0.0.1:4802".parse()?);
/// assert_eq!(options.seeds.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The state folder.
    pub state: PathBuf,
    /// What opens the folder's key, if that is under a passphrase.
    pub passphrase: Option<Passphrase>,
    /// The folder's identity, if it was opened before.
    #[doc(hidden)]
    pub identity: Option<Identity>,
    /// Where to listen; port 4803 on all IPv4 addresses unless changed. Port 0: any free one.
    pub listen: SocketAddr,
    /// Where other members may be found, besides the places that the folder remembers: addresses
    /// (`udp/192.0.2.7:4803`), or names (`dns/anna.example.org:4803`), whose addresses are found
    /// out again while nobody answers there.
    pub seeds: Vec<Locator>,
    /// Heads that are known from elsewhere, such as a member's `folkmoot status`: the member
    /// follows only a line of decisions that has them. Without one, a newcomer believes its first
    /// contact.
    pub heads: Vec<KnownHead>,
    /// What a member gave with its ticket: a newcomer shows it with its requests, and does not wait
    /// behind strangers. It is kept in the folder.
    pub voucher: Option<Voucher>,
    /// A certificate (X.509, DER) by somebody whom the charter recognises, which says who a
    /// newcomer is: it shows it with its requests.
    pub endorsement: Option<Vec<u8>>,
    /// Files with the signed charters of groups that this node carries beside its own. Such a group
    /// has members and voters of its own: they have no say in this member's group, nor this member
    /// in theirs. Name them at each start.
    pub carries: Vec<PathBuf>,
    /// Of an authority's process: whether it has replicas. What it issues then comes out as
    /// [`Event::Log`](crate::Event::Log), and is told once it comes back by
    /// [`Folkmoot::logged`](crate::Folkmoot::logged).
    pub replicated: bool,
    /// Whether what this node sends to all others goes by IP multicast, if all of them hear that.
    /// It helps in large groups on one wired network. Off unless changed.
    pub multicast: bool,
    /// Whether the member has a thread of its own, whatever runtime the program has. Then it
    /// answers the others in time also while the program is busy. If not, as it is unless changed,
    /// it is a task of the current tokio runtime, and messages cost less.
    pub own_thread: bool,
    /// How far the wall clock is set forward: for tests.
    #[doc(hidden)]
    pub clock_ahead: Duration,
    /// Whether every key is kept, to show what they are good for after an expulsion.
    #[doc(hidden)]
    pub danger_keep_keys: bool,
}

impl Options {
    /// The folder `state`, everything else as usual.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            passphrase: None,
            identity: None,
            listen: (Ipv4Addr::UNSPECIFIED, PORT).into(),
            seeds: Vec::new(),
            heads: Vec::new(),
            voucher: None,
            endorsement: None,
            carries: Vec::new(),
            replicated: false,
            multicast: false,
            own_thread: false,
            clock_ahead: Duration::ZERO,
            danger_keep_keys: false,
        }
    }

    /// Opens the folder's key with this passphrase.
    ///
    /// ```
    /// use folkmoot::{Options, Passphrase, Secret};
    /// let typed = Secret::new(b"correct horse battery".to_vec());
    /// let options = Options::new("state/anna").passphrase(Passphrase::new(typed)?);
    /// # assert!(options.passphrase.is_some());
    /// # Ok::<(), folkmoot::SealedKeyError>(())
    /// ```
    #[must_use]
    pub fn passphrase(mut self, passphrase: Passphrase) -> Self {
        self.passphrase = Some(passphrase);
        self
    }

    /// Listens at `address`.
    #[must_use]
    pub fn listen(mut self, address: impl Into<SocketAddr>) -> Self {
        self.listen = address.into();
        self
    }

    /// Looks for others at `locator`, too.
    #[must_use]
    pub fn seed(mut self, locator: Locator) -> Self {
        self.seeds.push(locator);
        self
    }

    /// Follows only a line of decisions that has this head.
    #[must_use]
    pub fn head(mut self, head: KnownHead) -> Self {
        self.heads.push(head);
        self
    }

    /// Carries the group whose signed charter this file holds, too.
    #[must_use]
    pub fn carry(mut self, charter: impl Into<PathBuf>) -> Self {
        self.carries.push(charter.into());
        self
    }

    /// The same for the runtime, with the folder's identity opened if there is a passphrase.
    pub(crate) fn opened(self) -> Result<folkmoot_runtime::Options, Error> {
        let Self { state, listen, seeds, heads, voucher, endorsement, replicated, multicast, .. } = self;
        let Self { carries, clock_ahead, danger_keep_keys, passphrase, identity, .. } = self;
        let open = |passphrase| StateFolder::at(&state).identity(Some(passphrase));
        let identity =
            identity.map_or_else(|| passphrase.as_ref().map(open).transpose(), |one| Ok(Some(one)))?;
        Ok(folkmoot_runtime::Options {
            state,
            identity,
            listen,
            seeds,
            heads,
            voucher,
            endorsement,
            carries,
            replicated,
            multicast,
            clock_ahead,
            danger_keep_keys,
        })
    }
}
