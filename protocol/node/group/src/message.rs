//! What this layer orders on the ring.
//!
//! | message | from → to | means |
//! |---|---|---|
//! | Join, Leave | node of the party → all nodes | the party joins, leaves the group at this place |
//! | Detach | node of the party → all nodes | the party is gone from all its groups |
//! | Refresh | node of the party → all nodes | a notice without a change of parties |
//! | Complain | node of the complainer → all nodes | the suspect is silent in that view |
//! | Item | any node → all nodes | take this item of the transcript at this place |
//! | State | each node, once in each configuration → all nodes | the mark of my transcript; my parties, by group |
//! | Mark | node whose transcript changed during the state exchange → all nodes | the mark of my transcript now |
//! | Data | node of the sender → all nodes | for the parties of the group |
//!
//! Data has a fixed head, and its payload is a slice of what was delivered:
//! ```text
//!   0xD1 | group 8 | member 8 | port 2 | payload ...
//!   0xE1 | group 8 | payload ...    the sender is port 0 of the member with the node's own key
//! ```
//! Group and member are named by handles, the first bytes of their ids. The table says whose they
//! are: the node must host the sender in the group.
//!
//! The tables of a charter that the ring carries are kept apart ([`crate::Config::of`]). What
//! changes them has a head that names the charter; data names it by its group, which has the same
//! id:
//! ```text
//!   0xC1 | charter 8 | a control message
//! ```

use crate::mark::Mark;
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{
    Blob, Buffer, ConfigurationId, DecodeError, Digest, Framed, GroupId, Lead, NodeId, Party, ViewId, digest,
};

const DATA: u8 = 0xD1;
const OWN_DATA: u8 = 0xE1;
const CARRIED: u8 = 0xC1;

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Control {
    /// A party joins a group.
    #[tls_codec(discriminant = 1)]
    Join {
        /// Which party.
        party: Party,
        /// Which group.
        group: GroupId,
    },
    /// A party leaves a group.
    #[tls_codec(discriminant = 2)]
    Leave {
        /// Which party.
        party: Party,
        /// Which group.
        group: GroupId,
    },
    /// A party is gone from all groups.
    #[tls_codec(discriminant = 3)]
    Detach {
        /// Which party.
        party: Party,
    },
    /// A notice is wanted although nobody comes or goes.
    #[tls_codec(discriminant = 4)]
    Refresh {
        /// Which party asks.
        party: Party,
        /// For which group.
        group: GroupId,
    },
    /// A party is silent.
    #[tls_codec(discriminant = 5)]
    Complain {
        /// The complainer.
        party: Party,
        /// In which view (it names the group).
        view: ViewId,
        /// The suspect.
        suspect: Party,
    },
    /// An item of the transcript.
    #[tls_codec(discriminant = 6)]
    Item {
        /// Its encoding.
        item: Blob,
    },
    /// A node's part of the tables.
    #[tls_codec(discriminant = 7)]
    State(State),
    /// Where a node's transcript stands.
    #[tls_codec(discriminant = 8)]
    Mark {
        /// For which configuration.
        configuration: ConfigurationId,
        /// The mark.
        mark: Mark,
    },
}

impl Control {
    /// The party of the sending node whose word it is; none if it is the node's own.
    pub(crate) fn party(&self) -> Option<&Party> {
        match self {
            Self::Join { party, .. }
            | Self::Leave { party, .. }
            | Self::Detach { party }
            | Self::Refresh { party, .. }
            | Self::Complain { party, .. } => Some(party),
            Self::Item { .. } | Self::State(_) | Self::Mark { .. } => None,
        }
    }
}

/// What a node says of itself once in each configuration. A node is the authority on its own
/// parties.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct State {
    /// For which configuration.
    pub configuration: ConfigurationId,
    /// The mark of the transcript.
    pub mark: Mark,
    /// In the ring's own tables: the charters that the node carries beside the ring's, sorted.
    pub charters: Vec<GroupId>,
    /// Groups in which it has parties; sorted.
    pub groups: Vec<GroupState>,
}

/// One group in a node's state.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct GroupState {
    /// Which group.
    pub group: GroupId,
    /// The newest notice, if none of its parties was lost since.
    pub noticed: Option<Noticed>,
    /// The latest notices that its parties were told of, and whose views they may still be in,
    /// oldest first: at most [`STOOD_MAX`].
    pub stood: Vec<NoticeLabel>,
    /// The node's parties in it; sorted.
    pub members: Vec<Joined>,
}

/// Most notices that a node names as those whose views its parties may still be in.
pub(crate) const STOOD_MAX: usize = 8;

/// Short name of a notice: the first bytes of a digest of its id. If two happen to be equal, only
/// complaints are mixed up.
pub type NoticeLabel = [u8; 8];

/// The label of the notice with this id.
pub(crate) fn label_of(view: &ViewId) -> NoticeLabel {
    let whole = digest(&[b"folkmoot notice v1", &codec::encode(view)]);
    let mut label = NoticeLabel::default();
    label.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
    label
}

/// A notice, and the parties that it listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Noticed {
    /// Its id.
    pub view: ViewId,
    /// Digest of the list of its parties with their join stamps.
    pub digest: Digest,
}

/// A party, and the join that made it one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Joined {
    /// Which party.
    pub party: Party,
    /// Which join.
    pub stamp: Stamp,
}

