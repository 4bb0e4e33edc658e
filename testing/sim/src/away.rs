//! Large groups of which many are away: those who are there are to find each other all the same.
//!
//! ```text
//! drawn, lowest  40 meet, 11 minutes pass --> all stop --> a month passes --> 20 start, with what their disks know
//! cut            40 meet --> all, or halves, cannot hear each other for eleven minutes --> they can
//! newcomers      3 meet --> 60 are admitted, and go --> each starts once more, and goes
//! ```
//! Nobody is told an address but by its disk: [`Role::Returner`].

use crate::machine::Role;
use crate::net::CALM;
use crate::record::{Disk, Player, What};
use crate::rng::Rng;
use crate::schedule::Schedule;
use crate::stack::Company;
use crate::world::{Options, World};
use folkmoot_base::{Danger, MemberId};
use folkmoot_identity::Scheme;
use std::collections::BTreeSet;

/// How many meet.
const GROUP: Player = 40;
/// How many of them are founders: as many as a charter may have. The others are admitted.
const SIGNED: Player = 32;
/// How many of them are away later.
const AWAY: usize = 20;
/// Founders that newcomers come to.
const FOUNDERS: Player = 3;
/// How many newcomers are admitted.
const NEWCOMERS: Player = 60;
/// How long a group has to meet for the first time, in microseconds.
const MEET: u64 = 60_000_000;
/// By then a decision holds whoever was admitted: the votes themselves run out in three days.
const HELD: u64 = 660_000_000;
/// How long all computers are off: a month, in seconds.
const OFF_SECONDS: u64 = 30 * 86_400;
/// How long a cut lasts.
const CUT: u64 = 660_000_000;
/// By then whoever is there has one view: in a group of which half are away, or after a cut, ...
const TOGETHER: u64 = 30_000_000;
/// ... and with a newcomer that starts.
const NEWCOMER: u64 = 5_000_000;
/// Between two looks.
const LOOK: u64 = 50_000;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Case {
    /// Twenty drawn members stay away.
    Drawn,
    /// The twenty with the lowest names stay away.
    Lowest,
    /// A cut ends.
    Cut,
    /// Newcomers start again, one after the other.
    Newcomers,
}

/// All of them, as the command line names them.
pub const CASES: [(&str, Case); 4] =
    [("drawn", Case::Drawn), ("lowest", Case::Lowest), ("cut", Case::Cut), ("newcomers", Case::Newcomers)];

/// Plays it. The longest time, in microseconds, that it took until all who are there had one view.
///
/// # Errors
/// In words, who had no such view in time.
pub fn play(case: Case, seed: u64, danger: Option<Danger>) -> Result<u64, String> {
    let newcomers = case == Case::Newcomers;
    let (founders, players) = if newcomers { (FOUNDERS, FOUNDERS + NEWCOMERS) } else { (SIGNED, GROUP) };
    let schedule = Schedule {
        seed,
        players,
        founders,
        votes: 2,
        scheme: Scheme::Plain,
        weather: CALM,
        far: 0,
        seconds: 0,
        carriers: false,
        forger: None,
        keys: crate::keys::ALIKE,
        calm: true,
        steps: Vec::new(),
        ..Schedule::draw_calm(seed)
    };
    let company = Company::new(&schedule);
    let lowest = lowest(&company);
    let options = Options { danger: danger.map(|danger| (danger, None)), ..Options::default() };
    let mut run = Run { world: World::new(&schedule, Box::new(company), options) };
    let all = run.meet(founders, if newcomers { FOUNDERS } else { GROUP })?;
    let mut rng = Rng::new(seed, "away", 0);
    match case {
        Case::Drawn => run.after_a_month(&drawn(&mut rng)),
        Case::Lowest => run.after_a_month(&all.difference(&lowest).copied().collect()),
        Case::Cut => run.after_a_cut(&all, &mut rng),
        Case::Newcomers => run.with_newcomers(&all),
    }
}

/// The players with the lowest names.
fn lowest(company: &Company) -> BTreeSet<Player> {
    let member = |player| company.identity(player).map(folkmoot_identity::Identity::member);
    let mut named: Vec<(MemberId, Player)> =
        (0..GROUP).filter_map(|player| Some((member(player)?, player))).collect();
    named.sort_unstable();
    named.into_iter().take(AWAY).map(|(_, player)| player).collect()
}

/// Who is there of a group of which [`AWAY`] are drawn to be away.
fn drawn(rng: &mut Rng) -> BTreeSet<Player> {
    let mut there: Vec<Player> = (0..GROUP).collect();
    for _ in 0..AWAY {
        there.swap_remove(rng.below(there.len()));
    }
    there.into_iter().collect()
}

