//! What a secured bus is told.

use folkmoot_pubsub::secured::{Mode, SenderId, Times};
use folkmoot_signing::plain::SigningKey;

/// How a program takes part in a secured group.
#[derive(Debug, Clone)]
pub struct Secured {
    /// Folkmoot's own form, or the reference's.
    pub mode: Mode,
    /// Its number.
    pub sender: SenderId,
    /// What it signs with, on channels where messages are signed.
    pub key: Option<SigningKey>,
    /// When keys give way. All members have the same.
    pub times: Times,
}
