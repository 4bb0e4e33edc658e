//! Two groups whose ids begin alike, and what needs a place in the order.

use super::joined;
use crate::bus::{GROUP, member, node, said};
use bytes::Bytes;
use folkmoot_base::{Indication, Join, MemberId, Says, Service};
use folkmoot_group::message::{self, Control};
use folkmoot_group::{GroupError, Output};

/// Somebody has made the id of a second group that begins as another's does. Data is for the group
/// in which the node hosts the sender; a member of both is heard in the first alone, and nobody
/// else is disturbed.
#[test]
fn grp_04_of_two_groups_with_one_handle_it_is_the_one_that_has_the_sender() {
    let mut other = GROUP;
    other.0[31] ^= 1;
    let mut bus = joined(2);
    let id = bus.hosts[0].upper.newest().0.configuration;
    let host = &mut bus.hosts[0];
    let all = |_: MemberId| true;
    let third = member(7);
    let join = Says::Join(Join { group: other, node: node(1), configuration: id });
    let join = message::encode(&Control::Party(said(third, 1, join)));
    host.group.deliver(id, Some(900), node(1), Service::Agreed, join, &all).unwrap();
    for (sender, heard) in [(member(1), true), (third, false)] {
        let data = Bytes::from([message::data_lead(node(1), &GROUP, &sender).as_slice(), b"word"].concat());
        host.group.deliver(id, Some(901), node(1), Service::Agreed, data, &all).unwrap();
        let deliver = |output: Output| match output {
            Output::Member { indication: Indication::Deliver { group, sender, .. }, .. } => {
                Some((group, sender))
            }
            _ => None,
        };
        let delivered: Vec<_> = std::iter::from_fn(|| host.group.poll_output()).filter_map(deliver).collect();
        // Nobody of the other group lives here.
        assert_eq!(delivered, if heard { vec![(GROUP, sender)] } else { vec![] });
    }
}

/// What changes tables needs a place: a node that sends it as less than agreed is refused.
#[test]
fn grp_15_what_changes_tables_has_a_place_in_the_order() {
    let mut bus = joined(2);
    let id = bus.hosts[0].upper.newest().0.configuration;
    let host = &mut bus.hosts[0];
    let all = |_: MemberId| true;
    let leave = said(member(1), 900, Says::Leave { group: GROUP });
    let leave = message::encode(&Control::Party(leave));
    for service in [Service::Unreliable, Service::Reliable, Service::Fifo, Service::Causal] {
        let result = host.group.deliver(id, None, node(1), service, leave.clone(), &all);
        assert_eq!(result, Err(GroupError::PeerService(node(1))));
    }
    assert_eq!(host.group.members(GROUP).len(), 2);
    assert!(host.group.poll_output().is_none());
    host.group.deliver(id, Some(900), node(1), Service::Agreed, leave, &all).unwrap();
    assert_eq!(host.group.members(GROUP).len(), 1);
}

/// Party 1 was taken out. What it had sent before as less than agreed may still come: whether it
/// counts is for flush to say. What has a place counts by its place.
#[test]
fn grp_16_who_was_taken_out_is_heard_early_until_the_configuration_ends() {
    let mut bus = joined(2);
    let id = bus.hosts[0].upper.newest().0.configuration;
    let host = &mut bus.hosts[0];
    let all = |_: MemberId| true;
    let leave = said(member(1), 900, Says::Leave { group: GROUP });
    let leave = message::encode(&Control::Party(leave));
    host.group.deliver(id, Some(900), node(1), Service::Agreed, leave, &all).unwrap();
    while host.group.poll_output().is_some() {}
    let lead = |from| message::data_lead(node(1), &GROUP, &member(from));
    let data = |from| Bytes::from([lead(from).as_slice(), b"x"].concat());
    let refused = host.group.deliver(id, Some(901), node(1), Service::Agreed, data(1), &all);
    assert_eq!(refused, Err(GroupError::PeerSpokeForNobody(node(1))));
    host.group.deliver(id, None, node(1), Service::Fifo, data(1), &all).unwrap();
    let Some(Output::Member { indication: Indication::Deliver { sender, service, .. }, .. }) =
        host.group.poll_output()
    else {
        panic!("not delivered");
    };
    assert_eq!((sender, service), (member(1), Service::Fifo));
    // Nobody knows of party 7: it may be that its join is on its way.
    host.group.deliver(id, None, node(1), Service::Reliable, data(7), &all).unwrap();
    assert!(host.group.poll_output().is_none());
    let next = folkmoot_base::ConfigurationId { ring_seq: id.ring_seq + 1, ..id };
    host.group.regular(next, &[node(0), node(1)], &all);
    while host.group.poll_output().is_some() {}
    host.group.deliver(next, None, node(1), Service::Fifo, data(1), &all).unwrap();
    assert!(host.group.poll_output().is_none());
}
