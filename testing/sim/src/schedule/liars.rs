//! What liars do.

/// What an attacker on the wire does with a datagram it saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgery {
    /// Sends it again, as it was, from where it came.
    Replay,
    /// Sends it again to somebody else.
    Redirect,
    /// Flips one bit of it.
    Flip,
    /// Cuts it short.
    Cut,
    /// Adds bytes.
    Lengthen,
    /// Sends random bytes.
    Noise,
    /// Flips one bit of the next ones to be sent, and is faster than they are.
    Race,
}

/// Which start a liar shows to a peer, so that it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slander {
    /// The peer's own.
    Own,
    /// The peer's, made later: nobody signed that.
    Later,
    /// That of another peer.
    Other,
}
