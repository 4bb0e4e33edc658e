//! Handshakes: Hello, Retry, Reply, Finish (DECISIONS D1).
//!
//! ```text
//!  dialler                         answerer
//!  Hello(no cookie) ------------->            no state
//!                   <------------- Retry(cookie)
//!  Hello(cookie)    ------------->            half-open, bounded, timed
//!                   <------------- Reply      certificate and signature, encrypted
//!  Finish           ------------->            certificate and signature, encrypted; link up
//!                   <------------- Data(Ping) link up
//! ```
//! With ML-KEM-768 the first Hello is empty. A Refusal answers Hellos of the other form. The
//! dialler repeats what is not answered, with back-off; the answerer repeats its answer. An
//! association changes only once the peer's identity is proved, and of two proved ones the newer
//! holds.

use crate::assembly::Assembly;
use crate::limits::{COOKIES_ANSWERED, PART_BYTES, RESEND_FIRST, RESEND_MAX};
use crate::message::{Cookie, Datagram, Part, Proof};
use crate::noise::{Handshake, Refused, Static};
use crate::peer::Association;
use crate::seal::{NoSeal, PairSeal};
use crate::start::{LABEL, Role, SignedStart, Start};
use crate::{Claim, Common, Credentials, Exchange, LinkError, Versions};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Blob, Danger, Digest, GroupId, Instant, Locator, Mutant, NodeId, Secret, codec};

/// What all handshakes of a process share.
pub(crate) struct Own<'a, C> {
    pub(crate) group: GroupId,
    pub(crate) exchange: Exchange,
    pub(crate) versions: Versions,
    pub(crate) capabilities: u64,
    pub(crate) credentials: &'a C,
    pub(crate) certificate: &'a Bytes,
    pub(crate) own: &'a Static,
    pub(crate) started: u64,
    pub(crate) seals_max: u64,
    pub(crate) danger: Mutant,
}

/// An identity proved by a handshake, and the association that goes with it.
#[derive(Debug)]
pub(crate) struct Proved {
    pub(crate) claim: Claim,
    pub(crate) certificate: Bytes,
    pub(crate) start: SignedStart,
    pub(crate) association: Association,
}

/// A Hello from a locator that may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) from: Locator,
    pub(crate) index: u32,
    /// Noise message 1; empty in a first Hybrid Hello.
    pub(crate) noise: Bytes,
}

/// A dial on its way.
#[derive(Debug)]
pub(crate) struct Dial {
    pub(crate) at: Locator,
    pub(crate) node: Option<NodeId>,
    /// For new keys of a link that is up: nobody asked, so nobody is told if it fails.
    pub(crate) rekey: bool,
    pub(crate) index: u32,
    pub(crate) deadline: Instant,
    pub(crate) resend: Instant,
    wait: Duration,
    exchange: Exchange,
    noise: Bytes,
    cookie: Cookie,
    cookies: u8,
    pub(crate) repeated: Instant,
    /// The form that somebody at that locator asks for.
    pub(crate) refused: Option<Exchange>,
    pub(crate) stage: Stage,
}

/// What a dial waits for.
#[derive(Debug)]
pub(crate) enum Stage {
    /// A Reply.
    Hello(Box<Handshake>, Option<Assembly>),
    /// Something sealed, which shows that the Finish came.
    Finish(Box<Proved>, Vec<Bytes>),
}

impl Dial {
    pub(crate) fn new<C: Credentials>(
        now: Instant,
        own: &Own<'_, C>,
        target: (Locator, Option<NodeId>),
        index: u32,
        deadline: Instant,
        seed: [u8; 32],
    ) -> Result<Self, LinkError> {
        let mut handshake = Handshake::new(own.exchange, true, &own.group, own.own, Secret::new(seed))
            .map_err(|_| LinkError::LocalCrypto)?;
        let noise = handshake.write(&[]).map_err(|_| LinkError::LocalCrypto)?.into();
        Ok(Self {
            at: target.0,
            node: target.1,
            rekey: false,
            index,
            deadline,
            resend: now,
            wait: RESEND_FIRST,
            exchange: own.exchange,
            noise,
            cookie: Cookie::default(),
            cookies: 0,
            repeated: now,
            refused: None,
            stage: Stage::Hello(Box::new(handshake), None),
        })
    }

