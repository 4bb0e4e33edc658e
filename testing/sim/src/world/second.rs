//! Second programs: another party of the same member, on the same node and in the same process,
//! with an application of its own.

use super::{Chair, Origin, World};
use crate::machine::{Command, Role, Told, second_of};
use crate::payload;
use crate::record::{Disk, MessageId, Player, What};
use folkmoot_base::Service;

/// Bytes of what a second program says.
const BYTES: usize = 56;

impl World {
    /// Places where a second program runs.
    pub fn with_second(&self) -> Vec<Player> {
        let living = self.living();
        self.seconds.keys().copied().filter(|place| living.contains(place)).collect()
    }

    /// The second program at a place.
    pub fn second(&self, place: Player) -> Option<&Chair> {
        self.seconds.get(&place)
    }

    /// It begins with its player's process.
    pub(super) fn second_begins(&mut self, place: Player, role: Role, disk: Disk) {
        let process = self.process(place);
        if self.with_seconds.checked_shr(process.player.into()).unwrap_or(0) & 1 == 0 {
            return;
        }
        let (now, seed, name) = (self.now, self.seed, second_of(process.player));
        let chair = self.seconds.entry(place).or_insert_with(|| Chair::new(seed, name, false));
        chair.begin(now, role, process.life);
        chair.wishes.away = false;
        let process = chair.process();
        self.record.push(now, process, What::Boot(disk));
    }

    /// It ends with its player's process.
    pub(super) fn second_ends(&mut self, place: Player, lost: u32) {
        let Some(chair) = self.seconds.get_mut(&place) else { return };
        chair.end();
        let process = chair.process();
        self.record.push(self.now, process, What::Crash(lost));
    }

    /// Its application sends a message.
    pub fn second_sends(&mut self, place: Player, service: Service) -> Option<MessageId> {
        let runs = self.living_at(place);
        let chair = self.seconds.get_mut(&place).filter(|_| runs)?;
        let message = chair.next_message();
        let process = chair.process();
        if service != Service::Unreliable {
            chair.pending.insert(message);
        }
        self.services.insert(message, service);
        self.record.push(self.now, process, What::Asked(message, service));
        let command = Command::Send(message, service, payload::make(message, service, BYTES));
        self.command(place, Command::Second(Box::new(command)));
        Some(message)
    }

    /// It leaves the group, or joins it again.
    pub fn second_goes(&mut self, place: Player, away: bool) {
        if !self.living_at(place) {
            return;
        }
        let Some(chair) = self.seconds.get_mut(&place).filter(|chair| chair.wishes.away != away) else {
            return;
        };
        chair.wishes.away = away;
        let command = if away { Command::Leave } else { Command::Join };
        self.command(place, Command::Second(Box::new(command)));
    }

    /// It tells something.
    pub(super) fn second_told(&mut self, place: Player, told: Told, origin: Origin) {
        let Some(chair) = self.seconds.get_mut(&place) else { return };
        let process = chair.process();
        let entry = match told {
            Told::Message(bytes) => match payload::read(&bytes) {
                Some((message, service)) => {
                    chair.pending.remove(&message);
                    What::Delivered(message, service)
                }
                None => What::Garbled(bytes.len()),
            },
            Told::Sent(message) => {
                let view = chair.view.as_ref().map(|view| view.id);
                let service = self.services.get(&message).copied().unwrap_or(Service::Agreed);
                What::Sent(message, service, view)
            }
            Told::Refused(message, reason) => {
                chair.pending.remove(&message);
                What::Refused(message, reason)
            }
            Told::View(view) => {
                chair.view = Some(view.clone());
                What::View(view)
            }
            Told::Rekeyed(view, key) => {
                if let Some(shown) = chair.view.as_mut() {
                    shown.key.clone_from(&key);
                }
                What::Rekeyed(view, key)
            }
            Told::Left(reason) => {
                chair.view = None;
                chair.pending.clear();
                What::Left(reason)
            }
            Told::Signal => What::Signal,
            Told::Used(kind, value) => What::Used(kind, value),
            Told::Confirmed(view) => What::Confirmed(view),
            Told::Heard(view, other) => What::Heard(view, other),
            Told::Word(word) => What::Word(word),
            Told::Gone(other) => {
                chair.knows_gone(other, true);
                return self.seize_all(other);
            }
            Told::Back(other) => return chair.knows_gone(other, false),
            Told::Crossing(bytes) => {
                let sealer = Some(chair.sealer());
                return self.look_at_crossing(place, sealer, bytes);
            }
            // The first program says the rest.
            _ => return,
        };
        self.disturbed_by(place, origin, &entry);
        self.record.push(self.now, process, entry);
    }
}
