//! What a run is like, as its seed draws it: who sends what, and what goes wrong.

use crate::dice::Dice;
use crate::nouns::{NODES, Service, Set};

/// Something that the world does at a tick.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// A node is gone for good.
    Crash(usize),
    /// Nobody hears a node, nor does it hear anybody, for so many ticks.
    Isolate(usize, usize),
    /// A program sends.
    Say(usize, Service),
    /// All sides are one again.
    Heal,
}

/// What a run is like. Chances are in a thousand, for each tick.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many nodes.
    pub nodes: usize,
    /// Datagrams lost, in a thousand.
    pub loss: usize,
    /// That a node's program sends.
    pub say: usize,
    /// That what it sends is several messages.
    pub burst: usize,
    /// What it sends.
    pub services: Vec<Service>,
    /// That the network parts.
    pub part: usize,
    /// That a node crashes.
    pub crash: usize,
    /// That one direction between two nodes is cut.
    pub cut: usize,
    /// That a scene is forced which chance hardly draws.
    pub scene: usize,
    /// That the network parts when somebody has all ENDs (for each time, not for each tick).
    pub strike: usize,
    /// One direction is cut nearly from the start to the end.
    pub long_cut: bool,
}

impl Plan {
    /// Draws a run.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let pick = |dice: &mut Dice, of: &[usize]| of.get(dice.roll(of.len())).copied().unwrap_or_default();
        let calm = dice.chance(200);
        let services = match dice.roll(4) {
            0 => vec![Service::Causal, Service::Agreed],
            1 => vec![Service::Reliable, Service::Fifo, Service::Agreed, Service::Safe],
            _ => Service::ALL.to_vec(),
        };
        Self {
            nodes: dice.between(2, NODES),
            loss: pick(dice, &[0, 0, 50, 150, 300, 500]),
            say: pick(dice, &[4, 10, 20, 40]),
            burst: pick(dice, &[0, 300]),
            services,
            part: if calm { 0 } else { pick(dice, &[0, 3, 6, 12]) },
            crash: if calm { 0 } else { pick(dice, &[0, 0, 2, 4]) },
            cut: if calm { 0 } else { pick(dice, &[0, 3, 10]) },
            scene: if calm { 0 } else { pick(dice, &[0, 4, 10]) },
            strike: if calm { 0 } else { pick(dice, &[0, 300, 700]) },
            long_cut: dice.chance(100),
        }
    }

    /// What a program sends next.
    pub(crate) fn service(&self, dice: &mut Dice) -> Service {
        self.services.get(dice.roll(self.services.len())).copied().unwrap_or(Service::Agreed)
    }
}

/// A forced scene: for a while a node is heard by one other only, or its records are heard and its
/// packets are not. It sends, others send, and then it is gone.
#[derive(Debug)]
pub(crate) struct Scene {
    /// Who sends and goes.
    pub(crate) sender: usize,
    /// Who alone hears it, unless its packets are lost to all.
    pub(crate) hearer: usize,
    /// Its records arrive, its packets do not.
    pub(crate) hollow: bool,
    /// How long that lasts.
    pub(crate) ticks: usize,
    /// What happens then, and when.
    pub(crate) acts: Vec<(usize, Act)>,
}

impl Scene {
    /// Draws one among those who live. There must be two.
    pub(crate) fn draw(alive: Set, now: usize, may_crash: bool, dice: &mut Dice) -> Option<Self> {
        let live: Vec<usize> = alive.iter().collect();
        let sender = *live.get(dice.roll(live.len()))?;
        let others: Vec<usize> = live.into_iter().filter(|node| *node != sender).collect();
        let hearer = *others.get(dice.roll(others.len()))?;
        let hollow = dice.chance(400);
        let ticks = dice.between(8, 25);
        let mut acts = Vec::new();
        let weak = [Service::Reliable, Service::Fifo, Service::Causal, Service::Agreed];
        let any = |dice: &mut Dice| weak.get(dice.roll(4)).copied().unwrap_or(Service::Fifo);
        for _ in 0..dice.between(1, 3) {
            acts.push((now + dice.roll(ticks), Act::Say(sender, any(dice))));
        }
        for other in others {
            if dice.chance(600) {
                acts.push((now + dice.roll(ticks + 6), Act::Say(other, any(dice))));
            }
        }
        let gone = if may_crash && dice.chance(500) {
            Act::Crash(sender)
        } else {
            Act::Isolate(sender, dice.between(60, 250))
        };
        acts.push((now + ticks + dice.roll(8), gone));
        Some(Self { sender, hearer, hollow, ticks, acts })
    }
}
