//! Schedules in which whoever is expelled is an attacker's from then on: expulsions of those who
//! once were a quorum, members that are away meanwhile, and lies in the middle of everything. The
//! group rests for minutes or months in between, and somebody's clock goes wrong.

use crate::lie::LIES;
use crate::rng::Rng;
use crate::schedule::{Hook, Schedule, Step, When};
use folkmoot_base::Service;

/// Steps of the drawn schedule that are kept.
const REST_STEPS: usize = 8;
/// By then people have approved, and voters have decided.
const DECIDED_MICROS: u64 = 2_500_000;
/// In how many of a million schedules a quorum lies in the end.
const CONSPIRE: u32 = 120_000;
/// Changes of one field of the charter, one after the other.
const CIPHERS: [u8; 2] = [8, 9];

/// For how long all computers sleep, in seconds: approvals of requests end after three days.
const NIGHTS: [u64; 5] = [150, 1_200, 86_400 / 2, 4 * 86_400, 40 * 86_400];
/// How far a clock jumps, in seconds.
const JUMPS: [i64; 6] = [400, 2 * 86_400, 40 * 86_400, 400 * 86_400, -400, -40 * 86_400];
/// Clocks of a group that has not set them are so far from the true time, at most, in seconds.
const APART_SECONDS: i64 = 140;

/// Where lies hurt: while rings form, and while decisions are made and handed over.
const MIDDLES: [Hook; 6] = [
    Hook { layer: "ring", word: "gather" },
    Hook { layer: "ring", word: "operational" },
    Hook { layer: "admission", word: "handed over" },
    Hook { layer: "admission", word: "closed" },
    Hook { layer: "link", word: "" },
    Hook { layer: "keying", word: "secure" },
];

/// Makes a schedule one with an attacker who has former keys.
pub fn take(schedule: &mut Schedule) {
    let mut rng = Rng::new(schedule.seed, "takeover", 0);
    schedule.robbed = true;
    schedule.calm = false;
    schedule.players = 5 + small(&mut rng, 3);
    schedule.founders = 1 + small(&mut rng, schedule.players - 1).min(small(&mut rng, 5));
    schedule.votes = 1 + small(&mut rng, schedule.founders.min(2));
    let rest = schedule.steps.split_off(schedule.steps.len().min(1));
    let strangers = schedule.players - schedule.founders;
    for who in 0..strangers {
        let admit = Step::Admit { who, contact: 0, yes: 0xff };
        schedule.steps.push((When::After(rng.range(0, 300_000)), admit));
    }
    let mut steps = story(schedule, &mut rng);
    conspiracy(schedule, &mut steps);
    schedule.steps.extend(clocks(schedule));
    schedule.steps.extend(steps);
    schedule.steps.extend(rest.into_iter().take(REST_STEPS));
}

/// Others get votes, some go away, founders are expelled, and come back as somebody else's keys.
fn story(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let by = player(schedule, rng);
    let voters = if rng.chance(500_000) { 0xff } else { u8::try_from(rng.range(1, 128)).unwrap_or(0x7f) };
    let away = player(schedule, rng);
    let mut steps = vec![(When::After(DECIDED_MICROS), Step::Rest(0))];
    let early = rng.chance(600_000);
    if early {
        // Before the others have votes: then few keys are a quorum of the electorate that it knows.
        steps.push((decided(rng), goes(away, schedule, rng)));
    }
    steps.push((decided(rng), Step::Electorate { by, voters }));
    let changes = CIPHERS.iter().filter(|_| rng.chance(500_000)).copied().collect::<Vec<_>>();
    for what in changes {
        steps.push((decided(rng), Step::Change { by, what }));
    }
    if !early {
        steps.push((decided(rng), goes(away, schedule, rng)));
    }
    for who in liars(schedule) {
        steps.push((middle(rng), Step::Turn(who)));
    }
    let gone = 1 + small(rng, (schedule.players / 2).min(3));
    for round in 0..gone {
        // Founders first: they were a quorum once.
        let who = if rng.chance(800_000) { round } else { player(schedule, rng) };
        steps.push((decided(rng), Step::Expel { by: player(schedule, rng), who, yes: 0xff }));
        steps.extend(trouble(schedule, rng));
        steps.extend(waverer(schedule, round));
    }
    steps.push((decided(rng), Step::Rest(0)));
    steps.extend(night(schedule, rng));
    steps.extend(lies(schedule, rng, None));
    // Whoever was away hears the attacker first, or everybody at once.
    if rng.chance(750_000) {
        steps.push((When::After(0), Step::Split(1_u8.checked_shl(away.into()).unwrap_or(1))));
    } else {
        steps.push((When::After(0), Step::Heal));
    }
    steps.push((When::After(0), Step::Restart(0)));
    steps.extend(lies(schedule, rng, Some(away)));
    steps.push((When::After(rng.range(0, DECIDED_MICROS)), Step::Heal));
    // Others get votes, or a field is changed again: what was approved before is over.
    let by = player(schedule, rng);
    let again = Step::Change { by, what: CIPHERS[0] };
    steps.push((middle(rng), if early { Step::Electorate { by, voters: 0xff } } else { again }));
    steps.extend(lies(schedule, rng, None));
    steps.push((decided(rng), Step::Rest(0)));
    steps.extend(night(schedule, rng));
    steps.extend(lies(schedule, rng, None));
    steps.push((When::After(rng.range(0, 2 * DECIDED_MICROS)), Step::Heal));
    steps
}

