//! What happens in a run, drawn from its seed.

use super::World;
use super::world::Sent;
use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_pubsub::discovery::Times;

/// The longest that a run may take to come to one key, in microseconds. Seconds, not minutes: an
/// agreement in vain costs at most about six.
pub const PATIENCE: u64 = 90_000_000;

/// What a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Story {
    /// J start beside P.
    Start,
    /// Some crash at any time, and come back.
    Crash,
    /// Two groups form on a split network, and it heals.
    Heal,
    /// One is excluded.
    Exclude,
    /// One leaves.
    Leave,
    /// All that was said is said again, after restarts too.
    Replay,
    /// One is excluded, or its certificate ends, and it comes with another while a third is away.
    Renew,
}

/// One run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its seed.
    pub seed: u64,
    /// What it is about.
    pub story: Story,
    /// Members before the others come.
    pub old: usize,
    /// Who come together.
    pub new: usize,
    /// Mean delay one way, in microseconds.
    pub delay: u64,
    /// At most so much more or less.
    pub jitter: u64,
    /// Parts of a million that are lost.
    pub loss: u32,
    /// Seconds that clocks are off, at most.
    pub skew: u64,
    /// Agreements a node takes part in.
    pub domains: usize,
    /// All start within so many microseconds.
    pub within: u64,
    /// The machine's times.
    pub times: Times,
}

