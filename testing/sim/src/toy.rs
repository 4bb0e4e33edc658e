//! A toy in place of the stacks, for tests of the world. It floods what it is asked to send, keeps
//! a counter on disk, and installs one view of everybody.

use crate::machine::{Cast, Command, Entrance, Input, Machine, Output, Picture, Spoils, Told, locator};
use crate::record::{Player, Shown};
use bytes::Bytes;
use folkmoot_attach::Trace;
use folkmoot_base::{ConfigurationId, Entropy, GroupId, Instant, NodeId, Persist, StoreKey, ViewId};
use std::collections::{BTreeSet, VecDeque};

pub(crate) struct ToyCast {
    pub(crate) players: u8,
}

struct Toy {
    player: Player,
    players: u8,
    counter: u8,
    out: VecDeque<Output>,
    tick: Instant,
    told: bool,
}

fn key() -> StoreKey {
    StoreKey { table: "toy", key: Bytes::from_static(b"counter") }
}

impl Cast for ToyCast {
    fn enter(&mut self, entrance: &Entrance<'_>, _: &mut dyn Entropy) -> Result<Box<dyn Machine>, String> {
        let counter = entrance.disk.get(&key()).and_then(|value| value.first().copied()).unwrap_or(0);
        let members: BTreeSet<Player> = (0..self.players).collect();
        let configuration = ConfigurationId { ring_seq: 1, representative: NodeId([0; 32]), nonce: [0; 16] };
        let id = ViewId { configuration, order: 1, group: GroupId([0; 32]) };
        let with = BTreeSet::from([entrance.player]);
        let view = Shown { id, members, transitional: with, key: "toy".into() };
        let out = VecDeque::from([Output::Told(Told::View(view))]);
        let player = entrance.player;
        Ok(Box::new(Toy { player, players: self.players, counter, out, tick: Instant(0), told: true }))
    }

    fn opens(&self, _: &Spoils, _: &Bytes, _: Option<&Shown>) -> bool {
        false
    }
}

impl Machine for Toy {
    fn handle(&mut self, now: Instant, input: Input, _: &mut dyn Entropy) {
        match input {
            Input::Command(Command::Send(message, _, bytes)) => {
                self.counter = self.counter.wrapping_add(1);
                let write = Persist { key: key(), value: Some(vec![self.counter].into()) };
                self.out.push_back(Output::Told(Told::Sent(message)));
                self.out.push_back(Output::Persist(write));
                for player in (0..self.players).filter(|player| *player != self.player) {
                    // Not in the clear: the world looks for that.
                    let hidden: Vec<u8> = bytes.iter().map(|byte| byte ^ 0x55).collect();
                    self.out.push_back(Output::Transmit(locator(player), hidden.into()));
                }
                self.out.push_back(Output::Told(Told::Message(bytes)));
                let text = "operational: sent".to_owned();
                self.out.push_back(Output::Trace(Trace { layer: "ring", text }));
            }
            Input::Datagrams(_, all) => {
                for bytes in all {
                    let plain: Vec<u8> = bytes.iter().map(|byte| byte ^ 0x55).collect();
                    self.out.push_back(Output::Told(Told::Message(plain.into())));
                }
            }
            Input::Timeout => self.tick = Instant(now.0 + 50_000),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.tick)
    }

    fn picture(&self) -> Picture {
        let roster = (0..self.players).collect();
        let holds = BTreeSet::from([format!("counter {}", self.counter)]);
        Picture { roster, holds, activity: "steady".into(), ..Picture::default() }
    }

    fn roster_if_changed(&mut self) -> Option<BTreeSet<Player>> {
        std::mem::take(&mut self.told).then(|| (0..self.players).collect())
    }

    fn spoils(&self) -> Spoils {
        Spoils::default()
    }
}

mod tests {
    use super::*;
    use crate::check;
    use crate::machine::Role;
    use crate::net::CALM;
    use crate::play::play;
    use crate::record::{Disk, What};
    use crate::schedule::{Forgery, Hook, Schedule, Step, When};
    use crate::transcript;
    use crate::world::{Options, World};
    use folkmoot_base::Service::Agreed;

    fn schedule(steps: Vec<(When, Step)>) -> Schedule {
        Schedule {
            seed: 9,
            players: 3,
            founders: 3,
            votes: 1,
            scheme: folkmoot_identity::Scheme::Plain,
            weather: CALM,
            far: 0,
            seconds: 0,
            carriers: false,
            forger: None,
            hosts: crate::hosts::Hosts::default(),
            keying: folkmoot_base::Keying::default(),
            hybrid: false,
            keys: crate::keys::ALIKE,
            crooked: None,
            robbed: false,
            bereft: false,
            calm: false,
            steps,
        }
    }

    fn world() -> World {
        let mut world =
            World::new(&schedule(Vec::new()), Box::new(ToyCast { players: 3 }), Options::default());
        (0..3).for_each(|player| world.boot(player, Role::Founder, Disk::Fresh));
        world
    }

