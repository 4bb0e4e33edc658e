//! The fingerprint of a type, as lcm-gen computes it.
//!
//! A type's own digest is of the names, dimensions and primitive types of its fields, not of its
//! name. To it the fingerprints of the types in it are added, and the sum is turned by one bit. A
//! type that is in itself counts as 0 there.

use crate::error::Error;
use crate::tree::{Kind, Name, Size, Struct};
use std::collections::BTreeMap;

/// How long a chain of types that are in one another may be.
const CHAIN_MAX: usize = 64;
/// How often a type may be looked at. Types in a circle are in one another in many ways.
const LOOKS_MAX: usize = 100_000;

/// The fingerprints of all types.
pub(crate) struct Fingerprints<'a> {
    types: &'a BTreeMap<Name, Struct>,
    known: BTreeMap<&'a Name, u64>,
    looks: usize,
}

/// A fingerprint, and how far out a type was that counted as 0: the place in the chain.
struct Found {
    fingerprint: u64,
    cut: usize,
}

impl<'a> Fingerprints<'a> {
    pub(crate) fn new(types: &'a BTreeMap<Name, Struct>) -> Self {
        Self { types, known: BTreeMap::new(), looks: 0 }
    }

    pub(crate) fn of(&mut self, name: &'a Name) -> Result<u64, Error> {
        self.looks = 0;
        Ok(self.find(name, &mut Vec::new())?.fingerprint)
    }

    /// `chain` has the types that this one is in, outermost first.
    fn find(&mut self, name: &'a Name, chain: &mut Vec<&'a Name>) -> Result<Found, Error> {
        if let Some(cut) = chain.iter().position(|outer| *outer == name) {
            return Ok(Found { fingerprint: 0, cut });
        }
        let nothing = Found { fingerprint: 0, cut: usize::MAX };
        let Some(structure) = self.types.get(name) else { return Ok(nothing) };
        if let Some(fingerprint) = self.known.get(name) {
            return Ok(Found { fingerprint: *fingerprint, ..nothing });
        }
        self.looks = self.looks.saturating_add(1);
        if chain.len() >= CHAIN_MAX || self.looks > LOOKS_MAX {
            return structure.place.wrong("too many types are in one another here");
        }
        let (mut sum, mut cut) = (own(structure), usize::MAX);
        let depth = chain.len();
        chain.push(name);
        for member in &structure.members {
            if let Kind::Named(inner) = &member.kind
                && inner != name
            {
                let found = self.find(inner, chain)?;
                sum = sum.wrapping_add(found.fingerprint);
                cut = cut.min(found.cut);
            }
        }
        chain.pop();
        let fingerprint = sum.rotate_left(1);
        // A type in a circle with others has another one inside of those.
        if cut == usize::MAX {
            self.known.insert(name, fingerprint);
        }
        Ok(Found { fingerprint, cut: if cut < depth { cut } else { usize::MAX } })
    }
}

fn own(structure: &Struct) -> u64 {
    let digest = structure.members.iter().fold(0x1234_5678, |digest, member| {
        let mut digest = text(digest, &member.name);
        if let Kind::Primitive(primitive) = member.kind {
            digest = text(digest, primitive.name());
        }
        let digest = byte(digest, low(member.dimensions.len()));
        member.dimensions.iter().fold(digest, |digest, dimension| {
            let mode = u8::from(matches!(dimension.size, Size::Field(_)));
            text(byte(digest, mode), &dimension.text)
        })
    });
    digest.cast_unsigned()
}

fn text(digest: i64, text: &str) -> i64 {
    text.bytes().fold(byte(digest, low(text.len())), byte)
}

/// lcm-gen adds a `char`, which has a sign.
fn byte(digest: i64, byte: u8) -> i64 {
    ((digest << 8) ^ (digest >> 55)).wrapping_add(i64::from(byte.cast_signed()))
}

