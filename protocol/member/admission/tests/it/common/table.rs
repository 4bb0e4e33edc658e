//! What tests say at a table in a hand's place.

use crate::common::Bus;
use bytes::Bytes;
use folkmoot_admission::{HAND_LABEL, HandWord, Input, OpenMessage, Purpose, ROUND_LABEL, Say};
use folkmoot_base::{Blob, Digest, GroupId, MemberId, codec, digest};
use folkmoot_identity::Identity;
use std::collections::{BTreeMap, BTreeSet};

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

/// What was said at all tables, as it arrived: what hands sign in a round depends on it.
#[derive(Default)]
pub struct Runs {
    ready: BTreeMap<(Digest, MemberId), Vec<u8>>,
    runs: BTreeMap<Digest, Digest>,
    said: BTreeMap<(Digest, u8), BTreeMap<MemberId, Vec<u8>>>,
}

impl Runs {
    pub fn note(&mut self, sender: MemberId, word: &HandWord) {
        match &word.say {
            Say::Convene { .. } => {
                self.ready.retain(|(table, _), _| *table != word.table);
                self.said.retain(|(table, _), _| *table != word.table);
            }
            Say::Ready { key } => {
                self.ready.entry((word.table, sender)).or_insert(key.0.to_vec());
            }
            Say::Seats { givers, takers } => {
                let said = codec::encode(&word.say);
                let seated: BTreeSet<MemberId> = givers.iter().chain(takers).copied().collect();
                let keys = seated.iter().filter_map(|hand| self.ready.get(&(word.table, *hand)));
                let mut parts: Vec<&[u8]> = vec![b"folkmoot run v1", &word.table, &said];
                parts.extend(keys.map(Vec::as_slice));
                self.runs.insert(word.table, digest(&parts));
            }
            Say::Round { round, to_all, .. } => {
                let said = self.said.entry((word.table, *round)).or_default();
                said.entry(sender).or_insert(to_all.0.to_vec());
            }
            _ => {}
        }
    }

    /// What was heard at a table before this round.
    fn heard(&self, table: &Digest, round: u8) -> Digest {
        let mut heard = self.runs[table];
        for before in 0..round {
            let said = self.said[&(*table, before)].iter();
            let words: Vec<u8> = said.flat_map(|(hand, word)| [hand.0, digest(&[word])].concat()).collect();
            heard = digest(&[b"folkmoot heard v1", &heard, &words]);
        }
        heard
    }

    /// What `hand` says in a round, signed by it.
    pub fn say(&self, hand: &Identity, group: GroupId, table: Digest, say: Say) -> Bytes {
        let Say::Round { round, .. } = &say else { panic!("no word of a round") };
        let covered =
            [&group.0[..], &hand.member().0, &self.heard(&table, *round), &codec::encode(&say)].concat();
        let signature = hand.key().sign_fixed(ROUND_LABEL, &covered);
        codec::encode(&OpenMessage::Hand { word: HandWord { table, say, signature } }).into()
    }
}

/// One who says something else in one round than its machine would, signed by itself all the same.
pub struct Liar {
    pub hand: Identity,
    pub group: GroupId,
    pub round: u8,
    pub runs: Runs,
}

impl Liar {
    pub fn new(hand: Identity, group: GroupId, round: u8) -> Self {
        Self { hand, group, round, runs: Runs::default() }
    }

    /// What it makes of a word on its way; whether it lies now. Hand in all words.
    pub fn lie(&mut self, sender: MemberId, payload: &mut Bytes) -> bool {
        let Ok(OpenMessage::Hand { mut word }) = codec::decode(payload) else { return false };
        let mut lies = false;
        let own = sender == self.hand.member();
        if let Say::Round { round, to_all, .. } = &mut word.say
            && own
        {
            let mut bytes = to_all.0.to_vec();
            lies = *round == self.round && !bytes.is_empty();
            if lies {
                *bytes.last_mut().unwrap() ^= 1;
                *to_all = Blob::from(bytes);
            }
            // Its machine does not know that it lied, and would sign what it has heard from itself.
            *payload = self.runs.say(&self.hand, self.group, word.table, word.say.clone());
        }
        self.runs.note(sender, &word);
        lies
    }
}
