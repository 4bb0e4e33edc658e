//! Whether what this member sends comes back to it: every message of its own does but unreliable
//! ones, which do not count here. If nothing does for [`LATE`], the status and an event say
//! so: the members are all there, and nothing goes on.
//!
//! Nothing is kept for each message but a count.

use base::{Instant, Service};
use core::time::Duration;
use folkmoot_attach::Stalled;
use folkmoot_base as base;

/// `MEM-07`: how long nothing may come back before it is said.
pub(crate) const LATE: Duration = Duration::from_millis(1_500);

/// What is on its way back in one group.
#[derive(Debug)]
pub(crate) struct Returns {
    /// How long nothing may come back: [`LATE`], or longer among distant nodes.
    late: Duration,
    /// Messages that were handed to the node and have not come back.
    out: u64,
    /// Since when something is out and nothing has come back.
    since: Option<Instant>,
    told: bool,
}

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Nothing has come back for [`LATE`].
    Late {
        /// So many are out.
        messages: u64,
    },
    /// Something has come back again.
    Back,
}

impl Default for Returns {
    fn default() -> Self {
        Self { late: LATE, out: 0, since: None, told: false }
    }
}

impl Returns {
    /// What goes to all and comes back may take so long.
    pub(crate) fn wait(&mut self, patience: Duration) {
        self.late = LATE.max(patience);
    }

    /// One is handed to the node.
    pub(crate) fn sent(&mut self, service: Service) {
        if service != Service::Unreliable {
            self.out = self.out.saturating_add(1);
        }
    }

    /// One has come back.
    pub(crate) fn came(&mut self, service: Service) {
        if service != Service::Unreliable {
            self.out = self.out.saturating_sub(1);
            self.since = None;
        }
    }

    /// A view was installed: all that was sent in the one before has come back, or never will.
    pub(crate) fn restart(&mut self) {
        self.out = 0;
        self.since = None;
    }

    /// Looks at the time.
    pub(crate) fn watch(&mut self, now: Instant) -> Option<News> {
        if self.out == 0 {
            self.since = None;
        } else if self.since.is_none() {
            self.since = Some(now);
        }
        let late = self.late(now);
        if late.is_some() == self.told {
            return None;
        }
        self.told = late.is_some();
        Some(late.map_or(News::Back, |_| News::Late { messages: self.out }))
    }

    /// How many are out, and for how long nothing has come back, if that is too long.
    pub(crate) fn late(&self, now: Instant) -> Option<Stalled> {
        let waited = now.since(self.since?);
        (self.out > 0 && waited >= self.late).then_some(Stalled { messages: self.out, waited })
    }

    /// When to look again.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.since.filter(|_| !self.told).map(|since| since + self.late)
    }
}

#[cfg(test)]
mod tests {
    use super::{LATE, News, Returns, Stalled};
    use folkmoot_base::{Instant, Service};

    #[test]
    fn it_is_late_if_nothing_comes_back_and_told_once() {
        let (start, mut returns) = (Instant(5), Returns::default());
        assert_eq!((returns.watch(start), returns.poll_timeout()), (None, None));
        returns.sent(Service::Agreed);
        returns.sent(Service::Agreed);
        assert_eq!((returns.watch(start), returns.poll_timeout()), (None, Some(start + LATE)));
        returns.came(Service::Agreed);
        let later = start + LATE;
        assert_eq!(returns.watch(later), None, "one came back");
        let late = later + LATE;
        assert_eq!(returns.watch(late), Some(News::Late { messages: 1 }));
        assert_eq!(
            (returns.late(late), returns.poll_timeout()),
            (Some(Stalled { messages: 1, waited: LATE }), None)
        );
        assert_eq!(returns.watch(late + LATE), None);
        returns.came(Service::Agreed);
        assert_eq!((returns.watch(late + LATE), returns.late(late)), (Some(News::Back), None));
        returns.sent(Service::Agreed);
        returns.watch(late + LATE);
        returns.restart();
        assert_eq!((returns.watch(late + LATE + LATE), returns.poll_timeout()), (None, None));
    }

    #[test]
    fn mem_07_nobody_waits_for_an_unreliable_message() {
        let (start, mut returns) = (Instant(5), Returns::default());
        returns.sent(Service::Unreliable);
        assert_eq!((returns.watch(start), returns.poll_timeout()), (None, None));
        returns.sent(Service::Agreed);
        returns.watch(start);
        returns.came(Service::Unreliable);
        assert_eq!(returns.watch(start + LATE), Some(News::Late { messages: 1 }));
    }
}
