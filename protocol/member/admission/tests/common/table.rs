//! What tests say at a table in a hand's place.
#![allow(dead_code)]

use crate::common::Bus;
use bytes::Bytes;
use folkmoot_admission::{HAND_LABEL, HandWord, Input, OpenMessage, Purpose, Say};
use folkmoot_base::{Blob, Digest, GroupId, codec, digest};
use folkmoot_identity::Identity;

/// What `hand` says at a table, signed by it.
pub fn say_as(bus: &Bus, hand: &Identity, table: Digest, say: Say) -> Input {
    let group = bus.seats[0].transcript.group();
    let covered = [&group.0[..], &hand.member().0, &table, &codec::encode(&say)].concat();
    let signature = hand.key().sign_fixed(HAND_LABEL, &covered);
    let word = HandWord { table, say, signature };
    Input::Open { sender: hand.member(), payload: codec::encode(&OpenMessage::Hand { word }).into() }
}

/// What `who` says at a table.
pub fn say(bus: &Bus, who: usize, table: Digest, say: Say) -> Input {
    say_as(bus, &bus.seats[who].identity, table, say)
}

/// The table to which `who` calls for this purpose, and the call.
pub fn call(bus: &Bus, who: usize, purpose: Purpose, attempt: u32) -> (Digest, Say) {
    let transcript = &bus.seats[0].transcript;
    let roster = transcript.roster();
    let epoch = roster.sharing().map(|sharing| sharing.facts.epoch).unwrap_or_default();
    let say = Say::Convene { purpose, attempt };
    let parts: [&[u8]; 6] = [
        b"folkmoot table v1",
        &transcript.group().0,
        &bus.seats[who].identity.member().0,
        &roster.electorate().serial.to_be_bytes(),
        &epoch,
        &codec::encode(&say),
    ];
    (digest(&parts), say)
}

/// Another word of a round than `liar` said, signed by itself all the same.
pub fn lie(liar: &Identity, group: GroupId, mut word: HandWord) -> Bytes {
    let Say::Round { to_all, .. } = &mut word.say else { panic!("no word of a round") };
    let mut bytes = to_all.0.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    *to_all = Blob::from(bytes);
    let covered = [&group.0[..], &liar.member().0, &word.table, &codec::encode(&word.say)].concat();
    word.signature = liar.key().sign_fixed(HAND_LABEL, &covered);
    codec::encode(&OpenMessage::Hand { word }).into()
}
