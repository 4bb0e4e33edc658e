//! Two groups whose ids begin alike.

use super::joined;
use crate::bus::{GROUP, member, node};
use bytes::Bytes;
use folkmoot_base::{Indication, MemberId, Service};
use folkmoot_group::Output;
use folkmoot_group::message::{self, Control};

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
    let join = message::encode(&Control::Join { party: third, group: other });
    host.group.deliver(id, 900, node(1), Service::Agreed, join, &all).unwrap();
    for (sender, heard) in [(member(1), true), (third, false)] {
        let data = Bytes::from([message::data_lead(node(1), &GROUP, &sender).as_slice(), b"word"].concat());
        host.group.deliver(id, 901, node(1), Service::Agreed, data, &all).unwrap();
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
