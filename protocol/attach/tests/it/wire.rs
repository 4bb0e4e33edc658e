//! Attach on a wire: what is written is read as it was, and nothing else is read.

use bytes::{BufMut as _, Bytes, BytesMut};
use core::time::Duration;
use folkmoot_attach::credit::Grant;
use folkmoot_attach::wire::{
    DOWN_HEAD_BYTES_MAX, Down, FrameError, GREETING_BYTES_MAX, Hello, ITEM_BYTES_MAX, PACKAGE_BYTES_MAX,
    PAYLOAD_BYTES_MAX, UP_HEAD_BYTES_MAX, VERSIONS, Welcome, agree, next_frame,
};
use folkmoot_attach::{Lacking, ToMember, ToNode};
use folkmoot_base::limits::{LONG_FRAME_BYTES_MAX, MEMBERS_MAX, NODES_MAX, PATIENCE_MAX};
use folkmoot_base::{
    Blob, Cause, ConfigurationId, DecodeError, GroupId, Head, Indication, Instant, JoinRefusal, Locator,
    MemberId, NodeId, Party, Proof, Said, Says, Service, Versions, ViewId, Word,
};
use proptest::prelude::*;

const NOW: Instant = Instant(50_000_000);
const GROUP: GroupId = GroupId([4; 32]);
const NODE: NodeId = NodeId([5; 32]);
const ANNA: Party = Party { member: MemberId([3; 32]), port: 2 };
const ID: ConfigurationId = ConfigurationId { ring_seq: 8, representative: NODE, nonce: [9; 16] };
const VIEW: ViewId = ViewId { configuration: ID, order: 3, group: GROUP };

/// One frame, with its length in front.
fn framed(encode: impl FnOnce(&mut BytesMut) -> Result<Bytes, FrameError>) -> Result<BytesMut, FrameError> {
    let mut out = BytesMut::new();
    let payload = encode(&mut out)?;
    out.extend_from_slice(&payload);
    Ok(out)
}

/// One frame, as it is read off a stream.
fn read(mut stream: BytesMut, most: usize) -> BytesMut {
    let frame = next_frame(&mut stream, most).expect("not too long").expect("whole");
    assert!(stream.is_empty(), "one frame");
    frame
}

fn up(message: ToNode) -> BytesMut {
    read(framed(|out| message.encode(out)).expect("an honest message"), ToNode::FRAME_BYTES_MAX)
}

fn down(message: ToMember) -> BytesMut {
    let down = Down { to: Some(ANNA), message };
    read(framed(|out| down.encode(NOW, out)).expect("an honest message"), Down::FRAME_BYTES_MAX)
}

fn refused_down(message: ToMember) -> FrameError {
    let mut out = BytesMut::from(&b"before"[..]);
    let refused = Down { to: None, message }.encode(NOW, &mut out).expect_err("over a limit");
    assert_eq!(out[..], b"before"[..], "nothing of it is written");
    refused
}

/// Frames of a liar, whose encoder checks nothing: the frame of `honest` with another payload.
fn with_payload(honest: &BytesMut, payload: &[u8]) -> BytesMut {
    let head = 4 + u32::from_be_bytes(*honest.first_chunk().expect("a length")) as usize;
    [&honest[..head], payload].concat().as_slice().into()
}

/// A frame with any head at all.
fn with_head(head: &[u8]) -> BytesMut {
    let mut frame = BytesMut::new();
    frame.put_u32(u32::try_from(head.len()).expect("short"));
    frame.put(head);
    frame
}

fn ids() -> impl Strategy<Value = [u8; 32]> {
    any::<u8>().prop_map(|byte| [byte; 32])
}

fn parties() -> impl Strategy<Value = Party> {
    (ids(), any::<u16>()).prop_map(|(member, port)| Party { member: MemberId(member), port })
}

fn payloads() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(any::<u8>(), 0..2_000).prop_map(Bytes::from)
}

