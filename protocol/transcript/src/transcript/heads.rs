//! Heads that the person knows from elsewhere: a member's `status`, a letter, a ticket. Whoever
//! shows another line than theirs leads nobody (`LINE-88`).

use super::Transcript;
use crate::store::{TABLE, key};
use crate::{Head, ItemError, KnownHead};
use folkmoot_base::{DecodeError, Digest, Persist, digest};

/// What a store keeps so that its transcript follows only a line with this head.
pub fn await_head(head: &KnownHead) -> Persist {
    let text = head.whole().into_bytes();
    let name: Digest = digest(&[&text]);
    Persist::put(TABLE, key(b'h', &name), text)
}

/// The head that [`await_head`] put into a store.
///
/// # Errors
/// It is none: nobody is followed then.
pub(crate) fn awaited(value: &[u8]) -> Result<KnownHead, DecodeError> {
    let text = core::str::from_utf8(value).map_err(|_| DecodeError::Malformed)?;
    text.parse().map_err(|_| DecodeError::Malformed)
}

impl Transcript {
    /// `LINE-88`: follows only a line with this head, from now on.
    ///
    /// # Errors
    /// [`ItemError::OtherHead`]: ours is another. Nothing is said of a head that is older than what
    /// is known here of our line.
    pub fn await_head(&mut self, head: KnownHead) -> Result<(), ItemError> {
        if head.number() > self.state().head().number {
            self.awaited.push(head);
            return Ok(());
        }
        let ours = self.state().decision_at(head.number());
        if ours.is_some_and(|ours| !head.names(&ours)) { Err(ItemError::OtherHead(head)) } else { Ok(()) }
    }

    /// The highest decision that our person named and that our line has not reached: until then
    /// nobody can say who is in.
    pub fn awaits(&self) -> Option<&KnownHead> {
        self.awaited.iter().max_by_key(|head| head.number())
    }

    /// Whether a line up to `number`, of which `at` gives the decisions that are shown, leads to
    /// the heads that our person named.
    pub(super) fn check_awaited(
        &self,
        number: u64,
        at: impl Fn(u64) -> Option<Head>,
    ) -> Result<(), ItemError> {
        let reached = self.awaited.iter().filter(|head| head.number() <= number);
        let other = |head: &&KnownHead| !at(head.number()).is_some_and(|shown| head.names(&shown));
        let other = reached.clone().find(other);
        other.map_or(Ok(()), |head| Err(ItemError::OtherHead(head.clone())))
    }

    /// Our line has gone on.
    pub(super) fn reached(&mut self) {
        let number = self.line.state().head().number;
        self.awaited.retain(|head| head.number() > number);
    }
}
