//! One signer in one run: commit to R_i, show R_i, answer.

use super::schnorr::{Nonce, challenge, fits};
use super::signature::SIGNATURE_LABEL;
use super::{MultiSignature, SecretKey, Signers};
use crate::base::{Digest, Entropy, MemberId, Secret, digest};
use crate::run::whole_round;
use crate::{Fault, FaultKind, Incoming, Next, Outgoing, PrimeGroup, Run, RunId};
use std::collections::BTreeMap;

/// A signer in a run that ends in one [`MultiSignature`], the same for all of them.
///
/// The nonce is drawn when the run begins and is in no store. The answer consumes it, and any fault
/// erases it. A run has no use for private messages and ignores them: not all signers hear them. A
/// participant that only watches hears the same messages, says nothing, and comes to the same end.
pub struct Signing<G: PrimeGroup> {
    run: RunId,
    /// The member that signs here; none if this participant only watches.
    signer: Option<(MemberId, Secret<G::Scalar>)>,
    signers: Signers<G>,
    subject: Digest,
    state: State<G>,
}

/// What the signer waits for.
enum State<G: PrimeGroup> {
    /// The beginning.
    Fresh,
    /// Everybody's commitment.
    Committed { nonce: Option<Nonce<G>> },
    /// Everybody's R_i.
    Shown { nonce: Option<Nonce<G>>, commitments: BTreeMap<MemberId, Digest> },
    /// Everybody's s_i.
    Answered { elements: BTreeMap<MemberId, G::Element>, sum: G::Element, challenge: G::Scalar },
    /// Nothing more.
    Over,
}

impl<G: PrimeGroup> Signing<G> {
    /// `me` among `signers`, for `message` under `label` (which begins with "folkmoot"). All
    /// signers are given the same; a signer given something else commits to something else, and is
    /// named.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] if `me` is not one of the signers by this key.
    pub fn new(
        run: RunId,
        me: MemberId,
        key: &SecretKey<G>,
        signers: Signers<G>,
        label: &'static [u8],
        message: &[u8],
    ) -> Result<Self, Fault> {
        if !signers.key(&me).is_some_and(|proven| key.is_of(proven)) {
            return Err(Fault::of_nobody(FaultKind::LocalSigners));
        }
        let signer = Some((me, key.secret().clone()));
        Ok(Self { signer, ..Self::watch(run, signers, label, message) })
    }

    /// A participant that hears what `signers` say, checks it, and has the signature at the end. It
    /// has no message and no secret of its own.
    pub fn watch(run: RunId, signers: Signers<G>, label: &'static [u8], message: &[u8]) -> Self {
        let subject = signers.subject(label, message);
        Self { run, signer: None, signers, subject, state: State::Fresh }
    }

    /// What `signer` says in the first round if `element` is its message in the second. It covers
    /// run and signer, so that nobody can open a commitment copied from elsewhere.
    fn commitment(&self, signer: &MemberId, element: &[u8]) -> Digest {
        let label = b"folkmoot asm commitment v1";
        digest(&[label, &[0], G::NAME, &[0], &self.run.0, &self.subject, &signer.0, element])
    }

    fn hear_commitments(
        &mut self,
        heard: &Incoming,
        nonce: Option<Nonce<G>>,
    ) -> Result<Next<MultiSignature<G>>, Fault> {
        let commitments = read(heard, |message| message.try_into().ok())?;
        let element = nonce.as_ref().map(|nonce| G::encode(&nonce.element())).unwrap_or_default();
        self.state = State::Shown { nonce, commitments };
        Ok(say(element))
    }

    fn hear_elements(
        &mut self,
        heard: &Incoming,
        nonce: Option<Nonce<G>>,
        commitments: &BTreeMap<MemberId, Digest>,
    ) -> Result<Next<MultiSignature<G>>, Fault> {
        let elements = read(heard, G::decode)?;
        refuse(FaultKind::PeerReveal, &heard.to_all, |signer, message| {
            commitments.get(signer) != Some(&self.commitment(signer, message))
        })?;
        // Only signers that share their nonces, or one holder of both, can have committed to the
        // same R_i.
        let mut by_element: BTreeMap<&[u8], Vec<&MemberId>> = BTreeMap::new();
        heard.to_all.iter().for_each(|(signer, message)| by_element.entry(message).or_default().push(signer));
        refuse(FaultKind::PeerCommitment, &heard.to_all, |_, message| {
            by_element.get(message.as_slice()).is_some_and(|same| same.len() > 1)
        })?;
        let sum = elements.values().fold(G::identity(), |sum, element| G::add(&sum, element));
        if sum == G::identity() {
            return Err(Fault::of_nobody(FaultKind::Again));
        }
        let challenge = challenge::<G>(SIGNATURE_LABEL, &self.subject, &sum);
        let answer = nonce
            .zip(self.signer.as_ref())
            .map(|(nonce, (_, secret))| G::encode_scalar(&nonce.answer(challenge, secret.expose())));
        self.state = State::Answered { elements, sum, challenge };
        Ok(say(answer.unwrap_or_default()))
    }

