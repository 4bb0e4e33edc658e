//! The plain channels on which members speak about keys.

use folkmoot_base::hex;
use folkmoot_pubsub::discovery::message::tag;
use folkmoot_pubsub::secured::Domain;
use folkmoot_pubsub::{Channel, MANAGEMENT_PREFIX};

/// Where a statement that excludes somebody is said. Whoever made it need not be a member.
pub const EXCLUSION_CHANNEL: &str = "folkmoot://exclusion";
/// Where it is asked, and answered, who has carried such a statement out.
pub const CONFIRMATION_CHANNEL: &str = "folkmoot://excluded";

/// The channel of the agreement on this domain's key. It names the domain by a digest.
pub(super) fn of(domain: &Domain) -> Option<Channel> {
    let name = [MANAGEMENT_PREFIX, hex(&tag(domain.to_string().as_bytes())).as_bytes()].concat();
    Channel::new(name).ok()
}
