//! How wrong the clocks of a run are.

use crate::people::Dice;
use crate::world::{DAY, World};

/// The clocks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// They differ by less than a minute.
    Near,
    /// They differ by up to five minutes.
    Apart,
    /// Those of the first person and of who comes in later do not go, the others are near.
    Missing,
    /// They jump, and are put right.
    Jumping,
}

impl Clocks {
    /// Those of one run.
    pub fn draw(dice: &mut Dice) -> Self {
        match dice.roll(10) {
            0..=4 => Self::Near,
            5 | 6 => Self::Apart,
            7 => Self::Missing,
            _ => Self::Jumping,
        }
    }

    /// How far a person's clock is off, in seconds; none if it has none.
    pub fn skew(self, dice: &mut Dice, person: usize) -> Option<i64> {
        let within = |dice: &mut Dice, seconds: usize| {
            let half = i64::try_from(seconds / 2).unwrap_or_default();
            i64::try_from(dice.roll(seconds + 1)).unwrap_or_default() - half
        };
        match self {
            Self::Apart => Some(within(dice, 300)),
            Self::Missing if person == 0 => None,
            Self::Near | Self::Missing | Self::Jumping => Some(within(dice, 50)),
        }
    }
}

impl World<'_> {
    /// A clock jumps, or is put right. Liars have what clocks they like.
    pub(crate) fn jump(&mut self) {
        let place = self.dice.roll(self.honest);
        if self.clocks != Clocks::Jumping {
            return;
        }
        let far = [400, 2 * DAY, 40 * DAY, 400 * DAY];
        let far = self.dice.pick(&far).and_then(|far| i64::try_from(*far).ok()).unwrap_or_default();
        let seconds = self.seconds;
        let Some(node) = self.nodes.get_mut(place) else { return };
        if node.is_right() {
            node.skew = Some(if self.dice.chance(70) { far } else { -far });
            node.asked &= node.skew > Some(0);
        } else {
            node.skew = Some(0);
            node.asked = false;
            if self.dice.chance(50) {
                node.ask_again(seconds);
            }
        }
        node.ask(seconds);
    }

    /// Clocks that go are right from now on, as far as clocks ever are, and are asked again.
    pub(crate) fn put_right(&mut self) {
        let clocks = if self.clocks == Clocks::Jumping { Clocks::Near } else { self.clocks };
        for (place, node) in self.nodes.iter_mut().enumerate().take(self.honest) {
            node.skew = clocks.skew(&mut self.dice, place);
            node.ask_again(self.seconds);
        }
    }
}
