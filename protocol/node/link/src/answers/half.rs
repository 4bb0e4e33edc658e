//! One handshake that was answered and is not finished.

use crate::assembly::Assembly;
use crate::handshake::{Own, Proved, gather};
use crate::message::{Datagram, Part};
use crate::noise::{Handshake, Refused};
use crate::peers::Association;
use crate::start::Role;
use crate::{Credentials, LinkError};
use bytes::Bytes;
use folkmoot_base::{Instant, Locator, Secret};

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
pub(crate) struct HalfOpen {
    pub(crate) hello: Hello,
    index: u32,
    pub(crate) started: Instant,
    pub(crate) repeated: Instant,
    seed: Secret<[u8; 32]>,
    proof: Vec<u8>,
    handshake: Box<Handshake>,
    pub(crate) reply: Vec<Bytes>,
    assembly: Option<Assembly>,
}

impl HalfOpen {
    pub(crate) fn new<C: Credentials>(
        now: Instant,
        own: &Own<'_, C>,
        mut hello: Hello,
        index: u32,
        seed: [u8; 32],
    ) -> Result<Self, LinkError> {
        // Copied, so that it does not keep a larger buffer alive.
        hello.noise = Bytes::copy_from_slice(&hello.noise);
        let (from, their_index) = (hello.from.clone(), hello.index);
        let seed = Secret::new(seed);
        let mut handshake = Handshake::new(own.exchange, false, &own.group, own.own, seed.clone())
            .map_err(|_| LinkError::LocalCrypto)?;
        let refuse = |_: Refused| LinkError::WireForged(from.clone());
        handshake.read(&hello.noise).map_err(refuse)?;
        let proof = own.prove(Role::Answerer, handshake.hash(), index, None)?;
        let message = handshake.write(&proof).map_err(refuse)?;
        let reply =
            Part::cut(their_index, &message).into_iter().map(|part| Datagram::Reply(part).encode()).collect();
        let handshake = Box::new(handshake);
        Ok(Self { hello, index, started: now, repeated: now, seed, proof, handshake, reply, assembly: None })
    }

    /// Takes a part of the Finish; returns the proved identity once the Finish is whole.
    /// `WireForged` leaves the handshake as it was.
    pub(crate) fn finish<C: Credentials>(
        &mut self,
        now: Instant,
        from: &Locator,
        own: &Own<'_, C>,
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
        let node = own.credentials.node();
        let (claim, proof, start) = own
            .check(Role::Dialler, hash, remote_static, Some(node), &payload)
            .ok_or_else(|| LinkError::WireUnproved(from.clone()))?;
        if claim.node == node {
            return Err(LinkError::LocalSelf(from.clone()));
        }
        let association = Association {
            common: own.common(from, claim.node, &proof)?,
            index: self.index,
            remote: proof.index,
            low: claim.node < node,
            heard: now,
            asked: None,
            seal: own.seal(&mut self.handshake)?,
        };
        Ok(Some(Proved { claim, certificate: proof.certificate.0, start, association }))
    }

    /// A message that did not open may have advanced the cipher's state: make the state again from
    /// the seed.
    fn rebuild<C: Credentials>(&mut self, own: &Own<'_, C>) -> Result<(), LinkError> {
        let again = || -> Result<Handshake, Refused> {
            let mut handshake = Handshake::new(own.exchange, false, &own.group, own.own, self.seed.clone())?;
            handshake.read(&self.hello.noise)?;
            handshake.write(&self.proof)?;
            Ok(handshake)
        };
        *self.handshake = again().map_err(|_| LinkError::LocalCrypto)?;
        Ok(())
    }
}
