//! Strong Total Order and Reliable Total Order: there is one order in which everybody delivers.
//! Before the signal, nobody skips what another delivered before it. After the signal, a member
//! skips only messages of those that did not come along. For messages sent agreed or safe.
//! Source: Survey §5, properties 5.6 and 5.7.

use super::order::positions;
use super::{Broken, Checker, End, Segment, Story};
use crate::record::{MessageId, Player, Process, Record};
use folkmoot_base::Service;
use std::collections::BTreeSet;

pub(super) const CHECKER: Checker =
    Checker { name: "total-order", source: "Survey, properties 5.6 and 5.7", judge };

/// One member's part of a view.
struct Part<'a> {
    process: Process,
    segment: &'a Segment,
    list: Vec<(usize, MessageId)>,
    /// Who came along into its next view; `None`: unknown.
    with: Option<&'a BTreeSet<Player>>,
}

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    let steps = story.steps();
    for installed in story.installers().values() {
        let parts: Vec<Part<'_>> = installed
            .iter()
            .map(|(process, segment)| Part {
                process: *process,
                segment,
                list: agreed(segment),
                with: steps
                    .iter()
                    .find(|(who, old, _)| who == process && old.entry == segment.entry)
                    .map(|(_, _, new)| &new.view.transitional),
            })
            .collect();
        for mine in &parts {
            for other in parts.iter().filter(|other| other.process != mine.process) {
                judge_pair(mine, other)?;
            }
        }
    }
    Ok(())
}

fn agreed(segment: &Segment) -> Vec<(usize, MessageId)> {
    let ordered = segment.delivered.iter().filter(|got| got.service >= Service::Agreed);
    ordered.map(|got| (got.entry, got.message)).collect()
}

/// What `other` delivered before a message that both have, `mine` must have delivered before it
/// too.
fn judge_pair(mine: &Part<'_>, other: &Part<'_>) -> Result<(), Broken> {
    let own: Vec<MessageId> = mine.list.iter().map(|(_, message)| *message).collect();
    let own = positions(&own);
    let mut highest: Option<usize> = None;
    let mut missing: Vec<MessageId> = Vec::new();
    for (_, message) in &other.list {
        let Some(at) = own.get(message).copied() else {
            missing.push(*message);
            continue;
        };
        let entry = mine.list.get(at).map_or(0, |(entry, _)| *entry);
        if highest.is_some_and(|highest| highest > at) {
            let what = format!("delivered {message} in another order than {}", other.process);
            return Err((mine.process, Some(entry), what));
        }
        highest = Some(at);
        let skipped = missing.iter().find(|skipped| may_not_miss(mine, entry, skipped));
        if let Some(skipped) = skipped {
            let what =
                format!("delivered {message}, but not {skipped}, which {} delivered before", other.process);
            return Err((mine.process, Some(entry), what));
        }
    }
    Ok(())
}

fn may_not_miss(mine: &Part<'_>, entry: usize, skipped: &MessageId) -> bool {
    if mine.segment.is_regular(entry) {
        return true;
    }
    // After the signal: the senders who came along must be heard in full. Without a next view
    // nobody is known to have.
    mine.segment.end == End::Next && mine.with.is_some_and(|with| with.contains(&skipped.player))
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use folkmoot_base::Service::{Agreed, Fifo};

    fn two_sent() -> Tale {
        let tale = Tale::default().first(4, &[0, 1]).send(0, 0, Agreed, 4).send(1, 0, Agreed, 4);
        tale.get(0, m(0, 0), Agreed).get(0, m(1, 0), Agreed)
    }

    #[test]
    fn one_order_without_gaps_is_good() {
        two_sent().get(1, m(0, 0), Agreed).get(1, m(1, 0), Agreed).holds(&CHECKER);
        two_sent().get(1, m(0, 0), Agreed).holds(&CHECKER);
        two_sent().signal(1).get(1, m(1, 0), Agreed).view(1, 8, &[1], &[1]).holds(&CHECKER);
    }

    #[test]
    fn two_orders_and_gaps_are_bad() {
        two_sent().get(1, m(1, 0), Agreed).get(1, m(0, 0), Agreed).broken(&CHECKER);
        two_sent().get(1, m(1, 0), Agreed).broken(&CHECKER);
        two_sent().signal(1).get(1, m(1, 0), Agreed).view(1, 8, &[0, 1], &[0, 1]).broken(&CHECKER);
    }

    #[test]
    fn weaker_services_are_not_judged() {
        let tale = Tale::default().first(4, &[0, 1]).send(0, 0, Fifo, 4).send(1, 0, Fifo, 4);
        let tale = tale.get(0, m(0, 0), Fifo).get(0, m(1, 0), Fifo);
        tale.get(1, m(1, 0), Fifo).get(1, m(0, 0), Fifo).holds(&CHECKER);
    }
}
