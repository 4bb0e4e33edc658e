//! Whether messages are read as types that are compiled in read them: the same are taken, and the
//! same refused, whatever the bytes are.

use super::*;
use folkmoot_lcm::typed::Typed;
use folkmoot_lcm_gen::Source;

/// What `folkmoot lcm gen` makes of robot.lcm.
mod generated {
    include!("robot.generated");
}

use generated::robot::{NodeT, NothingT, PoseT, ScanT};

const ROBOT: &str = include_str!("../../../../tests/it/lcm/robot.lcm");

fn types() -> Types {
    Types::new(Model::new(&[Source { name: "robot.lcm".into(), text: ROBOT.into() }]).unwrap())
}

/// Numbers that look random, the same for the same seed (SplitMix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// The fields of a message of this type, drawn.
    fn message(&mut self, model: &Model, place: usize, depth: u64, out: &mut Vec<u8>) {
        let fields = &model.types[place].fields;
        let mut integers = vec![0; fields.len()];
        for (number, field) in fields.iter().enumerate() {
            if field.lengths.is_empty()
                && let Some(bytes) = bytes_of_integer(field.element)
            {
                integers[number] = i64::try_from(self.below(4_u64.saturating_sub(depth).max(1))).unwrap();
                out.extend_from_slice(&integers[number].to_be_bytes()[8 - bytes..]);
            } else {
                let lengths = lengths(field, &integers);
                self.array(model, field.element, &lengths, depth, out);
            }
        }
    }

    fn array(&mut self, model: &Model, element: Element, lengths: &[i64], depth: u64, out: &mut Vec<u8>) {
        let [first, inner @ ..] = lengths else { return self.one(model, element, depth, out) };
        (0..*first).for_each(|_| self.array(model, element, inner, depth, out));
    }

    fn one(&mut self, model: &Model, element: Element, depth: u64, out: &mut Vec<u8>) {
        match element {
            Element::Message(place) => self.message(model, place, depth + 1, out),
            Element::Flag => out.push(u8::try_from(self.below(2)).unwrap()),
            Element::Byte | Element::I8 => out.push(u8::try_from(self.below(256)).unwrap()),
            Element::Text => {
                let text = ["", "a", "grüß"][usize::try_from(self.below(3)).unwrap()].as_bytes();
                out.extend_from_slice(&u32::try_from(text.len() + 1).unwrap().to_be_bytes());
                out.extend_from_slice(text);
                out.push(0);
            }
            Element::F32 => out.extend_from_slice(&(self.below(999) as f32).to_be_bytes()),
            Element::F64 => out.extend_from_slice(&(self.below(999) as f64).to_be_bytes()),
            integer => {
                let bytes = bytes_of_integer(integer).unwrap();
                out.extend_from_slice(&self.below(u64::MAX).to_be_bytes()[8 - bytes..]);
            }
        }
    }
}

fn bytes_of_integer(element: Element) -> Option<usize> {
    match element {
        Element::I8 => Some(1),
        Element::I16 => Some(2),
        Element::I32 => Some(4),
        Element::I64 => Some(8),
        _ => None,
    }
}

/// What was read, as bytes again.
fn encode(value: &Value<'_>, element: Element, model: &Model, out: &mut Vec<u8>) {
    match value {
        Value::Flag(flag) => out.push(u8::from(*flag)),
        Value::Whole(number) => {
            let bytes = bytes_of_integer(element).unwrap_or(1);
            out.extend_from_slice(&number.to_be_bytes()[8 - bytes..]);
        }
        Value::Short(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Real(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Text { begin, bytes } => {
            assert_eq!(begin.len(), *bytes);
            out.extend_from_slice(&u32::try_from(bytes + 1).unwrap().to_be_bytes());
            out.extend_from_slice(begin.as_bytes());
            out.push(0);
        }
        Value::List { begin, length } => {
            assert_eq!(begin.len(), *length);
            begin.iter().for_each(|one| encode(one, element, model, out));
        }
        Value::Fields { begin, length } => {
            let Element::Message(place) = element else { panic!("{element:?}") };
            assert_eq!(begin.len(), *length);
            for ((name, value), field) in begin.iter().zip(&model.types[place].fields) {
                assert_eq!(*name, field.name);
                encode(value, field.element, model, out);
            }
        }
    }
}

type Takes = fn(&[u8]) -> bool;

/// Whether a type that is compiled in takes these bytes, and makes the same bytes again.
fn compiled<T: Typed>(bytes: &[u8]) -> bool {
    let message = T::decode(bytes);
    message.is_ok_and(|message| {
        assert_eq!(message.encode().unwrap(), bytes);
        true
    })
}

/// Each type, by its fingerprint: drawn messages, and what is said of them.
fn check(seed: u64, change: impl Fn(&mut Draw, &mut Vec<u8>)) -> [u32; 2] {
    let (types, mut draw, mut count) = (types(), Draw(seed), [0, 0]);
    let all: [(&str, Takes); 4] = [
        ("robot.node_t", compiled::<NodeT>),
        ("robot.nothing_t", compiled::<NothingT>),
        ("robot.pose_t", compiled::<PoseT>),
        ("robot.scan_t", compiled::<ScanT>),
    ];
    for (place, (name, compiled)) in all.into_iter().enumerate() {
        let structure = &types.model.types[place];
        assert_eq!(structure.name, name);
        for _ in 0..1_000 {
            let mut bytes = structure.fingerprint.to_be_bytes().to_vec();
            draw.message(&types.model, place, 0, &mut bytes);
            change(&mut draw, &mut bytes);
            let seen = types.see(&bytes);
            let takes = compiled(&bytes);
            assert_eq!(matches!(seen, Seen::Fields { .. }), takes, "{name}: {seen:?} {bytes:?}");
            count[usize::from(takes)] += 1;
            if let Seen::Fields { fields, shortened, .. } = seen {
                let mut again = structure.fingerprint.to_be_bytes().to_vec();
                encode(&fields, Element::Message(place), &types.model, &mut again);
                assert!(again == bytes && !shortened, "{name}: {bytes:?}");
                assert!(fields.words().len() < 300 && fields.json().is_object());
            }
        }
    }
    count
}

#[test]
fn a_message_is_read_as_lcm_gens_types_read_it() {
    assert_eq!(check(1, |_, _| ()), [0, 4_000]);
}

#[test]
fn what_lcm_gens_types_refuse_is_damaged_and_nothing_else_is() {
    let [refused, taken] = check(2, |draw, bytes| {
        let place = |draw: &mut Draw, bytes: &[u8]| {
            8 + usize::try_from(draw.below(u64::try_from(bytes.len() - 7).unwrap())).unwrap()
        };
        let at = place(draw, bytes);
        match draw.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, 1),
            _ => {
                for _ in 0..=draw.below(3) {
                    let at = place(draw, bytes);
                    let new = [0, 1, 2, 0x7f, 0x80, 0xff][usize::try_from(draw.below(6)).unwrap()];
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = new;
                    }
                }
            }
        }
    });
    assert!(refused > 500 && taken > 500, "{refused} {taken}");
}

