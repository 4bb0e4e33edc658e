//! A dealer, for every scheme whose members hold shares of one key. [`crate::shared`] makes it
//! available.
//!
//! ```text
//! draw_secret --> secret --public_key--> the group's key, the same for good
//!                   '--deal(threshold, holders)--> public part, to all: facts judges it
//!                                             '--> a share to each, sealed: its holder asks check_share before it keeps it
//! public part, holder --deal_again--> its share once more (Shoup's)
//! ```
//! A dealer knows the key and is trusted with it. It keeps the secret, sealed, and deals it again
//! for every change of threshold or holders. Shares of two deals make nothing together. TS-RSA is
//! not dealt: it is for study (testing/study).

mod dealt;
mod secret;
mod shoup;

use crate::base::{Entropy, MemberId, Secret};
use crate::frost::{self, FrostShare, FrostSharing, edwards_key};
use crate::hedge::Hedged;
use crate::run::{Fault, FaultKind};
use crate::sharing::{self, Share, Sharing, listed, p256_key, sorted};
use crate::{Edwards, GroupKey, P256, Scheme, SigningError};
use dealt::no_secret;
use secret::GroupSecret;

pub use dealt::{Dealt, SharingFacts};
pub(crate) use shoup::{facts, sign};

/// Draws the secret that a dealer deals, in its one encoding. Shoup's secret is two safe primes for
/// a modulus of 2048 bits. They are found in a second to a minute, deterministically in `entropy`,
/// so it may be called on a thread of its own.
///
/// # Errors
/// [`FaultKind::LocalScheme`] if nobody deals this scheme's keys; [`FaultKind::Again`] if the
/// library finds no prime, which does not happen.
pub fn draw_secret(scheme: Scheme, entropy: &mut dyn Entropy) -> Result<Secret<Vec<u8>>, Fault> {
    match scheme {
        Scheme::TsDsa => Ok(GroupSecret::<P256>::draw(entropy).encode()),
        Scheme::Frost => Ok(GroupSecret::<Edwards>::draw(entropy).encode()),
        Scheme::Shoup => shoup::draw(entropy),
        Scheme::Plain | Scheme::TsRsa | Scheme::Asm => Err(no_such_dealer()),
    }
}

/// The public key of such a secret.
///
/// # Errors
/// [`SigningError::LocalSecret`] if it is not the one encoding of a secret of this scheme
/// (DEAL-01).
pub fn public_key(scheme: Scheme, secret: &Secret<Vec<u8>>) -> Result<GroupKey, SigningError> {
    match scheme {
        Scheme::TsDsa => {
            let secret = GroupSecret::<P256>::decode(secret).ok_or(SigningError::LocalSecret)?;
            GroupKey::from_spki_der(p256_key(&secret.public())?.spki_der())
        }
        Scheme::Frost => {
            let secret = GroupSecret::<Edwards>::decode(secret).ok_or(SigningError::LocalSecret)?;
            edwards_key(&secret.public())
        }
        Scheme::Shoup => shoup::public_key(secret),
        Scheme::Plain | Scheme::TsRsa | Scheme::Asm => Err(SigningError::LocalSecret),
    }
}