fn places() -> impl Strategy<Value = Locator> {
    prop_oneof!["udp/192\\.0\\.2\\.[1-9]:[1-9]{4}", "[a-z]{1,9}\\+x/[!-~]{1,90}", Just("memory/7".to_owned())]
        .prop_map(|text| text.parse().expect("a locator"))
}

fn services() -> impl Strategy<Value = Service> {
    use Service::*;
    prop::sample::select(vec![Unreliable, Reliable, Fifo, Causal, Agreed, Safe])
}

fn causes() -> impl Strategy<Value = Cause> {
    use Cause::*;
    prop::sample::select(vec![Join, Leave, Detach, Network, Expelled, Expired, Complaint, Refresh, Late])
}

fn refusals() -> impl Strategy<Value = JoinRefusal> {
    use JoinRefusal::*;
    prop::sample::select(vec![
        NotRostered,
        GroupFull,
        TooManyParties,
        TooManyGroups,
        SetAside,
        OtherCharter,
        Busy,
    ])
}

fn heads() -> impl Strategy<Value = Head> {
    (any::<u64>(), ids()).prop_map(|(number, digest)| Head { number, digest })
}

fn words() -> impl Strategy<Value = Said> {
    let says = prop_oneof![
        ids().prop_map(|group| Says::Leave { group: GroupId(group) }),
        parties().prop_map(|suspect| Says::Complain { configuration: ID, view: VIEW, suspect }),
        Just(Says::Refresh { view: VIEW }),
    ];
    (parties(), any::<u64>(), says, payloads()).prop_map(|(party, number, says, key)| Said {
        word: Word { party, number, says },
        proof: Proof { key: Blob(key), signature: [7; 64].into() },
    })
}

fn ups() -> impl Strategy<Value = ToNode> {
    let groups = || ids().prop_map(GroupId);
    prop_oneof![
        (parties(), groups()).prop_map(|(party, charter)| ToNode::Attach { party, charter }),
        parties().prop_map(|party| ToNode::Detach { party }),
        words().prop_map(|said| ToNode::Word(Box::new(said))),
        (parties(), groups(), services(), payloads())
            .prop_map(|(party, group, service, payload)| ToNode::Send { party, group, service, payload }),
        (groups(), payloads()).prop_map(|(charter, item)| ToNode::Item(charter, item)),
        (parties(), ids(), payloads()).prop_map(|(from, to, payload)| ToNode::Guest {
            from,
            to: NodeId(to),
            payload
        }),
        places().prop_map(ToNode::Dial),
        (groups(), heads()).prop_map(|(charter, head)| ToNode::Resolve(charter, head)),
    ]
}

fn group_words() -> impl Strategy<Value = Indication> {
    let groups = || ids().prop_map(GroupId);
    let some = || proptest::collection::btree_set(parties(), 0..40).prop_map(Vec::from_iter);
    prop_oneof![
        (groups(), some(), some(), some(), causes()).prop_map(|(group, members, removed, left, cause)| {
            Indication::Notice { group, view: Box::new(VIEW), members, removed, left, cause }
        }),
        (groups(), some()).prop_map(|(group, lost)| Indication::Transitional { group, lost }),
        (groups(), parties(), services(), payloads()).prop_map(|(group, sender, service, payload)| {
            Indication::Deliver { group, sender, service, payload: payload.into() }
        }),
        (groups(), causes()).prop_map(|(group, cause)| Indication::Removed { group, cause }),
        (groups(), refusals()).prop_map(|(group, refusal)| Indication::Refused { group, refusal }),
    ]
}