#[test]
fn what_a_length_says_takes_no_memory_and_what_is_long_is_kept_in_part() {
    let source = |text: &str| {
        let model = Model::new(&[Source { name: "a.lcm".into(), text: text.into() }]).unwrap();
        let fingerprint = model.types[0].fingerprint.to_be_bytes();
        (Types::new(model), fingerprint)
    };
    let (types, head) = source("struct a { int32_t n; byte x[n]; boolean f[n]; string s; }");
    let lie = [&head[..], &i32::MAX.to_be_bytes(), &[7; 100]].concat();
    let why = DecodeError::PeerLength(i32::MAX.into());
    assert_eq!(types.see(&lie), Seen::Damaged { name: "a", why });
    let count = 5_000_000_usize;
    let mut long = [&head[..], &u32::try_from(count).unwrap().to_be_bytes()].concat();
    long.resize(long.len() + count, 7);
    long.resize(long.len() + count, 1);
    long.extend_from_slice(&[0, 3, 0, 1]);
    long.resize(long.len() + 0x3_0000, b'x');
    long.push(0);
    let Seen::Fields { fields: Value::Fields { begin, length }, shortened, .. } = types.see(&long) else {
        panic!("it is a message")
    };
    assert!(shortened && length == 4 && begin.len() == 2);
    let Value::List { begin, length } = &begin[1].1 else { panic!("it is an array") };
    assert!(*length == count && begin.len() < ROOM.values, "{}", begin.len());
    // What is not kept is checked.
    long[12 + count + count - 1] = 2;
    assert_eq!(types.see(&long), Seen::Damaged { name: "a", why: DecodeError::PeerFlag(2) });
    let (types, head) = source("struct a { string s; }");
    let text = [&head[..], &[0, 3, 0, 1], &[b'x'; 0x3_0000], &[0]].concat();
    let Seen::Fields { fields, shortened: true, .. } = types.see(&text) else { panic!("it is long") };
    let json = fields.json();
    let kept = json["s"]["begin"].as_str().unwrap().len();
    assert_eq!((json["s"]["bytes"].as_u64(), kept), (Some(0x3_0000), ROOM.text));
}

#[test]
fn types_with_the_same_fields_are_told_together_and_deep_messages_refused() {
    let text = "struct b { int8_t n; b x[n]; } struct a { int8_t n; a x[n]; }";
    let types = Types::new(Model::new(&[Source { name: "a.lcm".into(), text: text.into() }]).unwrap());
    let head = types.model.types[0].fingerprint.to_be_bytes();
    let deep = |levels: usize| [&head[..], &vec![1; levels], &[0]].concat();
    assert!(matches!(types.see(&deep(31)), Seen::Fields { name: "a or b", .. }));
    let refused = Seen::Damaged { name: "a or b", why: DecodeError::PeerDeep };
    assert_eq!(types.see(&deep(32)), refused);
    assert_eq!(types.see(&deep(1_000_000)), refused);
    assert_eq!(types.see(&[1; 8]), Seen::Unknown(Some(0x0101_0101_0101_0101)));
    assert_eq!(types.see(&[1; 7]), Seen::Unknown(None));
}
