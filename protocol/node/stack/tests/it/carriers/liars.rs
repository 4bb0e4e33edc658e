//! Who lies, and what becomes of it: with the check, and without it (the mutant takes members by
//! any charter for members by all).

use super::{groups, is_in, say, seated, sit, told, transcript};
use crate::net::papers::admission_of;
use crate::net::{Net, person, seconds};
use folkmoot_attach::ToNode;
use folkmoot_base::{Danger, GroupId};

/// Two honest carriers, and a third that orders whatever it likes.
fn with_liar(seed: u64, honest: Option<Danger>) -> Net {
    seated(seed, [honest, honest, Some(Danger::NodeOrdersUnread)])
}

const MIXED: Option<Danger> = Some(Danger::NodeAnyCharter);

/// Who is told to be in a group, after `who` joined it at the liar's node.
fn after_join(honest: Option<Danger>, who: usize, group: GroupId) -> Vec<usize> {
    let mut net = with_liar(9_100, honest);
    // The node's own member is attached already, and comes by the other charter now.
    let party = person(who).member().into();
    net.tell(2, ToNode::Detach { party });
    net.ms(500);
    sit(&mut net, 2, who, group);
    net.ms(2_000);
    let [alpha, _] = groups();
    if group == alpha { told(&net, 0, 3) } else { told(&net, 1, 5) }
}

#[test]
fn node_31_a_carrier_is_no_member_of_what_it_carries() {
    let [alpha, beta] = groups();
    assert_eq!(after_join(None, 2, alpha), [3, 4]);
    assert_eq!(after_join(None, 2, beta), [5, 6]);
    assert_eq!(after_join(MIXED, 2, alpha), [2, 3, 4], "the liar succeeds without the check");
}

#[test]
fn node_31_a_member_by_one_charter_is_none_by_another() {
    let [_, beta] = groups();
    let mut net = with_liar(9_101, None);
    let admits = admission_of(transcript(&net, 0, groups()[0]), person(7), &[3]);
    say(&mut net, 0, groups()[0], admits.clone());
    sit(&mut net, 2, 7, beta);
    net.ms(1_000);
    assert_eq!(told(&net, 1, 5), [5, 6]);

    let mut net = with_liar(9_101, MIXED);
    say(&mut net, 0, groups()[0], admits);
    sit(&mut net, 2, 7, beta);
    net.ms(1_000);
    assert_eq!(told(&net, 1, 5), [5, 6, 7], "the liar succeeds without the check");
}

/// It says that it carries both charters, and nothing in their tables. That is as bad as to say
/// nothing in the ring's own.
#[test]
fn node_34_a_carrier_that_is_silent_in_the_tables_that_it_carries_is_left_out() {
    let mut net = Net::new(3, 9_103);
    net.carries = super::charters().to_vec();
    for (who, danger) in [None, None, Some(Danger::NodeCarriesSilently)].into_iter().enumerate() {
        net.danger = danger.into();
        net.start(3, who, &(0..who).collect::<Vec<_>>());
    }
    net.until(seconds(5), |net| net.together(&super::RING)).unwrap_or_else(|| panic!("{}", net.told()));
    assert_eq!(super::settled(&net, 0), [false, false], "it is waited for");
    let two = |net: &Net| net.together(&[0, 1]) && super::settled(net, 0) == [true, true];
    net.until(seconds(12), two).unwrap_or_else(|| panic!("{}", net.told()));
}

/// A voter of a group signs an admission. It is shown as the ring's, and as another group's.
#[test]
fn node_31_an_item_stands_in_the_transcript_of_its_own_charter_only() {
    for honest in [None, MIXED] {
        let mut net = with_liar(9_102, honest);
        let [alpha, beta] = groups();
        let (ring, other) = (net.node(0).transcript().mark(), transcript(&net, 0, beta).mark());
        let item = admission_of(transcript(&net, 0, alpha), person(7), &[3]);
        net.item(2, item.clone());
        say(&mut net, 2, beta, item.clone());
        for carrier in super::RING {
            assert_eq!(net.node(carrier).transcript().mark(), ring, "a vote of a group, said of the ring");
            assert_eq!(
                transcript(&net, carrier, beta).mark(),
                other,
                "an item of one group, shown as another's"
            );
        }
        // It stands where it belongs. Whoever is admitted there is nobody on the ring: a process with
        // its key, for which all are members, is not let in.
        say(&mut net, 2, alpha, item);
        assert_eq!(is_in(&net, alpha, 7), [true; 3]);
        net.stop(2, true);
        net.until(seconds(10), |net| net.together(&[0, 1])).expect("the honest two");
        net.danger = Some(Danger::NodeServesGuests).into();
        net.start(3, 7, &[0, 1]);
        net.ms(seconds(6));
        let ring = net.ring(0).unwrap_or_default();
        assert_eq!(ring.contains(&7), honest.is_some(), "{ring:?}\n{}", net.told());
    }
}
