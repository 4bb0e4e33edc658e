//! Node → program: [`ToMember`] as a frame.

use super::frame::{DOWN_HEAD_BYTES_MAX, NOTHING, check_list, check_payload, longest, put, split};
use super::{FrameError, ITEM_BYTES_MAX, PACKAGE_BYTES_MAX, PAYLOAD_BYTES_MAX};
use crate::credit::Grant;
use crate::{Lacking, ToMember};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::{LONG_FRAME_BYTES_MAX, MEMBERS_MAX, NODES_MAX, PATIENCE_MAX};
use folkmoot_base::{
    Cause, ConfigurationId, GroupId, Head as Decision, Indication, Instant, JoinRefusal, Locator, NodeId,
    Party, Service, ViewId,
};

/// What a node says to a program.
#[derive(Debug, Clone)]
pub struct Down {
    /// Which party of the program; `None`: all.
    pub to: Option<Party>,
    /// What it says.
    pub message: ToMember,
}

#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Head {
    to: Option<Party>,
    says: Says,
}

/// A [`ToMember`] without its payload.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
enum Says {
    #[tls_codec(discriminant = 1)]
    Notice {
        group: GroupId,
        view: ViewId,
        members: Vec<Party>,
        removed: Vec<Party>,
        left: Vec<Party>,
        cause: Cause,
    },
    #[tls_codec(discriminant = 2)]
    Transitional { group: GroupId, lost: Vec<Party> },
    #[tls_codec(discriminant = 3)]
    Deliver { group: GroupId, sender: Party, service: Service },
    #[tls_codec(discriminant = 4)]
    Removed { group: GroupId, cause: Cause },
    #[tls_codec(discriminant = 5)]
    Refused { group: GroupId, refusal: JoinRefusal },
    #[tls_codec(discriminant = 6)]
    Item,
    #[tls_codec(discriminant = 7)]
    Guest { from: NodeId },
    #[tls_codec(discriminant = 8)]
    Package { resolves: Option<Decision> },
    #[tls_codec(discriminant = 9)]
    OtherLine { node: NodeId, theirs: Decision, ours: Decision },
    #[tls_codec(discriminant = 10)]
    RunsTwice { node: NodeId, at: Locator },
    #[tls_codec(discriminant = 11)]
    LinkUp { node: NodeId, at: Locator },
    #[tls_codec(discriminant = 12)]
    GuestUp { node: NodeId, at: Locator },
    #[tls_codec(discriminant = 13)]
    LinkDown { node: NodeId },
    /// Patience in microseconds.
    #[tls_codec(discriminant = 14)]
    Configuration { id: ConfigurationId, nodes: Vec<NodeId>, patience: u64 },
    /// For how many microseconds: the two processes have clocks of their own.
    #[tls_codec(discriminant = 15)]
    Lacking { node: NodeId, age: u64 },
    #[tls_codec(discriminant = 16)]
    NobodyLacks,
    #[tls_codec(discriminant = 17)]
    Credit { group: GroupId, grant: Grant },
    #[tls_codec(discriminant = 18)]
    Offered,
}

impl Says {
    /// What people call it, and the longest payload that it may have.
    fn kind(&self) -> (&'static str, usize) {
        match self {
            Self::Notice { .. } => ("a notice", 0),
            Self::Transitional { .. } => ("a signal", 0),
            Self::Deliver { .. } => ("a message", PAYLOAD_BYTES_MAX),
            Self::Removed { .. } => ("a removal", 0),
            Self::Refused { .. } => ("a refusal", 0),
            Self::Item => ("an item", ITEM_BYTES_MAX),
            Self::Guest { .. } => ("an admission frame", LONG_FRAME_BYTES_MAX),
            Self::Package { .. } | Self::Offered => ("a package", PACKAGE_BYTES_MAX),
            Self::OtherLine { .. } => ("another line", 0),
            Self::RunsTwice { .. } => ("a second process", 0),
            Self::LinkUp { .. } | Self::GuestUp { .. } | Self::LinkDown { .. } => ("a link", 0),
            Self::Configuration { .. } => ("a configuration", 0),
            Self::Lacking { .. } | Self::NobodyLacks => ("who lacks", 0),
            Self::Credit { .. } => ("credit", 0),
        }
    }

    fn check(&self, payload: &[u8]) -> Result<(), FrameError> {
        let (kind, most) = self.kind();
        check_payload(kind, payload, most)?;
        match self {
            Self::Notice { members, removed, left, .. } => {
                for list in [members, removed, left] {
                    check_list(kind, list, MEMBERS_MAX)?;
                }
                if members.is_sorted_by(|one, next| one < next) { Ok(()) } else { Err(FrameError::Order) }
            }
            Self::Transitional { lost, .. } => check_list(kind, lost, MEMBERS_MAX),
            Self::Configuration { nodes, patience, .. } => {
                check_list(kind, nodes, NODES_MAX)?;
                if *patience <= micros(PATIENCE_MAX) { Ok(()) } else { Err(FrameError::Patience) }
            }
            _ => Ok(()),
        }
    }
}

