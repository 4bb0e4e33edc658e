//! A trace in plain words, with one line for each event.

use crate::check::Fault;
use crate::early::Early;
use crate::keying::Standing;
use crate::member::{Effect, Ordered};
use crate::names::{Set, Who};
use crate::rules::Rules;
use crate::run::{Kind, Stage};
use crate::search::Found;
use crate::world::{Action, World};

/// The lines of a trace: what happens, what comes of it, and at last what is wrong.
pub fn lines(found: &Found, rules: &Rules) -> Vec<String> {
    let present: Set = found.root.players().map(|(who, _)| who).collect();
    let mut lines = vec![format!("{} meet", names(present))];
    let mut world = found.root.clone();
    for action in &found.actions {
        let next = world.act(*action, rules);
        let done: Vec<String> = next.told.iter().map(effect).chain(came_of(&world, &next.world)).collect();
        let done = if done.is_empty() { String::new() } else { format!(": {}", done.join(", ")) };
        lines.push(format!("{}{done}", event(&world, *action)));
        world = next.world;
    }
    if found.fault == Fault::Deadlock {
        let where_ = |who| world.player(who).map(|player| player.member.keying.standing()).map(standing);
        let all = world.players().filter_map(|(who, _)| Some(format!("{} {}", name(who), where_(who)?)));
        lines.push(format!("and there it stays: {}", all.collect::<Vec<_>>().join("; ")));
    }
    lines.push(format!("WRONG: {}", found.fault.words()));
    lines
}

/// What becomes of the early message.
fn came_of(before: &World, after: &World) -> Vec<String> {
    let changed = |who: &Who| {
        let (was, is) = (before.early_words(*who), after.early_words(*who));
        is.filter(|_| is != was).map(|is| format!("{} {is}", name(*who)))
    };
    crate::names::everybody().filter_map(|who| changed(&who)).collect()
}

fn event(world: &World, action: Action) -> String {
    match action {
        Action::Read(who) => {
            let entry = world.player(who).and_then(|player| player.queue.first());
            format!("{} reads {}", name(who), entry.map_or_else(String::new, |entry| read(*entry)))
        }
        Action::Answer(who) => format!("the application of {} has finished", name(who)),
        Action::AskEarly(who) => format!("flush asks {} before it has read the notice", name(who)),
        Action::Announce(side) => format!("the notice that is due comes on the side of {}", name(side)),
        Action::Send(who, Early::Fifo) => format!("{} sends a FIFO message", name(who)),
        Action::Send(who, Early::Reliable) => format!("{} sends a reliable message", name(who)),
        Action::Arrive(who) => format!("that message arrives at {}", name(who)),
        Action::Reflect(by, of) => {
            format!("a carrier says the CONFIRM of {} in the name of {}", name(by), name(of))
        }
        Action::Join(who, side) => format!("{} joins {}", name(who), names(world.on_side(side))),
        Action::Leave(who) => format!("{} leaves", name(who)),
        Action::Expel(who, false) => format!("{} is expelled, with the notice", name(who)),
        Action::Expel(who, true) => format!("{} is expelled, the notice is due", name(who)),
        Action::Crash(who, after) => {
            format!("the node of {} is gone; {after} entries after the signal", name(who))
        }
        Action::Cut(who, after, own) => {
            format!("{} is cut off; {after} entries after the signal, {own} at {}", name(who), name(who))
        }
        Action::Merge(one, two) => {
            format!("{} and {} meet again", names(world.on_side(one)), names(world.on_side(two)))
        }
    }
}

fn read(entry: Ordered) -> String {
    match entry {
        Ordered::Notice { view, members, removed } if removed.is_empty() => {
            format!("the notice of view {view} with {}", names(members))
        }
        Ordered::Notice { view, members, removed } => {
            format!("the notice of view {view} with {}, removed {}", names(members), names(removed))
        }
        Ordered::Signal { lost } => format!("the ring's signal, lost {}", names(lost)),
        Ordered::FlushOk { from, view, .. } => format!("the FLUSH_OK of {} for view {view}", name(from)),
        Ordered::Step { from, view, kind, .. } => {
            format!("{} of {} in view {view}", step(kind), name(from))
        }
        Ordered::Reflected { by, of, view } => {
            format!("the CONFIRM of {} in view {view} in the name of {}", name(by), name(of))
        }
        Ordered::Strike { who } => format!("the entry that expels {}", name(who)),
        Ordered::Fence => "a new configuration".to_owned(),
        Ordered::Early => "the early message, from recovery".to_owned(),
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Asked => "is asked to flush".to_owned(),
        Effect::Signalled => "hears the transitional signal".to_owned(),
        Effect::Installed { view, members, .. } => format!("has view {view} with {}", names(*members)),
        Effect::FlushOk { view, .. } => format!("sends FLUSH_OK for view {view}"),
        Effect::Step { kind, safe, .. } => {
            format!("sends {}{}", step(*kind), if *safe { " safe" } else { "" })
        }
        Effect::AskApplication => "asks the application to finish".to_owned(),
        Effect::SecureSignal => "hands the signal up".to_owned(),
        Effect::Secure { view, .. } => format!("view {view} is SECURE"),
        Effect::OutOfTurn => "is asked out of turn".to_owned(),
        Effect::Late => "would send after its FLUSH_OK".to_owned(),
    }
}

fn step(kind: Kind) -> &'static str {
    match kind {
        Kind::Partial => "PARTIAL",
        Kind::Final => "FINAL",
        Kind::FactOut => "FACT_OUT",
        Kind::KeyList => "KEY_LIST",
        Kind::NewMember => "NEW_MEMBER",
        Kind::Confirm => "CONFIRM",
    }
}

/// Where a machine stands, in words.
pub fn standing(standing: Standing) -> String {
    let held = |held| if held { ", holding the flush" } else { "" };
    match standing {
        Standing::Cascading => "in CM".to_owned(),
        Standing::Keyless => "in CM, in a view without a key".to_owned(),
        Standing::Running(stage, flush) => format!("in {}{}", short(stage), held(flush)),
        Standing::Spent(_) => "waits for the flush after the signal".to_owned(),
        Standing::Secure(_) => "in S".to_owned(),
    }
}

fn short(stage: Stage) -> &'static str {
    match stage {
        Stage::PartialToken => "PT",
        Stage::FinalToken => "FT",
        Stage::FactOuts => "FO",
        Stage::NewMember => "NM (NEW_MEMBER awaited)",
        Stage::KeyList => "KL",
        Stage::Confirming => "KC",
    }
}

fn name(who: Who) -> char {
    char::from(b'A'.saturating_add(who))
}

fn names(set: Set) -> String {
    set.iter().map(name).map(String::from).collect::<Vec<_>>().join(" ")
}
