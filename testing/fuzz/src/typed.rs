//! `.lcm` files, and messages of the types that they define.

use folkmoot_lcm_gen::{LIBRARY, Source, generate};
use folkmoot_pubsub::typed::Typed;
use folkmoot_types::draw::Draw;
use folkmoot_types::{ALL, InnerT, NodeT, PingT, PlainT, PongT, StampT, fixed};

/// Files, with a NUL between them. What is wrong has a place in one of them.
pub fn lcm_types(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let file = |(number, text): (usize, &str)| Source { name: number.to_string(), text: text.into() };
    let files: Vec<Source> = text.split('\0').enumerate().map(file).collect();
    match generate(&files, LIBRARY) {
        Ok(types) => assert!(types.ends_with('\n')),
        Err(error) => {
            let number: usize = error.place.file.parse().unwrap();
            let lines = files[number].text.split('\n').count();
            assert!((1..=lines).contains(&error.place.line) && error.place.column > 0);
        }
    }
}

/// A byte for the type, and the fields of a message. What is read is written as it came.
pub fn lcm_typed(data: &[u8]) {
    let Some((kind, fields)) = data.split_first() else { return };
    let (_, fingerprint, again) = ALL[usize::from(*kind) % ALL.len()];
    let bytes = [&fingerprint.to_be_bytes(), fields].concat();
    if let Ok(same) = again(&bytes) {
        assert_eq!(same, bytes);
    }
}

/// The message behind the byte of its type.
fn seed<T: Typed>(message: &T) -> Vec<u8> {
    let kind = ALL.iter().position(|(name, ..)| *name == T::NAME).unwrap();
    let bytes = message.encode().unwrap();
    [&[u8::try_from(kind).unwrap()], &bytes[8..]].concat()
}

pub(crate) fn seeds() -> [(&'static str, Vec<Vec<u8>>); 2] {
    let files = [
        include_str!("../../lcm/types/everything.lcm"),
        include_str!("../../lcm/types/circle.lcm"),
        include_str!("../../lcm/types/other.lcm"),
        include_str!("../../lcm/types/plain.lcm"),
        include_str!("../../types/hard.lcm"),
    ];
    let some = [files[1], "\0package folkmoot.test; struct node_t { }"].concat();
    let texts =
        [files.join("\0"), some, files[2].into(), "struct a { b x; } struct b { int8_t n; a y[n]; }".into()];
    let stamp = StampT { utime: -1, frame: "map".into() };
    let leaf = NodeT { name: "leaf".into(), ..NodeT::default() };
    let node = NodeT { name: "root".into(), count: 2, children: vec![leaf.clone(), leaf.clone()] };
    let ping = PingT { count: 1, pongs: vec![PongT { count: 0, pings: Vec::new(), node: leaf }] };
    let messages = vec![
        seed(&fixed()),
        seed(&Draw(5).everything()),
        seed(&InnerT { length: 2, numbers: vec![1, -1], last: true }),
        seed(&node),
        seed(&ping),
        seed(&PlainT { number: 1, stamp: stamp.clone() }),
        seed(&stamp),
    ];
    [("lcm_types", texts.map(String::into_bytes).to_vec()), ("lcm_typed", messages)]
}