fn downs() -> impl Strategy<Value = ToMember> {
    let nodes = || ids().prop_map(NodeId);
    prop_oneof![
        5 => group_words().prop_map(ToMember::Group),
        1 => payloads().prop_map(ToMember::Item),
        1 => (nodes(), payloads()).prop_map(|(from, payload)| ToMember::Guest { from, payload }),
        1 => (payloads(), proptest::option::of(heads()))
            .prop_map(|(package, resolves)| ToMember::Package { package, resolves }),
        1 => payloads().prop_map(|package| ToMember::Offered { package }),
        1 => (nodes(), heads(), heads())
            .prop_map(|(node, theirs, ours)| ToMember::OtherLine { node, theirs, ours }),
        1 => (nodes(), places()).prop_map(|(node, at)| ToMember::RunsTwice { node, at }),
        2 => (nodes(), any::<bool>(), places())
            .prop_map(|(node, rostered, at)| ToMember::LinkUp { node, rostered, at }),
        1 => nodes().prop_map(|node| ToMember::LinkDown { node }),
        1 => (proptest::collection::vec(nodes(), 0..=NODES_MAX), 0..=60_000_000_u64).prop_map(
            |(nodes, patience)| {
                let patience = Duration::from_micros(patience);
                ToMember::Configuration { id: ID, nodes, patience }
            }
        ),
        1 => proptest::option::of((nodes(), 0..=NOW.0)).prop_map(|lacks| {
            ToMember::Lacking(lacks.map(|(node, since)| Lacking { node, since: Instant(since) }))
        }),
        1 => (ids(), any::<u64>()).prop_map(|(group, all)| ToMember::Credit {
            group: GroupId(group),
            grant: Grant(all)
        }),
    ]
}

proptest! {
    #[test]
    fn what_a_program_says_is_read_as_it_was_written(message in ups()) {
        let frame = up(message.clone());
        let again = ToNode::decode(frame.clone()).expect("what was written");
        prop_assert_eq!(format!("{again:?}"), format!("{message:?}"));
        prop_assert_eq!(up(again), frame);
    }

    #[test]
    fn what_a_node_says_is_read_as_it_was_written(
        message in downs(),
        to in proptest::option::of(parties()),
    ) {
        let said = Down { to, message };
        let frame = framed(|out| said.clone().encode(NOW, out)).expect("an honest message");
        let again = Down::decode(read(frame, Down::FRAME_BYTES_MAX), NOW).expect("what was written");
        prop_assert_eq!(format!("{again:?}"), format!("{said:?}"));
    }

    #[test]
    fn versions_are_agreed_alike_by_both(ours in any::<u64>(), theirs in any::<u64>()) {
        let of = |bits: u64| {
            let has: Vec<u8> = (1..=64).filter(|version| bits >> (version - 1) & 1 == 1).collect();
            Versions::of(&has)
        };
        let highest = (1..=64_u8).filter(|version| ours & theirs & 1 << (version - 1) != 0).max();
        prop_assert_eq!(agree(of(ours), of(theirs)).ok(), highest);
        prop_assert_eq!(agree(of(theirs), of(ours)).ok(), highest);
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let framed = with_head(&bytes);
        for frame in [framed, bytes.as_slice().into()] {
            if let Ok(message) = ToNode::decode(frame.clone()) {
                prop_assert_eq!(up(message), frame.clone());
            }
            let _ = Down::decode(frame, NOW);
        }
    }
}

#[test]
fn att_01_the_first_frame_of_each_side_is_its_greeting_and_short() {
    let mut out = BytesMut::new();
    Hello { versions: VERSIONS }.encode(&mut out);
    let hello = read(out, GREETING_BYTES_MAX);
    assert_eq!(Hello::decode(&hello), Ok(Hello { versions: VERSIONS }));
    // A node's greeting is not a program's: nobody can be given back its own.
    let malformed = FrameError::Head(DecodeError::Malformed);
    assert_eq!(Welcome::decode(&hello), Err(malformed.clone()));
    for end in 0..hello.len() {
        assert!(Hello::decode(&hello[..end]).is_err(), "cut at {end}");
    }
    let leftover = FrameError::Head(DecodeError::Leftover(1));
    assert_eq!(Hello::decode(&[&hello[..], &[0]].concat()), Err(leftover));
    let long = FrameError::TooLong { got: GREETING_BYTES_MAX + 1, most: GREETING_BYTES_MAX };
    assert_eq!(Hello::decode(&[0; GREETING_BYTES_MAX + 1]), Err(long));
    let message = up(ToNode::Detach { party: ANNA });
    assert!(Hello::decode(&message).is_err(), "a message is no greeting");
    assert!(ToNode::decode(hello).is_err(), "a greeting is no message");
}

