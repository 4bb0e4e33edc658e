//! What everybody knows of a shared RSA key.
//!
//! ```text
//! version 1 | bits u16 | exponent u32 = 65537 | threshold u16 | seats u16 | N | v | v_1 .. v_l | seat .. seat     big endian
//! numbers: bits / 8 bytes      seat:  0 spare  |  1 ‖ MemberId held  |  2 retired
//! ```

use super::error::ShoupError;
use crate::base::{Digest, MemberId, codec, digest};
use crate::danger::ForStudy;
use crate::modular::{decode, encode};
use crate::rsa::{EXPONENT, ModulusSize, Reader, RsaPublicKey};
use crypto_bigint::BoxedUint;

/// Most seats in a sharing.
pub const SEATS_MAX: u16 = 256;
/// Longest encoding of a sharing, in bytes: 3072 bits, 256 seats, all held.
const SHARING_BYTES_MAX: usize = 11 + 384 * 258 + 33 * 256;

/// The state of a seat. Seats are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// Dealt, and nobody's yet.
    Spare,
    /// This member has its share.
    Holding(MemberId),
    /// Was held by somebody who is no longer a member, and may still know the share: never handed
    /// out again.
    Retired,
}

impl Seat {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Spare => out.push(0),
            Self::Holding(member) => {
                out.push(1);
                out.extend_from_slice(&member.0);
            }
            Self::Retired => out.push(2),
        }
    }
}

/// The public side of a shared key. The same bytes at all holders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShoupSharing {
    pub(super) key: RsaPublicKey,
    pub(super) threshold: u16,
    /// v, which generates the squares.
    pub(super) base: BoxedUint,
    /// v_i = v^(s_i), by seat.
    pub(super) images: Vec<BoxedUint>,
    pub(super) seats: Vec<Seat>,
}

impl ShoupSharing {
    /// The group's public key.
    pub fn key(&self) -> &RsaPublicKey {
        &self.key
    }

    /// How many holders make a signature.
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// The seats in order, the first being number 1.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// How many seats there are: l.
    pub fn size(&self) -> u16 {
        u16::try_from(self.seats.len()).unwrap_or(u16::MAX)
    }

    /// The seat that `member` holds.
    pub fn seat_of(&self, member: &MemberId) -> Option<u16> {
        let place = self.seats.iter().position(|seat| *seat == Seat::Holding(*member))?;
        u16::try_from(place.saturating_add(1)).ok()
    }

    /// Who holds `seat`.
    pub fn holder(&self, seat: u16) -> Option<MemberId> {
        match self.seats.get(usize::from(seat).checked_sub(1)?)? {
            Seat::Holding(member) => Some(*member),
            Seat::Spare | Seat::Retired => None,
        }
    }

    /// The share-epoch (DECISIONS N3): a digest of all that was dealt. It does not cover who holds
    /// which seat, so that handing out a seat makes no share invalid. Every deal has another.
    pub fn epoch(&self) -> Digest {
        digest(&[b"folkmoot shoup epoch v1\0", &self.dealt()])
    }

    /// Gives the first spare seat to a newcomer and returns its number. Whoever keeps the spare
    /// shares gives the newcomer that seat's share.
    ///
    /// # Errors
    /// [`ShoupError::LocalMember`] if it holds a seat; [`ShoupError::LocalNoSeat`]: deal again.
    pub fn hand_out(&mut self, member: MemberId) -> Result<u16, ShoupError> {
        if self.seat_of(&member).is_some() {
            return Err(ShoupError::LocalMember);
        }
        let place = self.seats.iter().position(|seat| *seat == Seat::Spare).ok_or(ShoupError::LocalNoSeat)?;
        let seat = self.seats.get_mut(place).ok_or(ShoupError::LocalNoSeat)?;
        *seat = Seat::Holding(member);
        self.seat_of(&member).ok_or(ShoupError::LocalNoSeat)
    }

    /// Takes a seat out of use whose holder is no longer a member. The former holder may still know
    /// its share: deal again before there are [`Self::threshold`] retired seats. Even then the old
    /// shares together still make signatures.
    ///
    /// # Errors
    /// [`ShoupError::LocalMember`] if it holds none.
    pub fn retire(&mut self, member: &MemberId) -> Result<(), ShoupError> {
        let held = self.seats.iter_mut().find(|seat| **seat == Seat::Holding(*member));
        *held.ok_or(ShoupError::LocalMember)? = Seat::Retired;
        Ok(())
    }

