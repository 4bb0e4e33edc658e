//! A schedule is drawn from a seed and knows nothing of the run. It says who takes part, in what
//! weather, and which steps happen when.
//!
//! Players in steps are numbers, which the director maps to whoever fits at that moment (`who`
//! modulo the living, for example). So any list of steps can be played, cut short or thinned out,
//! and still means something.

mod liars;
mod step;

pub use liars::{Forgery, Slander};
pub use step::{Second, Step};

use crate::hosts::Hosts;
use crate::keys::{ALIKE, Keys};
use crate::machine::{Crooked, MUTES, Mute};
use crate::net::{CALM, Weather};
use crate::payload::SERVICES;
use crate::rng::Rng;
use folkmoot_base::{Keying, Service};
use folkmoot_identity::Scheme;

/// Most players.
pub const SEATS_MAX: u8 = 7;
/// Most steps.
pub const STEPS_MAX: u64 = 200;

/// When a step is played, counted from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After this many microseconds.
    After(u64),
    /// This many microseconds after the next trace line of a layer that holds a word, from any
    /// player; after [`HOOK_PATIENCE`] if none comes.
    On(Hook, u64),
}

/// How long a step waits for its trace line, in microseconds.
pub const HOOK_PATIENCE: u64 = 400_000;

/// The middle of something: a layer, and a word in its trace line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// The layer that speaks.
    pub layer: &'static str,
    /// A word of the line, in lower case; empty for any.
    pub word: &'static str,
}

/// The middles that schedules aim at.
pub const HOOKS: [Hook; 16] = [
    Hook { layer: "ring", word: "gather" },
    Hook { layer: "ring", word: "commit" },
    Hook { layer: "ring", word: "recover" },
    Hook { layer: "ring", word: "operational" },
    Hook { layer: "ring", word: "" },
    Hook { layer: "flush", word: "" },
    Hook { layer: "flush", word: "install" },
    Hook { layer: "flush", word: "ok" },
    Hook { layer: "keying", word: "" },
    Hook { layer: "keying", word: "token" },
    Hook { layer: "keying", word: "list" },
    Hook { layer: "keying", word: "confirm" },
    Hook { layer: "session", word: "" },
    Hook { layer: "group", word: "" },
    Hook { layer: "admission", word: "" },
    Hook { layer: "link", word: "" },
];

/// A whole schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Drawn from this.
    pub seed: u64,
    /// How many players.
    pub players: u8,
    /// How many of them sign the charter; the rest are strangers.
    pub founders: u8,
    /// Votes that admit.
    pub votes: u8,
    /// How the charter has votes become a signature.
    pub scheme: Scheme,
    /// What the charter says agrees on keys.
    pub keying: Keying,
    /// Whether the charter asks for ML-KEM-768 beside it, and in links.
    pub hybrid: bool,
    /// Of which algorithms the players' keys are.
    pub keys: Keys,
    /// The usual weather.
    pub weather: Weather,
    /// The longest round trip between two players, in microseconds; 0: the weather alone says how
    /// far they are.
    pub far: u64,
    /// Who runs a second program: bit k for player k.
    pub seconds: u8,
    /// Whether nodes are carriers with keys and a charter of their own, where the schedule fits
    /// ([`crate::carriers`]).
    pub carriers: bool,
    /// Whose node forges, if nodes are carriers ([`crate::forger`]).
    pub forger: Option<u8>,
    /// The disks and clocks.
    pub hosts: Hosts,
    /// A player whose node is crooked throughout, and how (only in runs that ask for one).
    pub crooked: Option<(u8, Crooked)>,
    /// Whether an attacker has the keys of all who are expelled.
    pub robbed: bool,
    /// Whether holders of shares are gone for good in the middle of a resharing, or lose their
    /// disks ([`crate::shares`]).
    pub bereft: bool,
    /// Whether nothing is broken by it: nobody crashes, is cut off, muted or delayed, and the
    /// weather is fair.
    pub calm: bool,
    /// What happens.
    pub steps: Vec<(When, Step)>,
}

/// Changes of the charter that schedules make: field and value.
pub const CHANGES: [(&str, &str); 13] = [
    ("contributory", "false"),
    ("keying", "gdh"),
    ("keying", "tgdh"),
    ("keying", "str"),
    ("keying", "bd"),
    ("keying", "ckd"),
    ("keying", "dutta-barua"),
    ("keying", "mls"),
    ("cipher", "aes-256-gcm"),
    ("cipher", "chacha20-poly1305"),
    ("threshold", "1"),
    ("threshold", "2"),
    ("threshold", "3"),
];
/// How many of them an aim draws; those after it are for groups whose voters sign together
/// ([`crate::signing`]).
pub const CHANGES_DRAWN: usize = 10;