    fn hear_answers(
        &self,
        heard: &Incoming,
        elements: &BTreeMap<MemberId, G::Element>,
        sum: G::Element,
        challenge: G::Scalar,
    ) -> Result<Next<MultiSignature<G>>, Fault> {
        let answers = read(heard, G::decode_scalar)?;
        refuse(FaultKind::PeerPart, &answers, |signer, answer| {
            let parts = elements.get(signer).zip(self.signers.key(signer));
            !parts.is_some_and(|(element, key)| fits::<G>(element, &key.key, challenge, *answer))
        })?;
        let answer = answers.values().fold(G::zero(), |all, answer| G::plus(all, *answer));
        Ok(Next::Done(MultiSignature::new(sum, answer, self.signers.members())))
    }
}

impl<G: PrimeGroup> Run for Signing<G> {
    type Done = MultiSignature<G>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<MultiSignature<G>> {
        let Some((me, secret)) = &self.signer else {
            self.state = State::Committed { nonce: None };
            return say(Vec::new());
        };
        let bound = digest(&[&self.run.0, &self.subject, &me.0]);
        let nonce = Nonce::draw(secret.expose(), &bound, entropy);
        let commitment = self.commitment(me, &G::encode(&nonce.element()));
        self.state = State::Committed { nonce: Some(nonce) };
        say(commitment.to_vec())
    }

    fn awaited(&self) -> Vec<MemberId> {
        match self.state {
            State::Fresh | State::Over => Vec::new(),
            State::Committed { .. } | State::Shown { .. } | State::Answered { .. } => self.signers.members(),
        }
    }

    fn hear(&mut self, heard: Incoming, _: &mut dyn Entropy) -> Result<Next<MultiSignature<G>>, Fault> {
        let awaited = self.awaited();
        let state = core::mem::replace(&mut self.state, State::Over);
        whole_round(&heard, &awaited)?;
        match state {
            State::Fresh | State::Over => Err(Fault::of_nobody(FaultKind::LocalRound)),
            State::Committed { nonce } => self.hear_commitments(&heard, nonce),
            State::Shown { nonce, commitments } => self.hear_elements(&heard, nonce, &commitments),
            State::Answered { elements, sum, challenge } => {
                self.hear_answers(&heard, &elements, sum, challenge)
            }
        }
    }
}

impl<G: PrimeGroup> core::fmt::Debug for Signing<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Signing({:?}, ..)", self.signer.as_ref().map(|(me, _)| me))
    }
}

fn say<D>(to_all: Vec<u8>) -> Next<D> {
    Next::Say(Outgoing { to_all, to_each: BTreeMap::new() })
}

/// Reads everybody's messages in one form; all whose messages do not have it are named.
fn read<T>(heard: &Incoming, form: impl Fn(&[u8]) -> Option<T>) -> Result<BTreeMap<MemberId, T>, Fault> {
    let messages: BTreeMap<MemberId, Option<T>> =
        heard.to_all.iter().map(|(signer, message)| (*signer, form(message))).collect();
    refuse(FaultKind::PeerMalformed, &messages, |_, message| message.is_none())?;
    Ok(messages.into_iter().filter_map(|(signer, message)| Some((signer, message?))).collect())
}

/// Ends the run if any signer's message is `bad`; all those signers are named.
fn refuse<T>(
    kind: FaultKind,
    messages: &BTreeMap<MemberId, T>,
    bad: impl Fn(&MemberId, &T) -> bool,
) -> Result<(), Fault> {
    let culprits: Vec<MemberId> =
        messages.iter().filter(|(signer, message)| bad(signer, message)).map(|(signer, _)| *signer).collect();
    if culprits.is_empty() { Ok(()) } else { Err(Fault { kind, culprits }) }
}
