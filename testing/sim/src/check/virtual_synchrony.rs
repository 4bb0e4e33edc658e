//! Virtual Synchrony: those who go on together from one view to the next delivered the same
//! messages in it, unreliable ones excepted: those may be lost to some.
//! Source: Survey §4, property 4.5.

use super::{Broken, Checker, Segment, Story};
use crate::record::{MessageId, Record};
use folkmoot_base::Service;
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker =
    Checker { name: "virtual-synchrony", source: "Survey, property 4.5", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    let steps = story.steps();
    for (index, (process, old, new)) in steps.iter().enumerate() {
        for (other, their_old, their_new) in steps.iter().skip(index.saturating_add(1)) {
            let same = old.view.id == their_old.view.id && new.view.id == their_new.view.id;
            let together = new.view.transitional.contains(&other.player)
                && their_new.view.transitional.contains(&process.player);
            if !same || !together {
                continue;
            }
            let (mine, theirs) = (reliable(old), reliable(their_old));
            if let Some(message) = mine.symmetric_difference(&theirs).next() {
                let who = if mine.contains(message) { process } else { other };
                let what = format!(
                    "went from view {} to {} with {other}, but of the two only {who} delivered {message}",
                    old.view.id, new.view.id
                );
                return Err((*process, Some(new.entry), what));
            }
        }
    }
    Ok(())
}

fn reliable(segment: &Segment) -> BTreeSet<MessageId> {
    let kept = segment.delivered.iter().filter(|got| got.service >= Service::Reliable);
    kept.map(|got| got.message).collect()
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use folkmoot_base::Service::{Agreed, Reliable, Unreliable};

    #[test]
    fn the_same_for_all_who_go_on_together() {
        let sent = || Tale::default().first(4, &[0, 1]).send(0, 0, Agreed, 4).get(0, m(0, 0), Agreed);
        sent().get(1, m(0, 0), Agreed).next(8, &[0, 1]).holds(&CHECKER);
        sent().view(0, 8, &[0, 1], &[0]).view(1, 8, &[0, 1], &[1]).holds(&CHECKER);
        sent().next(8, &[0, 1]).broken(&CHECKER);
        let loose =
            |service| Tale::default().first(4, &[0, 1]).send(0, 0, service, 4).get(0, m(0, 0), service);
        loose(Unreliable).next(8, &[0, 1]).holds(&CHECKER);
        loose(Reliable).next(8, &[0, 1]).broken(&CHECKER);
    }
}
