//! Killed in the middle of a resharing, with so many holders gone for good that no more are left
//! than sign: the group signs. Method: one founding; for each drawn moment all members start from
//! its disks, one is expelled, and at that moment some stop between two outputs, a write to disk
//! among them, or all do and the others start from their disks. Then as many as sign admit a guest.

use super::*;
use folkmoot_admission::Config;
use folkmoot_base::{Danger, Mutant, StoreKey};
use folkmoot_transcript::Transcript;
use std::collections::BTreeMap;

const FOUNDERS: usize = 7;
/// The last founder; the others, whose shares are made anew.
const GONE: usize = 6;

/// A founding, to begin from many times.
struct Beginning {
    bus: Bus,
    scheme: Scheme,
    threshold: u32,
    time: UnixTime,
    disks: Vec<BTreeMap<StoreKey, Bytes>>,
    transcripts: Vec<Transcript>,
}

impl Beginning {
    fn new(scheme: Scheme, threshold: u32) -> Self {
        let mut bus = Bus::of_scheme(scheme, FOUNDERS as u64, threshold);
        bus.pass(12);
        assert_agreed(&bus);
        let disks = bus.players.iter().map(|player| player.disk.clone()).collect();
        let transcripts = bus.players.iter().map(|player| player.transcript.clone()).collect();
        let time = bus.time;
        Self { bus, scheme, threshold, time, disks, transcripts }
    }

    /// All started from its disks; the last is expelled by four, and is not there any more.
    fn expelling(&mut self, danger: Mutant, dice: u64) -> &mut Bus {
        let bus = &mut self.bus;
        (bus.dice, bus.time) = (Dice(dice), self.time);
        bus.strangers.clear();
        bus.traces.clear();
        for who in 0..FOUNDERS {
            bus.players[who].disk.clone_from(&self.disks[who]);
            bus.players[who].transcript = self.transcripts[who].clone();
            bus.restart_as(who, Config { danger, ..Config::default() });
        }
        bus.pass(3);
        bus.players[GONE].up = false;
        let expel = Command::Expel(bus.players[GONE].identity.member());
        for who in 0..3 {
            bus.command(who, expel.clone()).unwrap();
        }
        bus
    }

    fn signers(&self) -> usize {
        self.scheme.signers(self.threshold as usize)
    }

    /// How many outputs it takes from the fourth yes until the new shares are in use.
    fn outputs(&mut self) -> usize {
        let bus = self.expelling(Mutant::NONE, 5_000_000);
        let (before, old) = (bus.outputs, bus.players[0].transcript.roster().sharing().cloned());
        let expel = Command::Expel(bus.players[GONE].identity.member());
        bus.command(3, expel).unwrap();
        bus.pass(20);
        assert_ne!(bus.players[0].transcript.roster().sharing().cloned(), old, "{:#?}", bus.traces);
        bus.outputs - before
    }

    /// Whether the group signs after these stopped for good at this moment, and, if `all`, the
    /// others too, who start again.
    fn signs(&mut self, (moment, doomed, all): (usize, &[usize], bool), danger: Mutant, dice: u64) -> bool {
        let (votes, signers) = (self.threshold as usize, self.signers());
        let left: Vec<usize> = (0..GONE).filter(|who| !doomed.contains(who)).collect();
        assert_eq!(left.len(), signers);
        let bus = self.expelling(danger, dice);
        bus.fuse = Some((moment, if all { (0..GONE).collect() } else { doomed.to_vec() }));
        let expel = Command::Expel(bus.players[GONE].identity.member());
        bus.command(3, expel).unwrap();
        for _ in 0..20 {
            if bus.fuse.is_none() {
                break;
            }
            bus.pass(1);
        }
        bus.fuse = None;
        doomed.iter().for_each(|who| bus.players[*who].up = false);
        for who in left.iter().filter(|_| all) {
            bus.restart_as(*who, Config { danger, ..Config::default() });
        }
        bus.merge();
        bus.pass(12);
        let guest = bus.stranger("dora", 40, left[0]);
        left.iter().take(votes).for_each(|voter| vote(bus, *voter, guest, true));
        // Whatever is still under way, within two minutes.
        for _ in 0..24 {
            if bus.admitted(guest) {
                return true;
            }
            bus.pass(5);
        }
        bus.admitted(guest)
    }

    /// At how many of so many drawn moments the group signs no more.
    fn fails(&mut self, moments: u64, danger: Mutant) -> usize {
        let (outputs, mut failed) = (self.outputs(), 0);
        for round in 0..moments {
            let drawn = folkmoot_base::digest(&[b"moment", &round.to_be_bytes()]);
            let number = u32::from_be_bytes([drawn[0], drawn[1], drawn[2], drawn[3]]) as usize;
            let mut order: Vec<usize> = (0..GONE).collect();
            order.sort_by_key(|who| drawn[8 + who]);
            let doomed = &order[..GONE - self.signers()];
            let drawn = (number % outputs, doomed, drawn[4].is_multiple_of(2));
            if !self.signs(drawn, danger, 10_000_000 * (round + 1)) {
                failed += 1;
                if danger == Mutant::NONE {
                    println!("{:?} round {round}: {drawn:?} {:#?}", self.scheme, self.bus.traces);
                }
            }
        }
        failed
    }
}

#[test]
fn killed_at_200_drawn_moments_of_resharing_the_group_signs() {
    let mut frost = Beginning::new(Scheme::Frost, 3);
    assert_eq!(frost.fails(160, Mutant::NONE), 0);
    let mut ts_dsa = Beginning::new(Scheme::TsDsa, 2);
    assert_eq!(ts_dsa.fails(40, Mutant::NONE), 0);
}

/// If the share in use is erased when a run gives another, whoever is killed in between signs no
/// more.
#[test]
fn if_shares_are_erased_early_some_moments_end_the_group() {
    let mut frost = Beginning::new(Scheme::Frost, 3);
    assert!(frost.fails(30, Mutant::from(Some(Danger::AdmissionErasesEarly))) > 0);
}