impl Plan {
    /// The run of `seed`.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed, "lcm plan", 0);
        let stories = [
            Story::Start,
            Story::Crash,
            Story::Heal,
            Story::Exclude,
            Story::Leave,
            Story::Replay,
            Story::Renew,
        ];
        let story = stories.get(rng.weighted(&[10, 3, 2, 2, 1, 2, 1])).copied().unwrap_or(Story::Start);
        Self::of(seed, story)
    }

    /// The run of `seed`, about `story`.
    pub fn of(seed: u64, story: Story) -> Self {
        let mut rng = Rng::new(seed, "lcm weather", 0);
        let delays = [rng.range(0, 2_000), rng.range(0, 40_000), rng.range(0, 300_001)];
        let delay = rng.pick(&delays).copied().unwrap_or(0);
        let loss = if rng.chance(500_000) { 0 } else { u32::try_from(rng.range(0, 100_001)).unwrap_or(0) };
        let (old, new) = match story {
            Story::Heal => (0, 8),
            Story::Start => (rng.below(21), 1 + rng.below(30)),
            _ => (rng.below(9), 2 + rng.below(7)),
        };
        Self {
            seed,
            story,
            old,
            new,
            delay,
            jitter: rng.range(0, delay / 4 + 1),
            loss,
            skew: 1,
            domains: 2,
            within: rng.range(0, 50_000),
            times: Times::default(),
        }
    }

    /// Plays it.
    pub fn play(&self, world: &mut World) {
        let mut rng = Rng::new(self.seed, "lcm story", 0);
        world.records = self.story == Story::Replay;
        if self.story == Story::Heal {
            return self.heal(world, &mut rng);
        }
        if self.first(world).is_none() {
            return;
        }
        let new: Vec<usize> = (0..self.new).map(|_| world.add()).collect();
        self.begin(world, &new, &mut rng);
        match self.story {
            Story::Start | Story::Heal => {}
            Story::Crash => self.crashes(world, &mut rng),
            Story::Exclude | Story::Leave => self.go(world, &mut rng),
            Story::Replay => self.replay(world, &mut rng),
            Story::Renew => self.renew(world, &mut rng),
        }
        world.run_until(PATIENCE, World::is_one);
        // What is on its way still comes.
        world.run(world.now + 3_000_000);
        world.run_until(PATIENCE, World::is_one);
    }

    /// P form their group; what they said for it.
    pub(super) fn first(&self, world: &mut World) -> Option<Sent> {
        let mut rng = Rng::new(self.seed, "lcm first", 0);
        let old: Vec<usize> = (0..self.old).map(|_| world.add()).collect();
        self.begin(world, &old, &mut rng);
        if !world.run_until(PATIENCE, World::is_one) {
            return None;
        }
        if self.old > 0 {
            world.run(world.now + 2_000_000);
        }
        world.sent.first().copied()
    }

    /// J come to it; whether all share one key in the end.
    pub(super) fn second(&self, world: &mut World) -> bool {
        let mut rng = Rng::new(self.seed, "lcm second", 0);
        let new: Vec<usize> = (0..self.new).map(|_| world.add()).collect();
        self.begin(world, &new, &mut rng);
        world.run_until(PATIENCE, World::is_one)
    }

    fn begin(&self, world: &mut World, nodes: &[usize], rng: &mut Rng) {
        let mut times: Vec<(u64, usize)> =
            nodes.iter().map(|node| (rng.range(0, self.within + 1), *node)).collect();
        times.sort_unstable();
        let begun = world.now;
        for (at, node) in times {
            world.run(begun + at);
            world.start(node);
        }
    }

    fn crashes(&self, world: &mut World, rng: &mut Rng) {
        for _ in 0..1 + rng.below(3) {
            world.run(world.now + rng.range(0, 3_000_000));
            let node = rng.below(world.nodes.len());
            if !world.nodes.get(node).is_some_and(|node| node.alive) {
                continue;
            }
            world.crash(node);
            world.run(world.now + rng.range(0, 6_000_000));
            world.start(node);
        }
    }

    fn heal(&self, world: &mut World, rng: &mut Rng) {
        let all: Vec<usize> = (0..self.new).map(|_| world.add()).collect();
        for node in world.nodes.iter_mut().skip(3) {
            node.side = 1;
        }
        self.begin(world, &all, rng);
        world.run(world.now + rng.range(0, 8_000_000));
        world.nodes.iter_mut().for_each(|node| node.side = 0);
        world.run_until(PATIENCE, World::is_one);
        // And once more, from one group.
        world.nodes.iter_mut().skip(5).for_each(|node| node.side = 1);
        let late = world.add();
        world.start(late);
        world.run(world.now + rng.range(0, 8_000_000));
        world.nodes.iter_mut().for_each(|node| node.side = 0);
        world.run_until(PATIENCE, World::is_one);
    }

    fn go(&self, world: &mut World, rng: &mut Rng) {
        if rng.chance(500_000) {
            world.run_until(PATIENCE, World::is_one);
        } else {
            world.run(world.now + rng.range(0, 2_000_000));
        }
        let size = world.nodes.len();
        let node = rng.below(size);
        let teller = (node + 1 + rng.below(size.saturating_sub(1))) % size;
        if self.story == Story::Leave {
            return world.leave(node);
        }
        world.exclude(node, teller);
    }

    /// Everything is said again while nothing happens, then to a process that has just restarted.
    fn replay(&self, world: &mut World, rng: &mut Rng) {
        if !self.settles(world) {
            return;
        }
        let recorded = world.recorded.clone();
        self.say_again(world, &recorded, None, rng);
        if !world.is_one() {
            return;
        }
        let node = rng.below(world.nodes.len());
        world.crash(node);
        world.start(node);
        if !self.settles(world) {
            return;
        }
        let recorded = world.recorded.clone();
        self.say_again(world, &recorded, Some(node), rng);
        // And once more while others restart, and one comes: it ends with one key all the same.
        let size = world.nodes.len();
        let late = world.add();
        for node in [late, rng.below(size), rng.below(size)] {
            for (domain, bytes) in &recorded {
                world.inject(*domain, bytes, None, rng.range(0, 6_000_000));
            }
            world.crash(node);
            world.start(node);
            world.run(world.now + rng.range(0, 3_000_000));
        }
        world.run(world.now + 6_000_000);
    }

    fn renew(&self, world: &mut World, rng: &mut Rng) {
        let size = world.nodes.len();
        let (renewed, away) = (rng.below(size), rng.below(size));
        let teller = (renewed + 1 + rng.below(size.saturating_sub(1))) % size;
        world.run_until(PATIENCE, World::is_one);
        if away != renewed && away != teller {
            world.crash(away);
        }
        let term = rng.range(5, 40);
        if rng.chance(500_000) {
            world.exclude(renewed, teller);
        } else {
            // It has had another that ends soon, which is known to all but whoever is away.
            world.crash(renewed);
            world.exclude(renewed, teller);
            world.run(world.now + 2_000_000);
            world.renew(renewed, Some(term));
            world.start(renewed);
            for _ in 0..term + 8 {
                world.run(world.now + 1_000_000);
                world.tell_time();
            }
        }
        world.run(world.now + rng.range(0, 20_000_000));
        world.crash(renewed);
        world.renew(renewed, None);
        world.start(renewed);
        world.run(world.now + rng.range(0, 20_000_000));
        if !world.nodes.get(away).is_some_and(|node| node.alive) {
            world.start(away);
        }
    }

    /// Waits until all are one, and nothing is under way.
    fn settles(&self, world: &mut World) -> bool {
        (0..10).any(|_| {
            world.run_until(PATIENCE, World::is_one);
            let before = world.runs.len();
            world.run(world.now + 4_000_000);
            world.is_one() && world.runs.len() == before
        })
    }

    fn say_again(&self, world: &mut World, recorded: &[(usize, Bytes)], to: Option<usize>, rng: &mut Rng) {
        world.quiet_from();
        for (domain, bytes) in recorded {
            world.inject(*domain, bytes, to, rng.range(0, 2_000_000));
        }
        world.run(world.now + 5_000_000);
        world.quiet_to();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_reaches_every_corner() {
        let plans: Vec<Plan> = (0..4_000).map(Plan::draw).collect();
        let starts = || plans.iter().filter(|plan| plan.story == Story::Start);
        let span = |of: fn(&Plan) -> usize| (starts().map(of).min(), starts().map(of).max());
        assert_eq!(span(|plan| plan.old), (Some(0), Some(20)));
        assert_eq!(span(|plan| plan.new), (Some(1), Some(30)));
        let any = |which: fn(&Plan) -> bool| assert!(plans.iter().any(which));
        any(|plan| plan.delay < 100);
        any(|plan| plan.delay > 295_000 && plan.jitter > 60_000);
        any(|plan| plan.loss == 0);
        any(|plan| plan.loss > 99_000 && plan.delay > 200_000);
        let stories = [Story::Crash, Story::Heal, Story::Exclude, Story::Leave, Story::Replay, Story::Renew];
        assert!(stories.iter().all(|story| plans.iter().any(|plan| plan.story == *story)));
        let mut world = World::new(&Plan::draw(1), None);
        for _ in 0..40 {
            world.add();
        }
        assert!([-1, 1].iter().all(|off| world.nodes.iter().any(|node| node.off == *off)));
    }
}
