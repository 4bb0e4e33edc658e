//! What a decoder refuses: PUB-56 to PUB-62 of docs/pubsub.md.

use folkmoot_pubsub::typed::{DEPTH_MAX, DecodeError, EMPTY_MAX, EncodeError, Reader, Typed, Writer};
use folkmoot_types::{EverythingT, InnerT, NodeT, PingT, StampT, fixed};

/// A message of this type with these fields.
fn message<T: Typed>(fields: &[u8]) -> Vec<u8> {
    [&T::FINGERPRINT.to_be_bytes(), fields].concat()
}

fn refused<T: Typed + core::fmt::Debug>(fields: &[u8]) -> DecodeError {
    T::decode(&message::<T>(fields)).unwrap_err()
}

#[test]
fn pub_56_a_message_of_another_type_is_refused() {
    let stamp = StampT { utime: 1, frame: "a".into() };
    let bytes = stamp.encode().unwrap();
    let error = InnerT::decode(&bytes).unwrap_err();
    let wanted = DecodeError::PeerFingerprint { got: StampT::FINGERPRINT, wanted: InnerT::FINGERPRINT };
    assert_eq!(error, wanted);
    assert!(error.to_string().contains(&format!("{:016x}", StampT::FINGERPRINT)), "{error}");
    for length in 0..8 {
        assert_eq!(StampT::decode(&bytes[..length]).unwrap_err(), DecodeError::PeerShort);
    }
}

#[test]
fn pub_57_a_message_ends_where_its_type_ends() {
    let bytes = fixed().encode().unwrap();
    for length in 8..bytes.len() {
        assert!(EverythingT::decode(&bytes[..length]).is_err(), "{length} of {}", bytes.len());
    }
    let more = [bytes.as_slice(), &[0, 0]].concat();
    assert_eq!(EverythingT::decode(&more).unwrap_err(), DecodeError::PeerLeftover(2));
    assert!(EverythingT::decode(&bytes).is_ok());
}

#[test]
fn pub_58_a_length_is_borne_out_by_bytes() {
    for length in [-1_i16, i16::MIN, i16::MAX, 2] {
        let lie = [&length.to_be_bytes()[..], &[0, 0, 1]].concat();
        assert_eq!(refused::<InnerT>(&lie), DecodeError::PeerLength(length.into()));
    }
    // Of messages, too, whose lengths are not known: there are not as many as there could be of no
    // bytes.
    let nodes = |count: i32| [&[0, 0, 0, 1, 0][..], &count.to_be_bytes()].concat();
    assert_eq!(refused::<NodeT>(&nodes(-1)), DecodeError::PeerLength(-1));
    assert_eq!(refused::<NodeT>(&nodes(i32::MAX)), DecodeError::PeerLength(i32::MAX.into()));
    // This one is short enough to begin with; memory is taken as the elements come.
    assert_eq!(refused::<NodeT>(&nodes(4_000)), DecodeError::PeerShort);
}

#[test]
fn pub_59_a_string_ends_with_its_only_nul_and_is_utf_8() {
    let stamp = |length: i32, text: &[u8]| [&[0; 8][..], &length.to_be_bytes(), text].concat();
    assert_eq!(StampT::decode(&message::<StampT>(&stamp(3, b"hi\0"))).unwrap().frame, "hi");
    for (length, text) in [(2, &b"hi"[..]), (3, b"h\0\0"), (3, b"\xff\xfe\0"), (0, b""), (-1, b"")] {
        assert_eq!(refused::<StampT>(&stamp(length, text)), DecodeError::PeerText, "{text:?}");
    }
    assert_eq!(refused::<StampT>(&stamp(i32::MAX, b"hi\0")), DecodeError::PeerShort);
}

#[test]
fn pub_60_a_boolean_is_0_or_1() {
    assert!(InnerT::decode(&message::<InnerT>(&[0, 0, 1])).unwrap().last);
    for other in [2, 0x80, 0xff] {
        assert_eq!(refused::<InnerT>(&[0, 0, other]), DecodeError::PeerFlag(other));
    }
}

#[test]
fn pub_61_messages_lie_in_one_another_within_a_bound() {
    // Each node has a name of no bytes and one child; the last has none.
    let node = |count: u8| [0, 0, 0, 1, 0, 0, 0, 0, count];
    let nodes = |levels: usize| [vec![node(1); levels - 1], vec![node(0)]].concat().concat();
    let deepest = NodeT::decode(&message::<NodeT>(&nodes(DEPTH_MAX))).unwrap();
    assert_eq!(deepest.encode().unwrap(), message::<NodeT>(&nodes(DEPTH_MAX)));
    assert_eq!(refused::<NodeT>(&nodes(DEPTH_MAX + 1)), DecodeError::PeerDeep);
    assert_eq!(refused::<NodeT>(&nodes(100_000)), DecodeError::PeerDeep);
    // Types in one another count alike.
    assert_eq!(refused::<PingT>(&[0, 0, 0, 1].repeat(100_000)), DecodeError::PeerDeep);
}

/// Arrays of rows that have no columns: `uint8 grid[rows][cols]` with no `cols`.
#[derive(Debug, PartialEq)]
struct Grid {
    rows: i64,
    cols: i64,
    grid: Vec<Vec<u8>>,
}

impl Typed for Grid {
    const NAME: &'static str = "grid";
    const FINGERPRINT: u64 = 1;

    fn write(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.value(&self.rows);
        to.value(&self.cols);
        to.list("grid", self.rows, &self.grid, |to, row| to.values("grid", self.cols, row))
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (rows, cols) = (from.value()?, from.value()?);
        let grid = from.list(rows, |from| from.values(cols))?;
        Ok(Self { rows, cols, grid })
    }
}

#[test]
fn pub_62_elements_of_no_bytes_are_few() {
    let grid = |rows: usize| Grid { rows: rows.try_into().unwrap(), cols: 0, grid: vec![Vec::new(); rows] };
    let most = grid(EMPTY_MAX);
    assert_eq!(Grid::decode(&most.encode().unwrap()).unwrap(), most);
    assert_eq!(grid(EMPTY_MAX + 1).encode().unwrap_err(), EncodeError::LocalEmpty);
    let lie = |rows: usize| [u64::try_from(rows).unwrap().to_be_bytes(), [0; 8]].concat();
    assert_eq!(refused::<Grid>(&lie(EMPTY_MAX + 1)), DecodeError::PeerLength(4_097));
    assert_eq!(refused::<Grid>(&lie(1 << 40)), DecodeError::PeerLength(1 << 40));
    // If bytes follow, they do not bear out rows that take none.
    let behind = [lie(EMPTY_MAX + 9), vec![0; 100]].concat();
    assert_eq!(refused::<Grid>(&behind), DecodeError::PeerEmpty);
}
