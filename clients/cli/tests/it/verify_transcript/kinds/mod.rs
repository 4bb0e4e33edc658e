//! The kinds of tampering: what is done to an honest file, and the rule that it hits.

mod evidence;
mod file;
mod keyed;
mod line;
mod set;

use super::keyed::KEYED;
use super::parts::Case;
use super::world::{FORKED, STORY};

/// One kind of tampering.
pub(crate) struct Kind {
    /// As the page calls it.
    pub(crate) name: &'static str,
    /// The rule that refuses it.
    pub(crate) rule: &'static str,
    /// What is tampered with.
    pub(crate) story: Whose,
    pub(crate) tampered: fn() -> Case,
}

/// Whose file it is.
#[derive(Clone, Copy)]
pub(crate) enum Whose {
    Story,
    Forked,
    Keyed,
}

impl Whose {
    pub(crate) fn charter(self) -> Vec<u8> {
        let moot = match self {
            Self::Story => &STORY.moot,
            Self::Forked => &FORKED.moot,
            Self::Keyed => &KEYED.moot,
        };
        moot.t.signed_charter().der().to_vec()
    }

    pub(crate) fn honest(self) -> Case {
        match self {
            Self::Story => Case::knowing(STORY.file(), STORY.moot.head()),
            Self::Forked => Case::knowing(FORKED.file(), FORKED.moot.head()),
            Self::Keyed => Case::knowing(KEYED.moot.t.file(), KEYED.moot.head()),
        }
    }
}

type Row = (&'static str, &'static str, fn() -> Case);

pub(crate) fn kinds() -> Vec<Kind> {
    let of =
        |story: Whose| move |(name, rule, tampered): &Row| Kind { name, rule, story, tampered: *tampered };
    let story = [file::ROWS, line::ROWS, set::ROWS].concat();
    let story = story.iter().map(of(Whose::Story));
    let forked = evidence::ROWS.iter().map(of(Whose::Forked));
    let keyed = keyed::ROWS.iter().map(of(Whose::Keyed));
    story.chain(forked).chain(keyed).collect()
}