    /// How many seats are retired.
    pub fn retired(&self) -> usize {
        self.seats.iter().filter(|seat| **seat == Seat::Retired).count()
    }

    /// The one encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.dealt();
        self.seats.iter().for_each(|seat| seat.write(&mut out));
        out
    }

    fn dealt(&self) -> Vec<u8> {
        let modulus = self.key.modulus();
        let mut out = vec![codec::WIRE_VERSION];
        out.extend_from_slice(&u16::try_from(modulus.bits()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(&EXPONENT.to_be_bytes());
        out.extend_from_slice(&self.threshold.to_be_bytes());
        out.extend_from_slice(&self.size().to_be_bytes());
        for number in [modulus.number(), &self.base].into_iter().chain(&self.images) {
            out.extend(encode(number, modulus.bytes()));
        }
        out
    }

    /// Reads what [`Self::encode`] writes; no 1024 bits.
    ///
    /// # Errors
    /// [`ShoupError::WireSharing`] says why not (SHO-01, SHO-02).
    pub fn decode(bytes: &[u8]) -> Result<Self, ShoupError> {
        Self::read(bytes, None)
    }

    /// The same, 1024 bits too.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_for_study(bytes: &[u8], study: ForStudy) -> Result<Self, ShoupError> {
        Self::read(bytes, Some(study))
    }

    fn read(bytes: &[u8], study: Option<ForStudy>) -> Result<Self, ShoupError> {
        if bytes.len() > SHARING_BYTES_MAX {
            return Err(ShoupError::WireSharing("it is too long"));
        }
        let cut = ShoupError::WireSharing("it is cut short");
        let mut reader =
            Reader::behind_version(bytes).ok_or(ShoupError::WireSharing("its version is not known"))?;
        let bits = u32::from(reader.u16().ok_or(cut)?);
        let size = ModulusSize::of_bits(bits, study)
            .ok_or(ShoupError::WireSharing("its modulus has a wrong size"))?;
        if reader.u32().ok_or(cut)? != EXPONENT {
            return Err(ShoupError::WireSharing("its exponent is wrong"));
        }
        let (threshold, count) = (reader.u16().ok_or(cut)?, reader.u16().ok_or(cut)?);
        check_counts(threshold, count)
            .map_err(|_| ShoupError::WireSharing("its threshold is out of range"))?;
        let key = read_key(&mut reader, size).ok_or(ShoupError::WireSharing("its modulus is malformed"))?;
        let mut numbers = Vec::new();
        for _ in 0..=count {
            let bytes = reader.take(key.modulus().bytes()).ok_or(cut)?;
            numbers.push(
                key.modulus()
                    .decode_number(bytes)
                    .ok_or(ShoupError::WireSharing("a number in it is malformed"))?,
            );
        }
        let base = numbers.remove(0);
        if bool::from(base.is_one()) {
            return Err(ShoupError::WireSharing("a number in it is malformed"));
        }
        let seats =
            read_seats(&mut reader, count).ok_or(ShoupError::WireSharing("its seats are malformed"))?;
        reader.end().ok_or(ShoupError::WireSharing("bytes follow its end"))?;
        Ok(Self { key, threshold, base, images: numbers, seats })
    }
}

/// 1 ≤ threshold ≤ seats ≤ [`SEATS_MAX`], which is far below e.
pub(super) fn check_counts(threshold: u16, seats: u16) -> Result<(), ShoupError> {
    let good = threshold >= 1 && threshold <= seats && seats <= SEATS_MAX;
    good.then_some(()).ok_or(ShoupError::LocalThreshold)
}

fn read_key(reader: &mut Reader<'_>, size: ModulusSize) -> Option<RsaPublicKey> {
    let bytes = reader.take(usize::try_from(size.bits() / 8).ok()?)?;
    RsaPublicKey::of_modulus(&decode(bytes, size.bits())?, size).ok()
}

/// Seats, no member on two of them.
fn read_seats(reader: &mut Reader<'_>, count: u16) -> Option<Vec<Seat>> {
    let mut seats = Vec::new();
    for _ in 0..count {
        let seat = match reader.take(1)? {
            [0] => Seat::Spare,
            [1] => Seat::Holding(MemberId(reader.array()?)),
            [2] => Seat::Retired,
            _ => return None,
        };
        if matches!(seat, Seat::Holding(_)) && seats.contains(&seat) {
            return None;
        }
        seats.push(seat);
    }
    Some(seats)
}
