//! A flood: one voter and one member without a vote say whatever they can, as fast as they are let,
//! and the others expel them in the midst of it. What that costs each of the others is compared
//! with the same run without a flood.
//!
//! ```text
//! 0 s      20 s            20 s + 3/4 of the flood    20 s + the flood     30 s more
//! meet --> m4 has no vote --> all others expel m3, m4 --> the flood ends --> measured
//! ```
//! Source: docs/protocol/line.md, "Bounds of the set".

mod flooder;
pub mod heap;
mod rubbish;
mod weighed;

use crate::disk::VirtualDisk;
use crate::machine::{Cast, Command, Entrance, Machine, Role, Spoils};
use crate::net::CALM;
use crate::record::{Disk, Player, Shown, What};
use crate::schedule::Schedule;
use crate::stack::Company;
use crate::world::{Options, World};
use bytes::Bytes;
use flooder::Flooder;
use folkmoot_base::{Danger, Entropy};
use rubbish::Rubbish;
use std::collections::BTreeMap;
use std::rc::Rc;
use weighed::{Scales, Weighed};

/// Who takes part.
const PLAYERS: Player = 5;
/// Who floods, and has a vote.
const VOTER: Player = 3;
/// Who floods, and has none.
const MEMBER: Player = 4;
/// When the flood begins, in microseconds.
const BEGIN: u64 = 20_000_000;
/// How long the run goes on after it.
const AFTER: u64 = 30_000_000;
/// From the vote on the one who floods to the vote on the other.
const NEXT: u64 = 1_000_000;
/// Between two looks.
const LOOK: u64 = 100_000;

/// Most memory that a flood may cost a member.
pub const MEMORY_MAX: u64 = 16_000_000;
/// Most disk.
pub const DISK_MAX: u64 = 32_000_000;

/// What is played.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Drawn from this.
    pub seed: u64,
    /// How long they flood.
    pub seconds: u64,
    /// Whether they do.
    pub floods: bool,
    /// What is broken at the others.
    pub danger: Option<Danger>,
}

/// What it cost one member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// The most memory that it held, in bytes.
    pub memory: u64,
    /// What it held at the end.
    pub memory_end: u64,
    /// The most that was on its disk.
    pub disk: u64,
    /// What was there at the end.
    pub disk_end: u64,
    /// Microseconds from the first vote on the voter who floods until its roster had not that one
    /// any more; none if it never came to that.
    pub expelled: Option<u64>,
}

/// By member, those who do not flood.
pub type Costs = BTreeMap<Player, Cost>;

/// Plays it.
pub fn play(plan: Plan) -> Costs {
    let schedule = Schedule {
        seed: plan.seed,
        players: PLAYERS,
        founders: PLAYERS,
        votes: 2,
        weather: CALM,
        steps: Vec::new(),
        crooked: None,
        carriers: false,
        keys: crate::keys::ALIKE,
        calm: true,
        ..Schedule::draw_calm(plan.seed)
    };
    let scales: Vec<Rc<Scales>> = (0..PLAYERS).map(|_| Rc::default()).collect();
    let cast = Flood { company: Company::new(&schedule), plan, scales: scales.clone() };
    let mut run =
        Run { world: World::new(&schedule, Box::new(cast), Options::default()), costs: Costs::new() };
    run.play(plan.seconds.saturating_mul(1_000_000));
    for (player, cost) in &mut run.costs {
        let of = |player: Player| usize::from(player);
        (cost.memory_end, cost.memory) = scales.get(of(*player)).map_or((0, 0), |scales| scales.read());
        let disk = run.world.chair(*player).map_or((0, 0), |chair| chair.disk.bytes());
        (cost.disk_end, cost.disk) = (disk.0 as u64, disk.1 as u64);
    }
    run.costs
}

/// So long a ring needs to form anew at most, without one of its members.
const FORMED_ANEW_MICROS: u64 = 1_000_000;

/// What a flood may not do, and did: in words; none if it kept within its bounds.
pub fn judge(quiet: &Costs, flooded: &Costs) -> Vec<String> {
    let mut said = Vec::new();
    for (player, cost) in flooded {
        let calm = quiet.get(player).copied().unwrap_or_default();
        let memory = cost.memory.saturating_sub(calm.memory);
        let disk = cost.disk.saturating_sub(calm.disk);
        if memory > MEMORY_MAX {
            said.push(format!("m{player} held {memory} bytes of memory more than without the flood"));
        }
        if disk > DISK_MAX {
            said.push(format!("m{player} held {disk} bytes of disk more than without the flood"));
        }
    }
    // Those who have not heard of the decision when the first apply it hear of it when the ring has
    // formed anew, with a flood or without. Whether anybody is among them is chance.
    let limits = [
        ("the first", first(flooded), first(quiet), 0),
        ("the last", last(flooded), last(quiet), FORMED_ANEW_MICROS),
    ];
    for (of, flooded, calm, least) in limits {
        let most = calm.map(|calm| calm.saturating_mul(2).max(least));
        if flooded.is_none() || calm.is_none() || flooded > most {
            said.push(format!("{of} expelled the voter after {flooded:?} us, without a flood {calm:?} us"));
        }
    }
    said
}

/// When the first had expelled the voter.
fn first(costs: &Costs) -> Option<u64> {
    costs.values().filter_map(|cost| cost.expelled).min()
}

