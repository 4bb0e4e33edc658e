//! One member's conversation with one group.

use bytes::Bytes;
use folkmoot_base::limits::MESSAGE_BYTES_MAX;
use folkmoot_base::{GroupId, Service};
use folkmoot_runtime::SendError;
use folkmoot_runtime::{Command, MemberHandle, RuntimeError as Error, Sending};

/// Sends to one group. Cheap to clone; use it from as many tasks as you like.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) handle: MemberHandle,
    pub(crate) group: GroupId,
    pub(crate) signed: bool,
}

impl Session {
    /// Which group.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// This session, but what is sent through it carries the member's signature: every receiver can
    /// prove to others, with [`crate::Folkmoot::proof`], who said it, and the sender cannot deny
    /// it. Costs a signature and 67 bytes a message.
    ///
    /// ```no_run
    /// # async fn example(session: folkmoot::Session) -> Result<(), folkmoot::Error> {
    /// session.signed().send(folkmoot::Service::Safe, "I owe Ben ten crowns").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn signed(&self) -> Self {
        Self { signed: true, ..self.clone() }
    }

    /// Sends one message of up to 16 MiB: waits while there is no key, returns once it is sealed
    /// and on its way.
    ///
    /// Messages of one task go out in the order of its calls. `Agreed` gives all members one order;
    /// with `Safe`, a message that comes back in a regular view is known to be held by all of it.
    ///
    /// # Errors
    /// [`Error::NotInGroup`] if the member is removed or leaves meanwhile; [`Error::SendRefused`]
    /// for a message that is too long; [`Error::Stopped`].
    pub async fn send(&self, service: Service, payload: impl Into<Bytes>) -> Result<(), Error> {
        self.handle.send(self.message(service, payload.into())?).await
    }

    /// Sends one message if there is a key for it now.
    ///
    /// # Errors
    /// [`Error::NoEpoch`] if there is none or others wait before it; and as [`Self::send`].
    pub async fn try_send(&self, service: Service, payload: impl Into<Bytes>) -> Result<(), Error> {
        self.handle.try_send(self.message(service, payload.into())?).await
    }

    /// Puts one message into the queue, waiting only while the queue is full: for senders that want
    /// throughput. It is sealed when its turn comes, and dropped if the member is out of the group
    /// by then.
    ///
    /// # Errors
    /// [`Error::SendRefused`] for a message that is too long; [`Error::Stopped`].
    pub async fn queue(&self, service: Service, payload: impl Into<Bytes>) -> Result<(), Error> {
        self.handle.queue(self.message(service, payload.into())?).await
    }

    fn message(&self, service: Service, payload: Bytes) -> Result<Sending, Error> {
        Ok(Sending { group: self.group, service, payload: checked(payload)?, signed: self.signed })
    }

    /// Leaves the group: one ordered message. [`crate::Event::Removed`] says when it is done.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn leave(&self) -> Result<(), Error> {
        self.handle.command(Command::Leave { group: self.group }).await?.map(drop).map_err(Error::Refused)
    }

    /// Asks for a new key without any change of members.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn refresh(&self) -> Result<(), Error> {
        self.handle.command(Command::Refresh { group: self.group }).await?.map(drop).map_err(Error::Refused)
    }
}

fn checked(payload: Bytes) -> Result<Bytes, Error> {
    if payload.len() > MESSAGE_BYTES_MAX {
        return Err(Error::SendRefused(SendError::LocalTooLong(payload.len()).refused()));
    }
    Ok(payload)
}
