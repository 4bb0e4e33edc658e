//! Signing in two rounds: who is willing, then the parts of the first t who are. **Insecure**: see
//! the module.
//!
//! ```text
//! first   version 1 | willing 0 or 1
//! second  version 1 | m^(d_j) mod N, as many bytes as N has
//! ```
//! The signers must be fixed before the parts are made: λ depends on all of them.

use super::key::{TsRsaShare, TsRsaSharing};
use super::offset::{Offset, combine};
use super::{of, of_nobody, whole_round};
use folkmoot_base::{Entropy, MemberId, codec};
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::modular::{Residue, decode, pow};
use folkmoot_signing::rsa::representative;
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, Outgoing, Run};
use std::collections::BTreeSet;

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A message, as PKCS#1 v1.5 with SHA-256.
    Message(&'a [u8]),
    /// A bare number below N, big endian, as in the vectors.
    Number(&'a [u8]),
}

impl Subject<'_> {
    fn residue(self, sharing: &TsRsaSharing) -> Option<Residue> {
        match self {
            Self::Message(message) => representative(&sharing.modulus, message),
            Self::Number(bytes) => {
                Some(sharing.modulus.residue(&decode(bytes, sharing.modulus.precision())?))
            }
        }
    }
}

/// One hand in a signature. **Insecure**: for study.
#[derive(Debug)]
pub struct TsRsaSign {
    sharing: TsRsaSharing,
    share: TsRsaShare,
    me: MemberId,
    willing: bool,
    m: Residue,
    hands: Vec<MemberId>,
    /// SL, once it is fixed.
    signers: Option<Vec<MemberId>>,
    /// Whether a round was refused, or the run has come to its end.
    over: bool,
}

impl TsRsaSign {
    /// Among `hands`, of whom those who are willing sign, the first t of them.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] if `me` is not among them, they are fewer than t, or the number
    /// is too long.
    pub fn new(
        sharing: &TsRsaSharing,
        share: &TsRsaShare,
        me: MemberId,
        hands: &[MemberId],
        willing: bool,
        subject: Subject<'_>,
        _: ForStudy,
    ) -> Result<Self, Fault> {
        let hands: Vec<MemberId> = hands.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let refuse = || of_nobody(FaultKind::LocalSigners);
        if hands.len() < usize::from(sharing.threshold) || !hands.contains(&me) {
            return Err(refuse());
        }
        let m = subject.residue(sharing).ok_or_else(refuse)?;
        let (sharing, share) = (sharing.clone(), share.clone());
        Ok(Self { sharing, share, me, willing, m, hands, signers: None, over: false })
    }

    /// The signers, once they are fixed.
    pub fn signers(&self) -> Option<&[MemberId]> {
        self.signers.as_deref()
    }

    fn fix(&mut self, heard: &Incoming) -> Result<Next<Offset>, Fault> {
        let mut signers = Vec::new();
        for (hand, words) in &heard.to_all {
            match words.as_slice() {
                [codec::WIRE_VERSION, 0] => {}
                [codec::WIRE_VERSION, 1] => signers.push(*hand),
                _ => return Err(of(FaultKind::PeerMalformed, *hand)),
            }
        }
        signers.truncate(usize::from(self.sharing.threshold));
        if signers.len() < usize::from(self.sharing.threshold) {
            return Err(of_nobody(FaultKind::LocalSigners));
        }
        let said = if signers.contains(&self.me) { self.part(&signers)? } else { Vec::new() };
        self.signers = Some(signers);
        Ok(Next::Say(Outgoing { to_all: said, ..Outgoing::default() }))
    }

    fn part(&self, signers: &[MemberId]) -> Result<Vec<u8>, Fault> {
        let exponent = self.share.weighted(&self.sharing, &self.me, signers, 0);
        let exponent = exponent.ok_or_else(|| of_nobody(FaultKind::LocalSigners))?;
        let mut words = vec![codec::WIRE_VERSION];
        words.extend(self.sharing.modulus.encode(&pow(&self.m, exponent.expose())));
        Ok(words)
    }

    fn finish(&self, heard: &Incoming) -> Result<Next<Offset>, Fault> {
        let mut parts = Vec::new();
        for (hand, words) in &heard.to_all {
            let part = self.sharing.body(words).and_then(|body| self.sharing.modulus.decode(body));
            parts.push(part.ok_or_else(|| of(FaultKind::PeerMalformed, *hand))?);
        }
        let done = combine(&self.sharing, &self.m, &parts);
        done.map(Next::Done).ok_or_else(|| of_nobody(FaultKind::Unattributable))
    }
}

impl Run for TsRsaSign {
    type Done = Offset;

    fn start(&mut self, _entropy: &mut dyn Entropy) -> Next<Self::Done> {
        Next::Say(Outgoing {
            to_all: vec![codec::WIRE_VERSION, u8::from(self.willing)],
            ..Outgoing::default()
        })
    }

    fn awaited(&self) -> Vec<MemberId> {
        if self.over {
            return Vec::new();
        }
        self.signers.clone().unwrap_or_else(|| self.hands.clone())
    }

    fn hear(&mut self, heard: Incoming, _entropy: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault> {
        let awaited = self.awaited();
        if core::mem::replace(&mut self.over, true) {
            return Err(of_nobody(FaultKind::LocalRound));
        }
        whole_round(&heard, &awaited)?;
        if self.signers.is_some() {
            return self.finish(&heard);
        }
        let next = self.fix(&heard)?;
        self.over = false;
        Ok(next)
    }
}
