//! `folkmoot bench keying --counts`: what each module's runs cost, counted in messages, bytes,
//! rounds and exponentiations. It also measures how long all members of a run worked, one after the
//! other, in processor time. Compare rows of one table only.
//!
//! The shipped modules run among members in this process, without a network. Every step goes to all
//! in one order. The formulas are in docs/protocol/agreement*.md. The tests of `protocol/agreement`
//! hold the counts to them for every role.

use crate::args::BenchKeying;
use crate::meter::thread_worked;
use folkmoot::tools::OsEntropy;
use folkmoot_agreement::{Kept, Module, ModuleName, Origin, Plan, Step, begin};
use folkmoot_base::{MemberId, Party, digest};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// What happens to a group; each with `n` members afterwards, but for those that go.
const EVENTS: [(&str, Event); 6] = [
    ("from nothing", Event::Nothing),
    ("join", Event::Join),
    ("leave", Event::Leave),
    ("controller leave", Event::ControllerLeave),
    ("merge of halves", Event::Merge),
    ("refresh", Event::Refresh),
];

/// Sizes if none are given.
const SIZES: [u16; 6] = [2, 4, 8, 16, 32, 64];

#[derive(Clone, Copy)]
pub(crate) enum Event {
    Nothing,
    Join,
    Leave,
    ControllerLeave,
    Merge,
    Refresh,
}

/// How often each event is run for its time: the larger, the fewer.
pub(crate) fn times(size: usize) -> usize {
    match size {
        0..=16 => 11,
        17..=32 => 5,
        33..=64 => 3,
        _ => 1,
    }
}

/// What a member holds of its last run.
type Holdings = BTreeMap<Party, (Origin, Kept)>;

/// A message on its way: who says it, in which round, after how many exponentiations one after the
/// other.
struct Said {
    from: usize,
    step: u8,
    body: Vec<u8>,
    round: u64,
    serial: u64,
}

/// What one run came to.
#[derive(Default)]
pub(crate) struct Cost {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) rounds: u64,
    /// What all members worked, one after the other.
    pub(crate) micros: u64,
    /// Exponentiations of all, of whoever had the most, and on the longest way from the first step
    /// to the last key.
    pub(crate) all: u64,
    most: u64,
    pub(crate) serial: u64,
}

/// Prints the table.
pub(crate) fn counts(options: &BenchKeying, json: bool) -> Result<(), Failure> {
    let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
    let chosen = |module: &&ModuleName| options.module.is_none_or(|wanted| wanted == **module);
    let sizes = if options.sizes.is_empty() { SIZES.to_vec() } else { options.sizes.clone() };
    let all = ModuleName::ALL.iter().filter(chosen).count() * EVENTS.len() * sizes.len();
    let mut progress = Progress::parts("changes counted", false);
    let mut rows = Vec::new();
    for module in ModuleName::ALL.iter().filter(chosen) {
        for (name, event) in EVENTS {
            for size in &sizes {
                let size_here = usize::from(*size);
                let cost = measure(*module, event, size_here, size_here.div_ceil(2), &mut entropy)?;
                rows.push((*module, name, *size, cost));
                progress.to(rows.len(), all);
            }
        }
    }
    drop(progress);
    let values: Vec<Value> =
        rows.iter().map(|(module, event, size, cost)| value(*module, event, *size, cost)).collect();
    data(json, &json!({ "counts": values }), || for_people(&rows));
    Ok(())
}

fn value(module: ModuleName, event: &str, size: u16, cost: &Cost) -> Value {
    json!({
        "module": module.as_str(), "event": event, "members": size, "messages": cost.messages, "bytes": cost.bytes,
        "rounds": cost.rounds, "exponentiations": cost.all, "most": cost.most, "serial": cost.serial,
        "micros": cost.micros,
    })
}

fn for_people(rows: &[(ModuleName, &str, u16, Cost)]) -> String {
    let heading = [
        "MODULE",
        "EVENT",
        "N",
        "MESSAGES",
        "BYTES",
        "ROUNDS",
        "EXP ALL",
        "EXP MOST",
        "EXP SERIAL",
        "MS ALL",
    ];
    let row = |(module, event, size, cost): &(ModuleName, &str, u16, Cost)| {
        let numbers = [cost.messages, cost.bytes, cost.rounds, cost.all, cost.most, cost.serial];
        let names = [module.as_str().to_owned(), (*event).to_owned(), size.to_string()];
        let time = format!("{}.{}", cost.micros / 1_000, cost.micros / 100 % 10);
        names.into_iter().chain(numbers.map(|number| number.to_string())).chain([time]).collect()
    };
    table(&heading, &rows.iter().map(row).collect::<Vec<_>>())
}

/// One event in a group of `size`, and what it costs; in a merge, `half` meet the others.
///
/// The time is the median of [`times`] runs, each in a group of its own.
fn measure(
    module: ModuleName,
    event: Event,
    size: usize,
    half: usize,
    entropy: &mut OsEntropy,
) -> Result<Cost, Failure> {
    let times = times(size);
    let mut costs = (0..times)
        .map(|_| measure_once(module, event, size, half, entropy))
        .collect::<Result<Vec<Cost>, Failure>>()?;
    costs.sort_by_key(|cost| cost.micros);
    Ok(costs.swap_remove(times / 2))
}

