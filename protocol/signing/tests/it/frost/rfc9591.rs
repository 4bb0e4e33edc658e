//! RFC 9591, appendix E.1: FROST(Ed25519, SHA-512), signers 1 and 3 of three, threshold two.

use super::table::Given;
use crate::common::{members, unhex};
use folkmoot_base::Entropy;
use folkmoot_signing::frost::FrostSharing;
use folkmoot_signing::{Edwards, PrimeGroup};
use frost_ed25519::keys::{KeyPackage, PublicKeyPackage, SigningShare, VerifyingShare};
use frost_ed25519::rand_core::{CryptoRng, Error, RngCore};
use frost_ed25519::round1::{self, SigningCommitments, SigningNonces};
use frost_ed25519::round2::{self, SignatureShare};
use frost_ed25519::{Identifier, SigningPackage, VerifyingKey, aggregate};
use std::collections::BTreeMap;

const KEY: &str = "15d21ccd7ee42959562fc8aa63224c8851fb3ec85a3faf66040d380fb9738673";
const SECRET: &str = "7b1c33d3f5291d85de664833beb1ad469f7fb6025a0ec78b3a790c6e13a98304";
const COEFFICIENT: &str = "178199860edd8c62f5212ee91eff1295d0d670ab4ed4506866bae57e7030b204";
const SIGNATURE: &str = "154fb694ee7fcb37bf2381d94488c2a84b03b3352ad085feca81ad26d45852b7\
                         ecfe971ce4da95c4a95db93ac376b053897fca212ef85f99cf696bffeb178f07";
const MESSAGE: &[u8] = b"test";

struct Signer {
    number: u16,
    share: &'static str,
    randomness: [&'static str; 2],
    nonces: [&'static str; 2],
    commitments: [&'static str; 2],
    part: &'static str,
}

const SIGNERS: [Signer; 2] = [
    Signer {
        number: 1,
        share: "929dcc590407aae7d388761cddb0c0db6f5627aea8e217f4a033f2ec83d93509",
        randomness: [
            "06894e04ee4aceec8619d5f6a0a180e2f47194d2ac306cba586b555e7c48d765",
            "40d6f879ff22e22409f7d808fed81f37118e7d3e4af71c0f44c60207553bcbce",
        ],
        nonces: [
            "ef6599dea4010581a72b3018c37c29a4341d7cab0773e8687ca74dcf14009701",
            "2baadfa0c69aa60d517ad4751de372a73f9d89cfc39026601f18458cdec12605",
        ],
        commitments: [
            "9b116f12589591a7e23fe8048059ab10ab48e67739e7a2fb3890f61a7999478c",
            "c39b66b7dfccb122da24f13587f9a08c4347cae70046ca15169adf90ba65854d",
        ],
        part: "60997f0142e43e8005027fe5ab7447dac00d22c2d7ddd9571a02613ba7d81c08",
    },
    Signer {
        number: 3,
        share: "d3cb090a075eb154e82fdb4b3cb507f110040905468bb9c46da8bdea643a9a02",
        randomness: [
            "fa5d950626782aade9e33fa781376d4888c2d1de7c37518bc248eb818ed0cdde",
            "7459a4d14ded0e365b085271be8dc6600d5b88f3978a2174297ffa32001a5afc",
        ],
        nonces: [
            "80f8d9a4b8f9366e1a0b618107c907cd3ee29fa9bb40b4691cc1bde696240005",
            "2610b664a5a187b4855e87d2ff485bebdf043dc2f161fcd4854cd01dc0276404",
        ],
        commitments: [
            "e679a2a971748ccfaabead4dbe8ac1def61275c186c79d471e1e45091ad1e687",
            "b2a942478453fabb6bd3181c56ba657413447b4136e1daea2484d396d1a516b3",
        ],
        part: "79390e78bc59699c7af831f8f5fb478ec871a85f561a8641b5670ac4443f720f",
    },
];

impl RngCore for Given {
    fn next_u32(&mut self) -> u32 {
        unreachable!("the RFC's nonces are drawn as bytes")
    }
    fn next_u64(&mut self) -> u64 {
        unreachable!("the RFC's nonces are drawn as bytes")
    }
    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.fill(out);
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Error> {
        self.fill(out);
        Ok(())
    }
}

impl CryptoRng for Given {}

fn nonces(signer: &Signer) -> SigningNonces {
    let share = SigningShare::deserialize(&unhex(signer.share)).unwrap();
    let (nonces, commitments) = round1::commit(&share, &mut Given(unhex(&signer.randomness.concat())));
    assert_eq!(nonces.hiding().serialize(), unhex(signer.nonces[0]));
    assert_eq!(nonces.binding().serialize(), unhex(signer.nonces[1]));
    assert_eq!(commitments.hiding().serialize().unwrap(), unhex(signer.commitments[0]));
    assert_eq!(commitments.binding().serialize().unwrap(), unhex(signer.commitments[1]));
    nonces
}

#[test]
fn the_shares_are_values_of_the_polynomial() {
    let [secret, coefficient] =
        [SECRET, COEFFICIENT].map(|text| Edwards::decode_scalar(&unhex(text)).unwrap());
    assert_eq!(Edwards::encode(&Edwards::raise_generator(&secret)), unhex(KEY));
    for signer in &SIGNERS {
        let mut place = [0; 32];
        place[..2].copy_from_slice(&signer.number.to_le_bytes());
        let place = Edwards::decode_scalar(&place).unwrap();
        let share = Edwards::plus(secret, Edwards::times(coefficient, place));
        assert_eq!(Edwards::encode_scalar(&share), unhex(signer.share));
    }
}

#[test]
fn nonces_parts_and_signature_are_the_rfcs_and_aws_lc_takes_it() {
    let key = VerifyingKey::deserialize(&unhex(KEY)).unwrap();
    let place = |signer: &Signer| Identifier::try_from(signer.number).unwrap();
    let commitments: BTreeMap<_, SigningCommitments> =
        SIGNERS.iter().map(|signer| (place(signer), *nonces(signer).commitments())).collect();
    let package = SigningPackage::new(commitments, MESSAGE);
    let mut parts = BTreeMap::new();
    let mut verifying = BTreeMap::new();
    for signer in &SIGNERS {
        let share = SigningShare::deserialize(&unhex(signer.share)).unwrap();
        let own = KeyPackage::new(place(signer), share, VerifyingShare::from(share), key, 2);
        let part = round2::sign(&package, &nonces(signer), &own).unwrap();
        assert_eq!(part.serialize(), unhex(signer.part));
        parts.insert(place(signer), SignatureShare::deserialize(&unhex(signer.part)).unwrap());
        verifying.insert(place(signer), VerifyingShare::from(share));
    }
    let signature = aggregate(&package, &parts, &PublicKeyPackage::new(verifying, key, Some(2))).unwrap();
    assert_eq!(signature.serialize().unwrap(), unhex(SIGNATURE));
    let coefficient = Edwards::decode_scalar(&unhex(COEFFICIENT)).unwrap();
    let slope = Edwards::encode(&Edwards::raise_generator(&coefficient));
    let holders: Vec<u8> = members(3).iter().flat_map(|holder| holder.0).collect();
    let sharing =
        FrostSharing::decode(&[&[1, 0, 2, 0, 3], &unhex(KEY)[..], &slope, &holders].concat()).unwrap();
    assert_eq!(sharing.key().unwrap().verify_raw(MESSAGE, &unhex(SIGNATURE)), Ok(()));
}
