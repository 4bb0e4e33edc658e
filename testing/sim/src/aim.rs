//! Schedules that aim: steps in front of a drawn schedule, for moments so narrow that chance seldom
//! meets them.

use crate::net::TRIP_MICROS_MAX;
use crate::rng::Rng;
use crate::schedule::{Hook, Schedule, Step, When};
use folkmoot_base::Service;
use folkmoot_identity::Scheme;

/// How often a schedule takes aim.
const ROUNDS: u8 = 8;
/// By then a ring that was cut has formed anew, in parts or whole.
const LONG_MICROS: u64 = 2_500_000;

/// The moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// None in particular.
    Anywhere,
    /// The network splits while the confirmations of a key are on their way.
    Confirmation,
    /// The network splits when an expulsion is handed over, and all send when its entry has its
    /// place.
    Expulsion,
    /// Expulsions, often two together, in the middle of whatever goes on; others leave, join, crash
    /// and come apart.
    Roster,
    /// One ordeal after the other: cuts that last, rosters that differ.
    Ordeal,
    /// Somebody joins while the key of another's join is being agreed: a change that takes nobody
    /// away, so no signal comes.
    Cascade,
    /// Votes for other modules and ciphers in the middle of whatever goes on.
    Charter,
    /// Disks are slow, and processes die while they write.
    Disks,
    /// Clocks differ, in groups whose voters have something to decide.
    Clocks,
    /// Folders are copied, and run twice.
    Twice,
    /// Applications take no events, often where nothing else is wrong.
    Readers,
    /// Every pair has a round trip of its own, and some are far from each other.
    Far,
    /// Somebody's datagrams are held up; it dies, and they arrive while the others recover.
    Straggler,
    /// Somebody asks, others answer, and the answers arrive before the question.
    Answers,
    /// The nodes are carriers, and one of them forges words.
    Forger,
    /// The same, and its own party confirms no key: another's confirmation is said in its name.
    Reflector,
    /// Holders of the group's key are gone for good in the middle of a resharing, or lose their
    /// disks.
    Shares,
    /// Whoever is expelled is an attacker's from then on, who lies with all former keys.
    Takeover,
}

/// All of them, as the command line names them.
pub const AIMS: [(&str, Aim); 17] = [
    ("confirmation", Aim::Confirmation),
    ("expulsion", Aim::Expulsion),
    ("roster", Aim::Roster),
    ("ordeal", Aim::Ordeal),
    ("cascade", Aim::Cascade),
    ("charter", Aim::Charter),
    ("disks", Aim::Disks),
    ("clocks", Aim::Clocks),
    ("twice", Aim::Twice),
    ("readers", Aim::Readers),
    ("far", Aim::Far),
    ("straggler", Aim::Straggler),
    ("answers", Aim::Answers),
    ("forger", Aim::Forger),
    ("reflector", Aim::Reflector),
    ("shares", Aim::Shares),
    ("takeover", Aim::Takeover),
];

/// Where things are in the middle when the roster changes.
const MIDDLES: [Hook; 8] = [
    Hook { layer: "ring", word: "gather" },
    Hook { layer: "ring", word: "recover" },
    Hook { layer: "ring", word: "operational" },
    Hook { layer: "group", word: "merged" },
    Hook { layer: "keying", word: "token" },
    Hook { layer: "keying", word: "list" },
    Hook { layer: "keying", word: "confirmation" },
    Hook { layer: "keying", word: "secure" },
];

/// An entry on its way to its place, and there.
const PLACES: [Hook; 2] =
    [Hook { layer: "admission", word: "handed over" }, Hook { layer: "admission", word: "closed" }];

impl Aim {
    /// Puts the aimed steps after the first one, which lets the founders meet.
    pub fn take(self, schedule: &mut Schedule) {
        if self == Self::Takeover {
            return crate::takeover::take(schedule);
        }
        if self == Self::Shares {
            let scheme = if schedule.seed.is_multiple_of(3) { Scheme::TsDsa } else { Scheme::Frost };
            return crate::shares::take(schedule, scheme);
        }
        let mut rng = Rng::new(schedule.seed, "aim", 0);
        // Half of them in calm schedules: there the checker sees what a slow reader costs others.
        if self == Self::Readers && schedule.seed.is_multiple_of(2) {
            *schedule = Schedule::draw_calm(schedule.seed);
        }
        let aimed: Vec<_> = (1..=ROUNDS).flat_map(|round| self.steps(schedule, round, &mut rng)).collect();
        let at = schedule.steps.len().min(1);
        schedule.steps.splice(at..at, aimed);
        match self {
            Self::Disks => schedule.hosts.slow(&mut rng),
            Self::Clocks => schedule.hosts.skew(&mut rng),
            Self::Far => schedule.far = TRIP_MICROS_MAX,
            Self::Forger => crate::forger::take(schedule, &mut rng),
            Self::Reflector => crate::forger::take_and_silence(schedule, &mut rng),
            _ => {}
        }
        if self == Self::Roster {
            // Enough of them that some are left after several are gone, and enough votes.
            schedule.players = schedule.players.max(5);
            schedule.founders = schedule.founders.max(4);
        }
    }