/// Where a join was ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Stamp {
    /// Number of the configuration at the party's node.
    pub ring_seq: u64,
    /// The place in that configuration.
    pub order: u64,
}

/// Any message of this layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// For the tables.
    Control(Box<Control>),
    /// For the parties.
    Data {
        /// The group.
        group: Handle,
        /// The sender.
        sender: Speaker,
        /// The payload.
        payload: Buffer,
    },
}

/// Short name of a group or a member on data: the first bytes of its id. The table of the groups
/// says which one is meant.
pub type Handle = [u8; HANDLE_BYTES];

const HANDLE_BYTES: usize = 8;

/// The handle of the group or member with this id.
pub fn handle_of(id: &Digest) -> Handle {
    let [a, b, c, d, e, f, g, h, ..] = *id;
    [a, b, c, d, e, f, g, h]
}

/// The lowest id with this handle: others come after it, and before any of another handle.
pub(crate) fn lowest(handle: &Handle) -> Digest {
    let mut id = Digest::default();
    id.iter_mut().zip(handle).for_each(|(to, from)| *to = *from);
    id
}

/// Who speaks, among the parties at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Port 0 of the member with the node's own key.
    Own,
    /// Another one: its member and its port.
    Other(Handle, u16),
}

/// Encodes a control message.
pub fn encode(control: &Control) -> Bytes {
    codec::encode(control).into()
}

/// The head of a data message of `sender`, who lives at `node`; the payload follows.
pub fn data_lead(node: NodeId, group: &GroupId, sender: &Party) -> Lead {
    if *sender == Party::from(node.member()) {
        return Lead::of(&[&[OWN_DATA], &handle_of(&group.0)]);
    }
    let port = sender.port.to_be_bytes();
    Lead::of(&[&[DATA], &handle_of(&group.0), &handle_of(&sender.member.0), &port])
}

/// The head of a control message for the tables of a charter that the ring carries.
pub(crate) fn carried_lead(charter: &GroupId) -> Lead {
    Lead::of(&[&[CARRIED], &handle_of(&charter.0)])
}

/// Which tables a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// The ring's own.
    Ring,
    /// Those of the carried charter with this handle.
    Charter(Handle),
    /// Data: those of the carried charter with the handle of this group, or else the ring's own.
    Group(Handle),
}

/// Which tables a message is for. The head that says so is taken off: the tables themselves read
/// what is behind it.
pub fn tables_of(message: &mut Framed) -> Tables {
    let whole = message.lead.length() == 0;
    let start = if whole { &*message.rest } else { message.lead.as_slice() };
    let Some((handle, after)) = start.split_first().and_then(|(_, rest)| rest.split_first_chunk()) else {
        return Tables::Ring;
    };
    let (handle, after, kind) = (*handle, after.len(), start.first().copied());
    match kind {
        Some(CARRIED) if whole => {
            message.rest.skip(message.rest.len().saturating_sub(after));
            Tables::Charter(handle)
        }
        Some(CARRIED) if after == 0 => {
            message.lead = Lead::NONE;
            Tables::Charter(handle)
        }
        Some(DATA | OWN_DATA) => Tables::Group(handle),
        _ => Tables::Ring,
    }
}

/// Decodes what `node` ordered. If it has a lead, that is the whole head of data ([`data_lead`]).
///
/// # Errors
/// Any [`DecodeError`]: GRP-01.
pub fn decode(node: NodeId, message: impl Into<Framed>) -> Result<Message, DecodeError> {
    let Framed { lead, mut rest } = message.into();
    let start = if lead.length() > 0 { lead.as_slice() } else { &rest };
    let Some((group, sender, after)) = data_head(node, start)? else {
        return codec::decode(&rest.freeze()).map(|control| Message::Control(Box::new(control)));
    };
    let head = start.len().saturating_sub(after);
    rest.skip(head.saturating_sub(lead.length()));
    Ok(Message::Data { group, sender, payload: rest })
}

/// What the head of data says, and how many bytes come after it; `None`: it is no data.
fn data_head(node: NodeId, bytes: &[u8]) -> Result<Option<(Handle, Speaker, usize)>, DecodeError> {
    let (kind, rest) = bytes.split_first().ok_or(DecodeError::Malformed)?;
    if !matches!(*kind, OWN_DATA | DATA) {
        return Ok(None);
    }
    let (group, rest) = rest.split_first_chunk().ok_or(DecodeError::Malformed)?;
    if *kind == OWN_DATA {
        return Ok(Some((*group, Speaker::Own, rest.len())));
    }
    let (sender, rest) = rest.split_first_chunk().ok_or(DecodeError::Malformed)?;
    let (port, rest) = rest.split_first_chunk().ok_or(DecodeError::Malformed)?;
    let port = u16::from_be_bytes(*port);
    if port == 0 && *sender == handle_of(&node.0) {
        return Err(DecodeError::NotCanonical);
    }
    Ok(Some((*group, Speaker::Other(*sender, port), rest.len())))
}

/// What the node itself orders.
pub(crate) const NODE_NUMBER: u16 = 0;

/// A number for a party of this node: what it orders keeps its order. Two parties that happen to
/// have one number take turns as one.
pub(crate) fn number_of(party: &Party) -> u16 {
    let [a, b, ..] = party.member.0;
    u16::from_be_bytes([a, b]).wrapping_add(party.port)
}
