//! The two floors that the runtime drives, under the names that everything above uses.
//! STAND-IN until the stacks have landed: same shapes, no behaviour.
#![allow(missing_docs, clippy::missing_errors_doc)]

use bytes::Bytes;
use folkmoot_attach::{Ground, GroundOutput, MemberStatus, ToMember, ToNode, Trace, Upper, UpperOutput};
use folkmoot_base::{
    Cause, Digest, Entropy, GroupId, Instant, Locator, MemberId, NodeId, Service, UnixTime, ViewId,
};

#[derive(Debug, Clone)]
pub enum Command {
    Join { group: GroupId },
    Leave { group: GroupId },
    Send { group: GroupId, service: Service, payload: Bytes },
    Apply,
    Vote { subject: Digest, approve: bool },
    Expel { member: MemberId },
    ChangeCharter { field: String, value: String },
    Electorate { voters: Vec<MemberId> },
    Refresh { group: GroupId },
    Dial(Locator),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Petition {
    pub subject: Digest,
    pub member: MemberId,
    pub name: String,
    pub have: u32,
    pub need: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not sent")]
pub struct SendError;

#[derive(Debug, Clone)]
pub enum Event {
    View {
        group: GroupId,
        id: ViewId,
        members: Vec<MemberId>,
        transitional: Vec<MemberId>,
        cause: Cause,
        epoch: String,
    },
    Message {
        group: GroupId,
        sender: MemberId,
        view: ViewId,
        service: Service,
        payload: Bytes,
    },
    Transitional {
        group: GroupId,
    },
    KeyPending {
        group: GroupId,
    },
    Request(Petition),
    Proposal {
        subject: Digest,
        text: String,
        have: u32,
        need: u32,
    },
    Votes {
        subject: Digest,
        have: u32,
        need: u32,
    },
    Admitted {
        member: MemberId,
        name: String,
    },
    Refused {
        reason: String,
    },
    Expelled {
        member: MemberId,
    },
    Removed {
        group: GroupId,
        cause: Cause,
    },
    SendFailed {
        error: SendError,
    },
    LinkUp {
        node: NodeId,
        at: Locator,
    },
    LinkDown {
        node: NodeId,
    },
    Configuration {
        nodes: Vec<NodeId>,
    },
}

#[derive(Debug)]
pub struct Member;

impl Member {
    pub fn status(&self, _now: Instant) -> MemberStatus {
        MemberStatus {
            me: MemberId([0; 32]),
            node: NodeId([0; 32]),
            view: None,
            epoch: None,
            activity: "nothing yet".into(),
            people: Vec::new(),
        }
    }
    pub fn petitions(&self) -> Vec<Petition> {
        Vec::new()
    }
    pub fn can_send(&self, _group: GroupId) -> bool {
        false
    }
}

impl Upper for Member {
    type Command = Command;
    type Event = Event;
    fn node(&mut self, _now: Instant, _message: ToMember, _entropy: &mut dyn Entropy) {}
    fn command(&mut self, _now: Instant, _command: Command, _entropy: &mut dyn Entropy) {}
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}
    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        None
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

#[derive(Debug)]
pub struct Node;

impl Ground for Node {
    fn member(&mut self, _now: Instant, _message: ToNode, _entropy: &mut dyn Entropy) {}
    fn datagram(&mut self, _now: Instant, _from: Locator, _datagram: Bytes, _entropy: &mut dyn Entropy) {}
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}
    fn poll_output(&mut self) -> Option<GroundOutput> {
        let _: Option<Trace> = None;
        None
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