#[test]
fn att_02_the_highest_common_version_is_spoken_and_without_one_both_lists_are_named() {
    let (old, both, new) = (Versions::of(&[1]), Versions::of(&[1, 2]), Versions::of(&[2, 3]));
    assert_eq!((agree(old, both), agree(both, new)), (Ok(1), Ok(2)));
    let refused = agree(old, new).expect_err("none in common").to_string();
    assert_eq!(refused, "the other side speaks versions 2, 3 of attach, and this side speaks 1");
    // A node that shares none says its list all the same, so the program can name both too.
    let mut out = BytesMut::new();
    Welcome { versions: new }.encode(&mut out);
    let theirs = Welcome::decode(&read(out, GREETING_BYTES_MAX)).expect("a welcome").versions;
    assert!(agree(old, theirs).is_err());
    let nothing = agree(old, Versions::of(&[])).expect_err("an empty list");
    assert!(nothing.to_string().contains("versions none of attach"), "{nothing}");
}

#[test]
fn att_03_a_frame_is_refused_by_its_length_before_its_bytes_have_come() {
    let most = ToNode::FRAME_BYTES_MAX;
    for got in [most + 1, u32::MAX as usize] {
        let mut stream = BytesMut::new();
        stream.put_u32(u32::try_from(got).expect("a length"));
        assert_eq!(next_frame(&mut stream, most), Err(FrameError::TooLong { got, most }));
    }
    // Before the greeting 16 MiB are not waited for.
    let mut stream = framed(|out| ToNode::Item(GROUP, vec![0; 99].into()).encode(out)).expect("an item");
    assert!(next_frame(&mut stream, GREETING_BYTES_MAX).is_err());
}

#[test]
fn att_03_frames_come_whole_however_the_stream_is_cut() {
    let one = framed(|out| ToNode::Item(GROUP, vec![1; 70].into()).encode(out)).expect("an item");
    let two = framed(|out| ToNode::Detach { party: ANNA }.encode(out)).expect("a detach");
    let all = [&one[..], &two[..]].concat();
    let (mut stream, mut got) = (BytesMut::new(), Vec::new());
    for byte in all {
        stream.put_u8(byte);
        while let Some(frame) = next_frame(&mut stream, ToNode::FRAME_BYTES_MAX).expect("honest") {
            got.push(frame);
        }
    }
    assert_eq!(got, [&one[4..], &two[4..]]);
}

#[test]
fn att_04_a_head_has_one_encoding_and_a_length_within_its_frame() {
    let honest = up(ToNode::Detach { party: ANNA });
    for end in 0..honest.len() {
        assert!(ToNode::decode(honest[..end].into()).is_err(), "cut at {end}");
    }
    let head = &honest[4..];
    let longer = with_head(&[head, &[0]].concat());
    assert!(matches!(ToNode::decode(longer), Err(FrameError::Head(DecodeError::Leftover(1)))));
    let mut version = head.to_vec();
    version[0] = 2;
    assert!(matches!(ToNode::decode(with_head(&version)), Err(FrameError::Head(DecodeError::Version(2)))));
    // Another spelling of a locator would be a second encoding.
    let mut dial = vec![1, 7, 27];
    dial.put(&b"udp/[::ffff:192.0.2.7]:4803"[..]);
    assert!(matches!(ToNode::decode(with_head(&dial)), Err(FrameError::Head(DecodeError::NotCanonical))));
    for most in [UP_HEAD_BYTES_MAX, DOWN_HEAD_BYTES_MAX] {
        let long = with_head(&vec![0; most + 1]);
        let refused = FrameError::TooLong { got: most + 1, most };
        if most == UP_HEAD_BYTES_MAX {
            assert_eq!(ToNode::decode(long).err(), Some(refused));
        } else {
            assert_eq!(Down::decode(long, NOW).err(), Some(refused));
        }
    }
    let beyond = BytesMut::from(&[0, 0, 0, 9, 1][..]);
    assert_eq!(ToNode::decode(beyond).err(), Some(FrameError::Short));
}

