//! Which keys the players of a schedule have: in half of the schedules all are on P-256, in the
//! others they are of any algorithm, mixed.
//!
//! They are drawn from a generator of their own, so the rest of a schedule stays as its seed draws
//! it. RSA keys take long to draw: each player has one of either size, the same in all schedules,
//! which is drawn when a schedule first needs it.

use crate::rng::Rng;
use crate::schedule::{SEATS_MAX, Schedule};
use folkmoot_base::{Entropy, UnixTime};
use folkmoot_identity::{Algorithms, CertificateError, Identity, KeyAlgorithm, Scheme};
use std::sync::OnceLock;

/// How many of a million schedules have keys of any algorithm.
const MIXED: u32 = 500_000;
const SEATS: usize = SEATS_MAX as usize;

/// The algorithm of each player's key.
pub type Keys = [KeyAlgorithm; SEATS];

/// All on P-256.
pub const ALIKE: Keys = [KeyAlgorithm::P256; SEATS];

static RSA: [[OnceLock<Identity>; SEATS]; 2] = [const { [const { OnceLock::new() }; SEATS] }; 2];

/// Gives the players of some schedules keys of any algorithm; RSA seldom, as it signs slowly.
pub(crate) fn add(schedule: &mut Schedule) {
    let mut rng = Rng::new(schedule.seed, "algorithms", 0);
    if rng.chance(MIXED) {
        for key in &mut schedule.keys {
            let drawn = rng.weighted(&[3, 3, 2, 1]);
            *key = KeyAlgorithm::ALL.get(drawn).copied().unwrap_or(KeyAlgorithm::P256);
        }
    }
}

/// The algorithm of this player's key. Multisignatures are made by keys of P-256 alone.
pub(crate) fn of(schedule: &Schedule, player: u8) -> KeyAlgorithm {
    let key = schedule.keys.get(usize::from(player)).copied();
    key.filter(|_| schedule.scheme != Scheme::Asm).unwrap_or(KeyAlgorithm::P256)
}

/// Which keys the charter of a schedule names: those of the players, and the attackers' too, who
/// would else be refused for their keys.
pub(crate) fn algorithms(schedule: &Schedule) -> Algorithms {
    let players = (0..schedule.players).map(|player| of(schedule, player));
    Algorithms::new(players.chain([KeyAlgorithm::P256]))
}

/// The identity of a player with such a key.
///
/// # Errors
/// None that a schedule can draw.
pub(crate) fn identity(
    algorithm: KeyAlgorithm,
    player: u8,
    entropy: &mut dyn Entropy,
    (from, to): (UnixTime, UnixTime),
) -> Result<Identity, CertificateError> {
    let name = format!("player{player}");
    let size = match algorithm {
        KeyAlgorithm::Rsa2048 => 0,
        KeyAlgorithm::Rsa3072 => 1,
        _ => return Identity::draw(algorithm, &name, entropy, from, to),
    };
    let draw = || {
        let mut rng = Rng::new(u64::from(player), algorithm.name(), 0);
        Identity::draw(algorithm, &name, &mut rng, from, to)
    };
    let Some(kept) = RSA.get(size).and_then(|of_size| of_size.get(usize::from(player))) else {
        return draw();
    };
    if let Some(identity) = kept.get() {
        return Ok(identity.clone());
    }
    // Two threads may draw at once: they draw the same.
    let identity = draw()?;
    Ok(kept.get_or_init(|| identity).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_schedules_have_keys_of_all_algorithms() {
        let drawn: Vec<Schedule> = (0..400).map(Schedule::draw).collect();
        let mixed = drawn.iter().filter(|schedule| schedule.keys != ALIKE).count();
        assert!((150..250).contains(&mixed), "{mixed} of 400");
        for algorithm in KeyAlgorithm::ALL {
            assert!(drawn.iter().any(|schedule| algorithms(schedule).iter().any(|one| one == *algorithm)));
        }
        let asm = drawn.into_iter().map(|schedule| Schedule { scheme: Scheme::Asm, ..schedule });
        for schedule in asm {
            assert_eq!(algorithms(&schedule), Algorithms::default());
        }
    }

    #[test]
    fn a_player_has_one_rsa_key_in_all_schedules() {
        let term = (UnixTime(1_800_000_000), UnixTime(2_200_000_000));
        let one = |seed| {
            identity(KeyAlgorithm::Rsa2048, 3, &mut Rng::new(seed, "some", 0), term).map(|one| one.member())
        };
        assert_eq!(one(1), one(2));
        let others = identity(KeyAlgorithm::Rsa2048, 4, &mut Rng::new(1, "some", 0), term);
        assert_ne!(one(1), others.map(|one| one.member()));
    }
}
