//! Checks at the edge of a host that can be left out in tests, to show what each is for.

/// A check that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Danger {
    /// Any source is an address of this host (PUB-72).
    AnySource,
    /// What was an address of this host a moment ago still is one (PUB-72).
    FormerSource,
    /// Whoever speaks from no address is on this host, also in a group that no router carries
    /// (PUB-72).
    NamelessSource,
    /// An address of this host proves who spoke, also where others can use it (PUB-73).
    ForgeableSource,
    /// The group is joined on loopback alone (PUB-74).
    JoinsNowhere,
    /// The group stays joined where it was joined at first, as in liblcm (PUB-74).
    JoinsOnce,
    /// The socket is bound to no interface: the route chooses, as in liblcm (PUB-74).
    RouteChooses,
}
