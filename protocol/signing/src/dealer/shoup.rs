//! Shoup's scheme as [`crate::shared`] uses it. In these sharings every seat is held, in the order
//! of the holders' ids, so that a list of holders says who has which number. Anybody can see that
//! enough shares sign ([`ShoupSharing::check`]).

use super::dealt::{Dealt, SharingFacts, no_secret};
use crate::base::{Entropy, MemberId, Secret};
use crate::rsa::ModulusSize;
use crate::run::{Fault, FaultKind, RunId};
use crate::sharing::{sorted, wrong_signers};
use crate::shoup::{Dealer, DealerTerm, Seat, ShoupShare, ShoupSharing, ShoupSign};
use crate::{GroupKey, SigningError};

pub(super) fn draw(entropy: &mut dyn Entropy) -> Result<Secret<Vec<u8>>, Fault> {
    let dealer = Dealer::generate(ModulusSize::Bits2048, DealerTerm::Standing, entropy);
    dealer.and_then(|dealer| dealer.encode()).map_err(|_| Fault::of_nobody(FaultKind::Again))
}

pub(super) fn public_key(secret: &Secret<Vec<u8>>) -> Result<GroupKey, SigningError> {
    let dealer = Dealer::decode(secret.expose(), None).map_err(|_| SigningError::LocalSecret)?;
    GroupKey::from_spki_der(dealer.key().spki_der())
}

pub(super) fn deal(
    secret: &Secret<Vec<u8>>,
    threshold: usize,
    holders: &[MemberId],
    entropy: &mut dyn Entropy,
) -> Result<Dealt, Fault> {
    let mut dealer = Dealer::decode(secret.expose(), None).map_err(|_| no_secret())?;
    let holders = sorted(holders)?;
    let count = |number: usize| u16::try_from(number).map_err(|_| wrong_signers());
    let dealt = dealer.deal(count(threshold)?, count(holders.len())?, &holders, entropy);
    let dealt = dealt.map_err(|_| wrong_signers())?;
    let shares = holders.into_iter().zip(&dealt.shares);
    let shares = shares.map(|(holder, share)| (holder, share.encode(&dealt.sharing))).collect();
    Ok(Dealt { public: dealt.sharing.encode(), shares })
}

/// [`super::deal_again`] of this scheme.
pub(super) fn deal_again(
    secret: &Secret<Vec<u8>>,
    public: &[u8],
    holder: &MemberId,
) -> Result<Secret<Vec<u8>>, Fault> {
    let dealer = Dealer::decode(secret.expose(), None).map_err(|_| no_secret())?;
    let no_such_share = || Fault::of_nobody(FaultKind::LocalShare);
    let (sharing, _) = seated(public).ok_or_else(no_such_share)?;
    let seat = sharing.seat_of(holder).ok_or_else(no_such_share)?;
    let share = dealer.deal_again(&sharing, seat).map_err(|_| no_such_share())?;
    Ok(share.encode(&sharing))
}

/// [`crate::shared::facts`] of this scheme.
pub(crate) fn facts(public: &[u8]) -> Result<SharingFacts, SigningError> {
    let (sharing, holders) = seated(public).ok_or(SigningError::WireSharing)?;
    sharing.check().map_err(|_| SigningError::WireSharing)?;
    Ok(SharingFacts {
        epoch: sharing.epoch(),
        key: GroupKey::from_spki_der(sharing.key().spki_der())?,
        threshold: usize::from(sharing.threshold()),
        holders,
    })
}

/// [`crate::shared::check_share`] of this scheme.
pub(super) fn fits(public: &[u8], holder: &MemberId, share: &Secret<Vec<u8>>) -> Result<bool, SigningError> {
    let (sharing, _) = seated(public).ok_or(SigningError::WireSharing)?;
    sharing.check().map_err(|_| SigningError::WireSharing)?;
    let share = ShoupShare::read(share.expose(), &sharing).ok_or(SigningError::WireShare)?;
    let known = share.epoch() == sharing.epoch() && sharing.holder(share.seat()) == Some(*holder);
    Ok(known && share.check(&sharing).is_ok())
}

/// [`crate::shared::sign`] of this scheme: one round. [`facts`] has checked that the sharing is one
/// that signs, and [`fits`] that the share belongs to it, when they came. To check again for each
/// signature would take a fifth of its time.
pub(crate) fn sign(
    run: RunId,
    me: MemberId,
    signers: &[MemberId],
    (public, share): (&[u8], &Secret<Vec<u8>>),
    message: &[u8],
) -> Result<ShoupSign, Fault> {
    let no_such_share = || Fault::of_nobody(FaultKind::LocalShare);
    let (sharing, _) = seated(public).ok_or_else(no_such_share)?;
    let share = ShoupShare::read(share.expose(), &sharing).ok_or_else(no_such_share)?;
    if share.epoch() != sharing.epoch() || sharing.holder(share.seat()) != Some(me) {
        return Err(no_such_share());
    }
    ShoupSign::new(&sharing, &share, &sorted(signers)?, run, message)
}

/// A sharing with every seat held, and its holders, ascending.
fn seated(public: &[u8]) -> Option<(ShoupSharing, Vec<MemberId>)> {
    let sharing = ShoupSharing::decode(public).ok()?;
    let holders = sharing.seats().iter().map(|seat| match seat {
        Seat::Holding(member) => Some(*member),
        Seat::Spare | Seat::Retired => None,
    });
    let holders = holders.collect::<Option<Vec<_>>>()?;
    holders.is_sorted_by(|left, right| left < right).then_some((sharing, holders))
}
