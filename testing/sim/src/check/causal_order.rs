//! Causal and Reliable Causal: a message comes after everything that its sender had delivered in
//! that view before it sent it. For messages sent causal or stronger.
//! Source: Survey §5, properties 5.3 and 5.4.

use super::order::{positions, reach};
use super::{Broken, Checker, Segment, Story};
use crate::record::{MessageId, Process, Record};
use folkmoot_base::Service;

pub(super) const CHECKER: Checker =
    Checker { name: "causal-order", source: "Survey, properties 5.3 and 5.4", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for installed in story.installers().values() {
        for (_, own) in installed.iter().filter(|(_, own)| !own.sent.is_empty()) {
            for (process, theirs) in installed {
                judge_pair(own, *process, theirs)?;
            }
        }
    }
    Ok(())
}

fn causal(segment: &Segment) -> Vec<(usize, MessageId)> {
    let ordered = segment.delivered.iter().filter(|got| got.service >= Service::Causal);
    ordered.map(|got| (got.entry, got.message)).collect()
}

fn judge_pair(own: &Segment, process: Process, theirs: &Segment) -> Result<(), Broken> {
    let heard = causal(own);
    let list: Vec<MessageId> = heard.iter().map(|(_, message)| *message).collect();
    let other: Vec<MessageId> = causal(theirs).into_iter().map(|(_, message)| message).collect();
    let other = positions(&other);
    let reach = reach(&list, &other);
    for got in own.sent.iter().filter(|got| got.service >= Service::Causal) {
        let Some(at) = other.get(&got.message) else { continue };
        let before = heard.partition_point(|(entry, _)| *entry < got.entry);
        let reached = before.checked_sub(1).and_then(|last| reach.get(last).copied());
        if reached.is_some_and(|reached| reached.is_none_or(|reached| reached >= *at)) {
            let what =
                format!("delivered {} without, or before, something its sender had delivered", got.message);
            return Err((process, Some(got.entry), what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use folkmoot_base::Service::{Causal, Fifo};

    #[test]
    fn answers_come_after_questions() {
        let asked = || Tale::default().first(4, &[0, 1, 2]).send(0, 0, Causal, 4).get(1, m(0, 0), Causal);
        let answered = || asked().send(1, 0, Causal, 4);
        answered().get(2, m(0, 0), Causal).get(2, m(1, 0), Causal).holds(&CHECKER);
        answered().get(2, m(1, 0), Causal).get(2, m(0, 0), Causal).broken(&CHECKER);
        answered().get(2, m(1, 0), Causal).broken(&CHECKER);
        asked().send(1, 0, Fifo, 4).get(2, m(1, 0), Fifo).holds(&CHECKER);
    }
}
