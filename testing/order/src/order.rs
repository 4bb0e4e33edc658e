//! Checks of order: within what one node delivered, and among all of a configuration.

use crate::check::Span;
use crate::history::History;
use crate::nouns::{Place, Service, Set};
use std::collections::{BTreeMap, BTreeSet};

/// FIFO, causal, and agreed behind all that its source sent before.
pub(crate) fn within(span: &Span, history: &History) -> Result<(), String> {
    let of = |service: Service| {
        let messages = history.messages.iter().enumerate();
        messages
            .filter(|(_, message)| message.service >= service)
            .fold(Set::default(), |set, (uid, _)| set.or(Set::one(uid)))
    };
    let (fifo, causal) = (of(Service::Fifo), of(Service::Causal));
    let mut had = Set::default();
    for (uid, _) in &span.delivered {
        let Some(message) = history.messages.get(*uid) else { continue };
        let must = match message.service {
            Service::Unreliable | Service::Reliable => Set::default(),
            Service::Fifo => message.earlier.and(fifo),
            Service::Causal => message.earlier.and(fifo).or(message.seen.and(causal)),
            Service::Agreed | Service::Safe => message.earlier.or(message.seen.and(causal)),
        };
        if let Some(lacks) = must.minus(had).first() {
            return Err(format!(
                "node {} delivers {:?} message {uid} without {:?} message {lacks} before it",
                span.node,
                message.service,
                history.service(lacks)
            ));
        }
        had.add(*uid);
    }
    Ok(())
}

fn ordered<'a>(span: &'a Span, history: &'a History) -> impl Iterator<Item = (usize, Place)> + 'a {
    span.delivered.iter().copied().filter(|(uid, _)| history.service(*uid).is_ordered())
}

/// One order exists in which all nodes of a configuration delivered agreed and safe.
pub(crate) fn total(together: &[&Span], history: &History) -> Result<(), String> {
    let mut after: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for span in together {
        let uids: Vec<usize> = ordered(span, history).map(|(uid, _)| uid).collect();
        for pair in uids.windows(2) {
            if let [first, second] = pair {
                after.entry(*first).or_default().insert(*second);
            }
        }
        uids.iter().for_each(|uid| _ = after.entry(*uid).or_default());
    }
    while !after.is_empty() {
        let followed: BTreeSet<usize> = after.values().flatten().copied().collect();
        let Some(free) = after.keys().copied().find(|uid| !followed.contains(uid)) else {
            let left: Vec<usize> = after.keys().copied().collect();
            return Err(format!("nodes deliver agreed messages in different orders, among {left:?}"));
        };
        after.remove(&free);
    }
    Ok(())
}

/// Before the signal nothing is left out; behind it, only of senders that do not come along.
pub(crate) fn gaps(together: &[&Span], history: &History) -> Result<(), String> {
    for other in together {
        let mut earlier: Vec<usize> = Vec::new();
        let order: Vec<usize> = ordered(other, history).map(|(uid, _)| uid).collect();
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for uid in order {
            before.insert(uid, earlier.clone());
            earlier.push(uid);
        }
        for span in together {
            let mut had = Set::default();
            for (index, (uid, _)) in span.delivered.iter().enumerate() {
                let with = span.next.map_or(span.members, |(_, with)| with);
                let counts = |one: &&usize| {
                    let source = history.messages.get(**one).map_or(0, |message| message.source);
                    index < span.before || with.has(source)
                };
                let lacks = before
                    .get(uid)
                    .and_then(|earlier| earlier.iter().filter(counts).find(|one| !had.has(**one)));
                if let Some(lacks) = lacks {
                    return Err(format!(
                        "node {} delivers {uid} and not {lacks}, which node {} delivered before it",
                        span.node, other.node
                    ));
                }
                had.add(*uid);
            }
        }
    }
    Ok(())
}

/// A message has one place, a place has one message, and places come in their order.
pub(crate) fn places(together: &[&Span], history: &History) -> Result<(), String> {
    let mut of: BTreeMap<Place, usize> = BTreeMap::new();
    let mut place_of: BTreeMap<usize, Place> = BTreeMap::new();
    for span in together {
        let mut last = Place::None;
        for (uid, place) in ordered(span, history) {
            if place <= last {
                return Err(format!("node {} delivers {place:?} after {last:?}", span.node));
            }
            last = place;
            let other = *of.entry(place).or_insert(uid);
            let before = *place_of.entry(uid).or_insert(place);
            if other != uid || before != place {
                return Err(format!(
                    "message {uid} stands at {place:?} and {before:?}, where {other} stands"
                ));
            }
        }
    }
    Ok(())
}
