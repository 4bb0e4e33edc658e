//! A file taken apart: its sections, which a tamperer changes, moves, drops and adds.

use super::world::{FORKED, STORY};
use folkmoot_base::{Head, codec, digest};
use folkmoot_transcript::{FILE_LABEL, Item, Standing};

pub(crate) const CHARTER: u8 = 1;
pub(crate) const HANDOVER: u8 = 2;
pub(crate) const LAST: u8 = 3;
pub(crate) const STATE: u8 = 4;
pub(crate) const OPEN: u8 = 5;
pub(crate) const HELD: u8 = 6;
pub(crate) const FORK: u8 = 7;
pub(crate) const END: u8 = 8;

/// A file, and the heads that the outsider has.
pub(crate) struct Case {
    pub(crate) file: Vec<u8>,
    pub(crate) heads: Vec<Head>,
}

impl From<Vec<u8>> for Case {
    fn from(file: Vec<u8>) -> Self {
        Self { file, heads: Vec::new() }
    }
}

impl From<Parts> for Case {
    fn from(parts: Parts) -> Self {
        parts.file().into()
    }
}

impl Case {
    pub(crate) fn knowing(file: impl Into<Self>, head: Head) -> Self {
        Self { heads: vec![head], ..file.into() }
    }
}

/// Sections: kind and bytes.
#[derive(Clone)]
pub(crate) struct Parts(pub(crate) Vec<(u8, Vec<u8>)>);

impl Parts {
    pub(crate) fn story() -> Self {
        Self::of(&STORY.file())
    }

    pub(crate) fn forked() -> Self {
        Self::of(&FORKED.file())
    }

    pub(crate) fn of(file: &[u8]) -> Self {
        let mut rest = file.strip_prefix(FILE_LABEL).unwrap();
        let mut all = Vec::new();
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[1..5].try_into().unwrap()) as usize;
            all.push((rest[0], rest[5..5 + length].to_vec()));
            rest = &rest[5 + length..];
        }
        Self(all)
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        let mut file = FILE_LABEL.to_vec();
        for (kind, bytes) in &self.0 {
            file.push(*kind);
            file.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
            file.extend(bytes);
        }
        file
    }

    /// Where the first section of a kind is.
    pub(crate) fn place(&self, kind: u8) -> usize {
        self.0.iter().position(|(of, _)| *of == kind).unwrap()
    }

    pub(crate) fn first(&mut self, kind: u8) -> &mut Vec<u8> {
        let place = self.place(kind);
        &mut self.0[place].1
    }

    pub(crate) fn without(mut self, kind: u8) -> Self {
        let place = self.place(kind);
        self.0.remove(place);
        self
    }

    /// The first section of a kind, where it is not.
    pub(crate) fn moved(mut self, kind: u8, before: u8) -> Self {
        let place = self.place(kind);
        let section = self.0.remove(place);
        let to = self.place(before);
        self.0.insert(to, section);
        self
    }

    /// Another section, before the first of a kind.
    pub(crate) fn with(mut self, kind: u8, bytes: Vec<u8>, before: u8) -> Self {
        let place = self.place(before);
        self.0.insert(place, (kind, bytes));
        self
    }

    /// The first section of a kind, twice.
    pub(crate) fn doubled(mut self, kind: u8) -> Self {
        let place = self.place(kind);
        self.0.insert(place, self.0[place].clone());
        self
    }

    pub(crate) fn changed(mut self, kind: u8, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        change(self.first(kind));
        self
    }

    /// The first section of a kind, as the decision that it is.
    pub(crate) fn standing(self, kind: u8, change: impl FnOnce(&mut Standing)) -> Self {
        self.changed(kind, |bytes| {
            let mut standing: Standing = codec::decode(bytes).unwrap();
            change(&mut standing);
            *bytes = codec::encode(&standing);
        })
    }

    /// Another item of the set, in its place.
    pub(crate) fn item(self, item: &Item) -> Self {
        self.raw_item(item.encode())
    }

    pub(crate) fn raw_item(self, item: Vec<u8>) -> Self {
        self.with(OPEN, item, HELD).sorted()
    }

    /// The first item of the set that serves, changed and put in its place again.
    pub(crate) fn retold(mut self, mut change: impl FnMut(&mut Item) -> bool) -> Self {
        let items = self.0.iter_mut().filter(|(kind, _)| *kind == OPEN);
        for (_, bytes) in items {
            let mut item = Item::decode(bytes).unwrap();
            if change(&mut item) {
                *bytes = item.encode();
                return self.sorted();
            }
        }
        panic!("no such item")
    }

    fn sorted(mut self) -> Self {
        let place = |(kind, bytes): &(u8, Vec<u8>)| {
            let item = (*kind == OPEN).then(|| (bytes[1], digest(&[bytes])));
            (*kind, item)
        };
        let (from, to) = (self.place(OPEN), self.place(HELD));
        self.0[from..to].sort_by_key(place);
        self
    }
}
