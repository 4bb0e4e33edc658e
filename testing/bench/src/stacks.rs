//! `folkmoot bench stacks`: what a message costs both stacks of each member, without runtime,
//! sockets and disk.
//!
//! ```text
//! [both stacks] --datagrams--> queue --> [both stacks] ...      one thread, a clock of its own
//! ```
//! All members send. Each keeps a window of its own messages on their way, and hands in several at
//! a time, as an engine does. Time passes only when no datagram is on its way.

use crate::args::BenchStacks;
use crate::heap;
use crate::meter::thread_worked;
use crate::people::{People, Rules};
use bytes::Bytes;
use folkmoot::Locator;
use folkmoot::tools::OsEntropy;
use folkmoot_agreement::ModuleName;
use folkmoot_attach::{Embedded, Input, Output};
use folkmoot_base::{GroupId, Instant, Pool, Service, UnixTime};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::show::{data, table};
use folkmoot_member::{Command, Config as MemberConfig, Event, Member};
use folkmoot_node::{Config as NodeConfig, Node};
use folkmoot_signing::Scheme;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// Most messages that are handed in together.
const TOGETHER: usize = 64;
/// Messages of each member that are on their way.
const WINDOW: u64 = 256;
/// How long the members may take to get a key, in seconds of their clock.
const FORMED_WITHIN: u64 = 60;

/// One member.
struct Player {
    machine: Embedded<Node, Member>,
    sent: u64,
    own: u64,
    delivered: u64,
    keyed: bool,
}

/// Members on a network without loss.
struct World {
    now: Instant,
    group: GroupId,
    players: Vec<Player>,
    on_way: VecDeque<(usize, Locator, Bytes)>,
    pool: Pool,
    /// That the stacks made.
    allocations: u64,
    entropy: OsEntropy,
}

/// What a message cost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    bytes: usize,
    messages: u64,
    allocations: u64,
    worked: Duration,
}

/// Prints the table.
pub(crate) fn stacks(options: &BenchStacks, json: bool) -> Result<(), Failure> {
    let costs: Vec<Cost> =
        options.bytes.iter().map(|bytes| measure(options, *bytes)).collect::<Result<_, _>>()?;
    let values: Vec<Value> = costs.iter().map(|cost| cost.value(options.members)).collect();
    let rows = || costs.iter().map(|cost| cost.row(options.members)).collect::<Vec<_>>();
    data(json, &json!({ "stacks": values, "members": options.members }), || {
        table(&["BYTES", "MESSAGES", "ALLOCATIONS", "US"], &rows())
    });
    Ok(())
}

fn measure(options: &BenchStacks, bytes: usize) -> Result<Cost, Failure> {
    let mut world = World::new(options.members.into())?;
    let payload = Bytes::from(vec![7; bytes]);
    world.form()?;
    world.exchange(&payload, options.messages)?;
    let (made, worked, before) = (world.allocations, thread_worked(), world.delivered());
    world.exchange(&payload, options.messages)?;
    let messages = world.delivered().saturating_sub(before);
    let allocations = world.allocations.saturating_sub(made);
    Ok(Cost { bytes, messages, allocations, worked: thread_worked().saturating_sub(worked) })
}

impl Cost {
    /// Allocations of all members together for each message.
    fn allocations_per_message(self, members: u8) -> f64 {
        rounded(self.allocations as f64 * f64::from(members) / self.messages.max(1) as f64)
    }

    /// Microseconds for each message and member.
    fn micros(self) -> f64 {
        rounded(self.worked.as_secs_f64() * 1e6 / self.messages.max(1) as f64)
    }

    fn value(self, members: u8) -> Value {
        json!({
            "bytes": self.bytes,
            "delivered": self.messages,
            "allocations": self.allocations,
            "allocations_per_message": self.allocations_per_message(members),
            "us_per_message_and_member": self.micros(),
        })
    }

    fn row(self, members: u8) -> Vec<String> {
        let messages = self.messages / u64::from(members.max(1));
        let allocations = self.allocations_per_message(members);
        [self.bytes.to_string(), messages.to_string(), allocations.to_string(), self.micros().to_string()]
            .into()
    }
}

fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