impl Down {
    /// The longest frame, without its length.
    pub const FRAME_BYTES_MAX: usize = longest(DOWN_HEAD_BYTES_MAX);

    /// Appends its frame to `out`, all but the payload, which is to follow. Ages count to `now`.
    ///
    /// # Errors
    /// What the program would answer to it; then `out` is as before.
    pub fn encode(self, now: Instant, out: &mut BytesMut) -> Result<Bytes, FrameError> {
        let (says, payload) = parts(self.message, now);
        says.check(&payload)?;
        put(&Head { to: self.to, says }, payload.len(), DOWN_HEAD_BYTES_MAX, out);
        Ok(payload)
    }

    /// Reads a frame, without its length, at `now`. The payload is a part of its memory, and nobody
    /// else has that.
    ///
    /// # Errors
    /// Every [`FrameError`].
    pub fn decode(frame: BytesMut, now: Instant) -> Result<Self, FrameError> {
        let (Head { to, says }, payload) = split(frame, DOWN_HEAD_BYTES_MAX)?;
        says.check(&payload)?;
        Ok(Self { to, message: of(says, payload, now) })
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn parts(message: ToMember, now: Instant) -> (Says, Bytes) {
    let says = match message {
        ToMember::Group(indication) => return of_group(indication),
        ToMember::Item(item) => return (Says::Item, item),
        ToMember::Guest { from, payload } => return (Says::Guest { from }, payload),
        ToMember::Package { package, resolves } => return (Says::Package { resolves }, package),
        ToMember::Offered { package } => return (Says::Offered, package),
        ToMember::OtherLine { node, theirs, ours } => Says::OtherLine { node, theirs, ours },
        ToMember::RunsTwice { node, at } => Says::RunsTwice { node, at },
        ToMember::LinkUp { node, rostered: true, at } => Says::LinkUp { node, at },
        ToMember::LinkUp { node, rostered: false, at } => Says::GuestUp { node, at },
        ToMember::LinkDown { node } => Says::LinkDown { node },
        ToMember::Configuration { id, nodes, patience } => {
            Says::Configuration { id, nodes, patience: micros(patience) }
        }
        ToMember::Lacking(Some(Lacking { node, since })) => {
            Says::Lacking { node, age: micros(now.since(since)) }
        }
        ToMember::Lacking(None) => Says::NobodyLacks,
        ToMember::Credit { group, grant } => Says::Credit { group, grant },
    };
    (says, NOTHING)
}

fn of_group(indication: Indication) -> (Says, Bytes) {
    let says = match indication {
        Indication::Deliver { group, sender, service, payload } => {
            return (Says::Deliver { group, sender, service }, payload.freeze());
        }
        Indication::Notice { group, view, members, removed, left, cause } => {
            Says::Notice { group, view: *view, members, removed, left, cause }
        }
        Indication::Transitional { group, lost } => Says::Transitional { group, lost },
        Indication::Removed { group, cause } => Says::Removed { group, cause },
        Indication::Refused { group, refusal } => Says::Refused { group, refusal },
    };
    (says, NOTHING)
}

fn of(says: Says, payload: BytesMut, now: Instant) -> ToMember {
    match says {
        Says::Notice { group, view, members, removed, left, cause } => {
            let view = Box::new(view);
            ToMember::Group(Indication::Notice { group, view, members, removed, left, cause })
        }
        Says::Transitional { group, lost } => ToMember::Group(Indication::Transitional { group, lost }),
        Says::Deliver { group, sender, service } => {
            ToMember::Group(Indication::Deliver { group, sender, service, payload: payload.into() })
        }
        Says::Removed { group, cause } => ToMember::Group(Indication::Removed { group, cause }),
        Says::Refused { group, refusal } => ToMember::Group(Indication::Refused { group, refusal }),
        Says::Item => ToMember::Item(payload.freeze()),
        Says::Guest { from } => ToMember::Guest { from, payload: payload.freeze() },
        Says::Package { resolves } => ToMember::Package { package: payload.freeze(), resolves },
        Says::Offered => ToMember::Offered { package: payload.freeze() },
        Says::OtherLine { node, theirs, ours } => ToMember::OtherLine { node, theirs, ours },
        Says::RunsTwice { node, at } => ToMember::RunsTwice { node, at },
        Says::LinkUp { node, at } => ToMember::LinkUp { node, rostered: true, at },
        Says::GuestUp { node, at } => ToMember::LinkUp { node, rostered: false, at },
        Says::LinkDown { node } => ToMember::LinkDown { node },
        Says::Configuration { id, nodes, patience } => {
            ToMember::Configuration { id, nodes, patience: Duration::from_micros(patience) }
        }
        Says::Lacking { node, age } => {
            ToMember::Lacking(Some(Lacking { node, since: now - Duration::from_micros(age) }))
        }
        Says::NobodyLacks => ToMember::Lacking(None),
        Says::Credit { group, grant } => ToMember::Credit { group, grant },
    }
}
