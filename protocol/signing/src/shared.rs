//! One interface to all schemes in which members hold shares of one key: the caller need not know
//! which is which.
//!
//! ```text
//! found     participants, threshold               --> a sharing, and each participant's share
//! reshare   givers, takers, new threshold  --> another sharing of the same key
//! repair    as many holders as the threshold, one that has lost its share --> the same share again
//! sign      exactly the signers, bytes     --> a signature as X.509 has it
//!
//! a dealer, where the charter has one: draw_secret, public_key, deal, deal_again --> the same, without a run; check_share at each holder
//! ```

pub use crate::dealer::{Dealt, SharingFacts, check_share, deal, deal_again, draw_secret, public_key};

use crate::base::{Entropy, MemberId, Secret, digest};
use crate::dealer;
use crate::frost::{FrostShare, FrostSharing, Sign};
use crate::run::FaultKind;
use crate::sharing::{Change, Enrol, Holding, Joint, Redistribute, Share, Sharing};
use crate::ts_dsa::Signing;
use crate::{Edwards, Fault, GroupKey, Incoming, Next, P256, Run, RunId, Scheme, SigningError};

/// The result of a run.
#[derive(Debug)]
pub enum Outcome {
    /// A sharing, and this participant's share of it; none for one that only gave.
    Sharing {
        /// The public part, encoded.
        public: Vec<u8>,
        /// The share, encoded.
        share: Option<Secret<Vec<u8>>>,
    },
    /// A signature as X.509 has it, or an encoded multisignature ([`crate::asm::signer`]). It is
    /// not verified: the caller does that.
    Signature(Vec<u8>),
}

/// A participant of some scheme in some run.
pub type AnyRun = Box<dyn Run<Done = Outcome>>;

/// Who gives and who gets in a resharing.
#[derive(Debug, Clone, Copy)]
pub struct Moving<'a> {
    /// As many holders as the present threshold, sorted.
    pub givers: &'a [MemberId],
    /// Those who hold a share afterwards, sorted.
    pub takers: &'a [MemberId],
}

/// What the public part of a sharing says.
///
/// # Errors
/// [`SigningError`] if `public` is not the one encoding of a sharing of `scheme`.
pub fn facts(scheme: Scheme, public: &[u8]) -> Result<SharingFacts, SigningError> {
    match scheme {
        Scheme::TsDsa => {
            let sharing = Sharing::<P256>::decode(public).map_err(|_| SigningError::WireSharing)?;
            Ok(SharingFacts {
                epoch: sharing.epoch(),
                key: GroupKey::from_spki_der(sharing.verifying_key()?.spki_der())?,
                threshold: sharing.threshold(),
                holders: sharing.holders().to_vec(),
            })
        }
        Scheme::Frost => {
            let sharing = FrostSharing::decode(public)?;
            Ok(SharingFacts {
                epoch: sharing.epoch(),
                key: sharing.key()?,
                threshold: sharing.threshold(),
                holders: sharing.holders().to_vec(),
            })
        }
        Scheme::Shoup => dealer::facts(public),
        Scheme::Plain | Scheme::TsRsa | Scheme::Asm => Err(SigningError::WireSharing),
    }
}

/// The first sharing of a key that nobody knows, among `participants`.
///
/// # Errors
/// [`FaultKind::LocalSigners`] for participants that cannot make one; [`FaultKind::LocalDealer`] if
/// a dealer must make it ([`deal`]), [`FaultKind::LocalScheme`] if the scheme has none.
pub fn found(
    scheme: Scheme,
    run: RunId,
    me: MemberId,
    participants: &[MemberId],
    threshold: usize,
) -> Result<AnyRun, Fault> {
    match scheme {
        Scheme::TsDsa => Ok(mapped(Joint::<P256>::new(run, me, participants, threshold)?, of_held)),
        Scheme::Frost => Ok(mapped(Joint::<Edwards>::new(run, me, participants, threshold)?, of_edwards)),
        Scheme::TsRsa | Scheme::Shoup => Err(needs_dealer()),
        Scheme::Plain | Scheme::Asm => Err(no_such_run()),
    }
}

/// New shares of the same key. `sharing` is the present public part, and our share of it if we
/// give.
///
/// # Errors
/// [`FaultKind::LocalSigners`], [`FaultKind::LocalShare`]; [`FaultKind::LocalDealer`],
/// [`FaultKind::LocalScheme`] as [`found`].
pub fn reshare(
    scheme: Scheme,
    run: RunId,
    me: MemberId,
    moving: Moving<'_>,
    threshold: usize,
    (public, share): (&[u8], Option<&Secret<Vec<u8>>>),
) -> Result<AnyRun, Fault> {
    let change = Change { dealers: moving.givers, holders: moving.takers, threshold };
    match scheme {
        Scheme::TsDsa => {
            let old = Sharing::<P256>::decode(public).map_err(|_| no_such_share())?;
            let share = share.map(|share| Share::decode(share.expose())).transpose();
            let share = share.map_err(|_| no_such_share())?;
            Ok(mapped(Redistribute::new(run, me, &old, share.as_ref(), change)?, of_held))
        }
        Scheme::Frost => {
            let old = FrostSharing::decode(public).map_err(|_| no_such_share())?;
            let old = old.shared();
            let share = share.map(|share| FrostShare::decode(share.expose())).transpose();
            let share = share.map_err(|_| no_such_share())?.map(|share| share.shared(old));
            Ok(mapped(Redistribute::new(run, me, old, share.as_ref(), change)?, of_edwards))
        }
        Scheme::TsRsa | Scheme::Shoup => Err(needs_dealer()),
        Scheme::Plain | Scheme::Asm => Err(no_such_run()),
    }
}