/// The voters whose programs lie: the first one, mostly, since it has the first ballot; sometimes
/// another one as well.
fn liars(schedule: &Schedule) -> Vec<u8> {
    let mut rng = Rng::new(schedule.seed, "takeover liar", 0);
    let mut liars = Vec::new();
    for chance in [550_000, 400_000] {
        if !rng.chance(chance) {
            break;
        }
        liars.push(if rng.chance(600_000) { 0 } else { player(schedule, &mut rng) });
    }
    liars
}

/// In a few schedules a quorum begins to lie in the second half.
fn conspiracy(schedule: &Schedule, steps: &mut Vec<(When, Step)>) {
    let mut rng = Rng::new(schedule.seed, "takeover quorum", 0);
    if rng.chance(CONSPIRE) {
        let half = steps.len() / 2;
        let at = half.saturating_add(rng.below(half)).min(steps.len());
        steps.insert(at, (middle(&mut rng), Step::Conspire));
    }
}

/// Somebody takes its yes back in this round, and gives it again.
fn waverer(schedule: &Schedule, round: u8) -> Option<(When, Step)> {
    let mut rng = Rng::new(schedule.seed, "takeover waverer", u64::from(round));
    let who = rng.chance(350_000).then(|| player(schedule, &mut rng))?;
    Some((middle(&mut rng), Step::Waver(who)))
}

/// In some groups the clocks are minutes apart, or one of them does not go.
fn clocks(schedule: &Schedule) -> Vec<(When, Step)> {
    let mut rng = Rng::new(schedule.seed, "takeover clocks", 0);
    let rng = &mut rng;
    let ahead = |rng: &mut Rng| rng.range(0, 2 * APART_SECONDS.unsigned_abs() + 1);
    let ahead = |rng: &mut Rng| i64::try_from(ahead(rng)).unwrap_or_default() - APART_SECONDS;
    match rng.weighted(&[6, 2, 2]) {
        0 => Vec::new(),
        1 => (0..schedule.players)
            .map(|who| (When::After(0), Step::Clock { who, ahead: Some(ahead(rng)) }))
            .collect(),
        _ => vec![(When::After(0), Step::Clock { who: player(schedule, rng), ahead: None })],
    }
}

/// All sleep for a while. Then somebody's clock jumps, and is put right.
fn night(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let mut steps = Vec::new();
    if rng.chance(600_000) {
        let seconds = rng.pick(&NIGHTS).copied().unwrap_or_default();
        steps.push((When::After(0), Step::Sleep(seconds)));
    }
    if rng.chance(400_000) {
        let ahead = rng.pick(&JUMPS).copied();
        steps.push((middle(rng), Step::Clock { who: player(schedule, rng), ahead }));
        steps.push((When::After(rng.range(0, 2 * DECIDED_MICROS)), Step::Clock { who: 0, ahead: Some(0) }));
    }
    steps
}

/// How somebody goes away: its process ends, or it reaches nobody.
fn goes(who: u8, schedule: &Schedule, rng: &mut Rng) -> Step {
    match rng.weighted(&[5, 4, 1]) {
        0 => Step::Crash { who, after: rng.chance(300_000).then(|| small(rng, 12)) },
        1 => Step::Split(1_u8.checked_shl(who.into()).unwrap_or(1)),
        _ => Step::Part(who, player(schedule, rng)),
    }
}

fn lies(schedule: &Schedule, rng: &mut Rng, to: Option<u8>) -> Vec<(When, Step)> {
    let mut out = Vec::new();
    for _ in 0..3 + rng.below(8) {
        let forks = if to.is_some() { 12 } else { 5 };
        let how = LIES.get(rng.weighted(&[forks, 3, 1, 2, 1, 6, 4, 2])).copied().unwrap_or(LIES[0]);
        let to = to.filter(|_| rng.chance(800_000)).unwrap_or_else(|| player(schedule, rng));
        out.push((middle(rng), Step::Lie { how, to }));
    }
    out
}

/// Sometimes something goes wrong in the middle.
fn trouble(schedule: &Schedule, rng: &mut Rng) -> Option<(When, Step)> {
    let who = player(schedule, rng);
    let step = match rng.weighted(&[12, 2, 2, 1, 1, 2]) {
        0 => return None,
        1 => Step::Chorus(Service::Agreed),
        2 => Step::Crash { who, after: Some(small(rng, 12)) },
        3 => Step::RestartOld { who, back: 1 + small(rng, 60) },
        4 => Step::Leave(who),
        _ => Step::Part(who, player(schedule, rng)),
    };
    Some((middle(rng), step))
}

fn decided(rng: &mut Rng) -> When {
    When::After(DECIDED_MICROS + rng.range(0, DECIDED_MICROS))
}

fn middle(rng: &mut Rng) -> When {
    match rng.pick(&MIDDLES).filter(|_| rng.chance(400_000)) {
        Some(hook) => When::On(*hook, rng.range(0, 2_500)),
        None => When::After(rng.range(0, 500_000)),
    }
}

fn player(schedule: &Schedule, rng: &mut Rng) -> u8 {
    small(rng, schedule.players)
}

fn small(rng: &mut Rng, below: u8) -> u8 {
    u8::try_from(rng.range(0, u64::from(below.max(1)))).unwrap_or(0)
}
