//! Agreement: one member's run of any module, for any plan, from any state that it may hold. The
//! others say what the input says.
//!
//! ```text
//! input = module u8, place u8, (what each of four members claims u8)*4, then steps: from | step << 3
//! claim = 0 nothing, 1 the run of all four, 2 the run of the last two, 3 the first with a rank out of its upper bits
//! ```

use crate::script::{Dice, script, steps};
use folkmoot_agreement::{Kept, Module, ModuleName, Origin, Plan, Step, begin};
use folkmoot_base::{MemberId, Party};
use std::collections::VecDeque;
use std::sync::OnceLock;

const MEMBERS: usize = 4;
const STEPS_MAX: usize = 4_096;
/// Runs that are over: of all four, and of the last two.
const PAST: [&[usize]; 2] = [&[0, 1, 2, 3], &[2, 3]];

/// What all did in one run: what was said, and what each keeps.
struct Honest {
    said: Vec<(usize, u8, Vec<u8>)>,
    kept: Vec<Option<Kept>>,
}

/// What is left of [`PAST`], by past run and place.
type Past = [Vec<Option<Kept>>; 2];

fn past(module: ModuleName) -> &'static Past {
    static ALL: OnceLock<Vec<(ModuleName, Past)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let of = |module: ModuleName, places: &[usize]| {
            let mut kept = honest(module, places, &[None; MEMBERS], &[]).kept.into_iter();
            (0..MEMBERS).map(|place| if places.contains(&place) { kept.next()? } else { None }).collect()
        };
        ModuleName::ALL.iter().map(|module| (*module, PAST.map(|places| of(*module, places)))).collect()
    });
    &all.iter().find(|(name, _)| *name == module).expect("every module is there").1
}

/// Runs `module` among the members at `places`, who bring what `origins` and `kept` say.
fn honest(module: ModuleName, places: &[usize], origins: &[Option<Origin>], kept: &[Option<Kept>]) -> Honest {
    let size = places.len();
    let mut runs: Vec<_> = (0..size)
        .map(|me| {
            let plan = plan(places, me, &origins[..size]);
            begin(module, &plan, kept.get(me).and_then(Option::as_ref)).expect("an honest plan")
        })
        .collect();
    let mut dice: Vec<_> = (0..size).map(|me| dice(me, kept.is_empty())).collect();
    let mut queue: VecDeque<(usize, Step)> = VecDeque::new();
    for me in 0..size {
        queue.extend(runs[me].start(&mut dice[me]).into_iter().map(|step| (me, step)));
    }
    let mut said = Vec::new();
    while let Some((from, step)) = queue.pop_front() {
        let Step::Send { step, body, .. } = step else { continue };
        for me in 0..size {
            let steps = runs[me].receive(from, step, &body, &mut dice[me]).expect("an honest step");
            queue.extend(steps.into_iter().map(|step| (me, step)));
        }
        said.push((from, step, body));
    }
    Honest { said, kept: runs.iter().map(|run| run.keep()).collect() }
}

/// A member's entropy, now and in the past.
fn dice(me: usize, past: bool) -> Dice {
    Dice(me as u64 + if past { 1_000 } else { 1 })
}

/// Two and two of the four are parties of one member.
fn plan(places: &[usize], me: usize, origins: &[Option<Origin>]) -> Plan {
    let party = |place: &usize| {
        let [member, port] = [place / 2 + 1, place % 2].map(|number| u8::try_from(number).expect("four"));
        Party::new(MemberId([member; 32]), port.into())
    };
    let members: Vec<_> = places.iter().map(party).collect();
    Plan::with_origins(&members, me, origins.to_vec()).expect("a plan")
}

/// What the member at `place` claims, and what it holds.
fn claim(module: ModuleName, place: usize, claim: u8) -> (Option<Origin>, Option<Kept>) {
    let which = match claim & 3 {
        0 => return (None, None),
        2 => 1,
        _ => 0,
    };
    let Some(kept) = past(module)[which][place].clone() else { return (None, None) };
    let lie = u32::from(claim >> 2);
    let rank = if claim & 3 == 3 { kept.rank() & !0xf | lie } else { kept.rank() };
    (Some(Origin { run: [which as u8 + 1; 32], rank }), Some(kept))
}

/// Agreement: any steps of the others at one member; own steps come back.
pub fn agreement_run(data: &[u8]) {
    let _ = live(data);
}

/// Lives through the input; whether the run came to its end. `None` if it did not begin.
fn live(data: &[u8]) -> Option<bool> {
    let ([module, me, claims @ ..], said) = data.split_first_chunk::<6>()?;
    let module = ModuleName::ALL[usize::from(*module) % ModuleName::ALL.len()];
    let me = usize::from(*me) % MEMBERS;
    let claims: Vec<_> = (0..MEMBERS).map(|place| claim(module, place, claims[place])).collect();
    let origins: Vec<_> = claims.iter().map(|(origin, _)| *origin).collect();
    let plan = plan(PAST[0], me, &origins);
    let mut run = begin(module, &plan, claims[me].1.as_ref()).ok()?;
    let mut dice = dice(me, false);
    let first = run.start(&mut dice);
    own(run.as_mut(), me, first, &mut dice);
    for (op, body) in steps(said) {
        let before = run.awaited();
        match run.receive(usize::from(op & 7), op >> 3, body, &mut dice) {
            Ok(steps) => own(run.as_mut(), me, steps, &mut dice),
            Err(_) => assert_eq!(run.awaited(), before, "a refused step changes nothing"),
        }
        assert!(run.awaited().iter().all(|place| *place < MEMBERS));
        if run.keep().is_some() {
            assert_eq!(run.awaited(), [], "what is kept is kept at the end");
        }
    }
    Some(run.awaited().is_empty())
}

/// Own steps come back, and their answers.
fn own(run: &mut dyn Module, me: usize, steps: Vec<Step>, dice: &mut Dice) {
    let mut steps = VecDeque::from(steps);
    let mut count = 0;
    while let Some(step) = steps.pop_front() {
        count += 1;
        assert!(count <= STEPS_MAX, "no end of steps");
        if let Step::Send { step, body, .. } = step {
            steps.extend(run.receive(me, step, &body, dice).unwrap_or_default());
        }
    }
}

/// Seeds: for each module an honest run of each kind, seen by another member each time.
pub(crate) fn agreement_seeds() -> Vec<Vec<u8>> {
    // From nothing; a refresh; one comes; two come; two groups meet.
    let kinds: [[u8; MEMBERS]; 5] = [[0; 4], [1; 4], [1, 1, 1, 0], [0, 0, 2, 2], [1, 1, 2, 2]];
    let mut seeds = Vec::new();
    for (number, module) in (0_u8..).zip(ModuleName::ALL) {
        for (me, claims) in (number..).zip(kinds) {
            let held: Vec<_> = (0..MEMBERS).map(|place| claim(*module, place, claims[place])).collect();
            let (origins, kept): (Vec<_>, Vec<_>) = held.into_iter().unzip();
            let me = me % 4;
            let others = honest(*module, PAST[0], &origins, &kept).said.into_iter();
            let others = others.filter(|(from, ..)| *from != usize::from(me));
            let said = others.map(|(from, step, body)| (u8::try_from(from).expect("four") | step << 3, body));
            let seed = [&[number, me][..], &claims, &script(said)].concat();
            assert_eq!(live(&seed), Some(true), "an honest run comes to its end");
            seeds.push(seed);
        }
    }
    seeds
}
