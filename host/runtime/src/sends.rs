//! Messages that wait for a key or for room, those of each group on their own: a group that has no
//! view holds up nobody else's messages.
//!
//! ```text
//!   Handle::send --[ Room: 256 of each group ]--> Waiting --the groups in turn--> machine
//! ```

use crate::RuntimeError;
use crate::engine::Sending;
use folkmoot_base::GroupId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Messages of one group that wait for a key or for room; then `send` to this group waits.
pub const SENDS_WAITING_MAX: usize = 256;

/// The longest message that goes together with others: more of them do not fit one packet.
const SHORT_BYTES_MAX: usize = 1_024;

/// A message on its way in.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) message: Sending,
    /// Told when the message is sealed, or why not.
    pub(crate) done: Option<oneshot::Sender<Result<(), RuntimeError>>>,
    /// Its place among those that wait; free again once the message has gone.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

impl Submission {
    /// Whether it may go together with others.
    fn may_share(&self) -> bool {
        !self.message.signed && self.message.payload.len() <= SHORT_BYTES_MAX
    }

    /// Gives its place free, and tells whoever waits for it.
    pub(crate) fn answer(self, result: Result<(), RuntimeError>) {
        drop(self.place);
        if let Some(done) = self.done {
            // A caller that has gone away does not mind.
            let _ = done.send(result);
        }
    }
}

/// Places for messages that wait, by group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room(Arc<Mutex<BTreeMap<GroupId, Arc<Semaphore>>>>);

impl Room {
    /// Waits for a place.
    pub(crate) async fn enter(&self, group: GroupId) -> Result<OwnedSemaphorePermit, RuntimeError> {
        let places = self.places(group);
        places.acquire_owned().await.map_err(|_| RuntimeError::Stopped)
    }

    fn places(&self, group: GroupId) -> Arc<Semaphore> {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A group for which nobody waits needs no entry.
        groups.retain(|known, places| *known == group || Arc::strong_count(places) > 1 || in_use(places));
        groups.entry(group).or_insert_with(|| Arc::new(Semaphore::new(SENDS_WAITING_MAX))).clone()
    }
}

fn in_use(places: &Semaphore) -> bool {
    places.available_permits() < SENDS_WAITING_MAX
}

/// The messages that wait.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// No queue is empty.
    groups: BTreeMap<GroupId, VecDeque<Submission>>,
    /// The group whose message went last.
    last: Option<GroupId>,
}

impl Waiting {
    pub(crate) fn push(&mut self, message: Submission) {
        self.groups.entry(message.message.group).or_default().push_back(message);
    }

    /// Whether a message to this group waits.
    pub(crate) fn any(&self, group: &GroupId) -> bool {
        self.groups.contains_key(group)
    }

    /// Moves to `run` the messages of the next group in turn that `may` go, at most `most`: those
    /// that can go together. Only short messages of one service that nobody signs can.
    pub(crate) fn take(&mut self, may: impl Fn(&GroupId) -> bool, most: usize, run: &mut Vec<Submission>) {
        let later = self.groups.keys().filter(|group| self.last.is_none_or(|last| **group > last));
        let Some(group) = later.chain(self.groups.keys()).find(|group| may(group)).copied() else { return };
        self.last = Some(group);
        let Some(queue) = self.groups.get_mut(&group) else { return };
        run.extend(queue.pop_front());
        while let Some(first) = run.first().filter(|first| run.len() < most && first.may_share()) {
            let service = first.message.service;
            let together = |next: &mut Submission| next.may_share() && next.message.service == service;
            let Some(next) = queue.pop_front_if(together) else { break };
            run.push(next);
        }
        if queue.is_empty() {
            self.groups.remove(&group);
        }
    }
}
