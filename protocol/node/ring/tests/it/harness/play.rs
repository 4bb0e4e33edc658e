//! Random schedules.

use super::{Rng, World, check};
use core::time::Duration;
use folkmoot_base::{Danger, Service};

/// After the faults stop, all must meet within this time.
pub const HEAL_LIMIT: Duration = Duration::from_secs(60);

/// What a message is sent as.
const SERVICES: [Service; 7] = [
    Service::Unreliable,
    Service::Reliable,
    Service::Fifo,
    Service::Causal,
    Service::Agreed,
    Service::Agreed,
    Service::Safe,
];

/// Plays the schedule of `seed`; `Err` says which property does not hold.
pub fn play(seed: u64, danger: Option<Danger>, trace: bool) -> (World, Result<(), String>) {
    let mut rng = Rng(seed ^ 0x5eed);
    let n = 2 + rng.below(6) as usize;
    let mut world = World::new(n, seed, danger);
    world.trace = trace.then(Vec::new);
    world.loss = [0, 0, 1, 5, 20][rng.below(5) as usize];
    world.duplicate = [0, 0, 5, 20][rng.below(4) as usize];
    let delays = [(50, 200), (100, 3_000), (1_000, 30_000), (15_000, 40_000), (150_000, 250_000)];
    world.delay = delays[rng.below(5) as usize];
    world.crash_mid = [0, 0, 20, 100][rng.below(4) as usize];
    let steps = 4 + rng.below(24);
    for _ in 0..steps {
        step(&mut world, &mut rng);
        let wait = [0, 1, 5, 30, 120, 400, 1_200][rng.below(7) as usize];
        let wait = rng.below(wait + 1);
        world.ms(wait);
    }
    world.note(|| "--- heal".into());
    world.loss = world.loss.min(1);
    world.crash_mid = 0;
    world.heal();
    for i in 0..n {
        world.start(i);
    }
    let settled = world.settle(HEAL_LIMIT);
    world.ms(3_000); // A message delivered at its sender is on its way to the others.
    let mut result = check::all(&world);
    if result.is_ok() && settled.is_none() {
        result = Err("liveness: not all in one configuration with everything delivered".into());
    }
    (world, result)
}

fn step(world: &mut World, rng: &mut Rng) {
    let n = world.nodes.len() as u64;
    let i = rng.below(n) as usize;
    let j = rng.below(n) as usize;
    match rng.below(20) {
        0..=8 => {
            for _ in 0..1 + rng.below(3) {
                burst(world, rng);
            }
        }
        9 => world.crash(i),
        10 | 11 => world.start(i),
        12 | 13 => {
            let sides: Vec<usize> = (0..n).map(|_| rng.below(2) as usize).collect();
            world.note(|| format!("partition {sides:?}"));
            world.partition(&sides);
        }
        14 => {
            world.note(|| format!("cut n{i} -> n{j}"));
            world.set_cut(i, j, true);
        }
        15 | 16 => {
            world.note(|| "heal".into());
            world.heal();
        }
        17 => world.loss = [0, 2, 10, 30][rng.below(4) as usize],
        18 => {
            world.crash(i);
            world.start(i);
        }
        _ => {
            // A disk as it was before the last write.
            if world.nodes[i].ring.is_none() && rng.percent(30) {
                world.nodes[i].disk = world.nodes[i].older_disk.clone();
            }
            world.start(i);
        }
    }
}

fn burst(world: &mut World, rng: &mut Rng) {
    let i = rng.below(world.nodes.len() as u64) as usize;
    let count = [1, 3, 20, 60][rng.below(4) as usize];
    let size = [12, 100, 900, 1_350, 4_000, 30_000][rng.below(6) as usize];
    let count = if size > 2_000 { count.min(3) } else { count };
    for _ in 0..1 + rng.below(count) {
        let service = SERVICES[rng.below(SERVICES.len() as u64) as usize];
        world.submit(i, service, size);
    }
}
