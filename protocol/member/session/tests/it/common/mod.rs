//! Members of one group with sessions, one party each.

use bytes::Bytes;
use folkmoot_base::{
    Cipher, ConfigurationId, Danger, GroupId, MemberId, NodeId, Party, Secret, Service, ViewId,
};
use folkmoot_session::{Body, Config, Message, OpenError, Opened, SealError, Session};

pub const GROUP: GroupId = GroupId([7; 32]);

pub const AES: Cipher = Cipher::Aes256Gcm;

/// The party with this port of the member with this number.
pub fn party(number: u8, port: u16) -> Party {
    Party::new(MemberId([number; 32]), port)
}

/// The one party of the member with this number.
pub fn member(number: u8) -> Party {
    party(number, 0)
}

pub fn view(order: u64) -> ViewId {
    let configuration = ConfigurationId { ring_seq: 1, representative: NodeId([1; 32]), nonce: [2; 16] };
    ViewId { configuration, order, group: GROUP }
}

pub fn key(byte: u8) -> Secret<[u8; 32]> {
    Secret::new([byte; 32])
}

pub fn config(danger: Option<Danger>) -> Config {
    Config { seals_per_epoch_max: 1 << 20, held_bytes_max: 4_096, danger: danger.into() }
}

/// Sessions of members 1 to `n`, no epoch open.
pub fn sessions(n: u8, danger: Option<Danger>) -> Vec<Session> {
    (1..=n).map(|number| Session::new(member(number), GROUP, config(danger))).collect()
}

pub fn members(n: u8) -> Vec<Party> {
    (1..=n).map(member).collect()
}

/// The same, under the first epoch.
pub fn opened(n: u8, danger: Option<Danger>) -> Vec<Session> {
    let mut sessions = sessions(n, danger);
    for session in &mut sessions {
        session.open_epoch(view(1), &members(n), &key(1), AES).unwrap();
    }
    sessions
}

pub fn message(opened: Opened) -> Bytes {
    match opened {
        Opened::Message(message) => message.payload,
        Opened::Held => panic!("held, not opened"),
    }
}

/// Receiving if nobody signs: a signature would be refused.
pub trait Hears {
    fn hear(&mut self, sender: Party, sealed: Bytes) -> Result<Opened, OpenError>;
    fn held(&mut self) -> Option<(Party, Result<Message, OpenError>)>;
}

impl Hears for Session {
    fn hear(&mut self, sender: Party, sealed: Bytes) -> Result<Opened, OpenError> {
        self.open(sender, Service::Agreed, sealed, &|_, _, _| false)
    }

    fn held(&mut self) -> Option<(Party, Result<Message, OpenError>)> {
        self.poll_received(&|_, _, _| false).map(|((sender, _), opened)| (sender, opened))
    }
}

/// Sealing of one text, with nothing before it.
pub trait Texts {
    fn text(&mut self, text: &[u8]) -> Result<Bytes, SealError>;
}

impl Texts for Session {
    fn text(&mut self, text: &[u8]) -> Result<Bytes, SealError> {
        self.seal(&[], Body::text(Bytes::copy_from_slice(text)))
    }
}
