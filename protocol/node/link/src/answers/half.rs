//! One handshake that was answered and is not finished.

use crate::LinkError;
use crate::assembly::Assembly;
use crate::association::Association;
use crate::call::Me;
use crate::handshake::{Proved, gather};
use crate::limits::{HALF_OPEN_LIFE, REPEAT_MIN};
use crate::message::{Datagram, Part};
use crate::noise::{Handshake, Refused};
use crate::start::Role;
use bytes::Bytes;
use folkmoot_base::{Host, Instant, Locator, Secret};

/// A Hello from a locator that may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) from: Locator,
    pub(crate) index: u32,
    /// Noise message 1; empty in a first Hybrid Hello.
    pub(crate) noise: Bytes,
}

/// A handshake that we answered and that is not finished.
#[derive(Debug)]
pub(super) struct HalfOpen {
    hello: Hello,
    index: u32,
    started: Instant,
    repeated: Instant,
    seed: Secret<[u8; 32]>,
    proof: Vec<u8>,
    handshake: Box<Handshake>,
    reply: Vec<Bytes>,
    assembly: Option<Assembly>,
}

impl HalfOpen {
    pub(super) fn new(
        now: Instant,
        own: &Me<'_>,
        mut hello: Hello,
        index: u32,
        seed: [u8; 32],
    ) -> Result<Self, LinkError> {
        // Copied, so that it does not keep a larger buffer alive.
        hello.noise = Bytes::copy_from_slice(&hello.noise);
        let (from, their_index) = (hello.from.clone(), hello.index);
        let seed = Secret::new(seed);
        let mut handshake = begin(own, seed.clone()).map_err(|_| LinkError::LocalCrypto)?;
        let refuse = |_: Refused| LinkError::WireForged(from.clone());
        handshake.read(&hello.noise).map_err(refuse)?;
        let proof = own.prove(Role::Answerer, handshake.hash(), index, None)?;
        let message = handshake.write(&proof).map_err(refuse)?;
        let reply =
            Part::cut(their_index, &message).into_iter().map(|part| Datagram::Reply(part).encode()).collect();
        let handshake = Box::new(handshake);
        Ok(Self { hello, index, started: now, repeated: now, seed, proof, handshake, reply, assembly: None })
    }

    pub(super) fn from(&self) -> &Locator {
        &self.hello.from
    }

    pub(super) fn host(&self) -> Host {
        self.hello.from.host()
    }

    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// When it is forgotten.
    pub(super) fn end(&self) -> Instant {
        self.started + HALF_OPEN_LIFE
    }

    /// Whether it answers this very Hello.
    pub(super) fn answers(&self, hello: &Hello) -> bool {
        self.hello == *hello
    }

    pub(super) fn reply(&self) -> Vec<Bytes> {
        self.reply.clone()
    }

    /// The Reply once more, if it is long enough ago that it was repeated.
    pub(super) fn repeat(&mut self, now: Instant) -> Option<Vec<Bytes>> {
        if now.since(self.repeated) < REPEAT_MIN {
            return None;
        }
        self.repeated = now;
        Some(self.reply())
    }

    /// Takes a part of the Finish; returns the proved identity once the Finish is whole.
    /// `WireForged` leaves the handshake as it was.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        from: &Locator,
        own: &Me<'_>,
        part: &Part,
    ) -> Result<Option<Proved>, LinkError> {
        let Some(message) =
            gather(&mut self.assembly, part).ok_or_else(|| LinkError::WireForged(from.clone()))?
        else {
            return Ok(None);
        };
        self.assembly = None;
        let hash = self.handshake.hash();
        let Ok(payload) = self.handshake.read(&message) else {
            self.rebuild(own)?;
            return Err(LinkError::WireForged(from.clone()));
        };
        let remote_static = self.handshake.remote_static().ok_or(LinkError::LocalCrypto)?;
        let node = own.node();
        let (claim, proof, start) = own
            .check(Role::Dialler, hash, remote_static, Some(node), &payload)
            .ok_or_else(|| LinkError::WireUnproved(from.clone()))?;
        if claim.node == node {
            return Err(LinkError::LocalSelf(from.clone()));
        }
        let common = own.common(from, claim.node, &proof)?;
        let (indices, seal) = ((self.index, proof.index), own.seal(&mut self.handshake)?);
        let association = Association::new(now, common, indices, claim.node < node, seal);
        let trip = now.since(self.started);
        Ok(Some(Proved { claim, certificate: proof.certificate.0, start, association, trip }))
    }

    /// A message that did not open may have advanced the cipher's state: make the state again from
    /// the seed.
    fn rebuild(&mut self, own: &Me<'_>) -> Result<(), LinkError> {
        let again = || -> Result<Handshake, Refused> {
            let mut handshake = begin(own, self.seed.clone())?;
            handshake.read(&self.hello.noise)?;
            handshake.write(&self.proof)?;
            Ok(handshake)
        };
        *self.handshake = again().map_err(|_| LinkError::LocalCrypto)?;
        Ok(())
    }
}

fn begin(own: &Me<'_>, seed: Secret<[u8; 32]>) -> Result<Handshake, Refused> {
    Handshake::new(own.config.exchange, false, &own.config.group, &own.key, seed)
}
