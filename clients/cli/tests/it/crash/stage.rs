//! The group under test: three founders, of whom two admit, and a guest who comes and goes.

use super::actor::Actor;
use super::heard::View;
use crate::common::place::{Place, Times};
use crate::common::program::ask;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest wait for a common view and key.
pub(crate) const GATHER: Duration = Duration::from_secs(60);
/// Place of the guest in the cast.
pub(crate) const GUEST: usize = 3;
/// The group.
pub(crate) struct Stage {
    /// Anna, Ben and Cleo; then the guest, if there is one.
    pub(crate) cast: Vec<Actor>,
    /// Guests of the past.
    pub(crate) gone: Vec<Actor>,
    /// Whether the guest is to be in the view.
    pub(crate) admitted: bool,
    pub(crate) charter: PathBuf,
    pub(crate) place: Place,
    last: Option<View>,
}

impl Stage {
    /// Three founders sign a charter, start, and share a view.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let place = Place::new(name);
        let cast: Vec<Actor> = ["anna", "ben", "cleo"].map(|name| Actor::new(place.path(), name)).into();
        place.found(&cast.iter().map(|one| one.state.as_path()).collect::<Vec<_>>(), Times::SHORT);
        let charter = place.signed();
        let mut stage = Self { cast, gone: Vec::new(), admitted: false, charter, place, last: None };
        for founder in 0..GUEST {
            stage.start(founder)?;
        }
        stage.gather()?;
        Ok(stage)
    }

    pub(crate) fn locators(&self) -> Vec<String> {
        self.cast.iter().map(|one| one.locator.clone()).filter(|at| !at.is_empty()).collect()
    }

    /// Starts a process on the disk as it is. A guest gives the command to ask only if the disk
    /// does not know of it.
    pub(crate) fn start(&mut self, who: usize) -> Result<(), String> {
        let known = self.locators();
        let actor = &mut self.cast[who];
        let asks = who >= GUEST && !self.admitted && !actor.disks.last().is_some_and(|disk| disk.has_asked());
        actor.spawn(&self.charter, &known, asks);
        actor.ready()
    }

    /// Waits until all who belong to it share one view under one key that nobody had before.
    pub(crate) fn gather(&mut self) -> Result<View, String> {
        let inside = if self.admitted { self.cast.len() } else { GUEST };
        let mut wanted: Vec<String> = self.cast.iter().take(inside).map(|one| one.id.clone()).collect();
        wanted.sort();
        let end = Instant::now() + GATHER;
        loop {
            let views: Vec<Option<View>> =
                self.cast.iter().take(inside).map(|one| one.heard().steady()).collect();
            let (first, rest) = views.split_first().unwrap();
            if let Some(view) = first
                && view.members == wanted
                && rest.iter().all(|other| other.as_ref() == Some(view))
                && self.last.as_ref().is_none_or(|last| last.epoch != view.epoch)
            {
                self.last = Some(view.clone());
                return Ok(view.clone());
            }
            if Instant::now() > end {
                let all: Vec<String> = self.cast.iter().map(Actor::standing).collect();
                return Err(format!("no common view and key within {GATHER:?}:\n{}", all.join("\n")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The guest is out: its process ends, its traces are kept.
    pub(crate) fn part(&mut self) {
        let mut guest = self.cast.pop().unwrap();
        guest.stop();
        self.gone.push(guest);
        self.admitted = false;
    }

    /// One message of each, heard by all: then all that was sent before is heard, too.
    pub(crate) fn round(&self, text: &str) -> Result<(), String> {
        for (place, one) in self.cast.iter().enumerate() {
            let payload = hex(format!("{text} {place}").as_bytes());
            one.ask(&json!({ "op": "send", "payload": payload, "service": "safe" }))?;
        }
        for one in &self.cast {
            for place in 0..self.cast.len() {
                let text = format!("{text} {place}");
                let came = one.heard().wait(GATHER, |heard| {
                    heard.events.iter().rev().any(|event| event["text"] == text.as_str()).then_some(())
                });
                came.ok_or_else(|| format!("{} did not hear {text:?}: {}", one.name, one.standing()))?;
            }
        }
        Ok(())
    }

    pub(crate) fn stop(&mut self) {
        self.cast.iter_mut().filter(|one| one.runs()).for_each(Actor::stop);
    }

    /// Everybody there ever was.
    pub(crate) fn everybody(&self) -> impl Iterator<Item = &Actor> {
        self.cast.iter().chain(&self.gone)
    }
}

/// Gives `request` to `actor` from another thread while this one goes on; joined, it tells what
/// came back.
pub(crate) fn meanwhile(actor: &Actor, request: Value) -> std::thread::JoinHandle<Result<Value, String>> {
    let state = actor.state.clone();
    std::thread::spawn(move || ask(&state, &request))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
