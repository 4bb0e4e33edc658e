//! One member's conversation with one group.

use crate::Error;
use bytes::Bytes;
use folkmoot_base::limits::MESSAGE_BYTES_MAX;
use folkmoot_base::{GroupId, Service};
use folkmoot_runtime::{Command, MemberHandle};

/// Sends to one group. Cheap to clone; use it from as many tasks as you like.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) handle: MemberHandle,
    pub(crate) group: GroupId,
}

impl Session {
    /// Which group.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Sends one message of up to 16 MiB: waits while there is no key, returns once it is sealed and on its way.
    ///
    /// Messages of one task go out in the order of its calls. `Agreed` gives all members one order; with `Safe`, a
    /// message that comes back in a regular view is known to be held by all of it.
    ///
    /// # Errors
    /// [`Error::NotInGroup`] if the member is removed or leaves meanwhile; [`Error::SendRefused`] for a message that
    /// is too long; [`Error::Stopped`].
    pub async fn send(&self, service: Service, payload: impl Into<Bytes>) -> Result<(), Error> {
        self.handle.send(self.group, service, checked(payload.into())?).await
    }

    /// Sends one message if there is a key for it now.
    ///
    /// # Errors
    /// [`Error::NoEpoch`] if there is none or others wait before it; and as [`Self::send`].
    pub async fn try_send(&self, service: Service, payload: impl Into<Bytes>) -> Result<(), Error> {
        self.handle.try_send(self.group, service, checked(payload.into())?).await
    }

    /// Puts one message into the queue, waiting only while the queue is full: for senders that want throughput. It is
    /// sealed when its turn comes, and dropped if the member is out of the group by then.
    ///
    /// # Errors
    /// [`Error::SendRefused`] for a message that is too long; [`Error::Stopped`].
    pub async fn queue(&self, service: Service, payload: impl Into<Bytes>) -> Result<(), Error> {
        self.handle.queue(self.group, service, checked(payload.into())?).await
    }

    /// Leaves the group: one ordered message. [`crate::Event::Removed`] says when it is done.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn leave(&self) -> Result<(), Error> {
        self.handle.command(Command::Leave { group: self.group }).await
    }

    /// Asks for a new key without any change of members.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn refresh(&self) -> Result<(), Error> {
        self.handle.command(Command::Refresh { group: self.group }).await
    }
}

fn checked(payload: Bytes) -> Result<Bytes, Error> {
    if payload.len() > MESSAGE_BYTES_MAX {
        let excess = payload.len() - MESSAGE_BYTES_MAX;
        return Err(Error::SendRefused(format!(
            "it is {excess} bytes longer than the {MESSAGE_BYTES_MAX} allowed"
        )));
    }
    Ok(payload)
}
