//! What a call brings to each part.

use crate::limits::CERTIFICATE_BYTES_MAX;
use crate::noise::Static;
use crate::out::Out;
use crate::routes::Routes;
use crate::{Config, Credentials, LinkError};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Digest, Entropy, NodeId, digest, draw};

/// Who this process is, and how it is set. All parts read it, and none changes it.
#[derive(Debug)]
pub(crate) struct Own<C: ?Sized> {
    pub(crate) config: Config,
    /// The static key that this process drew.
    pub(crate) key: Static,
    pub(crate) certificate: Bytes,
    pub(crate) credentials: C,
}

/// The same, whatever the credentials are.
pub(crate) type Me<'a> = Own<dyn Credentials + 'a>;

/// What a part is handed in a call: everything outside the parts.
pub(crate) struct Around<'a> {
    pub(crate) own: &'a Me<'a>,
    pub(crate) routes: &'a mut Routes,
    pub(crate) out: &'a mut Out,
}

impl<C: Credentials> Own<C> {
    /// Draws this process's own static key.
    pub(crate) fn new(mut config: Config, credentials: C, entropy: &mut dyn Entropy) -> Self {
        config.silence = config.silence.max(Duration::from_millis(10));
        Self { config, key: Static::new(draw(entropy)), certificate: credentials.certificate(), credentials }
    }

    /// Shows another certificate from now on. Returns its digest.
    pub(crate) fn recertify(&mut self, certificate: Bytes) -> Result<Digest, LinkError> {
        let excess_bytes = certificate.len().saturating_sub(CERTIFICATE_BYTES_MAX);
        if excess_bytes > 0 {
            return Err(LinkError::LocalTooLong { excess_bytes });
        }
        self.certificate = certificate;
        Ok(digest(&[&self.certificate]))
    }
}

impl Me<'_> {
    pub(crate) fn node(&self) -> NodeId {
        self.credentials.node()
    }

    /// How long a peer may be silent.
    pub(crate) fn silence(&self) -> Duration {
        self.config.silence
    }

    /// Whether this is a mutant that does that wrong.
    pub(crate) fn is(&self, danger: Danger) -> bool {
        self.config.danger.is(danger)
    }
}
