//! Where this node leaves the others to go: on, or over to another line.

use base::Head;
use bytes::Bytes;
use folkmoot_base as base;

/// What leads there, until nobody shares our order.
#[derive(Debug, Default)]
pub(crate) struct Way {
    package: Option<Package>,
    /// The head to whose line our person goes over.
    resolves: Option<Head>,
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

    /// We have gone there.
    pub(crate) fn end(&mut self) {
        self.resolves = None;
    }
}
