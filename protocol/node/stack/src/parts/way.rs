//! Where this node leaves the others to go: on, or over to another line.

use base::{Digest, Head, Instant, digest};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base as base;

/// So long after a package was not taken it is tried again: the clock may let it in by then.
const OFFERED_LIFE: Duration = Duration::from_secs(600);

/// What leads there, until nobody shares our order.
#[derive(Debug, Default)]
pub(crate) struct Way {
    package: Option<Package>,
    /// The head to whose line our person goes over.
    resolves: Option<Head>,
    offered: Option<Offered>,
}

/// A package that stands and that only our person may take.
#[derive(Debug)]
struct Offered {
    name: Digest,
    last: Head,
    bytes: Bytes,
    at: Instant,
}

/// A package that is taken once nobody shares our order.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) bytes: Bytes,
    /// The head to which our person goes over, if that is why.
    pub(crate) resolves: Option<Head>,
}

impl Way {
    /// Our person goes over to the line of this head.
    pub(crate) fn resolve(&mut self, head: Head) {
        self.resolves = Some(head);
    }

    /// The head to whose line our person goes over.
    pub(crate) fn resolves(&self) -> Option<Head> {
        self.resolves
    }

    /// A package leads on, or over.
    pub(crate) fn leads(&mut self, package: Package) {
        self.package = Some(package);
    }

    /// Whether a package waits until nobody shares our order.
    pub(crate) fn is_leaving(&self) -> bool {
        self.package.is_some()
    }

    /// Nobody shares our order: what waited.
    pub(crate) fn take(&mut self) -> Option<Package> {
        self.package.take()
    }

    /// A package is not taken that our person may take. Whether it is another than before.
    pub(crate) fn offer(&mut self, now: Instant, last: Head, bytes: &Bytes) -> bool {
        let name = digest(&[bytes]);
        let before = self.offered.replace(Offered { name, last, bytes: bytes.clone(), at: now });
        before.is_none_or(|before| before.name != name)
    }

    /// Whether this package was not taken a while ago.
    pub(crate) fn knows(&self, now: Instant, name: &Digest) -> bool {
        let fresh = |one: &&Offered| one.name == *name && now.since(one.at) < OFFERED_LIFE;
        self.offered.as_ref().filter(fresh).is_some()
    }

    /// The package that leads to this decision, if one was not taken.
    pub(crate) fn offered(&self, last: &Head) -> Option<Bytes> {
        self.offered.as_ref().filter(|one| one.last == *last).map(|one| one.bytes.clone())
    }

    /// Our line has come to this number: what leads no further goes.
    pub(crate) fn passed(&mut self, number: u64) {
        self.offered.take_if(|one| one.last.number <= number);
    }

    /// We have gone there.
    pub(crate) fn end(&mut self) {
        (self.resolves, self.offered) = (None, None);
    }
}