    fn counter(world: &World, player: Player) -> Vec<String> {
        world.machine(player).map(|machine| machine.picture().holds.into_iter().collect()).unwrap_or_default()
    }

    #[test]
    fn a_calm_run_of_a_toy_comes_to_rest() {
        let send = Step::Send { who: 1, service: Agreed, bytes: 100, count: 3 };
        let schedule = schedule(vec![(When::After(100), send)]);
        let record = play(&schedule, Box::new(ToyCast { players: 3 }), Options::default());
        assert!(record.settled);
        assert_eq!(
            record.counts.deliveries,
            9 + 9,
            "three asked for, three to end with, to three members each"
        );
        assert_eq!(check::LIVENESS.check(&record, &check::Story::of(&record)), Ok(()));
    }

    #[test]
    fn a_run_is_its_seed() {
        let run = |seed| {
            let schedule = Schedule { players: 3, founders: 3, ..Schedule::draw(seed) };
            let options = Options { notes: true, digest: true, danger: None };
            transcript::digest_of(&play(&schedule, Box::new(ToyCast { players: 3 }), options))
        };
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }

    #[test]
    fn a_crash_in_a_batch_loses_what_comes_after_it_and_keeps_what_was_committed() {
        let mut world = world();
        world.chairs[0].arm(1);
        world.send(0, Agreed, 64);
        world.play_until(1_000_000);
        assert!(world.machine(0).is_none(), "dead after its first write");
        let delivered = world.record.entries.iter().filter(|line| matches!(line.what, What::Delivered(..)));
        assert_eq!(delivered.count(), 0, "no datagram left after the crash");
        world.boot(0, Role::Founder, Disk::Synced);
        assert_eq!(counter(&world, 0), ["counter 1"]);
        world.chairs[0].arm(0);
        world.send(0, Agreed, 64);
        world.boot(0, Role::Founder, Disk::Synced);
        assert_eq!(counter(&world, 0), ["counter 1"], "the second write was lost");
        world.crash(0, 0);
        world.boot_old(0, Role::Founder, 100);
        assert_eq!(counter(&world, 0), ["counter 0"]);
    }

    #[test]
    fn the_attacker_disturbs_a_toy_and_the_checker_says_so() {
        let send = Step::Send { who: 1, service: Agreed, bytes: 100, count: 3 };
        let forge = Step::Forge { how: Forgery::Replay, count: 5 };
        let schedule = schedule(vec![(When::After(100), send), (When::After(100_000), forge)]);
        let record = play(&schedule, Box::new(ToyCast { players: 3 }), Options::default());
        let broken: Vec<_> = check::check(&record).into_iter().map(|violation| violation.property).collect();
        assert!(broken.contains(&"no-disturbance") && broken.contains(&"no-duplication"), "{broken:?}");
    }

    #[test]
    fn a_second_process_has_a_copy_of_the_disk_and_a_place_beside_the_next_player() {
        let mut world = world();
        world.send(2, Agreed, 64);
        world.start_again(2, 0);
        assert_eq!((world.places(2), world.living()), (vec![2, 3], vec![0, 1, 2, 3]));
        assert_ne!(world.process(2), world.process(3), "no two lives have one number");
        world.send(3, Agreed, 64);
        assert_eq!(
            (counter(&world, 2), counter(&world, 3)),
            (vec!["counter 1".into()], vec!["counter 2".into()])
        );
        world.net.part(0, 1);
        assert!(world.reach(2, 1) && !world.reach(3, 1) && world.reach(3, 0), "it is where player 0 is");
        world.crash(2, 0);
        assert_eq!(world.place_of(2), 3);
        world.crash(3, 0);
        world.start_again(2, 0);
        assert_eq!(counter(&world, 3), ["counter 2"], "the copy is used again");
        world.start_again(3, 0);
        assert_eq!(counter(&world, 2), ["counter 1"], "and so is the folder");
    }

    #[test]
    fn a_process_ends_when_more_waits_for_its_application_than_there_is_room_for() {
        for (room, ends) in [(2, true), (3, false)] {
            let mut world = world();
            world.deafen(1, 1_000_000, room);
            for _ in 0..3 {
                world.send(0, Agreed, 64);
            }
            world.play_until(2_000_000);
            assert_eq!(world.machine(1).is_none(), ends);
            let last = if ends { What::SlowReader(3) } else { What::Reads };
            assert!(world.record.entries.iter().any(|entry| entry.what == last));
        }
    }

    #[test]
    fn a_hook_stops_the_world_right_after_the_line() {
        let mut world = world();
        world.send(0, Agreed, 64);
        let hook = Hook { layer: "ring", word: "operational" };
        assert!(!world.play_until_hook(hook, 10_000), "the line came before the hook was set");
        assert_eq!(world.now, 10_000);
    }
}
