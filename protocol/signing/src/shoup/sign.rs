//! Signing, in one round: exactly t holders send their parts. The result is verified; the parts are
//! verified only if the result is no signature.

use super::integers::{combine, delta};
use super::proof::{Claim, Part};
use super::share::ShoupShare;
use super::sharing::ShoupSharing;
use crate::base::{Entropy, MemberId};
use crate::modular::Residue;
use crate::run::{Fault, FaultKind, Incoming, Next, Outgoing, Run, RunId, whole_round};
use std::collections::BTreeSet;

/// One holder in a signature. The result is a PKCS#1 v1.5 signature with SHA-256, as long as the
/// modulus: the same bytes whoever signs.
#[derive(Debug)]
pub struct ShoupSign {
    sharing: ShoupSharing,
    share: ShoupShare,
    run: RunId,
    message: Vec<u8>,
    x: Residue,
    /// The signers, in order, each with its seat.
    signers: Vec<(MemberId, u16)>,
    over: bool,
}

impl ShoupSign {
    /// A run of exactly t holders, one of whom is the share's. `message` is signed as it is (X.509
    /// and CMS fix its bytes).
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] otherwise, and if the share is of another deal (SHO-03).
    pub fn new(
        sharing: &ShoupSharing,
        share: &ShoupShare,
        signers: &[MemberId],
        run: RunId,
        message: &[u8],
    ) -> Result<Self, Fault> {
        let refuse = || Fault::of_nobody(FaultKind::LocalSigners);
        let signers: BTreeSet<MemberId> = signers.iter().copied().collect();
        let me = sharing.holder(share.seat).filter(|_| share.epoch == sharing.epoch()).ok_or_else(refuse)?;
        if signers.len() != usize::from(sharing.threshold) || !signers.contains(&me) {
            return Err(refuse());
        }
        let seated = signers.into_iter().map(|signer| Some((signer, sharing.seat_of(&signer)?)));
        let signers = seated.collect::<Option<Vec<_>>>().ok_or_else(refuse)?;
        let x = sharing.key.representative(message).ok_or_else(refuse)?;
        let (sharing, share) = (sharing.clone(), share.clone());
        Ok(Self { sharing, share, run, message: message.to_vec(), x, signers, over: false })
    }

    fn signature(&self, parts: &[(u16, Residue)]) -> Option<Vec<u8>> {
        let y = combine(&self.sharing.key, &delta(self.sharing.size()), &self.x, parts)?;
        let signature = self.sharing.key.modulus().encode(&y);
        self.sharing.key.verify(&self.message, &signature).ok().map(|()| signature)
    }

    /// All whose messages have no valid form, or if there are none, all whose proof fails. The same
    /// at all who heard the same messages.
    fn blame(&self, parts: &[(MemberId, u16, Part)]) -> Fault {
        let claim = Claim::new(&self.sharing, self.run, &self.x);
        let bad = parts.iter().filter(|(_, seat, part)| !claim.proves(*seat, part));
        let culprits: Vec<MemberId> = bad.map(|(signer, _, _)| *signer).collect();
        let kind = if culprits.is_empty() { FaultKind::Unattributable } else { FaultKind::PeerPart };
        Fault { kind, culprits }
    }

    fn read(&self, heard: &Incoming) -> Result<Vec<(MemberId, u16, Part)>, Fault> {
        let mut parts = Vec::new();
        let mut culprits = Vec::new();
        for (signer, seat) in &self.signers {
            match heard.to_all.get(signer).and_then(|message| Part::read(&self.sharing, message)) {
                Some(part) => parts.push((*signer, *seat, part)),
                None => culprits.push(*signer),
            }
        }
        let kind = FaultKind::PeerMalformed;
        if culprits.is_empty() { Ok(parts) } else { Err(Fault { kind, culprits }) }
    }
}

impl Run for ShoupSign {
    type Done = Vec<u8>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Self::Done> {
        let to_all = Claim::new(&self.sharing, self.run, &self.x).part(&self.share, entropy);
        Next::Say(Outgoing { to_all, ..Outgoing::default() })
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.signers.iter().map(|(signer, _)| *signer).collect()
    }

    fn hear(&mut self, heard: Incoming, _entropy: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault> {
        if core::mem::replace(&mut self.over, true) {
            return Err(Fault::of_nobody(FaultKind::LocalRound));
        }
        whole_round(&heard, &self.awaited())?;
        let parts = self.read(&heard)?;
        let values: Vec<(u16, Residue)> =
            parts.iter().map(|(_, seat, part)| (*seat, part.value.clone())).collect();
        self.signature(&values).map(Next::Done).ok_or_else(|| self.blame(&parts))
    }
}
