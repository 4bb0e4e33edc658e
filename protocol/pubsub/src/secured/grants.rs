//! Rights without certificates: a charter's roles say who may be on which channels.
//!
//! A member that was admitted by votes has roles. Here stands which channels a role has; the
//! sender's number is whatever the members agreed on for it.

use super::permit::check;
use super::{Domain, PermitError, Right, SenderId};
use crate::Channel;
use std::collections::{BTreeMap, BTreeSet};

/// Which channels of a multicast group a role may be on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    group: Domain,
    /// Channels of all members.
    all: BTreeSet<Channel>,
    channels: BTreeMap<String, BTreeSet<Channel>>,
}

impl Grants {
    /// None, in the multicast group of `domain`.
    pub fn new(domain: Domain) -> Self {
        Self { group: domain.of_group(), all: BTreeSet::new(), channels: BTreeMap::new() }
    }

    /// Every member may be on this channel, whatever its roles.
    #[must_use]
    pub fn to_all(mut self, channel: Channel) -> Self {
        self.all.insert(channel);
        self
    }

    /// Whoever has this role may be on this channel, too.
    #[must_use]
    pub fn with(mut self, role: &str, channel: Channel) -> Self {
        self.channels.entry(role.to_owned()).or_default().insert(channel);
        self
    }

    /// The rights of somebody who has these roles: the channels of all of them, and the multicast
    /// group. Roles without channels give nothing.
    ///
    /// # Errors
    /// [`PermitError::PeerRights`] if there are none.
    pub fn rights<'a>(
        &self,
        roles: impl IntoIterator<Item = &'a str>,
        sender: SenderId,
    ) -> Result<Vec<Right>, PermitError> {
        let channels = roles.into_iter().filter_map(|role| self.channels.get(role)).flatten();
        let channels = channels.chain(&self.all);
        let of = |channel: &Channel| Right { domain: self.group.with_channel(*channel), sender };
        let mut rights: BTreeSet<Right> = channels.map(of).collect();
        if !rights.is_empty() {
            rights.insert(Right { domain: self.group, sender });
        }
        check(&rights)?;
        Ok(rights.into_iter().collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn roles_give_channels_and_the_group() {
        let group: Domain = "239.255.76.67:7667".parse().unwrap();
        let channel = |name| Channel::new(name).unwrap();
        let grants = Grants::new(group)
            .with("driver", channel("STEER"))
            .with("driver", channel("POSE"))
            .with("observer", channel("POSE"));
        let sender = SenderId::new(4).unwrap();
        let urns = |roles: &[&str]| -> Vec<String> {
            let rights = grants.rights(roles.iter().copied(), sender).unwrap();
            rights.iter().map(Right::to_string).collect()
        };
        let group = "urn:lcmsec:gkexchg_g:239.255.76.67:7667:4";
        let pose = "urn:lcmsec:gkexchg:239.255.76.67:7667:POSE:4";
        let steer = "urn:lcmsec:gkexchg:239.255.76.67:7667:STEER:4";
        assert_eq!(urns(&["observer"]), [group, pose]);
        assert_eq!(urns(&["observer", "driver", "cook"]), [group, pose, steer]);
        assert_eq!(grants.rights(["cook"], sender), Err(PermitError::PeerRights));
        assert_eq!(grants.to_all(channel("POSE")).rights([], sender).unwrap().len(), 2);
    }
}
