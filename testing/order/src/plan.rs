//! What a run is like, as its seed draws it: who sends what, and what goes wrong.

use crate::dice::Dice;
use crate::nouns::{NODES, Service, Set};

/// Something that the world does at a tick.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// A node is gone for good.
    Crash(usize),
    /// Nobody hears a node for so many ticks.
    Mute(usize, usize),
    /// Nobody hears a node, nor does it hear anybody, for so many ticks.
    Isolate(usize, usize),
    /// A program sends.
    Say(usize, Service),
    /// All sides are one again.
    Heal,
}

/// What a run is like. Chances are in a thousand, for each tick.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// How many nodes.
    pub(crate) nodes: usize,
    /// Datagrams lost, in a thousand.
    pub(crate) loss: usize,
    /// That a node's program sends.
    pub(crate) say: usize,
    /// That what it sends is several messages.
    pub(crate) burst: usize,
    /// What it sends.
    pub(crate) services: Vec<Service>,
    /// That the network parts.
    pub(crate) part: usize,
    /// That a node crashes.
    pub(crate) crash: usize,
    /// That one direction between two nodes is cut.
    pub(crate) cut: usize,
    /// That a scene is forced which chance hardly draws.
    pub(crate) scene: usize,
    /// That the network parts, or nobody hears some node, when somebody has all ENDs: for each
    /// time, not for each tick.
    pub(crate) strike: usize,
    /// One direction is cut nearly from the start to the end.
    pub(crate) long_cut: bool,
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

/// What of a scene's sender is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Everything, but to one hearer.
    All,
    /// Its packets: its records arrive.
    Packets,
    /// Its records and the token, but to one hearer, who then is away for a while too.
    Records,
}

/// A forced scene: for a while some of what a node says is lost.
///
/// It sends, others send, and then it is gone.
#[derive(Debug)]
pub(crate) struct Scene {
    /// Who sends and goes.
    pub(crate) sender: usize,
    /// Who alone hears it, unless its packets are lost to all.
    pub(crate) hearer: usize,
    /// What is lost.
    pub(crate) lost: Lost,
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
        let lost = match dice.roll(3) {
            0 => Lost::All,
            1 => Lost::Packets,
            _ => Lost::Records,
        };
        let ticks = dice.between(8, 25);
        let mut acts = Vec::new();
        let weak = [Service::Reliable, Service::Fifo, Service::Causal, Service::Agreed];
        let any = |dice: &mut Dice| weak.get(dice.roll(4)).copied().unwrap_or(Service::Fifo);
        for _ in 0..dice.between(1, 3) {
            acts.push((now + dice.roll(ticks), Act::Say(sender, any(dice))));
        }
        for other in others {
            if dice.chance(600) {
                let service = if lost == Lost::Records { Service::Agreed } else { any(dice) };
                acts.push((now + dice.roll(ticks + 6), Act::Say(other, service)));
            }
        }
        let gone = if may_crash && dice.chance(500) {
            Act::Crash(sender)
        } else {
            Act::Isolate(sender, dice.between(60, 250))
        };
        acts.push((now + ticks + dice.roll(8), gone));
        if lost == Lost::Records {
            acts.push((now + ticks, Act::Isolate(hearer, dice.between(40, 200))));
        }
        Some(Self { sender, hearer, lost, ticks, acts })
    }
}