#[test]
fn att_05_a_payload_has_a_length_that_its_kind_may_have() {
    let bare = [
        ToNode::Attach { party: ANNA, charter: GROUP },
        ToNode::Detach { party: ANNA },
        ToNode::Dial("memory/7".parse().expect("a locator")),
        ToNode::Resolve(GROUP, Head { number: 1, digest: [0; 32] }),
    ];
    for message in bare {
        let refused = ToNode::decode(with_payload(&up(message), b"x")).expect_err("a payload");
        assert!(matches!(refused, FrameError::Payload { got: 1, most: 0, .. }), "{refused}");
    }
    let none = Bytes::new();
    let service = Service::Agreed;
    let send = ToNode::Send { party: ANNA, group: GROUP, service, payload: none.clone() };
    let limits = [
        (up(send), PAYLOAD_BYTES_MAX),
        (up(ToNode::Item(GROUP, none.clone())), ITEM_BYTES_MAX),
        (up(ToNode::Guest { from: ANNA, to: NODE, payload: none.clone() }), LONG_FRAME_BYTES_MAX),
    ];
    for (honest, limit) in limits {
        assert!(ToNode::decode(with_payload(&honest, &vec![0; limit])).is_ok());
        let refused = ToNode::decode(with_payload(&honest, &vec![0; limit + 1])).expect_err("too long");
        assert!(matches!(refused, FrameError::Payload { most, .. } if most == limit), "{refused}");
    }
    let deliver = Indication::Deliver { group: GROUP, sender: ANNA, service, payload: none.clone().into() };
    let limits = [
        (down(ToMember::Group(deliver)), PAYLOAD_BYTES_MAX),
        (down(ToMember::Package { package: none.clone(), resolves: None }), PACKAGE_BYTES_MAX),
        (down(ToMember::Offered { package: none.clone() }), PACKAGE_BYTES_MAX),
        (down(ToMember::Item(none.clone())), ITEM_BYTES_MAX),
        (down(ToMember::Guest { from: NODE, payload: none }), LONG_FRAME_BYTES_MAX),
        (down(ToMember::Credit { group: GROUP, grant: Grant(1) }), 0),
    ];
    for (honest, limit) in limits {
        assert!(Down::decode(with_payload(&honest, &vec![0; limit]), NOW).is_ok());
        let refused = Down::decode(with_payload(&honest, &vec![0; limit + 1]), NOW).expect_err("too long");
        assert!(matches!(refused, FrameError::Payload { most, .. } if most == limit), "{refused}");
    }
}

fn notice(members: Vec<Party>, removed: Vec<Party>) -> ToMember {
    let (view, cause) = (Box::new(VIEW), Cause::Join);
    let left = removed.clone();
    ToMember::Group(Indication::Notice { group: GROUP, view, members, removed, left, cause })
}

fn many(count: usize) -> Vec<Party> {
    (0..count).map(|port| Party { port: u16::try_from(port).expect("few"), ..ANNA }).collect()
}

#[test]
fn att_06_lists_are_as_long_as_they_may_be_and_a_notice_is_in_order() {
    let full = down(notice(many(MEMBERS_MAX), many(MEMBERS_MAX)));
    assert!(full.len() < DOWN_HEAD_BYTES_MAX);
    assert!(Down::decode(full, NOW).is_ok());
    let most = MEMBERS_MAX;
    let over = [
        notice(many(most + 1), vec![]),
        notice(vec![], many(most + 1)),
        ToMember::Group(Indication::Transitional { group: GROUP, lost: many(most + 1) }),
    ];
    for message in over {
        assert!(matches!(refused_down(message), FrameError::List { got: 1_001, most: 1_000, .. }));
    }
    let nodes = vec![NODE; NODES_MAX + 1];
    let configuration = ToMember::Configuration { id: ID, nodes, patience: Duration::ZERO };
    assert!(matches!(refused_down(configuration), FrameError::List { got: 65, most: 64, .. }));
    let (one, two) = (ANNA, Party { port: 9, ..ANNA });
    assert_eq!(refused_down(notice(vec![two, one], vec![])), FrameError::Order);
    assert_eq!(refused_down(notice(vec![one, one], vec![])), FrameError::Order);
}