/// A holder's own share of the same sharing again, from as many other holders as its threshold.
/// `share` is ours if we are one of them.
///
/// # Errors
/// [`FaultKind::LocalSigners`], [`FaultKind::LocalShare`]; [`FaultKind::LocalDealer`] if only a
/// dealer can make the share, [`FaultKind::LocalScheme`] as [`found`].
pub fn repair(
    scheme: Scheme,
    run: RunId,
    me: MemberId,
    (helpers, holder): (&[MemberId], MemberId),
    (public, share): (&[u8], Option<&Secret<Vec<u8>>>),
) -> Result<AnyRun, Fault> {
    match scheme {
        Scheme::TsDsa => {
            let sharing = Sharing::<P256>::decode(public).map_err(|_| no_such_share())?;
            let share = share.map(|share| Share::decode(share.expose())).transpose();
            let share = share.map_err(|_| no_such_share())?;
            are_holders(sharing.holders(), &holder)?;
            Ok(mapped(Enrol::new(run, me, &sharing, share.as_ref(), helpers, holder)?, of_held))
        }
        Scheme::Frost => {
            let sharing = FrostSharing::decode(public).map_err(|_| no_such_share())?;
            let sharing = sharing.shared();
            let share = share.map(|share| FrostShare::decode(share.expose())).transpose();
            let share = share.map_err(|_| no_such_share())?.map(|share| share.shared(sharing));
            are_holders(sharing.holders(), &holder)?;
            Ok(mapped(Enrol::new(run, me, sharing, share.as_ref(), helpers, holder)?, of_edwards))
        }
        Scheme::TsRsa | Scheme::Shoup => Err(needs_dealer()),
        Scheme::Plain | Scheme::Asm => Err(no_such_run()),
    }
}

fn are_holders(holders: &[MemberId], holder: &MemberId) -> Result<(), Fault> {
    if holders.contains(holder) { Ok(()) } else { Err(crate::sharing::wrong_signers()) }
}

/// A signature over raw bytes by `signers`, exactly as many as the scheme takes.
///
/// # Errors
/// [`FaultKind::LocalSigners`], [`FaultKind::LocalShare`]; [`FaultKind::LocalScheme`] for a scheme
/// that does not sign with shares, and for TS-RSA, which is for study only.
pub fn sign(
    scheme: Scheme,
    run: RunId,
    me: MemberId,
    signers: &[MemberId],
    (public, share): (&[u8], &Secret<Vec<u8>>),
    message: &[u8],
) -> Result<AnyRun, Fault> {
    match scheme {
        Scheme::TsDsa => {
            let sharing = Sharing::<P256>::decode(public).map_err(|_| no_such_share())?;
            let share = Share::decode(share.expose()).map_err(|_| no_such_share())?;
            let signing = Signing::new(run, me, &sharing, &share, signers, digest(&[message]))?;
            Ok(mapped(signing, |signed| {
                Outcome::Signature(signed.signature().map(|signature| signature.to_der()).unwrap_or_default())
            }))
        }
        Scheme::Frost => {
            let sharing = FrostSharing::decode(public).map_err(|_| no_such_share())?;
            let share = FrostShare::decode(share.expose()).map_err(|_| no_such_share())?;
            if share.holder() != me {
                return Err(no_such_share());
            }
            let signing = Sign::new(run, &sharing, &share, signers, message)?;
            Ok(mapped(signing, |signature| Outcome::Signature(signature.to_vec())))
        }
        Scheme::Shoup => {
            Ok(mapped(dealer::sign(run, me, signers, (public, share), message)?, Outcome::Signature))
        }
        Scheme::Plain | Scheme::TsRsa | Scheme::Asm => Err(no_such_run()),
    }
}

fn of_held(held: Holding<P256>) -> Outcome {
    Outcome::Sharing { public: held.sharing.encode(), share: held.share.map(|share| share.encode()) }
}

/// A sharing over edwards25519, in the forms of FROST.
fn of_edwards(held: Holding<Edwards>) -> Outcome {
    let sharing = FrostSharing::from(held.sharing);
    let share = held.share.map(|share| FrostShare::new(&share, &sharing).encode());
    Outcome::Sharing { public: sharing.encode(), share }
}

fn no_such_run() -> Fault {
    Fault::of_nobody(FaultKind::LocalScheme)
}

fn needs_dealer() -> Fault {
    Fault::of_nobody(FaultKind::LocalDealer)
}

fn no_such_share() -> Fault {
    Fault::of_nobody(FaultKind::LocalShare)
}

/// A run whose end is told in common terms.
struct Mapped<R: Run> {
    run: R,
    end: fn(R::Done) -> Outcome,
}

pub(crate) fn mapped<R: Run + 'static>(run: R, end: fn(R::Done) -> Outcome) -> AnyRun {
    Box::new(Mapped { run, end })
}

impl<R: Run> Mapped<R> {
    fn map(&self, next: Next<R::Done>) -> Next<Outcome> {
        match next {
            Next::Say(said) => Next::Say(said),
            Next::Done(done) => Next::Done((self.end)(done)),
        }
    }
}

impl<R: Run> Run for Mapped<R> {
    type Done = Outcome;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Outcome> {
        let next = self.run.start(entropy);
        self.map(next)
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.run.awaited()
    }

    fn hear(&mut self, heard: Incoming, entropy: &mut dyn Entropy) -> Result<Next<Outcome>, Fault> {
        let next = self.run.hear(heard, entropy)?;
        Ok(self.map(next))
    }
}