    /// What to send now, and when again.
    pub(crate) fn send(&mut self, now: Instant) -> Vec<Bytes> {
        self.resend = (now + self.wait).min(self.deadline.max(now + Duration::from_millis(1)));
        self.wait = self.wait.saturating_mul(2).min(RESEND_MAX);
        self.repeated = now;
        match &self.stage {
            Stage::Hello(..) => self.hello().map(|hello| hello.encode()).into_iter().collect(),
            Stage::Finish(_, datagrams) => datagrams.clone(),
        }
    }

    fn hello(&self) -> Option<Datagram> {
        let (from, cookie) = (self.index, self.cookie);
        Some(match self.exchange {
            Exchange::Classical => {
                Datagram::Hello { from, cookie, noise: self.noise.as_ref().try_into().ok()? }
            }
            Exchange::Hybrid if self.cookies == 0 => {
                Datagram::HybridHello { from, cookie, noise: Bytes::new() }
            }
            Exchange::Hybrid => Datagram::HybridHello { from, cookie, noise: self.noise.clone() },
        })
    }

    /// Takes a cookie (LINK-03). Returns whether to send a Hello again at once.
    pub(crate) fn retry(&mut self, cookie: Cookie) -> bool {
        if !matches!(self.stage, Stage::Hello(..)) {
            return false;
        }
        self.cookie = cookie;
        self.cookies = self.cookies.saturating_add(1);
        if self.cookies == 1 {
            self.wait = RESEND_FIRST;
        }
        self.cookies <= COOKIES_ANSWERED
    }

    /// Takes a part of the Reply. Once the Reply is whole and the peer has proved its identity, the
    /// stage is Finish.
    pub(crate) fn reply<C: Credentials>(
        &mut self,
        now: Instant,
        from: &Locator,
        own: &Own<'_, C>,
        part: &Part,
    ) -> Result<Progress, LinkError> {
        let Stage::Hello(handshake, assembly) = &mut self.stage else { return Ok(Progress::Again) };
        let Some(message) = gather(assembly, part).ok_or_else(|| LinkError::WireForged(from.clone()))? else {
            return Ok(Progress::Wait);
        };
        *assembly = None;
        let hash = handshake.hash();
        let payload = handshake.read(&message).map_err(|_| LinkError::WireForged(from.clone()))?;
        // From here on the sender is the peer of this handshake: a mistake now ends the dial.
        match self.finish(now, from, own, hash, &payload) {
            Ok(()) => Ok(Progress::Done),
            Err((error, last)) => Ok(Progress::Failed(error, last)),
        }
    }

    fn finish<C: Credentials>(
        &mut self,
        now: Instant,
        from: &Locator,
        own: &Own<'_, C>,
        hash: Option<Digest>,
        payload: &[u8],
    ) -> Result<(), Parting> {
        let Stage::Hello(handshake, _) = &mut self.stage else { return Ok(()) };
        let remote_static = handshake.remote_static().ok_or(LinkError::LocalCrypto)?;
        let (claim, proof, start) = own
            .check(Role::Answerer, hash, remote_static, None, payload)
            .ok_or_else(|| LinkError::WireUnproved(from.clone()))?;
        let node = own.credentials.node();
        if claim.node == node {
            return Err(LinkError::LocalSelf(from.clone()).into());
        }
        if let Some(wanted) = self.node.filter(|wanted| *wanted != claim.node) {
            return Err(LinkError::PeerOther { wanted, peer: claim.node }.into());
        }
        let answer = own.prove(Role::Dialler, handshake.hash(), self.index, Some(claim.node))?;
        let message = handshake.write(&answer).map_err(|_| LinkError::LocalCrypto)?;
        let datagrams: Vec<Bytes> = Part::cut(proof.index, &message)
            .into_iter()
            .map(|part| Datagram::Finish(part).encode())
            .collect();
        // The Finish tells the peer what we speak: both are to know why there is no link.
        let common = match own.common(from, claim.node, &proof) {
            Ok(common) => common,
            Err(error) => return Err((error, datagrams)),
        };
        let association = Association {
            common,
            index: self.index,
            remote: proof.index,
            low: node < claim.node,
            heard: now,
            asked: None,
            seal: own.seal(handshake)?,
        };
        self.wait = RESEND_FIRST;
        let proved = Proved { claim, certificate: proof.certificate.0, start, association };
        self.stage = Stage::Finish(Box::new(proved), datagrams);
        Ok(())
    }
}