impl Schedule {
    /// Draws the schedule of `seed`.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed, "schedule", 0);
        let calm = rng.chance(120_000);
        Self::draw_from(seed, rng, calm)
    }

    /// Draws a schedule in which nothing fails.
    pub fn draw_calm(seed: u64) -> Self {
        Self::draw_from(seed, Rng::new(seed, "calm schedule", 0), true)
    }

    fn draw_from(seed: u64, mut rng: Rng, calm: bool) -> Self {
        let players = 2 + u8::try_from(rng.weighted(&[12, 28, 24, 16, 12, 8])).unwrap_or(0);
        let founders = if rng.chance(500_000) { players } else { 1 + small(&mut rng, players) };
        let votes = 1 + small(&mut rng, founders.min(3));
        let weather = if calm { CALM } else { draw_weather(&mut rng) };
        let length = draw_length(&mut rng);
        let focus = if calm { CALM_FOCUS } else { draw_focus(&mut rng) };
        let mut steps = vec![(When::After(1_500_000), Step::Rest(0))];
        if founders < players {
            for who in founders..players {
                if rng.chance(700_000) {
                    let admit = Step::Admit { who, contact: small(&mut rng, founders), yes: 0xff };
                    steps.push((When::After(rng.range(0, 300_000)), admit));
                }
            }
        }
        for _ in 0..length {
            let step = draw_step(&mut rng, &focus);
            steps.push((draw_when(&mut rng), step));
        }
        let mut schedule = Self {
            seed,
            players,
            founders,
            votes,
            scheme: Scheme::Plain,
            keying: Keying::default(),
            hybrid: false,
            keys: ALIKE,
            weather,
            far: 0,
            seconds: 0,
            carriers: false,
            forger: None,
            hosts: Hosts::default(),
            crooked: None,
            robbed: false,
            bereft: false,
            calm,
            steps,
        };
        if !calm {
            crate::ordeal::add(&mut schedule);
            crate::hosts::add(&mut schedule);
        }
        crate::speech::add(&mut schedule);
        crate::keys::add(&mut schedule);
        crate::carriers::add(&mut schedule);
        crate::forger::add(&mut schedule);
        schedule
    }
}

fn small(rng: &mut Rng, below: u8) -> u8 {
    u8::try_from(rng.range(0, u64::from(below.max(1)))).unwrap_or(0)
}

/// Mostly short, sometimes up to [`STEPS_MAX`]: many short schedules find more per second than few
/// long ones.
fn draw_length(rng: &mut Rng) -> u64 {
    match rng.weighted(&[50, 35, 12, 3]) {
        0 => rng.range(1, 13),
        1 => rng.range(12, 31),
        2 => rng.range(30, 81),
        _ => rng.range(80, STEPS_MAX + 1),
    }
}

fn draw_weather(rng: &mut Rng) -> Weather {
    let delay_min = rng.range(100, 1_000);
    match rng.weighted(&[40, 30, 20, 10]) {
        0 => Weather { delay_min, delay_max: delay_min * 3, ..CALM },
        1 => Weather { delay_min, delay_max: delay_min * 8, loss: 2_000, twice: 2_000, late: 10_000 },
        2 => Weather { delay_min, delay_max: delay_min * 10, loss: 20_000, twice: 20_000, late: 50_000 },
        _ => Weather { delay_min: 5_000, delay_max: 20_000, loss: 5_000, twice: 5_000, late: 20_000 },
    }
}

fn draw_when(rng: &mut Rng) -> When {
    match rng.weighted(&[30, 25, 10, 35]) {
        0 => When::After(rng.range(0, 5_000)),
        1 => When::After(rng.range(5_000, 150_000)),
        2 => When::After(rng.range(150_000, 2_500_000)),
        _ => {
            let hook = rng.pick(&HOOKS).copied().unwrap_or(Hook { layer: "ring", word: "" });
            When::On(hook, rng.range(0, 2_500))
        }
    }
}

/// Weights of the kinds of steps: each schedule has its own taste, so that unlikely combinations
/// come together.
fn draw_focus(rng: &mut Rng) -> [u32; 20] {
    let mut weights = [24, 5, 5, 6, 7, 9, 2, 6, 2, 9, 4, 5, 3, 3, 4, 6, 2, 2, 0, 6];
    for weight in &mut weights {
        *weight *= match rng.weighted(&[20, 50, 20, 10]) {
            0 => 0,
            1 => 1,
            2 => 3,
            _ => 8,
        };
    }
    weights[0] += 6;
    weights[9] += 1;
    weights
}

