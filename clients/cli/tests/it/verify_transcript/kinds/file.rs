//! The file as a whole: its label, charter, order and end; certificates of members; known heads.

use super::Row;
use crate::verify_transcript::parts::{CHARTER, Case, END, HANDOVER, HELD, LAST, OPEN, Parts, STATE};
use crate::verify_transcript::world::{ANNA, BEN, CORA, FORKED, IDA, PEOPLE, STORY, change, charter, id};
use folkmoot_base::Head;
use folkmoot_identity::SignedCharter;
use folkmoot_transcript::{FILE_LABEL, Item, STATE_BYTES_MAX};

fn story() -> Parts {
    Parts::story()
}

/// The label, and the head of a section with this length.
fn claims(before: &[u8], kind: u8, length: usize) -> Case {
    let length = u32::try_from(length).unwrap().to_be_bytes();
    [before, &[kind], &length[..]].concat().into()
}

fn cut(of: usize) -> Case {
    let file = STORY.file();
    file[..file.len() / of].to_vec().into()
}

/// The open admission of Ida.
fn ida() -> Vec<u8> {
    let items = story().0.into_iter().filter(|(kind, _)| *kind == OPEN).map(|(_, bytes)| bytes);
    let name = PEOPLE[IDA].name().as_bytes().to_vec();
    items.into_iter().find(|item| item.windows(name.len()).any(|part| part == name)).unwrap()
}

/// Another last decision, by those who vote.
fn other_line() -> Case {
    let mut twin = STORY.steps[5].clone();
    twin.pass(change("request_hours", "99"), &[ANNA, BEN, CORA]);
    Case::knowing(twin.t.file(), STORY.moot.head())
}

pub(super) const ROWS: &[Row] = &[
    ("the label of another format", "LINE-80", || {
        let mut file = STORY.file();
        file[FILE_LABEL.len() - 2] = b'3';
        file.into()
    }),
    ("another group's file", "LINE-80", || FORKED.file().into()),
    ("the charter with a bit changed", "LINE-80", || {
        story().changed(CHARTER, |der| *der.last_mut().unwrap() ^= 1).into()
    }),
    ("the charter of the same founders with another text", "LINE-80", || {
        story().changed(CHARTER, |der| *der = charter(9).der().to_vec()).into()
    }),
    ("the charter without one founder's signature", "LINE-80", || {
        let toml = String::from_utf8(charter(7).charter().bytes().to_vec()).unwrap();
        let few = SignedCharter::sign(&toml, &[&PEOPLE[0], &PEOPLE[1], &PEOPLE[2]]).unwrap();
        story().changed(CHARTER, |der| *der = few.der().to_vec()).into()
    }),
    ("no charter", "LINE-80", || story().without(CHARTER).into()),
    ("a section of kind 0", "LINE-81", || story().with(0, Vec::new(), END).into()),
    ("a section of kind 9", "LINE-81", || story().with(9, Vec::new(), END).into()),
    ("a length that no charter has", "LINE-81", || claims(FILE_LABEL, CHARTER, 0xffff_ffff)),
    ("a length that no state has", "LINE-81", || {
        let place = story().place(STATE);
        claims(&Parts(story().0[..place].to_vec()).file(), STATE, STATE_BYTES_MAX + 1)
    }),
    ("an end that is not empty", "LINE-81", || story().changed(END, |end| end.push(0)).into()),
    ("the charter twice", "LINE-81", || story().doubled(CHARTER).into()),
    ("a handover behind the last decision", "LINE-81", || {
        let handover = story().first(HANDOVER).clone();
        story().with(HANDOVER, handover, STATE).into()
    }),
    ("the state before the last decision", "LINE-81", || story().moved(STATE, LAST).into()),
    ("a handover behind the state", "LINE-81", || {
        let handover = story().first(HANDOVER).clone();
        story().with(HANDOVER, handover, OPEN).into()
    }),
    ("an open admission before the handovers", "LINE-81", || story().with(OPEN, ida(), HANDOVER).into()),
    ("a member's certificate before the set", "LINE-81", || story().moved(HELD, OPEN).into()),
    ("the last decision twice", "LINE-81", || story().doubled(LAST).into()),
    ("the state twice", "LINE-81", || story().doubled(STATE).into()),
    ("no state", "LINE-81", || story().without(STATE).into()),
    ("no last decision", "LINE-81", || story().without(LAST).into()),
    ("handovers, and neither last decision nor state", "LINE-81", || {
        story().without(LAST).without(STATE).into()
    }),
    ("two items of the set swapped", "LINE-81", || {
        let mut parts = story();
        let place = parts.place(OPEN);
        parts.0.swap(place, place + 1);
        parts.into()
    }),
    ("an item of the set twice", "LINE-81", || story().doubled(OPEN).into()),
    ("a decision among the items of the set", "LINE-81", || {
        let last = STORY.moot.t.line().decisions().values().next_back().unwrap().clone();
        story().item(&Item::Decision(last)).into()
    }),
    ("cut in the label", "LINE-82", || STORY.file()[..FILE_LABEL.len() / 2].to_vec().into()),
    ("cut in the middle", "LINE-82", || cut(2)),
    ("nothing at all", "LINE-82", || Vec::new().into()),
    ("no end", "LINE-82", || story().without(END).into()),
    ("a byte behind the end", "LINE-82", || [STORY.file(), vec![0]].concat().into()),
    ("a second file behind the end", "LINE-82", || [STORY.file(), STORY.file()].concat().into()),
    ("a member's certificate twice", "LINE-83", || story().doubled(HELD).into()),
    ("an open admission as if a decision held it", "LINE-83", || story().with(HELD, ida(), HELD).into()),
    ("the certificate of a member's term before", "LINE-83", || {
        story().with(HELD, STORY.eva.encode(), HELD).into()
    }),
    ("an approval in place of a certificate", "LINE-83", || {
        let items = story().0.into_iter().filter(|(kind, _)| *kind == OPEN);
        let mut approvals = items.filter(|(_, item)| item[1] == 2);
        story().with(HELD, approvals.next().unwrap().1, HELD).into()
    }),
    ("a member's certificate with a bit changed", "LINE-07", || {
        story()
            .changed(HELD, |item| {
                // The last byte of the certificate: approvals follow it.
                let Item::Admit { mut certificate, approvals } = Item::decode(item).unwrap() else {
                    panic!()
                };
                let mut der = certificate.0.to_vec();
                *der.last_mut().unwrap() ^= 1;
                certificate.0 = der.into();
                *item = Item::Admit { certificate, approvals }.encode();
            })
            .into()
    }),
    ("an older file than the head that is known", "LINE-84", || {
        Case::knowing(STORY.steps[3].t.file(), STORY.moot.head())
    }),
    ("another line as long as the known one", "LINE-84", other_line),
    ("a known head with another digest", "LINE-84", || {
        Case::knowing(STORY.file(), Head { digest: id(ANNA).0, ..STORY.moot.head() })
    }),
    ("a known head that is later than the file", "LINE-84", || {
        Case::knowing(STORY.file(), Head { number: 99, ..STORY.moot.head() })
    }),
];
