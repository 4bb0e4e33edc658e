//! Members that are out, with every state they ever held, every run they were ever in, and all that
//! was sent: they must not get the secret.

use crate::common::Seeded;
use crate::world::{Holding, Record, Verdict, World, ensure, ids};
use folkmoot_agreement::{Module, Origin, Plan, Step};

/// How many states and runs are tried on one secret: the latest, because they know most.
const TRIED: usize = 6;

/// Nobody who is not in the last run gets its secret.
pub fn the_last_secret_stays_in(world: &mut World<'_>) -> Verdict {
    let last = world.records.last().unwrap();
    let live = world.live.iter_mut().rev().filter(|(number, _)| !last.members.contains(number));
    for (number, run) in live.take(TRIED) {
        ensure!(!gets(run.as_mut(), last), "{number}, which is out, gets the secret with an old run");
    }
    let captured = world.captured.iter().rev().filter(|(number, _)| !last.members.contains(number));
    let captured: Vec<_> = captured.take(TRIED).cloned().collect();
    for (number, holding) in captured {
        in_place_of_everybody(world, number, Some(holding), world.records.len() - 1)?;
    }
    in_place_of_everybody(world, u16::MAX, None, world.records.len() - 1)
}

/// A newcomer in the last run gets none of the earlier secrets.
pub fn earlier_secrets_stay_out_of_reach(world: &mut World<'_>) -> Verdict {
    let last = world.records.last().unwrap();
    let newcomers = last.members.iter().filter(|number| {
        let before = &world.records[..world.records.len() - 1];
        before.iter().all(|record| !record.members.contains(number))
    });
    let newcomers: Vec<_> = newcomers.copied().take(2).collect();
    let earliest = world.records.len().saturating_sub(4);
    for number in newcomers {
        let holding = world.holdings.get(&number).cloned();
        for record in earliest..world.records.len() - 1 {
            in_place_of_everybody(world, number, holding.clone(), record)?;
        }
    }
    Ok(())
}

/// `number` goes through the recorded run in the place of each of a few of its members, with what
/// it holds as its own.
fn in_place_of_everybody(world: &World<'_>, number: u16, holding: Option<Holding>, record: usize) -> Verdict {
    let record = &world.records[record];
    if record.secret.is_none() {
        return Ok(());
    }
    let size = record.members.len();
    for place in [0, size / 2, size - 1] {
        for rank in [None, holding.as_ref().map(|holding| holding.origin.rank)] {
            let got = impersonate(world, number, &holding, record, place, rank);
            ensure!(!got, "{number} gets the secret in the place of {place}");
        }
    }
    Ok(())
}

/// Whether it has the secret in the end. With `rank`, it claims to hold what the victim holds, at
/// its own rank.
fn impersonate(
    world: &World<'_>,
    number: u16,
    holding: &Option<Holding>,
    record: &Record,
    place: usize,
    rank: Option<u32>,
) -> bool {
    let mut members = record.members.clone();
    members[place] = number;
    let mut origins = record.origins.clone();
    let mine = holding.as_ref().map(|holding| holding.origin);
    origins[place] = match (rank, origins[place]) {
        (Some(rank), Some(Origin { run, .. })) => Some(Origin { run, rank }),
        _ => mine,
    };
    let plan = Plan::with_origins(&ids(&members), place, origins).unwrap();
    let kept = holding.as_ref().map(|holding| &holding.kept);
    let Ok(mut run) = (world.make)(&plan, kept) else { return false };
    let first = run.start(&mut Seeded(u64::from(number)));
    has(first, record) || gets(run.as_mut(), record)
}

/// Feeds every step of the record to a run; whether its secret comes out.
fn gets(run: &mut dyn Module, record: &Record) -> bool {
    record.steps.iter().any(|(from, step, body)| {
        run.receive(*from, *step, body, &mut Seeded(9)).is_ok_and(|steps| has(steps, record))
    })
}

fn has(steps: Vec<Step>, record: &Record) -> bool {
    steps.iter().any(|step| match step {
        Step::Done(secret) => Some(secret.expose()) == record.secret.as_ref(),
        Step::Send { .. } => false,
    })
}