/// The same, once.
pub(crate) fn measure_once(
    module: ModuleName,
    event: Event,
    size: usize,
    half: usize,
    entropy: &mut OsEntropy,
) -> Result<Cost, Failure> {
    let all: Vec<Party> = (0..size).map(member).collect();
    let mut held = Holdings::new();
    let mut prepare = |members: &[Party], held: &mut Holdings| run(module, members, held, entropy).map(drop);
    let members = match event {
        Event::Nothing => all,
        Event::Join => {
            prepare(all.get(..size.saturating_sub(1)).unwrap_or_default(), &mut held)?;
            all
        }
        Event::Refresh => {
            prepare(&all, &mut held)?;
            all
        }
        Event::Merge => {
            let (left, right) = all.split_at(half.min(size));
            prepare(left, &mut held)?;
            prepare(right, &mut held)?;
            all
        }
        Event::Leave | Event::ControllerLeave => {
            prepare(&all, &mut held)?;
            let gone = if matches!(event, Event::Leave) { size / 2 } else { controller(module, size) };
            all.iter().enumerate().filter(|(place, _)| *place != gone).map(|(_, member)| *member).collect()
        }
    };
    run(module, &members, &mut held, entropy)
}

/// Who leads, by age: the newest in GDH and the lists, the oldest elsewhere.
pub(crate) fn controller(module: ModuleName, size: usize) -> usize {
    match module {
        ModuleName::Gdh | ModuleName::Tgdh | ModuleName::Str => size.saturating_sub(1),
        ModuleName::Ckd | ModuleName::CkdHybrid | ModuleName::Bd | ModuleName::DuttaBarua => 0,
        ModuleName::Mls | ModuleName::MlsHybrid => 0,
    }
}

fn member(number: usize) -> Party {
    // Ids in order of number, so that places are numbers.
    let mut id = digest(&[&number.to_be_bytes()]);
    id.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
    MemberId(id).into()
}

/// One run among `members` from what they hold; they take over what it leaves.
fn run(
    module: ModuleName,
    members: &[Party],
    held: &mut Holdings,
    entropy: &mut OsEntropy,
) -> Result<Cost, Failure> {
    let mut cost = Cost::default();
    if members.is_empty() {
        return Ok(cost);
    }
    let began = thread_worked();
    let mut runs = begin_all(module, members, held)?;
    let mut serial = vec![0; runs.len()];
    let mut queue = VecDeque::new();
    for (from, run) in runs.iter_mut().enumerate() {
        let steps = run.start(entropy);
        if let Some(serial) = serial.get_mut(from) {
            *serial = run.count().exponentiations;
            queue.extend(spoken(steps, from, 1, *serial));
        }
    }
    while let Some(said) = queue.pop_front() {
        cost.messages += 1;
        cost.bytes += said.body.len() as u64;
        cost.rounds = cost.rounds.max(said.round);
        for (place, (run, serial)) in runs.iter_mut().zip(&mut serial).enumerate() {
            let before = run.count().exponentiations;
            let steps = run.receive(said.from, said.step, &said.body, entropy).map_err(Failure::bug)?;
            *serial = (*serial).max(said.serial) + (run.count().exponentiations - before);
            queue.extend(spoken(steps, place, said.round + 1, *serial));
        }
    }
    cost.micros = u64::try_from(thread_worked().saturating_sub(began).as_micros()).unwrap_or(u64::MAX);
    let each = runs.iter().map(|run| run.count().exponentiations);
    (cost.all, cost.most) = (each.clone().sum(), each.max().unwrap_or_default());
    cost.serial = serial.into_iter().max().unwrap_or_default();
    adopt(&runs, members, held);
    Ok(cost)
}

fn begin_all(
    module: ModuleName,
    members: &[Party],
    held: &Holdings,
) -> Result<Vec<Box<dyn Module>>, Failure> {
    let origins: Vec<_> = members.iter().map(|member| held.get(member).map(|(origin, _)| *origin)).collect();
    let one = |(me, member): (usize, &Party)| {
        let plan = Plan::with_origins(members, me, origins.clone()).map_err(Failure::bug)?;
        begin(module, &plan, held.get(member).map(|(_, kept)| kept)).map_err(Failure::bug)
    };
    members.iter().enumerate().map(one).collect()
}

fn spoken(steps: Vec<Step>, from: usize, round: u64, serial: u64) -> impl Iterator<Item = Said> {
    steps.into_iter().filter_map(move |step| match step {
        Step::Send { step, body, .. } => Some(Said { from, step, body, round, serial }),
        Step::Done(_) => None,
    })
}

/// What the run leaves, under a name of its own.
fn adopt(runs: &[Box<dyn Module>], members: &[Party], held: &mut Holdings) {
    let names: Vec<&[u8]> = members.iter().map(|party| party.member.0.as_slice()).collect();
    let before = held.len().to_be_bytes();
    let name = digest(&[b"a counted run", &before, &digest(&names)]);
    for (run, member) in runs.iter().zip(members) {
        held.remove(member);
        if let Some(kept) = run.keep() {
            held.insert(*member, (Origin { run: name, rank: kept.rank() }, kept));
        }
    }
}
