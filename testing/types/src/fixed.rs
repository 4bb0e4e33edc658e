//! Values that testing/lcm/typed_peer.py makes, too: from the same words, by other code.

use crate::{EverythingT, InnerT, LengthsT, NodeT, StampT};

fn inner(length: i16) -> InnerT {
    InnerT { length, numbers: (0..length).map(|number| number * -3).collect(), last: length % 2 == 0 }
}

fn node(name: &str, children: Vec<NodeT>) -> NodeT {
    NodeT { name: name.into(), count: i32::try_from(children.len()).unwrap(), children }
}

fn stamp(utime: i64) -> StampT {
    StampT { utime, frame: format!("frame {utime}") }
}

/// Every field has a value that is not the default one.
pub fn fixed() -> EverythingT {
    let matrix = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]];
    let line = |from: i32| [from, from + 1, from + 2];
    EverythingT {
        i8: -8,
        i16: -1_600,
        i32: -320_000,
        i64: -(1 << 40),
        f32: 1.5,
        f64: -2.25,
        text: "größer ✓".into(),
        flag: true,
        raw: 200,
        position: [1.0, 2.0, -3.5],
        matrix,
        many: (0..100).map(|number| number * -7).collect(),
        wide: core::array::from_fn(|number| i32::try_from(number).unwrap() * 100_000),
        switches: [[true, false], [false, true]],
        names: vec!["x".into(), "y".into()],
        eight: [1, 2, 3, 4, 5, 6, 7, 8],
        three: [-1, -2, -3],
        n: 3,
        rows: 2,
        cols: 4,
        data: vec![1, 2, 255],
        flags: vec![true, false, true],
        words: vec![String::new(), "a".into(), "größe".into()],
        grid: vec![vec![0.5, 1.5, 2.5, 3.5], vec![10.5, 11.5, 12.5, 13.5]],
        points: vec![[0.0, 0.5, 0.0], [1.0, 1.5, -1.0], [2.0, 2.5, -2.0]],
        cube: vec![vec![line(0), line(10)], vec![line(100), line(110)]],
        page: ["a", "b"].map(|row| (0..4).map(|column| format!("{row}{column}")).collect()).to_vec(),
        one: inner(2),
        some: vec![inner(0), inner(1), inner(5)],
        pair: vec![inner(3), inner(4)],
        stamp: stamp(1_234_567_890_123),
        stamps: vec![vec![stamp(1), stamp(2)], vec![stamp(3), stamp(4)]],
        tree: node("root", vec![node("left", vec![node("leaf", Vec::new())]), node("right", Vec::new())]),
        r#type: 1,
        self_: 2,
        r#match: 3,
        r#fn: 4,
        super_: 5,
        to: 6,
        x: 7,
        v_to: 8,
    }
}

/// The same of the type whose arrays have constants as lengths.
pub fn lengths() -> LengthsT {
    LengthsT {
        count: 2,
        position: [1.0, 2.0, -3.5],
        one: [0.25],
        many: (0..70).map(|number| number * 11).collect(),
        wide: core::array::from_fn(|number| i32::try_from(number).unwrap() * -100_000),
        raw: [1, 2, 255],
        matrix: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]],
        switches: [[true, false], [false, true]],
        points: vec![[0.0, 0.5, 0.0], [1.0, 1.5, -1.0]],
        rows: vec![vec![0, 1], vec![10, 11]],
        cube: [0, 100].map(|layer| [0, 10, 20].map(|row| [layer + row, layer + row + 1])),
        names: vec!["x".into(), "größe".into()],
        pair: vec![inner(3), inner(4)],
        grid: vec![vec![inner(0), inner(1)], vec![inner(2), inner(5)]],
        last: [1, 2, 3, 4, -(1 << 40)],
    }
}
