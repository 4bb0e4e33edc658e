//! Known keys through every label that the modules, and keying, derive keys with.

use super::history::order;
use crate::common::member;
use crate::world::Record;
use folkmoot_agreement::ModuleName;
use folkmoot_base::{digest, hmac_sha256};
use hkdf::Hkdf;
use sha2::Sha256;
use std::collections::BTreeSet;

pub type Bytes32 = [u8; 32];

/// Everything of 32 bytes that follows from `known` by the labels of keying and of the module.
/// Salts and names are public: they are taken from the run.
pub fn derived(module: ModuleName, record: &Record, known: &[Vec<u8>]) -> BTreeSet<Bytes32> {
    let mut all = BTreeSet::new();
    for key in known.iter().filter_map(|key| Bytes32::try_from(key.as_slice()).ok()) {
        all.extend([key, digest(&[&key])]);
        all.extend(
            [b"group key".as_slice(), b"confirm", b"epoch name"].map(|label| expand(None, &key, &[label])),
        );
        match module {
            ModuleName::Ckd => all.extend(by_ckd(record, b"folkmoot ckd pair v1", &key)),
            ModuleName::CkdHybrid => all.extend(by_ckd(record, b"folkmoot ckd+ml-kem-768 pair v1", &key)),
            ModuleName::Mls | ModuleName::MlsHybrid => {
                let first: Vec<_> = by_mls(&key).collect();
                all.extend(first.iter().flat_map(by_mls));
                all.extend(first);
            }
            _ => {}
        }
    }
    all
}

fn expand(salt: Option<&[u8]>, key: &[u8], info: &[&[u8]]) -> Bytes32 {
    let mut out = [0; 32];
    Hkdf::<Sha256>::new(salt, key).expand_multi_info(info, &mut out).unwrap();
    out
}

/// All members by age, in one digest, as CKD names them.
pub fn roll(record: &Record) -> Bytes32 {
    let ids = order(record).into_iter().map(|place| member(record.members[place]).to_bytes());
    digest(&[b"folkmoot ckd members v1", ids.collect::<Vec<_>>().as_flattened()])
}

/// Every pair key that `shared` makes, if it is what the controller and somebody share.
pub fn pairs(record: &Record, label: &[u8], shared: &[u8]) -> Vec<Bytes32> {
    let said = |wanted: u8| record.steps.iter().filter(move |(_, step, _)| *step == wanted);
    let controller = member(record.members[order(record)[0]]).to_bytes();
    let offer = said(1).map(|(_, _, body)| body).next();
    let answers = said(2).map(|(from, _, body)| (member(record.members[*from]).to_bytes(), body));
    let pair = |offer: &[u8], from: &[u8], answer: &[u8]| {
        expand(Some(label), shared, &[&controller, from, offer, answer])
    };
    offer
        .into_iter()
        .flat_map(|offer| answers.clone().map(|(from, answer)| pair(offer, &from, answer)))
        .collect()
}

/// For a key that is taken for a shared secret or a pair key: pair keys, sealing keys, next pair
/// keys.
pub fn by_ckd(record: &Record, label: &[u8], key: &[u8]) -> BTreeSet<Bytes32> {
    let roll = roll(record);
    let ids: Vec<_> = record.members.iter().map(|number| member(*number).to_bytes()).collect();
    let salts: Vec<_> =
        record.steps.iter().filter(|(_, step, _)| *step == 3).map(|(_, _, body)| &body[..32]).collect();
    let mut all = BTreeSet::from_iter(pairs(record, label, key));
    let taken: Vec<_> = all.iter().map(|pair| pair.to_vec()).chain([key.to_vec()]).collect();
    for (pair, salt) in taken.iter().flat_map(|pair| salts.iter().map(move |salt| (pair, salt))) {
        for label in [b"folkmoot ckd seal v1", b"folkmoot ckd next v1"] {
            all.extend(ids.iter().map(|id| expand(Some(salt), pair, &[label, &roll, id])));
        }
    }
    all
}

/// RFC 9420, 8: DeriveSecret; and what our provider draws for the library.
fn by_mls(key: &Bytes32) -> impl Iterator<Item = Bytes32> {
    const LABELS: [&str; 13] = [
        "path",
        "node",
        "init",
        "joiner",
        "welcome",
        "epoch",
        "exporter",
        "exported",
        "encryption",
        "key",
        "confirm",
        "external",
        "sender data",
    ];
    let key = *key;
    let secrets = LABELS.into_iter().map(move |label| with_label(&key, label, 32).try_into().unwrap());
    let drawn =
        (0_u64..8).map(move |block| hmac_sha256(&key, &[b"folkmoot mls draw v1", &block.to_be_bytes()]));
    // Of a joiner's secret: the member's, of which those of the Welcome and the epoch are derived
    // (no pre-shared key).
    let (member, _) = Hkdf::<Sha256>::extract(Some(&key), &[0; 32]);
    secrets.chain(drawn).chain([member.into()])
}

/// RFC 9420, 8: ExpandWithLabel with an empty context.
pub fn with_label(key: &[u8], label: &str, length: u16) -> Vec<u8> {
    let label = ["MLS 1.0 ", label].concat();
    let named = [&[u8::try_from(label.len()).unwrap()], label.as_bytes(), &[0]].concat();
    let mut out = vec![0; usize::from(length)];
    let hkdf = Hkdf::<Sha256>::from_prk(key).unwrap();
    hkdf.expand_multi_info(&[&length.to_be_bytes(), &named], &mut out).unwrap();
    out
}
