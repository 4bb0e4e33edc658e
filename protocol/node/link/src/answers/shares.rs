//! LINK-04: handshakes are answered at a bounded rate, which hosts share alike.

use crate::limits::{HANDSHAKES_BURST, HANDSHAKES_PER_SECOND};
use folkmoot_base::{Host, Instant};
use std::collections::BTreeMap;

/// One handshake, in millionths.
const ONE: u64 = 1_000_000;
const BURST: u64 = HANDSHAKES_BURST.saturating_mul(ONE);

/// What the handshakes cost that each host has had lately. All hosts together may owe [`BURST`];
/// what is paid off with time is paid in equal parts for those that owe. A host that owes as much
/// as is still free waits, so that something stays free for one that owes nothing.
///
/// A host is here from a handshake that was answered, so after a cookie, until its cost is paid.
/// There are at most e times [`HANDSHAKES_BURST`], 348: a host that comes owes one whole handshake,
/// all owe less by as much in the same time, and their sum is bounded.
#[derive(Debug, Default)]
pub(super) struct Shares {
    owed: BTreeMap<Host, u64>,
    sum: u64,
    at: Instant,
}

impl Shares {
    /// Whether a handshake of this host, whose address is proved, is answered now.
    pub(super) fn take(&mut self, now: Instant, host: Host) -> bool {
        self.pay(now);
        let free = BURST.saturating_sub(self.sum);
        let owed = self.owed.get(&host).copied().unwrap_or(0);
        if free < ONE || owed >= free {
            return false;
        }
        self.owed.insert(host, owed.saturating_add(ONE));
        self.sum = self.sum.saturating_add(ONE);
        true
    }

    fn pay(&mut self, now: Instant) {
        let passed = u64::try_from(now.since(self.at).as_millis()).unwrap_or(u64::MAX);
        self.at = self.at + core::time::Duration::from_millis(passed);
        let mut pay = passed.saturating_mul(HANDSHAKES_PER_SECOND).saturating_mul(ONE / 1_000);
        while let Some(each) = u64::try_from(self.owed.len()).ok().and_then(|hosts| pay.checked_div(hosts)) {
            if each == 0 {
                return;
            }
            for owed in self.owed.values_mut() {
                let part = each.min(*owed);
                *owed = owed.saturating_sub(part);
                self.sum = self.sum.saturating_sub(part);
                pay = pay.saturating_sub(part);
            }
            self.owed.retain(|_, owed| *owed > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HANDSHAKES_BURST, Host, Instant, Shares};

    /// The most hosts at once: as soon as there is room for one more, one more comes.
    #[test]
    fn the_table_is_bounded_whatever_comes() {
        let (mut shares, mut next, mut most) = (Shares::default(), 0_u32, 0);
        for ms in 0..60_000 {
            while shares.take(Instant(ms * 1_000), Host::Memory(next)) {
                next += 1;
            }
            most = most.max(shares.owed.len());
        }
        assert!((u64::try_from(most).unwrap()) <= HANDSHAKES_BURST * 2_719 / 1_000, "{most}");
        assert!((6_000..=6_128).contains(&next), "{next} in all: the rate is kept and used");
        shares.pay(Instant(600_000_000));
        assert_eq!((shares.owed.len(), shares.sum), (0, 0), "and all are forgotten");
    }

    #[test]
    fn one_host_alone_has_the_whole_rate_and_another_finds_room() {
        let mut shares = Shares::default();
        let mut take = |ms: u64, host| shares.take(Instant(ms * 1_000), Host::Memory(host));
        let had = (0..10_000).filter(|ms| take(*ms, 1)).count();
        assert!((1_000..1_070).contains(&had), "{had}");
        assert_eq!((0..100).filter(|_| take(10_000, 2)).count(), 32);
    }
}
