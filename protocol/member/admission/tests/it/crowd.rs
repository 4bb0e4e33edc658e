//! Many guests ask at once, and voters drop out in the middle: everybody who was voted for is
//! admitted, once.

use crate::common::{Bus, vote};
use folkmoot_admission::{OpenMessage, SignerBody};
use folkmoot_base::codec;
use folkmoot_identity::Scheme;
use folkmoot_transcript::Item;
use std::collections::{BTreeMap, BTreeSet};

const SCHEMES: [Scheme; 3] = [Scheme::Plain, Scheme::TsDsa, Scheme::Frost];

/// How often each was admitted, by the items.
fn admissions(bus: &Bus) -> BTreeMap<[u8; 32], usize> {
    let mut count = BTreeMap::new();
    let living = bus.players.iter().find(|player| player.up).unwrap();
    for bytes in living.transcript.items() {
        if let Item::Admit { certificate, .. } = Item::decode(&bytes).unwrap() {
            let gmc = folkmoot_identity::Gmc::from_der(&certificate.0).unwrap();
            *count.entry(gmc.member().0).or_default() += 1;
        }
    }
    count
}

/// `FOLKMOOT_CROWD` says how many; a hundred in the full numbers.
#[test]
fn all_of_a_crowd_are_admitted_once() {
    let many = std::env::var("FOLKMOOT_CROWD").ok().and_then(|many| many.parse().ok()).unwrap_or(24_u64);
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        bus.pass(12);
        let crowd: Vec<usize> = (0..many)
            .map(|number| bus.stranger(&format!("s{number}"), 1_000 + number, number as usize % 5))
            .collect();
        // Not all find room at once (ADM-07): those who do not ask again.
        let mut voted = BTreeSet::new();
        for _ in 0..150 {
            for which in &crowd {
                if bus.request_of(1, *which).is_some() && voted.insert(*which) {
                    vote(&mut bus, 1, *which, true);
                    vote(&mut bus, 2, *which, true);
                }
            }
            bus.pass(1);
            if crowd.iter().all(|which| bus.admitted(*which)) {
                break;
            }
        }
        let admitted = crowd.iter().filter(|which| bus.admitted(**which)).count();
        assert_eq!(admitted as u64, many, "{scheme:?}");
        let admissions = admissions(&bus);
        assert_eq!(admissions.len() as u64, many);
        assert!(admissions.values().all(|times| *times == 1));
    }
}

/// The coordinator of a session and each of its signers dies in each round, for good or to come
/// back.
#[test]
fn a_voter_that_dies_while_the_key_signs_holds_nobody_up() {
    for scheme in [Scheme::TsDsa, Scheme::Frost] {
        for victim in 0..5 {
            for comes_back in [false, true] {
                let mut bus = Bus::of_scheme(scheme, 5, 2);
                bus.pass(12);
                let dora = bus.stranger("dora", 40, 0);
                vote(&mut bus, 1, dora, true);
                // From here on the victim's messages do not arrive, and it hears none: it died at
                // its first message.
                let who = bus.players[victim].identity.member();
                bus.tamper = Some(Box::new(move |sender, payload| {
                    let at_table = matches!(
                        codec::decode(payload),
                        Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Round { .. })
                    );
                    !(at_table && sender == who)
                }));
                vote(&mut bus, 2, dora, true);
                bus.pass(3);
                bus.players[victim].up = false;
                if comes_back {
                    bus.restart(victim);
                    bus.tamper = None;
                } else if victim == 0 {
                    // Its contact is gone: the guest asks another.
                    bus.dial(dora, 3);
                }
                bus.pass(70);
                assert!(bus.admitted(dora), "{scheme:?} {victim} {comes_back}: {:#?}", bus.traces);
                assert_eq!(admissions(&bus).values().sum::<usize>(), 1);
            }
        }
    }
}