    /// One try.
    fn steps(self, schedule: &Schedule, round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
        match self {
            Self::Anywhere | Self::Takeover | Self::Shares => Vec::new(),
            Self::Confirmation => confirmation(round, rng),
            Self::Expulsion => expulsion(round, rng),
            Self::Roster => roster(rng),
            Self::Ordeal => crate::ordeal::draw(schedule, rng),
            Self::Cascade => cascade(round, rng),
            Self::Charter => charter(round, rng),
            Self::Disks => disks(rng),
            Self::Clocks => roster(rng),
            Self::Twice => crate::hosts::twice(rng),
            Self::Readers => crate::hosts::readers(rng),
            Self::Far => far(rng),
            Self::Straggler => straggler(round, rng),
            Self::Answers => answers(round, rng),
            Self::Forger => crate::forger::steps(round, rng),
            Self::Reflector => crate::forger::silences(round, rng),
        }
    }
}

fn split(rng: &mut Rng) -> Step {
    Step::Split(u8::try_from(rng.range(1, 127)).unwrap_or(1))
}

/// Together, a change, an agreement, and a cut in its last round that lasts until the ring has
/// broken.
fn confirmation(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let hook = Hook { layer: "keying", word: "confirmation" };
    vec![
        (When::After(LONG_MICROS), Step::Leave(round)),
        (When::On(hook, rng.range(0, 1_000 * u64::from(round))), split(rng)),
        (When::After(LONG_MICROS), Step::Heal),
        (When::After(0), Step::Join(0)),
    ]
}

/// Three leave; two come back at once, and the third while that is being keyed.
fn cascade(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let word = ["token", "list", "confirmation"].get(rng.below(3)).copied().unwrap_or_default();
    let mut steps: Vec<_> =
        (round..).take(3).map(|who| (When::After(LONG_MICROS / 2), Step::Leave(who))).collect();
    steps.push((When::After(LONG_MICROS), Step::Join(0)));
    steps.push((When::After(0), Step::Join(0)));
    steps.push((When::On(Hook { layer: "keying", word }, rng.range(0, 2_000)), Step::Join(0)));
    steps
}

/// The first makes room for modules that are not contributory; then one after the other, while
/// members come and go and talk.
fn charter(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let what = if round == 1 { 0 } else { u8::try_from(rng.range(1, 10)).unwrap_or(1) };
    let mut steps = vec![(middle(rng), Step::Change { by: player(rng), what })];
    for _ in 0..rng.range(1, 4) {
        let step = match rng.weighted(&[2, 2, 1, 1, 6]) {
            0 => Step::Leave(player(rng)),
            1 => Step::Join(player(rng)),
            2 => split(rng),
            3 => Step::Restart(player(rng)),
            _ => Step::Chorus(Service::Agreed),
        };
        steps.push((middle(rng), step));
    }
    steps.push((When::After(rng.range(0, LONG_MICROS)), Step::Heal));
    steps
}

/// Somebody dies while a ring forms, or while a request or an expulsion is voted on, and comes
/// back.
fn disks(rng: &mut Rng) -> Vec<(When, Step)> {
    let (by, who) = (player(rng), player(rng));
    let ring = ["gather", "commit", "recover"].map(|word| Hook { layer: "ring", word });
    let (first, hook) = if rng.chance(300_000) {
        (split(rng), rng.pick(&ring).copied())
    } else {
        let admission = Hook { layer: "admission", word: "" };
        let admit = Step::Admit { who, contact: by, yes: 0xff };
        let step = if rng.chance(500_000) { admit } else { Step::Expel { by, who, yes: 0xff } };
        (step, rng.pick(&[admission, admission, PLACES[0], PLACES[1]]).copied())
    };
    let hook = hook.unwrap_or(Hook { layer: "ring", word: "" });
    let crash = Step::Crash { who: player(rng), after: None };
    vec![
        (When::After(rng.range(0, 1_000_000)), first),
        (When::After(rng.range(0, LONG_MICROS)), Step::Heal),
        (When::On(hook, rng.range(0, 40_000)), crash.clone()),
        (When::After(rng.range(0, 450_000)), crash),
        (When::After(rng.range(0, 50_000)), Step::Restart(0)),
        (When::After(rng.range(0, 500_000)), Step::Chorus(Service::Safe)),
        (When::After(LONG_MICROS), Step::Restart(0)),
    ]
}

/// Members come and go and speak, and the network comes apart.
fn far(rng: &mut Rng) -> Vec<(When, Step)> {
    let mut steps = vec![(When::After(rng.range(0, LONG_MICROS)), crate::speech::medley(rng))];
    for _ in 0..rng.range(1, 4) {
        let step = match rng.weighted(&[2, 2, 2, 1, 1]) {
            0 => Step::Leave(player(rng)),
            1 => Step::Join(player(rng)),
            2 => split(rng),
            3 => Step::Crash { who: player(rng), after: None },
            _ => Step::Restart(player(rng)),
        };
        steps.push((middle(rng), step));
    }
    steps.push((When::After(rng.range(0, 2 * LONG_MICROS)), Step::Heal));
    steps
}

