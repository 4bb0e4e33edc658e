//! Checks of a whole run: what each node delivered in each configuration.

use crate::history::{Event, History};
use crate::nouns::{NODES, Place, Service, Set};
use crate::order;
use std::collections::BTreeMap;

/// What one node delivered in one configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Span {
    pub(crate) node: usize,
    pub(crate) config: usize,
    pub(crate) members: Set,
    /// In order, with the place, before and after the signal.
    pub(crate) delivered: Vec<(usize, Place)>,
    /// How many of them before the signal.
    pub(crate) before: usize,
    /// Who goes on together into the next configuration, if there is one.
    pub(crate) next: Option<(usize, Set)>,
}

impl Span {
    pub(crate) fn all(&self) -> Set {
        set(self.delivered.iter())
    }

    /// What is agreed or safe and was delivered before the signal.
    fn ordered_before(&self, history: &History) -> Set {
        let ordered = |one: &&(usize, Place)| history.service(one.0).is_ordered();
        set(self.delivered.iter().take(self.before).filter(ordered))
    }
}

fn set<'a>(of: impl Iterator<Item = &'a (usize, Place)>) -> Set {
    of.fold(Set::default(), |set, (uid, _)| set.or(Set::one(*uid)))
}

/// Runs every check.
///
/// # Errors
/// The first thing that is wrong, in words.
pub(crate) fn all(history: &History) -> Result<(), String> {
    let mut spans = Vec::new();
    for node in 0..NODES {
        spans.extend(of_node(node, history)?);
    }
    for span in &spans {
        order::within(span, history)?;
        own(span, history)?;
    }
    let mut by_config: BTreeMap<usize, Vec<&Span>> = BTreeMap::new();
    spans.iter().for_each(|span| by_config.entry(span.config).or_default().push(span));
    for together in by_config.values() {
        pairs(together, history)?;
        order::total(together, history)?;
        order::gaps(together, history)?;
        order::places(together, history)?;
        safe(together, history)?;
    }
    turns(history, &by_config)
}

/// A node's spans. Nothing is delivered twice, in another configuration, or unsent.
fn of_node(node: usize, history: &History) -> Result<Vec<Span>, String> {
    let mut spans: Vec<Span> = Vec::new();
    let mut had = Set::default();
    let mut signal = false;
    for event in &history.logs[node] {
        match *event {
            Event::Install { config, members, with } => {
                if let Some(last) = spans.last_mut() {
                    last.next = Some((config, with));
                    if config <= last.config {
                        return Err(format!("node {node} goes from {} back to {config}", last.config));
                    }
                }
                spans.push(Span { node, config, members, ..Span::default() });
                signal = false;
            }
            Event::Signal => signal = true,
            Event::Deliver(delivery) => {
                let uid = delivery.uid;
                let sent = history.messages.get(uid).map(|message| message.config);
                let Some(span) = spans.last_mut().filter(|span| sent == Some(span.config) && !had.has(uid))
                else {
                    return Err(format!(
                        "node {node} delivers message {uid} twice, or where it was not sent"
                    ));
                };
                had.add(uid);
                span.delivered.push((uid, delivery.place));
                span.before += usize::from(!signal);
            }
        }
    }
    Ok(spans)
}

/// A node that goes on has delivered all that it sent.
fn own(span: &Span, history: &History) -> Result<(), String> {
    if span.next.is_none() {
        return Ok(());
    }
    let mine =
        |(_, one): &(usize, &crate::history::Message)| one.source == span.node && one.config == span.config;
    for (uid, message) in history.messages.iter().enumerate().filter(mine) {
        if !span.all().has(uid) {
            return Err(format!(
                "node {} never delivers its own {:?} message {uid}",
                span.node, message.service
            ));
        }
    }
    Ok(())
}

/// Two nodes that go on together delivered the same.
fn pairs(together: &[&Span], history: &History) -> Result<(), String> {
    let messages = history.messages.iter().enumerate();
    let unreliable = messages
        .filter(|(_, message)| message.service == Service::Unreliable)
        .fold(Set::default(), |set, (uid, _)| set.or(Set::one(uid)));
    for one in together {
        for other in together {
            let (Some((next, with)), Some((other_next, other_with))) = (one.next, other.next) else {
                continue;
            };
            if next != other_next {
                if with.has(other.node) {
                    continue;
                }
            } else if with != other_with || !with.has(other.node) {
                return Err(format!("nodes {} and {} tell other companions", one.node, other.node));
            }
            if next == other_next {
                let lacks = one.all().minus(other.all()).minus(unreliable);
                if let Some(uid) = lacks.first() {
                    let service = history.service(uid);
                    return Err(format!(
                        "nodes {} and {} go on together, and only the first delivered {service:?} message {uid}",
                        one.node, other.node
                    ));
                }
                if one.ordered_before(history) != other.ordered_before(history) {
                    return Err(format!("nodes {} and {} differ before the signal", one.node, other.node));
                }
            }
        }
    }
    Ok(())
}

/// Safe: before the signal, every member delivers it; behind it, every one that comes along.
fn safe(together: &[&Span], history: &History) -> Result<(), String> {
    for span in together {
        for (index, (uid, _)) in span.delivered.iter().enumerate() {
            if history.service(*uid) != Service::Safe {
                continue;
            }
            let with = span.next.map_or(Set::default(), |(_, with)| with);
            let all = if index < span.before { span.members } else { with };
            let lacks = all
                .minus(history.crashed)
                .iter()
                .find(|node| !together.iter().any(|other| other.node == *node && other.all().has(*uid)));
            if let Some(lacks) = lacks {
                return Err(format!(
                    "node {} delivered safe message {uid}, node {lacks} never did",
                    span.node
                ));
            }
        }
    }
    Ok(())
}

/// Every member gets the token at least once in 2n passes.
fn turns(history: &History, configs: &BTreeMap<usize, Vec<&Span>>) -> Result<(), String> {
    for (config, spans) in configs {
        let Some(members) = spans.first().map(|span| span.members) else { continue };
        let mut passes: Vec<(usize, usize)> =
            history.passes.iter().filter(|(of, ..)| of == config).map(|(_, hop, to)| (*hop, *to)).collect();
        passes.sort_unstable();
        for window in passes.windows(2 * members.len()) {
            let had = window.iter().fold(Set::default(), |set, (_, to)| set.or(Set::one(*to)));
            if let Some(starved) = members.minus(had).first() {
                return Err(format!("node {starved} was passed over for {} passes", window.len()));
            }
        }
    }
    Ok(())
}
