//! FIFO and Reliable FIFO: messages of one sender and view come in the order of sending, and
//! without gaps. For messages sent fifo or stronger.
//! Source: Survey §5, properties 5.1 and 5.2.

use super::{Broken, Checker, Story};
use crate::record::{MessageId, Record};
use folkmoot_base::{Service, ViewId};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker =
    Checker { name: "fifo-order", source: "Survey, properties 5.1 and 5.2", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    let mut sent: BTreeMap<(ViewId, super::Process), Vec<MessageId>> = BTreeMap::new();
    for (process, segment) in story.segments() {
        let ordered = segment.sent.iter().filter(|got| got.service >= Service::Fifo);
        sent.entry((segment.view.id, process)).or_default().extend(ordered.map(|got| got.message));
    }
    for (process, segment) in story.segments() {
        let mut next: BTreeMap<super::Process, usize> = BTreeMap::new();
        for got in segment.delivered.iter().filter(|got| got.service >= Service::Fifo) {
            let sender = got.message.sender();
            let list = sent.get(&(segment.view.id, sender)).map(Vec::as_slice).unwrap_or_default();
            let place = next.entry(sender).or_default();
            // The sender may have died between sealing and saying so: its last messages are not in
            // its list.
            let Some(expected) = list.get(*place) else { continue };
            if *expected != got.message && list.contains(&got.message) {
                let what = format!("delivered {} where {expected} should come", got.message);
                return Err((process, Some(got.entry), what));
            }
            *place = place.saturating_add(1);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::{Tale, m};
    use folkmoot_base::Service::{Fifo, Reliable};

    #[test]
    fn in_order_without_gaps() {
        let sent = || Tale::default().first(4, &[0, 1]).send(0, 0, Fifo, 4).send(0, 1, Fifo, 4);
        sent().get(1, m(0, 0), Fifo).get(1, m(0, 1), Fifo).holds(&CHECKER);
        sent().get(1, m(0, 0), Fifo).holds(&CHECKER);
        sent().get(1, m(0, 1), Fifo).get(1, m(0, 0), Fifo).broken(&CHECKER);
        sent().get(1, m(0, 1), Fifo).broken(&CHECKER);
        let loose = Tale::default().first(4, &[0, 1]).send(0, 0, Reliable, 4).send(0, 1, Fifo, 4);
        loose.get(1, m(0, 1), Fifo).get(1, m(0, 0), Reliable).holds(&CHECKER);
    }
}
