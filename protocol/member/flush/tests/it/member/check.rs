//! The properties of view synchrony, checked on what the members recorded. Names: Vitenberg et al.,
//! 2001.

use super::{Event, Member, bus::Bus, views};
use bytes::Bytes;
use folkmoot_base::{Party, ViewId};
use folkmoot_flush::View;
use std::collections::{BTreeMap, BTreeSet};

/// A member and one period from a join on.
type Life<'a> = (Party, &'a [Event]);

/// What happened in one view: everything but requests, complaints and sends.
#[derive(Debug)]
struct Passage {
    view: View,
    next: Option<View>,
    seen: Vec<Event>,
    sent: Vec<Bytes>,
    requests: usize,
    signals: usize,
}

fn passages(life: &[Event]) -> Vec<Passage> {
    let mut all: Vec<Passage> = Vec::new();
    for event in life {
        if let Event::View(view) = event {
            if let Some(last) = all.last_mut() {
                last.next = Some(view.clone());
            }
            let (seen, sent) = (Vec::new(), Vec::new());
            all.push(Passage { view: view.clone(), next: None, seen, sent, requests: 0, signals: 0 });
            continue;
        }
        let Some(last) = all.last_mut() else { continue };
        match event {
            Event::Got(..) => last.seen.push(event.clone()),
            Event::Signal => {
                last.signals += 1;
                last.seen.push(event.clone());
            }
            Event::Request => last.requests += 1,
            Event::Sent(_, text) => last.sent.push(text.clone()),
            _ => {}
        }
    }
    all
}

/// Every property that holds at any time.
pub fn all(bus: &Bus<Member>) -> Result<(), String> {
    let lives: Vec<Life<'_>> = bus
        .hosts
        .iter()
        .flat_map(|host| host.upper.lives.iter().map(|life| (host.upper.me, life.as_slice())))
        .collect();
    for life in &lives {
        one_life(life)?;
    }
    sending_view(&lives)?;
    same_views(&lives)?;
    together(&lives)
}

/// Self Inclusion, Local Monotonicity, No Duplication, Self Delivery, FIFO; at most one request and
/// one signal in a view.
fn one_life((me, life): &Life<'_>) -> Result<(), String> {
    let seen = views(life);
    if !seen.is_sorted_by(|a, b| a.id < b.id) {
        return Err(format!("{me}: views do not grow"));
    }
    for view in &seen {
        let has = |list: &[Party]| list.contains(me);
        if !has(&view.members) || !has(&view.transitional_set) {
            return Err(format!("{me}: not in its own view {}", view.id));
        }
    }
    for passage in passages(life) {
        if passage.signals > 1 || passage.requests > 1 {
            return Err(format!("{me}: {} signals, {} requests", passage.signals, passage.requests));
        }
        let mut by_sender: BTreeMap<Party, Vec<Bytes>> = BTreeMap::new();
        for event in &passage.seen {
            let Event::Got(view, sender, text) = event else { continue };
            if *view != passage.view.id || !passage.view.members.contains(sender) {
                return Err(format!("{me}: {sender} is not of view {}", passage.view.id));
            }
            by_sender.entry(*sender).or_default().push(text.clone());
        }
        for (sender, texts) in &by_sender {
            if !texts.is_sorted_by(|a, b| a < b) {
                return Err(format!("{me}: out of {sender}'s order, or twice"));
            }
        }
        let own = by_sender.remove(me).unwrap_or_default();
        if passage.next.is_some() && own != passage.sent {
            return Err(format!("{me}: own messages not delivered in their view"));
        }
    }
    Ok(())
}

/// Sending View Delivery, hence Same View Delivery; Delivery Integrity; FIFO without gaps.
fn sending_view(lives: &[Life<'_>]) -> Result<(), String> {
    let mut sent: BTreeMap<Bytes, ViewId> = BTreeMap::new();
    for event in lives.iter().flat_map(|(_, life)| life.iter()) {
        if let Event::Sent(view, text) = event {
            sent.insert(text.clone(), *view);
        }
    }
    for (me, life) in lives {
        for event in life.iter() {
            if let Event::Got(view, sender, text) = event
                && sent.get(text) != Some(view)
            {
                return Err(format!("{me}: message of {sender} in another view than it was sent in"));
            }
        }
        for passage in passages(life) {
            let mut got: BTreeMap<Party, usize> = BTreeMap::new();
            for event in &passage.seen {
                let Event::Got(_, sender, text) = event else { continue };
                let place = got.entry(*sender).or_default();
                let earlier = sent.iter().filter(|(other, view)| {
                    **view == passage.view.id && other.first() == text.first() && *other < text
                });
                if earlier.count() != *place {
                    return Err(format!("{me}: a gap in {sender}'s messages"));
                }
                *place += 1;
            }
        }
    }
    Ok(())
}

/// The same id means the same list of members.
fn same_views(lives: &[Life<'_>]) -> Result<(), String> {
    let mut lists: BTreeMap<ViewId, View> = BTreeMap::new();
    for (me, life) in lives {
        for view in views(life) {
            let known = lists.entry(view.id).or_insert_with(|| view.clone());
            if known.members != view.members || known.heads != view.heads {
                return Err(format!("{me}: another view {}", view.id));
            }
        }
    }
    Ok(())
}

/// Transitional Set and Virtual Synchrony, the latter with the order of messages and the place of
/// the signal.
fn together(lives: &[Life<'_>]) -> Result<(), String> {
    let mut steps: BTreeMap<ViewId, Vec<(Party, Option<Passage>, View)>> = BTreeMap::new();
    for (me, life) in lives {
        let mut before: Option<Passage> = None;
        for passage in passages(life) {
            let step = (*me, before.take(), passage.view.clone());
            steps.entry(passage.view.id).or_default().push(step);
            before = Some(passage);
        }
    }
    for (view, installers) in &steps {
        for (p, p_before, p_view) in installers {
            for (q, q_before, q_view) in installers.iter().filter(|(q, ..)| q != p) {
                let (p_has_q, q_has_p) =
                    (p_view.transitional_set.contains(q), q_view.transitional_set.contains(p));
                let same = matches!((p_before, q_before), (Some(a), Some(b)) if a.view.id == b.view.id);
                if p_has_q != q_has_p || (p_has_q && !same) {
                    return Err(format!("{p} and {q} do not agree that they came together to {view}"));
                }
                if let (true, Some(a), Some(b)) = (p_has_q, p_before, q_before)
                    && a.seen != b.seen
                {
                    return Err(format!("{p} and {q} came to {view} and saw different things before"));
                }
            }
            let listed: BTreeSet<_> = p_view.members.iter().collect();
            if p_view.transitional_set.iter().any(|member| !listed.contains(member)) {
                return Err(format!("{p}: transitional set larger than view {view}"));
            }
        }
    }
    Ok(())
}

/// After a heal: all members that want to be in are in one view, and none waits.
pub fn one_view(bus: &Bus<Member>) -> Result<(), String> {
    let wanting: Vec<&Member> =
        bus.hosts.iter().map(|host| &host.upper).filter(|member| member.wants).collect();
    let members: Vec<Party> = wanting.iter().map(|member| member.me).collect();
    for member in wanting {
        let phase = member.flush.as_ref().map(folkmoot_flush::Flush::phase);
        let list = member.view().map(|view| view.members);
        if list.as_ref() != Some(&members) || phase != Some(folkmoot_flush::Phase::Steady) {
            return Err(format!("{} is {phase:?} in {list:?}, not in {members:?}", member.me));
        }
    }
    Ok(())
}
