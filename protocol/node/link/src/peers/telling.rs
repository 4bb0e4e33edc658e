//! Our own new certificate on its way to one peer.

use folkmoot_base::{Digest, Instant};

/// What the peer has still to be told, and when to tell it again.
#[derive(Debug)]
pub(super) struct Telling {
    /// The digest of our certificate, until the peer says that it has the certificate.
    untold: Option<Digest>,
    again: Instant,
}

impl Telling {
    pub(super) fn new(now: Instant) -> Self {
        Self { untold: None, again: now }
    }

    /// There is a certificate to tell.
    pub(super) fn begin(&mut self, told: Digest) {
        self.untold = Some(told);
    }

    /// The peer has a certificate.
    pub(super) fn has(&mut self, told: Digest) {
        self.untold.take_if(|untold| *untold == told);
    }

    /// When to tell it again, if there is anything to tell.
    pub(super) fn due(&self) -> Option<Instant> {
        self.untold.map(|_| self.again)
    }

    /// Notes when to tell it again. Returns whether there is anything to tell.
    pub(super) fn tell(&mut self, again: Instant) -> bool {
        let tells = self.untold.is_some();
        if tells {
            self.again = again;
        }
        tells
    }
}
