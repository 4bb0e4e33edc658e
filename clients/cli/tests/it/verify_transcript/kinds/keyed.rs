//! Certificates of a group that has a key, and the sharing of that key.

use super::Row;
use crate::verify_transcript::keyed::{KEYED, Key};
use crate::verify_transcript::parts::{HELD, Parts, STATE};
use crate::verify_transcript::world::{ANNA, BEN, EVA, IDA, id};
use folkmoot_transcript::Item;

fn keyed() -> Parts {
    Parts::of(&KEYED.moot.t.file())
}

/// Ida's certificate by another key of the same scheme, dealt to the same holders.
fn foreign() -> Item {
    let mut moot = KEYED.moot.clone();
    let body = moot.request(IDA, 100);
    Key::dealt(2).certified(&moot, &body, &[ANNA, BEN])
}

pub(super) const ROWS: &[Row] = &[
    ("an open certificate that the group's key has not signed", "LINE-07", || {
        let mut moot = KEYED.moot.clone();
        let body = moot.request(IDA, 100);
        keyed().item(&moot.certified(&body, &[ANNA, BEN])).into()
    }),
    ("an open certificate by another key than the group's", "LINE-07", || keyed().item(&foreign()).into()),
    ("a member's certificate by another key than the group's", "LINE-07", || {
        keyed().changed(HELD, |item| *item = foreign().encode()).into()
    }),
    ("the state from before the group had its member, with the key", "LINE-71", || {
        keyed().changed(STATE, |bytes| *bytes = KEYED.before.t.state().encode()).into()
    }),
    ("a byte of the sharing in the state changed", "LINE-71", || {
        keyed()
            .changed(STATE, |bytes| {
                let sharing = KEYED.moot.t.state().sharing().unwrap();
                let length = sharing.public.len();
                let at = bytes.windows(length).position(|part| part == sharing.public).unwrap();
                bytes[at + length / 2] ^= 1;
            })
            .into()
    }),
    ("the holders of shares in the state changed", "LINE-71", || {
        keyed()
            .changed(STATE, |bytes| {
                let sharing = KEYED.moot.t.state().sharing().unwrap();
                let holder = sharing.facts.holders.first().unwrap();
                let places: Vec<usize> = bytes
                    .windows(32)
                    .enumerate()
                    .filter(|(_, part)| *part == holder.0)
                    .map(|(at, _)| at)
                    .collect();
                let at = *places.last().unwrap();
                bytes[at..at + 32].copy_from_slice(&id(EVA).0);
            })
            .into()
    }),
];