struct Run {
    world: World,
}

impl Run {
    /// Founders meet, and admit others up to this number. All of them.
    fn meet(&mut self, founders: Player, number: Player) -> Result<BTreeSet<Player>, String> {
        (0..founders).for_each(|player| self.world.boot(player, Role::Founder, Disk::Fresh));
        self.together(&(0..founders).collect(), MEET).map_err(|why| format!("at first: {why}"))?;
        for stranger in founders..number {
            [0, 1].iter().for_each(|voter| self.world.wish_admit(*voter, stranger));
            self.world.boot(stranger, Role::Stranger { contact: 0 }, Disk::Fresh);
        }
        let all = (0..number).collect();
        self.together(&all, MEET).map_err(|why| format!("admitted: {why}"))?;
        Ok(all)
    }

    fn after_a_month(&mut self, there: &BTreeSet<Player>) -> Result<u64, String> {
        self.until(self.world.now + HELD);
        (0..GROUP).for_each(|player| self.world.crash(player, 0));
        self.world.sleep(OFF_SECONDS);
        there.iter().for_each(|player| self.world.boot(*player, Role::Returner, Disk::Synced));
        self.together(there, TOGETHER)
    }

    /// Nobody hears anybody, or each half hears itself.
    fn after_a_cut(&mut self, all: &BTreeSet<Player>, rng: &mut Rng) -> Result<u64, String> {
        let halves = rng.chance(500_000);
        let side = |player: &Player| if halves { u8::from(rng.chance(500_000)) } else { *player };
        self.world.net.split(all.iter().map(side).collect());
        self.until(self.world.now + CUT);
        self.world.net.heal();
        self.together(all, TOGETHER)
    }

    /// The founders and each newcomer have one view in time, again and again.
    fn with_newcomers(&mut self, founders: &BTreeSet<Player>) -> Result<u64, String> {
        let newcomers = FOUNDERS..FOUNDERS + NEWCOMERS;
        for newcomer in newcomers.clone() {
            founders.iter().for_each(|voter| self.world.wish_admit(*voter, newcomer));
            self.world.boot(newcomer, Role::Stranger { contact: 0 }, Disk::Fresh);
            self.comes_and_goes(founders, newcomer, MEET).map_err(|why| format!("admitted: {why}"))?;
        }
        let mut longest = 0;
        for newcomer in newcomers {
            self.world.boot(newcomer, Role::Returner, Disk::Synced);
            longest = longest.max(self.comes_and_goes(founders, newcomer, NEWCOMER)?);
        }
        Ok(longest)
    }

    fn comes_and_goes(
        &mut self,
        founders: &BTreeSet<Player>,
        newcomer: Player,
        within: u64,
    ) -> Result<u64, String> {
        let with: BTreeSet<Player> = founders.iter().copied().chain([newcomer]).collect();
        let took = self.together(&with, within)?;
        self.world.crash(newcomer, 0);
        self.together(founders, MEET)?;
        Ok(took)
    }

    /// Plays until all of these have one view of exactly these, and says how long that took.
    fn together(&mut self, who: &BTreeSet<Player>, within: u64) -> Result<u64, String> {
        let begun = self.world.now;
        while self.world.now < begun + within {
            self.until(self.world.now + LOOK);
            if self.without(who).is_empty() {
                return Ok(self.world.now - begun);
            }
        }
        let without = self.without(who);
        Err(format!(
            "after {} s {} of {} have no view of all: {without:?}",
            within / 1_000_000,
            without.len(),
            who.len()
        ))
    }

    /// Who of these does not have the view of these that the first of them has.
    fn without(&self, who: &BTreeSet<Player>) -> Vec<Player> {
        let view = |player: &Player| self.world.chair(*player).and_then(|chair| chair.view.as_ref());
        let id = who.first().and_then(view).map(|view| view.id);
        let has =
            |player: &&Player| view(player).is_some_and(|view| view.members == *who && Some(view.id) == id);
        who.iter().filter(|player| !has(player)).copied().collect()
    }

    /// Plays on, and forgets what happened.
    fn until(&mut self, until: u64) {
        while self.world.now < until {
            self.world.play_until(self.world.now.saturating_add(LOOK).min(until));
            let spins = |what: &What| matches!(what, What::Spinning);
            debug_assert!(!self.world.record.entries.iter().any(|entry| spins(&entry.what)));
            self.world.record.entries.clear();
            self.world.chairs.iter_mut().for_each(|chair| chair.disk.forget());
        }
    }
}