/// The frame of a notice of two parties, whose encodings a liar exchanges.
#[test]
fn att_06_a_notice_out_of_order_is_refused_from_whoever_wrote_it() {
    let parties = many(2);
    let mut frame = down(notice(parties.clone(), vec![]));
    let [one, two] = [parties[0].to_bytes(), parties[1].to_bytes()];
    // Anna is named as the receiver too: the list stands behind that.
    let list = [one, two].concat();
    let at = frame.windows(list.len()).position(|bytes| bytes == list).expect("the list");
    frame[at..at + list.len()].copy_from_slice(&[two, one].concat());
    assert_eq!(Down::decode(frame, NOW).err(), Some(FrameError::Order));
}

#[test]
fn att_07_times_are_ages_by_the_readers_clock_and_patience_has_its_bound() {
    let since = Instant(NOW.0 - 3_000_000);
    let frame = down(ToMember::Lacking(Some(Lacking { node: NODE, since })));
    for (now, since) in [(7_000_000, 4_000_000), (1_000_000, 0)] {
        let read = Down::decode(frame.clone(), Instant(now)).expect("honest").message;
        let ToMember::Lacking(Some(lacking)) = read else { panic!("{read:?}") };
        assert_eq!(lacking.since, Instant(since), "three seconds ago, or since the start");
    }
    let with = |patience| ToMember::Configuration { id: ID, nodes: vec![NODE], patience };
    let mut frame = down(with(PATIENCE_MAX));
    assert!(Down::decode(frame.clone(), NOW).is_ok());
    let over = refused_down(with(PATIENCE_MAX + Duration::from_micros(1)));
    assert_eq!(over, FrameError::Patience);
    // A liar's: the last eight bytes are the patience.
    let last = frame.len() - 8;
    frame[last..].fill(0xff);
    assert_eq!(Down::decode(frame, NOW).err(), Some(FrameError::Patience));
}

#[test]
fn att_08_a_message_that_would_be_refused_is_not_written() {
    let mut out = BytesMut::from(&b"before"[..]);
    let long = Bytes::from(vec![0; PAYLOAD_BYTES_MAX + 1]);
    let send = ToNode::Send { party: ANNA, group: GROUP, service: Service::Agreed, payload: long };
    assert!(matches!(send.encode(&mut out), Err(FrameError::Payload { .. })));
    let word = Word { party: ANNA, number: 1, says: Says::Leave { group: GROUP } };
    let key = Blob::from(vec![0; UP_HEAD_BYTES_MAX]);
    let said = Said { word, proof: Proof { key, signature: [7; 64].into() } };
    let refused = ToNode::Word(Box::new(said)).encode(&mut out);
    assert!(matches!(refused, Err(FrameError::TooLong { most: UP_HEAD_BYTES_MAX, .. })));
    assert_eq!(out[..], b"before"[..]);
}

#[test]
fn att_09_a_payload_is_a_part_of_its_frame_and_nobody_copies_it() {
    let payload = Bytes::from_static(b"sealed");
    let send = ToNode::Send { party: ANNA, group: GROUP, service: Service::Agreed, payload: payload.clone() };
    let mut out = BytesMut::new();
    let follows = send.encode(&mut out).expect("honest");
    assert_eq!(follows.as_ptr(), payload.as_ptr());
    let service = Service::Agreed;
    let frame = down(ToMember::Group(Indication::Deliver {
        group: GROUP,
        sender: ANNA,
        service,
        payload: payload.into(),
    }));
    let at = frame.as_ptr() as usize + frame.len() - 6;
    let read = Down::decode(frame, NOW).expect("honest").message;
    let ToMember::Group(Indication::Deliver { payload, .. }) = read else { panic!("{read:?}") };
    assert_eq!(payload.as_ptr() as usize, at);
}