/// Some of what one says is held up. Whoever heard it answers, and the answers go through.
fn answers(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let question = Step::Send { who: round, service: Service::Causal, bytes: 100, count: 3 };
    vec![
        (When::After(rng.range(0, LONG_MICROS)), Step::Withhold { from: round, micros: 20_000 }),
        (When::After(rng.range(0, 1_000)), question),
        (When::After(rng.range(500, 5_000)), Step::Chorus(Service::Causal)),
        (When::After(rng.range(500, 15_000)), Step::Chorus(Service::Causal)),
        (When::After(20_000), Step::Release),
    ]
}

/// All speak, and what one says reaches some, reaches others late, or not at all. Then it dies.
/// What is late comes while the others have agreed on the next ring, and do not have it yet.
fn straggler(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let (micros, word) = (rng.range(500, 12_000), ["gather", "commit", "recover"].get(rng.below(3)));
    let hook = Hook { layer: "ring", word: word.copied().unwrap_or("recover") };
    let mut steps = vec![
        (When::After(LONG_MICROS), Step::Chorus(Service::Agreed)),
        (When::After(rng.range(0, 3_000)), Step::Withhold { from: round, micros }),
    ];
    for _ in 0..rng.range(1, 4) {
        steps.push((When::After(rng.range(0, micros)), crate::speech::medley(rng)));
        steps.push((
            When::After(0),
            Step::Send { who: round, service: Service::Agreed, bytes: 900, count: 6 },
        ));
    }
    steps.extend([
        (When::After(rng.range(0, micros)), Step::Crash { who: round, after: None }),
        // Whoever is silent is missed a little later.
        (When::After(100_000), Step::Chorus(Service::Agreed)),
        (When::On(hook, rng.range(0, 2_000)), Step::Release),
        (When::After(LONG_MICROS), Step::Restart(0)),
    ]);
    steps
}

fn expulsion(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let [handed_over, placed] = PLACES;
    let chorus = Step::Chorus(Service::Agreed);
    vec![
        (When::After(0), Step::Expel { by: 0, who: round, yes: 0xff }),
        (When::On(handed_over, rng.range(0, 3_000)), split(rng)),
        (When::On(placed, 0), chorus.clone()),
        (When::After(1_000), chorus.clone()),
        (When::After(2_000), chorus),
        (When::After(400_000), Step::Heal),
    ]
}

fn roster(rng: &mut Rng) -> Vec<(When, Step)> {
    let mut steps = Vec::new();
    for _ in 0..rng.range(1, 3) {
        let (by, who) = (player(rng), player(rng));
        let when = if rng.chance(500_000) { When::After(rng.range(0, 20_000)) } else { middle(rng) };
        steps.push((when, Step::Expel { by, who, yes: 0xff }));
    }
    for _ in 0..rng.range(2, 6) {
        let step = match rng.weighted(&[3, 3, 4, 1, 2, 2, 3]) {
            0 => Step::Leave(player(rng)),
            1 => Step::Join(player(rng)),
            2 => split(rng),
            3 => Step::Crash { who: player(rng), after: Some(player(rng)) },
            4 => Step::Restart(player(rng)),
            5 => Step::Admit { who: player(rng), contact: player(rng), yes: 0xff },
            _ => Step::Chorus(Service::Agreed),
        };
        steps.push((middle(rng), step));
    }
    steps.push((When::After(rng.range(0, 2 * LONG_MICROS)), Step::Heal));
    steps
}

fn player(rng: &mut Rng) -> u8 {
    u8::try_from(rng.range(0, 7)).unwrap_or(0)
}

fn middle(rng: &mut Rng) -> When {
    let hook = match rng.weighted(&[4, 4, 2]) {
        0 => rng.pick(&MIDDLES),
        1 => rng.pick(&PLACES),
        _ => None,
    };
    let within = rng.range(0, 3_000);
    hook.map_or_else(|| When::After(rng.range(0, 300_000)), |hook| When::On(*hook, within))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aimed_schedule_is_its_seed_with_more_steps() {
        for (_, aim) in AIMS {
            let aimed = |seed| {
                let mut schedule = Schedule::draw(seed);
                aim.take(&mut schedule);
                schedule
            };
            // Of an odd seed: others aim at calm ones where readers are slow.
            let plain = Schedule::draw(9);
            assert_eq!(aimed(9), aimed(9));
            if aim == Aim::Shares {
                // These have steps of their own.
                assert_eq!(aimed(9).steps.first(), plain.steps.first());
                continue;
            }
            assert!(aimed(9).steps.len() >= plain.steps.len() + usize::from(ROUNDS) * 3);
            assert_eq!(aimed(9).steps.first(), plain.steps.first());
            let rest = &plain.steps[1..];
            assert!(aimed(9).steps.ends_with(rest) || aim == Aim::Takeover);
        }
    }
}
