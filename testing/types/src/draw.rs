//! Values that a seed decides.

use crate::{DottedT, EverythingT, InnerT, LaterT, LengthsT, NodeT, RadixT, StampT};

/// Numbers that look random, the same for the same seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Draw(pub u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    fn i8(&mut self) -> i8 {
        self.bits().to_le_bytes()[0].cast_signed()
    }

    fn i16(&mut self) -> i16 {
        i16::from_le_bytes([self.bits().to_le_bytes()[0], self.bits().to_le_bytes()[1]])
    }

    fn i32(&mut self) -> i32 {
        i32::from_le_bytes(*self.bits().to_le_bytes().first_chunk().unwrap())
    }

    fn i64(&mut self) -> i64 {
        self.bits().cast_signed()
    }

    /// No NaN, so that what is equal can be seen.
    fn f64(&mut self) -> f64 {
        f64::from(self.i32()) / 1_024.0
    }

    fn f32(&mut self) -> f32 {
        f32::from(self.i16()) / 64.0
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn text(&mut self) -> String {
        let signs = ['a', 'Z', ' ', 'ö', '✓', '\u{1F980}', '\n', '"'];
        self.some(7, |draw| signs[usize::try_from(draw.below(8)).unwrap()]).into_iter().collect()
    }

    fn list<T>(&mut self, count: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..count).map(|_| make(self)).collect()
    }

    fn some<T>(&mut self, bound: u64, make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = usize::try_from(self.below(bound)).unwrap();
        self.list(count, make)
    }

    fn inner(&mut self) -> InnerT {
        let numbers = self.some(5, Self::i16);
        InnerT { length: i16::try_from(numbers.len()).unwrap(), numbers, last: self.flag() }
    }

    fn stamp(&mut self) -> StampT {
        StampT { utime: self.i64(), frame: self.text() }
    }

    fn node(&mut self, depth: u64) -> NodeT {
        let children = self.some(depth.max(1), |draw| draw.node(depth.saturating_sub(1)));
        NodeT { name: self.text(), count: i32::try_from(children.len()).unwrap(), children }
    }

    /// A value of the type that has everything.
    pub fn everything(&mut self) -> EverythingT {
        let [n, rows, cols] = [5, 4, 4].map(|bound| usize::try_from(self.below(bound)).unwrap());
        EverythingT {
            i8: self.i8(),
            i16: self.i16(),
            i32: self.i32(),
            i64: self.i64(),
            f32: self.f32(),
            f64: self.f64(),
            text: self.text(),
            flag: self.flag(),
            raw: self.i8().cast_unsigned(),
            position: [(); 3].map(|()| self.f64()),
            matrix: [(); 3].map(|()| [(); 3].map(|()| self.f32())),
            many: self.list(100, Self::i16),
            wide: [(); 40].map(|()| self.i32()),
            switches: [(); 2].map(|()| [(); 2].map(|()| self.flag())),
            names: self.list(2, Self::text),
            eight: [(); 8].map(|()| self.i8()),
            three: [(); 3].map(|()| self.i8()),
            n: i32::try_from(n).unwrap(),
            rows: i8::try_from(rows).unwrap(),
            cols: i64::try_from(cols).unwrap(),
            data: self.list(n, |draw| draw.i8().cast_unsigned()),
            flags: self.list(n, Self::flag),
            words: self.list(n, Self::text),
            grid: self.list(rows, |draw| draw.list(cols, Self::f64)),
            points: self.list(n, |draw| [(); 3].map(|()| draw.f32())),
            cube: self.list(2, |draw| draw.list(rows, |draw| [(); 3].map(|()| draw.i32()))),
            page: self.list(rows, |draw| draw.list(cols, Self::text)),
            one: self.inner(),
            some: self.list(n, Self::inner),
            pair: self.list(2, Self::inner),
            stamp: self.stamp(),
            stamps: self.list(rows, |draw| draw.list(2, Self::stamp)),
            tree: self.node(4),
            r#type: self.i8(),
            self_: self.i8(),
            r#match: self.i8(),
            r#fn: self.i8(),
            super_: self.i8(),
            to: self.i16(),
            x: self.i16(),
            v_to: self.i16(),
        }
    }

    /// A value of the type whose arrays have constants as lengths.
    pub fn lengths(&mut self) -> LengthsT {
        let count = usize::try_from(self.below(4)).unwrap();
        LengthsT {
            count: i8::try_from(count).unwrap(),
            position: [(); 3].map(|()| self.f64()),
            one: [self.f64()],
            many: self.list(70, Self::i16),
            wide: [(); 40].map(|()| self.i32()),
            raw: [(); 3].map(|()| self.i8().cast_unsigned()),
            matrix: [(); 3].map(|()| [(); 3].map(|()| self.f32())),
            switches: [(); 2].map(|()| [(); 2].map(|()| self.flag())),
            points: self.list(count, |draw| [(); 3].map(|()| draw.f64())),
            rows: self.list(2, |draw| draw.list(count, Self::i32)),
            cube: [(); 2].map(|()| [(); 3].map(|()| [(); 2].map(|()| self.i16()))),
            names: self.list(2, Self::text),
            pair: self.list(2, Self::inner),
            grid: self.list(count, |draw| draw.list(2, Self::inner)),
            last: [(); 5].map(|()| self.i64()),
        }
    }

    /// A value of the type whose lengths are not decimal.
    pub fn radix(&mut self) -> RadixT {
        RadixT {
            hex: [(); 31].map(|()| self.i8()),
            octal: [(); 15].map(|()| self.i8()),
            hex_written: [(); 3].map(|()| self.i16()),
            octal_written: [(); 8].map(|()| self.i16()),
            large: self.list(80, Self::f64),
            grid: [(); 15].map(|()| [(); 2].map(|()| self.i32())),
        }
    }

    /// A value of the type that says its package.
    pub fn dotted(&mut self) -> DottedT {
        let [x, y, more] = [(); 3].map(|()| self.i8());
        DottedT { x, y: [y, more], inner: self.inner(), later: LaterT { name: self.text() } }
    }
}