/// What a Reply did to a dial.
#[derive(Debug)]
pub(crate) enum Progress {
    /// More parts are missing.
    Wait,
    /// It had come before: the Finish may be lost.
    Again,
    /// The peer is proved; send the Finish.
    Done,
    /// The dial has ended; with this the peer learns why.
    Failed(LinkError, Vec<Bytes>),
}

/// Why a dial ended, and what is sent at the last.
type Parting = (LinkError, Vec<Bytes>);

impl From<LinkError> for Parting {
    fn from(error: LinkError) -> Self {
        (error, Vec::new())
    }
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

/// Adds a part. `None`: it does not fit, and all parts are forgotten. `Some(None)`: more are
/// missing.
fn gather(assembly: &mut Option<Assembly>, part: &Part) -> Option<Option<Bytes>> {
    if assembly.is_none() {
        *assembly = Assembly::new(part.parts, PART_BYTES);
    }
    let whole = assembly.as_mut()?.insert(part.part, part.parts, &part.bytes);
    if whole.is_err() {
        *assembly = None;
    }
    whole.ok()
}

impl<C: Credentials> Own<'_, C> {
    fn seal(&self, handshake: &mut Handshake) -> Result<Box<dyn crate::FrameSeal>, LinkError> {
        let (seal, open) = handshake.split().ok_or(LinkError::LocalCrypto)?;
        if self.danger.is(Danger::LinkPlain) {
            return Ok(Box::new(NoSeal::default()));
        }
        let seal = PairSeal::new(&seal, &open, self.seals_max).ok_or(LinkError::LocalCrypto)?;
        Ok(Box::new(seal))
    }

    fn prove(
        &self,
        role: Role,
        hash: Option<Digest>,
        index: u32,
        peer: Option<NodeId>,
    ) -> Result<Vec<u8>, LinkError> {
        let hash = hash.ok_or(LinkError::LocalCrypto)?;
        let start = Start::new(role, hash, peer, self.started, self.own.public);
        let statement = start.statement(&self.group, self.credentials.node());
        let signature = self.credentials.sign(LABEL, &statement).ok_or(LinkError::LocalCrypto)?;
        let certificate = Blob(self.certificate.clone());
        let (versions, capabilities) = (self.versions, self.capabilities);
        Ok(codec::encode(&Proof {
            index,
            started: self.started,
            versions,
            capabilities,
            certificate,
            signature,
        }))
    }

    /// LINK-27: what both can do.
    fn common(&self, at: &Locator, peer: NodeId, proof: &Proof) -> Result<Common, LinkError> {
        let (ours, theirs) = (self.versions, proof.versions);
        let version = ours.common(theirs).ok_or_else(|| LinkError::PeerVersions {
            at: at.clone(),
            peer,
            ours,
            theirs,
        })?;
        Ok(Common { version, capabilities: self.capabilities & proof.capabilities })
    }

    /// LINK-05: the signature is by the certificate's key, over this very handshake, its static key
    /// and this ring.
    fn check(
        &self,
        role: Role,
        hash: Option<Digest>,
        remote_static: [u8; 32],
        to: Option<NodeId>,
        payload: &[u8],
    ) -> Option<(Claim, Proof, SignedStart)> {
        let proof: Proof = codec::decode(payload).ok()?;
        let certificate = proof.certificate.as_ref();
        if certificate.len() > crate::limits::CERTIFICATE_BYTES_MAX {
            return None;
        }
        let node = self.credentials.claim(certificate)?.node;
        let start = Start::new(role, hash?, to, proof.started, remote_static);
        let statement = start.statement(&self.group, node);
        let claim = self.credentials.verify(certificate, LABEL, &statement, &proof.signature)?;
        let start = SignedStart { start, signature: proof.signature.clone() };
        (claim.node == node).then_some((claim, proof, start))
    }
}
