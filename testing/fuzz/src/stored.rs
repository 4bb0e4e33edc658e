//! What the stores hold, as an attacker who has the disk, or a failing disk, may have left it.

use crate::admission::voucher;
use crate::script::{owned, script, steps};
use crate::stacks::{HOME, PORTS, member_of, node_of};
use crate::world::world;
use bytes::Bytes;
use folkmoot_attach::{TABLE, stored_for};
use folkmoot_base::codec::encode;
use folkmoot_base::{Party, StoreKey, digest};

/// What the stores of the layers hold: table, then key and value as the steps of the input say.
pub fn stored_state(data: &[u8]) {
    const TABLES: [&str; 7] = ["ring", "transcript", "vote", "request", "keying", "locator", TABLE];
    let mut stored: Vec<(StoreKey, Bytes)> = Vec::new();
    let mut key = Bytes::new();
    for (op, body) in steps(data) {
        if op & 8 == 0 {
            key = owned(body);
        } else {
            let table = TABLES[usize::from(op % 8) % TABLES.len()];
            stored.push((StoreKey { table, key: key.clone() }, owned(body)));
        }
    }
    for who in [&world().founders[0], &world().stranger] {
        let _ = node_of(who, HOME, &stored);
        let _ = member_of(who, 0, &stored);
        let apart = stored_for(&Party::new(who.member(), PORTS[1]), &stored);
        let _ = member_of(who, PORTS[1], &apart);
        let applicant = folkmoot_admission::Applicant::load(&stored);
        drop(applicant);
    }
}

/// Seeds: a ring number, a process's number, an item, a state, a locator, a request of one's own
/// and a voucher, a count of keying, the same of another program on the same node.
pub(crate) fn stored_seeds() -> Vec<Vec<u8>> {
    let (admit, state) = (world().admit(), world().transcript.state().encode());
    let name = [&b"i"[..], &digest(&[&admit])].concat();
    let request = world().request();
    let own = [&b"r"[..], request.der()].concat();
    let beside = Party::new(world().founders[0].member(), PORTS[1]);
    let apart = [&beside.to_bytes()[..], &[6], b"keying", &world().group().0].concat();
    vec![
        script([
            (0, &b"ring_seq"[..]),
            (8, &7_u64.to_be_bytes()),
            (0, b"started"),
            (8, &9_u64.to_be_bytes()),
            (0, &world().founders[1].node().0),
            (13, b"memory/2"),
            (0, &world().founders[2].node().0),
            (13, b"tor+tcp/abc.onion:4803"),
        ]),
        script([(0, &name[..]), (9, &admit)]),
        script([(0, &b"s"[..]), (9, &state)]),
        script([(0, &b"own"[..]), (11, &own), (0, &b"voucher"[..]), (11, &encode(&voucher()))]),
        script([(0, &world().group().0[..]), (12, &9_u64.to_be_bytes())]),
        script([(0, &apart[..]), (14, &9_u64.to_be_bytes())]),
    ]
}