/// A fresh sharing of the secret: the public part, and each holder's share. The key stays; the
/// share-epoch is new each time, the threshold any. This is how a dealer that keeps the secret
/// deals again. With a threshold of one, threshold ECDSA and FROST have only one polynomial, the
/// secret itself: every holder has the key, and the share-epoch stays.
///
/// # Errors
/// [`FaultKind::LocalSecret`] if `secret` is not one of this scheme; [`FaultKind::LocalSigners`]
/// unless 1 ≤ threshold ≤ holders ≤ [`crate::SIGNERS_MAX`], none of them twice.
pub fn deal(
    scheme: Scheme,
    secret: &Secret<Vec<u8>>,
    threshold: usize,
    holders: &[MemberId],
    entropy: &mut dyn Entropy,
) -> Result<Dealt, Fault> {
    // `DEAL-12`: a holder that knew the polynomial's other terms would have the secret from its
    // share.
    let count = (threshold as u64).to_be_bytes();
    let purpose: [&[u8]; 4] = [b"folkmoot dealer v1", &[0], &count, &listed(&sorted(holders)?)];
    let entropy = &mut Hedged::new(secret.clone(), &purpose, entropy);
    match scheme {
        Scheme::TsDsa => {
            let secret = GroupSecret::<P256>::decode(secret).ok_or_else(no_secret)?;
            let dealt = sharing::deal::<P256>(secret.number(), holders, threshold, entropy);
            let (sharing, shares) = dealt.map_err(|_| sharing::wrong_signers())?;
            let shares = shares.iter().map(|(holder, share)| (*holder, share.encode())).collect();
            Ok(Dealt { public: sharing.encode(), shares })
        }
        Scheme::Frost => {
            let secret = GroupSecret::<Edwards>::decode(secret).ok_or_else(no_secret)?;
            let dealt = frost::deal(secret.number(), holders, threshold, entropy);
            let (sharing, shares) = dealt.map_err(|_| sharing::wrong_signers())?;
            let shares = shares.iter().map(|(holder, share)| (*holder, share.encode())).collect();
            Ok(Dealt { public: sharing.encode(), shares })
        }
        Scheme::Shoup => shoup::deal(secret, threshold, holders, entropy),
        Scheme::Plain | Scheme::TsRsa | Scheme::Asm => Err(no_such_dealer()),
    }
}

/// The share of `holder` in the sharing `public` once more, as [`deal`] gave it. Only Shoup's
/// dealer says it: holders of the other schemes give one another the same share again
/// ([`crate::shared::repair`]).
///
/// # Errors
/// [`FaultKind::LocalSecret`] as [`deal`]; [`FaultKind::LocalShare`] if this secret has not dealt
/// that sharing, or `holder` holds no share of it; [`FaultKind::LocalScheme`] for other schemes.
pub fn deal_again(
    scheme: Scheme,
    secret: &Secret<Vec<u8>>,
    public: &[u8],
    holder: &MemberId,
) -> Result<Secret<Vec<u8>>, Fault> {
    match scheme {
        Scheme::Shoup => shoup::deal_again(secret, public, holder),
        _ => Err(no_such_dealer()),
    }
}

/// Whether `share` is `holder`'s in the sharing `public`. A holder checks this before it keeps what
/// a dealer sent.
///
/// # Errors
/// [`SigningError::WireSharing`], [`SigningError::WireShare`] for bytes in another form;
/// [`SigningError::PeerShare`] for a share of another holder or deal, or one that the public part
/// refutes.
pub fn check_share(
    scheme: Scheme,
    public: &[u8],
    holder: &MemberId,
    share: &Secret<Vec<u8>>,
) -> Result<(), SigningError> {
    let (sharing_error, share_error) = (SigningError::WireSharing, SigningError::WireShare);
    let good = match scheme {
        Scheme::TsDsa => {
            let sharing = Sharing::<P256>::decode(public).map_err(|_| sharing_error)?;
            let share = Share::<P256>::decode(share.expose()).map_err(|_| share_error)?;
            share.holder() == *holder && share.fits(&sharing).is_ok()
        }
        Scheme::Frost => {
            let sharing = FrostSharing::decode(public)?;
            let share = FrostShare::decode(share.expose())?;
            share.holder() == *holder && share.check(&sharing).is_ok()
        }
        Scheme::Shoup => shoup::fits(public, holder, share)?,
        Scheme::Plain | Scheme::TsRsa | Scheme::Asm => return Err(sharing_error),
    };
    if good { Ok(()) } else { Err(SigningError::PeerShare) }
}

fn no_such_dealer() -> Fault {
    Fault::of_nobody(FaultKind::LocalScheme)
}
