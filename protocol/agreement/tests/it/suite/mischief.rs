//! Steps that nobody may take: those that all must refuse alike, and those that may pass only if
//! they are found out later.

use crate::common::Seeded;
use crate::world::{Running, Said, Verdict, World, ensure};
use folkmoot_agreement::Step;

/// Step numbers that are tried; no module has more.
const STEPS: u8 = 12;

/// Before the honest step `(from, step, body)`: every other step.
pub fn annoy(running: &mut Running, (from, step, body): &Said) -> Verdict {
    let awaited = running.runs[0].awaited();
    let everybody = running.runs.len();
    for other in (0..=everybody).filter(|other| !awaited.contains(other)) {
        refused(running, &(other, *step, body.clone()), "by another")?;
    }
    for other in (0..STEPS).filter(|other| other != step) {
        refused(running, &(*from, other, body.clone()), "as another step")?;
    }
    let longer = [body.as_slice(), &[0]].concat();
    let twice = [body.as_slice(), body].concat();
    for wrong in [&body[..body.len() - 1], &body[1..], &body[..body.len() / 2], &[], &longer, &twice] {
        refused(running, &(*from, *step, wrong.to_vec()), "cut or lengthened")?;
    }
    Ok(())
}

/// After a step: any that was there before.
pub fn repeat(running: &mut Running, dice: &mut Seeded) -> Verdict {
    let last = running.record.steps.len() - 1;
    for place in [last, dice.below(last + 1)] {
        let said = running.record.steps[place].clone();
        refused(running, &said, "again")?;
    }
    Ok(())
}

/// Everybody refuses the step, for the same reason, and awaits the same members as before.
fn refused(running: &mut Running, (from, step, body): &Said, what: &str) -> Verdict {
    let before = running.awaited();
    let mut reasons = Vec::new();
    for run in &mut running.runs {
        match run.receive(*from, *step, body, &mut Seeded(1)) {
            Err(reason) => reasons.push(reason),
            Ok(_) => return Err(format!("step {step} of {from} was taken {what}")),
        }
    }
    ensure!(
        reasons.windows(2).all(|pair| pair[0] == pair[1]),
        "members refuse for different reasons: {reasons:?}"
    );
    ensure!(running.awaited() == before, "a refused step changed who is awaited");
    Ok(())
}

/// Delivers the next step with one bit flipped. If all refuse it, the true one follows. Returns
/// whether anyone accepted the lie.
pub fn alter(world: &mut World<'_>, running: &mut Running) -> Verdict<bool> {
    let Some((from, step, decides, body)) = running.next(&mut world.dice) else { return Ok(false) };
    let mut altered = body.clone();
    let at = world.dice.below(altered.len());
    altered[at] ^= 1 << world.dice.below(8);
    let before = running.awaited();
    let mut taken = 0;
    for me in 0..running.runs.len() {
        if let Ok(steps) = running.runs[me].receive(from, step, &altered, &mut Seeded(me as u64)) {
            taken += 1;
            running.follow(me, steps);
        }
    }
    if taken == 0 {
        ensure!(running.awaited() == before, "a refused step changed who is awaited");
        world.deliver(running, (from, step, body), decides)?;
        return Ok(false);
    }
    if taken == running.runs.len() {
        running.all_await_the_same()?;
    }
    Ok(true)
}

/// After a lie: everybody accepts whatever it accepts. In the end no secret is the group's to some
/// members and not to others, unless confirmation finds the difference.
pub fn play_out(world: &mut World<'_>, running: &mut Running) -> Verdict {
    while let Some((from, step, _, body)) = running.next(&mut world.dice) {
        let mut verdicts = Vec::new();
        for me in 0..running.runs.len() {
            let answer = running.runs[me].receive(from, step, &body, &mut Seeded(me as u64));
            verdicts.push(answer.is_ok());
            let done = answer.iter().flatten().any(|step| matches!(step, Step::Done(_)));
            ensure!(!done || running.runs[me].awaited().is_empty(), "done, and yet awaiting somebody");
            running.follow(me, answer.unwrap_or_default());
        }
    }
    let all_done = running.secrets.iter().all(Option::is_some);
    ensure!(!all_done || running.awaited().len() == 1, "all are done and differ on who is awaited");
    Ok(())
}
