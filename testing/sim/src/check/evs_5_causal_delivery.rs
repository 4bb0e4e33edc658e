//! EVS 5, causal delivery: a node that delivers a message delivered before it everything that the
//! sender had sent or delivered in that configuration before it sent the message. The senders are
//! the parties of a node: none waits for another's message before it has been delivered. One
//! message precedes another only along messages that are causal or stronger; a FIFO message comes
//! behind what its party sent as FIFO or stronger.
//! Source: EVS §3, specification 5.

use super::order::{positions, reach};
use super::{Broken, Checker, Life, RingPlace, RingSegment, Story};
use crate::record::{Process, Record, RingMessage};
use folkmoot_base::Service;
use std::collections::{BTreeMap, VecDeque};

pub(super) const CHECKER: Checker = Checker { name: "evs-5-causal-delivery", source: "EVS §3, 5", judge };

fn judge(_: &Record, story: &Story) -> Result<(), Broken> {
    for installed in story.ring_installers().values() {
        for (sender, own) in installed {
            let Some(life) = story.lives.get(sender) else { continue };
            let sends = sends_in(life, own, *sender);
            if sends.is_empty() {
                continue;
            }
            for (process, theirs) in installed {
                judge_pair(own, &sends, *process, theirs)?;
            }
        }
    }
    Ok(())
}

/// A message in one configuration: the entry of the send, number, party, service.
type Sent = (usize, u64, u16, Service);

/// The sender's ordered messages in this configuration, in the order of sending.
fn sends_in(life: &Life, own: &RingSegment, sender: Process) -> Vec<Sent> {
    let mut sent: BTreeMap<RingMessage, VecDeque<(usize, u16)>> = BTreeMap::new();
    for (entry, message, party) in &life.ring.sent {
        sent.entry(*message).or_default().push_back((*entry, *party));
    }
    let mut out = Vec::new();
    for place in life.ring.segments.iter().flat_map(|segment| &segment.delivered) {
        if place.message.sender == sender.player {
            let entry = sent.get_mut(&place.message).and_then(VecDeque::pop_front);
            let counts = place.configuration == own.id && place.service >= Service::Fifo;
            if let (Some((entry, party)), true) = (entry, counts) {
                out.push((entry, place.number, party, place.service));
            }
        }
    }
    out.sort_unstable();
    out
}

fn judge_pair(
    own: &RingSegment,
    sends: &[Sent],
    process: Process,
    theirs: &RingSegment,
) -> Result<(), Broken> {
    let causal = |place: &&RingPlace| place.service >= Service::Causal;
    let heard: Vec<&RingPlace> = own.delivered.iter().filter(causal).collect();
    let list: Vec<u64> = heard.iter().map(|place| place.number).collect();
    let other: Vec<u64> = theirs.delivered.iter().map(|place| place.number).collect();
    let other = positions(&other);
    let reach = reach(&list, &other);
    let mut earlier: BTreeMap<u16, (u64, Option<usize>)> = BTreeMap::new();
    for (entry, number, party, service) in sends {
        let before = heard.partition_point(|place| place.entry < *entry);
        let Some(at) = other.get(number).copied() else {
            earlier.insert(*party, (*number, None));
            continue;
        };
        let reached = before.checked_sub(1).and_then(|last| reach.get(last).copied());
        let reached = reached.filter(|_| *service >= Service::Causal);
        if reached.is_some_and(|reach| reach.is_none_or(|reach| reach >= at)) {
            let what =
                format!("delivered number {number} without, or before, something its sender had delivered");
            return Err((process, Some(*entry), what));
        }
        if let Some((number, false)) =
            earlier.get(party).map(|(number, place)| (*number, place.is_some_and(|place| place < at)))
        {
            let what =
                format!("delivered a later message of the same sender without, or before, number {number}");
            return Err((process, Some(*entry), what));
        }
        earlier.insert(*party, (*number, Some(at)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::CHECKER;
    use crate::check::tale::Tale;
    use folkmoot_base::Service::{Agreed, Causal, Fifo, Reliable};

    fn heard_then_said() -> Tale {
        let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]).ring_send(0, 1);
        tale.ring_get(0, (0, 1), (4, 1), Agreed).ring_get(1, (0, 1), (4, 1), Agreed).ring_send(1, 2)
    }

    #[test]
    fn after_what_its_sender_heard_is_good() {
        heard_then_said()
            .ring_get(0, (1, 2), (4, 2), Agreed)
            .ring_get(1, (1, 2), (4, 2), Agreed)
            .holds(&CHECKER);
    }

    #[test]
    fn without_what_its_sender_heard_or_said_is_bad() {
        let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]).ring_send(0, 1);
        let tale =
            tale.ring_get(1, (0, 1), (4, 1), Agreed).ring_send(1, 2).ring_get(1, (1, 2), (4, 2), Agreed);
        tale.ring_get(0, (1, 2), (4, 2), Agreed).broken(&CHECKER);
        let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]).ring_send(0, 1).ring_send(0, 2);
        let tale = tale.ring_get(0, (0, 1), (4, 1), Agreed).ring_get(0, (0, 2), (4, 2), Agreed);
        tale.ring_get(1, (0, 2), (4, 2), Agreed).broken(&CHECKER);
    }

    #[test]
    fn only_causal_and_stronger_messages_precede_what_others_say() {
        let said = |heard, said| {
            let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]).ring_send(0, 1);
            let tale = tale.ring_get(1, (0, 1), (4, 1), heard).ring_send(1, 2);
            tale.ring_get(1, (1, 2), (4, 2), said).ring_get(0, (1, 2), (4, 2), said)
        };
        said(Causal, Causal).broken(&CHECKER);
        said(Fifo, Causal).holds(&CHECKER);
        said(Causal, Fifo).holds(&CHECKER);
    }

    #[test]
    fn what_is_fifo_comes_behind_what_its_party_sent_before() {
        let said = |first, second| {
            let tale = Tale::default().ring(0, 4, &[0, 1]).ring(1, 4, &[0, 1]);
            let tale = tale.ring_send(0, 1).ring_send(0, 2);
            let tale = tale.ring_get(0, (0, 1), (4, 1), first).ring_get(0, (0, 2), (4, 2), second);
            tale.ring_get(1, (0, 2), (4, 2), second).ring_get(1, (0, 1), (4, 1), first)
        };
        said(Fifo, Agreed).broken(&CHECKER);
        said(Reliable, Agreed).holds(&CHECKER);
        said(Agreed, Reliable).holds(&CHECKER);
    }
}
