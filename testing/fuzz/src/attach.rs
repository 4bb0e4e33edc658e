//! Attach on a wire: frames of a program for its node, and of a node for its program.

use bytes::{Bytes, BytesMut};
use folkmoot_attach::credit::Grant;
use folkmoot_attach::wire::{Down, FrameError, Hello, Welcome, next_frame};
use folkmoot_attach::{Lacking, ToMember, ToNode};
use folkmoot_base::{
    Blob, Cause, ConfigurationId, Digest, GroupId, Head, Indication, Instant, JoinRefusal, Locator, MemberId,
    NodeId, Party, Proof, Said, Says, Service, ViewId, Word,
};
use std::time::Duration;

/// A stream of frames, each read as a greeting, as a message up and as one down.
pub fn attach_frames(data: &[u8]) {
    let mut stream = BytesMut::from(data);
    while let Ok(Some(frame)) = next_frame(&mut stream, Down::FRAME_BYTES_MAX) {
        greeting(&frame);
        if let Ok(message) = ToNode::decode(frame.clone()) {
            same(&frame, |out| message.encode(out));
        }
        // An age is cut off at the start of our clock, so it starts late.
        let now = Instant(u64::MAX);
        if let Ok(message) = Down::decode(frame.clone(), now) {
            same(&frame, |out| message.encode(now, out));
        }
    }
}

fn greeting(frame: &BytesMut) {
    let mut out = BytesMut::new();
    if let Ok(hello) = Hello::decode(frame) {
        hello.encode(&mut out);
    } else if let Ok(welcome) = Welcome::decode(frame) {
        welcome.encode(&mut out);
    } else {
        return;
    }
    assert_eq!(out[4..], frame[..]);
}

/// What was read is written as it came, behind its length.
fn same(frame: &BytesMut, encode: impl FnOnce(&mut BytesMut) -> Result<Bytes, FrameError>) {
    let mut out = BytesMut::new();
    let payload = encode(&mut out).unwrap();
    out.extend_from_slice(&payload);
    assert_eq!(out[4..], frame[..]);
}

/// One frame of each kind, and some in one stream.
pub(crate) fn attach_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![greetings()];
    seeds.extend(ups().into_iter().map(|message| whole(|out| message.encode(out))));
    seeds.extend(downs().into_iter().map(|message| {
        let down = Down { to: Some(PARTY), message };
        whole(|out| down.encode(Instant(9_000_000), out))
    }));
    seeds.push(seeds.concat());
    seeds
}

fn greetings() -> Vec<u8> {
    let mut out = BytesMut::new();
    Hello { versions: folkmoot_attach::wire::VERSIONS }.encode(&mut out);
    Welcome { versions: folkmoot_attach::wire::VERSIONS }.encode(&mut out);
    out.to_vec()
}

fn whole(encode: impl FnOnce(&mut BytesMut) -> Result<Bytes, FrameError>) -> Vec<u8> {
    let mut out = BytesMut::new();
    let payload = encode(&mut out).unwrap();
    out.extend_from_slice(&payload);
    out.to_vec()
}

const PARTY: Party = Party { member: MemberId([3; 32]), port: 2 };
const GROUP: GroupId = GroupId([4; 32]);
const NODE: NodeId = NodeId([5; 32]);
const HEAD: Head = Head { number: 7, digest: [6; 32] };
const PAYLOAD: Bytes = Bytes::from_static(b"sealed");
const ID: ConfigurationId = ConfigurationId { ring_seq: 8, representative: NODE, nonce: [9; 16] };

fn ups() -> Vec<ToNode> {
    let at: Locator = "udp/192.0.2.7:4803".parse().unwrap();
    let word = Word { party: PARTY, number: 1, says: Says::Leave { group: GROUP } };
    let proof = Proof { key: Blob::from(Digest::from([1; 32]).to_vec()), signature: [2; 64].into() };
    vec![
        ToNode::Attach { party: PARTY, charter: GROUP },
        ToNode::Detach { party: PARTY },
        ToNode::Word(Box::new(Said { word, proof })),
        ToNode::Send { party: PARTY, group: GROUP, service: Service::Safe, payload: PAYLOAD },
        ToNode::Item(GROUP, PAYLOAD),
        ToNode::Guest { from: PARTY, to: NODE, payload: PAYLOAD },
        ToNode::Dial(at),
        ToNode::Resolve(GROUP, HEAD),
    ]
}

fn downs() -> Vec<ToMember> {
    let at: Locator = "udp/[2001:db8::7]:4803".parse().unwrap();
    let view = Box::new(ViewId { configuration: ID, order: 3, group: GROUP });
    let (members, removed, left) = (vec![PARTY, Party { port: 3, ..PARTY }], vec![PARTY], vec![PARTY]);
    let cause = Cause::Network;
    let lacking = Lacking { node: NODE, since: Instant(1_000_000) };
    vec![
        ToMember::Group(Indication::Notice { group: GROUP, view, members, removed, left, cause }),
        ToMember::Group(Indication::Transitional { group: GROUP, lost: vec![PARTY] }),
        ToMember::Group(Indication::Deliver {
            group: GROUP,
            sender: PARTY,
            service: Service::Fifo,
            payload: PAYLOAD.into(),
        }),
        ToMember::Group(Indication::Removed { group: GROUP, cause: Cause::Expelled }),
        ToMember::Group(Indication::Refused { group: GROUP, refusal: JoinRefusal::Busy }),
        ToMember::Item(PAYLOAD),
        ToMember::Guest { from: NODE, payload: PAYLOAD },
        ToMember::Package { package: PAYLOAD, resolves: Some(HEAD) },
        ToMember::Offered { package: PAYLOAD },
        ToMember::OtherLine { node: NODE, theirs: HEAD, ours: Head { number: 6, ..HEAD } },
        ToMember::RunsTwice { node: NODE, at: at.clone() },
        ToMember::LinkUp { node: NODE, rostered: true, at: at.clone() },
        ToMember::LinkUp { node: NODE, rostered: false, at },
        ToMember::LinkDown { node: NODE },
        ToMember::Configuration { id: ID, nodes: vec![NODE], patience: Duration::from_secs(3) },
        ToMember::Lacking(Some(lacking)),
        ToMember::Lacking(None),
        ToMember::Credit { group: GROUP, grant: Grant(1 << 21) },
    ]
}
