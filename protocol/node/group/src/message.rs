//! What this layer orders on the ring.
//!
//! | message | from → to | means |
//! |---|---|---|
//! | Party: Join, Leave, Refresh, Complain | node of the party → all nodes | what the party says, signed by its member |
//! | Node: Detach | node of the party → all nodes | the party is gone from all its groups; signed by the node |
//! | Node: State | each node, once in each configuration → all nodes | the mark of my transcript; my parties, by group, each with its signed join; signed by the node |
//! | Node: Mark | node whose transcript changed during the state exchange → all nodes | the mark of my transcript now; signed by the node |
//! | Item | any node → all nodes | take this item of the transcript at this place; it proves itself |
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
    Blob, Buffer, ConfigurationId, DecodeError, Digest, Framed, GroupId, Join, Lead, NodeId, Party, Proof,
    Said, Says, Signatures, ViewId, Word, digest,
};

const DATA: u8 = 0xD1;
const OWN_DATA: u8 = 0xE1;
const CARRIED: u8 = 0xC1;

/// The domain label of every [`Declaration`].
const NODE_LABEL: &[u8] = b"folkmoot node word v1";

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Control {
    /// What a party says.
    #[tls_codec(discriminant = 1)]
    Party(Said),
    /// What a node says of itself.
    #[tls_codec(discriminant = 2)]
    Node(Declared),
    /// An item of the transcript.
    #[tls_codec(discriminant = 6)]
    Item {
        /// Its encoding.
        item: Blob,
    },
}

impl Control {
    /// The party of the sending node whose word it is, or of which it is; none if it is the node's
    /// own.
    pub(crate) fn party(&self) -> Option<&Party> {
        match self {
            Self::Party(said) => Some(&said.word.party),
            Self::Node(Declared { says: Declaration::Detach { party, .. }, .. }) => Some(party),
            Self::Node(_) | Self::Item { .. } => None,
        }
    }
}

/// What a node says of itself.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Declaration {
    /// A party is gone from all groups: every join of it at this node is over, up to this number.
    #[tls_codec(discriminant = 1)]
    Detach {
        /// Which party.
        party: Party,
        /// The highest number among its words at this node.
        number: u64,
    },
    /// The node's part of the tables.
    #[tls_codec(discriminant = 2)]
    State(State),
    /// Where the node's transcript stands.
    #[tls_codec(discriminant = 3)]
    Mark {
        /// For which configuration.
        configuration: ConfigurationId,
        /// Grows with each mark of the node in a configuration, from 1 on.
        number: u32,
        /// The mark.
        mark: Mark,
    },
}

/// What a node says of itself, with its signature.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Declared {
    /// What it says.
    pub says: Declaration,
    /// Signed by the node, for one ring and one of its tables.
    pub proof: Proof,
}

impl Declared {
    /// Signs what a node says.
    pub fn sign(says: Declaration, scope: Scope, signatures: &dyn Signatures) -> Self {
        let proof = signatures.sign(NODE_LABEL, &signed_bytes(&says, scope));
        Self { says, proof }
    }

    /// Whether `node` signed it, for this.
    pub(crate) fn is_of(&self, node: &NodeId, scope: Scope, signatures: &dyn Signatures) -> bool {
        signatures.verify(&node.0, NODE_LABEL, &signed_bytes(&self.says, scope), &self.proof)
    }
}

/// What a declaration is for: a node may be on several rings, and each has several tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// The group of the ring's charter.
    pub ring: GroupId,
    /// The group of the charter whose tables it is for.
    pub tables: GroupId,
}

fn signed_bytes(says: &Declaration, scope: Scope) -> Vec<u8> {
    [&scope.ring.0, &scope.tables.0, codec::encode(says).as_slice()].concat()
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
pub fn label_of(view: &ViewId) -> NoticeLabel {
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
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Joined {
    /// Which party.
    pub party: Party,
    /// Where the join was ordered.
    pub stamp: Stamp,
    /// That it joined at this node.
    pub join: SignedJoin,
}

/// What its member signed when a party joined: with group, party and node this is the word.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignedJoin {
    /// In which configuration it said so.
    pub configuration: ConfigurationId,
    /// The number of the word.
    pub number: u64,
    /// The signature.
    pub proof: Proof,
}

impl SignedJoin {
    /// The word that `party` signed, if this is a join of it at `node`.
    pub(crate) fn said(&self, party: Party, group: GroupId, node: NodeId) -> Said {
        let configuration = self.configuration;
        let says = Says::Join(Join { group, node, configuration });
        Said { word: Word { party, number: self.number, says }, proof: self.proof.clone() }
    }
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
pub fn carried_lead(charter: &GroupId) -> Lead {
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
pub fn number_of(party: &Party) -> u16 {
    let [a, b, ..] = party.member.0;
    u16::from_be_bytes([a, b]).wrapping_add(party.port)
}
