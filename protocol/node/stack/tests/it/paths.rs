//! Paths that carry less than a full datagram: the ring forms at once with packets that fit, and
//! what is sent arrives.

use crate::net::{Net, person, seconds};
use base::Service;
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base as base;

const ALL: [usize; 3] = [0, 1, 2];

/// What the path from one to another carries.
type Paths = fn(usize, usize) -> usize;

/// Everybody sends messages of these lengths; all of them arrive everywhere within so many
/// milliseconds.
fn exchange(net: &mut Net, lengths: &[usize], limit: u64) {
    let before = net.delivered.len();
    for who in ALL {
        for length in lengths {
            let payload = Bytes::from(vec![who as u8; *length]);
            let (party, group) = (person(who).member().into(), net.group);
            net.tell(who, ToNode::Send { party, group, service: Service::Agreed, payload });
        }
    }
    let wanted = ALL.len() * ALL.len() * lengths.len();
    let took = net.until(limit, |net| net.delivered.len() - before >= wanted);
    assert!(took.is_some(), "{} of {wanted}\n{}", net.delivered.len() - before, net.told());
}

/// Three in one ring and one group, over such paths.
fn three(mtu: Paths, seed: u64) -> Net {
    let mut net = Net::new(3, seed);
    net.mtu = Some(mtu);
    ALL.iter().for_each(|who| net.start(3, *who, &(0..*who).collect::<Vec<_>>()));
    ALL.iter().for_each(|who| net.join(*who));
    let all = |net: &Net| ALL.iter().all(|who| net.players[who].notice.len() == 3);
    let took = net.until(seconds(5), |net| net.together(&ALL) && all(net));
    assert!(took.is_some_and(|took| took <= 1_500), "{took:?}\n{}", net.told());
    net
}

fn mtu_of(net: &Net, who: usize) -> Option<u16> {
    net.node(who).ring().mtu
}

const LENGTHS: [usize; 5] = [1, 100, 1_300, 3_000, 200_000];

#[test]
fn node_22_a_ring_over_narrow_paths_forms_once_with_packets_that_fit() {
    let cases: [(Paths, u16); 5] = [
        (|_, _| 1_452, 1_452),
        (|_, _| 1_372, 1_372),
        (|_, _| 1_352, 1_352),
        (|_, _| 1_232, 1_232),
        // One path only, in one direction.
        (|from, to| if (from, to) == (2, 1) { 1_260 } else { 1_500 }, 1_252),
    ];
    for (seed, (mtu, found)) in cases.into_iter().enumerate() {
        let mut net = three(mtu, 8_000 + seed as u64);
        let installed = net.installed();
        exchange(&mut net, &LENGTHS, seconds(10));
        assert!(ALL.iter().all(|who| mtu_of(&net, *who) == Some(found)), "{found}");
        net.ms(seconds(10));
        assert_eq!(net.installed(), installed, "{found}\n{}", net.told());
        assert!(installed <= 6 + 3, "{found}: {installed}\n{}", net.told());
    }
}

/// Below what every path is taken to carry, the links cut each packet.
#[test]
fn node_22_a_ring_over_a_path_below_the_base_forms_and_carries() {
    let mut net = three(|_, _| 1_100, 8_100);
    exchange(&mut net, &LENGTHS, seconds(15));
    assert!(ALL.iter().all(|who| mtu_of(&net, *who) == Some(1_200)));
}

/// A path narrows while the ring is at work: nothing is lost for good, and one configuration later
/// the packets fit. It carries more again: that ends no ring.
#[test]
fn ring_27_a_path_that_narrows_costs_one_configuration() {
    let mut net = three(|_, _| 1_452, 8_200);
    exchange(&mut net, &LENGTHS, seconds(10));
    net.ms(2_000);
    let installed = net.installed();
    net.mtu = Some(|from, to| if from + to == 1 { 1_352 } else { 1_452 });
    exchange(&mut net, &LENGTHS, seconds(10));
    let narrow = net.until(seconds(10), |net| ALL.iter().all(|who| mtu_of(net, *who) == Some(1_352)));
    assert!(narrow.is_some(), "{}", net.told());
    exchange(&mut net, &LENGTHS, seconds(10));
    assert_eq!(net.installed(), installed + 3, "{}", net.told());
    net.mtu = None;
    net.ms(seconds(700));
    exchange(&mut net, &LENGTHS, seconds(10));
    assert_eq!(net.installed(), installed + 3, "{}", net.told());
    assert!(ALL.iter().all(|who| mtu_of(&net, *who) == Some(1_352)));
}
