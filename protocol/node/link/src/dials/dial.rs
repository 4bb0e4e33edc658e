//! One dial, as the side that dials sees its handshake.

use crate::assembly::Assembly;
use crate::association::Association;
use crate::call::{Around, Me};
use crate::handshake::{Proved, gather};
use crate::limits::{COOKIES_ANSWERED, DIAL_LIFE, REPEAT_MIN, RESEND_FIRST, RESEND_MAX};
use crate::message::{Cookie, Datagram, Part};
use crate::noise::Handshake;
use crate::start::Role;
use crate::{Exchange, LinkError};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::{Digest, Instant, Locator, NodeId, Secret};

/// Whom a dial is to reach.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) at: Locator,
    pub(crate) node: Option<NodeId>,
    /// For new keys of a link that is up: nobody asked, so nobody is told if it fails.
    pub(crate) rekey: bool,
}

/// A dial on its way.
#[derive(Debug)]
pub(super) struct Dial {
    target: Target,
    index: u32,
    deadline: Instant,
    resend: Instant,
    wait: Duration,
    /// The first wait for an answer (LINK-35).
    first: Duration,
    /// When the Hello with a cookie left first.
    asked: Instant,
    exchange: Exchange,
    noise: Bytes,
    cookie: Cookie,
    cookies: u8,
    repeated: Instant,
    /// The form that somebody at that locator asks for.
    refused: Option<Exchange>,
    stage: Stage,
}

/// What a dial waits for.
#[derive(Debug)]
enum Stage {
    /// A Reply.
    Hello(Box<Handshake>, Option<Assembly>),
    /// Something sealed, which shows that the Finish came.
    Finish(Box<Proved>, Vec<Bytes>),
}

impl Dial {
    pub(super) fn new(
        now: Instant,
        own: &Me<'_>,
        target: Target,
        index: u32,
        seed: [u8; 32],
    ) -> Result<Self, LinkError> {
        let (exchange, seed) = (own.config.exchange, Secret::new(seed));
        let mut handshake = Handshake::new(exchange, true, &own.config.group, &own.key, seed)
            .map_err(|_| LinkError::LocalCrypto)?;
        let noise = handshake.write(&[]).map_err(|_| LinkError::LocalCrypto)?.into();
        Ok(Self {
            target,
            index,
            deadline: now + DIAL_LIFE,
            resend: now,
            wait: RESEND_FIRST,
            first: RESEND_FIRST,
            asked: now,
            exchange,
            noise,
            cookie: Cookie::default(),
            cookies: 0,
            repeated: now,
            refused: None,
            stage: Stage::Hello(Box::new(handshake), None),
        })
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// When to send again, if no answer comes.
    pub(super) fn resend(&self) -> Instant {
        self.resend
    }

    /// Whether nobody has answered for too long.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.deadline <= now
    }

    /// Whether it is long enough ago that something was sent.
    pub(super) fn may_repeat(&self, now: Instant) -> bool {
        now.since(self.repeated) >= REPEAT_MIN
    }

    /// The form that somebody there asks for.
    pub(super) fn refused(&self) -> Option<Exchange> {
        self.refused
    }

    /// What to send now, and when again.
    pub(super) fn send(&mut self, now: Instant) -> Vec<Bytes> {
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

    /// Takes a cookie (LINK-03). Returns whether to send a Hello again at once. The first one shows
    /// how long a round trip takes.
    pub(super) fn retry(&mut self, now: Instant, cookie: Cookie) -> bool {
        if !matches!(self.stage, Stage::Hello(..)) {
            return false;
        }
        self.cookie = cookie;
        self.cookies = self.cookies.saturating_add(1);
        if self.cookies == 1 {
            self.asked = now;
            // At most so long, and less if it answers an earlier one: rather too early than too late.
            let trip = now.since(self.repeated);
            self.first = (trip + trip / 2).clamp(RESEND_FIRST, RESEND_MAX);
            self.wait = self.first;
        }
        self.cookies <= COOKIES_ANSWERED
    }

    /// The node that was dialled asks for the other form. Returns whether that is news; `None` if
    /// somebody there has answered already.
    pub(super) fn refuse(&mut self, asks: Exchange) -> Option<bool> {
        matches!(self.stage, Stage::Hello(..)).then(|| self.refused.replace(asks).is_none())
    }

    /// Takes a part of the Reply. Once the Reply is whole and the peer has proved its identity, the
    /// stage is Finish.
    pub(super) fn reply(
        &mut self,
        now: Instant,
        from: &Locator,
        own: &Me<'_>,
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

    fn finish(
        &mut self,
        now: Instant,
        from: &Locator,
        own: &Me<'_>,
        hash: Option<Digest>,
        payload: &[u8],
    ) -> Result<(), Parting> {
        let Stage::Hello(handshake, _) = &mut self.stage else { return Ok(()) };
        let remote_static = handshake.remote_static().ok_or(LinkError::LocalCrypto)?;
        let (claim, proof, start) = own
            .check(Role::Answerer, hash, remote_static, None, payload)
            .ok_or_else(|| LinkError::WireUnproved(from.clone()))?;
        let node = own.node();
        if claim.node == node {
            return Err(LinkError::LocalSelf(from.clone()).into());
        }
        if let Some(wanted) = self.target.node.filter(|wanted| *wanted != claim.node) {
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
        let indices = (self.index, proof.index);
        let association = Association::new(now, common, indices, node < claim.node, own.seal(handshake)?);
        self.wait = self.first;
        let trip = now.since(self.asked);
        let proved = Proved { claim, certificate: proof.certificate.0, start, association, trip };
        self.stage = Stage::Finish(Box::new(proved), datagrams);
        Ok(())
    }

    /// Opens Data: if it opens, the peer has our Finish.
    pub(super) fn confirm(
        &mut self,
        now: Instant,
        from: &Locator,
        datagram: BytesMut,
        around: &mut Around<'_>,
    ) -> Result<Bytes, LinkError> {
        let Stage::Finish(proved, _) = &mut self.stage else {
            return Err(LinkError::WireUnknown(from.clone()));
        };
        proved.association.check_version(around.own, from, &datagram)?;
        let opened = proved.association.open(now, from, datagram);
        Ok(opened.map_err(|_| LinkError::WireForged(from.clone()))?.plaintext)
    }

    /// The identity that was proved.
    pub(super) fn into_proved(self) -> Option<Proved> {
        match self.stage {
            Stage::Hello(..) => None,
            Stage::Finish(proved, _) => Some(*proved),
        }
    }
}

/// What a Reply did to a dial.
#[derive(Debug)]
pub(super) enum Progress {
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