impl World {
    fn new(members: usize) -> Result<Self, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let rules = Rules {
            module: Some(ModuleName::Str),
            scheme: Scheme::Plain,
            votes: 1,
            central: None,
            keys: folkmoot_identity::KeyAlgorithm::P256,
        };
        let people = People::new(&rules, members, Duration::from_secs(10))?;
        let charter = Bytes::copy_from_slice(people.charter.der());
        let now = Instant(1_000_000);
        let mut players = Vec::new();
        for (identity, port) in people.identities.iter().zip(0..) {
            let config = NodeConfig::new(identity.clone(), charter.clone(), Locator::memory(port));
            let node = Node::new(config, &[], now, &mut entropy).map_err(Failure::bug)?;
            let member = Member::new(MemberConfig::new(identity.clone(), charter.clone()), &[])
                .map_err(Failure::bug)?;
            let machine = Embedded::new(node, member);
            players.push(Player { machine, sent: 0, own: 0, delivered: 0, keyed: false });
        }
        let group = players.first().map(|one| one.machine.upper.home());
        let group = group.ok_or_else(|| Failure::bug("no members"))?;
        Ok(Self {
            now,
            group,
            players,
            on_way: VecDeque::new(),
            pool: Pool::default(),
            allocations: 0,
            entropy,
        })
    }

    /// All dial the first, join the group and have a key.
    fn form(&mut self) -> Result<(), Failure> {
        let clock = folkmoot::tools::wall_clock();
        for who in 0..self.players.len() {
            self.handle(who, Input::Clock(UnixTime(clock.0)));
            if who > 0 {
                self.handle(who, Input::Command(Command::Dial(Locator::memory(0))));
            }
            self.handle(who, Input::Command(Command::Join { group: self.group }));
        }
        let end = self.now + Duration::from_secs(FORMED_WITHIN);
        while self.players.iter().any(|player| !player.keyed) {
            if self.now > end {
                return Err(Failure::bug("the members did not get a key"));
            }
            self.step();
        }
        // What comes after a change is over, too.
        let calm = self.now + Duration::from_secs(1);
        while self.now < calm {
            self.step();
        }
        Ok(())
    }

    /// Each member sends so many messages, and all arrive.
    fn exchange(&mut self, payload: &Bytes, messages: u64) -> Result<(), Failure> {
        let goals: Vec<u64> =
            self.players.iter().map(|player| player.sent.saturating_add(messages)).collect();
        let end = self.now + Duration::from_secs(3_600);
        let done = |world: &Self| world.players.iter().zip(&goals).all(|(one, goal)| one.own >= *goal);
        while !done(self) {
            if self.now > end {
                return Err(Failure::bug("the messages did not come"));
            }
            for (who, goal) in goals.iter().enumerate() {
                self.send(who, *goal, payload);
            }
            self.step();
        }
        Ok(())
    }

    /// Hands in as much as the window has room for.
    fn send(&mut self, who: usize, goal: u64, payload: &Bytes) {
        let Some(player) = self.players.get_mut(who) else { return };
        let room = WINDOW.saturating_sub(player.sent.saturating_sub(player.own));
        let count = room.min(goal.saturating_sub(player.sent)).min(TOGETHER as u64);
        if count == 0 || (count < TOGETHER as u64 && count < goal.saturating_sub(player.sent)) {
            return;
        }
        player.sent = player.sent.saturating_add(count);
        let payloads = vec![payload.clone(); usize::try_from(count).unwrap_or(0)];
        let send = Command::SendMany { group: self.group, service: Service::Agreed, payloads };
        self.handle(who, Input::Command(send));
    }

    fn delivered(&self) -> u64 {
        self.players.iter().map(|player| player.delivered).sum()
    }

    /// The next datagram, or the next timer.
    fn step(&mut self) {
        if let Some((to, from, bytes)) = self.on_way.pop_front() {
            // As a transport does: into a buffer of its own.
            let mut datagram = self.pool.buffer(bytes.len());
            datagram.extend_from_slice(&bytes);
            return self.handle(to, Input::Datagram(from, datagram));
        }
        let times = self.players.iter().enumerate();
        let due = times.filter_map(|(who, player)| player.machine.poll_timeout().map(|at| (at, who)));
        let Some((at, who)) = due.min() else { return };
        self.now = self.now.max(at);
        self.handle(who, Input::Timeout);
    }

    fn handle(&mut self, who: usize, input: Input<Command>) {
        let Some(player) = self.players.get_mut(who) else { return };
        let made = heap::made();
        player.machine.handle(self.now, input, &mut self.entropy);
        self.allocations = self.allocations.saturating_add(heap::made().wrapping_sub(made));
        let me = player.machine.upper.id();
        let at = Locator::memory(u32::try_from(who).unwrap_or_default());
        while let Some(output) = player.machine.poll_output() {
            match output {
                Output::Transmit(to, bytes) | Output::Probe(to, bytes) => {
                    let to = to.as_memory().unwrap_or_default();
                    self.on_way.push_back((usize::try_from(to).unwrap_or_default(), at.clone(), bytes));
                }
                Output::Event(Event::Message { sender, .. }) => {
                    player.delivered = player.delivered.saturating_add(1);
                    player.own = player.own.saturating_add(u64::from(sender.member == me));
                }
                Output::Event(Event::View { members, .. }) => player.keyed = members.len() > 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many packets a message of so many bytes takes.
    fn packets(service: Service, bytes: usize) -> u64 {
        let mut world = World::new(2).unwrap();
        world.form().unwrap();
        let numbered = |world: &World| world.players[0].machine.ground.counters().ring.numbered;
        let before = numbered(&world);
        let payload = Bytes::from(vec![7; bytes]);
        let group = world.group;
        world.handle(0, Input::Command(Command::Send { group, service, payload, signed: false }));
        while world.delivered() < 2 {
            world.step();
        }
        numbered(&world) - before
    }

    #[test]
    fn the_longest_message_of_one_packet_is_as_the_pages_say() {
        for service in [Service::Reliable, Service::Fifo] {
            assert_eq!((packets(service, 1_350), packets(service, 1_351)), (1, 2), "{service:?}");
        }
        for service in [Service::Agreed, Service::Safe] {
            assert_eq!((packets(service, 1_354), packets(service, 1_355)), (1, 2), "{service:?}");
        }
    }

    #[test]
    fn a_message_takes_no_allocation() {
        let options = BenchStacks { members: 3, bytes: Vec::new(), messages: 4_000 };
        for bytes in [100, 1_350, 8_192] {
            let cost = measure(&options, bytes).unwrap();
            assert!(cost.messages >= 3 * 3 * 3_900, "{cost:?}");
            assert!(cost.allocations_per_message(3) <= 0.01, "{cost:?}");
        }
    }
}