/// When all had.
fn last(costs: &Costs) -> Option<u64> {
    let all: Option<Vec<u64>> = costs.values().map(|cost| cost.expelled).collect();
    all?.into_iter().max()
}

struct Run {
    world: World,
    costs: Costs,
}

impl Run {
    fn play(&mut self, flood: u64) {
        for player in 0..PLAYERS {
            self.world.boot(player, Role::Founder, Disk::Fresh);
        }
        self.until(BEGIN / 2);
        let voters: Vec<Player> = (0..PLAYERS).filter(|player| *player != MEMBER).collect();
        for player in 0..PLAYERS {
            self.world.command(player, Command::Electorate(voters.clone()));
        }
        self.until(BEGIN + flood / 4 * 3);
        let voted = self.world.now;
        for player in honest() {
            self.costs.insert(player, Cost::default());
            self.world.command(player, Command::Expel(VOTER));
        }
        self.until(voted + NEXT);
        honest().for_each(|player| self.world.command(player, Command::Expel(MEMBER)));
        self.until(BEGIN + flood + AFTER);
        for cost in self.costs.values_mut() {
            cost.expelled = cost.expelled.map(|at| at.saturating_sub(voted));
        }
    }

    /// Plays on, and keeps of what happened only when rosters lost the voter.
    fn until(&mut self, until: u64) {
        while self.world.now < until {
            self.world.play_until(self.world.now.saturating_add(LOOK).min(until));
            for entry in self.world.record.entries.drain(..) {
                let What::Roster(roster) = &entry.what else { continue };
                let gone = !roster.contains(&VOTER);
                if let Some(cost) = self.costs.get_mut(&entry.process.player).filter(|_| gone) {
                    cost.expelled = cost.expelled.or(Some(entry.at));
                }
            }
            self.world.chairs.iter_mut().for_each(|chair| VirtualDisk::forget(&mut chair.disk));
        }
    }
}

fn honest() -> impl Iterator<Item = Player> {
    (0..PLAYERS).filter(|player| ![VOTER, MEMBER].contains(player))
}

/// The cast: the shipped stacks, on scales; two of them flood.
struct Flood {
    company: Company,
    plan: Plan,
    scales: Vec<Rc<Scales>>,
}

impl Flood {
    fn flooder(&self, entrance: &Entrance<'_>, entropy: &mut dyn Entropy) -> Result<Flooder, String> {
        let liar = Entrance { danger: Some(Danger::NodeOrdersUnread), ..*entrance };
        let actor = self.company.actor(&liar, entropy)?;
        let identity = self.company.identity(entrance.player).ok_or("no such player")?.clone();
        let charter = actor.transcript().signed_charter().clone();
        let rubbish = Rubbish::new(identity, charter, entrance.player == VOTER, self.plan.seed);
        let until = BEGIN.saturating_add(self.plan.seconds.saturating_mul(1_000_000));
        Ok(Flooder { actor, rubbish, next: BEGIN, until })
    }
}

impl Cast for Flood {
    fn enter(
        &mut self,
        entrance: &Entrance<'_>,
        entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn Machine>, String> {
        if [VOTER, MEMBER].contains(&entrance.player) && self.plan.floods {
            return Ok(Box::new(self.flooder(entrance, entropy)?));
        }
        let scales = self.scales.get(usize::from(entrance.player)).cloned().unwrap_or_default();
        let entrance = Entrance { danger: self.plan.danger, ..*entrance };
        let machine = scales.weigh(|| self.company.enter(&entrance, entropy))?;
        Ok(Box::new(Weighed { machine, scales }))
    }

    fn opens(&self, _: &Spoils, _: &Bytes, _: Option<&Shown>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(memory: u64, disk: u64, expelled: Option<u64>) -> Costs {
        Costs::from([(0, Cost { memory, disk, expelled, ..Cost::default() })])
    }

    #[test]
    fn each_bound_is_judged() {
        let quiet = costs(1_000_000, 10_000, Some(600_000));
        let within = costs(1_000_000 + MEMORY_MAX, 10_000 + DISK_MAX, Some(1_200_000));
        assert_eq!(judge(&quiet, &within), Vec::<String>::new());
        // One member is the first and the last.
        for (flooded, words) in [
            (costs(1_000_001 + MEMORY_MAX, 0, Some(1)), vec!["memory"]),
            (costs(0, 10_001 + DISK_MAX, Some(1)), vec!["disk"]),
            (costs(0, 0, Some(1_200_001)), vec!["the first expelled", "the last expelled"]),
            (costs(0, 0, None), vec!["the first expelled", "the last expelled"]),
        ] {
            let said = judge(&quiet, &flooded);
            assert_eq!(said.len(), words.len(), "{said:?}");
            assert!(said.iter().zip(words).all(|(line, word)| line.contains(word)), "{said:?}");
        }
        // A ring that forms anew may take a second; the first waits for none.
        let quick = costs(1_000_000, 10_000, Some(5_000));
        assert_eq!(judge(&quick, &costs(0, 0, Some(1_000_000))).len(), 1);
        assert_eq!(judge(&quick, &costs(0, 0, Some(1_000_001))).len(), 2);
        let never = costs(1_000_000, 10_000, None);
        assert_eq!(judge(&never, &within).len(), 2, "without a flood nobody was expelled");
    }
}
