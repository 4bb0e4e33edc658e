//! One dial, as the side that dials sees its handshake.

use crate::assembly::Assembly;
use crate::handshake::{Own, Proved, gather};
use crate::limits::{COOKIES_ANSWERED, RESEND_FIRST, RESEND_MAX};
use crate::message::{Cookie, Datagram, Part};
use crate::noise::Handshake;
use crate::peers::Association;
use crate::start::Role;
use crate::{Credentials, Exchange, LinkError};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Digest, Instant, Locator, NodeId, Secret};

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