/// A length as a `char` has it.
fn low(length: usize) -> u8 {
    length.to_le_bytes().first().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, parse};

    fn fingerprints(text: &str) -> BTreeMap<String, u64> {
        let source = Source { name: "a.lcm".into(), text: text.into() };
        let structs = parse::parse(&[source]).unwrap();
        let types: BTreeMap<Name, Struct> =
            structs.into_iter().map(|structure| (structure.name.clone(), structure)).collect();
        let mut all = Fingerprints::new(&types);
        types.keys().map(|name| (name.whole(), all.of(name).unwrap())).collect()
    }

    /// LCMsec's messages, whose fingerprints its programs write.
    #[test]
    fn the_messages_of_lcmsec_have_its_fingerprints() {
        let found = fingerprints(
            "struct Dutta_Barua_cert { int32_t cert_size; byte x509_certificate_BER[cert_size]; }
             struct Dutta_Barua_message { int32_t u; int8_t round; int32_t public_value_size;
               byte public_value[public_value_size]; int32_t d; int32_t sig_size; byte sig[sig_size]; }
             struct Dutta_Barua_JOIN { int64_t timestamp_r1start_us; Dutta_Barua_cert certificate;
               int32_t sig_size; byte sig[sig_size]; }
             struct Dutta_Barua_JOIN_response { int64_t timestamp_r1start_us; int32_t participants;
               Dutta_Barua_cert certificates_participants[participants]; int32_t joining;
               Dutta_Barua_cert certificates_joining[joining]; Dutta_Barua_cert self; int32_t role;
               int32_t sig_size; byte sig[sig_size]; }",
        );
        assert_eq!(found["Dutta_Barua_cert"], 0x6666_9a72_e93a_3b74);
        assert_eq!(found["Dutta_Barua_message"], 0x4058_8730_8565_8046);
        assert_eq!(found["Dutta_Barua_JOIN"], 0xbbc8_5f1e_6cc6_bb36);
        assert_eq!(found["Dutta_Barua_JOIN_response"], 0x1007_51d2_2407_4d7a);
    }

    /// Computed by what lcm-gen 1.3.1 writes for Python.
    #[test]
    fn types_in_a_circle_have_lcm_gens_fingerprints() {
        let found = fingerprints(
            "struct list { int32_t n; list rest[n]; }
             struct ping { int32_t n; pong pongs[n]; }
             struct pong { int32_t m; ping pings[m]; list lists[m]; }
             struct both { ping one; pong two; list three; }",
        );
        assert_eq!(found["list"], 0x2f57_63a0_74bd_c439);
        assert_eq!(found["ping"], 0x118d_1dcb_9068_df34);
        assert_eq!(found["pong"], 0xe7bf_f88c_ab8f_5b64);
        assert_eq!(found["both"], 0x0f0d_7153_f6bc_6578);
    }

    /// lcm-gen 1.5.3 computes it of the constant's value as the file writes it.
    #[test]
    fn a_constant_as_length_counts_as_what_it_is() {
        let found = fingerprints(
            "struct named { const int32_t N = 0x10; double x[N]; int8_t y[16]; }
             struct written { double x[0x10]; int8_t y[16]; }
             struct decimal { const int8_t N = 16; double x[N]; int8_t y[N]; }
             struct field { int8_t N; double x[N]; }",
        );
        assert_eq!(found["named"], 0x4661_a96e_5018_d6c7);
        assert_eq!(found["written"], found["named"]);
        assert_eq!(found["decimal"], 0xd2a3_5ac5_532e_ee3d);
        assert_eq!(found["field"], 0xae9e_b891_30ac_ae0b);
    }

    #[test]
    fn types_that_are_in_one_another_in_many_ways_take_no_time() {
        let doubled = |number: usize| format!("struct t{} {{ t{number} a; t{number} b; }}", number + 1);
        let chain: String = (0..60).map(doubled).collect();
        let found = fingerprints(&format!("struct t0 {{ int8_t x; }} {chain}"));
        assert_eq!(found.len(), 61);
    }
}
