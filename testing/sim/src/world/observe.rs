//! What the world sees in outputs: events become entries, persons react, and wires, messages
//! between the stacks, logs and disks are watched.

use super::reader::Thought;
use super::{Chair, Crossing, Event, Origin, Wish, World};
use crate::machine::{Told, motion};
use crate::payload;
use crate::record::{Leak, Player, Shown, What};
use crate::schedule::Hook;
use folkmoot_attach::Trace;
use folkmoot_base::Persist;
use std::collections::BTreeSet;

/// Most payloads between the stacks that are kept for the oracle of outsiders.
const CROSSINGS_MAX: usize = 20_000;

impl World {
    /// The machine tells something.
    pub(super) fn told(&mut self, player: Player, told: Told, origin: Origin) {
        let process = self.process(player);
        let entry = match told {
            told if !self.hold(player, &told) => return,
            Told::Crossing(bytes) => {
                return self.look_at_crossing(player, self.chair(player).map(Chair::sealer), bytes);
            }
            Told::Gone(other) => return self.knows_gone(player, other, true),
            Told::Back(other) => return self.knows_gone(player, other, false),
            Told::Asked(other) => return self.asked(player, other),
            Told::Proposed(other) => return self.proposed(player, other),
            Told::Message(bytes) => match payload::read(&bytes) {
                Some((message, service)) => {
                    self.acknowledge(player, message);
                    What::Delivered(message, service)
                }
                None => What::Garbled(bytes.len()),
            },
            Told::Sent(message) => {
                let view = self.chair(player).and_then(|chair| chair.view.as_ref()).map(|view| view.id);
                let service = self.services.get(&message).copied();
                What::Sent(message, service.unwrap_or(folkmoot_base::Service::Agreed), view)
            }
            Told::Refused(message, reason) => {
                self.acknowledge(player, message);
                What::Refused(message, reason)
            }
            Told::View(view) => {
                if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
                    chair.view = Some(view.clone());
                }
                What::View(view)
            }
            Told::Rekeyed(view, key) => {
                let chair = self.chairs.get_mut(usize::from(player));
                if let Some(shown) = chair.and_then(|chair| chair.view.as_mut()) {
                    shown.key.clone_from(&key);
                }
                What::Rekeyed(view, key)
            }
            Told::Signal => What::Signal,
            Told::Left(reason) => {
                self.left(player);
                What::Left(reason)
            }
            Told::Ring(event) => What::Ring(event),
            Told::Acknowledged(step) => {
                if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
                    chair.acknowledge(step.clone());
                }
                What::Acknowledged(step)
            }
            Told::Used(kind, value) => What::Used(kind, value),
            Told::Confirmed(view) => What::Confirmed(view),
            Told::Heard(view, other) => What::Heard(view, other),
            Told::Word(word) => What::Word(word),
            Told::Approved(request) => What::Approved(request),
            Told::Judged(decision) => return self.judged(player, decision),
            Told::Superseded(by) => {
                self.disturbed(player, origin, "stopped");
                return self.superseded(player, by);
            }
            Told::OtherLine(other) => self.other_line(player, other),
            Told::Backed(sharing, whole) => {
                What::Backed { on_disk: self.has_share(player, &sharing), sharing, whole }
            }
        };
        self.disturbed_by(player, origin, &entry);
        self.record.push(self.now, process, entry);
    }

    pub(super) fn disturbed_by(&mut self, player: Player, origin: Origin, entry: &What) {
        let effect = match entry {
            What::Delivered(message, _) => format!("delivered {message}"),
            What::Garbled(bytes) => format!("delivered {bytes} bytes that nobody sent"),
            What::View(view) => format!("installed view {}", view.id),
            What::Rekeyed(view, _) => format!("changed the key of view {view}"),
            What::Signal => "gave the transitional signal".to_owned(),
            What::Left(reason) => format!("left: {reason}"),
            What::Ring(event) => format!("changed the ring: {event:?}"),
            What::Sent(message, _, _) => format!("sealed {message}"),
            _ => return,
        };
        self.disturbed(player, origin, &effect);
    }

    /// A forged or replayed frame had an effect.
    pub(super) fn disturbed(&mut self, player: Player, origin: Origin, effect: &str) {
        if origin == Origin::Forged {
            let process = self.process(player);
            self.record.push(self.now, process, What::Disturbed(effect.to_owned()));
        }
    }

    fn acknowledge(&mut self, player: Player, message: crate::record::MessageId) {
        if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
            chair.pending.remove(&message);
        }
    }

    fn left(&mut self, player: Player) {
        self.seize(player);
        if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
            chair.view = None;
            // What it had sent may be delivered after its leave has its place: nobody owes it to
            // the sender any more.
            chair.pending.clear();
        }
    }

    pub(super) fn asked(&mut self, player: Player, other: Player) {
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.keeps(Thought::Request(other)) {
            return;
        }
        if chair.shown_requests.insert(other) && chair.wishes.admit.contains(&other) {
            self.speak(player, Wish::Approve(other));
        }
    }

    pub(super) fn proposed(&mut self, player: Player, other: Player) {
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.keeps(Thought::Proposal(other)) {
            return;
        }
        // A change of the charter may be made, undone and made again.
        let fresh = chair.shown_proposals.insert(other) || other >= motion(0);
        if fresh && chair.wishes.expel.contains(&other) {
            self.speak(player, Wish::Agree(other));
        }
    }

    fn speak(&mut self, player: Player, wish: Wish) {
        if matches!(wish, Wish::Approve(other) if self.lines.is_stolen(other)) {
            // Nobody lets a thief in.
            return;
        }
        let at = self.now.saturating_add(self.think());
        let life = self.life(player);
        self.schedule(at, Event::Speak { player, life, wish });
    }

    /// The person in `player` will vote to admit `other`; at once, if the request was shown
    /// already.
    pub fn wish_admit(&mut self, player: Player, other: Player) {
        for place in self.places(player) {
            let Some(chair) = self.chairs.get_mut(usize::from(place)) else { return };
            if chair.wishes.admit.insert(other) && chair.shown_requests.contains(&other) {
                self.speak(place, Wish::Approve(other));
            }
        }
    }

    /// The person in `player` will vote to expel `other`; at once, if the proposal was shown
    /// already.
    pub fn wish_expel(&mut self, player: Player, other: Player) {
        for place in self.places(player) {
            let Some(chair) = self.chairs.get_mut(usize::from(place)) else { return };
            if chair.wishes.expel.insert(other) && chair.shown_proposals.contains(&other) {
                self.speak(place, Wish::Agree(other));
            }
        }
    }

    /// A line of the log: no secret in it; perhaps the one that the schedule waits for.
    pub(super) fn traced(&mut self, player: Player, trace: Trace) {
        let process = self.process(player);
        if payload::shows_plaintext(trace.text.as_bytes()) || shows_hex(&trace.text) {
            self.record.push(self.now, process, What::Leaked(Leak::Trace(trace.layer)));
        }
        let fits = |hook: Hook| hook.layer == trace.layer && trace.text.to_lowercase().contains(hook.word);
        if self.hook.is_some_and(fits) {
            self.hook_seen = Some(self.now);
        }
        self.scan_secrets(player, &trace);
        if self.options.notes {
            self.record.push(self.now, process, What::Note(trace.layer, trace.text));
        }
    }

    /// Looks for the bytes of the secrets that the machine holds now in a trace line.
    fn scan_secrets(&mut self, player: Player, trace: &Trace) {
        // Only long runs of hexadecimal digits can hide one: most lines have none, and cost nothing
        // more.
        if !longest_hex_run(&trace.text, 32) {
            return;
        }
        let Some(machine) = self.machine(player) else { return };
        let text = trace.text.to_lowercase();
        let leaks = machine.spoils().secrets.iter().any(|secret| {
            let hex: String = secret.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            hex.len() == 32 && text.contains(&hex)
        });
        if leaks {
            let process = self.process(player);
            self.record.push(self.now, process, What::Leaked(Leak::Trace(trace.layer)));
        }
    }

    /// A datagram: no plaintext in it.
    pub(super) fn look_at_wire(&mut self, player: Player, bytes: &[u8]) {
        if payload::shows_plaintext(bytes) {
            let process = self.process(player);
            self.record.push(self.now, process, What::Leaked(Leak::Wire));
        }
    }

    /// A payload that a node carries: no plaintext in it; kept for the oracle of outsiders.
    pub(super) fn look_at_crossing(
        &mut self,
        player: Player,
        sealer: Option<(u8, Option<Shown>)>,
        bytes: bytes::Bytes,
    ) {
        let (out, view) = sealer.unwrap_or_default();
        if payload::shows_plaintext(&bytes) {
            let process = self.process(player);
            self.record.push(self.now, process, What::Leaked(Leak::Node));
        }
        if self.crossings.len() < CROSSINGS_MAX && out != 0 {
            self.crossings.push(Crossing { at: self.now, out, view, bytes });
        }
    }

    /// A write to disk: no plaintext in it.
    pub(super) fn look_at_write(&mut self, player: Player, write: &Persist) {
        if write.value.as_ref().is_some_and(|value| payload::shows_plaintext(value)) {
            let process = self.process(player);
            self.record.push(self.now, process, What::Leaked(Leak::Node));
        }
    }

    /// Records the roster when it changed, and control steps that were forgotten.
    pub(super) fn look_at_roster(&mut self, player: Player) {
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(roster) = chair.machine.as_mut().and_then(|machine| machine.roster_if_changed()) else {
            return;
        };
        chair.roster.clone_from(&roster);
        let process = chair.process();
        self.record.push(now, process, What::Roster(roster));
    }

    /// After a restart: what was acknowledged before, on what is on the disk now, must be held.
    pub(super) fn look_for_forgotten(&mut self, player: Player) {
        let now = self.now;
        let Some(chair) = self.chairs.get(usize::from(player)) else { return };
        let Some(machine) = chair.machine.as_ref() else { return };
        if chair.acknowledged.is_empty() {
            return;
        }
        let picture = machine.picture();
        let process = chair.process();
        let steps = chair.acknowledged.iter().map(|(_, step)| step);
        let knows = |player: &str| picture.holds.contains(&format!("admitted {player}"));
        let is_forgotten = |step: &&String| match step.split_once(' ') {
            Some(("vote-to-admit", _)) => picture.lacks.contains(*step),
            Some(("expelled", rest)) => {
                picture.lacks.contains(*step) || !rest.rsplit(' ').next().is_some_and(knows)
            }
            _ => !picture.holds.contains(*step),
        };
        let forgotten: Vec<_> = steps.filter(is_forgotten).cloned().collect();
        for step in forgotten {
            self.record.push(now, process, What::Forgot(step));
        }
    }

    /// At the end: tries the keys of everybody who was out, in the eyes of the sealer, on
    /// everything sealed then.
    pub fn try_outsiders(&mut self) {
        for player in self.living() {
            self.seize(player);
        }
        let mut leaks = Vec::new();
        for chair in &self.chairs {
            let mut tried = BTreeSet::new();
            for crossing in self.crossings.iter().filter(|crossing| crossing.out & bit(chair.player) != 0) {
                // Version and epoch tag: what one key opens of an epoch, it opens of all of it.
                if !tried.insert(crossing.bytes.get(..9)) {
                    continue;
                }
                let view = crossing.view.as_ref();
                if chair.spoils.values().any(|spoils| self.cast.opens(spoils, &crossing.bytes, view)) {
                    leaks.push((crossing.at, chair.process()));
                }
            }
        }
        for (at, process) in leaks {
            self.record.push(at, process, What::Leaked(Leak::Outsider(process.player)));
        }
    }

    /// `player` knows that `other` is no longer in the group (or, with `gone` false, that it is).
    fn knows_gone(&mut self, player: Player, other: Player, gone: bool) {
        if gone {
            self.seize_all(other);
        }
        if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
            chair.knows_gone(other, gone);
        }
    }

    /// What all processes of a player could open with.
    pub(super) fn seize_all(&mut self, player: Player) {
        self.places(player).into_iter().for_each(|place| self.seize(place));
    }

    /// Takes a copy of everything that the machine in `player` could open with.
    fn seize(&mut self, player: Player) {
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(machine) = chair.machine.as_ref() else { return };
        // What a life holds only grows: its last copy has all.
        chair.spoils.insert(chair.process().life, machine.spoils());
    }
}

fn bit(player: Player) -> u8 {
    1_u8.checked_shl(u32::from(player)).unwrap_or(0)
}

/// Whether the marker stands in `text` in hexadecimal.
fn shows_hex(text: &str) -> bool {
    let marker: String = payload::MARKER.iter().map(|byte| format!("{byte:02x}")).collect();
    text.to_lowercase().contains(&marker)
}

/// Whether `text` has a run of at least `length` hexadecimal digits.
fn longest_hex_run(text: &str, length: usize) -> bool {
    let mut run = 0_usize;
    text.bytes().any(|byte| {
        run = if byte.is_ascii_hexdigit() { run.saturating_add(1) } else { 0 };
        run >= length
    })
}