/// Weights in a calm schedule: members come and go and speak.
const CALM_FOCUS: [u32; 20] = [12, 6, 20, 24, 0, 0, 0, 0, 0, 0, 0, 0, 6, 2, 0, 0, 0, 4, 0, 4];

fn draw_step(rng: &mut Rng, focus: &[u32; 20]) -> Step {
    let who = small(rng, SEATS_MAX);
    match rng.weighted(focus) {
        0 => draw_send(rng, who),
        1 => Step::Chorus(draw_service(rng)),
        2 => Step::Leave(who),
        3 => Step::Join(who),
        4 => Step::Crash { who, after: rng.chance(600_000).then(|| small(rng, 12)) },
        5 => Step::Restart(who),
        6 => Step::RestartOld { who, back: 1 + small(rng, 60) },
        7 => Step::Split(u8::try_from(rng.range(1, 127)).unwrap_or(1)),
        8 => Step::SplitThree(u16::try_from(rng.range(1, 1 << 14)).unwrap_or(1)),
        9 => Step::Heal,
        10 => Step::Cut(who, small(rng, SEATS_MAX)),
        11 => draw_burst(rng),
        12 => Step::Admit { who, contact: small(rng, SEATS_MAX), yes: mask(rng) },
        13 => Step::Expel { by: small(rng, SEATS_MAX), who, yes: mask(rng) },
        14 => draw_mute(rng, who),
        15 => draw_forgery(rng),
        16 => Step::Flood { who, count: 20 + u16::from(small(rng, 200)) },
        17 => Step::Rest(rng.range(500_000, 8_000_000)),
        18 => Step::Heal,
        _ => Step::Send { who, service: draw_service(rng), bytes: 40, count: 1 + small(rng, 20) },
    }
}

fn draw_service(rng: &mut Rng) -> Service {
    let index = rng.weighted(&[1, 1, 4, 4, 8, 8]);
    SERVICES.get(index).copied().unwrap_or(Service::Agreed)
}

fn draw_send(rng: &mut Rng, who: u8) -> Step {
    let bytes = match rng.weighted(&[70, 20, 8, 2]) {
        0 => rng.range(32, 200),
        1 => rng.range(200, 1_500),
        2 => rng.range(1_500, 12_000),
        _ => rng.range(12_000, 90_000),
    };
    Step::Send { who, service: draw_service(rng), bytes: u32::try_from(bytes).unwrap_or(64), count: 1 }
}

fn mask(rng: &mut Rng) -> u8 {
    if rng.chance(600_000) { 0xff } else { u8::try_from(rng.range(0, 256)).unwrap_or(0xff) }
}

fn draw_burst(rng: &mut Rng) -> Step {
    let loss = [0, 50_000, 300_000, 900_000, 1_000_000].get(rng.below(5)).copied().unwrap_or(0);
    let late = [0, 100_000, 500_000].get(rng.below(3)).copied().unwrap_or(0);
    let delay_max =
        [2_000, 20_000, 300_000, 1_500_000].get(rng.weighted(&[4, 3, 2, 1])).copied().unwrap_or(2_000);
    let twice = [0, 0, 300_000].get(rng.below(3)).copied().unwrap_or(0);
    Step::Burst(Weather { delay_min: 200, delay_max, loss, twice, late }, rng.range(20_000, 3_000_000))
}

fn draw_mute(rng: &mut Rng, who: u8) -> Step {
    let step = rng.pick(&MUTES).copied().unwrap_or(Mute::FlushOk);
    Step::Mute { who, step, micros: rng.range(500_000, 12_000_000) }
}

fn draw_forgery(rng: &mut Rng) -> Step {
    const HOWS: [Forgery; 7] = [
        Forgery::Race,
        Forgery::Replay,
        Forgery::Redirect,
        Forgery::Flip,
        Forgery::Cut,
        Forgery::Lengthen,
        Forgery::Noise,
    ];
    let how = HOWS.get(rng.weighted(&[5, 6, 2, 4, 1, 1, 1])).copied().unwrap_or(Forgery::Replay);
    Step::Forge { how, count: 1 + small(rng, 30) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_schedule_within_the_stated_limits() {
        let mut longest = 0;
        for seed in 0..2_000 {
            let schedule = Schedule::draw(seed);
            assert_eq!(schedule, Schedule::draw(seed));
            assert!((2..=SEATS_MAX).contains(&schedule.players));
            assert!((1..=schedule.players).contains(&schedule.founders));
            assert!((1..=schedule.founders).contains(&schedule.votes));
            longest = longest.max(schedule.steps.len());
        }
        assert!(longest > 120, "long schedules are drawn too: {longest}");
    }
}
